package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// unsupportedRefs is the fields of one object that name something of a kind which this
// edition of the service does not have. The object itself does without them.
type unsupportedRefs []refUse

func (b *builder) unsupportedRefs(i int) unsupportedRefs {
	var l unsupportedRefs
	if len(b.unsupportedNames) == 0 && b.blockers == nil {
		return l // this edition has everything
	}
	for _, n := range b.refUses(i) {
		if b.isUnsupported(n) {
			l = append(l, n)
		}
	}
	return l
}

// isUnsupported reports whether a field that a body sends names something of a kind that
// this edition of the service does not have, or any field such a name. What a
// membership would make true of an object of the manifest is told with the membership.
func (b *builder) isUnsupported(n refUse) bool {
	for j := range n.value.Refs {
		switch r := &n.value.Refs[j]; {
		case r.Target != nil:
			if n.field.via == nil && !n.value.Field.Virtual && b.states[b.index[r.Target]].presence == unsupported {
				return true
			}
		case b.literal(n.field, r) == "" && b.unsupportedNames[nameKey{n.field.to, b.within(n.by, n.field.to), r.Text}]:
			return true
		}
	}
	return false
}

func (l unsupportedRefs) has(v *resource.Value) bool {
	return slices.ContainsFunc(l, func(n refUse) bool { return n.value == v })
}

// addTo takes the fields into what cannot be made different.
func (l unsupportedRefs) addTo(s *Snapshot, d *difference) {
	for _, n := range l {
		d.unappliable = append(d.unappliable, s.change(n.value, FromManifest))
		d.unsupported = plural(n.field.to.kind)
		d.causes = append(d.causes, "this edition of the service has no "+plural(n.field.to.kind))
	}
}

// addBlocked adds the step that says what of an object cannot be made different.
func (b *builder) addBlocked(i int, d *difference) {
	if len(d.unappliable) == 0 {
		return
	}
	step := b.step(i, NotPossible)
	if !d.position.IsZero() {
		step.Position = d.position
	}
	step.changes, step.Reason, step.Unsupported = d.unappliable, d.reason(b.in.API, b.states[i].info.kind), d.unsupported
}

// unsupportedKind names the objects that this edition does not have, if that is what is in the way.
func (b *builder) unsupportedKind(root int) string {
	if b.states[root].presence != unsupported {
		return ""
	}
	return plural(b.in.Desired[root].Kind)
}
