package planner

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

// stepsThatNeed makes a step for each list of needs.
func stepsThatNeed(needs ...[]int) []*Step {
	steps := make([]*Step, len(needs))
	for i := range needs {
		steps[i] = &Step{Address: resource.NewAddress("step", strconv.Itoa(i))}
	}
	for i, list := range needs {
		for _, n := range list {
			steps[i].needs = append(steps[i].needs, steps[n])
		}
	}
	return steps
}

func TestNeededStepsComeFirstAndOthersKeepTheirPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		needs [][]int
		want  []int
	}{
		"a step that needs nothing keeps its place":                     {[][]int{nil, nil, nil}, []int{0, 1, 2}},
		"a step that needs earlier steps keeps its place":               {[][]int{nil, {0}, {0, 1}}, []int{0, 1, 2}},
		"a needed step comes just before the step that needs it":        {[][]int{{2}, nil, nil, nil}, []int{2, 0, 1, 3}},
		"a step that a needed step needs comes before both":             {[][]int{{1}, {3}, nil, nil, nil}, []int{3, 1, 0, 2, 4}},
		"a step that several steps need comes before the first of them": {[][]int{nil, {3}, {3}, nil, {0}}, []int{0, 3, 1, 2, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ordered, cycle := order(stepsThatNeed(tt.needs...))
			if cycle != nil {
				t.Fatal(cycle)
			}
			var got []int
			for _, s := range ordered {
				n, _ := strconv.Atoi(s.Address.Path())
				got = append(got, n)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOrderOfRandomGraphs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + r.IntN(40)
		level := r.Perm(n) // a step needs steps of lower level only, so there is no cycle
		needs := make([][]int, n)
		for i := range needs {
			for range r.IntN(4) {
				if j := r.IntN(n); level[j] < level[i] {
					needs[i] = append(needs[i], j)
				}
			}
			slices.Sort(needs[i])
			needs[i] = slices.Compact(needs[i])
		}
		before := make([][]resource.Address, n)
		for i := range needs {
			for _, j := range needs[i] {
				before[i] = append(before[i], resource.NewAddress("step", strconv.Itoa(j)))
			}
		}
		ordered, cycle := order(stepsThatNeed(needs...))
		if cycle != nil {
			t.Fatal(cycle)
		}
		for i, s := range ordered {
			was, _ := strconv.Atoi(s.Address.Path())
			if int(s.Index) != i || len(s.Needs) != len(before[was]) {
				t.Fatalf("%s: index %d, needs %v, at %d", s.Address, s.Index, s.Needs, i)
			}
			for _, j := range s.Needs {
				if int(j) >= i || !slices.Contains(before[was], ordered[j].Address) {
					t.Fatalf("%s at %d needs %d", s.Address, i, j)
				}
			}
		}
	}
}

func TestADependencyCycleIsNamed(t *testing.T) {
	t.Parallel()
	_, cycle := order(stepsThatNeed(nil, []int{2}, []int{3}, []int{4}, []int{2}, []int{0}))
	diags := &findings{}
	(&ordering{analysis: analysis{diags: diags}}).reportCycle(cycle)
	if got, want := diags.List[0].Summary, "circular reference: step/2 -> step/3 -> step/4 -> step/2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestALongDependencyCycleIsFoundQuickly(t *testing.T) {
	t.Parallel()
	const n = 100_000
	needs := make([][]int, n)
	for i := range needs {
		needs[i] = []int{(i + 1) % n}
	}
	if _, cycle := order(stepsThatNeed(needs...)); len(cycle) != n {
		t.Fatal(len(cycle))
	}
}
