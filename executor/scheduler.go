package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Options are the settings of a run.
type Options struct {
	Parallelism int             // steps under way at once; at least 1
	Stop        <-chan struct{} // once closed, no step begins and running ones finish; nil = never
	Events      func(Event)     // receives the events; nil = nobody does
}

// maxPrefetchPerWorker bounds the logged steps that wait for a worker, per worker: after a
// crash the next run has to check that many intents more.
const maxPrefetchPerWorker = 64

// Run carries out the plan's steps and returns when none is running any more.
// Cancelling ctx also cancels the running requests, whose outcome is then unknown.
func Run(ctx context.Context, plan *planner.Plan, service Service, journal Journal, opts Options) Result {
	limit := max(1, opts.Parallelism)
	r := &scheduler{
		plan: plan, service: service, journal: journal, opts: opts, limit: limit, prefetch: limit,
		result:   Result{Steps: make([]StepResult, len(plan.Steps))},
		indegree: make([]int, len(plan.Steps)), dependents: make([][]int, len(plan.Steps)),
		at:    make(map[resource.Address]int, len(plan.Steps)),
		ended: make(chan completion, limit), logged: make(chan flush), over: make([]bool, len(plan.Steps)),
		ids: make(map[resource.Address]string), sequences: make(map[int]*sequence), groups: make(map[int]*group),
		refusals: make(map[operationIn]*refusals), unsupported: make(map[int]bool),
		incomplete: make(map[string]*planner.Step), needed: make(map[int]bool), announced: make(map[*planner.Step]bool),
	}
	r.prepare()
	r.loop(ctx)
	return r.result
}

// scheduler is the state of one run. It belongs to the goroutine of Run, except for ids
// (mu) and the result of a running step, which belongs to its worker.
type scheduler struct {
	plan    *planner.Plan
	service Service
	journal Journal
	opts    Options
	limit   int
	result  Result

	indegree   []int   // by step: the number of steps it still waits for
	dependents [][]int // by step: the steps that wait for it
	at         map[resource.Address]int
	over       []bool  // by step: it has ended
	ready      []int   // steps that wait for no other and share no request, in the order of the plan
	queue      []batch // logged steps that wait for a worker, in the order of the plan

	sequences map[int]*sequence // by their number
	groups    map[int]*group    // by the number of their batch
	ordered   []*group          // the groups, in the order of the plan
	pending   []pendingBatch
	refusals  map[operationIn]*refusals
	// unsupported are the steps whose kind the service turned out not to support.
	unsupported map[int]bool

	pendingNonDeletes int                      // steps other than deletes that have not ended
	deferredDeletes   []int                    // deletes that wait for nothing but those
	needed            map[int]bool             // deletes that others need, since they free what those send
	failedCreate      *planner.Step            // the root cause of the first create that did not succeed
	announced         map[*planner.Step]bool   // membership steps whose intents came with those of creates; of the flush
	incomplete        map[string]*planner.Step // by kind: the root cause that left an object of it, or inside it, incomplete

	running         int
	logging         bool
	doneDuringFlush int // steps that ended during the present flush
	prefetch        int // target length of the queue
	done            int
	total           int

	ended  chan completion
	logged chan flush

	mu  sync.RWMutex
	ids map[resource.Address]string // of objects created in this run
}

// batch is the steps that a worker carries out together: one, or several that share requests.
type batch []int

// completion is a worker's report on its steps.
type completion struct {
	steps   batch
	pending []*Pending // by step; not nil: it has not ended
	journal error      // an outcome could not be recorded
}

// flush is batches whose intents are in the journal, or the error of writing them.
type flush struct {
	batches []batch
	err     error
}

// prepare links the steps and schedules those that wait for no other.
func (r *scheduler) prepare() {
	var first []int
	earlier := map[resource.Address][]int{} // for addresses with several steps
	for i, s := range r.plan.Steps {
		r.result.Steps[i].Step = s
		if j, again := r.at[s.Address]; again {
			earlier[s.Address] = append(earlier[s.Address], j)
		}
		r.at[s.Address] = i
		if s.Action != planner.NotPossible {
			r.total++
			if s.Action != planner.Delete {
				r.pendingNonDeletes++
				r.noteNeeded(s)
			}
			r.wait(i, s.Needs...)
			r.wait(i, s.After...)
			r.wait(i, earlier[s.Address]...) // one at a time for each address
			r.joinSequence(i)
			r.joinGroup(i)
		}
		if r.indegree[i] == 0 {
			first = append(first, i)
		}
	}
	for _, i := range first {
		if r.plan.Steps[i].Action == planner.NotPossible {
			r.release(i, false)
		} else {
			r.schedule(i)
		}
	}
}

// wait makes step i wait for others. A step given twice counts twice, here and in release.
func (r *scheduler) wait(i int, others ...int) {
	for _, j := range others {
		r.indegree[i]++
		r.dependents[j] = append(r.dependents[j], i)
	}
}

// loop starts steps and handles their completions until none is left or the run must end.
func (r *scheduler) loop(ctx context.Context) {
	var workers errgroup.Group
	workers.SetLimit(r.limit)
	for {
		ending := r.mustEnd(ctx)
		if ending {
			r.cancelQueued()
		}
		for len(r.queue) > 0 && r.running < r.limit {
			b := r.begin()
			if len(b) == 0 {
				continue
			}
			workers.Go(func() error { // blocks at most until a worker that has sent its completion returns
				r.ended <- r.do(ctx, b)
				return nil
			})
		}
		if !ending && !r.logging {
			if batches := r.take(); len(batches) > 0 {
				r.logging, r.doneDuringFlush = true, 0
				go func() { r.logged <- flush{batches, r.logIntents(ctx, batches)} }()
			}
		}
		if r.running == 0 && !r.logging && len(r.queue) == 0 && len(r.pending) == 0 && (ending || len(r.ready) == 0) {
			break // nothing can become ready any more
		}
		r.handleNext(ctx)
	}
	r.cancelQueued()   // steps whose turn in a sequence never comes
	_ = workers.Wait() // errors come with the completions
}

// handleNext waits for a completion, a logged batch or the time of a pending step, and handles it.
func (r *scheduler) handleNext(ctx context.Context) {
	var due <-chan time.Time
	var stop, cancelled <-chan struct{} // needed for pending steps only: running ones end by themselves
	if wait, ok := r.nextDue(); ok {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due, stop, cancelled = timer.C, r.opts.Stop, ctx.Done()
	}
	if r.running == 0 && !r.logging && due == nil {
		return // every ready step has been blocked
	}
	select {
	case e := <-r.ended:
		r.complete(ctx, e)
	case a := <-r.logged:
		r.enqueueLogged(ctx, a)
	case <-due:
		r.resume()
	case <-stop:
	case <-cancelled:
	}
}

// mustEnd reports whether no step may begin any more. An interrupt after the last step has
// ended does not count.
func (r *scheduler) mustEnd(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		r.result.Interrupted = r.result.Interrupted || r.done < r.total
	case <-r.opts.Stop:
		r.result.Interrupted = r.result.Interrupted || r.done < r.total
	default:
	}
	return r.result.Interrupted || r.result.Stopped != nil
}

// begin takes the first queued batch for a worker, without the steps whose operation the
// service refuses.
func (r *scheduler) begin() batch {
	var steps batch
	queued := r.queue[0]
	r.queue = r.queue[1:]
	for _, i := range queued {
		step, res := r.plan.Steps[i], &r.result.Steps[i]
		if cause := r.refused(step); cause != nil && res.Err == nil {
			r.takeBack(i)
			r.leaveUntried(i, cause)
			continue
		}
		steps = append(steps, i)
		if res.Err == nil { // else it was pending and has been reported
			res.Missing = r.missing(step)
			r.emit(Event{Type: Started, Step: step})
		}
	}
	if len(steps) > 0 {
		r.running++
	}
	return steps
}

// take takes the first ready steps, as many as bring the queue to its target length, and
// the batches of the groups that can begin.
func (r *scheduler) take() []batch {
	var batches []batch
	if len(r.queue) <= r.prefetch/2 {
		for most := r.prefetch - len(r.queue); len(r.ready) > 0 && len(batches) < most; {
			i := r.ready[0]
			r.ready = r.ready[1:]
			if cause := r.refused(r.plan.Steps[i]); cause != nil {
				r.leaveUntried(i, cause)
				continue
			}
			batches = append(batches, batch{i})
			r.underWay(batch{i}, 1)
		}
	}
	return append(batches, r.gatherAll()...)
}

// logIntents writes the intents of batches, and of the membership steps whose members they create.
func (r *scheduler) logIntents(ctx context.Context, batches []batch) error {
	var intents []*planner.Step
	for _, b := range batches {
		for _, i := range b {
			s := r.plan.Steps[i]
			if s.Operation != nil {
				intents = append(intents, s)
			}
			for _, p := range s.Places {
				if !r.announced[p] {
					r.announced[p], intents = true, append(intents, p)
				}
			}
		}
	}
	if len(intents) == 0 {
		return nil
	}
	return r.journal.Begin(ctx, intents)
}

// enqueueLogged queues logged batches and sets the target length of the queue: half of it
// must last for a flush that takes three times as long as this one. It is no longer,
// since after a crash the next run checks each intent. Where the service is faster than
// the disk it lasts for a dozen flushes, so that outcomes do not wait for flushes all the time.
func (r *scheduler) enqueueLogged(ctx context.Context, f flush) {
	r.logging = false
	flushes := 3
	if r.doneDuringFlush >= r.limit {
		flushes = 12
	}
	r.prefetch = min(max(2*flushes*r.doneDuringFlush, r.limit), r.limit*maxPrefetchPerWorker)
	if f.err == nil {
		for _, b := range f.batches {
			r.enqueue(b)
		}
	} else if ctx.Err() == nil || errors.Is(f.err, ErrAbortRun) {
		r.stop(f.err)
	}
}

// cancelQueued withdraws the intents of steps that no worker has begun, and gives up the pending steps.
func (r *scheduler) cancelQueued() {
	var pending []int
	for _, i := range slices.Concat(append(r.queue, r.loggedAhead())...) {
		if r.result.Steps[i].Err != nil {
			pending = append(pending, i) // it was due
			continue
		}
		r.takeBack(i)
	}
	for _, p := range r.pending {
		pending = append(pending, p.steps...)
	}
	r.queue, r.pending = nil, nil
	slices.Sort(pending)
	for _, i := range pending {
		r.giveUp(i)
	}
}

// takeBack withdraws the intent of a step that has not begun.
func (r *scheduler) takeBack(i int) {
	if step := r.plan.Steps[i]; step.Operation != nil {
		r.stop(r.journal.Complete(step, Outcome{}, ErrNotSent))
	}
}

// do carries out the steps of a batch in a worker.
func (r *scheduler) do(ctx context.Context, b batch) (c completion) {
	c = completion{steps: b, pending: make([]*Pending, len(b))}
	defer func() {
		if p := recover(); p != nil {
			for k, i := range b {
				res := &r.result.Steps[i]
				res.Status, res.Err, c.pending[k] = Unknown, &PanicError{Value: p, Stack: debug.Stack()}, nil
			}
		}
	}()
	for k, a := range r.attempt(ctx, b) {
		res := &r.result.Steps[b[k]]
		if p, ok := errors.AsType[*Pending](a.Err); ok {
			res.Err, c.pending[k] = p, p
			continue
		}
		err := r.journal.Complete(res.Step, a.Outcome, a.Err)
		c.journal = cmp.Or(c.journal, err)
		a.Outcome.Values = nil
		res.Status, res.Outcome, res.Err = statusOf(ctx, a.Err), a.Outcome, a.Err
	}
	return c
}

// attempt has the service carry out the steps of a batch.
func (r *scheduler) attempt(ctx context.Context, b batch) []Attempt {
	steps := make([]*planner.Step, len(b))
	for k, i := range b {
		steps[k] = r.plan.Steps[i]
	}
	return r.service.Do(ctx, steps, r.id)
}

func statusOf(ctx context.Context, err error) Status {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, ErrOutcomeUnknown):
		return Unknown
	case errors.Is(err, ErrNotSent), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return NotStarted
	default:
		return Failed
	}
}

// id is the [IDs] of the run.
func (r *scheduler) id(a resource.Address) (string, bool) {
	r.mu.RLock()
	id, ok := r.ids[a]
	r.mu.RUnlock()
	if !ok {
		id = r.plan.Known[a].ID
	}
	return id, id != ""
}

// complete handles a completion: the dependents of steps that ended become ready or are
// blocked; the others are set aside.
func (r *scheduler) complete(ctx context.Context, c completion) {
	r.running--
	r.doneDuringFlush++
	r.stop(c.journal)
	r.underWay(c.steps, -1)
	r.setAside(c)
	for k, i := range c.steps { // every ID is there before a dependent begins
		if res := &r.result.Steps[i]; c.pending[k] == nil && res.Status == Done && res.Outcome.ID != "" && res.Step.Object != nil {
			r.mu.Lock()
			r.ids[res.Step.Address] = res.Outcome.ID
			r.mu.Unlock()
		}
	}
	for k, i := range c.steps { // what some rows of a request say of the operation others may contradict
		if c.pending[k] == nil {
			r.countRefusal(&r.result.Steps[i])
		}
	}
	for k, i := range c.steps {
		if c.pending[k] == nil {
			r.end(ctx, i)
		}
	}
}

// end handles the end of a step that a worker has carried out.
func (r *scheduler) end(ctx context.Context, i int) {
	res := &r.result.Steps[i]
	if errors.Is(res.Err, ErrAbortRun) {
		r.stop(res.Err)
	}
	if res.Status == NotStarted {
		if !r.mustEnd(ctx) { // the service itself sends nothing more
			r.stop(res.Err)
		}
		*res = StepResult{Step: res.Step}
		r.emit(Event{Type: Ended, Step: res.Step, Result: *res})
		return // its dependents are not started either
	}
	r.finish(res)
	r.release(i, res.Status == Done)
}

// release schedules the dependents of step i that wait for no other step now. Where i did
// not succeed, those that need it are blocked.
func (r *scheduler) release(i int, ok bool) {
	for _, k := range r.dependents[i] {
		switch {
		case r.result.Steps[k].Status == Blocked:
		case !ok && slices.Contains(r.plan.Steps[k].Needs, i) && !r.doesWithout(r.plan.Steps[k], i):
			r.block(k, r.rootCause(i))
		default:
			if r.indegree[k]--; r.indegree[k] == 0 {
				r.schedule(k)
			}
		}
	}
}

// schedule makes a step ready that waits for no other. Deletes are deferred to the end; a
// membership step without a single existing member is blocked.
func (r *scheduler) schedule(i int) {
	step := r.plan.Steps[i]
	missing := r.missing(step)
	deletes := step.Action == planner.Delete
	switch cause := r.refused(step); {
	case cause != nil:
		r.leaveUntried(i, cause)
	case deletes && r.pendingNonDeletes > 0 && !r.needed[i]:
		r.deferredDeletes = append(r.deferredDeletes, i)
	case deletes && r.deleteBlocker(step) != nil:
		r.block(i, r.deleteBlocker(step))
	case len(missing) > 0 && len(missing) == len(step.Members.Items):
		if j, ok := r.at[missing[0]]; ok {
			cause = r.rootCause(j)
		}
		r.block(i, cause)
	default:
		r.offer(i)
	}
}

// leaveUntried blocks a step whose operation the service refuses.
func (r *scheduler) leaveUntried(i int, cause *planner.Step) {
	r.result.Steps[i].Untried = true
	r.block(i, cause)
}

func (r *scheduler) block(i int, cause *planner.Step) {
	res := &r.result.Steps[i]
	res.Status, res.BlockedBy = Blocked, cause
	if cause != nil && r.unsupported[cause.Index] && cause.Operation == res.Step.Operation {
		r.unsupported[i] = true
	}
	r.finish(res)
	r.release(i, false)
}

// rootCause is the step to blame where step i did not succeed: i itself, or what blocked it.
func (r *scheduler) rootCause(i int) *planner.Step {
	if by := r.result.Steps[i].BlockedBy; by != nil {
		return by
	}
	return r.plan.Steps[i]
}

// missing lists the members of a batch that do not exist because their own step did not succeed.
func (r *scheduler) missing(step *planner.Step) []resource.Address {
	if step.Members == nil {
		return nil
	}
	var missing []resource.Address
	for _, m := range step.Members.Items {
		if m.ID != "" {
			continue
		}
		if _, ok := r.id(m.Address); !ok {
			missing = append(missing, m.Address)
		}
	}
	return missing
}

// finish counts and reports a step that has ended. After the last other step it schedules the deletes.
func (r *scheduler) finish(res *StepResult) {
	r.done++
	r.over[res.Step.Index] = true
	r.emit(Event{Type: Ended, Step: res.Step, Result: *res})
	r.passTurn(res.Step)
	if res.Step.Action == planner.Delete {
		return
	}
	if res.Status != Done {
		r.noteIncomplete(res)
	}
	if r.pendingNonDeletes--; r.pendingNonDeletes == 0 {
		deletes := r.deferredDeletes
		r.deferredDeletes = nil
		for _, i := range deletes {
			r.schedule(i)
		}
	}
}

// stop ends the run because of an error, if it is one. The first is the cause.
func (r *scheduler) stop(err error) {
	switch {
	case err == nil || r.result.Stopped != nil:
	case errors.Is(err, ErrAbortRun):
		r.result.Stopped = err
	default:
		r.result.Stopped = fmt.Errorf("%w: %w", ErrAbortRun, err)
	}
}

func (r *scheduler) emit(e Event) {
	if r.opts.Events == nil {
		return
	}
	e.Done, e.Total = r.done, r.total
	r.opts.Events(e)
}

// insert adds a step to others, in the order of the plan.
func insert(steps []int, i int) []int {
	at, _ := slices.BinarySearch(steps, i)
	return slices.Insert(steps, at, i)
}
