package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// removals decides about memberships, and holds the members that leave their containers.
type removals struct {
	analysis

	refs        *references
	memberships *memberships
	orphans     *orphans
	list        []*removal
	drifts      []*fieldDrift
	drifted     map[*resource.Value]*fieldDrift

	declared    map[edge]string
	wishes      map[edge]wishAt // without the container, or without the member
	deleted     map[serviceID]bool
	records     *memberRecords
	where       map[edge][]Container         // without the container: those that were seen to have the member, where that is asked for
	looked      map[edge]bool                // without the member: containers that were read for where
	contained   map[*resource.Value]bool     // fields that say that an object is in no container, if all containers were read
	absent      map[*resource.Reference]bool // to members, or containers, whose membership the service does not show
	byContainer map[edge]*removal            // without the member
	probes      map[*resource.Kind]Read      // of routes that take members out
}

// wishAt is a wish, and where the manifest states it.
type wishAt struct {
	wish wish
	at   diag.Position
}

// removal holds the members that leave one container.
type removal struct {
	kind        *resource.Kind // the membership
	container   Container
	record      resource.Address  // of the members in the state
	params      map[string]string // path parameters of its requests
	candidates  []candidate
	leaving     []candidate
	own         map[string]string // the membership's ID, by the ID of each member, where the list shows it; nil = the members were not read
	alreadyGone []string          // in the state, no longer desired, and no longer in the container
	position    diag.Position
	unsupported bool // this edition cannot take them out
}

// candidate is a member who leaves if the service shows them in the container.
type candidate struct {
	id      string
	facts   edgeFacts
	verdict verdict
}

// findRemovals decides about the memberships that the manifest wants, and about those that the state has besides or that the service shows
// of an object whose field is null.
func findRemovals(memberships *memberships, orphans *orphans) *removals {
	l := &removals{
		analysis: memberships.analysis, refs: memberships.refs, memberships: memberships, orphans: orphans,
		declared: memberships.declared(), wishes: map[edge]wishAt{}, deleted: map[serviceID]bool{},
		records: memberships.records,
		where: map[edge][]Container{}, looked: map[edge]bool{}, contained: map[*resource.Value]bool{}, absent: map[*resource.Reference]bool{},
		drifted: map[*resource.Value]*fieldDrift{}, byContainer: map[edge]*removal{}, probes: map[*resource.Kind]Read{},
	}
	l.records.settle(l.declared, orphans.hasVanished)
	mayLeave, uncontained := l.collectWishes()
	l.lookElsewhere(uncontained)
	l.decideWanted()
	if mayLeave || l.in.Prune || len(l.in.Leaves) > 0 {
		l.decideUnwanted(uncontained)
	}
	return l
}

// countRemovals counts the memberships that pruning would end, as far as the
// state tells, but not those that end with an object.
func (re *removals) countRemovals() int {
	if len(re.records.all) == 0 {
		return 0
	}
	re.findDeleted()
	for address, r := range re.in.Prior {
		id := serviceID{address.Kind(), r.ID}
		_, wanted := re.objects.indexOf(address)
		if _, owned := re.objects.owners[id]; !wanted && !owned && re.in.isOrphan(address, &r) {
			re.deleted[id] = true
		}
	}
	n := 0
	for _, r := range re.records.all {
		c := Container{Address: r.container, ID: cmp.Or(re.refs.idAt(r.container), r.record.ID)}
		if re.deleted[serviceID{r.container.Kind(), c.ID}] || re.objects.isDeletedOrHidden(r.container) {
			continue
		}
		for _, id := range r.record.Members {
			if re.objects.isDeletedOrHidden(re.objects.addressOf(serviceID{r.kind.Membership.Member, id})) {
				continue
			}
			if facts, _ := re.factsOf(r.kind, &c, r.at, id); facts.decide().orphaned {
				n++
			}
		}
	}
	return n
}

// decideUnwanted decides about the memberships that the manifest does not want: those of the state, and of objects whose field is null.
func (re *removals) decideUnwanted(uncontained []question) {
	for _, r := range re.records.all {
		re.fromState(r)
	}
	for _, q := range uncontained {
		for _, c := range re.where[edge{kind: q.field.membership.Name, member: q.member}] {
			re.fromService(&q, &c)
		}
	}
	var containers []*removal
	for _, at := range slices.SortedFunc(maps.Keys(re.byContainer), edge.compare) {
		d := re.byContainer[at]
		if re.keepSelf(d); len(d.candidates) > 0 {
			containers = append(containers, d)
		}
	}
	re.service.each(len(containers), func(i int) { re.readCandidates(containers[i]) })
	for _, d := range containers {
		for i := range d.candidates {
			re.settle(d, &d.candidates[i])
		}
		re.list = append(re.list, d)
	}
	re.service.each(len(containers), func(i int) {
		if d := containers[i]; d.own != nil && len(d.leaving) > 0 {
			d.unsupported = !re.removable(d)
		}
	})
}

// fromState finds the members of a record who may have to leave.
func (re *removals) fromState(r *memberRecord) {
	if re.orphans.hasVanished(r.container) { // a read of its members may be refused
		re.list = append(re.list, &removal{kind: r.kind, container: Container{Address: r.container}, record: r.at, alreadyGone: r.record.Members})
		return
	}
	container, params := re.refs.containerAt(r.container)
	if container.ID == "" {
		return
	}
	d := &removal{kind: r.kind, container: container, record: r.at, params: params}
	for _, id := range slices.Concat(r.record.Members, r.arrived) {
		re.consider(d, id)
	}
	if len(d.candidates) > 0 {
		re.byContainer[edge{kind: r.kind.Name, container: container.ID}] = d
	}
}

// consider makes a member a candidate who would leave the container.
func (re *removals) consider(d *removal, id string) {
	f, at := re.factsOf(d.kind, &d.container, d.record, id)
	f.seen = shownIn
	if v := f.decide(); f.wish != here && (v.action == removeEdge || v.kept) {
		d.candidates, d.position = append(d.candidates, candidate{id: id, facts: f}), cmp.Or(d.position, at)
	}
}

// fromService makes an object a candidate if the service shows it in a container and its field is null.
func (re *removals) fromService(q *question, c *Container) {
	kind := q.field.membership
	key := edge{kind: kind.Name, container: c.ID}
	d := re.byContainer[key]
	if d == nil {
		params := re.objects.params(q.within)
		params[resource.MustLookup(kind.Membership.Container).Param] = c.ID
		d = &removal{kind: kind, container: *c, record: c.Address.Members(kind.Membership.Plural(), 1), params: params}
		re.byContainer[key] = d
	}
	if !slices.ContainsFunc(d.candidates, func(c candidate) bool { return c.id == q.member }) {
		re.consider(d, q.member)
	}
}

// keepSelf leaves the credential's own user in a container: nobody locks themselves out.
func (re *removals) keepSelf(d *removal) {
	if len(d.candidates) == 0 {
		return // nobody has to be asked for
	}
	self := re.snapshot.self(re.objects.kind(d.kind.Membership.Member))
	at := slices.IndexFunc(d.candidates, func(c candidate) bool { return c.id == self })
	if at < 0 {
		return
	}
	d.candidates = slices.Delete(d.candidates, at, at+1)
	re.diags.at(diag.Warning, d.position, d.container.Address, "own-user", "the credential's own user stays in "+string(d.container.Address)+
		": planform does not remove it",
		"add `me` to its "+d.kind.Membership.Field+", or leave it in the web app")
}

// readCandidates reads the members of a container, and decides about its candidates.
func (re *removals) readCandidates(d *removal) {
	read, listed := re.objects.membersRead(d.kind, d.params)
	if listed {
		if answer := re.service.ask(read); !answer.Unsupported {
			d.own = make(map[string]string, len(answer.Rows))
			for _, row := range answer.Rows {
				d.own[d.kind.Membership.MemberID(row)] = d.kind.Membership.OwnID(row)
			}
		}
	}
	for i := range d.candidates {
		c := &d.candidates[i]
		c.facts.unlisted, c.facts.seen = !listed, notRead
		if _, in := d.own[c.id]; in {
			c.facts.seen = shownIn
		} else if d.own != nil {
			c.facts.seen = shownOut
		}
		c.verdict = c.facts.decide()
	}
}

// settle notes what becomes of a candidate of a container.
func (re *removals) settle(d *removal, c *candidate) {
	v := c.verdict
	if v.drift {
		i, _ := re.objects.indexOf(re.objects.addressOf(serviceID{d.kind.Membership.Member, c.id}))
		value, _ := re.in.Desired[i].Value(d.kind.Membership.Field)
		re.noteDrift(declaration{object: re.in.Desired[i], value: value}, v)
	}
	switch {
	case v.forget:
		d.alreadyGone = append(d.alreadyGone, c.id)
	case v.action == removeEdge:
		d.leaving = append(d.leaving, *c)
	}
}

// removable reports whether this edition can remove members from a container. Its route may be missing, or know a member by another ID than
// the list shows. The question names a member that stays, if there is one, because a leaving member may have left meanwhile.
func (re *removals) removable(d *removal) bool {
	op, ok := re.objects.op(d.kind, resource.RemoveMembers)
	get, readable := re.objects.op(d.kind, resource.Get)
	if !ok || op.V2() || op.Method == "DELETE" && !readable { // API v2 cannot be asked
		return ok
	}
	read, asked := re.probes[d.kind]
	if !asked {
		params := maps.Clone(d.params)
		if readable {
			member := d.leaving[0].id
			for _, id := range slices.Sorted(maps.Keys(d.own)) {
				if !slices.ContainsFunc(d.leaving, func(c candidate) bool { return c.id == id }) {
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
			size = len(d.leaving)
		case op.TakesOne(d.kind):
			size = 1
		}
		for batch := range slices.Chunk(d.leaving, max(1, size)) {
			step := steps.addMembers(&Step{
				Action: RemoveMembers, Kind: d.kind, Operation: op, Params: d.params,
				Members: &Members{Container: d.container}, Position: d.position,
			})
			if own := d.own[batch[0].id]; own != "" && ok && op.TakesOne(d.kind) {
				step.Params = maps.Clone(d.params)
				step.Params[resource.MustLookup(m.Member).Param] = own
			}
			for _, c := range batch {
				member := Member{ID: c.id, Address: b.objects.addressOf(serviceID{m.Member, c.id}), Drift: c.verdict.drift}
				if member.Address == "" {
					member.Text = b.refs.nameID(m.Member, c.id)
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
