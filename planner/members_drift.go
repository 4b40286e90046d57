package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// fieldDrift is a field of the manifest whose memberships people changed.
type fieldDrift struct {
	conflict, kept bool
	unread         bool // of a pull: the containers that the object may be in now were not read
}

// isStricter reports whether a policy forbids more than another one.
func (od OnDrift) isStricter(than OnDrift) bool {
	rank := []OnDrift{Overwrite, Keep, Fail}
	return slices.Index(rank, od) > max(0, slices.Index(rank, than))
}

// strictest returns the declaration whose drift policy applies to an edge. If both objects declare a relation, that is the stricter policy.
func (mb *memberships) strictest(e *member) declaration {
	if e.also.value != nil && mb.in.onDrift(e.also.object).isStricter(mb.in.onDrift(e.by.object)) {
		return e.also
	}
	return e.by
}

// noteDrift records that people changed a membership that a field declares.
func (mb *memberships) noteDrift(of *resource.Value, v verdict) {
	d := mb.drifted[of]
	if d == nil {
		d = &fieldDrift{}
		mb.drifted[of] = d
	}
	d.conflict, d.kept = d.conflict || v.conflict, v.kept
}

// keepsDrift reports whether a change that people made to a field's memberships stays.
func (mb *memberships) keepsDrift(v *resource.Value) bool {
	return mb.drifted[v] != nil && mb.drifted[v].kept
}

// showDrifts adds the memberships that people changed to the drift of a plan, with the current and the wanted members or containers.
func (mb *memberships) showDrifts(plan *Plan) {
	for _, n := range mb.objects.uses {
		d := mb.drifted[n.value]
		if d == nil {
			continue
		}
		var now []string
		for i := range n.value.Refs {
			if r := &n.value.Refs[i]; !mb.absent[r] {
				now = append(now, showReference(r))
			}
		}
		via, id := n.field.membership.Name, mb.objects.states[n.by].id
		for _, c := range mb.where[edge{kind: via, member: id}] {
			if _, named := mb.wanted[edge{via, c.ID, id}]; !named {
				now = append(now, string(c.Address))
			}
		}
		c := change(n.value, FromDrift)
		if c.Path, c.Conflict, c.Possible = n.value.Field.Path(), d.conflict, true; len(now) > 0 {
			c.Before = new(strings.Join(now, "\n"))
		}
		plan.Drift = append(plan.Drift, Drift{mb.in.Desired[n.by], &c, d.kept})
		if d.kept {
			plan.Summary.Kept++
		}
	}
}
