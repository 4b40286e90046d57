package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/sync/pull"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

func pullCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "writes people's changes on the service into the manifests",
		UsageText: "planform pull [FILE…] [FLAGS]", ArgsUsage: argsManifests,
		Description: `The opposite of apply. If somebody changed a field on the service since the last apply,
pull writes the new value into the manifest. Comments, order and layout stay. It looks
only at fields that are in the manifest, and skips those under ignore_changes. If a
variable or a table gives the value, it names that place instead.

If a field was changed in the manifest, too, the manifest keeps its value, and pull
shows both. It names objects that people deleted or added. The state is left to the
next apply.

   planform pull workspace.yaml --dry-run
   planform pull workspace.yaml

   # also where the manifest was changed
   planform pull workspace.yaml --theirs --target 'work_item/web/*'

   # exit code 2 if there is something to take, 3 if not all of it can be taken
   planform pull workspace.yaml --dry-run --detailed-exitcode`,
		Flags: slices.Concat(manifestFlags(), []cli.Flag{
			maxErrorsFlag(),
			&cli.BoolFlag{Name: "dry-run", Usage: "only show the changes of the files"},
			&cli.BoolFlag{
				Name:  "theirs",
				Usage: "also take values of fields that the manifest changed too, or that the state does not know",
			},
			&cli.BoolFlag{
				Name:  "detailed-exitcode",
				Usage: "with --dry-run: exit with 2 if there are values to take, with 3 if not all of them can be taken",
			},
		}, slices.DeleteFunc(shapingFlags(), func(f cli.Flag) bool {
			return !slices.Contains([]string{"refresh-all", "target", "adopt-by-name"}, f.Names()[0])
		}), stateFlags(), connectionFlags(), outputFlags()),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			o, err := newPlanOptions(c, p)
			if err != nil {
				return err
			}
			for _, name := range o.Files {
				if info, err := os.Stat(name); readOnce(name) && (err != nil || !info.IsDir()) {
					return usageError{text: "pull writes into manifests, but " + name + " is not a file", hint: "planform pull workspace.yaml"}
				}
			}
			o.input.Pull, o.input.Observed, o.reading.Origins = true, planner.Observed{}, true
			return runPull(c.Context, o, pullOptions{c.Bool("dry-run"), c.Bool("theirs")}, out)
		}),
	}
}

type pullOptions struct{ dryRun, theirs bool }

func runPull(ctx context.Context, o planOptions, how pullOptions, out output) error {
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
	result, err := pull.Take(pull.Input{
		Manifest: r.desired, Plan: plan, Differences: r.differences(), Theirs: how.theirs, Read: os.ReadFile,
		Load: func(edited map[string][]byte) (*manifest.Manifest, diag.List) {
			reading := o.reading
			reading.Edited = edited
			m, findings := manifest.Load(ctx, o.Files, reading)
			m.Workspace = cmp.Or(m.Workspace, r.desired.Workspace) // the manifests may name none
			r.conn.localize(m)
			return m, findings
		},
		Replan: func(m *manifest.Manifest) (*planner.Plan, divergence.Set, diag.List, error) {
			plan, findings, err := r.planOf(ctx, m)
			return plan, r.differences(), findings, err
		},
	})
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for i := range result.Findings {
		if how.dryRun && result.Findings[i].Code == "not-pulled" {
			result.Findings[i].Severity = diag.Warning // nothing has failed yet
		}
	}
	left := slices.DeleteFunc(slices.Clone(plan.Notices), func(d diag.Diagnostic) bool {
		return d.Code != "archived"
	})
	out.view.Diagnostics(append(left, result.Findings...).ClipTo(o.maxErrors))
	if !how.dryRun {
		if err := replace(o.service.disk, result.Files); err != nil {
			return err
		}
	}
	return showPulled(result, plan.NotCompared, o, how, out)
}

// showPulled shows the values that pull took, and returns the error for the exit code.
func showPulled(result *pull.Result, notCompared []planner.NotCompared, o planOptions, how pullOptions, out output) error {
	shown := view.Pull{DryRun: how.dryRun, NotCompared: notCompared}
	for _, f := range result.Files {
		shown.Files = append(shown.Files, view.PulledFile{Name: f.Name, Values: f.Values, Diff: view.UnifiedDiff(f.Name, f.Before, f.After)})
	}
	for _, v := range result.Values {
		shown.Values = append(shown.Values, view.PulledValue{
			Address: v.Object.Address, Path: v.Path, Position: v.Position, Before: v.Before,
			After: v.After,
		})
	}
	for _, d := range result.Findings {
		if d.Code == "conflict" || d.Code == "not-pulled" {
			shown.NotTaken++
		}
	}
	if err := out.view.Pulled(shown); err != nil {
		return err
	}
	switch {
	case shown.NotTaken > 0 && (o.detailed || !how.dryRun):
		return errSteps
	case len(shown.Values) > 0 && o.detailed && how.dryRun:
		return errPending
	}
	return nil
}

// replace writes files, each whole or not at all. Nothing is written if one of them changed since it was read.
func replace(on disk.Disk, files []pull.File) error {
	names := make([]string, len(files))
	for i, f := range files {
		name, err := filepath.EvalSymlinks(f.Name) // the file is replaced, not the link
		if err != nil {
			return err
		}
		if f.Within != "" {
			if inside, err := filepath.Rel(realPath(f.Within), realPath(filepath.Dir(name))); err != nil || !filepath.IsLocal(inside) {
				return fmt.Errorf("%s leads outside the manifest's folder; nothing was written", f.Name)
			}
		}
		now, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, f.Before) {
			return diag.WithHint(errors.New(f.Name+" was changed meanwhile; nothing was written"), "run planform pull again")
		}
		if slices.Contains(names, name) {
			return diag.WithHint(fmt.Errorf("%s is named twice; nothing was written", f.Name), "name the file once")
		}
		names[i] = name
	}
	for i, f := range files {
		if err := overwrite(on, names[i], f.After); err != nil {
			return diag.WithHint(err, fmt.Sprintf("%d of %s is written; fix this and run planform pull again for the rest", i,
				diag.Count(len(files), "file")))
		}
	}
	return nil
}

// overwrite replaces the text of a file, completely or not at all.
func overwrite(on disk.Disk, name string, text []byte) error {
	return disk.Write(on, name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
