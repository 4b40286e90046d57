package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/resource"
)

// leftover is a thing that the state knows and the manifest does not have any more.
type leftover struct {
	record  Record
	traits  *traits
	delete  *resource.Operation // nil = not offered
	parent  *leftover           // what it lives in, if that is left over too
	params  map[string]string   // path parameters of its own requests; nil = they are not known
	fate    fate
	reason  string // why it stays
	visited bool
	guards  []Guard
	step    *Step
}

// fate is what becomes of a leftover.
type fate int8

const (
	open        fate = iota
	waits            // a read must be answered first
	alone            // another manifest than those that are read may want it
	stays            // planform did not make it
	goes             // it is deleted
	goesAlong        // it is deleted with what it lives in
	isGone           // the service does not show it any more
	isElsewhere      // it has another address by now
	refused          // it is wanted no more, and cannot be deleted
)

// mayGo reports whether a thing goes if the manifest does not have it.
func (s *Survey) mayGo(a resource.Address, r *Record) bool {
	return r.Made && a.IsThing() && s.in.targeted(a) && s.in.abandoned(r)
}

// findLeftovers decides what becomes of the things that the state knows and the
// manifest does not have any more.
func (s *Survey) findLeftovers() {
	if !s.in.Prune || len(s.reads) > 0 { // else it is not clear yet what the manifest has
		return
	}
	s.gone = map[resource.Address]bool{}
	at := map[resource.Address]*leftover{}
	bound := map[serviceID]int{} // records of one thing
	made := map[serviceID]*leftover{}
	var kept []resource.Address // that are neither wanted nor targeted
	for address, r := range s.in.Prior {
		if !address.IsThing() {
			continue
		}
		id := serviceID{address.Kind(), r.ID}
		bound[id]++
		_, wanted := s.placeOf(address)
		switch {
		case wanted:
		case !s.in.targeted(address):
			kept = append(kept, address)
		default:
			l := &leftover{record: r, traits: s.kinds[resource.Must(address.Kind())]}
			l.delete, _ = l.traits.kind.Op(resource.Delete, s.in.API)
			at[address] = l
			s.leftovers = append(s.leftovers, l)
			if r.Made && !r.Protect && s.in.abandoned(&r) {
				made[id] = l
			}
		}
	}
	slices.SortFunc(s.leftovers, func(a, b *leftover) int {
		return cmp.Or(cmp.Compare(a.traits.rank, b.traits.rank), cmp.Compare(a.record.Address, b.record.Address))
	})
	slices.Sort(kept)
	p := &pruner{
		Survey: s, at: at, bound: bound, made: made, lost: map[string]*leftover{}, holds: map[resource.Address]string{},
		listed: map[string]int{}, rows: map[string]map[string]resource.Row{},
	}
	p.decideAll(kept)
}

// isGone reports whether a thing, or what it lives in, is left over and not on
// the service any more.
func (s *Survey) isGone(a resource.Address) bool {
	for ; a != ""; a = a.Parent() {
		if s.gone[a] {
			return true
		}
	}
	return false
}

// listRead is the read that lists a thing, where there is one.
func (l *leftover) listRead() (Read, bool) {
	if l.traits.list == nil || l.params == nil {
		return Read{}, false
	}
	path, missing := l.traits.list.Expand(l.params)
	return Read{Operation: l.traits.list, Path: path, Fields: l.traits.fields}, missing == ""
}

// made takes down what a create without an outcome made.
func (l *leftover) made(id string) {
	l.record.ID, l.record.Made, l.params[l.traits.kind.Param] = id, true, id
}

// refuse says why a thing stays that is wanted no more.
func (l *leftover) refuse(why string) fate {
	l.fate, l.reason = refused, "it would be deleted, but "+why
	return refused
}
