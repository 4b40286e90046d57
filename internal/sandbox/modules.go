package sandbox

import (
	"net/http"
	"slices"
)

func (s *Server) modules() *resource {
	k := s.kinds.module
	return &resource{
		kind: k, param: "module", scope: inProject,
		readableArchived: true,
		alwaysListed:   "members",
		// So it is: no id, no members.
		patchColumns: []string{"name", "description", "start_date", "target_date", "status", "lead", "external_source", "external_id"},
		prepare: func(c *call, t *tx, old, r row) *reply {
			project := text(r, "project")
			if old != nil && old["archived_at"] != nil {
				return new(refuse(http.StatusBadRequest, "error", "Archived module cannot be edited"))
			}
			if p, ok := t.get(c.kinds.project, project); (old == nil || c.community()) && (!ok || !flag(p.row, "module_view")) {
				return new(badRequest("Modules are not enabled for this project"))
			}
			_, starts := c.in["start_date"]
			_, ends := c.in["target_date"]
			// A change of one date is not held against the other, which is stored.
			if starts && ends && text(r, "start_date") != "" && text(r, "target_date") != "" && text(r, "start_date") > text(r, "target_date") {
				return new(badRequest("Start date cannot exceed target date"))
			}
			if _, given := c.in["members"]; given || old == nil {
				r["members"] = c.moduleMembers(t, old, r)
			}
			if old == nil {
				r["sort_order"] = orderBefore(t.all(k, scope(project)))
				r["view_props"], r["logo_props"] = row{}, row{}
			}
			return nil
		},
		beforeDelete: func(c *call, t *tx, r row) *reply {
			if projectRole(t, text(r, "project"), c.user) != roleAdmin && r["created_by"] != c.user {
				return new(refuse(http.StatusForbidden, "error", "Only admin or creator can delete the module"))
			}
			return nil
		},
		afterDelete: func(c *call, t *tx, r row) {
			for _, m := range t.all(c.kinds.moduleIssue, scope(text(r, "id"))) {
				c.removeFromModule(t, m)
			}
		},
		show: func(c *call, t *tx, r row, listed bool) row {
			if !listed {
				return r
			}
			return c.totals(t, r, c.kinds.moduleIssue)
		},
	}
}

// moduleName is what is told who gives a module the name of another.
func moduleName(_ *call, old, _ row, other string) *reply {
	const message = "Module with this name already exists"
	if old != nil {
		return new(invalid(row{"error": message}))
	}
	return new(reply{http.StatusBadRequest, row{"id": other, "code": "MODULE_NAME_ALREADY_EXISTS", "error": message, "message": message}})
}

// moduleMembers is the people whom the body names. The community edition leaves
// those out who are not in the project, and shows those who were members before
// as well, one by one.
func (c *call) moduleMembers(t *tx, old, r row) []any {
	if !c.community() {
		members, _ := r["members"].([]any)
		return members
	}
	members := filterIDs(r, "members", func(id string) bool { return c.wasMember(t, text(r, "project"), id) })
	if old != nil {
		before, _ := old["members"].([]any)
		members = append(slices.Clone(before), members...)
	}
	return members
}

// readUnarchived does not find a cycle or module that is archived.
func readUnarchived(res *resource) handler {
	return func(c *call, t *tx) reply {
		if s, ok := t.in(res.kind, inProject(c), c.vars[res.param]); ok && s.row["archived_at"] != nil {
			return notFound()
		}
		return res.read(c, t)
	}
}

func listModules(res *resource) handler {
	return func(c *call, t *tx) reply {
		found := []row{}
		for _, s := range t.all(res.kind, inProject(c)) {
			if s.row["archived_at"] == nil {
				found = append(found, res.render(c, t, s.row))
			}
		}
		slices.Reverse(found)
		return pageOf(c, found)
	}
}

func addModuleIssues(c *call, t *tx) reply {
	if v, given := c.in["issues"]; given && v == nil {
		return serverError() // the service asks null for its length
	}
	ids, _, refused := c.issueList()
	if refused != nil && refused.body == nil {
		return refuse(http.StatusBadRequest, "error", "Issues are required")
	}
	module, ok := t.in(c.kinds.module, inProject(c), c.vars["module"])
	if !ok {
		return notFound()
	}
	if refused != nil {
		return *refused
	}
	for _, issue := range ids {
		// What is not an item of the project is passed over in silence.
		if item, ok := c.anyItem(t, issue); ok && item.row["project"] == c.vars["project"] {
			c.addToModule(t, text(module.row, "id"), issue)
		}
	}
	out := []row{}
	for _, s := range t.all(c.kinds.moduleIssue, scope(text(module.row, "id"))) {
		s.row["sub_issues_count"] = t.counter("children:" + text(s.row, "issue"))
		out = append(out, c.kinds.moduleIssue.visible(s.row))
	}
	slices.Reverse(out)
	return reply{http.StatusOK, out}
}

// addToModule adds an item to a module if it is not there yet.
func (c *call) addToModule(t *tx, module, issue string) {
	if t.index("modules-of", issue, module) != "" {
		return
	}
	r := row{"issue": issue, "module": module}
	c.setAudit(c.kinds.moduleIssue, r)
	r["updated_by"] = c.user
	t.insert(c.kinds.moduleIssue, scope(module), r)
	t.setIndex(text(r, "id"), "modules-of", issue, module)
}

func (c *call) removeFromModule(t *tx, s stored) {
	t.remove(c.kinds.moduleIssue, s)
	t.dropIndex("modules-of", text(s.row, "issue"), text(s.row, "module"))
}

func moduleIssues(c *call, t *tx) reply {
	if _, ok := t.in(c.kinds.module, inProject(c), c.vars["module"]); !ok {
		return pageOf(c, []row{})
	}
	return c.itemsOf(t, c.kinds.moduleIssue, c.vars["module"])
}

func removeModuleIssue(c *call, t *tx) reply {
	s, ok := t.get(c.kinds.moduleIssue, t.index("modules-of", c.vars["item"], c.vars["module"]))
	if !ok {
		return notFound()
	}
	c.removeFromModule(t, s)
	return reply{status: http.StatusNoContent}
}
