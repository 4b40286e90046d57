package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// readMembers reads what the decisions about the members of a container need: the list of its members and, for members to be added, their
// other roles and relations.
func (mb *memberships) readMembers(s *memberSet) {
	hasID := func(e *member) bool { return e.id != "" }
	if slices.ContainsFunc(s.wanted, hasID) && s.container.ID != "" && (s.object == noObject || mb.objects.states[s.object].presence == exists) {
		s.gap = mb.whyNotRead(s)
		s.hasList = s.gap.why == ""
	}
	if s.hasList || len(s.unwanted) > 0 {
		s.list = listMembers(mb.analysis, s.kind, s.params)
		s.hasList = s.hasList && s.list.state == listed
	}
	a := s.kind.Membership.Attribute
	if a != nil && mb.in.API.Wide() && slices.ContainsFunc(s.wanted, func(e *member) bool { return e.attribute == "" && !s.isIn(e) }) {
		// new members without an attribute may depend on the one that they have outside the container, such as their role in the workspace
		mb.snapshot.list(mb.objects.kind(s.kind.Membership.Member), noObject)
	}
	if a != nil && s.hasList { // somebody who left is in the list, too
		s.list.addRoles(mb.analysis, s.kind, s.params)
	}
	if _, shown := s.kind.Op(resource.ListLite, mb.in.API); shown && mb.in.API == resource.V1 {
		mb.findFormer(s)
	}
	if a != nil && len(a.Values) > 0 && len(s.wanted) > 0 && s.object != noObject {
		mb.findSelf(s)
	}
	if s.kind.Membership.Inverse != "" && s.hasList && slices.ContainsFunc(s.wanted, s.lacks) {
		mb.findOtherRelations(s)
	}
}

// whyNotRead returns the reason why the wanted members of a container are compared with the state only, if any.
func (mb *memberships) whyNotRead(s *memberSet) gapReason {
	_, offered := mb.objects.op(s.kind, resource.ListMembers)
	_, hasPrior := s.recorded()
	switch {
	case !offered:
		return gapReason{why: mb.in.API.Noun() + " cannot read it"}
	case !hasPrior || s.record.isOpen():
		return gapReason{}
	case mb.in.SkipRefresh:
		return gapNotRefreshed
	case s.kind.Membership.ResultKey != "" && mb.manyRelations:
		return gapExpensive
	}
	return gapReason{}
}

// lacks reports whether a wanted member that exists is not in the container.
func (mt *memberSet) lacks(e *member) bool { return e.id != "" && !mt.isIn(e) }

// findOtherRelations finds members that already have another relation to the object. The service keeps one relation between two objects, and
// ignores a second one without an error.
func (mb *memberships) findOtherRelations(s *memberSet) {
	for _, other := range resource.Memberships() {
		m := other.Membership
		read, ok := mb.objects.membersRead(other, s.params)
		if other == s.kind || m.Inverse == "" || !ok || read.Path != s.list.read.Path {
			continue // custom relations do not exclude these
		}
		list := listMembers(mb.analysis, other, s.params) // one answer has the relations of all kinds
		for _, e := range s.wanted {
			if s.lacks(e) && list.has(e.id) {
				e.other, e.replaces = m.Field, []edge{{other.Name, s.container.ID, e.id}, {m.Inverse, e.id, s.container.ID}}
			}
		}
	}
}

// rowOf returns the row that shows a wanted member, or nil. If the member has several relations to the object, it returns the row of the
// wanted relation.
func (mb *memberships) rowOf(s *memberSet, e *member) resource.Row {
	if !s.hasList || !s.list.has(e.id) {
		return nil
	}
	rows := s.list.rows[e.id]
	wanted := slices.IndexFunc(rows, func(row resource.Row) bool { return mb.words.shown(s.kind.Membership.Attribute, row) == e.attribute })
	return rows[max(wanted, 0)]
}

// shownAttribute returns the attribute of a wanted member on the service, or "".
func (mb *memberships) shownAttribute(s *memberSet, e *member) string {
	return mb.words.shown(s.kind.Membership.Attribute, mb.rowOf(s, e))
}

// findFormer finds members to be added who have left the workspace. The service drops them from fields such as assignees.
func (mb *memberships) findFormer(s *memberSet) {
	op, _ := mb.objects.op(mb.objects.kind(s.kind.Membership.Member).kind, resource.ListLite)
	for _, e := range s.wanted {
		if s.lacks(e) {
			read, _ := readOf(op, map[string]string{"workspace_slug": mb.in.Workspace})
			e.hasLeft = slices.ContainsFunc(mb.service.askOptional(read).Rows, func(row resource.Row) bool {
				return row.ID() == e.id && s.kind.Membership.HasLeft(row)
			})
		}
	}
}

// hasLeft reports whether a wanted member is known to have left the workspace, or a container that the service does not let them join again.
func (mt *memberSet) hasLeft(e *member) bool {
	return e.hasLeft || mt.hasList && mt.list.has(e.id) && mt.kind.Membership.HasLeft(mt.list.rows[e.id][0])
}

// newAttribute returns the attribute that a new member gets.
func (mb *memberships) newAttribute(s *memberSet, e *member) string {
	a, t, own := s.kind.Membership.Attribute, mb.objects.kind(s.kind.Membership.Member), ""
	if a == nil {
		return ""
	}
	if mb.snapshot.isListed(t, noObject) {
		l, _ := mb.snapshot.list(t, noObject)
		for _, row := range l.byID(e.id) {
			own = a.Shown(row)
		}
	}
	return cmp.Or(e.attribute, a.DefaultFor(own))
}

// findSelf reads the credential's own user if this run may give members another role, so that a plan can warn that it changes the own role.
// The service makes this user an admin of a project that the run creates, and by API v2 the user then counts as a member already.
func (mb *memberships) findSelf(s *memberSet) {
	op, ok := mb.objects.op(s.kind, resource.ListMembers)
	created := ok && op.V2() && mb.objects.states[s.object].presence == absent
	if !created && !slices.ContainsFunc(s.wanted, func(e *member) bool {
		shown := mb.shownAttribute(s, e)
		return e.attribute != "" && shown != e.attribute && (shown != "" || !s.isIn(e))
	}) {
		return
	}
	if s.self = mb.snapshot.self(mb.objects.kind(s.kind.Membership.Member)); s.self != "" && created {
		a := s.kind.Membership.Attribute
		s.hasList, s.list.rows = true, map[string][]resource.Row{s.self: {{a.Name: a.Values[len(a.Values)-1]}}}
	}
}
