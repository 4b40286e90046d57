package resource

import "strconv"

func init() {
	const path = workspace + "projects/{project_id}/estimates/"
	const points = "projects/{project_id}/estimates/{estimate_id}/"
	register(Kind{
		Name: "estimate", Section: "estimates", Parent: "project", Param: "estimate_id", Scope: "projects.estimates", HasExternalID: true,
		Doc:     "The estimate of a project, which has one at most. planform never deletes it, since its points and their use would be lost.",
		Example: `{name: Points, type: points, points: [{value: "1"}, {value: "2"}, {value: "3"}]}`,
		Listing: Listing{Single: true},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the estimate.", Example: "Points"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the estimate.", Example: "Relative effort"},
			{
				Name: "type", Type: Enum, Enum: []string{"categories", "points", "time"}, Immutable: true, Doc: "Type of its points.",
				Example: "points",
			},
		},
		Operations: []Operation{
			{Verb: List, Path: path},
			{Verb: Create, Path: path},
			{Verb: Update, Path: path},
		},
	})
	register(Kind{
		Name: "estimate_point", Section: "points", Parent: "estimate", Param: "estimate_point_id", Scope: "projects.estimates", HasExternalID: true,
		Doc:     "A value of an estimate, which has 12 at most. Work items refer to it in `estimate_point`.",
		Example: `{value: "5"}`,
		Short:   "value", NaturalKey: []string{"value"},
		Fields: []Field{
			{Name: "value", Type: Text, Required: true, MaxLength: 255, Doc: "The value, such as 5 or XL.", Example: "5"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the value.", Example: "About a day"},
			{
				Name: "position", Wire: Wire{ContractDialect: "key"}, Type: Number, Max: 12, Implied: placeInList,
				Doc: "Place among the values. Default of a new one: its place in the list.", Example: "3",
			},
		},
		Operations: append(append([]Operation{
			{Verb: Create, Path: workspace + points + "estimate-points/", ListInBody: "estimate_points"},
		}, crud(workspace+points+"estimate-points/", "estimate_point_id", "lud")...), bulk(workspaceV2+points+"points/")...),
	})
}

// placeInList returns the place of an object in the list of the manifest, from 1.
func placeInList(o *Object) *Value {
	return &Value{Text: strconv.Itoa(o.Index + 1), Position: o.Position}
}
