package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/planner"
)

// BenchmarkRun runs 100,000 independent steps with a service and a journal that do nothing.
func BenchmarkRun(b *testing.B) {
	const n = 100_000
	plan := independent(n)
	b.ReportAllocs()
	for b.Loop() {
		executor.Run(b.Context(), plan, instant{}, instant{}, executor.Options{Parallelism: 16})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
}

// BenchmarkFlush measures the cost of the journal's flushes with a fast service: steps of
// 200 µs, 16 at once, with flushes of 0 and 1 ms.
func BenchmarkFlush(b *testing.B) {
	const n = 20_000
	for name, flush := range map[string]time.Duration{"free": 0, "1ms": time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			plan := independent(n)
			s := &slow{step: 200 * time.Microsecond, flush: flush}
			for b.Loop() {
				executor.Run(b.Context(), plan, s, s, executor.Options{Parallelism: 16})
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(b.N*n)/float64(s.flushes), "steps/flush")
		})
	}
}

func independent(n int) *planner.Plan { return planOf(make([]step, n)...) }

// instant is a service and a journal that return at once.
type instant struct{}

func (instant) Do(_ context.Context, steps []*planner.Step, _ executor.IDs) []executor.Attempt {
	attempts := make([]executor.Attempt, len(steps))
	for i := range attempts {
		attempts[i].Outcome.ID = "id"
	}
	return attempts
}
func (instant) Begin(context.Context, []*planner.Step) error          { return nil }
func (instant) Complete(*planner.Step, executor.Outcome, error) error { return nil }

// slow is a service and a journal that take time.
type slow struct {
	instant
	step, flush time.Duration
	flushes     int
}

func (s *slow) Do(ctx context.Context, steps []*planner.Step, ids executor.IDs) []executor.Attempt {
	pause(s.step)
	return s.instant.Do(ctx, steps, ids)
}

func (s *slow) Begin(context.Context, []*planner.Step) error {
	s.flushes++ // one at a time
	pause(s.flush)
	return nil
}

func pause(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}
