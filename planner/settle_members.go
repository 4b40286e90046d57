package planner

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/planform/planform/internal/plane/resource"
)

// memberRecord holds the state's record of the members of one container. The record's open request is in the field intent.
type memberRecord struct {
	record        Record
	at, container resource.Address
	kind          *resource.Kind // the membership
	intent        *Intent        // nil = every request has an outcome
	late          bool           // a first copy of an answered request may still take effect
	listed        bool           // the list of the members was read, so that the outcome of the intent is known
	arrived       []string       // members that the intent names, the container has, and the record lacks
}

// memberRecords holds the memberships of the state, with the requests of earlier runs that may still change them.
type memberRecords struct {
	analysis

	refs     *references
	all      []*memberRecord // in the order of their addresses
	at       map[resource.Address]*memberRecord
	byMember map[edge][]*memberRecord
	named    map[edge]bool // edges of members that an intent names; for exclusive memberships also without the container
}

func newMemberRecords(refs *references) *memberRecords {
	mr := &memberRecords{
		analysis: refs.analysis, refs: refs, at: map[resource.Address]*memberRecord{}, byMember: map[edge][]*memberRecord{}, named: map[edge]bool{},
	}
	for _, at := range slices.Sorted(maps.Keys(mr.in.Prior)) {
		container, kind, _, ok := at.ParseMembership()
		if !ok {
			continue
		}
		r := &memberRecord{record: mr.in.Prior[at], at: at, container: container, kind: kind}
		r.intent, r.late = mr.objects.intents[at], r.record.Late.After(mr.in.Now)
		mr.all, mr.at[at] = append(mr.all, r), r
		for _, id := range r.record.Members {
			of := edge{kind: kind.Name, member: id}
			mr.byMember[of] = append(mr.byMember[of], r)
		}
		for _, id := range mr.namedByIntent(r) {
			if mr.named[edge{kind.Name, string(at), id}] = true; kind.Membership.Exclusive {
				mr.named[edge{kind: kind.Name, member: id}] = true
			}
		}
	}
	return mr
}

// recordOf returns the record of the members of a container. It is empty if the state has none.
func (mr *memberRecords) recordOf(m *resource.Membership, container resource.Address) *memberRecord {
	at := container.Members(m.Plural(), 1)
	return cmp.Or(mr.at[at], &memberRecord{at: at})
}

// isOpen reports whether a request about the members has no outcome, so that the record may not be up to date.
func (mc *memberRecord) isOpen() bool { return mc.intent != nil }

// mayHaveAdded returns the IDs of the members that planform added to a container, and of the members that an open intent adds; "" = an ID
// is not known.
func (mr *memberRecords) mayHaveAdded(m *resource.Membership, container resource.Address) []string {
	r := mr.recordOf(m, container)
	ids := slices.DeleteFunc(slices.Clone(r.record.Members), func(id string) bool { return !r.record.addedByUs(id) })
	if r.isOpen() && r.intent.Action == AddMembers {
		ids = append(ids, mr.refs.membersOf(r.intent)...)
	}
	return ids
}

// lastWrites returns the times of planform's last write, or announced write, of each object, its contents or its memberships. The keys are
// the addresses of objects, and the IDs of members.
func (mr *memberRecords) lastWrites() map[string]time.Time {
	last := map[string]time.Time{}
	note := func(key string, at time.Time) {
		if at.After(last[key]) {
			last[key] = at
		}
	}
	for at, r := range mr.in.Prior {
		a, sent := at, mr.objects.intents.lastSent(at, &r)
		if container, _, _, ok := a.ParseMembership(); ok {
			a = container
			for _, id := range slices.Concat(r.Members, mr.refs.membersOf(mr.objects.intents[at])) {
				note(id, sent)
			}
		}
		for ; a != ""; a = a.Parent() {
			note(string(a), sent)
		}
	}
	return last
}

// namedByIntent returns the IDs of the members that the intent of a record names, or all members of the record if it names none.
func (mr *memberRecords) namedByIntent(r *memberRecord) []string {
	switch {
	case r.intent == nil:
		return nil
	case r.intent.Name == "":
		return r.record.Members
	}
	return mr.refs.membersOf(r.intent)
}

// mayStillMove reports whether a request of an earlier run may still add a member to the container of a record, or remove it. in has the
// containers in which the service shows the member.
func (mr *memberRecords) mayStillMove(r *memberRecord, kind *resource.Kind, id string, in []Container) bool {
	return mr.named[edge{kind.Name, string(r.at), id}] || mr.named[edge{kind: kind.Name, member: id}] || r.late ||
		slices.ContainsFunc(in, func(c Container) bool { return mr.recordOf(kind.Membership, c.Address).late })
}

// settle finds members that intents of earlier runs name and that the containers have: planform added them. If a request may still make a
// change that the manifest does not want, settle registers the container's list to be read again. wanted has the attributes of the wanted
// edges.
func (mr *memberRecords) settle(wanted map[edge]string, vanished func(resource.Address) bool) {
	for _, r := range mr.all {
		if r.intent == nil && !r.late || vanished(r.container) || mr.objects.isDeletedOrHidden(r.container) {
			continue
		}
		container, params := mr.refs.containerAt(r.container)
		isWanted := func(id string) bool {
			_, is := wanted[edge{r.kind.Name, container.ID, id}]
			return is
		}
		leaves := slices.ContainsFunc(r.record.Members, func(id string) bool { return !isWanted(id) })
		if container.ID == "" || r.record.ID != "" && r.record.ID != container.ID || r.intent == nil && !leaves {
			continue
		}
		list := listMembers(mr.analysis, r.kind, params)
		if list.state != listed {
			continue
		}
		r.listed = true
		isNew := func(id string) bool { return !slices.Contains(r.record.Members, id) }
		again := r.late && leaves
		if r.intent != nil && r.intent.Action == AddMembers {
			again = again || r.intent.Name == ""
			r.arrived = slices.DeleteFunc(mr.refs.membersOf(r.intent), func(id string) bool { return !list.has(id) || !isNew(id) })
		}
		for _, id := range mr.namedByIntent(r) {
			again = again || r.intent.Action == AddMembers && !list.has(id) && isNew(id) && !isWanted(id) ||
				r.intent.Action == RemoveMembers && list.has(id) && isWanted(id)
		}
		if again || mr.mayUpdate(r, container.ID, wanted) {
			mr.service.unconfirmed = append(mr.service.unconfirmed, list.read)
		}
	}
}

// mayUpdate reports whether the intent of a record may still give a member another attribute than the manifest wants.
func (mr *memberRecords) mayUpdate(r *memberRecord, container string, wanted map[edge]string) bool {
	for e, attribute := range wanted {
		if r.intent != nil && e.kind == r.kind.Name && e.container == container && r.intent.Sent == memberDigest(e.member, attribute) {
			return false
		}
	}
	return r.intent != nil && r.intent.Action == Update
}
