package cli

import (
	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/schema"
)

func schemaCommand(p Process) *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "prints the JSON Schema of manifests, for editors",
		UsageText: "planform schema [--mapping] > planform.schema.json",
		Description: `With a YAML language server, editors offer completion and show errors while you
type if the manifest begins with this line:

   # yaml-language-server: $schema=./planform.schema.json

--mapping prints that of the mapping file of planform convert.`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "mapping", Usage: "the JSON Schema of the mapping file of planform convert"}},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			text := schema.Document()
			if c.Bool("mapping") {
				text = convert.MappingSchema()
			}
			_, err := p.Streams.Out.Write(text)
			return err
		},
	}
}
