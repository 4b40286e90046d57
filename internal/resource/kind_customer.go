package resource

func init() {
	register(Kind{
		Name: "customer", Section: "customers", Param: "customer_id",
		Doc:     "A customer of the workspace, with the requests that were taken down from them.",
		Example: `{key: globex, name: Globex, requests: [{title: Single sign-on}]}`,
		KeyFrom: []string{"name"}, Natural: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the customer.", Example: "Globex"},
		},
		Operations: crud(workspace+"customers/", "customer_id", "customers", "lgud"),
	})
}
