package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/google/uuid"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/planner"
)

// writer is a journal that is being written.
type writer struct {
	file   disk.File
	path   string
	id     string
	crc    uint32 // of its lines
	size   int64  // bytes, whole lines only
	lines  int    // without the header and without marks
	onDisk int64  // bytes that are certainly on disk
	marked int64  // bytes that the last mark counts
	serial uint64 // of the state that the journal belongs to
	// broken is set when half a line at the end could not be removed.
	broken error
}

// pendingStep is a step without an outcome.
type pendingStep struct {
	step           resource.Address
	index          planner.StepID // in its plan, where an address may have several steps
	intent         planner.Intent
	fromEarlierRun bool
}

// create begins a journal for the state that was saved last.
func (f *File) create() error {
	out, err := f.disk.Create(f.paths.journal)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: another run has created a journal: locks on this disk do not seem to work between machines", err)
	}
	if err != nil {
		return err
	}
	w := &writer{file: out, path: f.paths.journal, id: uuid.NewString(), serial: f.store.Serial}
	text, crc, err := appendLine(nil, header{Version: journalVersion, ID: w.id, identity: f.store.identity}, 0)
	w.crc, w.size = crc, int64(len(text))
	w.onDisk, w.marked = w.size, w.size
	if err == nil {
		err = writeAll(out, text)
	}
	if err == nil {
		err = out.Sync()
	}
	if err == nil {
		err = f.disk.SyncDir(f.paths.journal)
	}
	if err != nil {
		_ = out.Close()
		_ = f.disk.Remove(f.paths.journal) // it holds no step
		return err
	}
	f.writer = w
	return nil
}

func writeAll(w io.Writer, text []byte) error {
	n, err := w.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return err
}

// isCurrent reports whether the file at the journal's path, which the next run reads, is still this journal.
func (w *writer) isCurrent() bool {
	ours, err := w.file.Stat()
	if err != nil {
		return false
	}
	current, err := os.Lstat(w.path)
	return err == nil && os.SameFile(ours, current)
}

// Begin writes the intents of the steps and returns when they are on disk. Calls during a flush share the next flush. After an error, no
// request of these steps may be sent; an error that wraps [executor.ErrAbortRun] ends the run.
func (f *File) Begin(ctx context.Context, steps []*planner.Step) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	if f.stopped != nil {
		defer f.mu.Unlock()
		return f.stopped
	}
	now := f.now()
	var lines []line
	var begun []*planner.Step
	for _, s := range steps {
		if s.Operation == nil || s.Action == planner.NotPossible {
			continue // no request
		}
		l := line{Intent: s.Address, Action: new(s.Action), At: now, Batch: s.Batch != 0}
		switch {
		case s.Object != nil:
			l.Name = s.Object.Name()
		case s.Action == planner.AddMembers, s.Action == planner.RemoveMembers:
			l.Name = s.Members.IntentName()
		}
		if s.Action == planner.Update || s.Action == planner.Adopt {
			for _, v := range s.Values() {
				l.Fields = append(l.Fields, v.Field.Name)
			}
			l.Sent = s.ContentDigest()
		}
		if s.Action == planner.Create {
			l.After, l.Sources, l.Origin = max(f.store.newest[s.Address.NumberingScope()], s.Write.Newest), s.Object.Files, s.Object.Origin
			l.Protect = s.Object.Protected(f.store.records[s.Address].Protect)
		}
		lines, begun = append(lines, l), append(begun, s)
	}
	if len(lines) == 0 {
		f.mu.Unlock()
		return nil
	}
	err := f.append(lines...)
	if err == nil {
		for i, l := range lines {
			f.addPending(begun[i], l.intent())
			f.store.apply(l)
		}
	}
	n := f.written
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if err := f.sync(n); err != nil {
		f.cancel(begun)
		return err
	}
	return nil
}

// Complete records the outcome of a step. The line is not flushed: if it is lost, the next run looks the object up.
func (f *File) Complete(step *planner.Step, outcome executor.Outcome, err error) error {
	if step.Action == planner.NotPossible || errors.Is(err, executor.ErrOutcomeUnknown) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	uncertain := f.mayBeInContainer(step)
	if uncertain && len(outcome.Members) == 0 {
		return nil
	}
	l := line{Commit: step.Address, Action: new(step.Action), At: f.now()}
	if err != nil && len(outcome.Members) == 0 {
		if !f.dropPending(step, false) {
			return nil // there is no intent to withdraw
		}
		l = line{Abort: step.Address, At: l.At}
	} else {
		if !uncertain {
			f.dropPending(step, true)
		}
		l.Record = outcome.Record
		if o := step.Object; o != nil {
			l.Protect, l.Sources = o.Protected(f.store.records[step.Address].Protect), o.Files
			l.Origin = o.Origin
		} else if step.Action == planner.AddMembers {
			l.Sources = step.Members.Sources
		}
		if l.ID == "" && step.Members == nil {
			l.ID = step.ID
		}
	}
	l.PendingIntent = f.remainingIntent(step.Address)
	f.store.apply(l) // even if the journal fails: Save may still succeed
	lines := append(f.unwritten, l)
	err = f.append(lines...)
	if f.unwritten = nil; err != nil {
		f.unwritten = lines
	}
	return err
}

// mayBeInContainer reports whether a step adds a member whose own batch create has no outcome yet. That create
// may have put the member into the container, so the intent of the step must stay.
func (f *File) mayBeInContainer(step *planner.Step) bool {
	return step.Action == planner.AddMembers && slices.ContainsFunc(step.Members.Items, func(m planner.Member) bool {
		_, list := f.pendingAt(m.Address)
		return m.ID == "" && m.Address != "" && slices.ContainsFunc(list, func(o pendingStep) bool { return o.intent.Action == planner.Create && o.intent.Batch })
	})
}

// pendingAt returns the address of a step's record and the steps without an outcome at that record.
func (f *File) pendingAt(step resource.Address) (record resource.Address, list []pendingStep) {
	address := recordAddress(step)
	list, ok := f.pending[address]
	if r := f.store.records[address]; !ok && r.PendingIntent != nil {
		list = []pendingStep{{step: address, intent: *r.PendingIntent, fromEarlierRun: true}}
	}
	return address, list
}

func (f *File) addPending(step *planner.Step, intent planner.Intent) {
	address, list := f.pendingAt(step.Address)
	f.pending[address] = append(list, pendingStep{step: step.Address, index: step.Index, intent: intent})
}

// dropPending removes the intents that a step resolves, and reports whether there were any. A step that was
// done resolves all its intents and those of earlier runs, because this run looked them up before it sent
// its own. A step that was not done resolves only its last intent. Intents of other steps of this run stay.
func (f *File) dropPending(step *planner.Step, wasDone bool) bool {
	address, list := f.pendingAt(step.Address)
	isOf := func(o pendingStep) bool { return !o.fromEarlierRun && o.step == step.Address && o.index == step.Index }
	if !wasDone {
		for i, o := range slices.Backward(list) {
			if isOf(o) {
				f.pending[address] = slices.Delete(list, i, i+1)
				return true
			}
		}
		return false
	}
	var rest []pendingStep
	for _, o := range list {
		if !o.fromEarlierRun && !isOf(o) {
			rest = append(rest, o)
		}
	}
	f.pending[address] = rest
	return len(rest) < len(list)
}

// remainingIntent returns the merged pending intents at a step's record, or nil.
func (f *File) remainingIntent(step resource.Address) (last *planner.Intent) {
	_, list := f.pendingAt(step)
	for _, p := range list {
		last = mergeIntents(last, p.intent)
	}
	return last
}

// cancel removes intents whose flush failed, because nothing is sent for them. It changes only the memory:
// if the intents are on disk after all, the next run finds that nothing was done.
func (f *File) cancel(begun []*planner.Step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range slices.Backward(begun) {
		f.dropPending(s, false)
		f.store.apply(line{Abort: s.Address, Record: planner.Record{PendingIntent: f.remainingIntent(s.Address)}})
	}
}

// append writes lines with one call. After a failure it removes the part that was written, so that later lines can be read.
func (f *File) append(lines ...line) error {
	if f.writer == nil {
		if f.closed {
			return f.stopped
		}
		if err := f.create(); err != nil {
			return f.stop("the journal "+f.paths.journal+" cannot be created", err)
		}
	}
	w := f.writer
	if w.broken != nil {
		return w.broken
	}
	var b []byte
	crc := w.crc
	if w.onDisk > w.marked {
		b = appendMark(b, w.id, w.onDisk)
	}
	for _, l := range lines {
		var err error
		if b, crc, err = appendLine(b, l, crc); err != nil {
			return f.stop("the journal "+w.path+" cannot be written", err)
		}
	}
	if err := writeAll(w.file, b); err != nil {
		err = f.stop("the journal "+w.path+" cannot be written", err)
		if w.file.Truncate(w.size) != nil { // not by path, which could be another run's journal
			w.broken = err
		}
		return err
	}
	w.marked = w.onDisk
	w.crc, w.size, w.lines = crc, w.size+int64(len(b)), w.lines+len(lines)
	f.written += uint64(len(lines))
	return nil
}

// stop turns an error into one that ends the run. Later calls return the first such error.
func (f *File) stop(what string, err error) error {
	err = f.opts.shared.withAddress(fmt.Errorf("%w: %s: %w", executor.ErrAbortRun, what, cause(err)))
	if f.stopped == nil {
		f.stopped = err
	}
	return err
}

// sync returns when the first n lines of the run are on disk. One call flushes all lines written so far, so
// calls that waited find their lines on disk.
func (f *File) sync(n uint64) error {
	f.flush.Lock()
	defer f.flush.Unlock()
	if f.synced >= n {
		return nil
	}
	f.mu.Lock()
	written, w, stopped := f.written, f.writer, f.stopped
	size := int64(0)
	if w != nil {
		size = w.size
	}
	f.mu.Unlock()
	if stopped != nil {
		return stopped
	}
	err := w.file.Sync()
	if err == nil && !w.isCurrent() {
		err = errors.New("another run removed it: locks on this disk do not seem to work between machines")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		return f.stop("the journal "+w.path+" cannot be flushed to disk", err)
	}
	w.onDisk = size
	f.synced = written
	return nil
}
