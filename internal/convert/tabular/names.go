package tabular

import (
	_ "embed"
	"strings"
)

// columnList has the columns of the layouts, and at last the groups of states that go by names which many trackers have.
//
//go:embed columns.txt
var columnList string

// names are those of a section of the list.
func names(section string) map[string]string {
	_, text, _ := strings.Cut("\n\n"+columnList, "\n\n"+section+"\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return Names(text)
}

// Names reads a list of names, in lines such as state = Status | Stage: what each of them stands for.
func Names(list string) map[string]string {
	all := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		meaning, words, _ := strings.Cut(line, " = ")
		for word := range strings.SplitSeq(words, " | ") {
			all[word] = meaning
		}
	}
	return all
}
