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
		&cli.BoolFlag{Name: "sandbox", Category: categoryService, Usage: "use a service on this machine, its data in .planform/sandbox.db, instead of a real one"},
		&cli.StringFlag{Name: "base-url", Category: categoryService, Usage: "base `URL` of the service (or PLANE_BASE_URL)"},
		&cli.StringFlag{Name: "workspace", Category: categoryService, Usage: "`SLUG` of the workspace; overrides the manifest (or PLANE_WORKSPACE_SLUG)"},
		&cli.StringFlag{Name: "api-key-file", Category: categoryService, Usage: "`FILE` that holds the API key (or PLANE_API_KEY or PLANE_ACCESS_TOKEN in the environment)"},
		&cli.StringFlag{Name: "api", Category: categoryService, Value: "auto", Usage: "`WHICH` operations to use: documented, full, or auto to find out"},
		&cli.StringFlag{Name: "rate", Category: categoryService, Usage: "upper bound of the request rate, such as `50/m`; the service's own limit is kept without it"},
		&cli.DurationFlag{Name: "timeout", Category: categoryService, Value: time.Minute, Usage: "`TIME` that one request may take"},
		&cli.BoolFlag{Name: "insecure-http", Category: categoryService, Usage: "send the credential over plain http to another machine"},
	}
}

// outputFlags are those of every command.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: categoryOutput, Value: "text", Usage: "`FORMAT` of the result: text or json"},
		&cli.BoolFlag{Name: "no-color", Category: categoryOutput, Usage: "no colours (or NO_COLOR in the environment)"},
		&cli.StringFlag{Name: "log-level", Category: categoryOutput, Value: "warn", Usage: "`LEVEL` of the log on standard error: debug, info, warn or error"},
		&cli.StringFlag{Name: "log-format", Category: categoryOutput, Value: "text", Usage: "`FORMAT` of the log: text or json"},
	}
}

// manifestFlag names what to read.
func manifestFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "file", Aliases: []string{"f"}, Usage: "manifest `FILE`, a folder with *.yaml and *.yml, or - for standard input; can be repeated"}
}

// stateFlags say where the state is.
func stateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "state", Usage: "state `FILE`; by default .planform/<host>_<workspace>.state.json beside the first manifest"},
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

// words are the values of a flag that is repeated, or takes several with commas between.
func words(c *cli.Context, flag string) []string {
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
		return nil, usageError{text: "no manifest is named", hint: "planform " + c.Command.Name + " -f workspace.yaml"}
	}
	return names, nil
}
