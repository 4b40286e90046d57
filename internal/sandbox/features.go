package sandbox

import (
	"fmt"
	"net/http"
	"strings"
)

// Features of a project and of the workspace that API v2 has beside the fields of a project.
const (
	projectFeatures = "is_automated_cycle_enabled is_epic_enabled is_manually_start_end_cycles_enabled is_milestone_enabled " +
		"is_parallel_cycles_enabled is_project_updates_enabled is_workflow_enabled"
	workspaceFeatures = "is_work_item_types_enabled is_workitem_hierarchy_enabled is_project_grouping_enabled is_teams_enabled " +
		"is_wiki_enabled is_initiative_enabled is_customer_enabled is_release_enabled is_state_duration_enabled is_pi_enabled"
)

// featuresV2 describes switches that a record of another kind holds: they cannot be created or deleted.
func featuresV2(path, names, read string, k *kind, of func(c *call) string) *resourceV2 {
	res := &resourceV2{
		name: "features", path: path + "features/", kind: k, verbs: "single", write: names, read: read,
		prepare: func(w *writeV2) {
			if w.vars["project"] != "" && w.isGoverned(w.t, typesGoverned) {
				w.r["is_epic_enabled"] = false // the service says nothing
			}
		},
		rows: func(c *call, t *tx) []stored {
			s, _ := t.get(k, of(c))
			s.row = clone(s.row)
			for name := range strings.FieldsSeq(names) {
				if s.row[name] == nil { // it was never set
					s.row[name] = false
				}
			}
			return []stored{s}
		},
	}
	for name := range strings.FieldsSeq(names) {
		res.only = append(res.only, field{name: name, check: boolean})
	}
	return res
}

// workspaceFeaturesV2 describes the features of the workspace. All features that the sandbox serves are on from the start.
func (s *Server) workspaceFeaturesV2() *resourceV2 {
	names := workspaceFeatures + " work_item_type_default_level"
	res := featuresV2(v2Workspace, names, "", s.kinds.workspace, func(*call) string { return workspaceID })
	res.only[len(res.only)-1].check = whole(0, 1000)
	return res
}

// projectSettingsV2 describes the settings of a project that only API v2 changes.
func projectSettingsV2(k *kind) *resourceV2 {
	return &resourceV2{
		name: "project", path: v2Project, kind: k, verbs: "single", write: "network priority",
		only: []field{{name: "network", check: numberChoice("0", "2")}, {name: "priority", check: choice("none", "low", "medium", "high", "urgent")}},
		rows: func(c *call, t *tx) []stored {
			s, _ := t.get(k, c.vars["project"])
			if s.row = clone(s.row); s.row["priority"] == nil {
				s.row["priority"] = "none"
			}
			return []stored{s}
		},
	}
}

// needsFeature refuses a creation if a feature of the project, or else of the workspace, is off.
func (w *writeV2) needsFeature(feature string) {
	holder, id, status := w.kinds.workspace, workspaceID, http.StatusForbidden
	if project := w.vars["project"]; project != "" {
		holder, id, status = w.kinds.project, project, http.StatusBadRequest
	}
	if s, ok := w.t.get(holder, id); ok && w.old == nil && !flag(s.row, feature) {
		w.problem = &problem{status: status, detail: fmt.Sprintf("The feature is switched off (%s).", feature)}
	}
}
