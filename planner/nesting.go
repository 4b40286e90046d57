package planner

// findParentCycles reports objects that would come to be above themselves, which the
// service takes without a word. Those that the manifest names by their keys it
// finds itself; here an object is known by its ID and identifier too.
func (s *Snapshot) findParentCycles() {
	var below []int
	above := map[int]int{}
	for _, n := range s.refs {
		if n.value.Field.Name != s.in.Desired[n.by].Kind.ParentField || len(n.value.Refs) == 0 {
			continue
		}
		if at, _, ok := s.target(n.by, n.field, &n.value.Refs[0]); ok && at != none {
			below, above[n.by] = append(below, n.by), at
		}
	}
	cameFrom := make(map[int]int, len(above)) // what a walk upwards began with
	for _, first := range below {
		at := first
		for {
			up, nested := above[at]
			begun, seen := cameFrom[at]
			if nested && !seen {
				cameFrom[at] = first
				at = up
				continue
			}
			if nested && begun == first {
				s.reportCircle(above, at)
			}
			break
		}
	}
}

// reportCircle reports a cycle at something that is there. Where nothing is,
// the steps that would make it cannot be put into an order, which says more.
func (s *Snapshot) reportCircle(above map[int]int, begin int) {
	for at := begin; ; {
		up := above[at]
		if s.states[at].presence == exists {
			o := s.in.Desired[at]
			s.report(o, "circle", "the parent of "+string(o.Address)+" leads back to itself, by way of "+string(s.in.Desired[up].Address), "remove one parent of the chain")
			return
		}
		if at = up; at == begin {
			return
		}
	}
}
