package planner

import (
	"strings"

	"github.com/planform/planform/internal/resource"
)

// Show gives a value as a person would write it: references by address where
// the manifest has the object, rich texts as they were written.
func Show(v *resource.Value) string {
	switch {
	case v.Null:
		return ""
	case !v.Field.IsRef():
		return v.Text
	}
	names := make([]string, len(v.Refs))
	for i := range v.Refs {
		names[i] = v.Refs[i].Text
		if t := v.Refs[i].Target; t != nil {
			names[i] = string(t.Address)
		}
	}
	return strings.Join(names, ", ")
}
