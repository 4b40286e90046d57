package planner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// StateChange is something that the state is to know otherwise, whatever the steps
// bring. It takes no request.
type StateChange struct {
	From   resource.Address
	To     resource.Address // where the record is to be; "" = it is forgotten
	Record Record           // as it is to be, unless it is forgotten
	Why    string           // for people; "" = not worth a word
}

// stateChanges gathers the corrections.
func (b *builder) stateChanges() {
	b.recordSources()
	for _, r := range b.in.Prior {
		if r.CreatedByUs {
			b.plan.CreatedByUs++
		}
	}
	all := map[resource.Address]*StateChange{} // by the address now
	at := func(a resource.Address) *StateChange {
		c := all[a]
		if c == nil {
			c = &StateChange{From: a, To: a, Record: b.in.Prior[a]}
			all[a] = c
		}
		return c
	}
	for now, was := range b.origin {
		c := at(now)
		if c.From = was; renamed(was, now) {
			c.Why = "is now " + string(now)
		}
	}
	for i, o := range b.in.Desired {
		if f := &b.states[i]; f.prior != nil && f.presence == exists && o.Protected(f.prior.Protect) != f.prior.Protect {
			c := at(o.Address)
			c.Record.Protect = !f.prior.Protect
			c.Why = join(c.Why, protection(c.Record.Protect))
		}
	}
	for _, l := range b.orphans {
		switch l.decision { //nolint:exhaustive // of the others the state is right
		case vanished:
			c := at(l.record.Address)
			c.To, c.Why = "", "no longer exists on the service"
		case aliased:
			c := at(l.record.Address)
			c.To, c.Why = "", "is already tracked under another address"
			i, ok := b.owners[serviceID{l.info.kind.Name, l.record.ID}]
			switch {
			case !ok:
			case b.states[i].prior != nil: // who made it is known under both
				at(b.in.Desired[i].Address).Record.CreatedByUs = true
			case b.planned[i] != nil:
				b.planned[i].CreatedByUs = true
			}
		}
	}
	for _, d := range b.removals {
		if len(d.alreadyGone) == 0 {
			continue
		}
		c := at(d.record)
		c.Record.dropMembers(func(id string) bool { return slices.Contains(d.alreadyGone, id) })
		c.Why = join(c.Why, "lost "+strconv.Itoa(len(d.alreadyGone))+" of the members that planform added")
	}
	b.closeIntents(at)
	for _, c := range all {
		if len(c.Record.Members) == 0 && c.Record.PendingIntent == nil && !c.From.IsObject() {
			c.To = ""
		}
	}
	for _, a := range slices.Sorted(maps.Keys(all)) {
		b.plan.StateChanges = append(b.plan.StateChanges, *all[a])
	}
}

// closeIntents settles intents that no step of the plan settles: of objects that rest,
// and of members, who are seen to be in or not.
func (b *builder) closeIntents(at func(resource.Address) *StateChange) {
	for i, o := range b.in.Desired {
		f, open := &b.states[i], b.in.Prior[o.Address].PendingIntent
		if open != nil && f.presence == exists && b.staysArchived(i) {
			r := &at(o.Address).Record
			r.ID, r.CreatedByUs, r.PendingIntent = f.id, r.CreatedByUs || open.creates() && f.row.HasExternalID(resource.ExternalID(b.in.Workspace, o.Address)), nil
		}
	}
	for _, r := range b.memberSets {
		open := b.in.Prior[r.address()].PendingIntent
		if open == nil || open.Action != AddMembers {
			continue
		}
		if ids, known := b.joinedSince(r, open); known {
			c := at(r.address())
			c.Record.Members, c.Record.PendingIntent = slices.Concat(c.Record.Members, ids), nil
			b.dropFromOthers(at, r, ids)
		}
	}
	leaving := map[resource.Address]bool{} // the step settles it
	for _, d := range b.removals {
		leaving[d.record] = len(d.ids) > 0
	}
	for address, r := range b.in.Prior {
		container, _, _, members := address.ParseMembership()
		switch {
		case members && b.hasVanished(container):
			at(address).To = ""
		case members && r.PendingIntent != nil && (r.PendingIntent.Action == Update || r.PendingIntent.Action == RemoveMembers && !leaving[address]):
			at(address).Record.PendingIntent = nil
		}
	}
}

// dropFromOthers takes those who came into one container out of the others, where they can be in one only.
func (b *builder) dropFromOthers(at func(resource.Address) *StateChange, into *memberSet, ids []string) {
	if !into.kind.Membership.Exclusive || len(ids) == 0 {
		return
	}
	came := func(id string) bool { return slices.Contains(ids, id) }
	for address, r := range b.in.Prior {
		_, kind, _, _ := address.ParseMembership()
		if kind == into.kind && address != into.address() && slices.ContainsFunc(r.Members, came) {
			c := at(address)
			c.Record.dropMembers(came)
		}
	}
}

// dropMembers takes members out of the record, with what is known of each.
func (r *Record) dropMembers(gone func(id string) bool) {
	r.Members = slices.DeleteFunc(slices.Clone(r.Members), gone)
	r.Values = maps.Clone(r.Values)
	maps.DeleteFunc(r.Values, func(key, _ string) bool {
		_, id, ofMember := strings.Cut(key, " ")
		return ofMember && gone(id)
	})
}

func protection(set bool) string {
	if set {
		return "is now protected"
	}
	return "is no longer protected"
}

// join puts two remarks side by side.
func join(one, other string) string {
	if one == "" {
		return other
	}
	return one + ", and " + other
}
