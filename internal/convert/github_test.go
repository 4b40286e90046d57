package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
)

// Lists of GitHub that are no issues are left out by name.
func TestOtherListsOfGitHubAreNoIssues(t *testing.T) {
	t.Parallel()
	const issue = `[{"number":1,"title":"One","html_url":"https://github.com/o/r/issues/1","state":"open","comments":0}]`
	for name, list := range map[string]string{
		"milestones":  `[{"number":1,"title":"v1.0.0 - MVP","html_url":"https://github.com/o/r/milestone/1","state":"open","description":"x","due_on":null,"open_issues":1}]`,
		"labels":      `[{"id":1,"node_id":"x","url":"https://api.github.com/repos/o/r/labels/bug","name":"bug","color":"d73a4a","default":true,"description":"y"}]`,
		"discussions": `[{"number":7,"title":"Shall we?","html_url":"https://github.com/o/r/discussions/7","body":"x"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := manifests(t, inline(t, "issues.json", issue, "other.json", list), "")
			note := ""
			for _, n := range r.Notes {
				if n.Kind == "other-lists" {
					note = n.Text
				}
			}
			if r.Carried.Items != 1 || r.Counts.Items != 1 || !strings.Contains(note, strings.TrimSuffix(name, "s")) {
				t.Errorf("%+v %q", r.Carried, note)
			}
			_, err := run(t, t.TempDir(), inline(t, "other.json", list), nil)
			if err == nil || !strings.Contains(err.Error(), "there is no issue in it") {
				t.Error(err)
			}
		})
	}
}

// A list of the REST API has only the numbers of relations and sub-issues. What they count and the export lacks is a loss.
func TestWhatGitHubOnlyCountsIsALoss(t *testing.T) {
	t.Parallel()
	const issue = `{"number":%d,"title":"t","state":"open","html_url":"https://github.com/o/r/issues/%d","issue_dependencies_summary":{"blocked_by":1,"total_blocked_by":1,"blocking":0,"total_blocking":0},"sub_issues_summary":{"total":%d},"parent_issue_url":%s}`
	text, r := manifests(t, inline(t, "i.json", "["+fmt.Sprintf(issue, 1, 1, 3, "null")+","+fmt.Sprintf(issue, 2, 2, 0, `"https://api.github.com/repos/o/r/issues/1"`)+"]"), "")
	got := map[string]int{}
	for _, l := range r.Losses {
		got[l.Kind] = l.Count
	}
	if got["relations-not-exported"] != 2 || got["items-not-exported"] != 2 || strings.Contains(text, "summary") {
		t.Errorf("%v\n%s", got, text)
	}
}

// Relations and types of gh issue list are carried as those of the REST API are.
func TestRelationsAndTypesOfGhAreRead(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "i.json", `[{"number":1,"title":"First","state":"OPEN","body":"x","url":"https://github.com/o/r/issues/1","author":{"login":"kim"},"issueType":{"id":"IT_1","name":"Bug","color":"RED"},"blockedBy":{"nodes":[{"number":2,"title":"Second","url":"https://github.com/o/r/issues/2"}],"totalCount":1}},
		{"number":2,"title":"Second","state":"OPEN","body":"x","url":"https://github.com/o/r/issues/2","author":{"login":"kim"},"blocking":{"nodes":[{"number":1,"title":"First","url":"https://github.com/o/r/issues/1"}],"totalCount":1}}]`), "")
	if !strings.Contains(text, "type: Bug") || !strings.Contains(text, "blocked_by: [r/2]") || len(r.Losses) > 0 || r.Values.Lost > 0 {
		t.Errorf("%+v %+v\n%s", r.Losses, r.Values, text)
	}
}

// What is no issue, comment or number of the type that GitHub writes is carried, or named.
func TestValuesOfAnotherTypeAreCarriedOrNamed(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "i.json", `[{"number":"1","title":17,"body":5,"state":"OPEN","labels":["red",{"name":"blue"}],"assignees":["ann"],"milestone":"v1",
		"user":"kim","type":"Bug","url":"https://github.com/o/r/issues/1","comments":"4","closed_at":{"at":"never"},"reactions":[7]}]`), "")
	for _, want := range []string{`name: "17"`, `"5"`, "labels: [red, blue]", "milestone | v1 |", "type | Bug |", "kim", "| closed\\_at.at | never |"} {
		if !strings.Contains(strings.ReplaceAll(text, `\n`, "\n"), strings.Trim(want, `"`)) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	got := map[string]int{}
	for _, l := range r.Losses {
		got[l.Kind] = l.Count
	}
	if got["comments-not-exported"] != 4 {
		t.Error(got)
	}
}

// A record of a comment that has no text is only counted.
func TestCommentsThatGitHubOnlyCountsAreNone(t *testing.T) {
	t.Parallel()
	const issue = `{"number":%d,"title":"a","state":"OPEN","url":"https://github.com/o/r/issues/%[1]d","comments":%s}`
	of := func(number int, comments string) string { return fmt.Sprintf(issue, number, comments) }
	issues := []string{of(1, `{"totalCount":3}`), of(2, `{"totalCount":2,"nodes":[{"id":"x"}]}`), of(3, `{"nodes":[{"id":"y"},{"id":"z","body":"hi"}]}`)}
	text, r := manifests(t, inline(t, "i.json", `{"data":{"repository":{"issues":{"nodes":[`+strings.Join(issues, ",")+`]}}}}`), "")
	if r.Counts.Comments != 7 || r.Carried.Comments != 1 || r.Losses[0].Kind != "comments-not-exported" || r.Losses[0].Count != 6 || strings.Contains(text, "otalCount") {
		t.Errorf("%+v %+v\n%s", r.Counts, r.Losses, text)
	}
}

// Relations of GraphQL are carried, and those that an answer only counts are a loss.
func TestRelationsOfGraphQLAreRead(t *testing.T) {
	t.Parallel()
	const issue = `{"number":%d,"title":"t","state":"OPEN","url":"https://github.com/o/r/issues/%[1]d","comments":{"nodes":[]},%s}`
	blocks := fmt.Sprintf(issue, 1, `"blocking":{"totalCount":1,"nodes":[{"number":2,"url":"https://github.com/o/r/issues/2"}]}`)
	blocked := fmt.Sprintf(issue, 2, `"blockedBy":{"totalCount":3,"nodes":[{"number":1,"url":"https://github.com/o/r/issues/1"}]}`)
	text, r := manifests(t, inline(t, "i.json", `{"data":{"repository":{"issues":{"nodes":[`+blocks+","+blocked+`]}}}}`), "")
	if !strings.Contains(text, "blocking: [r/2]") || len(r.Losses) != 1 || r.Losses[0].Kind != "relations-not-exported" || r.Losses[0].Count != 2 {
		t.Errorf("%+v\n%s", r.Losses, text)
	}
}

func TestItemsOfABoardWithoutContentOrTitle(t *testing.T) {
	t.Parallel()
	const hidden, issue = `{"id":"PVTI_2","content":null,"status":"Todo"}`, `{"id":"PVTI_1","content":{"type":"Issue","number":3,"url":"https://github.com/o/r/issues/3"},"status":"Todo"}`
	_, r := manifests(t, inline(t, "b.json", `{"items":[{"id":"PVTI_3","content":{"type":"DraftIssue","title":"D","id":"DI_1"}},`+hidden+`],"totalCount":2}`), "")
	if r.Counts.Items != 1 || !slices.ContainsFunc(r.Notes, func(n convert.Remark) bool { return n.Kind == "board-hidden" }) {
		t.Errorf("%+v", r.Notes)
	}
	_, err := run(t, t.TempDir(), inline(t, "b.json", `{"items":[`+issue+`],"totalCount":1}`), nil)
	if err == nil || !strings.Contains(err.Error(), "an item of a board whose content has no title") {
		t.Error(err)
	}
}
