package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/schema"
)

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "write planform.schema.json anew")

const file = "planform.schema.json"

func TestTheSchemaInTheRepositoryIsCurrent(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile(file, schema.Document(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(schema.Document()), strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
		t.Errorf("run go test ./schema -update; the file differs:\n%s", diff)
	}
}

func TestTheSchemaNamesEveryKindAndFieldWithHelp(t *testing.T) {
	t.Parallel()
	type property struct {
		Description string
		Examples    []any
		Properties  map[string]property
	}
	var doc struct {
		Properties map[string]any
		Defs       map[string]property `json:"$defs"`
	}
	if err := json.Unmarshal(schema.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		if doc.Defs[k.Name].Description == "" {
			t.Errorf("%s has no description", k.Name)
		}
		for i := range k.Fields {
			in := doc.Defs[k.Name].Properties
			if group := k.Fields[i].Group; group != "" {
				in = in[group].Properties
			}
			p := in[k.Fields[i].Name]
			if p.Description == "" || k.Fields[i].Example != "" && len(p.Examples) == 0 {
				t.Errorf("%s.%s lacks its description or example", k.Name, k.Fields[i].Name)
			}
		}
		if _, top := doc.Properties[k.Section]; k.Parent == "" && !top {
			t.Errorf("the document has no section %s", k.Section)
		}
	}
}

func TestEveryExampleOfAFieldSatisfiesItsRule(t *testing.T) {
	t.Parallel()
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		for i := range k.Fields {
			f := &k.Fields[i]
			if f.Example == "" {
				continue
			}
			var v any = f.Example
			switch f.Type { //nolint:exhaustive // the others are texts
			case resource.RefSet, resource.EnumSet:
				v = []any{f.Example}
			case resource.Number:
				v = json.Number(f.Example)
			case resource.Boolean, resource.JSON, resource.CustomFields:
				if err := json.Unmarshal([]byte(f.Example), &v); err != nil {
					t.Errorf("%s.%s: %v", k.Name, f.Name, err)
				}
			}
			object := map[string]any{"id": "8a234ec6-0000-4000-8000-000000000000", f.Path(): v}
			if k.Singleton {
				delete(object, "id")
			}
			if vs := schema.Check(k.Name, object); len(vs) > 0 {
				t.Errorf("%s.%s: %v", k.Name, f.Name, vs)
			}
		}
	}
}

func TestCheckNamesTheBrokenRule(t *testing.T) {
	t.Parallel()
	const id = "8a234ec6-0000-4000-8000-000000000000"
	for name, tt := range map[string]struct {
		kind     string
		instance string
		want     []string
	}{
		"a good object": {"work_item", `{"name": "A", "priority": "high", "labels": ["a"], "start_date": "2026-12-01"}`, nil},
		"an empty object of a kind that is created":   {"work_item", `{}`, []string{"name missing"}},
		"an empty object of a kind that is found":     {"cycle", `{}`, []string{"key missing"}},
		"an id is enough":                             {"work_item", `{"id": "` + id + `"}`, nil},
		"an identifier is enough":                     {"work_item", `{"identifier": "WEB-7"}`, nil},
		"a key is enough where an object must exist":  {"cycle", `{"key": "sprint-14"}`, nil},
		"two unknown properties":                      {"link", `{"url": "https://a.example/", "titel": "x", "~a/b c": 1}`, []string{"titel unknown", "~a/b c unknown"}},
		"a list instead of a text":                    {"work_item", `{"name": ["A"]}`, []string{"name type"}},
		"a member of a list":                          {"work_item", `{"name": "A", "labels": ["a", {}, "b", ""]}`, []string{"labels/1 type", "labels/3 pattern"}},
		"a word that is not of the enum":              {"work_item", `{"name": "A", "priority": "hihg"}`, []string{"priority enum"}},
		"null where nothing clears":                   {"work_item", `{"name": "A", "priority": null, "state": null}`, []string{"priority enum", "state type"}},
		"null where it clears":                        {"work_item", `{"name": "A", "start_date": null, "type": null}`, nil},
		"a day that is not in the calendar":           {"work_item", `{"name": "A", "start_date": "2026-02-30"}`, []string{"start_date format"}},
		"two spellings of one field":                  {"work_item", `{"name": "A", "description": "a", "description_html": "b"}`, []string{"description exclusive"}},
		"three spellings of one field":                {"page", `{"name": "A", "description": "a", "description_html": "b", "file": "c.md"}`, []string{"description exclusive", "description_html exclusive"}},
		"a value that breaks two rules is told once":  {"link", `{"url": "ftp://` + strings.Repeat("x", 2100) + `"}`, []string{"url maxLength"}},
		"a colour by name":                            {"initiative_label", `{"name": "A", "color": "red"}`, []string{"color pattern"}},
		"a number":                                    {"initiative_label", `{"name": "A", "sort_order": 1e400}`, nil},
		"a number as a text":                          {"initiative_label", `{"name": "A", "sort_order": "1"}`, []string{"sort_order type"}},
		"a moment is written out":                     {"work_item", `{"name": "A", "created_at": "yesterday"}`, []string{"created_at pattern"}},
		"a bad key, id and identifier":                {"project", `{"key": "a b", "id": "x", "identifier": "A-B"}`, []string{"id pattern", "identifier pattern", "key pattern"}},
		"an object's own fields are not looked into":  {"teamspace", `{"name": "A", "logo_props": {"x": [1, null]}}`, nil},
		"a blank name":                                {"work_item", `{"name": " \n"}`, []string{"name pattern"}},
		"a kind that does not exist":                  {"nothing", `{}`, []string{" unknown"}},
		"sections are no part of an object by itself": {"project", `{"key": "a", "work_items": []}`, []string{"work_items unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, told(schema.Check(tt.kind, decode(t, tt.instance)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckDocumentReportsViolationsAtTheTopLevel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		instance string
		want     []string
	}{
		"nothing is needed":  {`{}`, nil},
		"both":               {`{"version": 1, "workspace": "acme"}`, nil},
		"another version":    {`{"version": 2}`, []string{"version const"}},
		"version as a text":  {`{"version": "1"}`, []string{"version const"}},
		"a bad slug":         {`{"workspace": "a/b"}`, []string{"workspace pattern"}},
		"an unknown section": {`{"projekts": []}`, []string{"projekts unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, told(schema.CheckDocument(decode(t, tt.instance)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheWholeSchemaCompilesAndAcceptsTheShortForms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		document string
		good     bool
	}{
		"nothing":                      {`null`, true},
		"a link as its address":        {`{"projects": [{"key": "a", "work_items": [{"name": "A", "links": ["https://a.example/x"]}]}]}`, true},
		"a bad address as a link":      {`{"projects": [{"key": "a", "work_items": [{"name": "A", "links": ["a.example"]}]}]}`, false},
		"items within items":           {`{"projects": [{"key": "a", "work_items": [{"name": "A", "work_items": [{"name": "B"}, {"name": 7}]}]}]}`, true},
		"an empty text clears":         {`{"projects": [{"key": "a", "work_items": [{"name": "A", "start_date": "", "parent": "", "description": ""}]}]}`, true},
		"an empty section":             {`{"projects": null, "pages": []}`, true},
		"a section that is not a list": {`{"projects": {}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := json.NewDecoder(strings.NewReader(tt.document))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			if err := whole().Validate(v); (err == nil) != tt.good {
				t.Errorf("good is %v, got %v", tt.good, err)
			}
		})
	}
}

func TestTheDocumentIsDeterministicAndCopiedForEachCaller(t *testing.T) {
	t.Parallel()
	a := schema.Document()
	a[0] = 'x'
	if b := schema.Document(); bytes.Equal(a, b) || !json.Valid(b) {
		t.Error("a change by one caller is seen by the next")
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func told(vs []schema.Violation) []string {
	var texts []string
	for _, v := range vs {
		at := strings.Join(v.Path, "/")
		if len(v.Path) < 2 {
			at = v.Property
		}
		texts = append(texts, fmt.Sprintf("%s %s", at, v.Keyword))
	}
	return texts
}

// whole is the published schema, with which an editor checks a whole document.
//
//nolint:gochecknoglobals // computed once
var whole = sync.OnceValue(func() *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft2020
	compiler.AssertFormat = true
	if err := compiler.AddResource(file, bytes.NewReader(schema.Document())); err != nil {
		panic(err)
	}
	return compiler.MustCompile(file)
})
