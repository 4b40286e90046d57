package resource

func init() {
	const scope = "templates.work_items"
	const doc = " API v2 only."
	template := func(name, parent, path, of string) {
		register(Kind{
			Name: name, Section: "work_item_templates", Parent: parent, Param: "template_id",
			Doc:     "A template from which people make work items, " + of + "." + doc,
			Example: `{name: Bug, template_data: {name: "Bug: ", priority: high}}`,
			KeyFrom: []string{"name"}, NaturalKey: []string{"name"},
			Fields: []Field{
				{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the template.", Example: "Bug"},
				{
					Name: "template_data", Type: JSON, Required: true,
					Doc: "What an item made from it has, such as `name`, `description_html` and `priority`; states, labels and people by ID. " +
						"It is sent as it is: the reference of Plane leaves open what it may hold.",
					Example: `{"name": "Bug: ", "priority": "high"}`,
				},
				{
					Name: "short_description", Type: Text, Clear: ClearNull, Doc: "What the template is for, in one line.",
					Example: "Something that does not work",
				},
				{
					Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Clear: ClearParagraph,
					Doc: "What the template is for, in Markdown; it is sent as HTML.", Example: "For **defects** only.",
				},
				{
					Name: "description_html", Type: HTML, Clear: ClearParagraph, Doc: "The same as HTML, passed through unchanged.",
					Example: "<p>For <strong>defects</strong> only.</p>",
				},
				{Name: "is_published", Type: Boolean, Doc: "Whether it is published.", Example: "true"},
			},
			Operations: crud(workspaceV2+path+"work-item-templates/", "template_id", scope, "lgcud"),
		})
	}
	template("work_item_template", "", "", "in all projects of the workspace")
	template("project_work_item_template", "project", "projects/{project_id}/", "in one project")
}
