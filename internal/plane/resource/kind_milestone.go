package resource

func init() {
	const path = workspace + "projects/{project_id}/milestones/"
	register(Kind{
		Name: "milestone", Section: "milestones", Parent: "project", Param: "milestone_id", Scope: "projects.milestones", HasExternalID: true,
		Lifecycle: Lifecycle{RequiresFeature: "milestones"},
		Doc:       "A milestone of a project: a goal with a date. Work items refer to it in `milestone`.",
		Example:   `{key: beta, title: Beta, target_date: 2031-03-01}`,
		Short:     "title", NaturalKey: []string{"title"},
		Fields: []Field{
			{Name: "title", Type: Text, Required: true, MaxLength: 255, Doc: "Title of the milestone.", Example: "Beta"},
			{Name: "target_date", Type: Date, Clear: ClearNull, Doc: "Due day, `YYYY-MM-DD`.", Example: "2031-03-01"},
		},
		Operations: append(crud(path, "milestone_id", "lgcud"), bulk(workspaceV2+"projects/{project_id}/milestones/")...),
	})
	const members = "projects/{project_id}/milestones/{milestone_id}/work-items/"
	register(Kind{
		Name: "milestone_work_item", Scope: "projects.milestones",
		Doc:        "That a work item belongs to a milestone.",
		Membership: &Membership{Container: "milestone", Member: "work_item", On: "work_item", Field: "milestone", Body: "work_items"},
		Operations: []Operation{
			manage(AddMembers, members),
			{Verb: ListMembers, Path: workspace + members},
			manage(RemoveMembers, members),
		},
	})
}
