package executor

import (
	"errors"

	"github.com/planform/planform/planner"
)

// sameRefusals is how many steps of an operation the service refuses in a row, for
// one reason and without a success before, until no further one is tried.
const sameRefusals = 20

// refusals is how the service refuses the steps of an operation.
type refusals struct {
	reason string
	first  *planner.Step
	count  int
	never  bool // a step succeeded: the reason is not the operation's
	absent bool // the service has no such operation
}

// note counts how a step ended towards the refusals of its operation.
func (r *run) note(res *StepResult) {
	op := res.Step.Operation
	if op == nil {
		return
	}
	of := r.refusals[op]
	if of == nil {
		of = &refusals{}
		r.refusals[op] = of
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
		reason := ""
		if refused, ok := errors.AsType[Refusal](res.Err); ok {
			reason = refused.Refusal()
		}
		if reason != of.reason || reason == "" {
			*of = refusals{reason: reason, first: res.Step, never: of.never}
		}
		of.count++
	case NotStarted, Blocked, Unknown:
	}
}

// refused is the step whose refusal speaks for every step of an operation, or nil.
func (r *run) refused(step *planner.Step) *planner.Step {
	of := r.refusals[step.Operation]
	if of != nil && of.absent {
		return of.first
	}
	if of == nil || of.never || of.reason == "" || of.count < sameRefusals {
		return nil
	}
	return of.first
}

// doesWithout reports whether a step goes on though one that it needs was not done:
// what that was to make is unsupported, and the step's object neither lives in it nor is it.
func (r *run) doesWithout(step *planner.Step, needed int) bool {
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
