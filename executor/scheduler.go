package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
		ended: make(chan completion, limit), logged: make(chan intentBatch),
		ids: make(map[resource.Address]string), sequences: make(map[int]*sequence), pending: make(map[int]time.Time),
		refusals: make(map[operationIn]*refusals), unsupported: make(map[int]bool),
		incomplete: make(map[string]*planner.Step),
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
	ready      []int // steps that wait for no other, in the order of the plan
	queue      []int // logged steps that wait for a worker, in the order of the plan

	sequences map[int]*sequence // by their number
	pending   map[int]time.Time // pending steps, and the time at which each is taken up again
	refusals  map[operationIn]*refusals
	// unsupported are the steps whose kind the service turned out not to support.
	unsupported map[int]bool

	pendingNonDeletes int                      // steps other than deletes that have not ended
	deferredDeletes   []int                    // deletes that wait for nothing but those
	failedCreate      *planner.Step            // the root cause of the first create that did not succeed
	incomplete        map[string]*planner.Step // by kind: the root cause that left an object of it, or inside it, incomplete

	running         int
	logging         bool
	doneDuringFlush int // steps that ended during the present flush
	prefetch        int // target length of the queue
	done            int
	total           int

	ended  chan completion
	logged chan intentBatch

	mu  sync.RWMutex
	ids map[resource.Address]string // of objects created in this run
}

// completion is a worker's report on its step.
type completion struct {
	step    int
	pending *Pending // not nil: the step has not ended
	journal error    // the outcome could not be recorded
}

// intentBatch is a batch of logged steps, or the error of logging them.
type intentBatch struct {
	steps []int
	err   error
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
			}
			r.wait(i, s.Needs...)
			r.wait(i, s.After...)
			r.wait(i, earlier[s.Address]...) // one at a time for each address
			r.joinSequence(i)
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
			i, ok := r.begin()
			if !ok {
				continue
			}
			workers.Go(func() error { // blocks at most until a worker that has sent its completion returns
				r.ended <- r.do(ctx, i)
				return nil
			})
		}
		if !ending && !r.logging && len(r.ready) > 0 && len(r.queue) <= r.prefetch/2 {
			if batch := r.batch(); len(batch) > 0 {
				r.logging, r.doneDuringFlush = true, 0
				go func() { r.logged <- intentBatch{batch, r.logIntents(ctx, batch)} }()
			}
		}
		if r.running == 0 && !r.logging && len(r.pending) == 0 && (ending || len(r.ready) == 0) {
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

// begin takes the first queued step for a worker, unless the service refuses its operation.
func (r *scheduler) begin() (int, bool) {
	i := r.queue[0]
	r.queue = r.queue[1:]
	step := r.plan.Steps[i]
	res := &r.result.Steps[i]
	if cause := r.refused(step); cause != nil && res.Err == nil {
		r.takeBack(step)
		r.block(i, cause)
		return 0, false
	}
	r.running++
	if res.Err == nil { // else it was pending and has been reported
		res.Missing = r.missing(step)
		r.emit(Event{Type: Started, Step: step})
	}
	return i, true
}

// batch takes the first ready steps, as many as bring the queue to its target length.
func (r *scheduler) batch() []int {
	most := r.prefetch - len(r.queue)
	batch := make([]int, 0, min(len(r.ready), most))
	for len(r.ready) > 0 && len(batch) < most {
		i := r.ready[0]
		r.ready = r.ready[1:]
		if cause := r.refused(r.plan.Steps[i]); cause != nil {
			r.block(i, cause)
			continue
		}
		batch = append(batch, i)
	}
	return batch
}

// logIntents writes the intents of a batch.
func (r *scheduler) logIntents(ctx context.Context, batch []int) error {
	var intents []*planner.Step
	for _, i := range batch {
		if s := r.plan.Steps[i]; s.Operation != nil {
			intents = append(intents, s)
		}
	}
	if len(intents) == 0 {
		return nil
	}
	return r.journal.Begin(ctx, intents)
}

// enqueueLogged queues a logged batch and sets the target length of the queue: half of it
// must last for a flush that takes three times as long as this one. It is no longer,
// since after a crash the next run checks each intent. Where the service is faster than
// the disk it lasts for a dozen flushes, so that outcomes do not wait for flushes all the time.
func (r *scheduler) enqueueLogged(ctx context.Context, a intentBatch) {
	r.logging = false
	flushes := 3
	if r.doneDuringFlush >= r.limit {
		flushes = 12
	}
	r.prefetch = min(max(2*flushes*r.doneDuringFlush, r.limit), r.limit*maxPrefetchPerWorker)
	if a.err == nil {
		for _, i := range a.steps {
			r.enqueue(i)
		}
	} else if ctx.Err() == nil || errors.Is(a.err, ErrAbortRun) {
		r.stop(a.err)
	}
}

// cancelQueued withdraws the intents of steps that no worker has begun, and gives up the pending steps.
func (r *scheduler) cancelQueued() {
	for _, i := range slices.Concat(r.queue, r.loggedAhead()) {
		if r.result.Steps[i].Err != nil {
			r.pending[i] = time.Time{} // a pending step that was due
			continue
		}
		r.takeBack(r.plan.Steps[i])
	}
	r.queue = nil
	for _, i := range slices.Sorted(maps.Keys(r.pending)) {
		r.giveUp(i)
	}
}

// takeBack withdraws the intent of a step that has not begun.
func (r *scheduler) takeBack(step *planner.Step) {
	if step.Operation != nil {
		r.stop(r.journal.Complete(step, Outcome{}, ErrNotSent))
	}
}

// do carries out one step in a worker.
func (r *scheduler) do(ctx context.Context, i int) (e completion) {
	res := &r.result.Steps[i]
	defer func() {
		if p := recover(); p != nil {
			res.Status, res.Err = Unknown, &PanicError{Value: p, Stack: debug.Stack()}
			e = completion{step: i}
		}
	}()
	out, err := r.service.Do(ctx, res.Step, r.id)
	if p, ok := errors.AsType[*Pending](err); ok {
		res.Err = p
		return completion{step: i, pending: p}
	}
	journal := r.journal.Complete(res.Step, out, err)
	out.Values = nil
	res.Status, res.Outcome, res.Err = statusOf(ctx, err), out, err
	return completion{step: i, journal: journal}
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

// complete handles a completion: the step's dependents become ready or are blocked.
func (r *scheduler) complete(ctx context.Context, e completion) {
	r.running--
	r.doneDuringFlush++
	res := &r.result.Steps[e.step]
	if e.pending != nil {
		r.setAside(e.step, e.pending.After)
		return
	}
	if res.Status == Done && res.Outcome.ID != "" && res.Step.Object != nil {
		r.mu.Lock()
		r.ids[res.Step.Address] = res.Outcome.ID
		r.mu.Unlock()
	}
	if errors.Is(res.Err, ErrAbortRun) {
		r.stop(res.Err)
	}
	r.stop(e.journal)
	if res.Status == NotStarted {
		if !r.mustEnd(ctx) { // the service itself sends nothing more
			r.stop(res.Err)
		}
		*res = StepResult{Step: res.Step}
		r.emit(Event{Type: Ended, Step: res.Step, Result: *res})
		return // its dependents are not started either
	}
	r.countRefusal(res)
	r.finish(res)
	r.release(e.step, res.Status == Done)
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
		r.block(i, cause)
	case deletes && r.pendingNonDeletes > 0:
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
