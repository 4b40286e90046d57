package convert

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira/adf"
	"github.com/planform/planform/manifest"
)

// Places of written words.
const (
	inFields = 1 << iota
	inTexts
)

// written holds digests of the words, pairs of words and days in manifests, with their places.
type written map[uint64]byte

// add adds the words and days of a text, or of all texts within a value of a manifest.
func (w written) add(value any, in byte) {
	switch v := value.(type) {
	case string:
		for _, text := range slices.Compact([]string{v, html.UnescapeString(v)}) { // a tag or an entity may be text
			eachWord(text, func(word, pair uint64) {
				w[word] |= in
				w[pair] |= in
			})
		}
		for _, day := range writtenDay.FindAllString(v, -1) {
			w.addDays(day, in)
		}
	case manifest.Literal:
		w.add(string(v), in)
	case manifest.Map:
		for _, entry := range v {
			w.add(entry.Value, in)
		}
	case []any:
		for _, one := range v {
			w.add(one, in)
		}
	}
}

// addDays adds the days that a text may stand for.
func (w written) addDays(text string, in byte) {
	for _, day := range days(text) {
		w[uint64(day.Unix())] |= in //nolint:gosec // any number will do
	}
}

// has reports whether a value was written: most of its pairs of words, its day, its duration, or a flag in words. The words in also count,
// too.
func (w written) has(text string, in byte, also written) bool {
	pairs, missing := 0, 0
	eachWord(text, func(_, pair uint64) {
		if pairs++; (w[pair]|also[pair])&in == 0 {
			missing++
		}
	})
	most := pairs / 4 // markup takes some away
	if strings.ContainsAny(text, `;[={(\`) {
		most = pairs / 2 // names of its parts
	}
	if missing <= most {
		return true
	}
	for _, day := range days(text) {
		for _, zone := range []int{-1, 0, 1} { // in another zone it is another day
			if w[uint64(day.AddDate(0, 0, zone).Unix())]&in != 0 { //nolint:gosec // any number will do
				return true
			}
		}
	}
	n, err := strconv.Atoi(text)
	return err == nil && n >= 60 && w.has(dates.Duration(n), in, nil) || strings.EqualFold(text, "true") && w.has("yes", in, nil)
}

// eachWord calls a function with digests of each word, and of the pair with the word before it in the same part of a list. Case and leading
// zeros do not count, nor the end of a word that is longer than a line.
func eachWord(text string, do func(word, pair uint64)) {
	const basis, prime, longest = 14695981039346656037, 1099511628211, 80
	word, last, letters := uint64(basis), uint64(0), 0
	end := func() {
		if word != basis {
			pair := word
			if last != 0 {
				pair = (last ^ word) * prime
			}
			do(word, pair)
			word, last, letters = basis, word, 0
		}
	}
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r >= 0x80 && !unicode.IsSpace(r) && !unicode.IsPunct(r):
			if letters++; letters <= longest && (r != '0' || word != basis) {
				word = (word ^ uint64(unicode.ToLower(r))) * prime //nolint:gosec // no letter is negative
			}
		default:
			if end(); strings.ContainsRune(",;|/\n\t", r) {
				last = 0
			}
		}
	}
	end()
}

// writtenDay matches a date in a manifest.
var writtenDay = regexp.MustCompile(`\d{4}-\d\d-\d\d|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}`)

// days returns the days that a value may stand for in any notation of dates.
func days(text string) (all []time.Time) {
	const longest = 60
	if len(text) > longest || !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	for _, order := range []string{"dmy", "mdy"} {
		if at, ok := dates.New(time.UTC, order).Moment(text); ok {
			all = append(all, time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC))
		}
	}
	return all
}

// marks matches markup in a value of the source.
var marks = regexp.MustCompile(`(?s)<!--.*?-->|<[^<>]*>|\{\w+(?::[^{}]*)?\}|\bh[1-6]\. |"\w+":`)

// beginning returns the first words of a value without its markup, for finding the value again.
func beginning(text string) string {
	const enough = 80
	if adf.Is([]byte(text)) {
		text = adf.Plain([]byte(text))
	}
	if text = text[:min(len(text), 10*enough)]; strings.ContainsAny(text, "<{.&\":") {
		text = strings.TrimSpace(html.UnescapeString(marks.ReplaceAllString(text, "\n")))
	}
	if len(text) <= enough {
		return text
	}
	at := 0
	for n, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			at = n
		}
		if n > enough && at > 0 {
			return strings.Clone(text[:at])
		}
	}
	return text
}
