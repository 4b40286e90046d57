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
	// before holds the records that were set since the state was saved, as they
	// were then; the zero record is one that was not there.
	before planner.Prior
	// latest is the time of the latest line; zero = not known.
	latest time.Time
	// newest holds the highest readable number known of each sequence; see number.
	newest map[string]int
	// memberships holds the membership records by container; nil = not gathered yet.
	memberships map[resource.Address][]resource.Address
	// children holds what lives in a thing; nil = not gathered yet.
	children map[resource.Address][]resource.Address
}

// sawActivity notes when something was written.
func (m *store) sawActivity(at time.Time) {
	if at.After(m.latest) {
		m.latest = at
	}
}

// recordAddress is where the record of a step is kept: batches of the members
// of one container share one.
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
		if lost := r.PendingIntent; lost == nil || lost.Action != planner.Create || r.ID != "" || *l.Action == planner.Create {
			r.PendingIntent = &planner.Intent{Action: *l.Action, Name: l.Name, After: l.After, At: l.At}
		} // else what matters is still what became of the create
		r.Sources = slices.Concat(r.Sources, l.Sources)
	case l.Abort != "":
		r.PendingIntent = l.PendingIntent
	default:
		r.PendingIntent, r.AppliedAt = l.PendingIntent, l.At
		m.applyCommit(l, &r)
	}
	if r = normalRecord(r); empty(&r) {
		m.remove(address)
		return
	}
	m.set(r)
}

// applyCommit makes of a record what a step that succeeded made of the object.
func (m *store) applyCommit(l line, r *planner.Record) {
	switch *l.Action {
	case planner.Create, planner.Update, planner.Adopt:
		if l.ID != "" && r.ID != "" && l.ID != r.ID {
			// It is another thing now: what was known of the former one is void.
			r.Identifier, r.Values, r.CreatedByUs = "", nil, false
			m.dropMemberships(r.Address)
			m.resetSequence(r.Address)
			if *l.Action == planner.Create { // the former one is gone, and is in nothing any more
				m.removeMember(r.ID, func(resource.Address) bool { return true })
			}
		}
		if l.ID != "" {
			r.ID = l.ID
		}
		r.CreatedByUs, r.Protect = r.CreatedByUs || l.CreatedByUs, l.Protect
		r.Sources = slices.Concat(r.Sources, l.Sources)
		if l.Identifier != "" {
			r.Identifier = l.Identifier
		}
		r.Values = merged(r.Values, l.Values)
	case planner.Delete:
		m.dropChildren(r.Address)
		m.dropMemberships(r.Address)
		m.resetSequence(r.Address)
		m.removeMember(r.ID, func(resource.Address) bool { return true })
		*r = planner.Record{Address: r.Address, PendingIntent: l.PendingIntent}
	case planner.AddMembers:
		if len(r.Members) == 0 || len(r.Sources) > 0 { // else it is not known where the others stood
			r.Sources = slices.Concat(r.Sources, l.Sources)
		}
		r.Members, r.Values = slices.Concat(r.Members, l.Members), merged(r.Values, l.Values)
		r.Found = slices.DeleteFunc(slices.Clone(r.Found), func(id string) bool { return slices.Contains(l.Members, id) })
		if former := formerOf(r.Address); former != nil {
			for _, id := range l.Members {
				m.removeMember(id, former)
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

// merged are values with newer ones; the former may be in use elsewhere.
func merged(values, newer map[string]string) map[string]string {
	if len(newer) == 0 {
		return values
	}
	all := make(map[string]string, len(values)+len(newer))
	maps.Copy(all, values)
	for field := range newer {
		delete(all, planner.ShownKey(field))
	}
	maps.Copy(all, newer)
	return all
}

// empty reports whether a record says nothing.
func empty(r *planner.Record) bool {
	return r.ID == "" && r.Identifier == "" && len(r.Values) == 0 && len(r.Members) == 0 && r.PendingIntent == nil
}

func (m *store) set(r planner.Record) {
	m.remember(r.Address)
	before, known := m.records[r.Address]
	if container, ok := containerOf(r.Address); ok && m.memberships != nil && !known {
		m.memberships[container] = append(m.memberships[container], r.Address)
	}
	if m.children != nil && !known {
		parent := r.Address.Parent()
		m.children[parent] = append(m.children[parent], r.Address)
	}
	if r.ID != before.ID || r.Identifier != before.Identifier {
		m.number(&r) // otherwise it is known, or from before a restart
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
	for address, before := range m.before {
		if !reflect.DeepEqual(m.records[address], before) {
			return true
		}
	}
	return false
}

func containerOf(address resource.Address) (resource.Address, bool) {
	container, _, _, ok := address.ParseMembership()
	return container, ok
}

// dropMemberships forgets the members of a container that is no more, or is another one now.
func (m *store) dropMemberships(container resource.Address) {
	m.gatherMemberships()
	for _, address := range m.memberships[container] {
		m.remove(address)
	}
	delete(m.memberships, container)
}

func (m *store) gatherMemberships() {
	if m.memberships != nil {
		return
	}
	m.memberships = map[resource.Address][]resource.Address{}
	for address := range m.records {
		if c, ok := containerOf(address); ok {
			m.memberships[c] = append(m.memberships[c], address)
		}
	}
}

// dropChildren forgets what lived in a thing that is no more: a run that dies
// between the two would leave it without a place.
func (m *store) dropChildren(of resource.Address) {
	if len(resource.Children(of.Kind())) == 0 {
		return
	}
	if m.children == nil {
		m.children = map[resource.Address][]resource.Address{}
		for address := range m.records {
			parent := address.Parent()
			m.children[parent] = append(m.children[parent], address)
		}
	}
	for _, address := range m.children[of] {
		m.dropChildren(address)
		m.dropMemberships(address)
		m.remove(address)
	}
	delete(m.children, of)
}

// formerOf tells the containers that the members of a record have left by entering its own.
func formerOf(roster resource.Address) func(other resource.Address) bool {
	_, membership, _, ok := roster.ParseMembership()
	if !ok || !membership.Membership.Exclusive {
		return nil
	}
	return func(other resource.Address) bool {
		_, same, _, _ := other.ParseMembership()
		return other != roster && same == membership
	}
}

// removeMember takes a thing out of the members of containers.
func (m *store) removeMember(id string, of func(roster resource.Address) bool) {
	if id == "" {
		return
	}
	m.gatherMemberships()
	for _, addresses := range m.memberships {
		for _, address := range addresses {
			r := m.records[address]
			at, member := slices.BinarySearch(r.Members, id)
			if !member || !of(address) {
				continue
			}
			r.Members = slices.Delete(slices.Clone(r.Members), at, at+1)
			if r = normalRecord(r); empty(&r) {
				m.remove(address)
			} else {
				m.set(r)
			}
		}
	}
}
