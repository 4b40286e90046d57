package resource

func init() {
	register(Kind{
		Name: "work_item_type", Section: "work_item_types", Parent: "project", Param: "type_id", HasExternalID: true,
		Doc:     "A type of work item, such as Story. Work items refer to it in `type`.",
		Example: `{name: Story, description: Something that a user gains}`,
		KeyFrom: []string{"name"}, NaturalKey: []string{"name"},
		Lifecycle: Lifecycle{RequiresFeature: "is_issue_type_enabled"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the type.", Example: "Story"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the type.", Example: "A benefit for users"},
			{Name: "is_epic", Type: Boolean, Doc: "Whether items of the type are epics.", Example: "false"},
			{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether new items can have the type.", Example: "true"},
		},
		Operations: crud(workspace+"projects/{project_id}/work-item-types/", "type_id", "projects.work_item_types", "lgcud"),
	})
}
