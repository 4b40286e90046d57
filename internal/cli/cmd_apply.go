package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

func applyCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "makes the workspace match the manifests",
		UsageText: "planform apply [FILE…] [FLAGS]\nplanform apply PLAN [FILE…] [FLAGS]", ArgsUsage: argsPlan,
		Description: `Shows the plan and carries it out. On a terminal it asks first, even if the
output is redirected; without a terminal it goes ahead. If a run ends early, run
it again: nothing is created twice.
Without a terminal, as in CI, a line every 30 seconds shows the progress. At the
end the run names each step that failed, was blocked or differs from the plan,
and counts the others. With --full, plan and result list every step. With
--output json, each step is reported when it ends.

With PLAN, a file that planform plan --out wrote, it carries out exactly that
plan and does not ask, because you have reviewed it. If the manifests, the state
or the service changed so that a new plan would differ, it stops and names each
difference. Deletions still need --yes. If the run ends early, run it again. You
can also give manifests and flags of plan; then PLAN must have been made with
exactly these.

   planform apply workspace.yaml --sandbox
   planform apply workspace.yaml --dry-run
   planform apply manifests/ extra.yaml --yes --parallelism 8

   # also delete objects that are no longer in the manifest
   planform apply workspace.yaml --prune --yes

   # carry out a plan that was reviewed
   planform plan workspace.yaml --out plan.json
   planform apply plan.json`,
		Flags: slices.Concat(planFlags(), []cli.Flag{
			&cli.StringFlag{Name: "expect", Usage: "go ahead only if the plan has this `HASH`; planform plan prints it"},
		}, runFlags("50, or a quarter of the objects planform created"), stateFlags(), connectionFlags(), outputFlags(), extentFlags()),
		Action: func(c *cli.Context) error {
			out := newOutput(c, p)
			o, err := newApplyOptions(c, p)
			if err != nil {
				return err
			}
			if c.Bool("dry-run") {
				return runPlan(c.Context, o.planOptions, out)
			}
			return runApply(c.Context, p, o, out)
		},
	}
}

// applyOptions holds the settings of an apply.
type applyOptions struct {
	planOptions

	saved       *savedPlan              // plan to carry out; nil = a new plan
	expected    func(hash string) error // returns an error if the hash is not the value of --expect
	parallelism int
	lockTimeout time.Duration
}

func newApplyOptions(c *cli.Context, p Process) (o applyOptions, err error) {
	o = applyOptions{parallelism: c.Int("parallelism"), lockTimeout: c.Duration("lock-timeout")}
	o.expected = func(hash string) error { return checkExpected(c, hash) }
	if o.saved, err = readPlan(c); err != nil {
		return o, err
	}
	if o.saved == nil {
		if o.planOptions, err = newPlanOptions(c, p); err != nil {
			return o, err
		}
		return o, o.expected("")
	}
	if o.planOptions, err = o.saved.options(c, p); err != nil {
		return o, err
	}
	return o, o.expected(o.saved.Hash)
}

// runApply reads the manifests, makes the plan, asks, and carries the plan out.
func runApply(ctx context.Context, p Process, o applyOptions, out output) error {
	r, err := newRun(ctx, o.planOptions, out)
	if err != nil {
		return err
	}
	ctx, release := untilSignal(ctx)
	defer release()
	defer r.close()
	if err := r.connect(ctx); err != nil {
		return err
	}
	if o.saved != nil {
		if err := o.saved.isFor(r.conn); err != nil {
			return err
		}
	}
	out.warnOfOthers(r.statePath)
	open := r.service.stateOf(r.conn.baseURL, r.conn.workspace)
	open.Command, open.LockTimeout, open.Waiting = "planform apply", o.lockTimeout, out.lockedBy(o.lockTimeout)
	open.Lost = r.conn.client.StopBecause
	file, err := state.Open(ctx, r.statePath, open)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // saved before
	r.statePath = file.Path()
	r.remember(file.Snapshot())
	plan, err := r.makePlan(ctx)
	if err != nil {
		return err
	}
	document := r.document(ctx, plan)
	if err := o.review(document, file, out); err != nil {
		return err
	}
	if agreed, err := o.confirm(ctx, p, plan, document, out); err != nil || !agreed {
		return err
	}
	release() // from here on, a signal does not end requests under way
	if err := context.Cause(ctx); err != nil {
		return err
	}
	end, err := r.begin(ctx, plan, document, file)
	if err != nil {
		return err
	}
	if !plan.Empty() {
		if err := file.StartPlan(o.saved.hash()); err != nil {
			return err
		}
	}
	if len(plan.StateChanges)+len(plan.Seen)+len(plan.Sources) > 0 {
		file.ApplyChanges(append(plan.StateChanges, plan.Seen...))
		file.RecordSources(plan.Sources)
		if err := file.Save(); err != nil {
			return err
		}
	}
	result := r.execute(ctx, plan, file, o.parallelism)
	if result.BoundAll() && len(r.Targets)+len(r.Undo) == 0 {
		file.Own(plan.Owner)
	}
	stopped := result.Stopped
	result.Stopped = cmp.Or(stopped, file.Save()) // the record of the run includes this error
	result.Stopped = cmp.Or(stopped, errors.Join(result.Stopped, end(result)))
	if out.json || !plan.Empty() || result.Stopped != nil {
		if err := out.view.Result(plan, result); err != nil {
			return err
		}
	}
	if r.conn.sandbox != "" && !out.json && result.Stopped == nil {
		out.view.Notef("to see it, run %s and open http://%s/", sandboxServer(r.conn.sandbox), sandboxAddress)
	}
	return runError(plan, result, o)
}

// review shows the plan. If a saved plan or --expect names a reviewed plan, it returns an error for any other plan.
func (ao applyOptions) review(d *planfile.Document, file *state.File, out output) error {
	show := out.view.Plan
	if ao.saved != nil {
		if err := ao.saved.check(d, file, ao.service.given, out); err != nil {
			return err
		}
		show = out.view.PlanInShort
	}
	if !out.json {
		if err := show(d); err != nil {
			return err
		}
	}
	if ao.saved != nil {
		return nil // the remaining steps may have another hash
	}
	return ao.expected(d.Hash)
}

// confirm checks the limits of the plan, and asks whether to go ahead. It does not ask, and returns true, with --yes, without a terminal,
// for an empty plan, and for a saved plan that deletes nothing.
func (ao applyOptions) confirm(ctx context.Context, p Process, plan *planner.Plan, d *planfile.Document, out output) (bool, error) {
	ao.limits.reviewed = ao.saved != nil
	if err := ao.limits.check(p, plan); err != nil {
		return false, err
	}
	if ao.limits.yes || plan.Empty() || ao.saved != nil && plan.Summary.Delete == 0 || !p.Streams.InTTY {
		return true, nil
	}
	question := fmt.Sprintf("Make these changes in %s?", d.Where())
	if n := plan.Summary.Delete; n > 0 {
		question = fmt.Sprintf("Make these changes in %s, and delete %s?", d.Where(), diag.Count(n, "object"))
	}
	type answer struct {
		yes bool
		err error
	}
	answers := make(chan answer, 1)
	go func() { // a read of the terminal cannot be cancelled
		yes, err := out.view.Confirm(d, question)
		answers <- answer{yes, err}
	}()
	select {
	case a := <-answers:
		if a.err == nil && !a.yes {
			out.view.Notef("nothing was done; %s", map[bool]string{true: `to delete, answer "yes" or give --yes`, false: "to skip the question, give --yes"}[plan.Summary.Delete > 0])
		}
		if errors.Is(a.err, view.ErrNoTerminal) {
			a.err = usageError{text: a.err.Error() + "; nothing was done", hint: "give --yes to go ahead without a question", code: "needs-yes"}
		}
		return a.yes, a.err
	case <-ctx.Done():
		out.view.Notef("") // the cursor is still in the line of the question
		return false, context.Cause(ctx)
	}
}

// execute carries out the plan. The first signal ends it after the requests under way, a second signal ends it at once.
func (r *run) execute(ctx context.Context, plan *planner.Plan, file *state.File, parallelism int) executor.Result {
	conn, out := r.conn, r.out
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	release := onSignals(func() {
		close(stop)
		conn.client.Stop()
		out.view.Notef("interrupted: open requests are finished and the state is saved; interrupt again to stop at once")
	}, cancel)
	defer release()
	progress := out.view.Progress(view.Run{
		Steps: len(plan.Steps) - plan.Summary.Blocked, Requests: plan.Summary.Requests,
		Quota: conn.client.Quota,
	})
	defer conn.relay.follow(progress, false)()
	service := provider.NewService(conn.client, plan, file, r.grace)
	service.KeepSecretsOn(r.service.disk)
	result := executor.Run(ctx, plan, service, file, executor.Options{
		Parallelism: parallelism, Stop: stop, Events: func(e executor.Event) {
			logPanic(out, e)
			progress.Event(e)
		},
	})
	if result.Stopped == nil {
		result.Stopped = service.Confirm(ctx, &result, file)
	}
	out.view.Diagnostics(service.Fallbacks())
	return result
}

// runError returns the error of a run for the exit code.
func runError(plan *planner.Plan, r executor.Result, o applyOptions) error {
	switch {
	case r.Stopped != nil:
		return reportedError{r.Stopped}
	case r.Interrupted:
		return reportedError{errInterrupted}
	}
	for _, s := range r.Steps {
		if s.Step.Action != planner.NotPossible && s.Status != executor.Done || len(s.Missing) > 0 || s.Outcome.LeftOut > 0 {
			return errSteps
		}
	}
	if o.isImpossible(plan) {
		return errSteps
	}
	if o.detailed && !plan.Empty() {
		return errPending
	}
	return nil
}
