package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
)

// block is the first fenced block of the README behind a text.
func block(t *testing.T, behind string) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), behind)
	fenced := regexp.MustCompile("(?s)\n```[a-z]*\n(.*?)```\n").FindStringSubmatch(rest)
	if fenced == nil {
		t.Fatalf("the README has no block behind %q", behind)
	}
	return fenced[1]
}

func TestTheManifestOfTheReadmeCanBeApplied(t *testing.T) {
	t.Parallel()
	s := newService(t, sandbox.Options{})
	if err := os.Mkdir(filepath.Join(s.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "docs/handbook.md", "# How we work\n")
	file := s.write(t, "workspace.yaml", block(t, "## A manifest, explained\n"))
	s.must(t, "apply", "-f", file)
	if r := s.must(t, "plan", "-f", file); !strings.HasPrefix(r.out, "No changes.") {
		t.Error(r.out)
	}
}

// Lines that the README leaves out stand as …, and everything else is printed so and in that order.
func TestTheReadmeShowsWhatIsPrinted(t *testing.T) {
	t.Parallel()
	s := newService(t, sandbox.Options{})
	if err := os.CopyFS(s.dir, examples()); err != nil {
		t.Fatal(err)
	}
	for _, behind := range []string{"## See it work\n", "\nThe same command once more:\n"} {
		printed := strings.Split(s.must(t, "apply", "-f", filepath.Join(s.dir, "workspace.yaml")).out, "\n")
		for line := range strings.Lines(block(t, behind)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.TrimSpace(line) == "…" {
				continue
			}
			at := slices.Index(printed, line)
			if at < 0 {
				t.Fatalf("not printed, or not there: %s", line)
			}
			printed = printed[at+1:]
		}
	}
}
