package sandbox

import (
	"net/http"
	"slices"
)

func (ks *kinds) describeModules() {
	ks.module = ks.add(&kind{
		name: "module",
		columns: audit(groupTotals + " name description description_text description_html start_date target_date status view_props " +
			"sort_order external_source external_id archived_at logo_props created_by updated_by project workspace lead members"),
		computed: names(groupTotals),
		indexes: []index{uniqueExternalID("module", "project", "Module"), {
			name: "module name", fields: []string{"project", "name"},
			clash: moduleName,
		}},
		fields: bodyFields("name*=line description=prose start_date=date? target_date=date?"+externalPair,
			field{name: "status", check: choice("backlog", "planned", "in-progress", "paused", "completed", "cancelled"), initial: "planned"},
			field{name: "lead", ref: &ks.user, null: true},
			field{name: "members", ref: &ks.user, many: true, initial: []any{}},
		),
		param: "module", scope: inProject,
		readableArchived: true,
		alwaysListed:     "members",
		// The service answers without id and members.
		patchColumns: []string{"name", "description", "start_date", "target_date", "status", "lead", "external_source", "external_id"},
		created: func(c *call, t *tx, r row) {
			r["sort_order"], r["view_props"], r["logo_props"] = orderBefore(t.all(ks.module, inProject(c))), row{}, row{}
		},
		prepare: func(c *call, t *tx, old, r row) *reply {
			project := text(r, "project")
			if old != nil && old["archived_at"] != nil {
				return new(refuse(http.StatusBadRequest, "error", "Archived module cannot be edited"))
			}
			if p, ok := t.get(c.kinds.project, project); (old == nil || c.isCommunity()) && (!ok || !flag(p.row, "module_view")) {
				return new(badRequest("Modules are not enabled for this project"))
			}
			if refused := c.reversedDates(r); refused != nil {
				return refused
			}
			if _, given := c.in["members"]; given || old == nil {
				r["members"] = c.moduleMembers(t, old, r)
			}
			return nil
		},
		beforeDelete: onlyByCreator("created_by", "module"),
		contents:     []**kind{&ks.moduleIssue},
		show: func(c *call, t *tx, r row, listed bool) row {
			return c.addTotals(t, r, listed, c.kinds.moduleIssue)
		},
	})
	ks.moduleIssue = ks.add(&kind{
		name:     "module_issue",
		columns:  names("id sub_issues_count created_at updated_at deleted_at created_by updated_by project workspace module issue"),
		computed: names("sub_issues_count"),
		indexes:  []index{{name: "module membership", fields: []string{"issue", "module"}}},
	})
}

// moduleName refuses a module with the name of another.
func moduleName(_ *call, old, _ row, other string) *reply {
	const message = "Module with this name already exists"
	if old != nil {
		return new(invalid(row{"error": message}))
	}
	return new(reply{http.StatusBadRequest, row{"id": other, "code": "MODULE_NAME_ALREADY_EXISTS", "error": message, "message": message}})
}

// moduleMembers returns the members that the body names. The community edition leaves out users who are not in the
// project, and prepends the former members.
func (c *call) moduleMembers(t *tx, old, r row) []any {
	if !c.isCommunity() {
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

// readUnarchived hides archived cycles and modules.
func readUnarchived(k *kind) handler {
	return func(c *call, t *tx) reply {
		if s, ok := t.getWithin(k, inProject(c), c.vars[k.param]); ok && s.row["archived_at"] != nil {
			return notFound()
		}
		return k.read(c, t)
	}
}

// listUnarchived lists the records that are not archived, the newest first.
func listUnarchived(k *kind) handler {
	return func(c *call, t *tx) reply {
		found := k.renderWhere(c, t, func(r row) bool { return r["archived_at"] == nil })
		slices.Reverse(found)
		return pageOf(c, found)
	}
}

func addModuleIssues(c *call, t *tx) reply {
	issues, named := c.in["issues"]
	switch {
	case c.notAnObject() != nil, named && !slices.Contains(names("str list dict"), pythonType(issues)):
		return serverError() // the service asks for the number of items first
	case isFalsy(issues):
		return refuse(http.StatusBadRequest, "error", "Issues are required")
	}
	module, ok := t.getWithin(c.kinds.module, inProject(c), c.vars["module"])
	if !ok {
		return notFound()
	}
	ids, _, refused := issueList(issues)
	if refused != nil {
		return *refused
	}
	for _, issue := range ids {
		// IDs that name no item of the project are ignored.
		if item, ok := c.anyItem(t, issue); ok && item.row["project"] == c.vars["project"] {
			c.addMember(t, c.kinds.moduleIssue, text(module.row, "id"), issue)
		}
	}
	return reply{http.StatusOK, c.memberRows(t, c.kinds.moduleIssue, text(module.row, "id"))}
}
