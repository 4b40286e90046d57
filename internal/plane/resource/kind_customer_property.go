package resource

func init() {
	const path = workspace + "customer-properties/"
	const one = path + "{property_id}/"
	const values, valueScope = workspace + "customers/{customer_id}/property-values/", "customers.property_values"
	register(Kind{
		Name: "customer_property", Section: "customer_properties", Param: "property_id", Scope: "customers.properties", HasExternalID: true, UniqueExternalID: true,
		Lifecycle: Lifecycle{RequiresFeature: "customers"},
		Doc:       "A property of customers. Customers give its value in `properties`.",
		Example:   `{name: Region, type: text, description: Where they are}`,
		Fields: []Field{
			{
				Name: "name", Wire: Wire{ContractDialect: "display_name"}, Type: Text, Required: true, MaxLength: 255, Doc: "Name of the property.",
				Example: "Tier",
			},
			{
				Name: "type", Wire: Wire{ContractDialect: "property_type"}, Type: Enum, EnumInCapitals: true, Required: true, Immutable: true,
				Enum: []string{"text", "datetime", "decimal", "boolean", "option", "relation", "url", "email", "file"},
				Doc:  "Type of the values. Those of the type `file` cannot be set.", Example: "option",
			},
			{
				Name: "relation_type", Type: Enum, EnumInCapitals: true, Enum: []string{"issue", "user"}, Immutable: true,
				Doc: "Kind of object that a `relation` names: work items (`issue`) or people (`user`).", Example: "user",
			},
			{
				Name: "is_multi", Type: Boolean, Default: "false", Immutable: true,
				Doc: "Whether a customer can have several values, as a list. For the types `option` and `relation`.", Example: "true",
			},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes it.", Example: "What they pay for"},
			{Name: "is_required", Type: Boolean, Default: "false", Doc: "Whether the web app asks for a value.", Example: "true"},
			{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether customers show it, with its values.", Example: "false"},
			{
				Name: "settings", Type: JSON, Doc: "How values are shown, passed through unchanged; see the API reference of Plane.",
				Example: `{"display_format": "multi-line"}`,
			},
			{Name: "sort_order", Type: Number, Doc: "Position among the properties: lower comes first.", Example: "1000"},
		},
		Operations: append([]Operation{
			{
				Verb: List, ContractRow: 20, Path: path,
				Query: []string{"workspace", "limit", "offset"}, GetCommand: "customer-properties",
				Doc: "Reads all customer property definitions of the workspace.",
			},
			{Verb: GetFields, Path: values, Scope: valueScope + ":read"},
			{
				Verb: SetValue, Method: "PATCH", Path: values + "{property_id}/", Success: 204, Scope: valueScope + ":write",
				Body: []string{"values"},
			},
		}, crud(path, "property_id", "gcud")...),
	})
	register(Kind{
		Name: "customer_property_option", Section: "options", Parent: "customer_property", Param: "option_id", Scope: "customers.properties", Short: "name",
		Listing: Listing{ParentType: "option", Appended: true},
		Doc:     "A choice of a property of customers of the type `option`. A bare text is its name.",
		Example: `{name: Gold, description: Pays in advance}`,
		Fields:  optionFields(),
		Operations: []Operation{
			{Verb: List, Path: one},
			{Verb: Create, Method: "PATCH", Path: one, ListInBody: "options"},
			{Verb: Update, Path: one, ListInBody: "options"},
		},
	})
}
