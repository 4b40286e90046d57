package resource

import "slices"

func init() {
	const doc = "A view bears no mark, so planform finds it by its name. "
	const ofWorkspace = workspaceV2 + "views/"
	register(Kind{
		Name: "view", Section: "views", Param: "view_id", Scope: "workspaces.views",
		Doc:     "A view of the workspace: a filter of the work items of all projects, and how they are shown. " + doc + "Only API v2 has views.",
		Example: `{name: Urgent, filters: {priority: [urgent], state_group: [started]}, display: {group_by: priority}}`,
		Fields: viewFields( // a workspace has no states, labels, cycles and modules
			Field{Name: "project", Type: RefSet, Ref: "project", Doc: "Projects, by key, identifier, name or ID.", Example: "web"},
		),
		Operations: crud(ofWorkspace, "view_id", "lgcud"),
	})
	const inProject = workspaceV2 + "projects/{project_id}/views/"
	register(Kind{
		Name: "project_view", Section: "views", Parent: "project", Param: "view_id", Scope: "projects.views",
		Lifecycle: Lifecycle{RequiresFeature: "issue_views_view"},
		Doc:       "A view of a project: a filter of its work items, and how they are shown. " + doc + "Only API v2 has views.",
		Example: `name: Bugs in progress
filters: {state: [In Progress], priority: [high, urgent], assignees: [ada@example.com]}
display: {layout: list, group_by: assignees}`,
		Fields: viewFields(
			Field{Name: "state", Type: RefSet, Ref: "state", Doc: "States, by key, name or ID.", Example: "In Progress"},
			Field{Name: "labels", Type: RefSet, Ref: "label", Doc: "Labels, by key, name or ID.", Example: "bug"},
			Field{Name: "cycle", Type: RefSet, Ref: "cycle", Doc: "Cycles, by key, name or ID.", Example: "Sprint 14"},
			Field{Name: "module", Type: RefSet, Ref: "module", Doc: "Modules, by key, name or ID.", Example: "Checkout"},
			Field{Name: "type", Type: RefSet, Ref: "work_item_type", Doc: "Types, by key, name or ID.", Example: "Bug"},
		),
		Operations: crud(inProject, "view_id", "lgcud"),
	})
}

// viewFields returns the fields of views, with additional filters. The reference leaves filters and display open. planform uses the field
// names that API v2 has for work items, and keeps other contents of the service.
func viewFields(filters ...Field) []Field {
	const people = "Members, by e-mail address, display name or ID."
	filters = slices.Concat([]Field{
		{Name: "priority", Type: EnumSet, Enum: []string{"urgent", "high", "medium", "low", "none"}, Doc: "Priorities.", Example: "urgent"},
		{
			Name: "state_group", Type: EnumSet, Enum: []string{"backlog", "unstarted", "started", "completed", "cancelled"},
			Doc: "Groups of states.", Example: "started",
		},
		{Name: "assignees", Type: RefSet, Ref: "member", Doc: people, Example: "ada@example.com"},
		{Name: "created_by", Type: RefSet, Ref: "member", Doc: "Who made the work items, by e-mail address, display name or ID.", Example: "bob@example.com"},
	}, filters, []Field{
		{
			Name: "other", Rest: true, Type: JSON, Example: `{"target_date": ["2031-01-01;after"]}`,
			Doc: "Further filters, sent as they are. Without it, those that people set on the service are kept.",
		},
	})
	display := []Field{
		{Name: "layout", Type: Text, MaxLength: 255, Doc: "Layout, such as `list`, `kanban` or `spreadsheet`.", Example: "list"},
		{Name: "group_by", Type: Text, MaxLength: 255, Doc: "Field by which the work items are grouped, such as `state` or `priority`.", Example: "state"},
		{Name: "sub_group_by", Type: Text, MaxLength: 255, Doc: "Field by which the groups are divided.", Example: "priority"},
		{Name: "order_by", Type: Text, MaxLength: 255, Doc: "Order, such as `-created_at`.", Example: "-created_at"},
		{
			Name: "more", Rest: true, Type: JSON, Example: `{"sub_issue": true}`,
			Doc: "Further settings, sent as they are. Without it, those of the service are kept.",
		},
	}
	for i := range filters {
		filters[i].Group, filters[i].Within = "filters", "filters"
	}
	for i := range display {
		display[i].Group, display[i].Within = "display", "display_filters"
	}
	inside := append(filters, display...)
	for i := range inside {
		inside[i].Clear, inside[i].AlwaysSend = ClearNull, true
	}
	return slices.Concat([]Field{
		{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the view.", Example: "Bugs in progress"},
		{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the view.", Example: "What is being mended"},
		{
			Name: "access", Type: Enum, Enum: []string{"private", "public"}, Codes: []int{0, 1},
			Doc: "Who can see it: everybody there (public) or only its owner (private).", Example: "public",
		},
		{Name: "is_locked", Type: Boolean, AlwaysSend: true, Doc: "Whether the view is locked against changes.", Example: "true"},
		{Name: "logo_props", Type: JSON, Doc: "Properties of the logo, sent as they are.", Example: `{"in_use": "emoji"}`},
	}, inside, []Field{
		{Name: "display_properties", Type: JSON, Doc: "Fields that are shown, sent as written.", Example: `{"priority": true, "state": false}`},
	})
}
