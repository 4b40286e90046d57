package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/manifest"
)

// Whatever is read: no panic, every finding has its place and is told once, the
// same input gives the same findings, and objects come only without errors.
func FuzzLoad(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(text).Files {
			if strings.HasSuffix(file.Name, ".yaml") {
				f.Add(file.Data)
			}
		}
	}
	for _, text := range []string{
		"a: &x [*x]", "<<: [*a, *a]", "? {a: b}\n: c\n", "\xff\xfe", "\xef\xbb\xbfversion: 1", "a: \"\\0\"", "--- a\n...\n--- b\n", "%YAML 1.1\n---\nworkspace: a\n",
		"projects: [{key: a, work_items: [&b {name: x, work_items: [*b, {<<: *b}]}]}]", "pages: [{name: A, file: /dev/stdin}]", "{<<: {<<: {<<: {version: 1}}}}",
		"version: 1\nvars: {a: [x, {b: c}], d: 1, e: {csv: a.csv}, f: {env: PLANFORM_A, default: z}}\nprojects: [{for_each: \"${{ vars.a }}\", as: p, key: \"${{ p.b }}-${{ vars.d }} $${{ vars.d }}\", work_items: [{for_each: [1, 2], name: \"${{ each }}${{ p }}\"}]}]",
		"x-a: &a {for_each: [[a]], name: \"${{ each\"}\nprojects: [*a, {<<: *a}, {for_each: {<<: *a}}]", "vars: &v {a: *v, b: \"${{ vars.a }}\"}\nprojects: \"${{ vars.a }}\"",
		bomb("a: &a0 {x: y}\n", "a%d: &a%[1]d {<<: [%s]}\n", 4),
	} {
		f.Add([]byte(text))
	}
	limits := manifest.Limits{FileBytes: 1 << 16, ScalarBytes: 1 << 12, Elements: 1 << 14, Depth: 20, Expanded: 1000, Findings: 1000}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, found := load(t, string(text), limits)
		if found.HasErrors() == (len(m.Objects) > 0) && len(m.Objects) > 0 {
			t.Errorf("%d objects beside %v", len(m.Objects), found)
		}
		seen := map[string]bool{}
		for _, d := range found {
			if d.Position.File != "-" && d.Code != "too-many-findings" {
				t.Errorf("no place: %v", d)
			}
			if d.Code == "" || d.Summary == "" || strings.HasSuffix(d.Summary, ".") && !strings.HasSuffix(d.Summary, "...") {
				t.Errorf("%+v", d)
			}
			key := d.Code + d.Position.String() + d.Summary
			if seen[key] {
				t.Errorf("told twice: %v", d)
			}
			seen[key] = true
		}
		keys := map[string]diag.Position{}
		for _, o := range m.Objects {
			if other, twice := keys[string(o.Address)]; twice || o.Key == "" || o.Position.Line == 0 {
				t.Errorf("%q at %v and %v", o.Address, o.Position, other)
			}
			keys[string(o.Address)] = o.Position
		}
		again, foundAgain := load(t, string(text), limits)
		if diff := cmp.Diff(show(found), show(foundAgain)); diff != "" || len(again.Objects) != len(m.Objects) {
			t.Errorf("another time another finding:\n%s", diff)
		}
	})
}
