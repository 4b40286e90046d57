package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

// everything makes a manifest with an object of each kind, and with every property
// of it, in a new project. It is made from the descriptors, in
// variants that change, drop, rename or archive the objects of the first one.
type everything struct {
	*testing.T
	s *service

	changed  bool // every changeable field has another value
	alone    bool // there are no memberships
	renamed  bool // every object has another key, and its former key in previously
	guarded  bool // every object is protected
	owned    bool // it has an owner
	archived any  // value of the archive flags; nil = not written
}

// text returns the manifest.
func (e everything) text() string {
	e.Helper()
	places := map[string]mapping{"": {"version": json.RawMessage("1")}}
	if e.owned {
		places[""]["owner"] = "platform"
	}
	kinds := slices.DeleteFunc(slices.Clone(resource.Kinds()), func(k *resource.Kind) bool { return k.Section == "" || k.Governance.AtWorkspace })
	slices.SortFunc(kinds, func(a, b *resource.Kind) int { return resource.Order(a.Name) - resource.Order(b.Name) })
	for _, k := range kinds {
		l := &life{e.T, e.s, k}
		for i := range k.Fields {
			if to, ok := resource.Lookup(k.Fields[i].Ref); ok && to.Section != "" && to.Parent != k.Name && !to.Governance.AtWorkspace {
				l.around(places, to)
			}
		}
		o := e.object(l)
		delete(o, "default") // the default of later objects would depend on whether this one failed in an interrupted run
		l.put(places, k, o)
		if len(k.Predefined) > 0 {
			given := maps.Clone(o)
			given["key"], given[k.NaturalKey[0]] = "given", k.Predefined[0]
			l.put(places, k, given)
		}
		if k.Name == "project" || len(resource.Children(k.Name)) > 0 {
			places[k.Name] = o
		}
	}
	if e.renamed {
		rename(places[""])
	}
	text, err := json.MarshalIndent(places[""], "", "  ")
	if err != nil {
		e.Fatal(err)
	}
	return string(text)
}

// around adds the objects to which a field refers.
func (l *life) around(places map[string]mapping, to *resource.Kind) {
	for _, key := range []string{"first", "second"} {
		l.put(places, to, l.plain(to, key))
	}
	for i := range to.Fields {
		for _, key := range named(&to.Fields[i]) {
			if to.Fields[i].Group != "" && to.Fields[i].Ref == to.Name {
				l.put(places, to, l.plain(to, key))
			}
		}
	}
}

// object returns the object of a kind.
func (e everything) object(l *life) mapping {
	o := l.base()
	if l.k.Name == "project" { // in the form of fields that can refer to objects elsewhere
		o["key"] = "around"
	}
	for i := range l.k.Fields {
		f := &l.k.Fields[i]
		_, via := resource.MembershipOf(l.k.Name, f.Name)
		to, ref := resource.Lookup(f.Ref)
		switch {
		case ref && to.Section == "" && to.Parent == "project": // a new project has no such objects
			l.drop(o, f)
		case e.alone && (via || f.MustBeMemberOf != ""): // people who do not belong to it
			l.drop(o, f)
		case f.ArchiveFlag && e.archived != nil:
			l.set(o, f, e.archived)
			l.finish(o)
		}
	}
	delete(o, "work_item_types")      // otherwise the workspace would manage the types of projects
	if l.k.Name == "workflow_state" { // transitions refer to the others
		o["state"] = "one"
	}
	if l.k.Name == "work_item" { // its type has the property
		o["type"], o["fields"] = "one", mapping{"one": []string{"one"}}
		if e.changed {
			o["fields"] = mapping{"one": nil}
		}
	}
	if l.k.Name == "customer" {
		o["properties"] = mapping{"one": []string{"one"}}
		if e.changed {
			o["properties"] = mapping{"one": nil}
		}
	}
	if e.guarded && !l.k.Singleton {
		o["protect"] = true
	}
	if !e.changed {
		return o
	}
	for _, f := range l.changeable() {
		value, ok := l.second(f)
		if _, given := o[f.Name]; ok && given && (f.Name != "type" || l.k.Name != "work_item") || ok && f.Group != "" && !e.alone {
			l.set(o, f, value)
		}
	}
	return o
}

func (l *life) drop(o mapping, f *resource.Field) {
	delete(o, f.Name)
	if f.Group != "" {
		delete(o, f.Group)
	}
}

// rename gives all objects of a document other keys.
func rename(v any) {
	switch v := v.(type) {
	case mapping:
		for _, inner := range v {
			rename(inner)
		}
		if key, ok := v["key"].(string); ok {
			v["previously"], v["key"] = key, key+"-now"
		}
		for name, inner := range v {
			switch inner := inner.(type) {
			case string:
				if inner == "first" || inner == "second" || (name == "type" || name == "state") && inner == "one" {
					v[name] = inner + "-now"
				}
			case []string:
				named := slices.Clone(inner)
				for i, key := range named {
					named[i] = strings.NewReplacer("around", "around-now", "first", "first-now", "second", "second-now").Replace(key)
					if strings.Contains(key, "/one-") || strings.Contains(key, "/two-") {
						named[i] += "-now"
					}
				}
				v[name] = named
			}
		}
		for _, name := range []string{"fields", "properties"} {
			if values, ok := v[name].(mapping); ok {
				v[name] = mapping{"one-now": values["one"]}
				if values["one"] != nil {
					v[name] = mapping{"one-now": []string{"one-now"}}
				}
			}
		}
		if v["previously"] != nil {
			v["previously"] = strings.TrimSuffix(fmt.Sprint(v["previously"]), "-now")
		}
	case []mapping:
		for _, inner := range v {
			rename(inner)
		}
	}
}

// remembered returns what the state knows of each address, and whether planform created the object.
func (sv *service) remembered(t *testing.T) (known map[resource.Address]string, made map[resource.Address]bool) {
	t.Helper()
	file := sv.open(t)
	defer func() { _ = file.Close() }() // nothing was changed
	names := sv.Called()
	known, made = map[resource.Address]string{}, map[resource.Address]bool{}
	for address, r := range file.Prior() {
		if r.ID == "" && len(r.Members) == 0 && r.PendingIntent == nil {
			continue // time until which a request may still take effect
		}
		members := make([]string, len(r.Members))
		for i, id := range r.Members {
			members[i] = names[id]
		}
		slices.Sort(members)
		known[address] = fmt.Sprintf("%s %q protect=%t open=%t", names[r.ID], members, r.Protect, r.PendingIntent != nil)
		made[address] = r.CreatedByUs
	}
	return known, made
}
