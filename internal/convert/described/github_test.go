package described_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/formats"
	"github.com/planform/planform/manifest"
)

// run converts JSON texts, each a file, and gives the folder and the report.
func run(t *testing.T, texts ...string) (string, *convert.Report) {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, text := range texts {
		names = append(names, filepath.Join(dir, string(rune('a'+i))+".json"))
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := convert.Files(names, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "to")
	r, err := convert.Run(t.Context(), convert.Options{Format: convert.Auto, Formats: formats.All(), Files: files, Dir: to})
	if err != nil {
		t.Fatal(err)
	}
	if _, findings := manifest.Load(t.Context(), []string{to}, manifest.Options{}); findings.HasErrors() {
		t.Error(findings)
	}
	return to, r.Report
}

func TestPagesThatOverlapCountOnce(t *testing.T) {
	t.Parallel()
	const first = `{"number": 1, "title": "old", "comments": 1, "state": "open", "html_url": "https://github.com/a/b/issues/1", "updated_at": "2025-01-01T00:00:00Z"}`
	const later = `{"number": 1, "title": "new", "comments": 1, "state": "open", "html_url": "https://github.com/a/b/issues/1", "updated_at": "2025-01-02T00:00:00Z"}`
	const comment = `{"id": 5, "body": "x", "issue_url": "https://api.github.com/repos/a/b/issues/1", "user": {"login": "ada"}}`
	to, r := run(t, "[["+later+"],["+first+"]]", "["+comment+"]["+comment+"]")
	if r.Counts.Items != 1 || r.Counts.Comments != 1 || r.Carried.Comments != 1 {
		t.Errorf("%+v", r.Counts)
	}
	data, err := os.ReadFile(filepath.Join(to, "b.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "name: new") {
		t.Error(string(data))
	}
}

func TestRepositoriesOfOneNameAreTwoProjects(t *testing.T) {
	t.Parallel()
	to, r := run(t, `[{"number": 1, "title": "x", "html_url": "https://github.com/a/mapping/issues/1"}, {"number": 1, "title": "y", "html_url": "https://github.com/b/mapping/issues/1"}]`)
	if r.Carried.Items != 2 || !slices.ContainsFunc(r.Notes, func(n convert.Remark) bool { return n.Kind == "no-comments" }) {
		t.Errorf("%+v %v", r.Carried, r.Notes)
	}
	var names []string
	for _, name := range []string{"mapping.yaml", "project-mapping.yaml", "mapping-2.yaml"} {
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			names = append(names, name)
		}
	}
	if diff := cmp.Diff([]string{"mapping.yaml", "project-mapping.yaml", "mapping-2.yaml"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestWhatABoardSaysOfIssues(t *testing.T) {
	t.Parallel()
	issue := func(number, state string) string {
		return `{"number": ` + number + `, "title": "t` + number + `", "state": "` + state + `", "comments": 0, "html_url": "https://github.com/a/b/issues/` + number + `"}`
	}
	item := func(number, more string) string {
		return `{"id": "PVTI_` + number + `", "title": "t` + number + `", "content": {"type": "Issue", "number": ` + number + `, "title": "t` + number +
			`", "repository": "a/b", "url": "https://github.com/a/b/issues/` + number + `"}` + more + `}`
	}
	const draft = `{"id": "PVTI_d", "content": {"type": "DraftIssue", "title": "Idea", "body": "x"}, "status": "Todo"}`
	for name, tt := range map[string]struct {
		issues, board string
		want          []string
		notes         []string
	}{
		"its column is the state":       {issue("1", "open"), `{"items": [` + item("1", `, "status": "In review"`) + `]}`, []string{"state: In review"}, nil},
		"what is closed stays so":       {issue("1", "closed"), `{"items": [` + item("1", `, "status": "Todo"`) + `]}`, []string{"state: Done", "| Status | Todo |"}, []string{"board-closed"}},
		"its iteration is a cycle":      {issue("1", "open"), `{"items": [` + item("1", `, "round": {"title": "R1", "startDate": "2025-01-06", "duration": 14}`) + `]}`, []string{"cycle: R1", "{name: R1, start_date: 2025-01-06, end_date: 2025-01-19}"}, nil},
		"drafts go to the repository":   {issue("1", "open"), `{"items": [` + draft + `]}`, []string{"key: PVTI_d", "name: t1"}, nil},
		"drafts alone have a project":   {"", `{"data": {"node": {"title": "Road map", "items": {"nodes": [` + draft + `]}}}}`, []string{"key: PVTI_d", "name: Road map"}, nil},
		"the board before the issues":   {"", `{"items": [` + item("1", `, "status": "Todo"`) + `]} ` + issue("1", "open"), []string{"state: Todo"}, nil},
		"an issue that is in no file":   {issue("1", "open"), `{"items": [` + item("2", "") + `]}`, []string{"name: t1", "name: t2", "state: No status"}, []string{"board-alone"}},
		"a page of many":                {issue("1", "open"), `{"items": [` + item("1", "") + `], "totalCount": 31}`, []string{"name: t1"}, []string{"board-cut"}},
		"what whoever exported not saw": {issue("1", "open"), `{"data": {"node": {"items": {"nodes": [{"id": "PVTI_r", "content": null}]}}}}`, []string{"name: t1"}, []string{"board-hidden"}},
		"what does not say what it is": {
			"", `{"data": {"node": {"title": "Road map", "items": {"nodes": [{"id": "PVTI_n", "content": {"title": "Idea", "state": "OPEN", ` +
				`"assignees": {"nodes": [{"login": "ada"}]}, "labels": {"nodes": [{"name": "red"}]}}}]}}}}`,
			[]string{"key: PVTI_n", "name: Idea", "labels: [red]", "ada"},
			[]string{"board-nameless"},
		},
		"pull requests count once": {
			issue("1", "open") + `{"number": 3, "title": "p", "pull_request": {}, "html_url": "https://github.com/a/b/issues/3"}`,
			`{"items": [{"id": "PVTI_p", "content": {"type": "PullRequest", "number": 3, "title": "p", "url": "https://github.com/a/b/pull/3"}}]}`,
			[]string{"name: t1"},
			[]string{"pull-requests"},
		},
		"what gh says of boards itself": {`{"number": 1, "title": "t", "state": "OPEN", "comments": [], "url": "https://github.com/a/b/issues/1", "projectItems": [{"title": "A", "status": {"name": ""}}, {"title": "B", "status": {"name": "In review"}}]}`, "", []string{"state: In review"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, r := run(t, slices.DeleteFunc([]string{tt.issues, tt.board}, func(text string) bool { return text == "" })...)
			var all strings.Builder
			for _, name := range []string{"b.yaml", "board.yaml"} {
				data, err := os.ReadFile(filepath.Join(to, name))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				all.Write(data)
			}
			for _, want := range tt.want {
				if !strings.Contains(all.String(), want) {
					t.Errorf("%q is not in\n%s", want, all.String())
				}
			}
			var notes []string
			for _, n := range r.Notes {
				if strings.HasPrefix(n.Kind, "board-") || n.Kind == "pull-requests" {
					notes = append(notes, n.Kind)
				}
			}
			if diff := cmp.Diff(tt.notes, notes); diff != "" {
				t.Error(diff)
			}
		})
	}
}
