package state

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Save replaces the state file if anything changed, and then takes the journal
// away; the next intent begins a new one. If Save fails, the journal still has
// all that is not in the state file, and nothing more may be sent.
//
// Killed at any point, it leaves a state and a journal that replay to the same:
// until the new state has the name of the old one, old state and journal do;
// from then on the state says that it has that journal already.
func (f *File) Save() error {
	f.flush.Lock()
	defer f.flush.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.stopped
	}
	w := f.writer
	if f.store.changed() {
		if w != nil && w.lines > 0 {
			_ = w.file.Sync() // should the state not get to disk, its lines must
		}
		if err := f.replace(); err != nil {
			return err
		}
	}
	f.store.before = nil
	f.synced = f.written // what the journal had is in the state
	if w == nil || w.lines == 0 && w.broken == nil && w.serial == f.store.Serial {
		return nil
	}
	if err := f.removeJournal(); err != nil {
		// What is written to it from now on would not be read.
		w.broken = f.stop("the state is saved, but its journal "+w.path+" cannot be taken away", err)
		return w.broken
	}
	return nil
}

// replace writes the state under another name and gives it the right one when it is on disk.
func (f *File) replace() error {
	if err := f.checkUnmodified(); err != nil {
		return f.stop("the state "+f.paths.state+" was not saved", err)
	}
	next := f.store.content
	next.Serial++
	if f.writer != nil {
		next.Journal = f.writer.id
	}
	err := f.write(&next)
	if err == nil {
		f.backup()
		err = f.disk.Replace(f.paths.tmp, f.paths.state)
	}
	if err != nil {
		_ = f.disk.Remove(f.paths.tmp)
		return f.unsaved(err)
	}
	f.store.content = next
	f.store.before = nil
	if f.info, err = os.Stat(f.paths.state); err == nil {
		err = f.disk.SyncDir(f.paths.state)
	}
	if err != nil {
		err = f.unsaved(err)
		if f.writer != nil {
			f.writer.broken = err // it may be taken for replayed by now
		}
		return err
	}
	return nil
}

func (f *File) unsaved(err error) error {
	return f.stop("the state "+f.paths.state+" cannot be saved", fmt.Errorf("%w; what was done is in its journal, which the next run reads first", cause(err)))
}

func (f *File) write(c *content) error {
	out, err := f.disk.Create(f.paths.tmp)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(out, 1<<18)
	err = c.encode(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// checkUnmodified makes sure that the state file is the one that was read, should the
// lock not have kept others off.
func (f *File) checkUnmodified() error {
	info, err := os.Stat(f.paths.state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if f.info == nil {
			return nil
		}
		return errors.New("somebody took the state file away during the run; put it back and run again")
	case err != nil:
		return err
	case f.info == nil || !os.SameFile(info, f.info) || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()):
		return fmt.Errorf("somebody else wrote the state file during the run; what this run did is in %s", f.paths.journal)
	}
	return nil
}

// backup keeps the state as the run found it under another name. It is a
// courtesy: not every file system can, and nothing stands on it.
func (f *File) backup() {
	if f.info == nil || f.backedUp {
		return
	}
	f.backedUp = true
	if f.remove(f.paths.backup) == nil {
		_ = f.disk.Link(f.paths.state, f.paths.backup)
	}
}

// removeJournal takes the journal away.
func (f *File) removeJournal() error {
	w := f.writer
	if !w.ours() {
		return errors.New("another run took it away")
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	if err := f.disk.Remove(w.path); err != nil {
		return err
	}
	f.writer = nil
	return nil
}
