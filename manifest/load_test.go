package manifest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v5" //nolint:depguard // the judge of the checks
	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/manifest/manifesttest"
	"github.com/planform/planform/schema"
)

// schemaCodes lists the findings that the JSON Schema can make too.
var schemaCodes = []string{ //nolint:gochecknoglobals // a constant list
	"unknown-field", "wrong-type", "bad-value", "not-clearable", "too-long", "bad-date", "bad-color", "bad-url", "exclusive", "missing-field",
	"bad-object-key", "bad-id", "bad-identifier", "bad-version", "bad-workspace", "bad-variable",
}

func TestLoadAndTheWholeSchemaAgree(t *testing.T) {
	t.Parallel()
	item := func(fields string) string { return "projects: [{key: a, work_items: [{" + fields + "}]}]" }
	for text, good := range map[string]bool{
		"":                                      true,
		"version: 1":                            true,
		"version: '1'":                          false,
		"version: 2":                            false,
		"version: 1.0":                          true,
		"workspace: acme":                       true,
		"workspace: 12":                         true,
		"workspace: a b":                        false,
		"workspace: ~":                          false,
		"projects:":                             true,
		"projects: {}":                          false,
		"projects: [~]":                         false,
		"projects: [{}]":                        false,
		"projects: [{name: A}]":                 true,
		"projects: [{identifier: WEB}]":         true,
		"projects: [{identifier: 12}]":          true,
		"projects: [{identifier: A-B}]":         false,
		"projects: [{id: web}]":                 false,
		"projects: [{key: a b}]":                false,
		"projects: [{key: 12}]":                 true,
		"projects: [{key: ~, name: A}]":         false,
		"projects: [{key: a, description: ''}]": true,
		"projects: [{key: a, name: ''}]":        false,
		"projects: [{key: a, name: ' '}]":       false,
		"projects: [{key: a, colour: red}]":     false,
		"customers: [{key: a, requests: [{title: A}]}]":               true,
		"customers: [{key: a, requests: [{description: A}]}]":         true && false,
		"customers: [{requests: [{title: A}]}]":                       false,
		"initiatives: [{key: a, projects: [], labels: [a, 1]}]":       true,
		"initiatives: [{key: a, projects: ~}]":                        true,
		"initiatives: [{key: a, projects: a}]":                        false,
		"initiative_labels: [{key: a, color: '#22c55e'}]":             true,
		"initiative_labels: [{key: a, color: '#22c'}]":                false,
		"initiative_labels: [{key: a, color: ~}]":                     false,
		"initiative_labels: [{key: a, sort_order: 1.5}]":              true,
		"initiative_labels: [{key: a, sort_order: '1.5'}]":            false,
		"initiative_labels: [{key: a, sort_order: ~}]":                false,
		"teamspaces: [{key: a, logo_props: {a: [1]}, lead: ''}]":      true,
		"teamspaces: [{key: a, logo_props: [1]}]":                     false,
		"teamspaces: [{key: a, description: a, description_html: b}]": false,
		"teamspaces: [{key: a, description: ~}]":                      true,
		"pages: [{name: A, description: ''}]":                         true,
		"pages: [{name: A, pages: [{name: B}, {nam: C}]}]":            false,
		"pages: [{name: A, pages: [{name: B}]}]":                      true,
		"pages: [{name: A, description: a, description_html: b}]":     false,
		item("name: A"): true,
		item("name: 12, description: true, state: 3"):                      true,
		item("description: A"):                                             false,
		item("key: a"):                                                     false,
		item("identifier: WEB-7"):                                          true,
		item("id: 8a234ec6-0000-4000-8000-000000000000"):                   true,
		item("name: A, priority: high"):                                    true,
		item("name: A, priority: High"):                                    false,
		item("name: A, priority: ~"):                                       false,
		item("name: A, start_date: 2026-12-01"):                            true,
		item("name: A, start_date: 2026-13-01"):                            false,
		item("name: A, start_date: ''"):                                    true,
		item("name: A, start_date: ~"):                                     true,
		item("name: A, start_date: [2026-12-01]"):                          false,
		item("name: A, created_at: yesterday"):                             false,
		item("name: A, estimate_point: ''"):                                true,
		item("name: A, estimate_point: 3"):                                 true,
		item("name: A, labels: ~, assignees: []"):                          true,
		item("name: A, modules: [a, b]"):                                   true,
		item("name: A, modules: []"):                                       true,
		item("name: A, module: a, modules: [b]"):                           false,
		item("name: A, labels: ['']"):                                      false,
		item("name: A, state: ''"):                                         false,
		item("name: A, links: ['https://a.example/x']"):                    true,
		item("name: A, links: [a]"):                                        false,
		item("name: A, links: [{url: 'https://a.example/x', title: ''}]"):  true,
		item("name: A, links: [{title: a}]"):                               false,
		item("name: A, links: ~"):                                          true,
		item("name: A, links: 'https://a.example/x'"):                      false,
		item("name: A, work_items: [{name: B, work_items: [{name: C}]}]"):  true,
		item("name: A, work_items: [{name: B, work_items: [{names: C}]}]"): false,
		item("name: A, for_each: [1]"):                                     true,
		item("for_each: [{a: 3, b: 2026-12-01, c: high, d: [x], e: true}], name: '${{ each.a }}', estimate_point: '${{ each.a }}', start_date: '${{ each.b }}', priority: '${{ each.c }}', labels: '${{ each.d }}', protect: '${{ each.e }}'"): true,
		item("for_each: ['https://a.example/x'], name: A, links: ['${{ each }}']"):                                                            true,
		"vars: {l: [{name: L}], w: acme}\nworkspace: ${{ vars.w }}\nprojects: [{for_each: [a], key: '${{ each }}', labels: '${{ vars.l }}'}]": true,
		item("for_each: [1], as: n, key: 'a-${{ n }}', name: A"):                                                                              true,
		"include: a.yaml": false,
		"include: {a: b}": false,
		"include: []":     true,
		"include: ['']":   false,
		"vars: [a]":       false,
		"vars: {1a: b}":   false,
		item("name: " + strings.Repeat("ä", 255)): true,
		item("name: " + strings.Repeat("ä", 256)): false,
	} {
		t.Run(text[:min(len(text), 80)], func(t *testing.T) {
			t.Parallel()
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(text), &root); err != nil {
				t.Fatal(err)
			}
			if err := whole().Validate(instance(&root)); (err == nil) != good {
				t.Errorf("the whole schema does not say %v: %v", good, err)
			}
			said := text
			if !strings.HasPrefix(text, "version") {
				said += "\nversion: 1"
			}
			_, found := manifest.Load(t.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader(said), AllowEmpty: true})
			for _, d := range found {
				if !slices.Contains(schemaCodes, d.Code) {
					t.Errorf("another finding: %v", d)
				}
			}
			if found.HasErrors() == good {
				t.Errorf("Load does not say %v: %v", good, found)
			}
			if len(found) > 1 {
				t.Errorf("one fault, several findings: %v", found)
			}
		})
	}
}

// instance returns a document in the form in which an editor checks it.
func instance(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return instance(n.Content[0])
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = instance(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := []any{}
		for _, e := range n.Content {
			l = append(l, instance(e))
		}
		return l
	case yaml.ScalarNode:
		switch {
		case n.Tag == "!!null":
			return nil
		case n.Tag == "!!bool":
			return n.Value == "true"
		case (n.Tag == "!!int" || n.Tag == "!!float") && json.Valid([]byte(n.Value)):
			return json.Number(n.Value)
		}
		return n.Value
	case yaml.AliasNode:
		return instance(n.Alias)
	}
	return nil
}

// TestTheOrderOfFilesDoesNotMatter compares the objects for every order of the files.
func TestTheOrderOfFilesDoesNotMatter(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/merge.txtar")
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	dir := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), string(f.Data))
	}
	wants := func(names ...string) string {
		for i := range names {
			names[i] = filepath.Join(dir, names[i])
		}
		m, found := manifest.Load(t.Context(), names, manifest.Options{})
		if len(found) > 0 {
			t.Fatal(found)
		}
		var lines []string
		for _, o := range m.Objects {
			if o.Parent != nil && slices.Index(m.Objects, o.Parent) > slices.Index(m.Objects, o) {
				t.Errorf("%s comes before what it lives in", o.Address)
			}
			var line strings.Builder
			fmt.Fprint(&line, o.Address, o.ID, o.Identifier)
			for i := range o.Values {
				v := &o.Values[i]
				refs := []string{}
				for n := range v.Refs {
					refs = append(refs, showReference(&v.Refs[n]))
				}
				slices.Sort(refs)
				fmt.Fprint(&line, "; ", v.Field.Name, v.Text, v.Null, refs)
			}
			lines = append(lines, line.String())
		}
		slices.Sort(lines)
		return m.Workspace + "\n" + strings.Join(lines, "\n")
	}
	if diff := cmp.Diff(wants("a.yaml", "b.yaml"), wants("b.yaml", "a.yaml")); diff != "" {
		t.Error(diff)
	}
}

func TestTheSameFileNamedTwiceIsReadOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.yaml")
	write(t, name, "version: 1\nprojects: [{identifier: A, name: A}]\n")
	m, found := manifest.Load(t.Context(), []string{name, dir, dir + "/./a.yaml"}, manifest.Options{})
	if len(found) > 0 || len(m.Objects) != 1 || len(m.Files) != 1 || m.Dir != dir {
		t.Error(found, m)
	}
}

func TestTheWorkspaceOfTheOptionsOverridesTheDocument(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, option, want, code string
	}{
		"the document gives the workspace":           {"workspace: acme", "", "acme", ""},
		"the options override the document":          {"workspace: acme", "other", "other", ""},
		"without either there is no workspace":       {"projects:", "", "", ""},
		"an option that is not a slug is an error":   {"projects:", "a/b", "a/b", "bad-workspace"},
		"two documents can give the same one":        {"workspace: acme\n---\nworkspace: acme", "", "acme", ""},
		"two documents with different ones conflict": {"workspace: acme\n---\nworkspace: other", "", "acme", "conflict"},
		"one of two documents gives the workspace":   {"projects:\n---\nworkspace: acme", "", "acme", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, found := manifest.Load(t.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader("version: 1\n" + tt.text), Workspace: tt.option, AllowEmpty: true})
			if m.Workspace != tt.want || (tt.code == "") != (len(found) == 0) || tt.code != "" && found[0].Code != tt.code {
				t.Error(m.Workspace, found)
			}
			if (tt.option == "" && tt.want != "") == m.WorkspacePosition.IsZero() {
				t.Errorf("at %v", m.WorkspacePosition)
			}
		})
	}
}

func TestReadingStopsWhenTheContextOrTheInputEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, found := manifest.Load(ctx, []string{"-"}, manifest.Options{Stdin: strings.NewReader("pages: [{name: A}]")})
	if !found.HasErrors() || len(m.Objects) > 0 {
		t.Error("a cancelled context is no error")
	}
	for name, in := range map[string]io.Reader{"no input": nil, "an input that fails": io.MultiReader(strings.NewReader("version: 1\npages: [{name: A}]\n"), failing{})} {
		if m, found := manifest.Load(t.Context(), []string{"-"}, manifest.Options{Stdin: in}); !found.HasErrors() || len(m.Objects) > 0 {
			t.Error(name, "is no error")
		}
	}
	if _, found := manifest.Load(t.Context(), nil, manifest.Options{}); !found.HasErrors() {
		t.Error("no manifest is no error")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is on fire") }

func TestABulkManifestIsValid(t *testing.T) {
	t.Parallel()
	items := sample.Of(300, 3000, 3000)
	var b bytes.Buffer
	if err := manifesttest.Bulk(&b, items); err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(b.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	if err := whole().Validate(instance(&root)); err != nil {
		t.Error(err)
	}
	m, found := load(t, b.String(), manifest.Limits{})
	if len(found) > 0 || len(m.Objects) != 2*items+32 {
		t.Fatal(len(m.Objects), found)
	}
	var names []string
	for _, o := range m.Objects {
		if o.Kind.Name != "work_item" {
			continue
		}
		names = append(names, o.Key)
		if want := fmt.Sprintf("item-%d", len(names)); o.Key != want {
			t.Fatalf("%s comes where %s is written", o.Key, want)
		}
		if v, ok := o.Value("cycle"); !ok || v.Refs[0].Target == nil {
			t.Fatalf("%s is in no cycle", o.Key)
		}
		if !slices.IsSortedFunc(o.Values, func(a, b resource.Value) int {
			return index(o.Kind, a.Field) - index(o.Kind, b.Field)
		}) {
			t.Fatalf("the values of %s are in another order than the fields", o.Key)
		}
	}
}

func index(k *resource.Kind, f *resource.Field) int {
	for i := range k.Fields {
		if &k.Fields[i] == f {
			return i
		}
	}
	return -1
}

// TestTheExampleOfEachKindIsValid writes the example of each kind into its parent.
func TestTheExampleOfEachKindIsValid(t *testing.T) {
	t.Parallel()
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			if k.Example == "" {
				t.Fatal("it has none")
			}
			begin := "  - "
			if k.Singleton {
				begin = "    "
			}
			text := k.Section + ":\n" + begin + strings.ReplaceAll(k.Example, "\n", "\n    ")
			for parent := k.Parent; parent != ""; parent = resource.MustLookup(parent).Parent {
				text = resource.MustLookup(parent).Section + ":\n  - id: 8a234ec6-0000-4000-8000-000000000000\n    " + strings.ReplaceAll(text, "\n", "\n    ")
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "docs", "handbook.md"), "# Handbook\n")
			write(t, filepath.Join(dir, "files", "design.pdf"), "%PDF")
			write(t, filepath.Join(dir, "workspace.yaml"), "version: 1\n"+text+"\n")
			m, found := manifest.Load(t.Context(), []string{dir}, manifest.Options{})
			if len(found) > 0 || len(m.Objects) == 0 {
				t.Errorf("%v in\n%s", found, text)
			}
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(text), &root); err != nil {
				t.Fatal(err)
			}
			if err := whole().Validate(instance(&root)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnObjectListsEveryFileThatHasIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "version: 1\nworkspace: acme\nprojects:\n  - identifier: WEB\n    labels: [{name: shared}, {name: "
	a, b := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")
	for _, file := range []string{a, b} {
		write(t, file, text+filepath.Base(file)+"}]\n")
	}
	m, found := manifest.Load(t.Context(), []string{b, a}, manifest.Options{})
	if len(found) > 0 {
		t.Fatal(found.Err())
	}
	m.RenameSources(map[string]string{a: "z.yaml", b: "b.yaml"})
	got := map[resource.Address][]string{}
	for _, o := range m.Objects {
		got[o.Address] = o.Files
	}
	want := map[resource.Address][]string{
		"project/web": {"b.yaml", "z.yaml"}, "label/web/shared": {"b.yaml", "z.yaml"}, "label/web/a-yaml": {"z.yaml"}, "label/web/b-yaml": {"b.yaml"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAManifestNeedsAVersionAndAnObject(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		code  string
		empty bool // AllowEmpty
	}{
		"it does":                             {"version: 1\npages: [{name: A}]", "", false},
		"in one of its documents":             {"pages: [{name: A}]\n---\nversion: 1\n---\n", "", false},
		"no version":                          {"pages: [{name: A}]", "missing-version", false},
		"no version, and the wish to delete":  {"pages: [{name: A}]", "missing-version", true},
		"no text":                             {"", "empty", false},
		"comments":                            {"# nothing yet\n", "empty", false},
		"a version":                           {"version: 1", "empty", false},
		"a section without entries":           {"version: 1\nprojects:\n", "empty", false},
		"an empty list":                       {"version: 1\nprojects: []\n", "empty", false},
		"anchors":                             {"version: 1\nx-base: &a {name: A}\n", "empty", false},
		"no text, and the wish to delete":     {"", "", true},
		"an empty list, the wish to delete":   {"version: 1\nprojects: []\n", "", true},
		"anchors under a key of their own":    {"version: 1\nx-base: &a {name: A}\npages: [*a]\n", "", false},
		"such a key is nothing further below": {"version: 1\npages: [{name: A, x-a: 1}]\n", "unknown-field", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := manifest.Load(t.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader(tt.text), AllowEmpty: tt.empty})
			switch {
			case tt.code == "" && len(found) > 0:
				t.Error(found)
			case tt.code != "" && (len(found) != 1 || found[0].Code != tt.code || found[0].Position.File != "-"):
				t.Errorf("want one %s, got %v", tt.code, found)
			}
		})
	}
}

func TestTheReportedCyclesAreAlwaysTheSame(t *testing.T) {
	t.Parallel()
	const text = `version: 1
projects:
- key: a
  labels: [{name: x, parent: y}, {name: y, parent: x}]
  work_items: [{key: k, name: K, parent: l}, {key: l, name: L, parent: k}]
`
	for range 50 {
		_, found := load(t, text, manifest.Limits{Findings: 1})
		if len(found) != 2 || !strings.Contains(found[0].Summary, "\"x\"") {
			t.Fatal(found)
		}
	}
}

// whole is the published schema, with which an editor checks a whole document.
//
//nolint:gochecknoglobals // computed once
var whole = sync.OnceValue(func() *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft2020
	compiler.AssertFormat = true
	if err := compiler.AddResource("planform.schema.json", bytes.NewReader(schema.Document())); err != nil {
		panic(err)
	}
	return compiler.MustCompile("planform.schema.json")
})

// TestFeaturesAreAMappingThatManifestsShare checks that documents add to one mapping, and that needed features are switched on.
func TestFeaturesAreAMappingThatManifestsShare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), "version: 1\nprojects: [{identifier: WEB, features: {epics: true}, milestones: [Beta]}]\n")
	write(t, filepath.Join(dir, "b.yaml"), "version: 1\nprojects: [{identifier: WEB, features: {workflows: true}}]\ncustomers: [{name: Globex}]\n")
	m, found := manifest.Load(t.Context(), []string{dir}, manifest.Options{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	on := map[resource.Address]string{}
	for _, o := range m.Objects {
		for _, v := range o.Values {
			if v.Text == "true" {
				on[o.Address] += v.Field.Name + " "
			}
		}
	}
	want := map[resource.Address]string{"project_features/web/features": "epics milestones workflows ", "workspace_features/features": "customers "}
	if diff := cmp.Diff(want, on); diff != "" || resource.Written(m.Objects) != len(m.Objects)-1 {
		t.Errorf("%d objects, %d written (-want +got):\n%s", len(m.Objects), resource.Written(m.Objects), diff)
	}
	for text, says := range map[string]string{
		"features: [{wiki: true}]": "features must be a mapping, not a list", "features: {key: x}": `unknown field "key"`, "features: {wiki: 1}": "wiki",
	} {
		write(t, filepath.Join(dir, "a.yaml"), "version: 1\n"+text+"\n")
		_, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "a.yaml")}, manifest.Options{})
		if len(found) != 1 || !strings.Contains(found[0].Summary, says) {
			t.Errorf("%s: %v", text, found)
		}
	}
}
