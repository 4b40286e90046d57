package tabular

import (
	_ "embed"
	"strings"
)

// columnList has what is to be known of names, in sections.
//
//go:embed columns.txt
var columnList string

// line is a line of a list, such as state = Status | Stage: the names of something.
type line struct {
	of    string
	names []string
}

func lines(list string) []line {
	var all []line
	for text := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		of, names, _ := strings.Cut(text, " = ")
		all = append(all, line{of, strings.Split(names, " | ")})
	}
	return all
}

// section is a section of the list.
func section(title string) []line {
	_, text, _ := strings.Cut(columnList, "\n\n"+title+"\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return lines(text)
}

// names are those of a section, each with what it stands for.
func names(title string) map[string]string { return byName(section(title)) }

// Names reads a list: what each name stands for.
func Names(list string) map[string]string { return byName(lines(list)) }

func byName(list []line) map[string]string {
	all := map[string]string{}
	for _, l := range list {
		for _, name := range l.names {
			all[name] = l.of
		}
	}
	return all
}
