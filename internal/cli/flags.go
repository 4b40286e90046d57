package cli

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// Categories of flags in the help texts.
const (
	categoryService = "Service"
	categoryOutput  = "Output"
)

// connectionFlags are those of every command that talks to a service.
func connectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "sandbox", Category: categoryService, Usage: "use a local look-alike of the service, with its data in .planform/, instead of a real one"},
		&cli.StringFlag{Name: "base-url", Category: categoryService, Usage: "base `URL` of the service, such as https://api.plane.so (or PLANE_BASE_URL)"},
		&cli.StringFlag{Name: "workspace", Category: categoryService, Usage: "`SLUG` of the workspace; overrides the manifest. Without either, PLANE_WORKSPACE_SLUG"},
		&cli.StringFlag{Name: "api-key-file", Category: categoryService, Usage: "`FILE` with the API key (or PLANE_API_KEY or PLANE_ACCESS_TOKEN)"},
		&cli.StringFlag{Name: "api", Category: categoryService, Value: "auto", Usage: "`OPERATIONS` to use: documented (the 20 public ones), full, or auto to find out"},
		&cli.StringFlag{Name: "rate", Category: categoryService, Usage: "maximum request `RATE`, such as 50/m; the service's own limit is respected in any case"},
		&cli.DurationFlag{Name: "timeout", Category: categoryService, Value: time.Minute, Usage: "`TIME` limit of one request"},
		&cli.BoolFlag{Name: "insecure-http", Category: categoryService, Usage: "allow plain http to another machine, although it shows the credential to the network"},
	}
}

// outputFlags are those of every command.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: categoryOutput, Value: "text", Usage: "`FORMAT` of the result, and of errors: text or json"},
		&cli.StringFlag{Name: "color", Category: categoryOutput, Value: "auto", Usage: "colours: `WHEN` is auto, always or never (or NO_COLOR, FORCE_COLOR)"},
		&cli.BoolFlag{Name: "no-color", Category: categoryOutput, Usage: "the same as --color never"},
		&cli.StringFlag{Name: "log-level", Category: categoryOutput, Value: "warn", Usage: "log `LEVEL` on standard error: debug, info, warn or error"},
		&cli.StringFlag{Name: "log-format", Category: categoryOutput, Value: "text", Usage: "log `FORMAT`: text or json"},
	}
}

// manifestFlag names what to read.
func manifestFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "file", Aliases: []string{"f"}, Usage: "manifest `FILE`, a folder (its *.yaml and *.yml), or - for standard input; can be repeated"}
}

// stateFlags say where the state is.
func stateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "state", Usage: "state `FILE` (default: .planform/<host>_<workspace>.state.json beside the first manifest)"},
	}
}

// concat joins lists of flags.
func concat(lists ...[]cli.Flag) []cli.Flag {
	var all []cli.Flag
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// splitList are the values of a flag that is repeated, or takes several with commas between.
func splitList(c *cli.Context, flag string) []string {
	var all []string
	for _, value := range c.StringSlice(flag) {
		for word := range strings.SplitSeq(value, ",") {
			all = append(all, strings.TrimSpace(word))
		}
	}
	return all
}

// files are the manifests that a command line names.
func files(c *cli.Context) ([]string, error) {
	names := c.StringSlice("file")
	if len(names) == 0 {
		return nil, usageError{text: "-f FILE is required", hint: "planform " + c.Command.Name + " -f workspace.yaml"}
	}
	return names, nil
}
