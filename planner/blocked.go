package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// blockers finds the objects and fields that cannot be made, and the causes.
type blockers struct {
	analysis

	refs   *references
	claims *claims
	roots  map[objectID]objectID // the blocker of each object, see blocker
}

// blocker returns the object that keeps object i from being made: i itself, its parent, an object that it refers to, or the blocker of
// one of these; noObject = i can be made.
func (b *blockers) blocker(i objectID) objectID {
	if _, known := b.roots[i]; !known {
		b.roots[i] = noObject // ends the recursion in a cycle, which is reported elsewhere
		b.roots[i] = b.findBlocker(i)
	}
	return b.roots[i]
}

func (b *blockers) findBlocker(i objectID) objectID {
	o, f := b.in.Desired[i], &b.objects.states[i]
	if f.presence == exists || f.presence == hidden {
		return noObject
	}
	if f.parent != noObject {
		if root := b.blocker(f.parent); root != noObject {
			return root
		}
	}
	if f.presence != absent || f.info.create == nil && !b.objects.isPredefined(i) || b.forbids(i).exists() {
		return i
	}
	for k := range o.Values {
		if v := &o.Values[k]; f.info.api.Sendable(v.Field) && !v.Field.SetAfterCreate && !f.info.viaMembership(v.Field) && !resource.IsCustom(v) {
			if root := b.blockerOf(v); root != noObject {
				return root
			}
		}
	}
	return noObject
}

// blockerOf returns the blocker of an object that a value refers to, or noObject.
func (b *blockers) blockerOf(v *resource.Value) objectID {
	for k := range v.Refs {
		// only the field waits for an object that is unsupported or not found
		if at, ok := b.objects.index[v.Refs[k].Target]; ok && b.objects.states[at].presence != unsupported &&
			b.objects.states[at].presence != notFound {
			if root := b.blocker(at); root != noObject {
				return root
			}
		}
	}
	return noObject
}

// cause returns the cause that keeps the object root from being created. Its text is about object i: root is i itself, its parent, or an
// object that it needs.
func (b *blockers) cause(i, root objectID) (c Cause) {
	o := b.in.Desired[root]
	switch f := &b.objects.states[root]; f.presence {
	case unsupported:
		c = lacks(plural(o.Kind))
	case indeterminate:
		c = refused("an earlier run may have created it: look on the service, then run " +
			"planform state resolve " + string(o.Address) + " --id ID (or --absent)")
	case notFound:
		c = refused(f.why)
	case absent, unbound, exists, invalid, hidden:
		if c = b.forbids(root); !c.exists() {
			c = notOffered(f.presence == absent && f.info.create == nil && offeredByWider(f.info.api, f.info.kind, resource.Create),
				f.info.api.Noun()+" cannot create "+diag.A(o.Kind.Noun()))
		}
	}
	switch {
	case root == i:
		return c
	case o == b.in.Desired[i].Parent:
		return c.withPrefix("it belongs to " + string(o.Address) + ": ")
	default:
		return c.withPrefix("it needs " + string(o.Address) + ": ")
	}
}

// forbids returns the cause that forbids creating an object: an option, the manifest, another owner, or a name that is taken.
func (b *blockers) forbids(i objectID) Cause {
	switch o := b.in.Desired[i]; {
	case b.objects.isPredefined(i): // the service creates it
		return Cause{}
	case o.NoCreate && b.in.Deletes != nil:
		return refused("it is not on the service any more")
	case o.NoCreate:
		return refused("it is not on the service, and the manifest says create: false")
	case slices.Contains(b.in.NoCreate, o.Kind.Name):
		return refused("it is not on the service, and --no-create " + o.Kind.Name + " is given")
	case b.objects.states[i].presence == absent && b.objects.inForeign(b.objects.states[i].info, b.objects.states[i].parent, nil):
		return b.objects.leftToOwner(b.objects.states[i].parent)
	case b.objects.states[i].presence == absent:
		return b.claims.whyNamesTaken(i)
	default:
		return Cause{}
	}
}

// whyUnavailable returns the cause that keeps a value from being sent: this edition of the service lacks the kind of an object that the
// value names, or that object is archived, or not on the service. Only the field waits, not the object. Of a membership, it returns only
// what the edition lacks, and not even that if the manifest has the object: the membership steps tell the rest.
func (b *blockers) whyUnavailable(i objectID, v *resource.Value) (why Cause) {
	if root := b.fieldBlocker(v); root != noObject {
		if why = b.cause(i, root); why.Code == Lacks {
			return lacks(why.Objects)
		}
		return refused(why.Text)
	}
	t := b.objects.states[i].info.ref(v.Field)
	for k := 0; t != nil && k < len(v.Refs); k++ {
		r := &v.Refs[k]
		at, listed := b.objects.index[r.Target]
		if listed && t.membership == nil && !v.Field.Virtual && b.objects.states[at].presence == unsupported ||
			r.Target == nil && t.field.Literal(b.in.API, r) == "" && b.refs.names[b.refs.keyOf(i, t, r)].why.Code == Lacks {
			return lacks(plural(t.to.kind))
		}
		if !why.exists() && t.membership == nil {
			why = b.whyUnavailableRef(i, t, r)
		}
	}
	return why
}

// whyUnavailableRef returns the cause that keeps one reference of a value from being sent.
func (b *blockers) whyUnavailableRef(i objectID, t *refField, r *resource.Reference) Cause {
	if r.Target == nil {
		if why := b.refs.names[b.refs.keyOf(i, t, r)].why; why.exists() && why.Code != Lacks {
			return why
		}
		if id := t.field.Literal(b.in.API, r); id != "" && t.membership == nil && b.isUnlisted(i, t, id) {
			return refused("the service shows no " + t.to.kind.Noun() + " with the ID " + id + ": it was deleted or archived, or the ID is wrong")
		}
	}
	at, _, ok := b.refs.target(i, t, r)
	if !ok || at == noObject {
		return Cause{}
	}
	switch f := &b.objects.states[at]; f.presence {
	case notFound:
		return refused(string(b.in.Desired[at].Address) + ": " + f.why)
	case hidden:
		return refused(string(b.in.Desired[at].Address) + " (or its parent) is " + f.why)
	default:
		return Cause{}
	}
}

// fieldBlocker returns the blocker of the custom field of a value, or of an option that the value names; noObject = there is none.
func (b *blockers) fieldBlocker(v *resource.Value) objectID {
	if !resource.IsCustom(v) {
		return noObject
	}
	if root := b.blocker(b.objects.index[v.Field.Definition]); root != noObject {
		return root
	}
	return b.blockerOf(v)
}

// isUnlisted reports whether the list that would show an ID was read and does not show it.
func (b *blockers) isUnlisted(i objectID, t *refField, id string) bool {
	at := b.objects.within(i, t.to)
	if t.field.CrossProject || !resource.IsID(id) || t.to.parent != nil && at == noObject {
		return false
	}
	l, known := b.snapshot.known(t.to, at)
	return known && len(l.byID(id)) == 0
}

// addUnavailableRefs adds changes that are not possible to the difference: references that were omitted, and memberships whose other
// object is unavailable.
func (b *blockers) addUnavailableRefs(i objectID, d *differences) {
	o := b.in.Desired[i]
	for _, m := range o.Omitted {
		d.blockRef(m.Field, m.Text, m.Position, refused(m.Why))
	}
	for _, n := range b.objects.states[i].uses {
		if n.field.membership == nil || isIgnored(b.analysis, n) {
			continue
		}
		for k := range n.value.Refs {
			r := &n.value.Refs[k]
			why := b.whyUnavailableRef(n.by, n.field, r)
			if !why.exists() || r.Target != nil && n.field.membership.Membership.On != n.field.membership.Membership.Container || b.isAlreadyMember(n, r) {
				continue
			}
			d.blockRef(n.value.Field, r.Text, r.Position, why)
		}
	}
}

// isAlreadyMember reports whether the state has the membership that a reference declares, from an earlier apply.
func (b *blockers) isAlreadyMember(n reference, r *resource.Reference) bool {
	at, id, ok := b.refs.target(n.by, n.field, r)
	if !ok || id == "" {
		return false
	}
	container, member := n.by, id
	if n.field.membership.Membership.On != n.field.membership.Membership.Container {
		container, member = at, b.objects.states[n.by].id
	}
	if container == noObject {
		return false
	}
	address := b.in.Desired[container].Address.Members(n.field.membership.Membership.Plural(), 1)
	return slices.Contains(b.in.Prior[address].Members, member)
}
