package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/view"
)

// Process is what a command needs of the process that it runs in.
type Process struct {
	Args    []string // with the program's name first
	Streams view.Streams
	Getenv  func(string) string
}

// System is the process of the operating system.
func System() Process {
	return Process{Args: os.Args, Streams: view.System(), Getenv: os.Getenv}
}

// Main runs the command line and returns the exit code.
func Main(p Process) (code int) {
	defer func() {
		if bug := recover(); bug != nil { // the runtime's exit code for it would say that changes are pending
			code = finish(p, fmt.Errorf("planform has a bug: %v; please report it with this:\n%s", bug, debug.Stack()))
		}
	}()
	// What packages of Go log past the view can hold the credential (GODEBUG=http2debug=1), or what a server sends unasked.
	log.SetOutput(io.Discard)
	if p.Getenv("GOGC") == "" {
		// Most of the memory of a run is what YAML was decoded to, most of it
		// garbage soon. Collecting earlier costs little time, on the other core, and
		// keeps the peak near that of decoding alone.
		debug.SetGCPercent(65)
	}
	err := newApp(p).RunContext(context.Background(), p.Args)
	return finish(p, err)
}

// newApp builds the command tree.
func newApp(p Process) *cli.App {
	app := &cli.App{
		Name:      "planform",
		Usage:     "makes a Plane workspace match YAML manifests",
		UsageText: "planform COMMAND [FLAGS]",
		Description: `planform reads manifests, checks them, reads what the service holds, shows the
difference and makes only the requests that close it. Running it again makes none.

Try it without an account:

   planform apply -f examples/workspace.yaml --sandbox

` + exitCodes,
		Version:        version().String(),
		HideVersion:    true,
		Writer:         p.Streams.Out,
		ErrWriter:      p.Streams.Err,
		ExitErrHandler: func(*cli.Context, error) {}, // the exit code is decided in one place
		OnUsageError:   usage,
		Commands: []*cli.Command{
			validateCommand(p), planCommand(p), applyCommand(p), exportCommand(p), getCommand(p), doctorCommand(p), schemaCommand(p), stateCommand(p), sandboxCommand(p), versionCommand(p),
		},
		DisableSliceFlagSeparator: true, // a comma is part of a file's name
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c)
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, cmd := range app.Commands {
		prepare(cmd)
	}
	return app
}

// prepare gives a command and its subcommands the rules that all share.
func prepare(cmd *cli.Command) {
	cmd.OnUsageError = usage
	cmd.HideHelpCommand = true
	for _, sub := range cmd.Subcommands {
		prepare(sub)
	}
	if len(cmd.Subcommands) > 0 {
		return
	}
	before := cmd.Before
	cmd.Before = func(c *cli.Context) error {
		// The flag parser ends at the first argument and would take a later flag
		// for an argument without a word.
		for _, a := range c.Args().Slice() {
			if len(a) > 1 && strings.HasPrefix(a, "-") {
				return usageError{text: "the flag " + a + " stands after an argument", hint: "put the flags in front: " + c.Command.HelpName + " " + a + " …"}
			}
		}
		if before != nil {
			return before(c)
		}
		return nil
	}
}

// noArguments is for commands that take flags only.
func noArguments(c *cli.Context) error {
	if !c.Args().Present() {
		return nil
	}
	hint := c.Command.HelpName + " --help shows the flags"
	if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "file") }) {
		hint = "name manifests with -f; " + hint
	}
	return usageError{text: "unexpected argument " + c.Args().First(), hint: hint}
}

func usage(_ *cli.Context, err error, _ bool) error {
	text, flag, unknown := strings.Cut(err.Error(), "flag provided but not defined: -")
	if unknown {
		return usageError{text: text + "unknown flag --" + strings.TrimLeft(flag, "-"), hint: "--help shows the flags"}
	}
	return usageError{text: err.Error(), hint: "--help shows the flags"}
}

func unknownCommand(c *cli.Context) error {
	hint := cmp.Or(diag.DidYouMean(c.Args().First(), names(c.App.Commands)), "planform --help lists the commands")
	return usageError{text: "unknown command " + c.Args().First(), hint: hint}
}

// unknownSub is for what stands where a command has subcommands.
func unknownSub(c *cli.Context, text string) error {
	word := c.Args().First()
	return usageError{text: text + " " + word, hint: diag.OneOf(word, names(c.Command.Subcommands))}
}

func names(commands []*cli.Command) []string {
	var list []string
	for _, cmd := range commands {
		list = append(list, cmd.Name)
	}
	return list
}
