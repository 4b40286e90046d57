package state

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/planform/planform/internal/disk"
)

const journalPrefix = ".journal/"

// fence ends the journal of a turn: whoever had it can add nothing to it any more.
var fence = []byte("closed\n") //nolint:gochecknoglobals // a constant

// leaseTimes are those of a lease; see [beatTime].
type leaseTimes struct{ beat, dead, lost time.Duration }

// shared is a state that several machines share. A run works on a copy in a folder of its own; what has to be on disk before a request is
// in the store, too.
//
// The journal is a series of objects, named by the lease and numbered. Each is written only where there is none: so a run whose lease was
// taken can add nothing behind the fence, and sends nothing. The state is replaced only if it is the one that was read.
type shared struct {
	address string
	objects Objects
	opts    Options
	dir     string
	lease   *lease
	alive   *flock.Flock

	mu      sync.Mutex
	version string   // of the state; "" = there is none
	unsure  bool     // whether it is that version: what became of a write is not known
	last    int      // number of the last part of the journal
	parts   []string // of the journal
}

func (o Options) connect(ctx context.Context, address string) (Objects, error) {
	if o.Connect == nil {
		return nil, fmt.Errorf("the state %s: states at an address are not supported here", withoutCredential(address))
	}
	objects, err := o.Connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("the state %s: %w", withoutCredential(address), err)
	}
	return Steady(objects), nil
}

// withoutCredential returns an address for a message that refuses it: only its scheme if a user, query or fragment may be a credential.
func withoutCredential(address string) string {
	if scheme, rest, _ := strings.Cut(address, "://"); strings.ContainsAny(rest, "@?#") {
		return scheme + "://…"
	}
	return address
}

// local are the files of the copy.
func (s *shared) local() paths { return siblingPaths(filepath.Join(s.dir, "state.json")) }

// copied makes the folder of a copy, which is locked while its run lives, and removes those of runs that were killed.
func copied(address string, o Objects, opts Options) (*shared, error) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), copyPrefix+"*"))
	for _, dir := range left {
		if l := flock.New(lockOf(dir), flock.SetFlag(os.O_RDONLY)); isCopy(dir) {
			if dead, err := l.TryLock(); err == nil && dead {
				// Windows does not remove an open file; elsewhere a run that is just making the folder must not get the lock before it is gone.
				_ = errors.Join(os.RemoveAll(dir), l.Close(), os.RemoveAll(dir))
			}
		}
	}
	for tries := 0; ; tries++ {
		dir, err := os.MkdirTemp("", copyPrefix+"*")
		if err != nil || tries > 9 {
			return nil, fmt.Errorf("no folder for a copy of the state %s: %w", address, cmp.Or(err, errors.New("others remove it")))
		}
		s := &shared{address: address, objects: o, opts: opts, dir: dir, alive: flock.New(lockOf(dir))}
		locked, err := s.alive.TryLock()
		// On a disk without locks (err != nil) no other run removes the folder.
		if _, gone := os.Lstat(lockOf(dir)); gone == nil && (locked || err != nil) {
			return s, nil //nolint:nilerr // see above
		}
		_ = s.remove() // another run took it for a folder of a dead one
	}
}

// copyPrefix begins the name of the folder of a copy.
const copyPrefix = "planform-state-"

func lockOf(dir string) string { return filepath.Join(dir, "alive") }

// isCopy reports whether the function copied made a folder. The name alone does not tell: others can use it too. Windows has no such
// modes, and its folder for temporary files belongs to one user.
func isCopy(dir string) bool {
	folder, err := os.Lstat(dir)
	file, missing := os.Lstat(lockOf(dir))
	return err == nil && missing == nil && folder.IsDir() && file.Mode().IsRegular() &&
		(runtime.GOOS == "windows" || folder.Mode().Perm() == 0o700)
}

// remove removes the copy.
func (s *shared) remove() error { return errors.Join(s.alive.Close(), os.RemoveAll(s.dir)) } //nolint:gosec // a folder of ours

// openShared is [Open] of a shared state.
func openShared(ctx context.Context, address string, opts Options) (*File, error) {
	objects, err := opts.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	l, before, err := takeLease(ctx, address, objects, opts)
	if err != nil {
		return nil, err
	}
	s, err := copied(address, objects, opts)
	if err != nil {
		return nil, errors.Join(err, l.end(ctx, before))
	}
	s.lease = l
	opts.Disk, opts.shared = sharedDisk{disk.OS{}, s}, s
	f := newFile(s.local(), opts, s)
	if err = s.fetch(ctx, &before); err != nil {
		return nil, errors.Join(s.told(err), s.leave(l.end(context.WithoutCancel(ctx), before)))
	}
	f.takenOver = !before.Clean
	if err = f.prepare(); err != nil {
		return nil, errors.Join(s.told(err), s.release()) //nolint:contextcheck // also after the end of ctx
	}
	return f, nil
}

// fetch brings state and journal into the copy. The journals of turns before that did not end them are closed first.
func (s *shared) fetch(ctx context.Context, before *leaseText) error {
	series, err := s.series(ctx)
	if err != nil {
		return err
	}
	for _, t := range before.unclosed() {
		if err := s.close(ctx, t, series); err != nil {
			return err
		}
	}
	s.lease.closed()
	text, version, err := s.objects.Get(ctx, "")
	if errors.Is(err, fs.ErrNotExist) {
		text, version, err = nil, "", nil
	}
	if err != nil {
		return err
	}
	if len(series) > 0 { // neither what is taken away once the state has it, nor that state may be of a run that took the lease since
		if _, err := s.lease.renew(ctx, 0); err != nil {
			return err
		}
	}
	if before.Clean && before.ID != "" && before.State != version {
		return errors.New("the store shows another state than the last run left: run again in a moment; " +
			"if somebody put one there by hand, planform state unlock accepts it")
	}
	s.version = version
	return s.lay(text, series)
}

// series are the parts of the journals in the store, by the turn that wrote them.
func (s *shared) series(ctx context.Context) (map[string]map[int][]byte, error) {
	names, err := s.objects.List(ctx, journalPrefix)
	if err != nil {
		return nil, err
	}
	series := map[string]map[int][]byte{}
	for _, name := range names {
		id, number, ok := strings.Cut(strings.TrimPrefix(name, journalPrefix), "/")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		text, _, err := s.objects.Get(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a run took it away meanwhile, since the state has it
		}
		if err != nil {
			return nil, err
		}
		if series[id] == nil {
			series[id] = map[int][]byte{}
		}
		series[id][n] = text
	}
	return series, nil
}

// close puts the fence behind the last part of a turn's journal, where that turn would write the next one.
func (s *shared) close(ctx context.Context, before turn, series map[string]map[int][]byte) error {
	parts := series[before.ID]
	if parts == nil {
		parts = map[int][]byte{}
		series[before.ID] = parts
	}
	for n := max(before.Next, 1); ; {
		if part, there := parts[n]; bytes.Equal(part, fence) {
			return nil
		} else if there {
			n++
			continue
		}
		name := partName(before.ID, n)
		_, err := s.objects.Put(ctx, name, fence, "")
		if err == nil {
			parts[n] = fence
			return nil
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		if parts[n], _, err = s.objects.Get(ctx, name); err != nil { // the run wrote it just now
			return err
		}
	}
}

func partName(id string, n int) string { return fmt.Sprintf("%s%s/%06d", journalPrefix, id, n) }

// lay writes the copy: the state, and the one journal that is not in it yet.
func (s *shared) lay(text []byte, series map[string]map[int][]byte) error {
	p := s.local()
	if text != nil {
		if err := os.WriteFile(p.state, text, 0o600); err != nil { //nolint:gosec // in a folder of ours
			return err
		}
	}
	replayed := ""
	if text != nil {
		c, err := decode(p.state, text)
		if err != nil {
			return err
		}
		replayed = c.Journal
	}
	var journal []byte
	for _, id := range slices.Sorted(maps.Keys(series)) {
		var lines []byte
		var names []string
		for _, n := range slices.Sorted(maps.Keys(series[id])) {
			if part := series[id][n]; !bytes.Equal(part, fence) {
				lines, names = append(lines, part...), append(names, partName(id, n))
			}
		}
		s.parts = append(s.parts, names...)
		var head header
		first, _, _ := bytes.Cut(lines, []byte("\n"))
		if len(names) == 0 || json.Unmarshal(first, &head) == nil && head.ID == replayed {
			continue
		}
		if journal != nil {
			return fmt.Errorf("the store has two journals that are not in the state: %s is one; look on the service for the objects that they "+
				"name, and move one away", partName(id, 1))
		}
		journal = lines
	}
	if journal == nil {
		return nil
	}
	return os.WriteFile(p.journal, journal, 0o600) //nolint:gosec // in a folder of ours
}

// append adds to the journal in the store, unless somebody closed it.
func (s *shared) append(text []byte) error {
	if err := s.lease.valid(s.opts.leases); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := partName(s.lease.id, s.last+1)
	_, err := s.objects.Put(context.Background(), name, text, "")
	if errors.Is(err, ErrChanged) {
		return errors.New("another run has closed its journal, since this one did not renew its lock")
	}
	if err == nil {
		s.last++
		s.parts = append(s.parts, name)
	}
	return err
}

// replace replaces the state in the store.
func (s *shared) replace(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, err := s.objects.Put(context.Background(), "", text, s.version)
	if errors.Is(err, ErrChanged) {
		return errors.New("another run wrote it meanwhile")
	}
	if err == nil {
		s.version = version
	}
	s.unsure = err != nil
	return err
}

// drop removes the journal from the store, its beginning last: by that the next run knows it. The lease says first where the journal goes
// on: who takes it could not tell otherwise where the fence belongs.
func (s *shared) drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) > 0 && s.last > 0 {
		if _, err := s.lease.renew(context.Background(), s.last+1); err != nil {
			return err
		}
	}
	for len(s.parts) > 0 {
		last := len(s.parts) - 1
		if err := s.objects.Remove(context.Background(), s.parts[last]); err != nil {
			return err
		}
		s.parts = s.parts[:last]
	}
	return nil
}

// release implements [releaser].
func (s *shared) release() error {
	s.mu.Lock()
	clean, version := len(s.parts) == 0 && !s.unsure, s.version
	s.mu.Unlock()
	return s.leave(s.lease.giveBack(context.Background(), clean, version))
}

// leave removes the copy of a state whose lock was given back.
func (s *shared) leave(err error) error {
	if err != nil {
		err = fmt.Errorf("the lock of the state %s was not given back, and ends by itself within a minute: %w", s.address, err)
	}
	return errors.Join(err, s.remove())
}

// told makes errors name the address in place of the copy.
func (s *shared) told(err error) error {
	if s == nil || err == nil {
		return err
	}
	return &toldError{err, s}
}

type toldError struct {
	error

	of *shared
}

func (e *toldError) Error() string {
	return strings.ReplaceAll(e.error.Error(), e.of.local().state, e.of.address)
}

func (e *toldError) Unwrap() error { return e.error }

// readShared is [Read] of a shared state.
func readShared(ctx context.Context, address string, opts Options) (*Snapshot, error) {
	objects, err := opts.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	s, err := copied(address, objects, opts)
	if err != nil {
		return nil, err
	}
	defer s.remove() //nolint:errcheck // a copy
	series, err := s.series(ctx)
	if err != nil {
		return nil, fmt.Errorf("the state %s cannot be read: %w", address, err)
	}
	text, _, err := objects.Get(ctx, "") // behind the journal, see load
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the state %s cannot be read: %w", address, err)
	}
	if err := s.lay(text, series); err != nil {
		return nil, s.told(err)
	}
	found, err := load(s.local(), opts)
	if err != nil {
		return nil, s.told(err)
	}
	return found.snapshot(address), nil
}

// sharedDisk is the copy on disk, with what others have to see in the store first.
type sharedDisk struct {
	disk.Disk

	shared *shared
}

func (d sharedDisk) Create(path string) (disk.File, error) {
	f, err := d.Disk.Create(path)
	if err != nil || path != d.shared.local().journal {
		return f, err
	}
	return &sharedJournal{File: f, shared: d.shared}, nil
}

func (d sharedDisk) Replace(from, to string) error {
	text, err := os.ReadFile(from) //nolint:gosec // a file of ours
	if err == nil {
		err = d.shared.replace(text)
	}
	if err != nil {
		return err
	}
	return d.Disk.Replace(from, to)
}

// Link keeps no backup: buckets have versions.
func (sharedDisk) Link(string, string) error { return nil }

func (d sharedDisk) Remove(path string) error {
	if path == d.shared.local().journal {
		if err := d.shared.drop(); err != nil {
			return err
		}
	}
	return d.Disk.Remove(path)
}

// sharedJournal is a journal that is in the store when it is flushed.
type sharedJournal struct {
	disk.File

	shared *shared

	mu      sync.Mutex
	waiting []byte // what the store has not got yet
}

func (j *sharedJournal) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, err := j.File.Write(text)
	if err == nil {
		j.waiting = append(j.waiting, text...)
	}
	return n, err
}

func (j *sharedJournal) Sync() error {
	j.mu.Lock()
	text := bytes.Clone(j.waiting)
	j.mu.Unlock()
	if len(text) == 0 {
		return nil
	}
	if err := j.shared.append(text); err != nil {
		return err
	}
	j.mu.Lock()
	j.waiting = j.waiting[len(text):]
	j.mu.Unlock()
	return nil
}
