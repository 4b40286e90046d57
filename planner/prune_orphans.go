package planner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// orphans are what the state knows and the manifest does not have any more, and what
// becomes of it. It is decided only where pruning is asked for.
type orphans struct {
	analysis

	refs    *references
	records *memberRecords
	list    []*orphan // parents first
	looks   int       // requests that tell of single orphans what is in them and who uses them

	byAddress   map[resource.Address]*orphan
	createdByUs map[serviceID]*orphan         // that planform created and nothing protects
	lostCreates map[string]*orphan            // without an outcome, by the external ID that was sent
	blockedBy   map[resource.Address]obstacle // what keeps an object from being deleted
	listSizes   map[string]int                // orphans by the path of their list
	rows        map[string]map[string]resource.Row
	// Made when first needed:
	namedInManifest map[serviceID]resource.Address // what in the manifest names objects that it does not list
}

// orphan is an object that the state knows and the manifest does not have any more.
type orphan struct {
	record     Record
	info       *kindInfo
	delete     *resource.Operation // nil = not offered
	parent     *orphan             // if that is an orphan too
	params     map[string]string   // path parameters of its own requests; nil = they are not known
	decision   decision
	reason     string         // why it stays
	owner      resource.Owner // of it, if others is set
	others     bool           // another owner has it, as far as was read
	looked     bool           // the service is asked for it even if it stays anyway: it may be gone, or another owner's
	byOthers   bool           // it stays only since others changed it, use it, or have something in it
	notOffered bool           // only a wider API could delete it
	unread     bool           // nobody looks what they have in it: there would be too many requests
	row        resource.Row
	contents   []Content
	guards     []Guard
	loss       *Loss
	despite    []string // why it would stay, were it not for DeleteChanged
	step       *Step
}

// obstacle is why an object stays that others are in.
type obstacle struct {
	why      string
	byOthers bool
}

func (o *orphan) recordCreated(id string) {
	o.record.ID, o.record.CreatedByUs, o.params[o.info.kind.Param] = id, true, id
}

// block says why an orphan stays.
func (o *orphan) block(why string) decision {
	o.decision, o.reason = blocked, "it would be deleted, but "+why
	return blocked
}

// keep lets an orphan stay for what others did, unless the run deletes such objects, too.
func (or *orphans) keep(l *orphan, why string) {
	switch {
	case l.decision != toDelete && l.decision != undecided:
	case !or.in.DeleteChanged:
		l.block(why)
		l.byOthers = true
	case !slices.Contains(l.despite, why):
		l.despite = append(l.despite, why)
	}
}

// names are the IDs that an object's fields name, as the record of the service shows them, else as they were applied.
func (o *orphan) names(row resource.Row) []string {
	var ids []string
	for i := range o.info.refs {
		field := o.info.refs[i].field
		shown := o.record.Values[field.Name]
		if have, known := field.ObservedIn(row); row != nil && known {
			shown += "," + have
		}
		ids = append(ids, strings.Split(shown, ",")...)
	}
	return ids
}

// decision is what becomes of an orphan.
type decision int8

const (
	undecided   decision = iota
	otherSource          // a manifest that is not read may have it
	notOurs              // planform did not make it
	otherOwner           // it, its parent or an object above it bears the mark of another owner
	toDelete             // it is deleted
	deleteWithParent
	vanished     // the service does not show it any more
	aliased      // it has another address by now
	leftInParent // what it is in stays for what others did, as it is
	leftArchived // it, or an ancestor, is archived or a draft
	blocked      // something prevents the deletion, see reason
)

// isOrphan reports whether an object goes if the manifest does not have it.
func (in *Input) isOrphan(a resource.Address, r *Record) bool {
	return r.CreatedByUs && a.IsObject() && in.targeted(a) && in.sourceGone(r)
}

// findOrphans decides what becomes of the objects that the state knows and the
// manifest does not have any more.
func findOrphans(refs *references, records *memberRecords) *orphans {
	s := &orphans{
		analysis: refs.analysis, refs: refs, records: records,
		byAddress: map[resource.Address]*orphan{}, createdByUs: map[serviceID]*orphan{},
		lostCreates: map[string]*orphan{}, blockedBy: map[resource.Address]obstacle{}, listSizes: map[string]int{},
		rows: map[string]map[string]resource.Row{},
	}
	var kept []resource.Address // that are neither wanted nor targeted
	for address, r := range s.in.Prior {
		if !address.IsObject() {
			continue
		}
		_, wanted := s.objects.indexOf(address)
		switch {
		case wanted, resource.MustLookup(address.Kind()).Section == "" && s.in.Deletes == nil: // no manifest ever had it
		case !s.in.targeted(address):
			kept = append(kept, address)
		default:
			s.add(&r)
		}
	}
	s.findMarked()
	slices.SortFunc(s.list, func(a, b *orphan) int {
		return cmp.Or(cmp.Compare(a.info.rank, b.info.rank), cmp.Compare(a.record.Address, b.record.Address))
	})
	slices.Sort(kept)
	for _, address := range kept { // it and its ancestors stay
		s.blockParents(address, obstacle{why: string(address) + " in it " + s.in.untargeted()})
	}
	for _, l := range s.list { // parents first
		s.locate(l)
		s.leaveToOwner(l)
	}
	if !s.in.Prune { // the rest stays as it is
		s.list = slices.DeleteFunc(s.list, func(l *orphan) bool { return l.decision != otherOwner })
		return s
	}
	s.checkReadBudget()
	for _, level := range s.levels() {
		s.service.each(len(level), func(i int) { s.decide(level[i]) })
	}
	s.keepAncestors()
	for s.keepReferenced() {
		s.keepAncestors()
	}
	for _, l := range s.list {
		if l.decision == toDelete {
			l.loss = s.loss(l)
		}
	}
	return s
}

// levels groups the orphans by the number of orphans that they are in, outermost first.
func (or *orphans) levels() (levels [][]*orphan) {
	for _, l := range or.list {
		depth := 0
		for up := l.parent; up != nil; up = up.parent {
			depth++
		}
		for len(levels) <= depth {
			levels = append(levels, nil)
		}
		levels[depth] = append(levels[depth], l)
	}
	return levels
}

func (or *orphans) add(r *Record) {
	l := &orphan{record: *r, info: or.objects.kind(r.Address.Kind())}
	l.looked = r.Protect || l.info.kind.Parent == "" && len(resource.Children(l.info.kind.Name)) > 0
	l.delete, _ = l.info.kind.Op(resource.Delete, l.info.api)
	or.byAddress[r.Address] = l
	or.list = append(or.list, l)
	if r.CreatedByUs && !r.Protect && or.in.sourceGone(r) {
		or.createdByUs[serviceID{l.info.kind.Name, r.ID}] = l
	}
}

// byItsMark stands for the manifest of an object of which only its mark tells that one had it.
const byItsMark = "its mark"

// findMarked adds the unrecorded objects to the orphans. A mark without an owner may be another manifest's.
func (or *orphans) findMarked() {
	if or.in.Owner == "" || !or.in.Prune {
		return
	}
	for _, r := range or.unrecorded() {
		known := or.byAddress[r.Address]
		if (known == nil || known.record.ID == "") && or.in.targeted(r.Address) {
			or.list = slices.DeleteFunc(or.list, func(l *orphan) bool { return l == known })
			or.add(&r)
		}
	}
}

// unrecorded returns the objects in the lists that were read that bear the mark of the manifest's owner, while neither the manifest nor
// the state has them.
func (or *orphans) unrecorded() (found []Record) {
	for at, l := range or.snapshot.listings {
		if l.presence != exists || !at.kind.externalIDs {
			continue
		}
		for _, row := range l.rows {
			id := serviceID{at.kind.kind.Name, row.ID()}
			_, wanted := or.objects.owners[id]
			if owner, marked := row.Owner(); !marked || owner != or.in.Owner || wanted || len(or.objects.addressesOf(id)) > 0 {
				continue
			}
			if _, other := or.ownerOver(at.kind, or.objects.params(at.parent), row); other {
				continue
			}
			r := Record{
				Address: or.markedAs(at, row), ID: row.ID(), Identifier: or.objects.readableID(at.kind.kind, at.parent, row),
				CreatedByUs: true, Sources: []string{byItsMark},
			}
			r.AppliedAt, _ = time.Parse(time.RFC3339, row.Text("created_at")) // what others did since counts
			lost := or.in.Prior[r.Address]
			if _, again := or.objects.indexOf(r.Address); !again && !(lost.PendingIntent.creates() && len(lost.Sources) > 0) { // else it is there twice
				found = append(found, r)
			}
		}
	}
	return found
}

// markedAs is the address under which an object was made, or one of its ID where the mark does not tell.
func (or *orphans) markedAs(at scope, row resource.Row) resource.Address {
	parent := resource.Address("")
	if at.parent != noObject {
		parent = or.in.Desired[at.parent].Address
	}
	was, _ := strings.CutPrefix(row.Text("external_id"), or.in.Workspace+"/")
	if a := resource.Address(was); a.IsObject() && a.Kind() == at.kind.kind.Name && a.Parent() == parent {
		return a
	}
	return addressIn(parent, at.kind.kind, row.ID())
}

// ownerOver returns the other owner whose mark is on a record, or on one that the record is below.
func (or *orphans) ownerOver(t *kindInfo, params map[string]string, row resource.Row) (owner resource.Owner, ok bool) {
	field, rows := parentField(t.kind), or.listed(t, params)
	for n := 0; row != nil && n <= len(rows); n++ { // more if they are below each other
		if owner, ok = or.in.otherOwner(row, true); ok || field == nil {
			return owner, ok
		}
		up, _ := field.ObservedIn(row)
		row = rows[up]
	}
	return "", false
}

// leaveToOwner leaves an orphan to another owner if that owner's mark is on the orphan, on its parent or on an object above it. Only rows
// that were read count.
func (or *orphans) leaveToOwner(l *orphan) {
	row := or.shown(l)
	l.owner, l.others = or.ownerOver(l.info, l.params, row)
	switch i, wanted := or.objects.indexOf(l.record.Address.Parent()); {
	case l.parent != nil && l.parent.others:
		l.owner, l.others = l.parent.owner, true
	case wanted && or.objects.inForeign(l.info, i, row):
		l.owner, l.others = or.objects.ownerOf(i)
	}
	switch {
	case !l.others, l.decision == aliased, l.decision == vanished, !or.in.sourceGone(&l.record):
	case or.in.Deletes != nil && (l.parent == nil || !l.parent.others):
		l.block("it belongs to " + l.owner.String())
	default:
		l.decision = otherOwner
	}
}

// isOthers reports whether another owner has the object at an address, as far as is known.
func (or *orphans) isOthers(a resource.Address) bool {
	i, wanted := or.objects.indexOf(a)
	l := or.byAddress[a]
	return wanted && or.objects.states[i].foreign || l != nil && l.others
}

// declaresOther reports whether what declares a membership belongs to another owner: the member, or else the container.
func (or *orphans) declaresOther(m *resource.Membership, container resource.Address, member string) bool {
	if m.On == m.Container {
		return or.isOthers(container)
	}
	return or.isOthers(or.objects.addressOf(serviceID{m.Member, member}))
}

// hasVanished reports whether an object, or an ancestor, is an orphan that the service no longer has.
func (or *orphans) hasVanished(a resource.Address) bool {
	for ; a != ""; a = a.Parent() {
		if l := or.byAddress[a]; l != nil && l.decision == vanished {
			return true
		}
	}
	return false
}

// blockParents keeps what an object lives in from being deleted with it.
func (or *orphans) blockParents(a resource.Address, o obstacle) {
	if o.byOthers && or.in.DeleteChanged {
		return
	}
	for a = a.Parent(); a != "" && (or.blockedBy[a].why == "" || or.blockedBy[a].byOthers && !o.byOthers); a = a.Parent() {
		or.blockedBy[a] = o
	}
}

// decide works out what becomes of an orphan: each check may keep it, and then no further one is made.
func (or *orphans) decide(l *orphan) {
	switch {
	case l.decision != aliased && l.parent != nil && l.parent.decision == vanished:
		l.decision = vanished
		return
	case l.decision != undecided:
		or.confirmKept(l)
		return
	}
	checks := []func(*orphan){
		or.followParent, or.checkPlace, or.checkOffered, or.checkPresence, or.leaveToOwner, or.checkChanged, or.checkContents, or.checkGovernance,
	}
	for _, check := range checks {
		if check(l); l.decision != undecided && l.decision != toDelete {
			return
		}
	}
}

// confirmKept checks whether an orphan that stays still exists, and still has no other owner. Its children depend on both.
func (or *orphans) confirmKept(l *orphan) {
	if !l.looked || l.record.ID == "" || l.params == nil || l.decision != notOurs && l.decision != blocked && l.decision != otherSource {
		return
	}
	decision, reason := l.decision, l.reason
	if found := or.checkPresent(l); found == vanished {
		decision = found
	}
	l.decision, l.reason = decision, reason
	or.leaveToOwner(l)
}

// followParent takes the decision about the parent over, if the parent is an orphan, too.
func (or *orphans) followParent(l *orphan) {
	if l.parent == nil {
		return
	}
	switch p := l.parent; p.decision { //nolint:exhaustive // the others say nothing of what is in the parent
	case toDelete, deleteWithParent:
		l.decision = deleteWithParent
	case leftArchived, leftInParent:
		l.decision = p.decision
	case blocked:
		switch {
		case p.byOthers && p.info.parent != nil:
			l.decision = leftInParent
		case p.info.kind.Single:
			l.block("its " + p.info.kind.Noun() + " stays")
		}
	}
}

// checkPlace keeps an orphan that cannot be found, that is in a hidden object, or that something in it keeps.
func (or *orphans) checkPlace(l *orphan) {
	switch o := or.blockedBy[l.record.Address]; {
	case or.objects.isHidden(l.record.Address.Parent()):
		l.decision = leftArchived
	case l.params == nil:
		or.unlocatable(l)
	case o.why != "":
		l.block(o.why)
		l.byOthers = o.byOthers
	}
}

// checkOffered keeps an orphan that the API cannot delete.
func (or *orphans) checkOffered(l *orphan) {
	if l.delete == nil {
		l.notOffered = offeredByWider(l.info.api, l.info.kind, resource.Delete)
		l.block(l.info.api.Noun() + " cannot delete " + diag.A(l.info.kind.Noun()) + ": delete it in Plane, then run planform state rm " +
			string(l.record.Address))
	}
}

// checkPresence finds out whether an orphan is on the service.
func (or *orphans) checkPresence(l *orphan) {
	if l.record.ID == "" && !or.findLostCreate(l) {
		return
	}
	if l.decision = or.checkPresent(l); l.decision == toDelete && l.record.Protect {
		l.decision = blocked // a create without an outcome
	}
}

// checkGovernance keeps what the service refuses to delete, since the workspace manages such objects elsewhere by now.
func (or *orphans) checkGovernance(l *orphan) {
	if who, _ := or.snapshot.managedElsewhere(l.info.kind); who != "" {
		l.block("in this workspace " + who + " manages the " + l.info.kind.Governance.Noun())
	}
}

func (or *orphans) unlocatable(l *orphan) {
	parent := l.record.Address.Parent()
	i, wanted := or.objects.indexOf(parent)
	switch {
	case wanted && (or.objects.states[i].presence == absent || or.objects.states[i].replaced):
		l.decision = vanished // with what it lived in
	default:
		l.block("the ID of " + string(parent) + " is not known")
	}
}

// keepAncestors keeps work items that have one below them which stays: the service deletes
// sub-items with an item.
func (or *orphans) keepAncestors() {
	for kept := slices.Clone(or.list); len(kept) > 0; kept = kept[1:] {
		l := kept[0]
		field := parentField(l.info.kind)
		if l.decision != blocked && l.decision != leftArchived || field == nil {
			continue
		}
		row := or.shown(l)
		up, _ := field.ObservedIn(row)
		parent := or.createdByUs[serviceID{l.info.kind.Name, up}]
		if parent == nil || parent.decision != toDelete {
			continue
		}
		if l.decision == blocked {
			parent.block(label(l.info.kind, row) + " below it stays")
			parent.byOthers = l.byOthers
		} else if or.keep(parent, label(l.info.kind, row)+" below it stays"); parent.decision != blocked {
			continue
		}
		kept = append(kept, parent)
		or.decideInside(parent)
	}
}

// decideInside decides about what was to be deleted with an orphan that stays.
func (or *orphans) decideInside(parent *orphan) {
	for _, l := range or.list { // parents first
		if l.parent == parent && l.decision == deleteWithParent {
			l.decision = undecided
			if or.decide(l); l.decision != deleteWithParent {
				or.decideInside(l)
			}
		}
	}
}

// locate works out where an object is, and whether it can be deleted at all.
func (or *orphans) locate(l *orphan) {
	r, k := &l.record, l.info.kind
	l.parent, l.params = or.byAddress[r.Address.Parent()], or.refs.paramsIn(r.Address.Parent())
	if l.params != nil {
		l.params[k.Param] = r.ID
	}
	if l.parent != nil {
		l.parent.looked = true
	}
	if r, ok := l.info.listRead(l.params); ok {
		or.listSizes[r.Path]++
	}
	_, wanted := or.objects.owners[serviceID{k.Name, r.ID}]
	other := or.in.otherSource(r)
	switch {
	case other != "":
		l.decision = otherSource
	case r.ID == "" && r.PendingIntent.creates() && l.info.externalIDs && l.info.list != nil && len(r.Sources) > 0:
		or.lostCreates[or.in.marks().ID(r.Address)] = l
	case r.ID == "" || !r.CreatedByUs:
		l.decision = notOurs
	case wanted || len(or.objects.addressesOf(serviceID{k.Name, r.ID})) > 1:
		l.decision = aliased
	case !or.in.sourceGone(r):
		l.decision = otherSource
	case r.Protect:
		l.decision = blocked
	case !or.in.DeleteUnrecorded && slices.Contains(r.Sources, byItsMark):
		l.block("the state does not know it: nobody can tell whether it was protected")
	}
	switch {
	case r.Protect:
		or.blockParents(r.Address, obstacle{why: string(r.Address) + " in it is protected"})
	case other != "":
		or.blockParents(r.Address, obstacle{why: string(r.Address) + " in it comes from " + other + ", which is not part of this run"})
	case l.decision == otherSource:
		or.blockParents(r.Address, obstacle{why: "the state file does not say which manifest had " + string(r.Address) + " in it"})
	case l.decision == notOurs && len(k.Predefined) == 0 && !k.Singleton: // each has some of those, whoever made it
		or.blockParents(r.Address, obstacle{why: "planform did not create " + string(r.Address) + " in it", byOthers: true})
	}
}
