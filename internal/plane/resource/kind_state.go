package resource

func init() {
	const path = workspace + "projects/{project_id}/states/"
	register(Kind{
		Name: "state", Section: "states", Parent: "project", Param: "state_id", Scope: "projects.states", HasExternalID: true, UniqueExternalID: true,
		Doc: "A state of a project, such as Todo. Work items refer to it in `state`. A new project has Backlog, Todo, In Progress, Done " +
			"and Cancelled from the start.",
		Example: `{name: In Review, group: started, color: "#3b82f6"}`,
		Short:   "name", Listing: Listing{CountedAs: "states"},
		Governance: Governance{Flag: "states", Other: "workspace_state"},
		Lifecycle:  Lifecycle{Predefined: []string{"Backlog", "Todo", "In Progress", "Done", "Cancelled"}},
		refuses: func(_ *Object, sent []*Value, _ WillHave) (broken []Rule) {
			for _, v := range sent {
				if v.Field.Name == "name" && v.Text == "Triage" {
					broken = append(broken, Rule{v, "the name Triage is reserved by the service", "choose another name"})
				}
			}
			return broken
		},
		Fields: []Field{
			{
				Name: "name", Type: Text, Required: true, Unique: true, MaxLength: 255,
				Doc: "Name of the state. `Triage` is reserved by the service.", Example: "In Review",
			},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the state.", Example: "Somebody reads it"},
			{
				Name: "color", Type: Color, Required: true, Initial: "#60646c", Doc: "Colour, `#rrggbb`; a new state gets `#60646c` without one.",
				Example: "#3b82f6",
			},
			{
				Name: "group", Type: Enum, Enum: []string{"backlog", "unstarted", "started", "completed", "cancelled"}, Default: "backlog", Initial: "backlog",
				Doc: "Group of the state, which tells open work from finished work; a new state gets `backlog` without one.", Example: "started",
			},
			{
				Name: "sequence", Type: Number, SetAfterCreate: true,
				Doc: "Position among the states: lower comes first. By default, new states come after the existing ones, in the order of the manifest.", Example: "40000",
			},
			{
				Name: "default", Wire: Wire{V2Dialect: "is_default"}, Type: Boolean, Exclusive: true,
				Doc: "Whether new work items start in this state. If another state is the default, give that one `default: false`.", Example: "false",
			},
		},
		Operations: append(crud(path, "state_id", "lgcud"), bulk(workspaceV2+"projects/{project_id}/states/")...),
	})
	register(Kind{
		Name: "workspace_state", Section: "states", Param: "state_id", Scope: "workspaces.states", HasExternalID: true, Governance: Governance{
			Flag: "states", AtWorkspace: true, Other: "state",
		},
		Doc:     "A state of the workspace, if the workspace manages the states of all its projects. Work items refer to it in `state`.",
		Example: `{name: In Review, group: started, color: "#3b82f6"}`,
		Short:   "name",
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Unique: true, MaxLength: 255, Doc: "Name of the state.", Example: "In Review"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the state.", Example: "Somebody reads it"},
			{Name: "color", Type: Color, Required: true, Initial: "#60646c", Doc: "Colour, `#rrggbb`.", Example: "#3b82f6"},
			{
				Name: "group", Type: Enum, Enum: []string{"backlog", "unstarted", "started", "completed", "cancelled"}, Default: "backlog", Initial: "backlog",
				Doc: "Group of the state, which tells open work from finished work; a new state gets `backlog` without one.", Example: "started",
			},
		},
		Operations: crud(workspace+"states/", "state_id", "lgcud"),
	})
}
