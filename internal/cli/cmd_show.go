package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/view"
)

func showCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "shows a saved plan",
		UsageText: "planform show PLAN [FLAGS]", ArgsUsage: "FILE",
		Description: `Shows a plan that planform plan --out wrote, in any format. It reads the file only.

   planform show plan.json
   planform show plan.json --output markdown > plan.md

   # a page to look through: filters, differences of texts
   planform show plan.json --output html > plan.html`,
		Flags: slices.Concat(outputFlags(view.Formats()...), extentFlags()),
		Action: func(c *cli.Context) error {
			switch name := c.Args().First(); {
			case name == "" || name == standardInput:
				return usageError{text: "a PLAN is required", hint: c.Command.UsageText + ", where PLAN is a file of planform plan --out"}
			case isYAML(name):
				return usageError{text: "a PLAN is required, but " + name + " is a manifest", hint: "planform plan " + shellWord(name) + " shows its changes"}
			}
			saved, err := readPlan(c)
			if err != nil {
				return err
			}
			return newOutput(c, p).view.Plan(saved.Document)
		},
	}
}
