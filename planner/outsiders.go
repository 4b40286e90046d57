package planner

import (
	"cmp"

	"github.com/planform/planform/internal/resource"
)

// nonMembers are people whom fields refer to although they are not members of the project, or have too little of a role in
// it. The service drops them without an error: they are reported, and not sent.
type nonMembers struct {
	analysis

	refs        *references
	differ      *comparer
	memberships *memberships
	byValue     map[*resource.Value][]outsider
}

// outsider is a reference that the service drops.
type outsider struct {
	ref  *resource.Reference
	role string // that is too little; "" = they are no member
}

// prerequisite identifies a person who is brought into a container.
type prerequisite struct {
	via       *resource.Kind // the membership
	container objectID       // its state
	id        string         // of the person
}

func findOutsiders(differ *comparer, memberships *memberships) *nonMembers {
	s := &nonMembers{
		analysis: differ.analysis, refs: differ.refs, differ: differ, memberships: memberships,
		byValue: map[*resource.Value][]outsider{},
	}
	inside := map[prerequisite]map[string]string{}
	for _, n := range s.objects.uses {
		if n.field.field.MustBeMemberOf == "" || n.field.field.Type != resource.RefSet || !s.mayBeSent(n) {
			continue
		}
		via := resource.MustLookup(n.field.field.MustBeMemberOf)
		at := prerequisite{via: via, container: s.objects.ancestor(n.by, s.objects.kind(via.Membership.Container))}
		in, known := inside[at]
		if !known {
			in = s.insiders(at)
			inside[at] = in
		}
		for j := range n.value.Refs {
			r := &n.value.Refs[j]
			_, id, ok := s.refs.target(n.by, n.field, r)
			if !ok || in == nil {
				continue
			}
			role, isIn := in[id]
			if !isIn && s.isOutsider(at, id) || isIn && s.memberships.defined.isLess(via.Membership, role, n.field.field.MemberRole) {
				s.byValue[n.value] = append(s.byValue[n.value], outsider{r, role})
			}
		}
	}
	return s
}

// mayBeSent reports whether a field differs, so that it would be sent.
func (o *nonMembers) mayBeSent(n reference) bool {
	f := &o.objects.states[n.by]
	if f.presence == absent {
		return f.info.create != nil
	}
	_, _, differs := o.differ.compare(n.value, f, o.refs.idResolver(n.by))
	return f.presence == exists && differs
}

// insiders are who belongs to a container, or is to belong to it, with the role that they will have; "" = it is not known. nil
// = nobody is known.
func (o *nonMembers) insiders(at prerequisite) map[string]string {
	if _, offered := o.objects.op(at.via, resource.ListMembers); at.container == noObject || !offered {
		return nil
	}
	wanted := map[string]string{}
	for _, s := range o.memberships.sets {
		if s.kind != at.via || s.object != at.container {
			continue
		}
		for _, e := range s.wanted {
			switch isIn := s.isIn(e); {
			case isIn:
				wanted[e.id] = e.attribute
			case !e.verdict.kept: // else people took them out, and that stays
				wanted[e.id] = o.memberships.newAttribute(s, e)
			}
		}
	}
	if o.objects.states[at.container].presence == absent { // who leads it is let in when it is made
		for _, n := range o.objects.states[at.container].uses {
			for j := range n.value.Refs {
				if _, id, ok := o.refs.target(n.by, n.field, &n.value.Refs[j]); ok && n.field.field.AddsMember {
					wanted[id] = ""
				}
			}
		}
		return wanted
	}
	if o.objects.states[at.container].presence != exists {
		return nil
	}
	read, _ := o.objects.membersRead(at.via, o.objects.params(at.container))
	a := o.service.askOptional(read)
	if len(a.Rows) == 0 { // somebody is always in
		return nil
	}
	m := at.via.Membership
	prior, _ := o.memberships.setOf(at.via, at.container).recorded()
	for _, row := range a.Rows {
		id := m.MemberID(row)
		role := wanted[id]
		if role == "" && m.Attribute != nil { // what planform gave them, where the service does not show it
			role = cmp.Or(m.Attribute.Shown(row), prior.Values[AttributeKey(m.Attribute, id)])
		}
		wanted[id] = role
	}
	return wanted
}

// isOutsider reports false for the credential's own user in a project that is still to be created: its creator is a member.
func (o *nonMembers) isOutsider(at prerequisite, id string) bool {
	if o.objects.states[at.container].presence == exists {
		return true
	}
	self := o.snapshot.self(o.objects.kind(at.via.Membership.Member))
	return self != "" && self != id
}
