package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
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
	s := newService(t, sandboxtest.Options{})
	text, err := blockAfter("## The manifest\n")
	if err != nil {
		t.Fatal(err)
	}
	file := s.write(t, "workspace.yaml", text)
	if r := s.must(t, "apply", "-f", file); strings.Contains(r.out, "\n!") {
		t.Error(r.out)
	}
	if r := s.must(t, "plan", "-f", file, "--refresh-all"); !strings.Contains(r.out, "No changes. All 5 objects match the manifest") {
		t.Error(r.out)
	}
}

func TestTheTourOfTheManifestCanBeApplied(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	if err := os.Mkdir(filepath.Join(s.dir, "wiki"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "wiki/how-we-work.md", "# How we work\n")
	file := s.write(t, "tour.yaml", inRepository(t, "examples/tour.yaml"))
	if r := s.must(t, "apply", "-f", file); strings.Contains(r.out, "\n!") {
		t.Error(r.out)
	}
	if r := s.must(t, "plan", "-f", file, "--refresh-all"); !strings.Contains(r.out, "No changes in what was compared: 18 of 19 objects match the manifest; not compared: roles ") {
		t.Error(r.out)
	}
}
