package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plan/target"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
	"github.com/planform/planform/schema"
)

func planCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "shows the changes that apply would make; read-only",
		UsageText: "planform plan [FILE…] [FLAGS]", ArgsUsage: argsManifests,
		Description: `Reads the manifests, the state file and the workspace, and shows the difference.

   planform plan workspace.yaml
   planform plan workspace.yaml more/
   planform plan workspace.yaml --output json > plan.json

   # for a comment on a pull request
   planform plan workspace.yaml --output markdown > plan.md

   # review it, then carry out exactly this plan
   planform plan workspace.yaml --out plan.json
   planform apply plan.json

   planform plan workspace.yaml --target 'work_item/web/*'

   # exit code 2 if changes are pending, 3 if something is not possible
   planform plan workspace.yaml --detailed-exitcode

   # include the deletions of --prune
   planform plan workspace.yaml --prune`,
		Flags: slices.Concat(planFlags(), []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "also save the plan to a `FILE`, for planform show and planform apply"},
		}, stateFlags(), connectionFlags(), outputFlags(view.Formats()...), extentFlags()),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			o, err := newPlanOptions(c, p)
			if err != nil {
				return err
			}
			o.out = c.String("out")
			return runPlan(c.Context, o, out)
		}),
	}
}

// planFlags returns the flags that plan and apply share.
func planFlags() []cli.Flag {
	return slices.Concat(manifestFlags(), []cli.Flag{
		maxErrorsFlag(),
		&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit with 2 if changes are pending, with 3 if something is not possible"},
		&cli.BoolFlag{Name: "allow-unsupported", Usage: "exit with 0 instead of 3 if only features that this edition or API lacks are missing"},
	}, shapingFlags(), []cli.Flag{
		notNegative(cli.DurationFlag{
			Name: "grace-period", Value: provider.DefaultGrace,
			Usage: "`TIME` after which a request without an answer cannot take effect any more, and may be repeated",
		}),
		notNegative(cli.DurationFlag{Name: "settle-timeout", Hidden: true, Usage: "a former name of --grace-period"}),
		notNegative(cli.DurationFlag{Name: "patience", Hidden: true, Usage: "a former name of --grace-period"}),
	})
}

// shapingFlags returns the flags that a plan depends on. A saved plan holds their values.
func shapingFlags() []cli.Flag {
	var switches []cli.Flag
	for _, s := range new(planner.Settings).Switches() {
		f := &cli.BoolFlag{Name: s.Flag, Usage: s.Usage}
		if s.Flag == "refresh-all" {
			f.Action = without("refresh-all", "no-refresh")
		}
		switches = append(switches, f)
	}
	return slices.Insert(switches, 2, []cli.Flag{
		&cli.StringSliceFlag{
			Name:  "target",
			Usage: "plan only objects that match `ADDRESS`, such as cycle/web/*, and objects that they need; can be repeated",
		},
		&cli.StringSliceFlag{Name: "no-create", Usage: "report missing objects of these `KINDS`, such as project,label, instead of creating them"},
		choice(cli.StringFlag{
			Name: "on-drift", Value: string(planner.Overwrite),
			Usage: "`ACTION` for fields that somebody changed on the service since the last apply: overwrite, keep or fail",
		}, resource.DriftPolicies()...),
		choice(cli.StringFlag{
			Name: "order", DefaultText: "what the manifest says, or manifest",
			Usage: "numbers of new work items: `ORDER` is manifest (API v2 numbers sub-items later), exact, or any (the fastest)",
		}, schema.Orders()...),
	}...)
}

// planOptions holds the settings that a plan depends on.
type planOptions struct {
	planfile.Options

	detailed bool
	// allowUnsupported makes a run succeed that leaves out only what the edition lacks.
	allowUnsupported bool
	maxErrors        int // findings to show at most
	limits           limits
	out              string             // file that the plan is saved to; "" = none
	known            []resource.Address // addresses that targets may match, besides the manifests and the state
	input            planner.Input      // only the fields that the options set
	reading          manifest.Options
	gracePeriod      time.Duration
	service          connectionOptions
}

func newPlanOptions(c *cli.Context, p Process) (o planOptions, err error) {
	options := planfile.Options{State: statePlace(c, p), API: c.String("api")}
	if options.Settings, err = newSettings(c); err != nil {
		return o, err
	}
	for _, flag := range []string{"delete-changed", "delete-unrecorded"} {
		if c.Bool(flag) && !options.Prune {
			return o, usageError{text: "--" + flag + " needs --prune", hint: "without --prune, nothing is deleted"}
		}
	}
	if options.Files, err = files(c); err != nil {
		return o, err
	}
	if options.Variables, err = variables(c); err != nil {
		return o, err
	}
	return o.with(options, c, p)
}

// with sets the options of a plan, and reads the other settings from the command's flags.
func (po planOptions) with(options planfile.Options, c *cli.Context, p Process) (_ planOptions, err error) {
	po.Options, po.allowUnsupported = options, c.Bool("allow-unsupported")
	po.detailed, po.gracePeriod = c.Bool("detailed-exitcode"), c.Duration("grace-period")
	po.maxErrors = c.Int("max-errors")
	po.limits = limits{yes: c.Bool("yes"), deletes: newLimit(c, "max-deletes"), notices: newLimit(c, "max-notices"), undo: len(po.Undo) > 0}
	for _, former := range []string{"settle-timeout", "patience"} {
		if c.IsSet(former) {
			po.gracePeriod = c.Duration(former)
		}
	}
	po.input = planner.Input{Settings: po.Settings}
	po.service = newConnectionOptions(c, p)
	po.reading, err = p.manifestOptions(po.Variables)
	po.reading.Workspace, po.reading.AllowEmpty, po.reading.Limits.Findings = po.service.workspace, po.Prune, po.maxErrors
	return po, err
}

// newSettings reads the flags that shape a plan. Flags that the command lacks have their zero value.
func newSettings(c *cli.Context) (s planner.Settings, err error) {
	for _, sw := range s.Switches() {
		*sw.On = c.Bool(sw.Flag)
	}
	s.NoCreate, s.Order, s.OnDrift = splitList(c, "no-create"), c.String("order"), planner.OnDrift(c.String("on-drift"))
	for i, name := range s.NoCreate {
		k, err := kindCalled(name)
		if err != nil {
			return s, usageError{text: "--no-create: " + err.Error(), hint: diag.OneOf(name, resource.Listed())}
		}
		s.NoCreate[i] = k.Name
	}
	for _, pattern := range c.StringSlice("target") {
		if !utf8.ValidString(pattern) {
			return s, usageError{text: fmt.Sprintf("--target %q is not valid UTF-8", pattern)}
		}
		s.Targets = append(s.Targets, target.New(pattern))
	}
	return s, nil
}

func runPlan(ctx context.Context, o planOptions, out output) error {
	r, err := newRun(ctx, o, out)
	if err != nil {
		return err
	}
	ctx, release := untilSignal(ctx)
	defer release()
	defer r.close()
	plan, err := r.preview(ctx)
	if err != nil {
		return err
	}
	plan.Notices.Add(o.limits.noteNeededFlags(plan, o.out)...)
	document := r.document(ctx, plan)
	if err := out.view.Plan(document); err != nil {
		return err
	}
	if o.out != "" {
		if err := savePlan(o.service.disk, o.out, document); err != nil {
			return err
		}
		apply := strings.Join(append([]string{"planform apply", o.out}, o.service.given...), " ")
		if document.Summary.Delete > 0 {
			apply += " --yes"
		}
		out.view.Notef("plan saved; to carry it out: %s", apply)
	}
	return o.pending(plan)
}

// pending returns the error for the exit code of a plan, if the user gave --detailed-exitcode.
func (po planOptions) pending(plan *planner.Plan) error {
	switch {
	case !po.detailed:
		return nil
	case po.isImpossible(plan):
		return errSteps
	case !plan.Empty():
		return errPending
	}
	return nil
}

// isImpossible reports whether a step of the plan is not possible. With --allow-unsupported, steps that only this edition lacks do not count.
func (po planOptions) isImpossible(plan *planner.Plan) bool {
	return slices.ContainsFunc(plan.Steps, func(s *planner.Step) bool {
		return s.Action == planner.NotPossible && (!s.LacksFeature() || !po.allowUnsupported)
	})
}
