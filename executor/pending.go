package executor

import (
	"errors"
	"time"

	"github.com/planform/planform/planner"
)

// pendingBatch holds steps without an outcome that resume together.
type pendingBatch struct {
	steps batch
	due   time.Time
}

// setAside sets the pending steps of a batch aside until all of them are due. They keep their turn in a sequence.
func (sc *scheduler) setAside(c completion) {
	var p pendingBatch
	for k, i := range c.steps {
		if c.pending[k] == nil {
			continue
		}
		wait := c.pending[k].After
		p.steps = append(p.steps, i)
		if due := time.Now().Add(wait); due.After(p.due) {
			p.due = due
		}
		sc.emit(Event{Type: SetAside, Step: sc.plan.Steps[i], Wait: wait})
	}
	if len(p.steps) > 0 {
		sc.pending = append(sc.pending, p)
	}
}

// timeToNextDue returns the time until the next pending steps are due; ok is false if there are none.
func (sc *scheduler) timeToNextDue() (wait time.Duration, ok bool) {
	for _, p := range sc.pending {
		if left := time.Until(p.due); !ok || left < wait {
			wait, ok = left, true
		}
	}
	return wait, ok
}

// resume queues the pending steps that are due. Their intents are in the journal.
func (sc *scheduler) resume() {
	now := time.Now()
	var later []pendingBatch
	for _, p := range sc.pending {
		if p.due.After(now) {
			later = append(later, p)
			continue
		}
		sc.countExpected(p.steps, 1)
		sc.enqueue(p.steps)
	}
	sc.pending = later
}

// giveUp ends a pending step because the run must end. If this run sent its request, the outcome is unknown; otherwise the step was not
// started.
func (sc *scheduler) giveUp(i planner.StepID) {
	res := &sc.result.Steps[i]
	if !errors.Is(res.Err, ErrOutcomeUnknown) {
		sc.withdraw(i)
		res.Err, res.Missing = nil, nil
		sc.emit(Event{Type: Ended, Step: res.Step, Result: *res})
		return
	}
	if p, ok := errors.AsType[*Pending](res.Err); ok {
		res.Err = p.Err
	}
	res.Status = Unknown
	sc.finish(res)
	sc.release(i, false)
}
