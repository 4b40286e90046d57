package resource

import "slices"

func init() {
	const doc = " API v2 only."
	template := func(name, parent, path, of, example string, named ...Field) {
		register(Kind{
			Name: name, Section: "work_item_templates", Parent: parent, Param: "template_id", Scope: "templates.work_items",
			Doc:     "A template from which people make work items, " + of + "." + doc,
			Example: example,
			Fields: slices.Concat([]Field{
				{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the template.", Example: "Bug"},
			}, templateData(named), []Field{
				{
					Name: "short_description", Type: Text, Clear: ClearNull, Doc: "Purpose of the template, in one line.",
					Example: "Something that does not work",
				},
				{
					Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Clear: ClearParagraph,
					Doc: "Purpose of the template, in Markdown; it is sent as HTML.", Example: "For **defects** only.",
				},
				{
					Name: "description_html", Type: HTML, Clear: ClearParagraph, Doc: "The same as HTML, passed through unchanged.",
					Example: "<p>For <strong>defects</strong> only.</p>",
				},
				{Name: "is_published", Type: Boolean, Doc: "Whether it is published.", Example: "true"},
			}),
			Operations: crud(workspaceV2+path+"work-item-templates/", "template_id", "lgcud"),
		})
	}
	template("work_item_template", "", "", "in all projects of the workspace",
		`{name: Bug, template_data: {name: "Bug: ", priority: high, assignees: [ada@example.com]}}`,
		Field{Name: "state", Type: Ref, Ref: "workspace_state", Doc: "State of the workspace, by key, name or ID.", Example: "In Progress"},
		Field{
			Name: "type", Type: Ref, Ref: "workspace_work_item_type", Doc: "Work item type of the workspace, by key, name or ID.", Example: "Bug",
		},
	)
	template("project_work_item_template", "project", "projects/{project_id}/", "in one project",
		`{name: Bug, template_data: {name: "Bug: ", priority: high, state: Todo}}`,
		Field{
			Name: "state", Type: Ref, Ref: "state", RefRules: RefRules{OrRef: "workspace_state"},
			Doc: "State, by key, name or ID. It belongs to the project, or to the workspace if that manages the states.", Example: "In Progress",
		},
		Field{
			Name: "type", Type: Ref, Ref: WorkItemType, RefRules: RefRules{OrRef: "workspace_work_item_type"},
			Doc: "Work item type, by key, name or ID. It belongs to the project, or to the workspace if that manages the types.", Example: "Bug",
		},
		Field{Name: "labels", Type: RefSet, Ref: "label", Doc: "Labels of the project, by key, name or ID.", Example: "bug"},
		Field{Name: "modules", Type: RefSet, Ref: "module", Doc: "Modules of the project, by key, name or ID.", Example: "Checkout"},
	)
}

// templateData returns the fields for the contents of an item that is created from a template: fields that refer to objects, and one for
// all other contents.
func templateData(named []Field) []Field {
	const data = "template_data"
	named = append(named, Field{
		Name: "assignees", Type: RefSet, Ref: "member", Doc: "Members, by e-mail address, display name or ID.", Example: "ada@example.com",
	})
	for i := range named {
		named[i].Group, named[i].Clear = data, ClearNull
	}
	fields := append([]Field{{
		Name: data, Rest: true, Type: JSON, Required: true,
		Doc: "Fields of an item that is made from it, such as `name`, `description_html` and `priority`. The fields below are looked up as in " +
			"work items. All else is sent as written, because Plane's reference does not list it.",
		Example: `{"name": "Bug: ", "priority": "high"}`,
	}}, named...)
	for i := range fields {
		fields[i].Within, fields[i].AlwaysSend = data, true
	}
	return fields
}
