package graph_test

import (
	"slices"
	"testing"

	"github.com/planform/planform/internal/graph"
)

func TestEachNodeComesAfterItsPrerequisites(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		waits  map[string]string // the letters for which each letter waits
		order  string
		cycles []string
	}{
		"a chain":                      {map[string]string{"a": "b", "b": "c"}, "cbad", nil},
		"one that two wait for":        {map[string]string{"a": "c", "b": "c"}, "cabd", nil},
		"a cycle":                      {map[string]string{"a": "b", "b": "c", "c": "a"}, "cbad", []string{"abc"}},
		"a cycle that others lead to":  {map[string]string{"a": "b", "b": "c", "c": "b", "d": "c"}, "cbad", []string{"bc"}},
		"one that waits for itself":    {map[string]string{"a": "a"}, "abcd", []string{"a"}},
		"two cycles that share a node": {map[string]string{"a": "bc", "b": "a", "c": "a"}, "bcad", []string{"ab", "ac"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var order string
			var cycles []string
			graph.DepthFirst([]rune("abcd"), func(r rune) []rune { return []rune(tt.waits[string(r)]) },
				func(r rune) { order += string(r) }, func(c []rune) { cycles = append(cycles, string(c)) })
			if order != tt.order || !slices.Equal(cycles, tt.cycles) {
				t.Errorf("visited %s with cycles %q, want %s with %q", order, cycles, tt.order, tt.cycles)
			}
		})
	}
}
