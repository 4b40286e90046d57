package resource

func init() {
	register(Kind{
		Name: "state", Section: "", Parent: "project", Param: "state_id", Marks: true,
		Doc:        "A state of a project, such as Todo. Work items name it in their `state`.",
		Natural:    []string{"name"},
		Fields:     []Field{{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the state.", Example: "Todo"}},
		Operations: crud(workspace+"projects/{project_id}/states/", "state_id", "projects.states", "lg"),
	})
}
