package planner

import (
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// unjudged marks a fact whose root was not worked out yet.
const unjudged int32 = -2

// findObstacles makes ready for root, if there is anything that can neither be found nor made.
func (b *builder) findObstacles() {
	for i := range b.facts {
		switch f := &b.facts[i]; {
		case f.standing == lacking, f.standing == unknown, f.standing == missing, f.standing == absent && (f.traits.create == nil || b.forbidden(i)):
			b.roots = make([]int32, len(b.facts))
			for k := range b.roots {
				b.roots[k] = unjudged
			}
			return
		}
	}
}

// root is the thing because of which a thing can neither be found nor made: it
// itself, what it lives in, or what it names, and so on up. none = nothing is in the way.
func (b *builder) root(i int32) int32 {
	if b.roots == nil {
		return none
	}
	if b.roots[i] != unjudged {
		return b.roots[i]
	}
	b.roots[i] = none // for a circle, which is an error of its own
	b.roots[i] = b.findRoot(i)
	return b.roots[i]
}

func (b *builder) findRoot(i int32) int32 {
	o, f := b.in.Desired[i], &b.facts[i]
	if f.standing == there || f.standing == hidden {
		return none
	}
	if f.parent != none {
		if root := b.root(f.parent); root != none {
			return root
		}
	}
	if f.standing != absent || f.traits.create == nil || b.forbidden(int(i)) {
		return i
	}
	for k := range o.Values {
		if v := &o.Values[k]; b.in.API.Sends(v.Field) && !f.traits.carried(v.Field) {
			if root := b.rootOf(v); root != none {
				return root
			}
		}
	}
	return none
}

// rootOf is the root of something that a value names.
func (b *builder) rootOf(v *resource.Value) int32 {
	if b.roots == nil {
		return none
	}
	for k := range v.Refs {
		if at, ok := b.index[v.Refs[k].Target]; ok && b.facts[at].standing != lacking && b.facts[at].standing != missing { // see lack and unmet
			if root := b.root(at); root != none {
				return root
			}
		}
	}
	return none
}

// obstacle says why a thing can neither be found nor made.
func (b *builder) obstacle(i int, root int32) string {
	o := b.in.Desired[root]
	why := ""
	switch f := &b.facts[root]; f.standing {
	case lacking:
		why = "this edition of the service has no " + plural(o.Kind)
	case unknown:
		why = "a former run may have created it, and no read can tell; look on the service, then say what you found: " +
			"planform state resolve " + string(o.Address) + " --id ID, or --absent"
	case missing:
		why = f.why
	case absent, pending, there, broken, hidden:
		if why = b.forbids(int(root)); why != "" {
			break
		}
		why = "the " + b.in.API.Noun() + " cannot create " + diag.A(o.Kind.Noun())
	}
	if root == int32(i) { //nolint:gosec // there are fewer things than 2^31
		return why
	}
	if o == b.in.Desired[i].Parent {
		return "it lives in " + string(o.Address) + ": " + why
	}
	return "it needs " + string(o.Address) + ": " + why
}

// forbidden reports whether a thing is not to be created though it could be.
func (b *builder) forbidden(i int) bool { return b.forbids(i) != "" }

// forbids says who does not want a thing created, or "".
func (b *builder) forbids(i int) string {
	switch o := b.in.Desired[i]; {
	case b.given(i): // nobody creates it
		return ""
	case o.NoCreate:
		return "it is not on the service, and the manifest says create: false"
	case b.in.NoCreate[o.Kind.Name]:
		return "it is not on the service, and --no-create " + o.Kind.Name + " is given"
	default:
		return ""
	}
}
