package resource

func init() {
	const path = workspace + "projects/"
	register(Kind{
		Name: "project", Section: "projects", Param: "project_id", Archives: true,
		Doc: "A project of the workspace. Give its `id`, or its `identifier` (the short code in front of work item numbers).",
		Example: `key: web
identifier: WEB
name: Website
description: Public site and shop`,
		KeyFrom:    []string{"identifier", "name"},
		Natural:    []string{"identifier", "name"},
		Identifier: &Identifier{Pattern: `^[A-Za-z0-9_]{1,12}$`, Wire: "identifier", Doc: "The project's short code, such as `WEB`."},
		Fields: []Field{
			{Name: "name", Type: Text, Documented: true, MaxLength: 255, Doc: "Name of the project.", Example: "Website"},
			{Name: "description", Type: LongText, Documented: true, Clear: ClearEmpty, Doc: "Plain text that describes the project.", Example: "Public site and shop"},
		},
		Operations: append([]Operation{
			{
				Verb: Update, Number: 2, Method: "PATCH", Path: workspace + "projects/{project_id}", Success: 200, Scope: "projects:write",
				Again: true, Doc: "Changes the fields that are passed. The contract's path has no trailing slash.",
			},
		}, crud(path, "project_id", "projects", "lg")...),
	})
}
