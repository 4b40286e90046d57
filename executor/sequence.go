package executor

import "github.com/planform/planform/planner"

// announcedInSequence is the number of steps of a sequence whose intents are written at once:
// the next ones wait for no flush of their own.
const announcedInSequence = 4

// sequence is the steps of one [planner.Step.Sequence].
type sequence struct {
	steps []planner.StepID        // in the order of the plan
	turn  int                     // index of the first step that has not ended
	ready map[planner.StepID]bool // steps that wait for nothing but their turn
	group *group                  // whose batches replace turns; nil = every step goes alone
}

// joinSequence puts a step at the end of its sequence, if it has one.
func (sc *scheduler) joinSequence(i planner.StepID) {
	n := sc.plan.Steps[i].Sequence
	if n == 0 {
		return
	}
	q := sc.sequences[n]
	if q == nil {
		q = &sequence{ready: map[planner.StepID]bool{}}
		sc.sequences[n] = q
	}
	q.steps = append(q.steps, i)
}

// makeReady lets a step begin; one of a sequence when it is its turn.
func (sc *scheduler) makeReady(i planner.StepID) {
	q := sc.sequences[sc.plan.Steps[i].Sequence]
	switch g := sc.groupOf(i); {
	case g != nil:
		g.ready = insert(g.ready, i)
	case q != nil:
		q.ready[i] = true
		sc.advance(q)
	default:
		sc.enqueue(batch{i})
	}
}

// yieldTurn gives the turn to the next step of the sequence after one has ended.
func (sc *scheduler) yieldTurn(step *planner.Step) {
	q := sc.sequences[step.Sequence]
	switch {
	case q == nil:
	case q.group != nil:
		delete(q.group.current, step.Index)
	default:
		sc.advance(q)
	}
}

// advance lets the next step of a sequence begin, if it waits for nothing but its turn.
func (sc *scheduler) advance(q *sequence) {
	if left := sc.left(q); len(left) > 0 && q.ready[left[0]] {
		delete(q.ready, left[0])
		sc.enqueue(batch{left[0]})
	}
}

// left returns the steps of a sequence from the first that has not ended.
func (sc *scheduler) left(q *sequence) []planner.StepID {
	for q.turn < len(q.steps) && sc.over[q.steps[q.turn]] {
		q.turn++
	}
	return q.steps[q.turn:]
}

// nextTurns returns the steps of a sequence that soon follow the one whose turn it is, and wait
// for nothing else.
func (sc *scheduler) nextTurns(i planner.StepID) (next []planner.StepID) {
	q := sc.sequences[sc.plan.Steps[i].Sequence]
	if q == nil || q.group != nil {
		return nil
	}
	left := sc.left(q)
	for _, k := range left[:min(announcedInSequence, len(left))] {
		if q.ready[k] && !sc.announced[k] {
			next = append(next, k)
		}
	}
	return next
}
