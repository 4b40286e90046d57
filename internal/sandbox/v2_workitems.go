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
)

func (s *Server) workItemsV2() *resourceV2 {
	return &resourceV2{
		name: "work item", path: v2Project + "work-items/", kind: s.kinds.workItem,
		verbs: "list create read update delete bulk bulk-delete upsert",
		write: "name*:str≤255 -description_html:html? priority:urgent|high|medium|low|none state_id:uuid→state -state:name type_id=type:uuid→work_item_type~ " +
			"-type:name parent_id:uuid→work_item~ -parent:name assignee_ids:uuid→user[] -assignees:name label_ids:uuid→label[] -labels:name " +
			"-estimate_point_id:uuid→estimate_point~ -estimate:name start_date:date~ target_date:date~ -external_id:str≤255 -external_source:str≤255 " +
			"cycle_id:uuid→cycle? module_ids:uuid→module[] custom_fields:json",
		read: "archived_at created_by_id identifier is_draft project_id sequence_id",
		filters: "assignee_id assignee_id__in assignee_id__isnull created_at__gte created_at__lte cycle_id cycle_id__in cycle_id__isnull external_id external_source " +
			"is_draft label_id label_id__in label_id__isnull module_id module_id__in module_id__isnull parent_id parent_id__in parent_id__isnull priority priority__in " +
			"search sequence_id start_date__gte start_date__lte state_group state_group__in state_id state_id__in target_date__gte target_date__lte type_id " +
			"type_id__in updated_at__gte updated_at__lte project_id project_id__in",
		order:  "-created_at id priority sequence_id sort_order state_group updated_at",
		expand: "state type parent assignees labels cycle modules",
		computed: map[string]func(*call, *tx, row) any{
			"cycle_id": func(c *call, t *tx, r row) any {
				for _, id := range c.containers(t, c.kinds.cycleIssue, text(r, "id")) {
					return id
				}
				return nil
			},
			"module_ids": func(c *call, t *tx, r row) any { return c.containers(t, c.kinds.moduleIssue, text(r, "id")) },
			"identifier": func(c *call, t *tx, r row) any {
				p, _ := t.get(c.kinds.project, text(r, "project"))
				return text(p.row, "identifier") + "-" + valueText(r["sequence_id"])
			},
			"archived_at": func(_ *call, _ *tx, r row) any { // a day in API v1
				if at, ok := parseMoment(text(r, "archived_at")); ok {
					return momentText(at)
				}
				return nil
			},
			"custom_fields": func(c *call, t *tx, r row) any { return c.customFields(t, r) },
		},
		resolve: resolveItemNames, prepare: prepareItemV2, store: storeItemV2, after: placeItem,
		refuse: func(c *call, t *tx, r row) *problem {
			if projectRole(t, text(r, "project"), c.user) != roleAdmin && r["created_by"] != c.user {
				return forbiddenV2()
			}
			return nil
		},
	}
}

// containers is the cycles or modules of an item.
func (c *call) containers(t *tx, members *kind, item string) []any {
	out := []any{}
	for _, id := range t.under(1<<20, members.indexes[0].name, item) {
		if s, ok := t.get(members, id); ok {
			out = append(out, s.row[members.indexes[0].fields[1]])
		}
	}
	return out
}

// workspaceItemsV2 is the items of every project.
func (s *Server) workspaceItemsV2() *resourceV2 {
	res := s.workItemsV2()
	res.path, res.verbs = v2Workspace+"work-items/", "list"
	res.rows = func(c *call, t *tx) []stored {
		var out []stored
		for _, p := range t.all(c.kinds.project, scope(workspaceID)) {
			if id := text(p.row, "id"); p.row["archived_at"] == nil && projectRole(t, id, c.user) > 0 {
				out = append(out, t.all(c.kinds.workItem, scope(id))...)
			}
		}
		return out
	}
	return res
}

// itemByIdentifierV2 reads an item by its key, such as WEB-12.
func (s *Server) itemByIdentifierV2() handlerV2 {
	res := s.workItemsV2().compile()
	return func(c *call, t *tx) (reply, *problem) {
		id := c.itemByKey(t, c.vars["identifier"])
		item, ok := t.get(c.kinds.workItem, id)
		if isUUID(c.vars["identifier"]) || !ok || projectRole(t, text(item.row, "project"), c.user) == 0 {
			return reply{}, notFoundV2()
		}
		return res.single(c, t, http.StatusOK, func() (row, *problem) { return item.row, nil })
	}
}

// resolveItemNames puts IDs in the place of names.
func resolveItemNames(w *writeV2) {
	if w.opts.IgnoreMembership {
		delete(w.body, "cycle_id")
		delete(w.body, "module_ids")
		delete(w.body, "custom_fields")
	}
	project := scope(w.vars["project"])
	one := func(name, id string, find func(given string) string) {
		v, given := w.body[name]
		if !given {
			return
		}
		delete(w.body, name)
		s, ok := v.(string)
		switch _, both := w.body[id]; {
		case both:
			w.fail(name, "invalid", "Send %s or %s, not both.", name, id)
		case !ok:
			w.fail(name, "invalid", "Not a valid string.")
		default:
			if found := find(s); found != "" {
				w.body[id] = found
			}
		}
	}
	many := func(name, id string, find func(given string) string) {
		v, given := w.body[name]
		if !given {
			return
		}
		delete(w.body, name)
		items, ok := v.([]any)
		if _, both := w.body[id]; both || !ok {
			w.fail(name, "invalid", "Send a list as %s or as %s, not both.", name, id)
			return
		}
		ids := []any{}
		for _, v := range items {
			if found := find(valueText(v)); found != "" {
				ids = append(ids, found)
			}
		}
		w.body[id] = ids
	}
	one("state", "state_id", func(s string) string { return w.byName("state", w.kinds.state, project, "name", s) })
	one("type", "type_id", func(s string) string { return w.byName("type", w.kinds.itemType, project, "name", s) })
	one("parent", "parent_id", func(s string) string {
		id := w.itemByKey(w.t, s)
		if id == "" || isUUID(s) {
			w.fail("parent", "does_not_exist", "%q does not match anything.", s)
			return ""
		}
		return id
	})
	one("estimate", "estimate_point_id", func(s string) string {
		for _, e := range w.t.all(w.kinds.estimate, project) {
			return w.byName("estimate", w.kinds.estimatePoint, scope(text(e.row, "id")), "value", s)
		}
		w.fail("estimate", "does_not_exist", "The project has no estimate.")
		return ""
	})
	many("labels", "label_ids", func(s string) string { return w.byName("labels", w.kinds.label, project, "name", s) })
	many("assignees", "assignee_ids", func(s string) string { return w.byName("assignees", w.kinds.user, nil, "email", s) })
}

func prepareItemV2(w *writeV2) {
	project := w.vars["project"]
	w.dates("target_date")
	w.r["type_id"] = w.r["type"]
	if w.r["description_html"] == nil {
		w.r["description_html"] = "<p></p>"
	}
	p, _ := w.t.get(w.kinds.project, project)
	if w.set["type_id"] && w.r["type"] != nil && !flag(p.row, "is_issue_type_enabled") {
		w.fail("type_id", "invalid", "Work item types are not enabled for this project.")
	}
	if w.set["custom_fields"] {
		prepareCustomFields(w)
	}
	if text(w.r, "parent") == text(w.r, "id") {
		w.fail("parent_id", "invalid", "A work item cannot be its own parent.")
	}
	if cycle, ok := w.t.get(w.kinds.cycle, text(w.given, "cycle_id")); ok && completed(cycle.row, w.now) {
		w.fail("cycle_id", "invalid", "The cycle has already been completed.")
	}
	switch {
	case w.old == nil && !w.set["assignee_ids"]:
		w.r["assignees"] = w.defaultAssignees(w.t, project)
	case w.old != nil && w.r["state"] != w.old["state"]:
		w.r["completed_at"] = w.completion(w.t, w.r)
	}
}

// storeItemV2 numbers and stores a new item.
func storeItemV2(w *writeV2) {
	project := w.vars["project"]
	w.r["sequence_id"] = integer(w.t.add("sequence:"+project, 1))
	if w.r["state"] == nil {
		w.r["state"] = w.defaultState(w.t, project)
	}
	w.r["completed_at"] = w.completion(w.t, w.r)
	w.r["sort_order"] = w.lastInState(w.t, w.r)
	w.t.insert(w.kinds.workItem, scope(project), w.r)
	w.indexWorkItem(w.t, nil, w.r)
}

// placeItem puts an item into the cycle and the modules of the body, and stores its custom fields.
func placeItem(w *writeV2) {
	id := text(w.r, "id")
	storeCustomFields(w)
	if w.set["cycle_id"] {
		cycle := text(w.given, "cycle_id")
		for _, in := range w.containers(w.t, w.kinds.cycleIssue, id) {
			if in != cycle {
				w.dropMember(w.t, w.kinds.cycleIssue, in.(string), id)
			}
		}
		if cycle != "" {
			w.moveToCycle(w.t, cycle, id)
		}
	}
	if w.set["module_ids"] {
		wanted := list(w.given, "module_ids")
		for _, in := range w.containers(w.t, w.kinds.moduleIssue, id) {
			if !slices.Contains(wanted, in.(string)) {
				w.dropMember(w.t, w.kinds.moduleIssue, in.(string), id)
			}
		}
		for _, module := range wanted {
			w.addMember(w.t, w.kinds.moduleIssue, module, id)
		}
	}
}

// moveToCycle takes an item out of any other cycle, and says whether it was not in this one.
func (c *call) moveToCycle(t *tx, cycle, item string) bool {
	if t.first("cycle membership", item, cycle) != "" {
		return false
	}
	for _, in := range c.containers(t, c.kinds.cycleIssue, item) {
		c.dropMember(t, c.kinds.cycleIssue, in.(string), item)
	}
	c.addToCycle(t, cycle, item, row{"id": newID(), "created_at": c.stamp()})
	return true
}

// archiveItemV2 puts an item where lists do not show it, or back.
func (s *Server) archiveItemV2(away bool) handlerV2 {
	res := s.workItemsV2().compile()
	return func(c *call, t *tx) (reply, *problem) {
		from, to := c.kinds.workItem, c.kinds.hiddenItem
		if !away {
			from, to = to, from
		}
		id := c.vars["item"]
		item, ok := t.in(from, inProject(c), id)
		there, isThere := t.in(to, inProject(c), id)
		switch {
		case !ok && !away && isThere: // again
			return res.single(c, t, http.StatusOK, func() (row, *problem) { return there.row, nil })
		case !ok:
			return reply{}, notFoundV2()
		}
		if g := c.group(t, text(item.row, "state")); away && g != "completed" && g != "cancelled" {
			return reply{}, &problem{status: http.StatusBadRequest, detail: "Only completed or cancelled work items can be archived."}
		}
		return res.single(c, t, http.StatusOK, func() (row, *problem) {
			r := clone(item.row)
			r["archived_at"] = nil
			if away {
				r["archived_at"] = c.now.UTC().Format("2006-01-02")
			}
			t.remove(from, item)
			t.insert(to, inProject(c), r)
			t.setIndex("1", "out-of-order", text(r, "project"))
			return r, nil
		})
	}
}

// meV2 is the caller.
func meV2(c *call, t *tx) (reply, *problem) {
	s, ok := t.get(c.kinds.user, c.user)
	if !ok {
		return reply{}, notFoundV2()
	}
	out := selectFields(s.row, []string{"id", "display_name", "email"})
	out["principal_kind"], out["scopes"] = "api_key", []any{}
	if c.req.Header.Get("X-Api-Key") == "" {
		out["principal_kind"], out["scopes"] = "oauth", []any{"read", "write"}
	}
	return reply{http.StatusOK, out}, nil
}

// schemaV2 is the OpenAPI document of the operations that this server has.
func (s *Server) schemaV2(*call, *tx) (reply, *problem) {
	paths := row{}
	for _, op := range s.operationsV2() {
		item, _ := paths[v2Root+op.path].(row)
		if item == nil {
			item = row{}
			paths[v2Root+op.path] = item
		}
		doc := row{"responses": row{"default": row{"description": ""}}}
		if len(op.body) > 0 {
			properties := row{}
			for _, f := range op.body {
				if f.kind != "" {
					properties[f.name] = row{"x-type": f.kind}
				}
			}
			doc["requestBody"] = row{"content": row{"application/json": row{"schema": row{"type": "object", "properties": properties}}}}
		}
		item[strings.ToLower(op.method)] = doc
	}
	return reply{http.StatusOK, row{"openapi": "3.0.3", "info": row{"title": "Plane", "version": "v2"}, "paths": paths}}, nil
}
