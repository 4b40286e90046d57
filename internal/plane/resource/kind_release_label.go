package resource

func init() {
	register(Kind{
		Name: "release_label", Section: "release_labels", Param: "label_id", Scope: "releases.labels",
		Lifecycle: Lifecycle{RequiresFeature: "releases"},
		Doc:       "A label for releases. API v2 only.",
		Example:   `{key: public, name: Public, color: "#22c55e"}`,
		Short:     "name",
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the label.", Example: "Public"},
			{Name: "color", Type: Color, Doc: "Colour, `#rrggbb`.", Example: "#22c55e"},
			{Name: "sort_order", Type: Number, Max: 1<<31 - 1, Doc: "Position among the labels: lower comes first.", Example: "1000"},
		},
		Operations: crud(workspaceV2+"releases/labels/", "label_id", "lgcud"),
	})
	register(Kind{
		Name: "release_tag", Section: "release_tags", Param: "tag_id", Scope: "releases.tags",
		Lifecycle: Lifecycle{RequiresFeature: "releases"},
		Doc:       "A version that a release can have as its `tag`. API v2 only.",
		Example:   `{version: v2.0.0, git_tag: v2.0.0}`,
		Short:     "version", NaturalKey: []string{"version"},
		Fields: []Field{
			{Name: "version", Type: Text, Required: true, MaxLength: 255, Doc: "The version.", Example: "v2.0.0"},
			{Name: "git_tag", Type: Text, MaxLength: 255, Clear: ClearNull, Doc: "Name of the tag in Git.", Example: "v2.0.0"},
			{Name: "commit_hash", Type: Text, MaxLength: 255, Clear: ClearNull, Doc: "The commit.", Example: "3a16a83"},
			{Name: "description", Type: LongText, Clear: ClearNull, Doc: "Plain text that describes it.", Example: "The last one with the old checkout"},
		},
		Operations: crud(workspaceV2+"releases/tags/", "tag_id", "lgcud"),
	})
}
