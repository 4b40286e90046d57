package view

import (
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/planner"
)

type jsonResult struct {
	FormatVersion int              `json:"format_version"`
	Summary       statusCounts     `json:"summary"`
	Interrupted   bool             `json:"interrupted"`
	Stopped       *string          `json:"stopped"`
	Steps         []jsonStepResult `json:"steps"`
}

type jsonStepResult struct {
	Address    string         `json:"address"`
	Action     string         `json:"action"`
	Status     string         `json:"status"`
	ID         *string        `json:"id"`
	Identifier *string        `json:"identifier"`
	Error      *string        `json:"error"`
	BlockedBy  *string        `json:"blocked_by"`
	Warnings   diag.List      `json:"warnings"`
	Position   *diag.Position `json:"position"`
	Missing    []string       `json:"missing,omitempty"`
}

func newJSONResult(r *executor.Result, t statusCounts) jsonResult {
	j := jsonResult{FormatVersion, t, r.Interrupted, message(r.Stopped), make([]jsonStepResult, len(r.Steps))}
	for i := range r.Steps {
		j.Steps[i] = newJSONStepResult(&r.Steps[i])
	}
	return j
}

func newJSONStepResult(r *executor.StepResult) jsonStepResult {
	s := r.Step
	j := jsonStepResult{
		Address: string(s.Address), Action: s.Action.String(), Status: status(r),
		ID: orNull(r.Outcome.ID), Identifier: orNull(r.Outcome.Identifier), Error: message(r.Err),
		Warnings: diagnostics(r.Outcome.Warnings), Position: position(s.Position),
	}
	if j.ID == nil {
		j.ID = orNull(s.ID)
	}
	if r.BlockedBy != nil {
		j.BlockedBy = orNull(string(r.BlockedBy.Address))
	}
	if s.Action == planner.NotPossible && r.Err == nil {
		j.Error = orNull(s.Reason)
	}
	for _, a := range r.Missing {
		j.Missing = append(j.Missing, string(a))
	}
	return j
}
