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

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
)

// Process holds the arguments, streams and environment variables of a command, and its access to network, disk and shared states.
type Process struct {
	Args    []string // with the program's name first
	Streams view.Streams
	Getenv  func(string) string
	Alone   bool // no other code runs in the process of the operating system, so that its memory can be bounded

	// Access to things outside of the process; nil = the real one.
	Transport apiclient.Transport                         // to the service
	Disk      disk.Disk                                   // to written files
	Store     func(address string) (state.Objects, error) // to a shared state
}

// System returns the process of the operating system.
func System() Process {
	return Process{Args: os.Args, Streams: view.System(), Getenv: os.Getenv, Alone: true}
}

// Main runs the command line and returns the exit code.
func Main(p Process) int { return Run(context.Background(), p) }

// Run runs the command line and returns the exit code. The command ends early if ctx is cancelled.
func Run(ctx context.Context, p Process) (code int) {
	p.Args = helpFirst(p.Args)
	app := newApp(p)
	if len(p.Args) > 1 && p.Args[1] == completeCommand {
		return finish(p, false, complete(ctx, p, app, p.Args[2:]))
	}
	line := arrange(app, p.Args)
	defer func() {
		if bug := recover(); bug != nil { // the runtime's exit code for it would say that changes are pending
			code = finish(p, line.json, fmt.Errorf("planform has a bug: %v; please report it with this:\n%s", bug, debug.Stack()))
		}
	}()
	// Go's own log bypasses the view. Its lines can hold the credential (GODEBUG=http2debug=1), or unexpected data of a server.
	log.SetOutput(io.Discard)
	if line.help {
		return finish(p, line.json, showHelp(p, app, line.command, line.name))
	}
	if line.err != nil {
		return finish(p, line.json, line.err)
	}
	return finish(p, line.json, app.RunContext(ctx, line.args))
}

// helpFirst rewrites planform help COMMAND to planform COMMAND --help.
func helpFirst(args []string) []string {
	if len(args) < 2 || args[1] != "help" {
		return args
	}
	return append(append(slices.Clone(args[:1]), args[2:]...), "--help")
}

func showHelp(p Process, app *cli.App, cmd *cli.Command, name string) error {
	text := ""
	if cmd == nil {
		text = appHelp(app)
	} else {
		text = commandHelp(cmd, name)
	}
	_, err := fmt.Fprint(p.Streams.Out, text)
	return err
}

// command is a command's name with the function that builds the command. A command is built only if it is needed, because planform get
// loads all kinds.
type command struct {
	name string
	make func(Process) *cli.Command
}

// commands returns all commands in the order of the help.
func commands() []command {
	return []command{
		{"init", initCommand},
		{"validate", validateCommand},
		{"fmt", fmtCommand},
		{"plan", planCommand},
		{"apply", applyCommand},
		{"history", historyCommand},
		{"undo", undoCommand},
		{"pull", pullCommand},
		{"show", showCommand},
		{"export", exportCommand},
		{"get", getCommand},
		{"doctor", doctorCommand},
		{"convert", convertCommand},
		{"explain", explainCommand},
		{"schema", schemaCommand},
		{"state", stateCommand},
		{"sandbox", sandboxCommand},
		{"completion", completionCommand},
		{"version", versionCommand},
	}
}

// newApp builds the command tree. If the command line begins with a command, the tree has only that command.
func newApp(p Process) *cli.App {
	app := &cli.App{
		Name:      "planform",
		Usage:     "makes a Plane workspace match YAML manifests",
		UsageText: "planform COMMAND [FLAGS]",
		Description: `planform reads manifests, checks them, compares them with the workspace, shows
the differences and sends only the requests that remove them. A second run sends
none.

Try it without an account:

   planform init --sandbox
   planform apply -f workspace.yaml --sandbox`,
		HideVersion:               true,
		HideHelp:                  true,
		Writer:                    p.Streams.Out,
		ErrWriter:                 p.Streams.Err,
		ExitErrHandler:            func(*cli.Context, error) {}, // the exit code is decided in one place
		OnUsageError:              usage,
		Flags:                     []cli.Flag{&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version"}},
		DisableSliceFlagSeparator: true, // a comma is part of a file's name
	}
	app.Action = func(c *cli.Context) error {
		switch {
		case c.Bool("version"):
			_, err := fmt.Fprintln(p.Streams.Out, version())
			return err
		case c.Args().Present():
			return unknownCommand(c)
		}
		return showHelp(p, app, nil, app.Name)
	}
	wanted := commands()
	if i := slices.IndexFunc(wanted, func(c command) bool { return len(p.Args) > 1 && p.Args[1] == c.name }); i >= 0 {
		wanted = wanted[i : i+1]
	}
	for _, c := range wanted {
		cmd := c.make(p)
		cmd.Name = c.name
		prepare(p, cmd, app.Name+" "+cmd.Name)
		app.Commands = append(app.Commands, cmd)
	}
	return app
}

// prepare sets the handling of usage errors and help for a command and its subcommands. A group of commands gets an action that shows its
// help.
func prepare(p Process, cmd *cli.Command, name string) {
	cmd.OnUsageError = usage
	cmd.HideHelp = true
	for _, sub := range cmd.Subcommands {
		prepare(p, sub, name+" "+sub.Name)
	}
	if cmd.Action != nil || len(cmd.Subcommands) == 0 {
		return
	}
	cmd.Action = func(c *cli.Context) error {
		if word := c.Args().First(); word != "" {
			const few = 20 // commands that are named in one line
			hint := diag.OneOf(word, names(cmd.Subcommands))
			if len(cmd.Subcommands) > few {
				hint = cmp.Or(diag.DidYouMean(word, names(cmd.Subcommands)), name+" --help lists the commands")
			}
			return usageError{text: "unknown command " + name + " " + word, hint: hint}
		}
		return showHelp(p, nil, cmd, name)
	}
}

// noArguments returns an error if the command line has arguments, unless the command takes manifests as arguments.
func noArguments(c *cli.Context) error {
	if !c.Args().Present() || c.Command.ArgsUsage == argsManifests {
		return nil
	}
	return usageError{text: "unexpected argument " + c.Args().First(), hint: c.Command.HelpName + " --help shows the flags"}
}

func unknownCommand(c *cli.Context) error {
	word := c.Args().First()
	hint := cmp.Or(equivalent("commands", word), diag.DidYouMean(word, diag.Typo(word, names(c.App.Commands))), "planform --help lists the commands")
	return usageError{text: "unknown command " + word, hint: hint}
}

func names(commands []*cli.Command) []string {
	var list []string
	for _, cmd := range commands {
		list = append(list, cmd.Name)
	}
	return list
}
