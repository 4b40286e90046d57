package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

func validateCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "checks manifests, offline",
		UsageText: "planform validate [FILE…] [FLAGS]", ArgsUsage: argsManifests,
		Description: `Reports all errors with their place and a suggested fix. If a plan could not create an
object as it is written, that is an error, too. If a plan would leave something out, or
may not be able to do it, that is a warning. Objects with an id count as existing.

   planform validate workspace.yaml
   planform validate manifests/ --output json

   # in GitHub Actions: findings beside the lines of the files
   planform validate manifests/ --output github

   ./generate | planform validate -`,
		Flags: slices.Concat(manifestFlags(), []cli.Flag{maxErrorsFlag()}, outputFlags("text", "json", "github")),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			names, err := files(c)
			if err != nil {
				return err
			}
			opts, err := p.reading(c)
			if err != nil {
				return err
			}
			opts.Limits.Findings, opts.Offline = c.Int("max-errors"), true
			return runValidate(c.Context, names, opts, out)
		}),
	}
}

func runValidate(ctx context.Context, names []string, opts manifest.Options, out output) error {
	m, findings := manifest.Load(ctx, names, opts)
	out.noteSkipped(m)
	if err := out.view.Validation(findings); err != nil {
		return err
	}
	if findings.HasErrors() {
		return errReported
	}
	if out.json {
		return nil
	}
	return out.view.Lines("valid: " + diag.Count(resource.Written(m.Objects), "object") + " in " + diag.Count(len(m.Files), "file"))
}
