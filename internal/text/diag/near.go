package diag

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Near returns up to three candidates that word probably means, the nearest first. It ignores case: "in progress" is near "In Progress".
func Near(word string, candidates []string) []string {
	return near(word, candidates, max(1, (len([]rune(word))+2)/3))
}

// Typo returns the candidates that word probably misspells. It is stricter than [Near]: "Doing" is not a misspelling of "Done".
func Typo(word string, candidates []string) []string {
	return near(word, candidates, 1+len([]rune(word))/8)
}

// longest is the maximum length of a compared word. A longer word is not a slip, and the cost is quadratic.
const longest = 200

// near returns the candidates whose distance from word is at most limit.
func near(word string, candidates []string, limit int) []string {
	const most = 4 << 20 // compared pairs of letters: ten thousand names of 20
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
			continue // e-mail addresses of one company are not misspellings of each other
		}
		if d > 1 && anagrams(low, lc) {
			d = 1 // swapped letters are one slip
		}
		if d <= limit {
			hits = append(hits, hit{c, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(a.distance-b.distance, strings.Compare(a.text, b.text)) })
	hits = slices.CompactFunc(hits, func(a, b hit) bool { return a.text == b.text })
	var near []string
	for _, h := range hits[:min(3, len(hits))] {
		if h.distance <= hits[0].distance+1 { // words that are much more distant are hardly meant
			near = append(near, h.text)
		}
	}
	return near
}

// anagrams reports whether two words consist of the same letters.
func anagrams(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// Nearest returns up to three candidates nearest to word, at any distance.
func Nearest(word string, candidates []string) []string { return near(word, candidates, longest) }

// DidYouMean returns a hint with the nearest candidates, or "" if none is near.
func DidYouMean(word string, candidates []string) string { return question(Near(word, candidates)) }

// question returns a question whether one of the words is meant, or "" for no words.
func question(words []string) string {
	if len(words) == 0 {
		return ""
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "\"" + w + "\""
	}
	return "did you mean " + strings.Join(quoted, " or ") + "?"
}

// Choose returns a hint for a word that is not a candidate: the candidate that it misspells, or otherwise up to ten candidates in the given
// order.
func Choose(word string, candidates []string) string {
	const most = 10
	if hint := question(Typo(word, candidates)); hint != "" || len(candidates) == 0 {
		return hint
	}
	return "there are " + First(candidates, most)
}

// OneOf returns [DidYouMean], or otherwise a hint with all candidates. It returns "" if there are no candidates.
func OneOf(word string, candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	return cmp.Or(DidYouMean(word, candidates), "one of "+strings.Join(candidates, ", "))
}
