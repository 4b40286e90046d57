package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// unavailable says why a value that a body sends cannot be sent: something that it names is not on the
// service, or archived there. "" = nothing is in the way. Only the field waits, not the object.
func (b *builder) unavailable(i int, v *resource.Value) string {
	if t := b.states[i].info.ref(v.Field); t != nil {
		for k := range v.Refs {
			if why := b.unavailableRef(i, t, &v.Refs[k]); why != "" {
				return why
			}
		}
	}
	return ""
}

func (b *builder) unavailableRef(i int, t *refField, r *resource.Reference) string {
	if r.Target == nil {
		if why := b.notFoundNames[nameKey{t.to, b.within(i, t.to), r.Text}]; why != "" {
			return why
		}
		if id := b.literal(t, r); id != "" && t.via == nil && b.unlisted(i, t, id) {
			return "the service shows no " + t.to.kind.Noun() + " with the ID " + id + ": it was deleted or archived, or the ID is wrong"
		}
	}
	at, _, ok := b.target(i, t, r)
	if !ok || at == none {
		return ""
	}
	switch f := &b.states[at]; f.presence {
	case notFound:
		return string(b.in.Desired[at].Address) + ": " + f.why
	case hidden:
		return string(b.in.Desired[at].Address) + " (or its parent) is " + f.why
	default:
		return ""
	}
}

// unlisted reports whether the list in which an object of that ID would stand was read and does not show it.
func (b *builder) unlisted(i int, t *refField, id string) bool {
	at := b.within(i, t.to)
	if t.field.CrossProject || !resource.IsID(id) || t.to.list == nil || t.to.parent != nil && at == none || !b.listed(t.to, at) {
		return false
	}
	l, st := b.list(t.to, at)
	return st == exists && len(l.ids()[id]) == 0
}

// addUnavailableRefs takes what an object names and cannot be joined with, and what names nothing here,
// into what cannot be made different.
func (b *builder) addUnavailableRefs(i int, d *difference) {
	o := b.in.Desired[i]
	for _, m := range o.Omitted {
		text := m.Text
		d.block(Change{Path: m.Field.Name, After: &text, Origin: FromManifest}, m.Why, m.Position)
	}
	for _, n := range b.refUses(i) {
		if n.field.via == nil {
			continue
		}
		for k := range n.value.Refs {
			r := &n.value.Refs[k]
			why := b.unavailableRef(n.by, n.field, r)
			if why == "" || r.Target != nil && n.field.via.Membership.On != n.field.via.Membership.Container || b.joinedAlready(n, r) {
				continue
			}
			text := r.Text
			d.block(Change{Path: n.value.Field.Name, After: &text, Origin: FromManifest}, why, r.Position)
		}
	}
}

// joinedAlready reports whether something that the service does not show is a member since an earlier apply.
func (b *builder) joinedAlready(n refUse, r *resource.Reference) bool {
	at, id, ok := b.target(n.by, n.field, r)
	if !ok || id == "" {
		return false
	}
	container, member := n.by, id
	if n.field.via.Membership.On != n.field.via.Membership.Container {
		container, member = at, b.states[n.by].id
	}
	if container == none {
		return false
	}
	address := b.in.Desired[container].Address.Members(n.field.via.Membership.Plural(), 1)
	return slices.Contains(b.in.Prior[address].Members, member)
}
