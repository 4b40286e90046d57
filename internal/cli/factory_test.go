package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestAFactoryMakesThirtyProjects: one apply makes them, a second nothing, a row one more, and pull takes what a colleague changed in one,
// into its own file or the cell of the table.
func TestAFactoryMakesThirtyProjects(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	dir := filepath.Join(t.TempDir(), "factory")
	if err := os.CopyFS(dir, os.DirFS("../../examples/factory")); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const projects = 30
	// applied applies the factory, and says what that cost.
	applied := func(saying string) (reads, writes int) {
		t.Helper()
		before := len(s.Log())
		if r := s.must(t, "apply", "-f", dir); !strings.Contains(r.out, saying) {
			t.Errorf("it does not say %q:\n%s%s", saying, r.out, r.err)
		}
		return s.sent(before)
	}

	before := len(s.Rows("project"))
	if _, writes := applied("Applied: 751 created"); writes != projects*25 {
		t.Errorf("%d writes for %d projects", writes, projects)
	}
	if got := len(s.Rows("project")) - before; got != projects {
		t.Errorf("%d projects", got)
	}
	if reads, writes := applied("No changes"); writes != 0 || reads != projects*13+5 {
		t.Errorf("the second apply makes %d reads and %d writes", reads, writes)
	}

	theirs := s.write(t, "theirs.yaml", `
version: 1
workspace: acme
projects:
  - identifier: ATLAS
    work_items: [{key: atlas-tiles, name: "Draw all tiles: now", priority: urgent}]
  - identifier: DUNE
    labels: [{name: bug, color: "#000000"}]
`)
	s.must(t, "apply", "-f", theirs)
	r := s.run(t, "pull", "-f", dir)
	for _, want := range []string{"atlas.yaml: 2 values", "Taken: 2 values.", "Not taken: 1 value"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("pull does not say %q:\n%s%s", want, r.out, r.err)
		}
	}
	if text := read("atlas.yaml"); !strings.Contains(text, `{key: atlas-tiles, name: "Draw all tiles: now", priority: urgent}`) {
		t.Error(text)
	}
	if _, writes := applied("Applied: 1 updated"); writes != 1 { // what all have is as the factory says
		t.Errorf("%d writes for a label", writes)
	}

	renamed := s.write(t, "renamed.yaml", `
version: 1
workspace: acme
projects: [{identifier: CORAL, name: Coral reef}]
`)
	s.must(t, "apply", "-f", renamed)
	if r := s.run(t, "pull", "-f", dir); r.code != 3 || !strings.Contains(r.err, "projects.csv:") || !strings.Contains(r.err, `the service has "Coral reef"`) {
		t.Error(r.code, r.out, r.err)
	}
	table := strings.Replace(read("projects.csv"), "coral,CORAL,Coral,", "coral,CORAL,Coral reef,", 1)
	if err := os.WriteFile(filepath.Join(dir, "projects.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	applied("No changes")

	more := []byte(read("projects.csv") + "elm,ELM,Elm,shop,ada@example.com\n")
	if err := os.WriteFile(filepath.Join(dir, "projects.csv"), more, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, writes := applied("Applied: 25 created"); writes != 25 {
		t.Errorf("%d writes for one project more", writes)
	}
}
