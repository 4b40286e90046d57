package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/sync/pull"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
)

func TestNothingIsWrittenIfAFileChangedMeanwhileOrLeadsOutOfItsFolderOrHasTwoNames(t *testing.T) {
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
	again := filepath.Join(dir, "again.yaml")
	if err := os.Symlink(a, again); err != nil {
		t.Fatal(err)
	}
	for _, other := range []pull.File{
		{Name: b, Before: []byte("as it was"), After: []byte("new")},
		{Name: link, Within: dir, Before: []byte("old"), After: []byte("new")},
		{Name: again, Before: []byte("old"), After: []byte("newer")},
	} {
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
	if hint := diag.HintOf(err); !strings.Contains(hint, "1 of 2 files is written; fix this and run planform pull again for the rest") {
		t.Errorf("%v: %s", err, hint)
	}
}

func TestAStateCommandSaysWhatItDidOnceThatIsSaved(t *testing.T) {
	t.Parallel()
	const id = "8a234ec6-0000-4000-8000-000000000000"
	for said, args := range map[string][]string{
		"bound page/two to": {"import", "page/two", "--id", id},
		"moved page/one to": {"mv", "page/one", "page/two"},
		"forgot page/one;":  {"rm", "page/one"},
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "state.json")
			run := func(d disk.Disk, args ...string) (code int, says string) {
				var errs bytes.Buffer
				code = Main(Process{
					Args:    append([]string{"planform", "state"}, append(args, "--sandbox", "--state", file)...),
					Streams: view.Streams{In: strings.NewReader(""), Out: &errs, Err: &errs}, Getenv: func(string) string { return "" }, Disk: d,
				})
				return code, errs.String()
			}
			if code, says := run(nil, "import", "page/one", "--id", id); code != 0 {
				t.Fatal(says)
			}
			for room := 0; ; room++ {
				code, says := run(&fullDisk{room: room}, args...)
				if strings.Contains(says, said) != (code == 0) {
					t.Errorf("with room for %d files it ends with %d and says\n%s", room, code, says)
				}
				if code == 0 {
					break
				}
				if room > 10 {
					t.Fatal(says)
				}
			}
		})
	}
}
