package sandbox

import (
	"encoding/json"
	"strings"
)

// kinds is every kind that the sandbox keeps.
type kinds struct {
	documented bool // bodies are as the contract has them

	workspace, user, member, role, project, projectMember *kind

	state, label, cycle, module, itemType, estimate, estimatePoint *kind

	milestone, milestoneIssue, intakeItem, initiativeEpic *kind

	workItem, hiddenItem, deletedItem, link, comment, activity, attachment *kind

	cycleIssue, moduleIssue, relation *kind

	itemProperty, propertyOption, itemValue *kind

	initiative, initiativeLabel, initiativeProject, initiativeLabelLink *kind

	teamspace, teamspaceProject, teamspaceMember *kind

	customer, request, property, propertyChoice, customerValue, page, projectPage, view, projectView *kind

	relationDefinition, template, projectTemplate *kind

	webhook, invitation *kind

	workflow, workflowState, transition *kind

	release, releaseTag, releaseLabel, releaseLabelLink, releaseItem, releaseLink, changelog *kind

	every []*kind // these, and those that no code refers to by name
}

// add registers a kind. One that has a path needs no other code.
func (k *kinds) add(made *kind) *kind {
	if made.scope == nil && strings.HasPrefix(made.path, "projects/{project}/") {
		made.scope = inProject
	} else if made.scope == nil {
		made.scope = inWorkspace
	}
	if made.param == "" {
		made.param = "id"
	}
	k.every = append(k.every, made)
	return made
}

// newKinds makes the kinds. A few fields are documented otherwise than the
// service runs, so they depend on the response profile.
func newKinds(answers Answers) *kinds {
	k := &kinds{documented: answers == Contract}
	for _, describe := range []func(){
		k.people, k.projects, k.states, k.labels, k.cycles, k.milestones, k.intake, k.modules, k.itemTypes, k.itemProperties, k.estimates,
		k.estimatePoints, k.workItems, k.links,
		k.comments, k.activities, k.attachments, k.relations, k.initiatives, k.teamspaces, k.pages, k.views, k.customers, k.requests, k.properties,
		k.relationDefinitions, k.templates, k.webhooks, k.releases, k.workflows, k.invitations,
	} {
		describe()
	}
	for _, kind := range k.every {
		kind.rows, kind.ids = []byte("row:"+kind.name), []byte("id:"+kind.name)
		kind.all = append(append([]string(nil), kind.columns...), kind.hidden...)
	}
	return k
}

// audit is the columns that most records have after their id.
func audit(names ...string) []string {
	return append([]string{"id", "created_at", "updated_at", "deleted_at"}, names...)
}

func external() []field {
	return []field{
		{name: "external_source", check: str(255, true), null: true},
		{name: "external_id", check: str(255, true), null: true},
	}
}

func (k *kinds) people() {
	profile := []string{"id", "first_name", "last_name", "email", "avatar", "avatar_url", "display_name"}
	k.workspace = k.add(&kind{name: "workspace", columns: []string{"name", "slug", "id"}, hidden: append([]string{
		"created_at", "updated_at", "updated_by", "work_item_type_default_level", statesGoverned,
	}, strings.Fields(workspaceFeatures)...)})
	k.user = k.add(&kind{name: "user", columns: profile})
	k.member = k.add(&kind{name: "member", columns: append(append([]string(nil), profile...), "role")})
	k.role = k.add(&kind{name: "role", columns: []string{"id", "namespace", "slug", "name", "level", "is_system", "description", "status"}})
	k.projectMember = k.add(&kind{
		name: "project_member", columns: []string{"id", "member", "role"}, hidden: []string{"project", "created_at", "inactive", "slug"}, // slug as API v2 knows the role
		fields: []field{
			{name: "member", required: true, ref: &k.user},
			{name: "role", check: choiceOfRole, initial: integer(roleGuest)},
		},
		param: "member", scope: inProject,
		afterDelete: (*call).dropRole,
	})
}

func (k *kinds) milestones() {
	k.milestone = k.add(&kind{
		name: "milestone", path: "projects/{project}/milestones/", param: "milestone", hidden: []string{"archived_at"},
		columns: audit("title", "target_date", "external_source", "external_id", "created_by", "updated_by", "project", "workspace"),
		indexes: []index{uniqueExternalID("milestone", "project", "Milestone")},
		fields: append([]field{
			{name: "title", required: true, check: line()},
			{name: "target_date", check: date, null: true},
		}, external()...),
		afterDelete: func(c *call, t *tx, r row) { c.clear(t, k.milestoneIssue, text(r, "id")) },
	})
	k.milestoneIssue = k.membership("milestone_issue", "issue", "milestone")
}

func (k *kinds) intake() {
	k.intakeItem = k.add(&kind{
		name: "intake_item", param: "intake", scope: inProject,
		columns: audit("name", "description_html", "priority", "status", "snoozed_till", "duplicate_to", "source", "source_email",
			"external_source", "external_id",
			"created_by", "updated_by", "project", "workspace", "intake", "issue", "state"),
		fields: append([]field{
			{name: "name", check: line()},
			{name: "description_html", check: richText, initial: ""},
			{name: "priority", check: choice("none", "low", "medium", "high", "urgent"), initial: "none"},
			{name: "status", check: intakeStatus, initial: integer(-2)},
			{name: "snoozed_till", check: moment},
			{name: "duplicate_to", ref: &k.workItem},
			{name: "source", check: prose(), initial: "IN_APP"},
			{name: "source_email", check: prose()},
		}, external()...),
	})
}

// intakeStatus is what was decided about an item: a number.
func intakeStatus(t *tx, v any) (any, any) {
	if _, complaint := choice("-2", "-1", "0", "1", "2")(t, v); complaint != nil {
		return nil, complaint
	}
	return json.Number(pythonText(v)), nil
}

// membership is the kind of rows that say which record is a member of which container.
func (k *kinds) membership(name, member, container string) *kind {
	return k.add(&kind{
		name: name, columns: audit("created_by", "updated_by", "workspace", "project", member, container),
		indexes: []index{{name: name, fields: []string{member, container}}},
	})
}
