package executor_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/planner"
)

// TestRandomPlansKeepOrderLogIntentsFirstAndEnd runs generated plans with all kinds of failures
// at any time. [world] checks the rules: no step begins before its intent is
// written and its needs are done, none completes twice, no address is in
// flight twice, and every result and event fits what happened.
func TestRandomPlansKeepOrderLogIntentsFirstAndEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { runRandom(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func runRandom(t *testing.T, random *rand.Rand) {
	t.Helper()
	chance := func(percent int) bool { return random.IntN(100) < percent }
	moment := func() time.Duration { return time.Duration(random.IntN(5000)) * time.Millisecond }
	w := newWorld(randomSteps(random, chance(50))...)
	if chance(70) {
		w.flush = moment() / 4
	}
	if chance(10) {
		last := 1 + random.IntN(8)
		w.intend = func(_ context.Context, call int) error {
			if call > last {
				return errDisk
			}
			return nil
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stop <-chan struct{}
	if chance(20) {
		stop = after(2 * moment())
	}
	if chance(20) {
		time.AfterFunc(2*moment(), cancel)
	}
	w.check(t, w.run(ctx, 1+random.IntN(6), stop))
	if t.Failed() {
		t.Logf("what happened: %s", strings.Join(w.log, " "))
		for i, s := range w.script {
			t.Logf("%d: %+v", i, s)
		}
	}
	time.Sleep(20 * time.Second) //nolint:forbidigo // virtual: the interrupts that came too late
}

// randomSteps returns scripted steps. Calm ones fail like real services, the others in every possible way.
func randomSteps(random *rand.Rand, calm bool) []step {
	chance := func(percent int) bool { return random.IntN(100) < percent }
	steps, batches := make([]step, random.IntN(40)), chance(50)
	for i := range steps {
		s := &steps[i]
		s.takes, s.deaf, s.local = time.Duration(random.IntN(3000))*time.Millisecond, chance(50), chance(10)
		for range random.IntN(4) {
			if i > 0 && chance(60) {
				s.needs = append(s.needs, random.IntN(i))
			}
			if i > 0 && chance(20) {
				s.after = append(s.after, random.IntN(i))
			}
		}
		switch {
		case chance(5):
			s.action = planner.NotPossible
		case i > 0 && chance(20):
			for range 1 + random.IntN(3) {
				if j := random.IntN(i); steps[j].members == nil && steps[j].address == "" {
					s.members, s.after = append(s.members, j), append(s.after, j)
				}
			}
		case chance(10):
			s.address = "project/shared"
		}
		if chance(30) {
			s.sequence = 1 + random.IntN(2)
		}
		if batches && !s.local && s.members == nil && chance(70) {
			s.batch = 1 + random.IntN(2)
			if s.sequence != 0 {
				s.batch = 2 + s.sequence // one batch for the whole sequence
			}
		}
		for chance(10) {
			s.pending = append(s.pending, time.Duration(random.IntN(3000))*time.Millisecond)
		}
		switch {
		case chance(10):
			s.err = errRefused
		case calm:
		case chance(5):
			s.err = errLost
		case chance(2):
			s.err = errStop
		case chance(2):
			s.err = executor.ErrNotSent
		case chance(3):
			s.panics = "a bug"
		case chance(2):
			s.journal = errDisk
		}
	}
	return steps
}
