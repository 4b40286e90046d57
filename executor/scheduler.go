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
	Stop        <-chan struct{} // when closed no step begins any more, and those under way finish; nil = never
	Events      func(Event)     // told what happens; nil = nobody
}

// maxPrefetchPerWorker is how many steps for each worker wait, at most, in the journal for
// a worker: a crash leaves that many intents more to look into.
const maxPrefetchPerWorker = 64

// Run carries out the plan's steps and returns when none is under way any more.
// Cancelling ctx also cancels the requests under way, whose fate is then unknown.
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

// scheduler is the state of one run. It belongs to the goroutine of Run, but for ids,
// and for the result of a step under way, which belongs to its worker.
type scheduler struct {
	plan    *planner.Plan
	service Service
	journal Journal
	opts    Options
	limit   int
	result  Result

	indegree   []int   // by step: how many it still waits for
	dependents [][]int // by step: those that wait for it
	at         map[resource.Address]int
	ready      []int // in the order of the plan: wait for nothing
	queue      []int // in the order of the plan: are in the journal too, and wait for a worker

	sequences map[int]*sequence // by their number
	pending   map[int]time.Time // pending steps, and when each is taken up again
	refusals  map[operationIn]*refusals
	// unsupported are the steps whose kind the service turned out not to have.
	unsupported map[int]bool

	pendingNonDeletes int                      // steps that delete nothing and have not ended
	deferredDeletes   []int                    // steps that delete something, and wait for nothing but those
	failedCreate      *planner.Step            // why something that was to be created is not there
	incomplete        map[string]*planner.Step // by kind: why one of it, or something in it, is not as it was to be

	running         int
	logging         bool
	doneDuringFlush int // steps that ended during the present flush
	prefetch        int // length that the queue is brought to
	done            int
	total           int

	ended  chan completion
	logged chan intentBatch

	mu  sync.RWMutex
	ids map[resource.Address]string // of what this run made
}

// completion is what a worker tells of its step.
type completion struct {
	step    int
	pending *Pending // it has not ended
	journal error    // the outcome could not be written down
}

// intentBatch is what became of the intents of a batch of steps.
type intentBatch struct {
	steps []int
	err   error
}

// prepare links the steps and finds those that wait for nothing.
func (r *scheduler) prepare() {
	var first []int
	former := map[resource.Address][]int{} // where there are several steps
	for i, s := range r.plan.Steps {
		r.result.Steps[i].Step = s
		if j, again := r.at[s.Address]; again {
			former[s.Address] = append(former[s.Address], j)
		}
		r.at[s.Address] = i
		if s.Action != planner.NotPossible {
			r.total++
			if s.Action != planner.Delete {
				r.pendingNonDeletes++
			}
			r.wait(i, s.Needs...)
			r.wait(i, s.After...)
			r.wait(i, former[s.Address]...) // never two under way for one address
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

// wait makes step i wait for others. One that is named twice counts twice, here and when it ends.
func (r *scheduler) wait(i int, others ...int) {
	for _, j := range others {
		r.indegree[i]++
		r.dependents[j] = append(r.dependents[j], i)
	}
}

// loop starts steps and takes what they end with until nothing is left or the run is over.
func (r *scheduler) loop(ctx context.Context) {
	var workers errgroup.Group
	workers.SetLimit(r.limit)
	for {
		over := r.over(ctx)
		if over {
			r.cancelQueued()
		}
		for len(r.queue) > 0 && r.running < r.limit {
			i, ok := r.begin()
			if !ok {
				continue
			}
			workers.Go(func() error { // waits, if at all, for one that has sent its completion to return
				r.ended <- r.do(ctx, i)
				return nil
			})
		}
		if !over && !r.logging && len(r.ready) > 0 && len(r.queue) <= r.prefetch/2 {
			if batch := r.batch(); len(batch) > 0 {
				r.logging, r.doneDuringFlush = true, 0
				go func() { r.logged <- intentBatch{batch, r.logIntents(ctx, batch)} }()
			}
		}
		if r.running == 0 && !r.logging && len(r.pending) == 0 && (over || len(r.ready) == 0) {
			break // nothing can become ready any more
		}
		r.await(ctx)
	}
	r.cancelQueued()   // what waits for a turn that does not come
	_ = workers.Wait() // they send their errors with their completions
}

// await takes what happens next.
func (r *scheduler) await(ctx context.Context) {
	var due <-chan time.Time
	var stop, cancelled <-chan struct{} // only where a step is set aside: what is under way ends by itself
	if wait, ok := r.nextDue(); ok {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due, stop, cancelled = timer.C, r.opts.Stop, ctx.Done()
	}
	if r.running == 0 && !r.logging && due == nil {
		return // what was ready is blocked by now
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

// over reports whether no step may begin any more. An interrupt after the last is none.
func (r *scheduler) over(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		r.result.Interrupted = r.result.Interrupted || r.done < r.total
	case <-r.opts.Stop:
		r.result.Interrupted = r.result.Interrupted || r.done < r.total
	default:
	}
	return r.result.Interrupted || r.result.Stopped != nil
}

// begin takes the first of the queued steps for a worker, unless the service
// refuses every one of its operation.
func (r *scheduler) begin() (int, bool) {
	i := r.queue[0]
	r.queue = r.queue[1:]
	step := r.plan.Steps[i]
	res := &r.result.Steps[i]
	if root := r.refused(step); root != nil && res.Err == nil {
		r.takeBack(step)
		r.block(i, root)
		return 0, false
	}
	r.running++
	if res.Err == nil { // else it goes on
		res.Missing = r.missing(step)
		r.emit(Event{Type: Started, Step: step})
	}
	return i, true
}

// batch takes the first of the ready steps, as many as the queue lacks.
func (r *scheduler) batch() []int {
	lacks := r.prefetch - len(r.queue)
	batch := make([]int, 0, min(len(r.ready), lacks))
	for len(r.ready) > 0 && len(batch) < lacks {
		i := r.ready[0]
		r.ready = r.ready[1:]
		if root := r.refused(r.plan.Steps[i]); root != nil {
			r.block(i, root)
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

// enqueueLogged queues the steps that are in the journal now. How far the next ones are
// logged ahead follows from what this flush showed: half the queue, where the
// next flush begins, lasts for a flush that takes three times as long. No
// more than that, since each is an intent to look into after a crash; but where
// the service is faster than the disk it lasts for a dozen, so that writing
// outcomes does not wait for flushes all the time.
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

// cancelQueued takes back the logged steps that no worker has begun, and gives up the pending ones.
func (r *scheduler) cancelQueued() {
	for _, i := range slices.Concat(r.queue, r.loggedAhead()) {
		if r.result.Steps[i].Err != nil {
			r.pending[i] = time.Time{} // it was about to be taken up again
			continue
		}
		r.takeBack(r.plan.Steps[i])
	}
	r.queue = nil
	for _, i := range slices.Sorted(maps.Keys(r.pending)) {
		r.giveUp(i)
	}
}

// takeBack notes that a step whose intent is in the journal is not begun.
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

// complete takes in how a step ended: what waited for it becomes ready, or is blocked with it.
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
		if !r.over(ctx) { // the service itself wants to send nothing more
			r.stop(res.Err)
		}
		*res = StepResult{Step: res.Step}
		r.emit(Event{Type: Ended, Step: res.Step, Result: *res})
		return // what waits for it is not started either
	}
	r.note(res)
	r.record(res)
	r.release(e.step, res.Status == Done)
}

// release tells what waits for step i that it waits for one less, or that it is blocked.
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

// schedule takes a step that waits for nothing any more. It is ready, unless it
// deletes something, which goes last, or brings members in of which not one is there.
func (r *scheduler) schedule(i int) {
	step := r.plan.Steps[i]
	missing := r.missing(step)
	deletes := step.Action == planner.Delete
	switch root := r.refused(step); {
	case root != nil:
		r.block(i, root)
	case deletes && r.pendingNonDeletes > 0:
		r.deferredDeletes = append(r.deferredDeletes, i)
	case deletes && r.keptBy(step) != nil:
		r.block(i, r.keptBy(step))
	case len(missing) > 0 && len(missing) == len(step.Members.Items):
		var root *planner.Step
		if j, ok := r.at[missing[0]]; ok {
			root = r.rootCause(j)
		}
		r.block(i, root)
	default:
		r.offer(i)
	}
}

func (r *scheduler) block(i int, root *planner.Step) {
	res := &r.result.Steps[i]
	res.Status, res.BlockedBy = Blocked, root
	if root != nil && r.unsupported[root.Index] && root.Operation == res.Step.Operation {
		r.unsupported[i] = true
	}
	r.record(res)
	r.release(i, false)
}

// rootCause is what is to blame for what waits for step i, which did not succeed.
func (r *scheduler) rootCause(i int) *planner.Step {
	if by := r.result.Steps[i].BlockedBy; by != nil {
		return by
	}
	return r.plan.Steps[i]
}

// missing lists the members of a batch that are not there, since their own step did not succeed.
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

func (r *scheduler) record(res *StepResult) {
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
