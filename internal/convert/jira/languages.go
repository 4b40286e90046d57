package jira

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/words"
)

// languageList has the names of columns as exports in other languages had them, lower-case. Columns that it lacks are read as
// fields. Of some languages it knows the column of the key alone, which is not enough.
//
//go:embed languages.txt
var languageList string

// languages are the languages by their names, each with its words and what they are in English.
func languages(each func(name string, words map[string]string)) {
	for language := range strings.SplitSeq(strings.TrimSpace(languageList), "\n\n") {
		name, columns, _ := strings.Cut(language, "\n")
		each(name, words.ByName(words.Lines(columns)))
	}
}

var idColumn = regexp.MustCompile(`(?i)\bid\b`)

func is(cell string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, cell) })
}

// inEnglish is a header in English, and the language that it was in if that is another one. The language is known by its words for
// Issue key and Summary; some columns stay English in every language. key is what another language says for Issue key, if the header
// has that.
func inEnglish(header []string) (english []string, language, key string) {
	english = header
	languages(func(name string, words map[string]string) {
		translated := make([]string, len(header))
		known, summary := false, false
		for i, cell := range header {
			word := words[strings.ReplaceAll(strings.ToLower(cell), "’", "'")]
			known, summary = known || word == "Issue key" || word == "Key", summary || word == "Summary"
			if word == "Issue key" && key == "" {
				key = cell
			}
			before, inside, bracket := strings.Cut(cell, "(")
			kind := words[strings.ToLower(strings.TrimSpace(before))]
			switch {
			case word != "":
				translated[i] = word
			case bracket && is(kind, "Custom field", "Outward issue link", "Inward issue link"):
				translated[i] = kind + " (" + inside
			case i > 0 && is(translated[i-1], "Assignee", "Reporter", "Creator", "Watchers") && idColumn.MatchString(cell):
				translated[i] = translated[i-1] + " Id" // it stands beside the name
			default:
				translated[i] = cell
			}
		}
		if known && summary && language == "" {
			english, language = translated, name
		}
	})
	return english, language, key
}
