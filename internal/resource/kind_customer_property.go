package resource

func init() {
	register(Kind{
		Name: "customer_property", Param: "property_id",
		Doc: "A property that customers of the workspace can have. Read only.",
		Fields: []Field{
			{Name: "display_name", Type: Text, Doc: "Display name."},
			{Name: "property_type", Type: Text, Doc: "Type of its values, such as TEXT."},
		},
		Operations: []Operation{
			{
				Verb: List, ContractRow: 20, Method: "GET", Path: workspace + "customer-properties/", Success: 200, Scope: "customers.properties:read",
				Query: []string{"workspace", "limit", "offset"}, GetCommand: "customer-properties",
				Doc: "Reads all customer property definitions of the workspace.",
			},
		},
	})
}
