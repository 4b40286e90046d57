package convert

import (
	"cmp"
	_ "embed"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/planform/planform/internal/convert/jira/adf"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
)

// Role is the meaning of a value in the source: one of the roles below, or a field of [Issue] that has such a role, see [RoleOf].
type Role string

// Roles of values.
const (
	OfItem     Role = "item" // the item has the value in a field
	OfText     Role = "text" // the description has the value
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
	Offered    Role = "offered"   // a name that issues can have, such as that of a label
	Technical  Role = "technical" // a number, an address or a time of use to the tracker only, or the same as another value
	Secret     Role = "secret"    // nobody is shown the value
	Uncarried  Role = "uncarried" // Plane has no place for it
	Summed     Role = "summed"    // a comment that sums up has the value, if the mapping wants one
)

// Value is a field of the source: a path in JSON or XML, or a column of a table.
type Value struct {
	Name    string
	Role    Role
	Example string

	part   Role // the field of [Issue] that takes the values, such as created_at
	number int  // ordinal of the field in the export
}

// Serve sets the role of the values, or the field of an issue that takes them.
func (v *Value) Serve(part Role) { v.Role, v.part = RoleOf(part), part }

// Held is a value of a field that a record holds N times. Text is its beginning; "" if it is [Technical].
type Held struct {
	Of      *Value
	N       int
	Text    string
	Element string // the element of the field, such as the ID of a comment; "" = not known
}

// Leaf is a value of a record with the name of its field. Element is as in [Held].
type Leaf struct{ Name, Text, Element string }

// NotTaken is the element of a value that no field of the issue takes, because the record has another value for the field.
const NotTaken = "not taken"

// roleList has the roles of fields of an issue. A field that is not in the list is the name of its role.
//
//go:embed roles.txt
var roleList string

var roles = sync.OnceValue(func() map[string]string { return words.ByName(words.Lines(roleList)) }) //nolint:gochecknoglobals // a constant

// RoleOf returns the role of the values that a field of an issue takes.
func RoleOf(field Role) Role { return cmp.Or(Role(roles()[string(field)]), field) }

// Roles hold the role of each field of a source by its name.
type Roles struct {
	known    map[string]Role // or the field that takes the values
	patterns []rolePattern

	entries map[string]*entry // values of the record that is entered
	names   []string          // names of entries, in their order
}

// entry holds the different values of one name in a record, and the number of times that each occurs.
type entry struct {
	values []Leaf
	n      map[Leaf]int
}

// rolePattern is the role of all names that match a pattern.
type rolePattern struct {
	names *regexp.Regexp
	role  Role
}

// ReadRoles reads lines such as "technical = id | *_url", where a star stands for any part of a name. Names without a star win over
// patterns, then the first pattern wins.
func ReadRoles(list string) *Roles {
	r := &Roles{known: map[string]Role{}, entries: map[string]*entry{}}
	for _, line := range words.Lines(list) {
		for _, name := range line.Names {
			r.Declare(strings.TrimSpace(name), Role(line.Of))
		}
	}
	return r
}

// Declare sets the role of a name or pattern, or the field of an issue that takes its values.
func (rl *Roles) Declare(name string, role Role) {
	switch {
	case name == "":
	case strings.Contains(name, "*"):
		names := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*") + "$")
		rl.patterns = append(rl.patterns, rolePattern{names, role})
	default:
		rl.known[name] = role
	}
}

// Of returns the role of a name, or "" if none is declared.
func (rl *Roles) Of(name string) Role { return RoleOf(rl.part(name)) }

// part returns what is declared for a name, or "".
func (rl *Roles) part(name string) Role {
	part, known := rl.known[name]
	if !known {
		if n := slices.IndexFunc(rl.patterns, func(p rolePattern) bool { return p.names.MatchString(name) }); n >= 0 {
			part = rl.patterns[n].role
		}
		rl.known[name] = part
	}
	return part
}

// nothing matches zero and false.
var nothing = regexp.MustCompile(`^(?:false|0(?:[.,]0+)?)$`)

// Enter books the values of a record with its issue, or with the export if i is nil. Values without a role become fields of the issue,
// except zero and false; Enter is not safe for concurrent use.
func (rl *Roles) Enter(to Sink, i *Issue, values []Leaf) {
	clear(rl.entries)
	rl.names = rl.names[:0]
	for _, v := range values {
		if role := rl.Of(v.Name); (role == "" || role == Uncarried || role == Summed) && nothing.MatchString(v.Text) {
			continue
		}
		e := rl.entries[v.Name]
		if e == nil {
			e = &entry{n: map[Leaf]int{}}
			rl.entries[v.Name], rl.names = e, append(rl.names, v.Name)
		}
		if e.n[v]++; e.n[v] == 1 {
			e.values = append(e.values, v)
		}
	}
	if i != nil && len(i.Held) == 0 {
		n := 0
		for _, name := range rl.names {
			if rl.Of(name) != Technical {
				n += len(rl.entries[name].values)
			}
		}
		i.Held = make([]Held, 0, n) // no more than it needs, as there are many
	}
	for _, name := range rl.names {
		e, part := rl.entries[name], rl.part(name)
		if part == "" && i != nil {
			var texts []string
			for _, v := range e.values {
				if !slices.Contains(texts, v.Text) {
					texts = append(texts, v.Text)
				}
			}
			i.Fields = append(i.Fields, Field{Name: name, Source: name, Value: strings.Join(texts, ", ")})
		}
		for _, v := range e.values {
			to.Hold(i, v, cmp.Or(part, OfField), e.n[v])
		}
	}
}

// Apart holds the content of records outside their issue, such as comments, by the key with which they name the issue.
type Apart map[string]*Issue

// Of returns the holder for records that name an issue.
func (ap Apart) Of(issue string) *Issue {
	if ap[issue] == nil {
		ap[issue] = &Issue{Left: map[string]int{}}
	}
	return ap[issue]
}

// Join moves the content that is held for an issue to the issue.
func (ap Apart) Join(i *Issue, name string) {
	if of := ap[name]; of != nil {
		i.Held, i.Fields, i.Attachments = append(i.Held, of.Held...), append(i.Fields, of.Fields...), append(i.Attachments, of.Attachments...)
		i.Work, i.Events, i.Reporter = append(i.Work, of.Work...), append(i.Events, of.Events...), cmp.Or(of.Reporter, i.Reporter)
		for _, kind := range []string{"history", "dates-not-understood"} {
			i.Left[kind] += of.Left[kind]
		}
		delete(ap, name)
	}
}

// Close books the values that no issue took as lost.
func (ap Apart) Close(to Sink) {
	for _, of := range ap {
		for _, h := range of.Held {
			part := Uncarried
			if h.Of.Role == OfComment {
				part = "comment_outside"
			}
			to.Hold(nil, Leaf{Name: "of no item here: " + h.Of.Name, Text: h.Text}, part, h.N)
		}
	}
}

// LeaveOut books the values of a record that becomes no issue and is no loss, such as a template. what names such records.
func LeaveOut(to Sink, what string, held []Held) {
	for _, h := range held {
		to.Hold(nil, Leaf{Name: what + ": " + h.Of.Name, Text: h.Of.Example}, Technical, h.N)
	}
}

// Values account for the values of an export that are not empty: Read is the sum of the other numbers.
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

// outcome is the place where a value ended: a field, a text, nowhere, or left out on purpose.
type outcome int

const (
	lost outcome = iota
	decided
	asText
	carried
)

type outcomeCount struct {
	n       int
	example string
}

type ledger struct {
	entries map[*Value]*[4]outcomeCount
	told    map[*Issue]map[Role]bool // parts or their roles of which the report names a loss of an issue
}

func (l *ledger) book(h Held, to outcome) {
	if l.entries[h.Of] == nil {
		l.entries[h.Of] = &[4]outcomeCount{}
	}
	e := &l.entries[h.Of][to]
	e.n, e.example = e.n+h.N, cmp.Or(e.example, h.Text)
}

// sums returns the account by field names. The example of a field is a value that was written, if there is one; quiet leaves examples out.
func (l *ledger) sums(quiet bool) *Values {
	all := &Values{Fields: []ValueCount{}}
	for _, v := range slices.SortedFunc(maps.Keys(l.entries), func(a, b *Value) int { return cmp.Compare(a.Name, b.Name) }) {
		e := l.entries[v]
		one := ValueCount{Name: v.Name, Role: v.Role, Carried: e[carried].n, AsText: e[asText].n, Decided: e[decided].n, Lost: e[lost].n}
		if !quiet {
			one.Example = diag.Truncate(diag.OneLine(cmp.Or(e[carried].example, e[asText].example, e[lost].example, v.Example)), 60)
		}
		one.Read = one.Carried + one.AsText + one.Decided + one.Lost
		all.Read, all.Carried, all.AsText = all.Read+one.Read, all.Carried+one.Carried, all.AsText+one.AsText
		all.Decided, all.Lost = all.Decided+one.Decided, all.Lost+one.Lost
		all.Fields = append(all.Fields, one)
	}
	return all
}

// marks matches markup in a value of the source.
var marks = regexp.MustCompile(`(?s)<!--.*?-->|<[^<>]*>|\{\w+(?::[^{}]*)?\}|\bh[1-6]\. |"\w+":`)

// beginning returns the first words of a value without its markup, for finding the value again.
func beginning(text string) string {
	const enough = 80
	if adf.Is([]byte(text)) {
		text = adf.Plain([]byte(text))
	}
	if text = text[:min(len(text), 10*enough)]; strings.ContainsAny(text, "<{.&\":") {
		text = strings.TrimSpace(html.UnescapeString(marks.ReplaceAllString(text, "\n")))
	}
	if len(text) <= enough {
		return text
	}
	at := 0
	for n, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			at = n
		}
		if n > enough && at > 0 {
			return strings.Clone(text[:at])
		}
	}
	return text
}
