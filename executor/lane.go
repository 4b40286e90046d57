package executor

import (
	"cmp"
	"slices"

	"github.com/planform/planform/planner"
)

// prefetchInSequence is the number of steps of a sequence that are in the journal at once, including the running one, so that the next step
// does not wait for a flush.
const prefetchInSequence = 4

// lane holds the steps of one [planner.Step.Sequence], or of one [planner.Step.Batch] without a sequence. A sequence has one request under
// way at a time.
type lane struct {
	rows     int              // most steps in one request
	steps    []planner.StepID // of a sequence, in the order of the plan; nil = any order
	turn     int              // index in steps of the first step that has not ended
	ready    []planner.StepID // steps that wait for no other step, in the order of the plan
	expected int              // number of waiting relations between its steps and steps under way
	current  batch            // of a sequence with batches: the steps that were gathered last
}

// laneOf returns the lane of a step; nil = the step has neither a sequence nor a batch.
func (sc *scheduler) laneOf(i planner.StepID) *lane {
	step := sc.plan.Steps[i]
	if step.Sequence != 0 {
		return sc.sequences[step.Sequence]
	}
	return sc.batches[step.Batch]
}

// joinLane adds a step to its lane.
func (sc *scheduler) joinLane(i planner.StepID) {
	step := sc.plan.Steps[i]
	lanes, n := sc.sequences, step.Sequence
	if n == 0 {
		lanes, n = sc.batches, step.Batch
	}
	if n == 0 {
		return
	}
	l := lanes[n]
	if l == nil {
		l = &lane{rows: 1}
		lanes[n] = l
	}
	if step.Batch != 0 && l.rows == 1 {
		l.rows = step.Bulk.Rows
		sc.ordered = append(sc.ordered, l)
	}
	if step.Sequence != 0 {
		l.steps = append(l.steps, i)
	}
}

// makeReady makes a step ready to be logged; a step of a sequence without batches is ready when its turn is near.
func (sc *scheduler) makeReady(i planner.StepID) {
	l := sc.laneOf(i)
	if l == nil {
		sc.ready = insert(sc.ready, i)
		return
	}
	l.ready = insert(l.ready, i)
	sc.advance(l)
}

// advance passes the turn of a sequence to its first step that has not ended. Without batches, the next steps become ready to be logged.
func (sc *scheduler) advance(l *lane) {
	for l.turn < len(l.steps) && sc.hasEnded[l.steps[l.turn]] {
		l.turn++
	}
	if l.rows > 1 {
		return
	}
	for _, i := range l.steps[l.turn:min(l.turn+prefetchInSequence, len(l.steps))] {
		if at, ready := slices.BinarySearch(l.ready, i); ready {
			l.ready = slices.Delete(l.ready, at, at+1)
			sc.ready = insert(sc.ready, i)
		}
	}
}

// mayBegin reports whether a worker may carry out logged steps. Of a sequence without batches, only the step whose turn it is may begin.
func (sc *scheduler) mayBegin(b batch) bool {
	l := sc.laneOf(b[0])
	return l == nil || l.rows > 1 || l.steps[l.turn] == b[0]
}

// enqueue queues logged steps, in the order of the plan.
func (sc *scheduler) enqueue(b batch) {
	at, _ := slices.BinarySearchFunc(sc.queue, b[0], func(queued batch, i planner.StepID) int { return cmp.Compare(queued[0], i) })
	sc.queue = slices.Insert(sc.queue, at, b)
}

// countExpected adds by (1 or -1) to the expected count of the lanes whose steps wait for the given steps.
func (sc *scheduler) countExpected(b batch, by int) {
	for _, i := range b {
		for _, k := range sc.dependents[i] {
			if l := sc.laneOf(k); l != nil {
				l.expected += by
			}
		}
	}
}

// gatherBatches takes as many batches as workers can carry out now. Batches are not gathered ahead, because later batches are fuller.
func (sc *scheduler) gatherBatches() []batch {
	most := sc.limit - sc.running
	for _, b := range sc.queue {
		if l := sc.laneOf(b[0]); l != nil && l.rows > 1 {
			most--
		}
	}
	var batches []batch
	for _, l := range sc.ordered {
		for len(batches) < most {
			b := sc.gather(l)
			if b == nil {
				break
			}
			batches = append(batches, b)
		}
	}
	return batches
}

// gather takes a full batch of a lane. It takes a partial one if no step under way can make another step of the lane ready; nil = not yet.
func (sc *scheduler) gather(l *lane) batch {
	sc.dropRefused(l)
	b := batch(l.ready[:min(len(l.ready), l.rows)])
	if l.steps != nil {
		b = sc.nextOfSequence(l)
	}
	single := len(b) == 1 && sc.plan.Steps[b[0]].Batch == 0
	if len(b) == 0 || len(b) < l.rows && l.expected > 0 && !single {
		return nil
	}
	b = slices.Clone(b)
	sc.countExpected(b, 1)
	l.ready = slices.DeleteFunc(l.ready, func(i planner.StepID) bool {
		_, taken := slices.BinarySearch(b, i)
		return taken
	})
	l.current = b
	return b
}

// dropRefused blocks the ready steps of a lane whose operation the service refuses.
func (sc *scheduler) dropRefused(l *lane) {
	for len(l.ready) > 0 {
		i := l.ready[0]
		cause := sc.refusedBy(sc.plan.Steps[i])
		if cause == nil {
			return
		}
		l.ready = l.ready[1:]
		sc.blockUntried(i, cause)
	}
}

// nextOfSequence returns the next steps of a sequence with batches. A step that waits for one of the same sequence, such as a sub-item for
// its parent, is skipped. A step that waits for any other step ends the batch, because the service numbers objects in the order of the
// requests.
func (sc *scheduler) nextOfSequence(l *lane) batch {
	var b batch
	if slices.ContainsFunc(l.current, func(i planner.StepID) bool { return !sc.hasEnded[i] }) {
		return nil
	}
	for _, i := range l.steps[l.turn:] {
		_, ready := slices.BinarySearch(l.ready, i)
		switch {
		case sc.hasEnded[i]:
		case ready && sc.plan.Steps[i].Batch == 0:
			if len(b) == 0 {
				b = batch{i}
			}
			return b
		case ready:
			if b = append(b, i); len(b) == l.rows || len(b) == len(l.ready) {
				return b
			}
		case sc.waitsOutside(i):
			return b
		}
	}
	return b
}

// waitsOutside reports whether a step waits for a step outside its sequence.
func (sc *scheduler) waitsOutside(i planner.StepID) bool {
	step := sc.plan.Steps[i]
	return slices.ContainsFunc(slices.Concat(step.Needs, step.After), func(j planner.StepID) bool {
		return !sc.hasEnded[j] && sc.plan.Steps[j].Sequence != step.Sequence
	})
}
