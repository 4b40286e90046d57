package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// addMembers plans the batches that bring a container's missing members in.
func (b *builder) addMembers(r *memberSet) {
	if r.object != none && (b.staysArchived(r.object) || b.states[r.object].presence == hidden) {
		return // see rest and tellHidden
	}
	entries := slices.DeleteFunc(slices.Clone(r.entries), func(e memberRef) bool {
		return e.member != none && (b.blocker(e.member) != none || b.states[e.member].presence == hidden) || b.isIn(r, e)
	})
	var out []memberRef
	entries = slices.DeleteFunc(entries, func(e memberRef) bool {
		if e.other != "" {
			out = append(out, e)
		}
		return e.other != ""
	})
	if len(entries) == 0 {
		b.updateAttributes(r, 0)
		b.blockRelated(r, out, 0)
		return
	}
	size := r.kind.Membership.Batch
	reason, lacks := "", ""
	switch {
	case r.object != none && b.blocker(r.object) != none:
		root := b.blocker(r.object)
		lacks = b.unsupportedKind(root)
		reason = "the " + r.container.Object.Kind.Noun() + " cannot be created"
		if f := &b.states[root]; f.presence == notFound {
			reason = f.why
		}
	case r.why != "":
		reason = r.why
	case b.lastDayOf(r) != "":
		c := resource.MustLookup(r.kind.Membership.Container).Noun()
		reason = "it ended on " + b.lastDayOf(r) + ", and the service adds nothing to a finished " + c + ": use another " + c + ", or none"
	case r.unsupported:
		lacks = plural(resource.MustLookup(r.kind.Membership.Member))
		if r.kind.Membership.Inverse != "" {
			lacks = "relations"
		}
		lacks += " of " + plural(resource.MustLookup(r.kind.Membership.Container))
		reason = "this edition of the service does not have " + lacks
	}
	if reason != "" {
		size = len(entries)
	}
	op, _ := r.kind.Op(resource.AddMembers, b.in.API)
	rank := resource.Order(r.kind.Name)
	files := b.sourcesOf(r)
	all := make([]Member, len(entries))
	n := 1
	for ; len(entries) > 0; n++ {
		k := min(size, len(entries))
		step := &Step{
			Address: r.container.Address.Members(r.kind.Membership.Plural(), n), Action: AddMembers, Kind: r.kind, ID: r.container.ID, Position: entries[0].ref.Position,
			Members: &Members{Container: r.container, Items: all[:k:k], Sources: files},
		}
		for j, e := range entries[:k] {
			all[j] = b.member(r, e)
			all[j].Value = b.newAttribute(r, e, all[j].ID)
		}
		b.steps[rank] = append(b.steps[rank], step)
		if reason != "" {
			step.Action, step.Reason, step.Unsupported = NotPossible, reason, lacks
			return
		}
		step.Operation = op
		if r.object != none {
			b.need(r.object)
		}
		step.Needs = b.flushNeeds()
		for _, e := range entries[:k] {
			if e.member != none {
				b.need(e.member)
			}
		}
		step.After = b.flushNeeds()
		b.notePrerequisites(r, step)
		b.plan.Summary.AddMembers += k
		entries, all = entries[k:], all[k:]
	}
	b.updateAttributes(r, n-1)
	b.blockRelated(r, out, n-1)
}

func (b *builder) member(r *memberSet, e memberRef) Member {
	m := Member{ID: b.memberID(r, e), Text: e.ref.Text, Position: e.ref.Position}
	if e.member != none {
		o := b.in.Desired[e.member]
		m.Address = o.Address
		if r.kind.Membership.On != r.kind.Membership.Container {
			m.Text = o.Key
		}
	}
	return m
}
