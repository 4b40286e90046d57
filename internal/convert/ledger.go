package convert

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// Role is the meaning of a value in the source.
type Role string

// Roles of values. The role decides in which field or text a value is expected.
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

	number int // ordinal of the field in the export
}

// Held is a value of a field that a record holds N times. Text is its beginning; "" if it is [Technical].
type Held struct {
	Of   *Value
	N    int
	Text string
}

// Roles hold the role of each field of a source by its name.
type Roles struct {
	known    map[string]Role
	patterns []rolePattern

	entries map[string]*entry // values of the record that is entered
	names   []string          // names of entries, in their order
}

// entry holds the different values of one name in a record, and the number of times that each occurs.
type entry struct {
	texts []string
	n     map[string]int
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

// Declare sets the role of a name or pattern.
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
func (rl *Roles) Of(name string) Role {
	role, known := rl.known[name]
	if !known {
		if n := slices.IndexFunc(rl.patterns, func(p rolePattern) bool { return p.names.MatchString(name) }); n >= 0 {
			role = rl.patterns[n].role
		}
		rl.known[name] = role
	}
	return role
}

// nothing matches zero and false.
var nothing = regexp.MustCompile(`^(?:false|0(?:[.,]0+)?)$`)

// Enter books the values of a record with its issue, or with the export if i is nil. Values without a role become fields of the issue,
// except zero and false; Enter is not safe for concurrent use.
func (rl *Roles) Enter(to Sink, i *Issue, values iter.Seq2[string, string]) {
	clear(rl.entries)
	rl.names = rl.names[:0]
	for name, text := range values {
		if role := rl.Of(name); (role == "" || role == Uncarried || role == Summed) && nothing.MatchString(text) {
			continue
		}
		e := rl.entries[name]
		if e == nil {
			e = &entry{n: map[string]int{}}
			rl.entries[name], rl.names = e, append(rl.names, name)
		}
		if e.n[text]++; e.n[text] == 1 {
			e.texts = append(e.texts, text)
		}
	}
	if i != nil && len(i.Held) == 0 {
		n := 0
		for _, name := range rl.names {
			if rl.Of(name) != Technical {
				n += len(rl.entries[name].texts)
			}
		}
		i.Held = make([]Held, 0, n) // no more than it needs, as there are many
	}
	for _, name := range rl.names {
		e, role := rl.entries[name], rl.Of(name)
		if role == "" && i != nil {
			i.Fields = append(i.Fields, Field{Name: name, Source: name, Value: strings.Join(e.texts, ", ")})
		}
		for _, text := range e.texts {
			to.Hold(i, name, cmp.Or(role, OfField), text, e.n[text])
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
		i.Work, i.Events = append(i.Work, of.Work...), append(i.Events, of.Events...)
		delete(ap, name)
	}
}

// Close books the values that no issue took as lost.
func (ap Apart) Close(to Sink) {
	for _, of := range ap {
		for _, h := range of.Held {
			to.Hold(nil, "of no item here: "+h.Of.Name, Uncarried, h.Text, h.N)
		}
	}
}

// LeaveOut books the values of a record that becomes no issue and is no loss, such as a template. what names such records.
func LeaveOut(to Sink, what string, held []Held) {
	for _, h := range held {
		to.Hold(nil, what+": "+h.Of.Name, Technical, h.Of.Example, h.N)
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
	carried
	asText
	decided
)

// outcomeCount counts the values of a field with one fate, and has an example.
type outcomeCount struct {
	n       int
	example string
}

// ledger counts the values of each field by fate.
type ledger struct {
	entries map[*Value]*[4]outcomeCount
	told    map[*Issue]map[Role]bool // roles of the losses that the report names of an issue
}

// tell records that the report names a loss of values of a role.
func (l *ledger) tell(i *Issue, role Role) {
	if l.told[i] == nil {
		l.told[i] = map[Role]bool{}
	}
	l.told[i][role] = true
}

// book counts a value with its fate.
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

// book counts a value of an issue, or of the export if i is nil. A loss that no other kind of loss names is reported by its field.
func (c *composer) book(i *Issue, h Held, to outcome) {
	l := c.report.ledger
	l.book(h, to)
	role, told := h.Of.Role, l.told[i]
	if role == Summed { // losses.txt lists losses of summed values under uncarried
		role = Uncarried
	}
	if to == lost && !told[role] && !l.told[nil][role] {
		c.report.lost("values", h.Of.Name, h.N)
	}
}

// outcomeOf looks for a value of an issue in the manifest and the texts that were written for the issue.
func (c *composer) outcomeOf(i *Issue, h Held, item written) outcome {
	role := h.Of.Role
	if role == Technical || role == Secret || c.isLeftOut(i, h) {
		return decided
	}
	if role == Uncarried || role == Summed && (c.mapping.Summary == "off" || c.mapping.Comments.Skip) {
		return lost
	}
	also := written(nil)
	if c.isMapped(role) {
		also = c.named
	}
	texts := []string{h.Text, strings.ReplaceAll(h.Text, `\n`, "\n")} // some trackers write the end of a line as \n
	if keys := numbered.FindAllString(h.Text, -1); role == Relation && keys != nil {
		texts[0] = strings.Join(keys, " ") // the other words are the tracker's
	}
	if p := c.found.people[h.Text]; p != nil {
		texts = append(texts, c.person(p.ID))
	}
	if role == OfField {
		for _, f := range c.sources.measured {
			if _, value, ok := c.measure(f); ok && (f.Source == h.Of.Name || f.Name == h.Of.Name || f.Value == h.Text) {
				texts = append(texts, fmt.Sprint(value)) // as the number that it became
			}
		}
	}
	for _, text := range texts {
		switch inText := item.has(text, inFields|inTexts, nil); {
		case item.has(text, inFields, nil), inText && (role == OfItem || role == OfComment):
			return carried
		case inText:
			return asText
		case item.has(text, inFields, also):
			return carried
		}
	}
	if c.isWrittenElsewhere(i, h) {
		return decided
	}
	return lost
}

// numbered matches words with a digit.
var numbered = regexp.MustCompile(`\S*\d\S*`)

// isWrittenElsewhere reports whether another value of an issue has the same content, or more.
func (c *composer) isWrittenElsewhere(i *Issue, h Held) bool {
	name := ""
	switch h.Of.Role { //nolint:exhaustive // the others speak for themselves
	case OfField:
		return isFlag(h.Text) && nothing.MatchString(strings.Replace(strings.ToLower(h.Text), "no", "false", 1))
	case Summed:
		return c.mapping.Summary == "short"
	case Assignee:
		return len(i.Assignees) == 0 // it stands for nobody, such as Unassigned
	case OfParent:
		_, ok := c.placed[i.Project+"/"+i.Parent]
		return ok
	case OfItem:
		return isFlag(h.Text) || c.address(i) != "" && strings.Contains(h.Text, "://") // another address of the issue
	case OfFile:
		return len(i.Attachments) > 0 && strings.Contains(h.Text, "://") // another address of a file
	case Relation:
		return len(i.Links) > 0 && !strings.ContainsAny(h.Text, "0123456789")
	case OfState:
		name = i.State.Name
	case OfPriority:
		name = i.Priority
	case OfType:
		name = i.Type
	}
	return isFlag(h.Text) || name != "" && c.named.has(name, inFields, nil)
}

// isMapped reports whether the mapping has names for values of a role.
func (c *composer) isMapped(role Role) bool {
	return slices.Contains([]Role{OfItem, OfState, OfPriority, OfType, OfLabel, Assignee, History, OfComment, Relation, Summed}, role)
}

// isFlag reports whether a value is yes or no, which means nothing without its name.
func isFlag(text string) bool {
	return slices.Contains([]string{"true", "false", "yes", "no", "completed", "not completed"}, strings.ToLower(text))
}

// isLeftOut reports whether the mapping leaves a value out.
func (c *composer) isLeftOut(i *Issue, h Held) bool {
	m := c.mapping
	switch h.Of.Role { //nolint:exhaustive // the others are not left out
	case Component:
		return m.Components == "skip"
	case OfVersion:
		return m.Versions.Fix == "skip"
	case OfSprint, SprintDate:
		return m.Sprints == "skip"
	case OfComment:
		return m.Comments.Skip
	case OfFile:
		return m.Attachments.Skip
	case OfLabel:
		return slices.Contains(m.Labels.Skip, h.Text)
	case OfType:
		t, _ := m.Types.Find(i.Type)
		return t.Skip
	case OfField:
		return c.isFieldLeftOut(h.Of.Name)
	}
	return false
}

// itemFields holds the fields of the item whose values are booked.
type itemFields struct {
	bySource map[string]Field // the first field of each source
	measured []Field          // those that become numbers of the item
}

// indexFields returns an index of the fields of an issue.
func (c *composer) indexFields(i *Issue) itemFields {
	index := itemFields{bySource: make(map[string]Field, len(i.Fields))}
	for _, f := range i.Fields {
		if _, has := index.bySource[f.Source]; !has {
			index.bySource[f.Source] = f
		}
		if _, _, ok := c.measure(f); ok {
			index.measured = append(index.measured, f)
		}
	}
	return index
}

// isFieldLeftOut reports whether the mapping leaves a field out.
func (c *composer) isFieldLeftOut(name string) bool {
	for ; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		f, found := c.sources.bySource[name]
		if !found {
			continue
		}
		_, custom := c.mapping.Custom.Find(f.Name)
		_, _, measured := c.measure(f)
		return !custom && !measured && !c.isText(f)
	}
	return false
}

// isText reports whether a field becomes a row of the description.
func (c *composer) isText(f Field) bool {
	to, _ := c.mapping.Fields.Find(f.Name)
	return to != "skip" && to != "" && !f.Noise
}

// account books the values of an issue. Each value is looked for in the item, and in the declarations of the project that the item uses.
func (c *composer) account(at place, m manifest.Map, g *groups) {
	clear(c.booked)
	item := c.booked
	i, declared := at.issue, map[string]*names{"state": g.states, "type": g.types, "cycle": g.cycles, "module": g.modules, "modules": g.modules, "labels": g.labels}
	for _, entry := range m {
		if entry.Key == "description" || entry.Key == "comments" {
			item.add(entry.Value, inTexts)
			continue
		}
		item.add(entry.Value, inFields)
		if relations, ok := entry.Value.(manifest.Map); ok && entry.Key == "relations" {
			for _, kind := range relations {
				item.add(kind.Key, inFields)
			}
		}
		if list := declared[entry.Key]; list != nil {
			several, _ := entry.Value.([]any)
			for _, name := range append(several, entry.Value) {
				if name, ok := name.(string); ok {
					item.add(list.more[name], inFields)
				}
			}
		}
	}
	for _, other := range append(c.partners[i.name()], c.placed[i.Project+"/"+i.Parent].issue) {
		if other != nil {
			item.add(strings.Join([]string{other.Key, other.ID, other.Title, c.address(other)}, " "), inFields)
		}
	}
	source := c.found.projects[i.Project]
	for _, text := range []string{i.Project, at.project.Key, at.project.Identifier, at.project.Name, source.Description} {
		item.add(text, inFields)
	}
	for _, row := range c.attached.rows[c.attached.booked:] {
		item.add(strings.Join(row, " "), inFields)
	}
	c.attached.booked = len(c.attached.rows)
	c.sources = c.indexFields(i)
	for _, h := range i.Held {
		c.book(i, h, c.outcomeOf(i, h, item))
	}
	delete(c.report.ledger.told, i)
}

// accountForRest books the values of the export itself and of issues without an item.
func (c *composer) accountForRest(composed map[*Issue]bool) {
	for _, h := range inOrder(c.found.held) {
		to := lost
		switch role := h.Of.Role; {
		case role == Technical || role == Secret || isFlag(h.Text):
			to = decided
		case role == Uncarried || role == Summed:
		case c.wrote.has(h.Text, inFields, c.named):
			to = carried
		case role == Assignee || role == History: // people that no item names
			to = decided
		}
		c.book(nil, h, to)
	}
	for _, h := range inOrder(c.found.double) {
		c.report.ledger.book(h, decided)
	}
	for _, h := range inOrder(c.found.unwritten) {
		to := lost
		if h.Of.Role == Technical {
			to = decided
		}
		c.report.ledger.book(h, to)
	}
	for id := range c.found.closed {
		c.report.lost("restricted", path.Base(id), 1)
	}
	for _, i := range c.found.clashes {
		c.report.lost("doubles", i.key, 1)
	}
	for _, i := range c.found.issues {
		if !composed[i] {
			c.found.recall(i)
			for _, h := range i.Held {
				c.report.ledger.book(h, decided)
			}
			i.forget()
		}
	}
	c.report.Values = c.report.ledger.sums(len(c.found.closed) > 0)
}

// inOrder returns values with their counts, in the order of their names and texts.
func inOrder(values map[Held]int) []Held {
	list := slices.SortedFunc(maps.Keys(values), func(a, b Held) int { return cmp.Or(cmp.Compare(a.Of.Name, b.Of.Name), cmp.Compare(a.Text, b.Text)) })
	for n := range list {
		list[n].N = values[list[n]]
	}
	return list
}
