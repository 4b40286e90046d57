package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// specials are the characters that neither name nor identifier of a project may contain.
const specials = "&+,:;$^}{*=?@#|'<>.()%!-"

func (ks *kinds) describeProjects() {
	ks.project = ks.add(&kind{
		name: "project",
		columns: names("id total_members total_cycles total_modules is_member sort_order member_role is_deployed cover_image_url " +
			"created_at updated_at deleted_at name description description_text description_html network identifier emoji icon_prop " +
			"module_view cycle_view issue_views_view page_view intake_view is_time_tracking_enabled is_issue_type_enabled " +
			"guest_view_all_features cover_image archive_in close_in logo_props archived_at timezone external_source external_id " +
			"created_by updated_by workspace default_assignee project_lead cover_image_asset estimate default_state"),
		hidden:   append(strings.Fields(projectFeatures), "priority", "intake"),
		computed: names("total_members total_cycles total_modules is_member sort_order member_role is_deployed cover_image_url"),
		fields: bodyFields("name*=line description=prose emoji=text? cover_image=prose? module_view=off cycle_view=off"+
			" issue_views_view=off page_view=on intake_view=off guest_view_all_features=off is_issue_type_enabled=off"+
			" is_time_tracking_enabled=off"+externalPair,
			field{name: "identifier", required: true, check: str(12, false)},
			field{name: "project_lead", ref: &ks.user, null: true},
			field{name: "default_assignee", ref: &ks.user, null: true},
			field{name: "icon_prop", check: anything, null: true},
			field{name: "archive_in", check: whole(0, 12), initial: integer(0)},
			field{name: "close_in", check: whole(0, 12), initial: integer(0)},
			field{name: "timezone", check: timezone, initial: "UTC"},
			field{name: "logo_props", check: mapping, initial: row{"in_use": "icon", "icon": row{"name": "bolt", "color": "#5e6ad2"}}},
			field{name: "estimate", ref: &ks.estimate, null: true},
			field{name: "default_state", ref: &ks.state, null: true},
		),
		indexes: []index{
			{name: "identifier", fields: []string{"identifier"}, clash: projectName},
			{name: "project name", fields: []string{"name"}, clash: projectName},
		},
		param: "project", oldestFirst: true, readableArchived: true, failsAtNoObject: true,
		prepare: prepareProject, afterWrite: (*call).fillProject, afterDelete: (*call).emptyProject, show: showProject,
	})
}

func timezone(_ *tx, v any) (any, any) {
	s, ok := v.(string)
	if ok && s != "" && s != "Local" {
		if _, err := time.LoadLocation(s); err == nil {
			return s, nil
		}
	}
	return nil, message("\"%s\" is not a valid choice.", pythonText(v))
}

// inWorkspace returns the scope of the records of the workspace.
func inWorkspace(*call) []byte { return scope(workspaceID) }

// inProject returns the scope of the records of the route's project; outside of projects it is empty.
func inProject(c *call) []byte { return scope(cmp.Or(c.vars["project"], uuid.Nil.String())) }

// showProject adds the computed columns of a project.
func showProject(c *call, t *tx, r row, listed bool) row {
	r = clone(r)
	id := text(r, "id")
	r["total_members"] = c.activeMembers(t, id)
	r["total_cycles"] = t.count(c.kinds.cycle, scope(id))
	r["total_modules"] = t.count(c.kinds.module, scope(id))
	role := projectRole(t, id, c.user)
	r["is_member"] = role > 0
	r["member_role"] = nil
	if role > 0 {
		r["member_role"] = role
	}
	if listed && c.vars["project"] == "" {
		r["sort_order"] = nil
		if role > 0 {
			r["sort_order"] = json.Number("65535.0")
		}
	}
	r["is_deployed"] = false
	r["cover_image_url"] = nil
	return r
}

// prepareProject checks the fields against each other.
func prepareProject(c *call, t *tx, old, r row) *reply {
	if old == nil {
		r["network"], r["estimate"] = 2, nil
	} else if flag(r, "intake_view") && text(r, "intake") == "" {
		r["intake"] = newID() // only a change creates an intake
	}
	if estimate := text(r, "estimate"); estimate != "" && !t.has(c.kinds.estimate, scope(text(r, "id")), estimate) {
		return new(invalid(row{"estimate": message(textNoRecord, estimate)}))
	}
	if c.isCommunity() && old != nil && !isFalsy(c.in["default_state"]) {
		return new(refuse(http.StatusBadRequest, "error", textBadDetail)) // the service compares the record with its ID
	}
	r["identifier"] = strings.ToUpper(strings.TrimSpace(text(r, "identifier")))
	identifier := text(r, "identifier")
	switch {
	case strings.ContainsAny(identifier, specials):
		return new(badRequest("Project identifier cannot contain special characters."))
	case strings.ContainsAny(text(r, "name"), specials):
		return new(badRequest("Project name cannot contain special characters."))
	case text(r, "project_lead") != "" && workspaceRole(t, text(r, "project_lead")) == 0:
		return new(invalid(row{"project_lead": message("The provided user is not a member of this workspace.")}))
	case text(r, "default_assignee") != "" && workspaceRole(t, text(r, "default_assignee")) == 0:
		return new(badRequest("Default assignee should be a user in the workspace"))
	}
	return nil
}

// projectName refuses a project with the name or the identifier of another.
func projectName(*call, row, row, string) *reply {
	return new(refuse(http.StatusConflict, "name", "The project name is already taken"))
}

// fillProject gives a new project its first members and its states.
func (c *call) fillProject(t *tx, old, r row) {
	if old != nil {
		return
	}
	id := text(r, "id")
	c.addProjectMember(t, id, c.user, roleAdmin, newID())
	if lead := text(r, "project_lead"); lead != "" && lead != c.user {
		c.addProjectMember(t, id, lead, roleAdmin, newID())
	}
	for i, s := range []struct{ name, group, color string }{
		{"Backlog", "backlog", "#60646C"},
		{"Todo", "unstarted", "#60646C"},
		{"In Progress", "started", "#F59E0B"},
		{"Done", "completed", "#46A758"},
		{"Cancelled", "cancelled", "#9AA4BC"},
	} {
		state := row{
			"name": s.name, "group": s.group, "color": s.color, "description": "", "slug": "", "project": id,
			"sequence": float(float64(15000 + 10000*i)), "is_triage": false, "default": i == 0,
		}
		c.setAudit(c.kinds.state, state)
		if fixed := seedState(id, s.name); fixed != "" {
			state["id"] = fixed
		}
		t.insert(c.kinds.state, scope(id), state)
	}
}

// createProject fails with its own text, even for a body that cannot be read.
func createProject(c *call, t *tx) reply {
	delete(c.in, "default_state") // a new project ignores it
	answer := c.kinds.project.create(c, t)
	if answer.status == http.StatusInternalServerError {
		return refuse(answer.status, "error", "An unexpected error occurred")
	}
	return answer
}

func changeProject(c *call, t *tx) reply {
	if c.in != nil && c.isInArchivedProject(t) {
		return refuse(http.StatusBadRequest, "error", "Archived project cannot be updated")
	}
	return c.kinds.project.change(c, t)
}

// emptyProject deletes the contents of a project.
func (c *call) emptyProject(t *tx, r row) {
	id := text(r, "id")
	t.setIndex("1", "deleted project", id)
	for _, m := range t.all(c.kinds.projectMember, scope(id)) {
		c.endMembership(t, m)
	}
	for _, k := range []*kind{c.kinds.workItem, c.kinds.hiddenItem} {
		for _, item := range t.all(k, scope(id)) {
			k.deleteRow(c, t, item)
		}
	}
	for _, k := range c.kinds.all {
		c.clear(t, k, id)
	}
}

func archiveProject(away bool) handler {
	return func(c *call, t *tx) reply {
		s, ok := t.get(c.kinds.project, c.vars["project"])
		if !ok {
			return notFound()
		}
		r := clone(s.row)
		r["archived_at"] = nil
		if away {
			r["archived_at"] = c.stamp()
		}
		r["updated_at"], r["updated_by"] = c.stamp(), c.user
		t.save(c.kinds.project, stored{s.key, r})
		return reply{status: http.StatusNoContent}
	}
}

// summary answers with the numbers of a project's contents.
func summary(c *call, t *tx) reply {
	s, ok := t.get(c.kinds.project, c.vars["project"])
	if !ok {
		return refuse(http.StatusNotFound, "error", "Project not found")
	}
	in := scope(c.vars["project"])
	counts := row{
		"cycles":  t.count(c.kinds.cycle, in),
		"labels":  t.count(c.kinds.label, in),
		"intakes": t.count(c.kinds.intakeItem, in),
		"pages":   0,
		"modules": t.count(c.kinds.module, in),
		"members": c.activeMembers(t, c.vars["project"]),
		"states":  t.count(c.kinds.state, in),
		"issues":  t.count(c.kinds.workItem, in) + t.count(c.kinds.hiddenItem, in),
	}
	named := []string{}
	for name := range strings.SplitSeq(c.query.Get("fields"), ",") {
		named = append(named, strings.TrimSpace(name))
	}
	if some := selectFields(counts, named); len(some) > 0 {
		counts = some
	}
	return reply{http.StatusOK, row{"id": s.row["id"], "name": s.row["name"], "identifier": s.row["identifier"], "counts": counts}}
}
