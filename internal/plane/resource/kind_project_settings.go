package resource

func init() {
	register(Kind{
		Name: "project_settings", Section: "settings", Parent: "project", Param: "project_settings_id", Scope: "projects",
		Doc:     "Visibility and priority of a project. A new project is public at first; its settings follow with a later request. API v2 only.",
		Example: `{visibility: private}`,
		Listing: Listing{Single: true, Singleton: true},
		Fields: []Field{
			{
				Name: "visibility", Wire: Wire{ContractDialect: "network"}, Type: Enum, Enum: []string{"private", "public"}, Codes: []int{0, 2},
				Default: "public", Doc: "Who finds the project: its members, or everybody in the workspace.", Example: "private",
			},
			{
				Name: "priority", Type: Enum, Enum: []string{"none", "urgent", "high", "medium", "low"}, Default: "none",
				Doc: "Priority of the project among the others.", Example: "high",
			},
		},
		Operations: singleton(workspaceV2 + "projects/{project_id}/"),
	})
}
