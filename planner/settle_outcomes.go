package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// This file closes the intents of earlier runs in the state, if their outcome is known and no step of the run closes them.

// openRecord returns the record of the state at an address, with its intent.
func (bk *bookkeeping) openRecord(a resource.Address) Record {
	r := bk.in.Prior[a]
	r.PendingIntent = bk.objects.intents[a]
	return r
}

// isEmpty reports whether a record of members has neither members nor an intent.
func (r *Record) isEmpty() bool { return len(r.Members) == 0 && r.PendingIntent == nil }

// settle closes the intent of a record, whose outcome is known now.
func (bk *bookkeeping) settle(a resource.Address) *Record {
	c := bk.correct(a, "the outcome of an earlier request is known now")
	c.Record.PendingIntent = nil
	bk.objects.intents.forget(a, &c.Record)
	return &c.Record
}

// settleObjects closes intents about objects whose ID is known and that no create or adopt of this run will close.
func (bk *bookkeeping) settleObjects() {
	for a, intent := range bk.objects.intents {
		i, wanted := bk.objects.indexOf(a)
		if !wanted {
			continue
		}
		f, step := &bk.objects.states[i], bk.steps.of[i]
		closes := step != nil && (step.Action == Create || step.Action == Adopt)
		if f.id != "" && (f.presence == hidden || f.presence == exists && !closes) {
			r := bk.settle(a)
			r.ID, r.CreatedByUs = f.id, r.CreatedByUs || intent.creates() && bk.in.marks().On(f.row, a)
		}
	}
}

// settleMembers closes intents about members if no step will close them and the service shows their outcome.
func (bk *bookkeeping) settleMembers() {
	adding, leaving := map[resource.Address]bool{}, map[resource.Address]bool{} // records whose intents a step of this run closes
	for _, s := range bk.steps.all() {
		if s.Action == AddMembers {
			adding[s.Members.Container.Address.Members(s.Kind.Membership.Plural(), 1)] = true
		}
	}
	for _, s := range bk.memberships.leavingSets() {
		leaving[s.record.at] = len(s.leaving()) > 0
	}
	for _, r := range bk.records.all {
		switch {
		case r.intent == nil, bk.orphans.hasVanished(r.container):
		case r.intent.Action == Update, r.intent.Action == RemoveMembers && !leaving[r.at]:
			bk.settle(r.at)
		case r.listed && r.intent.Action == AddMembers && (!adding[r.at] || len(r.arrived) > 0):
			record := &bk.correct(r.at, "").Record
			if adding[r.at] {
				bk.correct(r.at, "an earlier request added some of the members")
			} else {
				bk.settle(r.at)
			}
			record.Members = slices.Concat(record.Members, r.arrived)
			bk.dropJoined(r)
		}
	}
}

// dropJoined removes the members that an earlier request added to an exclusive container from the records of other containers.
func (bk *bookkeeping) dropJoined(r *memberRecord) {
	joined := func(id string) bool { return slices.Contains(r.arrived, id) }
	for _, other := range bk.records.all {
		if r.kind.Membership.Exclusive && other.kind == r.kind && other != r && slices.ContainsFunc(other.record.Members, joined) {
			bk.dropMembers(other.at, joined, "lost members that an earlier request added elsewhere")
		}
	}
}
