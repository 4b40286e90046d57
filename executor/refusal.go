package executor

import (
	"errors"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// How many steps of an operation in one project the service refuses in a row, for one
// reason and without a success before, until no further one is tried.
const (
	sameDenials  = 20
	sameRefusals = 100 // for what is sent: the next may be in order
)

// operationIn is an operation in one project, or in the workspace.
type operationIn struct {
	op *resource.Operation
	in resource.Address
}

func operationOf(step *planner.Step) operationIn {
	k := operationIn{op: step.Operation}
	o := step.Object
	switch {
	case step.Members != nil:
		o = step.Members.Container.Within
	case o != nil:
		o = o.Parent
	}
	for ; o != nil; o = o.Parent {
		k.in = o.Address
	}
	return k
}

// refusals is how the service refuses the steps of an operation.
type refusals struct {
	reason string
	denied bool
	first  *planner.Step
	count  int
	never  bool // a step succeeded: the reason is not the operation's
	absent bool // the service has no such operation
}

// note counts how a step ended towards the refusals of its operation.
func (r *scheduler) note(res *StepResult) {
	if res.Step.Operation == nil {
		return
	}
	key := operationOf(res.Step)
	of := r.refusals[key]
	if of == nil {
		of = &refusals{}
		r.refusals[key] = of
	}
	switch res.Status {
	case Done:
		of.never = true
	case Failed:
		if errors.Is(res.Err, ErrUnsupported) {
			*of = refusals{first: res.Step, absent: true}
			r.unsupported[res.Step.Index] = true
			return
		}
		reason, denied := "", false
		if refused, ok := errors.AsType[Refusal](res.Err); ok {
			reason, denied = refused.Refusal()
		}
		if reason != of.reason || reason == "" {
			*of = refusals{reason: reason, denied: denied, first: res.Step, never: of.never}
		}
		of.count++
	case NotStarted, Blocked, Unknown:
	}
}

// refused is the step whose refusal speaks for every step of an operation, or nil.
func (r *scheduler) refused(step *planner.Step) *planner.Step {
	of := r.refusals[operationOf(step)]
	switch {
	case of == nil:
		return nil
	case of.absent, !of.never && of.denied && of.count >= sameDenials, !of.never && of.reason != "" && of.count >= sameRefusals:
		return of.first
	default:
		return nil
	}
}

// doesWithout reports whether a step goes on though one that it needs was not done:
// what that was to make is unsupported, and the step's object neither lives in it nor is it.
func (r *scheduler) doesWithout(step *planner.Step, needed int) bool {
	if !r.unsupported[needed] {
		return false
	}
	gone := r.plan.Steps[needed]
	if step.Address == gone.Address || step.Members != nil && step.Members.Container.Address == gone.Address {
		return false
	}
	for o := step.Object; o != nil; o = o.Parent {
		if o.Address == gone.Address {
			return false
		}
	}
	return step.Members == nil || step.Members.Container.Within == nil || step.Members.Container.Within.Address != gone.Address
}
