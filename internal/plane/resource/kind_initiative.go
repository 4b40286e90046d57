package resource

func init() {
	const path = workspace + "initiatives/"
	register(Kind{
		Name: "initiative", Section: "initiatives", Param: "initiative_id", Scope: "initiatives",
		Lifecycle: Lifecycle{RequiresFeature: "initiatives"},
		Doc:       "An initiative of the workspace, with its projects and labels.",
		Example:   `{key: q1, name: Grow in the north, labels: [growth], projects: [web]}`,
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the initiative.", Example: "Grow in the north"},
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Clear: ClearParagraph,
				Doc: "Description in Markdown; it is sent as HTML.", Example: "Three **new** markets.",
			},
			{
				Name: "description_html", Type: HTML, Clear: ClearParagraph, Doc: "Description as HTML, passed through unchanged.",
				Example: "<p>Three <strong>new</strong> markets.</p>",
			},
			{Name: "start_date", Type: Date, Clear: ClearNull, Doc: "First day, `YYYY-MM-DD`.", Example: "2026-12-01"},
			{
				Name: "end_date", Type: Date, Clear: ClearNull, NotBefore: "start_date", Doc: "Last day, `YYYY-MM-DD`; not before `start_date`.",
				Example: "2027-03-31",
			},
			{Name: "state", Type: Enum, Enum: []string{"DRAFT", "PLANNED", "ACTIVE", "COMPLETED", "CLOSED"}, Doc: "Progress.", Example: "ACTIVE"},
			{
				Name: "lead", Type: Ref, Ref: "member", Clear: ClearNull,
				Doc: "Member who leads the initiative, by e-mail address, display name or ID.", Example: "ada@example.com",
			},
			{Name: "logo_props", Type: JSON, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
			{
				Name: "labels", Virtual: true, Type: RefSet, Ref: "initiative_label", Clear: ClearNull,
				Doc: "Initiative labels, by key, name or ID. `[]` removes those that planform added.", Example: "growth",
			},
			{
				Name: "projects", Virtual: true, Type: RefSet, Ref: "project", Clear: ClearNull,
				Doc: "Projects, by key, identifier, name or ID. `[]` removes those that planform added.", Example: "web",
			},
			{
				Name: "epics", Virtual: true, Type: RefSet, Ref: "work_item", Clear: ClearNull, RefRules: RefRules{CrossProject: true},
				Doc: "Work items of a type that is an epic, by key (`web/checkout`), identifier such as `WEB-7`, or ID. `[]` removes those that planform added.", Example: "web/checkout",
			},
		},
		Operations: crud(path, "initiative_id", "lgcud"),
	})
	register(Kind{
		Name: "initiative_project", Scope: "initiatives.projects",
		Doc:        "That a project belongs to an initiative.",
		Membership: &Membership{Container: "initiative", Member: "project", On: "initiative", Field: "projects", Body: "project_ids"},
		Operations: []Operation{
			{
				Verb: AddMembers, ContractRow: 8, Path: path + "{initiative_id}/projects/",
				Body: []string{"project_ids"}, Doc: "Adds projects to an initiative.",
			},
			{
				Verb: ListMembers, ContractRow: 17, Path: path + "{initiative_id}/projects/",
				Query: []string{"limit", "offset"}, GetCommand: "initiative-projects", Doc: "Reads the projects of an initiative.",
			},
			{Verb: RemoveMembers, Path: path + "{initiative_id}/projects/"},
			overview("initiatives", "initiatives", "initiative", "project_ids"),
		},
	})
	register(Kind{
		Name: "initiative_epic", Scope: "initiatives.epics",
		Doc:        "That an epic belongs to an initiative.",
		Membership: &Membership{Container: "initiative", Member: "work_item", On: "initiative", Field: "epics", Body: "epic_ids"},
		Operations: []Operation{
			{Verb: AddMembers, Path: path + "{initiative_id}/epics/", Success: 200},
			{Verb: ListMembers, Path: path + "{initiative_id}/epics/", Query: []string{"per_page", "cursor"}},
			{Verb: RemoveMembers, Path: path + "{initiative_id}/epics/"},
		},
	})
	register(Kind{
		Name: "initiative_initiative_label", Scope: "initiatives.labels",
		Doc:        "That an initiative carries an initiative label.",
		Membership: &Membership{Container: "initiative", Member: "initiative_label", On: "initiative", Field: "labels", Body: "label_ids"},
		Operations: []Operation{
			{
				Verb: AddMembers, ContractRow: 9, Path: path + "{initiative_id}/labels/", Scope: "initiatives:write",
				Body: []string{"label_ids"}, Doc: "Adds labels to an initiative.",
			},
			{
				Verb: ListMembers, Path: path + "{initiative_id}/labels/",
				GetCommand: "labels-of-initiative", Doc: "Reads the labels of an initiative.", Query: []string{"per_page", "cursor"},
			},
			{Verb: RemoveMembers, Path: path + "{initiative_id}/labels/"},
			overview("initiatives", "initiatives", "initiative", "label_ids"),
		},
	})
}
