package view

import (
	"fmt"
	"slices"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// fewMembers is how many members are named and not only counted.
const fewMembers = 3

// outline tells which steps of a plan are shown with another one: objects that are
// created within an object that is created too, and the batches of a membership.
type outline struct {
	nested      []bool
	children    map[int][]*planner.Step // by the step of their parent
	continued   map[int][]*planner.Step // by the step that is about the same object
	same        map[int][]*planner.Step // steps with equal changes, by the first of them; see group
	batches     map[batchKey]*batch
	unsupported []*unsupported
}

// unsupported is what is left out since the edition lacks a kind. It is said once for each.
type unsupported struct {
	objects string // of the kind
	steps   []*planner.Step
}

// batchKey is what the batches of one membership have in common.
type batchKey struct {
	base, kind, reason string
	action             planner.Action
}

type batch struct {
	at      int // the step that shows it
	members int
	few     []*planner.Member
}

func batchOf(s *planner.Step) batchKey {
	key := batchKey{base: containerAddress(s), reason: s.Reason, action: s.Action}
	if s.Kind != nil {
		key.kind = s.Kind.Name
	}
	return key
}

func newOutline(plan *planner.Plan) *outline {
	o := &outline{nested: make([]bool, len(plan.Steps)), children: map[int][]*planner.Step{}, continued: map[int][]*planner.Step{}, batches: map[batchKey]*batch{}}
	last := map[resource.Address]int{}
	for i, s := range plan.Steps {
		if at := last[s.Address]; s.Continues {
			o.nested[i] = true
			o.continued[at] = append(o.continued[at], s)
			continue
		}
		last[s.Address] = i
		switch parent := parentStep(plan, i); {
		case s.Unsupported != "":
			o.addUnsupported(s)
			o.nested[i] = true
		case s.Members != nil:
			o.addBatch(i, s)
		case parent >= 0 && !o.nested[parent]:
			o.nested[i] = true
			o.children[parent] = append(o.children[parent], s)
		}
	}
	return o
}

// group lets steps that make equal changes be shown as one, where they are more than are named.
func (o *outline) group(plan *planner.Plan) {
	o.same = map[int][]*planner.Step{}
	alike, first := map[string][]*planner.Step{}, map[string]int{}
	for i, s := range plan.Steps {
		if s.Action == planner.Update && s.Members == nil && !o.nested[i] && o.children[i] == nil && o.continued[i] == nil {
			key := sameAs(s)
			if alike[key] == nil {
				first[key] = i
			}
			alike[key] = append(alike[key], s)
		}
	}
	for key, steps := range alike {
		if len(steps) <= namedSteps {
			continue
		}
		o.same[first[key]] = steps
		for _, s := range steps[1:] {
			o.nested[s.Index] = true
		}
	}
}

// firstNames names the first of several steps.
func firstNames(steps []*planner.Step, name func(*planner.Step) string) []string {
	var names []string
	for _, s := range steps[:min(len(steps), namedSteps)] {
		names = append(names, name(s))
	}
	if len(steps) > namedSteps {
		names[len(names)-1] += fmt.Sprintf(" and %d more", len(steps)-namedSteps)
	}
	return names
}

func (o *outline) addUnsupported(s *planner.Step) {
	at := slices.IndexFunc(o.unsupported, func(u *unsupported) bool { return u.objects == s.Unsupported })
	if at < 0 {
		at = len(o.unsupported)
		o.unsupported = append(o.unsupported, &unsupported{objects: s.Unsupported})
	}
	o.unsupported[at].steps = append(o.unsupported[at].steps, s)
}

func (o *outline) addBatch(i int, s *planner.Step) {
	key := batchOf(s)
	b, ok := o.batches[key]
	if !ok {
		b = &batch{at: i}
		o.batches[key] = b
	}
	b.members += len(s.Members.Items)
	for j := range s.Members.Items {
		if len(b.few) == fewMembers {
			break
		}
		b.few = append(b.few, &s.Members.Items[j])
	}
}

// parentStep finds the step that a new object is shown with, or -1: the one that
// creates its parent, unless that has no parent itself. A project's items are
// worth a line of their own, an item's links are not.
func parentStep(plan *planner.Plan, i int) int {
	s := plan.Steps[i]
	if s.Action != planner.Create || s.Object == nil || s.Object.Parent == nil || s.Object.Parent.Parent == nil {
		return -1
	}
	for _, need := range s.Needs {
		if need < 0 || need >= i {
			continue
		}
		if n := plan.Steps[need]; n.Action == planner.Create && n.Object == s.Object.Parent {
			return need
		}
	}
	return -1
}
