package manifest

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/planform/planform/internal/text/diag"
)

//go:embed synonyms.txt
var synonymList string

// meaning is the meaning of some words: a property, or a hint what to write instead.
type meaning struct{ of, words string }

// synonyms holds words for properties, and words for features that manifests do not have.
var synonyms = sync.OnceValue(func() (list [2][]meaning) { //nolint:gochecknoglobals // a constant
	parts := strings.Split(strings.TrimSpace(synonymList), "\n\n")
	for n := range list {
		for line := range strings.SplitSeq(parts[2*n+1], "\n") {
			of, words, _ := strings.Cut(line, " = ")
			list[n] = append(list[n], meaning{of, words})
		}
	}
	return list
})

// candidates returns the properties that a word may stand for.
func candidates(word string) []string {
	var properties []string
	for _, s := range synonyms()[0] {
		if slices.Contains(strings.Fields(s.words), word) {
			properties = append(properties, s.of)
		}
	}
	return properties
}

// Meaning returns the name that a word of people or of another tracker stands for, or "": due stands for target_date.
func Meaning(word string, names []string) string {
	return synonymOf(word, func(property string) bool { return slices.Contains(names, property) })
}

// synonymOf returns the property of an object that a word probably stands for, or "".
func synonymOf(word string, has func(property string) bool) string {
	snake := snakeCase(word)
	if snake != word && has(snake) {
		return snake
	}
	for _, number := range []string{diag.Plural(snake), strings.TrimSuffix(snake, "s")} {
		if number != word && has(number) {
			return number
		}
	}
	properties := candidates(snake)
	if at := slices.IndexFunc(properties, has); at >= 0 {
		return properties[at]
	}
	return ""
}

// synonym returns a hint for an unknown property, or "".
func (ps *properties) synonym(name string) string {
	has := func(property string) bool { return slices.Contains(ps.names, property) }
	if ps.kind != nil {
		has = func(property string) bool {
			known, ok := ps.kind.props[property]
			return ok && known.what != isUnknown
		}
	}
	word := name
	if group, inner, ok := strings.Cut(name, "."); ok && ps.kind != nil && ps.kind.props[group].what == isGroup {
		word = inner
	}
	if to := synonymOf(word, has); to != "" {
		if group, field, ok := strings.Cut(to, "."); ok {
			return "did you mean " + quote(field) + ", inside " + group + ":?"
		}
		return "did you mean " + quote(to) + "?"
	}
	for _, u := range synonyms()[1] {
		if slices.Contains(strings.Fields(u.words), snakeCase(word)) {
			return u.of
		}
	}
	for _, to := range candidates(snakeCase(word)) {
		if where := ps.kinds.kindsWith(to, ps.kind); len(where) > 0 && len(where) <= maxHintPlaces {
			return "did you mean " + quote(to) + "? That belongs to " + enumerate(where)
		}
	}
	return ""
}

// snakeCase converts a word to the form of property names: dueDate and Due-Date become due_date.
func snakeCase(word string) string {
	const longest = 40 // no table contains longer words
	if len(word) > longest {
		return word
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range word {
		switch {
		case r == '-' || r == ' ' || r == '.':
			r = '_'
		case unicode.IsUpper(r):
			if unicode.IsLower(before) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}
