package view

import (
	"slices"

	"github.com/planform/planform/planner"
)

// fewMembers is how many members are named and not only counted.
const fewMembers = 3

// outline tells which steps of a plan are shown with another one: things that are
// created within a thing that is created too, and the batches of a membership.
// It holds numbers and no text, so that a long plan is printed as it is walked.
type outline struct {
	nested  []bool
	child   []int // by step: its first child, from 1
	sibling []int // by step: the next child of the same parent, from 1
	batches map[batchKey]*batch
	lacking []*absence
}

// absence is what is left out since the edition lacks a kind. It is said once for each.
type absence struct {
	things string // of the kind
	steps  []*planner.Step
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
	key := batchKey{base: base(s), reason: s.Reason, action: s.Action}
	if s.Kind != nil {
		key.kind = s.Kind.Name
	}
	return key
}

func arrange(plan *planner.Plan) *outline {
	n := len(plan.Steps)
	o := &outline{
		nested: make([]bool, n), child: make([]int, n), sibling: make([]int, n),
		batches: map[batchKey]*batch{},
	}
	last := make([]int, n) // by step: its last child, from 1
	for i, s := range plan.Steps {
		if s.Unsupported != "" {
			o.lack(s)
			o.nested[i] = true
			continue
		}
		if s.Members != nil {
			o.add(i, s)
			continue
		}
		at := within(plan, i)
		if at < 0 || o.nested[at] {
			continue
		}
		o.nested[i] = true
		if last[at] == 0 {
			o.child[at] = i + 1
		} else {
			o.sibling[last[at]-1] = i + 1
		}
		last[at] = i + 1
	}
	return o
}

func (o *outline) lack(s *planner.Step) {
	at := slices.IndexFunc(o.lacking, func(a *absence) bool { return a.things == s.Unsupported })
	if at < 0 {
		at = len(o.lacking)
		o.lacking = append(o.lacking, &absence{things: s.Unsupported})
	}
	o.lacking[at].steps = append(o.lacking[at].steps, s)
}

func (o *outline) add(i int, s *planner.Step) {
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

// within finds the step that a new thing is shown with, or -1: the one that
// creates what it lives in, unless that lives in the workspace itself. A
// project's items are worth a line of their own, an item's links are not.
func within(plan *planner.Plan, i int) int {
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

// first is the first step shown within step i, or -1.
func (o *outline) first(i int) int { return int(o.child[i]) - 1 }

// after is the step shown behind child within the same step, or -1.
func (o *outline) after(child int) int { return int(o.sibling[child]) - 1 }
