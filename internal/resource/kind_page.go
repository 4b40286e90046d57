package resource

import "slices"

func init() {
	const v1, v2 = workspace + "pages/", workspaceV2 + "pages/"
	const scope = "wiki.pages"
	register(Kind{
		Name: "page", Section: "pages", ParentField: "parent", Param: "page_id", HasExternalID: true,
		Doc: "A wiki page of the workspace. Pages can be nested: the outer one is the `parent` of the inner ones. " +
			"API v1 creates pages, and can neither change nor delete them, nor put one below another; API v2 can.",
		Example: `{key: handbook, name: Handbook, file: docs/handbook.md}`,
		KeyFrom: []string{"name"}, NaturalKey: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Documented: true, MaxLength: 255, Doc: "Title of the page.", Example: "Handbook"},
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Documented: true, Clear: ClearParagraph,
				Doc: "Text in Markdown; it is sent as HTML.", Example: "# How we work",
			},
			{
				Name: "description_html", Type: HTML, Documented: true, Clear: ClearParagraph, Initial: "<p></p>",
				Doc: "Text as HTML, passed through unchanged.", Example: "<h1>How we work</h1>",
			},
			{
				Name: "file", Wire: Wire{ContractDialect: "description_html"}, Type: File, Documented: true,
				Doc:     "A Markdown (`.md`) or HTML (`.html`) file with the text, relative to the manifest, in or below its folder.",
				Example: "docs/handbook.md",
			},
			{
				Name: "parent", Wire: Wire{ContractDialect: NotTaken, V2Dialect: "parent_id"}, Type: Ref, Ref: "page", Clear: ClearNull,
				Doc: "Parent page, by key, name or ID.", Example: "handbook",
			},
			{
				Name: "access", Type: Enum, Enum: []string{"public", "private"}, EnumAsIndex: true,
				Doc: "Who can see it: the workspace (public) or only its owner (private).", Example: "private",
			},
			{Name: "color", Type: Text, Clear: ClearEmpty, MaxLength: 255, Doc: "Colour, in any form accepted by the service.", Example: "#3b82f6"},
			{Name: "is_locked", Type: Boolean, Doc: "Whether the page is locked against changes.", Example: "true"},
			{Name: "logo_props", Type: JSON, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
		},
		Operations: slices.Concat(crud(v2, "page_id", scope, "lgcud"), []Operation{
			{
				Verb: Create, ContractRow: 12, Method: "POST", Path: v1, Success: 201, Scope: scope + ":write",
				Doc: "Creates a page at workspace level.",
			},
		}, crud(v1, "page_id", scope, "lg")),
	})
}
