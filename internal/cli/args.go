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
	var early []string // flags in front of the command that they belong to
	for len(rest) > 0 {
		if n := flagWords(flagsBelow(commands), rest); n > 0 {
			early, rest = append(early, rest[:n]...), rest[n:]
			continue
		}
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(rest[0]) })
		if i < 0 {
			break
		}
		line.command, line.name = commands[i], line.name+" "+commands[i].Name
		line.args = append(slices.Clip(line.args), rest[0])
		commands, rest = commands[i].Subcommands, rest[1:]
	}
	rest = append(early, rest...)
	if own := line.command != nil && len(line.command.Flags) > 0; !own && len(commands) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") { // no command: its flags are nobody's
		rest = rest[:1]
	}
	known := app.Flags
	if line.command != nil {
		known = line.command.Flags
	}
	var flags []string
	for len(rest) > 0 {
		n := max(1, flagWords(known, rest))
		switch word := rest[0]; {
		case word == "--":
			line.arguments, n = append(line.arguments, rest[1:]...), len(rest)
		case len(word) < 2 || word[0] != '-':
			line.arguments = append(line.arguments, word)
		case helpFlag(word):
			line.help = true
		default:
			flags = append(flags, rest[:n]...)
		}
		rest = rest[n:]
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

// flagWords is how many words the flag in front takes: none if it is no flag, two with a value of its own.
func flagWords(known []cli.Flag, words []string) int {
	word := words[0]
	if len(word) < 2 || word[0] != '-' || word == "--" {
		return 0
	}
	if name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "="); given || !takesValue(known, name) {
		return 1
	}
	return min(2, len(words))
}

// flagsBelow are the flags of all these commands.
func flagsBelow(commands []*cli.Command) []cli.Flag {
	var flags []cli.Flag
	for _, c := range commands {
		flags = append(append(flags, c.Flags...), flagsBelow(c.Subcommands)...)
	}
	return flags
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
	ofCommand := c.Command.HelpName
	if ofCommand == c.App.Name {
		ofCommand += " COMMAND"
	}
	dashes := strings.Repeat("-", min(2, max(1, len(word))))
	return usageError{
		text: "unknown flag " + dashes + word,
		hint: cmp.Or(diag.DidYouMean("--"+word, flags), ofCommand+" --help shows the flags"),
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
