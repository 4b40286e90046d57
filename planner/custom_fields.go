package planner

import (
	"cmp"
	"maps"

	"github.com/planform/planform/internal/plane/resource"
)

// maxValueReads limits the requests that a plan makes for values of custom fields without --refresh-all.
const maxValueReads = 20

// readCustomFields reads the values of custom fields into the rows of their objects, unless that takes too many requests. One request reads
// all values of an object, except in API v1, where each value of a work item takes its own request.
func readCustomFields(refs *references) {
	reads := 0
	for _, o := range refs.in.Desired {
		before := reads
		for k := range o.Values {
			if of := o.Values[k].Field.Definition; of != nil && (reads == before || resource.ValueOp(of, resource.GetFields, refs.in.API) == nil) {
				reads++
			}
		}
	}
	if refs.manyValues = reads > maxValueReads && !refs.in.RefreshAll; refs.manyValues || refs.in.SkipRefresh {
		return
	}
	refs.service.each(len(refs.in.Desired), func(k int) {
		i := objectID(k)
		o, f := refs.in.Desired[i], &refs.objects.states[i]
		if f.row == nil || f.presence != exists {
			return
		}
		values := map[string]any{}
		for k := range o.Values {
			v := &o.Values[k]
			definition := v.Field.Definition
			if !resource.IsCustom(v) || o.Ignores(v.Field) || !refs.isOfItsType(o, f, definition) {
				continue
			}
			id, params := refs.objects.states[refs.objects.index[definition]].id, refs.objects.params(i)
			params[definition.Kind.Param] = id
			op := cmp.Or(resource.ValueOp(definition, resource.GetFields, refs.in.API), resource.ValueOp(definition, resource.GetValue, resource.V1))
			if a := refs.service.askAt(op, params); !a.Unsupported {
				values[definition.Key] = resource.CustomValue(id, a.Rows)
			}
		}
		if len(values) > 0 {
			f.row = maps.Clone(f.row)
			f.row[resource.CustomFieldsRow] = values
		}
	})
}

// isOfItsType reports whether the service can show the value of a custom field: the property is active, and the object has the type that
// defines the property, if a type does.
func (re *references) isOfItsType(o *resource.Object, f *objectState, definition *resource.Object) bool {
	if of := &re.objects.states[re.objects.index[definition]]; of.presence != exists || of.row["is_active"] == false {
		return false
	}
	mapping, _ := f.info.kind.CustomFields()
	field, ok := f.info.kind.Field(mapping.DefinedIn)
	if !ok {
		return true
	}
	in := definition.Parent
	if in == nil { // a property of the workspace belongs to the object's type in the manifest
		v, given := o.Value(field.Name)
		if !given || len(v.Refs) == 0 || v.Refs[0].Target == nil {
			return false
		}
		in = v.Refs[0].Target
	}
	at := re.objects.index[in]
	is, known := field.ObservedIn(f.row)
	return known && is == re.objects.states[at].id && re.objects.states[at].presence == exists
}

// losesField reports whether an object has another type than the one that defines a custom field, now or after the run. Then the service hides
// the field's value, and refuses to clear it.
func (re *references) losesField(i objectID, definition *resource.Object) bool {
	o, f := re.in.Desired[i], &re.objects.states[i]
	mapping, _ := f.info.kind.CustomFields()
	field, ok := f.info.kind.Field(mapping.DefinedIn)
	if !ok || definition.Parent == nil {
		return false
	}
	typeID, known := field.ObservedIn(f.row)
	if v, given := o.Value(field.Name); given {
		typeID, known = v.Desired(re.idResolver(i))
	}
	return known && typeID != re.objects.states[re.objects.index[definition.Parent]].id
}
