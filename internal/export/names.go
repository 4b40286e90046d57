package export

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// references writes a field that names other things.
func (e *Export) references(t *thing, f *resource.Field) (w written, ok bool) {
	w.field = f
	var ids []string
	via, member := resource.Via(t.kind.Name, f.Name)
	if member = member && (f.NoWire || t.kind.Carried(f, resource.Full)); member {
		ids = slices.Compact(slices.Sorted(slices.Values(t.named[f])))
		ids = slices.DeleteFunc(ids, func(id string) bool { return e.saidBefore(via.Membership, via.Name, t.row.ID(), id) })
	} else if shown, known := f.Observed(t.row); known && shown != "" {
		ids, w.canonical = strings.Split(shown, ","), shown
	}
	names := make([]name, len(ids))
	for i, id := range ids {
		names[i] = name{e.nameOf(t, f, id), id}
	}
	slices.SortFunc(names, func(a, b name) int { return strings.Compare(a.text, b.text) })
	if len(names) > 1 && f.Type == resource.Ref {
		e.lose(t, "second "+f.Path(), "a manifest gives one")
		names = names[:1]
	}
	if len(names) == 0 {
		w.value, w.instance = []any{}, []any{}
		return w, t.filled(f)
	}
	if f.Type == resource.Ref && f.Ref == t.kind.Name && e.above(t, f, names[0].id) {
		e.lose(t, f.Path(), "it leads back to the same "+t.kind.Noun())
		return w, false
	}
	list, instance := make([]any, len(names)), make([]any, len(names))
	for i, n := range names {
		list[i], instance[i] = n.text, n.text
		if value := t.said[n.id]; member && value != "" && value != via.Membership.Attribute.Default {
			list[i] = manifest.Map{{Key: via.Membership.Attribute.Member, Value: n.text}, {Key: via.Membership.Attribute.Name, Value: value}}
		}
		if member {
			e.joins(via.Membership, t, n.id)
		}
	}
	if w.value, w.instance = list, instance; f.Type == resource.Ref {
		w.value, w.instance = names[0].text, names[0].text
	}
	return w, true
}

// filled reports whether a new thing gets a value from what it lives in unless it is said that it has none.
func (t *thing) filled(f *resource.Field) bool {
	if f.ParentDefault == "" || t.in.kind == nil {
		return false
	}
	from, ok := t.in.kind.Field(f.ParentDefault)
	if !ok {
		return false
	}
	value, _ := from.Observed(t.in.row)
	return value != ""
}

// name is a text that names a thing of the service.
type name struct{ text, id string }

// joins takes down who belongs to what, as far as the manifest says it.
func (e *Export) joins(m *resource.Membership, t *thing, id string) {
	container, member := t, id
	if m.On == m.Member && m.Member != m.Container {
		container, member = e.all[serviceID{resource.Must(m.Container), id}], t.row.ID()
	}
	if container == nil || !container.exported {
		return
	}
	at := container.address.Members(m.Plural(), 1)
	r, ok := e.rosters[at]
	if !ok {
		r = &planner.Record{Address: at, ID: container.row.ID()}
		e.rosters[at] = r
	}
	r.Members, r.Found = append(r.Members, member), append(r.Found, member)
	if value := t.said[id]; value != "" && m.Attribute != nil {
		if r.Values == nil {
			r.Values = map[string]string{}
		}
		r.Values[planner.AttributeKey(m.Attribute, member)] = value
	}
}

// saidBefore reports whether the other side of a membership that has two names
// says already that these belong together, and notes that this one does.
func (e *Export) saidBefore(m *resource.Membership, kind, from, to string) bool {
	if m.Inverse == "" {
		return false
	}
	if e.said[edge{m.Inverse, to, from}] {
		return true
	}
	e.said[edge{kind, from, to}] = true
	return false
}

// above reports whether the thing that bears the ID leads up to t by the field,
// where t is the first of the round: the others keep what they name.
func (e *Export) above(t *thing, f *resource.Field, id string) bool {
	seen := map[string]bool{}
	first := t
	for at := t.in.find(t.kind, id); at != nil && !seen[at.row.ID()]; {
		seen[at.row.ID()] = true
		if older(at, first) < 0 {
			first = at
		}
		if at == t {
			return first == t
		}
		next, _ := f.Observed(at.row)
		at = t.in.find(t.kind, next)
	}
	return false
}

// nameOf is the text by which the manifest names a thing of the service: what
// people call it where that is clear, else its ID.
func (e *Export) nameOf(from *thing, f *resource.Field, id string) string {
	k := resource.Must(f.Ref)
	scope := from.within(k.Parent)
	to := scope.byID[serviceID{k, id}]
	if f.Anywhere && (to == nil || to.key == strings.ToUpper(to.key)) { // such a key would be taken for an identifier
		return e.nameAnywhere(serviceID{k, id})
	}
	if to == nil {
		return id
	}
	for _, text := range to.callings() {
		if e.means(scope, k, text) == to {
			return text
		}
	}
	return id
}

// nameAnywhere is the text by which the manifest names a thing wherever it lives.
func (e *Export) nameAnywhere(id serviceID) string {
	switch to := e.all[id]; {
	case to == nil:
		return id.id
	case to.exported && to.in.key != "":
		return to.in.key + "/" + to.key
	case to.identifier != "":
		return to.identifier
	default:
		return id.id
	}
}

// callings are the texts that could name a thing, the most readable first.
func (t *thing) callings() []string {
	var texts []string
	if t.kind.Identifier != nil {
		if t.exported {
			texts = append(texts, t.key)
		}
		if t.identifier != "" {
			texts = append(texts, t.identifier)
		}
	}
	if !t.kind.AdoptAsked {
		for _, n := range t.kind.Natural {
			f, ok := t.kind.Field(n)
			if !ok {
				continue
			}
			if text := strings.TrimSpace(t.text(n)); text != "" && !resource.IsID(text) && text != resource.Me && manifest.Fault(f, text) == "" {
				texts = append(texts, text)
			}
		}
	}
	if t.exported {
		texts = append(texts, t.key)
	}
	return texts
}

// means is the one thing that a text names within a parent, as reading and planning find it, or nil.
func (e *Export) means(scope *thing, k *resource.Kind, text string) *thing {
	x := scope.index(k)
	if hits := x.keys[text]; len(hits) > 0 {
		return sole(hits)
	}
	if k.Section != "" {
		if hits := x.manifest[text]; len(hits) > 0 {
			return sole(hits)
		}
	}
	if hits := x.identifiers[text]; len(hits) > 0 {
		return sole(hits)
	}
	return sole(x.service[text])
}

func sole(hits []*thing) *thing {
	if len(hits) == 1 {
		return hits[0]
	}
	return nil
}

// index finds things of one kind within a parent by what they are called.
type index struct {
	keys, manifest       map[string][]*thing // of those that are exported
	identifiers, service map[string][]*thing // of all
}

func (t *thing) index(k *resource.Kind) *index {
	if x, ok := t.indexes[k]; ok {
		return x
	}
	x := &index{map[string][]*thing{}, map[string][]*thing{}, map[string][]*thing{}, map[string][]*thing{}}
	for _, one := range t.things[k] {
		if one.exported {
			x.keys[one.key] = append(x.keys[one.key], one)
		}
		if one.identifier != "" {
			x.identifiers[one.identifier] = append(x.identifiers[one.identifier], one)
		}
		if k.AdoptAsked {
			continue
		}
		for _, n := range k.Natural {
			text := strings.TrimSpace(one.text(n))
			if text == "" {
				continue
			}
			x.service[text] = append(x.service[text], one)
			if one.exported {
				x.manifest[text] = append(x.manifest[text], one)
			}
		}
	}
	if t.indexes == nil {
		t.indexes = map[*resource.Kind]*index{}
	}
	t.indexes[k] = x
	return x
}
