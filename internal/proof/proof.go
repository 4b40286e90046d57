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
	Left   []*resource.Object // what the plan leaves out of it, since it costs requests
	// Numbered reports whether items are to have the numbers of their keys.
	Numbered bool
	Accepted []Accepted
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
	Item    string  `json:"item"` // the address; of what is additional, where it is
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

// checker holds an export against the service.
type checker struct {
	Input

	report *Report
	fields map[at]*Field
	order  []at
	said   map[resource.Address][]string // the fields of which the export says something
	gone   map[resource.Address]bool     // what is missing
}

// Check says what is equal.
func Check(in Input) *Report {
	c := &checker{Input: in, fields: map[at]*Field{}, said: map[resource.Address][]string{}, gone: map[resource.Address]bool{}, report: &Report{
		FormatVersion: 2, Differences: []Difference{}, Fields: []Field{}, NotCompared: []NotCompared{}, Accepted: in.Accepted,
	}}
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
		c.field(n.Kind, n.Field).NotCompared += n.Count
		c.report.NotCompared = append(c.report.NotCompared, NotCompared{What: n.What, Why: n.Why, Hint: n.Hint})
	}
	for _, k := range c.order {
		f := c.fields[k]
		f.Equal = max(0, f.Export-f.Differing-f.Missing-f.NotCompared)
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
// service. It returns the objects as they were.
func Complete(objects []*resource.Object) (export []*resource.Object) {
	for _, o := range objects {
		said := *o
		said.Values = slices.Clip(o.Values)
		export = append(export, &said)
		if o.Kind.Name != "work_item" {
			continue
		}
		for _, name := range []string{"assignees", "priority", "labels", "parent", "start_date", "target_date"} {
			field, _ := o.Kind.Field(name)
			if slices.ContainsFunc(o.Values, func(v resource.Value) bool { return v.Field == field }) {
				continue
			}
			v := resource.Value{Field: field, Text: field.Default, Null: field.Default == "", Position: o.Position}
			o.Values = append(slices.Clip(o.Values), v)
		}
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
	c.said[o.Address] = values(o)
	for _, name := range c.said[o.Address] {
		c.field(o.Kind.Name, name).Export++
	}
}

// leaveOut names the kinds of what was not looked at.
func (c *checker) leaveOut() {
	n := map[*resource.Kind]int{}
	for _, o := range c.Left {
		n[o.Kind]++
		c.field(o.Kind.Name, "").NotCompared++
		for _, name := range values(o) {
			c.field(o.Kind.Name, name).NotCompared++
		}
	}
	for _, kind := range resource.Kinds() {
		if section := kind.Section; n[kind] > 0 {
			c.report.NotCompared = append(c.report.NotCompared, NotCompared{
				What: strconv.Itoa(n[kind]) + " " + strings.ReplaceAll(section, "_", " "), Why: "they take a request for each item", Hint: "--with " + section, LeftOut: true,
			})
		}
	}
}

// step takes what apply would do.
func (c *checker) step(s *planner.Step) {
	switch {
	case s.Obstacle != nil:
		c.blocked(s)
	case s.Members != nil:
		c.members(s)
	case s.Action == planner.Create:
		c.missing(s.Object, "not on the service")
	default:
		for _, change := range s.Changes() {
			if f := s.Field(change.Path); f != nil { // else it is the mark
				c.differ(s, f.Name, change, "")
			}
		}
	}
}

func (c *checker) missing(o *resource.Object, why string) {
	c.gone[o.Address] = true
	c.field(o.Kind.Name, "").Missing++
	for _, name := range values(o) {
		c.field(o.Kind.Name, name).Missing++
	}
	c.report.Differences = append(c.report.Differences, Difference{What: "missing", Item: string(o.Address), Name: o.Name(), Why: why})
}

func (c *checker) differ(s *planner.Step, field string, change planner.Change, why string) {
	if slices.Contains(c.said[s.Address], field) {
		c.field(s.Kind.Name, field).Differing++
	} else {
		c.field(s.Kind.Name, field).Additional++
	}
	if change.References > 0 {
		why = "its links to other items are not there"
	}
	c.report.Differences = append(c.report.Differences, Difference{
		What: "differs", Item: string(s.Address), Name: s.Name, Field: field, Export: change.After, Service: change.Before, Why: why,
	})
}

// blocked takes what apply could not do. What only the edition lacks is named once.
func (c *checker) blocked(s *planner.Step) {
	o := s.Obstacle
	if !s.Lacking() {
		if s.Object != nil && s.ID == "" {
			c.missing(s.Object, o.Reason)
			return
		}
		for _, change := range s.Changes() {
			c.differ(s, cmp.Or(fieldName(s, change), change.Path), change, o.Reason)
		}
		return
	}
	lack := func(field, what string) {
		c.field(s.Kind.Name, field).NotCompared++
		n := NotCompared{What: what, Why: o.Reason, Lacking: true}
		if o.Unsupported != "" {
			n = NotCompared{What: o.Unsupported, Why: "this edition of the service has none", Lacking: true}
		}
		if !slices.Contains(c.report.NotCompared, n) {
			c.report.NotCompared = append(c.report.NotCompared, n)
		}
	}
	section := strings.ReplaceAll(s.Kind.Section, "_", " ")
	if s.Object != nil && s.ID == "" {
		lack("", section)
		for _, name := range values(s.Object) {
			c.field(s.Kind.Name, name).NotCompared++
		}
		return
	}
	for _, change := range s.Changes() {
		name := cmp.Or(fieldName(s, change), change.Path)
		lack(name, name+" of "+section)
	}
}

func fieldName(s *planner.Step, change planner.Change) string {
	if f := s.Field(change.Path); f != nil {
		return f.Name
	}
	return ""
}

// members takes who is not in a container, or is there and should not be.
func (c *checker) members(s *planner.Step) {
	m := s.Kind.Membership
	for i := range s.Members.Items {
		item := &s.Members.Items[i]
		if c.gone[item.Address] {
			continue
		}
		kind, field, on, other := s.Kind.Name, m.Path(), cmp.Or(item.Address, s.Address), string(s.Address)
		for _, name := range c.said[item.Address] { // an item says in which cycle it is
			if via, ok := resource.MembershipOf(m.Member, name); ok && via == s.Kind {
				kind, field = m.Member, name
			}
		}
		to := s.Members.Container.Address
		for _, name := range c.said[to] { // and to which items it relates
			if via, ok := resource.MembershipOf(m.Container, name); ok && via == s.Kind {
				kind, field, on, other = m.Container, name, to, item.Text
			}
		}
		d := Difference{What: "differs", Item: string(on), Name: item.Text, Field: field}
		if s.Action == planner.RemoveMembers {
			d.Service = &other
		} else {
			d.Export = &other
		}
		c.field(kind, field).Differing++
		c.report.Differences = append(c.report.Differences, d)
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
		if o.Kind.Name != "work_item" || !wanted || !ok {
			continue
		}
		f := c.field(o.Kind.Name, "number")
		if f.Export++; is != want {
			f.Differing++
			c.report.Differences = append(c.report.Differences, Difference{
				What: "differs", Item: string(o.Address), Name: o.Name(), Field: "number", Export: &want, Service: &is,
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

// additional are items, and what is in them, that the service has and the export has not. Projects may have labels, cycles and the like
// of their own.
func (c *checker) additional() {
	ofItems := func(k *resource.Kind) bool { return k.Name == "work_item" || k.Parent == "work_item" }
	add := func(kind *resource.Kind, where resource.Address, name string) {
		c.field(kind.Name, "").Additional++
		c.report.Differences = append(c.report.Differences, Difference{What: "additional", Item: string(where), Name: kind.Noun() + " " + name, Why: "not in the export"})
	}
	for _, u := range c.Plan.Unmanaged {
		for _, name := range u.Names {
			if ofItems(u.Kind) {
				add(u.Kind, u.Parent, name)
			}
		}
	}
	for _, e := range c.Plan.ExtraMembers {
		field, to := e.Membership.Membership.Field, string(e.Container)
		c.field(e.Member.Kind.Name, field).Additional++
		c.report.Differences = append(c.report.Differences, Difference{
			What: "additional", Item: string(e.Member.Address), Name: e.Member.Name(), Field: field, Service: &to,
		})
	}
	for _, o := range c.Plan.Orphans {
		if kind, ok := resource.Lookup(o.Address.Kind()); ok && ofItems(kind) {
			add(kind, o.Address, cmp.Or(o.Identifier, o.ID))
		}
	}
}
