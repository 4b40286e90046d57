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

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Store keeps records beside the state, each under a name. Put is durable when it returns, and writes a record completely or not at all.
type Store interface {
	Put(ctx context.Context, name string, text []byte) error
	Get(ctx context.Context, name string) ([]byte, error) // an error that wraps [fs.ErrNotExist] if there is no record
	List(ctx context.Context) ([]string, error)           // in any order
	Remove(ctx context.Context, name string) error
}

// suffix ends the name of a record, which begins with the ID of its run.
const suffix = ".jsonl"

// History holds the recorded runs of one state.
type History struct {
	Store   Store
	Lineage string // of the state; "" = there is none yet
}

// CopyTo copies the records to another store. If the store holds anything but records, it copies nothing,
// because the name of a record becomes the name of a file.
func (h *History) CopyTo(ctx context.Context, to Store) (copied int, err error) {
	names, err := h.Store.List(ctx)
	if err != nil {
		return 0, fmt.Errorf("the history cannot be read: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		if !isRecord(name) {
			return 0, diag.WithHint(fmt.Errorf("%q in the history is not the record of a run", diag.Truncate(name, 100)),
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

// isRecord reports whether a name has the form of a record's name.
func isRecord(name string) bool {
	id, ok := strings.CutSuffix(name, suffix)
	return ok && IsID(id)
}

// Save records a run, and removes the oldest runs if there are too many. A failure to remove them is no error.
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

// forget removes the oldest runs while there are too many. It always keeps the run with the ID newest.
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

// IDs returns the IDs of the recorded runs, the oldest first.
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

// Runs returns the recorded runs, the oldest first. It leaves out runs of other states and damaged records; the error names them.
func (h *History) Runs(ctx context.Context) (runs []*Run, err error) {
	ids, err := h.IDs(ctx)
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, id := range ids {
		r, err := h.Run(ctx, id)
		if err != nil {
			wrong = append(wrong, recordError{id, err})
			continue
		}
		runs = append(runs, r)
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Compare(a.Serial, b.Serial) })
	return runs, errors.Join(wrong...)
}

// recordError is the error of one record.
type recordError struct {
	id string
	error
}

func (re recordError) Unwrap() error { return re.error }

// Since removes from an error of [History.Runs] the errors of records older than a run.
func Since(err error, id string) error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	return errors.Join(slices.DeleteFunc(slices.Clone(many.Unwrap()), func(err error) bool {
		wrong, ok := errors.AsType[recordError](err)
		return ok && wrong.id < id
	})...)
}

// Refused returns the steps that were not possible in an owner's newest run of a whole manifest.
func (h *History) Refused(ctx context.Context, owner resource.Owner) (map[Refusal]bool, error) {
	ids, err := h.IDs(ctx)
	if err != nil {
		return nil, err
	}
	refused := map[Refusal]bool{}
	for _, id := range slices.Backward(ids) {
		if r, err := h.Run(ctx, id); err == nil && r.Owner == owner && len(r.Undoes)+len(r.Targets) == 0 {
			for _, one := range r.Refused {
				refused[one] = true
			}
			break
		}
	}
	return refused, nil
}

// Run returns the run with an ID.
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

// Last returns the runs that an undo without a run ID takes back, the newest first: the newest run that is not an undo, and the
// unfinished runs before it that it continued. If they were undone in part, it returns the runs that are not undone yet. If they were
// undone completely, it returns only the run that did so, as by, because repeating an undo must not undo older runs.
func Last(runs []*Run) (last []*Run, by *Run) {
	undoneBy, undo := completeUndos(runs), map[string]bool{}
	for _, r := range runs {
		undo[r.ID] = len(r.Undoes) > 0
	}
	for i, r := range slices.Backward(runs) {
		switch {
		case undo[r.ID] && len(last) > 0:
			return last, nil
		case undo[r.ID] && undoneBy[r.ID] == r && slices.ContainsFunc(r.Undoes, func(id string) bool { return !undo[id] }):
			return nil, r
		case undo[r.ID] && undoneBy[r.ID] == nil:
			for _, before := range slices.Backward(runs[:i]) {
				if slices.Contains(r.Undoes, before.ID) && undoneBy[before.ID] == nil {
					last = append(last, before)
				}
			}
			if len(last) > 0 {
				return last, nil
			}
		case undoneBy[r.ID] != nil:
		case len(last) == 0, !r.End.isSuccess() && slices.Equal(r.Manifests, last[0].Manifests):
			last = append(last, r)
		default:
			return last, nil
		}
	}
	return last, nil
}

// GivenUp returns when the latest unanswered request of some runs was given up; zero means that every request was answered. runs begin
// with the oldest. For a run that died, it returns the latest possible time: when the next run began, or dead if there is no next run.
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

// completeUndos returns the complete undos by run ID: by the ID of the undo itself, and by the IDs of the runs
// that it undid. Undos that were undone themselves do not count.
func completeUndos(runs []*Run) map[string]*Run {
	undoneBy := map[string]*Run{}
	for _, r := range slices.Backward(runs) {
		if len(r.Undoes) > 0 && undoneBy[r.ID] == nil && r.isComplete() {
			undoneBy[r.ID] = r
			for _, id := range r.Undoes {
				undoneBy[id] = r
			}
		}
	}
	return undoneBy
}
