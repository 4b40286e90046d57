package sandbox

import (
	"net/http"
	"strings"
)

// featuresV2 is the flags of a project or of the workspace, which both are true unless they were switched off.
func featuresV2(of func(c *call) string, project bool) (read, change handlerV2) {
	names := workspaceFeaturesV2()
	if project {
		names = projectFeaturesV2()
	}
	find := func(c *call, t *tx) (*kind, stored) {
		k := c.kinds.workspace
		if project {
			k = c.kinds.project
		}
		s, _ := t.get(k, of(c))
		return k, s
	}
	show := func(r row) row {
		out := row{}
		for _, name := range names {
			if out[name] = r[name]; r[name] == nil {
				out[name] = name != "is_work_item_types_enabled"
			}
		}
		if !project {
			out["id"], out["created_at"] = r["id"], "2026-01-01T00:00:00.000000Z"
			if r["work_item_type_default_level"] == nil {
				out["work_item_type_default_level"] = 0
			}
		}
		return out
	}
	read = func(c *call, t *tx) (reply, *problem) {
		_, s := find(c, t)
		return reply{http.StatusOK, show(s.row)}, nil
	}
	change = func(c *call, t *tx) (reply, *problem) {
		k, s := find(c, t)
		r := clone(s.row)
		for _, name := range names { // a key that is none of these has no effect
			v, given := c.in[name]
			_, isBool := v.(bool)
			if given && !isBool && name != "work_item_type_default_level" {
				return reply{}, invalidV2(fieldError{name, "invalid", "Must be a valid boolean."})
			}
			if given {
				r[name] = v
			}
		}
		if flag(r, "is_work_item_types_enabled") {
			return reply{}, conflictV2("Work item types stay with the projects here.")
		}
		t.save(k, stored{s.key, r})
		return reply{http.StatusOK, show(r)}, nil
	}
	return read, change
}

func workspaceFeaturesV2() []string {
	return strings.Fields("is_work_item_types_enabled work_item_type_default_level is_workitem_hierarchy_enabled is_project_grouping_enabled is_teams_enabled " +
		"is_wiki_enabled is_initiative_enabled is_customer_enabled is_release_enabled is_state_duration_enabled is_pi_enabled")
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

// summaryV2 counts what ?counts= names, or everything.
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

// transferV2 moves what is not done to another cycle.
func transferV2(c *call, t *tx) (reply, *problem) {
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
func typesManagedAtProject(*call, *tx) (reply, *problem) {
	p := conflictV2("Work item types are managed by the projects of this workspace.")
	p.code = "work_item_types_managed_at_project"
	return reply{}, p
}
