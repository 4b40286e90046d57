package executor

import (
	"container/heap"

	"github.com/planform/planform/planner"
)

// aheadInSequence is how many steps of a sequence are in the journal at once, the
// one under way among them: the next must not wait for a flush.
const aheadInSequence = 4

// sequence is the steps of one [planner.Step.Sequence].
type sequence struct {
	steps []int // in the order of the plan
	turn  int   // place of the first that has not ended
	phase map[int]phase
}

// phase is how far a step of a sequence is.
type phase int8

const (
	waiting   phase = iota // for other steps
	free                   // for nothing but its turn
	offered                // ready to be announced, or under way
	announced              // in the journal, before its turn
	ended
)

// line puts a step at the end of its sequence, if it has one.
func (r *run) line(i int) {
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

// offer lets a step that waits for no other be announced; one of a sequence when its turn is near.
func (r *run) offer(i int) {
	q := r.sequences[r.plan.Steps[i].Sequence]
	if q == nil {
		heap.Push(&r.ready, i)
		return
	}
	q.phase[i] = free
	r.advance(q)
}

// enqueue lets a step that is in the journal begin; one of a sequence when it is its turn.
func (r *run) enqueue(i int) {
	q := r.sequences[r.plan.Steps[i].Sequence]
	if q == nil {
		heap.Push(&r.queue, i)
		return
	}
	q.phase[i] = announced
	r.advance(q)
}

// pass gives the turn of a step that has ended to the next of its sequence.
func (r *run) pass(step *planner.Step) {
	if q := r.sequences[step.Sequence]; q != nil {
		q.phase[step.Index] = ended
		r.advance(q)
	}
}

func (r *run) advance(q *sequence) {
	for q.turn < len(q.steps) && q.phase[q.steps[q.turn]] == ended {
		q.turn++
	}
	for k, i := range q.near() {
		switch p := q.phase[i]; {
		case p == free:
			q.phase[i] = offered
			heap.Push(&r.ready, i)
		case p == announced && k == 0:
			q.phase[i] = offered
			heap.Push(&r.queue, i)
		}
	}
}

// near is the steps that are in the journal, or may be.
func (q *sequence) near() []int {
	return q.steps[q.turn:min(q.turn+aheadInSequence, len(q.steps))]
}

// announcedAhead takes the steps that are in the journal and not in the queue, since it is not their turn.
func (r *run) announcedAhead() []int {
	var steps []int
	for _, q := range r.sequences {
		for _, i := range q.near() {
			if q.phase[i] == announced {
				q.phase[i] = waiting
				steps = append(steps, i)
			}
		}
	}
	return steps
}
