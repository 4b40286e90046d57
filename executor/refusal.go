package executor

import (
	"errors"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// sameRefusals is the number of refusals of one operation in one project, in a row, for the same
// reason and without a success before, after which its other steps are not tried.
const sameRefusals = 20

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

// refusals are the latest refusals of an operation, in a row and for one reason.
type refusals struct {
	reason      string
	first       *planner.Step
	count       int
	succeeded   bool // a step succeeded: the reason is not the operation's
	unsupported bool // the service has no such operation
}

// countRefusal counts the result of a step towards the refusals of its operation.
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

// refused is the first refused step of an operation that is not tried any more, or nil.
func (sc *scheduler) refused(step *planner.Step) *planner.Step {
	of := sc.refusals[operationOf(step)]
	if of != nil && (of.unsupported || !of.succeeded && of.reason != "" && of.count >= sameRefusals) {
		return of.first
	}
	return nil
}

// doesWithout reports whether a step goes on although one that it needs was not done: the
// object of that one is unsupported, and neither the step's own object nor one that contains it.
func (sc *scheduler) doesWithout(step *planner.Step, needed planner.StepID) bool {
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
