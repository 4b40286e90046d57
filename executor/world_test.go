package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// TestMain gives the garbage collector less to do: it took a fourth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	goleak.VerifyTestMain(m)
}

// step is a step of a scripted plan, with the behaviour of the service.
type step struct {
	action       planner.Action
	address      resource.Address // "" = its own address
	needs, after []int
	members      []int // for a membership: steps that create the members
	local        bool  // sends nothing
	sequence     int
	batch        int
	pending      []time.Duration // how often it is pending before it ends, and for how long

	takes   time.Duration
	err     error // the service's answer
	panics  any
	deaf    bool  // the request ignores the cancelled context, and its answer is lost
	journal error // error of recording the outcome
}

// rowsOfABatch is the limit of the scripted plans.
const rowsOfABatch = 4

func addressOf(i int) resource.Address { return resource.Address(fmt.Sprintf("work_item/web/%d", i)) }

func planOf(steps ...step) *planner.Plan {
	plan := &planner.Plan{Known: map[resource.Address]planner.Record{}}
	for i, s := range steps {
		p := &planner.Step{
			Index: planner.StepID(i), Address: s.address, Action: s.action, Write: &planner.Write{},
			Object: &resource.Object{}, Operation: &resource.Operation{},
			Turn: planner.Turn{Needs: stepIDs(s.needs), After: stepIDs(s.after), Sequence: s.sequence},
		}
		if s.batch != 0 {
			p.Batch, p.Bulk = s.batch, &resource.Operation{Rows: rowsOfABatch}
		}
		if p.Address == "" {
			p.Address = addressOf(i)
		}
		if s.local {
			p.Operation = nil
		}
		if s.members != nil {
			p.Action, p.Object, p.Members = planner.AddMembers, nil, &planner.Members{Container: planner.Container{Address: "cycle/web/one"}}
			p.Kind = resource.MustLookup("cycle_work_item")
			for _, j := range s.members {
				p.Members.Items = append(p.Members.Items, planner.Member{Address: addressOf(j)})
			}
		}
		plan.Steps = append(plan.Steps, p)
	}
	return plan
}

// world is a scripted service and its journal. It records what happens
// and when, and reports what must never happen.
type world struct {
	script []step
	plan   *planner.Plan
	limit  int
	flush  time.Duration
	intend func(ctx context.Context, call int) error // result of the call-th flush (from 1); nil = success

	mu        sync.Mutex
	start     time.Time
	log       []string // i0 intended, b0 begun, e0 ended, s0 completed, u0 withdrawn
	began     []time.Duration
	intended  []bool
	completed []int
	answered  []bool // successfully
	sent      []bool
	over      []bool // with any result
	looked    []int  // number of times it was pending
	inFlight  map[resource.Address]int
	now, max  int // steps in flight
	working   int // busy workers
	ahead     int // largest number of open intents that are not in flight
	flushes   int
	total     int
	wrong     []string
	events    []executor.Event
	batches   []string // in order
}

func newWorld(script ...step) *world {
	n := len(script)
	return &world{
		script: script, plan: planOf(script...), start: time.Now(), inFlight: map[resource.Address]int{},
		began: make([]time.Duration, n), intended: make([]bool, n), completed: make([]int, n),
		looked: make([]int, n), answered: make([]bool, n), sent: make([]bool, n), over: make([]bool, n),
	}
}

// run runs the plan. Events are collected without a lock, so the race detector notices concurrent ones.
func (w *world) run(ctx context.Context, limit int, stop <-chan struct{}) executor.Result {
	w.limit = limit
	return executor.Run(ctx, w.plan, w, w, executor.Options{
		Parallelism: limit, Stop: stop, Events: func(e executor.Event) { w.events = append(w.events, e) },
	})
}

func (w *world) note(what string, i planner.StepID) {
	w.log = append(w.log, fmt.Sprintf("%s%d", what, i))
}

func (w *world) wrongf(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func (w *world) Begin(ctx context.Context, steps []*planner.Step) error {
	w.mu.Lock()
	w.flushes++
	call := w.flushes
	w.mu.Unlock()
	pause(w.flush)
	if w.intend != nil {
		if err := w.intend(ctx, call); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range steps {
		if w.intended[s.Index] || s.Operation == nil {
			w.wrongf("intended %d, twice or though it sends nothing", s.Index)
		}
		w.intended[s.Index] = true
		w.note("i", s.Index)
	}
	w.total += len(steps)
	w.ahead = max(w.ahead, w.total-w.now)
	return nil
}

func (w *world) Complete(s *planner.Step, _ executor.Outcome, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := s.Index
	w.completed[i]++
	if w.completed[i] > 1 || !w.intended[i] && (s.Operation != nil || !w.sent[i]) {
		w.wrongf("completed %d, twice or without an intent", i)
	}
	if s.Operation != nil {
		w.total--
	}
	if w.sent[i] && !(w.looked[i] > 0 && errors.Is(err, executor.ErrNotSent)) {
		w.note("s", i)
	} else {
		w.note("u", i)
		if !errors.Is(err, executor.ErrNotSent) {
			w.wrongf("completed %d, which was not begun, with %v", i, err)
		}
	}
	return w.script[i].journal
}

// pending returns the steps under way that do not end.
func (w *world) pending(steps ...*planner.Step) []bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := make([]bool, len(steps))
	for k, s := range steps {
		pending[k] = w.looked[s.Index] < len(w.script[s.Index].pending)
	}
	return pending
}

// Do carries out its steps one after the other, and returns an outcome for each.
func (w *world) Do(ctx context.Context, steps []*planner.Step, ids executor.IDs) []executor.Attempt {
	if len(steps) > 1 || steps[0].Batch != 0 {
		w.checkBatch(steps)
	}
	w.begin(steps, ids)
	defer w.end(steps, w.pending(steps...))
	attempts := make([]executor.Attempt, len(steps))
	for k, s := range steps {
		attempts[k].Outcome, attempts[k].Err = w.attempt(ctx, s)
	}
	return attempts
}

// checkBatch reports steps that do not belong together, are too many, or are in a wrong order.
func (w *world) checkBatch(steps []*planner.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make([]string, len(steps))
	for k, s := range steps {
		names[k] = strconv.Itoa(int(s.Index))
		if s.Batch == 0 || s.Batch != steps[0].Batch || k > 0 && s.Index <= steps[k-1].Index {
			w.wrongf("%d is in a batch with %d", s.Index, steps[0].Index)
		}
	}
	if len(steps) > rowsOfABatch {
		w.wrongf("%d steps in a batch", len(steps))
	}
	w.batches = append(w.batches, strings.Join(names, " "))
}

// attempt returns the result of a step that is under way.
func (w *world) attempt(ctx context.Context, s *planner.Step) (executor.Outcome, error) {
	i := s.Index
	do := w.script[i]
	pending := w.pending(s)[0]
	if do.takes > 0 {
		select {
		case <-time.After(do.takes):
		case <-ctx.Done():
			if do.deaf {
				return executor.Outcome{}, fmt.Errorf("%w: %w", executor.ErrOutcomeUnknown, ctx.Err())
			}
			return executor.Outcome{}, fmt.Errorf("waiting: %w", ctx.Err())
		}
	}
	if pending {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.looked[i]++
		why := errLost
		if do.local {
			why = errors.New("an earlier run may have sent it")
		}
		return executor.Outcome{}, &executor.Pending{After: do.pending[w.looked[i]-1], Err: why}
	}
	if do.panics != nil {
		panic(do.panics)
	}
	if do.err != nil {
		return executor.Outcome{}, do.err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered[i] = true
	return executor.Outcome{Record: planner.Record{ID: fmt.Sprint("id", i), Values: map[string]string{"name": "x"}}}, nil
}

func (w *world) begin(steps []*planner.Step, ids executor.IDs) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.working++; w.working > w.limit {
		w.wrongf("%d workers, more than %d", w.working, w.limit)
	}
	for _, s := range steps {
		w.checkBegin(s, ids)
	}
	for _, s := range steps {
		w.note("b", s.Index)
		w.began[s.Index], w.sent[s.Index] = time.Since(w.start), true
		w.inFlight[s.Address]++
		w.now++
		w.max = max(w.max, w.now)
		if w.inFlight[s.Address] > 1 {
			w.wrongf("%s is in flight twice", s.Address)
		}
	}
}

// checkBegin reports a step that must not begin yet.
func (w *world) checkBegin(s *planner.Step, ids executor.IDs) {
	i := s.Index
	if s.Operation != nil && !w.intended[i] {
		w.wrongf("%d began without an intent", i)
	}
	for _, j := range s.Needs {
		id, ok := ids(w.plan.Steps[j].Address)
		if !w.answered[j] || w.plan.Steps[j].Object != nil && (!ok || id == "") {
			w.wrongf("%d began before %d, which it needs, was done", i, j)
		}
	}
	for j, o := range w.plan.Steps[:i] {
		if s.Sequence != 0 && o.Sequence == s.Sequence && o.Action != planner.NotPossible && !w.over[j] && w.sent[j] && w.looked[i] == 0 {
			w.wrongf("%d began before %d of its sequence had ended", i, j)
		}
	}
	for _, j := range s.After {
		if w.sent[j] && !w.over[j] {
			w.wrongf("%d began before %d had ended", i, j)
		}
	}
}

func (w *world) end(steps []*planner.Step, pending []bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working--
	for k, s := range steps {
		if !pending[k] {
			w.note("e", s.Index)
			w.over[s.Index] = true
		}
		w.inFlight[s.Address]--
		w.now--
	}
}

// starts lists the steps in the order of their Started events.
func (w *world) starts() string {
	var found []string
	for _, e := range w.events {
		if e.Type == executor.Started {
			found = append(found, strconv.Itoa(int(e.Step.Index)))
		}
	}
	return strings.Join(found, " ")
}

// statuses returns the statuses of the steps of a result.
func statuses(r executor.Result) string {
	words := make([]string, len(r.Steps))
	for i, s := range r.Steps {
		words[i] = word(s.Status)
	}
	return strings.Join(words, " ")
}

func word(s executor.Status) string {
	return map[executor.Status]string{
		executor.NotStarted: "not-started", executor.Done: "done", executor.Failed: "failed",
		executor.Blocked: "blocked", executor.Unknown: "unknown",
	}[s]
}

// check reports an impossible result.
func (w *world) check(t *testing.T, r executor.Result) {
	t.Helper()
	for _, text := range w.wrong {
		t.Error(text)
	}
	if len(r.Steps) != len(w.plan.Steps) {
		t.Fatalf("%d results of %d steps", len(r.Steps), len(w.plan.Steps))
	}
	early := r.Interrupted || r.Stopped != nil
	done, total := 0, 0
	for i, s := range r.Steps {
		if s.Step != w.plan.Steps[i] {
			t.Fatalf("result %d is of another step", i)
		}
		possible := s.Step.Action != planner.NotPossible
		if possible {
			total++
		}
		if s.Status != executor.NotStarted {
			done++
		}
		if why := w.contradiction(r, i, early); why != "" {
			t.Errorf("step %d is %s, but %s", i, word(s.Status), why)
		}
	}
	if r.Stopped != nil && !errors.Is(r.Stopped, executor.ErrAbortRun) {
		t.Errorf("the error that stopped the run does not say so: %v", r.Stopped)
	}
	w.checkEvents(t, done, total)
}

// contradiction returns a contradiction in a step's result, or "".
func (w *world) contradiction(r executor.Result, i int, early bool) string {
	s := r.Steps[i]
	failedNeed := slices.ContainsFunc(s.Step.Needs, func(j planner.StepID) bool {
		return r.Steps[j].Status != executor.Done && r.Steps[j].Status != executor.NotStarted || r.Steps[j].Step.Action == planner.NotPossible
	})
	waitsForever := slices.ContainsFunc(slices.Concat(s.Step.Needs, s.Step.After), func(j planner.StepID) bool { return r.Steps[j].Status == executor.NotStarted }) ||
		slices.ContainsFunc(r.Steps[:i], func(o executor.StepResult) bool {
			next := o.Step.Address == s.Step.Address || s.Step.Sequence != 0 && o.Step.Sequence == s.Step.Sequence
			return next && o.Status == executor.NotStarted && o.Step.Action != planner.NotPossible
		})
	kept := s.Step.Action == planner.Delete && slices.ContainsFunc(r.Steps, func(o executor.StepResult) bool {
		return o.Step.Action != planner.Delete && o.Status != executor.Done && o.Status != executor.NotStarted
	})
	noMember := s.Step.Members != nil && !slices.ContainsFunc(w.script[i].members, func(j int) bool { return r.Steps[j].Status == executor.Done })
	open := w.intended[i] && w.completed[i] == 0
	switch s.Status {
	case executor.Done:
		switch {
		case !w.answered[i]:
			return "the service never said so"
		case s.Err != nil || s.BlockedBy != nil:
			return "it has an error"
		case s.Outcome.Values != nil:
			return "its values are kept"
		case w.completed[i] != 1:
			return "its outcome is not in the journal"
		}
	case executor.Failed:
		if !w.sent[i] || w.answered[i] || s.Err == nil || w.completed[i] != 1 {
			return "nothing failed, or the journal does not know"
		}
	case executor.Unknown:
		if !w.sent[i] || s.Err == nil {
			return "its outcome is known"
		}
	case executor.Blocked:
		switch {
		case w.sent[i] || w.intended[i]:
			return "it was announced"
		case !failedNeed && !noMember && !kept:
			return "what it needs is there"
		case s.BlockedBy == nil:
			return "nothing blocks it"
		}
		root := r.Steps[s.BlockedBy.Index]
		if root.Status != executor.Failed && root.Status != executor.Unknown && root.Step.Action != planner.NotPossible {
			return fmt.Sprintf("its root cause %d is %s", s.BlockedBy.Index, word(root.Status))
		}
	case executor.NotStarted:
		switch {
		case s.Err != nil || s.BlockedBy != nil || s.Missing != nil:
			return "it tells of more"
		case w.answered[i]:
			return "it was done"
		case open:
			return "its intent was left open"
		case failedNeed && s.Step.Action != planner.NotPossible:
			return "it is blocked"
		case !early && !waitsForever && s.Step.Action != planner.NotPossible && !errors.Is(w.script[i].err, executor.ErrNotSent):
			return "nothing kept it"
		}
	}
	return ""
}

// checkEvents reports events that do not match what happened.
func (w *world) checkEvents(t *testing.T, done, total int) {
	t.Helper()
	started, ended := map[planner.StepID]int{}, map[planner.StepID]int{}
	last := 0
	for _, e := range w.events {
		i := e.Step.Index
		switch e.Type {
		case executor.Started:
			if started[i]++; started[i] > 1 || ended[i] > 0 {
				t.Errorf("step %d started again", i)
			}
		case executor.SetAside:
			if started[i] != 1 || ended[i] > 0 {
				t.Errorf("step %d was set aside when it was not under way", i)
			}
		case executor.Ended:
			if ended[i]++; ended[i] > 1 {
				t.Errorf("step %d ended again", i)
			}
			if e.Result.Step != e.Step {
				t.Errorf("the result of step %d is of another", i)
			}
		}
		if e.Total != total || e.Done < last || e.Done > total {
			t.Errorf("an event tells of %d of %d after %d of %d", e.Done, e.Total, last, total)
		}
		last = e.Done
	}
	if last != done {
		t.Errorf("the last event tells of %d steps, %d ended", last, done)
	}
	for k, s := range w.sent {
		i := planner.StepID(k)
		if s && (started[i] != 1 || ended[i] != 1) {
			t.Errorf("step %d was begun, and told to have started %d times and ended %d times", i, started[i], ended[i])
		}
	}
}

// after closes a channel at a virtual time.
func after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

func stepIDs(places []int) []planner.StepID {
	var list []planner.StepID
	for _, i := range places {
		list = append(list, planner.StepID(i))
	}
	return list
}
