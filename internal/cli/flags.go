package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// connectionFlags returns the flags of every command that talks to a service.
func connectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{
			Name: "sandbox", Action: sandboxAlone,
			Usage: "use a local look-alike of the service, with its data in .planform/",
		},
		&cli.StringFlag{
			Name:  "base-url",
			Usage: "base `URL` of the service, such as https://api.plane.so (or PLANE_BASE_URL)",
		},
		&cli.StringFlag{
			Name:  "workspace",
			Usage: "`SLUG` of the workspace; overrides the manifest. Without either, PLANE_WORKSPACE_SLUG",
		},
		&cli.StringFlag{
			Name:  "api-key-file",
			Usage: "`FILE` with the API key (or PLANE_API_KEY or PLANE_ACCESS_TOKEN)",
		},
		choice(cli.StringFlag{
			Name: "api", Value: "auto",
			Usage: "`API` to use: v2 (50 objects a request), v1, documented (20 public operations), or auto: the widest one",
		},
			"auto", "v2", "v1", "documented"),
		&cli.StringFlag{
			Name: "rate", Action: checkRate,
			Usage: "maximum `RATE` of requests, such as 50/m; the service's own limit always holds",
		},
		&cli.DurationFlag{
			Name: "timeout", Value: time.Minute, Action: checkTimeout,
			Usage: "`TIME` limit of one request",
		},
		&cli.BoolFlag{
			Name:  "insecure-http",
			Usage: "allow plain http to another machine; the network can then read the credential",
		},
	}
}

// outputFlags returns the flags for results, errors and logs. formats are the possible formats of the result; without formats, these are
// text and json.
func outputFlags(formats ...string) []cli.Flag {
	if formats == nil {
		formats = []string{"text", "json"}
	}
	return []cli.Flag{
		choice(cli.StringFlag{
			Name: "output", Aliases: []string{"o"}, Value: "text",
			Usage: "`FORMAT` of the result, and of errors: " + strings.Join(formats[:len(formats)-1], ", ") + " or " + formats[len(formats)-1],
		},
			formats...),
		choice(cli.StringFlag{
			Name: "color", Value: "auto",
			Usage: "colours: `WHEN` is auto, always or never (or NO_COLOR, FORCE_COLOR)",
		}, "auto", "always", "never"),
		&cli.BoolFlag{Name: "no-color", Usage: "the same as --color never"},
		&cli.BoolFlag{
			Name:  "no-pager",
			Usage: "write long results to the terminal, not to a pager (PLANFORM_PAGER, PAGER or less)",
		},
		choice(cli.StringFlag{Name: "log-level", Value: "warn", Usage: "log `LEVEL` on standard error: debug, info, warn or error"},
			"debug", "info", "warn", "error"),
		choice(cli.StringFlag{Name: "log-format", Value: "text", Usage: "log `FORMAT`: text or json"}, "text", "json"),
	}
}

// extentFlags returns the flags that choose between a long and a short view of a plan.
func extentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{
			Name:  "full",
			Usage: "show every step and whole texts: nothing is grouped or shortened",
		},
		&cli.BoolFlag{
			Name: "summary", Action: without("summary", "full"),
			Usage: "show only the number of steps of each kind",
		},
	}
}

// choiceFlag is a flag that takes one of a few words.
type choiceFlag struct {
	*cli.StringFlag

	words []string
}

func choice(f cli.StringFlag, words ...string) choiceFlag {
	f.Action = func(_ *cli.Context, value string) error {
		if slices.Contains(words, value) ||
			f.Name == "log-level" && slices.Contains(words, strings.ToLower(value)) ||
			f.Name == "api" && value == "full" { // the former name of v1
			return nil
		}
		hint := diag.OneOf(value, words)
		if f.Name == "output" {
			hint = "--output is the format: " + strings.Join(words, ", ") + "; > FILE writes a file, and --out FILE of plan and undo saves a plan"
		}
		return usageError{text: fmt.Sprintf("--%s cannot be %q", f.Name, value), hint: hint}
	}
	return choiceFlag{&f, words}
}

func sandboxAlone(c *cli.Context, sandbox bool) error {
	if sandbox && (c.String("base-url") != "" || c.String("api-key-file") != "") {
		return usageError{text: "--sandbox cannot be combined with a real service", hint: "leave out --base-url and --api-key-file"}
	}
	return nil
}

func checkRate(_ *cli.Context, rate string) error {
	if _, err := parseRate(rate); err != nil {
		return usageError{text: err.Error(), hint: "such as --rate 50/m"}
	}
	return nil
}

// parseRate reads a rate; a number without a unit is per minute. The rate of "" is 0, which means no limit.
func parseRate(text string) (perMinute float64, err error) {
	if text == "" {
		return 0, nil
	}
	if strings.Trim(text, "0123456789") == "" {
		text += "/m"
	}
	return apiclient.ParseRate(text)
}

// number returns a flag that accepts no number below least.
func number(f cli.IntFlag, least int) cli.Flag {
	f.Action = func(_ *cli.Context, n int) error {
		if n < least {
			return usageError{text: fmt.Sprintf("--%s must be at least %d", f.Name, least)}
		}
		return nil
	}
	return &f
}

// notNegative returns a flag for a time that must not be negative.
func notNegative(f cli.DurationFlag) cli.Flag {
	f.Action = func(_ *cli.Context, d time.Duration) error {
		if d < 0 {
			return usageError{text: "--" + f.Name + " must not be negative", hint: "--" + f.Name + " 0s does not wait"}
		}
		return nil
	}
	return &f
}

// without returns the action of a flag that excludes another one.
func without(name, other string) func(*cli.Context, bool) error {
	return func(c *cli.Context, set bool) error {
		if set && c.Bool(other) {
			return usageError{text: fmt.Sprintf("--%s and --%s exclude each other", name, other)}
		}
		return nil
	}
}

func checkTimeout(_ *cli.Context, d time.Duration) error {
	if d <= 0 {
		return usageError{text: "--timeout must be positive"}
	}
	return nil
}

// manifestFlag returns the flag that names manifests.
func manifestFlag() cli.Flag {
	return &cli.StringSliceFlag{
		Name: "file", Aliases: []string{"f"},
		Usage: "manifest `FILE`, or a folder of manifests, or - for standard input; can be repeated (default: workspace.yaml)",
	}
}

// manifestFlags returns the flags that name manifests and set variables.
func manifestFlags() []cli.Flag {
	return []cli.Flag{
		manifestFlag(),
		&cli.StringSliceFlag{Name: "var", Usage: "`NAME=VALUE` of a variable that a manifest declares under vars:; can be repeated"},
		&cli.StringSliceFlag{
			Name:  "var-file",
			Usage: "YAML `FILE` with a line NAME: VALUE for each variable; --var overrides it; can be repeated",
		},
	}
}

// variables returns the settings of --var-file and --var, such as NAME=VALUE. If two settings have the same name, the later one counts.
func variables(c *cli.Context) ([]string, error) {
	var settings []string
	for _, name := range c.StringSlice("var-file") {
		text, err := readAtMost(name, largestPlan)
		if err != nil {
			return nil, diag.WithHint(err, "--var-file FILE names a file with a line NAME: VALUE for each variable")
		}
		values, err := manifest.ReadVariables(text)
		if err != nil {
			return nil, fmt.Errorf("--var-file %s: %w", name, err)
		}
		for _, variable := range slices.Sorted(maps.Keys(values)) {
			settings = append(settings, variable+"="+values[variable])
		}
	}
	return append(settings, c.StringSlice("var")...), nil
}

// manifestOptions returns the options for reading manifests, with settings from [variables].
func (pc Process) manifestOptions(settings []string) (manifest.Options, error) {
	o := manifest.Options{Stdin: pc.Streams.In, Getenv: pc.Getenv, Variables: map[string]string{}}
	for _, text := range settings {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return o, usageError{text: fmt.Sprintf("--var %q gives no variable a value", text), hint: "--var NAME=VALUE"}
		}
		o.Variables[name] = value
	}
	return o, nil
}

// reading returns the options for reading manifests in a command that makes no plan.
func (pc Process) reading(c *cli.Context) (manifest.Options, error) {
	settings, err := variables(c)
	if err != nil {
		return manifest.Options{}, err
	}
	return pc.manifestOptions(settings)
}

// maxErrorsFlag returns the flag that limits the number of findings.
func maxErrorsFlag() cli.Flag {
	return number(cli.IntFlag{
		Name: "max-errors", Value: diag.MaxShown,
		Usage: "show at most this `NUMBER` of errors, and count the others",
	}, 1)
}

// stateFlags returns the flag for the place of the state.
func stateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "state", Usage: "state `FILE`, s3://BUCKET/KEY, or https://… (or PLANFORM_STATE; default: .planform/<host>_<workspace>.state.json beside the first manifest)"},
	}
}

// runFlags returns the flags of apply and undo. most describes the deletions that they allow without --max-deletes.
func runFlags(most string) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "only show the plan"},
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask; required for deletions without a terminal"},
		number(cli.IntFlag{Name: "max-deletes", Usage: "allow up to `N` deletions", DefaultText: most}, 0),
		number(cli.IntFlag{Name: "max-notices", Usage: "allow the service to send up to `N` notices to people", DefaultText: "any number"}, 0),
		number(cli.IntFlag{Name: "parallelism", Value: 4, Usage: "`NUMBER` of concurrent requests"}, 1),
		lockTimeoutFlag(),
	}
}

// lockTimeoutFlag returns the flag of commands that write the state and wait for its lock.
func lockTimeoutFlag() cli.Flag {
	return notNegative(cli.DurationFlag{Name: "lock-timeout", Usage: "`TIME` to wait while another run holds the state"})
}

// splitList returns the values of a flag that can be repeated, or can have several values with commas between.
func splitList(c *cli.Context, flag string) []string {
	var all []string
	for _, value := range c.StringSlice(flag) {
		for word := range strings.SplitSeq(value, ",") {
			all = append(all, strings.TrimSpace(word))
		}
	}
	return all
}

// defaultManifest is the manifest that commands read if the command line names none and the current folder has it.
const defaultManifest = "workspace.yaml"

// Values of ArgsUsage: all arguments are manifests, or one argument may be a saved plan.
const (
	argsManifests = "FILE…"
	argsPlan      = "PLAN…"
)

// namedManifests returns the manifests that a command line names, with -f or as arguments.
func namedManifests(c *cli.Context) []string {
	names := slices.Clone(c.StringSlice("file"))
	for _, name := range c.Args().Slice() {
		if c.Command.ArgsUsage == argsManifests || c.Command.ArgsUsage == argsPlan && isManifest(name) {
			names = append(names, name)
		}
	}
	return names
}

// isManifest reports whether an argument is a manifest and not a saved plan: a folder, standard input, or a file with a YAML extension. Any
// other file is a plan, whatever it contains, because others may have replaced it; a manifest in JSON needs -f.
func isManifest(name string) bool {
	info, err := os.Stat(name)
	return name == standardInput || isYAML(name) || err == nil && info.IsDir()
}

// isYAML reports whether a file has a YAML extension.
func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// manifests returns the manifests that a command line names, or the default manifest if the current folder has it. The list may be empty.
func manifests(c *cli.Context) []string {
	names := namedManifests(c)
	if info, err := os.Stat(defaultManifest); len(names) == 0 && err == nil && !info.IsDir() {
		return []string{defaultManifest}
	}
	return names
}

// files returns the manifests of a command that needs at least one.
func files(c *cli.Context) ([]string, error) {
	names := manifests(c)
	if len(names) == 0 {
		return nil, usageError{
			text: "there is no " + defaultManifest + " here, and no other manifest is named",
			hint: "planform " + c.Command.Name + " FILE; planform init writes a " + defaultManifest + " to begin with",
		}
	}
	return names, nil
}
