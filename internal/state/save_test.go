package state

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/planner"
)

// saidAndDone is a run that is about to save.
func saidAndDone(t *testing.T, path string, d disk.Disk) *File {
	t.Helper()
	f := open(t, path)
	f.Put(planner.Record{Address: "project/web", ID: "p"})
	f.Put(planner.Record{Address: "label/web/old", ID: "l"})
	must(t, f.Save())
	must(t, f.Close())
	opts := testOptions()
	opts.Disk = d
	f = openWith(t, path, opts)
	intend(t, f, create("work_item/web/shop"), create("work_item/web/lost"), step("label/web/old", planner.Delete))
	complete(t, f, create("work_item/web/shop"), executor.Outcome{Record: planner.Record{ID: "1"}}, nil)
	complete(t, f, step("label/web/old", planner.Delete), executor.Outcome{}, nil)
	return f
}

// kill runs an action on a disk that ends after 0, 1, 2, ... calls until the
// action gets through, and checks what is left each time.
func kill(t *testing.T, prepare func(t *testing.T, path string, d *mortalDisk) *File, action func(*File) error, check func(t *testing.T, path string, got planner.Prior)) {
	t.Helper()
	for n := 0; ; n++ {
		path := statePath(t)
		d := &mortalDisk{left: -1}
		f := prepare(t, path, d)
		d.mu.Lock()
		d.left, d.did = n, nil
		d.mu.Unlock()
		err := action(f)
		d.mu.Lock()
		dead := d.dead
		d.mu.Unlock()
		die(t, f)
		got := readPrior(t, path)
		check(t, path, got)
		// The next run finds the same state and can continue, and so can the one after it.
		for range 2 {
			g := open(t, path)
			if diff := cmp.Diff(got, g.Prior()); diff != "" {
				t.Fatalf("after %v: %s", d.did, diff)
			}
			intend(t, g, create("work_item/web/next"))
			complete(t, g, create("work_item/web/next"), executor.Outcome{}, errRefused)
			must(t, g.Save())
			must(t, g.Close())
			if left := names(folder(t, path)); slices.ContainsFunc(left, func(name string) bool {
				return strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".journal")
			}) {
				t.Fatalf("after %v there is %v", d.did, left)
			}
		}
		if !dead {
			must(t, err)
			if n < 5 {
				t.Errorf("only %d calls were made: %v", n, d.did)
			}
			return
		}
	}
}

func TestAKillDuringSaveLosesNothing(t *testing.T) {
	t.Parallel()
	want := planner.Prior{
		"project/web":        {Address: "project/web", ID: "p"},
		"work_item/web/shop": {Address: "work_item/web/shop", ID: "1"},
		"work_item/web/lost": {Address: "work_item/web/lost", PendingIntent: &planner.Intent{Action: planner.Create, Name: "name of web/lost", At: testTime()}},
	}
	kill(t, func(t *testing.T, path string, d *mortalDisk) *File { t.Helper(); return saidAndDone(t, path, d) },
		(*File).Save,
		func(t *testing.T, _ string, got planner.Prior) {
			t.Helper()
			if diff := priorDiff(want, got); diff != "" {
				t.Fatal(diff)
			}
		})
}

func TestAKillAtAnyPointOfSaveDoesNotRestoreRemovedRecords(t *testing.T) {
	t.Parallel()
	saved := 0
	kill(t, func(t *testing.T, path string, d *mortalDisk) *File {
		t.Helper()
		f := saidAndDone(t, path, d)
		f.Remove("work_item/web/shop") // after its outcome is in the journal
		f.Put(planner.Record{Address: "work_item/web/lost", ID: "2"})
		return f
	}, (*File).Save, func(t *testing.T, path string, got planner.Prior) {
		t.Helper()
		text := readFile(t, path)
		isSaved := strings.Contains(text, `"serial":2`)
		if isSaved {
			saved++
		}
		if _, known := got["work_item/web/shop"]; known == isSaved {
			t.Fatalf("the shop is known: %v, and the state file is\n%s", known, text)
		}
		if (got["work_item/web/lost"].ID == "2") != isSaved {
			t.Fatalf("%v, and the state file is\n%s", got, text)
		}
	})
	if saved < 3 {
		t.Errorf("the state was saved %d times only", saved)
	}
}

func TestAKillDuringOpenLosesNothing(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		path := statePath(t)
		die(t, saidAndDone(t, path, disk.OS{}))
		want := readPrior(t, path)
		d := &mortalDisk{left: n}
		opts := testOptions()
		opts.Disk = d
		f, err := Open(t.Context(), path, opts)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		if diff := priorDiff(want, readPrior(t, path)); diff != "" {
			t.Fatalf("after %v: %s", d.did, diff)
		}
		g := open(t, path)
		if diff := priorDiff(want, g.Prior()); diff != "" {
			t.Fatalf("after %v: %s", d.did, diff)
		}
		if err == nil {
			return
		}
	}
}

func TestSaveChangesTheFileOnlyIfSomethingChanged(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	must(t, f.Save())
	must(t, f.Close())
	if left := names(folder(t, path)); !slices.Equal(left, []string{"x.state.json.lock"}) {
		t.Fatalf("a run that did nothing left %v", left)
	}
	f = open(t, path)
	f.Put(planner.Record{Address: "a/b", ID: "1"})
	must(t, f.Save())
	first := readFile(t, path)
	f.Put(planner.Record{Address: "a/b", ID: "1", Members: []string{}, Values: map[string]string{}})
	f.Put(planner.Record{Address: "a/c", ID: "1"})
	f.Remove("a/c")
	f.Remove("a/d")
	intend(t, f, create("a/e"))
	complete(t, f, create("a/e"), executor.Outcome{}, errRefused)
	must(t, f.Save())
	must(t, f.Close())
	if again := readFile(t, path); again != first || !strings.Contains(first, `"serial":1,`) {
		t.Errorf("%s became %s", first, again)
	}
	if left := names(folder(t, path)); !slices.Equal(left, []string{"x.state.json", "x.state.json.lock"}) {
		t.Errorf("there is %v", left)
	}
	f = open(t, path)
	f.Put(planner.Record{Address: "a/b", ID: "2"})
	must(t, f.Save())
	f.Put(planner.Record{Address: "a/b", ID: "3"})
	must(t, f.Save())
	if text := readFile(t, path); !strings.Contains(text, `"serial":3,`) || !strings.Contains(text, f.store.Lineage) {
		t.Error(text)
	}
	if backup := readFile(t, path+".backup"); backup != first {
		t.Errorf("the backup is not the state as the run found it: %s", backup)
	}
}

func TestASymbolicLinkToTheStateIsKeptBySave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real", "r.state.json"), filepath.Join(dir, "link.state.json")
	must(t, os.MkdirAll(filepath.Dir(target), 0o700))
	if err := os.Symlink(filepath.Join("real", "r.state.json"), link); err != nil {
		t.Log("no symbolic links here:", err)
		return
	}
	for _, id := range []string{"1", "2"} { // the first time the link dangles
		f := open(t, link)
		f.Put(planner.Record{Address: "a/b", ID: id})
		_, err := Open(t.Context(), target, testOptions())
		if !errors.Is(err, ErrLocked) {
			t.Errorf("two names of one state do not share their lock: %v", err)
		}
		must(t, f.Save())
		must(t, f.Close())
		info, err := os.Lstat(link)
		must(t, err)
		if info.Mode()&os.ModeSymlink == 0 {
			t.Error("the link is none any more")
		}
		if got := readPrior(t, target)["a/b"].ID; got != id {
			t.Errorf("got %s", got)
		}
	}
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	if _, err := Read(t.Context(), filepath.Join(dir, "loop"), testOptions()); err == nil || !strings.Contains(err.Error(), "a file that does not exist") {
		t.Errorf("got %v", err)
	}
}

func TestAFullDiskStopsTheRunAndTheJournalStaysCorrect(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		disk *fullDisk
		cut  bool // half a line stays at the end
	}{
		"a full disk stops the run and half a line is taken away": {disk: &fullDisk{room: -1}},
		"a full disk stops the run and half a line stays":         {disk: &fullDisk{room: -1, noTruncate: true}, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			d := test.disk
			opts := testOptions()
			opts.Disk = d
			f := openWith(t, path, opts)
			one, two, three := create("a/1"), create("a/2"), create("a/3")
			intend(t, f, one, two)
			size := len(readFile(t, path+".journal"))
			d.set(30)
			err := f.Begin(t.Context(), []*planner.Step{three})
			if !errors.Is(err, executor.ErrAbortRun) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path+".journal cannot be written") {
				t.Errorf("Begin: %v", err)
			}
			if grown := len(readFile(t, path+".journal")) > size; grown != test.cut {
				t.Errorf("the journal has grown: %v", grown)
			}
			if _, known := f.Prior()["a/3"]; known {
				t.Error("a step is open for which nothing may be sent")
			}
			d.set(-1)
			if again := f.Begin(t.Context(), []*planner.Step{three}); !errors.Is(again, executor.ErrAbortRun) {
				t.Errorf("Begin once more: %v", again)
			}
			err = f.Complete(one, executor.Outcome{Record: planner.Record{ID: "1"}}, nil)
			if test.cut != (err != nil) || test.cut && !errors.Is(err, executor.ErrAbortRun) {
				t.Errorf("Complete: %v", err)
			}
			if got := f.Prior()["a/1"].ID; got != "1" {
				t.Errorf("got %q", got)
			}
			prior := readPrior(t, path)
			want := planner.Prior{
				"a/1": {Address: "a/1", ID: "1"},
				"a/2": {Address: "a/2", PendingIntent: &planner.Intent{Name: "name of 2", At: testTime()}},
			}
			after := want
			if test.cut { // it could not be written any more, so it is unknown
				after = planner.Prior{"a/1": {Address: "a/1", PendingIntent: &planner.Intent{Name: "name of 1", At: testTime()}}, "a/2": want["a/2"]}
			}
			if diff := priorDiff(after, prior); diff != "" {
				t.Error(diff)
			}
			must(t, f.Save()) // there is room again
			must(t, f.Close())
			if diff := priorDiff(want, readPrior(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFullDiskWhileSavingLeavesTheOldStateAndTheJournal(t *testing.T) {
	t.Parallel()
	for room := 0; ; room += 29 {
		path := statePath(t)
		d := &fullDisk{room: -1}
		f := saidAndDone(t, path, d)
		want, old := f.Prior(), readFile(t, path)
		d.set(room)
		err := f.Save()
		if err == nil {
			if room < 200 {
				t.Errorf("the state was saved in %d bytes", room)
			}
			return
		}
		if !errors.Is(err, executor.ErrAbortRun) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the completed steps are in its journal") {
			t.Fatal(err)
		}
		if err := f.Begin(t.Context(), []*planner.Step{create("a/b")}); !errors.Is(err, executor.ErrAbortRun) {
			t.Fatalf("Begin: %v", err)
		}
		if readFile(t, path) != old {
			t.Fatal("the old state is not there any more")
		}
		must(t, f.Close())
		if left := names(folder(t, path)); slices.Contains(left, "x.state.json.tmp") {
			t.Errorf("there is %v", left)
		}
		if diff := priorDiff(want, readPrior(t, path)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestAJournalThatCannotBeFlushedStopsTheRun(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d := &fullDisk{room: -1}
	opts := testOptions()
	opts.Disk = d
	f := openWith(t, path, opts)
	d.noSync = true
	for range 2 {
		err := f.Begin(t.Context(), []*planner.Step{create("a/1")})
		if !errors.Is(err, executor.ErrAbortRun) || !errors.Is(err, syscall.EIO) {
			t.Errorf("got %v", err)
		}
	}
	if diff := cmp.Diff(planner.Prior{}, f.Prior(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestAFolderThatCannotBeWrittenToFailsBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "file"), "")
	below := filepath.Join(dir, "file", ".planform", "x.state.json")
	if _, err := Open(t.Context(), below, testOptions()); err == nil || !strings.Contains(withHint(err), "--state") {
		t.Errorf("below a file: %v", err)
	}
	if _, err := Read(t.Context(), below, testOptions()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("below a file: %v", err)
	}
	if _, err := Open(t.Context(), dir, testOptions()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
	path := statePath(t)
	opts := testOptions()
	opts.Disk = &mortalDisk{left: 1}
	if _, err := Open(t.Context(), path, opts); err == nil || !strings.Contains(err.Error(), "cannot be written to") || !strings.Contains(err.Error(), "nothing was sent") {
		t.Errorf("a disk that refuses: %v", err)
	}
	must(t, open(t, path).Close()) // the lock was released
}

func TestAStateFileThatWasTakenAwayIsNotWritten(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := saidAndDone(t, path, disk.OS{})
	must(t, os.Remove(path))
	if err := f.Save(); !errors.Is(err, executor.ErrAbortRun) || !strings.Contains(err.Error(), "put it back") {
		t.Errorf("got %v", err)
	}
}

func TestTheSystemClockIsTheDefault(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	opts := testOptions()
	opts.Now = nil
	f := openWith(t, path, opts)
	f.Put(planner.Record{Address: "a/b"})
	if d := time.Since(f.store.records["a/b"].AppliedAt); d < 0 || d > time.Minute {
		t.Errorf("it is off by %d s", d)
	}
}

func TestFilesAreOnDiskBeforeTheyAreRenamedOrRequestsAreSent(t *testing.T) {
	t.Parallel()
	d := &mortalDisk{left: -1}
	f := saidAndDone(t, statePath(t), d)
	d.did = nil
	intend(t, f, create("a/b"))
	complete(t, f, create("a/b"), executor.Outcome{Record: planner.Record{ID: "1"}}, nil)
	if diff := cmp.Diff([]string{"write", "sync", "write"}, d.did); diff != "" {
		t.Errorf("an intent is flushed, an outcome is not: %s", diff)
	}
	d.did = nil
	must(t, f.Save())
	want := []string{
		"sync",                    // the journal, should the rest fail
		"create", "write", "sync", // the new state
		"remove", "link", // the backup
		"replace", "syncdir",
		"remove", // the journal
	}
	if diff := cmp.Diff(want, d.did); diff != "" {
		t.Error(diff)
	}
	d.did = nil
	intend(t, f, create("a/c"))
	if diff := cmp.Diff([]string{"create", "write", "sync", "syncdir", "write", "sync"}, d.did); diff != "" {
		t.Errorf("a new journal is found under its name before anything is sent: %s", diff)
	}
}
