package export

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// references writes a field that names other things.
func (e *Export) references(t *object, f *resource.Field) (w written, ok bool) {
	w.field = f
	var ids []string
	via, member := resource.MembershipOf(t.kind.Name, f.Name)
	if member = member && (f.Virtual || t.kind.ViaMembership(f, resource.Full)); member {
		ids = slices.Compact(slices.Sorted(slices.Values(t.named[f])))
		ids = slices.DeleteFunc(ids, func(id string) bool { return e.declaredByInverse(via.Membership, via.Name, t.row.ID(), id) })
	} else if shown, known := f.ObservedIn(t.row); known && shown != "" {
		ids, w.canonical = strings.Split(shown, ","), shown
	}
	names := make([]name, 0, len(ids))
	for _, id := range ids {
		text := e.nameOf(t, f, id)
		switch {
		case text != "":
			names = append(names, name{text, id})
		case member:
			e.omit(t, f.Path()+" entry", unlisted(f))
		default: // a list without it would take it out
			e.omit(t, f.Path(), unlisted(f))
			return w, false
		}
	}
	slices.SortFunc(names, func(a, b name) int { return strings.Compare(a.text, b.text) })
	if len(names) > 1 && f.Type == resource.Ref {
		e.omit(t, "second "+f.Path(), "a manifest gives one")
		names = names[:1]
	}
	if len(names) == 0 {
		w.value, w.instance = []any{}, []any{}
		return w, t.hasDefault(f)
	}
	if f.Type == resource.Ref && f.Ref == t.kind.Name && e.breaks(t, f) {
		e.omit(t, f.Path(), "it leads back to the same "+t.kind.Noun())
		return w, false
	}
	list, instance := make([]any, len(names)), make([]any, len(names))
	for i, n := range names {
		list[i], instance[i] = n.text, n.text
		if value := t.attributes[n.id]; member && value != "" && value != via.Membership.Attribute.Default {
			list[i] = manifest.Map{{Key: via.Membership.Attribute.Member, Value: n.text}, {Key: via.Membership.Attribute.Name, Value: value}}
		}
		if member {
			e.recordMembership(via.Membership, t, n.id)
		}
	}
	if w.value, w.instance = list, instance; f.Type == resource.Ref {
		w.value, w.instance = names[0].text, names[0].text
	}
	return w, true
}

// unlisted says why what a field names cannot be named: its ID would mean nothing elsewhere.
func unlisted(f *resource.Field) string {
	if f.Ref == "member" {
		return "it is somebody who is not there any more"
	}
	return "no list shows the " + resource.MustLookup(f.Ref).Noun() + ": it is archived or a draft, or elsewhere"
}

// hasDefault reports whether a new thing gets a value from what it lives in unless it is said that it has none.
func (t *object) hasDefault(f *resource.Field) bool {
	if f.ParentDefault == "" || t.in.kind == nil {
		return false
	}
	from, ok := t.in.kind.Field(f.ParentDefault)
	if !ok {
		return false
	}
	value, _ := from.ObservedIn(t.in.row)
	return value != ""
}

// name is a text that names a thing of the service.
type name struct{ text, id string }

// recordMembership takes down who belongs to what, as far as the manifest says it.
func (e *Export) recordMembership(m *resource.Membership, t *object, id string) {
	container, member := t, id
	if m.On == m.Member && m.Member != m.Container {
		container, member = e.all[serviceID{resource.MustLookup(m.Container), id}], t.row.ID()
	}
	if container == nil || !container.exported {
		return
	}
	at := container.address.Members(m.Plural(), 1)
	r, ok := e.memberships[at]
	if !ok {
		r = &planner.Record{Address: at, ID: container.row.ID()}
		e.memberships[at] = r
	}
	r.Members, r.Found = append(r.Members, member), append(r.Found, member)
	if value := t.attributes[id]; value != "" && m.Attribute != nil {
		if r.Values == nil {
			r.Values = map[string]string{}
		}
		r.Values[planner.AttributeKey(m.Attribute, member)] = value
	}
}

// declaredByInverse reports whether the other side of a membership that has two names
// says already that these belong together, and notes that this one does.
func (e *Export) declaredByInverse(m *resource.Membership, kind, from, to string) bool {
	if m.Inverse == "" {
		return false
	}
	if e.declared[edge{m.Inverse, to, from}] {
		return true
	}
	e.declared[edge{kind, from, to}] = true
	return false
}

// breaks reports whether what t names by the field leads back to t, and t is the first of the round: the others keep what
// they name. Each thing is walked over once.
func (e *Export) breaks(t *object, f *resource.Field) bool {
	var path []*object
	at := t
	for at != nil && !e.walked[step{at, f}] {
		e.walked[step{at, f}] = true
		path = append(path, at)
		next, _ := f.ObservedIn(at.row)
		at = at.in.find(at.kind, next)
	}
	if round := slices.Index(path, at); round >= 0 {
		e.broken[step{slices.MinFunc(path[round:], older), f}] = true
	}
	return e.broken[step{t, f}]
}

// step is from a thing to what it names by a field.
type step struct {
	from *object
	by   *resource.Field
}

// nameOf is the text by which the manifest names a thing of the service: what
// people call it where that is clear, else its ID; "" = no list shows it.
func (e *Export) nameOf(from *object, f *resource.Field, id string) string {
	k := resource.MustLookup(f.Ref)
	scope := from.ancestor(k.Parent)
	to := scope.byID[serviceID{k, id}]
	if f.CrossProject && (to == nil || to.key == strings.ToUpper(to.key)) { // such a key would be taken for an identifier
		return e.crossProjectName(serviceID{k, id})
	}
	if to == nil {
		return ""
	}
	for _, text := range to.candidateNames() {
		if e.resolveName(scope, k, text) == to {
			return text
		}
	}
	return id
}

// crossProjectName is the text by which the manifest names a thing wherever it lives.
func (e *Export) crossProjectName(id serviceID) string {
	switch to := e.all[id]; {
	case to == nil:
		return ""
	case to.exported && to.in.key != "":
		return to.in.key + "/" + to.key
	case to.identifier != "":
		return to.identifier
	default:
		return id.id
	}
}

// candidateNames are the texts that could name a thing, the most readable first.
func (t *object) candidateNames() []string {
	var texts []string
	if t.kind.Identifier != nil {
		if t.exported {
			texts = append(texts, t.key)
		}
		if t.identifier != "" {
			texts = append(texts, t.identifier)
		}
	}
	if !t.kind.AdoptOnRequestOnly {
		for _, n := range t.kind.NaturalKey {
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

// resolveName is the one thing that a text names within a parent, as reading and planning find it, or nil.
func (e *Export) resolveName(scope *object, k *resource.Kind, text string) *object {
	x := scope.index(k)
	if hits := x.keys[text]; len(hits) > 0 {
		return only(hits)
	}
	if k.Section != "" {
		if hits := x.manifest[text]; len(hits) > 0 {
			return only(hits)
		}
	}
	if hits := x.identifiers[text]; len(hits) > 0 {
		return only(hits)
	}
	return only(x.service[text])
}

func only(hits []*object) *object {
	if len(hits) == 1 {
		return hits[0]
	}
	return nil
}

// index finds things of one kind within a parent by what they are called.
type index struct {
	keys, manifest       map[string][]*object // of those that are exported
	identifiers, service map[string][]*object // of all
}

func (t *object) index(k *resource.Kind) *index {
	if x, ok := t.indexes[k]; ok {
		return x
	}
	x := &index{map[string][]*object{}, map[string][]*object{}, map[string][]*object{}, map[string][]*object{}}
	for _, one := range t.things[k] {
		if one.exported {
			x.keys[one.key] = append(x.keys[one.key], one)
		}
		if one.identifier != "" {
			x.identifiers[one.identifier] = append(x.identifiers[one.identifier], one)
		}
		if k.AdoptOnRequestOnly {
			continue
		}
		for _, n := range k.NaturalKey {
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
