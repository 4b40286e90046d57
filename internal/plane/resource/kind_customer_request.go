package resource

func init() {
	const path = workspace + "customers/{customer_id}/requests/"
	register(Kind{
		Name: "customer_request", Section: "requests", Parent: "customer", Param: "request_id", Scope: "customers.requests",
		Doc:        "A request of a customer. Its title identifies it among the customer's requests.",
		Example:    `{key: sso, title: Single sign-on, description: They asked for SAML.}`,
		NaturalKey: []string{"title"},
		Fields: []Field{
			{
				Name: "title", Wire: Wire{NewerDialect: "name"}, Type: Text, Required: true, Documented: true, MaxLength: 255,
				Doc: "Title of the request.", Example: "Single sign-on",
			},
			{
				Name: "description", Wire: Wire{NewerDialect: "description_html"}, Type: LongText, Documented: true, Clear: ClearEmpty,
				Doc: "Text of the request.", Example: "They asked for SAML.",
			},
			{
				Name: "link", Type: URL, Clear: ClearEmpty, MaxLength: 2000, Doc: "Link to its source. Only newer editions keep it.",
				Example: "https://example.com/mail/1",
			},
			{
				Name: "work_items", Wire: Wire{ContractDialect: "work_item_ids"}, Type: RefSet, Ref: "work_item",
				RefRules: RefRules{CrossProject: true}, Clear: ClearEmpty,
				Doc:     "Work items for the request, by key (`web/checkout`), identifier such as `WEB-7`, or ID. Only newer editions keep them.",
				Example: "web/checkout",
			},
		},
		Operations: append([]Operation{
			{Verb: Create, ContractRow: 10, Path: path, Doc: "Creates a request of a customer."},
			{Verb: Update, ContractRow: 11, Path: path + "{request_id}/", Doc: "Changes the fields that are passed."},
			{
				Verb: List, ContractRow: 19, Path: path,
				Query: []string{"customer", "workspace", "limit", "offset"}, GetCommand: "customer-requests", Doc: "Reads all requests of a customer.",
			},
		}, crud(path, "request_id", "gd")...),
	})
}
