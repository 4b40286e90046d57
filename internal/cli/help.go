package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// helpWidth is a number of columns that every terminal has.
const helpWidth = 80

// site is the address of the documentation.
const site = "https://planform.github.io/planform/"

// isHelpFlag reports whether a word is the help flag, which every command has. The flag is found before the library parses the command line.
func isHelpFlag(word string) bool { return word == "--help" || word == "-h" || word == "-help" }

// appHelp returns the help of the program.
func appHelp(app *cli.App) string {
	var b strings.Builder
	b.WriteString(app.Name + ": " + app.Usage + "\n\nUsage:\n   " + app.UsageText + "\n\n" + app.Description + "\n\nCommands:\n")
	writeCommands(&b, app.Commands)
	b.WriteString("\n" + paragraphs(exitCodes) + "\n\nplanform COMMAND --help explains a command.\nDocumentation: " + site + "\nAs plain text: " + site + "llms.txt\n")
	return b.String()
}

// commandHelp returns the help of a command.
func commandHelp(cmd *cli.Command, name string) string {
	var b strings.Builder
	b.WriteString(strings.Join(wrap(name+": "+cmd.Usage, helpWidth), "\n") + "\n\nUsage:\n")
	writeUsage(&b, cmd.UsageText)
	if cmd.Description != "" {
		b.WriteString("\n" + paragraphs(cmd.Description) + "\n")
	}
	if len(cmd.Subcommands) > 0 {
		b.WriteString("\nCommands:\n")
		writeCommands(&b, cmd.Subcommands)
		b.WriteString("\n" + name + " COMMAND --help explains a command.\n")
	}
	for _, group := range flagGroups() {
		title := "\n" + group.title + ":\n"
		for _, f := range cmd.Flags {
			if groupOf(f).title == group.title && !isHidden(f) {
				b.WriteString(title)
				title = ""
				entry(&b, flagNames(f), 28, flagText(f))
			}
		}
	}
	b.WriteString("\nDocumentation: " + site + "\n")
	return b.String()
}

// flagGroup is a group of flags in the help of a command.
type flagGroup struct {
	title string
	flags []string
}

// flagGroups returns the groups of flags by use. The first one has no list: its flags are the usual ones, which all other groups lack.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"Flags", nil},
		{"Flags for the comparison", []string{"on-drift", "no-refresh", "refresh-all", "adopt-by-name"}},
		{"Flags for creates", []string{"order", "no-create", "invite", "new-secrets"}},
		{"Flags for deletions", []string{"delete-changed", "delete-unrecorded", "max-deletes"}},
		{"Flags for several owners", []string{"mark-adopted", "take-over"}},
		{"Flags for the input", []string{"var-file", "timezone", "encoding", "since", "limit"}},
		{"Flags for the run", []string{"expect", "max-notices", "parallelism", "grace-period", "lock-timeout", "detailed-exitcode", "allow-unsupported"}},
		{"Service flags", []string{"base-url", "api-key-file", "api", "rate", "timeout", "insecure-http"}},
		{"Output flags", []string{"full", "summary", "max-errors", "color", "no-color", "no-pager", "log-level", "log-format"}},
	}
}

// groupOf returns the group of a flag.
func groupOf(f cli.Flag) flagGroup {
	groups := flagGroups()
	return groups[max(0, slices.IndexFunc(groups, func(g flagGroup) bool { return slices.Contains(g.flags, f.Names()[0]) }))]
}

func isHidden(f cli.Flag) bool {
	v, ok := f.(cli.VisibleFlag)
	return ok && !v.IsVisible()
}

func writeCommands(b *strings.Builder, commands []*cli.Command) {
	column := 22
	for _, c := range commands {
		column = max(column, len(c.Name)+4)
	}
	for _, c := range commands {
		entry(b, c.Name, column, firstSentence(c.Usage))
	}
}

// writeUsage breaks each line of usage, and indents the continuation.
func writeUsage(b *strings.Builder, text string) {
	for usage := range strings.SplitSeq(text, "\n") {
		for i, line := range wrap(usage, helpWidth-9) {
			b.WriteString(strings.Repeat(" ", 3+6*min(i, 1)) + line + "\n")
		}
	}
}

// paragraphs wraps the lines of a text, except indented lines.
func paragraphs(text string) string {
	var out, open []string
	end := func() {
		if len(open) > 0 {
			out, open = append(out, wrap(strings.Join(open, " "), helpWidth)...), nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.HasPrefix(line, " ") {
			end()
			out = append(out, line)
		} else {
			open = append(open, line)
		}
	}
	end()
	return strings.Join(out, "\n")
}

// entry writes a name, and its description in a second column.
func entry(b *strings.Builder, name string, column int, text string) {
	b.WriteString("  " + name)
	at := 2 + len(name)
	for _, line := range wrap(text, helpWidth-column) {
		if at+2 > column {
			b.WriteString("\n")
			at = 0
		}
		b.WriteString(strings.Repeat(" ", column-at) + line)
		at = helpWidth
	}
	b.WriteString("\n")
}

// wrap breaks a text into lines between words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// flagNames returns the names of a flag with the placeholder of its value, such as -f, --file FILE.
func flagNames(f cli.Flag) string {
	var names []string
	for _, n := range f.Names() {
		names = append(names, strings.Repeat("-", min(2, len(n)))+n)
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) })
	text := strings.Join(names, ", ")
	if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
		text += " " + placeholder(f)
	}
	return text
}

// placeholder returns the word for a flag's value, which the usage text has in backquotes.
func placeholder(f cli.Flag) string {
	if d, ok := f.(cli.DocGenerationFlag); ok {
		if words := strings.Split(d.GetUsage(), "`"); len(words) > 2 {
			return words[1]
		}
	}
	return "VALUE"
}

func flagText(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	return strings.ReplaceAll(d.GetUsage(), "`", "") + defaultText(d)
}

// defaultText returns the default value of a flag in brackets, or "" for an empty or zero default.
func defaultText(d cli.DocGenerationFlag) string {
	text := strings.Trim(d.GetDefaultText(), `"`)
	if !d.TakesValue() || slices.Contains([]string{"", "false", "0", "0s"}, text) {
		return ""
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return " (default: " + text + ")"
}
