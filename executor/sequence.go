package executor

import "github.com/planform/planform/planner"

// prefetchInSequence is the number of steps of a sequence in the journal at once, the
// running one included: the next must not wait for a flush.
const prefetchInSequence = 4

// sequence is the steps of one [planner.Step.Sequence].
type sequence struct {
	steps []int // in the order of the plan
	turn  int   // index of the first step that has not ended
	phase map[int]phase
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
	if q == nil {
		r.ready = insert(r.ready, i)
		return
	}
	q.phase[i] = queued
	r.advance(q)
}

// enqueue lets a logged step begin; one of a sequence when it is its turn.
func (r *scheduler) enqueue(i int) {
	q := r.sequences[r.plan.Steps[i].Sequence]
	if q == nil {
		r.queue = insert(r.queue, i)
		return
	}
	q.phase[i] = logged
	r.advance(q)
}

// passTurn gives the turn to the next step of the sequence after one has ended.
func (r *scheduler) passTurn(step *planner.Step) {
	if q := r.sequences[step.Sequence]; q != nil {
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
			r.queue = insert(r.queue, i)
		}
	}
}

// near is the steps that may be in the journal.
func (q *sequence) near() []int {
	return q.steps[q.turn:min(q.turn+prefetchInSequence, len(q.steps))]
}

// loggedAhead takes the logged steps that wait for their turn.
func (r *scheduler) loggedAhead() []int {
	var steps []int
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
