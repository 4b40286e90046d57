package cli

import (
	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/schema"
)

func schemaCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "prints the JSON Schema of manifests, for editors",
		UsageText: "planform schema [--mapping | --plan] > planform.schema.json",
		Description: `With a YAML language server, editors offer completion and show errors while you
type if the manifest begins with this line:

   # yaml-language-server: $schema=./planform.schema.json

--mapping prints the schema of the mapping file of planform convert, --plan the
schema of a plan, as planform plan --out and --output json write it.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "mapping", Usage: "the JSON Schema of the mapping file of planform convert"},
			&cli.BoolFlag{Name: "plan", Usage: "the JSON Schema of a plan"},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			text := schema.Document()
			if c.Bool("mapping") {
				text = convert.MappingSchema()
			}
			if c.Bool("plan") {
				text = planfile.Schema()
			}
			_, err := p.Streams.Out.Write(text)
			return err
		},
	}
}
