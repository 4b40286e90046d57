package cli

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/diag"
)

// commandLine is a command line in the order that the library wants: flags first.
type commandLine struct {
	args      []string
	arguments []string     // those of them that are no flags
	command   *cli.Command // nil = the program itself
	name      string       // with those that it is below of
	help      bool
	json      bool // the result is wanted as JSON, and so are errors
}

// arrange brings flags in front of arguments, so that they may stand anywhere.
func arrange(app *cli.App, args []string) commandLine {
	line := commandLine{args: args[:min(1, len(args))], name: app.Name, json: wantsJSON(args)}
	commands, rest := app.Commands, args[len(line.args):]
	for len(rest) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(rest[0]) })
		if i < 0 {
			break
		}
		line.command, line.name = commands[i], line.name+" "+commands[i].Name
		line.args = append(slices.Clip(line.args), rest[0])
		commands, rest = commands[i].Subcommands, rest[1:]
	}
	if own := line.command != nil && len(line.command.Flags) > 0; !own && len(commands) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") { // no command: its flags are nobody's
		rest = rest[:1]
	}
	known := app.Flags
	if line.command != nil {
		known = line.command.Flags
	}
	var flags []string
	for len(rest) > 0 {
		word := rest[0]
		rest = rest[1:]
		switch {
		case word == "--":
			line.arguments, rest = append(line.arguments, rest...), nil
		case len(word) < 2 || word[0] != '-':
			line.arguments = append(line.arguments, word)
		case helpFlag(word):
			line.help = true
		default:
			flags = append(flags, word)
			name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if takesValue(known, name) && !given && len(rest) > 0 {
				flags, rest = append(flags, rest[0]), rest[1:]
			}
		}
	}
	line.args = append(append(slices.Clip(line.args), flags...), "--")
	line.args = append(line.args, line.arguments...)
	return line
}

// wantsJSON reports whether a command line asks for JSON, even if it is wrong otherwise.
func wantsJSON(args []string) bool {
	for i, word := range args {
		name, value, given := strings.Cut(word, "=")
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--":
			return false
		case "--output", "-output", "-o", "--o":
			if value == "json" {
				return true
			}
		}
	}
	return false
}

// takesValue reports whether a flag is followed by its value.
func takesValue(flags []cli.Flag, name string) bool {
	for _, f := range flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			return d.TakesValue()
		}
	}
	return false
}

// invalidValue is what the flag package says of a value that it cannot read.
var invalidValue = regexp.MustCompile(`^invalid value (".*") for flag -(\S+): parse error$`)

// usage says what is wrong with the flags, and what was probably meant.
func usage(c *cli.Context, err error, _ bool) error {
	_, word, unknown := strings.Cut(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return usageError{text: invalidValue.ReplaceAllString(err.Error(), "--$2 $1 is not valid"), hint: c.Command.HelpName + " --help shows the flags"}
	}
	word = strings.TrimLeft(word, "-")
	var flags []string
	for _, f := range c.Command.Flags {
		for _, name := range f.Names() {
			if len(name) > 1 {
				flags = append(flags, "--"+name)
			}
		}
	}
	dashes := strings.Repeat("-", min(2, max(1, len(word))))
	return usageError{
		text: "unknown flag " + dashes + word,
		hint: cmp.Or(diag.DidYouMean("--"+word, flags), cmp.Or(c.Command.HelpName, "planform")+" --help shows the flags"),
	}
}

// otherWords are commands of other programs, by what does the same here.
func commandElsewhere(word string) string {
	switch word {
	case "import", "migrate":
		return "planform convert makes manifests of another tracker's export, planform apply creates their objects, planform export writes manifests of an existing workspace, planform state import binds an address to an ID"
	case "diff":
		return "planform plan shows the difference"
	case "destroy", "delete", "prune":
		return "planform apply --prune deletes objects that planform created and that are no longer in the manifest"
	case "new":
		return "planform init writes a manifest to begin with"
	case "check", "lint":
		return "planform validate checks manifests"
	}
	return ""
}
