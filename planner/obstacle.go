package planner

import (
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// notComputed marks a state whose root was not worked out yet.
const notComputed int = -2

// prepareBlockers makes ready for root, if there is anything that can neither be found nor made.
func (b *builder) prepareBlockers() {
	for i := range b.states {
		switch f := &b.states[i]; {
		case f.presence == unsupported, f.presence == indeterminate, f.presence == notFound, f.presence == absent && (f.info.create == nil || b.forbidden(i)):
			b.blockers = make([]int, len(b.states))
			for k := range b.blockers {
				b.blockers[k] = notComputed
			}
			return
		}
	}
}

// blocker is the object because of which an object can neither be found nor made: it
// itself, what it lives in, or what it names, and so on up. none = nothing is in the way.
func (b *builder) blocker(i int) int {
	if b.blockers == nil {
		return none
	}
	if b.blockers[i] != notComputed {
		return b.blockers[i]
	}
	b.blockers[i] = none // for a cycle, which is an error of its own
	b.blockers[i] = b.findBlocker(i)
	return b.blockers[i]
}

func (b *builder) findBlocker(i int) int {
	o, f := b.in.Desired[i], &b.states[i]
	if f.presence == exists || f.presence == hidden {
		return none
	}
	if f.parent != none {
		if root := b.blocker(f.parent); root != none {
			return root
		}
	}
	if f.presence != absent || f.info.create == nil || b.forbidden(i) {
		return i
	}
	for k := range o.Values {
		if v := &o.Values[k]; b.in.API.Sendable(v.Field) && !f.info.carried(v.Field) {
			if root := b.blockerOf(v); root != none {
				return root
			}
		}
	}
	return none
}

// blockerOf is the root of something that a value names.
func (b *builder) blockerOf(v *resource.Value) int {
	if b.blockers == nil {
		return none
	}
	for k := range v.Refs {
		if at, ok := b.index[v.Refs[k].Target]; ok && b.states[at].presence != unsupported && b.states[at].presence != notFound { // see lack and unmet
			if root := b.blocker(at); root != none {
				return root
			}
		}
	}
	return none
}

// blockReason says why an object can neither be found nor made.
func (b *builder) blockReason(i int, root int) string {
	o := b.in.Desired[root]
	why := ""
	switch f := &b.states[root]; f.presence {
	case unsupported:
		why = "this edition of the service has no " + plural(o.Kind)
	case indeterminate:
		why = "an earlier run may have created it, and planform cannot find out; check on the service, then run " +
			"planform state resolve " + string(o.Address) + " --id ID (or --absent)"
	case notFound:
		why = f.why
	case absent, pending, exists, invalid, hidden:
		if why = b.forbids(root); why != "" {
			break
		}
		why = "the " + b.in.API.Noun() + " cannot create " + diag.A(o.Kind.Noun())
	}
	if root == i {
		return why
	}
	if o == b.in.Desired[i].Parent {
		return "it belongs to " + string(o.Address) + ": " + why
	}
	return "it needs " + string(o.Address) + ": " + why
}

// forbidden reports whether an object is not to be created though it could be.
func (b *builder) forbidden(i int) bool { return b.forbids(i) != "" }

// forbids says who does not want an object created, or "".
func (b *builder) forbids(i int) string {
	switch o := b.in.Desired[i]; {
	case b.isDefault(i): // nobody creates it
		return ""
	case o.NoCreate:
		return "it is not on the service, and the manifest says create: false"
	case b.in.NoCreate[o.Kind.Name]:
		return "it is not on the service, and --no-create " + o.Kind.Name + " is given"
	default:
		return ""
	}
}
