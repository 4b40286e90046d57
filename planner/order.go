package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// ordering says what waits for what.
type ordering struct {
	round

	refs    *references
	steps   *steps
	changes *changes
	joins   *joins
	plan    *Plan
}

// order puts all steps into the order of the plan. It reports whether there is one.
func (b *ordering) order(pruning *pruning) bool {
	b.awaitPrerequisites()
	b.awaitDefaults()
	about := b.stepsByObject()
	b.orderClosing(about)
	b.orderSwitches()
	b.orderArchives(about)
	list, err := b.numberSteps()
	if err == nil {
		list, err = order(pruning.prune(list))
	}
	if err != nil {
		b.reportCycle(err)
		return false
	}
	b.plan.Steps = list
	b.sequence()
	return true
}

// CycleError says that steps wait for each other.
type CycleError struct {
	Addresses []resource.Address // each needs the next, the last needs the first

	steps []*Step
}

// Error names the cycle.
func (e *CycleError) Error() string {
	names := make([]string, 0, len(e.Addresses)+1)
	for _, a := range e.Addresses {
		names = append(names, string(a))
	}
	return "circular reference: " + strings.Join(append(names, names[0]), " -> ")
}

// sorter walks along what steps wait for, depth first.
type sorter struct {
	steps   []*Step
	at      []progress
	path    []int // steps that are to be placed, each because the former waits for it
	ordered []*Step
}

// place places a step after what it waits for.
func (s *sorter) place(i int) error {
	switch s.at[i] {
	case placed:
		return nil
	case onPath:
		return cycleError(s.steps, s.path[slices.Index(s.path, i):])
	case unplaced:
	}
	s.at[i] = onPath
	s.path = append(s.path, i)
	for _, list := range [][]int{s.steps[i].Needs, s.steps[i].After} {
		for _, j := range list {
			if err := s.place(j); err != nil {
				return err
			}
		}
	}
	s.path, s.at[i] = s.path[:len(s.path)-1], placed
	s.ordered = append(s.ordered, s.steps[i])
	return nil
}

// progress is how far a step is.
type progress int8

const (
	unplaced progress = iota
	onPath
	placed
)

// order puts numbered steps into their total order: as they are numbered, but
// what a step waits for, where its turn comes later, just before the step.
func order(steps []*Step) ([]*Step, error) {
	if isOrdered(steps) {
		return steps, nil
	}
	s := sorter{steps: steps, at: make([]progress, len(steps)), ordered: make([]*Step, 0, len(steps))}
	for i := range steps {
		if err := s.place(i); err != nil {
			return nil, err
		}
	}
	renumber(s.ordered)
	return s.ordered, nil
}

func isOrdered(steps []*Step) bool {
	for i, s := range steps {
		for _, list := range [][]int{s.Needs, s.After} {
			if n := len(list); n > 0 && list[n-1] >= i {
				return false
			}
		}
	}
	return true
}

// renumber gives steps the numbers of their places.
func renumber(steps []*Step) {
	place := make([]int, len(steps))
	for i, s := range steps {
		place[s.Index] = i
	}
	for i, s := range steps {
		s.Index = i
		for _, list := range [][]int{s.Needs, s.After} {
			for k, j := range list {
				list[k] = place[j]
			}
			slices.Sort(list)
		}
	}
}

// cycleError is the error that names steps each of which waits for the next.
func cycleError(steps []*Step, path []int) error {
	e := &CycleError{}
	for _, i := range path {
		e.Addresses = append(e.Addresses, steps[i].Address)
		e.steps = append(e.steps, steps[i])
	}
	return e
}

// orderSwitches lets a feature be switched off when all that needs it is made and as it should be.
func (b *ordering) orderSwitches() {
	off := map[*resource.Object][]*Step{}
	for _, list := range b.steps.byRank {
		for _, s := range list {
			if s.Object != nil && s.Members == nil && (s.Action == Update || s.Action == Adopt) && slices.ContainsFunc(s.Values, isOff) {
				off[s.Object] = append(off[s.Object], s)
			}
		}
	}
	for _, list := range b.steps.byRank {
		for _, s := range list {
			if s.Object == nil || s.Members != nil || s.Operation == nil || s.Kind.RequiresFeature == "" {
				continue
			}
			for _, parent := range off[s.Object.Parent] {
				if slices.ContainsFunc(parent.Values, func(v *resource.Value) bool { return v.Field.Name == s.Kind.RequiresFeature && isOff(v) }) {
					parent.require(s)
				}
			}
		}
	}
}

// awaitPrerequisites makes steps that name people wait for those that bring them in.
func (b *ordering) awaitPrerequisites() {
	if len(b.joins.prerequisites) == 0 {
		return
	}
	for _, n := range b.objects.uses {
		step := b.steps.of[n.by]
		if n.field.field.MustBeMemberOf == "" || step == nil || !slices.ContainsFunc(step.Values, func(v *resource.Value) bool { return v.Field == n.value.Field }) {
			continue
		}
		for j := range n.value.Refs {
			_, id, _ := b.refs.target(n.by, n.field, &n.value.Refs[j])
			b.awaitPrerequisite(step, n.field.field, n.by, id)
		}
	}
}

// awaitPrerequisite makes a step wait for the one that brings somebody in whom a field names. What
// is about to be created cannot wait for its own members.
func (b *ordering) awaitPrerequisite(step *Step, field *resource.Field, by int, id string) {
	via := resource.MustLookup(field.MustBeMemberOf)
	container := b.objects.ancestor(by, b.objects.kinds[resource.MustLookup(via.Membership.Container)])
	if container != none && step.Object == b.in.Desired[container] && step.Action == Create {
		return
	}
	if first, ok := b.joins.prerequisites[prerequisite{via, container, id}]; ok {
		step.extraAfter = append(step.extraAfter, first)
	}
}

// awaitDefaults lets objects be created after what says what they get where the
// manifest names nothing: the parent's default, and the one of what it could name.
func (b *ordering) awaitDefaults() {
	flagged := map[scope][]*Step{} // that make something the default of its parent, or no more
	for i := range b.objects.states {
		step, f := b.steps.of[i], &b.objects.states[i]
		if step == nil || !slices.ContainsFunc(step.Values, func(v *resource.Value) bool { return f.info.isDefaultFlag(v.Field) }) {
			continue
		}
		at := scope{f.info, f.parent}
		flagged[at] = append(flagged[at], step)
	}
	for i := range b.objects.states {
		f := &b.objects.states[i]
		if b.steps.of[i] == nil || b.steps.of[i].Action != Create || f.parent == none {
			continue
		}
		for k := range f.info.refs {
			t := &f.info.refs[k]
			if v, given := b.in.Desired[i].Value(t.field.Name); given && len(v.Refs) > 0 {
				continue
			}
			if t.field.DefaultFlag != "" {
				b.steps.of[i].extraAfter = append(b.steps.of[i].extraAfter, flagged[scope{t.to, f.parent}]...)
			}
			if who, step := b.steps.parentDefault(f, t.field); who != "" {
				if step != nil && step.Action != Create {
					b.steps.of[i].extraAfter = append(b.steps.of[i].extraAfter, step)
				}
				b.awaitPrerequisite(b.steps.of[i], t.field, f.parent, who)
			}
		}
	}
}

// stepsByObject lists, by what can be over or archived, the steps about it and about who belongs to it.
func (b *ordering) stepsByObject() map[*resource.Object][]*Step {
	about := map[*resource.Object][]*Step{}
	for _, list := range b.steps.byRank {
		for _, s := range list {
			o := s.Object
			if s.Members != nil {
				o = s.Members.Container.Object
			}
			if o == nil || s.Action == NotPossible {
				continue
			}
			if o.Kind.ClosedAfter != "" || b.objects.kinds[o.Kind].archived != nil {
				about[o] = append(about[o], s)
			}
		}
	}
	return about
}

// orderClosing lets objects get the date after which they take nothing when all that
// belongs to them is in: what is not in by then never gets in.
func (b *ordering) orderClosing(about map[*resource.Object][]*Step) {
	for i := range b.objects.states {
		o, closes := b.in.Desired[i], b.objects.states[i].info.kind.ClosedAfter
		if closes == "" || !b.objects.willBeOver(i) {
			continue
		}
		for _, s := range about[o] {
			if s.Action != Create && slices.ContainsFunc(s.Values, func(v *resource.Value) bool { return v.Field.Name == closes }) {
				for _, other := range about[o] {
					if other.Action == AddMembers {
						s.require(other)
					}
				}
			}
		}
	}
}

// orderArchives lets objects be archived when whatever else is done to them has succeeded,
// since they are left alone then, and be brought back before.
func (b *ordering) orderArchives(about map[*resource.Object][]*Step) {
	for _, shelving := range b.changes.archiveSteps {
		for _, s := range about[shelving.Object] {
			switch {
			case s == shelving:
			case shelving.Operation.Verb == resource.Archive:
				shelving.require(s)
			default:
				s.extraAfter = append(s.extraAfter, shelving)
			}
		}
	}
}

// numberSteps puts the steps by kind, then by place in the manifest, but those last that
// close or archive what is filled before, and turns what
// they need from states into steps.
func (b *ordering) numberSteps() ([]*Step, error) {
	steps := slices.Concat(b.steps.byRank...)
	slices.SortStableFunc(steps, func(s, other *Step) int { return cmp.Compare(s.stage, other.stage) })
	for i, s := range steps {
		s.Index = i
	}
	for _, s := range steps {
		for _, list := range [][]int{s.Needs, s.After} {
			for k, at := range list {
				if b.steps.of[at] == nil { // both are in a cycle, a part of which cannot be made
					return nil, fmt.Errorf("%s needs %s, which cannot be created", s.Address, b.in.Desired[at].Address)
				}
				list[k] = b.steps.of[at].Index
			}
		}
		for _, first := range s.extraNeeds {
			s.Needs = append(slices.Clip(s.Needs), first.Index)
		}
		for _, first := range s.extraAfter {
			s.After = append(slices.Clip(s.After), first.Index)
		}
		s.Needs, s.After = sorted(s.Needs), sorted(s.After)
	}
	return steps, nil
}

// sequence lets objects of one kind in one place be created one after the other: the
// service numbers them as they come, or sorts them by that.
func (b *ordering) sequence() {
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

// reportCycle reports steps that wait for each other, where they are written.
func (b *ordering) reportCycle(err error) {
	d := diag.Diagnostic{Code: "circle", Summary: err.Error(), Hint: "remove one of these references"}
	if e, ok := errors.AsType[*CycleError](err); ok {
		for k, step := range e.steps {
			if k == 0 {
				d.Position, d.Address = step.Position, string(step.Address)
				continue
			}
			d.Related = append(d.Related, diag.Related{Position: step.Position, Note: string(step.Address) + " is at"})
		}
	}
	b.diags.Add(d)
}
