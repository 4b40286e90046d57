package state

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// store is a state that changes.
type store struct {
	content
	// before holds the former values of records that changed since the state was saved. The zero record means
	// that the record did not exist.
	before planner.Prior
	// replanned is set if Plan or Owners differ from their saved values.
	replanned bool
	// unowned is set if the state was written before states had owners.
	unowned bool
	// latest is the time of the latest line; zero = not known.
	latest time.Time
	// newest is the highest readable number known in each scope; see noteNumber.
	newest map[string]int
	// memberships lists the addresses of membership records by container. Some may have been removed.
	memberships map[resource.Address][]resource.Address
	// children lists the addresses of the records in each parent. Some may have been removed.
	children map[resource.Address][]resource.Address
}

// owners returns the owners whose marks the objects of the state may bear.
func (st *store) owners() []resource.Owner {
	if len(st.Owners) == 0 && len(st.records) > 0 {
		return []resource.Owner{""}
	}
	return st.Owners
}

// addOwner records that the state knows all objects that planform created for an owner.
func (st *store) addOwner(owner resource.Owner) {
	if !slices.Contains(st.Owners, owner) {
		all := append(slices.Clone(st.Owners), owner)
		if st.unowned {
			all = append(all, "")
		}
		st.Owners, st.replanned = slices.Compact(slices.Sorted(slices.Values(all))), true
	}
}

// newStore indexes the records of a state.
func newStore(c content) store {
	m := store{content: c, unowned: len(c.Owners) == 0 && len(c.records) > 0, memberships: map[resource.Address][]resource.Address{}, children: map[resource.Address][]resource.Address{}}
	for _, r := range c.records {
		m.index(r.Address)
		m.noteNumber(&r)
		if m.noteTime(r.AppliedAt); r.PendingIntent != nil {
			m.noteTime(r.PendingIntent.At)
		}
	}
	return m
}

func (st *store) index(address resource.Address) {
	if container, _, _, ok := address.ParseMembership(); ok {
		st.memberships[container] = append(st.memberships[container], address)
	}
	parent := address.Parent()
	st.children[parent] = append(st.children[parent], address)
}

// noteTime records the time of a line if it is the latest.
func (st *store) noteTime(at time.Time) {
	if at.After(st.latest) {
		st.latest = at
	}
}

// recordAddress returns the address of a step's record. All batches of one container's members share one record.
func recordAddress(step resource.Address) resource.Address {
	if _, _, first, ok := step.ParseMembership(); ok {
		return first
	}
	return step
}

// apply applies one line of the journal. Steps change a state in no other way, during a run and when a
// journal is replayed, so that both agree.
func (st *store) apply(l line) {
	st.noteTime(l.At)
	address := recordAddress(l.step())
	r := st.records[address]
	r.Address = address
	switch {
	case l.Intent != "":
		if earlier := r.PendingIntent; earlier == nil || earlier.Action != planner.Create || r.ID != "" || *l.Action == planner.Create {
			r.PendingIntent = mergeIntents(earlier, l.intent())
		} // else the outcome of the earlier create still matters
		r.Sources, r.Origin = slices.Concat(r.Sources, l.Sources), r.Origin.Next(l.Origin)
		r.Protect = r.Protect || l.Protect
	case l.Abort != "":
		r.PendingIntent = l.PendingIntent
	default:
		r.PendingIntent, r.AppliedAt = l.PendingIntent, l.At
		st.applyCommit(l, &r)
	}
	if r = normalRecord(r); isEmpty(&r) {
		st.remove(address)
		return
	}
	st.set(r)
}

// mergeIntents merges an intent with the one before it at the same record. Of two requests that add or remove
// members, it keeps all names. If removals or an update follow an addition, it keeps the addition. If any
// create was sent in a batch, the result is in a batch. Of two updates it keeps the fields of both.
func mergeIntents(earlier *planner.Intent, later planner.Intent) *planner.Intent {
	members := later.Action == planner.AddMembers || later.Action == planner.RemoveMembers
	if earlier != nil && members && earlier.Action == later.Action && earlier.Name != later.Name {
		later.Name = earlier.Name + "\n" + later.Name
	}
	if earlier != nil && earlier.Action == planner.AddMembers && (later.Action == planner.RemoveMembers || later.Action == planner.Update) {
		return earlier // removals and updates can be read from the service, but only this intent tells who was added by planform
	}
	if earlier != nil && earlier.Action == planner.Create && later.Action == planner.Create {
		later.Batch = later.Batch || earlier.Batch
	}
	if earlier != nil && earlier.Updates() && later.Updates() {
		if len(earlier.Fields) == 0 || len(later.Fields) == 0 {
			later.Fields = nil
		} else {
			later.Fields = normalList(slices.Concat(earlier.Fields, later.Fields))
		}
		if earlier.Sent != later.Sent {
			later.Sent = ""
		}
	}
	return &later
}

// applyCommit puts a line of the journal, which says that a step succeeded, into the record of the step's object.
func (st *store) applyCommit(l line, r *planner.Record) {
	if l.Late.After(r.Late) {
		r.Late = l.Late
	} else if !r.Late.After(l.At) {
		r.Late = time.Time{} // the grace period is over
	}
	switch *l.Action {
	case planner.Create, planner.Update, planner.Adopt:
		if l.ID != "" && r.ID != "" && l.ID != r.ID {
			// It is another object now: the values of the former object are void.
			r.Identifier, r.Values, r.CreatedByUs, r.Origin = "", nil, false, nil
			st.dropMemberships(r.Address)
			st.resetSequence(r.Address)
			if *l.Action == planner.Create { // the former object and its memberships do not exist
				st.removeMember(r.ID, func(resource.Address) bool { return true })
			}
		}
		if l.ID != "" {
			r.ID = l.ID
		}
		r.CreatedByUs, r.Protect = r.CreatedByUs || l.CreatedByUs, l.Protect
		r.Sources, r.Origin = slices.Concat(r.Sources, l.Sources), r.Origin.Next(l.Origin)
		if l.Identifier != "" {
			r.Identifier = l.Identifier
		}
		r.Values = planner.MergeValues(r.Values, l.Values)
	case planner.Delete:
		st.dropChildren(r.Address)
		st.dropMemberships(r.Address)
		st.resetSequence(r.Address)
		st.removeMember(r.ID, func(resource.Address) bool { return true })
		*r = planner.Record{Address: r.Address, PendingIntent: l.PendingIntent}
	case planner.AddMembers:
		if len(r.Members) == 0 || len(r.Sources) > 0 { // else the sources of the other members are not known
			r.Sources = slices.Concat(r.Sources, l.Sources)
		}
		r.Members, r.Values = slices.Concat(r.Members, l.Members), planner.MergeValues(r.Values, l.Values)
		r.Found = slices.DeleteFunc(slices.Clone(r.Found), func(id string) bool { return slices.Contains(l.Members, id) })
		if leaves := exclusiveWith(r.Address); leaves != nil {
			for _, id := range l.Members {
				st.removeMember(id, leaves)
			}
		}
	case planner.RemoveMembers:
		r.Members = slices.DeleteFunc(slices.Clone(r.Members), func(id string) bool { return slices.Contains(l.Members, id) })
		r.Values = maps.Clone(r.Values)
		maps.DeleteFunc(r.Values, func(key, _ string) bool {
			_, id, _ := strings.Cut(key, " ")
			return slices.Contains(l.Members, id)
		})
	case planner.NotPossible:
	}
}

// isEmpty reports whether a record holds nothing.
func isEmpty(r *planner.Record) bool {
	return r.ID == "" && r.Identifier == "" && len(r.Values) == 0 && len(r.Members) == 0 && r.PendingIntent == nil && r.Late.IsZero()
}

// dropExpired drops the end times of grace periods that are over, and the records that held nothing else.
func (st *store) dropExpired(now time.Time) {
	for address, r := range st.records {
		if !r.Late.IsZero() && !r.Late.After(now) {
			if r.Late = (time.Time{}); isEmpty(&r) {
				st.remove(address)
			}
		}
	}
}

func (st *store) set(r planner.Record) {
	st.saveFormer(r.Address)
	before, known := st.records[r.Address]
	if !known {
		st.index(r.Address)
	}
	if r.ID != before.ID || r.Identifier != before.Identifier {
		st.noteNumber(&r) // otherwise the number is known, or comes from before resetSequence
	}
	st.records[r.Address] = r
}

func (st *store) remove(address resource.Address) {
	if _, ok := st.records[address]; ok {
		st.saveFormer(address)
		delete(st.records, address)
	}
}

func (st *store) saveFormer(address resource.Address) {
	if _, ok := st.before[address]; ok {
		return
	}
	if st.before == nil {
		st.before = planner.Prior{}
	}
	st.before[address] = st.records[address]
}

// changed reports whether there is anything to save.
func (st *store) changed() bool {
	if st.replanned {
		return true
	}
	for address, before := range st.before {
		if !reflect.DeepEqual(st.records[address], before) {
			return true
		}
	}
	return false
}

// dropMemberships removes the membership records of a container that no longer exists.
func (st *store) dropMemberships(container resource.Address) {
	for _, address := range st.memberships[container] {
		st.remove(address)
	}
	delete(st.memberships, container)
}

// dropChildren removes the records of all objects in a deleted object. If the run died before their own steps, they would have no parent.
func (st *store) dropChildren(of resource.Address) {
	for _, address := range st.children[of] {
		st.dropChildren(address)
		st.dropMemberships(address)
		st.remove(address)
	}
	delete(st.children, of)
}

// exclusiveWith returns a filter for the membership records that lose a member who is added to the given one: the other records of the
// same exclusive membership. It returns nil if the membership is not exclusive.
func exclusiveWith(address resource.Address) func(other resource.Address) bool {
	_, membership, _, ok := address.ParseMembership()
	if !ok || !membership.Membership.Exclusive {
		return nil
	}
	return func(other resource.Address) bool {
		_, same, _, _ := other.ParseMembership()
		return other != address && same == membership
	}
}

// removeMember removes a member from the selected membership records.
func (st *store) removeMember(id string, selected func(resource.Address) bool) {
	if id == "" {
		return
	}
	for _, addresses := range st.memberships {
		for _, address := range addresses {
			r := st.records[address]
			at, member := slices.BinarySearch(r.Members, id)
			if !member || !selected(address) {
				continue
			}
			r.Members = slices.Delete(slices.Clone(r.Members), at, at+1)
			if r = normalRecord(r); isEmpty(&r) {
				st.remove(address)
			} else {
				st.set(r)
			}
		}
	}
}
