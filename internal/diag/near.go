package diag

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Near returns the candidates that word was probably meant to be, nearest
// first, three at most. Case is ignored: "in progress" is near "In Progress".
func Near(word string, candidates []string) []string {
	return near(word, candidates, max(1, (len([]rune(word))+2)/3))
}

// Typo returns the candidates of which word is a misspelling, as [Near] does; it
// takes no other word for one: "Doing" is none of "Done".
func Typo(word string, candidates []string) []string {
	return near(word, candidates, 1+len([]rune(word))/8)
}

// longest is the length of a word that is compared: a longer one is no slip of the finger, and the distance is quadratic.
const longest = 200

// near returns the candidates that are no further from word than limit.
func near(word string, candidates []string, limit int) []string {
	const most = 4 << 20 // letters compared with letters: ten thousand names of 20
	if word == "" || len(word) > longest {
		return nil
	}
	type hit struct {
		text     string
		distance int
	}
	var hits []hit
	low, compared := strings.ToLower(word), 0
	for _, c := range candidates {
		if len(c) > longest || c == "" {
			continue
		}
		lc := strings.ToLower(c)
		if diff := len(lc) - len(low); diff > 2*limit+2 || -diff > 2*limit+2 {
			continue
		}
		if compared += len(low) * len(lc); compared > most {
			break
		}
		d := levenshtein.ComputeDistance(low, lc)
		if at, other := strings.IndexByte(low, '@'), strings.IndexByte(lc, '@'); at > 0 && other > 0 && low[at:] == lc[other:] && d > 1+at/8 {
			continue // people of one company are not one another's misspelling
		}
		if d > 1 && anagrams(low, lc) {
			d = 1 // letters in the wrong order are one slip
		}
		if d <= limit {
			hits = append(hits, hit{c, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(a.distance-b.distance, strings.Compare(a.text, b.text)) })
	hits = slices.CompactFunc(hits, func(a, b hit) bool { return a.text == b.text })
	var near []string
	for _, h := range hits[:min(3, len(hits))] {
		if h.distance <= hits[0].distance+1 { // much more distant words are hardly meant
			near = append(near, h.text)
		}
	}
	return near
}

// anagrams reports whether two words have the same letters.
func anagrams(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// Nearest returns the candidates nearest to word, however far they are, three at most.
func Nearest(word string, candidates []string) []string { return near(word, candidates, longest) }

// DidYouMean turns the nearest candidates into a hint, or "" where none is near.
func DidYouMean(word string, candidates []string) string { return ask(Near(word, candidates)) }

// ask turns words that may have been meant into a question.
func ask(words []string) string {
	if len(words) == 0 {
		return ""
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "\"" + w + "\""
	}
	return "did you mean " + strings.Join(quoted, " or ") + "?"
}

// Choose is a hint for a word that is none of the candidates: that of which it is
// a misspelling, else what there is, ten at most, in the order given.
func Choose(word string, candidates []string) string {
	const most = 10
	if hint := ask(Typo(word, candidates)); hint != "" || len(candidates) == 0 {
		return hint
	}
	return "there are " + First(candidates, most)
}

// OneOf is [DidYouMean], or a hint that lists all candidates if none is near. It is "" if there are no candidates.
func OneOf(word string, candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	return cmp.Or(DidYouMean(word, candidates), "one of "+strings.Join(candidates, ", "))
}
