package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/manifest"
)

// TestEveryExampleOfInitIsValidWithoutItsCommentSigns takes the signs away, of each kind alone and of several together. A plan takes the
// manifest, too, unless the workspace would have to manage the kind, or the example names parts of its container.
func TestEveryExampleOfInitIsValidWithoutItsCommentSigns(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	for _, kinds := range append(resource.Listed(), "cycles, customers,milestones,link,project-page") {
		dir := t.TempDir()
		if r := runIn(nil, "init", "--workspace", "acme", "--to", dir, "--with", kinds); r.code != 0 {
			t.Errorf("%s: %s", kinds, r.err)
			continue
		}
		name := filepath.Join(dir, "workspace.yaml")
		written, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		commented, findings := manifest.Load(t.Context(), []string{name}, manifest.Options{Offline: true})
		if len(findings) > 0 {
			t.Errorf("%s, in comments: %v", kinds, findings)
		}
		text, examples, _ := strings.Cut(string(written), "\n---")
		text += "\n---" + strings.ReplaceAll(examples, "\n# ", "\n")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, findings := manifest.Load(t.Context(), []string{name}, manifest.Options{Offline: true})
		if findings.HasErrors() || len(m.Objects) <= len(commented.Objects) {
			t.Errorf("%s: %d objects, %v\n%s", kinds, len(m.Objects), findings, examples)
		}
		if strings.HasPrefix(kinds, "workspace_") && kinds != "workspace_features" || kinds == "workflow_transition" {
			continue
		}
		if r := s.run(t, "plan", name, "--api", "v2", "--state", dir+"/state.json"); r.code != 0 {
			t.Errorf("%s: exit code %d\n%s\n%s", kinds, r.code, r.err, examples)
		}
	}
}

// TestTheExamplesOfEachPairOfKindsAreValidTogether takes away the comment signs of two examples in one file.
func TestTheExamplesOfEachPairOfKindsAreValidTogether(t *testing.T) {
	t.Parallel()
	kinds, dir := resource.Listed(), t.TempDir()
	name := filepath.Join(dir, "workspace.yaml")
	for i, first := range kinds {
		for k, second := range kinds[i+1:] {
			if !sample.Takes(i+k, 16) { // there are more than a thousand pairs
				continue
			}
			if r := runIn(nil, "init", "--workspace", "acme", "--to", dir, "--with", first+","+second); r.code != 0 {
				t.Fatalf("%s,%s: %s", first, second, r.err)
			}
			written, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text, examples, _ := strings.Cut(string(written), "\n---")
			if err := os.WriteFile(name, []byte(text+"\n---"+strings.ReplaceAll(examples, "\n# ", "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, findings := manifest.Load(t.Context(), []string{name}, manifest.Options{}); findings.HasErrors() {
				t.Errorf("%s,%s: %v\n%s", first, second, findings, examples)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}
