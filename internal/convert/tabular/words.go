package tabular

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
)

// wordList has the groups of states, and the names of priorities and resolutions, by the words of trackers.
//
//go:embed words.txt
var wordList string

// Words tell what the words of a tracker mean.
type Words struct{ own, any map[string]string }

// WordsOf returns the words of a format.
func WordsOf(format string) *Words {
	w := &Words{own: map[string]string{}, any: map[string]string{}}
	for block := range strings.SplitSeq(wordList, "\n\n") {
		title, list, _ := strings.Cut(block, "\n")
		to := w.own
		if title == "any" {
			to = w.any
		} else if !slices.Contains(strings.Split(title, " | "), format) {
			continue
		}
		for _, l := range lines(list) {
			kind, name, what := strings.Cut(l.of, " ")
			for _, word := range l.names {
				if what {
					to[kind+" "+fold(word)] = name
				} else {
					to[fold(word)] = l.of
				}
			}
		}
	}
	return w
}

// Own returns the group of a state, by the words of the tracker alone.
func (w *Words) Own(state string) string { return w.own[fold(state)] }

// Group returns the group of a state, "" if its name does not tell.
func (w *Words) Group(state string) string { return cmp.Or(w.Own(state), w.any[fold(state)]) }

// Priority returns the name of a priority as others call it.
func (w *Words) Priority(name string) string { return cmp.Or(w.own["priority "+fold(name)], name) }

// Resolution returns a resolution as others call it.
func (w *Words) Resolution(name string) string { return cmp.Or(w.own["resolution "+fold(name)], name) }
