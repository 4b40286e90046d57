package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// findGovernance reads the level, workspace or project, on which the workspace manages kinds that can be on both. The service refuses
// writes on the other level. It reads nothing for kinds that the plan does not write.
func findGovernance(differ *comparer) {
	for i, o := range differ.in.Desired {
		if o.Kind.Governance.Flag != "" && differ.isWritten(objectID(i)) {
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
	}
	return cm.objects.needsMark(i) || slices.ContainsFunc(cm.fieldsOf(i), func(v *resource.Value) bool {
		_, _, differs := cm.compare(v, f, cm.refs.idResolver(i))
		return differs && !o.Ignores(v.Field)
	})
}

// fieldsOf returns the values of an object that an update can send.
func (cm *comparer) fieldsOf(i objectID) (values []*resource.Value) {
	o, f := cm.in.Desired[i], &cm.objects.states[i]
	for k := range o.Values {
		if v := &o.Values[k]; f.info.api.Sendable(v.Field) && !v.Field.Immutable && !f.info.viaMembership(v.Field) && !v.Implied {
			values = append(values, v)
		}
	}
	return values
}
