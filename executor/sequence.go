package executor

import (
	"cmp"
	"slices"

	"github.com/planform/planform/planner"
)

// prefetchInSequence is the number of steps of a sequence in the journal at once, the
// running one included: the next must not wait for a flush.
const prefetchInSequence = 4

// sequence is the steps of one [planner.Step.Sequence].
type sequence struct {
	steps []int // in the order of the plan
	turn  int   // index of the first step that has not ended
	phase map[int]phase
	group *group // whose batches replace turns; nil = every step goes alone
}

// phase is the progress of a step of a sequence.
type phase int8

const (
	waiting phase = iota // for steps outside the sequence
	queued               // for nothing but its turn
	offered              // ready to be logged, or running
	logged               // in the journal, before its turn
	ended
)

// joinSequence puts a step at the end of its sequence, if it has one.
func (r *scheduler) joinSequence(i int) {
	n := r.plan.Steps[i].Sequence
	if n == 0 {
		return
	}
	q := r.sequences[n]
	if q == nil {
		q = &sequence{phase: map[int]phase{}}
		r.sequences[n] = q
	}
	q.steps = append(q.steps, i)
}

// offer makes a step ready to be logged; one of a sequence when its turn is near.
func (r *scheduler) offer(i int) {
	q := r.sequences[r.plan.Steps[i].Sequence]
	switch g := r.groupOf(i); {
	case g != nil:
		g.ready = insert(g.ready, i)
	case q != nil:
		q.phase[i] = queued
		r.advance(q)
	default:
		r.ready = insert(r.ready, i)
	}
}

// enqueue lets logged steps begin; one of a sequence when it is its turn.
func (r *scheduler) enqueue(b batch) {
	q := r.sequences[r.plan.Steps[b[0]].Sequence]
	if q == nil || q.group != nil {
		r.enqueueNow(b)
		return
	}
	q.phase[b[0]] = logged
	r.advance(q)
}

// enqueueNow queues logged steps, in the order of the plan.
func (r *scheduler) enqueueNow(b batch) {
	at, _ := slices.BinarySearchFunc(r.queue, b[0], func(queued batch, i int) int { return cmp.Compare(queued[0], i) })
	r.queue = slices.Insert(r.queue, at, b)
}

// passTurn gives the turn to the next step of the sequence after one has ended.
func (r *scheduler) passTurn(step *planner.Step) {
	q := r.sequences[step.Sequence]
	switch {
	case q == nil:
	case q.group != nil:
		delete(q.group.current, step.Index)
	default:
		q.phase[step.Index] = ended
		r.advance(q)
	}
}

func (r *scheduler) advance(q *sequence) {
	for q.turn < len(q.steps) && q.phase[q.steps[q.turn]] == ended {
		q.turn++
	}
	for k, i := range q.near() {
		switch p := q.phase[i]; {
		case p == queued:
			q.phase[i] = offered
			r.ready = insert(r.ready, i)
		case p == logged && k == 0:
			q.phase[i] = offered
			r.enqueueNow(batch{i})
		}
	}
}

// near is the steps that may be in the journal.
func (q *sequence) near() []int {
	return q.steps[q.turn:min(q.turn+prefetchInSequence, len(q.steps))]
}

// loggedAhead takes the logged steps that wait for their turn.
func (r *scheduler) loggedAhead() batch {
	var steps batch
	for _, q := range r.sequences {
		for _, i := range q.near() {
			if q.phase[i] == logged {
				q.phase[i] = waiting
				steps = append(steps, i)
			}
		}
	}
	return steps
}
