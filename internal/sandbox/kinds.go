package sandbox

import (
	"strings"
)

// kinds holds every kind of object that the sandbox stores. Each describe method adds the kinds of one subject.
type kinds struct {
	documented                                                                                       bool // bodies follow the contract
	workspace, user, member, role, project, projectMember                                            *kind
	state, label, cycle, module, itemType, estimate, estimatePoint                                   *kind
	milestone, milestoneIssue, intakeItem, initiativeEpic                                            *kind
	workItem, hiddenItem, deletedItem, link, comment, activity, attachment                           *kind
	cycleIssue, moduleIssue, relation                                                                *kind
	itemProperty, propertyOption, itemValue                                                          *kind
	initiative, initiativeLabel, initiativeProject, initiativeLabelLink                              *kind
	teamspace, teamspaceProject, teamspaceMember                                                     *kind
	customer, request, property, propertyChoice, customerValue, page, projectPage, view, projectView *kind
	relationDefinition, template, projectTemplate                                                    *kind
	webhook, invitation                                                                              *kind
	workflow, workflowState, transition                                                              *kind
	release, releaseTag, releaseLabel, releaseLabelLink, releaseItem, releaseLink, changelog         *kind
	all                                                                                              []*kind // all kinds, including those without a field here
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

// newKinds makes the kinds of objects. They depend on the response profile, because a few fields differ between the documentation
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

// names splits a list of names.
func names(list string) []string { return strings.Fields(list) }

// audit returns the columns of most records, followed by the given ones.
func audit(list string) []string { return names("id created_at updated_at deleted_at " + list) }

// externalPair are the fields of a record's external ID, for [bodyFields].
const externalPair = " external_source=text? external_id=text?"

// bodyFields returns fields of a body: a list of names with their types, then fields of other types. "*" marks a field that
// a creation needs, "?" a type that may be null.
func bodyFields(list string, more ...field) []field {
	types := map[string]field{
		"line": {check: line()}, "line?": {check: line(), null: true}, "prose": {check: prose(), initial: ""}, "prose?": {check: prose(), null: true},
		"text": {check: str(255, true), initial: ""}, "text?": {check: str(255, true), null: true},
		"html": {check: richText, initial: "<p></p>"}, "object": {check: mapping, initial: row{}},
		"on": {check: boolean, initial: true}, "off": {check: boolean, initial: false},
		"date?": {check: date, null: true}, "moment?": {check: moment, null: true},
		"order": {check: real, initial: float(firstOrder)},
	}
	var out []field
	for spec := range strings.FieldsSeq(list) {
		name, kind, _ := strings.Cut(spec, "=")
		f, known := types[kind]
		if !known {
			panic("sandbox: no type of fields is called " + kind)
		}
		f.name, f.required = strings.CutSuffix(name, "*")
		out = append(out, f)
	}
	return append(out, more...)
}

func (ks *kinds) describePeople() {
	const profile = "id first_name last_name email avatar avatar_url display_name"
	ks.workspace = ks.add(&kind{
		name: "workspace", columns: names("name slug id"),
		hidden: names("created_at updated_at updated_by work_item_type_default_level " + statesGoverned + " " + workspaceFeatures),
	})
	ks.user = ks.add(&kind{name: "user", columns: names(profile)})
	ks.member = ks.add(&kind{name: "member", columns: names(profile + " role")})
	ks.role = ks.add(&kind{name: "role", columns: names("id namespace slug name level is_system description status")})
	ks.projectMember = ks.add(&kind{
		name: "project_member", columns: names("id member role"), hidden: names("project created_at inactive slug"), // slug of the role in API v2
		fields: []field{{name: "member", required: true, ref: &ks.user}, {name: "role", check: numberChoice("20", "15", "5"), initial: integer(roleGuest)}},
		param:  "member", scope: inProject,
		afterDelete: (*call).dropRole,
	})
}

func (ks *kinds) describeMilestones() {
	ks.milestone = ks.add(&kind{
		name: "milestone", path: "projects/{project}/milestones/", param: "milestone", hidden: names("archived_at"),
		columns:  audit("title target_date external_source external_id created_by updated_by project workspace"),
		indexes:  []index{uniqueExternalID("milestone", "project", "Milestone")},
		fields:   bodyFields("title*=line target_date=date?" + externalPair),
		contents: []**kind{&ks.milestoneIssue},
	})
	ks.milestoneIssue = ks.addMembership("milestone_issue", "issue", "milestone")
}

func (ks *kinds) describeIntake() {
	ks.intakeItem = ks.add(&kind{
		name: "intake_item", param: "intake", scope: inProject,
		columns: audit("name description_html priority status snoozed_till duplicate_to source source_email external_source " +
			"external_id created_by updated_by project workspace intake issue state"),
		fields: bodyFields("name=line"+externalPair,
			field{name: "description_html", check: richText, initial: ""},
			field{name: "priority", check: choice("none", "low", "medium", "high", "urgent"), initial: "none"},
			field{name: "status", check: numberChoice("-2", "-1", "0", "1", "2"), initial: integer(-2)},
			field{name: "snoozed_till", check: moment},
			field{name: "duplicate_to", ref: &ks.workItem},
			field{name: "source", check: prose(), initial: "IN_APP"},
			field{name: "source_email", check: prose()},
		),
	})
}

// addMembership adds a kind whose rows each make a record a member of a container.
func (ks *kinds) addMembership(name, member, container string) *kind {
	return ks.add(&kind{
		name: name, columns: audit("created_by updated_by workspace project " + member + " " + container),
		indexes: []index{{name: name, fields: []string{member, container}}},
	})
}
