package planner

import "github.com/planform/planform/internal/plane/resource"

// managedElsewhere returns the manager of a kind's objects, and the place where a manifest must write them. It returns "" if the service
// does not refuse to write them where the manifest has them, or if that is not known.
func (ss *snapshot) managedElsewhere(k *resource.Kind) (who, where string) {
	if k.Governance.Flag == "" {
		return "", ""
	}
	if on, known := ss.governs(k.Governance); known && k.Governance.Elsewhere(on) {
		return k.Governance.Managers(on)
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
	read, _ := readOf(op, map[string]string{"workspace_slug": ss.in.Workspace})
	for _, row := range ss.service.askOptional(read).Rows {
		return resource.FlagIn(row, op, field)
	}
	return false, false
}

// findGovernance reads the level, workspace or project, on which the workspace manages kinds that can be on both. The service refuses
// writes on the other level. It reads nothing for kinds that the plan does not write.
func findGovernance(differ *comparer) {
	for i, o := range differ.objects.all() {
		if o.Kind.Governance.Flag != "" && differ.isWritten(i) {
			differ.snapshot.managedElsewhere(o.Kind)
		}
	}
}

// isWritten reports whether an object is created or changed.
func (cm *comparer) isWritten(i objectID) bool {
	o, f := cm.in.Desired[i], &cm.objects.states[i]
	switch {
	case f.presence == absent:
		return !cm.objects.isPredefined(i)
	case f.presence != exists || f.info.update == nil:
		return false
	case cm.objects.needsMark(i):
		return true
	}
	for k := range o.Values {
		v := &o.Values[k]
		if f.info.api.Sendable(v.Field) && !v.Field.Immutable && !f.info.viaMembership(v.Field) && !v.Implied && !o.Ignores(v.Field) {
			if cm.differs(v) {
				return true
			}
		}
	}
	return false
}
