package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestTheHooksDoWhatThePageSays runs each hook as pre-commit does with the configuration of docs/ci.md: it fails if its
// command does, or if a file is another afterwards.
func TestTheHooksDoWhatThePageSays(t *testing.T) {
	t.Parallel()
	var hooks []struct{ ID, Entry string }
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &hooks); err != nil {
		t.Fatal(err)
	}
	var config struct {
		Repos []struct {
			Hooks []struct {
				ID   string
				Args []string
			}
		}
	}
	for _, b := range blocks(t, "../../docs/ci.md") {
		if b.file == ".pre-commit-config.yaml" {
			if err := yaml.Unmarshal([]byte(b.text), &config); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(config.Repos) != 1 || len(config.Repos[0].Hooks) != len(hooks) {
		t.Fatalf("docs/ci.md does not use the %d hooks: %v", len(hooks), config)
	}
	const good = "version: 1\nworkspace: acme\nprojects:\n  - identifier: WEB\n"
	for i, hook := range hooks {
		use := config.Repos[0].Hooks[i]
		if use.ID != hook.ID {
			t.Fatalf("docs/ci.md uses %s, and not %s", use.ID, hook.ID)
		}
		for manifest, passes := range map[string]bool{
			good: true,
			strings.Replace(good, "identifier", "identity", 1):     hook.ID == "planform-fmt",
			strings.Replace(good, "  - ident", "      - ident", 1): hook.ID == "planform-validate",
		} {
			dir := t.TempDir()
			file := filepath.Join(dir, "workspace.yaml")
			if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			out, code := shell(t, dir, hook.Entry+" "+strings.Join(use.Args, " "))
			after, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if passed := code == 0 && string(after) == manifest; passed != passes {
				t.Errorf("%s passes: %v, want %v\n%s\n%s", hook.ID, passed, passes, manifest, out)
			}
		}
	}
}
