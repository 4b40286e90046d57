package resource

func init() {
	register(Kind{
		Name: "page", Section: "pages", Param: "page_id", HasExternalID: true,
		Doc:     "A wiki page of the workspace. The API can neither change a page nor put it below another.",
		Example: `{key: handbook, name: Handbook, file: docs/handbook.md}`,
		KeyFrom: []string{"name"}, NaturalKey: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Documented: true, MaxLength: 255, Doc: "Title of the page.", Example: "Handbook"},
			{Name: "description", APIName: "description_html", Type: Markdown, Documented: true, Doc: "Text in Markdown; it is sent as HTML.", Example: "# How we work"},
			{Name: "description_html", Type: HTML, Documented: true, Initial: "<p></p>", Doc: "Text as HTML, sent as it is.", Example: "<h1>How we work</h1>"},
			{Name: "file", APIName: "description_html", Type: File, Documented: true, Doc: "A Markdown (`.md`) or HTML (`.html`) file with the text, relative to the manifest, in or below its folder.", Example: "docs/handbook.md"},
			{Name: "access", Type: Enum, Enum: []string{"public", "private"}, EnumAsIndex: true, Doc: "Who can see it: the workspace (public) or only its owner (private).", Example: "private"},
			{Name: "color", Type: Text, MaxLength: 255, Doc: "Colour, in any form accepted by the service.", Example: "#3b82f6"},
			{Name: "is_locked", Type: Boolean, Doc: "Whether the page is locked against changes.", Example: "true"},
			{Name: "logo_props", Type: JSON, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
		},
		Operations: append([]Operation{
			{Verb: Create, ContractRow: 12, Method: "POST", Path: workspace + "pages/", Success: 201, Scope: "wiki.pages:write", Doc: "Creates a page at workspace level."},
		}, crud(workspace+"pages/", "page_id", "wiki.pages", "lg")...),
	})
}
