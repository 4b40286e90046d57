//go:build unix

package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// childFill runs on a disk on which no file can grow beyond 4 KB, and tells how
// many intents were announced before it was stopped.
func childFill(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	f, err := Open(context.Background(), path, testOptions())
	if err != nil {
		tell(err)
		return
	}
	limit := syscall.Rlimit{Cur: 4096, Max: 4096}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		tell(err)
		return
	}
	n := 0
	for ; err == nil; n++ {
		err = f.Begin(context.Background(), []*planner.Step{create(resource.Address(fmt.Sprintf("work_item/web/%03d", n)))})
	}
	tell(n-1, errors.Is(err, executor.ErrAbortRun), errors.Is(err, syscall.EFBIG))
}

func TestAFileSizeLimitStopsTheRunAndTheJournalStaysCorrect(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	cmd, said := child(t, "fill", path)
	must(t, cmd.Wait())
	var n int
	var stop, tooBig bool
	if _, err := fmt.Sscan(said, &n, &stop, &tooBig); err != nil || !stop || !tooBig || n < 10 {
		t.Fatalf("the child said %q", said)
	}
	if prior := readPrior(t, path); len(prior) != n {
		t.Errorf("%d intents were announced, and %d are in the journal", n, len(prior))
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	f.Put(planner.Record{Address: "a/b", ID: "1"})
	must(t, f.Save())
	intend(t, f, create("a/c"))
	for name, want := range map[string]os.FileMode{path: 0o600, path + ".journal": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

// TestARunWhoseJournalWasTakenAwaySendsAndSavesNothing does not run on Windows, which lets nobody take an open file away.
func TestARunWhoseJournalWasTakenAwaySendsAndSavesNothing(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	intend(t, f, create("a/1"))
	// Another machine, to which the disk does not carry the lock.
	must(t, os.Remove(path+".lock"))
	other := open(t, path)
	if other.Prior()["a/1"].PendingIntent == nil {
		t.Error("the other run does not know of the open intent")
	}
	err := f.Begin(t.Context(), []*planner.Step{create("a/2")})
	if !errors.Is(err, executor.ErrAbortRun) || !strings.Contains(err.Error(), "another run removed it") {
		t.Errorf("Begin: %v", err)
	}
	_ = f.Complete(create("a/1"), executor.Outcome{Record: planner.Record{ID: "1"}}, nil)
	before := readFile(t, path)
	if err := f.Save(); !errors.Is(err, executor.ErrAbortRun) || !strings.Contains(err.Error(), "another program changed the state file") {
		t.Errorf("Save: %v", err)
	}
	_ = f.Close()
	if readFile(t, path) != before {
		t.Error("the state of the other run is gone")
	}
	intend(t, other, create("a/3"))
	complete(t, other, create("a/3"), executor.Outcome{Record: planner.Record{ID: "3"}}, nil)
	must(t, other.Save())
	must(t, other.Close())
	if got := readPrior(t, path); got["a/3"].ID != "3" || got["a/1"].PendingIntent == nil {
		t.Error(got)
	}
}

func TestAFileThatIsNotRegularIsRefusedWithoutBlocking(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		for _, suffix := range []string{"", ".journal", ".lock"} {
			path := statePath(t)
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, put(path+suffix))
			_, err := Open(t.Context(), path, testOptions())
			if err == nil || !strings.Contains(err.Error(), "not a regular file") && !strings.Contains(err.Error(), "is a folder") {
				t.Errorf("a %s as %q: %v", name, "state"+suffix, err)
			}
		}
	}
}

// TestALinkInPlaceOfTheHolderIsNotFollowed plants a link, as a repository may contain links to anywhere.
func TestALinkInPlaceOfTheHolderIsNotFollowed(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	precious := filepath.Join(t.TempDir(), "precious")
	writeFile(t, precious, "text")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.Symlink(precious, path+".lock.json"))
	f := open(t, path)
	if h := readHolder(f.paths.holder); h.PID != os.Getpid() {
		t.Errorf("the holder is %v", h)
	}
	must(t, f.Close())
	if text := readFile(t, precious); text != "text" {
		t.Errorf("what the link led to holds %q", text)
	}
}

func TestAStateAboveTheSizeLimitIsNotRead(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", ".journal"} {
		path := statePath(t)
		writeFile(t, path+suffix, "")
		must(t, os.Truncate(path+suffix, 1<<28)) // without a block on disk
		if _, err := Read(t.Context(), path, testOptions()); err == nil || !strings.Contains(err.Error(), "more than 128 MiB") {
			t.Errorf("%q: %v", "state"+suffix, err)
		}
	}
}

func TestTheCopyOfARunThatWasKilledIsRemovedByTheNextOne(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	victim := filepath.Join(t.TempDir(), "victim")
	folder := func(name string, mode os.FileMode, lock func(path string) error) string {
		dir := filepath.Join(temp, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(lock(filepath.Join(dir, "alive")), os.WriteFile(filepath.Join(dir, "state.json"), []byte("{}"), 0o600), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	file := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	dead := folder("planform-state-1", 0o700, file)
	kept := []string{
		folder("planform-state-2", 0o755, file), // not as planform makes them
		folder("planform-state-3", 0o700, func(path string) error { return os.Symlink(victim, path) }),
		folder("planform-state-4", 0o700, func(path string) error { return syscall.Mkfifo(path, 0o600) }),
		folder("other-5", 0o700, file),
	}
	one, other := newCloud().open(t), newCloud().open(t)
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy of a dead run is there: %v", err)
	}
	for _, dir := range append(kept, one.opts.shared.dir, other.opts.shared.dir) {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("a link was followed")
	}
	if err := errors.Join(one.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "planform-state-*")); err != nil || len(left) != 3 {
		t.Error(left, err)
	}
}
