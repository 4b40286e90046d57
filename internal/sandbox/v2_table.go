package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

const (
	v2Singles = "list create read update delete"
	v2All     = v2Singles + " upsert bulk bulk-delete"
	v2Pair    = " external_id:str≤255? external_source:str≤255?"
)

// tableV2 is every collection of API v2, in the words of the reference.
func (s *Server) tableV2() []*resourceV2 {
	all := slices.Concat([]*resourceV2{s.workItemsV2(), s.workspaceItemsV2()}, s.projectTableV2(), s.itemTableV2(), s.planningTableV2(), s.pageTableV2(), s.itemPropertiesV2())
	for _, res := range all {
		res.compile()
	}
	return all
}

// otherOperationsV2 is the operations outside of collections.
func (s *Server) otherOperationsV2() []operationV2 {
	get, post, del := http.MethodGet, http.MethodPost, http.MethodDelete
	items, types, projects := s.workItemsV2().compile(), s.itemTypesV2().compile(), &resourceV2{kind: s.kinds.project}
	related := "{related_work_item_id}/"
	all := []operationV2{
		{method: get, path: "users/me/", do: meV2, access: forAnybody},
		{method: get, path: "schema/", do: s.schemaV2, access: forAnybody},
		{method: get, path: v2Workspace + "work-items/{identifier}/", do: s.itemByIdentifierV2()},
		{method: post, path: v2Workspace + "projects/{pk}/archive/", do: archiveProjectV2(true), res: projects, access: forProjects},
		{method: post, path: v2Workspace + "projects/{pk}/unarchive/", do: archiveProjectV2(false), res: projects, access: forProjects},
		{method: get, path: v2Workspace + "projects/{pk}/summary/", do: summaryV2, res: projects, access: forProjects},
		{method: get, path: v2Workspace + "customers/{customer_id}/property-values/", do: propertyValues},
		{method: post, path: v2Workspace + "customers/{customer_id}/property-values/", do: setPropertyValues},
		{method: post, path: v2Project + "cycles/{pk}/transfer/", do: transferV2, res: &resourceV2{kind: s.kinds.cycle}},
		{method: post, path: v2Project + "work-item-types/enable/", do: enableTypesV2(types), access: forAdmins},
		{method: post, path: v2Project + "work-item-types/import/", do: func(*call, *tx) (reply, *problem) { return reply{}, typesManagedAtProject() }},
		{method: post, path: v2Project + "work-item-types/{pk}/mark-default/", do: defaultTypeV2(types), res: types},
		{method: post, path: v2Project + "work-items/{pk}/archive/", do: s.archiveItemV2(true), res: items},
		{method: post, path: v2Project + "work-items/{pk}/unarchive/", do: s.archiveItemV2(false), res: items},
		{method: get, path: v2Item + "dependencies/", do: listDependencies},
		{method: post, path: v2Item + "dependencies/", do: addDependencies},
		{method: del, path: v2Item + "dependencies/" + related, do: endRelations(true)},
		{method: get, path: v2Item + "relations/", do: listRelationsV2},
		{method: post, path: v2Item + "relations/", do: addRelationsV2},
		{method: del, path: v2Item + "relations/" + related, do: endRelations(false)},
	}
	return slices.Concat(all, s.typePropertiesV2(), featuresV2(s.kinds.workspace, v2Workspace+"features/", workspaceFeaturesV2()),
		featuresV2(s.kinds.project, v2Project+"features/", projectFeaturesV2()))
}

// projectTableV2 is projects and their contents, work items aside.
func (s *Server) projectTableV2() []*resourceV2 {
	k := s.kinds
	return []*resourceV2{
		{
			name: "project", path: v2Workspace + "projects/", kind: k.project, verbs: v2Singles + " upsert bulk", access: forProjects, unique: "identifier name",
			write: "identifier*:str≤255 name*:str≤255 archive_in:int close_in:int cover_image:str? cycle_view:bool default_assignee_id:uuid→user? default_state_id:uuid→state? " +
				"description:str emoji:str≤255? estimate_id:uuid→estimate? guest_view_all_features:bool icon_prop:json? intake_view:bool is_issue_type_enabled:bool " +
				"is_time_tracking_enabled:bool issue_views_view:bool logo_props:json module_view:bool network:0|2 page_view:bool priority:none|low|medium|high|urgent " +
				"project_lead_id:uuid→user? start_date:datetime? state_id:str? target_date:datetime? timezone:IANA" + v2Pair,
			read:    "archived_at cover_image_url created_by_id",
			filters: "external_id external_source identifier include_archived is_archived key name network priority priority__in search",
			order:   "created_at id name", expand: "project_lead default_assignee",
			computed: map[string]func(*call, *tx, row) any{
				"cover_image_url":  func(*call, *tx, row) any { return nil },
				"key":              func(_ *call, _ *tx, r row) any { return r["identifier"] },
				"is_archived":      func(_ *call, _ *tx, r row) any { return r["archived_at"] != nil },
				"include_archived": func(c *call, _ *tx, _ row) any { return c.query.Get("include_archived") },
			},
			rows: visibleProjects, prepare: prepareProjectV2,
		},
		{
			name: "member", path: v2Project + "members/", kind: k.projectMember, access: forAdmins,
			write: "member_id:uuid→user role:str", read: "-created_at", filters: "member_id member_id__in role role__in search", order: "created_at id", expand: "member",
			computed: map[string]func(*call, *tx, row) any{"role": roleSlug, "search": searchedMember},
			rows: func(c *call, t *tx) []stored {
				return slices.DeleteFunc(t.all(c.kinds.projectMember, inProject(c)), func(s stored) bool { return flag(s.row, "inactive") })
			},
			prepare: prepareMember,
			store: func(w *writeV2) {
				w.r = w.join(w.t, w.vars["project"], text(w.r, "member"), int(number(w.r, "role")), text(w.r, "id"))
			},
			after: func(w *writeV2) {
				w.setRole(w.t, w.r)
			},
		},
		{
			name: "member", path: v2Workspace + "members/", kind: k.member, verbs: "list",
			read: "member_id=id role -created_at", filters: "member_id member_id__in role role__in search", order: "created_at id", expand: "member",
			computed: map[string]func(*call, *tx, row) any{
				"id":         func(_ *call, _ *tx, r row) any { return membershipID(text(r, "id")) },
				"created_at": func(*call, *tx, row) any { return "2026-01-01T00:00:00.000000Z" },
				"role":       roleSlug, "search": searchedMember,
			},
			rows: func(c *call, t *tx) []stored { return t.all(c.kinds.member, scope(workspaceID)) },
		},
		{
			name: "state", path: v2Project + "states/", kind: k.state, verbs: v2All, unique: "name",
			write: "name*:str≤255 color*:str≤255 group:backlog|unstarted|started|completed|cancelled|triage description:str sequence:num is_default=default:bool " +
				"external_id:str≤255 external_source:str≤255",
			read: "created_by_id is_triage", filters: "external_id external_source group group__in is_default name search", order: "sequence created_at id",
			prepare: func(w *writeV2) {
				if w.old != nil && flag(w.old, "default") && !flag(w.r, "default") {
					w.fail("is_default", "invalid", "Make another state the default instead.")
				}
				w.r["slug"] = slug(text(w.r, "name"))
				if w.r["sequence"] == nil {
					last := 0.0
					for _, s := range w.t.all(k.state, inProject(w.call)) {
						last = max(last, number(s.row, "sequence"))
					}
					w.r["sequence"] = float(last + 15000)
				}
			},
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
			name: "label", path: v2Project + "labels/", kind: k.label, verbs: v2All, unique: "name",
			write: "name*:str≤255 color:str≤255 description:str parent_id:uuid→label? sort_order:num external_id:str≤255~ external_source:str≤255~",
			read:  "created_by_id", filters: "external_id external_source name parent_id parent_id__isnull search", order: "sort_order created_at id",
			prepare: func(w *writeV2) {
				if w.r["sort_order"] == nil {
					w.r["sort_order"] = nextOrder(w.t.all(k.label, inProject(w.call)), nil)
				}
			},
		},
		{
			name: "cycle", path: v2Project + "cycles/", kind: k.cycle, verbs: v2All, unique: "name",
			write: "name*:str≤255 description:str start_date:datetime? end_date:datetime? timezone:IANA sort_order:num logo_props:json external_id:str≤255~ external_source:str≤255~",
			read:  "created_by_id owned_by_id", filters: "external_id external_source name owned_by_id search", order: "sort_order created_at id", expand: "owned_by",
			prepare: prepareCycleV2,
			manage:  map[string]membersV2{"work-items": {members: k.cycleIssue, of: k.workItem, add: (*call).moveToCycle}},
		},
		{
			name: "module", path: v2Project + "modules/", kind: k.module, verbs: v2All, unique: "name",
			write: "name*:str≤255 description:str status:backlog|planned|in-progress|paused|completed|cancelled start_date:date? target_date:date? lead_id:uuid→user? " +
				"sort_order:num logo_props:json" + v2Pair,
			read: "archived_at created_by_id member_ids", filters: "external_id external_source lead_id name search status status__in", order: "sort_order created_at id",
			expand: "lead members",
			prepare: func(w *writeV2) {
				w.dates("target_date")
				w.needs("module_view")
				if w.old == nil {
					if others := w.t.all(k.module, inProject(w.call)); len(others) > 0 || w.r["sort_order"] == nil {
						w.r["sort_order"] = orderBefore(others)
					}
					w.r["view_props"] = row{}
					if w.r["logo_props"] == nil {
						w.r["logo_props"] = row{}
					}
				}
			},
			manage: map[string]membersV2{"work-items": {members: k.moduleIssue, of: k.workItem}},
		},
		{
			name: "milestone", path: v2Project + "milestones/", kind: k.milestone, verbs: v2All,
			write: "title*:str≤255 target_date:date?" + v2Pair, read: "archived_at created_by_id",
			filters: "external_id external_source name search target_date target_date__gte target_date__lte", order: "created_at id target_date",
			prepare: func(w *writeV2) { w.needs("is_milestone_enabled") },
			manage:  map[string]membersV2{"work-items": {members: k.milestoneIssue, of: k.workItem}},
		},
		{
			name: "intake item", path: v2Project + "intake-issues/", kind: k.intakeItem,
			write: "name*:str≤255 description_html:html duplicate_to_id:uuid→work_item? priority:none|low|medium|high|urgent snoozed_till:datetime? source:str " +
				"source_email:str? status:-2|-1|0|1|2" + v2Pair,
			read: "created_by_id intake_id state_id work_item_id=issue", filters: "external_id external_source search source status status__in work_item_id",
			order: "created_at id", deferred: "description_html",
			prepare: func(w *writeV2) {
				w.needs("intake_view")
				if w.old == nil {
					w.r["intake"], w.r["issue"] = w.vars["project"], newID()
				}
			},
		},
		{
			name: "estimate", path: v2Project + "estimates/", kind: k.estimate, verbs: v2All,
			write: "name*:str≤255 description:str type:categories|points|time" + v2Pair, read: "created_by_id last_used",
			filters: "external_id external_source name search type type__in", order: "created_at id name", expand: "points",
		},
		{
			name: "estimate point", path: v2Project + "estimates/{estimate_id}/points/", kind: k.estimatePoint, verbs: v2All,
			write: "value*:str≤255 description:str key:int" + v2Pair, read: "created_by_id estimate_id",
			filters: "external_id external_source key search value", order: "key created_at id",
			prepare: func(w *writeV2) { w.r["estimate"] = w.vars["estimate"] },
		},
		s.itemTypesV2(), s.workspaceTypesV2(),
	}
}

func (s *Server) itemTypesV2() *resourceV2 {
	k := s.kinds
	return &resourceV2{
		name: "work item type", path: v2Project + "work-item-types/", kind: k.itemType,
		write: "name*:str≤255 description:str is_active:bool -external_id:str≤255? -external_source:str≤255?", read: "is_default is_epic level logo_props",
		filters: "external_id external_source name search", order: "created_at id level name",
		prepare: func(w *writeV2) {
			source, id := text(w.r, "external_source"), text(w.r, "external_id")
			for _, s := range w.res.withExternalID(w.call, w.t, source, id) {
				if source != "" && id != "" && s.row["id"] != w.r["id"] {
					w.problem = conflictV2("A work item type with this external id and source already exists.")
				}
			}
			if w.old == nil {
				w.r["is_default"], w.r["level"], w.r["logo_props"] = w.t.count(k.itemType, inProject(w.call)) == 0, 0, row{}
			} else if flag(w.old, "is_default") && !flag(w.r, "is_active") {
				w.fail("is_active", "invalid", "The default type cannot be deactivated.")
			}
		},
		refuse: func(c *call, t *tx, r row) *problem {
			if flag(r, "is_default") {
				return conflictV2("The default type cannot be deleted.")
			}
			for _, s := range t.all(k.workItem, inProject(c)) {
				if s.row["type"] == r["id"] {
					return conflictV2("The type is in use.")
				}
			}
			return nil
		},
	}
}

// workspaceTypesV2 is the types that are shared by projects, of which there are none: the projects have their own.
func (s *Server) workspaceTypesV2() *resourceV2 {
	res := s.itemTypesV2()
	res.path, res.refuse = v2Workspace+"work-item-types/", nil
	res.rows = func(*call, *tx) []stored { return nil }
	res.prepare = func(w *writeV2) { w.problem = typesManagedAtProject() }
	return res
}

// itemTableV2 is comments and links of work items, and the definitions of relations.
func (s *Server) itemTableV2() []*resourceV2 {
	k := s.kinds
	return []*resourceV2{
		{
			name: "comment", path: v2Item + "comments/", kind: k.comment, verbs: v2All,
			write: "comment_html*:str access:INTERNAL|EXTERNAL" + v2Pair, read: "actor_id comment_stripped created_by_id edited_at work_item_id=issue",
			filters: "access external_id external_source search", order: "created_at id", expand: "actor",
			computed: map[string]func(*call, *tx, row) any{"comment_stripped": strippedComment, "search": strippedComment},
			prepare: func(w *writeV2) {
				if w.old != nil {
					w.r["edited_at"] = w.stamp()
					return
				}
				w.r["issue"], w.r["actor"], w.r["updated_by"] = w.vars["item"], w.user, w.user
				w.r["attachments"], w.r["description"] = []any{}, newID()
			},
		},
		{
			name: "link", path: v2Item + "links/", kind: k.link, unique: "url",
			write: "url*:str metadata:json title:str≤255?", read: "created_by_id work_item_id=issue", filters: "search title url", order: "created_at id",
			computed: map[string]func(*call, *tx, row) any{"search": func(_ *call, _ *tx, r row) any { return text(r, "title") + " " + text(r, "url") }},
			prepare: func(w *writeV2) {
				if _, wrong := webAddress(text(w.r, "url")); wrong != nil && text(w.r, "url") != "" {
					w.fail("url", "invalid", "%s", wrong[0])
				}
				w.r["issue"] = w.vars["item"]
				if w.r["metadata"] == nil {
					w.r["metadata"] = row{}
				}
			},
		},
		{
			name: "relation definition", path: v2Workspace + "work-item-relation-definitions/", kind: k.relationDefinition,
			write: "inward*:str≤255 name*:str≤255 outward*:str≤255 color:str≤255 description:str is_active:bool logo_props:json sort_order:num" + v2Pair,
			read:  "created_by_id is_default", order: "created_at",
			prepare: func(w *writeV2) {
				if w.old != nil && flag(w.old, "is_default") {
					w.problem = forbiddenV2()
				}
			},
			refuse: func(_ *call, _ *tx, r row) *problem {
				if flag(r, "is_default") {
					return forbiddenV2()
				}
				return nil
			},
		},
	}
}

// needs refuses a creation if the project has switched the feature off.
func (w *writeV2) needs(feature string) {
	if p, ok := w.t.get(w.kinds.project, w.vars["project"]); w.old == nil && ok && p.row[feature] != nil && !flag(p.row, feature) {
		w.problem = switchedOff(feature)
	}
}

func visibleProjects(c *call, t *tx) []stored {
	all := t.all(c.kinds.project, scope(workspaceID))
	return slices.DeleteFunc(all, func(s stored) bool {
		seen := projectRole(t, text(s.row, "id"), c.user) > 0 || number(s.row, "network") == 2 && workspaceRole(t, c.user) >= roleMember
		lists := c.vars["project"] == "" && !strings.EqualFold(c.query.Get("include_archived"), "true") && !c.query.Has("is_archived")
		return !seen || lists && s.row["archived_at"] != nil
	})
}

func prepareProjectV2(w *writeV2) {
	w.r["identifier"] = strings.ToUpper(text(w.r, "identifier"))
	for _, name := range []string{"identifier", "name"} {
		if strings.ContainsAny(text(w.r, name), specials) {
			w.fail(name, "invalid", "Special characters are not allowed.")
		}
	}
	switch {
	case w.old != nil && projectRole(w.t, text(w.r, "id"), w.user) != roleAdmin:
		w.problem = forbiddenV2()
	case w.old == nil && !w.set["network"]:
		w.r["network"] = integer(2)
	}
	if w.r["priority"] == nil {
		w.r["priority"] = "none"
	}
	w.dates("target_date")
}

func prepareCycleV2(w *writeV2) {
	zone := zoneOf(w.t, w.call, w.vars["project"])
	w.needs("cycle_view")
	w.dates("end_date")
	start, end := w.cycleDates(zone, text(w.r, "start_date"), text(w.r, "end_date"))
	if w.set["start_date"] && w.r["start_date"] != nil {
		w.r["start_date"] = start
	}
	if w.set["end_date"] && w.r["end_date"] != nil {
		w.r["end_date"] = end
	}
	if w.old != nil {
		return
	}
	if w.r["sort_order"] == nil {
		w.r["sort_order"] = orderBefore(w.t.all(w.kinds.cycle, inProject(w.call)))
	}
	if w.r["logo_props"] == nil {
		w.r["logo_props"] = row{}
	}
	w.r["owned_by"], w.r["view_props"], w.r["progress_snapshot"], w.r["version"] = w.user, row{}, row{}, 1
}

// roleSlugs is the roles by their numbers: members of a project are contributors.
func (c *call) roleSlugs() map[int]string {
	member := "member"
	if c.vars["project"] != "" {
		member = "contributor"
	}
	return map[int]string{roleAdmin: "admin", roleMember: member, roleGuest: "guest"}
}

func roleSlug(c *call, _ *tx, r row) any { return c.roleSlugs()[int(number(r, "role"))] }

// membershipID is the ID of a membership in the workspace, which is not that of its member.
func membershipID(user string) string {
	return user[:35] + string("fedcba9876543210"[hexDigit(user[35])])
}

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

func searchedMember(c *call, t *tx, r row) any {
	id := text(r, "member")
	if id == "" {
		id = text(r, "id")
	}
	u := c.profile(t, id)
	return strings.Join([]string{text(u, "display_name"), text(u, "first_name"), text(u, "last_name"), text(u, "email")}, " ")
}

func prepareMember(w *writeV2) {
	if w.set["role"] {
		slug := text(w.given, "role")
		for n, name := range w.roleSlugs() {
			if name == slug {
				w.r["role"] = integer(n)
				slug = ""
			}
		}
		if slug != "" {
			w.fail("role", "invalid_choice", "%q is not a role.", slug)
		}
	}
	if w.old == nil && !w.set["member_id"] {
		w.fail("member_id", "required", "This field is required.")
	}
	if w.set["member_id"] && (w.old == nil || w.r["member"] != w.old["member"]) && w.wasMember(w.t, w.vars["project"], text(w.r, "member")) {
		w.problem = conflictV2("The user is a member of the project already.")
	}
}

func strippedComment(_ *call, _ *tx, r row) any { return stripTags(text(r, "comment_html")) }

// stripTags is the text of HTML.
func stripTags(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "<") {
		_, after, tag := strings.Cut(part, ">")
		if tag {
			b.WriteString(after)
		} else {
			b.WriteString(part)
		}
	}
	return b.String()
}
