package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// steps are the steps of a plan while it is made.
type steps struct {
	round

	refs   *references
	byRank [][]*Step // by rank of their kind, in the order of the manifest
	of     []*Step   // by object: the step that creates or changes it, once it is planned
	needs  []int     // of the step that is being made
}

func newSteps(refs *references) *steps {
	return &steps{round: refs.round, refs: refs, byRank: make([][]*Step, len(refs.objects.kinds)), of: make([]*Step, len(refs.objects.states))}
}

// step adds a step about an object.
func (b *steps) step(i int, a Action) *Step {
	o, f := b.in.Desired[i], &b.objects.states[i]
	step := &Step{Address: o.Address, Action: a, Kind: o.Kind, Object: o, ID: f.id, Position: o.Position}
	if o.Kind.ClosedAfter != "" {
		step.Zone = b.objects.zone(f.parent)
	}
	b.byRank[f.info.rank] = append(b.byRank[f.info.rank], step)
	return step
}

// willChange shows all values of a step as changes of it.
func (b *steps) willChange(step *Step) {
	for _, v := range step.Values {
		c := change(v, FromManifest)
		c.Possible = true
		step.changes = append(step.changes, c)
	}
}

// need notes an object that must be there before the step, if it is not yet.
func (b *steps) need(at int) {
	if b.objects.states[at].presence == absent {
		b.needs = append(b.needs, at)
	}
}

// needTargets notes what must be there before the values can be sent.
func (b *steps) needTargets(i int, sent []*resource.Value) {
	for _, n := range b.objects.refUses(i) {
		if n.field.via != nil || len(n.value.Refs) == 0 || !slices.Contains(sent, n.value) {
			continue
		}
		for k := range n.value.Refs {
			if t := n.value.Refs[k].Target; t != nil {
				b.need(b.objects.index[t])
			}
		}
	}
}

// flushNeeds returns what was noted. Until [builder.countOf] they are states, then steps.
func (b *steps) flushNeeds() []int {
	if len(b.needs) == 0 {
		return nil
	}
	list := slices.Clone(b.needs)
	b.needs = b.needs[:0]
	return list
}

// parentDefault is whom a new object gets from its parent where the field names
// nobody, and the step that says so on the service, if there is one.
func (b *steps) parentDefault(f *objectState, field *resource.Field) (id string, by *Step) {
	if field.ParentDefault == "" || f.parent == none {
		return "", nil
	}
	p := &b.objects.states[f.parent]
	to, ok := p.info.kind.Field(field.ParentDefault)
	if !ok {
		return "", nil
	}
	if v, given := b.in.Desired[f.parent].Value(to.Name); given {
		if len(v.Refs) == 0 {
			return "", nil
		}
		_, id, _ = b.refs.target(f.parent, p.info.ref(to), &v.Refs[0])
		if step := b.of[f.parent]; step != nil && slices.Contains(step.Values, v) {
			by = step
		}
		return id, by
	}
	id, _ = to.ObservedIn(p.row)
	return id, nil
}
