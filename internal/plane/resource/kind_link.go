package resource

func init() {
	const path = workspace + "projects/{project_id}/work-items/{work_item_id}/links/"
	register(Kind{
		Name: "link", Section: "links", Parent: "work_item", Param: "link_id", Scope: "projects.work_items.links",
		Doc:     "A link of a work item to another resource. Its URL identifies it among the item's links.",
		Example: `{url: "https://example.com/design", title: Design}`,
		Short:   "url", NaturalKey: []string{"url"},
		Fields: []Field{
			{
				Name: "url", Type: URL, Required: true, Documented: true, Immutable: true, uniqueOnCreate: true, MaxLength: 2000,
				Doc: "Address of the resource, `http` or `https`.", Example: "https://example.com/design",
			},
			{Name: "title", Type: Text, Documented: true, Clear: ClearEmpty, MaxLength: 255, Doc: "Text of the link.", Example: "Design"},
		},
		Operations: append([]Operation{
			{Verb: Create, ContractRow: 3, Path: path, Doc: "Adds a link to a work item."},
			{Verb: List, ContractRow: 14, Path: path, GetCommand: "links", Doc: "Reads all links of a work item."},
		}, crud(path, "link_id", "ud")...),
	})
}
