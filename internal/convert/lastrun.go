package convert

import (
	"bufio"
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
	"time"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/diag"
)

// itemsName is the file with the issues that were converted: those that a later export lacks are converted from there.
const itemsName = ".planform/convert-items.jsonl.gz"

// record is what convert wrote the last time, and of which issues.
type record struct {
	FormatVersion int                   `json:"format_version"`
	Files         map[string]string     `json:"files"`           // name -> digest
	Items         map[string]itemRecord `json:"items,omitempty"` // by project and key of the source
	Export        string                `json:"export,omitempty"`
	Since         *Since                `json:"since,omitempty"` // what the last export brought
}

// itemRecord is what is known of an issue of the last run.
type itemRecord struct {
	Digest     string   `json:"digest"`
	ID         string   `json:"id,omitempty"`
	Address    string   `json:"address,omitempty"`    // keys of its project and item in the manifests
	Previously []string `json:"previously,omitempty"` // keys that it had before it was moved
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

// memory is what the next run needs to know of this one.
type memory struct {
	record record // without files
	items  []byte // for itemsName
	since  *Since // nil = there was no other export before
	kept   []*Issue
}

// readRecord reads what the last run left in a folder, which need not be there.
func readRecord(dir string) (record, error) {
	var rec record
	data, err := os.ReadFile(filepath.Join(dir, recordName)) //nolint:gosec // the user named the folder
	if errors.Is(err, fs.ErrNotExist) {
		return rec, nil
	}
	if err != nil {
		return rec, fmt.Errorf("read what the last run wrote: %w", err)
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		return rec, diag.WithHint(fmt.Errorf("%s: %w", filepath.Join(dir, recordName), err), "delete it together with the manifests that convert wrote")
	}
	return rec, nil
}

// stored is a line of the file of issues.
type stored struct {
	Issue   *Issue   `json:"issue,omitempty"`
	Person  *Person  `json:"person,omitempty"`
	Project *Project `json:"project,omitempty"`
}

// line is an issue as it is compared and kept: without what says nothing of its content.
func (i *Issue) line() ([]byte, error) {
	c := *i
	c.Updated, c.Left, c.Position = time.Time{}, nil, diag.Position{}
	data, err := json.Marshal(stored{Issue: &c})
	return append(data, '\n'), err
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

// remember compares the selected issues with those of the last run, and notes them for the next one. all are those of the export.
// An issue that is gone from the export is kept, unless drop says otherwise.
func remember(dir string, last record, m *mapping.Mapping, found *collection, all, selected []*Issue, drop bool) (*memory, error) {
	r := &memory{record: record{FormatVersion: 1, Items: map[string]itemRecord{}}}
	since := &Since{New: []string{}, Changed: []Change{}, Gone: []string{}, Moved: []Move{}}
	there, now := map[string]bool{}, map[string]*Issue{} // by the name of the last run
	for _, i := range all {
		there[i.name()] = true
	}
	byID := map[string]string{}
	for name, was := range last.Items {
		if was.ID != "" && !there[name] {
			byID[was.ID] = name
		}
	}
	var out, digests bytes.Buffer
	packed := gzip.NewWriter(&out)
	for _, i := range selected {
		line, err := i.line()
		if err != nil {
			return nil, fmt.Errorf("keep %s: %w", i.Key, err)
		}
		p, _ := m.Projects.Find(i.Project)
		one := itemRecord{Digest: digest(line), ID: i.ID, Address: p.Key + "/" + itemKey(i.Key)}
		name := i.name()
		was, had := last.Items[name]
		if from := byID[i.ID]; !had && from != "" {
			name, was, had = from, last.Items[from], true
			move := Move{From: shown(from), To: shown(i.name()), Anew: path.Dir(was.Address) != p.Key}
			since.Moved = append(since.Moved, move)
			there[from] = true
			was.Previously = append(slices.Clone(was.Previously), path.Base(was.Address))
		}
		switch {
		case !had:
			since.New = append(since.New, shown(name))
		case path.Dir(was.Address) == p.Key:
			one.Previously = was.Previously
			found.previously[i] = was.Previously
		}
		now[name] = i
		r.record.Items[i.name()] = one
		digests.WriteString(i.name() + one.Digest)
		if _, err := packed.Write(line); err != nil {
			return nil, err
		}
	}
	err := readItems(dir, last, func(was stored, line []byte) error {
		if was.Person != nil {
			found.Person(*was.Person)
		}
		if was.Project != nil {
			found.Project(*was.Project)
		}
		if was.Issue == nil {
			return nil
		}
		name := was.Issue.name()
		rec, ok := last.Items[name]
		switch i := now[name]; {
		case i != nil:
			if rec.Digest != r.record.Items[i.name()].Digest {
				since.compare(was.Issue, i)
			}
			return nil
		case !ok || !there[name] && drop:
			return nil
		case !there[name] && len(selected) == len(all): // a part of the export makes manifests of that part alone
			since.Gone = append(since.Gone, shown(name))
			found.kept[was.Issue], found.previously[was.Issue] = true, rec.Previously
			r.kept = append(r.kept, was.Issue)
		}
		r.record.Items[name] = rec
		_, err := packed.Write(line)
		return err
	})
	if err != nil && !drop {
		return nil, diag.WithHint(fmt.Errorf("%s: %w", filepath.Join(dir, itemsName), err), "it holds what earlier exports had: restore it, or do without it with --drop-missing")
	}
	for _, id := range slices.Sorted(maps.Keys(found.people)) {
		if err := json.NewEncoder(packed).Encode(stored{Person: found.people[id]}); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found.projects)) {
		p := found.projects[key]
		if err := json.NewEncoder(packed).Encode(stored{Project: &p}); err != nil {
			return nil, err
		}
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	r.items, r.record.Export = out.Bytes(), digest(digests.Bytes())
	slices.Sort(since.Gone)
	slices.SortFunc(since.Changed, func(a, b Change) int { return cmp.Compare(a.Item, b.Item) })
	switch {
	case last.Export == r.record.Export && last.Since == nil && len(since.Gone) == 0:
		since = nil
	case last.Export == r.record.Export && last.Since != nil: // the same export again: only the mapping changed
		gone := since.Gone
		*since = *last.Since
		since.Gone = gone
	case last.Export == "":
		since = nil
	}
	r.since, r.record.Since = since, since
	return r, nil
}

// readItems reads the issues of the last run.
func readItems(dir string, last record, each func(was stored, line []byte) error) error {
	if len(last.Items) == 0 {
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
	for in := bufio.NewReader(packed); ; {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		var was stored
		if err := json.Unmarshal(line, &was); err != nil {
			return err
		}
		if err := each(was, line); err != nil {
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
	return fmt.Sprintf("Since the last export: %d new, %d changed, %d gone, %d moved; %s new, %d edited", len(s.New), len(s.Changed), len(s.Gone), len(s.Moved), diag.Count(s.CommentsNew, "comment"), s.CommentsEdited)
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
	}{{"New", s.New}, {"Changed", changed}, {"Moved", moved}, {"Gone from the export, and kept in the manifests until a run with --drop-missing", s.Gone}} {
		if len(list.items) > 0 {
			b.WriteString("\n" + list.what + ": " + cell(first(list.items)) + ".\n")
		}
	}
}
