package planner

import (
	"cmp"
	"maps"

	"github.com/planform/planform/internal/resource"
)

// customFieldRead is the read that shows the value of a custom field of an object.
type customFieldRead struct {
	object     objectID
	definition *resource.Object
	read       Read
}

// readCustomFields reads the values of custom fields, unless that takes many requests: API v2 shows those of an object in one answer,
// API v1 each in its own. The rows have the values then.
func readCustomFields(refs *references) {
	if refs.in.SkipRefresh {
		return
	}
	var wanted []customFieldRead
	distinct := map[Read]bool{}
	for i, o := range refs.objects.all() {
		f := &refs.objects.states[i]
		if f.row == nil || f.presence != exists {
			continue
		}
		for k := range o.Values {
			if v := &o.Values[k]; resource.IsCustom(v) && !o.Ignores(v.Field) && refs.isOfItsType(o, f, v.Field.Definition) {
				w := customFieldRead{i, v.Field.Definition, refs.customFieldRead(i, v.Field.Definition)}
				wanted, distinct[w.read] = append(wanted, w), true
			}
		}
	}
	if refs.customUnread = len(distinct) > maxValueReads && !refs.in.RefreshAll; refs.customUnread {
		return
	}
	rows := map[objectID]map[string]any{}
	for _, w := range wanted {
		a, answered := refs.service.ask(w.read)
		if !answered || a.Unsupported {
			continue
		}
		if f := &refs.objects.states[w.object]; rows[w.object] == nil {
			rows[w.object], f.row = map[string]any{}, maps.Clone(f.row)
			f.row[resource.CustomFieldsRow] = rows[w.object]
		}
		rows[w.object][w.definition.Key] = resource.CustomValue(refs.objects.states[refs.objects.index[w.definition]].id, a.Rows)
	}
}

// isOfItsType reports whether the service shows that an object is of the type that defines a custom field, if a type does. Of an
// inactive property it shows no values.
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
	if in == nil { // of the workspace: the manifest's type has it, or the value would not be bound to it
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

func (re *references) customFieldRead(i objectID, definition *resource.Object) Read {
	params := re.objects.params(i)
	params[definition.Kind.Param] = re.objects.states[re.objects.index[definition]].id
	read, _ := readOf(cmp.Or(resource.ValueOp(definition, resource.GetFields, re.in.API), resource.ValueOp(definition, resource.GetValue, resource.V1)), params)
	return read
}
