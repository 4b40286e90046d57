package resource

func init() {
	register(Kind{
		Name: "label", Section: "", Parent: "project", Param: "label_id", Marks: true,
		Doc:        "A label of a project. Work items name it in their `labels`.",
		Natural:    []string{"name"},
		Fields:     []Field{{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the label.", Example: "backend"}},
		Operations: crud(workspace+"projects/{project_id}/labels/", "label_id", "projects.labels", "lg"),
	})
}
