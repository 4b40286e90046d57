package sandbox

import (
	"net/http"
	"strings"
)

// describeWorkflows adds the kinds of the workflows of projects, with their states and transitions. The sandbox does not enforce them.
func (ks *kinds) describeWorkflows() {
	inWorkflow := func(c *call) []byte { return scope(c.vars["workflow"]) }
	ks.workflow = ks.add(&kind{
		name: "workflow", param: "workflow", scope: inProject,
		columns: audit("name description is_active is_default work_item_types created_by updated_by workspace project"),
		fields: bodyFields("name=line description=prose? is_active=on",
			field{name: "work_item_types", ref: &ks.itemType, many: true, initial: []any{}},
		),
		contents: []**kind{&ks.workflowState, &ks.transition},
	})
	ks.workflowState = ks.add(&kind{
		name: "workflow_state", param: "workflow_state", scope: inWorkflow,
		columns: audit("state allow_issue_creation is_default type workflow created_by updated_by workspace project"),
		fields:  bodyFields("allow_issue_creation=off is_default=off type=text"),
		afterDelete: func(c *call, t *tx, r row) {
			for _, s := range t.all(ks.transition, inWorkflow(c)) {
				if s.row["workflow_state"] == r["id"] {
					t.remove(ks.transition, s)
				}
			}
		},
	})
	ks.transition = ks.add(&kind{
		name: "workflow_transition", param: "transition", scope: inWorkflow, hidden: names("state"),
		columns: audit("workflow_state transition_state rejection_state members required_approvals workflow created_by updated_by " +
			"workspace project"),
		fields: []field{
			{name: "state", ref: &ks.state},
			{name: "transition_state", ref: &ks.state, null: true},
			{name: "rejection_state", ref: &ks.state, null: true},
			{name: "members", ref: &ks.user, many: true, initial: []any{}},
			{name: "required_approvals", check: whole(0, 1<<31-1), null: true},
		},
	})
}

// workflowsV2 describes workflows in API v2. States of the project are attached to a workflow, and transitions begin with
// attached states.
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
			write: "allow_issue_creation is_default type", read: "created_by_id state_id workflow_id", perID: "state_ids",
			prepare: func(w *writeV2) {
				if w.old != nil {
					return
				}
				w.r["workflow"], w.r["state"] = w.vars["workflow"], w.body["state_id"]
				if id := text(w.body, "state_id"); !isUUID(id) || !w.mayReference(k.state, id) {
					w.addError("state_ids", "does_not_exist", "Object with id %s does not exist.", id)
				} else if w.attachedState(id) != "" { // the service's answer was never seen
					w.problem = &problem{status: http.StatusNotImplemented, detail: "The workflow has the state already."}
				}
			},
		},
		{
			name: "workflow transition", path: path + "{workflow_id}/state-transitions/", kind: k.transition, verbs: v2Singles, order: "created_at id",
			write: "-state_id* transition_state_id? member_ids rejection_state_id? required_approvals?", read: "created_by_id workflow_state_id",
			prepare: func(w *writeV2) {
				w.r["workflow"], w.r["workflow_state"] = w.vars["workflow"], w.attachedState(text(w.r, "state"))
				if w.r["workflow_state"] == "" {
					w.addError("state_id", "invalid", "The workflow does not have the state.")
				}
			},
		},
	}
}

// attachedState returns the ID under which the workflow of the path has a state of the project, or "".
func (w *writeV2) attachedState(state string) string {
	for _, s := range w.t.all(w.kinds.workflowState, scope(w.vars["workflow"])) {
		if text(s.row, "state") == state {
			return text(s.row, "id")
		}
	}
	return ""
}

// createEach makes a record for each ID of a list, and answers with all of them.
func (rv *resourceV2) createEach(c *call, t *tx) reply {
	ids, isList := c.in[rv.perID].([]any)
	if !isList || len(ids) == 0 {
		return invalidV2(fieldError{rv.perID, "required", "This field is required."}).reply()
	}
	sel, wrong := rv.selection(c, false)
	made := []row{}
	for _, id := range ids {
		if wrong != nil {
			break
		}
		var r row
		if r, wrong = rv.create(c, t, row{strings.TrimSuffix(rv.perID, "s"): id}); wrong == nil {
			made = append(made, rv.render(c, t, r, sel))
		}
	}
	if wrong != nil {
		return wrong.reply()
	}
	return reply{http.StatusCreated, made}
}
