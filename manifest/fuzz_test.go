package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// FuzzLoad checks that Load never panics, that every finding has its place and is reported once, that the
// same input gives the same findings, and that objects are returned only without errors.
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

// FuzzTree checks manifests with includes and tables: each finding has its place in one of the files, and the same files
// give the same findings.
func FuzzTree(f *testing.F) {
	f.Add("version: 1\ninclude: [sub.yaml]\nvars: {a: x, t: {csv: t.csv}}\nlist\n", "version: 1\nvars: {a: }\npages: [{for_each: \"${{ vars.t }}\", name: \"${{ each.n }}${{ vars.a }}\"}]\n", "n,m\n1,\"2\n3\"\n")
	f.Add("version: 1\nvars: {t: {csv: t.csv}}\ninclude: ['*.yaml']\npages: [{for_each: {csv: t.csv}, as: row, key: \"${{ row.n }}\", name: \"${{ row.m }}\"}]\n", "version: 1\ninclude: [m.yaml]\n", "n;m\n1;2\n")
	f.Add("include: [sub.yaml, ../x.yaml, t.csv]\n", "", "")
	f.Fuzz(func(t *testing.T, main, included, table string) {
		if len(main)+len(included)+len(table) > 20000 {
			return
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"m.yaml": main, "sub.yaml": included, "t.csv": table} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		options := manifest.Options{AllowEmpty: true, Limits: manifest.Limits{Elements: 1 << 14, Depth: 20, Findings: 1000}}
		m, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "m.yaml")}, options)
		for _, d := range found {
			if d.Position.File != "" && filepath.Dir(d.Position.File) != dir {
				t.Errorf("%v is not in %s", d, dir)
			}
		}
		again, same := manifest.Load(t.Context(), []string{filepath.Join(dir, "m.yaml")}, options)
		if diff := cmp.Diff(found, same); diff != "" || len(m.Objects) != len(again.Objects) {
			t.Errorf("%d objects, then %d: %s", len(m.Objects), len(again.Objects), diff)
		}
	})
}
