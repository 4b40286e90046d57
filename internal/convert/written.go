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

// Where something was written.
const (
	inFields = 1 << iota
	inTexts
)

// written holds the words, the pairs of words and the days of what was written, by where they stand.
type written map[uint64]byte

// add books what is written somewhere: a text, or all texts within a value of a manifest.
func (w written) add(value any, in byte) {
	switch v := value.(type) {
	case string:
		eachWord(v, func(word, pair uint64) {
			w[word] |= in
			w[pair] |= in
		})
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

func (w written) addDays(text string, in byte) {
	for _, day := range days(text) {
		w[uint64(day.Unix())] |= in //nolint:gosec // any number will do
	}
}

// has reports whether a value was written: most of its pairs of words, its day, its duration, or a flag in words. Words in also count, too.
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

// eachWord visits the words of a text, and each with the word before it in its part of a list, as numbers: without case and leading zeros.
func eachWord(text string, do func(word, pair uint64)) {
	const basis, prime = 14695981039346656037, 1099511628211
	word, last := uint64(basis), uint64(0)
	end := func() {
		if word != basis {
			pair := word
			if last != 0 {
				pair = (last ^ word) * prime
			}
			do(word, pair)
			word, last = basis, word
		}
	}
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r >= 0x80 && !unicode.IsSpace(r) && !unicode.IsPunct(r):
			if r != '0' || word != basis {
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

var (
	writtenDay = regexp.MustCompile(`\d{4}-\d\d-\d\d|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}`)
	datePart   = regexp.MustCompile(`\d+|\pL{3,}`)
)

// days returns the days that a value may stand for, however it is written.
func days(text string) []time.Time {
	const longest = 40
	if len(text) > longest || !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	var year, month int
	var parts []int
	for _, part := range datePart.FindAllString(text, -1) {
		n, err := strconv.Atoi(part)
		switch at := slices.Index([]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}, strings.ToLower(part[:min(3, len(part))])); {
		case at >= 0:
			month = at + 1
		case err != nil:
		case len(part) >= 12:
			return []time.Time{time.UnixMilli(int64(n)).UTC().Truncate(24 * time.Hour)}
		case len(part) >= 9:
			return []time.Time{time.Unix(int64(n), 0).UTC().Truncate(24 * time.Hour)}
		case len(part) == 4 && year == 0:
			year = n
		default:
			parts = append(parts, n)
		}
	}
	var all []time.Time
	day := func(y, m, d int) {
		if y < 100 {
			y += 2000
		}
		if m >= 1 && m <= 12 && d >= 1 && d <= 31 && y >= 1900 {
			all = append(all, time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC))
		}
	}
	parts = append(parts, 0, 0, 0)
	switch {
	case month > 0 && year > 0:
		day(year, month, parts[0])
	case month > 0:
		day(parts[1], month, parts[0])
		day(parts[0], month, parts[1])
	case year > 0:
		day(year, parts[0], parts[1])
		day(year, parts[1], parts[0])
	default:
		day(parts[2], parts[0], parts[1])
		day(parts[2], parts[1], parts[0])
		day(parts[0], parts[1], parts[2])
	}
	return all
}

var marks = regexp.MustCompile(`(?s)<!--.*?-->|<[^<>]*>|\{\w+(?::[^{}]*)?\}|\bh[1-6]\. |"\w+":`)

// beginning returns the first words of a value without its markup, by which it is found again.
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
