package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// prerequisite is that somebody is brought into a container.
type prerequisite struct {
	via       *resource.Kind // the membership
	container int            // its state
	id        string         // of whom
}

// notePrerequisites notes a step that brings people in among whom objects of the container name some.
func (b *builder) notePrerequisites(r *memberSet, step *Step) {
	if r.object == none || !b.prerequisiteKinds[r.kind.Name] {
		return
	}
	for i := range step.Members.Items {
		b.prerequisites[prerequisite{r.kind, r.object, step.Members.Items[i].ID}] = step
	}
}

// membershipPrerequisites are the memberships among whose members some field names people.
func membershipPrerequisites() map[string]bool {
	found := map[string]bool{}
	for _, k := range resource.Kinds() {
		for i := range k.Fields {
			found[k.Fields[i].MustBeMemberOf] = true
		}
	}
	return found
}

// awaitPrerequisites makes steps that name people wait for those that bring them in.
func (b *builder) awaitPrerequisites() {
	if len(b.prerequisites) == 0 {
		return
	}
	for _, n := range b.refs {
		step := b.planned[n.by]
		if n.field.field.MustBeMemberOf == "" || step == nil || !slices.ContainsFunc(step.Values, func(v *resource.Value) bool { return v.Field == n.value.Field }) {
			continue
		}
		for j := range n.value.Refs {
			_, id, _ := b.target(n.by, n.field, &n.value.Refs[j])
			b.awaitPrerequisite(step, n.field.field, n.by, id)
		}
	}
}

// awaitPrerequisite makes a step wait for the one that brings somebody in whom a field names. What
// is about to be created cannot wait for its own members.
func (b *builder) awaitPrerequisite(step *Step, field *resource.Field, by int, id string) {
	via := resource.MustLookup(field.MustBeMemberOf)
	container := b.ancestor(by, b.kinds[resource.MustLookup(via.Membership.Container)])
	if container != none && step.Object == b.in.Desired[container] && step.Action == Create {
		return
	}
	if first, ok := b.prerequisites[prerequisite{via, container, id}]; ok {
		step.extraAfter = append(step.extraAfter, first)
	}
}
