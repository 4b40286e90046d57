package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state/history"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// lastRun is the word for the newest run that is not an undo. It includes earlier runs that ended early and that the newest run continued.
const lastRun = "last"

func undoCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "undoes the changes of a run",
		UsageText: "planform undo [-f FILE | --state FILE] [FLAGS] RUN|last [RUN...]", ArgsUsage: "RUN",
		Description: `Makes a plan that undoes one or more runs of apply, shows it, asks, and carries it out.
Created objects are deleted, changed fields get their former values, and deleted
objects are created again with new numbers. Later changes by people stay, and the plan
names them. If an undo ends early, run it again. If the run got no answer to some requests,
the undo waits until they can no longer take effect (--grace-period).

"last" is the newest run. After an undo, "last" still means the same run, so that an undo
can be repeated. Name an earlier run by its ID, which planform history lists. If a run
ended early and the newest one continued it with the same manifests, "last" means both.

The manifests stay as they are: the next apply makes the same changes again.

   planform history -f workspace.yaml
   planform undo -f workspace.yaml last
   planform undo -f workspace.yaml last --dry-run
   planform undo -f web.yaml --target 'label/web/*' 20261123-231502-123-7f3a

   # review it first
   planform undo -f workspace.yaml last --out undo.json
   planform apply undo.json --yes`,
		Flags: slices.Concat(manifestFlags(), []cli.Flag{
			maxErrorsFlag(),
			&cli.StringFlag{Name: "out", Usage: "save the plan to a `FILE`, for planform show and planform apply, instead of carrying it out"},
		}, runFlags("what the run created"), sharedWithUndo(), stateFlags(), connectionFlags(), outputFlags(view.Formats()...), extentFlags()),
		Action: func(c *cli.Context) error {
			out := newOutput(c, p)
			o, err := newUndoOptions(c, p)
			if err != nil {
				return err
			}
			if o.out != "" || c.Bool("dry-run") {
				return runPlan(c.Context, o.planOptions, out)
			}
			return runApply(c.Context, p, o, out)
		},
	}
}

// sharedWithUndo returns the flags of planform plan that planform undo also has.
func sharedWithUndo() []cli.Flag {
	names := []string{"detailed-exitcode", "allow-unsupported", "refresh-all", "target", "delete-changed", "grace-period"}
	flags := slices.DeleteFunc(planFlags(), func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) })
	for _, f := range flags {
		if f, ok := f.(*cli.BoolFlag); ok && f.Name == "delete-changed" {
			f.Usage = "also delete objects that others changed since, use, or added comments or other contents to"
		}
	}
	return flags
}

func newUndoOptions(c *cli.Context, p Process) (o applyOptions, err error) {
	o = applyOptions{parallelism: c.Int("parallelism"), lockTimeout: c.Duration("lock-timeout")}
	o.expected = func(string) error { return nil }
	options := planfile.Options{Files: diag.OrEmpty(manifests(c)), State: statePlace(c, p), API: c.String("api"), Undo: c.Args().Slice()}
	if options.Settings, err = newSettings(c); err != nil {
		return o, err
	}
	options.Prune, options.OnDrift = true, planner.Keep
	if len(options.Undo) == 0 {
		return o, usageError{text: "planform undo needs a run", hint: "planform undo last, or the ID of a run that planform history lists"}
	}
	for _, id := range options.Undo {
		if id != lastRun && !history.IsID(id) {
			return o, usageError{text: id + " is not the ID of a run", hint: "planform history lists the runs; last is the newest"}
		}
	}
	if options.Variables, err = variables(c); err != nil {
		return o, err
	}
	if o.planOptions, err = o.with(options, c, p); err != nil {
		return o, err
	}
	o.out = c.String("out")
	return o, nil
}

// undoing changes desired and in so that the plan takes back the runs of an undo. known are the addresses of the objects to delete.
func (r *run) undoing(ctx context.Context, desired *manifest.Manifest, in *planner.Input) (known []resource.Address, err error) {
	h, err := r.service.historyBeside(ctx, r.statePath, r.prior.Lineage)
	if err != nil {
		return nil, err
	}
	runs, wrong := h.Runs(ctx)
	var ids []string
	for _, id := range r.Undo {
		named := []*history.Run{}
		if id == lastRun {
			var by *history.Run
			if named, by = history.Last(runs); by != nil {
				in.Notices.Add(diag.Diagnostic{
					Severity: diag.Warning, Code: "taken-back", Summary: by.ID + " already undid " + strings.Join(by.Undoes, " and "),
					Hint: "to undo an earlier run, name it: planform undo RUN; planform history lists the runs",
				})
				r.Undo = by.Undoes
				continue
			}
		} else if i := slices.IndexFunc(runs, func(run *history.Run) bool { return run.ID == id }); i >= 0 {
			named = runs[i : i+1]
		}
		if len(named) == 0 && wrong != nil {
			return nil, unreadable(wrong)
		}
		if len(named) == 0 {
			return nil, errNoRun(runs, id)
		}
		for _, run := range named {
			ids = append(ids, run.ID)
		}
	}
	if len(ids) > 0 {
		wrong = history.Since(wrong, slices.Min(ids))
	}
	if wrong != nil {
		return nil, unreadable(wrong)
	}
	if err := r.awaitLate(ctx, runs, ids); err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		r.Undo = ids
	}
	u, err := history.Undo(runs, ids, in.Prior, in.WebURL)
	if err != nil {
		return nil, err
	}
	desired.Objects = u.Objects
	in.Owner, in.StateIsComplete, in.OtherSources = u.Owner, true, nil
	in.Deletes, in.Leaves, in.Left, in.Notices = u.Deletes, u.Leaves, u.Left, append(in.Notices, u.Notices...)
	maps.DeleteFunc(in.Deletes, func(a resource.Address, _ bool) bool { return !in.Targets.Match(a) })
	for at := range in.Leaves {
		if container, _, _, ok := at.ParseMembership(); ok && !in.Targets.Match(container) {
			delete(in.Leaves, at)
		}
	}
	return slices.Collect(maps.Keys(u.Deletes)), nil
}

// awaitLate waits until unanswered requests of the runs to undo can no longer take effect. A request that takes effect after the undo would
// repeat a change that the undo took back.
func (r *run) awaitLate(ctx context.Context, runs []*history.Run, ids []string) error {
	late := r.grace
	if late.GivenUp = history.GivenUp(runs, ids, late.GivenUp); late.GivenUp.IsZero() {
		return nil
	}
	return late.Wait(ctx)
}

// unreadable returns the error of an undo if the records of later runs cannot be read.
func unreadable(err error) error {
	return diag.WithHint(err, "an undo needs the records of all runs since then; planform history lists those that can be read")
}
