package sandbox

import (
	"net/http"
	"strings"
)

// workflows are those of projects, with their states and transitions. They hold nobody to anything.
func (k *kinds) workflows() {
	inWorkflow := func(c *call) []byte { return scope(c.vars["workflow"]) }
	k.workflow = k.add(&kind{
		name: "workflow", param: "workflow", scope: inProject,
		columns: audit("name", "description", "is_active", "is_default", "work_item_types", "created_by", "updated_by", "workspace", "project"),
		fields: []field{
			{name: "name", check: line()},
			{name: "description", check: prose(), null: true},
			{name: "is_active", check: boolean, initial: true},
			{name: "work_item_types", ref: &k.itemType, many: true, initial: []any{}},
		},
		afterDelete: func(c *call, t *tx, r row) {
			c.clear(t, k.workflowState, text(r, "id"))
			c.clear(t, k.transition, text(r, "id"))
		},
	})
	k.workflowState = k.add(&kind{
		name: "workflow_state", param: "workflow_state", scope: inWorkflow,
		columns: audit("state", "allow_issue_creation", "is_default", "type", "workflow", "created_by", "updated_by", "workspace", "project"),
		fields: []field{
			{name: "allow_issue_creation", check: boolean, initial: false},
			{name: "is_default", check: boolean, initial: false},
			{name: "type", check: str(255, true), initial: ""},
		},
		afterDelete: func(c *call, t *tx, r row) {
			for _, s := range t.all(k.transition, inWorkflow(c)) {
				if s.row["workflow_state"] == r["id"] {
					t.remove(k.transition, s)
				}
			}
		},
	})
	k.transition = k.add(&kind{
		name: "workflow_transition", param: "transition", scope: inWorkflow, hidden: []string{"state"},
		columns: audit("workflow_state", "transition_state", "rejection_state", "members", "required_approvals", "workflow", "created_by", "updated_by",
			"workspace", "project"),
		fields: []field{
			{name: "state", ref: &k.state},
			{name: "transition_state", ref: &k.state, null: true},
			{name: "rejection_state", ref: &k.state, null: true},
			{name: "members", ref: &k.user, many: true, initial: []any{}},
			{name: "required_approvals", check: whole(0, 1<<31-1), null: true},
		},
	})
}

// workflowsV2 is what API v2 has of workflows: states of the project are attached to one, and transitions begin with those.
func (s *Server) workflowsV2() []*resourceV2 {
	k := s.kinds
	const path = v2Project + "workflows/"
	return []*resourceV2{
		{
			name: "workflow", path: path, kind: k.workflow, verbs: v2Singles, order: "created_at id name",
			write: "name* description? is_active work_item_type_ids", read: "created_by_id is_default",
			prepare: func(w *writeV2) {
				w.needsFeature("is_workflow_enabled")
				if w.old == nil {
					w.r["is_default"] = false
				}
			},
		},
		{
			name: "workflow state", path: path + "{workflow_id}/states/", kind: k.workflowState, verbs: v2Singles, order: "created_at id",
			write: "allow_issue_creation is_default type", read: "created_by_id state_id workflow_id", each: "state_ids",
			prepare: func(w *writeV2) {
				if w.old != nil {
					return
				}
				w.r["workflow"], w.r["state"] = w.vars["workflow"], w.body["state_id"]
				if id := text(w.body, "state_id"); !isUUID(id) || !w.reaches(k.state, id) {
					w.fail("state_ids", "does_not_exist", "Object with id %s does not exist.", id)
				} else if w.attached(id) != "" { // nobody has seen what the service does then
					w.problem = &problem{status: http.StatusNotImplemented, detail: "The workflow has the state already."}
				}
			},
		},
		{
			name: "workflow transition", path: path + "{workflow_id}/state-transitions/", kind: k.transition, verbs: v2Singles, order: "created_at id",
			write: "-state_id* transition_state_id? member_ids rejection_state_id? required_approvals?", read: "created_by_id workflow_state_id",
			prepare: func(w *writeV2) {
				w.r["workflow"], w.r["workflow_state"] = w.vars["workflow"], w.attached(text(w.r, "state"))
				if w.r["workflow_state"] == "" {
					w.fail("state_id", "invalid", "The workflow does not have the state.")
				}
			},
		},
	}
}

// attached is the ID under which the workflow of the path has a state of the project; "" = it has not.
func (w *writeV2) attached(state string) string {
	for _, s := range w.t.all(w.kinds.workflowState, scope(w.vars["workflow"])) {
		if text(s.row, "state") == state {
			return text(s.row, "id")
		}
	}
	return ""
}

// createEach makes a record for each ID of a list, and answers all of them.
func (res *resourceV2) createEach(c *call, t *tx) reply {
	ids, isList := c.in[res.each].([]any)
	if !isList || len(ids) == 0 {
		return invalidV2(fieldError{res.each, "required", "This field is required."}).reply()
	}
	sel, wrong := res.selection(c, false)
	made := []row{}
	for _, id := range ids {
		if wrong != nil {
			break
		}
		var r row
		if r, wrong = res.create(c, t, row{strings.TrimSuffix(res.each, "s"): id}); wrong == nil {
			made = append(made, res.render(c, t, r, sel))
		}
	}
	if wrong != nil {
		return wrong.reply()
	}
	return reply{http.StatusCreated, made}
}
