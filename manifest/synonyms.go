package manifest

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/planform/planform/internal/diag"
)

//go:embed synonyms.txt
var synonymList string

// meaning is what words mean: a property, or a hint what to do instead.
type meaning struct{ of, words string }

// synonyms are words for properties, and words for what no manifest has.
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

// candidates are the properties that a word may stand for.
func candidates(word string) []string {
	var properties []string
	for _, s := range synonyms()[0] {
		if slices.Contains(strings.Fields(s.words), word) {
			properties = append(properties, s.of)
		}
	}
	return properties
}

// synonymOf is the property of an object that a word probably stands for, or "".
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

// synonym is a hint for a property that is unknown where it stands, or "".
func (p *properties) synonym(name string) string {
	has := func(property string) bool { return slices.Contains(p.names, property) }
	if p.kind != nil {
		has = func(property string) bool {
			known, ok := p.kind.props[property]
			return ok && known.what != isUnknown
		}
	}
	word := name
	if group, inner, ok := strings.Cut(name, "."); ok && p.kind != nil && p.kind.props[group].what == isGroup {
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
		if where := p.kinds.kindsWith(to, p.kind); len(where) > 0 && len(where) <= mostPlaces {
			return "did you mean " + quote(to) + "? That belongs to " + enumerate(where)
		}
	}
	return ""
}

// snakeCase writes a word as properties are written: dueDate and Due-Date are due_date.
func snakeCase(word string) string {
	const longest = 40 // longer ones are in no table
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
