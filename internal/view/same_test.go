package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// refusedError is a refusal of which the service says why.
type refusedError struct{}

func (refusedError) Error() string           { return "POST …/work-items/: 403: no permission" }
func (refusedError) Refusal() (string, bool) { return "403: no permission", true }

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
			res = executor.StepResult{Step: step, Status: executor.Blocked, BlockedBy: r.Steps[0].Step}
		}
		r.Steps = append(r.Steps, res)
	}
	r.Steps = append(r.Steps, executor.StepResult{
		Step:   &planner.Step{Address: "link/web/i1/x", Kind: resource.MustLookup("link"), Operation: link},
		Status: executor.Blocked, BlockedBy: r.Steps[1].Step,
	})
	s := newScreen()
	if err := s.Result(&planner.Plan{}, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(s.err.String(), "no permission"); n != 1 {
		t.Errorf("the reason is told %d times:\n%s", n, s.err.String())
	}
	for _, text := range []string{"work_item/web/i0 and 19 others", "work_item/web/i3", "m.yaml:4:1", "… 16 more steps", "not started: 80 more steps of this kind", "blocks 1 step", "link/web/i1/x"} {
		if !strings.Contains(s.err.String(), text) {
			t.Errorf("it does not say %q:\n%s", text, s.err.String())
		}
	}
}
