package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Comparison is an export beside the service.
type Comparison struct {
	FormatVersion int          `json:"format_version"`
	Equal         bool         `json:"equal"`
	Differences   []Difference `json:"differences"`
	Counts        []Compared   `json:"counts"`
	NotCompared   []string     `json:"not_compared"` // sections that the export fills and this edition of the service does not have
}

// Difference is an item that is not the same in the export and on the service.
type Difference struct {
	Kind string `json:"kind"` // missing, additional, or the field that differs
	Item string `json:"item"`
	Text string `json:"text"`
}

// Compared is a number of the export and of the service.
type Compared struct {
	What    string `json:"what"` // kind, state, type, priority or assignee
	Name    string `json:"name"`
	Export  int    `json:"export"`
	Service int    `json:"service"`
}

// compared are the fields of items that are compared, with what their counts are called.
func compared() []struct{ name, counted string } {
	return []struct{ name, counted string }{
		{"state", "state"},
		{"type", "type"},
		{"priority", "priority"},
		{"assignees", "assignee"},
		{"parent", ""},
	}
}

// Compare puts what an export was converted to beside what the service has. Items are the same by their key, then by their name.
// Fields about which the export says nothing are not compared. kinds are those that were read of the service, unsupported those that
// it does not have: a migration is complete without them.
func Compare(export, service []*resource.Object, kinds, unsupported []string) *Comparison {
	c := &Comparison{FormatVersion: 1, Differences: []Difference{}, Counts: []Compared{}, NotCompared: []string{}}
	for _, o := range export {
		if slices.Contains(unsupported, o.Kind.Name) && !slices.Contains(c.NotCompared, o.Kind.Section) {
			c.NotCompared = append(c.NotCompared, o.Kind.Section)
		}
	}
	slices.Sort(c.NotCompared)
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return slices.Contains(unsupported, kind) })
	export = slices.DeleteFunc(slices.Clone(export), func(o *resource.Object) bool { // no list shows them
		item := o.Ancestor("work_item")
		return item != nil && item.Text("archived") == "true"
	})
	n := counts{}
	n.objects(export, service, kinds)
	for _, p := range pairs(export, service) {
		for _, f := range compared() {
			if field, _ := resource.MustLookup("work_item").Field(f.name); slices.Contains(unsupported, field.Ref) {
				continue
			}
			wanted, seen := valuesOf(p.export, f.name), valuesOf(p.service, f.name)
			if p.export != nil && !says(p.export, f.name) {
				seen = nil
			}
			n.values(f.counted, wanted, seen)
			if p.export != nil && p.service != nil && !slices.Equal(wanted, seen) {
				c.differ(f.name, p, fmt.Sprintf("the export says %s, the service %s", words(wanted), words(seen)))
			}
		}
		switch {
		case p.service == nil:
			c.differ("missing", p, "not on the service")
		case p.export == nil:
			c.differ("additional", p, "not in the export")
		}
	}
	c.Counts = append(c.Counts, n.sorted()...)
	c.Equal = len(c.Differences) == 0 && !slices.ContainsFunc(c.Counts, Compared.differs)
	return c
}

// counts are the numbers by what is counted, and its name.
type counts map[[2]string]*Compared

func (n counts) at(what, name string) *Compared {
	key := [2]string{what, name}
	if n[key] == nil {
		n[key] = &Compared{What: what, Name: name}
	}
	return n[key]
}

// objects counts the objects of each kind. On the service it counts what the export has, too: a project may have cycles of its own.
func (n counts) objects(export, service []*resource.Object, kinds []string) {
	for _, kind := range kinds {
		n.at("kind", resource.MustLookup(kind).Section)
	}
	declared := map[string]bool{}
	for _, o := range export {
		if slices.Contains(kinds, o.Kind.Name) {
			n.at("kind", o.Kind.Section).Export++
			declared[groupKey(o)] = true
		}
	}
	for _, o := range service {
		perItem := o.Kind.Name == "work_item" || o.Ancestor("work_item") != nil
		if slices.Contains(kinds, o.Kind.Name) && (perItem || declared[groupKey(o)]) {
			n.at("kind", o.Kind.Section).Service++
		}
	}
}

// values counts the values of a field, if what is the name of a count.
func (n counts) values(what string, export, service []string) {
	if what == "" {
		return
	}
	for _, v := range export {
		n.at(what, v).Export++
	}
	for _, v := range service {
		n.at(what, v).Service++
	}
}

// sorted are the numbers, first those that differ.
func (n counts) sorted() []Compared {
	var list []Compared
	for _, one := range n {
		list = append(list, *one)
	}
	rank := func(c Compared) int {
		rank := slices.Index([]string{"kind", "state", "type", "priority", "assignee"}, c.What)
		if !c.differs() {
			rank += 10
		}
		return rank
	}
	slices.SortFunc(list, func(a, b Compared) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Name, b.Name)) })
	return list
}

func (c Compared) differs() bool { return c.Export != c.Service }

func (c *Comparison) differ(kind string, p pair, text string) {
	o := cmp.Or(p.export, p.service)
	c.Differences = append(c.Differences, Difference{Kind: kind, Item: projectOf(o) + " " + cmp.Or(p.name(), o.Key), Text: text})
}

// pair is an item of the export and the same one on the service. One of them may be nil.
type pair struct{ export, service *resource.Object }

func (p pair) name() string {
	o := cmp.Or(p.export, p.service)
	return fmt.Sprintf("%s %q", o.Key, diag.Truncate(o.Text("name"), 60))
}

// pairs are the items of both sides: in the export's order, then those that only the service has.
func pairs(export, service []*resource.Object) []pair {
	items := func(list []*resource.Object) []*resource.Object {
		return slices.DeleteFunc(slices.Clone(list), func(o *resource.Object) bool { return o.Kind.Name != "work_item" })
	}
	byKey, byName, taken := map[string]*resource.Object{}, map[string][]*resource.Object{}, map[*resource.Object]bool{nil: true}
	for _, o := range items(service) {
		byKey[projectOf(o)+"/"+o.Key] = o
	}
	var list []pair
	for _, o := range items(export) {
		same := byKey[projectOf(o)+"/"+o.Key]
		list, taken[same] = append(list, pair{o, same}), true
	}
	for _, o := range items(service) {
		if name := projectOf(o) + "/" + o.Text("name"); !taken[o] {
			byName[name] = append(byName[name], o)
		}
	}
	for i, p := range list {
		if name := projectOf(p.export) + "/" + p.export.Text("name"); p.service == nil && len(byName[name]) > 0 {
			list[i].service, byName[name] = byName[name][0], byName[name][1:]
			taken[list[i].service] = true
		}
	}
	for _, o := range items(service) {
		if !taken[o] {
			list = append(list, pair{nil, o})
		}
	}
	return list
}

// groupKey tells cycles, modules and the like apart.
func groupKey(o *resource.Object) string { return o.Kind.Name + "/" + projectOf(o) + "/" + o.Name() }

// projectOf is the identifier of an object's project.
func projectOf(o *resource.Object) string {
	if p := o.Ancestor("project"); p != nil {
		return strings.ToUpper(cmp.Or(p.Identifier, p.Text("identifier"), p.Key))
	}
	return ""
}

// says reports whether an object has a field, be it empty.
func says(o *resource.Object, field string) bool {
	_, ok := o.Value(field)
	return ok
}

// valuesOf are the names that a field of an item holds.
func valuesOf(o *resource.Object, field string) []string {
	if o == nil {
		return nil
	}
	v, ok := o.Value(field)
	switch {
	case !ok || v.Null, field == "priority" && v.Text == "none": // which is no priority
		return nil
	case len(v.Refs) == 0:
		return []string{v.Text}
	}
	var list []string
	for _, r := range v.Refs {
		if r.Target == nil {
			list = append(list, r.Text)
		} else {
			list = append(list, r.Target.Name())
		}
	}
	slices.Sort(list)
	return list
}

func words(list []string) string { return cmp.Or(strings.Join(list, ", "), "nothing") }
