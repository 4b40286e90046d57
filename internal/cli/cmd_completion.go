package cli

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
)

// completeCommand is the hidden command that the completion scripts call with the words of a command line.
const completeCommand = "__complete"

// Answers that make the completion scripts complete names of files or folders.
const (
	completeFiles   = ":files"
	completeFolders = ":folders"
)

//go:embed completion
var completionScripts embed.FS

func completionCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "prints the completion script of a shell",
		UsageText: "planform completion " + strings.Join(shells(), "|"), ArgsUsage: "SHELL",
		Description: `Completes commands, flags and their values, kinds, files and, where -f names
manifests, the addresses in them.

   # bash, in ~/.bashrc
   source <(planform completion bash)

   # zsh, in a folder of $fpath
   planform completion zsh > ~/.zfunc/_planform

   # fish
   planform completion fish > ~/.config/fish/completions/planform.fish

   # PowerShell, in $PROFILE
   planform completion powershell | Out-String | Invoke-Expression`,
		Action: func(c *cli.Context) error {
			script, err := completionScripts.ReadFile("completion/" + c.Args().First())
			if err != nil || c.NArg() != 1 {
				return usageError{text: "planform completion takes the name of a shell", hint: diag.OneOf(c.Args().First(), shells())}
			}
			_, err = p.Streams.Out.Write(script)
			return err
		},
	}
}

// shells returns the shells that have a completion script.
func shells() []string {
	entries, _ := fs.ReadDir(completionScripts, "completion") // it is part of the program
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// complete prints the possible completions of the last word, one a line. A tab separates a completion from its description.
func complete(ctx context.Context, p Process, app *cli.App, words []string) error {
	c := completion{ctx: ctx, process: p}
	if last := len(words) - 1; last >= 0 {
		c.before, c.word = words[:last], words[last]
	}
	for _, line := range c.lines(app) {
		if strings.HasPrefix(line, ":") || strings.HasPrefix(line, c.word) {
			if _, err := fmt.Fprintln(p.Streams.Out, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// completion is a word to complete, with the words before it.
type completion struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one call
	process Process
	before  []string
	word    string
}

func (cm completion) lines(app *cli.App) []string {
	line := arrange(app, append([]string{app.Name}, cm.before...))
	flags, commands := app.Flags, app.Commands
	if line.command != nil {
		flags, commands = line.command.Flags, line.command.Subcommands
	}
	if n := len(cm.before); n > 0 && strings.HasPrefix(cm.before[n-1], "-") && !strings.Contains(cm.before[n-1], "=") {
		if f := flagOf(flags, strings.TrimLeft(cm.before[n-1], "-")); f != nil && takesValue(flags, f.Names()[0]) {
			return cm.values(f)
		}
	}
	switch name, _, given := strings.Cut(cm.word, "="); {
	case given && strings.HasPrefix(name, "-"):
		var lines []string
		if f := flagOf(flags, strings.TrimLeft(name, "-")); f != nil {
			for _, value := range cm.values(f) {
				lines = append(lines, name+"="+value)
			}
		}
		return lines
	case strings.HasPrefix(cm.word, "-"):
		return flagLines(flags)
	case len(commands) > 0 && len(line.arguments) == 0:
		var lines []string
		for _, cmd := range commands {
			lines = append(lines, described(cmd.Name, cmd.Usage))
		}
		if line.command == nil || line.command.ArgsUsage == "" {
			return lines
		}
		return append(lines, cm.arguments(line)...)
	case line.command != nil:
		return cm.arguments(line)
	}
	return nil
}

// arguments returns the possible values of a command's next argument.
func (cm completion) arguments(line commandLine) []string {
	wants := strings.Fields(line.command.ArgsUsage)
	if len(wants) == 0 {
		return nil
	}
	i := len(line.arguments)
	if i >= len(wants) && !strings.HasSuffix(wants[len(wants)-1], "…") {
		return nil
	}
	return cm.named(strings.TrimSuffix(wants[min(i, len(wants)-1)], "…"))
}

// values returns the possible values of a flag.
func (cm completion) values(f cli.Flag) []string {
	if choice, ok := f.(choiceFlag); ok {
		return choice.words
	}
	return cm.named(placeholder(f))
}

// named returns the possible values for a placeholder of a usage line, such as KIND.
func (cm completion) named(what string) []string {
	switch what {
	case "FILE":
		return []string{completeFiles}
	case "DIR":
		return []string{completeFolders}
	case "SHELL":
		return shells()
	case "FORMAT":
		return convertNames()
	case "KINDS":
		return resource.Listed()
	case "KIND":
		lines := resource.Listed()
		if k, err := kindCalled(strings.Split(cm.word, ".")[0]); err == nil {
			for _, f := range explainFields(k, "") {
				lines = append(lines, described(k.Name+"."+f.Name, f.Description))
			}
		}
		return lines
	case "ADDRESS", "FROM", "TO", "PREFIX":
		return cm.addresses()
	}
	return nil
}

// addresses returns the addresses in the manifests that the command line names.
func (cm completion) addresses() []string {
	var names, settings []string
	for i, word := range cm.before {
		if i > 0 && word != standardInput && (slices.Contains([]string{"-f", "--file"}, cm.before[i-1]) || cm.before[i-1][:1] != "-" && isManifest(word)) {
			names = append(names, word)
		}
		if i > 0 && cm.before[i-1] == "--var" {
			settings = append(settings, word)
		}
	}
	if len(names) == 0 {
		return nil
	}
	opts, _ := cm.process.manifestOptions(settings)
	m, _ := manifest.Load(cm.ctx, names, opts) // as far as they can be read
	var lines []string
	for _, o := range m.Objects {
		lines = append(lines, view.Safe(string(o.Address)))
	}
	return lines
}

// flagOf returns the flag with a name, or nil.
func flagOf(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func flagLines(flags []cli.Flag) []string {
	lines := []string{described("--help", "show the help")}
	for _, f := range flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && !isHidden(f) {
			lines = append(lines, described("--"+f.Names()[0], strings.ReplaceAll(d.GetUsage(), "`", "")))
		}
	}
	return lines
}

// described returns a line of completion: a word, a tab, and the beginning of its description.
func described(word, means string) string {
	means, _, _ = strings.Cut(means, "; ")
	return word + "\t" + diag.Truncate(means, 60)
}
