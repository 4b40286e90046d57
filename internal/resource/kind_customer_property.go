package resource

func init() {
	register(Kind{
		Name: "customer_property", Param: "property_id",
		Doc: "A property that customers of the workspace can have. Only read.",
		Fields: []Field{
			{Name: "display_name", Type: Text, Doc: "Name that people see."},
			{Name: "property_type", Type: Text, Doc: "What it holds, such as TEXT."},
		},
		Operations: []Operation{
			{
				Verb: List, ContractRow: 20, Method: "GET", Path: workspace + "customer-properties/", Success: 200, Scope: "customers.properties:read",
				Query: []string{"workspace", "limit", "offset"}, GetCommand: "customer-properties", Doc: "Reads all customer property definitions of the workspace.",
			},
		},
	})
}
