package resource

func init() {
	const path = workspace + "projects/{project_id}/work-items/{work_item_id}/comments/"
	const scope = "projects.work_items.comments"
	register(Kind{
		Name: "comment", Section: "comments", Parent: "work_item", Param: "comment_id", HasExternalID: true, UniqueExternalID: true,
		Listing: Listing{Unmanaged: []string{"reactions"}},
		Doc: "A comment on a work item. It needs a `key`, so that planform can recognise its own comment later. " +
			"Comments of people are left alone.",
		Example: `{key: decision, text: We go with **one** page.}`,
		Fields: []Field{
			{
				Name: "text", Wire: Wire{ContractDialect: "comment_html"}, Type: Markdown, Required: true, asSent: true,
				Doc: "The comment in Markdown; it is sent as HTML.", Example: "We go with **one** page.",
			},
			{
				Name: "comment_html", Type: HTML, asSent: true, Doc: "The comment as HTML, passed through unchanged.",
				Example: "<p>We go with <strong>one</strong> page.</p>",
			},
			{
				Name: "author", Virtual: true, Type: Text, Header: true, PersonIn: []string{"created_by", "created_by_id", "actor"}, MaxLength: 255,
				Doc:     "Author of an imported comment, in any words. It leads the text, since the service shows the owner of the credential.",
				Example: "Ada Lovelace",
			},
			{
				Name: "created_at", Wire: Wire{V2Dialect: NotTaken}, Type: Text, Header: true, Immutable: true, Past: true, TextRules: moment(),
				Doc: "Original creation time of an imported comment. API v1 stores it. With an `author`, it also leads the text, in its own time zone.", Example: "2024-05-17T09:30:00Z",
			},
			{
				Name: "access", Type: Enum, Enum: []string{"INTERNAL", "EXTERNAL"}, Default: "INTERNAL",
				Doc: "Who sees it: the workspace, or everybody if the project is published.", Example: "INTERNAL",
			},
		},
		Operations: append([]Operation{
			{
				Verb: Get, ContractRow: 16, Path: path + "{comment_id}/", Scope: scope + ":read", GetCommand: "comment", Doc: "Reads one comment of a work item.",
			},
		}, append(crud(path, "comment_id", scope, "lcud"), bulk(workspaceV2+"projects/{project_id}/work-items/{work_item_id}/comments/",
			scope)...)...),
	})
}
