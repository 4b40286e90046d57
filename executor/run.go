package executor

import (
	"container/heap"
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

// mostAhead is how many steps for each worker wait, at most, in the journal for
// a worker: a crash leaves that many intents more to look into.
const mostAhead = 64

// Run carries out the plan's steps and returns when none is under way any more.
// Cancelling ctx also cancels the requests under way, whose fate is then unknown.
func Run(ctx context.Context, plan *planner.Plan, service Service, journal Journal, opts Options) Result {
	limit := max(1, opts.Parallelism)
	r := &run{
		plan: plan, service: service, journal: journal, opts: opts, limit: limit, ahead: limit,
		result: Result{Steps: make([]StepResult, len(plan.Steps))},
		waits:  make([]int32, len(plan.Steps)), next: make([][]int32, len(plan.Steps)),
		at:    make(map[resource.Address]int, len(plan.Steps)),
		ended: make(chan ending, limit), announced: make(chan announcement),
		ids: make(map[resource.Address]string), sequences: make(map[int]*sequence), aside: make(map[int]time.Time),
		refusals: make(map[operationIn]*refusals), unsupported: make(map[int]bool),
		incomplete: make(map[string]*planner.Step),
	}
	r.prepare()
	r.loop(ctx)
	return r.result
}

// run is the state of one run. It belongs to the goroutine of Run, but for ids,
// and for the result of a step under way, which belongs to its worker.
type run struct {
	plan    *planner.Plan
	service Service
	journal Journal
	opts    Options
	limit   int
	result  Result

	waits []int32   // by step: how many it still waits for
	next  [][]int32 // by step: those that wait for it
	at    map[resource.Address]int
	ready steps // wait for nothing
	queue steps // are in the journal too, and wait for a worker

	sequences map[int]*sequence // by their number
	aside     map[int]time.Time // pending steps, and when each is taken up again
	refusals  map[operationIn]*refusals
	// unsupported are the steps whose kind the service turned out not to have.
	unsupported map[int]bool

	pendingNonDeletes int                      // steps that delete nothing and have not ended
	deferredDeletes   []int                    // steps that delete something, and wait for nothing but those
	failedCreate      *planner.Step            // why something that was to be created is not there
	incomplete        map[string]*planner.Step // by kind: why one of it, or something in it, is not as it was to be

	running    int
	announcing bool
	meanwhile  int // steps that ended during the present announcement
	ahead      int // length that the queue is brought to
	done       int
	total      int

	ended     chan ending
	announced chan announcement

	mu  sync.RWMutex
	ids map[resource.Address]string // of what this run made
}

// ending is what a worker tells of its step.
type ending struct {
	step    int
	pending *Pending // it has not ended
	journal error    // the outcome could not be written down
}

// announcement is what became of the intents of a batch of steps.
type announcement struct {
	steps []int
	err   error
}

// prepare links the steps and finds those that wait for nothing.
func (r *run) prepare() {
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
			r.line(i)
		}
		if r.waits[i] == 0 {
			first = append(first, i)
		}
	}
	for _, i := range first {
		if r.plan.Steps[i].Action == planner.NotPossible {
			r.release(i, false)
		} else {
			r.free(i)
		}
	}
}

// wait makes step i wait for others. One that is named twice counts twice, here and when it ends.
func (r *run) wait(i int, others ...int) {
	for _, j := range others {
		r.waits[i]++
		r.next[j] = append(r.next[j], int32(i)) //nolint:gosec // a plan has fewer than 2^31 steps
	}
}

// loop starts steps and takes what they end with until nothing is left or the run is over.
func (r *run) loop(ctx context.Context) {
	var workers errgroup.Group
	workers.SetLimit(r.limit)
	for {
		over := r.over(ctx)
		if over {
			r.withdraw()
		}
		for len(r.queue) > 0 && r.running < r.limit {
			i, ok := r.begin()
			if !ok {
				continue
			}
			workers.Go(func() error { // waits, if at all, for one that has told its ending to return
				r.ended <- r.do(ctx, i)
				return nil
			})
		}
		if !over && !r.announcing && len(r.ready) > 0 && len(r.queue) <= r.ahead/2 {
			if batch := r.batch(); len(batch) > 0 {
				r.announcing, r.meanwhile = true, 0
				go func() { r.announced <- announcement{batch, r.announce(ctx, batch)} }()
			}
		}
		if r.running == 0 && !r.announcing && len(r.aside) == 0 && (over || len(r.ready) == 0) {
			break // nothing can become ready any more
		}
		r.await(ctx)
	}
	r.withdraw()       // what waits for a turn that does not come
	_ = workers.Wait() // they tell their errors with their endings
}

// await takes what happens next.
func (r *run) await(ctx context.Context) {
	var due <-chan time.Time
	var stop, cancelled <-chan struct{} // only where a step is set aside: what is under way ends by itself
	if wait, ok := r.nextDue(); ok {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due, stop, cancelled = timer.C, r.opts.Stop, ctx.Done()
	}
	if r.running == 0 && !r.announcing && due == nil {
		return // what was ready is blocked by now
	}
	select {
	case e := <-r.ended:
		r.end(ctx, e)
	case a := <-r.announced:
		r.accept(ctx, a)
	case <-due:
		r.resume()
	case <-stop:
	case <-cancelled:
	}
}

// over reports whether no step may begin any more. An interrupt after the last is none.
func (r *run) over(ctx context.Context) bool {
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
func (r *run) begin() (int, bool) {
	i := r.queue.take()
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
		r.tell(Event{Type: Started, Step: step})
	}
	return i, true
}

// batch takes the first of the ready steps, as many as the queue lacks.
func (r *run) batch() []int {
	lacks := r.ahead - len(r.queue)
	batch := make([]int, 0, min(len(r.ready), lacks))
	for len(r.ready) > 0 && len(batch) < lacks {
		i := r.ready.take()
		if root := r.refused(r.plan.Steps[i]); root != nil {
			r.block(i, root)
			continue
		}
		batch = append(batch, i)
	}
	return batch
}

// announce writes the intents of a batch.
func (r *run) announce(ctx context.Context, batch []int) error {
	var intents []*planner.Step
	for _, i := range batch {
		if s := r.plan.Steps[i]; s.Operation != nil {
			intents = append(intents, s)
		}
	}
	if len(intents) == 0 {
		return nil
	}
	return r.journal.Intend(ctx, intents)
}

// accept queues the steps that are in the journal now. How far the next ones are
// announced ahead follows from what this flush showed: half the queue, where the
// next announcement begins, lasts for a flush that takes three times as long. No
// more than that, since each is an intent to look into after a crash; but where
// the service is faster than the disk it lasts for a dozen, so that writing
// outcomes does not wait for flushes all the time.
func (r *run) accept(ctx context.Context, a announcement) {
	r.announcing = false
	flushes := 3
	if r.meanwhile >= r.limit {
		flushes = 12
	}
	r.ahead = min(max(2*flushes*r.meanwhile, r.limit), r.limit*mostAhead)
	if a.err == nil {
		for _, i := range a.steps {
			r.enqueue(i)
		}
	} else if ctx.Err() == nil || errors.Is(a.err, ErrStop) {
		r.stop(a.err)
	}
}

// withdraw takes back the announced steps that no worker has begun, and gives up the pending ones.
func (r *run) withdraw() {
	for _, i := range slices.Concat(r.queue, r.announcedAhead()) {
		if r.result.Steps[i].Err != nil {
			r.aside[i] = time.Time{} // it was about to be taken up again
			continue
		}
		r.takeBack(r.plan.Steps[i])
	}
	r.queue = nil
	for _, i := range slices.Sorted(maps.Keys(r.aside)) {
		r.giveUp(i)
	}
}

// takeBack notes that a step whose intent is in the journal is not begun.
func (r *run) takeBack(step *planner.Step) {
	if step.Operation != nil {
		r.stop(r.journal.Settle(step, Outcome{}, ErrNotSent))
	}
}

// do carries out one step in a worker.
func (r *run) do(ctx context.Context, i int) (e ending) {
	res := &r.result.Steps[i]
	defer func() {
		if p := recover(); p != nil {
			res.Status, res.Err = Unknown, &PanicError{Value: p, Stack: debug.Stack()}
			e = ending{step: i}
		}
	}()
	out, err := r.service.Do(ctx, res.Step, r.id)
	if p, ok := errors.AsType[*Pending](err); ok {
		res.Err = p
		return ending{step: i, pending: p}
	}
	journal := r.journal.Settle(res.Step, out, err)
	out.Values = nil
	res.Status, res.Outcome, res.Err = statusOf(ctx, err), out, err
	return ending{step: i, journal: journal}
}

func statusOf(ctx context.Context, err error) Status {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, ErrUnknown):
		return Unknown
	case errors.Is(err, ErrNotSent), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return NotStarted
	default:
		return Failed
	}
}

// id is the [IDs] of the run.
func (r *run) id(a resource.Address) (string, bool) {
	r.mu.RLock()
	id, ok := r.ids[a]
	r.mu.RUnlock()
	if !ok {
		id = r.plan.Known[a].ID
	}
	return id, id != ""
}

// end takes in how a step ended: what waited for it becomes ready, or is blocked with it.
func (r *run) end(ctx context.Context, e ending) {
	r.running--
	r.meanwhile++
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
	if errors.Is(res.Err, ErrStop) {
		r.stop(res.Err)
	}
	r.stop(e.journal)
	if res.Status == NotStarted {
		if !r.over(ctx) { // the service itself wants to send nothing more
			r.stop(res.Err)
		}
		*res = StepResult{Step: res.Step}
		r.tell(Event{Type: Ended, Step: res.Step, Result: *res})
		return // what waits for it is not started either
	}
	r.note(res)
	r.record(res)
	r.release(e.step, res.Status == Done)
}

// release tells what waits for step i that it waits for one less, or that it is blocked.
func (r *run) release(i int, ok bool) {
	for _, k32 := range r.next[i] {
		k := int(k32)
		switch {
		case r.result.Steps[k].Status == Blocked:
		case !ok && slices.Contains(r.plan.Steps[k].Needs, i) && !r.doesWithout(r.plan.Steps[k], i):
			r.block(k, r.root(i))
		default:
			if r.waits[k]--; r.waits[k] == 0 {
				r.free(k)
			}
		}
	}
}

// free takes a step that waits for nothing any more. It is ready, unless it
// deletes something, which goes last, or brings members in of which not one is there.
func (r *run) free(i int) {
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
			root = r.root(j)
		}
		r.block(i, root)
	default:
		r.offer(i)
	}
}

func (r *run) block(i int, root *planner.Step) {
	res := &r.result.Steps[i]
	res.Status, res.BlockedBy = Blocked, root
	if root != nil && r.unsupported[root.Index] && root.Operation == res.Step.Operation {
		r.unsupported[i] = true
	}
	r.record(res)
	r.release(i, false)
}

// root is what is to blame for what waits for step i, which did not succeed.
func (r *run) root(i int) *planner.Step {
	if by := r.result.Steps[i].BlockedBy; by != nil {
		return by
	}
	return r.plan.Steps[i]
}

// missing lists the members of a batch that are not there, since their own step did not succeed.
func (r *run) missing(step *planner.Step) []resource.Address {
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

func (r *run) record(res *StepResult) {
	r.done++
	r.tell(Event{Type: Ended, Step: res.Step, Result: *res})
	r.pass(res.Step)
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
			r.free(i)
		}
	}
}

// stop ends the run because of an error, if it is one. The first is the cause.
func (r *run) stop(err error) {
	switch {
	case err == nil || r.result.Stopped != nil:
	case errors.Is(err, ErrStop):
		r.result.Stopped = err
	default:
		r.result.Stopped = fmt.Errorf("%w: %w", ErrStop, err)
	}
}

func (r *run) tell(e Event) {
	if r.opts.Events == nil {
		return
	}
	e.Done, e.Total = r.done, r.total
	r.opts.Events(e)
}

// steps is a heap of step indexes, first in the plan first.
type steps []int

func (h *steps) take() int {
	i, _ := heap.Pop(h).(int)
	return i
}

func (h steps) Len() int           { return len(h) }
func (h steps) Less(i, j int) bool { return h[i] < h[j] }
func (h steps) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *steps) Push(x any)        { *h = append(*h, x.(int)) } //nolint:forcetypeassert // only ints are pushed
func (h *steps) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
