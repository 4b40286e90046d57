package resource

func init() {
	const path, scope = workspaceV2 + "projects/{project_id}/workflows/", "projects.workflows"
	const inside = path + "{workflow_id}/"
	register(Kind{
		Name: "workflow", Section: "workflows", Parent: "project", Param: "workflow_id", Scope: "projects.workflows",
		Lifecycle: Lifecycle{RequiresFeature: "workflows"},
		Doc:       "A workflow of a project: which states its work items go through, and who approves. API v2 only.",
		Example: `name: Review
states: [{state: Todo, is_default: true}, In Progress, Done]
transitions:
  - {from: Todo, to: In Progress}
  - {from: In Progress, to: Done, approvers: [ada@example.com], required_approvals: 1, on_rejection: Todo}`,
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the workflow.", Example: "Review"},
			{Name: "description", Type: LongText, Clear: ClearNull, Doc: "Plain text that describes it.", Example: "Nothing is done that nobody saw"},
			{Name: "is_active", Type: Boolean, Doc: "Whether it applies.", Example: "true"},
			{
				Name: "types", Wire: Wire{ContractDialect: "work_item_type_ids"}, Type: RefSet, Ref: "work_item_type", Clear: ClearNull,
				Doc: "Types of the work items to which it applies, by key, name or ID.", Example: "Bug",
			},
		},
		Operations: crud(path, "workflow_id", "lgcud"),
	})
	attach := Operation{
		Verb: Create, Path: inside + "states/", Scope: scope + ":write", ListInBody: "state_ids",
	}
	register(Kind{
		Name: "workflow_state", Section: "states", Parent: "workflow", Param: "workflow_state_id", Scope: "projects.workflows",
		Doc: "A state of the project that a workflow has. A bare text is its name.", Example: `{state: Todo, is_default: true}`,
		Short: "state", NaturalKey: []string{"state"},
		Fields: []Field{
			{
				Name: "state", Wire: Wire{ContractDialect: "state_id"}, Type: Ref, Ref: "state", Required: true, Immutable: true,
				Doc: "State of the project, by key, name or ID.", Example: "Todo",
			},
			{Name: "is_default", Type: Boolean, SetAfterCreate: true, Doc: "Whether new work items begin with it.", Example: "true"},
			{Name: "allow_issue_creation", Type: Boolean, SetAfterCreate: true, Doc: "Whether new work items may have it.", Example: "true"},
			{Name: "type", Type: Text, MaxLength: 255, SetAfterCreate: true, Doc: "Its type, in the words of the service.", Example: "start"},
		},
		Operations: append(crud(inside+"states/", "workflow_state_id", "lgud"), attach),
	})
	register(Kind{
		Name: "workflow_transition", Section: "transitions", Parent: "workflow", Param: "workflow_transition_id", Scope: "projects.workflows",
		Doc:     "A step that work items may take from one state of a workflow to another. Its two states identify it.",
		Example: `{from: In Progress, to: Done, approvers: [ada@example.com], required_approvals: 1}`,
		KeyFrom: []string{"from", "to"}, NaturalKey: []string{"from", "to"},
		Fields: []Field{
			{
				Name: "from", Wire: Wire{ContractDialect: "workflow_state_id", V2Dialect: "state_id"}, Type: Ref, Ref: "workflow_state",
				RefRules: RefRules{sent: stateOf}, Required: true, Immutable: true,
				Doc: "State before the step, one of the workflow's `states`.", Example: "In Progress",
			},
			{
				Name: "to", Wire: Wire{ContractDialect: "transition_state_id"}, Type: Ref, Ref: "state", Required: true, Immutable: true,
				Doc: "State after the step, by key, name or ID.", Example: "Done",
			},
			{
				Name: "approvers", Wire: Wire{ContractDialect: "member_ids"}, Type: RefSet, Ref: "member", Clear: ClearNull,
				RefRules: RefRules{MustBeMemberOf: "project_member"}, Doc: "Members who approve, by e-mail address, display name or ID.",
				Example: "ada@example.com",
			},
			{Name: "required_approvals", Type: Number, Max: 1<<31 - 1, Clear: ClearNull, Doc: "Number of members who must approve.", Example: "2"},
			{
				Name: "on_rejection", Wire: Wire{ContractDialect: "rejection_state_id"}, Type: Ref, Ref: "state", Clear: ClearNull,
				Doc: "State that a rejected work item gets.", Example: "Todo",
			},
		},
		Operations: crud(inside+"state-transitions/", "workflow_transition_id", "lgcud"),
	})
}

// stateOf returns the ID of the project's state that a workflow's state stands for.
func stateOf(workflowState *Object, id IDResolver) (string, bool) {
	state, ok := workflowState.Value("state")
	if !ok || len(state.Refs) == 0 {
		return "", false
	}
	return id(state.Field, &state.Refs[0])
}
