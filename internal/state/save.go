package state

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Save replaces the state file if anything changed, and then removes the journal; the next intent begins a new one. If Save fails, the
// journal still holds every change that is not in the state file, and nothing more may be sent.
//
// After a kill at any point, state and journal replay to the same records: before the rename, the old state
// with the journal; after it, the new state, which names that journal as already replayed.
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
		f.store.dropExpired(f.now())
		if w != nil && w.lines > 0 {
			_ = w.file.Sync() // if saving fails, the journal must be complete on disk
		}
		if err := f.replace(); err != nil {
			return err
		}
	}
	f.store.before, f.store.replanned = nil, false
	f.synced = f.written // the state contains the journal
	if w == nil || w.lines == 0 && w.broken == nil && w.serial == f.store.Serial {
		return nil
	}
	if err := f.removeJournal(); err != nil {
		// No run would read later lines of this journal.
		w.broken = f.stop("the state is saved, but its journal "+w.path+" cannot be removed", err)
		return w.broken
	}
	return nil
}

// replace writes the state under a temporary name and renames it once it is on disk.
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
		return f.saveError(err)
	}
	f.store.content = next
	f.store.before, f.store.replanned = nil, false
	if f.info, err = os.Stat(f.paths.state); err == nil {
		err = f.disk.SyncDir(f.paths.state)
	}
	if err != nil {
		err = f.saveError(err)
		if f.writer != nil {
			f.writer.broken = err // the state on disk may already name it as replayed
		}
		return err
	}
	return nil
}

func (f *File) saveError(err error) error {
	return f.stop("the state "+f.paths.state+" cannot be saved",
		fmt.Errorf("%w; the completed steps are in its journal, which the next run reads first", cause(err)))
}

func (f *File) write(c *content) error {
	out, err := f.disk.Create(f.paths.tmp)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(out, 1<<14)
	err = c.encode(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// checkUnmodified returns an error if somebody else has replaced the state file, in case the lock does not work on this disk.
func (f *File) checkUnmodified() error {
	info, err := os.Stat(f.paths.state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if f.info == nil {
			return nil
		}
		return errors.New("the state file was removed during the run; put it back and run again")
	case err != nil:
		return err
	case f.info == nil || !os.SameFile(info, f.info) || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()):
		return fmt.Errorf("another program changed the state file during the run; the steps of this run are in %s", f.paths.journal)
	}
	return nil
}

// backup links the state as it was before the run under another name. It ignores failures, because not
// every file system has links and nothing depends on the backup.
func (f *File) backup() {
	if f.info == nil || f.backedUp {
		return
	}
	f.backedUp = true
	if f.remove(f.paths.backup) == nil {
		_ = f.disk.Link(f.paths.state, f.paths.backup)
	}
}

// removeJournal closes and removes the journal.
func (f *File) removeJournal() error {
	w := f.writer
	if !w.isCurrent() {
		return errors.New("another run removed it")
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
