package sandbox

import (
	"cmp"
	"net/http"
	"strings"
)

// featuresV2 is the flags of a project or of the workspace: one record, whose path has no ID. All are true until they are
// switched off, but for types of the workspace, which cannot be switched on here.
func featuresV2(k *kind, path string, names []string) []operationV2 {
	res := &resourceV2{path: path, kind: k, write: strings.Join(names, ":bool ") + ":bool", lenient: true, prepare: func(w *writeV2) {
		if flag(w.r, "is_work_item_types_enabled") {
			w.problem = conflictV2("Work item types stay with the projects here.")
		}
	}}
	if k.name == "workspace" {
		res.write += " work_item_type_default_level:int"
	} else {
		res.read = "-id -created_at"
	}
	res.compile()
	show := func(r row) reply {
		out := row{}
		for _, f := range res.fields {
			if !f.readable {
				continue
			}
			out[f.name] = r[f.column]
			if f.kind == "bool" && r[f.column] == nil {
				out[f.name] = f.name != "is_work_item_types_enabled"
			}
		}
		return reply{http.StatusOK, out}
	}
	find := func(c *call, t *tx) stored {
		s, _ := t.get(k, cmp.Or(c.vars["project"], workspaceID))
		return s
	}
	return []operationV2{
		{method: http.MethodGet, path: path, do: func(c *call, t *tx) (reply, *problem) { return show(find(c, t).row), nil }},
		{method: http.MethodPatch, path: path, access: forAdmins, body: res.fields, do: func(c *call, t *tx) (reply, *problem) {
			r, wrong := res.update(c, t, find(c, t), c.in)
			return show(r), wrong
		}},
	}
}

func workspaceFeaturesV2() []string {
	return strings.Fields("is_work_item_types_enabled is_workitem_hierarchy_enabled is_project_grouping_enabled is_teams_enabled " +
		"is_wiki_enabled is_initiative_enabled is_customer_enabled is_release_enabled is_state_duration_enabled is_pi_enabled " +
		"is_member_project_creation_enabled")
}

func projectFeaturesV2() []string {
	return strings.Fields("is_automated_cycle_enabled is_epic_enabled is_manually_start_end_cycles_enabled is_milestone_enabled is_parallel_cycles_enabled " +
		"is_project_updates_enabled is_workflow_enabled")
}

// archiveProjectV2 archives a project, or brings it back.
func archiveProjectV2(away bool) handlerV2 {
	return func(c *call, t *tx) (reply, *problem) {
		archiveProject(away)(c, t)
		return reply{status: http.StatusNoContent}, nil
	}
}

// summaryV2 counts the kinds that ?counts= names, or all.
func summaryV2(c *call, t *tx) (reply, *problem) {
	out := summary(c, t).body.(row)
	all := out["counts"].(row)
	all["work_item_types"], all["work_item_properties"] = t.count(c.kinds.itemType, inProject(c)), 0
	all["pages"] = t.count(c.kinds.projectPage, inProject(c))
	if given := c.query.Get("counts"); given != "" {
		for name := range strings.SplitSeq(given, ",") {
			if _, ok := all[name]; !ok {
				return reply{}, badQuery("counts", "invalid_choice", "%q is not a valid choice.", name)
			}
		}
		out["counts"] = selectFields(all, strings.Split(given, ","))
	}
	return reply{http.StatusOK, out}, nil
}

// transferV2 moves the unfinished items of a completed cycle to another.
func transferV2(c *call, t *tx) (reply, *problem) {
	switch from, ok := t.in(c.kinds.cycle, inProject(c), c.vars["cycle"]); {
	case !ok:
		return reply{}, notFoundV2()
	case !completed(from.row, c.now):
		return reply{}, &problem{status: http.StatusBadRequest, detail: "Only the work items of a completed cycle can be transferred."}
	}
	if r := transferIssues(c, t); r.status != http.StatusOK {
		return reply{}, invalidV2(fieldError{"new_cycle_id", "invalid", text(r.body.(row), "error")})
	}
	return reply{http.StatusOK, row{"new_cycle_id": c.in["new_cycle_id"]}}, nil
}

// enableTypesV2 switches types on for a project, which has one at least from then on.
func enableTypesV2(types *resourceV2) handlerV2 {
	return func(c *call, t *tx) (reply, *problem) {
		p, _ := t.get(c.kinds.project, c.vars["project"])
		p.row["is_issue_type_enabled"] = true
		t.save(c.kinds.project, p)
		for _, s := range t.all(c.kinds.itemType, inProject(c)) {
			if flag(s.row, "is_default") {
				return types.single(c, t, http.StatusOK, func() (row, *problem) { return s.row, nil })
			}
		}
		return types.single(c, t, http.StatusOK, func() (row, *problem) { return types.create(c, t, row{"name": "Task"}) })
	}
}

// defaultTypeV2 makes a type the default in place of another.
func defaultTypeV2(types *resourceV2) handlerV2 {
	return func(c *call, t *tx) (reply, *problem) {
		chosen, wrong := types.find(c, t, c.vars["type"])
		if wrong != nil {
			return reply{}, wrong
		}
		for _, s := range t.all(c.kinds.itemType, inProject(c)) {
			s.row["is_default"] = s.row["id"] == chosen.row["id"]
			t.save(c.kinds.itemType, s)
		}
		chosen.row["is_default"] = true
		return types.single(c, t, http.StatusOK, func() (row, *problem) { return chosen.row, nil })
	}
}

// typesManagedAtProject refuses a write of the types of the workspace.
func typesManagedAtProject() *problem {
	p := conflictV2("Work item types are managed by the projects of this workspace.")
	p.code = "work_item_types_managed_at_project"
	return p
}
