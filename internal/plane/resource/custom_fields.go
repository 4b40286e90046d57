package resource

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// CustomFields returns the field that holds the values of custom fields, if the kind has one.
func (k *Kind) CustomFields() (*Field, bool) {
	i := slices.IndexFunc(k.Fields, func(f Field) bool { return f.Type == CustomFields })
	if i < 0 {
		return nil, false
	}
	return &k.Fields[i], true
}

// DefinesFields reports whether objects of the kind define custom fields of other objects.
func (k *Kind) DefinesFields() bool { return customFieldsOf(k) != nil }

// customFieldsOf returns the field that holds the values of custom fields defined by objects of a kind, or nil.
func customFieldsOf(definitions *Kind) *Field {
	for _, k := range kinds.sorted {
		if f, ok := k.CustomFields(); ok && f.DefinedBy == definitions.projectKind().Name {
			return f
		}
	}
	return nil
}

// optionKind returns the kind of the options that a definition can have, or nil.
func optionKind(definition *Kind) *Kind {
	if all := Children(definition.Name); len(all) > 0 {
		return all[0]
	}
	return nil
}

// IsOption reports whether the values of the field are options of its definition.
func (f *Field) IsOption() bool {
	return f.Definition != nil && f.Ref != "" && MustLookup(f.Ref).Parent == f.Definition.Kind.Name
}

// CustomFieldsRow is the key under which a row holds the values of custom fields, by the keys of their properties, in the form of
// [CustomValue]. The service does not send it; planform reads the values separately and adds them.
const CustomFieldsRow = "planform custom fields"

// CustomValue returns the value of a custom field from the answers to a read. An answer is a record of one value, or the object with all
// its values.
func CustomValue(property string, answers []Row) any {
	var all []any
	add := func(value any) {
		if several, ok := value.([]any); ok {
			all = append(all, several...)
		} else if value != nil {
			all = append(all, value)
		}
	}
	for _, row := range answers {
		add(row[property]) // in an answer that holds the values of all properties
		fields, whole := row["custom_fields"].(map[string]any)
		if !whole {
			add(row["value"])
			continue
		}
		for _, field := range fields {
			if field, ok := field.(map[string]any); ok && Row(field).ID() == property {
				add(field["value"])
			}
		}
	}
	return map[string]any{"id": property, "value": all}
}

// observedCustom returns the canonical form of the value of a custom field.
func (f *Field) observedCustom(raw any) (canonical string, known bool) {
	record, _ := raw.(map[string]any)
	value, _ := record["value"].([]any)
	if len(value) == 0 {
		return "", record != nil
	}
	one := *f
	one.Definition = nil
	raw = value[0]
	if f.Type == RefSet {
		raw = value
	} else if text, ok := raw.(string); ok && f.Type == Boolean {
		raw = strings.ToLower(text)
	} else if ok && f.Type == Text { // some editions show a day as a time
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			raw = strings.TrimSuffix(at.UTC().Format(time.DateTime), " 00:00:00")
		}
	}
	canonical, known = one.ObservedIn(Row{one.APIName(): raw})
	return propertyMark(Row(record).ID()) + canonical, known
}

// DefiningFields returns the names of the fields of a property that decide which values its custom field takes, see [CustomField].
func DefiningFields() []string { return []string{"type", "relation_type", "is_multi"} }

// CustomField returns the field that a property defines, such as a custom field of work items. No list shows its value.
func CustomField(property *Object) *Field {
	f := &Field{
		Name: customFieldsOf(property.Kind).Name + "." + property.Key, Wire: Wire{ContractDialect: "value", V2Dialect: NotTaken}, Type: LongText,
		Clear: ClearNull, Definition: property,
	}
	switch property.Text("type") {
	case "decimal":
		f.Type = Number
	case "boolean":
		f.Type = Boolean
	case "url":
		f.Type = URL
	case "datetime":
		f.Type, f.PatternDoc = Text, "a day such as 2026-12-01, or a day and a time such as 2026-12-01 09:30:00"
		f.Pattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2})?$`
	case "option":
		if of := optionKind(property.Kind); of != nil {
			f.Ref = of.Name
		}
	case "relation":
		f.Ref = map[string]string{"issue": "work_item", "user": "member"}[property.Text("relation_type")]
	}
	if f.Ref != "" {
		f.Type = Ref
		f.CrossProject = f.Ref == "work_item" && property.Kind.Parent == "" // the property belongs to the workspace
		if property.Text("is_multi") == "true" {
			f.Type = RefSet
		}
	}
	f.fillWire()
	return f
}

// propertyMark returns a short mark of the property that defines a value. A value under the same key, but of another property, has to be
// sent again. The mark is short so that most values in the state stay readable.
func propertyMark(id string) string { return id[max(0, len(id)-12):] + " " }

// IsOf reports whether a canonical value belongs to the property with this ID. It returns true for a checksum, which does not show the
// property.
func (f *Field) IsOf(canonical, id string) bool {
	_, _, marked := strings.Cut(canonical, " ")
	return !marked || strings.HasPrefix(canonical, propertyMark(id))
}

// WithoutProperty returns a canonical value without the mark of its property, if it has one.
func (f *Field) WithoutProperty(canonical string) string {
	if _, value, marked := strings.Cut(canonical, " "); marked && f.Definition != nil {
		return value
	}
	return canonical
}

// Unsettable returns the reason why a manifest cannot set values of a property, or "".
func Unsettable(property *Object) string {
	switch kind, of := property.Text("type"), property.Text("relation_type"); {
	case kind == "file", kind == "formula":
		return "it is of the type " + kind
	case kind == "option" && optionKind(property.Kind) == nil:
		return "it is of the type option, whose choices the API does not tell"
	case kind == "relation" && of != "issue" && of != "user":
		return "it is a relation to neither work items nor people"
	default:
		return ""
	}
}

// CustomFieldOp returns the operation of API v1 that sets or clears a custom field.
func CustomFieldOp(v *Value) *Operation {
	op := ValueOp(v.Field.Definition, SetValue, V1)
	if clear := ValueOp(v.Field.Definition, ClearValue, V1); clear != nil && v.Null {
		return clear
	}
	return op
}

// ValueOp returns an operation on values of a custom field, or nil. Workspace and project definitions share the operations.
func ValueOp(definition *Object, v Verb, api API) *Operation {
	op, _ := definition.Kind.projectKind().Op(v, api)
	return op
}

// CustomBody returns the body of a CustomFieldOp: the value, or a list of texts if the operation takes one.
func CustomBody(v *Value, op *Operation, id IDResolver) []byte {
	switch {
	case op.Verb == ClearValue:
		return nil
	case len(op.Body) == 0:
		return Body([]*Value{v}, ContractDialect, id)
	}
	texts := []string{}
	if value, ok := v.bodyValue("", id); ok && !v.Null {
		switch value := value.(type) {
		case []string:
			texts = value
		case json.RawMessage:
			texts = append(texts, string(value))
		default:
			texts = append(texts, fmt.Sprint(value))
		}
	}
	if v.Field.Type == Boolean && len(texts) > 0 { // the service shows booleans capitalized
		texts[0] = strings.ToUpper(texts[0][:1]) + texts[0][1:]
	}
	var b jsonObject
	b.put(op.Body[0], texts)
	return b.json()
}

// IsCustomName reports whether a field name belongs to a custom field.
func IsCustomName(name string) bool {
	within, _, dotted := strings.Cut(name, ".")
	return dotted && slices.ContainsFunc(kinds.sorted, func(k *Kind) bool {
		f, ok := k.CustomFields()
		return ok && f.Name == within
	})
}

// IsCustom reports whether a value belongs to a custom field.
func IsCustom(v *Value) bool { return v.Field.Definition != nil }

// PutCustom adds the values of custom fields to a body of API v2. name returns the service's name of a definition.
func PutCustom(body []byte, values []*Value, name func(definition *Object) string, id IDResolver) []byte {
	var fields jsonObject
	for _, v := range values {
		if !IsCustom(v) {
			continue
		}
		if value, ok := v.bodyValue("", id); ok {
			fields.put(name(v.Field.Definition), value)
		}
	}
	if !slices.ContainsFunc(values, IsCustom) {
		return body
	}
	return Put(body, "custom_fields", json.RawMessage(fields.json()))
}
