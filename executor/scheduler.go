package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
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

// Run carries out the plan's steps and returns when none is running any more.
// Cancelling ctx also cancels the running requests, whose outcome is then unknown.
func Run(ctx context.Context, plan *planner.Plan, service Service, journal Journal, opts Options) Result {
	limit := max(1, opts.Parallelism)
	r := &scheduler{
		plan: plan, service: service, journal: journal, opts: opts, limit: limit,
		result:   Result{Steps: make([]StepResult, len(plan.Steps))},
		indegree: make([]int, len(plan.Steps)), dependents: make([][]planner.StepID, len(plan.Steps)),
		at:    make(map[resource.Address]planner.StepID, len(plan.Steps)),
		ended: make(chan completion, limit), announced: make([]bool, len(plan.Steps)), over: make([]bool, len(plan.Steps)),
		ids: make(map[resource.Address]string), sequences: make(map[int]*sequence), groups: make(map[int]*group),
		refusals: make(map[operationIn]*refusals), unsupported: make(map[planner.StepID]bool),
		incomplete: make(map[string]*planner.Step), needed: make(map[planner.StepID]bool), placed: make(map[*planner.Step]bool),
	}
	r.prepare()
	r.loop(ctx)
	return r.result
}

// scheduler is the state of one run. It belongs to the goroutine of Run, except for ids
// (mu), placed (placing), and the result of a running step, which belongs to its worker.
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
	announced  []bool  // by step: its intent is in the journal
	over       []bool  // by step: it has ended
	ready      []batch // steps that wait for a worker and nothing else, in the order of the plan
	gathered   int     // batches of groups among them

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
	incomplete        map[string]*planner.Step // by kind: the root cause that left an object of it, or inside it, incomplete

	running int
	done    int
	total   int

	ended   chan completion
	stopped atomic.Bool // result.Stopped is set

	mu  sync.RWMutex
	ids map[resource.Address]string // of objects created in this run

	placing sync.Mutex
	placed  map[*planner.Step]bool // membership steps whose intents came with those of creates
}

// batch is the steps that a worker carries out together: one, or several that share requests.
type batch []planner.StepID

// completion is a worker's report on its steps.
type completion struct {
	steps     batch
	announced []planner.StepID // steps whose intents are in the journal now
	journal   error            // an outcome could not be recorded
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
		for !ending && sc.running < sc.limit {
			b := sc.next()
			if len(b) == 0 {
				break
			}
			intents := sc.begin(b)
			workers.Go(func() error { // blocks at most until a worker that has sent its completion returns
				sc.ended <- sc.do(ctx, b, intents)
				return nil
			})
		}
		if sc.running == 0 && (ending || len(sc.pending) == 0) {
			break // nothing can become ready any more
		}
		sc.handleNext(ctx, ending)
	}
	sc.endRest()
	_ = workers.Wait() // errors come with the completions
}

// handleNext waits for a completion or the time of a pending step, and handles it. If the run is
// ending, only running steps count.
func (sc *scheduler) handleNext(ctx context.Context, ending bool) {
	var due <-chan time.Time
	var stop, cancelled <-chan struct{} // needed for pending steps only: running ones end by themselves
	if wait, ok := sc.nextDue(); ok && !ending {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due, stop, cancelled = timer.C, sc.opts.Stop, ctx.Done()
	}
	select {
	case e := <-sc.ended:
		sc.complete(ctx, e)
	case <-due:
		sc.resume()
	case <-stop:
	case <-cancelled:
	}
}

// mustEnd reports whether no step may begin any more. An interrupt after the last step has
// ended does not count.
func (sc *scheduler) mustEnd(ctx context.Context) bool {
	if sc.interrupted(ctx) {
		sc.result.Interrupted = sc.result.Interrupted || sc.done < sc.total
	}
	return sc.result.Interrupted || sc.result.Stopped != nil
}

// next takes the first ready batch for a worker, without the steps whose operation the
// service refuses; nil = none is ready.
func (sc *scheduler) next() batch {
	for {
		sc.gatherAll()
		if len(sc.ready) == 0 {
			return nil
		}
		var steps batch
		queued := sc.ready[0]
		sc.ready = sc.ready[1:]
		if sc.groupOf(queued[0]) != nil {
			sc.gathered--
		}
		for _, i := range queued {
			cause := sc.refused(sc.plan.Steps[i])
			if cause == nil || sc.result.Steps[i].Err != nil { // it was pending: its outcome is to be found out
				steps = append(steps, i)
				continue
			}
			sc.countExpected(batch{i}, -1)
			sc.withdraw(i)
			sc.leaveUntried(i, cause)
		}
		if len(steps) > 0 {
			return steps
		}
	}
}

// enqueue lets steps begin when a worker is free, in the order of the plan.
func (sc *scheduler) enqueue(b batch) {
	sc.countExpected(b, 1)
	if sc.groupOf(b[0]) != nil {
		sc.gathered++
	}
	at, _ := slices.BinarySearchFunc(sc.ready, b[0], func(ready batch, i planner.StepID) int { return cmp.Compare(ready[0], i) })
	sc.ready = slices.Insert(sc.ready, at, b)
}

// begin reports that the steps of a batch begin. It returns the steps whose intents are to be written first.
func (sc *scheduler) begin(b batch) (intents []planner.StepID) {
	sc.running++
	for _, i := range b {
		if res := &sc.result.Steps[i]; res.Err == nil { // else it was pending and has been reported
			res.Missing = sc.missing(res.Step)
			sc.emit(Event{Type: Started, Step: res.Step})
		}
	}
	if sc.announced[b[0]] {
		return nil
	}
	return slices.Concat(b, sc.nextTurns(b[0]))
}

// announce writes the intents of steps, and of the membership steps whose members they create.
func (sc *scheduler) announce(ctx context.Context, steps []planner.StepID) error {
	var intents, places []*planner.Step
	for _, i := range steps {
		s := sc.plan.Steps[i]
		if s.Operation != nil {
			intents = append(intents, s)
		}
		if s.Write != nil {
			places = append(places, s.Write.Places...)
		}
	}
	if len(places) > 0 { // another worker may be writing the same
		sc.placing.Lock()
		defer sc.placing.Unlock()
	}
	for _, p := range places {
		if !sc.placed[p] {
			sc.placed[p], intents = true, append(intents, p)
		}
	}
	if len(intents) == 0 {
		return nil
	}
	err := sc.journal.Begin(ctx, intents)
	if err == nil && (sc.stopped.Load() || sc.interrupted(ctx)) {
		err = ErrNotSent
		for _, s := range intents {
			err = errors.Join(err, sc.journal.Complete(s, Outcome{}, ErrNotSent))
		}
	}
	return err
}

// interrupted reports whether the caller ends the run.
func (sc *scheduler) interrupted(ctx context.Context) bool {
	select {
	case <-ctx.Done():
	case <-sc.opts.Stop:
	default:
		return false
	}
	return true
}

// endRest ends the steps that no worker carries out any more: it gives up the pending ones and
// withdraws the intents of those that have not begun.
func (sc *scheduler) endRest() {
	for _, s := range sc.plan.Steps {
		switch i := s.Index; {
		case sc.over[i]:
		case sc.result.Steps[i].Err != nil:
			sc.giveUp(i)
		default:
			sc.withdraw(i)
		}
	}
}

// withdraw withdraws the intent of a step that has not begun, if it is in the journal.
func (sc *scheduler) withdraw(i planner.StepID) {
	if step := sc.plan.Steps[i]; sc.announced[i] && step.Operation != nil {
		sc.announced[i] = false
		sc.stop(sc.journal.Complete(step, Outcome{}, ErrNotSent))
	}
}

// do writes intents and then carries out the steps of a batch, in a worker.
func (sc *scheduler) do(ctx context.Context, b batch, intents []planner.StepID) (c completion) {
	c = completion{steps: b}
	defer func() {
		if p := recover(); p != nil {
			for _, i := range b {
				res := &sc.result.Steps[i]
				res.Status, res.Err = Unknown, &PanicError{Value: p, Stack: debug.Stack()}
			}
		}
	}()
	if err := sc.announce(ctx, intents); err != nil {
		for _, i := range b {
			sc.result.Steps[i].Err = err
		}
		return c
	}
	c.announced = intents
	steps := make([]*planner.Step, len(b))
	for k, i := range b {
		steps[k] = sc.plan.Steps[i]
	}
	for k, a := range sc.service.Do(ctx, steps, sc.id) {
		res := &sc.result.Steps[b[k]]
		if res.Err = a.Err; sc.pendingAt(b[k]) != nil {
			continue
		}
		err := sc.journal.Complete(res.Step, a.Outcome, a.Err)
		c.journal = cmp.Or(c.journal, err)
		a.Outcome.Values = nil
		res.Status, res.Outcome = statusOf(ctx, a.Err), a.Outcome
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
	sc.stop(c.journal)
	for _, i := range c.announced {
		sc.announced[i] = true
	}
	sc.countExpected(c.steps, -1)
	sc.park(c.steps)
	var ended batch
	for _, i := range c.steps { // a dependent begins after all of these: the rows of a request may contradict one another
		res := &sc.result.Steps[i]
		if sc.pendingAt(i) != nil {
			continue
		}
		ended = append(ended, i)
		if res.Status == Done && res.Outcome.ID != "" && res.Step.Object != nil {
			sc.mu.Lock()
			sc.ids[res.Step.Address] = res.Outcome.ID
			sc.mu.Unlock()
		}
		sc.countRefusal(res)
	}
	for _, i := range ended {
		sc.end(ctx, i)
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
		*res, sc.announced[i] = StepResult{Step: res.Step}, false
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
	if err == nil || sc.result.Stopped != nil {
		return
	}
	if !errors.Is(err, ErrAbortRun) {
		err = fmt.Errorf("%w: %w", ErrAbortRun, err)
	}
	sc.result.Stopped = err
	sc.stopped.Store(true)
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
