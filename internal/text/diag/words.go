package diag

import (
	"errors"
	"strconv"
	"strings"
)

// WithHint adds a next step to an error. [HintOf] returns it.
func WithHint(err error, hint string) error { return hinted{err, hint} }

type hinted struct {
	error

	hint string
}

func (e hinted) Unwrap() error { return e.error }
func (e hinted) Hint() string  { return e.hint }

// HintOf returns the next step of an error, from the first error in its chain that has a method Hint; "" = none.
func HintOf(err error) string {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return h.Hint()
	}
	return ""
}

// Count returns a number with its noun, such as "1 error" and "3 errors".
func Count(n int, noun string) string {
	if n != 1 {
		noun = Plural(noun)
	}
	return strconv.Itoa(n) + " " + noun
}

// Plural returns the plural of a regular English noun.
func Plural(noun string) string {
	if noun == "person" {
		return "people"
	}
	if strings.HasSuffix(noun, "s") { // the noun is a plural already
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	return noun + "s"
}

// A puts the indefinite article before a noun.
func A(noun string) string {
	if noun != "" && Plural(noun) == noun {
		return noun
	}
	if noun != "" && strings.IndexByte("aeiou", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}

// First joins the first names of a list, up to most: "a, b and 3 more".
func First(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
}

// OneLine returns a text on one line, with one blank between words.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Truncate shortens a text to that many characters. The last one is an ellipsis.
func Truncate(text string, characters int) string {
	if len(text) <= characters {
		return text
	}
	n, cut := 0, 0
	for i := range text {
		n++
		if n == characters {
			cut = i
		}
		if n > characters {
			return text[:cut] + "…"
		}
	}
	return text
}

// Differing shortens two texts to that many characters each, beginning shortly before their first difference.
func Differing(text, other string, characters int) (shortText, shortOther string) {
	const before = 20
	a, b, same := []rune(text), []rune(other), 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	shorten := func(letters []rune) string {
		if same <= before || len(letters) <= characters {
			return Truncate(string(letters), characters)
		}
		return "…" + Truncate(string(letters[same-before:]), characters)
	}
	return shorten(a), shorten(b)
}

// Quote returns the first line of a text between quotation marks, up to 61 characters.
func Quote(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += "…"
	}
	return "\"" + Truncate(line, 61) + "\""
}

// AtRate returns how long n requests take at a rate in a minute, with that rate.
func AtRate(n, perMinute int) string {
	text := "under 1 min"
	if n >= perMinute {
		text = "about " + Minutes((n+perMinute-1)/perMinute)
	}
	return text + " at " + strconv.Itoa(perMinute) + "/min"
}

// Minutes returns a duration; from two hours, it is in hours.
func Minutes(n int) string {
	if n < 120 {
		return strconv.Itoa(n) + " min"
	}
	text := strconv.Itoa(n/60) + " h"
	if n%60 > 0 {
		text += " " + strconv.Itoa(n%60) + " min"
	}
	return text
}
