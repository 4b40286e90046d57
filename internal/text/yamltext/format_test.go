package yamltext_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/manifest"
)

func TestFormatWritesTheOneLayout(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"two spaces below a key":                  {"a:\n    b:\n        c: 1\n", "a:\n  b:\n    c: 1\n"},
		"hyphens stand below their key":           {"a:\n- b: 1\n  c: 2\n-   d: 3\n    e: 4\n", "a:\n  - b: 1\n    c: 2\n  - d: 3\n    e: 4\n"},
		"one blank behind a colon":                {"a:   1\nb:\t2\n", "a: 1\nb: 2\n"},
		"comments go along":                       {"# top\na:\n    # of b\n    b: 1   # beside\n    # behind\n# of c\nc:\n- d: 1\n  # in d\n# end\n", "# top\na:\n  # of b\n  b: 1   # beside\n  # behind\n# of c\nc:\n  - d: 1\n    # in d\n# end\n"},
		"blank lines are kept":                    {"a: 1  \n\n   \nb: 2\n\n\n", "a: 1\n\n\nb: 2\n"},
		"quotes only where needed":                {"a: \"x\"\nb: 'y z'\nc: \"1\"\nd: \"#x\"\ne: \"true\"\n\"f\": ''\ng: 'it''s'\nh: \"2027-01-31\"\n", "a: x\nb: y z\nc: \"1\"\nd: \"#x\"\ne: \"true\"\nf: ''\ng: 'it''s'\nh: \"2027-01-31\"\n"},
		"a quoted key before a tab":               {"'a':\t\"b\"\n'c':\t\n", "a: b\nc:\n"},
		"and between brackets":                    {"a: {\"b\": \"c\", \"d\":\"e\", f: [\"g\", \"h, i\"]}\n", "a: {b: c, \"d\":\"e\", f: [g, \"h, i\"]}\n"},
		"a comment beside keeps its column":       {"a: \"x\"   # one\nb: \"z\" # two\n", "a: x     # one\nb: z # two\n"},
		"block scalars keep their text":           {"a:\n    b: |\n        x\n          - y\n\n        # z  \n    c: >-\n      f\n", "a:\n  b: |\n    x\n      - y\n\n    # z  \n  c: >-\n    f\n"},
		"and their indentation":                   {"a:\n    b: |2\n          x\n        y: 1\n", "a:\n  b: |2\n        x\n      y: 1\n"},
		"which is said in a digit":                {"a:\n    b: |4-\n          x\n        y\n", "a:\n  b: |2-\n      x\n    y\n"},
		"an open end stays open":                  {"a:\n   b: |+\n      x\n\n\n", "a:\n  b: |+\n    x\n\n\n"},
		"no line end at the end":                  {"a:\n   b: |\n      x", "a:\n  b: |\n    x"},
		"lists in lists":                          {"a:\n  -   - b\n      - c\n  -\n      d: 1\n", "a:\n  - - b\n    - c\n  -\n    d: 1\n"},
		"texts on several lines":                  {"a:\n    b: one\n       two\n    c: \"x\n      y\"\n    d: [e,\n      f,\n    ]\n", "a:\n  b: one\n     two\n  c: \"x\n    y\"\n  d: [e,\n    f,\n  ]\n"},
		"anchors, aliases and merge keys":         {"x-a: &a\n    b: 1\nc:\n    <<:  *a\n    d: &d\n    - 1\n    e: *d\n", "x-a: &a\n  b: 1\nc:\n  <<: *a\n  d: &d\n    - 1\n  e: *d\n"},
		"several documents":                       {"---\na:\n    b: 1\n---\n# c\nc: 2\n", "---\na:\n  b: 1\n---\n# c\nc: 2\n"},
		"nothing as a value":                      {"a:\nb:\n-\n- ~\nc: # d\n    e: 1\n", "a:\nb:\n  -\n  - ~\nc: # d\n  e: 1\n"},
		"JSON stays JSON":                         {"{\"a\":   \"b\"}", "{\"a\":   \"b\"}"},
		"the line ends of Windows":                {"a:\r\n    b: 1\r\n", "a:\r\n  b: 1\r\n"},
		"characters of several bytes":             {"ä:\n    \"ö\":  \"ü 😀\"   # é\n", "ä:\n  ö: ü 😀     # é\n"},
		"blanks and tabs behind the end":          {"a: x\n\n \t", "a: x\n"},
		"a line of blanks that is a block's text": {"a: |1\n \t\n\n\nb: |1+\n \t\n\n", "a: |2\n  \t\n\n\nb: |2+\n  \t\n\n"},
		"nothing but comments":                    {"# a\n\n   # b\n", "# a\n\n   # b\n"},
		"an explicit tag":                         {"a: !!str   \"x\"\n", "a: !!str   \"x\"\n"},
		"a hyphen, a comment, and the item below": {"a:\n- # one\n  # two\n  b: 1\n", "a:\n  - # one\n    # two\n    b: 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := yamltext.Format([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if again, err := yamltext.Format(got); err != nil || string(again) != string(got) {
				t.Errorf("not the same a second time: %v\n%s", err, again)
			}
		})
	}
}

func TestAnUnusualLayoutIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		line int
	}{
		"a key with a question mark":   {"a: 1\n? b\n: 2\n", 2},
		"a line end of some":           {"a: 1\nb: \"x\u2028y\"\n", 2},
		"a map behind the marker":      {"--- {a: 1}\n---\nb: 1\n--- &c\nd: 1\n", 0},
		"no YAML":                      {"a: [\n", 0},
		"characters that are no UTF-8": {"a: \xff\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := yamltext.Format([]byte(tt.in))
			if problem, ok := errors.AsType[*yamltext.Problem](err); tt.line > 0 && (!ok || problem.Line != tt.line) {
				t.Errorf("%v, %+v\n%s", err, problem, got)
			}
		})
	}
}

// TestFormattedManifestsHaveTheSameMeaning loads manifests before and after formatting, also with doubled indentation.
func TestFormattedManifestsHaveTheSameMeaning(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../../../examples/*.yaml", "../../../examples/*/*.yaml", "../../../docs/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			parts := []string{string(text)}
			if filepath.Ext(name) == ".md" {
				parts = nil
				for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
					parts = append(parts, block[1])
				}
			}
			for _, part := range parts {
				meansTheSame(t, name, part)
				wide := regexp.MustCompile("(?m)^ +").ReplaceAllString(part, "$0$0")
				meansTheSame(t, name, regexp.MustCompile("(?m)^( +)- ").ReplaceAllString(wide, "$1-   "))
			}
		}
	}
}

func meansTheSame(t *testing.T, name, text string) {
	t.Helper()
	after, err := yamltext.Format([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	if lost := comments(text) - comments(string(after)); lost != 0 {
		t.Errorf("%s: %d comments fewer\n%s", name, lost, after)
	}
	if again, err := yamltext.Format(after); err != nil || !bytes.Equal(again, after) {
		t.Errorf("%s: not the same a second time: %v\n%s", name, err, again)
	}
	if diff := cmp.Diff(load(t, text), load(t, string(after))); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func comments(text string) int { return strings.Count(text, "#") }

func load(t *testing.T, text string) (objects []string) {
	t.Helper()
	m, _ := manifest.Load(t.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader(text)})
	for _, o := range m.Objects {
		objects = append(objects, string(o.Address)+" "+values(o))
	}
	return objects
}

func values(o *resource.Object) string {
	var all []string
	for _, v := range o.Values {
		all = append(all, v.Field.Name+"="+v.Text)
		for _, r := range v.Refs {
			all = append(all, r.Text)
		}
	}
	return strings.Join(all, "|")
}

// FuzzFormat checks that formatting keeps the meaning, and that a second formatting changes nothing.
func FuzzFormat(f *testing.F) {
	for _, text := range []string{
		"a:\n    b:\n- c: 1\n  # d\n", "a: \"x\"   # one\nb: 'y'\n", "a:\n    b: |4-\n          x\n        y\n", "- - - a\n  - b\n", "? a\n: b\n", "{\"a\": [1, 'b', c]}",
		"x: &x\n    b: 1\nc:\n    <<:  *x\n", "a: one\n   two\n\n   three\n", "\ufeffa:\r\n    b: >-\r\n      c\r\n", "---\na: !!str 1\n...\n--- b\n", "a: \"\\u2028\"\nb: yes\n", "a: |1\n \t\n\n\nb: 1\n", "- >2+\n   \t\n\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4000 {
			return
		}
		formatted, err := yamltext.Format(text)
		if err != nil {
			return
		}
		if before, after := meaning(text), meaning(formatted); before != nil && !cmp.Equal(before, after, cmp.Comparer(sameNumber)) {
			t.Errorf("%q means something else than %q: %s", formatted, text, cmp.Diff(before, after))
		}
		if again, err := yamltext.Format(formatted); err != nil || !bytes.Equal(again, formatted) {
			t.Errorf("%q becomes %q, and then %q: %v", text, formatted, again, err)
		}
	})
}

// sameNumber also returns true for texts that are not numbers.
func sameNumber(a, b float64) bool { return a == b || a != a && b != b }

// meaning returns the contents of the documents of a text; nil if the library fails.
func meaning(text []byte) (documents []any) {
	defer func() {
		if recover() != nil { // the library panics on some inputs
			documents = nil
		}
	}()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return documents
		case err != nil:
			return nil
		}
		documents = append(documents, v)
	}
}
