package planfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/text/diag"
)

// TestAPlanOfAnEarlierVersionIsReadOrRefusedAsSuch: testdata/earlier has plans that these versions wrote, by the name of their commit.
// A plan that this version would write otherwise cannot be checked, and is never carried out.
func TestAPlanOfAnEarlierVersionIsReadOrRefusedAsSuch(t *testing.T) {
	t.Parallel()
	const refused = "made by another version of planform"
	want := map[string]string{"4bcbfc0": refused, "2ce045d": refused, "64d7677": refused, "f29840a": refused, "46172d8": "", "eeb0e10": ""}
	paths, err := filepath.Glob("testdata/earlier/*.json")
	if err != nil || len(paths) != len(want) {
		t.Fatalf("%d plans, and %d are known here: %v", len(paths), len(want), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		commit := strings.TrimSuffix(filepath.Base(path), ".json")
		d, err := planfile.Parse(path, text)
		switch {
		case want[commit] == "" && err != nil:
			t.Errorf("%s: %v", commit, err)
		case want[commit] == "" && d.Summary.Create != 20:
			t.Errorf("%s: %+v", commit, d.Summary)
		case want[commit] != "" && (err == nil || !strings.Contains(err.Error(), want[commit]) ||
			!strings.Contains(diag.HintOf(err), "make a new one")):
			t.Errorf("%s: %v", commit, err)
		}
	}
}
