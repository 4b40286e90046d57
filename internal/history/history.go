package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/diag"
)

// Store keeps records beside the state, each under a name. Put is durable when it returns, and whole or not there.
type Store interface {
	Put(ctx context.Context, name string, text []byte) error
	Get(ctx context.Context, name string) ([]byte, error) // an error that wraps [fs.ErrNotExist] where there is none
	List(ctx context.Context) ([]string, error)           // in any order
	Remove(ctx context.Context, name string) error
}

// suffix ends the name of a record, which begins with the ID of its run.
const suffix = ".jsonl"

// History is what runs with one state did.
type History struct {
	Store   Store
	Lineage string // of the state; "" = there is none yet
}

// CopyTo copies the records to another store. If anything else stands among them, nothing is copied, because the name of a record becomes
// the name of a file.
func (h *History) CopyTo(ctx context.Context, to Store) (copied int, err error) {
	names, err := h.Store.List(ctx)
	if err != nil {
		return 0, fmt.Errorf("the history cannot be read: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		if !isRecord(name) {
			return 0, diag.WithHint(fmt.Errorf("%q stands in the history and is no record of a run", diag.Truncate(name, 100)),
				"find out who wrote it, and remove it there")
		}
	}
	for i, name := range names {
		text, err := h.Store.Get(ctx, name)
		if err == nil {
			err = to.Put(ctx, name, text)
		}
		if err != nil {
			return i, err
		}
	}
	return len(names), nil
}

// isRecord reports whether planform names a record like this.
func isRecord(name string) bool {
	id, ok := strings.CutSuffix(name, suffix)
	return ok && IsID(id)
}

// Save records a run, and forgets the oldest ones where there are too many. That they cannot be forgotten is no error.
func (h *History) Save(ctx context.Context, r *Run) error {
	r.Format, r.Lineage = format, h.Lineage
	text, err := r.encode()
	if err != nil {
		return err
	}
	if err := h.Store.Put(ctx, r.ID+suffix, text); err != nil {
		return fmt.Errorf("the history cannot be written: %w", err)
	}
	if r.End == nil {
		h.forget(ctx, r.ID, len(text))
	}
	return nil
}

// forget removes the oldest runs while there are too many besides one.
func (h *History) forget(ctx context.Context, newest string, size int) {
	ids, err := h.IDs(ctx)
	if err != nil {
		return
	}
	slices.Reverse(ids)
	kept := 1
	for _, id := range ids {
		if id == newest {
			continue
		}
		if text, err := h.Store.Get(ctx, id+suffix); err == nil && kept < MostRuns && size+len(text) <= MostBytes {
			kept, size = kept+1, size+len(text)
			continue
		}
		_ = h.Store.Remove(ctx, id+suffix)
	}
}

// IDs are the runs that are recorded, the oldest first.
func (h *History) IDs(ctx context.Context) ([]string, error) {
	names, err := h.Store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("the history cannot be read: %w", err)
	}
	var ids []string
	for _, name := range names {
		if isRecord(name) {
			ids = append(ids, strings.TrimSuffix(name, suffix))
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Runs are the runs that are recorded, the oldest first. Those of other states, and those of which the record is damaged, are left
// out; the error names them.
func (h *History) Runs(ctx context.Context) (runs []*Run, err error) {
	ids, err := h.IDs(ctx)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, id := range ids {
		r, err := h.Run(ctx, id)
		if err != nil {
			wrong = append(wrong, wrongError{id, err})
			continue
		}
		runs = append(runs, r)
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Compare(a.Serial, b.Serial) })
	return runs, errors.Join(wrong...)
}

// wrongError is the error of one record.
type wrongError struct {
	id string
	error
}

func (e wrongError) Unwrap() error { return e.error }

// Since leaves out of an error of [History.Runs] what it says of runs before one.
func Since(err error, id string) error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	return errors.Join(slices.DeleteFunc(slices.Clone(many.Unwrap()), func(err error) bool {
		wrong, ok := errors.AsType[wrongError](err)
		return ok && wrong.id < id
	})...)
}

// Run is the run with an ID.
func (h *History) Run(ctx context.Context, id string) (*Run, error) {
	text, err := h.Store.Get(ctx, id+suffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, diag.WithHint(fmt.Errorf("the history has no run %s", id), "planform history lists the runs")
	case err != nil:
		return nil, fmt.Errorf("the history cannot be read: %w", err)
	}
	r, err := decode(id+suffix, text)
	if err == nil && r.Lineage != h.Lineage {
		err = fmt.Errorf("%s is of a run with another state", id+suffix)
	}
	return r, err
}

// Last are the newest run that takes none back, and those before it that were not through and that it went on with, the newest first.
// Where it is taken back in part, they are what that undo was about. Where it is taken back wholly, by is the run that did so, and none
// is the last: who repeats an undo takes nothing more back.
func Last(runs []*Run) (last []*Run, by *Run) {
	settled, undo := cancelled(runs), map[string]bool{}
	for _, r := range runs {
		undo[r.ID] = len(r.Undoes) > 0
	}
	for i, r := range slices.Backward(runs) {
		switch {
		case undo[r.ID] && len(last) > 0:
			return last, nil
		case undo[r.ID] && settled[r.ID] == r && slices.ContainsFunc(r.Undoes, func(id string) bool { return !undo[id] }):
			return nil, r
		case undo[r.ID] && settled[r.ID] == nil:
			for _, before := range slices.Backward(runs[:i]) {
				if slices.Contains(r.Undoes, before.ID) && settled[before.ID] == nil {
					last = append(last, before)
				}
			}
			if len(last) > 0 {
				return last, nil
			}
		case settled[r.ID] != nil:
		case len(last) == 0, !r.End.through() && slices.Equal(r.Manifests, last[0].Manifests):
			last = append(last, r)
		default:
			return last, nil
		}
	}
	return last, nil
}

// GivenUp is when the latest request of some of the runs, which begin with the oldest, was given up without an answer; zero = each had
// one. Of a run that did not come to its end nobody knows: it was before the next one began; where it is the last, at the time dead.
func GivenUp(runs []*Run, ids []string, dead time.Time) (latest time.Time) {
	for i, r := range runs {
		at := dead
		switch {
		case !slices.Contains(ids, r.ID):
			continue
		case r.End != nil:
			at = r.End.Unanswered
		case i+1 < len(runs):
			at = runs[i+1].Began
		}
		if at.After(latest) {
			latest = at
		}
	}
	return latest
}

// cancelled are the runs that took others back wholly, by their IDs and by those that they took back.
func cancelled(runs []*Run) map[string]*Run {
	settled := map[string]*Run{}
	for _, r := range slices.Backward(runs) {
		if len(r.Undoes) > 0 && settled[r.ID] == nil && r.whole() {
			settled[r.ID] = r
			for _, id := range r.Undoes {
				settled[id] = r
			}
		}
	}
	return settled
}
