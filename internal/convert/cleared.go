package convert

import (
	"slices"
	"strings"

	"github.com/planform/planform/manifest"
)

// empty returns the value by which a manifest clears a field of an item; ok is false if it cannot be cleared.
func empty(field string) (value any, ok bool) {
	switch field {
	case "priority":
		return "none", true
	case "description":
		return "", true
	case "archived":
		return manifest.Literal("false"), true
	case "assignees", "labels", "relations.blocking", "relations.blocked_by", "relations.duplicate", "relations.relates_to", "relations.custom":
		return []any{}, true
	case "type", "parent", "module", "cycle", "start_date", "end_date", "target_date", "estimate_point", "point":
		return manifest.Literal("null"), true
	}
	return nil, strings.HasPrefix(field, "fields.")
}

// fieldsOf returns the fields of an item that can be cleared.
func fieldsOf(m manifest.Map) (names []string) {
	add := func(name string) {
		if _, ok := empty(name); ok {
			names = append(names, name)
		}
	}
	for _, entry := range m {
		inner, _ := entry.Value.(manifest.Map)
		for _, one := range inner {
			add(entry.Key + "." + one.Key)
		}
		if entry.Key == "modules" { // no module clears all of them
			entry.Key = "module"
		}
		add(entry.Key)
	}
	return names
}

// clear adds empty values for the fields that the item had after an earlier run and has no more. The service keeps the value of a field
// that the manifest leaves out.
func (c *composer) clear(i *Issue, m manifest.Map, g *groups) manifest.Map {
	record, now := c.runs.this.Items[i.name()], fieldsOf(m)
	for _, field := range record.Fields {
		value, ok := empty(field)
		if !ok || slices.Contains(now, field) {
			continue
		}
		now = append(now, field)
		within, name, nested := strings.Cut(field, ".")
		if !nested {
			m = append(m, manifest.Entry{Key: field, Value: value})
			continue
		}
		if kind, _ := m.Get("type").(string); within == "fields" {
			if f := g.fields[name]; f == nil || !slices.Contains(f.types, kind) { // the project has no such field any more
				continue
			}
			value = manifest.Literal("null")
		}
		inner, _ := m.Get(within).(manifest.Map)
		m = append(slices.DeleteFunc(m, func(e manifest.Entry) bool { return e.Key == within }),
			manifest.Entry{Key: within, Value: append(inner, manifest.Entry{Key: name, Value: value})})
	}
	slices.Sort(now)
	record.Fields = now
	c.runs.this.Items[i.name()] = record
	return m
}

// clearGroups returns the declarations of a project's labels, cycles or modules. Objects that only an earlier export had keep their fields.
func (c *composer) clearGroups(id string, n *names) []any {
	list := n.entries()
	for at, name := range n.order {
		if n.current[name] {
			list[at] = c.clearObject(id+name, list[at].(manifest.Map)) //nolint:forcetypeassert // as entries made it
		}
	}
	return list
}

// clearObject adds empty values for the fields that a project or a declared object had after an earlier run and has no more.
func (c *composer) clearObject(id string, m manifest.Map) manifest.Map {
	var now []string
	for _, field := range []string{"description", "start_date", "end_date", "target_date"} {
		switch value, _ := empty(field); {
		case m.Get(field) != nil:
			now = append(now, field)
		case slices.Contains(c.runs.this.Groups[id], field):
			now, m = append(now, field), append(m, manifest.Entry{Key: field, Value: value})
		}
	}
	if now != nil {
		c.runs.this.Groups[id] = now
	}
	return m
}
