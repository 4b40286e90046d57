package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// refusedError is a refusal of which the service says why.
type refusedError struct{}

func (refusedError) Error() string   { return "POST …/work-items/: 403: no permission" }
func (refusedError) Refusal() string { return "403: no permission" }

func TestFailuresForTheSameReasonAreReportedOnce(t *testing.T) {
	t.Parallel()
	op, link := &resource.Operation{}, &resource.Operation{}
	var r executor.Result
	for i := range 100 {
		step := &planner.Step{
			Address: resource.Address(fmt.Sprintf("work_item/web/i%d", i)), Kind: resource.MustLookup("work_item"), Operation: op,
			Position: diag.Position{File: "m.yaml", Line: i + 1, Column: 1},
		}
		res := executor.StepResult{Step: step, Status: executor.Failed, Err: refusedError{}}
		if i >= 20 {
			res = executor.StepResult{Step: step, Status: executor.Blocked, BlockedBy: r.Steps[0].Step, Untried: true}
		}
		r.Steps = append(r.Steps, res)
	}
	r.Steps = append(r.Steps, executor.StepResult{
		Step:   &planner.Step{Address: "link/web/i1/x", Kind: resource.MustLookup("link"), Operation: link},
		Status: executor.Blocked, BlockedBy: r.Steps[1].Step,
	})
	r.Steps = append(r.Steps, executor.StepResult{ // inside one that was refused, which says nothing about the operation
		Step:   &planner.Step{Address: "work_item/web/sub", Kind: resource.MustLookup("work_item"), Operation: op},
		Status: executor.Blocked, BlockedBy: r.Steps[2].Step,
	})
	for what, tt := range map[string]struct {
		full bool
		says []string
	}{
		"a short report names some of the steps": {false, []string{"work_item/web/i3", "m.yaml:4:1", "… 16 more steps; --full names them"}},
		"a full report names every step":         {true, []string{"work_item/web/i19", "m.yaml:20:1"}},
	} {
		s := newScreen()
		if tt.full {
			s = newScreen(inFull)
		}
		if err := s.Result(&planner.Plan{}, r); err != nil {
			t.Fatal(err)
		}
		said := s.err.String()
		if n := strings.Count(said, "no permission"); n != 1 || tt.full == strings.Contains(said, "more steps; --full") {
			t.Errorf("%s: the reason is told %d times:\n%s", what, n, said)
		}
		for _, text := range append(tt.says, "work_item/web/i0 and 19 others", "not started: 80 more steps of this kind", "blocks 2 steps", "link/web/i1/x", "work_item/web/sub") {
			if !strings.Contains(said, text) {
				t.Errorf("%s: it does not say %q:\n%s", what, text, said)
			}
		}
	}
}
