package docs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blockAfter returns the first fenced block of the README after a text.
func blockAfter(heading string) (string, error) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), heading)
	fenced := regexp.MustCompile("(?s)\n```[a-z]*\n(.*?)```\n").FindStringSubmatch(rest)
	if fenced == nil {
		return "", fmt.Errorf("the README has no block after %q", heading)
	}
	return fenced[1], nil
}

// TestTheReadmeStaysShort: what goes beyond a first day belongs to docs/.
func TestTheReadmeStaysShort(t *testing.T) {
	t.Parallel()
	const most = 120
	text := inRepository(t, "README.md")
	if n := strings.Count(text, "\n"); n > most {
		t.Errorf("README.md has %d lines, more than %d", n, most)
	}
	if strings.Contains(text, "\n<<<<<<<") {
		t.Error("README.md has both sides of a conflict")
	}
}

func TestTheManifestOfTheReadmeCanBeApplied(t *testing.T) {
	t.Parallel()
	text, err := blockAfter("## The manifest\n")
	if err != nil {
		t.Fatal(err)
	}
	testApply(t, text, "No changes. All 5 objects match the manifest")
}

func TestTheTourOfTheManifestCanBeApplied(t *testing.T) {
	t.Parallel()
	testApply(t, inRepository(t, "examples/tour.yaml"), "No changes in what was compared: 18 of 19 objects match the manifest; not compared: roles ")
}

// testApply applies a manifest to a sandbox without a step that is not possible, and plans it again.
func testApply(t *testing.T, manifest, planned string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"workspace.yaml": manifest, "wiki/how-we-work.md": "# How we work\n"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := shell(t, dir, "planform apply --sandbox workspace.yaml"); code != 0 || strings.Contains(out, "\n!") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, code := shell(t, dir, "planform plan --sandbox workspace.yaml --refresh-all"); code != 0 || !strings.Contains(out, planned) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
