package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// orphans is the stage that finds objects that the state has and the manifest does not, and decides which of them the run deletes. Without
// pruning, the list has only orphans of other owners.
type orphans struct {
	analysis

	refs    *references
	differ  *comparer
	records *memberRecords
	list    []*orphan // parents first
	reads   int       // number of requests that read the contents and users of single orphans

	byAddress   map[resource.Address]*orphan
	createdByUs map[serviceID]*orphan      // orphans that planform created and that are not protected
	keptInside  map[resource.Address]Cause // causes why objects stay for another object in them
	rows        map[Read]map[string]resource.Row
	usedBy      map[string][]use // by the ID of the named object, as far as lists were indexed
	indexed     map[Read]bool
	// Made when first needed:
	named      map[serviceID]resource.Address // objects of the manifest that name an object which it does not list
	lastWrites map[string]time.Time           // see memberRecords.lastWrites
}

// orphan is an object that the state has and the manifest does not have any more.
type orphan struct {
	record   Record
	info     *kindInfo
	parent   *orphan           // its parent, if that is an orphan too
	params   map[string]string // path parameters of its own requests; nil = they are not known
	row      resource.Row      // nil = not read
	decision decision
	causes   []Cause        // the causes why it stays; those of the code OfOthers do not keep it in a run with DeleteChanged
	owner    resource.Owner // its other owner, if others is set
	others   bool           // a row that was read shows that another owner has it
	mustRead bool           // it is read even if it stays, because it may be gone or belong to another owner
	unread   bool           // its contents or users were not read, because that takes too many requests
	contents []Content
	guards   []Guard
	loss     *Loss
	step     *Step
}

func (o *orphan) id() serviceID { return serviceID{o.info.kind.Name, o.record.ID} }

// isDeleted reports whether the run deletes an orphan, by itself or with its parent.
func (o *orphan) isDeleted() bool { return o.decision == toDelete || o.decision == deleteWithParent }

// cause returns the cause why an orphan stays. A cause that DeleteChanged does not overrule comes first.
func (o *orphan) cause() Cause {
	if len(o.causes) == 0 {
		return Cause{}
	}
	return o.causes[max(0, slices.IndexFunc(o.causes, func(c Cause) bool { return c.Code != OfOthers }))]
}

// staysForOthers reports whether an orphan stays for others only, so that DeleteChanged would delete it.
func (o *orphan) staysForOthers() bool { return o.decision == blocked && o.cause().Code == OfOthers }

// keptWithCause returns the cause why another orphan stays with this one, if this one stays.
func (o *orphan) keptWithCause(text string) Cause {
	switch {
	case o.decision == leftArchived, o.staysForOthers():
		return ofOthers(text)
	case o.decision == blocked:
		return refused(text)
	}
	return Cause{}
}

// block blocks an orphan for causes.
func (rp *orphans) block(l *orphan, causes ...Cause) {
	for _, c := range causes {
		if !c.exists() || slices.Contains(l.causes, c) {
			continue
		}
		if l.causes = append(l.causes, c); c.Code != OfOthers || !rp.in.DeleteChanged {
			l.decision = blocked
		}
	}
}

// blockFor asks for the reasons to keep an orphan, one after the other, until one blocks it.
func (rp *orphans) blockFor(l *orphan, reasons ...func(*orphan) []Cause) {
	for _, reason := range reasons {
		if l.decision != toDelete && l.decision != undecided {
			return
		}
		rp.block(l, reason(l)...)
	}
}

// count records the number of objects of one sort that an orphan has.
func (o *orphan) count(noun string, where Where, n int) {
	at := slices.IndexFunc(o.contents, func(c Content) bool { return c.Noun == noun && c.Where == where })
	switch {
	case at >= 0:
		o.contents[at].Count = n
	case n > 0:
		o.contents = append(o.contents, Content{noun, where, n})
	}
}

// decision is the decision about an orphan.
type decision int8

const (
	undecided        decision = iota
	otherSource               // a manifest that is not read may have it
	notOurs                   // planform did not make it
	otherOwner                // it, its parent or an object above it bears the mark of another owner
	toDelete                  // it is deleted
	deleteWithParent          // the service deletes it with its parent
	vanished                  // the service does not show it any more
	aliased                   // it is tracked under another address
	leftInParent              // its parent stays because of others, or is archived or a draft, and so it stays, too
	leftArchived              // it is archived or a draft
	blocked                   // something prevents the deletion, see causes
)

// isOrphan reports whether an object of the state may be pruned if the manifest does not have it.
func (in *Input) isOrphan(a resource.Address, r *Record) bool {
	return r.CreatedByUs && a.IsObject() && in.isTargeted(a) && in.isSourceGone(r)
}

// findOrphans finds the orphans, and decides about each.
func findOrphans(differ *comparer, records *memberRecords) *orphans {
	rp := &orphans{
		analysis: differ.analysis, refs: differ.refs, differ: differ, records: records, byAddress: map[resource.Address]*orphan{}, createdByUs: map[serviceID]*orphan{},
		keptInside: map[resource.Address]Cause{}, rows: map[Read]map[string]resource.Row{},
		usedBy: map[string][]use{}, indexed: map[Read]bool{},
	}
	for _, address := range slices.Sorted(maps.Keys(rp.in.Prior)) {
		_, wanted := rp.objects.indexOf(address)
		switch {
		case wanted, !address.IsObject(), resource.MustLookup(address.Kind()).Section == "" && rp.in.Deletes == nil: // a manifest cannot have objects of the kind
		case !rp.in.isTargeted(address):
			rp.keepParents(address, refused(string(address)+" in it "+rp.in.whyNotTargeted()))
		default:
			rp.add(rp.in.Prior[address])
		}
	}
	rp.findMarked()
	slices.SortFunc(rp.list, func(a, b *orphan) int {
		return cmp.Or(cmp.Compare(a.info.rank, b.info.rank), cmp.Compare(a.record.Address, b.record.Address))
	})
	for _, l := range rp.list {
		rp.locate(l)
		rp.leaveToOwner(l)
	}
	if !rp.in.Prune { // all other orphans stay
		rp.list = slices.DeleteFunc(rp.list, func(l *orphan) bool { return l.decision != otherOwner })
		return rp
	}
	for i, o := range rp.objects.all() {
		if f := &rp.objects.states[i]; f.presence == hidden && f.id != "" && !f.keptDeleted {
			rp.indexHidden(f.info, f.id, f.row, rp.in.Prior[o.Address].Values)
		}
	}
	rp.countReads()
	for rest := rp.list; len(rest) > 0; { // parents are decided before the orphans in them
		n := 1
		for n < len(rest) && rest[n].info == rest[0].info {
			n++
		}
		same := rest[:n]
		rp.service.each(n, func(i int) { rp.decide(same[i]) })
		rest = rest[n:]
	}
	for rp.keepUsed() {
		rp.decideInKept()
	}
	for _, l := range rp.list {
		if l.decision == toDelete {
			l.loss = rp.loss(l)
		}
	}
	return rp
}

// add adds a record to the orphans. If the answer to the record's create was lost, it looks up the ID of the object.
func (rp *orphans) add(r Record) {
	l := &orphan{info: rp.objects.kind(r.Address.Kind())}
	if rp.in.Prune {
		if id, lost := rp.snapshot.lostCreate(&r, rp.refs.paramsIn(r.Address.Parent())); lost && id == "" {
			l.decision = vanished
		} else if lost {
			r.ID, r.CreatedByUs = id, true
		}
	}
	l.record, l.mustRead = r, r.Protect || l.info.kind.Parent == "" && len(resource.Children(l.info.kind.Name)) > 0
	rp.byAddress[r.Address] = l
	rp.list = append(rp.list, l)
	if r.CreatedByUs && !r.Protect && rp.in.isSourceGone(&r) {
		rp.createdByUs[l.id()] = l
	}
}

// byItsMark is the source of an object without a record: only its mark shows that a manifest had it.
const byItsMark = "its mark"

// findMarked adds the unrecorded objects to the orphans, if the manifest has an owner. A mark without an owner may belong to another manifest.
func (rp *orphans) findMarked() {
	if rp.in.Owner == "" || !rp.in.Prune {
		return
	}
	for _, r := range rp.unrecorded() {
		known := rp.byAddress[r.Address]
		if (known == nil || known.record.ID == "") && rp.in.isTargeted(r.Address) {
			rp.list = slices.DeleteFunc(rp.list, func(l *orphan) bool { return l == known })
			rp.add(r)
		}
	}
}

// unrecorded returns objects with the mark of the manifest's owner that neither the manifest nor the state has. It searches only the lists that
// were read.
func (rp *orphans) unrecorded() (found []Record) {
	for at, l := range rp.snapshot.listings {
		if l.presence != exists || !at.kind.externalIDs {
			continue
		}
		for _, row := range l.rows {
			id := serviceID{at.kind.kind.Name, row.ID()}
			_, wanted := rp.objects.owners[id]
			if owner, marked := row.Owner(); !marked || owner != rp.in.Owner || wanted || len(rp.objects.addressesOf(id)) > 0 {
				continue
			}
			if _, other := rp.otherOwnerAbove(at.kind, rp.objects.params(at.parent), row); other {
				continue
			}
			r := Record{
				Address: rp.addressInMark(at, row), ID: row.ID(), Identifier: rp.objects.readableID(at.kind.kind, at.parent, row),
				CreatedByUs: true, Sources: []string{byItsMark},
			}
			r.AppliedAt, _ = time.Parse(time.RFC3339, row.Text("created_at")) // changes by others since then count
			recorded, known := rp.in.Prior[r.Address]
			if _, again := rp.objects.indexOf(r.Address); !again && !(known && recorded.ID == "" && len(recorded.Sources) > 0) { // else the address is in use
				found = append(found, r)
			}
		}
	}
	return found
}

// addressInMark returns the address in an object's mark, or an address with its ID if the mark has another kind or parent.
func (rp *orphans) addressInMark(at scope, row resource.Row) resource.Address {
	parent := resource.Address("")
	if at.parent != noObject {
		parent = rp.in.Desired[at.parent].Address
	}
	was, _ := strings.CutPrefix(row.Text("external_id"), rp.in.Workspace+"/")
	if a := resource.Address(was); a.IsObject() && a.Kind() == at.kind.kind.Name && a.Parent() == parent {
		return a
	}
	return addressIn(parent, at.kind.kind, row.ID())
}

// otherOwnerAbove returns the other owner whose mark is on a row, or on an ancestor of the row's own kind.
func (rp *orphans) otherOwnerAbove(t *kindInfo, params map[string]string, row resource.Row) (owner resource.Owner, ok bool) {
	field, rows := parentField(t.kind), rp.listed(t, params)
	for n := 0; row != nil && n <= len(rows); n++ { // n limits the loop if the parents form a cycle
		if owner, ok = rp.in.otherOwner(row, true); ok || field == nil {
			return owner, ok
		}
		up, _ := field.ObservedIn(row)
		row = rows[up]
	}
	return "", false
}

// leaveToOwner leaves an orphan to another owner if a row that was read shows that owner's mark on the orphan, its parent or an object above
// it.
func (rp *orphans) leaveToOwner(l *orphan) {
	row := rp.rowOf(l)
	l.owner, l.others = rp.otherOwnerAbove(l.info, l.params, row)
	switch i, wanted := rp.objects.indexOf(l.record.Address.Parent()); {
	case l.parent != nil && l.parent.others:
		l.owner, l.others = l.parent.owner, true
	case wanted && rp.objects.inForeign(l.info, i, row):
		l.owner, l.others = rp.objects.ownerOf(i)
	}
	switch {
	case !l.others, l.decision == aliased, l.decision == vanished, !rp.in.isSourceGone(&l.record):
	case rp.in.Deletes != nil && (l.parent == nil || !l.parent.others):
		l.decision, l.causes = blocked, []Cause{refused("it belongs to " + l.owner.String())}
	default:
		l.decision = otherOwner
	}
}

// belongsToOther reports whether another owner is known to have the object at an address.
func (rp *orphans) belongsToOther(a resource.Address) bool {
	i, wanted := rp.objects.indexOf(a)
	l := rp.byAddress[a]
	return wanted && rp.objects.states[i].foreign || l != nil && l.others
}

// declaresOther reports whether another owner has the object that declares a membership, which is the member or the container.
func (rp *orphans) declaresOther(m *resource.Membership, container resource.Address, member string) bool {
	if m.On == m.Container {
		return rp.belongsToOther(container)
	}
	return rp.belongsToOther(rp.objects.addressOf(serviceID{m.Member, member}))
}

// hasVanished reports whether an object, or an ancestor, is an orphan that the service no longer has.
func (rp *orphans) hasVanished(a resource.Address) bool {
	for ; a != ""; a = a.Parent() {
		if l := rp.byAddress[a]; l != nil && l.decision == vanished {
			return true
		}
	}
	return false
}

// keepParents records a cause why the parents of an object stay. The first cause counts, but a cause of another code replaces one of the code
// OfOthers, which DeleteChanged ignores.
func (rp *orphans) keepParents(a resource.Address, c Cause) {
	for a = a.Parent(); a != ""; a = a.Parent() {
		was := rp.keptInside[a]
		if c.Code == OfOthers && rp.in.DeleteChanged || was.exists() && (was.Code != OfOthers || c.Code == OfOthers) {
			return
		}
		rp.keptInside[a] = c
	}
}

// locate sets the parent and the path parameters of an orphan, and makes the decisions that need only the state.
func (rp *orphans) locate(l *orphan) {
	r, k, inside := &l.record, l.info.kind, Cause{}
	l.parent, l.params = rp.byAddress[r.Address.Parent()], rp.refs.paramsIn(r.Address.Parent())
	if l.params != nil {
		l.params[k.Param] = r.ID
	}
	if l.parent != nil {
		l.parent.mustRead = true
	}
	_, wanted := rp.objects.owners[l.id()]
	switch other := rp.in.otherSource(r); {
	case other != "":
		l.decision, inside = otherSource, refused(string(r.Address)+" in it comes from "+other+", which is not part of this run")
	case l.decision == vanished:
	case r.ID == "" || !r.CreatedByUs:
		l.decision = notOurs
		if len(k.Predefined) == 0 && !k.Singleton { // every parent has predefined objects and singletons
			inside = ofOthers("planform did not create " + string(r.Address) + " in it")
		}
	case wanted || len(rp.objects.addressesOf(l.id())) > 1:
		l.decision = aliased
	case !rp.in.isSourceGone(r):
		l.decision, inside = otherSource, refused("the state file does not say which manifest had "+string(r.Address)+" in it")
	case r.Protect:
		l.decision = blocked
	case !rp.in.DeleteUnrecorded && slices.Contains(r.Sources, byItsMark):
		rp.block(l, refused("the state does not know it: nobody can tell whether it was protected"))
	}
	if r.Protect {
		inside = refused(string(r.Address) + " in it is protected")
	}
	if inside.exists() {
		rp.keepParents(r.Address, inside)
	}
}

// decide decides about an orphan, after its parent.
func (rp *orphans) decide(l *orphan) {
	p := cmp.Or(l.parent, &orphan{})
	switch {
	case l.decision != aliased && p.decision == vanished:
		l.decision = vanished
	case l.decision != undecided:
		rp.confirmKept(l)
	case p.isDeleted():
		l.decision = deleteWithParent
	case p.decision == leftArchived, p.decision == leftInParent, rp.objects.stateAt(l.record.Address.Parent()).presence == hidden,
		p.staysForOthers() && p.info.parent != nil:
		l.decision = leftInParent
	case p.decision == blocked && p.info.kind.Single:
		rp.block(l, refused("its "+p.info.kind.Noun()+" stays"))
	default:
		switch rp.blockFor(l, rp.whyOutOfReach, rp.presence); l.decision { //nolint:exhaustive // the others need no more checks
		case leftArchived:
			rp.indexHidden(l.info, l.record.ID, l.row, l.record.Values)
		case toDelete:
			rp.leaveToOwner(l)
			rp.blockFor(l, rp.changedByOthers, rp.foreignContents, rp.unlistedContents, rp.managedElsewhere)
		}
	}
}

// confirmKept checks whether an orphan that stays still exists, and whether another owner has it. Decisions about its children depend on both.
func (rp *orphans) confirmKept(l *orphan) {
	if !l.mustRead || l.record.ID == "" || l.params == nil || l.decision != notOurs && l.decision != blocked && l.decision != otherSource {
		return
	}
	was := l.decision
	if rp.presence(l); l.decision != vanished {
		l.decision = was
	}
	rp.leaveToOwner(l)
}

// whyOutOfReach returns a cause if the parent of an orphan is not known, an object in the orphan keeps it, or the API cannot delete it.
func (rp *orphans) whyOutOfReach(l *orphan) []Cause {
	parent := l.record.Address.Parent()
	i, wanted := rp.objects.indexOf(parent)
	switch inside := rp.keptInside[l.record.Address]; {
	case l.params == nil && wanted && (rp.objects.states[i].presence == absent || rp.objects.states[i].replaced):
		l.decision = vanished // its parent is gone
	case l.params == nil:
		return []Cause{refused("the ID of " + string(parent) + " is not known")}
	case inside.exists():
		return []Cause{inside}
	case l.info.delete == nil:
		return []Cause{notOffered(offeredByWider(l.info.api, l.info.kind, resource.Delete), l.info.api.Noun()+" cannot delete "+
			diag.A(l.info.kind.Noun())+": delete it in Plane, then run planform state rm "+string(l.record.Address))}
	}
	return nil
}

// managedElsewhere returns a cause if the service refuses to delete an orphan because the workspace manages its kind on another level.
func (rp *orphans) managedElsewhere(l *orphan) []Cause {
	if who, _ := rp.snapshot.managedElsewhere(l.info.kind); who != "" {
		return []Cause{refused("in this workspace " + who + " manages the " + l.info.kind.Governance.Noun())}
	}
	return nil
}

// indexHidden adds a hidden object to the uses of the object above it, because no list shows it. If its row is not known, the state tells the
// object above it.
func (rp *orphans) indexHidden(t *kindInfo, id string, row resource.Row, applied map[string]string) {
	field := parentField(t.kind)
	if field == nil {
		return
	}
	up, known := field.ObservedIn(row)
	if !known {
		up, row = applied[field.Name], resource.Row{"id": id}
	}
	rp.usedBy[up] = append(rp.usedBy[up], use{t, field, row, nil})
}

// keepUsed blocks orphans that objects of the manifest or of others use, or that have something below them which stays. It reports whether any
// decision changed.
func (rp *orphans) keepUsed() (changed bool) {
	rp.service.each(len(rp.list), func(i int) {
		if l := rp.list[i]; l.decision == toDelete {
			rp.blockFor(l, rp.foreignBelow, rp.namedInManifest, rp.namedInFields, rp.foreignMembers, rp.foreignContainers, rp.unlistedUsers,
				rp.whyNotRead)
			changed = changed || l.decision != toDelete
		}
	})
	return changed
}

// decideInKept decides again about the contents of orphans that stay, because they are no longer deleted with them.
func (rp *orphans) decideInKept() {
	for again := []*orphan{{}}; len(again) > 0; {
		again = slices.DeleteFunc(slices.Clone(rp.list), func(l *orphan) bool { return l.decision != deleteWithParent || l.parent.isDeleted() })
		rp.service.each(len(again), func(i int) {
			again[i].decision = undecided
			rp.decide(again[i])
		})
	}
}
