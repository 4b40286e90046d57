package planner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// Correction is something that the state is to know otherwise, whatever the steps
// bring. It takes no request.
type Correction struct {
	From   resource.Address
	To     resource.Address // where the record is to be; "" = it is forgotten
	Record Record           // as it is to be, unless it is forgotten
	Why    string           // for people; "" = not worth a word
}

// correct gathers the corrections.
func (b *builder) correct() {
	b.stand()
	for _, r := range b.in.Prior {
		if r.Made {
			b.plan.Made++
		}
	}
	all := map[resource.Address]*Correction{} // by the address now
	at := func(a resource.Address) *Correction {
		c := all[a]
		if c == nil {
			c = &Correction{From: a, To: a, Record: b.in.Prior[a]}
			all[a] = c
		}
		return c
	}
	for now, was := range b.origin {
		c := at(now)
		if c.From = was; renamed(was, now) {
			c.Why = "is " + string(now) + " from now on"
		}
	}
	for i, o := range b.in.Desired {
		if f := &b.facts[i]; f.prior != nil && f.standing == there && o.Protected(f.prior.Protect) != f.prior.Protect {
			c := at(o.Address)
			c.Record.Protect = !f.prior.Protect
			c.Why = join(c.Why, protection(c.Record.Protect))
		}
	}
	for _, l := range b.leftovers {
		switch l.fate { //nolint:exhaustive // of the others the state is right
		case isGone:
			c := at(l.record.Address)
			c.To, c.Why = "", "is not on the service any more"
		case isElsewhere:
			c := at(l.record.Address)
			c.To, c.Why = "", "is known under another address"
			i, ok := b.owners[serviceID{l.traits.kind.Name, l.record.ID}]
			switch {
			case !ok:
			case b.facts[i].prior != nil: // who made it is known under both
				at(b.in.Desired[i].Address).Record.Made = true
			case b.facts[i].step != nil:
				b.facts[i].step.Made = true
			}
		}
	}
	for _, d := range b.departures {
		if len(d.lost) == 0 {
			continue
		}
		c := at(d.record)
		c.Record.lose(func(id string) bool { return slices.Contains(d.lost, id) })
		c.Why = join(c.Why, "has "+strconv.Itoa(len(d.lost))+" less than planform added")
	}
	b.close(at)
	for _, c := range all {
		if len(c.Record.Members) == 0 && c.Record.Open == nil && !c.From.IsThing() {
			c.To = ""
		}
	}
	for _, a := range slices.Sorted(maps.Keys(all)) {
		b.plan.Corrections = append(b.plan.Corrections, *all[a])
	}
}

// close settles intents that no step of the plan settles: of things that rest,
// and of members, who are seen to be in or not.
func (b *builder) close(at func(resource.Address) *Correction) {
	for i, o := range b.in.Desired {
		f, open := &b.facts[i], b.in.Prior[o.Address].Open
		if open != nil && f.standing == there && b.rests(int32(i)) {
			r := &at(o.Address).Record
			r.ID, r.Made, r.Open = f.id, r.Made || open.creates() && f.row.Marked(resource.Mark(b.in.Workspace, o.Address)), nil
		}
	}
	for _, r := range b.rosters {
		open := b.in.Prior[r.address()].Open
		if open == nil || open.Action != AddMembers {
			continue
		}
		if ids, known := b.came(r, open); known {
			c := at(r.address())
			c.Record.Members, c.Record.Open = slices.Concat(c.Record.Members, ids), nil
			b.left(at, r, ids)
		}
	}
	leaving := map[resource.Address]bool{} // the step settles it
	for _, d := range b.departures {
		leaving[d.record] = len(d.ids) > 0
	}
	for address, r := range b.in.Prior {
		container, _, _, members := address.Roster()
		switch {
		case members && b.isGone(container):
			at(address).To = ""
		case members && r.Open != nil && (r.Open.Action == Update || r.Open.Action == RemoveMembers && !leaving[address]):
			at(address).Record.Open = nil
		}
	}
}

// left takes those who came into one container out of the others, where they can be in one only.
func (b *builder) left(at func(resource.Address) *Correction, into *roster, ids []string) {
	if !into.kind.Membership.Exclusive || len(ids) == 0 {
		return
	}
	came := func(id string) bool { return slices.Contains(ids, id) }
	for address, r := range b.in.Prior {
		_, kind, _, _ := address.Roster()
		if kind == into.kind && address != into.address() && slices.ContainsFunc(r.Members, came) {
			c := at(address)
			c.Record.lose(came)
		}
	}
}

// lose takes members out of the record, with what is known of each.
func (r *Record) lose(gone func(id string) bool) {
	r.Members = slices.DeleteFunc(slices.Clone(r.Members), gone)
	r.Values = maps.Clone(r.Values)
	maps.DeleteFunc(r.Values, func(key, _ string) bool {
		_, id, ofMember := strings.Cut(key, " ")
		return ofMember && gone(id)
	})
}

func protection(set bool) string {
	if set {
		return "is protected from now on"
	}
	return "is not protected any more"
}

// join puts two remarks side by side.
func join(one, other string) string {
	if one == "" {
		return other
	}
	return one + ", and " + other
}
