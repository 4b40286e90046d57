package state

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// memory is a state that changes.
type memory struct {
	content
	// before holds the entries that were set since the state was saved, as they
	// were then; the zero entry is one that was not there.
	before map[resource.Address]entry
	// latest is the time of the latest line, in Unix seconds.
	latest int64
	// newest holds the highest readable number known of each sequence; see number.
	newest map[string]int
	// rosters holds the membership records by container; nil = not gathered yet.
	rosters map[resource.Address][]resource.Address
	// inside holds what lives in a thing; nil = not gathered yet.
	inside map[resource.Address][]resource.Address
}

func (m *memory) prior() planner.Prior {
	prior := make(planner.Prior, len(m.entries))
	for address := range m.entries {
		prior[address] = m.entries[address].Record
	}
	return prior
}

func (m *memory) lastSign() time.Time {
	if m.latest == 0 {
		return time.Time{}
	}
	return time.Unix(m.latest, 0)
}

// recordAddress is where the record of a step is kept: batches of the members
// of one container share one.
func recordAddress(step resource.Address) resource.Address {
	if _, _, first, ok := step.Roster(); ok {
		return first
	}
	return step
}

// take takes one line of the journal in. It is the only way in which steps
// change a state, during a run and when a journal is folded, so that both agree.
func (m *memory) take(l line) {
	m.latest = max(m.latest, l.at)
	address := recordAddress(l.step)
	e := m.entries[address]
	e.Address = address
	switch l.kind {
	case intended:
		if lost := e.PendingIntent; lost == nil || lost.Action != planner.Create || e.ID != "" || l.action == planner.Create {
			e.PendingIntent = &planner.Intent{Action: l.action, Name: l.name, After: l.after, At: l.at}
		} // else what matters is still what became of the create
		if len(l.files) > 0 {
			e.Sources = slices.Concat(e.Sources, l.files)
			e.Record = normalRecord(e.Record)
		}
	case undone:
		e.PendingIntent = l.open
	case done:
		e.PendingIntent, e.applied = l.open, l.at
		m.carryOut(l, &e)
	}
	if e.empty() {
		m.remove(address)
		return
	}
	m.set(e)
}

// carryOut makes of an entry what a step that succeeded made of the thing.
func (m *memory) carryOut(l line, e *entry) {
	switch l.action {
	case planner.Create, planner.Update, planner.Adopt:
		if l.id != "" && e.ID != "" && l.id != e.ID {
			// It is another thing now: what was known of the former one is void.
			e.Identifier, e.Values, e.CreatedByUs = "", nil, false
			m.dropRosters(e.Address)
			m.restart(e.Address)
			if l.action == planner.Create { // the former one is gone, and is in nothing any more
				m.leave(e.ID, func(resource.Address) bool { return true })
			}
		}
		if l.id != "" {
			e.ID = l.id
		}
		e.CreatedByUs, e.Protect = e.CreatedByUs || l.made, l.protect
		e.Sources = slices.Concat(e.Sources, l.files)
		if l.identifier != "" {
			e.Identifier = l.identifier
		}
		e.Values = merged(e.Values, l.values)
	case planner.Delete:
		m.dropInside(e.Address)
		m.dropRosters(e.Address)
		m.restart(e.Address)
		m.leave(e.ID, func(resource.Address) bool { return true })
		e.Record = planner.Record{Address: e.Address, PendingIntent: l.open}
	case planner.AddMembers:
		if len(e.Members) == 0 || len(e.Sources) > 0 { // else it is not known where the others stood
			e.Sources = slices.Concat(e.Sources, l.files)
		}
		e.Members, e.Values = slices.Concat(e.Members, l.members), merged(e.Values, l.values)
		e.Found = slices.DeleteFunc(slices.Clone(e.Found), func(id string) bool { return slices.Contains(l.members, id) })
		if former := formerOf(e.Address); former != nil {
			for _, id := range l.members {
				m.leave(id, former)
			}
		}
	case planner.RemoveMembers:
		e.Members = slices.DeleteFunc(slices.Clone(e.Members), func(id string) bool { return slices.Contains(l.members, id) })
		e.Values = maps.Clone(e.Values)
		maps.DeleteFunc(e.Values, func(key, _ string) bool {
			_, id, _ := strings.Cut(key, " ")
			return slices.Contains(l.members, id)
		})
	case planner.NotPossible:
	}
	e.Record = normalRecord(e.Record)
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

// empty reports whether an entry says nothing.
func (e *entry) empty() bool {
	return e.ID == "" && e.Identifier == "" && len(e.Values) == 0 && len(e.Members) == 0 && e.PendingIntent == nil
}

// same reports whether two entries make the same line.
func (e *entry) same(o *entry) bool {
	openSame := e.PendingIntent == o.PendingIntent || e.PendingIntent != nil && o.PendingIntent != nil && *e.PendingIntent == *o.PendingIntent
	return openSame && e.Address == o.Address && e.ID == o.ID && e.Identifier == o.Identifier && e.CreatedByUs == o.CreatedByUs && e.Protect == o.Protect && e.applied == o.applied &&
		maps.Equal(e.Values, o.Values) && slices.Equal(e.Members, o.Members) && slices.Equal(e.Found, o.Found) && slices.Equal(e.Sources, o.Sources)
}

func (m *memory) set(e entry) {
	m.remember(e.Address)
	if container, ok := containerOf(e.Address); ok && m.rosters != nil && m.entries[e.Address].Address == "" {
		m.rosters[container] = append(m.rosters[container], e.Address)
	}
	if m.inside != nil && m.entries[e.Address].Address == "" {
		parent := e.Address.Parent()
		m.inside[parent] = append(m.inside[parent], e.Address)
	}
	if before := m.entries[e.Address]; e.ID != before.ID || e.Identifier != before.Identifier {
		m.number(&e) // otherwise it is known, or from before a restart
	}
	m.entries[e.Address] = e
}

func (m *memory) remove(address resource.Address) {
	if _, ok := m.entries[address]; ok {
		m.remember(address)
		delete(m.entries, address)
	}
}

func (m *memory) remember(address resource.Address) {
	if _, ok := m.before[address]; ok {
		return
	}
	if m.before == nil {
		m.before = map[resource.Address]entry{}
	}
	m.before[address] = m.entries[address]
}

// changed reports whether there is anything to save.
func (m *memory) changed() bool {
	for address, before := range m.before {
		if now := m.entries[address]; !now.same(&before) {
			return true
		}
	}
	return false
}

func containerOf(address resource.Address) (resource.Address, bool) {
	container, _, _, ok := address.Roster()
	return container, ok
}

// dropRosters forgets the members of a container that is no more, or is another one now.
func (m *memory) dropRosters(container resource.Address) {
	m.gatherRosters()
	for _, address := range m.rosters[container] {
		m.remove(address)
	}
	delete(m.rosters, container)
}

func (m *memory) gatherRosters() {
	if m.rosters != nil {
		return
	}
	m.rosters = map[resource.Address][]resource.Address{}
	for address := range m.entries {
		if c, ok := containerOf(address); ok {
			m.rosters[c] = append(m.rosters[c], address)
		}
	}
}

// dropInside forgets what lived in a thing that is no more: a run that dies
// between the two would leave it without a place.
func (m *memory) dropInside(of resource.Address) {
	if len(resource.Children(of.Kind())) == 0 {
		return
	}
	if m.inside == nil {
		m.inside = map[resource.Address][]resource.Address{}
		for address := range m.entries {
			parent := address.Parent()
			m.inside[parent] = append(m.inside[parent], address)
		}
	}
	for _, address := range m.inside[of] {
		m.dropInside(address)
		m.dropRosters(address)
		m.remove(address)
	}
	delete(m.inside, of)
}

// formerOf tells the containers that the members of a record have left by entering its own.
func formerOf(roster resource.Address) func(other resource.Address) bool {
	_, membership, _, ok := roster.Roster()
	if !ok || !membership.Membership.Exclusive {
		return nil
	}
	return func(other resource.Address) bool {
		_, same, _, _ := other.Roster()
		return other != roster && same == membership
	}
}

// leave takes a thing out of the members of containers.
func (m *memory) leave(id string, of func(roster resource.Address) bool) {
	if id == "" {
		return
	}
	m.gatherRosters()
	for _, addresses := range m.rosters {
		for _, address := range addresses {
			e := m.entries[address]
			at, member := slices.BinarySearch(e.Members, id)
			if !member || !of(address) {
				continue
			}
			e.Members = slices.Delete(slices.Clone(e.Members), at, at+1)
			if e.Record = normalRecord(e.Record); e.empty() {
				m.remove(address)
			} else {
				m.set(e)
			}
		}
	}
}
