package executor

import (
	"cmp"

	"github.com/planform/planform/planner"
)

// An object to delete may have its replacement in the same plan, such as a work item whose
// key moved to another project. So it is kept until every replacement is complete, unless
// another step needs what it occupies, such as its name.

// noteNeeded notes the deletes that a step needs, and those that these need in turn.
func (sc *scheduler) noteNeeded(step *planner.Step) {
	for _, i := range step.Needs {
		if other := sc.plan.Steps[i]; other.Action == planner.Delete && !sc.needed[i] {
			sc.needed[i] = true
			sc.noteNeeded(other)
		}
	}
}

// noteIncomplete notes the kinds that a step which did not succeed leaves incomplete: its
// own and those that contain it, such as work item and project for a link; for a
// membership also the kind of the members.
func (sc *scheduler) noteIncomplete(res *StepResult) {
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

// deleteBlocker is the failed step that keeps an object from being deleted: a create, or a
// step on an object of the same kind. Whether this run created that object does not
// matter: for the next run it exists already.
func (sc *scheduler) deleteBlocker(step *planner.Step) *planner.Step {
	return cmp.Or(sc.failedCreate, sc.incomplete[step.Address.Kind()])
}
