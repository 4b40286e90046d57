package resource

// Kinds that define custom fields.
const (
	WorkItemType   = "work_item_type"
	Property       = "work_item_property"
	PropertyOption = "work_item_property_option"
)

func init() {
	const project = workspace + "projects/{project_id}/"
	const values = project + "work-items/{work_item_id}/work-item-properties/{property_id}/values/"
	const valueScope = "projects.work_item_property_values"
	register(Kind{
		Name: Property, Section: "properties", Parent: WorkItemType, Param: "property_id", Scope: "projects.work_item_properties", HasExternalID: true,
		Doc:        "A custom field of a work item type. Work items of the type give its value in `fields`.",
		Example:    `{name: Severity, type: option, options: [Low, High]}`,
		Governance: Governance{Flag: "work_item_types", Other: "workspace_work_item_property"},
		Fields:     propertyFields(""),
		Operations: append(crud(project+"work-item-types/{type_id}/work-item-properties/", "property_id", "lgcu"),
			Operation{Verb: SetValue, Path: values, Success: 200, Scope: valueScope + ":write"},
			Operation{Verb: GetValue, Path: values, Scope: valueScope + ":read"},
			Operation{Verb: ClearValue, Path: values, Scope: valueScope + ":write"},
			Operation{
				Verb: GetFields, Path: workspaceV2 + "projects/{project_id}/work-items/{work_item_id}/", Scope: "projects.work_items:read",
			},
			Operation{
				Verb: ListNames, Path: workspaceV2 + "projects/{project_id}/work-item-properties/",
				Query: []string{"per_page", "cursor", "fields"},
			},
		),
	})
	register(Kind{
		Name: PropertyOption, Section: "options", Parent: Property, Param: "option_id", Scope: "projects.work_item_property_options", HasExternalID: true, Short: "name",
		Listing:    Listing{ParentType: "option", Appended: true},
		Doc:        "A choice of a custom field of the type `option`. A bare text is its name.",
		Example:    `{name: High, description: Somebody cannot work}`,
		Governance: Governance{Flag: "work_item_types", Other: "workspace_work_item_property_option"},
		Fields:     optionFields(Field{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether it can be chosen.", Example: "false"}),
		Operations: crud(project+"work-item-properties/{property_id}/options/", "option_id", "lgcu"),
	})
	const ofWorkspace = workspaceV2 + "work-item-properties/"
	register(Kind{
		Name: "workspace_work_item_property", Section: "work_item_properties", Param: "property_id", Scope: "workspaces.work_item_properties", HasExternalID: true,
		Doc: "A custom field of the workspace, if the workspace manages the types of all its projects. Types name it in `properties`. Only API " +
			"v2 has it.",
		Example:    `{name: Severity, type: option, options: [Low, High]}`,
		Governance: Governance{Flag: "work_item_types", AtWorkspace: true, Other: Property},
		Fields:     propertyFields("true"), // without it the service hides a new one
		Operations: crud(ofWorkspace, "property_id", "lgcu"),
	})
	register(Kind{
		Name: "workspace_work_item_property_option", Section: "options", Parent: "workspace_work_item_property", Param: "option_id", Scope: "workspaces.work_item_properties",
		HasExternalID: true, Short: "name", Listing: Listing{ParentType: "option", Appended: true},
		Doc:        "A choice of a custom field of the workspace of the type `option`. A bare text is its name.",
		Example:    `{name: High, description: Somebody cannot work}`,
		Governance: Governance{Flag: "work_item_types", AtWorkspace: true, Other: PropertyOption},
		Fields:     optionFields(),
		Operations: crud(ofWorkspace+"{property_id}/options/", "option_id", "lgcu"),
	})
}

// propertyFields returns the fields of a custom field definition. active is the value of is_active in a create if the manifest has none.
func propertyFields(active string) []Field {
	return []Field{
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
			Doc: "Kind of object that a `relation` names: work items (`issue`) or people (`user`). Values that name anything else cannot be set.", Example: "user",
		},
		{
			Name: "is_multi", Type: Boolean, Default: "false", Immutable: true,
			Doc: "Whether an item can have several values, as a list. For the types `option` and `relation`.", Example: "true",
		},
		{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the field.", Example: "How bad it is"},
		{Name: "is_required", Type: Boolean, Default: "false", Doc: "Whether the web app asks for a value.", Example: "true"},
		{Name: "is_active", Type: Boolean, Default: "true", Initial: active, Doc: "Whether items show the field.", Example: "false"},
		{
			Name: "settings", Type: JSON, Doc: "How values are shown, passed through unchanged; see the API reference of Plane.",
			Example: `{"display_format": "multi-line"}`,
			initialFor: func(o *Object) string {
				return map[string]string{"text": `{"display_format":"single-line"}`, "datetime": `{"display_format":"MMM dd, yyyy"}`}[o.Text("type")]
			},
		},
	}
}

// optionFields returns the fields of an option, with additional ones.
func optionFields(more ...Field) []Field {
	return append([]Field{
		{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the choice.", Example: "High"},
		{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the choice.", Example: "Somebody cannot work"},
	}, more...)
}
