package planner

import "github.com/planform/planform/internal/resource"

// question asks for the containers that have an object: its field names none, or the container that its field names does not have it.
type question struct {
	by     declaration
	member string // ID
	field  *refField
	within objectID
	none   bool // the field names none
}

// lookElsewhere answers questions by the containers that were read, and by those that no manifest names.
func (de *decisions) lookElsewhere() {
	questions := de.questions()
	if len(questions) == 0 {
		return
	}
	for _, s := range de.memberships.sets {
		if s.known && s.kind.Membership.On != s.kind.Membership.Container {
			de.see(s.kind, s.container, s.list)
		}
	}
	type place struct {
		via    *resource.Kind
		within objectID
	}
	read := map[place]gapReason{}
	for _, q := range questions {
		via := q.field.membership
		if !q.none {
			for _, record := range de.records.byMember[edge{kind: via.Name, member: q.member}] { // most are where they were
				if c, params := de.refs.containerAt(record.container); c.ID != "" && !de.looked[edge{kind: via.Name, container: c.ID}] {
					de.see(via, c, listMembers(de.analysis, via, params))
				}
			}
			if len(de.where[edge{kind: via.Name, member: q.member}]) > 0 {
				continue
			}
		}
		at := place{via, q.within}
		why, done := read[at]
		if !done {
			var all []listedContainer
			all, why, _ = de.memberships.containersIn(q.field, q.within)
			for _, c := range all {
				de.see(via, c.container, c.list)
			}
			read[at] = why
		}
		path := q.by.value.Field.Path()
		switch {
		case why.why == "":
			de.contained[q.by.value] = q.none
		case q.none || why == expensive:
			de.gaps.add(q.by.object, path, path, why)
		}
	}
}

// questions asks for the containers of each object whose field is null, and of each that is not in the one container that it is to be in.
func (de *decisions) questions() (all []question) {
	for _, n := range de.memberships.cleared {
		by := declaration{object: de.in.Desired[n.by], value: n.value}
		all = append(all, question{by, de.objects.states[n.by].id, n.field, de.objects.within(n.by, n.field.to), true})
	}
	for _, s := range de.memberships.sets {
		if !s.kind.Membership.Exclusive || s.list.state == notSupported || s.list.state == noContainer || de.in.SkipRefresh {
			continue
		}
		for _, e := range s.wanted {
			if e.id != "" && de.objects.states[e.object].presence == exists && !s.isIn(e) {
				all = append(all, question{e.by, e.id, s.field, de.objects.within(e.object, s.field.to), false})
			}
		}
	}
	return all
}

// see notes the members of a container.
func (de *decisions) see(kind *resource.Kind, c Container, list memberList) {
	at := edge{kind: kind.Name, container: c.ID}
	if list.state != listed || de.looked[at] {
		return
	}
	de.looked[at] = true
	for _, id := range list.ids() {
		of := edge{kind: kind.Name, member: id}
		de.where[of] = append(de.where[of], c)
	}
}
