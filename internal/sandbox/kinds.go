package sandbox

import "slices"

// kinds is every kind that the sandbox keeps.
type kinds struct {
	documented bool // bodies are as the contract has them

	workspace, user, member, project, projectMember *kind

	state, label, cycle, module, itemType, estimate, estimatePoint *kind

	workItem, hiddenItem, deletedItem, link, comment, activity, attachment *kind

	cycleIssue, moduleIssue, relation *kind

	initiative, initiativeLabel, initiativeProject, initiativeLabelLink *kind

	teamspace, teamspaceProject, teamspaceMember *kind

	customer, request, property, page *kind

	every []*kind // these, and those that no code names
}

// add is a kind of which the sandbox keeps records. One that has a path is served there as it is described; no other
// code needs to know of it.
func (k *kinds) add(made *kind) *kind {
	k.every = append(k.every, made)
	return made
}

// newKinds makes the kinds. A few fields are documented otherwise than the
// service runs, so they depend on the response profile.
func newKinds(answers Answers) *kinds {
	k := &kinds{documented: answers == Contract}
	k.people()
	k.project = k.add(projectKind(k))
	k.plan()
	k.work()
	k.memberships()
	k.planning()
	k.customers()
	for _, kind := range k.every {
		kind.rows, kind.ids = rowsOf(kind), idsOf(kind)
		kind.all = append(append([]string(nil), kind.columns...), kind.hidden...)
	}
	return k
}

// audit is the columns that most records have after their id.
func audit(names ...string) []string {
	return append([]string{"id", "created_at", "updated_at", "deleted_at"}, names...)
}

func external() []field {
	return []field{
		{name: "external_source", check: str(255, true), null: true},
		{name: "external_id", check: str(255, true), null: true},
	}
}

func (k *kinds) people() {
	profile := []string{"id", "first_name", "last_name", "email", "avatar", "avatar_url", "display_name"}
	k.workspace = k.add(&kind{name: "workspace", columns: []string{"name", "slug", "id"}})
	k.user = k.add(&kind{name: "user", columns: profile})
	k.member = k.add(&kind{name: "member", columns: append(append([]string(nil), profile...), "role")})
	k.projectMember = k.add(&kind{
		name: "project_member", columns: []string{"id", "member", "role"}, hidden: []string{"project", "created_at", "inactive"},
		fields: []field{
			{name: "member", required: true, check: ref(k.user)},
			{name: "role", check: choiceOfRole, initial: integer(5)},
		},
	})
}

func choiceOfRole(t *tx, v any) (any, any) {
	s, _ := asString(v)
	switch s {
	case "20", "15", "5":
		return whole(20)(t, v)
	}
	return nil, message("\"%v\" is not a valid choice.", v)
}

func (k *kinds) plan() {
	k.state = k.add(&kind{
		name:    "state",
		columns: audit("name", "description", "color", "slug", "sequence", "group", "is_triage", "default", "external_source", "external_id", "created_by", "updated_by", "project", "workspace"),
		indexes: []index{uniqueName("state", "project", "State with the same name already exists in the project"), uniqueExternalID("state", "project", "State")},
		fields: append([]field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "color", required: true, check: line()},
			{name: "sequence", check: real, derived: true},
			{name: "group", check: choice("backlog", "unstarted", "started", "completed", "cancelled", "triage"), initial: "backlog"},
			{name: "is_triage", check: boolean, initial: false},
			{name: "default", check: boolean, initial: false},
		}, external()...),
	})
	k.label = k.add(&kind{
		name:    "label",
		columns: audit("name", "description", "color", "sort_order", "external_source", "external_id", "created_by", "updated_by", "workspace", "project", "parent"),
		indexes: []index{uniqueName("label", "project", "Label with the same name already exists in the project"), uniqueExternalID("label", "project", "Label")},
	})
	k.label.fields = append([]field{
		{name: "name", required: true, check: line()},
		{name: "description", check: prose(), initial: ""},
		{name: "color", check: str(255, true), initial: ""},
		{name: "sort_order", check: real, derived: true},
		{name: "parent", check: ref(k.label), null: true},
	}, external()...)

	totals := []string{"total_issues", "cancelled_issues", "completed_issues", "started_issues", "unstarted_issues", "backlog_issues"}
	k.cycle = k.add(&kind{
		name: "cycle",
		columns: append(append([]string{"id"}, totals...), "created_at", "updated_at", "deleted_at", "name", "description", "start_date", "end_date", "view_props",
			"sort_order", "external_source", "external_id", "progress_snapshot", "archived_at", "logo_props", "timezone", "version", "created_by", "updated_by",
			"project", "workspace", "owned_by"),
		computed: totals,
		indexes:  []index{uniqueExternalID("cycle", "project", "Cycle")},
		fields: append([]field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "start_date", check: moment, null: true},
			{name: "end_date", check: moment, null: true},
			{name: "owned_by", check: ref(k.user), derived: true},
			{name: "timezone", check: timezone, initial: "UTC"},
		}, external()...),
	})
	k.add(&kind{
		name: "milestone", path: "projects/{project}/milestones/",
		columns: audit("title", "target_date", "external_source", "external_id", "created_by", "updated_by", "project", "workspace"),
		indexes: []index{uniqueExternalID("milestone", "project", "Milestone")},
		fields: append([]field{
			{name: "title", required: true, check: line()},
			{name: "target_date", check: date, null: true},
		}, external()...),
	})
	k.module = k.add(&kind{
		name: "module",
		columns: append(append([]string{"id"}, totals...), "created_at", "updated_at", "deleted_at", "name", "description", "description_text", "description_html",
			"start_date", "target_date", "status", "view_props", "sort_order", "external_source", "external_id", "archived_at", "logo_props", "created_by",
			"updated_by", "project", "workspace", "lead", "members"),
		computed: totals,
		indexes:  []index{uniqueExternalID("module", "project", "Module"), {name: "module name", fields: []string{"project", "name"}, clash: moduleName}},
		fields: append([]field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "start_date", check: date, null: true},
			{name: "target_date", check: date, null: true},
			{name: "status", check: choice("backlog", "planned", "in-progress", "paused", "completed", "cancelled"), initial: "planned"},
			{name: "lead", check: ref(k.user), null: true},
			{name: "members", check: refs(k.user), initial: []any{}},
		}, external()...),
	})
	k.itemType = k.add(&kind{
		name:    "work_item_type",
		columns: audit("name", "description", "logo_props", "is_epic", "is_default", "is_active", "level", "external_source", "external_id", "created_by", "updated_by", "workspace", "project"),
		indexes: []index{uniqueExternalID("work_item_type", "project", "Work item type")},
		fields: append([]field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "is_epic", check: boolean, initial: false},
			{name: "is_active", check: boolean, initial: true},
		}, external()...),
	})
	k.estimate = k.add(&kind{
		name:    "estimate",
		columns: audit("name", "description", "type", "last_used", "external_source", "external_id", "created_by", "updated_by", "project", "workspace"),
		fields: append([]field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "type", check: choice("points", "categories", "time"), initial: "points", frozen: true},
			{name: "last_used", check: boolean, initial: false},
		}, external()...),
	})
	k.estimatePoint = k.add(&kind{
		name:    "estimate_point",
		columns: audit("key", "description", "value", "external_source", "external_id", "created_by", "updated_by", "project", "workspace", "estimate"),
		fields: append([]field{
			{name: "key", check: whole(12), initial: integer(0)},
			{name: "value", required: true, check: str(255, false)},
			{name: "description", check: prose(), initial: ""},
		}, external()...),
	})
}

func (k *kinds) work() {
	columns := []string{
		"id", "type_id", "created_at", "updated_at", "deleted_at", "point", "name", "description_html", "description_binary", "priority",
		"start_date", "target_date", "sequence_id", "sort_order", "completed_at", "archived_at", "is_draft", "external_source", "external_id",
		"created_by", "updated_by", "project", "workspace", "parent", "state", "estimate_point", "type", "assignees", "labels",
	}
	k.workItem = k.add(&kind{name: "work_item", columns: columns, indexes: []index{
		uniqueExternalID("work_item", "project", "Issue"), {name: "sequence", fields: []string{"project", "sequence_id"}},
	}})
	if k.documented {
		// ?expand=module is documented; nothing else shows the module.
		k.workItem.columns = append(slices.Clone(columns), "module")
		k.workItem.computed = []string{"module"}
	}
	k.workItem.fields = append([]field{
		{name: "name", required: true, check: line()},
		{name: "description_html", check: markup, initial: "<p></p>"},
		{name: "priority", check: choice("urgent", "high", "medium", "low", "none"), initial: "none"},
		{name: "start_date", check: date, null: true},
		{name: "target_date", check: date, null: true},
		{name: "point", check: whole(12), null: true},
		{name: "state", check: ref(k.state), null: true},
		{name: "parent", check: ref(k.workItem), null: true},
		{name: "estimate_point", check: k.estimateCheck(), null: true},
		{name: "type", check: ref(k.itemType), null: true},
		{name: "type_id", check: ref(k.itemType), null: true},
		{name: "assignees", check: refs(k.user), initial: []any{}},
		{name: "labels", check: refs(k.label), initial: []any{}},
		{name: "created_by", check: ref(k.user), null: true, derived: true},
		{name: "completed_at", check: moment, null: true, derived: true},
		{name: "archived_at", check: date, null: true},
		{name: "is_draft", check: boolean, initial: false},
		{name: "sort_order", check: real, derived: true},
	}, external()...)
	// Drafts and archived items are in no list and are not read by ID, so they
	// are kept apart.
	k.hiddenItem = k.add(&kind{name: "hidden_work_item", columns: k.workItem.columns, computed: k.workItem.computed, fields: k.workItem.fields, indexes: k.workItem.indexes})
	// What is deleted is kept for those who still refer to it.
	k.deletedItem = k.add(&kind{name: "deleted_work_item", columns: k.workItem.columns, computed: k.workItem.computed})
	k.link = k.add(&kind{
		name:    "link",
		columns: audit("title", "url", "metadata", "created_by", "updated_by", "project", "workspace", "issue"),
		indexes: []index{{name: "link URL", fields: []string{"issue", "url"}, clash: linkURL}},
		fields: []field{
			{name: "title", check: str(255, true), null: true},
			{name: "url", required: true, check: str(unlimited, false)},
			{name: "created_by", check: anything, null: true, derived: true, frozen: true},
		},
	})
	k.comment = k.add(&kind{
		name: "comment",
		columns: append([]string{"id", "is_member"}, audit("comment_html", "attachments", "access", "external_source", "external_id", "edited_at",
			"created_by", "updated_by", "project", "workspace", "description", "issue", "actor", "parent")[1:]...),
		computed: []string{"is_member"},
		indexes:  []index{uniqueExternalID("comment", "issue", "Work item comment")},
		fields: append([]field{
			{name: "comment_html", check: prose(), initial: "<p></p>"},
			{name: "access", check: choice("INTERNAL", "EXTERNAL"), initial: "INTERNAL"},
			{name: "created_by", check: anything, null: true, derived: true, frozen: true},
		}, external()...),
	})
	k.comment.fields = append(k.comment.fields, field{name: "parent", check: ref(k.comment), null: true})
	k.activity = k.add(&kind{
		name: "activity",
		columns: audit("verb", "field", "old_value", "new_value", "comment", "attachments", "old_identifier", "new_identifier", "epoch",
			"project", "workspace", "issue", "issue_comment", "actor"),
	})
	k.attachment = k.add(&kind{
		name: "attachment",
		columns: audit("attributes", "asset", "entity_type", "entity_identifier", "is_deleted", "is_archived", "external_id", "external_source", "size",
			"is_uploaded", "storage_metadata", "created_by", "updated_by", "user", "workspace", "draft_issue", "project", "issue", "comment", "page"),
	})
}

func (k *kinds) memberships() {
	k.cycleIssue = k.add(&kind{
		name:     "cycle_issue",
		columns:  []string{"id", "sub_issues_count", "created_at", "updated_at", "deleted_at", "created_by", "updated_by", "project", "workspace", "issue", "cycle"},
		computed: []string{"sub_issues_count"},
	})
	k.moduleIssue = k.add(&kind{
		name:     "module_issue",
		columns:  []string{"id", "sub_issues_count", "created_at", "updated_at", "deleted_at", "created_by", "updated_by", "project", "workspace", "module", "issue"},
		computed: []string{"sub_issues_count"},
	})
	k.relation = k.add(&kind{
		name:    "relation",
		columns: audit("relation_type", "issue", "related_issue", "created_by", "updated_by", "project", "workspace"),
	})
}

func (k *kinds) planning() {
	k.initiative = k.add(&kind{
		name: "initiative",
		columns: audit("name", "description", "description_html", "description_stripped", "logo_props", "start_date", "end_date", "state", "archived_at",
			"created_by", "updated_by", "workspace", "lead"),
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), null: true},
			{name: "description_html", check: markup, initial: "<p></p>"},
			{name: "description_stripped", check: prose(), null: true},
			{name: "start_date", check: moment, null: true},
			{name: "end_date", check: moment, null: true},
			{name: "logo_props", check: mapping, initial: row{}},
			{name: "state", check: choice("DRAFT", "PLANNED", "ACTIVE", "COMPLETED", "CLOSED"), initial: "DRAFT"},
			{name: "archived_at", check: moment, null: true},
			{name: "lead", check: ref(k.user), null: true},
		},
	})
	k.initiativeLabel = k.add(&kind{
		name: "initiative_label", path: "initiatives/labels/",
		columns: audit("name", "description", "color", "sort_order", "created_by", "updated_by", "workspace"),
		indexes: []index{uniqueName("initiative_label", "workspace", "Initiative label with the same name already exists in the workspace")},
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "color", check: colour, initial: ""},
			{name: "sort_order", check: real, initial: float(65535)},
		},
	})
	k.initiativeProject = k.add(&kind{name: "initiative_project", columns: audit("created_by", "updated_by", "workspace", "initiative", "project")})
	k.initiativeLabelLink = k.add(&kind{name: "initiative_label_link", columns: audit("created_by", "updated_by", "workspace", "initiative", "label")})
	k.teamspace = k.add(&kind{
		name: "teamspace",
		columns: audit("name", "description_json", "description_html", "description_stripped", "description_binary", "logo_props",
			"created_by", "updated_by", "workspace", "lead"),
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description_json", check: mapping, null: true, initial: row{}},
			{name: "description_html", check: markup, initial: "<p></p>"},
			{name: "description_stripped", check: prose(), null: true},
			{name: "description_binary", check: prose(), null: true},
			{name: "logo_props", check: mapping, initial: row{}},
			{name: "lead", check: ref(k.user), null: true},
		},
	})
	k.teamspaceProject = k.add(&kind{name: "teamspace_project", columns: audit("created_by", "updated_by", "workspace", "teamspace", "project")})
	k.teamspaceMember = k.add(&kind{name: "teamspace_member", columns: audit("created_by", "updated_by", "workspace", "teamspace", "member")})
	k.page = k.add(&kind{
		name: "page",
		columns: audit("name", "description_html", "access", "color", "is_locked", "archived_at", "view_props", "logo_props", "external_id", "external_source",
			"created_by", "updated_by", "owned_by", "workspace"),
		fields: append([]field{
			{name: "name", check: str(unlimited, true), initial: "", required: !k.documented},
			{name: "description_html", check: markup, initial: "<p></p>", required: !k.documented},
			{name: "access", check: whole(2), initial: integer(0)},
			{name: "color", check: str(255, true), initial: ""},
			{name: "is_locked", check: boolean, initial: false},
			{name: "archived_at", check: date, null: true},
			{name: "view_props", check: mapping, initial: row{}},
			{name: "logo_props", check: mapping, initial: row{}},
		}, external()...),
	})
}

func (k *kinds) customers() {
	k.customer = k.add(&kind{
		name: "customer",
		columns: audit("name", "description", "description_html", "description_stripped", "email", "website_url", "logo_props", "domain", "employees", "stage",
			"contract_status", "revenue", "archived_at", "logo_asset", "created_by", "updated_by", "workspace", "customer_request_count"),
		computed: []string{"customer_request_count"},
		indexes:  []index{uniqueName("customer", "workspace", "Customer with the same name already exists")},
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description", check: anything, null: true, initial: row{}},
			{name: "description_html", check: markup, initial: "<p></p>"},
			{name: "description_stripped", check: prose(), null: true},
			{name: "email", check: str(254, true), null: true},
			{name: "website_url", check: str(255, true), null: true},
			{name: "logo_props", check: mapping, initial: row{}},
			{name: "domain", check: str(255, true), null: true},
			{name: "employees", check: whole(1<<31 - 1), null: true},
			{name: "stage", check: str(255, true), null: true},
			{name: "contract_status", check: str(255, true), null: true},
			{name: "revenue", check: str(255, true), null: true},
			{name: "archived_at", check: moment, null: true},
			{name: "logo_asset", check: str(255, true), null: true},
		},
	})
	k.request = k.add(&kind{
		name: "customer_request",
		columns: audit("name", "title", "description", "description_html", "link", "work_item_ids", "created_by", "updated_by", "workspace",
			"customer"),
		computed: []string{"title"},
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description", check: mapping, null: true, initial: row{}},
			{name: "description_html", check: markup, initial: "<p></p>"},
			{name: "link", check: str(unlimited, true), null: true},
			{name: "work_item_ids", check: refs(k.workItem), initial: []any{}},
		},
	})
	if k.documented {
		k.request.fields = []field{
			{name: "title", check: line(), initial: "", derived: true},
			{name: "description", check: prose(), initial: "", derived: true},
		}
	}
	k.property = k.add(&kind{
		name: "customer_property",
		columns: audit("name", "display_name", "description", "logo_props", "sort_order", "property_type", "relation_type", "is_required", "default_value",
			"settings", "is_active", "is_multi", "validation_rules", "external_source", "external_id", "created_by", "updated_by", "workspace"),
		indexes: []index{uniqueExternalID("customer_property", "workspace", "Customer property")},
		fields: append([]field{
			{name: "display_name", required: true, check: line()},
			{name: "description", check: prose(), null: true},
			{name: "logo_props", check: mapping, initial: row{}},
			{name: "sort_order", check: real, initial: float(65535)},
			{name: "property_type", required: true, check: choice("TEXT", "DATETIME", "DECIMAL", "BOOLEAN", "OPTION", "RELATION", "URL", "EMAIL", "FILE")},
			{name: "relation_type", check: choice("ISSUE", "USER"), null: true},
			{name: "is_required", check: boolean, initial: false},
			{name: "default_value", check: items, initial: []any{}},
			{name: "settings", check: anything, null: true, initial: row{}},
			{name: "is_active", check: boolean, initial: true},
			{name: "is_multi", check: boolean, initial: false},
			{name: "validation_rules", check: mapping, initial: row{}},
		}, external()...),
	})
}

// estimateCheck is the id of an estimate point; documented is a number of
// points from 0 to 7, as a string.
func (k *kinds) estimateCheck() check {
	if !k.documented {
		return ref(k.estimatePoint)
	}
	return choice("0", "1", "2", "3", "4", "5", "6", "7")
}
