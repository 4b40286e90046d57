package planner

import (
	"cmp"

	"github.com/planform/planform/internal/plane/resource"
)

// outsiders is the stage that finds people in fields who are no members of the project, or have too low a role. The service drops such
// people without an error, so planform reports them and does not send them.
type outsiders struct {
	analysis

	differ      *comparer
	memberships *memberships
	byValue     map[*resource.Value][]outsider
}

// outsider is a reference that the service drops.
type outsider struct {
	ref  *resource.Reference
	role string // the role that is too low; "" = the person is no member
}

const formerMember = "former member" // in place of a role

func findOutsiders(differ *comparer, memberships *memberships) *outsiders {
	ou := &outsiders{analysis: differ.analysis, differ: differ, memberships: memberships, byValue: map[*resource.Value][]outsider{}}
	roles := map[scope]map[string]string{} // of the members of a container, by membership and container
	for _, n := range ou.objects.uses {
		field := n.field.field
		if field.MustBeMemberOf == "" || field.Type != resource.RefSet || !ou.mayBeSent(n) {
			continue
		}
		via := resource.MustLookup(field.MustBeMemberOf)
		at := scope{ou.objects.kinds[via], ou.objects.ancestor(n.by, ou.objects.kind(via.Membership.Container))}
		in, known := roles[at]
		if !known {
			in = ou.insiders(via, at.parent)
			roles[at] = in
		}
		for j := range n.value.Refs {
			r := &n.value.Refs[j]
			_, id, ok := ou.differ.refs.target(n.by, n.field, r)
			if !ok || in == nil {
				continue
			}
			role, isIn := in[id]
			if !isIn && ou.isOutsider(via, at.parent, id) || role == formerMember ||
				isIn && memberships.words.isLess(via.Membership, role, field.MemberRole) {
				ou.byValue[n.value] = append(ou.byValue[n.value], outsider{r, role})
			}
		}
	}
	return ou
}

// mayBeSent reports whether a create or update may send a field.
func (ou *outsiders) mayBeSent(n reference) bool {
	f := &ou.objects.states[n.by]
	if f.presence == absent {
		return f.info.create != nil
	}
	return f.presence == exists && ou.differ.differs(n.value)
}

// insiders returns the roles of the current and wanted members of a container, by user ID; "" = the role is not known. It returns nil if
// the members are not known.
func (ou *outsiders) insiders(via *resource.Kind, container objectID) map[string]string {
	if _, offered := ou.objects.op(via, resource.ListMembers); container == noObject || !offered {
		return nil
	}
	s, roles := ou.memberships.setOf(via, container), map[string]string{}
	for _, e := range s.wanted {
		switch isIn := s.isIn(e); {
		case s.hasLeft(e):
			roles[e.id] = formerMember
		case isIn:
			roles[e.id] = e.attribute
		case !e.verdict.kept: // if kept, people removed the member, and the removal stays
			roles[e.id] = ou.memberships.newAttribute(s, e)
		}
	}
	switch f := &ou.objects.states[container]; f.presence {
	case absent: // the service adds people in some fields, such as the lead, to a new container
		for _, n := range f.uses {
			for j := range n.value.Refs {
				if _, id, ok := ou.differ.refs.target(n.by, n.field, &n.value.Refs[j]); ok && n.field.field.AddsMember {
					roles[id] = ""
				}
			}
		}
		return roles
	case exists:
	default:
		return nil
	}
	read, _ := ou.objects.membersRead(via, s.params)
	list := newMemberList(via, read, ou.service.askOptional(read))
	if len(list.rows) == 0 { // a container always has members, so the answer is incomplete
		return nil
	}
	list.addRoles(ou.analysis, via, s.params)
	a := via.Membership.Attribute
	prior, _ := s.recorded()
	for id, rows := range list.rows {
		role := roles[id]
		switch fixed := via.Membership.ShowsFixed(rows[0]); {
		case via.Membership.HasLeft(rows[0]):
			role = formerMember
		case fixed || role == "" && a != nil: // if the service does not show a role: the one that planform set last
			role = cmp.Or(a.Shown(rows[0]), prior.Values[AttributeKey(a, id)])
		}
		roles[id] = role
	}
	return roles
}

// isOutsider reports whether a person who is not listed as a member is none. The credential's own user becomes a member of each project that
// the run creates.
func (ou *outsiders) isOutsider(via *resource.Kind, container objectID, id string) bool {
	if ou.objects.states[container].presence == exists {
		return true
	}
	self := ou.snapshot.self(ou.objects.kind(via.Membership.Member))
	return self != "" && self != id
}
