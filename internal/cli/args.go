package cli

import (
	"cmp"
	_ "embed"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/text/diag"
)

// commandLine is a parsed command line, with its flags first because the library needs them there.
type commandLine struct {
	args      []string
	arguments []string     // words that are neither commands nor flags
	command   *cli.Command // nil = the program itself
	name      string       // full name, such as planform state list
	help      bool
	json      bool  // the result is wanted as JSON, and so are errors
	err       error // first mistake in the flags
}

// arrange parses a command line and moves its flags in front of the arguments, so that users may write flags anywhere.
func arrange(app *cli.App, args []string) commandLine {
	line := commandLine{args: args[:min(1, len(args))], name: app.Name, json: wantsJSON(args)}
	commands, rest := app.Commands, args[len(line.args):]
	var early []string // flags in front of their command
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
	// The word is no command: it stays alone, because its flags belong to no known command.
	if own := line.command != nil && len(line.command.Flags) > 0; !own && len(commands) > 0 && len(rest) > 0 &&
		!strings.HasPrefix(rest[0], "-") {
		rest = rest[:1]
	}
	known := app.Flags
	if line.command != nil {
		known = line.command.Flags
	}
	var flags []string
	for len(rest) > 0 {
		rest = separate(known, rest)
		n := max(1, flagWords(known, rest))
		switch word := rest[0]; {
		case word == "--":
			line.arguments, n = append(line.arguments, rest[1:]...), len(rest)
		case len(word) < 2 || word[0] != '-':
			line.arguments = append(line.arguments, word)
		case isHelpFlag(word):
			line.help = true
		default:
			if line.err == nil {
				line.err = checkFlag(known, rest, line.helpName())
			}
			if line.err != nil {
				n = 1 // so that --help is seen
			}
			flags = append(flags, rest[:n]...)
		}
		rest = rest[n:]
	}
	line.args = append(append(slices.Clip(line.args), flags...), "--")
	line.args = append(line.args, line.arguments...)
	return line
}

// helpName returns the words to write before --help.
func (cl *commandLine) helpName() string {
	if cl.command == nil {
		return cl.name + " COMMAND"
	}
	return cl.name
}

// separate splits a word of one-letter flags into one word for each flag, such as -yf FILE into -y -f FILE. Only the last flag may take a
// value.
func separate(known []cli.Flag, words []string) []string {
	letters, short := strings.CutPrefix(words[0], "-")
	if !short || len(letters) < 2 || flagOf(known, letters) != nil {
		return words
	}
	var flags []string
	for i := range len(letters) {
		name := letters[i : i+1]
		if flagOf(known, name) == nil && !isHelpFlag("-"+name) || takesValue(known, name) && i < len(letters)-1 {
			return words
		}
		flags = append(flags, "-"+name)
	}
	return append(flags, words[1:]...)
}

// checkFlag returns an error if the first word is an unknown flag, or a flag without its value. A value may begin with a hyphen unless it
// is a flag.
func checkFlag(known []cli.Flag, words []string, command string) error {
	word, _, given := strings.Cut(words[0], "=")
	name := strings.TrimLeft(word, "-")
	f := flagOf(known, name)
	if f == nil {
		return unknownFlag(known, word, command)
	}
	if given || !takesValue(known, name) {
		return nil
	}
	text := word + " needs a value"
	hint := word + " " + placeholder(f)
	if len(words) > 1 {
		next, _, _ := strings.Cut(strings.TrimLeft(words[1], "-"), "=")
		if words[1] != "--" && !isHelpFlag(words[1]) && (len(words[1]) < 2 || words[1][0] != '-' || flagOf(known, next) == nil) {
			return nil
		}
		text += ", but " + words[1] + " is a flag"
	}
	return usageError{text: text, hint: hint}
}

func unknownFlag(known []cli.Flag, word, command string) error {
	var flags []string
	for _, f := range known {
		for _, name := range f.Names() {
			if len(name) > 1 {
				flags = append(flags, "--"+name)
			}
		}
	}
	name := strings.TrimLeft(word, "-")
	return usageError{text: "unknown flag " + word, hint: cmp.Or(equivalent("flags", name), commandsWith(name), diag.DidYouMean("--"+name, flags),
		command+" --help shows the flags")}
}

// commandsWith returns a hint with the commands that have a flag, or "".
func commandsWith(flag string) string {
	var names []string
	for _, c := range commands() {
		if len(flag) > 1 && flagOf(c.make(Process{}).Flags, flag) != nil {
			names = append(names, "planform "+c.name)
		}
	}
	if names == nil {
		return ""
	}
	return "--" + flag + " is a flag of " + diag.First(names, 4)
}

// wantsJSON reports whether a command line asks for JSON, even if other parts of the command line are wrong.
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

// flagWords returns the number of words of the flag in front: 0 if the first word is no flag, 2 if the second word is the flag's value.
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

// flagsBelow returns the flags of the commands and of all their subcommands.
func flagsBelow(commands []*cli.Command) []cli.Flag {
	var flags []cli.Flag
	for _, c := range commands {
		flags = append(append(flags, c.Flags...), flagsBelow(c.Subcommands)...)
	}
	return flags
}

// takesValue reports whether a flag is followed by its value.
func takesValue(flags []cli.Flag, name string) bool {
	d, ok := flagOf(flags, name).(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// invalidValue matches the flag package's error about a value that it cannot parse.
var invalidValue = regexp.MustCompile(`^invalid value (".*") for flag -(\S+): parse error$`)

// usage returns the error for a wrong value of a flag, with a hint.
func usage(c *cli.Context, err error, _ bool) error {
	hint := c.Command.HelpName + " --help shows the flags"
	if m := invalidValue.FindStringSubmatch(err.Error()); m != nil {
		switch flagOf(c.Command.Flags, m[2]).(type) {
		case *cli.DurationFlag:
			hint = "write a time with its unit, such as 90s or 1h30m"
		case *cli.IntFlag:
			hint = "write a whole number"
		}
	}
	return usageError{text: invalidValue.ReplaceAllString(err.Error(), "--$2 $1 is not valid"), hint: hint}
}

// elsewhereText lists words of other programs, with the equivalent in planform.
//
//go:embed elsewhere.txt
var elsewhereText string

// elsewhere yields the lines of a section of elsewhereText: words, and the equivalent.
func elsewhere(section string) iter.Seq2[[]string, string] {
	_, text, _ := strings.Cut(elsewhereText, "["+section+"]\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return func(yield func(words []string, here string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			if words, here, _ := strings.Cut(line, " = "); !yield(strings.Fields(words), here) {
				return
			}
		}
	}
}

// equivalent returns the equivalent of a word in a section of elsewhereText, or "" if the section lacks the word.
func equivalent(section, word string) string {
	for words, here := range elsewhere(section) {
		if slices.Contains(words, word) {
			return here
		}
	}
	return ""
}
