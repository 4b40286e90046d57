package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// sequence lets objects of one kind in one place be created one after the other: the
// service numbers them as they come, or sorts them by that.
func (b *builder) sequence() {
	if b.in.AnyOrder {
		return
	}
	type place struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	first, numbers := map[place]*Step{}, 0
	for _, s := range b.plan.Steps {
		if s.Action != Create {
			continue
		}
		at := place{s.Kind, s.Object.Parent}
		switch before := first[at]; {
		case before == nil:
			first[at] = s
			continue
		case before.Sequence == 0:
			numbers++
			before.Sequence = numbers
			fallthrough
		default:
			s.Sequence = before.Sequence
		}
	}
}

// awaitDefaults lets objects be created after what says what they get where the
// manifest names nothing: the parent's default, and the one of what it could name.
func (b *builder) awaitDefaults() {
	flagged := map[scope][]*Step{} // that make something the default of its parent, or no more
	for i := range b.states {
		step, f := b.planned[i], &b.states[i]
		if step == nil || !slices.ContainsFunc(step.Values, func(v *resource.Value) bool { return f.info.isDefaultFlag(v.Field) }) {
			continue
		}
		at := scope{f.info, f.parent}
		flagged[at] = append(flagged[at], step)
	}
	for i := range b.states {
		f := &b.states[i]
		if b.planned[i] == nil || b.planned[i].Action != Create || f.parent == none {
			continue
		}
		for k := range f.info.refs {
			t := &f.info.refs[k]
			if v, given := b.in.Desired[i].Value(t.field.Name); given && len(v.Refs) > 0 {
				continue
			}
			if t.field.DefaultFlag != "" {
				b.planned[i].extraAfter = append(b.planned[i].extraAfter, flagged[scope{t.to, f.parent}]...)
			}
			if who, step := b.parentDefault(f, t.field); who != "" {
				if step != nil && step.Action != Create {
					b.planned[i].extraAfter = append(b.planned[i].extraAfter, step)
				}
				b.awaitPrerequisite(b.planned[i], t.field, f.parent, who)
			}
		}
	}
}

// parentDefault is whom a new object gets from its parent where the field names
// nobody, and the step that says so on the service, if there is one.
func (b *builder) parentDefault(f *objectState, field *resource.Field) (id string, by *Step) {
	if field.ParentDefault == "" || f.parent == none {
		return "", nil
	}
	p := &b.states[f.parent]
	to, ok := p.info.kind.Field(field.ParentDefault)
	if !ok {
		return "", nil
	}
	if v, given := b.in.Desired[f.parent].Value(to.Name); given {
		if len(v.Refs) == 0 {
			return "", nil
		}
		_, id, _ = b.target(f.parent, p.info.ref(to), &v.Refs[0])
		if step := b.planned[f.parent]; step != nil && slices.Contains(step.Values, v) {
			by = step
		}
		return id, by
	}
	id, _ = to.ObservedIn(p.row)
	return id, nil
}
