package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// lack is the fields of one thing that name something of a kind which this
// edition of the service does not have. The thing itself does without them.
type lack []naming

func (b *builder) lack(i int) lack {
	var l lack
	if len(b.lacked) == 0 {
		return l
	}
	for _, n := range b.namings(int32(i)) { //nolint:gosec // there are fewer things than 2^31
		if b.lacks(n) {
			l = append(l, n)
		}
	}
	return l
}

func (l lack) has(v *resource.Value) bool {
	return slices.ContainsFunc(l, func(n naming) bool { return n.v == v })
}

// add takes the fields into what cannot be made different.
func (l lack) add(s *Survey, d *difference) {
	for _, n := range l {
		d.stuck = append(d.stuck, s.change(n.v, FromManifest))
		d.causes = append(d.causes, "this edition of the service has no "+plural(n.t.to.kind))
	}
}

// stick adds the step that says what of a thing cannot be made different.
func (b *builder) stick(i int, d *difference) {
	if len(d.stuck) == 0 {
		return
	}
	step := b.step(i, NotPossible)
	step.changes, step.Reason = d.stuck, d.reason(b.in.API, b.facts[i].traits.kind)
}
