package convert

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// Role is what a value of the source is for.
type Role string

// Roles of values. Where those go that the mapping decides on depends on it.
const (
	OfItem     Role = "item" // which has it
	OfText     Role = "text" // which has it
	OfState    Role = "state"
	OfPriority Role = "priority"
	OfType     Role = "type"
	OfLabel    Role = "label"
	Component  Role = "component"
	OfVersion  Role = "version"
	Affects    Role = "affects"
	OfSprint   Role = "sprint"
	SprintDate Role = "sprint date"
	Assignee   Role = "assignee"
	History    Role = "history" // who reported an issue, and when
	OfDate     Role = "date"
	OfParent   Role = "parent"
	Relation   Role = "relation"
	OfComment  Role = "comment"
	OfFile     Role = "file"
	OfField    Role = "field"     // one of [Issue.Fields]: by its source
	Technical  Role = "technical" // a number or address within the tracker, its clock, or what another value says, too
	Secret     Role = "secret"    // which nobody is shown
	Uncarried  Role = "uncarried" // Plane has no place for it
	Summed     Role = "summed"    // Plane has no place for it, but in a comment that sums up, if that is wanted
)

// Value is a field of the source: a path in JSON or XML, or a column of a table.
type Value struct {
	Name    string
	Role    Role
	Example string

	number int // in the order in which they were met
}

// Held is how many values of a field a record holds.
type Held struct {
	Of *Value
	N  int
}

// Roles say what the values of a source are for, by their names there.
type Roles struct {
	known    map[string]Role
	whole    map[string]bool
	patterns []rolePattern

	entries map[string]*entry // of the record that is entered
	names   []string          // of these, in their order
}

// entry are the values of one name in a record.
type entry struct {
	texts []string // the first one; all that become a field
	n     int
}

type rolePattern struct {
	names *regexp.Regexp
	role  Role
}

// ReadRoles reads a list of lines such as "technical = id | *_url". A star stands for any part of a name. Of two patterns that fit
// the first counts, and a name without a star before. One with {} stands for all that is in it, such as a document.
func ReadRoles(list string) *Roles {
	r := &Roles{known: map[string]Role{}, whole: map[string]bool{}, entries: map[string]*entry{}}
	for line := range strings.SplitSeq(list, "\n") {
		role, names, _ := strings.Cut(line, " = ")
		for name := range strings.SplitSeq(names, " | ") {
			r.Declare(strings.TrimSpace(name), Role(role))
		}
	}
	return r
}

// Declare says what the values of a name are for.
func (r *Roles) Declare(name string, role Role) {
	name, whole := strings.CutSuffix(name, "{}")
	switch {
	case name == "":
	case strings.Contains(name, "*"):
		names := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*") + "$")
		r.patterns = append(r.patterns, rolePattern{names, role})
	default:
		r.known[name], r.whole[name] = role, whole
	}
}

// Whole reports whether a name stands for all that is in it.
func (r *Roles) Whole(name string) bool { return r.whole[name] }

// Of is the role of a name; "" is none.
func (r *Roles) Of(name string) Role {
	role, known := r.known[name]
	if !known {
		if n := slices.IndexFunc(r.patterns, func(p rolePattern) bool { return p.names.MatchString(name) }); n >= 0 {
			role = r.patterns[n].role
		}
		r.known[name] = role
	}
	return role
}

var nothing = regexp.MustCompile(`^(?:false|0(?:[.,]0+)?)$`)

// Enter books the values of a record, by their names: those of an issue with it, others, such as those of a board, with the export.
// What has no role becomes a field of the issue; but zero and false say nothing there. It is not safe for concurrent use.
func (r *Roles) Enter(to Sink, i *Issue, values iter.Seq2[string, string]) {
	clear(r.entries)
	r.names = r.names[:0]
	for name, text := range values {
		if role := r.Of(name); (role == "" || role == Uncarried || role == Summed) && nothing.MatchString(text) {
			continue
		}
		e := r.entries[name]
		if e == nil {
			e = &entry{}
			r.entries[name], r.names = e, append(r.names, name)
		}
		if e.n++; e.n == 1 || r.Of(name) == "" && !slices.Contains(e.texts, text) {
			e.texts = append(e.texts, text)
		}
	}
	for _, name := range r.names {
		e, role := r.entries[name], r.Of(name)
		if role == "" && i != nil {
			i.Fields = append(i.Fields, Field{Name: name, Source: name, Value: strings.Join(e.texts, ", ")})
		}
		to.Hold(i, name, cmp.Or(role, OfField), e.texts[0], e.n)
	}
}

// Apart is what records held that stand apart from their issue, such as comments, by what they name it by.
type Apart map[string]*Issue

// Of is what takes the values of a record that names an issue.
func (a Apart) Of(issue string) *Issue {
	if a[issue] == nil {
		a[issue] = &Issue{}
	}
	return a[issue]
}

// Join gives an issue what is held of it.
func (a Apart) Join(i *Issue, name string) {
	if apart := a[name]; apart != nil {
		i.Held, i.Fields = append(i.Held, apart.Held...), append(i.Fields, apart.Fields...)
		delete(a, name)
	}
}

// Close books what no issue took: it is lost.
func (a Apart) Close(to Sink) {
	for _, apart := range a {
		for _, h := range apart.Held {
			if of := h.Of; of.Role == Technical {
				to.Hold(nil, of.Name, of.Role, of.Example, h.N)
			} else {
				to.Hold(nil, "of no item here: "+of.Name, Uncarried, of.Example, h.N)
			}
		}
	}
}

// LeaveOut books what a record held that becomes no issue, and is no loss: such as a template. what says which records these are.
func LeaveOut(to Sink, what string, held []Held) {
	for _, h := range held {
		to.Hold(nil, what+": "+h.Of.Name, Technical, h.Of.Example, h.N)
	}
}

// Values account for the values of an export that are not empty: Read is the sum of the others.
type Values struct {
	Read    int          `json:"read"`
	Carried int          `json:"carried"` // into fields of items
	AsText  int          `json:"as_text"` // in descriptions and comments
	Decided int          `json:"decided"` // left out: as the mapping says, or of use to the tracker only
	Lost    int          `json:"lost"`
	Fields  []ValueCount `json:"fields"`
}

// ValueCount accounts for one field of the source.
type ValueCount struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Read    int    `json:"read"`
	Carried int    `json:"carried,omitempty"`
	AsText  int    `json:"as_text,omitempty"`
	Decided int    `json:"decided,omitempty"`
	Lost    int    `json:"lost,omitempty"`
	Example string `json:"example"`
}

// fate is where a value goes.
type fate int

const (
	lost fate = iota
	carried
	asText
	decided
)

// ledger books where values go.
type ledger struct {
	entries map[*Value]*[4]int
	strayed map[*Issue]map[Role]*[4]int // of an issue, what does not go where others of its role go
}

func newLedger() *ledger {
	return &ledger{entries: map[*Value]*[4]int{}, strayed: map[*Issue]map[Role]*[4]int{}}
}

// stray notes that n values of a role do not go where the others of an issue go.
func (l *ledger) stray(i *Issue, role Role, to fate, n int) {
	if l.strayed[i] == nil {
		l.strayed[i] = map[Role]*[4]int{}
	}
	if l.strayed[i][role] == nil {
		l.strayed[i][role] = &[4]int{}
	}
	l.strayed[i][role][to] += n
}

// book books n values.
func (l *ledger) book(v *Value, to fate, n int) {
	if l.entries[v] == nil {
		l.entries[v] = &[4]int{}
	}
	l.entries[v][to] += n
}

// close books all values of an issue. to says where the values of a field go.
func (l *ledger) close(i *Issue, to func(*Value) fate) {
	held := map[*Value]int{}
	for _, h := range i.Held {
		held[h.Of] += h.N
	}
	for of, n := range held {
		if strayed := l.strayed[i][of.Role]; strayed != nil {
			for f, k := range strayed {
				k = min(k, n)
				l.book(of, fate(f), k)
				n -= k
			}
		}
		l.book(of, to(of), n)
	}
	delete(l.strayed, i)
}

// sums are the account, by names.
func (l *ledger) sums() *Values {
	all := &Values{Fields: []ValueCount{}}
	for _, v := range slices.SortedFunc(maps.Keys(l.entries), func(a, b *Value) int { return cmp.Compare(a.Name, b.Name) }) {
		e := l.entries[v]
		one := ValueCount{
			Name: v.Name, Role: v.Role, Carried: e[carried], AsText: e[asText], Decided: e[decided], Lost: e[lost],
			Example: diag.Truncate(oneLine(v.Example), 60),
		}
		one.Read = one.Carried + one.AsText + one.Decided + one.Lost
		all.Read, all.Carried, all.AsText = all.Read+one.Read, all.Carried+one.Carried, all.AsText+one.AsText
		all.Decided, all.Lost = all.Decided+one.Decided, all.Lost+one.Lost
		all.Fields = append(all.Fields, one)
	}
	return all
}

// fate is where the values of a field go, of an issue or, with nil, of the export itself.
func (c *composer) fate(i *Issue, v *Value) fate {
	is := func(ok bool, then, otherwise fate) fate {
		if ok {
			return then
		}
		return otherwise
	}
	m := c.mapping
	switch v.Role { //nolint:exhaustive // the others are carried
	case OfText:
		return asText
	case Technical, Secret:
		return decided
	case Uncarried:
		return lost
	case Summed:
		switch {
		case i == nil || m.Comments.Skip || m.Summary == "off":
			return lost
		case m.Summary == "short":
			return decided
		}
		return asText
	case Component:
		return is(m.Components == "skip", decided, carried)
	case OfVersion:
		return is(m.Versions.Fix == "skip", decided, carried)
	case OfSprint, SprintDate:
		return is(m.Sprints == "skip", decided, carried)
	case OfComment:
		return is(m.Comments.Skip, decided, carried)
	case OfFile:
		return is(m.Attachments.Skip, decided, carried)
	case History:
		return is(m.History.Dates == "full", carried, asText)
	case OfField:
		return c.fieldFate(i, v)
	case OfState:
		if i != nil {
			s, ok := m.States.Find(i.State.Name)
			return is(ok && s.Name != "", carried, lost)
		}
	case OfPriority:
		if i != nil {
			p, ok := m.Priorities.Find(i.Priority)
			return is(ok && p != "", carried, lost)
		}
	case OfType:
		if i != nil {
			t, ok := m.Types.Find(i.Type)
			return is(t.Skip, decided, is(ok && t.Name != "", carried, lost))
		}
	}
	return carried
}

// fieldFate is where the values of a field go that the model has no word for. One that is no field of the issue any more has found its
// place by the meaning that its format gave it.
func (c *composer) fieldFate(i *Issue, v *Value) fate {
	if i == nil {
		return lost
	}
	if c.fieldsOf != i { // all values of an issue are asked for after one another
		c.fieldsOf, c.bySource = i, map[string]Field{}
		for _, f := range slices.Backward(i.Fields) {
			c.bySource[f.Source] = f
		}
	}
	for name := v.Name; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		f, ok := c.bySource[name]
		if !ok {
			continue
		}
		if _, custom := c.mapping.Custom.Find(f.Name); custom {
			return carried
		}
		if _, _, ok := c.measure(f); ok {
			return carried
		}
		if c.asText(f) {
			return asText
		}
		return decided
	}
	return carried
}

// asText reports whether a field becomes a row of the description.
func (c *composer) asText(f Field) bool {
	to, _ := c.mapping.Fields.Find(f.Name)
	return to != "skip" && to != "" && !f.Noise
}

// account books what no item was composed of: the values of the export itself, and of issues that are left out.
func (c *composer) account(composed map[*Issue]bool) {
	for v, n := range c.found.held {
		to := c.fate(nil, v)
		c.report.ledger.book(v, to, n)
		if to == lost && v.Role == OfField {
			c.report.lost("values", v.Name, n)
		}
	}
	for v, n := range c.found.double {
		c.report.ledger.book(v, decided, n)
	}
	for v, n := range c.found.clashing {
		to := lost
		if v.Role == Technical {
			to = decided
		}
		c.report.ledger.book(v, to, n)
	}
	for _, o := range c.found.outside {
		c.report.lost(o.kind, o.of, o.n)
	}
	for _, i := range c.found.clashes {
		c.report.lost("doubles", i.key, 1)
	}
	for _, i := range c.found.issues {
		if !composed[i] {
			c.found.recall(i)
			c.report.ledger.close(i, func(*Value) fate { return decided })
			i.forget()
		}
	}
	c.report.Values = c.report.ledger.sums()
}

// markdown shows the account: its sums, and the fields of which most is lost.
func (v *Values) markdown(b *strings.Builder, cell func(string) string) {
	fmt.Fprintf(b, "\n## Values\n\nThe export holds %s: %d are in fields of items, %d in texts, %d left out by decision or of use to "+
		"the tracker only, %d lost. report.json has all fields.\n", diag.Count(v.Read, "value"), v.Carried, v.AsText, v.Decided, v.Lost)
	short := slices.DeleteFunc(slices.Clone(v.Fields), func(f ValueCount) bool { return f.Lost == 0 })
	slices.SortStableFunc(short, func(a, b ValueCount) int { return cmp.Compare(b.Lost, a.Lost) })
	const most = 30
	for n, f := range short[:min(len(short), most)] {
		if n == 0 {
			b.WriteString("\n| field of the export | values | lost | example |\n| --- | ---: | ---: | --- |\n")
		}
		fmt.Fprintf(b, "| %s | %d | %d | %s |\n", cell(f.Name), f.Read, f.Lost, cell(f.Example))
	}
}
