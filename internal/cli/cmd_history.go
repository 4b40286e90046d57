package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/history"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

func historyCommand(p Process) *cli.Command {
	list := stateSub(p, "history", "lists what runs did", "", nil, historyList)
	list.UsageText = "planform history [-f FILE | --state FILE] [FLAGS]\nplanform history show [FLAGS] RUN"
	list.Description = `Each run that writes is recorded beside the state: its time, its user, its manifests,
and each change with the former value. The newest 50 runs are kept.
To undo a run, use planform undo.

   planform history -f workspace.yaml
   planform history show -f workspace.yaml last`
	show := stateSub(p, "show", "shows the changes of a run, with the former values", "RUN", nil, historyShow)
	show.UsageText = "planform history show [-f FILE | --state FILE] [FLAGS] RUN|last"
	list.Subcommands = []*cli.Command{show}
	return list
}

// begin records a run before its first request. end adds the result to the record.
func (r *run) begin(ctx context.Context, plan *planner.Plan, d *planfile.Document, file *state.File) (end func(executor.Result) error, err error) {
	if plan.Empty() {
		return func(executor.Result) error { return nil }, nil
	}
	now := time.Now().UTC()
	lineage, serial := file.Version()
	h, err := r.service.historyBeside(ctx, r.statePath, lineage)
	if err != nil {
		return nil, err
	}
	record := &history.Run{
		ID: history.NewID(now), Began: now.Truncate(time.Second), Command: "apply", By: r.conn.user, Manifests: d.Manifests, Plan: d.Hash,
		Serial: serial, Undoes: r.Undo, Targets: r.Options.Targets.Patterns(),
	}
	if len(r.Undo) > 0 {
		record.Command = "undo"
	}
	record.Record(plan, file.Prior())
	if err := h.Save(ctx, record); err != nil {
		return nil, fmt.Errorf("%w; nothing was sent", err)
	}
	return func(result executor.Result) error {
		record.End = &history.End{
			At: time.Now().UTC().Truncate(time.Second), Stopped: result.Stopped != nil || result.Interrupted,
			Unanswered: r.conn.client.Unanswered(),
		}
		for _, s := range result.Steps {
			switch {
			case s.Status == executor.Done && len(s.Missing) == 0 && s.Outcome.LeftOut == 0:
				record.End.Done++
			case s.Step.Action == planner.NotPossible:
				record.End.Left++
			default:
				record.End.NotDone++
			}
		}
		return h.Save(context.WithoutCancel(ctx), record)
	}, nil
}

// historyOf returns the history of a state, and reads the state for its place and lineage.
func historyOf(ctx context.Context, o stateOptions) (*history.History, error) {
	s, err := state.Read(ctx, o.path, o.open)
	if err != nil {
		return nil, err
	}
	return o.service.historyBeside(ctx, s.Path, s.Lineage)
}

func historyList(ctx context.Context, _ Process, o stateOptions, out output) error {
	h, err := historyOf(ctx, o)
	if err != nil {
		return err
	}
	runs, wrong := h.Runs(ctx)
	slices.Reverse(runs)
	rows := [][]string{}
	for _, r := range runs {
		rows = append(rows, []string{r.ID, r.Began.Format("2006-01-02 15:04"), r.By, what(r), counts(r.Summary), ending(r)})
	}
	if out.json {
		err = out.view.JSON(map[string]any{"format_version": view.FormatVersion, "runs": diag.OrEmpty(runs)})
	} else {
		err = out.view.Table([]string{"run", "began (UTC)", "by", "what", "changes", "end"}, rows)
	}
	if err != nil {
		return err
	}
	return wrong
}

// errNoRun returns the error for a run that the history lacks. The word "last" stands for the newest run.
func errNoRun(runs []*history.Run, id string) error {
	switch {
	case id == lastRun && len(runs) == 0:
		id = "yet"
	case id == lastRun:
		id = "to undo"
	}
	return failure{diag.WithHint(errors.New("the history has no run "+id), "planform history lists the runs"), errNotFound}
}

// what returns the command of a run with its manifests, or with the runs that an undo took back.
func what(r *history.Run) string {
	if len(r.Undoes) > 0 {
		return "undo " + strings.Join(r.Undoes, " ")
	}
	return strings.TrimSpace(r.Command + " " + diag.First(r.Manifests, 2))
}

// counts returns the numbers of changes in short form, such as +2 ~1.
func counts(s planner.Summary) string {
	var parts []string
	for _, c := range []struct {
		sign string
		n    int
	}{{"+", s.Create}, {"~", s.Update}, {"=", s.Adopt}, {"-", s.Delete}, {"in ", s.AddMembers}, {"out ", s.RemoveMembers}} {
		if c.n > 0 {
			parts = append(parts, c.sign+strconv.Itoa(c.n))
		}
	}
	return strings.Join(parts, " ")
}

func ending(r *history.Run) string {
	switch {
	case r.End == nil:
		return "no end recorded: killed, or still running"
	case r.End.Stopped:
		return fmt.Sprintf("stopped early: %d done, %d not", r.End.Done, r.End.NotDone)
	case r.End.NotDone > 0:
		return fmt.Sprintf("%d done, %d not", r.End.Done, r.End.NotDone)
	default:
		return "done"
	}
}

func historyShow(ctx context.Context, _ Process, o stateOptions, out output) error {
	h, err := historyOf(ctx, o)
	if err != nil {
		return err
	}
	id := o.args[0]
	if id == lastRun {
		runs, err := h.Runs(ctx)
		if err != nil {
			return err
		}
		switch last, by := history.Last(runs); {
		case by != nil:
			id = slices.Max(by.Undoes)
		case len(last) > 0:
			id = last[0].ID
		case len(runs) > 0:
			id = runs[len(runs)-1].ID
		default:
			return errNoRun(nil, lastRun)
		}
	}
	r, err := h.Run(ctx, id)
	if err != nil {
		return err
	}
	if out.json {
		return out.view.JSON(struct {
			FormatVersion int `json:"format_version"`
			*history.Run
			Steps []history.Step `json:"steps"`
		}{view.FormatVersion, r, diag.OrEmpty(r.Steps)})
	}
	lines := []string{
		r.ID + ": " + what(r) + ", " + r.Began.Format("2006-01-02 15:04 UTC") + ", by " + r.By + ", in " + r.Workspace,
		"plan " + r.Plan + ", " + ending(r), "",
	}
	for i := range r.Steps {
		lines = append(lines, stepLines(&r.Steps[i])...)
	}
	return out.view.Lines(lines...)
}

// stepLines returns a step as lines, with the former value of each change.
func stepLines(s *history.Step) []string {
	head := strings.ReplaceAll(s.Action.String(), "_", " ") + " " + string(s.Address)
	if s.Identifier != "" {
		head += "  " + s.Identifier
	}
	if s.Name != "" {
		head += "  " + diag.Quote(diag.Truncate(s.Name, 80))
	}
	lines := []string{head}
	for _, f := range s.Fields {
		before := "empty"
		if f.Before != "" {
			before = diag.Quote(diag.Truncate(strings.ReplaceAll(f.Was(), "\n", " "), 200))
		}
		lines = append(lines, "    "+f.Name+" was "+before)
	}
	if len(s.Lost) > 0 {
		lines = append(lines, "    former value unknown: "+strings.Join(s.Lost, ", "))
	}
	for _, m := range s.Members {
		line := "    " + string(m.Address)
		if m.Address == "" {
			line = "    " + cmp.Or(m.Name, m.ID)
		}
		if m.Value != "" {
			line += " was " + m.Value
		}
		if m.From != "" {
			line += " was in " + string(m.From)
		}
		lines = append(lines, line)
	}
	return lines
}
