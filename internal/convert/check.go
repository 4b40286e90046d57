package convert

import (
	"cmp"
	"fmt"
	"maps"
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
func compared() [][2]string {
	return [][2]string{{"state", "state"}, {"type", "type"}, {"priority", "priority"}, {"assignees", "assignee"}, {"parent", ""}}
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
	counts := map[[2]string]*Compared{}
	at := func(what, name string) *Compared {
		key := [2]string{what, name}
		if counts[key] == nil {
			counts[key] = &Compared{What: what, Name: name}
		}
		return counts[key]
	}
	for _, kind := range kinds {
		at("kind", resource.MustLookup(kind).Section)
	}
	declared := map[string]bool{}
	for _, o := range export {
		if slices.Contains(kinds, o.Kind.Name) {
			at("kind", o.Kind.Section).Export++
			declared[groupKey(o)] = true
		}
	}
	for _, o := range service {
		perItem := o.Kind.Name == "work_item" || o.Ancestor("work_item") != nil
		if slices.Contains(kinds, o.Kind.Name) && (perItem || declared[groupKey(o)]) { // a project may have cycles of its own
			at("kind", o.Kind.Section).Service++
		}
	}
	for _, p := range pairs(export, service) {
		for _, f := range compared() {
			if field, _ := resource.MustLookup("work_item").Field(f[0]); slices.Contains(unsupported, field.Ref) {
				continue
			}
			values := map[string][2]int{}
			var wanted, seen []string
			if p.export != nil {
				wanted = valuesOf(p.export, f[0])
			}
			if _, says := valueOf(p.export, f[0]); p.service != nil && (says || p.export == nil) {
				seen = valuesOf(p.service, f[0])
			}
			for _, v := range wanted {
				values[v] = [2]int{1, values[v][1]}
			}
			for _, v := range seen {
				values[v] = [2]int{values[v][0], 1}
			}
			for v, n := range values {
				if f[1] != "" {
					one := at(f[1], v)
					one.Export, one.Service = one.Export+n[0], one.Service+n[1]
				}
			}
			if p.export != nil && p.service != nil && !slices.Equal(wanted, seen) {
				c.differ(f[0], p, fmt.Sprintf("the export says %s, the service %s", words(wanted), words(seen)))
			}
		}
		switch {
		case p.service == nil:
			c.differ("missing", p, "not on the service")
		case p.export == nil:
			c.differ("additional", p, "not in the export")
		}
	}
	rank := map[string]int{"kind": 0, "state": 1, "type": 2, "priority": 3, "assignee": 4}
	for _, one := range slices.SortedFunc(maps.Values(counts), func(a, b *Compared) int {
		return cmp.Or(cmp.Compare(rank[a.What], rank[b.What]), cmp.Compare(a.Name, b.Name))
	}) {
		c.Counts = append(c.Counts, *one)
	}
	slices.SortStableFunc(c.Counts, func(a, b Compared) int { // differences first
		return boolToInt(a.Export == a.Service) - boolToInt(b.Export == b.Service)
	})
	c.Equal = len(c.Differences) == 0 && !slices.ContainsFunc(c.Counts, func(one Compared) bool { return one.Export != one.Service })
	return c
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

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
	byKey, byName := map[string]*resource.Object{}, map[string][]*resource.Object{}
	for _, o := range items(service) {
		byKey[projectOf(o)+"/"+o.Key] = o
	}
	var list []pair
	for _, o := range items(export) {
		key := projectOf(o) + "/" + o.Key
		list = append(list, pair{o, byKey[key]})
		delete(byKey, key)
	}
	var rest []*resource.Object
	for _, o := range items(service) {
		key := projectOf(o) + "/" + o.Key
		if byKey[key] != nil {
			name := projectOf(o) + "/" + o.Text("name")
			byName[name] = append(byName[name], o)
			rest = append(rest, o)
		}
	}
	for i, p := range list {
		if name := projectOf(p.export) + "/" + p.export.Text("name"); p.service == nil && len(byName[name]) > 0 {
			list[i].service, byName[name] = byName[name][0], byName[name][1:]
			rest = slices.DeleteFunc(rest, func(o *resource.Object) bool { return o == list[i].service })
		}
	}
	for _, o := range rest {
		list = append(list, pair{nil, o})
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

func valueOf(o *resource.Object, field string) (*resource.Value, bool) {
	if o == nil {
		return nil, false
	}
	return o.Value(field)
}

// valuesOf are the names that a field of an item holds.
func valuesOf(o *resource.Object, field string) []string {
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
