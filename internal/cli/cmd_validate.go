package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/manifest"
)

func validateCommand(p Process) *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "checks manifests, offline",
		UsageText: "planform validate -f FILE [-f FILE…]",
		Description: `Reports all errors with their location and a suggested fix.

   planform validate -f workspace.yaml
   planform validate -f manifests/ --output json

   # in GitHub Actions: findings beside the lines of the files
   planform validate -f manifests/ --output github

   ./generate | planform validate -f -`,
		Flags: slices.Concat([]cli.Flag{manifestFlag(), maxErrorsFlag()}, outputFlags("github")),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			names, err := files(c)
			if err != nil {
				return err
			}
			return runValidate(c.Context, p, names, c.Int("max-errors"), out)
		}),
	}
}

func runValidate(ctx context.Context, p Process, names []string, maxErrors int, out output) error {
	m, findings := manifest.Load(ctx, names, manifest.Options{Stdin: p.Streams.In, Limits: manifest.Limits{Findings: maxErrors}})
	if err := out.view.Validation(findings); err != nil {
		return err
	}
	if findings.HasErrors() {
		return errReported
	}
	if out.json {
		return nil
	}
	_, err := fmt.Fprintf(p.Streams.Out, "valid: %s in %s\n", diag.Count(len(m.Objects), "object"), diag.Count(len(m.Files), "file"))
	return err
}
