package convert

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unique"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// collection is everything that a format read.
type collection struct {
	projects  map[string]Project
	people    map[string]*Person
	members   map[string]bool   // addresses of the members of the workspace; nil = not known
	issues    map[string]*Issue // by key, which is unique within its project
	notes     []Remark
	noted     map[string]int // places of notes, by kind and text
	site      string
	browse    string
	zone      bool // dates have no zone
	dates     diag.Position
	doubles   int
	clashes   []clash      // issues that have the key of another one
	columns   manifest.Map // columns of tables with their fields
	outside   []outside
	open      func(field string) bool // reports whether issues restricted by a field are converted
	closed    map[string]bool         // keys of issues that are held back
	values    map[string]*Value
	numbered  []*Value     // the same values by number
	held      map[Held]int // values of the export itself
	double    map[Held]int // values of issues that are in the files once more
	unwritten map[Held]int // values of other issues with the same key, and of restricted issues
	older     []earlier    // earlier states of issues in other files
	outdated  map[Held]int // their values of fields that the file with the later state lacks, or has for no issue
	has       map[string]map[*Value]bool

	to  *spool // holds the content of issues
	err error  // first error of the spool

	kept       map[*Issue]bool     // issues that only an earlier export had
	previously map[*Issue][]string // former keys of their items
}

// earlier holds the values of the earlier state of an issue, and the file with the later state.
type earlier struct {
	values []Held
	later  string
}

// outside is a loss that belongs to no issue of the export.
type outside struct {
	kind, of string
	n        int
}

// newCollection returns an empty collection. The columns say which restricted issues are converted.
func newCollection(columns *mapping.Names[mapping.Column], to *spool) *collection {
	return &collection{
		to:     to,
		closed: map[string]bool{}, open: func(field string) bool {
			column, told := columns.Own(field)
			return told && column.Field == "skip"
		},
		projects: map[string]Project{}, people: map[string]*Person{}, issues: map[string]*Issue{}, kept: map[*Issue]bool{},
		previously: map[*Issue][]string{}, noted: map[string]int{}, values: map[string]*Value{}, held: map[Held]int{},
		double: map[Held]int{}, unwritten: map[Held]int{}, has: map[string]map[*Value]bool{}, outdated: map[Held]int{},
	}
}

// Project adds a project, unless one with its key and a name is known.
func (cl *collection) Project(p Project) {
	if had := cl.projects[p.Key]; had.Name == "" {
		cl.projects[p.Key] = p
	}
}

// Person adds a person, or completes the known person with that ID.
func (cl *collection) Person(p Person) {
	had := cl.people[p.ID]
	if had == nil {
		had = &Person{ID: p.ID}
		cl.people[p.ID] = had
	}
	had.Name, had.Bot = cmp.Or(had.Name, p.Name), had.Bot || p.Bot
	if email := strings.TrimSpace(p.Email); mapping.IsEmail(email) { // some trackers mask it, or show a part
		had.Email = cmp.Or(had.Email, email)
	}
	had.Left = had.Left || p.Left
}

// Issue adds an issue; of two states of one issue, as in overlapping pages, the later one counts. A restricted issue is held back, because
// everybody in a workspace could see it.
func (cl *collection) Issue(i *Issue) {
	id := i.Project + "/" + i.Key
	if i.Restricted != "" && !cl.open(i.Restricted) {
		if !cl.closed[id] {
			cl.Note("restricted", "left out, because not everybody may see them; with columns: {"+i.Restricted+": skip} in the mapping they are converted", i.Key)
		}
		cl.closed[id] = true
		book(cl.unwritten, i)
		return
	}
	if had := cl.issues[id]; had != nil {
		older, newer, clashing := had, i, cl.areDifferent(had, i)
		if i.Updated.Before(had.Updated) {
			older, newer = i, had
		}
		cl.recall(older)
		if cl.doubles++; clashing {
			cl.clashes = append(cl.clashes, clash{i.Key, had.Position, i.Position})
			book(cl.unwritten, older)
		} else {
			cl.older = append(cl.older, earlier{older.Held, newer.Position.File})
		}
		older.forget()
		if older == i {
			return
		}
	}
	cl.issues[id] = i
	cl.PutAside(i)
}

// book counts the values of an issue that becomes no item.
func book(to map[Held]int, i *Issue) {
	for _, h := range i.Held {
		to[Held{Of: h.Of, Text: h.Text}] += h.N
	}
}

// clash is a key that two issues share, with the positions of both.
type clash struct {
	key           string
	first, second diag.Position
}

// areDifferent reports whether two records of one key are different issues, and not two states of one. Two rows of one file with equal update
// times are one issue only if their content is equal.
func (cl *collection) areDifferent(a, b *Issue) bool {
	if a.Position.File == b.Position.File && a.Updated.Equal(b.Updated) {
		was, err1 := cl.line(a)
		is, err2 := line(b)
		cl.err = errors.Join(cl.err, err1, err2)
		return !bytes.Equal(was, is)
	}
	switch {
	case a.ID != "" && b.ID != "":
		return a.ID != b.ID
	case a.Title == b.Title:
		return false
	case !a.Created.IsZero() && !b.Created.IsZero():
		return !a.Created.Equal(b.Created)
	}
	return a.Updated.Equal(b.Updated) // without a later state they are two issues
}

// Note adds a remark about the export. Remarks of equal kind and text are one remark with all their issues.
func (cl *collection) Note(kind, text string, items ...string) {
	n, known := cl.noted[kind+text]
	if !known {
		n = len(cl.notes)
		cl.noted[kind+text] = n
		cl.notes = append(cl.notes, Remark{Kind: kind, Text: text})
	}
	cl.notes[n].Items = append(cl.notes[n].Items, items...)
}

// Site sets the address of the tracker.
func (cl *collection) Site(url, browse string) { cl.site, cl.browse = url, browse }

// AssumedZone records that the dates of the export have no time zone.
func (cl *collection) AssumedZone() { cl.zone = true }

// AskDates records a date whose day and month cannot be told apart.
func (cl *collection) AskDates(at diag.Position) { cl.dates = at }

// Hold books a value. Technical values are only counted: they are the most of an export, and nobody looks for them.
func (cl *collection) Hold(i *Issue, one Leaf, part Role, n int) {
	v := cl.values[one.Name]
	if v == nil {
		v = &Value{Name: one.Name, Role: RoleOf(part), part: part, number: len(cl.numbered)}
		if v.Role != Secret {
			v.Example = beginning(one.Text)
		}
		cl.values[one.Name], cl.numbered = v, append(cl.numbered, v)
	}
	h := Held{Of: v, N: n}
	if role := RoleOf(part); role != Technical && role != Secret {
		h.Text = unique.Make(beginning(one.Text)).Value() // many values repeat
		h.Element = unique.Make(beginning(one.Element)).Value()
	}
	if i == nil || RoleOf(part) == Technical {
		h.N = 0
		cl.held[h] += n
	} else {
		i.Held = append(i.Held, h)
		if cl.has[i.Position.File] == nil {
			cl.has[i.Position.File] = map[*Value]bool{}
		}
		cl.has[i.Position.File][v] = true
	}
}

// Lose records a loss that belongs to no issue.
func (cl *collection) Lose(kind, of string, n int) {
	cl.outside = append(cl.outside, outside{kind, of, n})
}

func (cl *collection) sorted() []*Issue {
	return slices.SortedFunc(maps.Values(cl.issues), order)
}

func order(a, b *Issue) int {
	return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Key, b.Key))
}

// name returns the name of a person for texts, or the ID if the export has no name.
func (cl *collection) name(id string) string {
	if p := cl.people[id]; p != nil {
		id = cmp.Or(p.Name, p.ID)
	}
	return plainName(id)
}

// column adds a column of a table with its guessed field, or with an open question.
func (cl *collection) column(name, field string) {
	cl.columns = append(cl.columns, manifest.Entry{Key: name, Value: cmp.Or(field, mapping.Open)})
}

// finish removes restricted issues, and adds the remarks that need the whole export. Other issues lose the titles of restricted parents and
// links.
func (cl *collection) finish() {
	for id := range cl.closed { // in one of its states
		if i := cl.issues[id]; i != nil {
			cl.recall(i)
			book(cl.unwritten, i)
			delete(cl.issues, id)
		}
	}
	for _, i := range cl.issues {
		if cl.closed[i.Project+"/"+i.Parent] {
			i.ParentTitle = ""
		}
		for n, l := range i.Links {
			if cl.closed[i.Project+"/"+l.To] {
				i.Links[n].Title = ""
			}
		}
	}
	for _, one := range cl.older {
		for _, h := range one.values {
			to := cl.double
			if !cl.has[one.later][h.Of] && h.Of.Role != History && h.Of.Role != Summed && h.Of.part != "project_name" {
				to = cl.outdated
			}
			to[Held{Of: h.Of, Text: h.Text}] += h.N
		}
	}
	cl.noteUnused()
	if len(cl.clashes) > 0 {
		var places []string
		for _, one := range cl.clashes {
			places = append(places, fmt.Sprintf("%s in %s and in %s", one.key, one.first, one.second))
		}
		cl.Note("clashes", "other issues of the same key: "+diag.First(places, most)+
			": if they are of two sites or repositories, convert each export to a folder of its own")
	}
	if cl.doubles > 0 {
		cl.Note("doubles", diag.Count(cl.doubles, "issue")+" more than once in the files; the later state counts")
	}
}

// noteUnused adds a remark with the names that no issue has. It shows none if issues are held back, which may have them.
func (cl *collection) noteUnused() {
	used, unused := map[string]bool{}, []string{}
	for _, i := range cl.issues {
		for _, l := range i.Labels {
			used[beginning(l.Name)] = true
		}
		for _, v := range i.Versions {
			used[beginning(v.Name)] = true
		}
		for _, name := range i.Components {
			used[beginning(name)] = true
		}
	}
	for h := range cl.held {
		if h.Of.Role == Offered && !used[h.Text] {
			unused = append(unused, h.Text)
		}
	}
	if n := len(unused); n > 0 {
		if slices.Sort(unused); len(cl.closed) > 0 {
			unused = nil
		}
		cl.Note("unused", fmt.Sprintf("labels, lists, milestones and components that no issue has, which are left out (%d)", n), unused...)
	}
}
