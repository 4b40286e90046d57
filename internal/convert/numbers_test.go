package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/manifest"
)

func TestNumbersAreKeptOrToldItemByItem(t *testing.T) {
	t.Parallel()
	row := func(key, id, parent string) string {
		return "Item," + key + "," + id + ",Task,Open,,,,,," + parent + ",,,"
	}
	f := exported(t, row("A-1", "1", ""), row("A-2", "2", ""), row("A-5", "5", "6"), row("A-6", "6", ""), row("A-7", "7", ""), row("A-9", "9", ""))
	for name, tt := range map[string]struct {
		mapping string
		want    []convert.Numbers
		changed []string
		keys    string
		note    string
	}{
		"new": {"", []convert.Numbers{{"A", "A-1", "A-2", 1}, {"A", "A-6", "A-6", 3}, {"A", "A-5", "A-5", 4}, {"A", "A-7", "A-7", 5}, {"A", "A-9", "A-9", 6}}, nil, "A-1 A-2 A-5 A-6 A-7 A-9", ""},
		"keep": {
			"numbers: keep\n",
			[]convert.Numbers{{"A", "A-1", "A-2", 1}, {"A", "A-5", "A-7", 3}, {"A", "A-9", "A-9", 6}},
			[]string{"A-5", "A-6", "A-7", "A-9"},
			"A-1 A-2 A-5 A-6 A-7 A-9", "A: 3 numbers below A-9 missing: 3 to 4, 8",
		},
		"fill": {
			"numbers: fill\n",
			[]convert.Numbers{{"A", "A-1", "A-2", 1}, {"A", "A-5", "A-7", 5}, {"A", "A-9", "A-9", 9}},
			nil,
			"A-1 A-2 placeholder-3 placeholder-4 A-5 A-6 A-7 placeholder-8 A-9", "A: 3 numbers below A-9 missing: 3 to 4, 8",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, map[string]string{"mapping.yaml": "# planform mapping\n" + tt.mapping})
			r := must(t, dir, f, nil)
			if diff := cmp.Diff(tt.want, r.Report.Numbers); diff != "" {
				t.Error(diff)
			}
			if report, err := os.ReadFile(filepath.Join(dir, "report.md")); err != nil || name == "keep" && !strings.Contains(string(report), "| A-5 | A-7 | A-3 to A-5 |\n| A-9 | A-9 | A-6 |\n") {
				t.Errorf("report.md does not say which numbers A-5 to A-7 and A-9 get: %v\n%s", err, report)
			}
			var changed []string
			for _, l := range r.Report.Losses {
				if l.Kind == "numbers-changed" {
					changed = l.Items
				}
			}
			if diff := cmp.Diff(tt.changed, changed); diff != "" {
				t.Error(diff)
			}
			m, findings := manifest.Load(t.Context(), []string{dir}, manifest.Options{})
			var keys []string
			for _, o := range m.Objects {
				if o.Kind.Name == "work_item" {
					keys = append(keys, o.Key)
				}
			}
			if got := strings.Join(keys, " "); got != tt.keys || len(findings) > 0 || r.Report.Carried.Items != 6 {
				t.Errorf("%s, %v", got, findings)
			}
			md := contents(t, dir)["report.md"]
			if !strings.Contains(md, tt.note) || strings.Contains(md, "## Numbers of items") != (tt.mapping != "") {
				t.Error(md)
			}
		})
	}
	dir := t.TempDir()
	put(t, dir, map[string]string{"mapping.yaml": "# planform mapping\nnumbers: keep\n"})
	must(t, dir, exported(t, row("A-2", "2", "1"), row("A-1", "1", "")), nil)
	if md := contents(t, dir)["report.md"]; !strings.Contains(md, "In projects that are empty, all items keep the numbers that they have.") {
		t.Error(md)
	}
}
