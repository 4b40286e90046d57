package resource

func init() {
	register(Kind{
		Name: "page", Section: "pages", Param: "page_id", Marks: true,
		Doc:     "A wiki page of the workspace.",
		Example: `{key: handbook, name: Handbook, file: docs/handbook.md}`,
		KeyFrom: []string{"name"}, Natural: []string{"name"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Documented: true, MaxLength: 255, Doc: "Title of the page.", Example: "Handbook"},
			{Name: "description", Wire: "description_html", Type: Markdown, Documented: true, Doc: "Text in Markdown; it is sent as HTML.", Example: "# How we work"},
			{Name: "description_html", Type: HTML, Documented: true, Doc: "Text as HTML, sent as it is.", Example: "<h1>How we work</h1>"},
			{Name: "file", Wire: "description_html", Type: File, Documented: true, Doc: "A Markdown (`.md`) or HTML (`.html`) file with the text, named relative to the manifest and below its folder.", Example: "docs/handbook.md"},
		},
		Operations: append([]Operation{
			{Verb: Create, Number: 12, Method: "POST", Path: workspace + "pages/", Success: 201, Scope: "wiki.pages:write", Doc: "Creates a page at workspace level."},
		}, crud(workspace+"pages/", "page_id", "wiki.pages", "lg")...),
	})
}
