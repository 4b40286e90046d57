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
	"github.com/planform/planform/internal/diag"
)

// itemsName is the file with the issues that were converted: those that a later export lacks are converted from there.
const itemsName = ".planform/convert-items.jsonl.gz"

// run is what convert wrote in a run, and of which issues.
type run struct {
	FormatVersion int                   `json:"format_version"`
	Files         map[string]string     `json:"files"`           // name -> digest
	Items         map[string]itemRecord `json:"items,omitempty"` // by project and key of the source
	Export        string                `json:"export,omitempty"`
	Since         *Since                `json:"since,omitempty"` // what the last export brought
	Link          string                `json:"link,omitempty"`  // what told the old address of an item; "" = a link, as it was before
}

// itemRecord is what is known of an issue of the last run.
type itemRecord struct {
	Digest     string   `json:"digest"`
	ID         string   `json:"id,omitempty"`
	Address    string   `json:"address,omitempty"`    // keys of its project and item in the manifests
	Previously []string `json:"previously,omitempty"` // keys that it had before it was moved
	Fields     []string `json:"fields,omitempty"`     // that it has or had, and that are written empty where it has them no more
}

// Since is what an export brings that the one before did not.
type Since struct {
	New            []string `json:"new"`
	Changed        []Change `json:"changed"`
	Gone           []string `json:"gone"` // not in the export any more; kept in the manifests
	Moved          []Move   `json:"moved"`
	CommentsNew    int      `json:"comments_new"`
	CommentsEdited int      `json:"comments_edited"`
}

// Change is an issue with the fields that changed.
type Change struct {
	Item   string   `json:"item"`
	Fields []string `json:"fields"`
}

// Move is an issue that has another key now.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Anew says that it is made anew in another project, and stays in the former one.
	Anew bool `json:"anew,omitempty"`
}

// previousRun reads what the last run left in a folder, which need not be there.
func previousRun(dir string) (*run, error) {
	r := &run{}
	if dir == "" {
		return r, nil
	}
	data, err := os.ReadFile(filepath.Join(dir, runName)) //nolint:gosec // the user named the folder
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the last run wrote: %w", err)
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, diag.WithHint(fmt.Errorf("%s: %w", filepath.Join(dir, runName), err),
			"delete it together with the manifests that convert wrote")
	}
	return r, nil
}

// linkTo is what tells the old address of an item, as the mapping says: where it does not, what the run before did.
func (r *run) linkTo(said string) string {
	switch {
	case said != "":
		return said
	case r.Link != "":
		return r.Link
	case len(r.Files) > 0:
		return "link"
	}
	return "text"
}

// stored is a line of the file of issues.
type stored struct {
	Issue   *Issue   `json:"issue,omitempty"`
	Person  *Person  `json:"person,omitempty"`
	Project *Project `json:"project,omitempty"`
}

// name tells an issue from those of other projects.
func (i *Issue) name() string { return i.Project + "/" + i.Key }

// shown is a name for people: keys of some trackers hold the project already.
func shown(name string) string {
	project, key := path.Dir(name), path.Base(name)
	if strings.HasPrefix(key, project+"-") {
		return key
	}
	return name
}

// comparedRuns compares the issues of a run with those of the last one, and notes them for the next.
type comparedRuns struct {
	last  *run
	found *collection

	this  run      // without files
	items outFile  // the file of issues
	since *Since   // nil = there was no other export before
	kept  []*Issue // of earlier exports: this one does not have them

	out      *gzip.Writer      // to items
	exported map[string]bool   // names of the last run that the export has, selected or not
	selected map[string]*Issue // by the name of the last run
	whole    bool              // all issues of the export are selected
	drop     bool              // what is gone from the export is not kept
}

// compareRuns compares the selected issues with those of the last run in the folder. all are those of the export. An issue that is gone
// from the export is kept, unless the options say otherwise.
func compareRuns(o Options, last *run, m *mapping.Mapping, found *collection, all, selected []*Issue, to *spool) (*comparedRuns, error) {
	c := &comparedRuns{
		last: last, found: found, whole: len(selected) == len(all), drop: o.DropMissing,
		exported: map[string]bool{}, selected: map[string]*Issue{},
		this:  run{FormatVersion: 1, Items: map[string]itemRecord{}, Link: m.History.Link},
		since: &Since{New: []string{}, Changed: []Change{}, Gone: []string{}, Moved: []Move{}},
	}
	c.out = gzip.NewWriter(to)
	c.items = outFile{name: itemsName, in: to, span: span{at: to.size}}
	for _, i := range all {
		c.exported[i.name()] = true
	}
	moved := map[string]string{} // what the export does not have under its former name any more, by ID
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

// note notes an issue that goes to a project. moved is the name of the issue of the last run that has its ID, if that is gone.
func (c *comparedRuns) note(i *Issue, project, moved string) error {
	stored, err := c.write(i)
	if err != nil {
		return fmt.Errorf("keep %s: %w", i.Key, err)
	}
	name, this := i.name(), itemRecord{Digest: stored, ID: i.ID, Address: project + "/" + itemKey(i.Key)}
	was, had := c.last.Items[name]
	if !had && moved != "" {
		name, was, had = moved, c.last.Items[moved], true
		c.since.Moved = append(c.since.Moved, Move{From: shown(moved), To: shown(i.name()), Anew: path.Dir(was.Address) != project})
		c.exported[moved] = true
		was.Previously = append(slices.Clone(was.Previously), path.Base(was.Address))
	}
	switch {
	case !had:
		c.since.New = append(c.since.New, shown(name))
	case path.Dir(was.Address) == project:
		this.Previously, this.Fields = was.Previously, was.Fields
		c.found.previously[i] = was.Previously
	}
	c.selected[name] = i
	c.this.Items[i.name()] = this
	return nil
}

// write keeps an issue as it is compared, and gives the digest of that.
func (c *comparedRuns) write(i *Issue) (string, error) {
	line, err := c.found.line(i)
	if err != nil {
		return "", err
	}
	_, err = c.out.Write(line)
	return digest(line), err
}

// former takes what the last run stored: it compares an issue with the present one, or keeps it.
func (c *comparedRuns) former(was stored) error {
	if was.Person != nil {
		c.found.Person(*was.Person)
	}
	if was.Project != nil {
		c.found.Project(*was.Project)
	}
	if was.Issue == nil {
		return nil
	}
	name := was.Issue.name()
	record, ok := c.last.Items[name]
	switch i := c.selected[name]; {
	case i != nil:
		if record.Digest != c.this.Items[i.name()].Digest {
			c.found.recall(i)
			c.since.compare(was.Issue, i)
			i.forget()
		}
		return nil
	case !ok || !c.exported[name] && c.drop:
		return nil
	case !c.exported[name] && c.whole: // a part of the export makes manifests of that part alone
		c.since.Gone = append(c.since.Gone, shown(name))
		c.found.kept[was.Issue], c.found.previously[was.Issue] = true, record.Previously
		c.kept = append(c.kept, was.Issue)
	}
	c.this.Items[name] = record
	_, err := c.write(was.Issue)
	return err
}

// finish decides what is told of the export before. The same export once more, as when only the mapping changed, says what it said then.
func (c *comparedRuns) finish() {
	slices.Sort(c.since.Gone)
	slices.SortFunc(c.since.Changed, func(a, b Change) int { return cmp.Compare(a.Item, b.Item) })
	switch again := c.last.Export == c.this.Export; {
	case again && c.last.Since != nil:
		gone := c.since.Gone
		*c.since = *c.last.Since
		c.since.Gone = gone
	case again && len(c.since.Gone) == 0, c.last.Export == "":
		c.since = nil
	}
	c.this.Since = c.since
}

// each reads the issues of a run.
func (r *run) each(dir string, do func(was stored) error) error {
	if len(r.Items) == 0 {
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

// compare notes what changed in an issue.
func (s *Since) compare(was, now *Issue) {
	change := Change{Item: shown(now.name()), Fields: []string{}}
	for _, f := range []struct {
		name     string
		was, now any
	}{
		{"title", was.Title, now.Title},
		{"description", []Text{was.Text, was.Environment}, []Text{now.Text, now.Environment}},
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
	s.CommentsNew, s.CommentsEdited = s.CommentsNew+created, s.CommentsEdited+edited
	if len(change.Fields) > 0 {
		s.Changed = append(s.Changed, change)
	}
}

// same compares values as they are stored.
func same(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// Line is what an export brings, in a few words.
func (s *Since) Line() string {
	return fmt.Sprintf("Since the last export: %d new, %d changed, %d gone, %d moved; %s new, %d edited", len(s.New), len(s.Changed),
		len(s.Gone), len(s.Moved), diag.Count(s.CommentsNew, "comment"), s.CommentsEdited)
}

// details lists the issues, for people.
func (s *Since) details(b *strings.Builder, cell func(string) string) {
	var changed, moved []string
	for _, c := range s.Changed {
		changed = append(changed, c.Item+" ("+strings.Join(c.Fields, ", ")+")")
	}
	for _, m := range s.Moved {
		text := m.From + " is now " + m.To
		if m.Anew {
			text += ", in another project: it is made anew there, and stays where it was"
		}
		moved = append(moved, text)
	}
	for _, list := range []struct {
		what  string
		items []string
	}{
		{"New", s.New},
		{"Changed", changed},
		{"Moved", moved},
		{"Gone from the export, and kept in the manifests until a run with --drop-missing", s.Gone},
	} {
		if len(list.items) > 0 {
			b.WriteString("\n" + list.what + ": " + cell(first(list.items)) + ".\n")
		}
	}
}
