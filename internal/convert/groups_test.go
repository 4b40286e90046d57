package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
)

func TestDescriptionsOfComponentsVersionsSprintsAndLabelsAreCarried(t *testing.T) {
	t.Parallel()
	const (
		jira = `{"issues": [{"id": "1", "key": "A-1", "self": "x", "fields": {"summary": "One", "project": {"key": "A"},
			"components": [{"name": "Web", "description": "The shop window"}], "fixVersions": [{"name": "v1", "description": "The first one"}],
			"customfield_1": [{"id": 1, "name": "Sprint 1", "state": "active", "boardId": 2, "goal": "Ship it"}]}}]}`
		backup = `<entity-engine-xml><Project id="1" key="A" name="A"/><Component id="2" name="Web" description="The shop window"/>
			<Version id="3" name="v1" description="The first one"/><Issue id="1" key="A-1" number="1" project="1" summary="One"/>
			<NodeAssociation sourceNodeId="1" sourceNodeEntity="Issue" sinkNodeId="2" associationType="IssueComponent"/>
			<NodeAssociation sourceNodeId="1" sourceNodeEntity="Issue" sinkNodeId="3" associationType="IssueFixVersion"/></entity-engine-xml>`
	)
	for name, tt := range map[string]struct {
		file, text, mapping string
		want                []string
		lost                string // a value that no manifest has
	}{
		"Jira":                {"a.json", jira, "", []string{"{name: Sprint 1, description: Ship it}", "{name: Web, description: The shop window}", "description: The first one"}, ""},
		"Jira without labels": {"a.json", jira, "versions: {fix: skip}\n", []string{"description: Ship it"}, ""},
		"a former sprint": {
			"a.json", strings.Replace(jira, `[{"id": 1,`, `[{"id": 3, "name": "Sprint 0", "state": "closed", "boardId": 2, "goal": "Begin"}, {"id": 1,`, 1), "",
			[]string{"description: Ship it"},
			"Begin",
		},
		"a backup of Jira": {"entities.xml", backup, "", []string{"description: The shop window", "description: The first one"}, ""},
		"GitHub": {"a.json", `[{"number": 1, "title": "One", "state": "open", "html_url": "https://github.com/o/r/issues/1",
			"milestone": {"title": "v1", "description": "The first one"}}]`, "", []string{"{name: v1, description: The first one}"}, ""},
		"GitLab": {
			"a.json", `[{"iid": 1, "title": "One", "web_url": "https://gitlab.com/g/p/-/issues/1", "milestone": {"title": "v1", "description": "The first one"},
			"iteration": {"title": "Sprint 1", "description": "Ship it"}, "labels": [{"name": "ux", "color": "#ff0000", "description": "For people"}]}]`, "",
			[]string{"{name: v1, description: The first one}", "{name: Sprint 1, description: Ship it}", `{name: ux, color: "#ff0000", description: For people}`},
			"",
		},
		"Linear": {
			"a.json", `{"identifier": "W-1", "title": "One", "labels": {"nodes": [{"name": "ux", "description": "For people", "parent": {"name": "Areas"}}]},
			"project": {"name": "Shop", "description": "The shop window"}, "projectMilestone": {"name": "v1", "targetDate": "2026-01-31", "description": "The first one"},
			"cycle": {"name": "Cycle 1", "description": "Ship it"}}`, "",
			[]string{"{name: ux, description: For people}", "{name: Shop, description: The shop window}", "{name: v1, description: The first one,", "{name: Cycle 1, description: Ship it}"},
			"Areas",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, r := manifests(t, inline(t, tt.file, tt.text), tt.mapping)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			lost := slices.ContainsFunc(r.Values.Fields, func(v convert.ValueCount) bool { return v.Lost > 0 })
			if lost != (tt.lost != "") || len(r.Losses) == 0 && lost || tt.lost != "" && strings.Contains(text, tt.lost) {
				t.Errorf("%+v %+v\n%s", r.Values, r.Losses, text)
			}
		})
	}
}

func TestTheLastSprintOfABackupIsTheCycleOfItsIssueWithItsGoal(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "entities.xml", `<entity-engine-xml><Project id="1" key="A" name="A"/><Issue id="1" key="A-1" number="1" project="1" summary="One"/>
		<CustomField id="3" customfieldtypekey="com.pyxis.greenhopper.jira:gh-sprint" name="Sprint"/><CustomFieldValue id="4" issue="1" customfield="3" stringvalue="8"/>
		<CustomFieldValue id="5" issue="1" customfield="3" stringvalue="7"/><CustomFieldValue id="6" issue="1" customfield="3" stringvalue="9"/></entity-engine-xml>`,
		"activeobjects.xml", `<backup xmlns="http://www.atlassian.com/ao"><data tableName="AO_60DB71_SPRINT"><column name="ID"/><column name="NAME"/><column name="START_DATE"/>
		<column name="END_DATE"/><column name="GOAL"/><row><integer>7</integer><string>Sprint 7</string><integer>1762164000000</integer><integer>1763373600000</integer><string>Begin</string></row>
		<row><integer>8</integer><string>Sprint 8</string><integer>1763373600000</integer><integer>1764583200000</integer><string>Ship it</string></row></data></backup>`), "")
	for _, want := range []string{"name: Sprint 8", "start_date: 2025-11-17", "end_date: 2025-12-01", "description: Ship it", "cycle: Sprint 8}"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, f := range r.Values.Fields {
		if f.Name == "Sprint.goal" && (f.Read != 2 || f.Carried != 1 || f.Lost != 1) {
			t.Errorf("%+v", f)
		}
	}
}

func TestWhatIsClearedOfACycleOrAModuleIsWrittenEmpty(t *testing.T) {
	t.Parallel()
	const one = `{"issues": [{"id": "1", "key": "A-1", "self": "x", "fields": {"summary": "One", "project": {"key": "A"}, "components": [{"name": "Web"%s}],
		"fixVersions": [{"name": "v1"%s}], "customfield_1": [{"id": 1, "name": "Sprint 1", "state": "future", "boardId": 2%s}]}}]}`
	full := fmt.Sprintf(one, `, "description": "The shop"`, `, "releaseDate": "2027-01-31"`, `, "goal": "Ship it", "startDate": "2027-01-01T00:00:00Z", "endDate": "2027-01-15T00:00:00Z"`)
	bare := fmt.Sprintf(one, "", "", "")
	dir := t.TempDir()
	convertOne := func(text string) string {
		must(t, dir, inline(t, "a.json", text), nil)
		valid(t, dir)
		return contents(t, dir)["a.yaml"]
	}
	before := convertOne(full)
	if strings.Contains(before, "null") || strings.Contains(before, `""`) {
		t.Error(before)
	}
	for range 2 {
		got := convertOne(bare)
		for _, want := range []string{"description: \"\"\n        start_date: null\n        end_date: null\n", `{name: Web, description: ""}`, "{name: v1, target_date: null}"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
	if got := convertOne(full); got != before {
		t.Errorf("it is not as before:\n%s", got)
	}
	gone := convertOne(`{"issues": [{"id": "2", "key": "A-2", "self": "x", "fields": {"summary": "Two", "project": {"key": "A"}}}]}`)
	if strings.Contains(gone, "null") || strings.Contains(gone, `""`) {
		t.Errorf("what only an earlier export has is cleared:\n%s", gone)
	}
}
