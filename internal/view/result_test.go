package view_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

type hintedError struct {
	error
	hint string
}

func (hn hintedError) Hint() string { return hn.hint }

// ended is a run in which everything happened.
func ended() (*planner.Plan, executor.Result) {
	p := everything()
	r := executor.Result{Steps: make([]executor.StepResult, len(p.Steps))}
	for i, s := range p.Steps {
		r.Steps[i] = executor.StepResult{Step: s, Status: executor.Done, Outcome: executor.Outcome{Record: planner.Record{ID: fmt.Sprint("id-", i)}}}
		if s.Action == planner.NotPossible {
			r.Steps[i] = executor.StepResult{Step: s}
		}
	}
	r.Steps[0].Outcome.Identifier = "WEB-12"
	r.Steps[0].Outcome.RecoveredByLookup, r.Steps[0].Outcome.CreatedByUs = true, true
	r.Steps[0].Outcome.Warnings = diag.List{{Severity: diag.Warning, Code: "dropped", Summary: "the service dropped the assignee bob@example.com"}}
	fail := func(i int, status executor.Status, err error) {
		r.Steps[i].Status, r.Steps[i].Err, r.Steps[i].Outcome = status, err, executor.Outcome{}
	}
	fail(1, executor.Failed, hintedError{errors.New("POST /work-items/: 403: You do not have permission\nto do \x1b[1mthis"), "give the key the scope projects.work_items:write"})
	for _, i := range []int{2, 3} {
		fail(i, executor.Blocked, nil)
		r.Steps[i].BlockedBy = p.Steps[1]
	}
	fail(5, executor.Unknown, fmt.Errorf("connection reset: %w", executor.ErrOutcomeUnknown))
	fail(6, executor.NotStarted, nil)
	for i, s := range p.Steps {
		if s.Members != nil {
			r.Steps[i].Missing = []resource.Address{"work_item/web/item-1"}
			if len(s.Members.Items) == 100 {
				r.Steps[i].Missing = append(r.Steps[i].Missing, "work_item/web/item-2", "work_item/web/item-3", "work_item/web/item-4", "work_item/web/item-5")
			}
			if len(s.Members.Items) == 1 {
				fail(i, executor.Blocked, nil)
				r.Steps[i].BlockedBy = p.Steps[1]
				continue
			}
			r.Steps[i].Outcome.Members = make([]string, len(s.Members.Items)-len(r.Steps[i].Missing))
		}
	}
	return p, r
}

func TestAResultSaysWhatHappenedAndWhatToDo(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]func(*view.Options){
		"result.txt": nil, "result.ansi": {inColor}, "full.txt": {inFull}, "result.json": {inJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(set...)
			if err := s.Result(ended()); err != nil {
				t.Fatal(err)
			}
			golden(t, "result/"+name, s.out.String()+"--- stderr\n"+s.err.String())
		})
	}
}

func TestTheStepsOfOneRequestWithAnUnknownOutcomeAreToldTogether(t *testing.T) {
	t.Parallel()
	var r executor.Result
	for i := range 50 {
		step := &planner.Step{Index: planner.StepID(i), Address: resource.Address(fmt.Sprintf("work_item/web/%d", i)), Action: planner.Create, Kind: resource.MustLookup("work_item")}
		r.Steps = append(r.Steps, executor.StepResult{Step: step, Status: executor.Unknown, Err: errors.New("POST …/bulk-create/: 200: not as documented")})
	}
	s := newScreen()
	if err := s.Result(&planner.Plan{}, r); err != nil {
		t.Fatal(err)
	}
	const want = `error: outcome unknown: create work_item/web/0 and 49 others: POST …/bulk-create/: 200: not as documented
    create work_item/web/1
    create work_item/web/2
    create work_item/web/3
    … 46 more steps; --full names them
next: run the same command again: it checks the requests without an answer first, then continues
`
	if got := s.err.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// numbered is a step that created a work item.
func numbered(identifier string) executor.StepResult {
	return executor.StepResult{
		Step:   &planner.Step{Address: "work_item/web/a", Kind: resource.MustLookup("work_item")},
		Status: executor.Done, Outcome: executor.Outcome{Record: planner.Record{Identifier: identifier}},
	}
}

func TestAResultNamesTheNextStep(t *testing.T) {
	t.Parallel()
	step := &planner.Step{Address: "work_item/web/a", Action: planner.Create, Kind: resource.MustLookup("work_item"), Position: at(3)}
	for name, tt := range map[string]struct {
		result   executor.Result
		out, err string
	}{
		"a run without steps says that nothing was applied": {executor.Result{}, "Applied: nothing.\n", ""},
		"a complete run names no next step": {
			executor.Result{Steps: []executor.StepResult{{Step: step, Status: executor.Done}}},
			"Applied: 1 created.\n", "",
		},
		"a run that gave numbers shows them": {
			executor.Result{Steps: []executor.StepResult{numbered("WEB-9"), numbered("WEB-10"), numbered("WEB-11"), numbered("NEW-OPS-1")}},
			"+ created WEB-9 to WEB-11, NEW-OPS-1\nApplied: 4 created.\n", "",
		},
		"an interrupted run names the next step": {
			executor.Result{Steps: []executor.StepResult{{Step: step}}, Interrupted: true},
			"Applied: nothing; 1 not started.\n",
			"next: interrupted; completed steps are recorded: run the same command again to continue\n",
		},
		"a run that stopped shows the error and the next step": {
			executor.Result{Steps: []executor.StepResult{{Step: step}}, Stopped: hintedError{fmt.Errorf("401: %w", executor.ErrAbortRun), "give the key the scope projects.work_items:write"}},
			"Applied: nothing; 1 not started.\n",
			"error: 401: the run was stopped\n  give the key the scope projects.work_items:write\nnext: correct the errors above and run the same command again: it continues with the rest\n",
		},
		"kept until what may replace it is complete": {
			executor.Result{Steps: []executor.StepResult{
				{Step: step, Status: executor.Failed, Err: errors.New("400: no")},
				{Step: &planner.Step{Index: 1, Address: "work_item/ops/a", Action: planner.Delete}, Status: executor.Blocked, BlockedBy: step},
			}},
			"Applied: nothing; 1 failed, 1 blocked.\n",
			"error: could not create work_item/web/a: 400: no\n  --> workspace.yaml:3:5\n  1 deletion on hold, in case one of these objects is this one, moved:\n    delete work_item/ops/a\nnext: correct the errors above and run the same command again: it continues with the rest\n",
		},
		"blocked by a step that did not fail now": {
			executor.Result{Steps: []executor.StepResult{{Step: step, Status: executor.Blocked, BlockedBy: &planner.Step{Address: "project/web", Action: planner.NotPossible, Cause: planner.Cause{Code: planner.Refused, Text: "no way"}}}}},
			"Applied: nothing; 1 blocked.\n",
			"error: steps were blocked by project/web\n  no way\n  blocks 1 step:\n    create work_item/web/a\nnext: correct the errors above and run the same command again: it continues with the rest\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen()
			if err := s.Result(&planner.Plan{}, tt.result); err != nil {
				t.Fatal(err)
			}
			if s.out.String() != tt.out || s.err.String() != tt.err {
				t.Errorf("got out %q, err %q", s.out.String(), s.err.String())
			}
		})
	}
}
