package proof

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Input is what is held against each other.
type Input struct {
	Plan   *planner.Plan      // of the export's manifests, with what is in no manifest
	Export []*resource.Object // everything of the export, with what the plan leaves out
	Left   []*resource.Object // what the plan leaves out of it, since it is of a part that nobody asked for
	// Parts are what nobody asked for.
	Parts []Part
	// Numbered reports whether items are to have the numbers of their keys.
	Numbered bool
	Accepted []Accepted
	// Allows reports whether the mapping agrees with so many of what the service alone has; nil = with none.
	Allows func(kind, field string, n int) bool
}

// Part is what takes a request for each item.
type Part struct {
	Word  string // for it, such as comments
	Kinds []*resource.Kind
}

// Report is what became of an export on the service.
type Report struct {
	FormatVersion int           `json:"format_version"`
	Equal         bool          `json:"equal"` // in everything that the export holds
	Differences   []Difference  `json:"differences"`
	Fields        []Field       `json:"fields"`
	NotCompared   []NotCompared `json:"not_compared"`
	Accepted      []Accepted    `json:"accepted"` // losses that the mapping agrees with
}

// Difference is one thing that is not the same.
type Difference struct {
	What    string  `json:"what"` // missing, additional, or differs
	Kind    string  `json:"kind"`
	Item    string  `json:"item"` // the address; of an object that is additional, where it is
	Name    string  `json:"name"`
	Field   string  `json:"field,omitempty"` // as manifests name it
	Export  *string `json:"export,omitempty"`
	Service *string `json:"service,omitempty"`
	Why     string  `json:"why,omitempty"`
}

// Field counts the objects of a kind, or the values of one of their fields.
type Field struct {
	Kind        string `json:"kind"`
	Field       string `json:"field,omitempty"` // "" counts the objects
	Export      int    `json:"export"`
	Equal       int    `json:"equal"`
	Differing   int    `json:"differing"`
	Missing     int    `json:"missing"`
	NotCompared int    `json:"not_compared"`
	Additional  int    `json:"additional"` // on the service alone
	OnService   int    `json:"on_service"` // as far as it was compared
	Accepted    int    `json:"accepted"`   // that the export does not carry, as the mapping agrees
}

// NotCompared is what cannot be seen, or was not looked at.
type NotCompared struct {
	What    string `json:"what"`
	Why     string `json:"why"`
	Hint    string `json:"hint,omitempty"`
	Lacking bool   `json:"lacking"`  // this edition, or the API, does not have it
	LeftOut bool   `json:"left_out"` // nobody asked for it
}

// Accepted is a loss that the mapping agrees with.
type Accepted struct {
	Kind  string `json:"kind"`
	Of    string `json:"of,omitempty"` // kind and field, such as work_item.parent
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Proven reports whether all that was asked for is equal. What this edition lacks counts unless that is accepted.
func (r *Report) Proven(unsupported bool) bool {
	return len(r.Differences) == 0 && !slices.ContainsFunc(r.NotCompared, func(n NotCompared) bool {
		return !n.LeftOut && !(n.Lacking && unsupported)
	})
}

// at is a field of a kind.
type at struct{ kind, field string }

// of is a field of an object.
type of struct {
	object resource.Address
	field  string
}

// checker holds an export against the service.
type checker struct {
	Input

	report *Report
	fields map[at]*Field
	order  []at
	said   map[resource.Address][]string // the fields of which the export says something
	names  map[resource.Address]string
	gone   map[resource.Address]bool // what is missing
	differ map[of]bool               // what differs
}

// Check says what is equal.
func Check(in Input) *Report {
	c := &checker{
		Input: in, fields: map[at]*Field{}, said: map[resource.Address][]string{}, names: map[resource.Address]string{},
		gone: map[resource.Address]bool{}, differ: map[of]bool{},
		report: &Report{
			FormatVersion: 2, Differences: []Difference{}, Fields: []Field{}, NotCompared: []NotCompared{}, Accepted: in.Accepted,
		},
	}
	if c.report.Accepted == nil {
		c.report.Accepted = []Accepted{}
	}
	for _, o := range in.Export {
		c.export(o)
	}
	c.leaveOut()
	for _, s := range in.Plan.Steps {
		c.step(s)
	}
	c.numbers()
	c.additional()
	for _, n := range in.Plan.NotCompared {
		c.unseen(n)
	}
	for _, a := range in.Accepted {
		if kind, field, _ := strings.Cut(a.Of, "."); kind != "" {
			c.field(kind, field).Accepted += a.Count
		}
	}
	for _, k := range c.order {
		f := c.fields[k]
		c.allow(f)
		f.Equal = f.Export - f.Differing - f.Missing - f.NotCompared
		f.OnService += f.Equal + f.Additional
		c.report.Fields = append(c.report.Fields, *f)
	}
	rank := func(f Field) int { return slices.Index(resource.Listed(), f.Kind) }
	slices.SortStableFunc(c.report.Fields, func(a, b Field) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Field, b.Field)) })
	c.report.Equal = len(c.report.Differences) == 0 && len(c.report.NotCompared) == 0
	return c.report
}

func (c *checker) field(kind, field string) *Field {
	k := at{kind, field}
	if c.fields[k] == nil {
		c.fields[k] = &Field{Kind: kind, Field: field}
		c.order = append(c.order, k)
	}
	return c.fields[k]
}

// Complete lets a plan of objects compare what the export says nothing of, too: a work item without labels there is to have none on the
// service. How a project itself is set up is its people's. It returns the objects as they were.
func Complete(objects []*resource.Object) (export []*resource.Object) {
	for _, o := range objects {
		said := *o
		export = append(export, &said)
		var empty []resource.Value
		for i := range o.Kind.Fields {
			f := &o.Kind.Fields[i]
			if _, membership := resource.MembershipOf(o.Kind.Name, f.Name); o.Parent != nil && f.Empties() && !membership && !o.Writes(f) {
				empty = append(empty, resource.Value{Field: f, Text: f.Default, Null: f.Default == "", Position: o.Position})
			}
		}
		o.Values = slices.Concat(o.Values, empty)
	}
	return export
}

// values are the fields that an object of the export says something of.
func values(o *resource.Object) []string {
	var list []string
	for i := range o.Values {
		if v := &o.Values[i]; !v.Implied && !slices.Contains(list, v.Field.Name) {
			list = append(list, v.Field.Name)
		}
	}
	return list
}

func (c *checker) export(o *resource.Object) {
	c.field(o.Kind.Name, "").Export++
	c.said[o.Address], c.names[o.Address] = values(o), o.Name()
	for _, name := range c.said[o.Address] {
		c.field(o.Kind.Name, name).Export++
	}
}

// leaveOut names what was not looked at.
func (c *checker) leaveOut() {
	n := map[*resource.Kind]int{}
	for _, o := range c.Left {
		n[o.Kind]++
		c.field(o.Kind.Name, "").NotCompared++
		for _, name := range c.said[o.Address] {
			c.field(o.Kind.Name, name).NotCompared++
		}
	}
	for _, part := range c.Parts {
		left := 0
		for _, kind := range part.Kinds {
			left += n[kind]
		}
		what := part.Word + " (" + strconv.Itoa(left) + " in the export, and any that people added)"
		if left == 0 {
			what = part.Word + " that people added where the export has none"
		}
		c.report.NotCompared = append(c.report.NotCompared, NotCompared{
			What: what, Why: "they take a request for each item", Hint: "--with " + part.Word, LeftOut: true,
		})
	}
}

// unseen takes what the plan could not see. Where the export says nothing of it, there is nothing to compare.
func (c *checker) unseen(n planner.NotCompared) {
	said := 0
	for _, address := range n.All {
		if n.Field == "" {
			c.field(n.Kind, "").NotCompared++
			said++
		}
		for _, name := range c.said[address] {
			kind, _ := resource.Lookup(n.Kind)
			if f, ok := kind.Field(name); n.Field == "" || ok && f.Path() == n.Field || !ok && resource.IsCustomName(n.Field+"."+name) {
				c.field(n.Kind, name).NotCompared++
				said++
			}
		}
	}
	if said == 0 {
		return
	}
	c.report.NotCompared = append(c.report.NotCompared, NotCompared{
		What: n.What, Why: n.Why, Hint: strings.ReplaceAll(n.Hint, "--refresh-all", "--with all"),
	})
}

// step takes what apply would do.
func (c *checker) step(s *planner.Step) {
	switch {
	case s.Members != nil && !s.Lacking(): // also where the service would take nobody any more
		c.members(s)
	case s.Action == planner.NotPossible:
		c.blocked(s)
	case s.Action == planner.Create:
		c.missing(s.Object, "not on the service")
	case c.gone[s.Address]: // the rest of its values comes in a request of its own
	default:
		for _, change := range s.Changes() {
			if f := s.Field(change.Path); f != nil { // else it is the mark
				c.change(s, f.Name, change, "")
			}
		}
	}
}

func (c *checker) missing(o *resource.Object, why string) {
	c.gone[o.Address] = true
	c.field(o.Kind.Name, "").Missing++
	for _, name := range c.said[o.Address] {
		c.field(o.Kind.Name, name).Missing++
	}
	c.report.Differences = append(c.report.Differences, Difference{
		What: "missing", Kind: o.Kind.Name, Item: string(o.Address), Name: o.Name(), Why: why,
	})
}

func (c *checker) change(s *planner.Step, field string, change planner.Change, why string) {
	if change.References > 0 {
		why = "its links to other items are not there"
	}
	c.add(s.Kind, Difference{
		Item: string(s.Address), Name: s.Name, Field: field, Export: change.After, Service: change.Before, Why: why,
	})
}

// add counts a value that is not the same: each once, also of a list of which several are not.
func (c *checker) add(kind *resource.Kind, d Difference) {
	d.What, d.Kind = "differs", kind.Name
	at, f := of{resource.Address(d.Item), d.Field}, c.field(kind.Name, d.Field)
	switch {
	case !slices.Contains(c.said[at.object], d.Field):
		d.What = "additional"
		f.Additional++
	case !c.differ[at]:
		if f.Differing++; d.Service != nil {
			f.OnService++
		}
	}
	c.differ[at] = true
	c.report.Differences = append(c.report.Differences, d)
}

// blocked takes what apply could not do. What only the edition lacks is named once.
func (c *checker) blocked(s *planner.Step) {
	cause := s.Cause
	if !s.Lacking() {
		if s.Object != nil && s.ID == "" {
			c.missing(s.Object, cause.Text)
			return
		}
		for _, change := range s.Changes() {
			c.change(s, cmp.Or(fieldName(s, change), change.Path), change, cause.Text)
		}
		return
	}
	lack := func(field, what string) {
		c.field(s.Kind.Name, field).NotCompared++
		n := NotCompared{What: what, Why: cause.Text, Lacking: true}
		if cause.Objects != "" {
			n = NotCompared{What: cause.Objects, Why: "this edition of the service has none", Lacking: true}
		}
		if !slices.Contains(c.report.NotCompared, n) {
			c.report.NotCompared = append(c.report.NotCompared, n)
		}
	}
	section := strings.ReplaceAll(s.Kind.Section, "_", " ")
	if s.Object != nil && s.ID == "" {
		lack("", section)
		for _, name := range c.said[s.Address] {
			c.field(s.Kind.Name, name).NotCompared++
		}
		return
	}
	for _, change := range s.Changes() {
		if name := cmp.Or(fieldName(s, change), change.Path); slices.Contains(c.said[s.Address], name) {
			lack(name, name+" of "+section)
		}
	}
}

func fieldName(s *planner.Step, change planner.Change) string {
	if f := s.Field(change.Path); f != nil {
		return f.Name
	}
	return ""
}

// members takes who is not in a container. Who is there and should not be is additional.
func (c *checker) members(s *planner.Step) {
	m := s.Kind.Membership
	if s.Action == planner.RemoveMembers {
		return
	}
	for i := range s.Members.Items {
		item := &s.Members.Items[i]
		if c.gone[item.Address] {
			continue
		}
		to := s.Members.Container
		on, other := item.Address, string(to.Address)
		if m.On == m.Container {
			on, other = to.Address, cmp.Or(string(item.Address), item.Text)
		}
		d := Difference{Item: string(on), Name: c.names[on], Field: m.Field, Export: &other}
		if slices.Contains(c.said[on], m.SeveralField) {
			d.Field = m.SeveralField
		}
		c.add(resource.MustLookup(m.On), d)
	}
}

// numbers compares the readable numbers of items with those of their keys.
func (c *checker) numbers() {
	if !c.Numbered {
		return
	}
	for _, o := range c.Plan.Objects {
		known := c.Plan.Known[o.Address].Identifier
		is, ok := numberOf(known)
		want, wanted := numberOf(o.Key)
		if !o.Kind.Numbered() || !wanted || !ok {
			continue
		}
		f := c.field(o.Kind.Name, "number")
		if f.Export++; is != want {
			f.Differing++
			f.OnService++
			c.report.Differences = append(c.report.Differences, Difference{
				What: "differs", Kind: o.Kind.Name, Item: string(o.Address), Name: o.Name(), Field: "number", Export: &want, Service: &is,
			})
		}
	}
}

// numberOf is the number at the end of a readable key, such as WEB-7.
func numberOf(key string) (number string, ok bool) {
	number = key[strings.LastIndexByte(key, '-')+1:]
	_, err := strconv.Atoi(number)
	return strings.TrimLeft(number, "0"), err == nil
}

// allow takes out what the service alone has, of a kind or in one of its fields, if the mapping agrees with that.
func (c *checker) allow(f *Field) {
	if f.Additional == 0 || c.Allows == nil || !c.Allows(f.Kind, f.Field, f.Additional) {
		return
	}
	c.report.Differences = slices.DeleteFunc(c.report.Differences, func(d Difference) bool {
		return d.What == "additional" && d.Kind == f.Kind && d.Field == f.Field
	})
	f.Accepted += f.Additional
	c.report.Accepted = append(c.report.Accepted, Accepted{
		Kind: "additional", Of: strings.TrimSuffix(f.Kind+"."+f.Field, "."), Text: "only on the service", Count: f.Additional,
	})
}

// additional is what the service has in the projects of the export, and the export has not.
func (c *checker) additional() {
	for _, u := range c.Plan.Unmanaged {
		for _, name := range u.Names {
			if u.Parent != "" {
				c.field(u.Kind.Name, "").Additional++
				c.report.Differences = append(c.report.Differences, Difference{
					What: "additional", Kind: u.Kind.Name, Item: string(u.Parent), Name: name, Why: "only on the service",
				})
			}
		}
	}
	for _, e := range c.Plan.ExtraMembers {
		m := e.Membership.Membership
		at := slices.IndexFunc(c.report.Differences, func(d Difference) bool {
			return m.Exclusive && d.Item == string(e.On.Address) && d.Field == m.Field && d.Service == nil && d.Export != nil
		})
		if at >= 0 { // it is in another one
			c.report.Differences[at].Service = &e.Other
			c.field(e.On.Kind.Name, m.Field).OnService++
			continue
		}
		c.field(e.On.Kind.Name, m.Field).Additional++
		c.report.Differences = append(c.report.Differences, Difference{
			What: "additional", Kind: e.On.Kind.Name, Item: string(e.On.Address), Name: e.On.Name(), Field: m.Field, Service: &e.Other,
		})
	}
}
