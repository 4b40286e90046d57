package resource

func init() {
	register(Kind{
		Name: "comment", Parent: "work_item", Param: "comment_id", Marks: true,
		Doc: "A comment on a work item. Only read.",
		Fields: []Field{
			{Name: "comment_html", Type: HTML, Doc: "The comment as HTML."},
		},
		Operations: []Operation{
			{
				Verb: Get, Number: 16, Method: "GET", Path: workspace + "projects/{project_id}/work-items/{work_item_id}/comments/{comment_id}/", Success: 200,
				Scope: "projects.work_items.comments:read", Again: true, Command: "comment", Doc: "Reads one comment of a work item.",
			},
		},
	})
}
