package resource

func init() {
	const path = workspace + "projects/{project_id}/estimates/"
	const scope = "projects.estimates:read"
	register(Kind{
		Name: "estimate", Parent: "project", Param: "estimate_id",
		Doc:        "The estimate of a project (one at most). Read only.",
		NaturalKey: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Doc: "Name of the estimate.", Example: "Points"},
			{Name: "type", Type: Text, Doc: "Type of its values, such as points or categories.", Example: "points"},
		},
		Operations: []Operation{
			{Verb: Get, Method: "GET", Path: path, Success: 200, Scope: scope},
		},
	})
	register(Kind{
		Name: "estimate_point", Parent: "project", Param: "estimate_point_id", Listing: Listing{ViaSingleton: "estimate"},
		Doc:        "A value of the project's estimate. Work items refer to it in `estimate_point`. Read only.",
		NaturalKey: []string{"value"},
		Fields: []Field{
			{Name: "value", Type: Text, Doc: "The value, such as 5 or XL.", Example: "5"},
		},
		Operations: []Operation{
			{Verb: List, Method: "GET", Path: path + "{estimate_id}/estimate-points/", Success: 200, Scope: scope},
		},
	})
}
