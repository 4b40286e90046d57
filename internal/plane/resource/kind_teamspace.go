package resource

func init() {
	const path = workspace + "teamspaces/"
	register(Kind{
		Name: "teamspace", Section: "teamspaces", Param: "teamspace_id", Scope: "teamspaces",
		Lifecycle: Lifecycle{RequiresFeature: "teamspaces"},
		Doc:       "A teamspace of the workspace, with its projects and members.",
		Example:   `{key: platform, name: Platform, lead: ada@example.com, projects: [web]}`,
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Documented: true, MaxLength: 255, Doc: "Name of the teamspace.", Example: "Platform"},
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Documented: true, Clear: ClearParagraph,
				Doc: "Description in Markdown; it is sent as HTML.", Example: "Keeps the lights on.",
			},
			{
				Name: "description_html", Type: HTML, Documented: true, Clear: ClearParagraph, Doc: "Description as HTML, passed through unchanged.",
				Example: "<p>Keeps the lights on.</p>",
			},
			{
				Name: "description_json", Type: JSON, Documented: true,
				Doc: "Description in the editor's JSON form, passed through unchanged; see the API reference of Plane.", Example: `{"type": "doc"}`,
			},
			{
				Name: "description_stripped", Type: LongText, Documented: true, Clear: ClearEmpty, Doc: "The description without markup.",
				Example: "Keeps the lights on.",
			},
			{
				Name: "description_binary", Type: Text, Documented: true, Clear: ClearEmpty,
				Doc: "The description in the editor's binary form, as text.", Example: "AQID",
			},
			{Name: "logo_props", Type: JSON, Documented: true, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
			{
				Name: "lead", Type: Ref, Ref: "member", Documented: true, Clear: ClearNull,
				Doc: "Member who leads the teamspace, by e-mail address, display name or ID.", Example: "ada@example.com",
			},
			{
				Name: "projects", Virtual: true, Type: RefSet, Ref: "project", Clear: ClearNull,
				Doc: "Projects, by key, identifier, name or ID. `[]` removes those that planform added.", Example: "web",
			},
			{
				Name: "members", Virtual: true, Type: RefSet, Ref: "member", Clear: ClearNull,
				Doc:     "Members of the teamspace, by e-mail address, display name or ID. `[]` removes those that planform added.",
				Example: "bob@example.com",
			},
		},
		Operations: append([]Operation{
			{Verb: Update, ContractRow: 5, Path: path + "{teamspace_id}/", Doc: "Changes the fields that are passed."},
		}, crud(path, "teamspace_id", "lgcd")...),
	})
	register(Kind{
		Name: "teamspace_project", Scope: "teamspaces.projects",
		Doc:        "That a project belongs to a teamspace.",
		Membership: &Membership{Container: "teamspace", Member: "project", On: "teamspace", Field: "projects", Body: "project_ids"},
		Operations: []Operation{
			{
				Verb: AddMembers, ContractRow: 6, Path: path + "{teamspace_id}/projects/",
				Body: []string{"project_ids"}, Doc: "Adds projects to a teamspace.",
			},
			{Verb: ListMembers, Path: path + "{teamspace_id}/projects/"},
			{Verb: RemoveMembers, Path: path + "{teamspace_id}/projects/"},
			overview("teamspaces", "teamspaces", "teamspace", "project_ids"),
		},
	})
	register(Kind{
		Name: "teamspace_member", Scope: "teamspaces.members",
		Doc:        "That a member of the workspace belongs to a teamspace.",
		Membership: &Membership{Container: "teamspace", Member: "member", On: "teamspace", Field: "members", Body: "member_ids"},
		Operations: []Operation{
			{Verb: AddMembers, Path: path + "{teamspace_id}/members/", Success: 200},
			{Verb: ListMembers, Path: path + "{teamspace_id}/members/"},
			{Verb: RemoveMembers, Path: path + "{teamspace_id}/members/"},
			overview("teamspaces", "teamspaces", "teamspace", "member_ids"),
		},
	})
}
