package planner

import (
	"cmp"

	"github.com/planform/planform/internal/plane/resource"
)

// outsiders is the stage that finds people in fields who are no members of the project, or have too low a role. The service drops such
// people without an error, so planform reports them and does not send them.
type outsiders struct {
	analysis

	refs        *references
	differ      *comparer
	memberships *memberships
	byValue     map[*resource.Value][]outsider
}

// outsider is a reference that the service drops.
type outsider struct {
	ref  *resource.Reference
	role string // the role that is too low; "" = the person is no member
}

// prerequisite identifies a person as a member of a container.
type prerequisite struct {
	via       *resource.Kind // the membership
	container objectID       // the container
	id        string         // ID of the person
}

func findOutsiders(differ *comparer, memberships *memberships) *outsiders {
	s := &outsiders{
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
			if !isIn && s.isOutsider(at, id) || isIn && s.memberships.words.isLess(via.Membership, role, n.field.field.MemberRole) {
				s.byValue[n.value] = append(s.byValue[n.value], outsider{r, role})
			}
		}
	}
	return s
}

// mayBeSent reports whether a create or update may send a field.
func (ou *outsiders) mayBeSent(n reference) bool {
	f := &ou.objects.states[n.by]
	if f.presence == absent {
		return f.info.create != nil
	}
	_, _, differs := ou.differ.compare(n.value, f, ou.refs.idResolver(n.by))
	return f.presence == exists && differs
}

// insiders returns the roles of the current and wanted members of a container, by user ID; "" = the role is not known. It returns nil if
// the members are not known.
func (ou *outsiders) insiders(at prerequisite) map[string]string {
	if _, offered := ou.objects.op(at.via, resource.ListMembers); at.container == noObject || !offered {
		return nil
	}
	wanted := map[string]string{}
	for _, s := range ou.memberships.sets {
		if s.kind != at.via || s.object != at.container {
			continue
		}
		for _, e := range s.wanted {
			switch isIn := s.isIn(e); {
			case isIn:
				wanted[e.id] = e.attribute
			case !e.verdict.kept: // if kept, people removed the member, and the removal stays
				wanted[e.id] = ou.memberships.newAttribute(s, e)
			}
		}
	}
	if ou.objects.states[at.container].presence == absent { // the service adds people in some fields, such as the lead, to a new container
		for _, n := range ou.objects.states[at.container].uses {
			for j := range n.value.Refs {
				if _, id, ok := ou.refs.target(n.by, n.field, &n.value.Refs[j]); ok && n.field.field.AddsMember {
					wanted[id] = ""
				}
			}
		}
		return wanted
	}
	if ou.objects.states[at.container].presence != exists {
		return nil
	}
	read, _ := ou.objects.membersRead(at.via, ou.objects.params(at.container))
	list := newMemberList(at.via, read, ou.service.askOptional(read))
	if len(list.rows) == 0 { // a container always has members, so the answer is incomplete
		return nil
	}
	a := at.via.Membership.Attribute
	prior, _ := ou.memberships.setOf(at.via, at.container).recorded()
	for id, rows := range list.rows {
		role := wanted[id]
		if role == "" && a != nil { // if the service does not show a role: the one that planform set last
			role = cmp.Or(a.Shown(rows[0]), prior.Values[AttributeKey(a, id)])
		}
		wanted[id] = role
	}
	return wanted
}

// isOutsider reports whether a person who is not listed as a member is none. The credential's own user becomes a member of each project that
// the run creates.
func (ou *outsiders) isOutsider(at prerequisite, id string) bool {
	if ou.objects.states[at.container].presence == exists {
		return true
	}
	self := ou.snapshot.self(ou.objects.kind(at.via.Membership.Member))
	return self != "" && self != id
}
