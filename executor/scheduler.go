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

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// Options holds the settings of a run.
type Options struct {
	Parallelism int             // most steps under way at once; at least 1
	Stop        <-chan struct{} // once it is closed, no step begins, and running steps finish; nil = never
	Events      func(Event)     // receives the events; nil = no receiver
}

// maxPrefetchPerWorker bounds the logged steps that wait for a worker, for each worker: after a crash, the next run checks that many more
// intents.
const maxPrefetchPerWorker = 64

// Run carries out the steps of a plan, and returns when none is running. If ctx is cancelled, the running requests are cancelled too, and
// their outcome is unknown.
func Run(ctx context.Context, plan *planner.Plan, service Service, journal Journal, opts Options) Result {
	limit := max(1, opts.Parallelism)
	sc := &scheduler{
		plan: plan, service: service, journal: journal, opts: opts, limit: limit, prefetch: limit,
		result:   Result{Steps: make([]StepResult, len(plan.Steps))},
		indegree: make([]int, len(plan.Steps)), dependents: make([][]planner.StepID, len(plan.Steps)),
		at:    make(map[resource.Address]planner.StepID, len(plan.Steps)),
		ended: make(chan func(), limit), hasEnded: make([]bool, len(plan.Steps)),
		ids: make(map[resource.Address]string), sequences: make(map[int]*lane), batches: make(map[int]*lane),
		refusals: make(map[operationIn]*refusals), unsupported: make(map[planner.StepID]bool),
		incomplete: make(map[string]*planner.Step), needed: make(map[planner.StepID]bool), intentWritten: make(map[*planner.Step]bool),
	}
	sc.prepare()
	sc.loop(ctx)
	return sc.result
}

// scheduler is the state of one run. It belongs to the goroutine of Run, except for ids, which mu protects, and the result of a running
// step, which belongs to its worker.
type scheduler struct {
	plan    *planner.Plan
	service Service
	journal Journal
	opts    Options
	limit   int
	result  Result

	indegree   []int              // by step: number of steps that it waits for
	dependents [][]planner.StepID // by step: its dependents
	at         map[resource.Address]planner.StepID
	hasEnded   []bool           // by step: it has ended
	ready      []planner.StepID // steps that can be logged and share no request, in the order of the plan
	queue      []batch          // logged steps that wait for a worker, in the order of the plan

	sequences map[int]*lane // by number
	batches   map[int]*lane // without a sequence, by the number of the batch
	ordered   []*lane       // the lanes with batches, in the order of the plan
	pending   []pendingBatch
	refusals  map[operationIn]*refusals
	// unsupported marks the steps whose kind the service does not support.
	unsupported map[planner.StepID]bool

	pendingNonDeletes int                      // steps other than deletes that have not ended
	deferredDeletes   []planner.StepID         // deletes that wait only for other steps to end
	needed            map[planner.StepID]bool  // deletes that other steps need, because they free a value that those send
	failedCreate      *planner.Step            // root cause of the first create that did not succeed
	intentWritten     map[*planner.Step]bool   // membership steps whose intents were written with those of creates; belongs to the flush
	incomplete        map[string]*planner.Step // by kind: the root cause that left an object of the kind, or inside one, incomplete

	running         int
	logging         bool
	doneDuringFlush int // steps that ended during the current flush
	prefetch        int // target length of the queue, without steps that wait for their turn
	done            int
	total           int

	ended chan func() // what the scheduler does after a worker or a flush has ended

	mu  sync.RWMutex
	ids map[resource.Address]string // IDs of objects that this run created
}

// batch holds the steps that a worker carries out together: one, or several that share requests.
type batch []planner.StepID

// completion is a worker's report on its steps.
type completion struct {
	steps   batch
	pending []*Pending // by step; not nil = the step has not ended
	journal error      // an outcome could not be recorded
}

// prepare links the steps, and schedules those that wait for no other step.
func (sc *scheduler) prepare() {
	var first []planner.StepID
	earlier := map[resource.Address][]planner.StepID{} // for addresses with several steps
	for _, s := range sc.plan.Steps {
		i := s.Index
		sc.result.Steps[i].Step = s
		if j, again := sc.at[s.Address]; again {
			earlier[s.Address] = append(earlier[s.Address], j)
		}
		sc.at[s.Address] = i
		if s.Action != planner.NotPossible {
			sc.total++
			if s.Action != planner.Delete {
				sc.pendingNonDeletes++
				sc.markNeeded(s)
			}
			sc.wait(i, s.Needs...)
			sc.wait(i, s.After...)
			sc.wait(i, earlier[s.Address]...) // one at a time for each address
			sc.joinLane(i)
		}
		if sc.indegree[i] == 0 {
			first = append(first, i)
		}
	}
	for _, i := range first {
		if sc.plan.Steps[i].Action == planner.NotPossible {
			sc.release(i, false)
		} else {
			sc.schedule(i)
		}
	}
}

// wait makes step i wait for other steps. A step given twice counts twice, here and in release.
func (sc *scheduler) wait(i planner.StepID, others ...planner.StepID) {
	for _, j := range others {
		sc.indegree[i]++
		sc.dependents[j] = append(sc.dependents[j], i)
	}
}

// loop starts steps and handles their completions until all have ended or the run must end.
func (sc *scheduler) loop(ctx context.Context) {
	var workers errgroup.Group
	workers.SetLimit(sc.limit)
	for {
		ending := sc.mustEnd(ctx)
		if ending {
			sc.cancelQueued()
		}
		for at := sc.nextQueued(); at >= 0 && sc.running < sc.limit; at = sc.nextQueued() {
			b := sc.begin(at)
			if len(b) == 0 {
				continue
			}
			workers.Go(func() error { // blocks at most until a worker that has sent its completion returns
				c := sc.do(ctx, b)
				sc.ended <- func() { sc.complete(ctx, c) }
				return nil
			})
		}
		if !ending && !sc.logging {
			if batches := sc.dequeue(); len(batches) > 0 {
				sc.logging, sc.doneDuringFlush = true, 0
				go func() {
					err := sc.logIntents(ctx, batches)
					sc.ended <- func() { sc.enqueueLogged(ctx, batches, err) }
				}()
			}
		}
		if sc.running == 0 && !sc.logging && len(sc.pending) == 0 && (ending || len(sc.ready) == 0 && sc.nextQueued() < 0) {
			break // nothing can become ready any more
		}
		sc.handleNext(ctx)
	}
	sc.cancelQueued()  // steps whose turn in a sequence never comes
	_ = workers.Wait() // errors come with the completions
}

// handleNext waits for the next event and handles it: a completion, a finished flush, or a pending step that is due.
func (sc *scheduler) handleNext(ctx context.Context) {
	var due <-chan time.Time
	var stop, cancelled <-chan struct{} // only for pending steps: running steps end by themselves
	if wait, ok := sc.timeToNextDue(); ok {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due, stop, cancelled = timer.C, sc.opts.Stop, ctx.Done()
	}
	if sc.running == 0 && !sc.logging && due == nil {
		return // every ready step has been blocked
	}
	select {
	case handle := <-sc.ended:
		handle()
	case <-due:
		sc.resume()
	case <-stop:
	case <-cancelled:
	}
}

// mustEnd reports whether no further step may begin. An interrupt after the last step has ended does not count.
func (sc *scheduler) mustEnd(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		sc.result.Interrupted = sc.result.Interrupted || sc.done < sc.total
	case <-sc.opts.Stop:
		sc.result.Interrupted = sc.result.Interrupted || sc.done < sc.total
	default:
	}
	return sc.result.Interrupted || sc.result.Stopped != nil
}

// nextQueued returns the index of the first queued batch that may begin; -1 = none.
func (sc *scheduler) nextQueued() int { return slices.IndexFunc(sc.queue, sc.mayBegin) }

// begin takes a queued batch for a worker, without steps whose operation the service refuses.
func (sc *scheduler) begin(at int) batch {
	var steps batch
	queued := sc.queue[at]
	sc.queue = slices.Delete(sc.queue, at, at+1)
	for _, i := range queued {
		step, res := sc.plan.Steps[i], &sc.result.Steps[i]
		if cause := sc.refusedBy(step); cause != nil && res.Err == nil {
			sc.withdraw(i)
			sc.blockUntried(i, cause)
			continue
		}
		steps = append(steps, i)
		if res.Err == nil { // otherwise the step was pending, and Started was reported
			res.Missing = sc.missing(step)
			sc.emit(Event{Type: Started, Step: step})
		}
	}
	if len(steps) > 0 {
		sc.running++
	}
	return steps
}

// dequeue takes ready steps until enough queued ones may begin, and the batches of lanes that can begin.
func (sc *scheduler) dequeue() []batch {
	var batches []batch
	queued := 0
	for _, b := range sc.queue {
		if sc.mayBegin(b) {
			queued++
		}
	}
	if queued <= sc.prefetch/2 {
		for most := sc.prefetch - queued; len(sc.ready) > 0 && len(batches) < most; {
			i := sc.ready[0]
			sc.ready = sc.ready[1:]
			if cause := sc.refusedBy(sc.plan.Steps[i]); cause != nil {
				sc.blockUntried(i, cause)
				continue
			}
			batches = append(batches, batch{i})
			sc.countExpected(batch{i}, 1)
		}
	}
	return append(batches, sc.gatherBatches()...)
}

// logIntents writes the intents of batches, and of the membership steps whose members they create.
func (sc *scheduler) logIntents(ctx context.Context, batches []batch) error {
	var intents []*planner.Step
	for _, i := range slices.Concat(batches...) {
		s := sc.plan.Steps[i]
		if s.Operation != nil {
			intents = append(intents, s)
		}
		for _, p := range s.Places {
			if !sc.intentWritten[p] {
				sc.intentWritten[p], intents = true, append(intents, p)
			}
		}
	}
	if len(intents) == 0 {
		return nil
	}
	return sc.journal.Begin(ctx, intents)
}

// enqueueLogged queues batches whose intents are in the journal, and sets the target length of the queue. Half of the queue must last for a
// flush that takes three times as long as this one. It is not longer, because after a crash the next run checks each intent. If the service
// is faster than the disk, it lasts for a dozen flushes, so that outcomes do not always wait for flushes.
func (sc *scheduler) enqueueLogged(ctx context.Context, logged []batch, err error) {
	sc.logging = false
	flushes := 3
	if sc.doneDuringFlush >= sc.limit {
		flushes = 12
	}
	sc.prefetch = min(max(2*flushes*sc.doneDuringFlush, sc.limit), sc.limit*maxPrefetchPerWorker)
	if err == nil {
		for _, b := range logged {
			sc.enqueue(b)
		}
	} else if ctx.Err() == nil || errors.Is(err, ErrAbortRun) {
		sc.stop(err)
	}
}

// cancelQueued withdraws the intents of steps that no worker has begun, and gives up pending steps.
func (sc *scheduler) cancelQueued() {
	var pending []planner.StepID
	for _, i := range slices.Concat(sc.queue...) {
		if sc.result.Steps[i].Err != nil {
			pending = append(pending, i) // it was due
			continue
		}
		sc.withdraw(i)
	}
	for _, p := range sc.pending {
		pending = append(pending, p.steps...)
	}
	sc.queue, sc.pending = nil, nil
	slices.Sort(pending)
	for _, i := range pending {
		sc.giveUp(i)
	}
}

// withdraw withdraws the intent of a step that has not begun.
func (sc *scheduler) withdraw(i planner.StepID) {
	if step := sc.plan.Steps[i]; step.Operation != nil {
		sc.stop(sc.journal.Complete(step, Outcome{}, ErrNotSent))
	}
}

// do carries out the steps of a batch in a worker.
func (sc *scheduler) do(ctx context.Context, b batch) (c completion) {
	c = completion{steps: b, pending: make([]*Pending, len(b))}
	defer func() {
		if p := recover(); p != nil {
			for k, i := range b {
				res := &sc.result.Steps[i]
				res.Status, res.Err, c.pending[k] = Unknown, &PanicError{Value: p, Stack: debug.Stack()}, nil
			}
		}
	}()
	steps := make([]*planner.Step, len(b))
	for k, i := range b {
		steps[k] = sc.plan.Steps[i]
	}
	for k, a := range sc.service.Do(ctx, steps, sc.id) {
		res := &sc.result.Steps[b[k]]
		if p, ok := errors.AsType[*Pending](a.Err); ok {
			res.Err, c.pending[k] = p, p
			continue
		}
		err := sc.journal.Complete(res.Step, a.Outcome, a.Err)
		c.journal = cmp.Or(c.journal, err)
		a.Outcome.Values = nil
		res.Status, res.Outcome, res.Err = statusOf(ctx, a.Err), a.Outcome, a.Err
	}
	return c
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

// id implements [IDs] for the run.
func (sc *scheduler) id(a resource.Address) (string, bool) {
	sc.mu.RLock()
	id, ok := sc.ids[a]
	sc.mu.RUnlock()
	if !ok {
		id = sc.plan.Known[a].ID
	}
	return id, id != ""
}

// complete handles a completion. The dependents of ended steps become ready or are blocked; the other steps are set aside.
func (sc *scheduler) complete(ctx context.Context, c completion) {
	sc.running--
	sc.doneDuringFlush++
	sc.stop(c.journal)
	sc.countExpected(c.steps, -1)
	sc.setAside(c)
	for k, i := range c.steps { // all IDs must be known before a dependent begins
		if res := &sc.result.Steps[i]; c.pending[k] == nil && res.Status == Done && res.Outcome.ID != "" && res.Step.Object != nil {
			sc.mu.Lock()
			sc.ids[res.Step.Address] = res.Outcome.ID
			sc.mu.Unlock()
		}
	}
	for k, i := range c.steps { // count all results first: other rows may contradict a refusal
		if c.pending[k] == nil {
			sc.countRefusal(&sc.result.Steps[i])
		}
	}
	for k, i := range c.steps {
		if c.pending[k] == nil {
			sc.end(ctx, i)
		}
	}
}

// end handles a step that a worker has completed.
func (sc *scheduler) end(ctx context.Context, i planner.StepID) {
	res := &sc.result.Steps[i]
	if errors.Is(res.Err, ErrAbortRun) {
		sc.stop(res.Err)
	}
	if res.Status == NotStarted {
		if !sc.mustEnd(ctx) { // the service itself sends no more requests
			sc.stop(res.Err)
		}
		*res = StepResult{Step: res.Step}
		sc.emit(Event{Type: Ended, Step: res.Step, Result: *res})
		return // its dependents are not started
	}
	sc.finish(res)
	sc.release(i, res.Status == Done)
}

// release schedules the dependents of step i that wait for no other step. If i did not succeed, dependents that need it are blocked.
func (sc *scheduler) release(i planner.StepID, ok bool) {
	for _, k := range sc.dependents[i] {
		switch {
		case sc.result.Steps[k].Status == Blocked:
		case !ok && slices.Contains(sc.plan.Steps[k].Needs, i) && !sc.canGoOnWithout(sc.plan.Steps[k], i):
			sc.block(k, sc.rootCause(i))
		default:
			if sc.indegree[k]--; sc.indegree[k] == 0 {
				sc.schedule(k)
			}
		}
	}
}

// schedule makes a step ready that waits for no other step. Deletes are deferred to the end. A membership step without any existing member
// is blocked.
func (sc *scheduler) schedule(i planner.StepID) {
	step := sc.plan.Steps[i]
	missing := sc.missing(step)
	deletes := step.Action == planner.Delete
	switch cause := sc.refusedBy(step); {
	case cause != nil:
		sc.blockUntried(i, cause)
	case deletes && sc.pendingNonDeletes > 0 && !sc.needed[i]:
		sc.deferredDeletes = append(sc.deferredDeletes, i)
	case deletes && sc.deleteBlocker(step) != nil:
		sc.block(i, sc.deleteBlocker(step))
	case len(missing) > 0 && len(missing) == len(step.Members.Items):
		if j, ok := sc.at[missing[0]]; ok {
			cause = sc.rootCause(j)
		}
		sc.block(i, cause)
	default:
		sc.makeReady(i)
	}
}

// blockUntried blocks a step whose operation the service refuses.
func (sc *scheduler) blockUntried(i planner.StepID, cause *planner.Step) {
	sc.result.Steps[i].Untried = true
	sc.block(i, cause)
}

func (sc *scheduler) block(i planner.StepID, cause *planner.Step) {
	res := &sc.result.Steps[i]
	res.Status, res.BlockedBy = Blocked, cause
	if cause != nil && sc.unsupported[cause.Index] && cause.Operation == res.Step.Operation {
		sc.unsupported[i] = true
	}
	sc.finish(res)
	sc.release(i, false)
}

// rootCause returns the step that caused the failure of step i: i itself, or the step that blocked it.
func (sc *scheduler) rootCause(i planner.StepID) *planner.Step {
	if by := sc.result.Steps[i].BlockedBy; by != nil {
		return by
	}
	return sc.plan.Steps[i]
}

// missing returns the members of a step that do not exist because their own steps did not succeed.
func (sc *scheduler) missing(step *planner.Step) []resource.Address {
	if step.Members == nil {
		return nil
	}
	var missing []resource.Address
	for _, m := range step.Members.Items {
		if m.ID != "" {
			continue
		}
		if _, ok := sc.id(m.Address); !ok {
			missing = append(missing, m.Address)
		}
	}
	return missing
}

// finish counts and reports a step that has ended. After the last step that is not a delete, it schedules the deletes.
func (sc *scheduler) finish(res *StepResult) {
	sc.done++
	sc.hasEnded[res.Step.Index] = true
	sc.emit(Event{Type: Ended, Step: res.Step, Result: *res})
	if l := sc.laneOf(res.Step.Index); l != nil {
		sc.advance(l)
	}
	if res.Step.Action == planner.Delete {
		return
	}
	if res.Status != Done {
		sc.markIncomplete(res)
	}
	if sc.pendingNonDeletes--; sc.pendingNonDeletes == 0 {
		deletes := sc.deferredDeletes
		sc.deferredDeletes = nil
		for _, i := range deletes {
			sc.schedule(i)
		}
	}
}

// stop ends the run if err is not nil. The first error is the cause.
func (sc *scheduler) stop(err error) {
	switch {
	case err == nil || sc.result.Stopped != nil:
	case errors.Is(err, ErrAbortRun):
		sc.result.Stopped = err
	default:
		sc.result.Stopped = fmt.Errorf("%w: %w", ErrAbortRun, err)
	}
}

func (sc *scheduler) emit(e Event) {
	if sc.opts.Events == nil {
		return
	}
	e.Done, e.Total = sc.done, sc.total
	sc.opts.Events(e)
}

// insert adds a step to a list in the order of the plan.
func insert(steps []planner.StepID, i planner.StepID) []planner.StepID {
	at, _ := slices.BinarySearch(steps, i)
	return slices.Insert(steps, at, i)
}
