package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/remote"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

func planCommand(p Process) *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "shows what apply would do; reads, writes nothing",
		UsageText: "planform plan -f FILE [FLAGS]",
		Description: `Reads the manifests, the state and what the service holds, and shows the difference.

   planform plan -f workspace.yaml
   planform plan -f workspace.yaml --output json > plan.json
   planform plan -f workspace.yaml --detailed-exitcode    exits with 2 if changes are pending`,
		Flags: concat(planFlags(), stateFlags(), connectionFlags(), outputFlags()),
		Action: func(c *cli.Context) error {
			o, out, err := newPlanOptions(c, p)
			if err != nil {
				return err
			}
			return runPlan(c.Context, p, o, out)
		},
	}
}

// planFlags are those that plan and apply share.
func planFlags() []cli.Flag {
	return []cli.Flag{
		manifestFlag(),
		&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit with 2 if changes are pending"},
		&cli.BoolFlag{Name: "no-refresh", Usage: "trust the state file instead of reading again what it knows"},
		&cli.BoolFlag{Name: "refresh-all", Usage: "read again also what takes one request for each thing, such as the links of each work item, however many there are"},
		&cli.DurationFlag{Name: "patience", Value: remote.DefaultPatience, Usage: "`TIME` for which the service may go on with a request that was given up; until then nothing of which the answer was lost is sent again"},
		&cli.BoolFlag{Name: "adopt-by-name", Usage: "take work items that bear the name of one in the manifest for it"},
	}
}

// planOptions are what a plan depends on.
type planOptions struct {
	files       []string
	state       string
	detailed    bool
	trust       bool
	thorough    bool
	adoptByName bool
	patience    time.Duration
	service     connectionOptions
}

func newPlanOptions(c *cli.Context, p Process) (planOptions, output, error) {
	if err := noArguments(c); err != nil {
		return planOptions{}, output{}, err
	}
	names, err := files(c)
	if err != nil {
		return planOptions{}, output{}, err
	}
	out, err := newOutput(c, p)
	if err != nil {
		return planOptions{}, output{}, err
	}
	service, err := newConnectionOptions(c, p)
	return planOptions{
		files: names, state: c.String("state"), detailed: c.Bool("detailed-exitcode"), trust: c.Bool("no-refresh"), thorough: c.Bool("refresh-all"),
		adoptByName: c.Bool("adopt-by-name"), patience: c.Duration("patience"), service: service,
	}, out, err
}

func runPlan(ctx context.Context, p Process, o planOptions, out output) error {
	wanted, err := load(ctx, p, o, out)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, o.service, wanted.Workspace, out, nil)
	if err != nil {
		return err
	}
	defer conn.close() //nolint:errcheck // nothing was written
	path, err := o.statePath(wanted, conn)
	if err != nil {
		return err
	}
	known, err := state.Read(path, state.Options{BaseURL: conn.name, Workspace: conn.workspace})
	if err != nil {
		return err
	}
	plan, err := makePlan(ctx, conn, o, wanted, known, out)
	if err != nil {
		return err
	}
	if err := out.view.Plan(plan); err != nil {
		return err
	}
	if o.detailed && !plan.Empty() {
		return errPending
	}
	return nil
}

// load reads and checks the manifests; nothing is sent while they have errors.
func load(ctx context.Context, p Process, o planOptions, out output) (*manifest.Manifest, error) {
	wanted, findings := manifest.Load(ctx, o.files, manifest.Options{Stdin: p.Streams.In, Workspace: o.service.workspace})
	if len(findings) > 0 {
		out.view.Diagnostics(findings)
	}
	if findings.HasErrors() {
		return nil, errShown
	}
	return wanted, nil
}

// statePath is where the state of this service and workspace is kept.
func (o planOptions) statePath(wanted *manifest.Manifest, conn *connection) (string, error) {
	if o.state != "" {
		return filepath.Clean(o.state), nil
	}
	return state.DefaultPath(wanted.Dir, conn.name, conn.workspace)
}

// memory is what former runs left.
type memory interface {
	Prior() planner.Prior
	LastSign() time.Time
}

// makePlan reads what the service holds and compares.
func makePlan(ctx context.Context, conn *connection, o planOptions, wanted *manifest.Manifest, known memory, out output) (*planner.Plan, error) {
	in := planner.Input{
		Workspace: conn.workspace, BaseURL: conn.name, Desired: wanted.Objects, Prior: known.Prior(), Observed: planner.Observed{},
		Trust: o.trust, Thorough: o.thorough, AdoptByName: o.adoptByName,
	}
	var err error
	if in.API, err = conn.chooseAPI(ctx, o.service.api, in.Observed); err != nil {
		return nil, err
	}
	plan, findings, err := remote.Plan(ctx, conn.client, in, o.after(known, out))
	if err != nil {
		return nil, err
	}
	if len(findings) > 0 {
		out.view.Diagnostics(findings)
	}
	if findings.HasErrors() {
		return nil, errShown
	}
	return plan, nil
}

// after is the patience with what former runs sent. A run that died may have
// waited for an answer, and have looked for what it sent, since it was heard of.
func (o planOptions) after(known memory, out output) remote.Patience {
	p := remote.Patience{For: o.patience, Tell: func(d time.Duration) {
		out.view.Notef("an earlier run got no answer to some of what it sent: looking again in %s, when the service is surely through with it", d.Round(time.Second))
	}}
	if last := known.LastSign(); !last.IsZero() {
		p.GivenUp = last.Add(o.service.timeout + o.patience)
	}
	return p
}
