package convert

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/diag"
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
	columns   manifest.Map // of tables, with what they hold
	outside   []outside
	open      func(field string) bool // the mapping says that restricted issues of a field are converted
	closed    map[string]bool         // keys of issues that are held back
	values    map[string]*Value
	numbered  []*Value     // the same
	held      map[Held]int // by the export itself
	double    map[Held]int // by issues that are in the files once more
	unwritten map[Held]int // by other issues of the same key, and by those that are held back

	to  *spool // which has what issues hold
	err error  // of it

	kept       map[*Issue]bool     // of an earlier export: this one does not have them
	previously map[*Issue][]string // former keys of their items
}

// outside is what belongs to no issue of the export.
type outside struct {
	kind, of string
	n        int
}

func newCollection(columns *mapping.Names[mapping.Column], to *spool) *collection {
	return &collection{
		to:     to,
		closed: map[string]bool{}, open: func(field string) bool {
			column, told := columns.Own(field)
			return told && column.Field == "skip"
		},
		projects: map[string]Project{}, people: map[string]*Person{}, issues: map[string]*Issue{}, kept: map[*Issue]bool{},
		previously: map[*Issue][]string{}, noted: map[string]int{}, values: map[string]*Value{}, held: map[Held]int{},
		double: map[Held]int{}, unwritten: map[Held]int{},
	}
}

// Project notes a project.
func (c *collection) Project(p Project) {
	if had := c.projects[p.Key]; had.Name == "" {
		c.projects[p.Key] = p
	}
}

// Person notes a person, and what else is told of one.
func (c *collection) Person(p Person) {
	had := c.people[p.ID]
	if had == nil {
		had = &Person{ID: p.ID}
		c.people[p.ID] = had
	}
	had.Name, had.Bot = cmp.Or(had.Name, p.Name), had.Bot || p.Bot
	if email := strings.TrimSpace(p.Email); mapping.IsEmail(email) { // some trackers mask it, or show a part
		had.Email = cmp.Or(had.Email, email)
	}
	had.Left = had.Left || p.Left
}

// Issue notes an issue. Pages of an export overlap: the later state of an issue counts. One that not everybody may see is held back: in
// a workspace everybody would.
func (c *collection) Issue(i *Issue) {
	id := i.Project + "/" + i.Key
	if i.Restricted != "" && !c.open(i.Restricted) {
		if !c.closed[id] {
			c.Note("restricted", "held back, as not everybody may see them; with columns: {"+i.Restricted+": skip} in the mapping they are converted", i.Key)
		}
		c.closed[id] = true
		book(c.unwritten, i)
		return
	}
	if had := c.issues[id]; had != nil {
		to := c.double
		if c.doubles++; c.different(had, i) {
			c.clashes = append(c.clashes, clash{i.Key, had.Position, i.Position})
			to = c.unwritten
		}
		older := had
		if i.Updated.Before(had.Updated) {
			older = i
		}
		c.recall(older)
		book(to, older)
		older.forget()
		if older == i {
			return
		}
	}
	c.issues[id] = i
	c.putAside(i)
}

// book counts what an issue holds that becomes no item.
func book(to map[Held]int, i *Issue) {
	for _, h := range i.Held {
		to[Held{Of: h.Of, Text: h.Text}] += h.N
	}
}

// clash is where two issues of one key stand.
type clash struct {
	key           string
	first, second diag.Position
}

// different reports issues that share a key and are not two states of one. Within a file, a row is no later state of another.
func (c *collection) different(a, b *Issue) bool {
	if a.Position.File == b.Position.File && a.Updated.Equal(b.Updated) {
		was, err1 := c.line(a)
		is, err2 := line(b)
		c.err = errors.Join(c.err, err1, err2)
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
	return a.Updated.Equal(b.Updated) // nothing says which is the later state
}

// Note notes something of the export, once for all issues that it is about.
func (c *collection) Note(kind, text string, items ...string) {
	n, known := c.noted[kind+text]
	if !known {
		n = len(c.notes)
		c.noted[kind+text] = n
		c.notes = append(c.notes, Remark{Kind: kind, Text: text})
	}
	c.notes[n].Items = append(c.notes[n].Items, items...)
}

// Site notes the tracker's address.
func (c *collection) Site(url, browse string) { c.site, c.browse = url, browse }

// AssumedZone notes that dates have no zone.
func (c *collection) AssumedZone() { c.zone = true }

// AskDates notes that day and month cannot be told apart.
func (c *collection) AskDates(at diag.Position) { c.dates = at }

// Hold books values. Those that are of use to the tracker only are the most of an export, and none is looked for: their number is enough.
func (c *collection) Hold(i *Issue, name string, role Role, example string, n int) {
	v := c.values[name]
	if v == nil {
		v = &Value{Name: name, Role: role, number: len(c.numbered)}
		if role != Secret {
			v.Example = beginning(example)
		}
		c.values[name], c.numbered = v, append(c.numbered, v)
	}
	h := Held{Of: v, N: n}
	if role != Technical && role != Secret {
		h.Text = beginning(example)
	}
	if i == nil || role == Technical {
		h.N = 0
		c.held[h] += n
	} else {
		i.Held = append(i.Held, h)
	}
}

// Lose notes what belongs to no issue.
func (c *collection) Lose(kind, of string, n int) {
	c.outside = append(c.outside, outside{kind, of, n})
}

// sorted are the issues by project and number.
func (c *collection) sorted() []*Issue {
	return slices.SortedFunc(maps.Values(c.issues), order)
}

func order(a, b *Issue) int {
	return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Key, b.Key))
}

// name is how a person is called in texts.
func (c *collection) name(id string) string {
	if p := c.people[id]; p != nil {
		id = cmp.Or(p.Name, p.ID)
	}
	return plainName(id)
}

// column notes a column of a table.
func (c *collection) column(name, field string) {
	c.columns = append(c.columns, manifest.Entry{Key: name, Value: cmp.Or(field, mapping.Open)})
}

// finish notes what only the whole export shows. Others do not tell the titles of what is held back.
func (c *collection) finish() {
	for id := range c.closed { // in one of its states
		if i := c.issues[id]; i != nil {
			c.recall(i)
			book(c.unwritten, i)
			delete(c.issues, id)
		}
	}
	for _, i := range c.issues {
		if c.closed[i.Project+"/"+i.Parent] {
			i.ParentTitle = ""
		}
		for n, l := range i.Links {
			if c.closed[i.Project+"/"+l.To] {
				i.Links[n].Title = ""
			}
		}
	}
	if len(c.clashes) > 0 {
		var places []string
		for _, one := range c.clashes {
			places = append(places, fmt.Sprintf("%s in %s and in %s", one.key, one.first, one.second))
		}
		c.Note("clashes", "other issues of the same key: "+diag.First(places, most)+
			": if they are of two sites or repositories, convert each export to a folder of its own")
	}
	if c.doubles > 0 {
		c.Note("doubles", diag.Count(c.doubles, "issue")+" more than once in the files; the later state counts")
	}
}
