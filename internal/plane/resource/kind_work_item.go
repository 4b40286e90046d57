package resource

func init() {
	const path = workspace + "projects/{project_id}/work-items/"
	const itemsV2 = workspaceV2 + "projects/{project_id}/work-items/"
	register(Kind{
		Name: "work_item", Section: "work_items", Parent: "project", ParentField: "parent", Param: "work_item_id", Scope: "projects.work_items",
		WebPath: "/{workspace_slug}/projects/{project_id}/issues/{work_item_id}", HasExternalID: true, UniqueExternalID: true,
		Doc: "A work item of a project. Items can be nested: the outer one is the `parent` of the inner ones.",
		Example: `key: checkout
name: Rebuild the checkout
state: In Progress
priority: high
target_date: 2031-01-17
links:
  - {url: "https://example.com/design", title: Design}`,
		KeyFrom: []string{"name", "identifier"}, Short: "name", AdoptOnRequestOnly: true,
		Lifecycle:  Lifecycle{Progress: "state"},
		Listing:    Listing{CountedAs: "issues", Unmanaged: []string{"subscribers", "worklogs"}},
		Identifier: &Identifier{Pattern: `^[A-Za-z0-9_]{1,12}-[0-9]{1,9}$`, Doc: "Identifier of an existing item, such as `WEB-7`."},
		Fields: []Field{
			{
				Name: "name", Type: Text, Required: true, Documented: true, MaxLength: 255, Doc: "Name of the work item.",
				Example: "Rebuild the checkout",
			},
			{
				Name: "description", Wire: Wire{ContractDialect: "description_html"}, Type: Markdown, Documented: true, Clear: ClearParagraph,
				Doc: "Description in Markdown; it is sent as HTML.", Example: "One page, no **reload**.",
			},
			{
				Name: "description_html", Type: HTML, Documented: true, Clear: ClearParagraph, Doc: "Description as HTML, passed through unchanged.",
				Example: "<p>One page, no <strong>reload</strong>.</p>",
			},
			{
				Name: "state", Wire: Wire{V2Dialect: "state_id"}, Type: Ref, Ref: "state", Documented: true,
				RefRules: RefRules{OrRef: "workspace_state"},
				Doc:      "State, by name or ID. It belongs to the project, or to the workspace if that manages the states.", Example: "In Progress",
			},
			{
				Name: "assignees", Wire: Wire{V2Dialect: "assignee_ids"}, Type: RefSet, Ref: "member", Documented: true, Clear: ClearEmpty,
				RefRules: RefRules{MustBeMemberOf: "project_member", MemberRole: "member", ParentDefault: "default_assignee"},
				Doc:      "Assigned members, by e-mail address, display name or ID. Not guests of the project: the service takes none.",
				Example:  "ada@example.com",
			},
			{
				Name: "priority", Type: Enum, Enum: []string{"none", "urgent", "high", "medium", "low"}, Default: "none", Documented: true,
				Doc: "Priority.", Example: "high",
			},
			{
				Name: "labels", Wire: Wire{V2Dialect: "label_ids"}, Type: RefSet, Ref: "label", Documented: true, Clear: ClearEmpty,
				Doc: "Labels of the project, by name or ID.", Example: "backend",
			},
			{
				Name: "parent", Wire: Wire{V2Dialect: "parent_id"}, Type: Ref, Ref: "work_item", Documented: true, Clear: ClearNull,
				Doc: "Parent item: the key of an item in this project, an identifier such as `WEB-12`, or an ID.", Example: "shop",
			},
			{
				Name: "estimate_point", Wire: Wire{V2Dialect: "estimate_point_id"}, Type: Ref, Ref: "estimate_point", Documented: true,
				Clear: ClearNull, RefRules: RefRules{IsLiteral: isEstimatePoint},
				Doc:     "Value of the project's estimate, such as `5` or `XL`, or its ID. The documented operations take points from 0 to 7.",
				Example: "3",
			},
			{
				Name: "type", Wire: Wire{NewerDialect: "type_id", V2Dialect: "type_id"}, Type: Ref, Ref: "work_item_type", Documented: true,
				RefRules: RefRules{OrRef: "workspace_work_item_type"}, Clear: ClearNull,
				Doc: "Work item type, by name or ID. It belongs to the project, or to the workspace if that manages the types.", Example: "Story",
			},
			{
				Name: "module", Type: Ref, Ref: "module", Documented: true, Clear: ClearNull,
				Doc: "Module of the project, by key, name or ID. A new value removes the item from the module that planform put it in; `null` removes it from all modules.", Example: "Checkout",
			},
			{
				Name: "modules", Virtual: true, Type: RefSet, Ref: "module", Clear: ClearNull,
				Doc:     "Modules of the project, by key, name or ID, for an item in several modules. `[]` removes it from the modules that planform put it in.",
				Example: "Checkout",
			},
			{
				Name: "milestone", Wire: Wire{ContractDialect: NotTaken}, Virtual: true, Type: Ref, Ref: "milestone", Clear: ClearNull,
				Doc:     "Milestone of the project, by key, title or ID. A new value removes the item from the milestone that planform put it in.",
				Example: "Beta",
			},
			{Name: "start_date", Type: Date, Documented: true, Clear: ClearNull, Doc: "First day, `YYYY-MM-DD`.", Example: "2026-12-01"},
			{
				Name: "target_date", Type: Date, Documented: true, Clear: ClearNull, NotBefore: "start_date",
				Doc: "Last day, `YYYY-MM-DD`; not before `start_date`.", Example: "2026-12-12",
			},
			{
				Name: "cycle", Virtual: true, Type: Ref, Ref: "cycle", Clear: ClearNull,
				Doc: "Cycle of the project, by key, name or ID. `null` removes the item from its cycle.", Example: "sprint-14",
			},
			{
				Name: "point", Wire: Wire{V2Dialect: NotTaken}, Type: Number, Max: 12, Clear: ClearNull,
				Doc: "Estimate as a whole number from 0 to 12.", Example: "5",
			},
			{
				Name: "sort_order", Wire: Wire{V2Dialect: NotTaken}, Type: Number, SetAfterCreate: true,
				Doc: "Position among the items of one state: lower comes first.", Example: "1000",
			},
			{
				Name: "created_at", Wire: Wire{V2Dialect: NotTaken}, Type: Text, Immutable: true, Past: true, TextRules: momentRules(),
				Doc: "Original creation time of an imported item.", Example: "2024-05-17T09:30:00Z",
			},
			{
				Name: "created_by", Wire: Wire{V2Dialect: NotTaken}, Type: Ref, Ref: "member", Past: true,
				Doc:     "Author of an imported item, by e-mail address, display name or ID. Left out if nobody bears the name.",
				Example: "bob@example.com",
			},
			{
				Name: "archived", Wire: Wire{ContractDialect: "archived_at"}, Type: Boolean, ArchiveFlag: true,
				Doc: "Whether the item is archived. That is the last step of a run. The archived item and its contents are left as they are, until `false` brings it back. API v2 archives only completed and cancelled items.", Example: "false",
			},
			relationField("blocking", "Items blocked by this one, by key (`ops/monitor` in another project), identifier such as `WEB-7`, or ID."),
			relationField("blocked_by", "Items that block this one, by key (`ops/monitor` in another project), identifier such as `WEB-7`, or ID."),
			relationField("start_before", "Items that start later than this one."),
			relationField("start_after", "Items that start earlier than this one."),
			relationField("finish_before", "Items that are finished later than this one."),
			relationField("finish_after", "Items that are finished earlier than this one."),
			relationField("duplicate", "Duplicates, by key (`ops/monitor` in another project), identifier such as `WEB-7`, or ID."),
			{
				Name: "fields", Virtual: true, Type: CustomFields, DefinedBy: Property, DefinedIn: "type",
				Doc: "Values of custom fields, by name: the properties that the manifest lists for the item's `type`. `null` removes a value, " +
					"`[]` all values of a field with several.",
				Example: `{"Severity": "High", "Found in": "4.2"}`,
			},
			relationField("relates_to", "Related items, by key (`ops/monitor` in another project), identifier such as `WEB-7`, or ID."),
			customRelationField(),
		},
		Operations: append([]Operation{
			{Verb: Create, ContractRow: 1, Path: path, Doc: "Creates a work item."},
			{
				Verb: Find, ContractRow: 13, Path: workspace + "work-items/{identifier}/",
				Query: []string{"expand"}, GetCommand: "work-item", Doc: "Reads a work item by its readable identifier, such as `WEB-7`.",
			},
			{Verb: List, Path: path, Query: []string{"per_page", "cursor", "external_id", "external_source", "fields"}},
			{Verb: Archive, Path: itemsV2 + "{work_item_id}/archive/", Success: 200},
			{Verb: Unarchive, Method: "POST", Path: itemsV2 + "{work_item_id}/unarchive/", Success: 200},
			{Verb: Archive, Method: "PATCH", Path: path + "{work_item_id}/", Body: []string{"archived_at"}},
			{Verb: Unarchive, Method: "PATCH", Path: path + "{work_item_id}/", Body: []string{"archived_at"}},
		}, append(crud(path, "work_item_id", "gud"), bulk(itemsV2)...)...),
	})
}

// momentPattern matches a time that the service accepts.
const momentPattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})$`

func momentRules() TextRules {
	return TextRules{Pattern: momentPattern, PatternDoc: "a moment such as 2024-05-17T09:30:00Z"}
}

// isEstimatePoint reports whether the documented operations take a text as an estimate point.
func isEstimatePoint(text string) bool { return len(text) == 1 && text >= "0" && text <= "7" }
