package diag

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Near returns the candidates that word was probably meant to be, nearest
// first, three at most. Case is ignored: "in progress" is near "In Progress".
func Near(word string, candidates []string) []string {
	const longest = 200 // a longer word is no slip of the finger, and the distance is quadratic
	if word == "" || len(word) > longest {
		return nil
	}
	type hit struct {
		text     string
		distance int
	}
	var hits []hit
	low := strings.ToLower(word)
	limit := max(1, (len([]rune(low))+2)/3)
	for _, c := range candidates {
		if len(c) > longest || c == "" {
			continue
		}
		lc := strings.ToLower(c)
		if diff := len(lc) - len(low); diff > 2*limit+2 || -diff > 2*limit+2 {
			continue
		}
		if d := levenshtein.ComputeDistance(low, lc); d <= limit {
			hits = append(hits, hit{c, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.text, b.text)
	})
	hits = slices.CompactFunc(hits, func(a, b hit) bool { return a.text == b.text })
	var near []string
	for _, h := range hits[:min(3, len(hits))] {
		near = append(near, h.text)
	}
	return near
}

// DidYouMean turns the nearest candidates into a hint, or "" where none is near.
func DidYouMean(word string, candidates []string) string {
	near := Near(word, candidates)
	if len(near) == 0 {
		return ""
	}
	for i := range near {
		near[i] = "\"" + near[i] + "\""
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}
