package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
)

// On the community edition the first apply of an example makes all that the edition has, and the second one nothing.
func TestTheCommunityEditionHoldsWhatItCanOfTheExamples(t *testing.T) {
	t.Parallel()
	for _, example := range []string{"workspace.yaml", "from-nothing.yaml", "split", "import.yaml"} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandbox.Options{Edition: sandbox.Community})
			if err := os.CopyFS(s.dir, examples()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(s.dir, example)
			s.must(t, "validate", "-f", file)
			first := s.must(t, "apply", "-f", file, "--workspace", "acme", "--parallelism", "8", "--allow-unsupported")
			if strings.Contains(last(first.out), " failed") || strings.Contains(last(first.out), " blocked") {
				t.Errorf("the first apply does not make all that is possible: %s\n%s", last(first.out), first.err)
			}
			before := len(s.Log())
			second := s.must(t, "apply", "-f", file, "--workspace", "acme", "--allow-unsupported")
			if _, writes := s.sent(before); writes > 0 {
				t.Errorf("the second apply makes %d writes:\n%s", writes, second.out)
			}
			lacking := strings.Contains(first.out, "not possible")
			for flag, want := range map[string]int{"--detailed-exitcode": 3, "--allow-unsupported": 0} {
				if !lacking {
					want = 0
				}
				if r := s.run(t, "plan", "-f", file, "--workspace", "acme", "--detailed-exitcode", flag); r.code != want {
					t.Errorf("%s: exit %d, want %d\n%s", flag, r.code, want, r.out)
				}
			}
		})
	}
}

// The whole story on one service of the community edition: seed, drift, export, apply elsewhere twice, prune.
func TestAWorkspaceOfTheCommunityEditionFromSeedToPrune(t *testing.T) {
	t.Parallel()
	s := newService(t, sandbox.Options{Edition: sandbox.Community})
	seed := `version: 1
workspace: acme
projects:
  - identifier: PORT
    name: Port
    labels: [{name: quay, color: "#3b82f6"}]
    cycles: [{key: one, name: One}]
    work_items:
      - {key: crane, name: Mend the crane, labels: [quay], cycle: one, state: Todo}
      - {key: boats, name: Count the boats, parent: crane}
`
	file := s.write(t, "port.yaml", seed)
	if r := s.must(t, "apply", "-f", file); !strings.Contains(r.out, "\nApplied: 5 created, 1 membership added.") {
		t.Errorf("the seed:\n%s%s", r.out, r.err)
	}
	if r := s.run(t, "plan", "-f", file, "--detailed-exitcode"); r.code != 0 || !strings.Contains(r.out, "No changes.") {
		t.Errorf("seeded, exit %d:\n%s", r.code, r.out)
	}

	// Somebody changes a field; the plan says who, and the manifest's value comes back.
	other := &service{Server: s.Server, url: s.url, dir: t.TempDir()}
	drift := other.write(t, "drift.yaml", strings.Replace(seed, "state: Todo", "state: Done", 1))
	other.must(t, "apply", "-f", drift, "--no-create", "work_item")
	r := s.run(t, "plan", "-f", file, "--detailed-exitcode")
	if r.code != 2 || !strings.Contains(r.out, "Done -> Todo     (changed on the service since the last apply by ada") {
		t.Errorf("drifted, exit %d:\n%s%s", r.code, r.out, r.err)
	}
	s.must(t, "apply", "-f", file)

	// What is exported can be applied to another workspace, and a second time without a change.
	out := filepath.Join(s.dir, "out")
	s.must(t, "export", "--workspace", "acme", "--project", "PORT", "--to", out)
	elsewhere := newService(t, sandbox.Options{Edition: sandbox.Community, Workspace: "copy"})
	elsewhere.must(t, "apply", "-f", out, "--workspace", "copy", "--state", filepath.Join(elsewhere.dir, "state.json"))
	before := len(elsewhere.Log())
	again := elsewhere.must(t, "apply", "-f", out, "--workspace", "copy", "--state", filepath.Join(elsewhere.dir, "state.json"))
	if _, writes := elsewhere.sent(before); writes > 0 {
		t.Errorf("the second apply elsewhere makes %d writes:\n%s", writes, again.out)
	}

	// Without the rest of the manifest, prune takes away what planform made.
	s.write(t, "port.yaml", "version: 1\nworkspace: acme\nprojects:\n  - {identifier: PORT, name: Port}\n")
	if r := s.run(t, "apply", "-f", file, "--prune"); r.code == 0 {
		t.Errorf("it deletes without being asked to:\n%s", r.out)
	}
	pruned := s.must(t, "apply", "-f", file, "--prune", "--yes", "--max-deletes", "10")
	if !strings.Contains(pruned.out, "Applied: 4 deleted") {
		t.Errorf("pruned:\n%s%s", pruned.out, pruned.err)
	}
	if r := s.run(t, "plan", "-f", file, "--prune", "--detailed-exitcode"); r.code != 0 {
		t.Errorf("after prune, exit %d:\n%s", r.code, r.out)
	}
}
