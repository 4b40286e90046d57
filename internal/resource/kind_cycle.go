package resource

func init() {
	register(Kind{
		Name: "cycle", Section: "cycles", Parent: "project", Param: "cycle_id", Marks: true,
		Doc:     "A cycle (sprint) of a project. Work items name it in their `cycle`.",
		Example: `{key: sprint-14, name: Sprint 14}`,
		KeyFrom: []string{"name"}, Natural: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the cycle.", Example: "Sprint 14"},
		},
		Operations: crud(workspace+"projects/{project_id}/cycles/", "cycle_id", "projects.cycles", "lgud"),
	})
	const members = workspace + "projects/{project_id}/cycles/{cycle_id}/cycle-issues/"
	register(Kind{
		Name: "cycle_work_item",
		Doc:  "That a work item belongs to a cycle.",
		Membership: &Membership{
			Container: "cycle", Member: "work_item", On: "work_item", Field: "cycle", Body: "issues", Row: "id", Batch: 100, Exclusive: true,
		},
		Operations: []Operation{
			{
				Verb: AddMembers, Number: 4, Method: "POST", Path: members, Success: 201, Scope: "projects.cycles:write",
				Body: []string{"issues"}, Again: true, Doc: "Adds work items to a cycle; an item that is in another cycle is moved.",
			},
			{Verb: ListMembers, Method: "GET", Path: members, Success: 200, Scope: "projects.cycles:read", Query: []string{"per_page", "cursor"}, Again: true},
			{Verb: RemoveMembers, Method: "DELETE", Path: members + "{work_item_id}/", Success: 204, Scope: "projects.cycles:write", Again: true},
		},
	})
}
