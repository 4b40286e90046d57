package resource

func init() {
	register(Kind{
		Name: "milestone", Section: "milestones", Parent: "project", Param: "milestone_id", HasExternalID: true,
		Doc:     "A milestone of a project: a date by which something is to be done. No operation of the API changes which work items belong to it.",
		Example: `{key: beta, title: Beta, target_date: 2031-03-01}`,
		KeyFrom: []string{"title"}, NaturalKey: []string{"title"},
		Fields: []Field{
			{Name: "title", Type: Text, Required: true, MaxLength: 255, Doc: "Title of the milestone.", Example: "Beta"},
			{Name: "target_date", Type: Date, Clear: ClearNull, Doc: "Day by which it is to be reached, `YYYY-MM-DD`.", Example: "2031-03-01"},
		},
		Operations: append(crud(workspace+"projects/{project_id}/milestones/", "milestone_id", "projects.milestones", "lgcud"), bulk(workspaceV2+"projects/{project_id}/milestones/", "projects.milestones", "cud")...),
	})
}
