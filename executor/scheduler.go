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
		indegree: make([]int, len(plan.Steps)), dependents: make([][]planner.StepID, len(plan.Steps)),
		at:    make(map[resource.Address]planner.StepID, len(plan.Steps)),
		ended: make(chan completion, limit), logged: make(chan flush), over: make([]bool, len(plan.Steps)),
		ids: make(map[resource.Address]string), sequences: make(map[int]*sequence), groups: make(map[int]*group),
		refusals: make(map[operationIn]*refusals), unsupported: make(map[planner.StepID]bool),
		incomplete: make(map[string]*planner.Step), needed: make(map[planner.StepID]bool), intentWritten: make(map[*planner.Step]bool),
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

	indegree   []int              // by step: the number of steps it still waits for
	dependents [][]planner.StepID // by step: the steps that wait for it
	at         map[resource.Address]planner.StepID
	over       []bool           // by step: it has ended
	ready      []planner.StepID // steps that wait for no other and share no request, in the order of the plan
	queue      []batch          // logged steps that wait for a worker, in the order of the plan

	sequences map[int]*sequence // by their number
	groups    map[int]*group    // by the number of their batch
	ordered   []*group          // the groups, in the order of the plan
	pending   []pendingBatch
	refusals  map[operationIn]*refusals
	// unsupported are the steps whose kind the service turned out not to support.
	unsupported map[planner.StepID]bool

	pendingNonDeletes int                      // steps other than deletes that have not ended
	deferredDeletes   []planner.StepID         // deletes that wait for nothing but those
	needed            map[planner.StepID]bool  // deletes that others need, since they free what those send
	failedCreate      *planner.Step            // the root cause of the first create that did not succeed
	intentWritten     map[*planner.Step]bool   // membership steps whose intents came with those of creates; of the flush
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
type batch []planner.StepID

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
				sc.noteNeeded(s)
			}
			sc.wait(i, s.Needs...)
			sc.wait(i, s.After...)
			sc.wait(i, earlier[s.Address]...) // one at a time for each address
			sc.joinSequence(i)
			sc.joinGroup(i)
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

// wait makes step i wait for others. A step given twice counts twice, here and in release.
func (sc *scheduler) wait(i planner.StepID, others ...planner.StepID) {
	for _, j := range others {
		sc.indegree[i]++
		sc.dependents[j] = append(sc.dependents[j], i)
	}
}

// loop starts steps and handles their completions until none is left or the run must end.
func (sc *scheduler) loop(ctx context.Context) {
	var workers errgroup.Group
	workers.SetLimit(sc.limit)
	for {
		ending := sc.mustEnd(ctx)
		if ending {
			sc.cancelQueued()
		}
		for len(sc.queue) > 0 && sc.running < sc.limit {
			b := sc.begin()
			if len(b) == 0 {
				continue
			}
			workers.Go(func() error { // blocks at most until a worker that has sent its completion returns
				sc.ended <- sc.do(ctx, b)
				return nil
			})
		}
		if !ending && !sc.logging {
			if batches := sc.dequeue(); len(batches) > 0 {
				sc.logging, sc.doneDuringFlush = true, 0
				go func() { sc.logged <- flush{batches, sc.logIntents(ctx, batches)} }()
			}
		}
		if sc.running == 0 && !sc.logging && len(sc.queue) == 0 && len(sc.pending) == 0 && (ending || len(sc.ready) == 0) {
			break // nothing can become ready any more
		}
		sc.handleNext(ctx)
	}
	sc.cancelQueued()  // steps whose turn in a sequence never comes
	_ = workers.Wait() // errors come with the completions
}

// handleNext waits for a completion, a logged batch or the time of a pending step, and handles it.
func (sc *scheduler) handleNext(ctx context.Context) {
	var due <-chan time.Time
	var stop, cancelled <-chan struct{} // needed for pending steps only: running ones end by themselves
	if wait, ok := sc.nextDue(); ok {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due, stop, cancelled = timer.C, sc.opts.Stop, ctx.Done()
	}
	if sc.running == 0 && !sc.logging && due == nil {
		return // every ready step has been blocked
	}
	select {
	case e := <-sc.ended:
		sc.complete(ctx, e)
	case a := <-sc.logged:
		sc.enqueueLogged(ctx, a)
	case <-due:
		sc.resume()
	case <-stop:
	case <-cancelled:
	}
}

// mustEnd reports whether no step may begin any more. An interrupt after the last step has
// ended does not count.
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

// begin takes the first queued batch for a worker, without the steps whose operation the
// service refuses.
func (sc *scheduler) begin() batch {
	var steps batch
	queued := sc.queue[0]
	sc.queue = sc.queue[1:]
	for _, i := range queued {
		step, res := sc.plan.Steps[i], &sc.result.Steps[i]
		if cause := sc.refused(step); cause != nil && res.Err == nil {
			sc.withdraw(i)
			sc.leaveUntried(i, cause)
			continue
		}
		steps = append(steps, i)
		if res.Err == nil { // else it was pending and has been reported
			res.Missing = sc.missing(step)
			sc.emit(Event{Type: Started, Step: step})
		}
	}
	if len(steps) > 0 {
		sc.running++
	}
	return steps
}

// dequeue takes the first ready steps, as many as bring the queue to its target length, and
// the batches of the groups that can begin.
func (sc *scheduler) dequeue() []batch {
	var batches []batch
	if len(sc.queue) <= sc.prefetch/2 {
		for most := sc.prefetch - len(sc.queue); len(sc.ready) > 0 && len(batches) < most; {
			i := sc.ready[0]
			sc.ready = sc.ready[1:]
			if cause := sc.refused(sc.plan.Steps[i]); cause != nil {
				sc.leaveUntried(i, cause)
				continue
			}
			batches = append(batches, batch{i})
			sc.countExpected(batch{i}, 1)
		}
	}
	return append(batches, sc.gatherAll()...)
}

// logIntents writes the intents of batches, and of the membership steps whose members they create.
func (sc *scheduler) logIntents(ctx context.Context, batches []batch) error {
	var intents []*planner.Step
	for _, b := range batches {
		for _, i := range b {
			s := sc.plan.Steps[i]
			if s.Operation != nil {
				intents = append(intents, s)
			}
			if s.Write == nil {
				continue
			}
			for _, p := range s.Write.Places {
				if !sc.intentWritten[p] {
					sc.intentWritten[p], intents = true, append(intents, p)
				}
			}
		}
	}
	if len(intents) == 0 {
		return nil
	}
	return sc.journal.Begin(ctx, intents)
}

// enqueueLogged queues logged batches and sets the target length of the queue: half of it
// must last for a flush that takes three times as long as this one. It is no longer,
// since after a crash the next run checks each intent. Where the service is faster than
// the disk it lasts for a dozen flushes, so that outcomes do not wait for flushes all the time.
func (sc *scheduler) enqueueLogged(ctx context.Context, f flush) {
	sc.logging = false
	flushes := 3
	if sc.doneDuringFlush >= sc.limit {
		flushes = 12
	}
	sc.prefetch = min(max(2*flushes*sc.doneDuringFlush, sc.limit), sc.limit*maxPrefetchPerWorker)
	if f.err == nil {
		for _, b := range f.batches {
			sc.enqueue(b)
		}
	} else if ctx.Err() == nil || errors.Is(f.err, ErrAbortRun) {
		sc.stop(f.err)
	}
}

// cancelQueued withdraws the intents of steps that no worker has begun, and gives up the pending steps.
func (sc *scheduler) cancelQueued() {
	var pending []planner.StepID
	for _, i := range slices.Concat(append(sc.queue, sc.loggedAhead())...) {
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
	for k, a := range sc.attempt(ctx, b) {
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

// attempt has the service carry out the steps of a batch.
func (sc *scheduler) attempt(ctx context.Context, b batch) []Attempt {
	steps := make([]*planner.Step, len(b))
	for k, i := range b {
		steps[k] = sc.plan.Steps[i]
	}
	return sc.service.Do(ctx, steps, sc.id)
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
func (sc *scheduler) id(a resource.Address) (string, bool) {
	sc.mu.RLock()
	id, ok := sc.ids[a]
	sc.mu.RUnlock()
	if !ok {
		id = sc.plan.Known[a].ID
	}
	return id, id != ""
}

// complete handles a completion: the dependents of steps that ended become ready or are
// blocked; the others are set aside.
func (sc *scheduler) complete(ctx context.Context, c completion) {
	sc.running--
	sc.doneDuringFlush++
	sc.stop(c.journal)
	sc.countExpected(c.steps, -1)
	sc.park(c)
	for k, i := range c.steps { // every ID is there before a dependent begins
		if res := &sc.result.Steps[i]; c.pending[k] == nil && res.Status == Done && res.Outcome.ID != "" && res.Step.Object != nil {
			sc.mu.Lock()
			sc.ids[res.Step.Address] = res.Outcome.ID
			sc.mu.Unlock()
		}
	}
	for k, i := range c.steps { // what some rows of a request say of the operation others may contradict
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

// end handles the end of a step that a worker has carried out.
func (sc *scheduler) end(ctx context.Context, i planner.StepID) {
	res := &sc.result.Steps[i]
	if errors.Is(res.Err, ErrAbortRun) {
		sc.stop(res.Err)
	}
	if res.Status == NotStarted {
		if !sc.mustEnd(ctx) { // the service itself sends nothing more
			sc.stop(res.Err)
		}
		*res = StepResult{Step: res.Step}
		sc.emit(Event{Type: Ended, Step: res.Step, Result: *res})
		return // its dependents are not started either
	}
	sc.finish(res)
	sc.release(i, res.Status == Done)
}

// release schedules the dependents of step i that wait for no other step now. Where i did
// not succeed, those that need it are blocked.
func (sc *scheduler) release(i planner.StepID, ok bool) {
	for _, k := range sc.dependents[i] {
		switch {
		case sc.result.Steps[k].Status == Blocked:
		case !ok && slices.Contains(sc.plan.Steps[k].Needs, i) && !sc.doesWithout(sc.plan.Steps[k], i):
			sc.block(k, sc.rootCause(i))
		default:
			if sc.indegree[k]--; sc.indegree[k] == 0 {
				sc.schedule(k)
			}
		}
	}
}

// schedule makes a step ready that waits for no other. Deletes are deferred to the end; a
// membership step without a single existing member is blocked.
func (sc *scheduler) schedule(i planner.StepID) {
	step := sc.plan.Steps[i]
	missing := sc.missing(step)
	deletes := step.Action == planner.Delete
	switch cause := sc.refused(step); {
	case cause != nil:
		sc.leaveUntried(i, cause)
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

// leaveUntried blocks a step whose operation the service refuses.
func (sc *scheduler) leaveUntried(i planner.StepID, cause *planner.Step) {
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

// rootCause is the step to blame where step i did not succeed: i itself, or what blocked it.
func (sc *scheduler) rootCause(i planner.StepID) *planner.Step {
	if by := sc.result.Steps[i].BlockedBy; by != nil {
		return by
	}
	return sc.plan.Steps[i]
}

// missing lists the members of a batch that do not exist because their own step did not succeed.
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

// finish counts and reports a step that has ended. After the last other step it schedules the deletes.
func (sc *scheduler) finish(res *StepResult) {
	sc.done++
	sc.over[res.Step.Index] = true
	sc.emit(Event{Type: Ended, Step: res.Step, Result: *res})
	sc.yieldTurn(res.Step)
	if res.Step.Action == planner.Delete {
		return
	}
	if res.Status != Done {
		sc.noteIncomplete(res)
	}
	if sc.pendingNonDeletes--; sc.pendingNonDeletes == 0 {
		deletes := sc.deferredDeletes
		sc.deferredDeletes = nil
		for _, i := range deletes {
			sc.schedule(i)
		}
	}
}

// stop ends the run because of an error, if it is one. The first is the cause.
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

// insert adds a step to others, in the order of the plan.
func insert(steps []planner.StepID, i planner.StepID) []planner.StepID {
	at, _ := slices.BinarySearch(steps, i)
	return slices.Insert(steps, at, i)
}
