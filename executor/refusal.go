package executor

import (
	"errors"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// sameRefusals is the number of refusals after which other steps of the operation in the project are not tried: in a row, for the same
// reason, and without an earlier success.
const sameRefusals = 20

// operationIn identifies an operation in one project, or in the workspace.
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

// refusals counts the latest refusals of an operation, in a row and for one reason.
type refusals struct {
	reason      string
	first       *planner.Step
	count       int
	succeeded   bool // a step succeeded, so the operation itself is not refused
	unsupported bool // the service has no such operation
}

// countRefusal counts the result of a step for its operation.
func (sc *scheduler) countRefusal(res *StepResult) {
	if res.Step.Operation == nil {
		return
	}
	key := operationOf(res.Step)
	of := sc.refusals[key]
	if of == nil {
		of = &refusals{}
		sc.refusals[key] = of
	}
	switch res.Status {
	case Done:
		of.succeeded = true
	case Failed:
		if errors.Is(res.Err, ErrUnsupported) {
			*of = refusals{first: res.Step, unsupported: true}
			sc.unsupported[res.Step.Index] = true
			return
		}
		reason := ""
		if refused, ok := errors.AsType[Refusal](res.Err); ok {
			reason = refused.Refusal()
		}
		if reason != of.reason || reason == "" {
			*of = refusals{reason: reason, first: res.Step, succeeded: of.succeeded}
		}
		of.count++
	case NotStarted, Blocked, Unknown:
	}
}

// refusedBy returns the first refused step of an operation that is no longer tried, or nil.
func (sc *scheduler) refusedBy(step *planner.Step) *planner.Step {
	of := sc.refusals[operationOf(step)]
	if of != nil && (of.unsupported || !of.succeeded && of.reason != "" && of.count >= sameRefusals) {
		return of.first
	}
	return nil
}

// canGoOnWithout reports whether a step goes on although a step that it needs was not done: the object of that step is unsupported, and is
// neither the step's own object nor an object that contains it.
func (sc *scheduler) canGoOnWithout(step *planner.Step, needed planner.StepID) bool {
	if !sc.unsupported[needed] {
		return false
	}
	unsupported := sc.plan.Steps[needed].Address
	if step.Address == unsupported || step.Members != nil && step.Members.Container.Address == unsupported {
		return false
	}
	for o := step.Object; o != nil; o = o.Parent {
		if o.Address == unsupported {
			return false
		}
	}
	return step.Members == nil || step.Members.Container.Within == nil || step.Members.Container.Within.Address != unsupported
}
