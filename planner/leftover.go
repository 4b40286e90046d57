package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/resource"
)

// orphan is an object that the state knows and the manifest does not have any more.
type orphan struct {
	record   Record
	info     *kindInfo
	delete   *resource.Operation // nil = not offered
	parent   *orphan             // what it lives in, if that is orphaned too
	params   map[string]string   // path parameters of its own requests; nil = they are not known
	decision decision
	reason   string // why it stays
	visited  bool
	guards   []Guard
	step     *Step
}

// decision is what becomes of an orphan.
type decision int8

const (
	undecided        decision = iota
	needsRead                 // a read must be answered first
	otherSource               // another manifest than those that are read may want it
	notOurs                   // planform did not make it
	toDelete                  // it is deleted
	deleteWithParent          // it is deleted with what it lives in
	vanished                  // the service does not show it any more
	aliased                   // it has another address by now
	leftArchived              // it is archived, or a draft, or in something that is: left alone
	blocked                   // it is wanted no more, and cannot be deleted
)

// isOrphan reports whether an object goes if the manifest does not have it.
func (s *Snapshot) isOrphan(a resource.Address, r *Record) bool {
	return r.CreatedByUs && a.IsObject() && s.in.targeted(a) && s.in.sourceGone(r)
}

// findOrphans decides what becomes of the objects that the state knows and the
// manifest does not have any more.
func (s *Snapshot) findOrphans() {
	if !s.in.Prune || len(s.reads) > 0 { // else it is not clear yet what the manifest has
		return
	}
	s.gone = map[resource.Address]bool{}
	at := map[resource.Address]*orphan{}
	bound := map[serviceID]int{} // records of one object
	made := map[serviceID]*orphan{}
	var kept []resource.Address // that are neither wanted nor targeted
	for address, r := range s.in.Prior {
		if !address.IsObject() {
			continue
		}
		id := serviceID{address.Kind(), r.ID}
		bound[id]++
		_, wanted := s.indexOf(address)
		switch {
		case wanted:
		case !s.in.targeted(address):
			kept = append(kept, address)
		default:
			l := &orphan{record: r, info: s.kinds[resource.MustLookup(address.Kind())]}
			l.delete, _ = l.info.kind.Op(resource.Delete, s.in.API)
			at[address] = l
			s.orphans = append(s.orphans, l)
			if r.CreatedByUs && !r.Protect && s.in.sourceGone(&r) {
				made[id] = l
			}
		}
	}
	slices.SortFunc(s.orphans, func(a, b *orphan) int {
		return cmp.Or(cmp.Compare(a.info.rank, b.info.rank), cmp.Compare(a.record.Address, b.record.Address))
	})
	slices.Sort(kept)
	p := &pruner{
		Snapshot: s, at: at, recordCount: bound, createdByUs: made, lostCreates: map[string]*orphan{}, blockedBy: map[resource.Address]string{},
		listed: map[string]int{}, rows: map[string]map[string]resource.Row{},
	}
	p.decideAll(kept)
}

// hasVanished reports whether an object, or what it lives in, is orphaned and not on
// the service any more.
func (s *Snapshot) hasVanished(a resource.Address) bool {
	for ; a != ""; a = a.Parent() {
		if s.gone[a] {
			return true
		}
	}
	return false
}

// listRead is the read that lists an object, where there is one.
func (l *orphan) listRead() (Read, bool) {
	if l.info.list == nil || l.params == nil {
		return Read{}, false
	}
	path, missing := l.info.list.Expand(l.params)
	return Read{Operation: l.info.list, Path: path, Fields: l.info.fields}, missing == ""
}

// recordCreated takes down what a create without an outcome made.
func (l *orphan) recordCreated(id string) {
	l.record.ID, l.record.CreatedByUs, l.params[l.info.kind.Param] = id, true, id
}

// block says why an object stays that is wanted no more.
func (l *orphan) block(why string) decision {
	l.decision, l.reason = blocked, "it would be deleted, but "+why
	return blocked
}
