package executor

import (
	"container/heap"
	"errors"
	"time"
)

// setAside leaves a pending step until it is due. Its place in a sequence stays taken.
func (r *run) setAside(i int, wait time.Duration) {
	r.aside[i] = time.Now().Add(wait)
	r.tell(Event{Type: SetAside, Step: r.plan.Steps[i], Wait: wait})
}

// nextDue is when the next pending step is taken up again; ok is false where there is none.
func (r *run) nextDue() (wait time.Duration, ok bool) {
	for _, at := range r.aside {
		if left := time.Until(at); !ok || left < wait {
			wait, ok = left, true
		}
	}
	return wait, ok
}

// resume queues the pending steps that are due. Their intents are in the journal.
func (r *run) resume() {
	now := time.Now()
	for i, at := range r.aside {
		if !at.After(now) {
			delete(r.aside, i)
			heap.Push(&r.queue, i)
		}
	}
}

// giveUp ends a pending step since the run is over. What was sent in this run is
// unknown; what was only looked for was not started.
func (r *run) giveUp(i int) {
	delete(r.aside, i)
	res := &r.result.Steps[i]
	if !errors.Is(res.Err, ErrUnknown) {
		r.takeBack(res.Step)
		res.Err, res.Missing = nil, nil
		r.tell(Event{Type: Ended, Step: res.Step, Result: *res})
		return
	}
	if p, ok := errors.AsType[*Pending](res.Err); ok {
		res.Err = p.Err
	}
	res.Status = Unknown
	r.record(res)
	r.release(i, false)
}
