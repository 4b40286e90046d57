// Package words knows what the words of trackers mean: the groups of states, and the names of priorities, types and resolutions. They stand
// in words.txt, as other lists of importers stand in texts of the same form.
package words

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed words.txt
var all string

// Line is a line of a list, such as state = Status | Stage: what it is of, and names.
type Line struct {
	Of    string
	Names []string
}

// Lines reads a list.
func Lines(list string) []Line {
	var all []Line
	for text := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		of, names, _ := strings.Cut(text, " = ")
		all = append(all, Line{of, strings.Split(names, " | ")})
	}
	return all
}

// Section returns the section of a text that has a title. An empty line ends it.
func Section(text, title string) []Line {
	_, text, _ = strings.Cut(text, "\n\n"+title+"\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return Lines(text)
}

// ByName returns what each name of a list is of.
func ByName(list []Line) map[string]string {
	all := map[string]string{}
	for _, l := range list {
		for _, name := range l.Names {
			all[name] = l.Of
		}
	}
	return all
}

// Words tell what the words of a tracker mean.
type Words struct{ own, any map[string]string }

// Of returns the words of a format.
func Of(format string) *Words {
	w := &Words{own: map[string]string{}, any: map[string]string{}}
	for block := range strings.SplitSeq(all, "\n\n") {
		title, list, _ := strings.Cut(block, "\n")
		to := w.own
		if title == "any" {
			to = w.any
		} else if !slices.Contains(strings.Split(title, " | "), format) {
			continue
		}
		for _, l := range Lines(list) {
			kind, name, what := strings.Cut(l.Of, " ")
			for _, word := range l.Names {
				if what {
					to[kind+" "+Fold(word)] = name
				} else {
					to[Fold(word)] = l.Of
				}
			}
		}
	}
	return w
}

// Own returns the group of a state, by the words of the tracker alone.
func (w *Words) Own(state string) string { return w.own[Fold(state)] }

// Group returns the group of a state, "" if its name does not tell.
func (w *Words) Group(state string) string { return cmp.Or(w.Own(state), w.any[Fold(state)]) }

// Priority returns the name of a priority as others call it.
func (w *Words) Priority(name string) string { return cmp.Or(w.own["priority "+Fold(name)], name) }

// Resolution returns a resolution as others call it.
func (w *Words) Resolution(name string) string { return cmp.Or(w.own["resolution "+Fold(name)], name) }

var guesses = sync.OnceValue(func() map[string]string { //nolint:gochecknoglobals // a constant
	all, meant := Section(all, "guesses"), map[string]string{}
	for _, l := range all {
		kind, name, _ := strings.Cut(l.Of, " ")
		for _, word := range l.Names {
			meant[kind+" "+word] = name
		}
	}
	return meant
})

// Guess returns what a word of any tracker means in Plane, as far as that is usual. The kind is that of a line, such as priority; the
// word is lower-case and has no blanks.
func Guess(kind, word string) string { return guesses()[kind+" "+word] }

// Fold returns a name without what exports and spreadsheets write differently.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '#' || r == '.' {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
