package state

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// store is a state that changes.
type store struct {
	content
	// before holds the former values of records set since the state was saved; the zero
	// record is one that did not exist.
	before planner.Prior
	// replanned is set where Plan or Owners are not as they were saved.
	replanned bool
	// unowned is set where the state was written before it had owners.
	unowned bool
	// latest is the time of the latest line; zero = not known.
	latest time.Time
	// newest is the highest readable number known in each scope; see noteNumber.
	newest map[string]int
	// memberships are the addresses of membership records by container. Some may be removed.
	memberships map[resource.Address][]resource.Address
	// children are the addresses of the records in each parent. Some may be removed.
	children map[resource.Address][]resource.Address
}

// owners are those whose marks the objects of the state may bear.
func (m *store) owners() []resource.Owner {
	if len(m.Owners) == 0 && len(m.records) > 0 {
		return []resource.Owner{""}
	}
	return m.Owners
}

// own notes that the state knows all that planform made for an owner.
func (m *store) own(owner resource.Owner) {
	if !slices.Contains(m.Owners, owner) {
		all := append(slices.Clone(m.Owners), owner)
		if m.unowned {
			all = append(all, "")
		}
		m.Owners, m.replanned = slices.Compact(slices.Sorted(slices.Values(all))), true
	}
}

// newStore indexes the records of a state.
func newStore(c content) store {
	m := store{content: c, unowned: len(c.Owners) == 0 && len(c.records) > 0, memberships: map[resource.Address][]resource.Address{}, children: map[resource.Address][]resource.Address{}}
	for _, r := range c.records {
		m.index(r.Address)
		m.noteNumber(&r)
		if m.sawActivity(r.AppliedAt); r.PendingIntent != nil {
			m.sawActivity(r.PendingIntent.At)
		}
	}
	return m
}

func (m *store) index(address resource.Address) {
	if container, _, _, ok := address.ParseMembership(); ok {
		m.memberships[container] = append(m.memberships[container], address)
	}
	parent := address.Parent()
	m.children[parent] = append(m.children[parent], address)
}

// sawActivity notes the time of a line.
func (m *store) sawActivity(at time.Time) {
	if at.After(m.latest) {
		m.latest = at
	}
}

// recordAddress is the address of a step's record: the batches of one container's members
// share one.
func recordAddress(step resource.Address) resource.Address {
	if _, _, first, ok := step.ParseMembership(); ok {
		return first
	}
	return step
}

// apply applies one line of the journal. It is the only way in which steps
// change a state, during a run and when a journal is replayed, so that both agree.
func (m *store) apply(l line) {
	m.sawActivity(l.At)
	address := recordAddress(l.step())
	r := m.records[address]
	r.Address = address
	switch {
	case l.Intent != "":
		if earlier := r.PendingIntent; earlier == nil || earlier.Action != planner.Create || r.ID != "" || *l.Action == planner.Create {
			r.PendingIntent = together(earlier, l.intent())
		} // else the outcome of the earlier create still matters
		r.Sources, r.Origin = slices.Concat(r.Sources, l.Sources), r.Origin.Next(l.Origin)
		r.Protect = r.Protect || l.Protect
	case l.Abort != "":
		r.PendingIntent = l.PendingIntent
	default:
		r.PendingIntent, r.AppliedAt = l.PendingIntent, l.At
		m.applyCommit(l, &r)
	}
	if r = normalRecord(r); isEmpty(&r) {
		m.remove(address)
		return
	}
	m.set(r)
}

// together is an intent and the one before it at the same record: of members that two
// requests were to add, or to take out, it names all, also where others were to leave later; of a create, that some run sent it in a batch;
// of updates, what any of them sends.
func together(earlier *planner.Intent, later planner.Intent) *planner.Intent {
	members := later.Action == planner.AddMembers || later.Action == planner.RemoveMembers
	if earlier != nil && members && earlier.Action == later.Action && earlier.Name != later.Name {
		later.Name = earlier.Name + "\n" + later.Name
	}
	if earlier != nil && earlier.Action == planner.AddMembers && (later.Action == planner.RemoveMembers || later.Action == planner.Update) {
		return earlier // who left is read, and what they are; who came is nobody's without it
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

// applyCommit updates a record after a step that succeeded.
func (m *store) applyCommit(l line, r *planner.Record) {
	if l.Late.After(r.Late) {
		r.Late = l.Late
	} else if !r.Late.After(l.At) {
		r.Late = time.Time{} // it is over
	}
	switch *l.Action {
	case planner.Create, planner.Update, planner.Adopt:
		if l.ID != "" && r.ID != "" && l.ID != r.ID {
			// It is another object now: the values of the former one are void.
			r.Identifier, r.Values, r.CreatedByUs, r.Origin = "", nil, false, nil
			m.dropMemberships(r.Address)
			m.resetSequence(r.Address)
			if *l.Action == planner.Create { // the former one does not exist, nor do its memberships
				m.removeMember(r.ID, func(resource.Address) bool { return true })
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
		m.dropChildren(r.Address)
		m.dropMemberships(r.Address)
		m.resetSequence(r.Address)
		m.removeMember(r.ID, func(resource.Address) bool { return true })
		*r = planner.Record{Address: r.Address, PendingIntent: l.PendingIntent}
	case planner.AddMembers:
		if len(r.Members) == 0 || len(r.Sources) > 0 { // else the sources of the other members are not known
			r.Sources = slices.Concat(r.Sources, l.Sources)
		}
		r.Members, r.Values = slices.Concat(r.Members, l.Members), planner.MergeValues(r.Values, l.Values)
		r.Found = slices.DeleteFunc(slices.Clone(r.Found), func(id string) bool { return slices.Contains(l.Members, id) })
		if leaves := exclusiveWith(r.Address); leaves != nil {
			for _, id := range l.Members {
				m.removeMember(id, leaves)
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

// dropOver drops records that held nothing but until when a request may still come.
func (m *store) dropOver(now time.Time) {
	for address, r := range m.records {
		if !r.Late.IsZero() && !r.Late.After(now) {
			if r.Late = (time.Time{}); isEmpty(&r) {
				m.remove(address)
			}
		}
	}
}

func (m *store) set(r planner.Record) {
	m.remember(r.Address)
	before, known := m.records[r.Address]
	if !known {
		m.index(r.Address)
	}
	if r.ID != before.ID || r.Identifier != before.Identifier {
		m.noteNumber(&r) // else it is known, or from before resetSequence
	}
	m.records[r.Address] = r
}

func (m *store) remove(address resource.Address) {
	if _, ok := m.records[address]; ok {
		m.remember(address)
		delete(m.records, address)
	}
}

func (m *store) remember(address resource.Address) {
	if _, ok := m.before[address]; ok {
		return
	}
	if m.before == nil {
		m.before = planner.Prior{}
	}
	m.before[address] = m.records[address]
}

// changed reports whether there is anything to save.
func (m *store) changed() bool {
	if m.replanned {
		return true
	}
	for address, before := range m.before {
		if !reflect.DeepEqual(m.records[address], before) {
			return true
		}
	}
	return false
}

// dropMemberships removes the membership records of a container that does not exist any more.
func (m *store) dropMemberships(container resource.Address) {
	for _, address := range m.memberships[container] {
		m.remove(address)
	}
	delete(m.memberships, container)
}

// dropChildren removes the records of the objects in a deleted one: if the run died before
// their own steps, they would have no parent.
func (m *store) dropChildren(of resource.Address) {
	for _, address := range m.children[of] {
		m.dropChildren(address)
		m.dropMemberships(address)
		m.remove(address)
	}
	delete(m.children, of)
}

// exclusiveWith selects the membership records that lose a member who is added to the given
// one: those of the same exclusive membership. nil = none.
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
func (m *store) removeMember(id string, selected func(resource.Address) bool) {
	if id == "" {
		return
	}
	for _, addresses := range m.memberships {
		for _, address := range addresses {
			r := m.records[address]
			at, member := slices.BinarySearch(r.Members, id)
			if !member || !selected(address) {
				continue
			}
			r.Members = slices.Delete(slices.Clone(r.Members), at, at+1)
			if r = normalRecord(r); isEmpty(&r) {
				m.remove(address)
			} else {
				m.set(r)
			}
		}
	}
}
