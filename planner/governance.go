package planner

import "github.com/planform/planform/internal/resource"

// managedElsewhere says who manages objects of a kind and where a manifest has them, if the service refuses to write them where they
// are; "" = it does not, as far as is known. pending is set while that is asked.
func (s *snapshot) managedElsewhere(k *resource.Kind) (who, where string, pending bool) {
	g := k.Governance
	if g.Flag == "" {
		return "", "", false
	}
	on, known, pending := s.governs(g)
	if !known || !g.Elsewhere(on) {
		return "", "", pending
	}
	who, where = g.Managers(on)
	return who, where, false
}

// governs is the value of a flag as the manifest has it, or else the service.
func (s *snapshot) governs(g resource.Governance) (on, known, pending bool) {
	if features, field := g.Switch(); field != nil {
		for _, i := range s.objects.inScope(scope{s.objects.kinds[features], noObject}) {
			if v, given := s.in.Desired[i].Value(field.Name); given {
				return !isOff(v), true, false
			}
		}
	}
	op, field, offered := resource.ReadGovernance(g.Flag, s.in.API)
	if !offered {
		return false, false, false
	}
	path, _ := op.Expand(map[string]string{"workspace_slug": s.in.Workspace})
	a, answered := s.service.askOptional(Read{Operation: op, Path: path})
	if !answered || len(a.Rows) == 0 {
		return false, false, !answered
	}
	on, known = resource.FlagIn(a.Rows[0], op, field)
	return on, known, false
}
