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
	steps []planner.StepID // in the order of the plan
	turn  int              // index of the first step that has not ended
	phase map[planner.StepID]phase
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

// makeReady makes a step ready to be logged; one of a sequence when its turn is near.
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

// enqueue lets logged steps begin; one of a sequence when it is its turn.
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

// yieldTurn gives the turn to the next step of the sequence after one has ended.
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
	for k, i := range q.near() {
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

// near is the steps that may be in the journal.
func (s *sequence) near() []planner.StepID {
	return s.steps[s.turn:min(s.turn+prefetchInSequence, len(s.steps))]
}

// loggedAhead takes the logged steps that wait for their turn.
func (sc *scheduler) loggedAhead() batch {
	var steps batch
	for _, q := range sc.sequences {
		for _, i := range q.near() {
			if q.phase[i] == logged {
				q.phase[i] = waiting
				steps = append(steps, i)
			}
		}
	}
	return steps
}
