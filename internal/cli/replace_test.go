package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/planform/planform/internal/pull"
)

func TestNothingIsWrittenIfAFileChangedMeanwhileOrLeadsOutOfItsFolder(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	a, b, c := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml"), filepath.Join(outside, "c.md")
	for _, name := range []string{a, b, c} {
		if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "c.md")
	if err := os.Symlink(c, link); err != nil {
		return // this system has no links for everybody
	}
	first := pull.File{Name: a, Before: []byte("old"), After: []byte("new")}
	for _, other := range []pull.File{{Name: b, Before: []byte("as it was"), After: []byte("new")}, {Name: link, Within: dir, Before: []byte("old"), After: []byte("new")}} {
		if err := replace([]pull.File{first, other}); err == nil {
			t.Errorf("%s was replaced", other.Name)
		}
	}
	for _, name := range []string{a, b, c} {
		if text, err := os.ReadFile(name); err != nil || string(text) != "old" {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
}
