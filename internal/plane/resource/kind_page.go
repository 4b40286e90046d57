package resource

import (
	"fmt"
	"slices"
	"time"
)

func init() {
	const wiki = "pages/"
	const nested = "Pages can be nested: the outer one is the `parent` of the inner ones. `{folder: docs}` makes [pages of a folder](pages.md). " +
		"With API v1, pages can only be created. With API v2, they can also be changed, nested and deleted."
	register(Kind{
		Name: "page", Section: "pages", ParentField: "parent", Param: "page_id", Scope: "wiki.pages", HasExternalID: true, WebPath: "/{workspace_slug}/wiki/{page_id}/",
		Lifecycle: Lifecycle{RequiresFeature: "wiki", BeforeDelete: archivePage}, Listing: Listing{partial: true}, // not the archived ones, nor the private ones of others
		Doc:     "A wiki page of the workspace. " + nested,
		Example: `{key: handbook, name: Handbook, description: Where **things** are.}`,
		Fields:  pageFields("page", true),
		Operations: slices.Concat(crud(workspaceV2+wiki, "page_id", "lgcud"), []Operation{
			{Verb: Create, ContractRow: 12, Path: workspace + wiki, Doc: "Creates a page at workspace level."},
		}, crud(workspace+wiki, "page_id", "lg")),
	})
	const inProject = "projects/{project_id}/pages/"
	register(Kind{
		Name: "project_page", Section: "pages", Parent: "project", ParentField: "parent", Param: "page_id", Scope: "projects.pages", HasExternalID: true,
		WebPath:   "/{workspace_slug}/projects/{project_id}/pages/{page_id}/",
		Lifecycle: Lifecycle{RequiresFeature: "page_view", BeforeDelete: archivePage}, Listing: Listing{partial: true},
		Doc:        "A page of a project. " + nested,
		Example:    `{key: runbook, name: Runbook, description: Call the **duty** phone.}`,
		Fields:     pageFields("project_page", false),
		Operations: slices.Concat(crud(workspaceV2+inProject, "page_id", "lgcud"), crud(workspace+inProject, "page_id", "lgc")),
	})
}

// pageFields returns the fields of pages, of the workspace or of a project. Only pages of the workspace are documented.
func pageFields(kind string, documented bool) []Field {
	return []Field{
		{Name: "name", Type: Text, Required: true, Documented: documented, MaxLength: 255, Doc: "Title of the page.", Example: "Handbook"},
		{
			Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Documented: documented, Clear: ClearParagraph,
			Doc: "Text in Markdown; it is sent as HTML.", Example: "# How we work",
		},
		{
			Name: "description_html", Type: HTML, Documented: documented, Clear: ClearParagraph, Initial: "<p></p>",
			Doc: "Text as HTML, passed through unchanged.", Example: "<h1>How we work</h1>",
		},
		{
			Name: "file", Wire: Wire{ContractDialect: "description_html"}, Type: File, Documented: documented,
			Doc: "A Markdown (`.md`) or HTML (`.html`) file with the text, relative to the manifest, in or below its folder. " +
				"Links to the files of other pages lead to these pages.",
			Example: "docs/handbook.md",
		},
		{
			Name: "parent", Wire: Wire{ContractDialect: NotTaken, V2Dialect: "parent_id"}, Type: Ref, Ref: kind, Clear: ClearNull,
			Doc: "Parent page, by key, name or ID.", Example: "handbook",
		},
		{
			Name: "access", Type: Enum, Enum: []string{"public", "private"}, Codes: []int{0, 1},
			Doc: "Who can see it: everybody there (public) or only its owner (private).", Example: "private",
		},
		{Name: "color", Type: Text, Clear: ClearEmpty, MaxLength: 255, Doc: "Colour, in any form accepted by the service.", Example: "#3b82f6"},
		{Name: "is_locked", Type: Boolean, AlwaysSend: true, Doc: "Whether the page is locked against changes.", Example: "true"},
		{Name: "logo_props", Type: JSON, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
	}
}

// archivePage returns the body of the update that archives and unlocks a page.
func archivePage(now time.Time) []byte {
	return fmt.Appendf(nil, `{"archived_at":%q,"is_locked":false}`, now.UTC().Format(time.RFC3339))
}
