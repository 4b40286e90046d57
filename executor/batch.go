package executor

import "slices"

// group is the steps of one [planner.Step.Batch], of which a worker carries out several at
// once. A group of a sequence has one batch under way at a time.
type group struct {
	rows     int          // at most in one request
	ready    []int        // steps that wait for no other, in the order of the plan
	expected int          // how often steps under way are what its steps wait for
	sequence *sequence    // whose order its steps keep; nil = any order
	current  map[int]bool // of a sequence: steps under way or pending
}

// joinGroup puts a step into the group of its batch, if it has one. A sequence with a batch is one group.
func (r *scheduler) joinGroup(i int) {
	step := r.plan.Steps[i]
	if step.Batch == 0 {
		return
	}
	g := r.groups[step.Batch]
	if g == nil {
		g = &group{rows: step.Bulk.Rows}
		r.groups[step.Batch] = g
		r.ordered = append(r.ordered, g)
	}
	if q := r.sequences[step.Sequence]; q != nil && q.group == nil {
		q.group, g.sequence, g.current = g, q, map[int]bool{}
	}
}

// groupOf is the group of a step, or nil.
func (r *scheduler) groupOf(i int) *group {
	step := r.plan.Steps[i]
	if q := r.sequences[step.Sequence]; q != nil {
		return q.group
	}
	return r.groups[step.Batch]
}

// underWay counts, by 1 or -1, that what waits for the steps is soon ready, or no longer.
func (r *scheduler) underWay(b batch, by int) {
	for _, i := range b {
		for _, k := range r.dependents[i] {
			if g := r.groupOf(k); g != nil {
				g.expected += by
			}
		}
	}
}

// gatherAll takes batches of the groups, as many as workers can carry out at once. They
// are not gathered ahead: a later batch is a fuller one.
func (r *scheduler) gatherAll() []batch {
	if len(r.ordered) == 0 {
		return nil
	}
	most := r.limit - r.running
	for _, b := range r.queue {
		if r.groupOf(b[0]) != nil {
			most--
		}
	}
	var batches []batch
	for _, g := range r.ordered {
		for len(batches) < most {
			b := r.gather(g)
			if b == nil {
				break
			}
			batches = append(batches, b)
		}
	}
	return batches
}

// gather takes a full batch of a group, or one that is not full where no step under way is
// about to make another step of the group ready; nil = none yet.
func (r *scheduler) gather(g *group) batch {
	r.dropRefused(g)
	b := batch(g.ready[:min(len(g.ready), g.rows)])
	if g.sequence != nil {
		b = r.nextInSequence(g)
	}
	single := len(b) == 1 && r.plan.Steps[b[0]].Batch == 0
	if len(b) == 0 || len(b) < g.rows && g.expected > 0 && !single {
		return nil
	}
	b = slices.Clone(b)
	r.underWay(b, 1)
	g.ready = slices.DeleteFunc(g.ready, func(i int) bool {
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
func (r *scheduler) dropRefused(g *group) {
	for len(g.ready) > 0 {
		i := g.ready[0]
		cause := r.refused(r.plan.Steps[i])
		if cause == nil {
			return
		}
		g.ready = g.ready[1:]
		r.leaveUntried(i, cause)
	}
}

// nextInSequence is the next steps of a sequence. A step that waits for one of the same
// sequence, such as a sub-item for its parent, is passed over; one that waits for any
// other ends the batch, since the service numbers objects in the order of the requests.
func (r *scheduler) nextInSequence(g *group) batch {
	var b batch
	if len(g.current) > 0 {
		return nil
	}
	q := g.sequence
	for q.turn < len(q.steps) && r.over[q.steps[q.turn]] {
		q.turn++
	}
	for _, i := range q.steps[q.turn:] {
		_, ready := slices.BinarySearch(g.ready, i)
		switch {
		case r.over[i]:
		case ready && r.plan.Steps[i].Batch == 0:
			if len(b) == 0 {
				b = batch{i}
			}
			return b
		case ready:
			if b = append(b, i); len(b) == g.rows {
				return b
			}
		case r.waitsOutside(i):
			return b
		}
	}
	return b
}

// waitsOutside reports whether a step waits for one that is not of its sequence.
func (r *scheduler) waitsOutside(i int) bool {
	step := r.plan.Steps[i]
	return slices.ContainsFunc(slices.Concat(step.Needs, step.After), func(j int) bool {
		return !r.over[j] && r.plan.Steps[j].Sequence != step.Sequence
	})
}
