package sandbox

import (
	"net/http"
	"slices"
)

// workItemsV2 describes work items in API v2.
func (s *Server) workItemsV2() *resourceV2 {
	k := s.kinds
	return &resourceV2{
		name: "work item", path: v2Project + "work-items/", kind: k.workItem, verbs: "list read bulk",
		write: "name* -description_html? priority state_id type_id=type~ parent_id~ assignee_ids label_ids -estimate_point_id~ start_date~ " +
			"target_date~ " +
			"-external_id -external_source cycle_id? module_ids custom_fields",
		unserved: "state type parent assignees labels estimate",
		only: []field{
			{name: "cycle_id", ref: &k.cycle}, {name: "module_ids", ref: &k.module, many: true}, {name: "custom_fields", check: anything},
		},
		read:  "archived_at created_by_id identifier is_draft project_id sequence_id",
		order: "-created_at id sequence_id sort_order updated_at",
		computed: map[string]computedV2{
			"cycle_id": func(c *call, t *tx, r row) any {
				for _, id := range c.containersOf(t, c.kinds.cycleIssue, text(r, "id")) {
					return id
				}
				return nil
			},
			"module_ids": func(c *call, t *tx, r row) any { return c.containersOf(t, c.kinds.moduleIssue, text(r, "id")) },
			"identifier": func(c *call, t *tx, r row) any {
				p, _ := t.get(c.kinds.project, text(r, "project"))
				return text(p.row, "identifier") + "-" + valueText(r["sequence_id"])
			},
			"archived_at": func(_ *call, _ *tx, r row) any { // API v1 stores a day
				if at, ok := parseMoment(text(r, "archived_at")); ok {
					return momentText(at)
				}
				return nil
			},
			"custom_fields": func(c *call, t *tx, r row) any { return c.customFields(t, r) },
		},
		prepare: prepareItemV2, store: storeItemV2, after: storeMemberships,
		refuse: func(c *call, t *tx, r row) *problem {
			if projectRole(t, text(r, "project"), c.user) != roleAdmin && r["created_by"] != c.user {
				return forbidden()
			}
			return nil
		},
	}
}

// containersOf returns the cycles or modules of an item.
func (c *call) containersOf(t *tx, members *kind, item string) []any {
	out := []any{}
	for _, id := range t.indexValues(1<<20, members.indexes[0].name, item) {
		if s, ok := t.get(members, id); ok {
			out = append(out, s.row[members.indexes[0].fields[1]])
		}
	}
	return out
}

// prepareItemV2 completes and checks an item.
func prepareItemV2(w *writeV2) {
	project := w.vars["project"]
	w.checkDates("target_date")
	w.r["type_id"] = w.r["type"]
	if w.r["description_html"] == nil {
		w.r["description_html"] = "<p></p>"
	}
	clean, ok := sanitise(text(w.r, "description_html"))
	if w.r["description_html"] = clean; !ok {
		w.addError("description_html", "invalid", "The HTML is invalid.")
	}
	p, _ := w.t.get(w.kinds.project, project)
	if w.set["type_id"] && w.r["type"] != nil && !flag(p.row, "is_issue_type_enabled") {
		w.addError("type_id", "invalid", "Work item types are not enabled for this project.")
	}
	if w.set["custom_fields"] {
		prepareCustomFields(w)
	}
	if text(w.r, "parent") == text(w.r, "id") {
		w.addError("parent_id", "invalid", "A work item cannot be its own parent.")
	}
	if cycle, ok := w.t.get(w.kinds.cycle, text(w.given, "cycle_id")); ok && isCompleted(cycle.row, w.now) {
		w.addError("cycle_id", "invalid", textCycleOver)
	}
	switch {
	case w.old == nil && !w.set["assignee_ids"]:
		w.r["assignees"] = w.defaultAssignees(w.t, project)
	case w.old != nil && w.r["state"] != w.old["state"]:
		w.r["completed_at"] = w.completionTime(w.t, w.r)
	}
}

// storeItemV2 numbers and stores a new item.
func storeItemV2(w *writeV2) {
	project := w.vars["project"]
	w.r["sequence_id"] = integer(w.t.add("sequence:"+project, 1))
	if w.r["state"] == nil {
		w.r["state"] = w.defaultState(w.t, project)
	}
	w.r["completed_at"] = w.completionTime(w.t, w.r)
	w.r["sort_order"] = w.lastInState(w.t, w.r)
	w.t.insert(w.kinds.workItem, scope(project), w.r)
	w.indexWorkItem(w.t, nil, w.r)
}

// storeMemberships puts an item into the cycle and the modules of the body, and stores its custom fields.
func storeMemberships(w *writeV2) {
	id := text(w.r, "id")
	storeCustomFields(w)
	if w.set["cycle_id"] {
		cycle := text(w.given, "cycle_id")
		for _, in := range w.containersOf(w.t, w.kinds.cycleIssue, id) {
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
		for _, in := range w.containersOf(w.t, w.kinds.moduleIssue, id) {
			if !slices.Contains(wanted, in.(string)) {
				w.dropMember(w.t, w.kinds.moduleIssue, in.(string), id)
			}
		}
		for _, module := range wanted {
			w.addMember(w.t, w.kinds.moduleIssue, module, id)
		}
	}
}

// moveToCycle moves an item into a cycle, and reports whether it was not in it before.
func (c *call) moveToCycle(t *tx, cycle, item string) bool {
	if t.first("cycle membership", item, cycle) != "" {
		return false
	}
	for _, in := range c.containersOf(t, c.kinds.cycleIssue, item) {
		c.dropMember(t, c.kinds.cycleIssue, in.(string), item)
	}
	c.addToCycle(t, cycle, item, row{"id": newID(), "created_at": c.stamp()})
	return true
}

// archiveItemV2 archives an item, which hides it from lists, or restores it.
func archiveItemV2(res *resourceV2, away bool) handler {
	return func(c *call, t *tx) reply {
		from, to := c.kinds.workItem, c.kinds.hiddenItem
		if !away {
			from, to = to, from
		}
		id := c.vars["item"]
		item, ok := t.getWithin(from, inProject(c), id)
		there, isThere := t.getWithin(to, inProject(c), id)
		switch {
		case !ok && !away && isThere: // it was restored before
			return res.answerOne(c, t, http.StatusOK, func() (row, *problem) { return there.row, nil })
		case !ok:
			return notFoundV2().reply()
		}
		if g := c.groupOf(t, text(item.row, "state")); away && !c.opts.ArchiveOpen && g != "completed" && g != "cancelled" {
			return (&problem{status: http.StatusBadRequest, detail: "Only completed or cancelled work items can be archived."}).reply()
		}
		return res.answerOne(c, t, http.StatusOK, func() (row, *problem) {
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
