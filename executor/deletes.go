package executor

import (
	"cmp"

	"github.com/planform/planform/planner"
)

// The plan may contain the replacement of an object that it deletes, such as a work item whose key moved to another project.
// So the object is kept until every replacement is complete, unless another step needs what it occupies, such as its name.

// markNeeded marks the deletes that a step needs, directly or through other deletes.
func (sc *scheduler) markNeeded(step *planner.Step) {
	for _, i := range step.Needs {
		if other := sc.plan.Steps[i]; other.Action == planner.Delete && !sc.needed[i] {
			sc.needed[i] = true
			sc.markNeeded(other)
		}
	}
}

// markIncomplete marks the kinds that a failed step leaves incomplete: its own kind and the kinds that contain it, such as work item and
// project for a link. For a membership, it also marks the kind of the members.
func (sc *scheduler) markIncomplete(res *StepResult) {
	step, why := res.Step, cmp.Or(res.BlockedBy, res.Step)
	if step.Action == planner.RemoveMembers {
		return
	}
	if step.Action == planner.Create && sc.failedCreate == nil {
		sc.failedCreate = why
	}
	note := func(kind string) {
		if sc.incomplete[kind] == nil {
			sc.incomplete[kind] = why
		}
	}
	address := step.Address
	if step.Members != nil {
		address = step.Members.Container.Address
		note(step.Kind.Membership.Member)
	}
	for ; address != ""; address = address.Parent() {
		note(address.Kind())
	}
}

// deleteBlocker returns the failed step that prevents the deletion of an object: a create, or a step on an object of the same kind. It does
// not matter whether this run created that object: for the next run it exists already.
func (sc *scheduler) deleteBlocker(step *planner.Step) *planner.Step {
	return cmp.Or(sc.failedCreate, sc.incomplete[step.Address.Kind()])
}
