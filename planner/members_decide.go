package planner

import (
	"cmp"
	"maps"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// decisions is the stage that decides about each edge: add, remove, change or leave it.
type decisions struct {
	analysis

	refs        *references
	memberships *memberships
	records     *memberRecords
	orphans     *orphans

	sets    map[edge]*memberSet // by edge without member: the set of the container
	deleted map[serviceID]bool
	where   map[edge][]Container // by edge without container: the containers in which the service shows the member
	wasRead map[edge]bool        // by edge without member: containers that were read for where

	drifts    []*fieldDrift
	drifted   map[*resource.Value]*fieldDrift
	contained map[*resource.Value]bool     // fields that want an object in no container; true = all containers were read
	absent    map[*resource.Reference]bool // references to members or containers whose membership the service does not show
}

// decideMembers reads the members of containers, and decides about the edges of the manifest, of the state, and of objects whose field is
// null.
func decideMembers(memberships *memberships, orphans *orphans) *decisions {
	de := &decisions{
		analysis: memberships.analysis, refs: memberships.refs, memberships: memberships, records: memberships.records, orphans: orphans,
		sets: map[edge]*memberSet{}, deleted: map[serviceID]bool{}, where: map[edge][]Container{}, wasRead: map[edge]bool{},
		drifted: map[*resource.Value]*fieldDrift{}, contained: map[*resource.Value]bool{}, absent: map[*resource.Reference]bool{},
	}
	de.records.settle(memberships.wanted, orphans.hasVanished)
	de.findDeleted()
	for _, s := range memberships.sets {
		if s.container.ID != "" {
			de.sets[edge{kind: s.kind.Name, container: s.container.ID}] = s
		}
	}
	ends := memberships.ends || de.in.Prune || len(de.in.Leaves) > 0
	if ends {
		de.addRecorded()
	}
	read := slices.Clone(memberships.sets)
	for _, s := range de.leavingSets() {
		if len(s.wanted) == 0 {
			read = append(read, s)
		}
	}
	de.service.each(len(read), func(i int) { memberships.readMembers(read[i]) })
	de.findContainers()
	if ends {
		de.addShown()
	}
	leaving, probes := de.leavingSets(), map[*resource.Kind]Read{}
	for _, s := range memberships.sets {
		for _, e := range s.wanted {
			de.decide(s, e)
		}
	}
	for _, s := range leaving {
		for _, e := range s.unwanted {
			de.decide(s, e)
		}
	}
	de.service.each(len(leaving), func(i int) { leaving[i].stuck = !de.canRemove(probes, leaving[i]) })
	return de
}

// leavingSets returns the sets with members that the manifest does not want, in the order of kinds and IDs.
func (de *decisions) leavingSets() []*memberSet {
	sets := slices.DeleteFunc(slices.Collect(maps.Values(de.sets)), func(s *memberSet) bool { return len(s.unwanted) == 0 })
	slices.SortFunc(sets, func(a, b *memberSet) int {
		return cmp.Or(cmp.Compare(a.kind.Name, b.kind.Name), cmp.Compare(a.container.ID, b.container.ID))
	})
	return sets
}

// takesBack reports whether the run ends an edge.
func (de *decisions) takesBack(e edge) bool {
	s := de.sets[edge{kind: e.kind, container: e.container}]
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
func (mt *memberSet) leaving() (members []*member) {
	for _, e := range mt.unwanted {
		if e.verdict.action == removeEdge {
			members = append(members, e)
		}
	}
	return members
}

// findDeleted records the objects that are deleted or hidden, because their memberships are left alone.
func (de *decisions) findDeleted() {
	for _, left := range de.orphans.list {
		switch left.decision { //nolint:exhaustive // the others are not on the service, or planform does not decide about them
		case leftArchived, toDelete, deleteWithParent, blocked, leftInParent:
			de.deleted[serviceID{left.info.kind.Name, left.record.ID}] = true
		}
	}
	for i := range de.objects.count() {
		if f := &de.objects.states[i]; f.isUnlisted() {
			de.deleted[serviceID{f.info.kind.Name, f.id}] = true
		}
	}
}

// addRecorded adds the edges of the state that would end if the service showed them.
func (de *decisions) addRecorded() {
	for _, r := range de.records.all {
		container, params := de.refs.containerAt(r.container)
		if container.ID == "" || de.orphans.hasVanished(r.container) { // a read of its members may be refused
			continue
		}
		s := de.sets[edge{kind: r.kind.Name, container: container.ID}]
		if s == nil || s.record != r {
			s = &memberSet{kind: r.kind, object: noObject, container: container, params: params, record: r}
		}
		for _, id := range slices.Concat(r.record.Members, r.arrived) {
			de.addUnwanted(s, id)
		}
		de.keepSelf(s)
	}
}

// addShown adds the edges that the service shows of objects whose field is null.
func (de *decisions) addShown() {
	for _, n := range de.memberships.cleared {
		kind, id := n.field.membership, de.objects.states[n.by].id
		for _, c := range de.where[edge{kind: kind.Name, member: id}] {
			s := de.sets[edge{kind: kind.Name, container: c.ID}]
			if s == nil {
				record := de.records.recordOf(kind, c.Address)
				s = &memberSet{kind: kind, object: noObject, container: c, record: record}
				s.params = de.memberships.paramsOf(kind, de.objects.within(n.by, n.field.to), c.ID)
			}
			if s.list.state == notAsked {
				s.list = listMembers(de.analysis, kind, s.params)
			}
			if !slices.ContainsFunc(s.unwanted, func(e *member) bool { return e.id == id }) {
				de.addUnwanted(s, id)
			}
		}
	}
}

// addUnwanted adds an edge to a set if the edge would end, were the member in the container.
func (de *decisions) addUnwanted(s *memberSet, id string) {
	w := de.wishOf(s, id)
	if w.wish == wantsHere {
		return
	}
	e := &member{object: noObject, id: id, wish: w.wish, by: w.by}
	f := de.factsOf(s, e)
	f.seen = shownIn
	if v := f.decide(); v.action == removeEdge || v.kept {
		s.unwanted = append(s.unwanted, e)
		de.sets[edge{kind: s.kind.Name, container: s.container.ID}] = s
	}
}

// keepSelf keeps the credential's own user in a container, so that planform does not lose its access.
func (de *decisions) keepSelf(s *memberSet) {
	if len(s.unwanted) == 0 {
		return // the own user need not be read
	}
	self := de.snapshot.self(de.objects.kind(s.kind.Membership.Member))
	at := slices.IndexFunc(s.unwanted, func(e *member) bool { return e.id == self })
	if at < 0 {
		return
	}
	de.diags.add(diag.Warning, s.position(), s.container.Address, "own-user", "the credential's own user stays in "+string(s.container.Address)+
		": planform does not remove it",
		"add `me` to its "+s.kind.Membership.Field+", or leave it in the web app")
	s.unwanted = slices.Delete(s.unwanted, at, at+1)
}

// wishOf returns the wish of the manifest about an edge.
func (de *decisions) wishOf(s *memberSet, id string) fieldWish {
	wishes, kind := de.memberships.wishes, s.kind.Name
	byMember, byContainer := wishes[edge{kind: kind, member: id}], wishes[edge{kind: kind, container: s.container.ID}]
	byInverse := wishes[edge{kind: s.kind.Membership.Inverse, container: id}]
	_, wanted := de.memberships.wanted[edge{kind, s.container.ID, id}]
	switch {
	case byMember.wish == leftToPeople, byContainer.wish == leftToPeople, s.kind.Membership.Inverse != "" && byInverse.wish == leftToPeople:
		return fieldWish{wish: leftToPeople}
	case de.in.Leaves[s.record.at][id]:
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

// decide decides about an edge, and records drift, gaps and forgotten members.
func (de *decisions) decide(s *memberSet, e *member) {
	f := edgeFacts{}
	if !e.declaredByInverse {
		f = de.factsOf(s, e)
		e.verdict = f.decide()
	}
	if e.verdict.drift && (e.wish != wantsHere || f.seen == shownOut) { // changeAttribute records drift of an attribute
		de.noteDrift(de.strictest(e), e.verdict)
	}
	switch path := s.kind.Membership.Path(); {
	case e.verdict.forget:
		s.forgotten = append(s.forgotten, e.id)
	case e.wish == wantsHere && f.seen == shownOut:
		de.absent[e.by.ref], de.absent[e.also.ref] = true, true
	case e.wish == wantsHere && s.gap.why != "" && (e.verdict.gap || e.declaredByInverse):
		de.gaps.add(e.by.object, path, path, s.gap)
	}
}

// factsOf returns the facts that decide about an edge.
func (de *decisions) factsOf(s *memberSet, e *member) edgeFacts {
	m := s.kind.Membership
	f := edgeFacts{
		wish: e.wish, prior: de.provenanceOf(s, e), seen: s.sighting(e), exclusive: m.Exclusive, unlisted: s.list.state == noList, prune: de.in.Prune,
		wants: e.attribute,
	}
	if on := de.strictest(e).object; on != nil {
		f.onDrift = de.in.onDrift(on)
	}
	switch e.wish { //nolint:exhaustive // the others need no more facts
	case wantsHere:
		f.moved = f.seen == shownOut && m.Exclusive && e.id != "" && de.wasMoved(s, e.id)
		if prior, _ := s.recorded(); m.Attribute != nil {
			f.shows, f.applied = de.memberships.shownAttribute(s, e), prior.Values[AttributeKey(m.Attribute, e.id)]
		}
		return f
	case wantsNone:
		in := de.where[edge{kind: s.kind.Name, member: e.id}]
		f.moved = f.prior == noRecord && de.wasMoved(s, e.id)
		f.inOther = slices.ContainsFunc(in, func(other Container) bool { return other.ID != s.container.ID })
		if i, wanted := de.objects.index[e.by.object]; wanted && de.objects.states[i].prior != nil {
			_, f.cleared = de.objects.states[i].prior.Values[m.Field]
		}
		f.cleared = f.cleared || de.in.Pull // a pull takes over the memberships of the service
	}
	container, member := s.container.Address, de.objects.addressOf(serviceID{m.Member, e.id})
	f.leftAlone = de.orphans.declaresOther(m, container, e.id) || de.deleted[serviceID{m.Container, s.container.ID}] ||
		e.wish != wantsNone && e.wish != undone && de.deleted[serviceID{m.Member, e.id}]
	byContainer, byMember := m.Inverse != "" || m.On == m.Container, m.Inverse != "" || m.On != m.Container
	f.dropped = (!byContainer || de.isPrunable(s.record, container)) && (!byMember || de.isPrunable(s.record, member))
	return f
}

// sighting returns whether the service shows an edge.
func (mt *memberSet) sighting(e *member) sighting {
	usable := mt.hasList || e.wish != wantsHere && (mt.list.state == listed || mt.list.state == noContainer)
	switch {
	case usable && mt.list.has(e.id):
		return shownIn
	case usable, e.wish == wantsHere && (e.id == "" || mt.container.ID == "") && !mt.isIn(e):
		return shownOut
	}
	return notRead
}

// provenanceOf returns whether the state has an edge, and who made it.
func (de *decisions) provenanceOf(s *memberSet, e *member) provenance {
	if e.wish != wantsHere {
		if slices.Contains(s.record.arrived, e.id) {
			return addedBefore
		}
		return s.record.record.provenanceOf(e.id)
	}
	switch {
	case !s.hasList && !s.isIn(e), s.hasList && de.mayStillMove(s.record, s.kind, e.id), de.objects.isForeign(e.by.object.Address):
		return noRecord
	case de.in.Pull && len(de.in.Prior) == 0: // without a state, nobody can tell who made the change
		return foundThere
	}
	m := s.kind.Membership
	prior, _ := s.recorded()
	if prior.has(e.id) || m.Inverse == "" {
		return prior.provenanceOf(e.id)
	}
	// The other object of a relation may have declared it.
	other := de.records.recordOf(resource.MustLookup(m.Inverse), de.objects.addressOf(serviceID{m.Member, e.id}))
	return other.record.provenanceOf(s.container.ID)
}

// mayStillMove reports whether a request of an earlier run may still add a member to the container of a record, or remove it.
func (de *decisions) mayStillMove(r *memberRecord, kind *resource.Kind, id string) bool {
	return de.records.mayStillMove(r, kind, id, de.where[edge{kind: kind.Name, member: id}])
}

// wasMoved reports whether people removed a member from another container: the state has the member there, and the container's list does
// not. In an undo it reports whether the member is no longer where the undone runs left it.
func (de *decisions) wasMoved(s *memberSet, id string) bool {
	of := edge{kind: s.kind.Name, member: id}
	isGone := func(container string) bool {
		return de.wasRead[edge{kind: s.kind.Name, container: container}] &&
			!slices.ContainsFunc(de.where[of], func(c Container) bool { return c.ID == container })
	}
	if de.mayStillMove(s.record, s.kind, id) {
		return false
	}
	if de.in.Deletes != nil {
		left, known := de.in.Left[s.kind.Name][id]
		return known && (left == "" && len(de.where[of]) > 0 || left != "" && isGone(left))
	}
	return slices.ContainsFunc(de.records.byMember[of], func(r *memberRecord) bool {
		c, _ := de.refs.containerAt(r.container)
		return r.at != s.record.at && isGone(c.ID) && !de.mayStillMove(r, s.kind, id)
	})
}

// isPrunable reports whether the run may prune memberships that an object, the container or the member, no longer declares. The object must be
// targeted, belong to no other owner, and all manifests that had it must be part of the run or deleted.
func (de *decisions) isPrunable(r *memberRecord, a resource.Address) bool {
	prior, known := de.in.Prior[a]
	if !known {
		prior = r.record
	}
	return de.in.isTargeted(a) && de.in.isSourceGone(&prior) && !de.orphans.belongsToOther(a)
}

// countOrphaned counts the memberships of the state that pruning would end. It leaves out memberships that end because an object is deleted.
func (de *decisions) countOrphaned() (n int) {
	for address, r := range de.in.Prior {
		id := serviceID{address.Kind(), r.ID}
		_, wanted := de.objects.indexOf(address)
		if _, owned := de.objects.owners[id]; !wanted && !owned && de.in.isOrphan(address, &r) {
			de.deleted[id] = true
		}
	}
	for _, r := range de.records.all {
		s := &memberSet{kind: r.kind, container: Container{Address: r.container, ID: cmp.Or(de.refs.idAt(r.container), r.record.ID)}, record: r}
		if de.deleted[serviceID{r.container.Kind(), s.container.ID}] || de.objects.isDeletedOrHidden(r.container) {
			continue
		}
		for _, id := range r.record.Members {
			if de.objects.isDeletedOrHidden(de.objects.addressOf(serviceID{r.kind.Membership.Member, id})) {
				continue
			}
			if f := de.factsOf(s, &member{id: id}); de.wishOf(s, id).wish == noWish && f.decide().orphaned {
				n++
			}
		}
	}
	return n
}

// canRemove reports whether this edition can remove members from a container: its route may be missing, or need another member ID than the
// list shows. It probes the route with a member that stays, if there is one, because a leaving member may have left meanwhile.
func (de *decisions) canRemove(probes map[*resource.Kind]Read, s *memberSet) bool {
	op, ok := de.objects.op(s.kind, resource.RemoveMembers)
	get, readable := de.objects.op(s.kind, resource.Get)
	leaving := s.leaving()
	if s.list.state != listed || len(leaving) == 0 || !ok || op.V2() || op.Method == "DELETE" && !readable { // API v2 cannot be asked
		return ok
	}
	read, asked := probes[s.kind]
	if !asked {
		params := maps.Clone(s.params)
		if readable {
			who := leaving[0].id
			for _, id := range s.list.ids() {
				if !slices.ContainsFunc(leaving, func(e *member) bool { return e.id == id }) {
					who = id
					break
				}
			}
			op, params[resource.MustLookup(s.kind.Membership.Member).Param] = get, who
		}
		read, _ = readOf(op, params)
		read.Probe, read.Optional = !readable, readable
		probes[s.kind] = read
	}
	a := de.service.ask(read)
	return !a.Unsupported && !a.NotFound
}
