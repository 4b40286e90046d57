package manifest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/manifest"
)

// page returns a manifest with one page, and the texts at every position of a text.
func page(name, description string) manifest.Map {
	return manifest.Map{
		{Key: "version", Value: manifest.Literal("1")},
		{Key: "workspace", Value: "acme"},
		{Key: "teamspaces", Value: []any{
			manifest.Map{
				{Key: "key", Value: "one"},
				{Key: "name", Value: name},
				{Key: "description_stripped", Value: description},
				{Key: "logo_props", Value: manifest.Map{{Key: "k", Value: manifest.Map{{Key: "deep", Value: []any{name, description}}}}}},
				{Key: "projects", Value: []any{"x" + name, "y" + name}},
			},
			manifest.Map{{Key: "key", Value: "two"}, {Key: "name", Value: name + "2"}},
		}},
	}
}

// readBack writes a manifest, loads it, and returns the texts that were read.
func readBack(t *testing.T, name, description string) (yaml string, texts map[string]string, lists []string) {
	t.Helper()
	yaml = string(manifest.Encode("A page.", page(name, description)))
	file := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	m, found := manifest.Load(context.Background(), []string{file}, manifest.Options{})
	if found.HasErrors() {
		t.Fatalf("%v\n%s", found, yaml)
	}
	texts = map[string]string{}
	for _, v := range m.Objects[0].Values {
		texts[v.Field.Name] = v.Text
		for _, r := range v.Refs {
			lists = append(lists, r.Text)
		}
	}
	if second := m.Objects[1].Text("name"); second != name+"2" {
		t.Errorf("the second name is %q, want %q and a 2\n%s", second, name, yaml)
	}
	return yaml, texts, lists
}

func TestEncodedTextsAreReadBackUnchanged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, written string }{
		"plain words are not quoted":         {"Rebuild the checkout", "name: Rebuild the checkout\n"},
		"a date is quoted":                   {"2026-12-01", `name: "2026-12-01"`},
		"a number is quoted":                 {"0777", `name: "0777"`},
		"a decimal number is quoted":         {"3.0", `name: "3.0"`},
		"text after a number is not quoted":  {"3.0 is out", "name: 3.0 is out\n"},
		"yes is quoted for older readers":    {"yes", `name: "yes"`},
		"a time is quoted":                   {"12:30:00", `name: "12:30:00"`},
		"null is quoted":                     {"null", `name: "null"`},
		"a tilde is quoted":                  {"~", `name: "~"`},
		"an at sign in front is quoted":      {"@ada asks", `name: "@ada asks"`},
		"a hyphen in front is quoted":        {"- not a list", `name: "- not a list"`},
		"a colon before a space is quoted":   {"Note: this", `name: "Note: this"`},
		"a colon in a word is not quoted":    {"a:b", "name: a:b\n"},
		"a comment sign is quoted":           {"C #5", `name: "C #5"`},
		"C# is not quoted":                   {"C# and F#", "name: C# and F#\n"},
		"inner double quotes stay plain":     {`say "hi"`, "name: say \"hi\"\n"},
		"double quotes in front are escaped": {`"it's"`, `name: "\"it's\""`},
		"a backslash is escaped":             {`"a\b`, `name: "\"a\\b"`},
		"outer white space is quoted":        {" a ", `name: " a "`},
		"a tab is escaped":                   {"a\tb", `description_stripped: "a\tb"`},
		"emoji are not escaped":              {"👩‍💻 ships ❤️", "name: 👩‍💻 ships ❤️\n"},
		"direction marks are escaped":        {"a\u202Eb", `name: "a\u202eb"`},
		"hidden line ends are escaped":       {"a\u2028b\u0085c", `name: "a\u2028b\u0085c"`},
		"a merge key is a text":              {"<<", `name: "<<"`},
		"an anchor is a text":                {"&a *b", `name: "&a *b"`},
		"several lines are a block":          {"one\n  two\n\nthree", "name: |-\n      one\n        two\n\n      three\n"},
		"one line end at the end is kept":    {"one\ntwo\n", "name: |\n      one\n      two\n"},
		"several line ends are kept":         {"one\ntwo\n\n\n", "name: |+\n      one\n      two\n\n\n"},
		"a block has no space in front":      {"  one\ntwo", `name: "  one\ntwo"`},
		"a block has no tab in front":        {"\tone\ntwo\n", `description_stripped: "\tone\ntwo\n"`},
		"spaces at line ends are kept":       {"one  \n \ntwo ", "name: |-\n      one  \n       \n      two \n"},
		"a block has no empty first line":    {"\none", `name: "\none"`},
		"document marks stand in a block":    {"---\n...\n# no comment\n", "name: |\n      ---\n"},
		"a colon at the end is quoted":       {"Todo:", `name: "Todo:"`},
		"a bracket in front is quoted":       {"[a, b] {c}", `name: "[a, b] {c}"`},
		"brackets inside a text stay plain":  {"a, b] c", "name: a, b] c\n"},
		"a no-break space is not escaped":    {"a\u00A0b", "name: a\u00A0b\n"},
		"a byte order mark is escaped":       {"a\uFEFFb", `name: "a\ufeffb"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name := strings.ReplaceAll(tt.text, "\t", " ") // no name can hold a tab
			yaml, texts, lists := readBack(t, name, tt.text)
			if texts["name"] != name || texts["description_stripped"] != tt.text {
				t.Errorf("read back %q, want %q\n%s", texts, tt.text, yaml)
			}
			if diff := cmp.Diff([]string{"x" + name, "y" + name}, lists); diff != "" {
				t.Errorf("%s\n%s", diff, yaml)
			}
			if !strings.Contains(yaml, tt.written) {
				t.Errorf("not written as %q:\n%s", tt.written, yaml)
			}
		})
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{"a", "|", " \n x", "1_0", "a: b", "'", "\t\na", "0o7", "=", "- a\n- b", "x\n\n", "é\u0301", "\U0001F469\u200D\U0001F4BB\nx", "a\n\t\nb", "a #", "?", "? a", "%YAML", "key: |\n  x"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, name, description string) {
		for _, text := range []string{name, description} {
			if !utf8.ValidString(text) || strings.TrimSpace(text) == "" || len([]rune(text)) > 200 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7F || r == utf8.RuneError }) {
				t.Skip("a text that no manifest can hold")
			}
		}
		name = strings.ReplaceAll(name, "\t", " ") // no name can hold a tab
		yaml, texts, lists := readBack(t, name, description)
		if texts["name"] != name || texts["description_stripped"] != description {
			t.Errorf("read back %q, want %q and %q\n%s", texts, name, description, yaml)
		}
		if diff := cmp.Diff([]string{"x" + name, "y" + name}, lists); diff != "" {
			t.Errorf("%s\n%s", diff, yaml)
		}
	})
}

func TestALiteralThatIsNotAWordIsWrittenAsAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-12-01": "2026-12-01", "-1.5e+3": "-1.5e+3", "true": "true", "null": "null",
		"": `""`, "a: b}]": `"a: b}]"`, "x\n- y": `"x\n- y"`, "Fri, 31": `"Fri, 31"`, "1 # c": `"1 # c"`, "-": `"-"`, "&a": `"&a"`,
	} {
		yaml := string(manifest.Encode("c", manifest.Map{{Key: "v", Value: []any{manifest.Map{{Key: "date", Value: manifest.Literal(text)}}}}}))
		if !strings.Contains(yaml, "date: "+want) {
			t.Errorf("%q: no %s in\n%s", text, want, yaml)
		}
	}
}
