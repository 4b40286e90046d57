package sample_test

import (
	"testing"

	"github.com/planform/planform/internal/sample"
)

func TestTheVariableSelectsTheNumberOfCases(t *testing.T) { //nolint:paralleltest // it sets a variable of the environment
	for size, want := range map[string]struct{ of, cases, named int }{
		"":     {1, 25, 25},
		"each": {2, 100, 100},
		"all":  {3, 100, 100},
	} {
		t.Setenv(sample.Variable, size)
		cases, named := 0, 0
		for i := range 100 {
			if sample.Takes(i, 4) {
				cases++
			}
			if sample.TakesNamed(string(rune('a'+i)), 4) {
				named++
			}
		}
		if got := sample.Of(1, 2, 3); got != want.of || cases != want.cases || named != want.named || sample.Each() != (want.of > 1) {
			t.Errorf("%q: %d, %d cases, %d of them by name", size, got, cases, named)
		}
	}
}

func TestAnUnknownSizePanics(t *testing.T) {
	t.Setenv(sample.Variable, "every")
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	sample.Each()
}
