package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/disk"
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
		if err := replace(disk.OS{}, []pull.File{first, other}); err == nil {
			t.Errorf("%s was replaced", other.Name)
		}
	}
	for _, name := range []string{a, b, c} {
		if text, err := os.ReadFile(name); err != nil || string(text) != "old" {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
}

// fullDisk has room for so many files more.
type fullDisk struct {
	disk.OS

	room int
}

func (d *fullDisk) Create(path string) (disk.File, error) {
	if d.room--; d.room < 0 {
		return nil, syscall.ENOSPC
	}
	return d.OS.Create(path)
}

func TestPullSaysWhatItWroteBeforeAFileThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []pull.File
	for _, name := range []string{"a.yaml", "b.yaml"} {
		files = append(files, pull.File{Name: filepath.Join(dir, name), Before: []byte("old"), After: []byte("new")})
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := replace(&fullDisk{room: 1}, files)
	if hint := diag.HintOf(err); !strings.Contains(hint, "1 of 2 files is written; planform pull takes the rest once this is put right") {
		t.Errorf("%v: %s", err, hint)
	}
}
