package jira

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/planform/planform/internal/convert/words"
)

// languageList has the names of columns in other languages, in lower case. Columns that it lacks are read as fields; for some languages it
// has only the column of the key, which is not enough to read an export.
//
//go:embed languages.txt
var languageList string

// translation holds the English names of the words that a language has for columns.
type translation struct {
	language string
	english  map[string]string
}

var translations = sync.OnceValue(func() (all []translation) { //nolint:gochecknoglobals // a constant
	for section := range strings.SplitSeq(strings.TrimSpace(languageList), "\n\n") {
		name, columns, _ := strings.Cut(section, "\n")
		all = append(all, translation{name, words.ByName(words.Lines(columns))})
	}
	return all
})

var idColumn = regexp.MustCompile(`(?i)\bid\b`)

func is(cell string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, cell) })
}

// inEnglish returns a header in English, and its language if it was another one. A language is recognised by its words for Issue key and
// Summary; key is the cell with another language's word for Issue key, or "".
func inEnglish(header []string) (english []string, language, key string) {
	english = header
	for _, t := range translations() {
		translated := make([]string, len(header))
		known, summary := false, false
		for i, cell := range header {
			word := t.english[strings.ReplaceAll(strings.ToLower(cell), "’", "'")]
			known, summary = known || word == "Issue key" || word == "Key", summary || word == "Summary"
			if word == "Issue key" && key == "" {
				key = cell
			}
			before, inside, bracket := strings.Cut(cell, "(")
			kind := t.english[strings.ToLower(strings.TrimSpace(before))]
			switch {
			case word != "":
				translated[i] = word
			case bracket && is(kind, "Custom field", "Outward issue link", "Inward issue link"):
				translated[i] = kind + " (" + inside
			case i > 0 && is(translated[i-1], "Assignee", "Reporter", "Creator", "Watchers") && idColumn.MatchString(cell):
				translated[i] = translated[i-1] + " Id" // the ID follows the name
			default:
				translated[i] = cell
			}
		}
		if known && summary && language == "" {
			english, language = translated, t.language
		}
	}
	return english, language, key
}
