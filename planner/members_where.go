package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// findContainers finds the current containers of objects whose field is null, and of objects that are not in their wanted container. It looks
// in the containers that were read, then in the object's containers in the state, then in all containers.
func (mb *memberships) findContainers() {
	for _, s := range mb.sets {
		if m := s.kind.Membership; s.hasList && (m.Exclusive || len(mb.cleared) > 0 && m.On != m.Container) {
			mb.recordContainer(s.kind, s.container, s.list)
		}
	}
	searched := map[scope]gapReason{}
	search := func(t *refField, within objectID) gapReason {
		at := scope{t.to, within}
		why, done := searched[at]
		if !done {
			var all []listedContainer
			all, why = mb.containersIn(t, within)
			for _, c := range all {
				mb.recordContainer(t.membership, c.container, c.list)
			}
			searched[at] = why
		}
		return why
	}
	for _, n := range mb.cleared {
		why := search(n.field, mb.objects.within(n.by, n.field.to))
		if mb.contained[n.value] = why.why == ""; why.why != "" {
			mb.gaps.add(mb.in.Desired[n.by], n.value.Field.Path(), n.value.Field.Path(), why)
		}
	}
	for _, s := range mb.sets {
		if !s.kind.Membership.Exclusive || s.list.state == notSupported || s.list.state == noContainer || mb.in.SkipRefresh {
			continue
		}
		for _, e := range s.wanted {
			if !s.lacks(e) || mb.objects.states[e.object].presence != exists {
				continue
			}
			of, path := edge{kind: s.kind.Name, member: e.id}, s.kind.Membership.Path()
			for _, r := range mb.records.byMember[of] { // most objects are still there
				if c, params := mb.refs.containerAt(r.container); c.ID != "" && !mb.wasRead[edge{kind: s.kind.Name, container: c.ID}] {
					mb.recordContainer(s.kind, c, listMembers(mb.analysis, s.kind, params))
				}
			}
			if len(mb.where[of]) == 0 && search(s.field, mb.objects.within(e.object, s.field.to)) == gapExpensive {
				mb.gaps.add(e.by.object, path, path, gapExpensive)
			}
		}
	}
}

// recordContainer records the members of a container in where.
func (mb *memberships) recordContainer(kind *resource.Kind, c Container, list memberList) {
	at := edge{kind: kind.Name, container: c.ID}
	if list.state != listed || mb.wasRead[at] {
		return
	}
	mb.wasRead[at] = true
	for _, id := range list.ids() {
		of := edge{kind: kind.Name, member: id}
		mb.where[of] = append(mb.where[of], c)
	}
}

// wasMoved reports whether people removed a member from another container: the state has the member there, and the container's list does
// not. In an undo it reports whether the member is no longer where the undone runs left it.
func (mb *memberships) wasMoved(s *memberSet, id string) bool {
	of := edge{kind: s.kind.Name, member: id}
	isGone := func(container string) bool {
		return mb.wasRead[edge{kind: s.kind.Name, container: container}] &&
			!slices.ContainsFunc(mb.where[of], func(c Container) bool { return c.ID == container })
	}
	switch {
	case mb.mayStillMove(s.record, s.kind, id):
		return false
	case mb.in.Deletes != nil:
		left, known := mb.in.Left[s.kind.Name][id]
		return known && (left == "" && len(mb.where[of]) > 0 || left != "" && isGone(left))
	}
	return slices.ContainsFunc(mb.records.byMember[of], func(r *memberRecord) bool {
		c, _ := mb.refs.containerAt(r.container)
		return r.at != s.record.at && isGone(c.ID) && !mb.mayStillMove(r, s.kind, id)
	})
}

// mayStillMove reports whether a request of an earlier run may still add a member to the container of a record, or remove it.
func (mb *memberships) mayStillMove(r *memberRecord, kind *resource.Kind, id string) bool {
	return mb.records.mayStillMove(r, kind, id, mb.where[edge{kind: kind.Name, member: id}])
}
