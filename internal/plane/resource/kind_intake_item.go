package resource

func init() {
	register(Kind{
		Name: "intake_item", Section: "intake", Parent: "project", Param: "intake_item_id", Scope: "projects.intakes", HasExternalID: true,
		Doc:                "An item in the intake of a project, which waits for a decision. API v2 only.",
		Example:            `{key: dark-mode, name: Dark mode, priority: low, source_email: eve@example.com}`,
		AdoptOnRequestOnly: true,
		Lifecycle:          Lifecycle{RequiresFeature: "intake_view", Progress: "status"}, Listing: Listing{CountedAs: "intakes"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the item.", Example: "Dark mode"},
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Clear: ClearParagraph,
				Doc: "Description in Markdown; it is sent as HTML.", Example: "Easier on the eyes.",
			},
			{
				Name: "description_html", Type: HTML, Clear: ClearParagraph, Doc: "Description as HTML, passed through unchanged.",
				Example: "<p>Easier on the eyes.</p>",
			},
			{
				Name: "priority", Type: Enum, Enum: []string{"none", "urgent", "high", "medium", "low"}, Default: "none", Doc: "Priority.",
				Example: "high",
			},
			{
				Name: "status", Type: Enum, Enum: []string{"pending", "rejected", "snoozed", "accepted", "duplicate"}, Codes: []int{-2, -1, 0, 1, 2},
				Default: "pending",
				Doc:     "The decision. If people decide in Plane, leave it out: then it is not compared.", Example: "pending",
			},
			{
				Name: "snoozed_till", Type: Text, Clear: ClearNull, TextRules: momentRules(), Doc: "Moment until which a snoozed item rests.",
				Example: "2031-03-01T09:00:00Z",
			},
			{
				Name: "duplicate_to", Wire: Wire{ContractDialect: "duplicate_to_id"}, Type: Ref, Ref: "work_item", Clear: ClearNull,
				Doc: "Work item that it duplicates, by key, identifier such as `WEB-12`, or ID.", Example: "checkout",
			},
			{Name: "source", Type: Text, MaxLength: 255, Doc: "Where it comes from.", Example: "FORM"},
			{Name: "source_email", Type: Text, Clear: ClearNull, Doc: "E-mail address of the sender.", Example: "eve@example.com"},
		},
		Operations: crud(workspaceV2+"projects/{project_id}/intake-issues/", "intake_item_id", "lgcud"),
	})
}
