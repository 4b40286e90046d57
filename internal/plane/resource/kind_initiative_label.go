package resource

func init() {
	const path = workspace + "initiatives/labels/"
	register(Kind{
		Name: "initiative_label", Section: "initiative_labels", Param: "label_id", Scope: "initiatives.labels",
		Lifecycle: Lifecycle{RequiresFeature: "initiatives"},
		Doc:       "A label for initiatives.",
		Example:   `{key: growth, name: Growth, color: "#22c55e"}`,
		Short:     "name",
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Unique: true, Documented: true, MaxLength: 255, Doc: "Name of the label.", Example: "Growth"},
			{
				Name: "description", Type: LongText, Documented: true, Clear: ClearEmpty, Doc: "Plain text that describes the label.",
				Example: "Brings new customers",
			},
			{Name: "color", Type: Color, Documented: true, Doc: "Colour, `#rrggbb`.", Example: "#22c55e"},
			{Name: "sort_order", Type: Number, Documented: true, Doc: "Position among the labels: lower comes first.", Example: "1000"},
		},
		Operations: append([]Operation{
			{Verb: Update, ContractRow: 7, Path: path + "{label_id}/", Doc: "Changes the fields that are passed."},
			{
				Verb: List, ContractRow: 18, Path: path,
				Query: []string{"limit", "offset"}, GetCommand: "initiative-labels", Doc: "Reads all initiative labels of the workspace.",
			},
		}, crud(path, "label_id", "gcd")...),
	})
}
