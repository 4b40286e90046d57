package view

import (
	"github.com/planform/planform/executor"
	"github.com/planform/planform/planner"
)

type jsonStepResult struct {
	Address    string           `json:"address"`
	Action     string           `json:"action"`
	Status     string           `json:"status"`
	ID         *string          `json:"id"`
	Identifier *string          `json:"identifier"`
	Error      *string          `json:"error"`
	BlockedBy  *string          `json:"blocked_by"`
	Warnings   []jsonDiagnostic `json:"warnings"`
	Position   *jsonPosition    `json:"position"`
	Missing    []string         `json:"missing,omitempty"`
}

func (p *printer) jsonResult(r *executor.Result, t tally) {
	p.str("{\n")
	p.member("format_version", FormatVersion)
	p.member("summary", t)
	p.member("interrupted", r.Interrupted)
	p.member("stopped", message(r.Stopped))
	p.str(`  "steps": `)
	p.list(len(r.Steps), func(i int) any { return stepResult(&r.Steps[i]) })
	p.str("\n}\n")
}

func stepResult(r *executor.StepResult) *jsonStepResult {
	s := r.Step
	j := &jsonStepResult{
		Address: string(s.Address), Action: s.Action.String(), Status: status(r),
		ID: known(r.Outcome.ID), Identifier: known(r.Outcome.Identifier), Error: message(r.Err),
		Warnings: diagnostics(r.Outcome.Warnings), Position: position(s.Position),
	}
	if j.ID == nil {
		j.ID = known(s.ID)
	}
	if r.BlockedBy != nil {
		j.BlockedBy = known(string(r.BlockedBy.Address))
	}
	if s.Action == planner.NotPossible && r.Err == nil {
		j.Error = known(s.Reason)
	}
	for _, a := range r.Missing {
		j.Missing = append(j.Missing, string(a))
	}
	return j
}
