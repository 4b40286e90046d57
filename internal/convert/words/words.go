// Package words translates the words of trackers: the groups of states, and the names of priorities, types and resolutions. Its lists are
// in words.txt; other importers have lists of the same form.
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

// Line is a line of a list, such as state = Status | Stage: a meaning, and the names that have it.
type Line struct {
	Of    string
	Names []string
}

// List is a parsed list.
type List []Line

// Lines parses a list.
func Lines(list string) List {
	var all List
	for text := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		of, names, _ := strings.Cut(text, " = ")
		all = append(all, Line{of, strings.Split(names, " | ")})
	}
	return all
}

// Section returns the section of a text that has a title. An empty line ends it.
func Section(text, title string) List {
	_, text, _ = strings.Cut(text, "\n\n"+title+"\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return Lines(text)
}

// Names returns the names in the first line of a meaning.
func (l List) Names(of string) []string {
	if n := slices.IndexFunc(l, func(one Line) bool { return one.Of == of }); n >= 0 {
		return l[n].Names
	}
	return nil
}

// Word returns the first line of a meaning as one word or sentence.
func (l List) Word(of string) string { return strings.Join(l.Names(of), " | ") }

// ByName maps each name in a list to the meaning of its line: the line state = Status | Stage gives Status: state and Stage: state.
func ByName(list List) map[string]string {
	all := map[string]string{}
	for _, l := range list {
		for _, name := range l.Names {
			all[name] = l.Of
		}
	}
	return all
}

// Words holds the meanings of a tracker's words.
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

// Own returns the group of a state if the tracker's own words have the state, else "".
func (w *Words) Own(state string) string { return w.own[Fold(state)] }

// Group returns the group of a state, or "" if the name of the state is not known.
func (w *Words) Group(state string) string { return cmp.Or(w.Own(state), w.any[Fold(state)]) }

// Within returns the group that the words in the name of a state stand for. Of several groups, the last in the order of groups wins.
func (w *Words) Within(state string) (group string) {
	order := []string{"", "unstarted", "backlog", "started", "completed", "cancelled"}
	for word := range strings.FieldsFuncSeq(strings.ToLower(state), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if of := w.Own(word); slices.Index(order, of) > slices.Index(order, group) {
			group = of
		}
	}
	return group
}

// Priority returns the common name of a priority.
func (w *Words) Priority(name string) string { return cmp.Or(w.own["priority "+Fold(name)], name) }

// Resolution returns the common name of a resolution.
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

// Guess returns the usual meaning in Plane for a word of any tracker, or "". kind is the first word of a line, such as priority; word is
// lower-case and has no blanks.
func Guess(kind, word string) string { return guesses()[kind+" "+word] }

// Fold returns a name in lower case and with letters, digits, # and . only, because exports and spreadsheets differ in the other
// characters.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '#' || r == '.' {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
