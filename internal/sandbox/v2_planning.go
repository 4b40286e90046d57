package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

// planningTableV2 is initiatives, teamspaces and customers.
func (s *Server) planningTableV2() []*resourceV2 {
	k := s.kinds
	projects, labels := memberList{k.initiative, k.initiativeProject, k.project}, memberList{k.initiative, k.initiativeLabelLink, k.initiativeLabel}
	teamProjects, teamMembers := memberList{k.teamspace, k.teamspaceProject, k.project}, memberList{k.teamspace, k.teamspaceMember, k.user}
	return []*resourceV2{
		{
			name: "initiative", path: v2Workspace + "initiatives/", kind: k.initiative, feature: "is_initiative_enabled",
			write: "name*:str≤255 description:str? description_html:html? end_date:datetime? lead_id:uuid→user? logo_props:json project_ids:uuid→project[] " +
				"start_date:datetime? state:DRAFT|PLANNED|ACTIVE|COMPLETED|CLOSED",
			read: "archived_at created_by_id label_ids", filters: "lead_id name search state state__in", order: "created_at id", expand: "lead", deferred: "description_html",
			computed: map[string]func(*call, *tx, row) any{"project_ids": projects.memberIDs, "label_ids": labels.memberIDs},
			prepare:  func(w *writeV2) { w.dates("end_date") },
			after:    func(w *writeV2) { projects.replace(w, "project_ids") },
			manage: map[string]membersV2{
				"projects": {members: k.initiativeProject, of: k.project}, "labels": {members: k.initiativeLabelLink, of: k.initiativeLabel},
				"work-items": {members: k.initiativeIssue, of: k.workItem},
			},
		},
		{
			name: "initiative label", path: v2Workspace + "initiatives/labels/", kind: k.initiativeLabel,
			write: "name*:str≤255 color:str≤255 description:str sort_order:num", read: "created_by_id", filters: "name search", order: "sort_order created_at id",
		},
		{
			name: "teamspace", path: v2Workspace + "teamspaces/", kind: k.teamspace, feature: "is_teams_enabled",
			write: "name*:str≤255 description_html:html lead_id:uuid→user? logo_props:json? member_ids:uuid→user[] project_ids:uuid→project[]",
			read:  "created_by_id", filters: "lead_id name search", order: "created_at id", expand: "lead", deferred: "description_html",
			computed: map[string]func(*call, *tx, row) any{"project_ids": teamProjects.memberIDs, "member_ids": teamMembers.memberIDs},
			after: func(w *writeV2) {
				teamProjects.replace(w, "project_ids")
				teamMembers.replace(w, "member_ids")
			},
		},
		{
			name: "customer", path: v2Workspace + "customers/", kind: k.customer, feature: "is_customer_enabled", verbs: v2Singles + " upsert",
			write: "name*:str≤255 contract_status:str≤255? description:str? description_html:html? domain:str≤255? email:email? employees:int? logo_props:json revenue:str? " +
				"stage:str≤255? website_url:str?" + v2Pair,
			read:    "archived_at created_by_id customer_request_count logo_asset_id logo_url",
			filters: "contract_status domain external_id external_source name search stage", order: "created_at id name", deferred: "description_html",
			computed: map[string]func(*call, *tx, row) any{
				"customer_request_count": func(_ *call, t *tx, r row) any { return t.count(k.request, scope(text(r, "id"))) },
				"logo_url":               func(*call, *tx, row) any { return nil },
			},
			manage: map[string]membersV2{"work-items": {members: k.customerIssue, of: k.workItem}},
		},
		{
			name: "customer request", path: v2Workspace + "customers/{customer_id}/requests/", kind: k.request,
			write: "name*:str≤255 description:str? description_html:html? link:str? -work_item_ids:uuid→work_item[]",
			read:  "archived_at created_by_id customer_id", filters: "search", order: "created_at id", deferred: "description_html",
			prepare: func(w *writeV2) { w.r["customer"] = w.vars["customer"] },
		},
		{
			name: "customer property", path: v2Workspace + "customer-properties/", kind: k.property,
			write: "display_name*:str≤255 property_type*:TEXT|DATETIME|DECIMAL|BOOLEAN|OPTION|RELATION|URL|EMAIL|FILE default_value:str[] description:str? is_active:bool " +
				"is_multi:bool is_required:bool logo_props:json options:obj[] relation_type:ISSUE|USER settings:json validation_rules:json" + v2Pair,
			read: "created_by_id name sort_order", filters: "is_active is_required name property_type search display_name", order: "sort_order created_at id",
			prepare: func(w *writeV2) { k.property.prepare(w.call, w.t, w.old, w.r) },
		},
	}
}

// pageTableV2 is the pages of the workspace and of its projects.
func (s *Server) pageTableV2() []*resourceV2 {
	page := resourceV2{
		name: "page", path: v2Workspace + "pages/", kind: s.kinds.page, feature: "is_wiki_enabled",
		write: "name*:str access:0|1 archived_at:datetime? collection_id:str? color:str≤255 description_html:html is_locked:bool logo_props:json parent_id:uuid→page? " +
			"sort_order:num view_props:json" + v2Pair,
		read:    "created_by_id description_stripped is_global owned_by_id",
		filters: "access collection_id external_id external_source is_global is_locked owned_by_id parent_id search type", order: "created_at id name updated_at",
		expand: "owned_by parent", deferred: "description_html",
		computed: map[string]func(*call, *tx, row) any{
			"description_stripped": func(_ *call, _ *tx, r row) any { return stripTags(text(r, "description_html")) },
			"is_global":            func(_ *call, _ *tx, r row) any { return r["project"] == nil },
			"type":                 func(c *call, _ *tx, _ row) any { return c.query.Get("type") },
		},
		prepare: preparePage,
	}
	page.rows = pagesByArchive(page.kind)
	project := page
	project.path, project.kind, project.feature = v2Project+"pages/", s.kinds.projectPage, ""
	project.write = strings.Replace(page.write, "→page?", "→project_page?", 1)
	project.rows = pagesByArchive(project.kind)
	return []*resourceV2{&page, &project}
}

// pagesByArchive lists archived pages with ?type=archived only.
func pagesByArchive(k *kind) func(c *call, t *tx) []stored {
	return func(c *call, t *tx) []stored {
		return slices.DeleteFunc(t.all(k, k.scope(c)), func(s stored) bool {
			return c.vars[k.param] == "" && (s.row["archived_at"] != nil) != (c.query.Get("type") == "archived")
		})
	}
}

func preparePage(w *writeV2) {
	k := w.res.kind
	if w.old == nil {
		w.r["owned_by"] = w.user
		if k == w.kinds.page && w.r["collection_id"] == nil {
			w.r["collection_id"] = collectionPublic
		}
		if w.r["sort_order"] == nil {
			w.r["sort_order"] = nextOrder(w.t.all(k, k.scope(w.call)), nil)
		}
	}
	for id := text(w.r, "parent"); id != ""; { // no page is below itself
		if id == w.r["id"] {
			w.fail("parent_id", "invalid", "A page cannot be below itself.")
			return
		}
		s, _ := w.t.get(k, id)
		id = text(s.row, "parent")
	}
}

// memberIDs is the members that a list of an initiative or a teamspace has, as far as they are there.
func (m memberList) memberIDs(_ *call, t *tx, r row) any {
	out := []any{}
	for _, s := range t.all(m.kind, scope(text(r, "id"))) {
		if id := text(s.row, m.column()); t.find(m.members, id) != nil {
			out = append(out, id)
		}
	}
	return out
}

// replace sets the members to those of the body, if it has the field.
func (m memberList) replace(w *writeV2, field string) {
	if !w.set[field] {
		return
	}
	owner, wanted := text(w.r, "id"), list(w.given, field)
	for _, s := range w.t.all(m.kind, scope(owner)) {
		if id := text(s.row, m.column()); !slices.Contains(wanted, id) {
			w.dropMember(w.t, m.kind, owner, id)
		}
	}
	for _, id := range wanted {
		w.addMember(w.t, m.kind, owner, id)
	}
}

// propertyValues is the values of a customer's properties.
func propertyValues(c *call, t *tx) (reply, *problem) {
	out := row{}
	for _, s := range t.all(c.kinds.propertyValue, inCustomer(c)) {
		out[text(s.row, "property")] = s.row["values"]
	}
	return reply{http.StatusOK, out}, nil
}

// setPropertyValues replaces the values that the body names, and leaves the others.
func setPropertyValues(c *call, t *tx) (reply, *problem) {
	values, ok := c.in["values"].(row)
	if !ok {
		return reply{}, invalidV2(fieldError{"values", "required", "This field is required."})
	}
	for id, v := range values {
		if _, ok := v.([]any); !ok {
			return reply{}, invalidV2(fieldError{"values." + id, "invalid", "Expected a list of items."})
		}
		if !isUUID(id) || t.find(c.kinds.property, id) == nil {
			return reply{}, invalidV2(fieldError{"values." + id, "does_not_exist", "There is no such property."})
		}
	}
	for _, s := range t.all(c.kinds.propertyValue, inCustomer(c)) {
		if _, given := values[text(s.row, "property")]; given {
			t.remove(c.kinds.propertyValue, s)
		}
	}
	for id, v := range values {
		if len(v.([]any)) > 0 {
			r := row{"customer": c.vars["customer"], "property": id, "values": v}
			c.setAudit(c.kinds.propertyValue, r)
			t.insert(c.kinds.propertyValue, inCustomer(c), r)
		}
	}
	out, wrong := propertyValues(c, t)
	out.status = http.StatusCreated
	return out, wrong
}
