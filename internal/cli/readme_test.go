package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// blockBehind is the first fenced block of the README behind a text.
func blockBehind(behind string) (string, error) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), behind)
	fenced := regexp.MustCompile("(?s)\n```[a-z]*\n(.*?)```\n").FindStringSubmatch(rest)
	if fenced == nil {
		return "", fmt.Errorf("the README has no block behind %q", behind)
	}
	return fenced[1], nil
}

func TestTheManifestOfTheReadmeCanBeApplied(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	if err := os.Mkdir(filepath.Join(s.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "docs/handbook.md", "# How we work\n")
	text, err := blockBehind("## The manifest\n")
	if err != nil {
		t.Fatal(err)
	}
	file := s.write(t, "workspace.yaml", text)
	s.must(t, "apply", "-f", file)
	if r := s.must(t, "plan", "-f", file); !strings.Contains(r.out, "No changes.") {
		t.Error(r.out)
	}
}

// readme holds what the last command printed to the block of the README behind a
// text. Lines that the README leaves out stand as …, and everything else is printed
// so and in that order: readme TEXT.
func readme(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: readme TEXT")
	}
	shown, err := blockBehind(args[0])
	ts.Check(err)
	printed := strings.Split(ts.ReadFile("stdout"), "\n")
	for line := range strings.Lines(shown) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) == "…" {
			continue
		}
		at := slices.Index(printed, line)
		if at < 0 {
			ts.Fatalf("not printed, or not there: %s", line)
		}
		printed = printed[at+1:]
	}
}
