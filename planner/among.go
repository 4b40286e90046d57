package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// entrance is that somebody is brought into a container.
type entrance struct {
	via       *resource.Kind // the membership
	container int32          // its fact
	id        string         // of whom
}

// enter notes a step that brings people in among whom things of the container name some.
func (b *builder) enter(r *roster, step *Step) {
	if r.object == none || !b.amongs[r.kind.Name] {
		return
	}
	for i := range step.Members.Items {
		b.entrances[entrance{r.kind, r.object, step.Members.Items[i].ID}] = step
	}
}

// amongs are the memberships among whose members some field names people.
func amongs() map[string]bool {
	found := map[string]bool{}
	for _, k := range resource.Kinds() {
		for i := range k.Fields {
			found[k.Fields[i].Among] = true
		}
	}
	return found
}

// await makes steps that name people wait for those that bring them in.
func (b *builder) await() {
	if len(b.entrances) == 0 {
		return
	}
	for _, n := range b.refs {
		step := b.facts[n.by].step
		if n.t.field.Among == "" || step == nil || !slices.ContainsFunc(step.Values, func(v *resource.Value) bool { return v.Field == n.v.Field }) {
			continue
		}
		for j := range n.v.Refs {
			_, id, _ := b.target(n.by, n.t, &n.v.Refs[j])
			b.awaitEntrance(step, n.t.field, n.by, id)
		}
	}
}

// awaitEntrance makes a step wait for the one that brings somebody in whom a field names. What
// is about to be created cannot wait for its own members.
func (b *builder) awaitEntrance(step *Step, field *resource.Field, by int32, id string) {
	via := resource.Must(field.Among)
	container := b.ancestor(by, b.kinds[resource.Must(via.Membership.Container)])
	if container != none && step.Object == b.in.Desired[container] && step.Action == Create {
		return
	}
	if first, ok := b.entrances[entrance{via, container, id}]; ok {
		step.awaits = append(step.awaits, first)
	}
}
