package resource

func init() {
	register(Kind{
		Name: "customer", Section: "customers", Param: "customer_id", Scope: "customers",
		Lifecycle: Lifecycle{RequiresFeature: "customers"},
		Doc:       "A customer of the workspace, with their requests.",
		Example:   `{key: globex, name: Globex, requests: [{title: Dark mode}]}`,
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Unique: true, MaxLength: 255, Doc: "Name of the customer.", Example: "Globex"},
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Clear: ClearParagraph,
				Doc: "Description in Markdown; it is sent as HTML.", Example: "Our **first** customer.",
			},
			{
				Name: "description_html", Type: HTML, Clear: ClearParagraph, Doc: "Description as HTML, passed through unchanged.",
				Example: "<p>Our <strong>first</strong> customer.</p>",
			},
			{Name: "email", Type: Text, Clear: ClearEmpty, MaxLength: 254, Doc: "E-mail address.", Example: "hello@globex.example"},
			{Name: "website_url", Type: URL, Clear: ClearEmpty, MaxLength: 255, Doc: "Website.", Example: "https://globex.example"},
			{Name: "domain", Type: Text, Clear: ClearEmpty, MaxLength: 255, Doc: "Industry.", Example: "energy"},
			{Name: "employees", Type: Number, Max: 1<<31 - 1, Clear: ClearNull, Doc: "Number of employees.", Example: "250"},
			{
				Name: "stage", Type: Text, Clear: ClearEmpty, MaxLength: 255, Doc: "Sales stage, such as lead or sales_qualified_lead.",
				Example: "lead",
			},
			{
				Name: "contract_status", Type: Text, Clear: ClearEmpty, MaxLength: 255, Doc: "Status of the contract, such as active.",
				Example: "active",
			},
			{Name: "revenue", Type: Text, Clear: ClearEmpty, MaxLength: 255, Doc: "Revenue, as a text.", Example: "120000"},
			{Name: "logo_props", Type: JSON, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
			{
				Name: "properties", Virtual: true, Type: CustomFields, DefinedBy: "customer_property",
				Doc:     "Values of the `customer_properties` that the manifest lists, by name. `null` removes a value, `[]` all values of a field with several.",
				Example: `{"Tier": "Gold", "Since": "2024-05-17"}`,
			},
		},
		Operations: crud(workspace+"customers/", "customer_id", "lgcud"),
	})
}
