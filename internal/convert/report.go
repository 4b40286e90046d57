package convert

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Report lists what a run carried over, what it lost, and which questions are open.
type Report struct {
	FormatVersion int        `json:"format_version"`
	Source        Source     `json:"source"`
	Counts        Counts     `json:"counts"`  // of the source
	Carried       Counts     `json:"carried"` // of these, into the manifests
	Values        *Values    `json:"values"`
	Losses        []Loss     `json:"losses"`
	Questions     []Question `json:"questions"`
	Notes         []Remark   `json:"notes"`
	Numbers       []Numbers  `json:"numbers,omitempty"`
	Since         *Since     `json:"since_last_run,omitempty"`
	Mapping       string     `json:"-"` // path of the mapping file
	States        []State    `json:"-"` // of the source, with the states that they become

	// KeepsNumbers is true if the mapping wants items to keep the numbers of their keys.
	KeepsNumbers bool `json:"-"`

	losses   map[string]*Loss
	ledger   *ledger
	leftOut  tally    // by decision of the mapping
	untitled []string // keys
	linked   int      // links in texts to items
	custom   tally    // values of custom fields
}

// Source names the format and the files of the export.
type Source struct {
	Format     string   `json:"format"`
	DetectedBy string   `json:"detected_by"`
	Files      []string `json:"files"`
}

// Loss is a kind of content that the manifests do not hold.
type Loss struct {
	Kind   string   `json:"kind"`
	Text   string   `json:"text"`
	Count  int      `json:"count"`
	Agreed bool     `json:"agreed"` // by allow
	Items  []string `json:"items"`

	Of      string   `json:"of,omitempty"`      // the field of the manifests that would hold it, such as work_item.parent
	Targets []string `json:"targets,omitempty"` // objects that the items name and the export lacks
}

// Question is an open entry of the mapping file.
type Question struct {
	Section  string `json:"section"`
	Name     string `json:"name"`
	Called   string `json:"called,omitempty"` // the name of the person with that ID
	Items    int    `json:"items"`            // issues that the answer affects
	Position string `json:"position"`
}

// Remark is a fact about the export that people should know.
type Remark struct {
	Kind  string   `json:"kind"`
	Text  string   `json:"text"`
	Items []string `json:"items,omitempty"`
}

// lossKind is a kind of loss: its name, and its text in the report.
type lossKind struct {
	name, text string
	of         string   // kind and field of the manifests that would hold it; "" = none, or several
	parts      []string // fields of an issue whose values are lost, or their roles
}

// lossList has the kinds of losses in the order of a report: name | kind and field of the manifests | parts of an issue = text.
//
//go:embed losses.txt
var lossList string

// allLosses returns all kinds of losses, in the order of a report.
var allLosses = sync.OnceValue(func() (all []lossKind) { //nolint:gochecknoglobals // a constant
	for _, l := range words.Lines(lossList) {
		part := append(strings.Split(l.Of, " | "), "", "")
		all = append(all, lossKind{part[0], l.Names[0], part[1], strings.Split(part[2], ", ")})
	}
	return all
})

// agreeable returns the names that allow: in the mapping accepts: the kinds of losses, and additional objects and fields on the service.
func agreeable() []string {
	var known, fields []string
	for _, l := range allLosses() {
		known = append(known, l.name)
	}
	for _, k := range resource.Kinds() {
		if k.Section == "" || k.Parent == "" {
			continue
		}
		known = append(known, Additional(k.Name, ""))
		for i := range k.Fields {
			if f := &k.Fields[i]; !f.CreateOnly() {
				fields = append(fields, Additional(k.Name, f.Name))
			}
		}
	}
	return append(known, fields...)
}

// Additional returns the name under allow: for additional objects of a kind on the service, or for additional values of a field.
func Additional(kind, field string) string {
	return strings.TrimSuffix("additional."+kind+"."+field, ".")
}

func newReport() *Report {
	return &Report{
		FormatVersion: 1, Carried: Counts{States: map[string]int{}}, losses: map[string]*Loss{}, leftOut: tally{},
		ledger: &ledger{entries: map[*Value]*[4]outcomeCount{}, told: map[*Issue]map[Role]bool{}},
		custom: tally{},
	}
}

func (r *Report) lose(kind string, i *Issue, n int) {
	if n > 0 {
		r.lost(kind, i.Key, n)
		r.tell(kind, i)
	}
}

// tell records that the report names a kind of loss of an issue, or of the export if i is nil.
func (r *Report) tell(kind string, i *Issue) {
	told := r.ledger.told
	if told[i] == nil {
		told[i] = map[Role]bool{}
	}
	all := allLosses()
	for _, part := range all[slices.IndexFunc(all, func(l lossKind) bool { return l.name == kind })].parts {
		told[i][Role(part)] = true
	}
}

// addMissingTarget records a reference to an item that the export does not contain.
func (r *Report) addMissingTarget(kind, name string) {
	if l := r.losses[kind]; !slices.Contains(l.Targets, name) {
		l.Targets = append(l.Targets, name)
	}
}

func (r *Report) lost(kind, of string, n int) {
	l := r.losses[kind]
	if l == nil {
		l = &Loss{Kind: kind}
		r.losses[kind] = l
	}
	l.Count += n
	if len(l.Items) == 0 || l.Items[len(l.Items)-1] != of {
		l.Items = append(l.Items, of)
	}
}

// finish fills in the states, losses, questions and remarks.
func (r *Report) finish(m *mapping.Mapping, c *collection, issues []*Issue, tracker string) {
	r.Losses, r.Questions, r.Notes, r.KeepsNumbers = []Loss{}, []Question{}, []Remark{}, m.Numbers != "new"
	for _, name := range slices.Sorted(maps.Keys(r.Counts.States)) {
		to, _ := m.States.Find(name)
		r.States = append(r.States, State{Name: name, Category: strings.TrimSuffix(to.Name+" or "+to.Else, " or ")})
	}
	for _, kind := range allLosses() {
		if l := r.losses[kind.name]; l != nil {
			l.Text, l.Of = kind.text, kind.of
			l.Agreed = m.Allows(l.Kind, l.Count)
			slices.Sort(l.Items)
			slices.Sort(l.Targets)
			l.Items = slices.Compact(l.Items)
			r.Losses = append(r.Losses, *l)
		}
	}
	items := concerned(issues)
	for _, q := range m.Questions {
		one := Question{Section: q.Section, Name: q.Name, Items: items[[2]string{q.Section, q.Name}], Position: q.Position.String()}
		if q.Section == "source" || q.Section == "columns" {
			one.Items = len(issues)
		}
		if name := c.name(q.Name); q.Section == "people" && name != q.Name {
			one.Called = name
		}
		r.Questions = append(r.Questions, one)
	}
	note := func(kind, text string, items ...string) {
		r.Notes = append(r.Notes, Remark{Kind: kind, Text: text, Items: items})
	}
	if m.UnknownPeople == "text" {
		note("people", "people without an e-mail address in the mapping are not assigned; their names stay in the texts")
	}
	slices.SortStableFunc(r.Questions, func(a, b Question) int { return cmp.Compare(b.Items, a.Items) })
	r.Notes = append(r.Notes, c.notes...)
	count := func(kind, text, format string, of tally) {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(of)) {
			names = append(names, fmt.Sprintf(format, name, of[name]))
		}
		if len(names) > 0 {
			note(kind, text+strings.Join(names, ", "))
		}
	}
	count("left-out", "left out, as the mapping says: ", "%s (%d)", r.leftOut)
	if len(r.untitled) > 0 {
		note("no-titles", "issues without a title, which are named by their keys", r.untitled...)
	}
	count("custom-fields", "values of custom fields, which paid editions of Plane have: ", "%s: %d", r.custom)
	references := "texts link to the items of the issues that they name (" + diag.Count(r.linked, "link") + "), or to those in " + tracker
	if m.Text.NoLinks {
		references = "issue numbers in texts stay text"
	}
	address := "items do not show their old address in " + tracker
	switch m.History.Link {
	case "link":
		address = "each item has a link to its old address in " + tracker + ", as far as that is known"
	case "text":
		address = "the description of each item ends with its old address in " + tracker + ", as far as that is known"
	}
	note("references", references+"; "+address)
	note("service", "Plane numbers the items anew, in ascending order; keeps no update times; "+
		"takes the time of the import for when an item was completed; and shows the owner of the API key as the author of comments")
}

// concerned counts the issues that an open entry of a section concerns, by section and name.
func concerned(issues []*Issue) map[[2]string]int {
	all := map[[2]string]int{}
	for _, i := range issues {
		of := map[[2]string]bool{{"states", i.State.Name}: true, {"priorities", i.Priority}: true, {"types", i.Type}: true, {"projects", i.Project}: true}
		for _, id := range i.involved() {
			of[[2]string{"people", id}] = true
		}
		for _, l := range i.Links {
			of[[2]string{"links", l.Type}] = true
		}
		for at := range of {
			all[at]++
		}
	}
	return all
}

// Settled reports whether no question is open, and every loss is agreed.
func (r *Report) Settled() bool {
	return len(r.Questions) == 0 && !slices.ContainsFunc(r.Losses, func(l Loss) bool { return !l.Agreed })
}

// most is the largest number of items that a line names.
const most = 10
