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
		if n.t.field.Among == "" || step == nil || !slices.Contains(step.Values, n.v) {
			continue
		}
		via := resource.Must(n.t.field.Among)
		container := b.ancestor(n.by, b.kinds[resource.Must(via.Membership.Container)])
		for j := range n.v.Refs {
			_, id, _ := b.target(n.by, n.t, &n.v.Refs[j])
			if first, ok := b.entrances[entrance{via, container, id}]; ok {
				step.awaits = append(step.awaits, first)
			}
		}
	}
}
