package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/remote"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/planner"
)

func applyCommand(p Process) *cli.Command {
	return &cli.Command{
		Name: "apply", Usage: "makes the service match the manifests",
		UsageText: "planform apply -f FILE [FLAGS]",
		Description: `Shows the plan and carries it out. On a terminal it asks first; elsewhere it goes ahead.
A run that ends early, however, can simply be started again: nothing is made twice.

   planform apply -f workspace.yaml --sandbox
   planform apply -f workspace.yaml --dry-run
   planform apply -f manifests/ -f extra.yaml --yes --parallelism 8`,
		Flags: concat(planFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "only show the plan"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
			&cli.IntFlag{Name: "parallelism", Value: 4, Usage: "`NUMBER` of requests under way at once"},
			&cli.DurationFlag{Name: "lock-timeout", Usage: "`TIME` to wait for another planform to release the state"},
		}, stateFlags(), connectionFlags(), outputFlags()),
		Action: func(c *cli.Context) error {
			o := applyOptions{yes: c.Bool("yes"), parallelism: c.Int("parallelism"), lockTimeout: c.Duration("lock-timeout")}
			var out output
			var err error
			if o.planOptions, out, err = newPlanOptions(c, p); err != nil {
				return err
			}
			if o.parallelism < 1 {
				return usageError{text: "--parallelism must be at least 1"}
			}
			if c.Bool("dry-run") {
				return runPlan(c.Context, p, o.planOptions, out)
			}
			return runApply(c.Context, p, o, out)
		},
	}
}

// applyOptions are the settings of an apply.
type applyOptions struct {
	planOptions
	yes         bool
	parallelism int
	lockTimeout time.Duration
}

// runApply is the whole way from a manifest to the service.
func runApply(ctx context.Context, p Process, o applyOptions, out output) error {
	wanted, err := load(ctx, p, o.planOptions, out)
	if err != nil {
		return err
	}
	waits := &waits{}
	conn, err := connect(ctx, o.service, wanted.Workspace, out, waits.tell)
	if err != nil {
		return err
	}
	defer conn.close() //nolint:errcheck // what was done is in the journal and the state
	path, err := o.statePath(wanted, conn)
	if err != nil {
		return err
	}
	file, err := state.Open(ctx, path, state.Options{
		BaseURL: conn.name, Workspace: conn.workspace, LockTimeout: o.lockTimeout, Command: "planform apply",
	})
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // saved before
	plan, err := makePlan(ctx, conn, o.planOptions, wanted, file, out)
	if err != nil {
		return err
	}
	if !out.json {
		if err := out.view.Plan(plan); err != nil {
			return err
		}
	}
	if agreed, err := o.agreed(p, plan, out); err != nil || !agreed {
		return err
	}
	result := execute(ctx, conn, plan, file, o, out, waits)
	if err := file.Save(); err != nil {
		out.view.Error(err, "nothing is lost: the journal beside the state file holds what was done, and the next run reads it first")
		result.Stopped = err
	}
	if !out.json && plan.Empty() {
		return verdict(plan, result, o)
	}
	if err := out.view.Result(plan, result); err != nil {
		return err
	}
	return verdict(plan, result, o)
}

// agreed asks whether to go ahead, where there is anybody to ask and anything to do.
func (o applyOptions) agreed(p Process, plan *planner.Plan, out output) (bool, error) {
	if o.yes || plan.Empty() || !p.Streams.InTTY || !p.Streams.ErrTTY {
		return true, nil
	}
	yes, err := out.view.Confirm(fmt.Sprintf("Make these changes in the workspace %s?", plan.Workspace))
	if err == nil && !yes {
		out.view.Notef("nothing was done")
	}
	return yes, err
}

// execute carries out the plan. The first signal ends it after the requests under way, a second one at once.
func execute(ctx context.Context, conn *connection, plan *planner.Plan, journal executor.Journal, o applyOptions, out output, waits *waits) executor.Result {
	// What was decoded is gone by now and little is added: collecting seldom leaves the cores to the requests.
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	release := onSignals(func() {
		out.view.Notef("interrupted: requests under way are finished, then the state is saved; interrupt again to stop at once")
		conn.client.Stop()
		close(stop)
	}, cancel)
	defer release()
	progress := out.view.Progress(plan.Summary.Requests)
	waits.follow(progress)
	defer waits.follow(nil)
	defer progress.Done()
	return executor.Run(ctx, plan, remote.NewService(conn.client, plan).WithPatience(o.patience), journal, executor.Options{
		Parallelism: o.parallelism, Stop: stop, Events: func(e executor.Event) {
			logPanic(out, e)
			progress.Event(e)
		},
	})
}

// verdict turns how the run ended into the error that decides the exit code.
func verdict(plan *planner.Plan, r executor.Result, o applyOptions) error {
	switch {
	case r.Stopped != nil:
		return r.Stopped
	case r.Interrupted:
		return errInterrupted
	}
	for _, s := range r.Steps {
		if s.Status == executor.Failed || s.Status == executor.Unknown || s.Status == executor.Blocked || len(s.Missing) > 0 {
			return errSteps
		}
	}
	if plan.Summary.Blocked > 0 {
		return errSteps
	}
	if o.detailed && !plan.Empty() {
		return errPending
	}
	return nil
}
