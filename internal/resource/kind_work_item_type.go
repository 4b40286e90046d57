package resource

func init() {
	register(Kind{
		Name: "work_item_type", Parent: "project", Param: "type_id",
		Doc:        "A type of work item, such as Story. Work items name it in their `type`.",
		Natural:    []string{"name"},
		Fields:     []Field{{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the type.", Example: "Story"}},
		Operations: crud(workspace+"projects/{project_id}/work-item-types/", "type_id", "projects.work_item_types", "lg"),
	})
}
