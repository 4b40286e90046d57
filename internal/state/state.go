package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Options identify a state and say how it is opened.
type Options struct {
	BaseURL     string // of the service; a server recorded with http may be reached by https later
	AnyServer   bool   // accept a state of another server, because the server has moved
	Workspace   string
	LockTimeout time.Duration    // longest wait for a held lock; 0 = none
	Waiting     func(Holder)     // called once before waiting for the lock; nil = nothing
	Lost        func(why error)  // called when another run may have the lock of a shared state; nil = nothing
	Command     string           // shown to others who wait for the lock, such as "planform apply"
	Now         func() time.Time // nil = [time.Now]
	Disk        disk.Disk        // nil = the operating system's

	// Connect opens the store of a shared state; see [IsShared]. Errors name no credential.
	Connect func(ctx context.Context, address string) (Objects, error)

	leases leaseTimes // zero = the real ones
	shared *shared    // nil = the state is in a file
}

func (o Options) withDefaults() (Options, error) {
	base, err := normalURL(o.BaseURL)
	if err != nil {
		return o, err
	}
	o.BaseURL = base
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Disk = disk.Or(o.Disk)
	if o.leases == (leaseTimes{}) {
		o.leases = leaseTimes{beatTime, deadTime, lostTime}
	}
	return o, nil
}

// Snapshot is a state at one moment, with the journal replayed.
type Snapshot struct {
	Path    string // of the state file, symbolic links resolved
	Exists  bool   // there was a state file or a journal
	Lineage string // "" if nothing was ever saved
	Serial  uint64
	store   store
}

// Prior returns the records that the last apply left.
func (s *Snapshot) Prior() planner.Prior { return maps.Clone(s.store.records) }

// Owners returns the owners whose marks the objects of the state may bear.
func (s *Snapshot) Owners() []resource.Owner { return s.store.owners() }

// Knows reports whether a run for the owner has ended and bound all its objects, so that the state knows all objects
// that planform created for the owner.
func (s *Snapshot) Knows(owner resource.Owner) bool { return slices.Contains(s.store.Owners, owner) }

// Write writes the state in the format of its file.
func (s *Snapshot) Write(w io.Writer) error { return s.store.encode(w) }

// LastActivity returns the time of the latest line that a run wrote; zero = not known. The run sent its last request before that time or
// soon after.
func (s *Snapshot) LastActivity() time.Time { return s.store.latest }

// Read reads a state without the lock, and writes nothing. A missing state is an empty one. The errors are
// the same as for [Open], except [LockedError].
func Read(ctx context.Context, path string, opts Options) (*Snapshot, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if IsShared(path) {
		return readShared(ctx, path, opts)
	}
	p, err := resolve(path)
	if err != nil {
		return nil, err
	}
	found, err := load(p, opts)
	if err != nil {
		return nil, err
	}
	return found.snapshot(p.state), nil
}

// File is a state that is locked for this process. Its methods may be called concurrently, until Close.
type File struct {
	paths paths
	opts  Options
	disk  disk.Disk
	lock  releaser

	flush  mutex  // held during a flush to disk; taken before mu
	synced uint64 // lines on disk; guarded by flush

	mu        mutex
	store     store
	pending   map[resource.Address][]pendingStep // by record: steps without an outcome
	info      fs.FileInfo                        // the state file as it was read or saved; nil = there is none
	backedUp  bool
	writer    *writer // the journal; nil = there is none now
	written   uint64  // lines written
	stopped   error   // the reason why nothing more may be sent
	unwritten []line  // outcomes that the journal could not take; the next outcome is written with them, because it says which intents remain
	closed    bool
	// takenOver is set if the previous run may still be alive. The state is then written anew, so that the
	// previous run cannot replace it.
	takenOver bool
}

// releaser is a held lock.
type releaser interface{ release() error }

var _ executor.Journal = (*File)(nil)

// mutex is a lock on a channel. Tests with virtual time need it: time passes while a goroutine waits for a
// channel, but not while it waits for a [sync.Mutex].
type mutex chan struct{}

func (m mutex) Lock()   { m <- struct{}{} }
func (m mutex) Unlock() { <-m }

func newFile(p paths, opts Options, l releaser) *File {
	return &File{
		paths: p, opts: opts, disk: opts.Disk, lock: l, flush: make(mutex, 1), mu: make(mutex, 1), pending: map[resource.Address][]pendingStep{},
	}
}

// Open locks a state, replays the journal of the last run, and prepares a new one. It fails if the state is
// locked ([LockedError]), belongs to another server or workspace ([MismatchError]), is damaged
// ([CorruptError]) or newer ([VersionError]), or if its folder cannot be written to.
func Open(ctx context.Context, path string, opts Options) (*File, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if IsShared(path) {
		return openShared(ctx, path, opts)
	}
	p, err := resolve(path)
	if err != nil {
		return nil, err
	}
	l, err := acquire(ctx, p, opts)
	if err != nil {
		return nil, err
	}
	f := newFile(p, opts, l)
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return f, nil
}

// prepare reads the state, replays the journal, and begins a new one, which shows that the folder can be written to.
func (f *File) prepare() error {
	found, err := load(f.paths, f.opts)
	if err != nil {
		return err
	}
	f.store, f.info = found.store, found.info
	if f.store.Lineage == "" {
		f.store.Lineage = uuid.NewString()
	}
	if err := f.remove(f.paths.tmp); err != nil {
		return f.unwritable(err)
	}
	if f.takenOver {
		f.store.Journal = cmp.Or(found.read, f.store.Journal)
		f.store.Serial++ // otherwise the previous run could write an identical state and take it for its own
	}
	if f.store.changed() || f.takenOver {
		if err := f.replace(); err != nil {
			return err
		}
	}
	if err := f.remove(f.paths.journal); err != nil {
		return f.unwritable(err)
	}
	if err := f.create(); err != nil {
		return f.unwritable(err)
	}
	return nil
}

// remove removes a file if it exists.
func (f *File) remove(path string) error {
	if err := f.disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *File) unwritable(err error) error {
	if f.opts.shared != nil {
		return fmt.Errorf("the state %s cannot be written: %w; nothing was sent", f.paths.state, err)
	}
	return diag.WithHint(fmt.Errorf("the folder of the state %s cannot be written to: %w; nothing was sent", f.paths.state, err),
		"make it writable, or choose another place with --state")
}

// Path returns the path of the state file with symbolic links resolved, or the address of a shared state.
func (f *File) Path() string {
	if f.opts.shared != nil {
		return f.opts.shared.address
	}
	return f.paths.state
}

// Replace takes over all records of another state. They are on disk after Save.
func (f *File) Replace(s *Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := s.store.content
	c.Serial, c.BaseURL = max(c.Serial, f.store.Serial), f.store.BaseURL
	f.store, f.pending = newStore(c), map[resource.Address][]pendingStep{}
	f.store.replanned = true
}

// Snapshot returns the present content of the state.
func (f *File) Snapshot() *Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &Snapshot{Path: f.Path(), Exists: true, Lineage: f.store.Lineage, Serial: f.store.Serial, store: f.store}
	s.store.records = maps.Clone(f.store.records)
	return s
}

// Prior returns the present records. Their values and members must not be changed.
func (f *File) Prior() planner.Prior {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.store.records)
}

// Version returns the lineage and the serial.
func (f *File) Version() (lineage string, serial uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.store.Lineage, f.store.Serial
}

// Plan returns the saved plan that was carried out last, or nil if another apply came after it.
func (f *File) Plan() *Plan {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.store.Plan
}

// StartPlan records that a saved plan is being carried out; "" means none. The record is on disk when StartPlan returns.
func (f *File) StartPlan(hash string) error {
	f.mu.Lock()
	if last := f.store.Plan; last == nil && hash == "" || last != nil && last.Hash == hash {
		f.mu.Unlock()
		return nil
	}
	f.store.Plan, f.store.replanned = nil, true
	if hash != "" {
		f.store.Plan = &Plan{hash, f.now()}
	}
	f.mu.Unlock()
	return f.Save()
}

// Own records that a run for the owner has ended and bound all its objects; see Knows. The change is on disk after Save.
func (f *File) Own(owner resource.Owner) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.store.addOwner(owner)
}

// Put sets the record of an object. The change is on disk after Save.
func (f *File) Put(r planner.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r = normalRecord(r)
	if r.Address == "" {
		return // a state with an empty address could not be read again
	}
	before := f.store.records[r.Address]
	if r.AppliedAt = before.AppliedAt; r.ID == before.ID && before.Late.After(r.Late) {
		r.Late = before.Late
	}
	delete(f.pending, r.Address)
	if reflect.DeepEqual(r, before) {
		return
	}
	r.AppliedAt = f.now()
	f.store.set(r)
}

// Merge adds the values and members of seen to a known record of the same object. It keeps who created the object, its protection,
// sources and pending intent. If the IDs differ, they are two objects: then Merge returns seen alone.
func Merge(known, seen planner.Record) planner.Record {
	if known.ID != "" && seen.ID != "" && known.ID != seen.ID {
		return seen
	}
	values := maps.Clone(known.Values)
	if values == nil {
		values = seen.Values
	} else {
		maps.Copy(values, seen.Values)
	}
	found := slices.DeleteFunc(slices.Clone(seen.Found), func(id string) bool { return slices.Contains(known.Members, id) })
	return planner.Record{
		Address: seen.Address, ID: cmp.Or(seen.ID, known.ID), Identifier: cmp.Or(seen.Identifier, known.Identifier), Values: values,
		Members: slices.Concat(known.Members, seen.Members), Found: slices.Concat(known.Found, found), CreatedByUs: known.CreatedByUs,
		Protect: known.Protect,
		Sources: slices.Concat(known.Sources, seen.Sources), PendingIntent: known.PendingIntent, Late: known.Late, Origin: known.Origin.Next(seen.Origin),
	}
}

// RemoveObject removes the record of an object and the records of its members. The change is on disk after Save.
func (f *File) RemoveObject(address resource.Address) {
	f.Remove(address)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.store.dropMemberships(address)
}

// Remove removes one record. The change is on disk after Save.
func (f *File) Remove(address resource.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pending, address)
	f.store.remove(address)
}

// ApplyChanges moves, replaces and removes records as a plan says. The changes are on disk after Save.
func (f *File) ApplyChanges(changes []planner.StateChange) {
	for _, c := range changes {
		if c.From != c.To {
			f.Remove(c.From)
		}
	}
	for _, c := range changes {
		if c.To != "" {
			f.Put(c.Record)
		}
	}
}

// RecordSources sets the manifests that hold each object. The change is on disk after Save.
func (f *File) RecordSources(files map[resource.Address][]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for address, list := range files {
		if r, ok := f.store.records[address]; ok {
			r.Sources = normalList(list)
			f.store.set(r)
		}
	}
}

// now returns the time of the clock, or zero, an unknown time, if the clock is so wrong that its time could not be read back.
func (f *File) now() time.Time {
	now, err := normalTime(f.opts.Now())
	if err != nil {
		return time.Time{}
	}
	return now
}

// Close unlocks the state. Changes that were not saved stay in the journal, which is removed only if it is empty.
func (f *File) Close() error {
	f.flush.Lock()
	defer f.flush.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	f.stopped = fmt.Errorf("%w: the state %s is closed", executor.ErrAbortRun, f.paths.state)
	var errs []error
	if w := f.writer; w != nil {
		f.writer = nil
		if w.lines > 0 {
			errs = append(errs, w.file.Sync())
		}
		ours := w.isCurrent()
		errs = append(errs, w.file.Close())
		if w.lines == 0 && ours {
			errs = append(errs, f.remove(f.paths.journal))
		}
	}
	if err := errors.Join(errs...); err != nil {
		err = fmt.Errorf("the journal %s cannot be closed: %w", f.paths.journal, err)
		return errors.Join(f.opts.shared.withAddress(err), f.lock.release())
	}
	return f.lock.release()
}
