package planner

import (
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// doubled warns of things that are in two containers at once though they can be
// in one only: the service can get them there, and then refuses to move them.
func (b *builder) doubled() {
	first := map[serviceID]*roster{}
	for _, r := range b.rosters {
		if !r.read || !r.kind.Membership.Exclusive {
			continue
		}
		for _, id := range slices.Compact(r.have) {
			thing := serviceID{r.kind.Membership.Member, id}
			other, twice := first[thing]
			if !twice {
				first[thing] = r
				continue
			}
			if at, ok := b.owners[thing]; ok {
				o, container := b.in.Desired[at], spoken(resource.Must(r.kind.Membership.Container))
				b.diags.Add(diag.Diagnostic{
					Severity: diag.Warning, Code: "in-two", Position: o.Position, Address: string(o.Address),
					Summary: string(o.Address) + " is in two " + container + "s at once: " + string(other.container.Address) + " and " + string(r.container.Address),
					Hint:    "the service then refuses to move it: take it out of one of them there",
				})
			}
		}
	}
}
