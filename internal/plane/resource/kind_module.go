package resource

import "slices"

func init() {
	const path = workspace + "projects/{project_id}/modules/"
	register(Kind{
		Name: "module", Section: "modules", Parent: "project", Param: "module_id", Scope: "projects.modules",
		WebPath: "/{workspace_slug}/projects/{project_id}/modules/{module_id}", HasExternalID: true, UniqueExternalID: true,
		Doc: "A module of a project. Work items refer to it in `module`. Modules are created in the order of the manifest; the service " +
			"shows the latest first.",
		Example:   `{key: checkout, name: Checkout}`,
		Short:     "name",
		Lifecycle: Lifecycle{RequiresFeature: "module_view", Progress: "status"}, Listing: Listing{CountedAs: "modules"},
		whyNotArchived: func(k *Kind, has WillHave, _ func(day string) bool) string {
			if status, known := has.of(k, "status"); known && status != "completed" && status != "cancelled" {
				return "only a module whose status is completed or cancelled can be archived"
			}
			return ""
		},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, Unique: true, MaxLength: 255, Doc: "Name of the module.", Example: "Checkout"},
			{
				Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the module.",
				Example: "Basket, payment, receipt",
			},
			{Name: "start_date", Type: Date, Clear: ClearNull, Doc: "First day, `YYYY-MM-DD`.", Example: "2026-12-01"},
			{
				Name: "target_date", Type: Date, Clear: ClearNull, NotBefore: "start_date", Doc: "Last day, `YYYY-MM-DD`; not before `start_date`.",
				Example: "2026-12-12",
			},
			{
				Name: "status", Type: Enum, Enum: []string{"backlog", "planned", "in-progress", "paused", "completed", "cancelled"},
				Default: "planned", Doc: "Progress.", Example: "in-progress",
			},
			{
				Name: "lead", Wire: Wire{V2Dialect: "lead_id"}, Type: Ref, Ref: "member", Clear: ClearNull,
				RefRules: RefRules{MustBeMemberOf: "project_member"}, Doc: "Member who leads the module, by e-mail address, display name or ID.",
				Example: "ada@example.com",
			},
			{
				Name: "members", Wire: Wire{V2Dialect: NotTaken}, Type: RefSet, Ref: "member", Clear: ClearEmpty,
				RefRules: RefRules{MustBeMemberOf: "project_member"}, Doc: "Members of the module, by e-mail address, display name or ID.",
				Example: "bob@example.com",
			},
			{
				Name: "archived", Wire: Wire{ContractDialect: "archived_at"}, Type: Boolean, ArchiveFlag: true,
				Doc:     "Whether the module is archived. Only a completed or cancelled module can be archived. An archived module is left as it is.",
				Example: "false",
			},
		},
		Operations: slices.Concat(archiveOps("modules", "module_id"), crud(path, "module_id", "lgcud"),
			bulk(workspaceV2+"projects/{project_id}/modules/")),
	})
	const members = path + "{module_id}/module-issues/"
	register(Kind{
		Name: "module_work_item", Scope: "projects.modules",
		Doc: "That a work item belongs to a module.",
		Membership: &Membership{
			Container: "module", Member: "work_item", On: "work_item", Field: "module", SeveralField: "modules", Body: "issues",
			Fields: "id,name,sequence_id,work_item",
		},
		Operations: []Operation{
			{Verb: AddMembers, Path: members, Success: 200},
			{Verb: ListMembers, Path: members, Query: []string{"per_page", "cursor", "fields"}},
			manage(RemoveMembers, "projects/{project_id}/modules/{module_id}/work-items/"),
			{Verb: RemoveMembers, Path: members + "{work_item_id}/"},
			overview("projects/{project_id}/work-items", "projects.work_items", "work_item", "module_ids"),
		},
	})
}
