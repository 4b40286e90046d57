package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/planform/planform/internal/resource"
)

// everything is a manifest with an object of each kind, and with all that can be
// said of it, in a project that is new too. It is made from the descriptors, in
// variants that change, drop, rename or archive what the first one has.
type everything struct {
	*testing.T
	s *service

	changed  bool // every field that can be changed has another value
	alone    bool // nothing belongs to anything
	renamed  bool // every object has another key, and says which it had
	guarded  bool // nothing is to be deleted
	owned    bool // it has an owner
	archived any  // value of the archive flags; nil = not written
}

// text is the manifest.
func (e everything) text() string {
	e.Helper()
	places := map[string]mapping{"": {"version": json.RawMessage("1")}}
	if e.owned {
		places[""]["owner"] = "platform"
	}
	kinds := slices.DeleteFunc(slices.Clone(resource.Kinds()), func(k *resource.Kind) bool { return k.Section == "" })
	slices.SortFunc(kinds, func(a, b *resource.Kind) int { return resource.Order(a.Name) - resource.Order(b.Name) })
	for _, k := range kinds {
		l := &life{e.T, e.s, k}
		for i := range k.Fields {
			if to, ok := resource.Lookup(k.Fields[i].Ref); ok && to.Section != "" && to.Parent != k.Name {
				l.around(places, to)
			}
		}
		o := e.object(l)
		delete(o, "default") // which default later objects get would depend on whether this one failed in an interrupted run
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

// around puts in what a field names.
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

// object is the one object of a kind.
func (e everything) object(l *life) mapping {
	o := l.base()
	if l.k.Name == "project" { // as fields name it that can name objects elsewhere
		o["key"] = "around"
	}
	for i := range l.k.Fields {
		f := &l.k.Fields[i]
		_, via := resource.MembershipOf(l.k.Name, f.Name)
		to, ref := resource.Lookup(f.Ref)
		switch {
		case ref && to.Section == "" && to.Parent == "project": // a new project has none
			l.drop(o, f)
		case e.alone && (via || f.MustBeMemberOf != ""): // nor who does not belong to it
			l.drop(o, f)
		case f.ArchiveFlag && e.archived != nil:
			l.set(o, f, e.archived)
			l.finish(o)
		}
	}
	if l.k.Name == "work_item" { // of the type that has the property
		o["type"], o["fields"] = "one", mapping{"one": []string{"one"}}
		if e.changed {
			o["fields"] = mapping{"one": nil}
		}
	}
	if e.guarded {
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
				if inner == "first" || inner == "second" || name == "type" && inner == "one" {
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
		if fields, ok := v["fields"].(mapping); ok {
			v["fields"] = mapping{"one-now": fields["one"]}
			if fields["one"] != nil {
				v["fields"] = mapping{"one-now": []string{"one-now"}}
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

// tables are the kinds of rows that the service has, but for what it writes down by itself.
func tables() []string {
	return []string{
		"project", "state", "label", "cycle", "module", "project_member", "work_item", "link", "comment", "cycle_issue", "module_issue", "relation",
		"work_item_type", "initiative", "initiative_label", "initiative_project", "initiative_label_link", "initiative_epic", "teamspace", "teamspace_project",
		"teamspace_member", "customer", "customer_request", "page", "attachment", "estimate", "estimate_point",
		"work_item_property", "work_item_property_option", "work_item_property_value",
	}
}

// called is what objects are called, by ID.
func (s *service) called() map[string]string {
	names := map[string]string{}
	for _, kind := range append(tables(), "member") {
		for _, r := range s.Rows(kind) {
			for _, field := range []string{"identifier", "name", "display_name", "title", "url", "comment_html", "email", "value"} {
				if text, ok := r[field].(string); ok && text != "" {
					names[fmt.Sprint(r["id"])] = kind + " " + text
					break
				}
			}
		}
	}
	return names
}

// all is what the service has, a line an object, with names in place of IDs and
// without what depends on when and in how many requests an object was made.
func (s *service) all() []string {
	names := s.called()
	var show func(v any) string
	show = func(v any) string {
		switch v := v.(type) {
		case []any:
			list := make([]string, len(v))
			for i := range v {
				list[i] = show(v[i])
			}
			slices.Sort(list)
			return "[" + strings.Join(list, ", ") + "]"
		case nil:
			return "-"
		}
		if name, ok := names[fmt.Sprint(v)]; ok {
			return name
		}
		if text := fmt.Sprint(v); uuid.Validate(text) != nil {
			return text
		}
		return "-" // what no row is
	}
	var lines []string
	for _, kind := range tables() {
		for _, r := range s.Rows(kind) {
			line := kind + ":"
			if kind == "attachment" {
				if r["is_uploaded"] != true { // nobody sees it
					continue
				}
				for _, field := range []string{"asset", "signature"} { // at random
					delete(r, field)
				}
			}
			for _, field := range slices.Sorted(maps.Keys(r)) {
				switch v := r[field]; {
				case field == "id", field == "sequence_id", field == "sort_order", field == "sequence", field == "is_default", strings.HasSuffix(field, "_by"), strings.HasSuffix(field, "_at") && field != "archived_at":
				case field == "archived_at":
					line += fmt.Sprintf(" archived=%t", v != nil)
				default:
					line += " " + field + "=" + show(v)
				}
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// remembered is what the state knows of each address, and of what it says that planform made it.
func (s *service) remembered(t *testing.T) (known map[resource.Address]string, made map[resource.Address]bool) {
	t.Helper()
	file := s.open(t)
	defer func() { _ = file.Close() }() // nothing was changed
	names := s.called()
	known, made = map[resource.Address]string{}, map[resource.Address]bool{}
	for address, r := range file.Prior() {
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
