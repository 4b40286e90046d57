package resource

func init() {
	register(Kind{
		Name: WorkItemType, Section: "work_item_types", Parent: "project", Param: "type_id", Scope: "projects.work_item_types", HasExternalID: true,
		Doc:        "A type of work item, such as Story. Work items refer to it in `type`.",
		Example:    `{name: Story, description: Something that a user gains}`,
		Governance: Governance{Flag: "work_item_types", Other: "workspace_work_item_type"},
		Lifecycle:  Lifecycle{RequiresFeature: "is_issue_type_enabled"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the type.", Example: "Story"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the type.", Example: "A benefit for users"},
			{Name: "is_epic", Type: Boolean, RequiresFeature: "epics", Doc: "Whether items of the type are epics.", Example: "false"},
			{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether new items can have the type.", Example: "true"},
		},
		Operations: crud(workspace+"projects/{project_id}/work-item-types/", "type_id", "lgcud"),
	})
	const path = workspaceV2 + "work-item-types/"
	register(Kind{
		Name: "workspace_work_item_type", Section: "work_item_types", Param: "type_id", Scope: "workspaces.work_item_types", HasExternalID: true, UniqueExternalID: true,
		Doc: "A type of work item of the workspace, if the workspace manages the types of all its projects. A project takes it by its " +
			"`imported_types`, and work items refer to it in `type`. Only API v2 has it.",
		Example:    `{name: Story, properties: [Severity]}`,
		Governance: Governance{Flag: "work_item_types", AtWorkspace: true, Other: WorkItemType},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Unique: true, MaxLength: 255, Doc: "Name of the type.", Example: "Story"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the type.", Example: "A benefit for users"},
			{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether new items can have the type.", Example: "true"},
			{
				Name: "properties", Virtual: true, Type: RefSet, Ref: "workspace_work_item_property", Clear: ClearNull,
				Doc: "Properties of its items, by key, name or ID of one of the workspace's `work_item_properties`. If you remove one, the " +
					"service deletes its values on the items.",
				Example: "Severity",
			},
		},
		Operations: crud(path, "type_id", "lgcud"),
	})
	register(Kind{
		Name: "workspace_type_property", Doc: "That work items of a type of the workspace have a property.", Scope: "workspaces.work_item_types",
		Membership: &Membership{
			Container: "workspace_work_item_type", Member: "workspace_work_item_property", On: "workspace_work_item_type", Field: "properties", Body: "properties",
		},
		Operations: []Operation{
			{Verb: AddMembers, Path: path + "{type_id}/properties/"},
			{Verb: ListMembers, Path: path + "{type_id}/properties/"},
			{Verb: RemoveMembers, Path: path + "{type_id}/properties/{property_id}/", OneAtATime: true},
		},
	})
	const inProject = workspaceV2 + "projects/{project_id}/work-item-types/"
	register(Kind{
		Name: "project_work_item_type", Doc: "That a project takes a type of the workspace.", Scope: "projects.work_item_types",
		Membership: &Membership{
			Container: "project", Member: "workspace_work_item_type", On: "project", Field: "imported_types", Body: "work_item_types",
		},
		Operations: []Operation{
			{Verb: AddMembers, Path: inProject + "import/", Success: 200},
			{Verb: ListMembers, Path: inProject},
		},
	})
}
