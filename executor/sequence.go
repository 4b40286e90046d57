package executor

import (
	"cmp"
	"slices"

	"github.com/planform/planform/planner"
)

// prefetchInSequence is the number of steps of a sequence that are in the journal at once, including the running one, so that the next step
// does not wait for a flush.
const prefetchInSequence = 4

// sequence holds the steps of one [planner.Step.Sequence].
type sequence struct {
	steps []planner.StepID // in the order of the plan
	turn  int              // index of the first step that has not ended
	phase map[planner.StepID]phase
	group *group // its batches replace turns; nil = every step runs alone
}

// phase is the progress of a step of a sequence.
type phase int8

const (
	waiting phase = iota // waits for steps outside the sequence
	queued               // waits only for its turn
	offered              // ready to be logged, or running
	logged               // in the journal, before its turn
	ended
)

// joinSequence appends a step to its sequence, if it has one.
func (sc *scheduler) joinSequence(i planner.StepID) {
	n := sc.plan.Steps[i].Sequence
	if n == 0 {
		return
	}
	q := sc.sequences[n]
	if q == nil {
		q = &sequence{phase: map[planner.StepID]phase{}}
		sc.sequences[n] = q
	}
	q.steps = append(q.steps, i)
}

// makeReady makes a step ready to be logged; a step of a sequence is ready when its turn is near.
func (sc *scheduler) makeReady(i planner.StepID) {
	q := sc.sequences[sc.plan.Steps[i].Sequence]
	switch g := sc.groupOf(i); {
	case g != nil:
		g.ready = insert(g.ready, i)
	case q != nil:
		q.phase[i] = queued
		sc.advance(q)
	default:
		sc.ready = insert(sc.ready, i)
	}
}

// enqueue queues logged steps; a step of a sequence is queued when its turn comes.
func (sc *scheduler) enqueue(b batch) {
	q := sc.sequences[sc.plan.Steps[b[0]].Sequence]
	if q == nil || q.group != nil {
		sc.enqueueNow(b)
		return
	}
	q.phase[b[0]] = logged
	sc.advance(q)
}

// enqueueNow queues logged steps, in the order of the plan.
func (sc *scheduler) enqueueNow(b batch) {
	at, _ := slices.BinarySearchFunc(sc.queue, b[0], func(queued batch, i planner.StepID) int { return cmp.Compare(queued[0], i) })
	sc.queue = slices.Insert(sc.queue, at, b)
}

// yieldTurn passes the turn to the next step of the sequence after a step has ended.
func (sc *scheduler) yieldTurn(step *planner.Step) {
	q := sc.sequences[step.Sequence]
	switch {
	case q == nil:
	case q.group != nil:
		delete(q.group.current, step.Index)
	default:
		q.phase[step.Index] = ended
		sc.advance(q)
	}
}

func (sc *scheduler) advance(q *sequence) {
	for q.turn < len(q.steps) && q.phase[q.steps[q.turn]] == ended {
		q.turn++
	}
	for k, i := range q.loggable() {
		switch p := q.phase[i]; {
		case p == queued:
			q.phase[i] = offered
			sc.ready = insert(sc.ready, i)
		case p == logged && k == 0:
			q.phase[i] = offered
			sc.enqueueNow(batch{i})
		}
	}
}

// loggable returns the steps that may be in the journal.
func (sq *sequence) loggable() []planner.StepID {
	return sq.steps[sq.turn:min(sq.turn+prefetchInSequence, len(sq.steps))]
}

// takeLogged takes the logged steps that wait for their turn.
func (sc *scheduler) takeLogged() batch {
	var steps batch
	for _, q := range sc.sequences {
		for _, i := range q.loggable() {
			if q.phase[i] == logged {
				q.phase[i] = waiting
				steps = append(steps, i)
			}
		}
	}
	return steps
}
