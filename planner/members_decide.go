package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// collectWishes notes the edges that the fields of the manifest exclude. mayLeave reports whether a request may have to end a membership.
// uncontained asks for the containers of each object whose field is null.
func (re *removals) collectWishes() (mayLeave bool, uncontained []question) {
	for _, n := range re.objects.uses {
		f := &re.objects.states[n.by]
		if n.field.membership == nil || f.foreign || f.presence != exists && !ignored(re.analysis, n) {
			continue
		}
		m, of := n.field.membership.Membership, edge{kind: n.field.membership.Name}
		if m.On == m.Container {
			of.container = re.objects.states[n.by].id
		} else {
			of.member = re.objects.states[n.by].id
		}
		wish, at := elsewhere, n.value.Position
		switch {
		case ignored(re.analysis, n):
			wish = leftToPeople
		case len(n.value.Refs) > 0 && m.On == m.Container:
			continue
		case len(n.value.Refs) > 0:
			mayLeave, at = mayLeave || m.NeedsExplicitMove(), n.value.Refs[len(n.value.Refs)-1].Position
		case re.namesOne(n.value, m):
			wish, mayLeave = nowhere, true
			if !re.objects.states[n.by].isUnlisted() {
				by := declaration{object: re.in.Desired[n.by], value: n.value}
				uncontained = append(uncontained, question{by, of.member, n.field, re.objects.within(n.by, n.field.to), true})
			}
		default:
			mayLeave = true
		}
		re.wishes[of] = wishAt{wish, at}
	}
	re.findDeleted()
	return mayLeave, uncontained
}

// namesOne reports whether a field names the one container of an object, so that without a value the object is in none.
func (re *removals) namesOne(v *resource.Value, m *resource.Membership) bool {
	return m.On != m.Container && v.Field.Name != m.SeveralField
}

// findDeleted notes the objects that are deleted or hidden: their memberships are left alone.
func (re *removals) findDeleted() {
	for _, left := range re.orphans.list {
		switch left.decision { //nolint:exhaustive // the others are not on the service, or not what planform decides about
		case leftArchived, toDelete, deleteWithParent, blocked, leftInParent:
			re.deleted[serviceID{left.info.kind.Name, left.record.ID}] = true
		}
	}
	for i := range re.objects.count() {
		if f := &re.objects.states[i]; f.isUnlisted() {
			re.deleted[serviceID{f.info.kind.Name, f.id}] = true
		}
	}
}

func (r *Record) has(id string) bool {
	_, has := slices.BinarySearch(r.Members, id)
	return has
}

// standing returns what a record of members has of one of them.
func (r *Record) standing(id string) standing {
	switch {
	case !r.has(id):
		return noRecord
	case r.addedByUs(id):
		return addedBefore
	}
	return foundThere
}

// inDoubt reports whether a request of an earlier run may still move a member into the container of a record, or out of it.
func (re *removals) inDoubt(kind *resource.Kind, record resource.Address, id string) bool {
	return re.records.inDoubt(re.records.recordAt(record), kind, id, re.where[edge{kind: kind.Name, member: id}])
}

func (re *removals) isWanted(e edge) bool {
	_, is := re.declared[e]
	return is
}

// wishOf returns what the manifest says of an edge. record is the address of the container's members.
func (re *removals) wishOf(m *resource.Membership, record resource.Address, e edge) wishAt {
	byMember, byContainer := re.wishes[edge{kind: e.kind, member: e.member}], re.wishes[edge{kind: e.kind, container: e.container}]
	byInverse := re.wishes[edge{kind: m.Inverse, container: e.member}]
	switch {
	case byMember.wish == leftToPeople, byContainer.wish == leftToPeople, m.Inverse != "" && byInverse.wish == leftToPeople:
		return wishAt{wish: leftToPeople}
	case re.in.Leaves[record][e.member]:
		return wishAt{wish: takenBack}
	case byMember.wish == nowhere:
		return byMember
	case re.isWanted(e):
		return wishAt{wish: here}
	case byMember.wish == elsewhere:
		return byMember
	}
	return byContainer
}

// factsOf returns what decides about a member of a container who is not wanted there. Whether the service shows the member is still open.
func (re *removals) factsOf(kind *resource.Kind, c *Container, record resource.Address, id string) (f edgeFacts, at diag.Position) {
	m, r := kind.Membership, re.records.recordAt(record)
	wish := re.wishOf(m, record, edge{kind.Name, c.ID, id})
	container, member := c.Address, re.objects.addressOf(serviceID{m.Member, id})
	f = edgeFacts{
		wish: wish.wish, prior: r.record.standing(id), exclusive: m.Exclusive, prune: re.in.Prune,
		away: re.orphans.declaresOther(m, container, id) || re.deleted[serviceID{m.Container, c.ID}] || wish.wish != nowhere && wish.wish != takenBack && re.deleted[serviceID{m.Member, id}],
	}
	if slices.Contains(r.arrived, id) {
		f.prior = addedBefore
	}
	switch {
	case m.Inverse != "":
		f.dropped = re.prunable(record, container) && re.prunable(record, member)
	case m.On == m.Container:
		f.dropped = re.prunable(record, container)
	default:
		f.dropped = re.prunable(record, member)
	}
	if i, wanted := re.objects.indexOf(member); wanted && wish.wish == nowhere {
		f.onDrift = re.in.onDrift(re.in.Desired[i])
		f.moved = f.prior == noRecord && re.wasMoved(kind, record, id)
		f.inOther = slices.ContainsFunc(re.where[edge{kind: kind.Name, member: id}], func(other Container) bool { return other.ID != c.ID })
		if prior := re.objects.states[i].prior; prior != nil {
			_, f.cleared = prior.Values[m.Field]
		}
		f.cleared = f.cleared || re.in.Pull // which takes what the service has
	}
	return f, wish.at
}

// wasMoved reports whether people took a member out of a container: the state has the member in one that was read, and it is not there.
// In an undo it tells whether the member is not where the undone runs left it.
func (re *removals) wasMoved(kind *resource.Kind, record resource.Address, id string) bool {
	of := edge{kind: kind.Name, member: id}
	isIn := func(container string) bool {
		return slices.ContainsFunc(re.where[of], func(c Container) bool { return c.ID == container })
	}
	if re.inDoubt(kind, record, id) {
		return false
	}
	if re.in.Deletes != nil {
		switch left, known := re.in.Left[kind.Name][id]; {
		case !known:
			return false
		case left == "":
			return len(re.where[of]) > 0
		default:
			return re.looked[edge{kind: kind.Name, container: left}] && !isIn(left)
		}
	}
	return slices.ContainsFunc(re.records.byMember[of], func(r *memberRecord) bool {
		c, _ := re.refs.containerAt(r.container)
		return r.at != record && re.looked[edge{kind: kind.Name, container: c.ID}] && !isIn(c.ID) && !re.inDoubt(kind, r.at, id)
	})
}

// prunable reports whether the run may prune what an object, a container or a member, no longer declares: the object is targeted, and no
// manifest that is not read may declare it. record is the address of the members.
func (re *removals) prunable(record, a resource.Address) bool {
	r, known := re.in.Prior[a]
	if !known {
		r = re.in.Prior[record]
	}
	return re.in.targeted(a) && re.in.sourceGone(&r) && !re.orphans.isOthers(a)
}

// question asks for the containers that have an object: its field names none, or the container that its field names does not have it.
type question struct {
	by     declaration
	member string // ID
	field  *refField
	within objectID
	none   bool // the field names none
}

// lookElsewhere answers questions by the containers that were read, and by those that no manifest names.
func (re *removals) lookElsewhere(questions []question) {
	for _, r := range re.memberships.sets {
		for i := range r.entries {
			e := &r.entries[i]
			if !r.kind.Membership.Exclusive || r.unsupported || r.why != "" || e.id == "" || re.objects.states[e.member].presence != exists ||
				re.memberships.isIn(r, *e) || re.in.SkipRefresh {
				continue
			}
			questions = append(questions, question{by: e.by, member: e.id, field: r.field, within: re.objects.within(e.member, r.field.to)})
		}
	}
	if len(questions) == 0 {
		return
	}
	for _, r := range re.memberships.sets {
		if r.read && r.kind.Membership.On != r.kind.Membership.Container {
			re.see(r.kind, &r.container, r.have)
		}
	}
	type scope struct {
		field  *refField
		within objectID
	}
	read := map[scope]gapReason{}
	for _, q := range questions {
		if of := (edge{kind: q.field.membership.Name, member: q.member}); !q.none {
			for _, record := range re.records.byMember[of] { // most are where they were
				re.lookInto(record)
			}
			if len(re.where[of]) > 0 {
				continue
			}
		}
		at := scope{q.field, q.within}
		why, done := read[at]
		if !done {
			var all []listedContainer
			all, why, _ = re.memberships.containersIn(q.field, q.within)
			for _, c := range all {
				re.see(q.field.membership, &c.Container, c.members)
			}
			read[at] = why
		}
		path := q.by.value.Field.Path()
		switch {
		case why.why == "":
			re.contained[q.by.value] = q.none
		case q.none || why == expensive:
			re.gaps.add(q.by.object, path, path, why)
		}
	}
}

// lookInto reads the members of the container of a record.
func (re *removals) lookInto(r *memberRecord) {
	c, params := re.refs.containerAt(r.container)
	if read, listed := re.objects.membersRead(r.kind, params); listed && c.ID != "" && !re.looked[edge{kind: r.kind.Name, container: c.ID}] {
		if answer := re.service.ask(read); !answer.NotFound && !answer.Unsupported {
			re.see(r.kind, &c, memberIDs(r.kind, answer))
		}
	}
}

// see notes the members of a container.
func (re *removals) see(kind *resource.Kind, c *Container, members []string) {
	at := edge{kind: kind.Name, container: c.ID}
	if re.looked[at] {
		return
	}
	re.looked[at] = true
	for _, id := range members {
		of := edge{kind: kind.Name, member: id}
		re.where[of] = append(re.where[of], *c)
	}
}

// decideWanted decides about the memberships that the manifest wants.
func (re *removals) decideWanted() {
	for _, r := range re.memberships.sets {
		for i := range r.entries {
			e, f, on := &r.entries[i], edgeFacts{}, declaration{}
			if !e.declaredByInverse {
				f, on = re.wantedFacts(r, e)
				e.verdict = f.decide()
			}
			switch path := r.kind.Membership.Path(); {
			case f.seen == shownOut:
				re.absent[e.by.ref], re.absent[e.also.ref] = true, true
				if e.verdict.drift {
					re.noteDrift(on, e.verdict)
				}
			case r.gap != gapReason{} && (e.verdict.gap || e.declaredByInverse):
				re.gaps.add(e.by.object, path, path, r.gap)
			}
		}
	}
}

// wantedFacts returns what decides about a wanted member, and the declaration with the policy: if both objects declare a relation, the
// stricter policy counts.
func (re *removals) wantedFacts(r *memberSet, e *memberRef) (f edgeFacts, on declaration) {
	on = e.by
	if e.also.value != nil && re.in.onDrift(e.also.object).isStricter(re.in.onDrift(on.object)) {
		on = e.also
	}
	m := r.kind.Membership
	f = edgeFacts{wish: here, exclusive: m.Exclusive, wants: e.attribute, onDrift: re.in.onDrift(on.object)}
	prior, _ := re.memberships.recorded(r)
	isIn := re.memberships.isIn(r, *e)
	known := prior.standing(e.id)
	if inverse := resource.MustLookup(cmp.Or(m.Inverse, r.kind.Name)); m.Inverse != "" && known == noRecord {
		other := re.records.recordAt(re.objects.addressOf(serviceID{m.Member, e.id}).Members(inverse.Membership.Plural(), 1))
		known = other.record.standing(r.container.ID)
	}
	switch {
	case !r.read && !isIn || r.read && re.inDoubt(r.kind, r.address(), e.id) || re.objects.isForeign(on.object.Address):
	case re.in.Pull && len(re.in.Prior) == 0: // whose change it is, nothing tells
		f.prior = foundThere
	default:
		f.prior = known
	}
	switch {
	case isIn && (r.read || known == noRecord):
		f.seen = shownIn
	case !isIn && (r.read || e.id == "" || r.container.ID == ""):
		f.seen = shownOut
		f.moved = m.Exclusive && e.id != "" && re.wasMoved(r.kind, r.address(), e.id)
	}
	if a := m.Attribute; a != nil {
		f.shows, f.applied = a.Shown(r.rows[e.id]), prior.Values[AttributeKey(a, e.id)]
	}
	return f, on
}
