package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// ordering is the stage that finds the dependencies between steps and puts the steps into order.
type ordering struct {
	analysis

	refs    *references
	steps   *steps
	changes *changes
	members *memberSteps
	plan    *Plan
}

// order puts all steps into the order of the plan. It reports false if the steps have a cycle.
func (og *ordering) order(pruning *pruning) bool {
	og.awaitPrerequisites()
	og.awaitDefaults()
	og.awaitWorkspaceTypes()
	about := og.stepsByObject()
	og.orderClosing(about)
	og.orderSwitches()
	archived := og.orderArchives()
	if og.in.API == resource.V2 {
		og.steps.awaitContainers()
	}
	list := slices.DeleteFunc(og.steps.all(), func(s *Step) bool { return archived[s] })
	slices.SortStableFunc(list, func(s, other *Step) int { return cmp.Compare(s.stage, other.stage) })
	if !og.link(list) {
		return false
	}
	if og.in.ExactOrder {
		list = og.changes.deferLaterParents(list)
	}
	list = append(list, pruning.deletions()...)
	og.changes.blockers.claims.order(list)
	ordered, cycle := order(list)
	if cycle == nil && og.in.API != resource.V2 { // API v2 creates many objects in one request
		if done := og.changes.inlineLinks(); len(done) > 0 {
			dropped := func(s *Step) bool { return done[s] }
			list = slices.DeleteFunc(list, dropped)
			for _, s := range list { // an archiving, for example, waited for the dropped steps
				s.needs = slices.DeleteFunc(s.needs, dropped)
			}
			ordered, cycle = order(list)
		}
	}
	if cycle == nil && og.in.API == resource.V2 && og.in.ExactOrder {
		ordered, cycle = order(og.changes.deferParents(ordered))
	}
	if cycle != nil {
		og.reportCycle(cycle)
		return false
	}
	og.plan.Steps = ordered
	og.sequence()
	if og.in.API == resource.V2 {
		assignBatches(og.plan.Steps)
	}
	return true
}

// order keeps the order of steps, but moves a later step that a step waits for just before that step. If steps wait for each other, it
// returns the first cycle.
func order(steps []*Step) (ordered, cycle []*Step) {
	for i, s := range steps {
		s.Index = StepID(i)
	}
	ordered = make([]*Step, 0, len(steps))
	graph.DepthFirst(steps, (*Step).prerequisites, func(s *Step) { ordered = append(ordered, s) }, func(c []*Step) {
		if cycle == nil {
			cycle = slices.Clone(c)
		}
	})
	for i, s := range ordered {
		s.Index = StepID(i)
	}
	for _, s := range ordered {
		s.Needs, s.After = indexes(s.needs), indexes(s.after)
	}
	return ordered, cycle
}

// link replaces the objects that steps wait for by the steps that create these objects. It reports false if an object has no step.
func (og *ordering) link(list []*Step) bool {
	for _, s := range list {
		for _, l := range []struct {
			objects []objectID
			steps   *[]*Step
		}{{s.needsObjects, &s.needs}, {s.afterObjects, &s.after}} {
			for _, at := range l.objects {
				if og.steps.of[at] == nil { // both objects are in a cycle, a part of which cannot be made
					og.diags.at(diag.Error, diag.Position{}, "", "dependency-cycle", string(s.Address)+" needs "+string(og.in.Desired[at].Address)+
						", which cannot be made", breakCycle)
					return false
				}
				*l.steps = append(*l.steps, og.steps.of[at])
			}
		}
	}
	return true
}

// prerequisites returns the steps that a step waits for, in the order of the plan.
func (s *Step) prerequisites() []*Step {
	byIndex := func(a, b *Step) int { return cmp.Compare(a.Index, b.Index) }
	slices.SortFunc(s.needs, byIndex)
	slices.SortFunc(s.after, byIndex)
	if len(s.after) == 0 {
		return s.needs
	}
	return slices.Concat(s.needs, s.after)
}

func indexes(steps []*Step) []StepID {
	var list []StepID
	for _, s := range steps {
		list = append(list, s.Index)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

const breakCycle = "remove one of these references"

// orderSwitches makes creates wait until the features that they need are switched on. It makes a switching off wait for all steps of
// objects that need the feature.
func (og *ordering) orderSwitches() {
	updates := map[*resource.Object][]*Step{}
	for _, s := range og.steps.all() {
		if s.Object != nil && s.Members == nil && (s.Action == Update || s.Action == Adopt) {
			updates[s.Object] = append(updates[s.Object], s)
		}
	}
	for _, s := range og.steps.all() {
		if s.Object == nil || s.Members != nil || s.Operation == nil {
			continue
		}
		at, wanted := og.objects.indexOf(s.Object.Address)
		if !wanted {
			continue
		}
		for _, of := range og.objects.switchesOf(at) {
			for _, update := range updates[og.in.Desired[of.by]] {
				for _, v := range update.Values() {
					switch {
					case v.Field != of.field:
					case isOff(v):
						update.require(s)
					case s.Action == Create:
						s.require(update)
					}
				}
			}
		}
	}
}

// awaitPrerequisites makes steps that name people wait for the steps that add these people as members.
func (og *ordering) awaitPrerequisites() {
	if len(og.members.prerequisites) == 0 {
		return
	}
	for _, n := range og.objects.uses {
		step := og.steps.of[n.by]
		if n.field.field.MustBeMemberOf == "" || step == nil ||
			!slices.ContainsFunc(step.Values(), func(v *resource.Value) bool { return v.Field == n.value.Field }) {
			continue
		}
		for j := range n.value.Refs {
			_, id, _ := og.refs.target(n.by, n.field, &n.value.Refs[j])
			og.awaitPrerequisite(step, n.field.field, n.by, id)
		}
	}
}

// awaitPrerequisite makes a step wait for the membership step that adds the user in a field. The create of a container cannot wait for the
// container's own members.
func (og *ordering) awaitPrerequisite(step *Step, field *resource.Field, by objectID, id string) {
	via := resource.MustLookup(field.MustBeMemberOf)
	container := og.objects.ancestor(by, og.objects.kind(via.Membership.Container))
	if container != noObject && step.Object == og.in.Desired[container] && step.Action == Create {
		return
	}
	if first, ok := og.members.prerequisites[prerequisite{via, container, id}]; ok {
		step.after = append(step.after, first)
	}
}

// awaitWorkspaceTypes makes steps of objects that name an object of the workspace, such as a work item type, wait for two membership
// steps: their project takes the type, and the type takes its properties.
func (og *ordering) awaitWorkspaceTypes() {
	var takes []*Step
	about := map[*resource.Object][]*Step{}
	for _, s := range og.steps.all() {
		switch {
		case s.Operation == nil:
		case s.Action == AddMembers && resource.MustLookup(s.Kind.Membership.Member).Governance.AtWorkspace:
			takes = append(takes, s)
		case s.Object != nil && s.Members == nil:
			about[s.Object] = append(about[s.Object], s)
		}
	}
	if len(takes) == 0 {
		return
	}
	for _, n := range og.objects.uses {
		if n.field.field.OrRef == "" || len(n.value.Refs) == 0 {
			continue
		}
		user, target := og.in.Desired[n.by], n.value.Refs[0].Target
		for _, s := range takes {
			in := s.Members.Container.Object
			if target != nil && (in == target || in == user.Ancestor(in.Kind.Name) && slices.ContainsFunc(s.Members.Items, func(m Member) bool {
				return m.Address == target.Address
			})) {
				for _, step := range about[user] {
					step.after = append(step.after, s)
				}
			}
		}
	}
}

// awaitDefaults makes creates wait for the step that sets a default which the service gives to fields that the manifest leaves out, and
// for the step that adds a default user as a member.
func (og *ordering) awaitDefaults() {
	defaultSteps := map[scope][]*Step{} // steps that set or clear the flag of the default in a parent
	for i := range og.objects.count() {
		step, f := og.steps.of[i], &og.objects.states[i]
		if step == nil || !slices.ContainsFunc(step.Values(), func(v *resource.Value) bool { return f.info.isDefaultFlag(v.Field) }) {
			continue
		}
		at := scope{f.info, f.parent}
		defaultSteps[at] = append(defaultSteps[at], step)
	}
	for i := range og.objects.count() {
		f := &og.objects.states[i]
		if og.steps.of[i] == nil || og.steps.of[i].Action != Create || f.parent == noObject {
			continue
		}
		for k := range f.info.refs {
			t := &f.info.refs[k]
			if v, given := og.in.Desired[i].Value(t.field.Name); given && len(v.Refs) > 0 {
				continue
			}
			if t.field.DefaultFlag != "" {
				og.steps.of[i].after = append(og.steps.of[i].after, defaultSteps[scope{t.to, f.parent}]...)
			}
			if user, step := og.steps.parentDefault(f, t.field); user != "" {
				if step != nil && step.Action != Create {
					og.steps.of[i].after = append(og.steps.of[i].after, step)
				}
				og.awaitPrerequisite(og.steps.of[i], t.field, f.parent, user)
			}
		}
	}
}

// stepsByObject lists the steps of each object that can be closed, and of its members.
func (og *ordering) stepsByObject() map[*resource.Object][]*Step {
	about := map[*resource.Object][]*Step{}
	for _, s := range og.steps.all() {
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

// orderClosing makes the update that sets an object's last day wait for its membership steps, because a closed object takes no members.
func (og *ordering) orderClosing(about map[*resource.Object][]*Step) {
	for i := range og.objects.count() {
		o, closes := og.in.Desired[i], og.objects.states[i].info.kind.ClosedAfter
		if closes == "" || !og.objects.willBeClosed(i) {
			continue
		}
		for _, s := range about[o] {
			if s.Action != Create && slices.ContainsFunc(s.Values(), func(v *resource.Value) bool { return v.Field.Name == closes }) {
				for _, other := range about[o] {
					if other.Action == AddMembers {
						s.require(other)
					}
				}
			}
		}
	}
}

// stepsAroundArchived lists, for each object that is archived or restored, the steps of the object, of its contents and members, and of
// objects that name it.
func (og *ordering) stepsAroundArchived() map[*resource.Object][]*Step {
	around := make(map[*resource.Object][]*Step, len(og.changes.archiveSteps))
	for _, s := range og.changes.archiveSteps {
		around[s.Object] = nil
	}
	for _, s := range og.steps.all() {
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
				if i, ok := og.objects.indexOf(m.Items[k].Address); ok {
					note(og.in.Desired[i])
				}
			}
		}
		for o := s.Object; o != nil; o = o.Parent {
			note(o)
		}
		for _, v := range s.Values() {
			for k := range v.Refs {
				note(v.Refs[k].Target)
			}
		}
	}
	return around
}

// orderArchives makes an archiving wait for all other steps that involve its object, because an archived object takes no changes.
// It makes these steps wait for a restoring. If the only other step is the create, and archiving sets a field, the create sends that field
// and replaces the archiving. The replaced steps are returned. An archived object with contents would lose those that an interrupted run
// did not create.
func (og *ordering) orderArchives() map[*Step]bool {
	about, replaced := og.stepsAroundArchived(), map[*Step]bool{}
	for _, archiving := range og.changes.archiveSteps {
		steps := slices.DeleteFunc(about[archiving.Object], func(s *Step) bool { return s == archiving })
		if op := archiving.Operation; op.Verb == resource.Archive && len(op.Body) > 0 && len(steps) == 1 && steps[0].Action == Create &&
			steps[0].Object == archiving.Object && steps[0].Members == nil {
			steps[0].Write.Values = append(steps[0].Write.Values, archiving.Values()...)
			replaced[archiving] = true
			continue
		}
		for _, s := range steps {
			switch {
			case archiving.Operation.Verb == resource.Archive:
				archiving.require(s)
			default:
				s.after = append(s.after, archiving)
			}
		}
	}
	return replaced
}

// sequence numbers the creates of one kind in one parent, so that they run one after the other: the service numbers or sorts objects as
// they arrive.
func (og *ordering) sequence() {
	if og.in.AnyOrder {
		return
	}
	type siblings struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	first, numbers := map[siblings]*Step{}, 0
	for _, s := range og.plan.Steps {
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

func (og *ordering) reportCycle(cycle []*Step) {
	d := diag.Diagnostic{Code: "dependency-cycle", Position: cycle[0].Position, Address: string(cycle[0].Address), Hint: breakCycle}
	d.Summary = "circular reference: "
	for k, step := range cycle {
		d.Summary += string(step.Address) + " -> "
		if k > 0 {
			d.Related = append(d.Related, diag.Related{Position: step.Position, Note: string(step.Address) + " is at"})
		}
	}
	d.Summary += string(cycle[0].Address)
	og.diags.Add(d)
}
