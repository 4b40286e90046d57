package resource

func init() {
	const ofProject = workspaceV2 + "projects/{project_id}/features/"
	register(Kind{
		Name: "project_features", Section: "features", Parent: "project", Param: "project_features_id", Scope: "projects.features",
		Doc: "Features of a project, beside its own fields such as `cycle_view`. The plan switches on the features that the manifest needs, such " +
			"as `milestones`, and says so. Only API v2 has it.",
		Example: `{epics: true, milestones: true}`,
		Listing: Listing{Single: true, Singleton: true},
		Fields: switchFields("Whether the project has ", [][3]string{
			{"epics", "is_epic_enabled", "epics"},
			{"milestones", "is_milestone_enabled", "milestones"},
			{"workflows", "is_workflow_enabled", "workflows"},
			{"project_updates", "is_project_updates_enabled", "updates"},
			{"parallel_cycles", "is_parallel_cycles_enabled", "cycles that run at the same time"},
			{"manual_cycles", "is_manually_start_end_cycles_enabled", "cycles that people start and end"},
			{"automated_cycles", "is_automated_cycle_enabled", "cycles that the service makes"},
		}),
		Operations: singleton(ofProject),
	})
	const ofWorkspace = workspaceV2 + "features/"
	register(Kind{
		Name: "workspace_features", Section: "features", Param: "workspace_features_id", Scope: "workspaces.features",
		Doc: "Features of the workspace. The plan switches on the features that the manifest needs, such as `initiatives`, and says so. A switch " +
			"has no effect if the workspace has not bought the feature. Only API v2 has it.",
		Example: `{initiatives: true, customers: true}`,
		Listing: Listing{Single: true, Singleton: true},
		Fields: append(switchFields("Whether the workspace has ", [][3]string{
			{"work_item_types", "is_work_item_types_enabled", "its own work item types, above those of projects"},
			{"work_item_hierarchy", "is_workitem_hierarchy_enabled", "a hierarchy of work item types"},
			{"project_grouping", "is_project_grouping_enabled", "states of projects, and groups of them"},
			{"teamspaces", "is_teams_enabled", "teamspaces"},
			{"wiki", "is_wiki_enabled", "a wiki"},
			{"initiatives", "is_initiative_enabled", "initiatives"},
			{"customers", "is_customer_enabled", "customers"},
			{"releases", "is_release_enabled", "releases"},
			{"state_duration", "is_state_duration_enabled", "durations of states"},
			{"ai", "is_pi_enabled", "the service's assistant"},
		}), Field{
			Name: "default_level", Wire: Wire{ContractDialect: "work_item_type_default_level"}, Type: Number, Max: 1000, Default: "0",
			Doc: "Level in the hierarchy of work item types that a new one gets.", Example: "0",
		}),
		Operations: singleton(ofWorkspace),
	})
}

// switchFields returns the fields for feature flags. Each has three words: its name, its API name, and its subject.
func switchFields(doc string, words [][3]string) []Field {
	var fields []Field
	for _, w := range words {
		fields = append(fields, Field{
			Name: w[0], Wire: Wire{ContractDialect: w[1]}, Type: Boolean, Doc: doc + w[2] + ".", Example: "true",
		})
	}
	return fields
}

// singleton returns the operations of the only object at a path.
func singleton(path string) []Operation {
	return []Operation{
		{Verb: List, Path: path},
		{Verb: Update, Path: path},
	}
}
