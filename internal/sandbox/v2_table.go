package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

const (
	v2Workspace = "workspaces/{slug}/"
	v2Project   = v2Workspace + "projects/{project_id}/"
	v2Item      = v2Project + "work-items/{work_item_id}/"

	v2Singles = "list create read update delete"
	v2Pair    = " external_id? external_source?"
)

// tableV2 returns the collections of API v2 that planform uses, with the operations that it uses, in the words of the reference.
func (s *Server) tableV2() []*resourceV2 {
	k := s.kinds
	projects, teamProjects := memberList{k.initiative, k.initiativeProject, k.project}, memberList{k.teamspace, k.teamspaceProject, k.project}
	labels, teamMembers := memberList{k.initiative, k.initiativeLabelLink, k.initiativeLabel}, memberList{
		k.teamspace, k.teamspaceMember,
		k.user,
	}
	all := []*resourceV2{
		s.workItemsV2(), s.itemPropertiesV2(), pagesV2(v2Workspace, &k.page), pagesV2(v2Project, &k.projectPage), s.workspaceFeaturesV2(), s.webhooksV2(),
		viewsV2(v2Workspace, k.view, "created_at id sort_order"), viewsV2(v2Project, k.projectView, "created_at id sort_order updated_at"),
		featuresV2(v2Project, projectFeatures, "-id -created_at", k.project, func(c *call) string { return c.vars["project"] }),
		projectSettingsV2(k.project), customRelationsV2(k), projectMembersV2(k), rolesV2(k),
		templatesV2(v2Workspace, k.template), templatesV2(v2Project, k.projectTemplate),
		{
			name: "relation definition", path: v2Workspace + "work-item-relation-definitions/", kind: k.relationDefinition, verbs: v2Singles,
			write: "name* inward* outward* color description is_active logo_props sort_order" + v2Pair, read: "created_by_id is_default",
			order: "created_at", byOffset: true,
			prepare: func(w *writeV2) {
				w.r["is_default"] = false
				if flag(w.old, "is_default") {
					w.problem = &problem{status: http.StatusBadRequest, detail: "A default relation definition cannot be changed."}
				}
			},
		},
		{
			name: "initiative", path: v2Workspace + "initiatives/", kind: k.initiative, verbs: "list", deferred: "description_html",
			read:  "name description description_html end_date lead_id logo_props project_ids start_date state archived_at created_by_id label_ids",
			order: "created_at id", computed: map[string]computedV2{"project_ids": projects.memberIDs, "label_ids": labels.memberIDs},
		},
		{
			name: "teamspace", path: v2Workspace + "teamspaces/", kind: k.teamspace, verbs: "list", deferred: "description_html",
			read:  "name description_html lead_id logo_props member_ids project_ids created_by_id",
			order: "created_at id", computed: map[string]computedV2{"project_ids": teamProjects.memberIDs, "member_ids": teamMembers.memberIDs},
		},
		{
			name: "state", path: v2Project + "states/", kind: k.state, verbs: "list read bulk", unique: "name", refuseWrites: refuseElsewhereV2(statesGoverned, "states"),
			order: "sequence created_at id",
			write: "name* color* group description sequence is_default=default external_id external_source", read: "created_by_id is_triage",
			prepare: prepareStateV2,
			after: func(w *writeV2) {
				if flag(w.r, "default") {
					w.clearDefault(w.t, text(w.r, "id"))
				}
			},
			refuse: func(_ *call, t *tx, r row) *problem {
				switch {
				case flag(r, "default"):
					return conflictV2("The default state cannot be deleted.")
				case t.counter("in-state:"+text(r, "id")) > 0:
					return conflictV2("The state has work items.")
				}
				return nil
			},
		},
		{
			name: "label", path: v2Project + "labels/", kind: k.label, verbs: "list read bulk", order: "sort_order created_at id", unique: "name",
			write: "name* color description parent_id? sort_order external_id~ external_source~", read: "created_by_id",
			prepare: func(w *writeV2) {
				if w.r["sort_order"] == nil {
					w.r["sort_order"] = nextOrder(w.t.all(k.label, inProject(w.call)), nil)
				}
			},
		},
		{
			name: "cycle", path: v2Project + "cycles/", kind: k.cycle, verbs: "list read bulk", order: "sort_order created_at id", unique: "name",
			write: "name* description start_date? end_date? timezone external_id~ external_source~", read: "created_by_id owned_by_id",
			prepare: prepareCycleV2,
			manage:  map[string]membersV2{"work-items": {members: k.cycleIssue, of: k.workItem, add: (*call).moveToCycle}},
		},
		{
			name: "module", path: v2Project + "modules/", kind: k.module, verbs: "list read bulk", order: "sort_order created_at id", unique: "name",
			write: "name* description status start_date? target_date? lead_id?" + v2Pair, read: "archived_at created_by_id member_ids",
			prepare: func(w *writeV2) {
				w.checkDates("target_date")
				w.needsFeature("module_view")
			},
			manage: map[string]membersV2{"work-items": {members: k.moduleIssue, of: k.workItem}},
		},
		{
			name: "milestone", path: v2Project + "milestones/", kind: k.milestone, verbs: "list read bulk", order: "sort_order created_at id",
			write: "title* target_date?" + v2Pair, read: "archived_at created_by_id", manage: map[string]membersV2{"work-items": {members: k.milestoneIssue, of: k.workItem}},
		},
		{
			name: "intake item", path: v2Project + "intake-issues/", kind: k.intakeItem, verbs: v2Singles,
			write: "name* description_html duplicate_to_id? priority snoozed_till? source source_email? status" + v2Pair,
			read:  "created_by_id intake_id state_id work_item_id=issue", order: "created_at id", deferred: "description_html",
			prepare: func(w *writeV2) {
				w.needsFeature("intake_view")
				if w.old == nil {
					w.r["intake"], w.r["issue"] = w.vars["project"], newID()
				}
			},
		},
		{
			name: "estimate point", path: v2Project + "estimates/{estimate_id}/points/", kind: k.estimatePoint, verbs: "bulk",
			write: "value* description key" + v2Pair, read: "created_by_id estimate_id",
			prepare: func(w *writeV2) { w.r["estimate"] = w.vars["estimate"] },
		},
		{
			name: "comment", path: v2Item + "comments/", kind: k.comment, verbs: "list read bulk", order: "created_at id",
			write: "comment_html* access" + v2Pair, read: "actor_id comment_stripped created_by_id edited_at work_item_id=issue",
			computed: map[string]computedV2{"comment_stripped": func(_ *call, _ *tx, r row) any { return withoutTags(text(r, "comment_html")) }},
			prepare: func(w *writeV2) {
				if w.old != nil {
					w.r["edited_at"] = w.stamp()
					return
				}
				w.r["issue"], w.r["actor"], w.r["updated_by"] = w.vars["item"], w.user, w.user
				w.r["attachments"], w.r["description"] = []any{}, newID()
			},
		},
	}
	all = slices.Concat(all, s.releasesV2(), s.workflowsV2(), s.governedV2())
	for _, res := range all {
		res.compile()
	}
	return all
}

// otherRoutesV2 returns the routes outside of collections.
func (s *Server) otherRoutesV2() []route {
	items := s.workItemsV2().compile()
	archive := func(pattern string, away bool) route {
		on := methods{http.MethodPost: do(archiveItemV2(items, away))}
		return route{pattern: v2Project + "work-items/{pk}/" + pattern, permission: workspaceWide, on: on, res: items}
	}
	return []route{
		{pattern: "users/me/", permission: anyone, on: methods{http.MethodGet: do(meV2)}},
		{pattern: "schema/", permission: anyone, on: methods{http.MethodGet: do(s.schemaV2)}},
		archive("archive/", true), archive("unarchive/", false),
	}
}

// itemPropertiesV2 describes the custom fields of a project in API v2.
func (s *Server) itemPropertiesV2() *resourceV2 {
	return &resourceV2{
		name: "work item property", path: v2Project + "work-item-properties/", kind: s.kinds.itemProperty, verbs: "list",
		read: "display_name property_type relation_type description is_multi is_required is_active default_value settings validation_rules " +
			"external_id external_source name logo_props",
		order: "created_at id sort_order",
	}
}

func prepareStateV2(w *writeV2) {
	if w.old != nil && flag(w.old, "default") && !flag(w.r, "default") {
		w.addError("is_default", "invalid", "Make another state the default instead.")
	}
	w.r["slug"] = slug(text(w.r, "name"))
	if w.r["sequence"] == nil {
		last, _ := w.lastSequence(w.t)
		w.r["sequence"] = float(last + 15000)
	}
}

func prepareCycleV2(w *writeV2) {
	zone := zoneOf(w.t, w.call, w.vars["project"])
	w.needsFeature("cycle_view")
	w.checkDates("end_date")
	start, end := w.cycleDates(zone, text(w.r, "start_date"), text(w.r, "end_date"))
	if w.set["start_date"] && w.r["start_date"] != nil {
		w.r["start_date"] = start
	}
	if w.set["end_date"] && w.r["end_date"] != nil {
		w.r["end_date"] = end
	}
	if w.old == nil {
		w.r["owned_by"] = w.user
	}
}

// memberIDs returns the existing members of an initiative or a teamspace.
func (m memberList) memberIDs(_ *call, t *tx, r row) any {
	out := []any{}
	for _, s := range t.all(m.kind, scope(text(r, "id"))) {
		if id := text(s.row, m.column()); t.find(m.members, id) != nil {
			out = append(out, id)
		}
	}
	return out
}

// meV2 answers with the user of the request.
func meV2(c *call, t *tx) reply {
	if wrong := c.knowsOnly(); wrong != nil {
		return wrong.reply()
	}
	out := selectFields(c.profile(t, c.user), []string{"id", "display_name", "email"})
	out["principal_kind"], out["scopes"] = "api_key", []any{}
	if c.req.Header.Get("X-Api-Key") == "" {
		out["principal_kind"], out["scopes"] = "oauth", []any{"read", "write"}
	}
	return reply{http.StatusOK, out}
}

// schemaV2 answers with an OpenAPI document of the operations that this server has.
func (s *Server) schemaV2(*call, *tx) reply {
	paths := row{}
	for _, r := range s.routesV2() {
		item := row{}
		for method := range r.on {
			item[strings.ToLower(method)] = row{"responses": row{"default": row{"description": ""}}}
		}
		paths[v2Root+r.pattern] = item
	}
	return reply{http.StatusOK, row{"openapi": "3.0.3", "info": row{"title": "Plane", "version": "v2"}, "paths": paths}}
}
