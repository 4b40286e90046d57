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

	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
)

const journalPrefix = ".journal/"

// fence is the last part of a closed journal: the run that wrote the journal can add nothing after it.
var fence = []byte("closed\n") //nolint:gochecknoglobals // a constant

// leaseTimes are the periods of a lease; see [beatTime].
type leaseTimes struct{ beat, dead, lost time.Duration }

// shared is a state that several machines share. A run works on a copy in a folder of its own, and puts
// into the store what must be on disk before a request.
//
// The journal is a series of numbered objects whose names contain the ID of the lease. Each is only
// created, never overwritten: a run whose lease was taken can write nothing after the fence, and so sends
// nothing. The state is replaced only if nobody has changed it since it was read.
type shared struct {
	address string
	objects Objects
	opts    Options
	dir     string
	lease   *lease
	alive   *flock.Flock

	mu      sync.Mutex
	version string   // of the state; "" = there is none
	unsure  bool     // the outcome of the last write of the state is not known
	last    int      // number of the last part of the journal
	parts   []string // names of the journal's parts in the store
}

func (o Options) connect(ctx context.Context, address string) (Objects, error) {
	if o.Connect == nil {
		return nil, fmt.Errorf("the state %s: only state files are supported here", withoutCredential(address))
	}
	objects, err := o.Connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("the state %s: %w", withoutCredential(address), err)
	}
	return WithRetries(objects), nil
}

// withoutCredential returns an address for an error message, reduced to its scheme if a user, query or fragment may be a credential.
func withoutCredential(address string) string {
	if scheme, rest, _ := strings.Cut(address, "://"); strings.ContainsAny(rest, "@?#") {
		return scheme + "://…"
	}
	return address
}

// local returns the paths of the copy.
func (sh *shared) local() paths { return siblingPaths(filepath.Join(sh.dir, "state.json")) }

// makeCopy makes the folder of a copy, which is locked while its run lives, and removes the folders of runs that were killed.
func makeCopy(address string, o Objects, opts Options) (*shared, error) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), copyPrefix+"*"))
	for _, dir := range left {
		if l := flock.New(aliveFile(dir), flock.SetFlag(os.O_RDONLY)); isCopy(dir) {
			if dead, err := l.TryLock(); err == nil && dead {
				// Windows does not remove an open file. Elsewhere the folder must be gone before the lock, because a run
				// may be making it just now.
				_ = errors.Join(os.RemoveAll(dir), l.Close(), os.RemoveAll(dir))
			}
		}
	}
	for tries := 0; ; tries++ {
		dir, err := os.MkdirTemp("", copyPrefix+"*")
		if err != nil || tries > 9 {
			return nil, fmt.Errorf("no folder for a copy of the state %s: %w", address, cmp.Or(err, errors.New("others remove it")))
		}
		s := &shared{address: address, objects: o, opts: opts, dir: dir, alive: flock.New(aliveFile(dir))}
		locked, err := s.alive.TryLock()
		// On a disk without locks (err != nil) no other run removes the folder.
		if _, gone := os.Lstat(aliveFile(dir)); gone == nil && (locked || err != nil) {
			return s, nil //nolint:nilerr // see above
		}
		_ = s.remove() // another run took it for the folder of a dead run
	}
}

// copyPrefix begins the name of the folder of a copy.
const copyPrefix = "planform-state-"

func aliveFile(dir string) string { return filepath.Join(dir, "alive") }

// isCopy reports whether makeCopy made a folder. The name is not enough, because others can use it too.
// Windows has no such modes, but its folder for temporary files belongs to one user.
func isCopy(dir string) bool {
	folder, err := os.Lstat(dir)
	file, missing := os.Lstat(aliveFile(dir))
	return err == nil && missing == nil && folder.IsDir() && file.Mode().IsRegular() &&
		(runtime.GOOS == "windows" || folder.Mode().Perm() == 0o700)
}

// remove removes the copy.
func (sh *shared) remove() error { return errors.Join(sh.alive.Close(), os.RemoveAll(sh.dir)) }

// openShared opens a shared state; see [Open].
func openShared(ctx context.Context, address string, opts Options) (*File, error) {
	objects, err := opts.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	l, before, err := takeLease(ctx, address, objects, opts)
	if err != nil {
		return nil, err
	}
	s, err := makeCopy(address, objects, opts)
	if err != nil {
		return nil, errors.Join(err, l.end(ctx, before))
	}
	s.lease = l
	opts.Disk, opts.shared = sharedDisk{disk.OS{}, s}, s
	f := newFile(s.local(), opts, s)
	if err = s.fetch(ctx, &before); err != nil {
		return nil, errors.Join(s.withAddress(err), s.discard(l.end(context.WithoutCancel(ctx), before)))
	}
	f.takenOver = !before.Clean
	if err = f.prepare(); err != nil {
		return nil, errors.Join(s.withAddress(err), s.release()) //nolint:contextcheck // also after the end of ctx
	}
	return f, nil
}

// fetch brings state and journal into the copy. It first closes the journals of earlier turns that did not close them.
func (sh *shared) fetch(ctx context.Context, before *leaseText) error {
	series, err := sh.readJournalParts(ctx)
	if err != nil {
		return err
	}
	for _, t := range before.openTurns() {
		if err := sh.fenceJournal(ctx, t, series); err != nil {
			return err
		}
	}
	sh.lease.clearOpen()
	text, version, err := sh.objects.Get(ctx, "")
	if errors.Is(err, fs.ErrNotExist) {
		text, version, err = nil, "", nil
	}
	if err != nil {
		return err
	}
	if len(series) > 0 { // a run that took the lease since may have written the state and removed parts; renewing finds out
		if _, err := sh.lease.renew(ctx, 0); err != nil {
			return err
		}
	}
	if before.Clean && before.ID != "" && before.State != version {
		return diag.WithHint(errors.New("the store does not return the state that the last run saved"), "run again; planform state unlock accepts what is stored")
	}
	sh.version = version
	return sh.writeCopy(text, series)
}

// readJournalParts reads the parts of the journals in the store, by the ID of the turn that wrote them and their number.
func (sh *shared) readJournalParts(ctx context.Context) (map[string]map[int][]byte, error) {
	names, err := sh.objects.List(ctx, journalPrefix)
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
		text, _, err := sh.objects.Get(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a run removed it meanwhile, because the state contains it
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

// fenceJournal writes the fence after the last part of a turn's journal, under the name of the part that the turn would write next.
func (sh *shared) fenceJournal(ctx context.Context, before openTurn, series map[string]map[int][]byte) error {
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
		_, err := sh.objects.Put(ctx, name, fence, "")
		if err == nil {
			parts[n] = fence
			return nil
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		if parts[n], _, err = sh.objects.Get(ctx, name); err != nil { // the run wrote this part just now
			return err
		}
	}
}

func partName(id string, n int) string { return fmt.Sprintf("%s%s/%06d", journalPrefix, id, n) }

// writeCopy writes the copy: the state, and the journal that is not in the state yet.
func (sh *shared) writeCopy(text []byte, series map[string]map[int][]byte) error {
	p := sh.local()
	if text != nil {
		if err := os.WriteFile(p.state, text, 0o600); err != nil {
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
		sh.parts = append(sh.parts, names...)
		var head header
		first, _, _ := bytes.Cut(lines, []byte("\n"))
		if len(names) == 0 || json.Unmarshal(first, &head) == nil && head.ID == replayed {
			continue
		}
		if journal != nil {
			return fmt.Errorf("the store has two journals that are not in the state, such as %s: check their objects, and move one away", partName(id, 1))
		}
		journal = lines
	}
	if journal == nil {
		return nil
	}
	return os.WriteFile(p.journal, journal, 0o600)
}

// append adds a part to the journal in the store, unless another run closed the journal.
func (sh *shared) append(text []byte) error {
	if err := sh.lease.checkValid(sh.opts.leases); err != nil {
		return err
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	name := partName(sh.lease.id, sh.last+1)
	_, err := sh.objects.Put(context.Background(), name, text, "")
	if errors.Is(err, ErrChanged) {
		return errors.New("this run did not renew its lock in time, and another run has closed its journal")
	}
	if err == nil {
		sh.last++
		sh.parts = append(sh.parts, name)
	}
	return err
}

// replace replaces the state in the store.
func (sh *shared) replace(text []byte) error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	version, err := sh.objects.Put(context.Background(), "", text, sh.version)
	if errors.Is(err, ErrChanged) {
		return errors.New("another run wrote it meanwhile")
	}
	if err == nil {
		sh.version = version
	}
	sh.unsure = err != nil
	return err
}

// drop removes the journal from the store, its first part last, because the next run recognizes the journal by it. Before that, it
// records in the lease where the journal continues. Otherwise a run that takes the lease could not tell where the fence belongs.
func (sh *shared) drop() error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.parts) > 0 && sh.last > 0 {
		if _, err := sh.lease.renew(context.Background(), sh.last+1); err != nil {
			return err
		}
	}
	for len(sh.parts) > 0 {
		last := len(sh.parts) - 1
		if err := sh.objects.Remove(context.Background(), sh.parts[last]); err != nil {
			return err
		}
		sh.parts = sh.parts[:last]
	}
	return nil
}

// release implements [releaser].
func (sh *shared) release() error {
	sh.mu.Lock()
	clean, version := len(sh.parts) == 0 && !sh.unsure, sh.version
	sh.mu.Unlock()
	return sh.discard(sh.lease.giveBack(context.Background(), clean, version))
}

// discard removes the copy of a state whose lock was released, and joins the errors.
func (sh *shared) discard(err error) error {
	if err != nil {
		err = fmt.Errorf("the lock of the state %s was not released; it expires within a minute: %w", sh.address, err)
	}
	return errors.Join(err, sh.remove())
}

// withAddress makes errors name the address instead of the copy.
func (sh *shared) withAddress(err error) error {
	if sh == nil || err == nil {
		return err
	}
	return &addressedError{err, sh}
}

// addressedError is an error of a copy that names the address of the shared state.
type addressedError struct {
	error

	of *shared
}

func (ae *addressedError) Error() string {
	return strings.ReplaceAll(ae.error.Error(), ae.of.local().state, ae.of.address)
}

func (ae *addressedError) Unwrap() error { return ae.error }

// readShared reads a shared state; see [Read].
func readShared(ctx context.Context, address string, opts Options) (*Snapshot, error) {
	objects, err := opts.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	s, err := makeCopy(address, objects, opts)
	if err != nil {
		return nil, err
	}
	defer s.remove() //nolint:errcheck // a copy
	series, err := s.readJournalParts(ctx)
	if err != nil {
		return nil, fmt.Errorf("the state %s cannot be read: %w", address, err)
	}
	text, _, err := objects.Get(ctx, "") // after the journal, see load
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the state %s cannot be read: %w", address, err)
	}
	if err := s.writeCopy(text, series); err != nil {
		return nil, s.withAddress(err)
	}
	found, err := load(s.local(), opts)
	if err != nil {
		return nil, s.withAddress(err)
	}
	return found.snapshot(address), nil
}

// sharedDisk is the disk of a copy. It writes to the store first what other machines must see.
type sharedDisk struct {
	disk.Disk

	shared *shared
}

func (sd sharedDisk) Create(path string) (disk.File, error) {
	f, err := sd.Disk.Create(path)
	if err != nil || path != sd.shared.local().journal {
		return f, err
	}
	return &sharedJournal{File: f, shared: sd.shared}, nil
}

func (sd sharedDisk) Replace(from, to string) error {
	text, err := os.ReadFile(from) //nolint:gosec // a file of ours
	if err == nil {
		err = sd.shared.replace(text)
	}
	if err != nil {
		return err
	}
	return sd.Disk.Replace(from, to)
}

// Link does nothing, because buckets have versions instead of backups.
func (sharedDisk) Link(string, string) error { return nil }

func (sd sharedDisk) Remove(path string) error {
	if path == sd.shared.local().journal {
		if err := sd.shared.drop(); err != nil {
			return err
		}
	}
	return sd.Disk.Remove(path)
}

// sharedJournal is a journal that is written to the store when it is flushed.
type sharedJournal struct {
	disk.File

	shared *shared

	mu      sync.Mutex
	waiting []byte // text that is not in the store yet
}

func (sj *sharedJournal) Write(text []byte) (int, error) {
	sj.mu.Lock()
	defer sj.mu.Unlock()
	n, err := sj.File.Write(text)
	if err == nil {
		sj.waiting = append(sj.waiting, text...)
	}
	return n, err
}

func (sj *sharedJournal) Sync() error {
	sj.mu.Lock()
	text := bytes.Clone(sj.waiting)
	sj.mu.Unlock()
	if len(text) == 0 {
		return nil
	}
	if err := sj.shared.append(text); err != nil {
		return err
	}
	sj.mu.Lock()
	sj.waiting = sj.waiting[len(text):]
	sj.mu.Unlock()
	return nil
}
