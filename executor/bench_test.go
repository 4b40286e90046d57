package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/planner"
)

// BenchmarkRun runs 100,000 steps that need nothing on a service and a journal that cost nothing.
func BenchmarkRun(b *testing.B) {
	const n = 100_000
	plan := independent(n)
	b.ReportAllocs()
	for b.Loop() {
		executor.Run(b.Context(), plan, instant{}, instant{}, executor.Options{Parallelism: 16})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
}

func independent(n int) *planner.Plan { return planOf(make([]step, n)...) }

// instant is a service and a journal that do nothing, at once.
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

func pause(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}
