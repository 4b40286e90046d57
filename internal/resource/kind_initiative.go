package resource

func init() {
	const path = workspace + "initiatives/"
	register(Kind{
		Name: "initiative", Section: "initiatives", Param: "initiative_id",
		Doc:     "An initiative of the workspace, with the projects and labels that belong to it.",
		Example: `{key: q1, name: Grow in the north, labels: [growth], projects: [web]}`,
		KeyFrom: []string{"name"}, Natural: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the initiative.", Example: "Grow in the north"},
			{Name: "labels", NoWire: true, Type: RefSet, Ref: "initiative_label", Doc: "Initiative labels, by key, name or ID.", Example: "growth"},
			{Name: "projects", NoWire: true, Type: RefSet, Ref: "project", Doc: "Projects, by key, identifier, name or ID.", Example: "web"},
		},
		Operations: crud(path, "initiative_id", "initiatives", "lgud"),
	})
	register(Kind{
		Name: "initiative_project",
		Doc:  "That a project belongs to an initiative.",
		Membership: &Membership{
			Container: "initiative", Member: "project", On: "initiative", Field: "projects", Body: "project_ids", Row: "id", Batch: 100,
		},
		Operations: []Operation{
			{
				Verb: AddMembers, Number: 8, Method: "POST", Path: path + "{initiative_id}/projects/", Success: 201, Scope: "initiatives.projects:write",
				Body: []string{"project_ids"}, Again: true, Doc: "Adds projects to an initiative.",
			},
			{
				Verb: ListMembers, Number: 17, Method: "GET", Path: path + "{initiative_id}/projects/", Success: 200, Scope: "initiatives.projects:read",
				Query: []string{"limit", "offset"}, Again: true, Command: "initiative-projects", Doc: "Reads the projects of an initiative.",
			},
			{Verb: RemoveMembers, Method: "DELETE", Path: path + "{initiative_id}/projects/", Success: 204, Scope: "initiatives.projects:write", Again: true},
		},
	})
	register(Kind{
		Name: "initiative_initiative_label",
		Doc:  "That an initiative carries an initiative label.",
		Membership: &Membership{
			Container: "initiative", Member: "initiative_label", On: "initiative", Field: "labels", Body: "label_ids", Row: "id", Batch: 100,
		},
		Operations: []Operation{
			{
				Verb: AddMembers, Number: 9, Method: "POST", Path: path + "{initiative_id}/labels/", Success: 201, Scope: "initiatives:write",
				Body: []string{"label_ids"}, Again: true, Doc: "Adds labels to an initiative.",
			},
			{Verb: ListMembers, Method: "GET", Path: path + "{initiative_id}/labels/", Success: 200, Scope: "initiatives.labels:read", Query: []string{"per_page", "cursor"}, Again: true},
			{Verb: RemoveMembers, Method: "DELETE", Path: path + "{initiative_id}/labels/", Success: 204, Scope: "initiatives.labels:write", Again: true},
		},
	})
}
