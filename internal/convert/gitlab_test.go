package convert_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnExportOfGitLabIsReadWhole: the folder as it was unpacked, and the one file that older versions wrote, give the same manifests.
func TestAnExportOfGitLabIsReadWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := map[string]any{"merge_requests": []any{map[string]any{"iid": 4, "title": "Draft", "author_id": 12}}}
	for part, name := range map[string]string{"": "project.json", "issues": "issues.ndjson", "project_members": "project_members.ndjson"} {
		data, err := os.ReadFile("testdata/gitlab-export/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if part == "" {
			if err := json.Unmarshal(data, &old); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var list []json.RawMessage
		for line := range strings.Lines(string(data)) {
			list = append(list, json.RawMessage(line))
		}
		old[part] = list
	}
	data, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{"project.json": string(data)})
	var all []string
	for _, tt := range []struct{ file, kind, note string }{
		{"testdata/gitlab-export", "files-passed-over", "merge_requests.ndjson"},
		{filepath.Join(dir, "project.json"), "parts-left-out", "1 record of merge requests left out"},
	} {
		to := filepath.Join(t.TempDir(), "to")
		r := must(t, to, fixture{files: []string{tt.file}}, nil)
		all = append(all, contents(t, to)["project-9.yaml"])
		noted := false
		for _, n := range r.Report.Notes {
			noted = noted || n.Kind == tt.kind && strings.Contains(n.Text, tt.note)
		}
		if !noted {
			t.Errorf("%s: %+v", tt.file, r.Report.Notes)
		}
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" || all[0] == "" {
		t.Error(diff)
	}
}

// TestWhatLiesBesideTheIssuesOfGitLabIsPassedOver: older exports gave the records of other parts IDs, too, as any table has.
func TestWhatLiesBesideTheIssuesOfGitLabIsPassedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"tree/project/boards.ndjson":             `{"id": 1, "project_id": 9, "name": "Development"}`,
		"tree/project/issues.ndjson":             `{"id": 5, "iid": 1, "title": "One", "author_id": 12, "project_id": 9, "confidential": false, "due_date": null}`,
		"tree/project/merge_requests.ndjson":     `{"id": 7, "iid": 1, "title": "A change", "author_id": 12, "project_id": 9, "source_branch": "a"}`,
		"tree/project/protected_branches.ndjson": `{"id": 3, "project_id": 9, "name": "main"}`,
	})
	r := must(t, filepath.Join(t.TempDir(), "to"), fixture{files: []string{dir}}, nil)
	passed := ""
	for _, n := range r.Report.Notes {
		if n.Kind == "files-passed-over" {
			passed = n.Text
		}
	}
	if r.Report.Source.Format != "gitlab-export" || r.Report.Carried.Items != 1 || !strings.HasPrefix(passed, "3 files") {
		t.Errorf("%+v %s", r.Report.Source, passed)
	}
}
