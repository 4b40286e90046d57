package resource

// IsBuiltIn reports whether a row is a relation definition that every workspace has and nobody can change. An export leaves it out.
func (k *Kind) IsBuiltIn(r Row) bool { return k.Name == relationDefinition && r["is_default"] == true }

const relationDefinition = "relation_definition"

func init() {
	const path = workspaceV2 + "work-item-relation-definitions/"
	ops := crud(path, "relation_definition_id", "lgcud")
	ops[0].Query = []string{"per_page", "offset", "fields"} // the only list of API v2 without a cursor
	register(Kind{
		Name: relationDefinition, Section: "relation_definitions", Param: "relation_definition_id", Scope: "workspaces.work_item_relation_definitions", HasExternalID: true,
		Doc: "A kind of relation between work items, beside those that every workspace has. API v2 only. " +
			"The relations that every workspace has can be used, but not changed.",
		Example: `{name: Implementation, outward: implements, inward: is implemented by}`,
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the kind of relation.", Example: "Implementation"},
			{
				Name: "outward", Type: Text, Required: true, MaxLength: 255, Doc: "Words for the first item, such as implements.",
				Example: "implements",
			},
			{
				Name: "inward", Type: Text, Required: true, MaxLength: 255, Doc: "Words for the other item, such as is implemented by.",
				Example: "is implemented by",
			},
			{
				Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes it.",
				Example: "From a requirement to what fulfils it",
			},
			{Name: "color", Type: Text, Clear: ClearEmpty, MaxLength: 255, Doc: "Colour, in any form accepted by the service.", Example: "#3b82f6"},
			{Name: "is_active", Type: Boolean, Doc: "Whether it can be chosen.", Example: "false"},
			{Name: "sort_order", Type: Number, Doc: "Position among them: lower comes first.", Example: "1000"},
			{Name: "logo_props", Type: JSON, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
		},
		Operations: ops,
	})
}
