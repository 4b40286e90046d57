package executor

import (
	"cmp"

	"github.com/planform/planform/planner"
)

// What is to be deleted may be what is created at another place: a work item whose key
// moved to another project. So it is kept until what was to replace it is complete.

// noteIncomplete notes what a step that did not succeed leaves incomplete: what it is
// about and all that lives in, such as a work item and its project for a link; of a
// membership the members as well.
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

// keptBy is the step that keeps a thing from being deleted: one that was to create
// something, or to complete something of the thing's kind. It does not matter whether
// this run created that: in the next run, which goes on, it exists already.
func (r *scheduler) keptBy(step *planner.Step) *planner.Step {
	return cmp.Or(r.failedCreate, r.incomplete[step.Address.Kind()])
}
