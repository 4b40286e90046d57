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
	plan    *Plan

	joining       map[*resource.Object][]*Step // steps that add members or change their attributes, by container
	defaults      map[scope][]*Step            // steps that make one of the objects of a scope the default
	opens, closes map[gate][]*Step
}

// order puts all steps into the order of the plan. It reports false if the steps have a cycle.
func (og *ordering) order(pruning *pruning) bool {
	list := og.steps.all()
	if og.in.ExactOrder {
		list = og.changes.deferParents(list)
	}
	og.index(list)
	for _, s := range list {
		if s.Action == NotPossible {
			continue
		}
		if !og.awaitNamed(s) {
			return false
		}
		if s.Operation != nil && s.Members == nil {
			og.awaitSetup(s)
		}
		og.awaitGates(s)
	}
	list = archiveAtCreation(list)
	if og.in.API == resource.V2 {
		awaitContainers(list)
	}
	slices.SortStableFunc(list, func(s, other *Step) int { return cmp.Compare(s.phase, other.phase) })
	list = append(list, pruning.deletions()...)
	og.changes.blockers.claims.awaitFreedValues(list)
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

// awaitNamed makes a step wait for the steps that create the objects which it names: its parent or container, the targets of its values,
// and the objects that its texts link to or that it adds as members. A further step of a new object waits for the create. It reports false
// if a named object cannot be made, because both are in a cycle.
func (og *ordering) awaitNamed(s *Step) bool {
	possible := true
	create := func(o *resource.Object, waits *[]*Step) {
		if o == nil {
			return
		}
		at, wanted := og.objects.indexOf(o.Address)
		if !wanted || og.objects.states[at].presence != absent || og.steps.of[at] == s {
			return
		}
		if *waits = append(*waits, og.steps.of[at]); og.steps.of[at] == nil {
			og.diags.add(diag.Error, diag.Position{}, "", "dependency-cycle", string(s.Address)+" needs "+string(o.Address)+", which cannot be made",
				breakCycle)
			possible = false
		}
	}
	if m := s.Members; m != nil {
		create(m.Container.Object, &s.needs)
		for k := range m.Items {
			if i, wanted := og.objects.indexOf(m.Items[k].Address); wanted {
				create(og.in.Desired[i], &s.after)
			}
		}
		if i, wanted := og.objects.indexOf(m.By.Address); wanted && og.steps.of[i] != nil {
			s.needs = append(s.needs, og.steps.of[i])
		}
		return possible
	}
	switch first := og.steps.of[s.at]; {
	case first == s:
		create(s.Object.Parent, &s.needs)
	case first != nil && (og.objects.states[s.at].presence == absent || s.OnlyCustom()):
		s.needs = append(s.needs, first)
	}
	for _, v := range s.Values() {
		if resource.IsCustom(v) {
			at := og.objects.index[v.Field.Definition]
			if create(v.Field.Definition, &s.needs); og.steps.of[at] != nil && og.steps.of[at].Action == Update { // the value may become valid by it
				s.after = append(s.after, og.steps.of[at])
			}
		}
		for k := range v.Refs {
			create(v.Refs[k].Target, &s.needs)
		}
		for k := range v.Links {
			if v.Links[k].ID == "" && v.Links[k].Target != s.Object {
				create(v.Links[k].Target, &s.after)
			}
		}
	}
	return possible
}

// gate is a field by which an object takes steps or refuses them: the switch of a feature, or the last day of a container. The gate without
// a field is whether the object is archived.
type gate struct {
	of    *resource.Object
	field *resource.Field
}

// index records the steps for which others wait although they do not name the objects of these steps.
func (og *ordering) index(list []*Step) {
	og.joining, og.defaults = map[*resource.Object][]*Step{}, map[scope][]*Step{}
	og.opens, og.closes = map[gate][]*Step{}, map[gate][]*Step{}
	for _, s := range list {
		if s.Operation == nil {
			continue
		}
		if m := s.Members; m != nil {
			if s.Action != RemoveMembers && m.Container.Object != nil {
				og.joining[m.Container.Object] = append(og.joining[m.Container.Object], s)
			}
			continue
		}
		for _, v := range s.Values() {
			if at := (scope{og.objects.states[s.at].info, og.objects.states[s.at].parent}); v.Field.Exclusive {
				og.defaults[at] = append(og.defaults[at], s)
			}
			g, shuts := gate{s.Object, v.Field}, isOff(v) || v.Field.Name == s.Kind.ClosedAfter && og.objects.willBeClosed(s.at)
			if v.Field.ArchiveFlag {
				g.field, shuts = nil, s.Operation.Verb == resource.Archive
			}
			switch {
			case s.Action == Create:
			case shuts:
				og.closes[g] = append(og.closes[g], s)
				if g.field == nil {
					s.phase = closing
				}
			case v.Text == "true" || g.field == nil:
				og.opens[g] = append(og.opens[g], s)
			}
		}
	}
}

// awaitSetup makes a step wait for the steps by which its value of a field becomes valid, or gets the right default: a project takes people
// before a field names them, and a work item type before an item has it. A type takes its properties before an item has their values. The
// default state is set before an item is created without a state, and the default assignee before an item is created without assignees.
func (og *ordering) awaitSetup(s *Step) {
	f := &og.objects.states[s.at]
	// await makes the step wait for the steps that add a member to the objects above. A create cannot wait for the object's own members.
	await := func(is func(Member) bool) {
		for o := s.Object; o != nil; o = o.Parent {
			for _, join := range og.joining[o] {
				if (s.Action != Create || s.Object != o) && slices.ContainsFunc(join.Members.Items, is) {
					s.after = append(s.after, join)
				}
			}
		}
	}
	for k := range f.info.refs {
		t := &f.info.refs[k]
		v, given := s.Object.Value(t.field.Name)
		switch named := given && len(v.Refs) > 0; {
		case named && t.field.OrRef != "" && v.Refs[0].Target != nil:
			s.after = append(s.after, og.joining[v.Refs[0].Target]...)
			await(func(m Member) bool { return m.Address == v.Refs[0].Target.Address })
		case named && t.field.MustBeMemberOf != "" && slices.ContainsFunc(s.Values(), func(w *resource.Value) bool { return w.Field == v.Field }):
			for j := range v.Refs {
				_, id, _ := og.refs.target(s.at, t, &v.Refs[j])
				await(func(m Member) bool { return id != "" && m.ID == id })
			}
		case !named && s.Action == Create && f.parent != noObject:
			s.after = append(s.after, og.defaults[scope{t.to, f.parent}]...)
			if user, step := og.steps.parentDefault(f, t.field); user != "" {
				if step != nil && step.Action != Create {
					s.after = append(s.after, step)
				}
				await(func(m Member) bool { return m.ID == user })
			}
		}
	}
}

// awaitGates makes a step come after the steps that open a gate which it passes, and before the steps that close one.
func (og *ordering) awaitGates(s *Step) {
	if len(og.opens)+len(og.closes) == 0 {
		return
	}
	isSelf := func(other *Step) bool { return other == s }
	for _, g := range og.gatesOf(s) {
		s.needs = append(s.needs, slices.DeleteFunc(slices.Clone(og.opens[g]), isSelf)...)
		for _, last := range og.closes[g] {
			if last == s {
				continue
			}
			if last.phase, last.needs = closing, append(last.needs, s); s.Action == AddMembers { // an unmade member joins in a later run
				last.needs = append(last.needs, s.after...)
			}
		}
	}
}

// archiveAtCreation merges the archiving of a new object into its create, if no other step is about the object and archiving sets a field.
// It returns the remaining steps. An archived object with contents would lose those that an interrupted run did not create.
func archiveAtCreation(list []*Step) []*Step {
	return slices.DeleteFunc(list, func(s *Step) bool {
		if s.Operation == nil || s.Operation.Verb != resource.Archive || len(s.Operation.Body) == 0 || len(s.needs) == 0 || len(s.after) > 0 {
			return false
		}
		create := s.needs[0]
		if create.Action != Create || create.Members != nil || create.Object != s.Object ||
			slices.ContainsFunc(s.needs, func(other *Step) bool { return other != create }) {
			return false
		}
		create.Write.Values = append(create.Write.Values, s.Values()...)
		return true
	})
}

// gatesOf returns the gates that a step passes.
func (og *ordering) gatesOf(s *Step) (gates []gate) {
	within := s.Object
	if m := s.Members; m != nil {
		within = cmp.Or(m.Container.Object, m.Container.Within)
		if o := m.Container.Object; o != nil && s.Action == AddMembers {
			field, _ := o.Kind.Field(o.Kind.ClosedAfter)
			gates = append(gates, gate{o, field})
		}
		for k := range m.Items {
			if i, wanted := og.objects.indexOf(m.Items[k].Address); wanted {
				gates = append(gates, gate{og.in.Desired[i], nil})
			}
		}
	} else if s.Operation != nil {
		for _, of := range og.objects.switchesOf(s.at) {
			gates = append(gates, gate{og.in.Desired[of.by], of.field})
		}
	}
	for _, v := range s.Values() {
		for k := range v.Refs {
			gates = append(gates, gate{v.Refs[k].Target, nil})
		}
	}
	for o := within; o != nil; o = o.Parent {
		gates = append(gates, gate{o, nil})
	}
	return gates
}

// sequence numbers the creates of one kind in one parent, so that they run one after the other: the service numbers or sorts objects as
// they arrive.
func (og *ordering) sequence() {
	firsts, n := map[scope]*Step{}, 0
	for _, s := range og.plan.Steps {
		if s.Action != Create || og.in.AnyOrder {
			continue
		}
		at := scope{og.objects.states[s.at].info, og.objects.states[s.at].parent}
		first := firsts[at]
		if first == nil {
			firsts[at] = s
			continue
		}
		if first.Sequence == 0 {
			n++
			first.Sequence = n
		}
		s.Sequence = first.Sequence
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
