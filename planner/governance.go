package planner

import "github.com/planform/planform/internal/plane/resource"

// managedElsewhere returns the manager of a kind's objects, and the place where a manifest must write them. It returns "" if the service
// does not refuse to write them where the manifest has them, or if that is not known.
func (ss *snapshot) managedElsewhere(k *resource.Kind) (who, where string) {
	g := k.Governance
	if g.Flag == "" {
		return "", ""
	}
	if on, known := ss.governs(g); known && g.Elsewhere(on) {
		return g.Managers(on)
	}
	return "", ""
}

// governs returns the value of a flag from the manifest, else from the service.
func (ss *snapshot) governs(g resource.Governance) (on, known bool) {
	if features, field := g.Switch(); field != nil {
		for _, i := range ss.objects.inScope(scope{ss.objects.kinds[features], noObject}) {
			if v, given := ss.in.Desired[i].Value(field.Name); given {
				return !isOff(v), true
			}
		}
	}
	op, field, offered := resource.ReadGovernance(g.Flag, ss.in.API)
	if !offered {
		return false, false
	}
	path, _ := op.Expand(map[string]string{"workspace_slug": ss.in.Workspace})
	a := ss.service.askOptional(Read{Operation: op, Path: path})
	if len(a.Rows) == 0 {
		return false, false
	}
	return resource.FlagIn(a.Rows[0], op, field)
}
