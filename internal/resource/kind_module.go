package resource

func init() {
	register(Kind{
		Name: "module", Section: "modules", Parent: "project", Param: "module_id", Marks: true,
		Doc:     "A module of a project. Work items name it in their `module`.",
		Example: `{key: checkout, name: Checkout}`,
		KeyFrom: []string{"name"}, Natural: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the module.", Example: "Checkout"},
		},
		Operations: crud(workspace+"projects/{project_id}/modules/", "module_id", "projects.modules", "lgud"),
	})
	const members = workspace + "projects/{project_id}/modules/{module_id}/module-issues/"
	register(Kind{
		Name: "module_work_item",
		Doc:  "That a work item belongs to a module.",
		Membership: &Membership{
			Container: "module", Member: "work_item", On: "work_item", Field: "module", Body: "issues", Row: "id", Batch: 100,
		},
		Operations: []Operation{
			{Verb: AddMembers, Method: "POST", Path: members, Success: 200, Scope: "projects.modules:write", Again: true},
			{Verb: ListMembers, Method: "GET", Path: members, Success: 200, Scope: "projects.modules:read", Query: []string{"per_page", "cursor"}, Again: true},
			{Verb: RemoveMembers, Method: "DELETE", Path: members + "{work_item_id}/", Success: 204, Scope: "projects.modules:write", Again: true},
		},
	})
}
