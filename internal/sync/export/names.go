package export

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// encodeRefs writes a field that refers to other objects.
func (c *composer) encodeRefs(t *object, f *resource.Field) (w fieldValue, ok bool) {
	w.field = f
	var ids []string
	via, member := resource.MembershipOf(t.kind.Name, f.Name)
	if member = member && (f.Virtual || t.kind.ViaMembership(f, resource.V1)); member {
		first, _ := t.kind.Field(via.Membership.Field)
		ids = slices.Compact(slices.Sorted(slices.Values(t.members[first])))
		if via.Membership.SeveralField != "" && (f == first) != (len(ids) < 2) {
			return w, false // the other field holds it
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return c.declaredByInverse(via.Membership, via.Name, t.row.ID(), id) })
	} else if shown, known := f.ObservedIn(t.row); known && shown != "" {
		ids, w.canonical = strings.Split(shown, ","), shown
	}
	names := make([]namedID, 0, len(ids))
	for _, id := range ids {
		text := c.nameOf(t, f, id)
		switch {
		case text != "":
			names = append(names, namedID{text, id})
		case member:
			c.addOmission(t, f.Path()+" entry", whyUnlisted(f))
		case c.content.unsupported[resource.MustLookup(f.Ref)]: // reported elsewhere, once
			return w, false
		default: // a list without the entry would remove it
			c.addOmission(t, f.Path(), whyUnlisted(f))
			return w, false
		}
	}
	slices.SortFunc(names, func(a, b namedID) int { return strings.Compare(a.text, b.text) })
	if len(names) > 1 && f.Type == resource.Ref {
		c.addOmission(t, "second "+f.Path(), "a manifest gives one")
		names = names[:1]
	}
	if len(names) == 0 {
		if w.value, w.instance = []any{}, []any{}; f.Type == resource.Ref {
			w.value, w.instance = manifest.Literal("null"), nil
		}
		return w, t.inheritsDefault(f)
	}
	if f.Type == resource.Ref && f.Ref == t.kind.Name && c.cutsCycle(t, f) {
		c.addOmission(t, f.Path(), "it leads back to the same "+t.kind.Noun())
		return w, false
	}
	list, instance := make([]any, len(names)), make([]any, len(names))
	for i, n := range names {
		list[i], instance[i] = n.text, n.text
		if value := t.attributes[n.id]; member && via.Membership.Attribute != nil && value != "" && value != via.Membership.Attribute.Default {
			list[i] = manifest.Map{{Key: via.Membership.Attribute.Member, Value: n.text}, {Key: via.Membership.Attribute.Name, Value: value}}
		}
		if member {
			c.recordMembership(via.Membership, t, n.id)
		}
	}
	if w.value, w.instance = list, instance; f.Type == resource.Ref {
		w.value, w.instance = names[0].text, names[0].text
	}
	return w, true
}

// whyUnlisted explains why a reference is left out. Its ID would mean nothing elsewhere.
func whyUnlisted(f *resource.Field) string {
	if f.Ref == "member" {
		return "the person is no longer a member"
	}
	return "no list shows the " + resource.MustLookup(f.Ref).Noun() + ": it is archived or a draft, or elsewhere"
}

// inheritsDefault reports whether an object would take the field from its parent or its children. Then the
// manifest must say that the field is empty.
func (ob *object) inheritsDefault(f *resource.Field) bool {
	if slices.ContainsFunc(resource.Children(ob.kind.Name), func(k *resource.Kind) bool {
		return k.UsedIn() == f && len(ob.exportedChildren(k)) > 0
	}) {
		return true
	}
	if f.ParentDefault == "" || ob.parent.kind == nil {
		return false
	}
	from, ok := ob.parent.kind.Field(f.ParentDefault)
	if !ok {
		return false
	}
	value, _ := from.ObservedIn(ob.parent.row)
	return value != ""
}

// namedID is an object of the service with the text that a manifest uses for it.
type namedID struct{ text, id string }

// recordMembership adds a member that the manifest declares to the records for the state.
func (c *composer) recordMembership(m *resource.Membership, t *object, id string) {
	container, member := t, id
	if m.On == m.Member && m.Member != m.Container {
		container, member = c.content.byID[serviceID{resource.MustLookup(m.Container), id}], t.row.ID()
	}
	if container == nil || !container.exported {
		return
	}
	at := container.address.Members(m.Plural(), 1)
	r, ok := c.memberships[at]
	if !ok {
		r = &planner.Record{Address: at, ID: container.row.ID()}
		c.memberships[at] = r
	}
	r.Members, r.Found = append(r.Members, member), append(r.Found, member)
	if value := t.attributes[id]; value != "" && m.Attribute != nil {
		if r.Values == nil {
			r.Values = map[string]string{}
		}
		r.Values[planner.AttributeKey(m.Attribute, member)] = value
	}
}

// declaredByInverse reports whether the other side of a membership with two names, such as blocking and
// blocked_by, already declares it. If not, it records that this side does.
func (c *composer) declaredByInverse(m *resource.Membership, kind, from, to string) bool {
	if m.Inverse == "" {
		return false
	}
	if c.declared[edge{m.Inverse, to, from}] {
		return true
	}
	c.declared[edge{kind, from, to}] = true
	return false
}

// cutsCycle reports whether t is the object at which a cycle of references is cut, the oldest object of the
// cycle. The other objects keep their references. Each reference is followed once.
func (c *composer) cutsCycle(t *object, f *resource.Field) bool {
	var path []*object
	at := t
	for at != nil && !c.walked[refStep{at, f}] {
		c.walked[refStep{at, f}] = true
		path = append(path, at)
		next, _ := f.ObservedIn(at.row)
		at = at.parent.find(at.kind, next)
	}
	if round := slices.Index(path, at); round >= 0 {
		c.broken[refStep{slices.MinFunc(path[round:], compareAge), f}] = true
	}
	return c.broken[refStep{t, f}]
}

// refStep is a reference of an object by a field.
type refStep struct {
	from *object
	by   *resource.Field
}

// nameOf returns the text with which the manifest refers to an object: its name if that is unique, else its
// ID; "" if no list shows the object.
func (c *composer) nameOf(from *object, f *resource.Field, id string) string {
	k := resource.MustLookup(f.Ref)
	to := from.target(f, id)
	if to != nil {
		k = to.kind
	}
	scope := from.scope(k)
	if f.CrossProject && (to == nil || to.key == strings.ToUpper(to.key)) { // a key in capitals would be read as an identifier
		return c.crossProjectName(serviceID{k, id})
	}
	if to == nil {
		return ""
	}
	return cmp.Or(scope.names(k).Text(id, to.candidateNames()...), id)
}

// crossProjectName returns the text by which the manifest refers to an object of another project: PARENT/KEY if that object is exported, else
// its identifier or ID; "" = it is not known.
func (c *composer) crossProjectName(id serviceID) string {
	switch to := c.content.byID[id]; {
	case to == nil:
		return ""
	case to.exported && to.parent.key != "":
		return to.parent.key + "/" + to.key
	case to.identifier != "":
		return to.identifier
	default:
		return id.id
	}
}

// candidateNames returns the texts that could name the object, the most readable first.
func (ob *object) candidateNames() []string {
	var texts []string
	if ob.kind.Identifier != nil {
		if ob.exported {
			texts = append(texts, ob.key)
		}
		texts = append(texts, ob.identifier)
	}
	if !ob.kind.AdoptOnRequestOnly {
		for _, f := range ob.kind.NaturalFields() {
			if text := strings.TrimSpace(ob.text(f.Name)); manifest.CheckText(f, text) == "" {
				texts = append(texts, text)
			}
		}
	}
	if ob.exported {
		texts = append(texts, ob.key)
	}
	return texts
}

// names returns the meaning of texts among the children of a kind, in the way in which manifest and planner resolve them.
func (ob *object) names(k *resource.Kind) *resource.Names {
	if n, ok := ob.named[k]; ok {
		return n
	}
	n := &resource.Names{}
	for _, one := range ob.children[k] {
		n.AddRow(k, one.row, ob.identifier)
		if !one.exported {
			continue
		}
		n.Add(resource.ByKey, one.key, one.row.ID())
		if !k.AdoptOnRequestOnly {
			for _, f := range k.NaturalFields() {
				n.Add(resource.ByManifest, one.text(f.Name), one.row.ID())
			}
		}
	}
	if ob.named == nil {
		ob.named = map[*resource.Kind]*resource.Names{}
	}
	ob.named[k] = n
	return n
}
