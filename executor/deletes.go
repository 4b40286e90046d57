package executor

import (
	"cmp"

	"github.com/planform/planform/planner"
)

// An object to delete may have its replacement in the same plan, such as a work item whose
// key moved to another project. So it is kept until every replacement is complete, unless
// another step needs what it occupies, such as its name.

// noteNeeded notes the deletes that a step needs, and those that these need in turn.
func (r *scheduler) noteNeeded(step *planner.Step) {
	for _, i := range step.Needs {
		if other := r.plan.Steps[i]; other.Action == planner.Delete && !r.needed[i] {
			r.needed[i] = true
			r.noteNeeded(other)
		}
	}
}

// noteIncomplete notes the kinds that a step which did not succeed leaves incomplete: its
// own and those that contain it, such as work item and project for a link; for a
// membership also the kind of the members.
func (r *scheduler) noteIncomplete(res *StepResult) {
	step, why := res.Step, cmp.Or(res.BlockedBy, res.Step)
	if step.Action == planner.RemoveMembers {
		return
	}
	if step.Action == planner.Create && r.failedCreate == nil {
		r.failedCreate = why
	}
	note := func(kind string) {
		if r.incomplete[kind] == nil {
			r.incomplete[kind] = why
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
func (r *scheduler) deleteBlocker(step *planner.Step) *planner.Step {
	return cmp.Or(r.failedCreate, r.incomplete[step.Address.Kind()])
}
