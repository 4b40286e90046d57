package resource

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// The kinds that define custom fields.
const (
	WorkItemType   = "work_item_type"
	Property       = "work_item_property"
	PropertyOption = "work_item_property_option"
)

func init() {
	const project = workspace + "projects/{project_id}/"
	const values = project + "work-items/{work_item_id}/work-item-properties/{property_id}/values/"
	const scope = "projects.work_item_properties"
	const valueScope = "projects.work_item_property_values"
	register(Kind{
		Name: Property, Section: "properties", Parent: WorkItemType, Param: "property_id", HasExternalID: true,
		Doc:     "A custom field of a work item type. Work items of the type give its value in `fields`.",
		Example: `{name: Severity, type: option, options: [Low, High]}`,
		KeyFrom: []string{"name"}, NaturalKey: []string{"name"},
		Fields: []Field{
			{
				Name: "name", Wire: Wire{ContractDialect: "display_name"}, Type: Text, Required: true, MaxLength: 255, Doc: "Name of the field.",
				Example: "Severity",
			},
			{
				Name: "type", Wire: Wire{ContractDialect: "property_type"}, Type: Enum, EnumInCapitals: true, Required: true, Immutable: true,
				Enum: []string{"text", "decimal", "boolean", "datetime", "option", "relation", "url", "email", "file", "formula"},
				Doc:  "Type of the values. A `datetime` is a day, or a day and a time such as `2026-12-01 09:30:00`. Values of the types `file` and `formula` cannot be set.", Example: "option",
			},
			{
				Name: "relation_type", Type: Enum, EnumInCapitals: true, Enum: []string{"issue", "user", "release", "rich_text"}, Immutable: true,
				Doc: "What a `relation` names: work items (`issue`) or people (`user`). Values that name anything else cannot be set.", Example: "user",
			},
			{
				Name: "is_multi", Type: Boolean, Default: "false", Immutable: true,
				Doc: "Whether an item can have several values, as a list: of the types `option` and `relation`.", Example: "true",
			},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the field.", Example: "How bad it is"},
			{Name: "is_required", Type: Boolean, Default: "false", Doc: "Whether the web app asks for a value.", Example: "true"},
			{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether items show the field.", Example: "false"},
			{
				Name: "settings", Type: JSON, Doc: "How values are shown, passed through unchanged; see the API reference of Plane.",
				Example:   `{"display_format": "multi-line"}`,
				InitialBy: map[string]string{"text": `{"display_format":"single-line"}`, "datetime": `{"display_format":"MMM dd, yyyy"}`},
			},
		},
		Operations: append(crud(project+"work-item-types/{type_id}/work-item-properties/", "property_id", scope, "lgcu"),
			Operation{Verb: SetValue, Method: "POST", Path: values, Success: 200, Scope: valueScope + ":write"},
			Operation{Verb: GetValue, Method: "GET", Path: values, Success: 200, Scope: valueScope + ":read"},
			Operation{Verb: ClearValue, Method: "DELETE", Path: values, Success: 204, Scope: valueScope + ":write"},
			Operation{
				Verb: GetFields, Method: "GET", Path: workspaceV2 + "projects/{project_id}/work-items/{work_item_id}/", Success: 200,
				Scope: "projects.work_items:read",
			},
			Operation{
				Verb: ListNames, Method: "GET", Path: workspaceV2 + "projects/{project_id}/work-item-properties/", Success: 200, Scope: scope + ":read",
				Query: []string{"per_page", "cursor", "fields"},
			},
		),
	})
	register(Kind{
		Name: PropertyOption, Section: "options", Parent: Property, Param: "option_id", HasExternalID: true, Short: "name",
		Listing: Listing{ParentType: "option"},
		Doc:     "A choice of a custom field of the type `option`. A bare text is its name.",
		Example: `{name: High, description: Somebody cannot work}`,
		KeyFrom: []string{"name"}, NaturalKey: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the choice.", Example: "High"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the choice.", Example: "Somebody cannot work"},
			{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether it can be chosen.", Example: "false"},
		},
		Operations: crud(project+"work-item-properties/{property_id}/options/", "option_id", "projects.work_item_property_options", "lgcu"),
	})
}

// CustomFieldsName is the name of the mapping that holds the values of custom fields, in manifests.
const CustomFieldsName = "fields"

// CustomFieldsRow is the field of a row that holds the values of custom fields, by the keys of their properties, each as
// [CustomValue] has it. No answer has it: they are read for themselves.
const CustomFieldsRow = "planform custom fields"

// CustomValue is the value of a custom field in the answers to a read: records of its own, or the object with all of them.
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

// observedCustom is the canonical form of the value of a custom field.
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
	} else if text, ok := raw.(string); ok && f.Type == Text { // a moment, as some editions show it
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			raw = strings.TrimSuffix(at.UTC().Format(time.DateTime), " 00:00:00")
		}
	}
	canonical, known = one.ObservedIn(Row{one.APIName(): raw})
	return propertyMark(Row(record).ID()) + canonical, known
}

// CustomFieldTypes are the fields of a property from which [CustomField] takes the type of the field.
func CustomFieldTypes() []string { return []string{"type", "relation_type", "is_multi"} }

// CustomField is the field of work items that a property defines. No list shows its value.
func CustomField(property *Object) *Field {
	f := &Field{
		Name: CustomFieldsName + "." + property.Key, Wire: Wire{ContractDialect: "value", V2Dialect: NotTaken}, Type: LongText,
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
		f.Ref = PropertyOption
	case "relation":
		f.Ref = map[string]string{"issue": "work_item", "user": "member"}[property.Text("relation_type")]
	}
	if f.Ref != "" {
		f.Type = Ref
		if property.Text("is_multi") == "true" {
			f.Type = RefSet
		}
	}
	f.complete()
	return f
}

// propertyMark tells the values of a property from those of one that an item of another type has under the same key, or
// that took its place: they have to be sent again. It is short, so that the state still shows most values.
func propertyMark(id string) string { return id[max(0, len(id)-12):] + " " }

// WithoutProperty is a canonical value without the mark of the property that defines the field, if one does.
func (f *Field) WithoutProperty(canonical string) string {
	if _, value, marked := strings.Cut(canonical, " "); marked && f.Definition != nil {
		return value
	}
	return canonical
}

// Unsettable says why the service takes no value of a property from a manifest, or "".
func Unsettable(property *Object) string {
	switch kind, of := property.Text("type"), property.Text("relation_type"); {
	case kind == "file", kind == "formula":
		return "it is of the type " + kind
	case kind == "relation" && of != "issue" && of != "user":
		return "it is a relation to neither work items nor people"
	default:
		return ""
	}
}

// CustomFieldOp is the operation of API v1 that gives a custom field its value, or clears it.
func CustomFieldOp(v *Value) *Operation {
	verb := SetValue
	if v.Null {
		verb = ClearValue
	}
	op, _ := MustLookup(Property).Op(verb, V1)
	return op
}

// IsCustomName reports whether the name of a field is that of a custom one.
func IsCustomName(name string) bool { return strings.HasPrefix(name, CustomFieldsName+".") }

// IsCustom reports whether a value is of a custom field.
func IsCustom(v *Value) bool { return v.Field.Definition != nil }

// PutCustom adds the values of custom fields to a body of API v2, under the service's names of them.
func PutCustom(body []byte, values []*Value, name func(definition *Object) string, id IDResolver) []byte {
	if !slices.ContainsFunc(values, IsCustom) {
		return body
	}
	b := bytes.NewBuffer(body[:len(body)-1])
	if b.Len() > 1 {
		b.WriteByte(',')
	}
	b.WriteString(`"custom_fields":{`)
	first := true
	for _, v := range values {
		if !IsCustom(v) {
			continue
		}
		value, ok := v.encoded("", id)
		if !ok {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		writeJSON(b, name(v.Field.Definition))
		b.WriteByte(':')
		writeJSON(b, value)
	}
	b.WriteString("}}")
	return b.Bytes()
}
