package proof

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// Input is an export, the plan of its manifests, and what the user asked to check.
type Input struct {
	Plan        *planner.Plan      // of the export's manifests
	Differences divergence.Set     // with the objects that are in no manifest
	Export      []Given            // all objects of the export
	Left        []*resource.Object // objects of the export that the plan leaves out, because they belong to Parts
	// Parts are the parts of the export that are not checked, because the user did not ask for them.
	Parts []Part
	// Numbered reports whether items must have the numbers of their keys.
	Numbered bool
	Accepted []Accepted
	// Allows reports whether the mapping accepts n values that only the service has; nil = it accepts none.
	Allows func(kind, field string, n int) bool
}

// Given is an object of the export. Its first values are in the export; [Complete] added the others.
type Given struct {
	*resource.Object

	Number int // of values in the export
}

// Part is a part of an export whose check takes a request for each item.
type Part struct {
	Word  string // name of the part, such as comments
	Kinds []*resource.Kind
}

// Report is the result of a check.
type Report struct {
	FormatVersion int           `json:"format_version"`
	Equal         bool          `json:"equal"` // everything that the export holds is equal
	Differences   []Difference  `json:"differences"`
	Fields        []Field       `json:"fields"`
	NotCompared   []NotCompared `json:"not_compared"`
	Accepted      []Accepted    `json:"accepted"` // losses that the mapping accepts
}

// Difference is a value or object that is not equal.
type Difference struct {
	What    string  `json:"what"` // missing, additional, or differs
	Kind    string  `json:"kind"`
	Item    string  `json:"item"` // address of the object, or of the parent of an additional object
	Name    string  `json:"name"`
	Field   string  `json:"field,omitempty"` // its name in manifests
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
	Additional  int    `json:"additional"` // only on the service
	OnService   int    `json:"on_service"` // among the compared ones
	Accepted    int    `json:"accepted"`   // not carried by the export, which the mapping accepts
}

// NotCompared is a part of the export that cannot be seen, or was not checked.
type NotCompared struct {
	What    string `json:"what"`
	Why     string `json:"why"`
	Hint    string `json:"hint,omitempty"`
	Lacking bool   `json:"lacking"`  // this edition, or the API, does not have it
	LeftOut bool   `json:"left_out"` // the user did not ask for it
}

// Accepted is a loss that the mapping accepts.
type Accepted struct {
	Kind  string `json:"kind"`
	Of    string `json:"of,omitempty"` // kind and field, such as work_item.parent
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Proven reports whether everything that was checked is equal. Features that this edition lacks count as
// differences unless unsupported is set.
func (r *Report) Proven(unsupported bool) bool {
	return len(r.Differences) == 0 && !slices.ContainsFunc(r.NotCompared, func(n NotCompared) bool {
		return !n.LeftOut && !(n.Lacking && unsupported)
	})
}

// fieldKey identifies a field of a kind.
type fieldKey struct{ kind, field string }

// valueKey identifies a field of an object.
type valueKey struct {
	object resource.Address
	field  string
}

// checker compares an export with the service.
type checker struct {
	Input

	report      *Report
	fields      map[fieldKey]*Field
	order       []fieldKey
	givenFields map[resource.Address][]string // names of the fields that the export gives
	names       map[resource.Address]string
	missing     map[resource.Address]bool // missing objects
	differing   map[valueKey]bool         // differing fields
}

// Check compares an export with the service.
func Check(in Input) *Report {
	c := &checker{
		Input: in, fields: map[fieldKey]*Field{}, givenFields: map[resource.Address][]string{}, names: map[resource.Address]string{},
		missing: map[resource.Address]bool{}, differing: map[valueKey]bool{},
		report: &Report{
			FormatVersion: 2, Differences: []Difference{}, Fields: []Field{}, NotCompared: []NotCompared{}, Accepted: in.Accepted,
		},
	}
	if c.report.Accepted == nil {
		c.report.Accepted = []Accepted{}
	}
	for _, o := range in.Export {
		c.countExport(o)
	}
	c.reportLeftOut()
	for _, s := range in.Plan.Steps {
		c.countStep(s)
	}
	c.compareNumbers()
	c.addAdditional()
	for _, n := range in.Plan.NotCompared {
		c.countUnseen(n)
	}
	for _, a := range in.Accepted {
		if kind, field, _ := strings.Cut(a.Of, "."); kind != "" {
			c.field(kind, field).Accepted += a.Count
		}
	}
	for _, k := range c.order {
		f := c.fields[k]
		c.acceptAdditional(f)
		f.Equal = f.Export - f.Differing - f.Missing - f.NotCompared
		f.OnService += f.Equal + f.Additional
		c.report.Fields = append(c.report.Fields, *f)
	}
	rank := func(f Field) int { return slices.Index(resource.Listed(), f.Kind) }
	slices.SortStableFunc(c.report.Fields, func(a, b Field) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Field, b.Field)) })
	c.report.Equal = len(c.report.Differences) == 0 && len(c.report.NotCompared) == 0
	return c.report
}

// field returns the counts of a field.
func (c *checker) field(kind, field string) *Field {
	k := fieldKey{kind, field}
	if c.fields[k] == nil {
		c.fields[k] = &Field{Kind: kind, Field: field}
		c.order = append(c.order, k)
	}
	return c.fields[k]
}

// Complete adds empty or default values to objects, so that a plan also compares fields that the export leaves out: a work item without
// labels in the export must have no labels on the service. It leaves projects alone, because their users decide on their settings.
func Complete(objects []*resource.Object) []Given {
	export := make([]Given, len(objects))
	for n, o := range objects {
		var empty []resource.Value
		for i := range o.Kind.Fields {
			f := &o.Kind.Fields[i]
			if _, membership := resource.MembershipOf(o.Kind.Name, f.Name); o.Parent != nil && f.Empties() && !membership && !o.Writes(f) {
				empty = append(empty, resource.Value{Field: f, Text: f.Default, Null: f.Default == "", Position: o.Position})
			}
		}
		export[n] = Given{o, len(o.Values)}
		o.Values = slices.Concat(o.Values, empty)
	}
	return export
}

// fieldNames returns the names of the fields that an object of the export gives.
func fieldNames(o Given) []string {
	var list []string
	for _, v := range o.Values[:o.Number] {
		if !v.Implied && !slices.Contains(list, v.Field.Name) {
			list = append(list, v.Field.Name)
		}
	}
	return list
}

// countExport counts an object of the export.
func (c *checker) countExport(o Given) {
	c.field(o.Kind.Name, "").Export++
	c.givenFields[o.Address], c.names[o.Address] = fieldNames(o), o.Name()
	for _, name := range c.givenFields[o.Address] {
		c.field(o.Kind.Name, name).Export++
	}
}

// reportLeftOut reports the parts that were not checked.
func (c *checker) reportLeftOut() {
	n := map[*resource.Kind]int{}
	for _, o := range c.Left {
		n[o.Kind]++
		c.field(o.Kind.Name, "").NotCompared++
		for _, name := range c.givenFields[o.Address] {
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

// countUnseen counts values that the plan could not see. It reports nothing if the export gives none of them.
func (c *checker) countUnseen(n planner.NotCompared) {
	said := 0
	for _, address := range n.All {
		if n.Field == "" {
			c.field(n.Kind, "").NotCompared++
			said++
		}
		for _, name := range c.givenFields[address] {
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

// countStep counts the values that a step of the plan would change.
func (c *checker) countStep(s *planner.Step) {
	switch {
	case s.Members != nil && !s.LacksFeature(): // even if the service would refuse to add a member
		c.countMembers(s)
	case s.Action == planner.NotPossible:
		c.countBlocked(s)
	case s.Action == planner.Create:
		c.addMissing(s.Object, "not on the service")
	case c.missing[s.Address]: // further values of the missing object are sent by another step
	default:
		for _, change := range s.Changes() {
			if f := s.Field(change.Path); f != nil { // otherwise it is the mark
				c.addChange(s, f.Name, change, "")
			}
		}
	}
}

// addMissing counts an object that is not on the service.
func (c *checker) addMissing(o *resource.Object, why string) {
	c.missing[o.Address] = true
	c.field(o.Kind.Name, "").Missing++
	for _, name := range c.givenFields[o.Address] {
		c.field(o.Kind.Name, name).Missing++
	}
	c.report.Differences = append(c.report.Differences, Difference{
		What: "missing", Kind: o.Kind.Name, Item: string(o.Address), Name: o.Name(), Why: why,
	})
}

// addChange adds the difference of a changed field.
func (c *checker) addChange(s *planner.Step, field string, change planner.Change, why string) {
	if change.References > 0 {
		why = "its links to other items are not there"
	}
	c.addDifference(s.Kind, Difference{
		Item: string(s.Address), Name: s.Name, Field: field, Export: change.After, Service: change.Before, Why: why,
	})
}

// addDifference adds a difference. It counts a field once, even if several entries of its list differ.
func (c *checker) addDifference(kind *resource.Kind, d Difference) {
	d.What, d.Kind = "differs", kind.Name
	at, f := valueKey{resource.Address(d.Item), d.Field}, c.field(kind.Name, d.Field)
	switch {
	case !slices.Contains(c.givenFields[at.object], d.Field):
		d.What = "additional"
		f.Additional++
	case !c.differing[at]:
		if f.Differing++; d.Service != nil {
			f.OnService++
		}
	}
	c.differing[at] = true
	c.report.Differences = append(c.report.Differences, d)
}

// countBlocked counts the values of a step that is not possible. It reports a feature that the edition lacks only once.
func (c *checker) countBlocked(s *planner.Step) {
	cause := s.Cause
	if !s.LacksFeature() {
		if s.Object != nil && s.ID == "" {
			c.addMissing(s.Object, cause.Text)
			return
		}
		for _, change := range s.Changes() {
			c.addChange(s, cmp.Or(fieldName(s, change), change.Path), change, cause.Text)
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
		for _, name := range c.givenFields[s.Address] {
			c.field(s.Kind.Name, name).NotCompared++
		}
		return
	}
	for _, change := range s.Changes() {
		if name := cmp.Or(fieldName(s, change), change.Path); slices.Contains(c.givenFields[s.Address], name) {
			lack(name, name+" of "+section)
		}
	}
}

// fieldName returns the name of a changed field, or "".
func fieldName(s *planner.Step, change planner.Change) string {
	if f := s.Field(change.Path); f != nil {
		return f.Name
	}
	return ""
}

// countMembers adds the members that a container lacks. Members that should not be in it are counted by additional.
func (c *checker) countMembers(s *planner.Step) {
	m := s.Kind.Membership
	if s.Action == planner.RemoveMembers {
		return
	}
	for i := range s.Members.Items {
		item := &s.Members.Items[i]
		if c.missing[item.Address] {
			continue
		}
		to := s.Members.Container
		on, other := item.Address, string(to.Address)
		if m.On == m.Container {
			on, other = to.Address, cmp.Or(string(item.Address), item.Text)
		}
		d := Difference{Item: string(on), Name: c.names[on], Field: m.Field, Export: &other}
		if slices.Contains(c.givenFields[on], m.SeveralField) {
			d.Field = m.SeveralField
		}
		c.addDifference(resource.MustLookup(m.On), d)
	}
}

// compareNumbers compares the readable numbers of items with the numbers in their keys.
func (c *checker) compareNumbers() {
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

// numberOf returns the number at the end of a readable key, such as WEB-7.
func numberOf(key string) (number string, ok bool) {
	number = key[strings.LastIndexByte(key, '-')+1:]
	_, err := strconv.Atoi(number)
	return strings.TrimLeft(number, "0"), err == nil
}

// acceptAdditional removes additional objects or values from the differences if the mapping accepts them.
func (c *checker) acceptAdditional(f *Field) {
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

// addAdditional adds the objects and members in the export's projects that only the service has.
func (c *checker) addAdditional() {
	for _, u := range c.Differences.Unmanaged {
		for _, name := range u.Names {
			if u.Parent != "" {
				c.field(u.Kind.Name, "").Additional++
				c.report.Differences = append(c.report.Differences, Difference{
					What: "additional", Kind: u.Kind.Name, Item: string(u.Parent), Name: name, Why: "only on the service",
				})
			}
		}
	}
	elsewhere := map[valueKey][]int{} // differences of fields that lack a member
	for at, d := range c.report.Differences {
		if d.Service == nil && d.Export != nil {
			of := valueKey{resource.Address(d.Item), d.Field}
			elsewhere[of] = append(elsewhere[of], at)
		}
	}
	for _, e := range c.Differences.ExtraMembers {
		m := e.Membership.Membership
		of := valueKey{e.On.Address, m.Field}
		if found := elsewhere[of]; m.Exclusive && len(found) > 0 { // the item is in another container
			c.report.Differences[found[0]].Service, elsewhere[of] = &e.Other, found[1:]
			c.field(e.On.Kind.Name, m.Field).OnService++
			continue
		}
		c.field(e.On.Kind.Name, m.Field).Additional++
		c.report.Differences = append(c.report.Differences, Difference{
			What: "additional", Kind: e.On.Kind.Name, Item: string(e.On.Address), Name: e.On.Name(), Field: m.Field, Service: &e.Other,
		})
	}
}
