package executor_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/planner"
)

const sec = time.Second

var (
	errRefused = errors.New("400 Bad Request")
	errLost    = errors.Join(errors.New("connection reset"), executor.ErrOutcomeUnknown)
	errStop    = errors.Join(errors.New("401 Unauthorized"), executor.ErrAbortRun)
	errDisk    = errors.New("no space left on device")
)

// TestStepsStartInDependencyOrderAndFailuresBlockDependents runs scripted plans and checks how and when each step ends.
func TestStepsStartInDependencyOrderAndFailuresBlockDependents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps  []step
		limit  int // 0 = 4
		flush  time.Duration
		want   string        // how the steps end
		begins string        // in which order they begin; "" = any
		takes  time.Duration // the whole run
		roots  map[int]int   // what blocks the blocked ones
		left   map[int][]int // members that are left out
	}{
		"an empty plan is done at once": {},
		"a step starts only when its intent is on disk": {
			steps: []step{{}}, flush: 3 * sec, want: "done", takes: 3 * sec,
		},
		"a step that sends nothing waits for no disk": {
			steps: []step{{local: true}}, flush: 3 * sec, want: "done",
		},
		"a step starts when what it needs is done": {
			steps: []step{{takes: 2 * sec}, {takes: 5 * sec}, {needs: []int{0, 1}, takes: sec}, {needs: []int{0}, takes: sec}},
			want:  "done done done done", takes: 6 * sec,
		},
		"a failed parent blocks its children and nothing else": {
			steps: []step{{err: errRefused}, {needs: []int{0}}, {takes: sec}, {needs: []int{2}}},
			want:  "failed blocked done done", takes: sec, roots: map[int]int{1: 0},
		},
		"blocked steps name the root cause": {
			steps: []step{{}, {needs: []int{0}, err: errRefused}, {needs: []int{1}}, {needs: []int{2}}, {needs: []int{0, 3}}},
			want:  "done failed blocked blocked blocked", roots: map[int]int{2: 1, 3: 1, 4: 1},
		},
		"a step with an unknown outcome blocks its dependents": {
			steps: []step{{err: errLost}, {needs: []int{0}}},
			want:  "unknown blocked", roots: map[int]int{1: 0},
		},
		"a step that needs a step that is not possible is blocked by it": {
			steps: []step{{action: planner.NotPossible}, {needs: []int{0}}, {needs: []int{1}}, {after: []int{0}}, {}},
			want:  "not-started blocked blocked done done", roots: map[int]int{1: 0, 2: 0},
		},
		"a step that is not possible waits for nothing": {
			steps: []step{{takes: sec, err: errRefused}, {action: planner.NotPossible, needs: []int{0}}, {needs: []int{1}}},
			want:  "failed not-started blocked", takes: sec, roots: map[int]int{2: 1},
		},
		"a delete goes first where another step needs what it frees": {
			steps: []step{{action: planner.Delete, takes: sec, address: "label/web/a"}, {action: planner.Update, needs: []int{0}, takes: sec}, {takes: 3 * sec}, {action: planner.Delete}},
			want:  "done done done done", limit: 1, begins: "0 2 1 3", takes: 5 * sec,
		},
		"a step that comes after other steps runs however they end": {
			steps: []step{{err: errRefused, takes: sec}, {needs: []int{0}}, {takes: 2 * sec}, {after: []int{0, 1, 2}, takes: sec}},
			want:  "failed blocked done done", takes: 3 * sec,
		},
		"a step that another step needs and comes after, and names twice, counts once": {
			steps: []step{{takes: sec}, {needs: []int{0, 0}, after: []int{0}}},
			want:  "done done", takes: sec,
		},
		"a step that another step needs and comes after blocks it if it fails": {
			steps: []step{{err: errRefused}, {after: []int{0}, needs: []int{0}}},
			want:  "failed blocked", roots: map[int]int{1: 0},
		},
		"a membership goes ahead with the members that exist": {
			steps: []step{{}, {takes: sec, err: errRefused}, {needs: []int{1}}, {needs: []int{0}, after: []int{0, 1, 2}, members: []int{0, 1, 2}}},
			want:  "done failed blocked done", takes: sec, left: map[int][]int{3: {1, 2}},
		},
		"a membership of which no member exists is blocked by the root cause": {
			steps: []step{{err: errRefused}, {needs: []int{0}}, {after: []int{1}, members: []int{1}}, {needs: []int{2}}},
			want:  "failed blocked blocked blocked", roots: map[int]int{2: 0, 3: 0},
		},
		"a membership of something that is not possible is blocked by it": {
			steps: []step{{action: planner.NotPossible}, {members: []int{0}}},
			want:  "not-started blocked", roots: map[int]int{1: 0},
		},
		"a membership is blocked with its container": {
			steps: []step{{}, {err: errRefused}, {needs: []int{1}, after: []int{0}, members: []int{0}}},
			want:  "done failed blocked", roots: map[int]int{2: 1},
		},
		"no more steps are in flight than the limit": {
			steps: slices.Repeat([]step{{takes: sec}}, 10), limit: 3,
			want: strings.TrimSpace(strings.Repeat("done ", 10)), takes: 4 * sec,
		},
		"a limit below one counts as one": {
			steps: slices.Repeat([]step{{takes: sec}}, 3), limit: -1,
			want: "done done done", begins: "0 1 2", takes: 3 * sec,
		},
		"no two steps are in flight for one address": {
			steps: []step{{address: "project/web", takes: sec}, {address: "project/web", takes: sec, err: errRefused}, {takes: sec}, {address: "project/web"}},
			want:  "done failed done done", takes: 2 * sec,
		},
		"the first step in the plan starts first": {
			steps: []step{{takes: sec}, {takes: sec}, {takes: sec}, {takes: sec}}, limit: 1,
			want: "done done done done", begins: "0 1 2 3", takes: 4 * sec,
		},
		"a step that becomes ready later waits for its own intent, not for steps announced before it": {
			// 3 and 4 are announced while 0 and 1 run. 0 ends, 3 begins, 2 is announced and overtakes 4.
			steps: []step{{takes: sec}, {takes: 3 * sec}, {needs: []int{0}, takes: sec}, {takes: sec}, {takes: sec}, {takes: sec}}, limit: 2,
			want: "done done done done done done", begins: "0 1 3 2 4 5", takes: 4 * sec,
		},
		"steps of a sequence begin one after the other, and other steps beside them": {
			steps: []step{{takes: sec, sequence: 1}, {takes: sec, sequence: 1}, {takes: sec, sequence: 1}, {takes: 2 * sec}, {takes: sec}, {takes: sec, sequence: 2}},
			want:  "done done done done done done", begins: "0 3 4 5 1 2", takes: 3 * sec,
		},
		"steps of a sequence begin in the order of the plan, whichever is ready first": {
			steps: []step{{takes: 2 * sec}, {needs: []int{0}, takes: sec, sequence: 1}, {takes: sec, sequence: 1}},
			want:  "done done done", begins: "0 1 2", takes: 4 * sec,
		},
		"a sequence goes on after a step that failed, was blocked or is not possible": {
			steps: []step{{err: errRefused, takes: sec, sequence: 1}, {needs: []int{0}, sequence: 1}, {action: planner.NotPossible, sequence: 1}, {takes: sec, sequence: 1}},
			want:  "failed blocked not-started done", begins: "0 3", takes: 2 * sec, roots: map[int]int{1: 0},
		},
		"the next step of a sequence waits for no flush": {
			steps: slices.Repeat([]step{{takes: sec, sequence: 1}}, 4), flush: sec,
			want: "done done done done", begins: "0 1 2 3", takes: 5 * sec,
		},
		"a delete waits for all other steps": {
			steps: []step{{takes: 2 * sec}, {action: planner.Delete, takes: sec}, {needs: []int{0}, takes: sec}, {action: planner.Delete, needs: []int{1}}},
			want:  "done done done done", begins: "0 2 1 3", takes: 4 * sec,
		},
		"a delete is blocked if a create failed, because its object may be the same under another key": {
			steps: []step{{err: errRefused}, {needs: []int{0}}, {action: planner.Delete}, {action: planner.Delete, needs: []int{2}}, {takes: sec}},
			want:  "failed blocked blocked blocked done", takes: sec, roots: map[int]int{1: 0, 2: 0, 3: 0},
		},
		"a delete is blocked if an update of an object of its kind failed": {
			steps: []step{{action: planner.Update, err: errRefused, takes: sec}, {action: planner.Delete}, {action: planner.Delete, address: "label/web/old", takes: sec}},
			want:  "failed blocked done", takes: 2 * sec, roots: map[int]int{1: 0},
		},
		"a delete is blocked if a step on the contents of an object of its kind failed": {
			steps: []step{
				{action: planner.Update, address: "link/web/new/a", err: errLost},
				{action: planner.Delete},
				{action: planner.Delete, address: "project/old"},
				{action: planner.Delete, address: "comment/web/old/c"},
			},
			want: "unknown blocked blocked done", roots: map[int]int{1: 0, 2: 0},
		},
		"a delete is blocked if adding members to a container of its kind failed": {
			steps: []step{{members: []int{}, err: errRefused}, {action: planner.Delete}, {action: planner.Delete, address: "cycle/web/old"}, {action: planner.Delete, address: "module/web/old"}},
			want:  "failed blocked blocked done", roots: map[int]int{1: 0, 2: 0},
		},
		"a delete is not blocked by a step that is not possible": {
			steps: []step{{action: planner.NotPossible}, {action: planner.Delete, takes: sec}},
			want:  "not-started done", takes: sec,
		},
		"a panic fails one step": {
			steps: []step{{panics: "index out of range"}, {needs: []int{0}}, {takes: sec}},
			want:  "unknown blocked done", takes: sec, roots: map[int]int{1: 0},
		},
		"a circle of steps ends the run, and none of them is started": {
			steps: []step{{needs: []int{1}}, {needs: []int{0}}, {}},
			want:  "not-started not-started done",
		},
		"a pending step is set aside and taken up again when it is due, and other steps go on": {
			steps: []step{{pending: []time.Duration{3 * sec, 2 * sec}, takes: sec}, {needs: []int{0}, takes: sec}, {takes: 2 * sec}, {takes: 2 * sec}}, limit: 1,
			want: "done done done done", begins: "0 2 3 1", takes: 10 * sec,
		},
		"a step that needs a pending step waits until that has ended, and runs in the same run": {
			steps: []step{{pending: []time.Duration{3 * sec}}, {needs: []int{0}, takes: sec}, {after: []int{0}, members: []int{0}, takes: sec}},
			want:  "done done done", takes: 4 * sec,
		},
		"a pending step may fail in the end": {
			steps: []step{{pending: []time.Duration{3 * sec}, err: errRefused}, {needs: []int{0}}, {takes: sec}},
			want:  "failed blocked done", takes: 3 * sec, roots: map[int]int{1: 0},
		},
		"a pending step keeps its place in a sequence": {
			steps: []step{{sequence: 1, pending: []time.Duration{3 * sec}}, {sequence: 1, takes: sec}, {takes: sec}},
			want:  "done done done", begins: "0 2 1", takes: 4 * sec,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(c.steps...)
				w.flush = c.flush
				if c.limit == 0 {
					c.limit = 4
				}
				start := time.Now()
				r := w.run(t.Context(), max(1, c.limit), nil)
				w.check(t, r)
				if diff := cmp.Diff(c.want, statuses(r)); diff != "" {
					t.Errorf("the steps ended otherwise (-want +got):\n%s", diff)
				}
				if took := time.Since(start); took != c.takes {
					t.Errorf("the run took %v, not %v", took, c.takes)
				}
				if got := w.starts(); c.begins != "" && got != c.begins {
					t.Errorf("the steps started as %s, not %s", got, c.begins)
				}
				if r.Interrupted || r.Stopped != nil {
					t.Errorf("the run ended early: %v", r.Stopped)
				}
				for i, s := range r.Steps {
					if root, blocked := c.roots[i]; blocked && s.BlockedBy != w.plan.Steps[root] {
						t.Errorf("step %d is blocked by %v, not %d", i, s.BlockedBy, root)
					}
					var left []resource.Address
					for _, j := range c.left[i] {
						left = append(left, addressOf(j))
					}
					if diff := cmp.Diff(left, s.Missing); diff != "" {
						t.Errorf("step %d leaves out others (-want +got):\n%s", i, diff)
					}
				}
			})
		})
	}
}

// TestARunThatEndsEarlyFinishesRunningStepsAndStartsNoOther goes through the causes of an early end and the status of each step.
func TestARunThatEndsEarlyFinishesRunningStepsAndStartsNoOther(t *testing.T) {
	t.Parallel()
	ones := slices.Repeat([]step{{takes: sec, deaf: true}}, 4)
	with := func(at int, s step) []step {
		steps := slices.Clone(ones)
		steps[at] = s
		return steps
	}
	for name, c := range map[string]struct {
		steps       []step
		flush       time.Duration
		stop        time.Duration // Stop is closed then; 0 = never, less = before the run
		cancel      time.Duration // likewise for the context
		intend      func(ctx context.Context, call int) error
		want        string
		log         string // all that must have happened
		takes       time.Duration
		interrupted bool
		stopped     error
	}{
		"the first interrupt lets running steps finish and withdraws announced steps": {
			steps: ones, stop: sec / 2, want: "done done not-started not-started", takes: sec, interrupted: true,
			log: "i0 i1 b0 b1 i2 i3 e0 s0 u2 u3 e1 s1",
		},
		"an interrupt before the run leaves no trace": {
			steps: ones, stop: -1, want: "not-started not-started not-started not-started", interrupted: true,
		},
		"an interrupt during a write of the journal withdraws the steps that it announced": {
			steps: ones, flush: sec, stop: sec / 2, want: "not-started not-started not-started not-started", takes: sec, interrupted: true,
			log: "i0 i1 u0 u1",
		},
		"a step that fails after an interrupt still blocks its dependents": {
			steps: []step{{takes: sec, err: errRefused}, {needs: []int{0}}, {needs: []int{1}}, {after: []int{0}}}, stop: sec / 2,
			want: "failed blocked blocked not-started", takes: sec, interrupted: true, log: "i0 b0 e0 s0",
		},
		"a cancelled context ends the run at once and leaves intents open": {
			steps: ones, cancel: sec / 2, want: "unknown unknown not-started not-started", takes: sec / 2, interrupted: true,
			log: "i0 i1 b0 b1 i2 i3 e0 s0 u2 u3 e1 s1",
		},
		"a cancelled context leaves a step that was not sent yet not started": {
			steps: []step{{takes: sec, deaf: true}, {takes: sec}, {needs: []int{1}}, {needs: []int{0}}}, cancel: sec / 2,
			want: "unknown not-started not-started blocked", takes: sec / 2, interrupted: true,
		},
		"a context that is cancelled before the run leaves no trace": {
			steps: ones, cancel: -1, want: "not-started not-started not-started not-started", interrupted: true,
		},
		"a context that is cancelled during a write of the journal interrupts the run without a failure": {
			steps: ones, flush: sec, cancel: sec / 2, want: "not-started not-started not-started not-started", takes: sec, interrupted: true,
			intend: func(ctx context.Context, _ int) error { return ctx.Err() },
		},
		"a context that is cancelled during a write of the journal withdraws the steps that it announced": {
			steps: ones, flush: sec, cancel: sec / 2, want: "not-started not-started not-started not-started", takes: sec, interrupted: true,
			log: "i0 i1 u0 u1",
		},
		"a disk that fails while the context is cancelled is reported": {
			steps: ones, flush: sec, cancel: sec / 2, want: "not-started not-started not-started not-started", takes: sec, interrupted: true,
			intend:  func(context.Context, int) error { return errors.Join(executor.ErrAbortRun, errDisk) },
			stopped: errDisk,
		},
		"a stopping error ends the run and withdraws announced steps": {
			steps: with(1, step{takes: sec / 2, err: errStop}), want: "done failed not-started not-started", takes: sec, stopped: errStop,
			log: "i0 i1 b0 b1 i2 i3 e1 s1 u2 u3 e0 s0",
		},
		"a stopping error withdraws a batch that arrives after it": {
			steps: with(1, step{takes: sec, err: errStop}), flush: 2 * sec, want: "done failed not-started not-started", takes: 4 * sec, stopped: errStop,
			log: "i0 i1 b0 b1 e0 s0 e1 s1 i2 i3 u2 u3",
		},
		"a journal that cannot be begun sends nothing": {
			steps: ones, want: "not-started not-started not-started not-started", stopped: errDisk,
			intend: func(context.Context, int) error { return errDisk },
		},
		"a journal that fails later lets running steps finish": {
			steps: ones, want: "done done not-started not-started", takes: sec, stopped: errDisk,
			log: "i0 i1 b0 b1 e0 s0 e1 s1",
			intend: func(_ context.Context, call int) error {
				if call > 1 {
					return errDisk
				}
				return nil
			},
		},
		"a journal that cannot record an outcome ends the run, and the step is done": {
			steps: with(1, step{takes: sec / 2, journal: errDisk}), want: "done done not-started not-started", takes: sec, stopped: errDisk,
		},
		"a journal that cannot record a failure ends the run too": {
			steps: with(1, step{takes: sec / 2, err: errRefused, journal: errDisk}), want: "done failed not-started not-started", takes: sec, stopped: errDisk,
		},
		"the first stopping error is the one that is reported": {
			steps: []step{{takes: sec, err: errStop}, {takes: 2 * sec, journal: errDisk}}, want: "failed done", takes: 2 * sec, stopped: errStop,
		},
		"an interrupt gives up a pending step, whose outcome stays unknown": {
			steps: []step{{pending: []time.Duration{9 * sec}}, {needs: []int{0}}, {takes: sec}}, stop: 2 * sec,
			want: "unknown blocked done", takes: 2 * sec, interrupted: true,
		},
		"a cancelled context gives up a pending step, whose outcome stays unknown": {
			steps: []step{{pending: []time.Duration{9 * sec}}, {takes: sec}}, cancel: 2 * sec,
			want: "unknown done", takes: 2 * sec, interrupted: true,
		},
		"an interrupt leaves a pending step that this run did not send not started": {
			steps: []step{{pending: []time.Duration{9 * sec}, local: true}, {takes: sec}}, stop: 2 * sec,
			want: "not-started done", takes: 2 * sec, interrupted: true,
		},
		"an interrupt after the last step does not count": {
			steps: []step{{takes: sec}}, stop: sec, want: "done", takes: sec,
		},
		"a service that accepts no more requests stops the run": {
			steps: []step{{err: executor.ErrNotSent}, {needs: []int{0}}, {takes: sec}}, want: "not-started not-started done", takes: sec, stopped: executor.ErrNotSent,
		},
		"an error while withdrawing hides nothing": {
			steps: with(2, step{journal: errDisk}), stop: sec / 2, want: "done done not-started not-started", takes: sec, interrupted: true, stopped: errDisk,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(c.steps...)
				w.flush, w.intend = c.flush, c.intend
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				switch {
				case c.cancel < 0:
					cancel()
				case c.cancel > 0:
					time.AfterFunc(c.cancel, cancel)
				}
				var stop <-chan struct{}
				switch {
				case c.stop < 0:
					closed := make(chan struct{})
					close(closed)
					stop = closed
				case c.stop > 0:
					stop = after(c.stop)
				}
				start := time.Now()
				r := w.run(ctx, 2, stop)
				w.check(t, r)
				if diff := cmp.Diff(c.want, statuses(r)); diff != "" {
					t.Errorf("the steps ended otherwise (-want +got):\n%s", diff)
				}
				if took := time.Since(start); took != c.takes {
					t.Errorf("the run took %v, not %v", took, c.takes)
				}
				if c.log != "" && sorted(strings.Join(w.log, " ")) != sorted(c.log) {
					t.Errorf("what happened: %s\nnot:           %s", strings.Join(w.log, " "), c.log)
				}
				if r.Interrupted != c.interrupted {
					t.Errorf("interrupted: %v", r.Interrupted)
				}
				if !errors.Is(r.Stopped, c.stopped) {
					t.Errorf("stopped by %v, not %v", r.Stopped, c.stopped)
				}
			})
		})
	}
}

// sorted orders the log independently of the speed of the workers.
func sorted(log string) string {
	words := strings.Fields(log)
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestAPanicCarriesItsStackAndLeavesTheIntentPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(step{panics: "index out of range"})
		r := w.run(t.Context(), 1, nil)
		w.check(t, r)
		var p *executor.PanicError
		if !errors.As(r.Steps[0].Err, &p) || p.Value != "index out of range" || !strings.Contains(string(p.Stack), "world_test.go") {
			t.Errorf("the panic is not told: %v", r.Steps[0].Err)
		}
		if strings.Contains(p.Error(), "goroutine") {
			t.Errorf("the message carries the stack: %v", p)
		}
		if w.completed[0] != 0 {
			t.Error("the intent is not open any more")
		}
	})
}

func TestAnUnknownOutcomeIsPassedToTheJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(step{err: errLost})
		w.check(t, w.run(t.Context(), 1, nil))
		if got := strings.Join(w.log, " "); got != "i0 b0 e0 s0" {
			t.Errorf("what happened: %s", got)
		}
	})
}

func TestIDsComeFromThePlanAndFromObjectsCreatedInTheRun(t *testing.T) {
	t.Parallel()
	plan := planOf(step{}, step{needs: []int{0}})
	plan.Known["project/web"] = planner.Record{ID: "known"}
	plan.Known[addressOf(0)] = planner.Record{ID: "gone"} // the run creates it again
	plan.Known["project/new"] = planner.Record{}
	got := map[resource.Address]string{}
	probe := service(func(s *planner.Step, ids executor.IDs) (executor.Outcome, error) {
		for _, a := range []resource.Address{"project/web", "project/new", "project/other", addressOf(0)} {
			if id, ok := ids(a); ok && s.Index == 1 {
				got[a] = id
			}
		}
		return executor.Outcome{Record: planner.Record{ID: "made"}}, nil
	})
	executor.Run(t.Context(), plan, probe, instant{}, executor.Options{})
	want := map[resource.Address]string{"project/web": "known", addressOf(0): "made"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other IDs (-want +got):\n%s", diff)
	}
}

// service is a service that consists of a function.
type service func(*planner.Step, executor.IDs) (executor.Outcome, error)

func (se service) Do(_ context.Context, steps []*planner.Step, ids executor.IDs) []executor.Attempt {
	attempts := make([]executor.Attempt, len(steps))
	for k, s := range steps {
		attempts[k].Outcome, attempts[k].Err = se(s, ids)
	}
	return attempts
}

func TestStepsThatBecomeReadyTogetherStartInTheOrderOfThePlan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		steps := make([]step, 200)
		for i := range steps[1:] {
			steps[i+1] = step{needs: []int{0}, takes: time.Duration(1+i*7919%50) * time.Millisecond}
		}
		w := newWorld(steps...)
		w.flush = 3 * time.Millisecond
		w.check(t, w.run(t.Context(), 4, nil))
		want := make([]string, len(steps))
		for i := range want {
			want[i] = strconv.Itoa(i)
		}
		if diff := cmp.Diff(want, strings.Fields(w.starts())); diff != "" {
			t.Errorf("another order (-want +got):\n%s", diff)
		}
	})
}

func TestFlushesDoNotSlowDownAFastService(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]time.Duration{"200µs": 200 * time.Microsecond, "1ms": time.Millisecond, "20ms": 20 * time.Millisecond} {
		if name != "1ms" && !sample.Each() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const n, limit = 8000, 16
				steps := make([]step, n)
				for i := range steps {
					steps[i].takes = each/2 + each*time.Duration(i*7919%1000)/1000 // each, on average
				}
				w := newWorld(steps...)
				w.flush = time.Millisecond / 2
				w.intend = func(_ context.Context, call int) error { // 1 ms, on average
					pause(time.Duration(call*7919%1000) * time.Microsecond)
					return nil
				}
				start := time.Now()
				w.check(t, w.run(t.Context(), limit, nil))
				bare := each * n / limit
				if took := time.Since(start); took > bare*100/95 {
					t.Errorf("%v instead of %v without a journal", took, bare)
				}
				t.Logf("%d flushes, %d intents ahead at most", w.flushes, w.ahead)
			})
		})
	}
}

func TestFewStepsAreLoggedAheadOfASlowService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		steps := make([]step, 500)
		for i := range steps {
			steps[i].takes = time.Duration(150+i*37%100) * time.Millisecond
		}
		w := newWorld(steps...)
		w.flush = 5 * time.Millisecond
		w.check(t, w.run(t.Context(), 4, nil))
		if w.ahead > 8 {
			t.Errorf("%d intents were open of which nothing was sent, with 4 workers", w.ahead)
		}
	})
}

func TestTheStepsLoggedAheadAreLimitedOnAVerySlowDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(slices.Repeat([]step{{takes: time.Millisecond}}, 3000)...)
		w.flush = 10 * sec
		w.check(t, w.run(t.Context(), 4, nil))
		if most := 65 * 4; w.ahead > most {
			t.Errorf("%d intents were open of which nothing was sent, more than %d", w.ahead, most)
		}
	})
}

func TestALongChainIsBlockedByItsFirstFailure(t *testing.T) {
	t.Parallel()
	chain := make([]step, 200_000)
	for i := range chain[1:] {
		chain[i+1].needs = []int{i}
	}
	fails := service(func(*planner.Step, executor.IDs) (executor.Outcome, error) { return executor.Outcome{}, errRefused })
	plan := planOf(chain...)
	r := executor.Run(t.Context(), plan, fails, instant{}, executor.Options{Parallelism: 4})
	for i, s := range r.Steps[1:] {
		if s.Status != executor.Blocked || s.BlockedBy != plan.Steps[0] {
			t.Fatalf("step %d is %s, by %v", i+1, word(s.Status), s.BlockedBy)
		}
	}
}

// refusedError is a refusal with a reason.
type refusedError string

func (rf refusedError) Error() string   { return "403: " + string(rf) }
func (rf refusedError) Refusal() string { return string(rf) }

// TestManyRefusalsForOneReasonBlockTheOtherStepsOfTheOperation checks that an operation that is refused for one reason
// and never succeeds is not tried hundreds of times, and that other operations go on.
func TestManyRefusalsForOneReasonBlockTheOtherStepsOfTheOperation(t *testing.T) {
	t.Parallel()
	const n = 120
	for name, c := range map[string]struct {
		err           func(i int) error
		failed, other int // at least so many of the first fail; the others end so
	}{
		"steps are no longer tried after twenty refusals for one reason": {func(int) error { return refusedError("no permission") }, 20, 100},
		"steps that are refused for a reason each are all tried":         {func(i int) error { return refusedError(strconv.Itoa(i)) }, n, 0},
		"steps that are refused without a reason are all tried":          {func(int) error { return errRefused }, n, 0},
		"steps are all tried if one of them succeeds":                    {func(i int) error { return map[bool]error{true: nil, false: refusedError("x")}[i == 3] }, n - 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				steps := make([]step, n, n+2)
				for i := range steps {
					steps[i].err = c.err(i)
				}
				steps = append(steps, step{needs: []int{n - 1}}, step{takes: sec})
				w := newWorld(steps...)
				op := &resource.Operation{}
				for _, s := range w.plan.Steps[:n] {
					s.Operation = op
				}
				r := w.run(t.Context(), 1, nil)
				failed, blocked := 0, 0
				for _, s := range r.Steps[:n] {
					switch s.Status {
					case executor.Failed:
						failed++
					case executor.Blocked:
						blocked++
						if s.BlockedBy != w.plan.Steps[0] || !s.Untried {
							t.Errorf("it is blocked by %v, untried %t", s.BlockedBy, s.Untried)
						}
					case executor.NotStarted, executor.Done, executor.Unknown:
					}
				}
				if failed != c.failed || blocked != c.other {
					t.Errorf("%d failed, %d were not tried; want %d and %d", failed, blocked, c.failed, c.other)
				}
				if r.Steps[n+1].Status != executor.Done {
					t.Error("what has another operation did not go on")
				}
				for i, s := range w.completed {
					if w.intended[i] && s != 1 {
						t.Errorf("the intent of step %d was completed %d times", i, s)
					}
				}
			})
		})
	}
}

// TestTheLastStepsOfARefusedOperationAreBlocked covers a sequence whose next step is in the journal when an earlier step turns out to be refused.
func TestTheLastStepsOfARefusedOperationAreBlocked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(
			step{takes: sec}, step{needs: []int{0}, sequence: 1}, step{sequence: 1},
			step{takes: 6 * sec / 5, err: executor.ErrUnsupported}, step{takes: sec / 2}, step{needs: []int{4}},
		)
		w.flush = sec
		refused := &resource.Operation{}
		for _, i := range []int{1, 2, 3, 5} {
			w.plan.Steps[i].Operation = refused
		}
		r := w.run(t.Context(), 4, nil)
		for _, i := range []int{1, 2, 5} {
			if s := r.Steps[i]; s.Status != executor.Blocked || s.BlockedBy != w.plan.Steps[3] {
				t.Errorf("step %d is %s, blocked by %v", i, word(s.Status), s.BlockedBy)
			}
		}
	})
}
