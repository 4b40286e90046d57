package executor

import (
	"errors"
	"time"
)

// setAside leaves a pending step until it is due. It keeps its turn in a sequence.
func (r *scheduler) setAside(i int, wait time.Duration) {
	r.pending[i] = time.Now().Add(wait)
	r.emit(Event{Type: SetAside, Step: r.plan.Steps[i], Wait: wait})
}

// nextDue is the time until the next pending step is taken up again; ok is false where there is none.
func (r *scheduler) nextDue() (wait time.Duration, ok bool) {
	for _, at := range r.pending {
		if left := time.Until(at); !ok || left < wait {
			wait, ok = left, true
		}
	}
	return wait, ok
}

// resume queues the pending steps that are due. Their intents are in the journal.
func (r *scheduler) resume() {
	now := time.Now()
	for i, at := range r.pending {
		if !at.After(now) {
			delete(r.pending, i)
			r.queue = insert(r.queue, i)
		}
	}
}

// giveUp ends a pending step because the run must end. If this run sent its request, the
// outcome is unknown; otherwise the step was not started.
func (r *scheduler) giveUp(i int) {
	delete(r.pending, i)
	res := &r.result.Steps[i]
	if !errors.Is(res.Err, ErrOutcomeUnknown) {
		r.takeBack(res.Step)
		res.Err, res.Missing = nil, nil
		r.emit(Event{Type: Ended, Step: res.Step, Result: *res})
		return
	}
	if p, ok := errors.AsType[*Pending](res.Err); ok {
		res.Err = p.Err
	}
	res.Status = Unknown
	r.finish(res)
	r.release(i, false)
}
