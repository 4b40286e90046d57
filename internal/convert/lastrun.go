package convert

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/text/diag"
)

// itemsName is the file with all converted issues. If a later export lacks an issue, the issue is read from this file.
const itemsName = ".planform/convert-items.jsonl.gz"

// run records the files and the issues of one run, for comparison with the next.
type run struct {
	FormatVersion int                   `json:"format_version"`
	Files         map[string]string     `json:"files"`           // name -> digest
	Items         map[string]itemRecord `json:"items,omitempty"` // by project and key of the source
	Export        string                `json:"export,omitempty"`
	Since         *Since                `json:"since,omitempty"`  // differences of the last export
	States        map[string][]string   `json:"states,omitempty"` // names of a state in all runs, by project and ID of the source
	Groups        map[string][]string   `json:"groups,omitempty"` // fields that projects, labels, cycles and modules have or had, see itemRecord.Fields
	Link          string                `json:"link,omitempty"`   // history.link of the mapping; "" = link, the only way at the time
}

// itemRecord is the record of one issue of the last run.
type itemRecord struct {
	Digest     string   `json:"digest"`
	ID         string   `json:"id,omitempty"`
	Address    string   `json:"address,omitempty"`    // keys of its project and item in the manifests
	Previously []string `json:"previously,omitempty"` // keys that it had before it was moved
	Fields     []string `json:"fields,omitempty"`     // fields that the item has or had; a field that it has no more is written empty
}

// Since holds the differences between an export and the one before.
type Since struct {
	New            []string `json:"new"`
	Changed        []Change `json:"changed"`
	Gone           []string `json:"gone"` // not in the export any more; kept in the manifests
	Moved          []Move   `json:"moved"`
	CommentsNew    int      `json:"comments_new"`
	CommentsEdited int      `json:"comments_edited"`
}

// Change is an issue with its changed fields.
type Change struct {
	Item   string   `json:"item"`
	Fields []string `json:"fields"`
}

// Move is an issue whose key changed.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Anew is true if the item is created again in another project, and stays in the former one.
	Anew bool `json:"anew,omitempty"`
}

// previousRun reads the record of the last run in a folder, or an empty one if there is none.
func previousRun(dir string) (*run, error) {
	r := &run{}
	data, err := os.ReadFile(filepath.Join(dir, runName)) //nolint:gosec // the user named the folder
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the files of the last run: %w", err)
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, diag.WithHint(fmt.Errorf("%s: %w", filepath.Join(dir, runName), err),
			"delete it together with the manifests that convert wrote")
	}
	return r, nil
}

// linkTo returns the setting history.link: the value in the mapping, else the value of the last run, else text.
func (rn *run) linkTo(said string) string {
	switch {
	case said != "":
		return said
	case rn.Link != "":
		return rn.Link
	case len(rn.Files) > 0:
		return "link"
	}
	return "text"
}

// stored is one line of the file of issues.
type stored struct {
	Issue   *Issue   `json:"issue,omitempty"`
	Person  *Person  `json:"person,omitempty"`
	Project *Project `json:"project,omitempty"`
}

// name returns the project and key of an issue, which are unique in the export.
func (i *Issue) name() string { return i.Project + "/" + i.Key }

// shown returns a name for people, without the project if the key begins with it.
func shown(name string) string {
	project, key := path.Dir(name), path.Base(name)
	if strings.HasPrefix(key, project+"-") {
		return key
	}
	return name
}

// comparedRuns compares the issues of a run with the last run, and stores them for the next.
type comparedRuns struct {
	last  *run
	found *collection

	this  run      // without files
	items outFile  // the file of issues
	since *Since   // nil = there was no other export before
	kept  []*Issue // issues that only earlier exports had

	out      *gzip.Writer      // to items
	exported map[string]bool   // names of the last run that the export has, selected or not
	selected map[string]*Issue // by the name of the last run
	whole    bool              // all issues of the export are selected
	drop     bool              // issues that are gone from the export are not kept
}

// compareRuns compares the selected issues with the last run in the folder; all are the issues of the whole export. An issue that is gone
// from the export is kept, unless the options drop it.
func compareRuns(o Options, last *run, m *mapping.Mapping, found *collection, all, selected []*Issue, to *spool) (*comparedRuns, error) {
	c := &comparedRuns{
		last: last, found: found, whole: len(selected) == len(all), drop: o.DropMissing,
		exported: map[string]bool{}, selected: map[string]*Issue{},
		this:  run{FormatVersion: 1, Items: map[string]itemRecord{}, States: map[string][]string{}, Groups: map[string][]string{}, Link: m.History.Link},
		since: &Since{New: []string{}, Changed: []Change{}, Gone: []string{}, Moved: []Move{}},
	}
	c.out = gzip.NewWriter(to)
	c.items = outFile{name: itemsName, in: to, span: span{at: to.size}}
	for _, i := range all {
		c.exported[i.name()] = true
	}
	maps.Copy(c.this.States, last.States)
	maps.Copy(c.this.Groups, last.Groups)
	moved := map[string]string{} // names of the last run that the export lacks, by ID
	for name, was := range last.Items {
		if was.ID != "" && !c.exported[name] {
			moved[was.ID] = name
		}
	}
	var digests bytes.Buffer
	for _, i := range selected {
		project, _ := m.Projects.Find(i.Project)
		if err := c.note(i, project.Key, moved[i.ID]); err != nil {
			return nil, err
		}
		digests.WriteString(i.name() + c.this.Items[i.name()].Digest)
	}
	c.this.Export = digest(digests.Bytes())
	if err := last.each(o.Dir, c.former); err != nil && !o.DropMissing {
		return nil, diag.WithHint(fmt.Errorf("%s: %w", filepath.Join(o.Dir, itemsName), err),
			"it holds what earlier exports had: restore it, or do without it with --drop-missing")
	}
	lines := json.NewEncoder(c.out)
	for _, id := range slices.Sorted(maps.Keys(found.people)) {
		if err := lines.Encode(stored{Person: found.people[id]}); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found.projects)) {
		p := found.projects[key]
		if err := lines.Encode(stored{Project: &p}); err != nil {
			return nil, err
		}
	}
	c.finish()
	err := c.out.Close()
	c.items.n = to.size - c.items.at
	return c, err
}

// renamed records the name of a state, and returns the names that it had in earlier runs.
func (cr *comparedRuns) renamed(id, name string) []string {
	former := slices.DeleteFunc(slices.Clone(cr.last.States[id]), func(had string) bool { return had == name })
	cr.this.States[id] = append(former, name)
	return former
}

// note stores an issue and compares its key and project with the last run. moved is the former name of the issue if the export has no issue
// of that name any more.
func (cr *comparedRuns) note(i *Issue, project, moved string) error {
	stored, err := cr.write(i)
	if err != nil {
		return fmt.Errorf("keep %s: %w", i.Key, err)
	}
	name, this := i.name(), itemRecord{Digest: stored, ID: i.ID, Address: project + "/" + itemKey(i.Key)}
	was, had := cr.last.Items[name]
	if !had && moved != "" {
		name, was, had = moved, cr.last.Items[moved], true
		cr.since.Moved = append(cr.since.Moved, Move{From: shown(moved), To: shown(i.name()), Anew: path.Dir(was.Address) != project})
		cr.exported[moved] = true
		was.Previously = append(slices.Clone(was.Previously), path.Base(was.Address))
	}
	switch {
	case !had:
		cr.since.New = append(cr.since.New, shown(name))
	case path.Dir(was.Address) == project:
		this.Previously, this.Fields = was.Previously, was.Fields
		cr.found.previously[i] = was.Previously
	}
	cr.selected[name] = i
	cr.this.Items[i.name()] = this
	return nil
}

func (cr *comparedRuns) write(i *Issue) (string, error) {
	line, err := cr.found.line(i)
	if err != nil {
		return "", err
	}
	_, err = cr.out.Write(line)
	return digest(line), err
}

// former handles a line that the last run stored: it compares the issue with the present one, or keeps an issue that the export lacks.
func (cr *comparedRuns) former(was stored) error {
	if was.Person != nil {
		cr.found.Person(*was.Person)
	}
	if was.Project != nil {
		cr.found.Project(*was.Project)
	}
	if was.Issue == nil {
		return nil
	}
	name := was.Issue.name()
	record, ok := cr.last.Items[name]
	switch i := cr.selected[name]; {
	case i != nil:
		if record.Digest != cr.this.Items[i.name()].Digest {
			cr.found.recall(i)
			cr.since.compare(was.Issue, i)
			i.forget()
		}
		return nil
	case !ok || !cr.exported[name] && cr.drop:
		return nil
	case !cr.exported[name] && cr.whole: // a part of the export makes manifests of that part alone
		cr.since.Gone = append(cr.since.Gone, shown(name))
		cr.found.kept[was.Issue], cr.found.previously[was.Issue] = true, record.Previously
		cr.kept = append(cr.kept, was.Issue)
	}
	cr.this.Items[name] = record
	_, err := cr.write(was.Issue)
	return err
}

// finish completes the differences. If the same export is converted again, it repeats the differences of the last run.
func (cr *comparedRuns) finish() {
	slices.Sort(cr.since.Gone)
	slices.SortFunc(cr.since.Changed, func(a, b Change) int { return cmp.Compare(a.Item, b.Item) })
	switch again := cr.last.Export == cr.this.Export; {
	case again && cr.last.Since != nil:
		gone := cr.since.Gone
		*cr.since = *cr.last.Since
		cr.since.Gone = gone
	case again && len(cr.since.Gone) == 0, cr.last.Export == "":
		cr.since = nil
	}
	cr.this.Since = cr.since
}

func (rn *run) each(dir string, do func(was stored) error) error {
	if len(rn.Items) == 0 {
		return nil
	}
	file, err := os.Open(filepath.Join(dir, itemsName)) //nolint:gosec // the user named the folder
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	packed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for in := json.NewDecoder(packed); ; {
		var was stored
		if err := in.Decode(&was); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := do(was); err != nil {
			return err
		}
	}
}

func (sn *Since) compare(was, now *Issue) {
	change := Change{Item: shown(now.name()), Fields: []string{}}
	for _, f := range []struct {
		name     string
		was, now any
	}{
		{"title", was.Title, now.Title},
		{"description", []Text{written(was.Text), written(was.Environment)}, []Text{written(now.Text), written(now.Environment)}},
		{"state", []any{was.State, was.Resolution}, []any{now.State, now.Resolution}},
		{"type", was.Type, now.Type},
		{"priority", was.Priority, now.Priority},
		{"assignees", was.Assignees, now.Assignees},
		{"reporter", []string{was.Reporter, was.Creator}, []string{now.Reporter, now.Creator}},
		{"labels", was.Labels, now.Labels},
		{"components", was.Components, now.Components},
		{"versions", []any{was.Versions, was.Affects}, []any{now.Versions, now.Affects}},
		{"sprints", was.Sprints, now.Sprints},
		{"parent", was.Parent, now.Parent},
		{"links", was.Links, now.Links},
		{"dates", []string{was.Start, was.Due}, []string{now.Start, now.Due}},
		{"attachments", []any{was.Attachments, was.Pages}, []any{now.Attachments, now.Pages}},
		{"archived", was.Archived, now.Archived},
		{"fields", was.Fields, now.Fields},
	} {
		if !same(f.was, f.now) {
			change.Fields = append(change.Fields, f.name)
		}
	}
	former := map[string]Comment{}
	for n, key := range commentKeys(was.Comments) {
		former[key] = was.Comments[n]
	}
	created, edited := 0, 0
	for n, key := range commentKeys(now.Comments) {
		if had, ok := former[key]; !ok {
			created++
		} else if !same(had.Text, now.Comments[n].Text) {
			edited++
		}
	}
	if !same(was.Comments, now.Comments) {
		change.Fields = append(change.Fields, "comments")
	}
	sn.CommentsNew, sn.CommentsEdited = sn.CommentsNew+created, sn.CommentsEdited+edited
	if len(change.Fields) > 0 {
		sn.Changed = append(sn.Changed, change)
	}
}

// written returns a text, or the empty one if it says nothing in any markup.
func written(t Text) Text {
	if t.Body == "" {
		return Text{}
	}
	return t
}

func same(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
