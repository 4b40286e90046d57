package resource

func init() {
	register(Kind{
		Name: "label", Section: "labels", Parent: "project", Param: "label_id", Scope: "projects.labels", HasExternalID: true, UniqueExternalID: true,
		Doc:     "A label of a project. Work items refer to it in `labels`.",
		Example: `{name: backend, color: "#3b82f6"}`,
		Short:   "name", Listing: Listing{CountedAs: "labels"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Unique: true, MaxLength: 255, Doc: "Name of the label.", Example: "backend"},
			{Name: "color", Type: Color, Doc: "Colour, `#rrggbb`.", Example: "#3b82f6"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the label.", Example: "Servers and data"},
			{
				Name: "parent", Wire: Wire{V2Dialect: "parent_id"}, Type: Ref, Ref: "label", Clear: ClearNull,
				Doc: "Parent label, by key, name or ID.", Example: "engineering",
			},
			{
				Name: "sort_order", Type: Number, SetAfterCreate: true,
				Doc: "Position among the labels: lower comes first. By default, new labels come after the existing ones, in the order of the manifest.", Example: "1000",
			},
		},
		Operations: append(crud(workspace+"projects/{project_id}/labels/", "label_id", "lgcud"),
			bulk(workspaceV2+"projects/{project_id}/labels/")...),
	})
}
