package github_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/github"
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
	r, err := convert.Run(t.Context(), convert.Options{Format: convert.Auto, Formats: []*convert.Format{github.Format()}, Files: files, Dir: to})
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
