package executor

import (
	"slices"

	"github.com/planform/planform/planner"
)

// group collects the steps of one [planner.Step.Batch]; a worker carries out several of them at once. If the group has a sequence, one
// batch is under way at a time.
type group struct {
	rows     int                     // most steps in one request
	ready    []planner.StepID        // steps that wait for no other step, in the order of the plan
	expected int                     // number of waiting relations between its steps and steps under way
	sequence *sequence               // the sequence whose order its steps follow; nil = any order
	current  map[planner.StepID]bool // if it has a sequence: steps under way or pending
}

// joinGroup adds a step to the group of its batch, if it has one. A sequence with a batch is one group.
func (sc *scheduler) joinGroup(i planner.StepID) {
	step := sc.plan.Steps[i]
	if step.Batch == 0 {
		return
	}
	g := sc.groups[step.Batch]
	if g == nil {
		g = &group{rows: step.Bulk.Rows}
		sc.groups[step.Batch] = g
		sc.ordered = append(sc.ordered, g)
	}
	if q := sc.sequences[step.Sequence]; q != nil && q.group == nil {
		q.group, g.sequence, g.current = g, q, map[planner.StepID]bool{}
	}
}

// groupOf returns the group of a step, or nil.
func (sc *scheduler) groupOf(i planner.StepID) *group {
	step := sc.plan.Steps[i]
	if q := sc.sequences[step.Sequence]; q != nil {
		return q.group
	}
	return sc.groups[step.Batch]
}

// countExpected adds by (1 or -1) to the expected count of the groups whose steps wait for the given steps.
func (sc *scheduler) countExpected(b batch, by int) {
	for _, i := range b {
		for _, k := range sc.dependents[i] {
			if g := sc.groupOf(k); g != nil {
				g.expected += by
			}
		}
	}
}

// gatherBatches takes as many batches from the groups as workers can carry out now. Batches are not gathered ahead, because later batches
// are fuller.
func (sc *scheduler) gatherBatches() []batch {
	if len(sc.ordered) == 0 {
		return nil
	}
	most := sc.limit - sc.running
	for _, b := range sc.queue {
		if sc.groupOf(b[0]) != nil {
			most--
		}
	}
	var batches []batch
	for _, g := range sc.ordered {
		for len(batches) < most {
			b := sc.gather(g)
			if b == nil {
				break
			}
			batches = append(batches, b)
		}
	}
	return batches
}

// gather takes a full batch of a group. It takes a partial one if no step under way can make another step of the group ready; nil = not
// yet.
func (sc *scheduler) gather(g *group) batch {
	sc.dropRefused(g)
	b := batch(g.ready[:min(len(g.ready), g.rows)])
	if g.sequence != nil {
		b = sc.nextOfSequence(g)
	}
	single := len(b) == 1 && sc.plan.Steps[b[0]].Batch == 0
	if len(b) == 0 || len(b) < g.rows && g.expected > 0 && !single {
		return nil
	}
	b = slices.Clone(b)
	sc.countExpected(b, 1)
	g.ready = slices.DeleteFunc(g.ready, func(i planner.StepID) bool {
		_, taken := slices.BinarySearch(b, i)
		return taken
	})
	if g.sequence != nil {
		for _, i := range b {
			g.current[i] = true
		}
	}
	return b
}

// dropRefused blocks the ready steps of a group whose operation the service refuses.
func (sc *scheduler) dropRefused(g *group) {
	for len(g.ready) > 0 {
		i := g.ready[0]
		cause := sc.refusedBy(sc.plan.Steps[i])
		if cause == nil {
			return
		}
		g.ready = g.ready[1:]
		sc.blockUntried(i, cause)
	}
}

// nextOfSequence returns the next steps of a sequence. A step that waits for one of the same sequence, such as a sub-item for its parent,
// is skipped. A step that waits for any other step ends the batch, because the service numbers objects in the order of the requests.
func (sc *scheduler) nextOfSequence(g *group) batch {
	var b batch
	if len(g.current) > 0 {
		return nil
	}
	q := g.sequence
	for q.turn < len(q.steps) && sc.hasEnded[q.steps[q.turn]] {
		q.turn++
	}
	for _, i := range q.steps[q.turn:] {
		_, ready := slices.BinarySearch(g.ready, i)
		switch {
		case sc.hasEnded[i]:
		case ready && sc.plan.Steps[i].Batch == 0:
			if len(b) == 0 {
				b = batch{i}
			}
			return b
		case ready:
			if b = append(b, i); len(b) == g.rows || len(b) == len(g.ready) {
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
