package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/resource"
)

// ordering says what waits for what.
type ordering struct {
	round

	refs      *references
	steps     *steps
	changes   *changes
	additions *additions
	plan      *Plan
}

// order puts all steps into the order of the plan. It reports whether there is one.
func (b *ordering) order(pruning *pruning) bool {
	b.awaitPrerequisites()
	b.awaitDefaults()
	about := b.stepsByObject()
	b.orderClosing(about)
	b.orderSwitches()
	b.orderArchives()
	if b.in.API == resource.V2 {
		b.steps.awaitContainers()
	}
	list := b.steps.all()
	slices.SortStableFunc(list, func(s, other *Step) int { return cmp.Compare(s.stage, other.stage) })
	if !b.link(list) {
		return false
	}
	list = append(list, pruning.deletions()...)
	b.changes.blockers.claims.order(list)
	ordered, cycle := order(list)
	if cycle == nil && b.in.API != resource.V2 { // whose creates go many at a time
		if done := b.changes.linkAtOnce(); len(done) > 0 {
			dropped := func(s *Step) bool { return done[s] }
			list = slices.DeleteFunc(list, dropped)
			for _, s := range list { // such as an archiving, which waits for all else
				s.needs = slices.DeleteFunc(s.needs, dropped)
			}
			ordered, cycle = order(list)
		}
	}
	if cycle == nil && b.in.API == resource.V2 && b.in.ExactOrder {
		ordered, cycle = order(b.changes.nameParentsLater(ordered))
	}
	if cycle != nil {
		b.reportCycle(cycle)
		return false
	}
	b.plan.Steps = ordered
	b.sequence()
	if b.in.API == resource.V2 {
		assignBatches(b.plan.Steps)
	}
	return true
}

// order leaves steps in their order, but puts what a step waits for, where its turn comes
// later, just before the step. Steps that wait for each other cannot be ordered.
func order(steps []*Step) (ordered, cycle []*Step) {
	for i, s := range steps {
		s.Index = i
	}
	ordered = make([]*Step, 0, len(steps))
	graph.DepthFirst(steps, (*Step).prerequisites, func(s *Step) { ordered = append(ordered, s) }, func(c []*Step) {
		if cycle == nil {
			cycle = slices.Clone(c)
		}
	})
	for i, s := range ordered {
		s.Index = i
	}
	for _, s := range ordered {
		s.Needs, s.After = indexes(s.needs), indexes(s.after)
	}
	return ordered, cycle
}

// link finds the steps that create what steps wait for.
func (b *ordering) link(list []*Step) bool {
	for _, s := range list {
		for _, l := range []struct {
			objects []int
			steps   *[]*Step
		}{{s.needsObjects, &s.needs}, {s.afterObjects, &s.after}} {
			for _, at := range l.objects {
				if b.steps.of[at] == nil { // both are in a cycle, a part of which cannot be made
					b.diags.at(diag.Error, diag.Position{}, "", "circle", string(s.Address)+" needs "+string(b.in.Desired[at].Address)+", which cannot be made", breakCycle)
					return false
				}
				*l.steps = append(*l.steps, b.steps.of[at])
			}
		}
	}
	return true
}

// prerequisites are the steps that a step waits for, in the order of the plan.
func (s *Step) prerequisites() []*Step {
	byIndex := func(a, b *Step) int { return cmp.Compare(a.Index, b.Index) }
	slices.SortFunc(s.needs, byIndex)
	slices.SortFunc(s.after, byIndex)
	if len(s.after) == 0 {
		return s.needs
	}
	return slices.Concat(s.needs, s.after)
}

func indexes(steps []*Step) []int {
	var list []int
	for _, s := range steps {
		list = append(list, s.Index)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

const breakCycle = "remove one of these references"

// orderSwitches lets a feature be switched off when all that needs it is made and as it should be.
func (b *ordering) orderSwitches() {
	off := map[*resource.Object][]*Step{}
	for _, s := range b.steps.all() {
		if s.Object != nil && s.Members == nil && (s.Action == Update || s.Action == Adopt) && slices.ContainsFunc(s.Values, isOff) {
			off[s.Object] = append(off[s.Object], s)
		}
	}
	for _, s := range b.steps.all() {
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

// awaitPrerequisites makes steps that name people wait for those that bring them in.
func (b *ordering) awaitPrerequisites() {
	if len(b.additions.prerequisites) == 0 {
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

// awaitPrerequisite makes a step wait for the one that adds the user a field refers to. A
// create cannot wait for members of what it creates.
func (b *ordering) awaitPrerequisite(step *Step, field *resource.Field, by int, id string) {
	via := resource.MustLookup(field.MustBeMemberOf)
	container := b.objects.ancestor(by, b.objects.kind(via.Membership.Container))
	if container != noObject && step.Object == b.in.Desired[container] && step.Action == Create {
		return
	}
	if first, ok := b.additions.prerequisites[prerequisite{via, container, id}]; ok {
		step.after = append(step.after, first)
	}
}

// awaitDefaults makes creates wait for the step that sets the default which the service gives
// them where the manifest names nothing, and for that default to be a member.
func (b *ordering) awaitDefaults() {
	defaultSteps := map[scope][]*Step{} // that make something the default of its parent, or no more
	for i := range b.objects.states {
		step, f := b.steps.of[i], &b.objects.states[i]
		if step == nil || !slices.ContainsFunc(step.Values, func(v *resource.Value) bool { return f.info.isDefaultFlag(v.Field) }) {
			continue
		}
		at := scope{f.info, f.parent}
		defaultSteps[at] = append(defaultSteps[at], step)
	}
	for i := range b.objects.states {
		f := &b.objects.states[i]
		if b.steps.of[i] == nil || b.steps.of[i].Action != Create || f.parent == noObject {
			continue
		}
		for k := range f.info.refs {
			t := &f.info.refs[k]
			if v, given := b.in.Desired[i].Value(t.field.Name); given && len(v.Refs) > 0 {
				continue
			}
			if t.field.DefaultFlag != "" {
				b.steps.of[i].after = append(b.steps.of[i].after, defaultSteps[scope{t.to, f.parent}]...)
			}
			if user, step := b.steps.parentDefault(f, t.field); user != "" {
				if step != nil && step.Action != Create {
					b.steps.of[i].after = append(b.steps.of[i].after, step)
				}
				b.awaitPrerequisite(b.steps.of[i], t.field, f.parent, user)
			}
		}
	}
}

// stepsByObject lists the steps about an object that can be closed, and about its members.
func (b *ordering) stepsByObject() map[*resource.Object][]*Step {
	about := map[*resource.Object][]*Step{}
	for _, s := range b.steps.all() {
		o := s.Object
		if s.Members != nil {
			o = s.Members.Container.Object
		}
		if o != nil && s.Action != NotPossible && o.Kind.ClosedAfter != "" {
			about[o] = append(about[o], s)
		}
	}
	return about
}

// orderClosing makes the last day of an object wait for its members: a closed one takes none.
func (b *ordering) orderClosing(about map[*resource.Object][]*Step) {
	for i := range b.objects.states {
		o, closes := b.in.Desired[i], b.objects.states[i].info.kind.ClosedAfter
		if closes == "" || !b.objects.willBeClosed(i) {
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

// stepsAroundArchived lists the steps about each object that is archived or brought back, about what
// is in it, and about what names it.
func (b *ordering) stepsAroundArchived() map[*resource.Object][]*Step {
	around := make(map[*resource.Object][]*Step, len(b.changes.archiveSteps))
	for _, s := range b.changes.archiveSteps {
		around[s.Object] = nil
	}
	for _, s := range b.steps.all() {
		if len(around) == 0 || s.Action == NotPossible {
			continue
		}
		note := func(o *resource.Object) {
			if steps, ok := around[o]; ok && (len(steps) == 0 || steps[len(steps)-1] != s) {
				around[o] = append(steps, s)
			}
		}
		if m := s.Members; m != nil {
			note(m.Container.Object)
			for k := range m.Items {
				if i, ok := b.objects.indexOf(m.Items[k].Address); ok {
					note(b.in.Desired[i])
				}
			}
		}
		for o := s.Object; o != nil; o = o.Parent {
			note(o)
		}
		for _, v := range s.Values {
			for k := range v.Refs {
				note(v.Refs[k].Target)
			}
		}
	}
	return around
}

// orderArchives lets objects be archived when whatever else is done to them has succeeded,
// since they are left alone then, and be brought back before.
func (b *ordering) orderArchives() {
	about := b.stepsAroundArchived()
	for _, archiving := range b.changes.archiveSteps {
		for _, s := range about[archiving.Object] {
			switch {
			case s == archiving:
			case archiving.Operation.Verb == resource.Archive:
				archiving.require(s)
			default:
				s.after = append(s.after, archiving)
			}
		}
	}
}

// sequence lets objects of one kind in one place be created one after the other: the
// service numbers them as they come, or sorts them by that.
func (b *ordering) sequence() {
	if b.in.AnyOrder {
		return
	}
	type siblings struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	first, numbers := map[siblings]*Step{}, 0
	for _, s := range b.plan.Steps {
		if s.Action != Create {
			continue
		}
		at := siblings{s.Kind, s.Object.Parent}
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

func (b *ordering) reportCycle(cycle []*Step) {
	d := diag.Diagnostic{Code: "circle", Position: cycle[0].Position, Address: string(cycle[0].Address), Hint: breakCycle}
	d.Summary = "circular reference: "
	for k, step := range cycle {
		d.Summary += string(step.Address) + " -> "
		if k > 0 {
			d.Related = append(d.Related, diag.Related{Position: step.Position, Note: string(step.Address) + " is at"})
		}
	}
	d.Summary += string(cycle[0].Address)
	b.diags.Add(d)
}
