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
	if of == nil || of.never || of.reason == "" || of.count < sameRefusals {
		return nil
	}
	return of.first
}
