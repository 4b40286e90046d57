package resource

func init() {
	const path, scope = workspaceV2 + "releases/", "releases"
	register(Kind{
		Name: "release", Section: "releases", Param: "release_id", Scope: "releases", HasExternalID: true,
		Lifecycle: Lifecycle{RequiresFeature: "releases"}, Listing: Listing{Unmanaged: []string{"comments"}},
		Doc: "A release of the workspace, with its tag, labels, work items, links and changelog. API v2 only.",
		Example: `name: Spring
status: unreleased
target_date: 2031-03-01
work_items: [WEB-7]
changelog: {description: "- A **faster** checkout"}`,
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the release.", Example: "Spring"},
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Clear: ClearParagraph,
				Doc: "Description in Markdown; it is sent as HTML.", Example: "What the **north** waits for.",
			},
			{
				Name: "description_html", Type: HTML, Clear: ClearParagraph, Doc: "Description as HTML, passed through unchanged.",
				Example: "<p>What the <strong>north</strong> waits for.</p>",
			},
			{Name: "status", Type: Enum, Enum: []string{"unreleased", "released", "cancelled"}, Doc: "Progress.", Example: "unreleased"},
			{Name: "target_date", Type: Date, Clear: ClearNull, Doc: "Planned day, `YYYY-MM-DD`.", Example: "2031-03-01"},
			{Name: "release_date", Type: Date, Clear: ClearNull, Doc: "Actual day, `YYYY-MM-DD`.", Example: "2031-03-04"},
			{Name: "is_prerelease", Type: Boolean, Doc: "Whether it is a pre-release.", Example: "true"},
			{Name: "is_latest", Type: Boolean, Doc: "Whether it is the latest one.", Example: "true"},
			{
				Name: "lead", Wire: Wire{ContractDialect: "lead_id"}, Type: Ref, Ref: "member", Clear: ClearNull,
				Doc: "Member who leads the release, by e-mail address, display name or ID.", Example: "ada@example.com",
			},
			{
				Name: "tag", Wire: Wire{ContractDialect: "tag_id"}, Type: Ref, Ref: "release_tag", Clear: ClearNull,
				Doc: "Its release tag, by key, version or ID.", Example: "v2.0.0",
			},
			{
				Name: "labels", Virtual: true, Type: RefSet, Ref: "release_label", Clear: ClearNull,
				Doc: "Release labels, by key, name or ID. `[]` removes those that planform added.", Example: "public",
			},
			{
				Name: "work_items", Virtual: true, Type: RefSet, Ref: "work_item", Clear: ClearNull, RefRules: RefRules{CrossProject: true},
				Doc: "Work items of any project, by key (`web/checkout`), identifier such as `WEB-7`, or ID. `[]` removes those that planform " +
					"added. The service does not show them, so they are [not compared](limits.md#what-is-not-compared).", Example: "web/checkout",
			},
		},
		Operations: crud(path, "release_id", "lgcud"),
	})
	register(Kind{
		Name: "release_release_label", Scope: "releases",
		Doc: "That a release carries a release label.",
		Membership: &Membership{
			Container: "release", Member: "release_label", On: "release", Field: "labels", Body: "label_ids",
			ResultKey: "label_ids",
		},
		Operations: []Operation{
			manage(AddMembers, "releases/{release_id}/labels/"),
			{Verb: ListMembers, Path: path + "{release_id}/"}, // the release has them
			manage(RemoveMembers, "releases/{release_id}/labels/"),
			overview("releases", scope, "release", "label_ids"),
		},
	})
	register(Kind{
		Name: "release_work_item", Scope: "releases",
		Doc:        "That a work item belongs to a release, which no operation lists.",
		Membership: &Membership{Container: "release", Member: "work_item", On: "release", Field: "work_items", Body: "work_items"},
		Operations: []Operation{
			manage(AddMembers, "releases/{release_id}/work-items/"),
			manage(RemoveMembers, "releases/{release_id}/work-items/"),
		},
	})
	register(Kind{
		Name: "release_changelog", Section: "changelog", Parent: "release", Param: "release_changelog_id", Scope: "releases",
		Doc:     "The changelog of a release. Each release has one from the start.",
		Example: `{description: "- A **faster** checkout"}`,
		Listing: Listing{Single: true, Singleton: true},
		Fields: []Field{
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Clear: ClearParagraph,
				Doc: "What changed, in Markdown; it is sent as HTML.", Example: "- A **faster** checkout",
			},
			{
				Name: "description_html", Type: HTML, Clear: ClearParagraph, Doc: "The same as HTML, passed through unchanged.",
				Example: "<ul><li>A <strong>faster</strong> checkout</li></ul>",
			},
		},
		Operations: singleton(path + "{release_id}/changelog/"),
	})
	register(Kind{
		Name: "release_link", Section: "links", Parent: "release", Param: "link_id", Scope: "releases.links",
		Doc:        "A link of a release to another resource. Its URL identifies it among the release's links.",
		Example:    `{url: "https://example.com/notes", title: Notes}`,
		NaturalKey: []string{"url"},
		Fields: []Field{
			{
				Name: "url", Type: URL, Required: true, MaxLength: 200, Doc: "Address of the resource, `http` or `https`.",
				Example: "https://example.com/notes",
			},
			{Name: "title", Type: Text, Required: true, MaxLength: 255, Doc: "Text of the link.", Example: "Notes"},
			{Name: "metadata", Type: JSON, Doc: "Further properties, sent as they are.", Example: `{"icon": "book"}`},
		},
		Operations: crud(path+"{release_id}/links/", "link_id", "lgcud"),
	})
}
