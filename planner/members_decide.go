package planner

import (
	"cmp"
	"maps"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// findMemberships gathers the edges of the manifest, of the state, and of objects whose field is null. It reads the members of their
// containers, and decides about each edge.
func findMemberships(refs *references, records *memberRecords, orphans *orphans) *memberships {
	mb := &memberships{
		analysis: refs.analysis, refs: refs, records: records, orphans: orphans,
		words: &vocabulary{refs.analysis, map[*resource.Kind]*words{}, map[string]string{}},
		byKey: map[edge]*memberSet{}, byID: map[edge]*memberSet{}, declared: map[edge]*member{}, wanted: map[edge]string{},
		wishes: map[edge]fieldWish{}, deleted: map[serviceID]bool{}, where: map[edge][]Container{}, wasRead: map[edge]bool{},
		drifted: map[*resource.Value]*fieldDrift{}, contained: map[*resource.Value]bool{}, absent: map[*resource.Reference]bool{},
	}
	mb.gather()
	mb.records.settle(mb.wanted, orphans.hasVanished)
	mb.findDeleted()
	mb.addRecorded()
	undeclared := slices.DeleteFunc(mb.leavingSets(), func(s *memberSet) bool { return len(s.wanted) > 0 })
	read := slices.Concat(mb.sets, undeclared)
	mb.service.each(len(read), func(i int) { mb.readMembers(read[i]) })
	mb.findContainers()
	mb.addShown()
	for _, s := range mb.sets {
		mb.decide(s, s.wanted)
	}
	leaving, probes := mb.leavingSets(), map[*resource.Kind]Read{}
	for _, s := range leaving {
		mb.decide(s, s.unwanted)
	}
	mb.service.each(len(leaving), func(i int) { leaving[i].stuck = !mb.canRemove(probes, leaving[i]) })
	return mb
}

// leavingSets returns the sets with members that the manifest does not want, in the order of kinds and IDs.
func (mb *memberships) leavingSets() []*memberSet {
	sets := slices.DeleteFunc(slices.Collect(maps.Values(mb.byID)), func(s *memberSet) bool { return len(s.unwanted) == 0 })
	slices.SortFunc(sets, func(a, b *memberSet) int {
		return cmp.Or(cmp.Compare(a.kind.Name, b.kind.Name), cmp.Compare(a.container.ID, b.container.ID))
	})
	return sets
}

// takesBack reports whether the run ends an edge.
func (mb *memberships) takesBack(e edge) bool {
	s := mb.byID[edge{kind: e.kind, container: e.container}]
	return s != nil && !s.stuck && slices.ContainsFunc(s.leaving(), func(l *member) bool { return l.id == e.member })
}

// position returns the position in the manifest of the first declaration that excludes a member.
func (mt *memberSet) position() (at diag.Position) {
	for _, e := range mt.unwanted {
		at = cmp.Or(at, e.by.position())
	}
	return at
}

// leaving returns the members that leave the container.
func (mt *memberSet) leaving() []*member {
	return slices.DeleteFunc(slices.Clone(mt.unwanted), func(e *member) bool { return e.verdict.action != removeEdge })
}

// forgotten returns the members that the state drops, because they are not in the container any more.
func (mt *memberSet) forgotten() (ids []string) {
	for _, e := range mt.unwanted {
		if e.verdict.forget {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// findDeleted records the objects that are deleted or hidden, because their memberships are left alone.
func (mb *memberships) findDeleted() {
	for _, left := range mb.orphans.list {
		switch left.decision { //nolint:exhaustive // the others are not on the service, or planform does not decide about them
		case leftArchived, toDelete, deleteWithParent, blocked, leftInParent:
			mb.deleted[left.id()] = true
		}
	}
	for i := range mb.objects.count() {
		if f := &mb.objects.states[i]; f.isUnlisted() {
			mb.deleted[serviceID{f.info.kind.Name, f.id}] = true
		}
	}
}

// addRecorded adds the edges of the state that would end if the service showed them. It counts the edges that pruning would end.
func (mb *memberships) addRecorded() {
	ends := mb.ends || mb.in.Prune || len(mb.in.Leaves) > 0
	for _, r := range mb.records.all {
		s := &memberSet{kind: r.kind, object: noObject, record: r}
		if s.container = (Container{Address: r.container, ID: cmp.Or(mb.refs.idAt(r.container), r.record.ID)}); ends {
			s.container, s.params = mb.refs.containerAt(r.container)
			if s.container.ID == "" || mb.orphans.hasVanished(r.container) { // a read of its members may be refused
				continue
			}
		}
		if known := mb.byID[edge{kind: r.kind.Name, container: s.container.ID}]; known != nil && known.record == r {
			s = known
		}
		for _, id := range slices.Concat(r.record.Members, r.arrived) {
			mb.addUnwanted(s, id)
		}
		mb.keepSelf(s)
	}
}

// addShown adds the edges that the service shows of objects whose field is null.
func (mb *memberships) addShown() {
	for _, n := range mb.cleared {
		kind, id := n.field.membership, mb.objects.states[n.by].id
		for _, c := range mb.where[edge{kind: kind.Name, member: id}] {
			s := mb.byID[edge{kind: kind.Name, container: c.ID}]
			if s == nil {
				params := mb.paramsOf(kind, mb.objects.within(n.by, n.field.to), c.ID)
				s = &memberSet{kind: kind, object: noObject, container: c, params: params, record: mb.records.recordOf(kind.Membership, c.Address)}
			}
			if s.list.state == notAsked {
				s.list = listMembers(mb.analysis, kind, s.params)
			}
			if !slices.ContainsFunc(s.unwanted, func(e *member) bool { return e.id == id }) {
				mb.addUnwanted(s, id)
			}
		}
	}
}

// addUnwanted adds an edge to a set if the edge would end, were the member in the container.
func (mb *memberships) addUnwanted(s *memberSet, id string) {
	w := mb.wishOf(s, id)
	if w.wish == wantsHere {
		return
	}
	e := &member{object: noObject, id: id, wish: w.wish, by: w.by}
	f := mb.factsOf(s, e)
	f.seen = shownIn
	v := f.decide()
	if v.orphaned {
		mb.orphaned++
	}
	if v.action == removeEdge || v.kept {
		s.unwanted = append(s.unwanted, e)
		mb.byID[edge{kind: s.kind.Name, container: s.container.ID}] = s
	}
}

// keepSelf keeps the credential's own user in a container, so that planform does not lose its access.
func (mb *memberships) keepSelf(s *memberSet) {
	if len(s.unwanted) == 0 {
		return // the own user need not be read
	}
	self := mb.snapshot.self(mb.objects.kind(s.kind.Membership.Member))
	at := slices.IndexFunc(s.unwanted, func(e *member) bool { return e.id == self })
	if at < 0 {
		return
	}
	mb.diags.add(diag.Warning, s.position(), s.container.Address, "own-user", "the credential's own user stays in "+string(s.container.Address)+
		": planform does not remove it",
		"add `me` to its "+s.kind.Membership.Field+", or leave it in the web app")
	s.unwanted = slices.Delete(s.unwanted, at, at+1)
}

// wishOf returns the wish of the manifest about an edge.
func (mb *memberships) wishOf(s *memberSet, id string) fieldWish {
	kind, inverse := s.kind.Name, s.kind.Membership.Inverse
	byMember, byContainer := mb.wishes[edge{kind: kind, member: id}], mb.wishes[edge{kind: kind, container: s.container.ID}]
	_, wanted := mb.wanted[edge{kind, s.container.ID, id}]
	switch {
	case byMember.wish == leftToPeople, byContainer.wish == leftToPeople, mb.wishes[edge{kind: inverse, container: id}].wish == leftToPeople:
		return fieldWish{wish: leftToPeople}
	case mb.in.Leaves[s.record.at][id] && !(s.kind.Membership.Exclusive && byMember.wish == wantsElsewhere):
		return fieldWish{wish: undone}
	case byMember.wish == wantsNone:
		return byMember
	case wanted:
		return fieldWish{wish: wantsHere}
	case byMember.wish == wantsElsewhere:
		return byMember
	}
	return byContainer
}

// decide decides about edges of a set, and records drift, gaps and forgotten members.
func (mb *memberships) decide(s *memberSet, edges []*member) {
	path := s.kind.Membership.Path()
	for _, e := range edges {
		f := mb.factsOf(s, e)
		e.verdict = f.decide()
		isOut := e.wish == wantsHere && f.seen == shownOut
		if e.verdict.drift && (isOut || e.wish != wantsHere) { // changeAttribute records drift of an attribute
			mb.noteDrift(mb.strictest(e).value, e.verdict)
		}
		switch {
		case isOut:
			mb.absent[e.by.ref], mb.absent[e.also.ref] = true, true
		case e.wish == wantsHere && s.gap.why != "" && e.verdict.gap:
			mb.gaps.add(e.by.object, path, path, s.gap)
		}
	}
}

// factsOf returns the facts that decide about an edge.
func (mb *memberships) factsOf(s *memberSet, e *member) edgeFacts {
	m := s.kind.Membership
	f := edgeFacts{
		wish: e.wish, prior: mb.provenanceOf(s, e), seen: s.sighting(e), exclusive: m.Exclusive, unlisted: s.list.state == noList, prune: mb.in.Prune,
		wants: e.attribute,
	}
	if on := mb.strictest(e).object; on != nil {
		f.onDrift = mb.in.onDrift(on)
	}
	switch e.wish { //nolint:exhaustive // the others need no more facts
	case wantsHere:
		f.moved = f.seen == shownOut && m.Exclusive && e.id != "" && mb.wasMoved(s, e.id)
		if prior, _ := s.recorded(); m.Attribute != nil {
			f.shows, f.applied = mb.shownAttribute(s, e), prior.Values[AttributeKey(m.Attribute, e.id)]
		}
		return f
	case wantsNone:
		f.moved = f.prior == noRecord && mb.wasMoved(s, e.id)
		f.inOther = slices.ContainsFunc(mb.where[edge{kind: s.kind.Name, member: e.id}], func(c Container) bool { return c.ID != s.container.ID })
		if i, wanted := mb.objects.index[e.by.object]; wanted && mb.objects.states[i].prior != nil {
			_, f.cleared = mb.objects.states[i].prior.Values[m.Field]
		}
		f.cleared = f.cleared || mb.in.Pull // a pull takes over the memberships of the service
	}
	container, member := s.container.Address, mb.objects.addressOf(serviceID{m.Member, e.id})
	f.leftAlone = mb.orphans.declaresOther(m, container, e.id) || mb.deleted[serviceID{m.Container, s.container.ID}] ||
		e.wish != wantsNone && e.wish != undone && mb.deleted[serviceID{m.Member, e.id}] ||
		e.wish == noWish && !mb.in.Prune && (mb.mayGo(container) || mb.mayGo(member))
	byContainer, byMember := m.Inverse != "" || m.On == m.Container, m.Inverse != "" || m.On != m.Container
	f.dropped = (!byContainer || mb.isPrunable(s.record, container)) && (!byMember || mb.isPrunable(s.record, member))
	return f
}

// mayGo reports whether an object is not on the service, hidden, or would be deleted by pruning, so that its memberships end with it.
func (mb *memberships) mayGo(a resource.Address) bool {
	r, known := mb.in.Prior[a]
	_, owned := mb.objects.owners[serviceID{a.Kind(), r.ID}]
	_, wanted := mb.objects.indexOf(a)
	return mb.objects.isDeletedOrHidden(a) || known && !wanted && !owned && mb.in.isOrphan(a, &r)
}

// sighting returns whether the service shows an edge.
func (mt *memberSet) sighting(e *member) sighting {
	isKnown := mt.hasList || e.wish != wantsHere && (mt.list.state == listed || mt.list.state == noContainer)
	switch {
	case isKnown && mt.list.has(e.id):
		return shownIn
	case isKnown, e.wish == wantsHere && (e.id == "" || mt.container.ID == "") && !mt.isIn(e):
		return shownOut
	}
	return notRead
}

// provenanceOf returns whether the state has an edge, and who made it.
func (mb *memberships) provenanceOf(s *memberSet, e *member) provenance {
	m := s.kind.Membership
	prior, _ := s.recorded()
	switch {
	case e.wish != wantsHere && slices.Contains(s.record.arrived, e.id):
		return addedBefore
	case e.wish != wantsHere:
		return s.record.record.provenanceOf(e.id)
	case !s.hasList && !s.isIn(e), s.hasList && mb.mayStillMove(s.record, s.kind, e.id), mb.objects.stateAt(e.by.object.Address).foreign:
		return noRecord
	case mb.in.Pull && len(mb.in.Prior) == 0: // without a state, nobody can tell who made the change
		return foundThere
	case prior.has(e.id) || m.Inverse == "":
		return prior.provenanceOf(e.id)
	}
	// The other object of a relation may have declared it.
	other := mb.records.recordOf(resource.MustLookup(m.Inverse).Membership, mb.objects.addressOf(serviceID{m.Member, e.id}))
	return other.record.provenanceOf(s.container.ID)
}

// isPrunable reports whether the run may prune memberships that an object, the container or the member, no longer declares. The object must be
// targeted, belong to no other owner, and all manifests that had it must be part of the run or deleted.
func (mb *memberships) isPrunable(r *memberRecord, a resource.Address) bool {
	prior, known := mb.in.Prior[a]
	if !known {
		prior = r.record
	}
	return mb.in.isTargeted(a) && mb.in.isSourceGone(&prior) && !mb.orphans.belongsToOther(a)
}

// canRemove reports whether this edition can remove members from a container: its route may be missing, or need another member ID than the
// list shows. It probes the route with a member that stays, if there is one, because a leaving member may have left meanwhile.
func (mb *memberships) canRemove(probes map[*resource.Kind]Read, s *memberSet) bool {
	op, ok := mb.objects.op(s.kind, resource.RemoveMembers)
	get, readable := mb.objects.op(s.kind, resource.Get)
	leaving := s.leaving()
	if s.list.state != listed || len(leaving) == 0 || !ok || op.V2() || op.Method == "DELETE" && !readable { // API v2 cannot be asked
		return ok
	}
	read, asked := probes[s.kind]
	if !asked {
		params := maps.Clone(s.params)
		if readable {
			stay := slices.DeleteFunc(s.list.ids(), func(id string) bool {
				return slices.ContainsFunc(leaving, func(e *member) bool { return e.id == id })
			})
			op, params[resource.MustLookup(s.kind.Membership.Member).Param] = get, append(stay, leaving[0].id)[0]
		}
		read, _ = readOf(op, params)
		read.Probe, read.Optional = !readable, readable
		probes[s.kind] = read
	}
	a := mb.service.ask(read)
	return !a.Unsupported && !a.NotFound
}
