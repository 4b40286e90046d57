package executor_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/executor"
)

// TestBatchesAreFullAndWaitOnlyForStepsUnderWay runs scripted plans with four rows in a request.
func TestBatchesAreFullAndWaitOnlyForStepsUnderWay(t *testing.T) {
	t.Parallel()
	items := func(n int, more ...step) []step { return append(slices.Repeat([]step{{batch: 1}}, n), more...) }
	for name, c := range map[string]struct {
		steps []step
		limit int // 0 = 1
		want  []string
		ends  string // how the steps end; "" = all are done
		takes time.Duration
	}{
		"steps that wait for nothing fill batches in the order of the plan": {
			steps: items(10), want: []string{"0 1 2 3", "4 5 6 7", "8 9"},
		},
		"a row waits for its parent and the rest goes on": {
			steps: []step{{batch: 1, sequence: 1}, {batch: 1, sequence: 1, needs: []int{0}}, {batch: 1, sequence: 1}, {batch: 1, sequence: 1}, {batch: 1, sequence: 1}, {batch: 1, sequence: 1}},
			want:  []string{"0 2 3 4", "1 5"},
		},
		"a batch waits for the rows whose predecessors are under way": {
			steps: []step{{takes: 3 * sec}, {batch: 1}, {batch: 1}, {batch: 1, needs: []int{0}}},
			limit: 2, want: []string{"1 2 3"}, takes: 3 * sec,
		},
		"a full batch waits for no other row": {
			steps: []step{{takes: 3 * sec}, {batch: 1}, {batch: 1}, {batch: 1}, {batch: 1}, {batch: 1, needs: []int{0}}},
			limit: 2, want: []string{"1 2 3 4", "5"}, takes: 3 * sec,
		},
		"a batch does not wait for a predecessor that is set aside": {
			steps: []step{{pending: []time.Duration{9 * sec}}, {batch: 1}, {batch: 1, needs: []int{0}}},
			limit: 2, want: []string{"1", "2"}, takes: 9 * sec,
		},
		"a batch waits for a predecessor in another group": {
			steps: []step{{batch: 2, takes: sec}, {batch: 2}, {batch: 1, needs: []int{0}}, {batch: 1}},
			limit: 2, want: []string{"0 1", "2 3"}, takes: sec,
		},
		"a row that fails keeps back only its own dependents": {
			steps: []step{{batch: 1, err: errRefused}, {batch: 1}, {batch: 1, needs: []int{0}}, {batch: 1, needs: []int{1}}},
			want:  []string{"0 1", "3"}, ends: "failed done blocked done",
		},
		"the pending rows of a batch are taken up again together": {
			steps: []step{{batch: 1, pending: []time.Duration{2 * sec}}, {batch: 1}, {batch: 1, pending: []time.Duration{5 * sec}}},
			want:  []string{"0 1 2", "0 2"}, takes: 5 * sec,
		},
		"the batches of a sequence are under way one at a time": {
			steps: slices.Repeat([]step{{batch: 1, sequence: 1, takes: sec / 4}}, 8),
			limit: 4, want: []string{"0 1 2 3", "4 5 6 7"}, takes: 2 * sec,
		},
		"a pending row keeps its sequence back": {
			steps: []step{{batch: 1, sequence: 1, pending: []time.Duration{2 * sec}}, {batch: 1, sequence: 1}, {batch: 1, sequence: 1}, {batch: 1, sequence: 1}, {batch: 1, sequence: 1}},
			want:  []string{"0 1 2 3", "0", "4"}, takes: 2 * sec,
		},
		"a step of a sequence that is sent alone keeps its place": {
			steps: []step{{batch: 1, sequence: 1}, {sequence: 1}, {batch: 1, sequence: 1}},
			want:  []string{"0", "2"},
		},
		"batches of any order use all workers": {
			steps: slices.Repeat([]step{{batch: 1, takes: sec / 4}}, 8),
			limit: 2, want: []string{"0 1 2 3", "4 5 6 7"}, takes: sec,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(c.steps...)
				start := time.Now()
				r := w.run(t.Context(), max(c.limit, 1), nil)
				w.check(t, r)
				if c.limit > 1 { // either of two workers may be first
					slices.Sort(w.batches)
				}
				if diff := cmp.Diff(c.want, w.batches); diff != "" {
					t.Errorf("other batches (-want +got):\n%s", diff)
				}
				if took := time.Since(start); took != c.takes {
					t.Errorf("it took %v instead of %v", took, c.takes)
				}
				for i, s := range r.Steps {
					if c.ends == "" && s.Status != executor.Done {
						t.Errorf("step %d is %s", i, word(s.Status))
					}
				}
				if got := statuses(r); c.ends != "" && got != c.ends {
					t.Errorf("the steps are %s; want %s", got, c.ends)
				}
			})
		})
	}
}
