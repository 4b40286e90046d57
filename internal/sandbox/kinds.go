package sandbox

import (
	"encoding/json"
	"strings"
)

// kinds holds every kind of the sandbox.
type kinds struct {
	documented bool // bodies follow the contract

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

	all []*kind // all kinds, including those without a field here
}

// add registers a kind. A kind with a path needs no other code.
func (ks *kinds) add(made *kind) *kind {
	if made.scope == nil && strings.HasPrefix(made.path, "projects/{project}/") {
		made.scope = inProject
	} else if made.scope == nil {
		made.scope = inWorkspace
	}
	if made.param == "" {
		made.param = "id"
	}
	ks.all = append(ks.all, made)
	return made
}

// newKinds makes the kinds. They depend on the response profile, because a few fields differ between the documentation
// and the running service.
func newKinds(answers Answers) *kinds {
	k := &kinds{documented: answers == Contract}
	for _, describe := range []func(){
		k.describePeople, k.describeProjects, k.describeStates, k.describeLabels, k.describeCycles, k.describeMilestones, k.describeIntake, k.describeModules, k.describeItemTypes, k.describeItemProperties, k.describeEstimates,
		k.describeEstimatePoints, k.describeWorkItems, k.describeLinks,
		k.describeComments, k.describeActivities, k.describeAttachments, k.describeRelations, k.describeInitiatives, k.describeTeamspaces, k.describePages, k.describeViews, k.describeCustomers, k.describeRequests, k.describeProperties,
		k.describeRelationDefinitions, k.describeTemplates, k.describeWebhooks, k.describeReleases, k.describeWorkflows, k.describeInvitations,
	} {
		describe()
	}
	for _, kind := range k.all {
		kind.rows, kind.ids = []byte("row:"+kind.name), []byte("id:"+kind.name)
		kind.stored = append(append([]string(nil), kind.columns...), kind.hidden...)
	}
	return k
}

// audit returns the columns of most records, followed by the given ones.
func audit(names ...string) []string {
	return append([]string{"id", "created_at", "updated_at", "deleted_at"}, names...)
}

func external() []field {
	return []field{
		{name: "external_source", check: str(255, true), null: true},
		{name: "external_id", check: str(255, true), null: true},
	}
}

func (ks *kinds) describePeople() {
	profile := []string{"id", "first_name", "last_name", "email", "avatar", "avatar_url", "display_name"}
	ks.workspace = ks.add(&kind{name: "workspace", columns: []string{"name", "slug", "id"}, hidden: append([]string{
		"created_at", "updated_at", "updated_by", "work_item_type_default_level", statesGoverned,
	}, strings.Fields(workspaceFeatures)...)})
	ks.user = ks.add(&kind{name: "user", columns: profile})
	ks.member = ks.add(&kind{name: "member", columns: append(append([]string(nil), profile...), "role")})
	ks.role = ks.add(&kind{name: "role", columns: []string{"id", "namespace", "slug", "name", "level", "is_system", "description", "status"}})
	ks.projectMember = ks.add(&kind{
		name: "project_member", columns: []string{"id", "member", "role"}, hidden: []string{"project", "created_at", "inactive", "slug"}, // slug of the role in API v2
		fields: []field{
			{name: "member", required: true, ref: &ks.user},
			{name: "role", check: choiceOfRole, initial: integer(roleGuest)},
		},
		param: "member", scope: inProject,
		afterDelete: (*call).dropRole,
	})
}

func (ks *kinds) describeMilestones() {
	ks.milestone = ks.add(&kind{
		name: "milestone", path: "projects/{project}/milestones/", param: "milestone", hidden: []string{"archived_at"},
		columns: audit("title", "target_date", "external_source", "external_id", "created_by", "updated_by", "project", "workspace"),
		indexes: []index{uniqueExternalID("milestone", "project", "Milestone")},
		fields: append([]field{
			{name: "title", required: true, check: line()},
			{name: "target_date", check: date, null: true},
		}, external()...),
		afterDelete: func(c *call, t *tx, r row) { c.clear(t, ks.milestoneIssue, text(r, "id")) },
	})
	ks.milestoneIssue = ks.addMembership("milestone_issue", "issue", "milestone")
}

func (ks *kinds) describeIntake() {
	ks.intakeItem = ks.add(&kind{
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
			{name: "duplicate_to", ref: &ks.workItem},
			{name: "source", check: prose(), initial: "IN_APP"},
			{name: "source_email", check: prose()},
		}, external()...),
	})
}

// intakeStatus checks the decision about an intake item, which is a number.
func intakeStatus(t *tx, v any) (any, any) {
	if _, complaint := choice("-2", "-1", "0", "1", "2")(t, v); complaint != nil {
		return nil, complaint
	}
	return json.Number(pythonText(v)), nil
}

// addMembership adds a kind whose rows each make a record a member of a container.
func (ks *kinds) addMembership(name, member, container string) *kind {
	return ks.add(&kind{
		name: name, columns: audit("created_by", "updated_by", "workspace", "project", member, container),
		indexes: []index{{name: name, fields: []string{member, container}}},
	})
}
