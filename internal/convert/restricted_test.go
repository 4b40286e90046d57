package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/text/diag"
)

// Whatever a tracker calls it: an issue that not everybody may see is in nothing that is written, but for its key, unless the mapping says so.
func TestWhatNotEverybodyMaySeeIsHeldBack(t *testing.T) {
	t.Parallel()
	const (
		redmine = `{"id": %d, "project": {"id": 1, "name": "Web"}, "tracker": {"id": 1, "name": "Bug"}, "status": {"id": 1, "name": "New"}, "subject": %q%s}`
		jira    = `{"key": "A-%d", "fields": {"summary": %q, "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}%s}}`
		backup  = `<Issue id="%d" key="A-%[1]d" number="%[1]d" project="1" summary=%q status="1"%s/>`
		gitlab  = `{"iid": %d, "title": %q, "author_id": 1, "confidential": %s, "project_id": 9, "due_date": null}`
	)
	for name, tt := range map[string]struct{ file, text, field, key string }{
		"Jira CSV":       {"j.csv", "Issue key,Summary,Status,Security Level\nA-1,One,Open,\nA-2,Secret,Open,Staff\n", "Security Level", "A-2"},
		"Jira JSON":      {"j.json", "[" + fmt.Sprintf(jira, 1, "One", `, "security": null, "issuelinks": [{"type": {"name": "Blocks"}, "outwardIssue": {"key": "A-2", "fields": {"summary": "Secret"}}}]`) + "," + fmt.Sprintf(jira, 2, "Secret", `, "security": {"id": "7", "name": "Staff"}`) + "]", "Security Level", "A-2"},
		"Jira backup":    {"entities.xml", `<entity-engine-xml><Project id="1" key="A" name="A"/><Status id="1" name="Open"/>` + fmt.Sprintf(backup, 1, "One", "") + fmt.Sprintf(backup, 2, "Secret", ` security="7"`) + `<IssueLinkType id="1" linkname="Blocks"/><IssueLink id="1" linktype="1" source="1" destination="2"/></entity-engine-xml>`, "Security Level", "A-2"},
		"GitLab CSV":     {"g.csv", "ID,IID,Title,Description,Type,URL,State,Confidential,Locked\n10,1,One,,Issue,https://example.com/g/p/-/issues/1,Open,No,No\n11,2,Secret,,Issue,https://example.com/g/p/-/issues/2,Open,Yes,No\n", "Confidential", "2"},
		"GitLab REST":    {"g.json", `[{"id": 10, "iid": 1, "title": "One", "state": "opened", "confidential": false, "web_url": "https://example.com/g/p/-/issues/1"}, {"id": 11, "iid": 2, "title": "Secret", "state": "opened", "confidential": true, "web_url": "https://example.com/g/p/-/issues/2"}]`, "confidential", "2"},
		"GitLab project": {"issues.ndjson", fmt.Sprintf(gitlab, 1, "One", "false") + "\n" + fmt.Sprintf(gitlab, 2, "Secret", "true") + "\n", "confidential", "2"},
		"a table of no tracker has a column for restricted issues": {"t.csv", "Ref,Title,Status,Confidential\nA-1,One,Open,No\nA-2,Secret,Open,Yes\n", "Confidential", "A-2"},
		"a column for restricted issues may have other words":      {"t.csv", "Ref;Title;Status;Confidential issue\nA-1;One;Open;\nA-2;Secret;Open;true\n", "Confidential issue", "A-2"},
		"a record of no tracker has a field for restricted issues": {"t.jsonl", `{"ref": "A-1", "title": "One", "private": false}` + "\n" + `{"ref": "A-2", "title": "Secret", "private": true}` + "\n", "private", "A-2"},
		"Redmine": {"r.json", `{"issues": [` + fmt.Sprintf(redmine, 1, "One", "") + "," + fmt.Sprintf(redmine, 2, "Secret", `, "is_private": true`) + `], "total_count": 2}`, "is_private", "2"},
		"an issue of a later page may be restricted": {"r.json", `{"issues": [` + fmt.Sprintf(redmine, 1, "One", "") + "," + fmt.Sprintf(redmine, 2, "Secret", "") + "," + fmt.Sprintf(redmine, 2, "Secret", `, "is_private": true`) + `], "total_count": 2}`, "is_private", "2"},
		"Bugzilla": {"b.json", `{"bugs": [{"id": 1, "summary": "One", "product": "Web", "groups": []}, {"id": 2, "summary": "Secret", "product": "Web", "groups": ["staff"]}]}`, "groups", "2"},
		"YouTrack": {"y.json", `[{"idReadable": "A-1", "summary": "One", "customFields": [], "$type": "Issue"}, {"idReadable": "A-2", "summary": "Secret", "customFields": [], "visibility": {"$type": "LimitedVisibility"}, "$type": "Issue"}]`, "visibility", "A-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, f := t.TempDir(), inline(t, tt.file, tt.text)
			r := must(t, dir, f, nil)
			if text := fmt.Sprint(contents(t, dir)); strings.Contains(text, "Secret") || r.Report.Carried.Items != 1 {
				t.Error(text)
			}
			if n := slices.IndexFunc(r.Report.Notes, func(n convert.Remark) bool { return n.Kind == "restricted" }); n < 0 || fmt.Sprint(r.Report.Notes[n].Items) != "["+tt.key+"]" {
				t.Errorf("%+v", r.Report.Notes)
			}
			open := t.TempDir()
			put(t, open, map[string]string{"mapping.yaml": "columns: {" + tt.field + ": skip}\n"})
			if r := must(t, open, f, nil); r.Report.Carried.Items != 2 || !strings.Contains(fmt.Sprint(contents(t, open)), "name: Secret") {
				t.Errorf("%+v", r.Report.Carried)
			}
		})
	}
	_, err := run(t, t.TempDir(), inline(t, "j.csv", "Issue key,Summary,Status,Security Level\nA-2,Secret,Open,Staff\n"), nil)
	if hint := diag.HintOf(err); err == nil || !strings.Contains(err.Error(), "not everybody may see the issues in it") || !strings.Contains(hint, "columns: {Security Level: skip}") {
		t.Errorf("%v (%s)", err, hint)
	}
}
