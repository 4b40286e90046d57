package planner

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
			if _, _, differs := cm.compare(v, f, cm.refs.idResolver(i)); differs {
				return true
			}
		}
	}
	return false
}
