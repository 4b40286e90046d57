package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"github.com/planform/planform/planner"
)

func TestASecondRunIsToldWhoHoldsTheLock(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	cmd, said := child(t, "hold", path)
	if said != "ready\n" {
		t.Fatal(said)
	}
	_, err := Open(t.Context(), path, testOptions())
	locked, ok := errors.AsType[*LockedError](err)
	if !ok || !errors.Is(err, ErrLocked) {
		t.Fatalf("got %v", err)
	}
	host, _ := os.Hostname()
	if h := locked.Holder; h.PID != cmd.Process.Pid || h.Host != host || h.Command != "planform apply" || h.Since.IsZero() || locked.Path != path {
		t.Errorf("got %+v", locked)
	}
	for _, part := range []string{" on " + host, `"planform apply"`, "since 2026-11-20 20:36:10 UTC", "--lock-timeout"} {
		if !strings.Contains(withHint(err), part) {
			t.Errorf("%q does not say %q", withHint(err), part)
		}
	}

	// Reading needs no lock, and shows what is under way.
	if readPrior(t, path)["work_item/web/held"].PendingIntent == nil {
		t.Error("the intent of the run under way is not seen")
	}

	// Whoever waits gets the lock when the holder is killed, and what it left.
	opts := testOptions()
	opts.LockTimeout = time.Minute
	told := make(chan Holder, 1)
	opts.Waiting = func(h Holder) { told <- h }
	type opened struct {
		f   *File
		err error
	}
	waiting := make(chan opened)
	go func() {
		f, err := Open(t.Context(), path, opts)
		waiting <- opened{f, err}
	}()
	if h := <-told; h != locked.Holder {
		t.Errorf("whoever waits is told of %v", h)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	got := <-waiting
	must(t, got.err)
	want := planner.Prior{"work_item/web/held": {Address: "work_item/web/held", PendingIntent: &planner.Intent{Action: planner.Create, Name: "name of web/held", At: testTime()}}}
	if diff := priorDiff(want, got.f.Prior()); diff != "" {
		t.Error(diff)
	}
	must(t, got.f.Close())
}

func TestTheLockOfAKilledRunIsFree(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	cmd, _ := child(t, "hold", path)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if left := names(folder(t, path)); !slices.Contains(left, "x.state.json.lock.json") {
		t.Fatalf("the killed run left %v", left)
	}
	f := open(t, path)
	if h := readHolder(f.paths.holder); h.PID != os.Getpid() {
		t.Errorf("the holder is %v", h)
	}
	must(t, f.Close())
	if left := names(folder(t, path)); slices.Contains(left, "x.state.json.lock.json") {
		t.Errorf("a run that ended left %v", left)
	}
}

func TestTwoFilesOfOneProcessExcludeEachOther(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	opts := testOptions()
	opts.LockTimeout = time.Millisecond
	_, err := Open(t.Context(), path, opts)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "was not released within 1ms") {
		t.Errorf("got %v", err)
	}
	must(t, f.Close())
	must(t, open(t, path).Close())
}

func TestWaitingForALockCanBeCancelled(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	open(t, path)
	opts := testOptions()
	opts.LockTimeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, path, opts); !errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
}

func TestALockWithAnUnreadableHolderStillLocks(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":   "",
		"half":      `{"user":"a`,
		"not JSON":  "\x00\x00",
		"too much":  strings.Repeat(" ", 1<<17),
		"not there": "-",
	} {
		path := statePath(t)
		f := open(t, path)
		if text == "-" {
			must(t, os.Remove(f.paths.holder))
		} else {
			writeFile(t, f.paths.holder, text)
		}
		_, err := Open(t.Context(), path, testOptions())
		if !errors.Is(err, ErrLocked) || !strings.HasSuffix(err.Error(), "is locked by an unknown holder") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAHolderIsNamedByUserHostCommandAndProcess(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 20, 20, 36, 10, 0, time.UTC)
	for want, h := range map[string]Holder{
		"an unknown holder": {},
		`ada on web1 ("planform apply", process 4711) since 2026-11-20 20:36:10 UTC`: {User: "ada", Host: "web1", PID: 4711, Command: "planform apply", Since: since},
		"ada (process 4711)":        {User: "ada", PID: 4711},
		"an unknown holder on web1": {Host: "web1"},
		`ada ("\x1b[31mplanform")`:  {User: "ada", Command: "\x1b[31mplanform"},
	} {
		if got := h.String(); got != want {
			t.Errorf("got %s\nnot %s", got, want)
		}
	}
}

func TestALockFileOfAnotherUserIsALock(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	p := siblingPaths(path)
	must(t, os.MkdirAll(strings.TrimSuffix(path, "x.state.json"), 0o700))
	denied := &os.PathError{Op: "open", Path: p.lock, Err: os.ErrPermission}
	for _, refused := range []error{denied, &os.PathError{Op: "open", Path: p.lock, Err: syscall.EROFS}} {
		if err := lockFailure(p, refused); errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "is not writable") {
			t.Errorf("no lock file can be made: %v", err)
		}
	}
	writeFile(t, p.lock, "")
	writeFile(t, p.holder, `{"user":"ada"}`)
	if err := lockFailure(p, denied); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "belongs to another user") || !strings.HasSuffix(err.Error(), "hold it was ada") {
		t.Errorf("the lock file cannot be opened: %v", err)
	}
	if err := lockFailure(p, errors.ErrUnsupported); errors.Is(err, ErrLocked) || !strings.Contains(withHint(err), "--state") {
		t.Errorf("the disk knows no locks: %v", err)
	}
}

func TestLockedByReadsTheHolderWithoutTakingTheLock(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	if h, locked := LockedBy(t.Context(), path, Options{}); locked {
		t.Errorf("nothing is there, and %v holds it", h)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("asking made the folder")
	}
	cmd, said := child(t, "hold", path)
	if said != "ready\n" {
		t.Fatal(said)
	}
	before := names(folder(t, path))
	if h, locked := LockedBy(t.Context(), path, Options{}); !locked || h.PID != cmd.Process.Pid || h.Command != "planform apply" {
		t.Errorf("%v, %+v", locked, h)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if h, locked := LockedBy(t.Context(), path, Options{}); locked {
		t.Errorf("the holder was killed, and %v holds it", h)
	}
	if left := names(folder(t, path)); !slices.Equal(before, left) {
		t.Errorf("asking changed %v to %v", before, left)
	}
	must(t, open(t, path).Close())
}

func TestLockedByDoesNotKeepARunFromTheLock(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	must(t, open(t, path).Close())
	synctest.Test(t, func(t *testing.T) {
		asking := flock.New(path+".lock", flock.SetFlag(os.O_RDONLY))
		if shared, err := asking.TryRLock(); err != nil || !shared {
			t.Fatal(shared, err)
		}
		go func() {
			<-time.After(probePoll)
			_ = asking.Close()
		}()
		f, err := Open(t.Context(), path, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		must(t, f.Close())
	})
}

func TestANewFolderIsOnDiskBeforeTheRunBegins(t *testing.T) {
	t.Parallel()
	d := &mortalDisk{left: -1}
	opts := testOptions()
	opts.Disk = d
	f := openWith(t, filepath.Join(t.TempDir(), "a", ".planform", "x.state.json"), opts)
	if want := []string{"syncdir", "syncdir"}; !slices.Equal(d.did[:2], want) {
		t.Errorf("did %v, want %v", d.did, want)
	}
	must(t, f.Close())
}
