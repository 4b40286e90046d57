package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// removals are the members that are to leave.
type removals struct {
	analysis

	refs        *references
	memberships *memberships
	orphans     *orphans
	list        []*removal

	arrived           map[resource.Address][]string // by the record of their container: whom a former run's request without an outcome brought in
	wanted            map[memberOf]bool
	assigned          map[memberOf]diag.Position // without the container: it is wanted in some
	hasExplicitMoves  bool                       // some may be wanted in another one than before, and leave only if explicit
	clearedContainers map[memberOf]diag.Position // without the member: the container's list is declared to be empty
	clearedMembers    map[memberOf]diag.Position // without the container: the member is declared to be in none
	ignored           map[memberOf]bool          // without the member, or the container: people's, as far as that one declares it
	deleted           map[serviceID]bool
	uncontained       []reference // fields that say that an object is in none
	byContainer       map[memberOf]*removal
	probes            map[*resource.Kind]Read // of routes that take members out
}

// removal is the members that are to leave one container.
type removal struct {
	kind        *resource.Kind // the membership
	container   Container
	record      resource.Address  // of the members in the state
	params      map[string]string // path parameters of its requests
	ids         []string
	own         map[string]string // by ID: that of the membership, where the list shows it
	alreadyGone []string          // added by planform, no longer desired, and no longer in the container
	position    diag.Position
	unsupported bool // this edition cannot take them out
}

// findRemovals finds the members to remove: those that planform added and the manifest dropped
// (when pruning), cleared or moved; and all memberships of an object whose field is cleared.
func findRemovals(memberships *memberships, orphans *orphans) *removals {
	l := &removals{
		analysis: memberships.analysis, refs: memberships.refs, memberships: memberships, orphans: orphans,
		arrived: map[resource.Address][]string{}, wanted: map[memberOf]bool{}, assigned: map[memberOf]diag.Position{}, clearedContainers: map[memberOf]diag.Position{},
		clearedMembers: map[memberOf]diag.Position{}, ignored: map[memberOf]bool{}, deleted: map[serviceID]bool{},
		byContainer: map[memberOf]*removal{}, probes: map[*resource.Kind]Read{},
	}
	l.wanted = memberships.declared()
	l.findArrived()
	l.collectCleared()
	if !l.in.Prune && !l.hasExplicitMoves && len(l.in.Leaves)+len(l.clearedContainers)+len(l.clearedMembers) == 0 {
		return l
	}
	l.collectDesired()
	for _, address := range slices.Sorted(maps.Keys(l.in.Prior)) {
		l.fromState(address)
	}
	for _, r := range l.memberships.sets {
		l.fromService(r.kind, r.container, r.have)
	}
	l.fromAllContainers()
	containers := slices.SortedFunc(maps.Keys(l.byContainer), memberOf.compare)
	known := make([]bool, len(containers))
	l.service.each(len(containers), func(i int) { known[i] = l.dropAlreadyGone(l.byContainer[containers[i]]) })
	for i, at := range containers {
		if known[i] {
			l.list = append(l.list, l.byContainer[at])
		}
	}
	return l
}

// countRemovals counts the memberships that pruning would end, as far as the
// state tells, but not those that end with an object.
func (re *removals) countRemovals() int {
	sets := slices.DeleteFunc(slices.Collect(maps.Keys(re.in.Prior)), resource.Address.IsObject)
	if len(sets) == 0 {
		return 0
	}
	re.wanted = re.memberships.declared()
	re.collectDesired()
	for address, r := range re.in.Prior {
		id := serviceID{address.Kind(), r.ID}
		_, wanted := re.objects.indexOf(address)
		if _, owned := re.objects.owners[id]; !wanted && !owned && re.in.isOrphan(address, &r) {
			re.deleted[id] = true
		}
	}
	n := 0
	for _, address := range sets {
		base, kind, _, isMembership := address.ParseMembership()
		if !isMembership {
			continue
		}
		r := re.in.Prior[address]
		d := &removal{kind: kind, container: Container{Address: base, ID: cmp.Or(re.refs.idAt(base), r.ID)}, record: address}
		if re.deleted[serviceID{base.Kind(), d.container.ID}] || re.objects.isDeletedOrHidden(base) {
			continue
		}
		for _, id := range r.Members {
			if re.objects.isDeletedOrHidden(re.objects.addressOf(serviceID{kind.Membership.Member, id})) {
				continue
			}
			if _, explicit, dropped := re.shouldLeave(d, id); dropped && !explicit && r.addedByUs(id) {
				n++
			}
		}
	}
	return n
}

// findArrived finds whom former runs announced that they bring into containers, and who is in them by now. Nothing but the announcement tells
// that planform did it. Where somebody may still come, go or become something that the manifest does not want by now, the list is in doubt.
func (re *removals) findArrived() {
	for _, address := range slices.Sorted(maps.Keys(re.in.Prior)) {
		record := re.in.Prior[address]
		base, kind, _, isMembership := address.ParseMembership()
		again := record.Late.After(re.in.Now) // who was added may be added once more
		if !isMembership || record.PendingIntent == nil && !again || re.orphans.hasVanished(base) {
			continue
		}
		container, params := re.refs.containerAt(base)
		if container.ID == "" || record.ID != "" && record.ID != container.ID || re.objects.isDeletedOrHidden(base) {
			continue
		}
		stays := func(id string) bool { return re.wanted[memberOf{kind.Name, container.ID, id}] }
		leaves := slices.ContainsFunc(record.Members, func(id string) bool { return !stays(id) })
		read, ok := re.objects.membersRead(kind, params)
		if !ok || record.PendingIntent == nil && !leaves {
			continue
		}
		answer := re.service.ask(read)
		if answer.Unsupported || answer.NotFound {
			continue
		}
		in := map[string]bool{}
		for _, row := range answer.Rows {
			in[kind.Membership.MemberID(row)] = true
		}
		late := again && leaves
		switch intent := record.PendingIntent; {
		case intent == nil:
		case intent.Action == AddMembers:
			ids, comes := re.arrivedOf(&record, in, stays)
			re.arrived[address], late = ids, late || comes
		case intent.Action == RemoveMembers:
			late = late || slices.ContainsFunc(re.leaving(&record), func(id string) bool { return in[id] && stays(id) })
		case intent.Action == Update:
			late = late || !re.memberships.stillSays(address, intent)
		}
		if late {
			re.service.unconfirmed = append(re.service.unconfirmed, read)
		}
	}
}

// arrivedOf tells of those who were to come who has, and whether somebody has not who is not to stay.
func (re *removals) arrivedOf(record *Record, in map[string]bool, stays func(id string) bool) (ids []string, late bool) {
	for _, id := range re.named(record.PendingIntent) {
		switch {
		case slices.Contains(record.Members, id):
		case in[id]:
			ids = append(ids, id)
		default:
			late = late || !stays(id)
		}
	}
	return ids, late
}

// leaving are the members whom a run announced that it takes out: all, where the record does not tell whom.
func (re *removals) leaving(record *Record) []string {
	if record.PendingIntent.Name == "" {
		return record.Members
	}
	return re.named(record.PendingIntent)
}

// named are the IDs of the members that an intent names; "" = not known.
func (re *removals) named(intent *Intent) []string {
	ids := strings.Split(intent.Name, "\n")
	for i, name := range ids {
		if strings.Contains(name, "/") { // an address
			ids[i] = re.refs.idAt(resource.Address(name))
		}
	}
	return ids
}

func (re *removals) collectCleared() {
	for _, n := range re.objects.uses {
		if n.field.membership == nil || re.objects.states[n.by].presence != exists || re.objects.states[n.by].foreign {
			continue
		}
		switch m := n.field.membership.Membership; {
		case ignored(re.analysis, n):
		case len(n.value.Refs) > 0:
			re.hasExplicitMoves = re.hasExplicitMoves || m.NeedsExplicitMove()
		case n.value.Field.Name == m.SeveralField: // only from those that planform put it in
			re.hasExplicitMoves = true
			re.assigned[memberOf{kind: n.field.membership.Name, member: re.objects.states[n.by].id}] = n.value.Position
		case m.On == m.Container:
			re.clearedContainers[memberOf{kind: n.field.membership.Name, container: re.objects.states[n.by].id}] = n.value.Position
		default:
			re.clearedMembers[memberOf{kind: n.field.membership.Name, member: re.objects.states[n.by].id}] = n.value.Position
			if !re.objects.states[n.by].isUnlisted() {
				re.uncontained = append(re.uncontained, n)
			}
		}
	}
}

func (re *removals) collectDesired() {
	for _, n := range re.objects.uses {
		if n.field.membership == nil || !ignored(re.analysis, n) {
			continue
		}
		of := memberOf{kind: n.field.membership.Name}
		if m := n.field.membership.Membership; m.On == m.Container {
			of.container = re.objects.states[n.by].id
		} else {
			of.member = re.objects.states[n.by].id
		}
		re.ignored[of] = true
	}
	for _, r := range re.memberships.sets {
		for _, e := range r.entries {
			if e.id == "" {
				continue
			}
			re.assigned[memberOf{kind: r.kind.Name, member: e.id}] = e.ref.Position
		}
	}
	for _, left := range re.orphans.list {
		switch left.decision { //nolint:exhaustive // the others are not on the service, or not what planform decides about
		case leftArchived, toDelete, deleteWithParent, blocked, leftInParent: // their memberships go with them, or stay
			re.deleted[serviceID{left.info.kind.Name, left.record.ID}] = true
		}
	}
	for i := range re.objects.count() { // their memberships are left alone with them
		if f := &re.objects.states[i]; f.isUnlisted() {
			re.deleted[serviceID{f.info.kind.Name, f.id}] = true
		}
	}
}

// fromState checks the members that planform added to a container.
func (re *removals) fromState(address resource.Address) {
	base, kind, _, isMembership := address.ParseMembership()
	if !isMembership {
		return
	}
	if re.orphans.hasVanished(base) { // a read of its members may be refused
		re.list = append(re.list, &removal{
			kind: kind, container: Container{Address: base}, record: address,
			alreadyGone: re.in.Prior[address].Members,
		})
		return
	}
	container, params := re.refs.containerAt(base)
	if container.ID == "" || re.deleted[serviceID{container.Address.Kind(), container.ID}] {
		return
	}
	d := &removal{kind: kind, container: container, record: address, params: params}
	record := re.in.Prior[address]
	for _, id := range slices.Concat(record.Members, re.arrived[address]) {
		if at, explicit, dropped := re.shouldLeave(d, id); explicit || dropped && re.in.Prune && record.addedByUs(id) {
			d.ids, d.position = append(d.ids, id), cmp.Or(d.position, at)
		}
	}
	re.keepSelf(d)
	if len(d.ids) > 0 {
		re.byContainer[memberOf{kind: kind.Name, container: container.ID}] = d
	}
}

// keepSelf leaves in who the credential belongs to: nobody locks themselves out.
func (re *removals) keepSelf(d *removal) {
	if len(d.ids) == 0 {
		return // nobody has to be asked for
	}
	at := slices.Index(d.ids, re.snapshot.self(re.objects.kind(d.kind.Membership.Member)))
	if at < 0 {
		return
	}
	d.ids = slices.Delete(d.ids, at, at+1)
	re.diags.at(diag.Warning, d.position, d.container.Address, "own-user", "the credential's own user stays in "+string(d.container.Address)+
		": planform does not remove it",
		"add `me` to its "+d.kind.Membership.Field+", or leave it in the web app")
}

// shouldLeave reports whether the manifest tells a member that planform added to leave,
// and where, or has only dropped it, so that pruning takes it out.
func (re *removals) shouldLeave(d *removal, id string) (at diag.Position, explicit, dropped bool) {
	m := d.kind.Membership
	if re.orphans.declaresOther(m, d.container.Address, id) {
		return diag.Position{}, false, false
	}
	if re.ignored[memberOf{kind: d.kind.Name, member: id}] || re.ignored[memberOf{kind: d.kind.Name, container: d.container.ID}] {
		return diag.Position{}, false, false
	}
	if re.in.Leaves[d.record][id] {
		return diag.Position{}, true, false
	}
	if at, out := re.clearedMembers[memberOf{kind: d.kind.Name, member: id}]; out {
		return at, true, false
	}
	at, placed := re.assigned[memberOf{kind: d.kind.Name, member: id}]
	switch {
	case re.wanted[memberOf{d.kind.Name, d.container.ID, id}], re.deleted[serviceID{m.Member, id}]:
		return diag.Position{}, false, false
	case placed && m.Exclusive:
		return diag.Position{}, false, false // it leaves by entering another one
	case placed && m.NeedsExplicitMove():
		return at, true, false
	}
	if at, cleared := re.clearedContainers[memberOf{kind: d.kind.Name, container: d.container.ID}]; cleared {
		return at, true, false
	}
	container, member := re.prunable(d, d.container.Address), re.prunable(d, re.objects.addressOf(serviceID{m.Member, id}))
	switch {
	case m.Inverse != "":
		dropped = container && member
	case m.On == m.Container:
		dropped = container
	default:
		dropped = member
	}
	return diag.Position{}, false, dropped
}

// prunable reports whether an object that is or has a member is targeted, and no other
// manifest may say so of it.
func (re *removals) prunable(d *removal, a resource.Address) bool {
	r, known := re.in.Prior[a]
	if !known {
		r = re.in.Prior[d.record]
	}
	return re.in.targeted(a) && re.in.sourceGone(&r) && !re.orphans.isOthers(a)
}

// fromService checks the members that the service shows in a container against objects that are to be in none.
func (re *removals) fromService(kind *resource.Kind, c Container, members []string) {
	for _, id := range members {
		at, out := re.clearedMembers[memberOf{kind: kind.Name, member: id}]
		if !out {
			continue
		}
		key := memberOf{kind: kind.Name, container: c.ID}
		d := re.byContainer[key]
		if d == nil {
			within := noObject
			if c.Within != nil {
				within = re.objects.index[c.Within]
			}
			params := re.objects.params(within)
			params[resource.MustLookup(kind.Membership.Container).Param] = c.ID
			d = &removal{kind: kind, container: c, record: c.Address.Members(kind.Membership.Plural(), 1), params: params, position: at}
			re.byContainer[key] = d
		}
		if !slices.Contains(d.ids, id) {
			d.ids = append(d.ids, id)
		}
	}
}

// fromAllContainers looks for objects that are to be in none also in the containers that no manifest names.
func (re *removals) fromAllContainers() {
	type place struct {
		field  *refField
		within objectID
	}
	seen := map[place]gapReason{}
	for _, n := range re.uncontained {
		at := place{n.field, re.objects.within(n.by, n.field.to)}
		why, read := seen[at]
		if !read {
			var all []listedContainer
			all, why, _ = re.memberships.containersIn(n.field, at.within)
			for _, c := range all {
				re.fromService(n.field.membership, c.Container, c.members)
			}
			seen[at] = why
		}
		if why.why != "" {
			path := n.value.Field.Path()
			re.gaps.add(re.in.Desired[n.by], path, path, why)
		}
	}
}

// dropAlreadyGone leaves out members that the container no longer has. It reports false if nothing lists the members.
func (re *removals) dropAlreadyGone(d *removal) bool {
	read, ok := re.objects.membersRead(d.kind, d.params)
	if !ok {
		return true
	}
	answer := re.service.ask(read)
	if answer.Unsupported {
		return false
	}
	in := map[string]bool{}
	d.own = map[string]string{}
	for _, row := range answer.Rows {
		id := d.kind.Membership.MemberID(row)
		in[id], d.own[id] = true, d.kind.Membership.OwnID(row)
	}
	d.alreadyGone = slices.DeleteFunc(slices.Clone(d.ids), func(id string) bool { return in[id] })
	d.ids = slices.DeleteFunc(d.ids, func(id string) bool { return !in[id] })
	if len(d.ids) > 0 {
		d.unsupported = !re.removable(d, answer.Rows)
	}
	return true
}

// removable reports whether this edition can remove members from a container: its route may be
// missing where the others are there, or know a member by another ID than the list shows. It is asked with one that stays, where there
// is one: who is to go may have gone meanwhile. rows are the container's members.
func (re *removals) removable(d *removal, rows []resource.Row) bool {
	op, ok := re.objects.op(d.kind, resource.RemoveMembers)
	get, readable := re.objects.op(d.kind, resource.Get)
	if !ok || op.V2() || op.Method == "DELETE" && !readable { // API v2 cannot be asked
		return ok
	}
	read, asked := re.probes[d.kind]
	if !asked {
		params := maps.Clone(d.params)
		if readable {
			member := d.ids[0]
			for _, row := range rows {
				if id := d.kind.Membership.MemberID(row); !slices.Contains(d.ids, id) {
					member = id
					break
				}
			}
			op, params[resource.MustLookup(d.kind.Membership.Member).Param] = get, member
		}
		read, _ = readOf(op, params)
		read.Probe, read.Optional = !readable, readable
		re.probes[d.kind] = read
	}
	a := re.service.ask(read)
	return !a.Unsupported && !a.NotFound
}

func planRemovals(b *removals, steps *steps) {
	for _, d := range b.list {
		op, ok := b.objects.op(d.kind, resource.RemoveMembers)
		m := d.kind.Membership
		size := m.Batch
		switch {
		case !ok:
			size = len(d.ids)
		case op.TakesOne(d.kind):
			size = 1
		}
		for ids := range slices.Chunk(d.ids, max(1, size)) {
			step := steps.addMembers(&Step{
				Action: RemoveMembers, Kind: d.kind, Operation: op, Params: d.params,
				Members: &Members{Container: d.container}, Position: d.position,
			})
			if own := d.own[ids[0]]; own != "" && ok && op.TakesOne(d.kind) {
				step.Params = maps.Clone(d.params)
				step.Params[resource.MustLookup(m.Member).Param] = own
			}
			for _, id := range ids {
				member := Member{ID: id, Address: b.objects.addressOf(serviceID{m.Member, id})}
				if member.Address == "" {
					member.Text = b.refs.nameID(m.Member, id)
				}
				step.Members.Items = append(step.Members.Items, member)
			}
			container := diag.A(resource.MustLookup(m.Container).Noun())
			switch {
			case !ok:
				step.block(notOffered(offeredByWider(b.in.API, d.kind, resource.RemoveMembers),
					b.in.API.Noun()+" cannot remove "+plural(resource.MustLookup(m.Member))+" from "+container))
			case d.unsupported:
				what := strings.ReplaceAll(m.Plural(), "_", " ") + " of " + container
				if m.Member == m.Container {
					what = diag.Plural(strings.ReplaceAll(m.Field, "_", " ") + " relation")
				}
				what = "way to remove " + what + " (do that in the web app; planform state rm ADDRESS forgets them)"
				step.Operation = nil
				step.block(lacks(what))
			}
		}
	}
}

// readDisplayNames reads the lists that have the names of IDs that the plan would show,
// such as the workspace's members and a project's labels. Of what a field has lost since the last apply, the list also tells whether it is gone.
func readDisplayNames(s *comparer, removals *removals) {
	var shown []shownID
	for _, d := range removals.list {
		for _, id := range d.ids {
			shown = append(shown, shownID{s.objects.kind(d.kind.Membership.Member), noObject, id})
		}
	}
	for _, n := range s.objects.uses {
		f := &s.objects.states[n.by]
		if n.field.to.list == nil || n.field.membership != nil || f.presence != exists || n.value.Field.Virtual {
			continue
		}
		c, _, differs := s.compare(n.value, f, s.refs.idResolver(n.by))
		texts := []*string{c.Before}
		if s.in.Deletes != nil {
			texts = append(texts, c.After)
		}
		if c.Origin == FromDrift { // it may be none: see lostOnlyDeleted
			have, _ := n.value.Field.ObservedIn(f.row)
			for _, id := range lost(n.value.Field, f.prior.Values[n.value.Field.Name], have) {
				for _, t := range s.objects.namedBy(n.value.Field) {
					shown = append(shown, shownID{t, s.objects.withinOf(n.by, &refField{field: n.value.Field, to: t}), id})
				}
			}
		}
		for _, ids := range texts {
			if !differs || ids == nil {
				continue
			}
			for id := range strings.SplitSeq(*ids, "\n") {
				shown = append(shown, shownID{n.field.to, s.objects.withinOf(n.by, n.field), id})
			}
		}
	}
	s.service.each(len(shown), func(i int) { s.refs.readName(shown[i]) })
	s.refs.displayNames = nil // there are more by now
}
