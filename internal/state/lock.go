package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
)

// lockPoll is the pause between two attempts to take a held lock.
const lockPoll = 100 * time.Millisecond

// Even without a lock timeout, a run tries to take the lock every probePoll for probeTime, because
// [LockedBy] of another process takes a free lock for a moment.
const (
	probePoll = 5 * time.Millisecond
	probeTime = 100 * time.Millisecond
)

// lock is a held lock on a state file.
type lock struct {
	flock  *flock.Flock
	holder string // file that names the holder
}

// acquire takes the lock and waits for it as long as the options say.
//
// A separate file names the holder: on systems that lock a region of a file, others cannot read that file. The lock file stays after the
// release, because removing it safely takes more care than an empty file is worth.
func acquire(ctx context.Context, p paths, opts Options) (*lock, error) {
	if err := disk.MakeFolder(opts.Disk, filepath.Dir(p.state)); err != nil {
		return nil, diag.WithHint(fmt.Errorf("the folder of the state file %s cannot be created: %w", p.state, err),
			"choose another place with --state")
	}
	if info, err := os.Lstat(p.lock); err == nil && !info.Mode().IsRegular() {
		return nil, lockFailure(p, errNotRegular) // opening a pipe would block
	}
	// Other users may see that the state is locked; the mode of the folder says who can.
	l := flock.New(p.lock, flock.SetPermissions(0o644))
	got, err := tryLock(ctx, l, probeTime, probePoll)
	if err == nil && !got && opts.LockTimeout > 0 {
		if opts.Waiting != nil {
			opts.Waiting(readHolder(p.holder))
		}
		got, err = tryLock(ctx, l, opts.LockTimeout, lockPoll)
	}
	switch {
	case ctx.Err() != nil:
		_ = l.Close()
		return nil, fmt.Errorf("waiting for the lock of the state %s: %w", p.state, context.Cause(ctx))
	case err != nil:
		return nil, lockFailure(p, err)
	case !got:
		return nil, &LockedError{Path: p.state, Holder: readHolder(p.holder), Waited: opts.LockTimeout}
	}
	writeHolder(p.holder, holder(opts))
	return &lock{flock: l, holder: p.holder}, nil
}

// tryLock tries to take the lock until the timeout; false means that another process holds it.
func tryLock(ctx context.Context, l *flock.Flock, timeout, pause time.Duration) (bool, error) {
	if got, err := l.TryLock(); err != nil || got {
		return got, err
	}
	wait, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	got, err := l.TryLockContext(wait, pause)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return got, err
}

// LockedBy returns the holder of a state's lock; false means that the lock is free. It creates no file and delays no run, because it
// shares a free lock only for a moment. A file that names a dead holder does not mislead it.
//
// For a shared state it returns the last holder if that holder did not release the lock.
func LockedBy(ctx context.Context, path string, opts Options) (Holder, bool) {
	if IsShared(path) {
		o, err := opts.connect(ctx, path)
		if err != nil {
			return Holder{}, false
		}
		l, _, err := readLease(ctx, o)
		return l.Holder, err == nil && !l.Free
	}
	p, err := resolve(path)
	if err != nil {
		return Holder{}, false
	}
	if _, err := os.Stat(p.holder); err != nil {
		return Holder{}, false
	}
	l := flock.New(p.lock, flock.SetFlag(os.O_RDONLY))
	if free, err := l.TryRLock(); err != nil || free {
		_ = l.Close()
		return Holder{}, false
	}
	return readHolder(p.holder), true
}

func (lk *lock) release() error {
	_ = os.Remove(lk.holder)
	return lk.flock.Close()
}

// lockFailure explains why the lock could not be tried.
func lockFailure(p paths, err error) error {
	switch {
	case errors.Is(err, errNotRegular):
		return diag.WithHint(fmt.Errorf("the state %s cannot be locked: %s is in the way: %w", p.state, p.lock, err),
			"remove it, or choose another place with --state")
	case !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS):
		return diag.WithHint(fmt.Errorf("the state %s cannot be locked: %w", p.state, err),
			"choose a writable folder on a disk with locks: --state")
	}
	if _, statErr := os.Stat(p.lock); statErr != nil {
		return diag.WithHint(fmt.Errorf("the folder %s is not writable: %w", filepath.Dir(p.state), cause(err)),
			"make it writable, or choose another place with --state")
	}
	return &LockedError{
		Path: p.state, Holder: readHolder(p.holder),
		Reason: fmt.Sprintf("its lock file %s belongs to another user (%v); let that user do it, or change who owns it", p.lock, cause(err)),
	}
}

func holder(opts Options) Holder {
	h := Holder{PID: os.Getpid(), Command: opts.Command, Since: opts.Now().UTC().Truncate(time.Second)}
	h.Host, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		h.User = u.Username
	}
	h.User = cmp.Or(h.User, os.Getenv("USER"), os.Getenv("USERNAME"))
	return h
}

// writeHolder writes the holder's name for others. It ignores failures, because the lock holds without the
// name. It creates the file anew, so that it follows no link at that path.
func writeHolder(path string, h Holder) {
	text, err := json.Marshal(h)
	if err != nil {
		return
	}
	_ = os.Remove(path)                                                   // no name is better than an outdated one
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // others may see who holds the lock
	if err != nil {
		return
	}
	if err := errors.Join(writeAll(f, append(text, '\n')), f.Close()); err != nil {
		_ = os.Remove(path)
	}
}

// readHolder reads what the file says about the holder. It returns an empty holder on any error, because the state is locked in any case.
func readHolder(path string) Holder {
	var h Holder
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<16 {
		return h
	}
	text, err := os.ReadFile(path) //nolint:gosec // beside the state file, at a place of the user's choice
	if err != nil || json.Unmarshal(text, &h) != nil {
		return Holder{}
	}
	return h
}
