package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// steps holds the steps of a plan while it is made.
type steps struct {
	analysis

	refs    *references
	byRank  [][]*Step                // by rank of their kind, in the order of the manifest
	numbers map[resource.Address]int // number of membership steps of each container
	of      []*Step                  // by object: the step that creates or changes it, once it is planned
}

func newSteps(refs *references) *steps {
	return &steps{
		analysis: refs.analysis, refs: refs, byRank: make([][]*Step, len(refs.objects.kinds)),
		of: make([]*Step, len(refs.objects.states)), numbers: map[resource.Address]int{},
	}
}

func (st *steps) all() []*Step { return slices.Concat(st.byRank...) }

func (st *steps) add(i objectID, a Action) *Step {
	o, f := st.in.Desired[i], &st.objects.states[i]
	_, marked := f.row.Owner()
	step := &Step{Address: o.Address, Action: a, Kind: o.Kind, Object: o, ID: f.id, Position: o.Position}
	step.at, step.Write = i, &Write{CreatedByUs: marked && st.in.takesOver(o)}
	if f.id != "" {
		step.Identifier, step.Name = cmp.Or(st.objects.readableID(o.Kind, f.parent, f.row), f.identifier), cmp.Or(o.Kind.DisplayTexts(f.row)...)
	}
	if o.Kind.ClosedAfter != "" && f.parent != noObject {
		step.Write.Zone = st.objects.desiredZone(f.parent)
		if p := st.of[f.parent]; p != nil && st.objects.states[f.parent].presence == exists &&
			step.Write.Zone.String() != st.objects.currentZone(f.parent).String() {
			step.needs = append(step.needs, p) // the service reads days in its current time zone
		}
	}
	st.byRank[f.info.rank] = append(st.byRank[f.info.rank], step)
	return step
}

// addBlocked adds a step that is not possible for an object.
func (st *steps) addBlocked(i objectID, why Cause) *Step {
	step := st.add(i, NotPossible)
	step.block(why)
	return step
}

// block turns a step into one that is not possible.
func (s *Step) block(why Cause) { s.Action, s.Write, s.Cause = NotPossible, nil, why }

func (st *steps) addMembers(step *Step) *Step {
	c, many, rank := step.Members.Container, step.Kind.Membership.Plural(), resource.Order(step.Kind.Name)
	all := c.Address.Members(many, 1)
	st.numbers[all]++
	step.Address, step.ID = c.Address.Members(many, st.numbers[all]), c.ID
	st.byRank[rank] = append(st.byRank[rank], step)
	return step
}

// parentDefault returns the ID of the user that the service takes from the parent if a create leaves the field empty. by is the step that
// writes this default to the parent, or nil.
func (st *steps) parentDefault(f *objectState, field *resource.Field) (id string, by *Step) {
	if field.ParentDefault == "" || f.parent == noObject {
		return "", nil
	}
	p := &st.objects.states[f.parent]
	to, _ := p.info.kind.Field(field.ParentDefault)
	if v, given := st.in.Desired[f.parent].Value(to.Name); given {
		if len(v.Refs) == 0 {
			return "", nil
		}
		_, id, _ = st.refs.target(f.parent, p.info.ref(to), &v.Refs[0])
		if step := st.of[f.parent]; step != nil && slices.Contains(step.Values(), v) {
			by = step
		}
		return id, by
	}
	id, _ = to.ObservedIn(p.row)
	return id, nil
}
