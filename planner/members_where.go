package planner

import (
	"sync"

	"github.com/planform/planform/internal/plane/resource"
)

// findContainers finds the current containers of objects whose field is null, and of objects that are not in their wanted container. It looks
// in the containers that were read, then in the object's containers in the state, then in all containers.
func (de *decisions) findContainers() {
	seeRead := sync.OnceFunc(func() {
		for _, s := range de.memberships.sets {
			if s.hasList && s.kind.Membership.On != s.kind.Membership.Container {
				de.recordContainer(s.kind, s.container, s.list)
			}
		}
	})
	type place struct {
		via    *resource.Kind
		within objectID
	}
	read := map[place]gapReason{}
	seeAll := func(t *refField, within objectID) gapReason {
		why, done := read[place{t.membership, within}]
		if !done {
			var all []listedContainer
			all, why, _ = de.memberships.containersIn(t, within)
			for _, c := range all {
				de.recordContainer(t.membership, c.container, c.list)
			}
			read[place{t.membership, within}] = why
		}
		return why
	}
	for _, n := range de.memberships.cleared {
		seeRead()
		why := seeAll(n.field, de.objects.within(n.by, n.field.to))
		if de.contained[n.value] = why.why == ""; why.why != "" {
			de.gaps.add(de.in.Desired[n.by], n.value.Field.Path(), n.value.Field.Path(), why)
		}
	}
	for _, s := range de.memberships.sets {
		if !s.kind.Membership.Exclusive || s.list.state == notSupported || s.list.state == noContainer || de.in.SkipRefresh {
			continue
		}
		for _, e := range s.wanted {
			if e.id == "" || de.objects.states[e.object].presence != exists || s.isIn(e) {
				continue
			}
			seeRead()
			of, path := edge{kind: s.kind.Name, member: e.id}, s.kind.Membership.Path()
			for _, r := range de.records.byMember[of] { // most objects are still there
				if c, params := de.refs.containerAt(r.container); c.ID != "" && !de.wasRead[edge{kind: s.kind.Name, container: c.ID}] {
					de.recordContainer(s.kind, c, listMembers(de.analysis, s.kind, params))
				}
			}
			if len(de.where[of]) == 0 && seeAll(s.field, de.objects.within(e.object, s.field.to)) == gapExpensive {
				de.gaps.add(e.by.object, path, path, gapExpensive)
			}
		}
	}
}

// recordContainer records the members of a container in where.
func (de *decisions) recordContainer(kind *resource.Kind, c Container, list memberList) {
	at := edge{kind: kind.Name, container: c.ID}
	if list.state != listed || de.wasRead[at] {
		return
	}
	de.wasRead[at] = true
	for _, id := range list.ids() {
		of := edge{kind: kind.Name, member: id}
		de.where[of] = append(de.where[of], c)
	}
}
