package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// lack is the fields of one thing that name something of a kind which this
// edition of the service does not have. The thing itself does without them.
type lack []naming

func (b *builder) lacking(i int) lack {
	var l lack
	if len(b.lacked) == 0 && b.roots == nil {
		return l // this edition has everything
	}
	for _, n := range b.namings(int32(i)) { //nolint:gosec // there are fewer things than 2^31
		if b.lacks(n) {
			l = append(l, n)
		}
	}
	return l
}

// lacks reports whether a field that a body sends names something of a kind that
// this edition of the service does not have, or any field such a name. What a
// membership would make true of a thing of the manifest is told with the membership.
func (b *builder) lacks(n naming) bool {
	for j := range n.v.Refs {
		switch r := &n.v.Refs[j]; {
		case r.Target != nil:
			if n.t.via == nil && !n.v.Field.NoWire && b.facts[b.index[r.Target]].standing == lacking {
				return true
			}
		case b.literal(n.t, r) == "" && b.lacked[nameKey{n.t.to, b.within(n.by, n.t.to), r.Text}]:
			return true
		}
	}
	return false
}

func (l lack) has(v *resource.Value) bool {
	return slices.ContainsFunc(l, func(n naming) bool { return n.v == v })
}

// add takes the fields into what cannot be made different.
func (l lack) add(s *Survey, d *difference) {
	for _, n := range l {
		d.stuck = append(d.stuck, s.change(n.v, FromManifest))
		d.lacking = plural(n.t.to.kind)
		d.causes = append(d.causes, "this edition of the service has no "+plural(n.t.to.kind))
	}
}

// stick adds the step that says what of a thing cannot be made different.
func (b *builder) stick(i int, d *difference) {
	if len(d.stuck) == 0 {
		return
	}
	step := b.step(i, NotPossible)
	if !d.place.IsZero() {
		step.Position = d.place
	}
	step.changes, step.Reason, step.Lacking = d.stuck, d.reason(b.in.API, b.facts[i].traits.kind), d.lacking
}

// lackingKind names the things that this edition does not have, if that is what is in the way.
func (b *builder) lackingKind(root int32) string {
	if b.facts[root].standing != lacking {
		return ""
	}
	return plural(b.in.Desired[root].Kind)
}
