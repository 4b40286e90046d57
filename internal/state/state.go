package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Options say whose state it is and how it is opened.
type Options struct {
	BaseURL     string // of the service
	Workspace   string
	LockTimeout time.Duration    // how long a lock that somebody holds is waited for; 0 = not at all
	Waiting     func(Holder)     // told once if the lock is waited for; nil = nobody
	Command     string           // what others are told who wait, such as "planform apply"
	Now         func() time.Time // nil = [time.Now]

	disk disk // nil = the real one
}

func (o Options) normal() (Options, error) {
	base, err := normalURL(o.BaseURL)
	if err != nil {
		return o, err
	}
	o.BaseURL = base
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.disk == nil {
		o.disk = osDisk{}
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

// Prior is what the last apply left.
func (s *Snapshot) Prior() planner.Prior { return maps.Clone(s.store.records) }

// LastActivity is when a run was last sawActivity of; zero = not known.
func (s *Snapshot) LastActivity() time.Time { return s.store.latest }

// Read reads a state without the lock, and writes nothing. A state that is not
// there is an empty one.
func Read(path string, opts Options) (*Snapshot, error) {
	opts, err := opts.normal()
	if err != nil {
		return nil, err
	}
	p, err := resolve(path)
	if err != nil {
		return nil, err
	}
	found, err := load(p, opts)
	if err != nil {
		return nil, err
	}
	return &Snapshot{
		Path: p.state, Exists: found.info != nil || found.journal,
		Lineage: found.Lineage, Serial: found.Serial, store: found.store,
	}, nil
}

// File is a state that is locked for this process. Its methods may be called
// concurrently, until Close.
type File struct {
	paths paths
	opts  Options
	disk  disk
	lock  *lock

	flush  sync.Mutex // held while the disk is waited for; before mu
	synced uint64     // lines that are on disk; under flush

	mu       sync.Mutex
	store    store
	open     map[resource.Address][]openStep // by record: steps whose fate is not known
	info     fs.FileInfo                     // the state file as it was read or saved; nil = there is none
	backedUp bool
	writer   *writer // the journal; nil = there is none now
	written  uint64  // lines that were written
	stopped  error   // why nothing more may be sent
	closed   bool
}

var _ executor.Journal = (*File)(nil)

// Open locks a state, replays what the last run left in its journal, and makes
// ready for a run. It must return an error if what follows could not be written.
func Open(ctx context.Context, path string, opts Options) (*File, error) {
	opts, err := opts.normal()
	if err != nil {
		return nil, err
	}
	p, err := resolve(path)
	if err != nil {
		return nil, err
	}
	l, err := acquire(ctx, p, opts)
	if err != nil {
		return nil, err
	}
	f := &File{paths: p, opts: opts, disk: opts.disk, lock: l, open: map[resource.Address][]openStep{}}
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return f, nil
}

// prepare reads, replays, and proves that the folder can be written to.
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
	if f.store.changed() {
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

// remove removes a file that need not be there.
func (f *File) remove(path string) error {
	if err := f.disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *File) unwritable(err error) error {
	return fmt.Errorf("the folder of the state %s cannot be written to: %w; nothing was sent: make it writable, or choose another place with --state",
		f.paths.state, err)
}

// Path is where the state file is, symbolic links resolved.
func (f *File) Path() string { return f.paths.state }

// Prior is what is known now. The records' values and members are not to be changed.
func (f *File) Prior() planner.Prior {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.store.records)
}

// LastActivity is when a run was last sawActivity of, this one or an earlier one; zero =
// not known. What such a run sent it sent before, or soon after.
func (f *File) LastActivity() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.store.latest
}

// Put sets what is known of a thing. It is on disk after Save.
func (f *File) Put(r planner.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r = normalRecord(r)
	if r.Address == "" {
		return // a state with it could not be read again
	}
	before := f.store.records[r.Address]
	r.AppliedAt = before.AppliedAt
	delete(f.open, r.Address)
	if reflect.DeepEqual(r, before) {
		return
	}
	r.AppliedAt = f.now()
	f.store.set(r)
}

// Join is what is known of a thing with what was seen of it since. Who made it, whether it is
// protected, where it stands and what is open of it stays known; of another thing than
// the record was of, nothing is kept.
func Join(known, seen planner.Record) planner.Record {
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
		Members: slices.Concat(known.Members, seen.Members), Found: slices.Concat(known.Found, found), CreatedByUs: known.CreatedByUs, Protect: known.Protect,
		Sources: slices.Concat(known.Sources, seen.Sources), PendingIntent: known.PendingIntent,
	}
}

// Forget forgets a thing, and who belongs to it. It is on disk after Save.
func (f *File) Forget(address resource.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, address)
	f.store.remove(address)
	f.store.dropMemberships(address)
}

// Remove forgets a record. It is on disk after Save.
func (f *File) Remove(address resource.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, address)
	f.store.remove(address)
}

// Correct changes what a plan says that is known otherwise. It is on disk after Save.
func (f *File) Correct(corrections []planner.StateChange) {
	for _, c := range corrections {
		if c.From != c.To {
			f.Remove(c.From)
		}
	}
	for _, c := range corrections {
		if c.To != "" {
			f.Put(c.Record)
		}
	}
}

// RecordSources sets in which manifests things stand. It is on disk after Save.
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

// now is zero, a time that is not known, where the clock is so wrong that what it
// says could not be read again.
func (f *File) now() time.Time {
	now, err := normalTime(f.opts.Now())
	if err != nil {
		return time.Time{}
	}
	return now
}

// Close unlocks the state. What was not saved is still in the journal, which
// goes away only if nothing is in it.
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
		ours := w.ours()
		errs = append(errs, w.file.Close())
		if w.lines == 0 && ours {
			errs = append(errs, f.remove(f.paths.journal))
		}
	}
	if err := errors.Join(errs...); err != nil {
		err = fmt.Errorf("the journal %s cannot be closed: %w", f.paths.journal, err)
		return errors.Join(err, f.lock.release())
	}
	return f.lock.release()
}
