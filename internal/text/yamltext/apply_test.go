package yamltext_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/text/yamltext"
)

// at removes the mark § from a text, and returns its place, which is edited.
func at(text string) (without string, line, column int) {
	before, after, _ := strings.Cut(text, "§")
	shown := strings.TrimPrefix(before, "\ufeff")
	return before + after, 1 + strings.Count(shown, "\n"), 1 + utf8.RuneCountInString(shown[strings.LastIndexByte(shown, '\n')+1:])
}

func TestANewValueKeepsTheStyleOfTheOldOne(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in    string
		value any
		want  string
	}{
		"a plain text stays plain":                               {"a: §x # one\nb: 1\n", "Done", "a: Done # one\nb: 1\n"},
		"a text that needs quotes gets them":                     {"a: §x\n", "b: c", "a: \"b: c\"\n"},
		"a word with a meaning in YAML gets quotes":              {"a: §x\n", "yes", "a: \"yes\"\n"},
		"a text that looks like a number gets quotes":            {"a: §x\n", "0777", "a: \"0777\"\n"},
		"a date stays plain":                                     {"a: §2026-01-01\n", yamltext.Literal("2026-12-01"), "a: 2026-12-01\n"},
		"a date in quotes stays in quotes":                       {"a: §'2026-01-01'\n", yamltext.Literal("2026-12-01"), "a: '2026-12-01'\n"},
		"a text that begins with a hash gets quotes":             {"a: §x # y\n", "# z", "a: \"# z\" # y\n"},
		"a text in single quotes stays in them":                  {"a: §'it''s' # one\n", "that's", "a: 'that''s' # one\n"},
		"single quotes cannot hold a line end":                   {"a: {b: §'x'}\n", "y\nz", "a: {b: \"y\\nz\"}\n"},
		"a text in double quotes stays in them":                  {"a: §\"x \\\" y\" # one\n", "a \"b\" \\", "a: \"a \\\"b\\\" \\\\\" # one\n"},
		"quotes on several lines become one line":                {"a: §\"x\n  y\"\nb: 1\n", "z", "a: \"z\"\nb: 1\n"},
		"a plain text on several lines becomes one line":         {"a: §one\n  two\n\n  three # c\nb: 1\n", "z", "a: z # c\nb: 1\n"},
		"a value below its key stays there":                      {"a: # c\n  §x\n", "w", "a: # c\n  w\n"},
		"a comma between brackets needs quotes":                  {"{a: §x, b: y}\n", "p, q", "{a: \"p, q\", b: y}\n"},
		"a value that is cleared becomes null":                   {"a: §x # c\n", nil, "a: null # c\n"},
		"a value is written where none was":                      {"a:§ # c\nb: 1\n", "w", "a: w # c\nb: 1\n"},
		"a value is written where none was at the end of a file": {"a:§", "w", "a: w"},
		"a value replaces null":                                  {"a: §null\n", "w", "a: w\n"},
		"a value replaces a tilde":                               {"a: §~\n", "w", "a: w\n"},
		"a value replaces an alias, and not its anchor":          {"x: &s 1\na: §*s # c\n", "w", "x: &s 1\na: w # c\n"},
		"an anchor stays before its value":                       {"a: §&s x\n", "w", "a: &s w\n"},
		"a tag stays before its value":                           {"a: §!!str x # c\n", "w", "a: !!str w # c\n"},
		"a text of several lines becomes a block":                {"a:\n  b: §x # c\n  d: 1\n", "p\n\n- q\n", "a:\n  b: | # c\n    p\n\n    - q\n  d: 1\n"},
		"a block may have no line end":                           {"b: §\"x\"\n", "p\nq", "b: |-\n  p\n  q\n"},
		"a block that begins with blanks says its indentation":   {"b: §x\n", "  p\nq\n", "b: |2\n    p\n  q\n"},
		"several lines between brackets stay in quotes":          {"{b: §x}\n", "p\nq\n", "{b: \"p\\nq\\n\"}\n"},
		"a block keeps its indentation":                          {"- b: §|  # c\n     one\n\n     two\n\n  d: 1\n", "p\n  q\n", "- b: |  # c\n     p\n       q\n\n  d: 1\n"},
		"a block keeps its line ends":                            {"b: §|-\n  one\nd: 1\n", "p\nq\n", "b: |-\n  p\n  q\nd: 1\n"},
		"a block that says its indentation":                      {"b: §|4-\n      one\n    two\nd: 1\n", " p\nq", "b: |4-\n     p\n    q\nd: 1\n"},
		"a block that must say its indentation":                  {"b: §|\n    one\nd: 1\n", " p\nq\n", "b: |4\n     p\n    q\nd: 1\n"},
		"a block with one line stays a block":                    {"b: §|\n  one\n  two\nd: 1\n", "p", "b: |\n  p\nd: 1\n"},
		"a block at the end of a file stays without a line end":  {"b: §|\n  one", "p\nq\n", "b: |\n  p\n  q"},
		"an empty block gets the new lines":                      {"b: §|\nd: 1\n", "p\nq\n", "b: |\n  p\n  q\nd: 1\n"},
		"a folded block stays a block":                           {"b: §>-\n  one\n  two\nd: 1\n", "p\nq", "b: |-\n  p\n  q\nd: 1\n"},
		"a block that is cleared":                                {"b: §| # c\n  one\n  two\n\nd: 1\n", nil, "b: null # c\n\nd: 1\n"},
		"a block that cannot hold the text":                      {"b: §|\n  one\nd: 1\n", "\tp\nq", "b: \"\\tp\\nq\"\nd: 1\n"},
		"comments after a block stay":                            {"a:\n  b: §|\n    one\n# c\n  # d\ne: 1\n", "p\n", "a:\n  b: |\n    p\n# c\n  # d\ne: 1\n"},
		"the line ends of Windows are kept":                      {"a: 1\r\nb: §|\r\n  one\r\nd: 1\r\n", "p\nq\n", "a: 1\r\nb: |\r\n  p\r\n  q\r\nd: 1\r\n"},
		"a new block gets the line ends of its file":             {"b: §x\r\nd: 1\r\n", "p\nq\n", "b: |\r\n  p\r\n  q\r\nd: 1\r\n"},
		"a byte order mark stays":                                {"\ufeffb: §x\n", "w", "\ufeffb: w\n"},
		"characters of several bytes move no place":              {"ä😀: {b: §x}\n", "ü", "ä😀: {b: ü}\n"},
		"a value of a later document is found":                   {"a: x\n---\nb: §x\n", "w", "a: x\n---\nb: w\n"},
		"JSON":                                                   {"{\n\t\"a\": §\"x\",\n\t\"b\": 1\n}", "yes <\"\n", "{\n\t\"a\": \"yes <\\\"\\n\",\n\t\"b\": 1\n}"},
		"a value that is cleared becomes null in JSON":           {"{\"a\": §\"x\"}", nil, "{\"a\": null}"},
		"a number in JSON has no quotes":                         {"{\"a\": §1}", yamltext.Literal("2.5"), "{\"a\": 2.5}"},
		"a date in JSON stays in quotes":                         {"{\"a\": §\"2026-01-01\"}", yamltext.Literal("2026-12-01"), "{\"a\": \"2026-12-01\"}"},
		"a value replaces null in JSON":                          {"{\"a\": §null}", "x", "{\"a\": \"x\"}"},
		"characters that do not show are escaped":                {"a: §'x'\n", "a\u202eb\u0085\U0001F600", "a: \"a\\u202eb\\u0085\U0001F600\"\n"},
		"the mark between documents gets quotes as a value":      {"a: §x\n", "---", "a: \"---\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, line, column := at(tt.in)
			check(t, text, tt.want, yamltext.Edit{Line: line, Column: column, Value: tt.value})
		})
	}
}

func check(t *testing.T, text, want string, edits ...yamltext.Edit) {
	t.Helper()
	got, refused := yamltext.Apply([]byte(text), edits)
	if err := errors.Join(refused...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if _, err := documents(got); err != nil {
		t.Error(err)
	}
}

func TestAListKeepsItsOtherMembers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		drop []int
		add  []string
		want string
	}{
		"a member is added at the end":                                {"l: §[a, b] # c\n", nil, []string{"x: y"}, "l: [a, b, \"x: y\"] # c\n"},
		"the first member is removed":                                 {"l: §[a, b, 'c']\n", []int{0}, nil, "l: [b, 'c']\n"},
		"a member in the middle is removed":                           {"l: §[ a, b , c ]\n", []int{1}, nil, "l: [ a, c ]\n"},
		"the last member is removed":                                  {"l: §[ a, b , c ]\n", []int{2}, nil, "l: [ a, b ]\n"},
		"two members are replaced by one":                             {"l: §[a, b, c]\n", []int{1, 2}, []string{"d"}, "l: [a, d]\n"},
		"all members but one in the middle are removed":               {"l: §[a, b, c]\n", []int{0, 2}, nil, "l: [b]\n"},
		"a list without members is empty":                             {"l: §[a, b]\n", []int{0, 1}, nil, "l: []\n"},
		"all members are replaced":                                    {"l: §[a, b]\n", []int{0, 1}, []string{"c", "d"}, "l: [c, d]\n"},
		"a first member is added":                                     {"l: §[]\n", nil, []string{"c"}, "l: [c]\n"},
		"a comma at the end is kept":                                  {"l: §[a, b,]\n", []int{1}, []string{"c"}, "l: [a, c,]\n"},
		"members with a line each keep their comments":                {"l: §[\n  a, # one\n  b, # two\n  c # three\n]\n", []int{1}, []string{"d"}, "l: [\n  a, # one\n  c, # three\n  d\n]\n"},
		"the last of the members with a line each is removed":         {"l: §[\n  a,\n  b # two\n]\n", []int{1}, nil, "l: [\n  a\n]\n"},
		"members with a line each keep the comma at the end":          {"l: §[\n  a,\n  b,\n]\n", []int{0}, []string{"d"}, "l: [\n  b,\n  d,\n]\n"},
		"a mapping in a list is kept":                                 {"l: §[{u: a, r: ']'}, b]\n", []int{1}, []string{"c"}, "l: [{u: a, r: ']'}, c]\n"},
		"members of a block are added and removed":                    {"l:\n  # first\n  §- a # one\n  # second\n  - b\nm: 1\n", []int{0}, []string{"c", "- d"}, "l:\n  # first\n  # second\n  - b\n  - c\n  - \"- d\"\nm: 1\n"},
		"the last member of a block is replaced":                      {"l:\n§- a\n-   b # two\n# of m\nm: 1\n", []int{1}, []string{"c"}, "l:\n- a\n- c\n# of m\nm: 1\n"},
		"a block without members becomes an empty list":               {"l: # c\n  §- a\n  - b\nm: 1\n", []int{0, 1}, nil, "l: [] # c\nm: 1\n"},
		"all members of a block are replaced":                         {"l:\n  §- a\n  - b\nm: 1\n", []int{0, 1}, []string{"c"}, "l:\n  - c\nm: 1\n"},
		"members are added to a block at the end of a file":           {"l:\n  §- a", nil, []string{"c", "d"}, "l:\n  - a\n  - c\n  - d"},
		"the last member of a block at the end of a file is replaced": {"l:\n  §- a\n  - b", []int{1}, []string{"c"}, "l:\n  - a\n  - c"},
		"a mapping of a block is removed":                             {"l:\n  §- {u: a}\n  - u: b\n    r: c\n  - d\n", []int{1}, nil, "l:\n  - {u: a}\n  - d\n"},
		"a block keeps the line ends of Windows":                      {"l:\r\n  §- a\r\n  - b\r\n", []int{0}, []string{"c"}, "l:\r\n  - b\r\n  - c\r\n"},
		"an alias of a list becomes the whole list":                   {"x: &l [a]\nl: §*l # c\n", nil, nil, "x: &l [a]\nl: [whole, list] # c\n"},
		"a list is written where nothing was":                         {"l:§\nm: 1\n", nil, nil, "l: [whole, list]\nm: 1\n"},
		"JSON":                                                        {"{\"l\": §[\"a\", \"b\"]}", []int{0}, []string{"yes"}, "{\"l\": [\"b\", \"yes\"]}"},
		"JSON with a line each":                                       {"{\"l\": §[\n  \"a\",\n  \"b\"\n]}", []int{1}, nil, "{\"l\": [\n  \"a\"\n]}"},
		"JSON with a line each, one comes":                            {"{\"l\": §[\n  \"a\",\n  \"b\"\n]}", nil, []string{"c"}, "{\"l\": [\n  \"a\",\n  \"b\",\n  \"c\"\n]}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, line, column := at(tt.in)
			var drop []yamltext.Place
			for _, i := range tt.drop {
				drop = append(drop, member(text, line, column, i))
			}
			check(t, text, tt.want, yamltext.Edit{Line: line, Column: column, Value: yamltext.List{Drop: drop, Add: tt.add, Whole: []string{"whole", "list"}}})
		})
	}
}

// member returns the place of a list's member.
func member(text string, line, column, i int) yamltext.Place {
	nodes, _ := documents([]byte(text))
	for _, n := range all(nodes) {
		if n.Kind == yaml.SequenceNode && n.Line == line && n.Column == column {
			if n = n.Content[i]; n.Kind == yaml.MappingNode {
				n = n.Content[1] // its name
			}
			return yamltext.Place{Line: n.Line, Column: n.Column}
		}
	}
	return yamltext.Place{}
}

func TestAKeyIsAddedAndRenamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"a key is added between brackets":          {"- §{a: 1, b: [2]} # c\n", "- {a: 1, b: [2], k: v w} # c\n"},
		"a key is added to lines between brackets": {"§{\n  a: 1,\n  b: 2,\n}\n", "{\n  a: 1,\n  b: 2,\n  k: v w,\n}\n"},
		"a key is added to a block":                {"l:\n  - §a: x # c\n    b: 1\n", "l:\n  - a: x # c\n    k: v w\n    b: 1\n"},
		"a key is added after nested values":       {"§a:\n  - 1\nd: |\n  x\nb: 'y'\n", "a:\n  - 1\nd: |\n  x\nb: 'y'\nk: v w\n"},
		"a key is added after a merge":             {"x: &x {c: 1}\ny:\n  §<<: *x\n  a: 1\n", "x: &x {c: 1}\ny:\n  <<: *x\n  k: v w\n  a: 1\n"},
		"JSON":                                     {"§{\"a\": 1}", "{\"a\": 1, \"k\": \"v w\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, line, column := at(tt.in)
			check(t, text, tt.want, yamltext.Edit{Line: line, Column: column, Insert: true, Key: "k", Value: "v w"})
		})
	}
	text, line, column := at("a: 1\n'b': §|\n  x\n")
	check(t, text, "a: 1\n'c': |\n  y\n", yamltext.Edit{Line: line, Column: column, Key: "c", Value: "y\n"})
	text, line, column = at("- §a: 1\n")
	check(t, text, "- a: 1\n  k: |\n    x\n    y\n", yamltext.Edit{Line: line, Column: column, Insert: true, Key: "k", Value: "x\ny\n"})
	check(t, text, "- a: 1\n  k: [x, \"y,\"]\n", yamltext.Edit{Line: line, Column: column, Insert: true, Key: "k", Value: yamltext.List{Whole: []string{"x", "y,"}}})
}

func TestABareTextBecomesAMappingForAKey(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in, want string
		value    any // of the text; nil = unchanged
	}{
		"a text in a list of lines becomes a mapping":    {"l:\n  - §a b # c\n  - d\n", "l:\n  - {name: a b, k: v} # c\n  - d\n", nil},
		"a text between brackets becomes a mapping":      {"[x, §'a b']\n", "[x, {name: 'a b', k: v}]\n", nil},
		"a text with a comma gets quotes in its mapping": {"- §a, b\n", "- {name: \"a, b\", k: v}\n", nil},
		"a text becomes a mapping with another text":     {"- §a\n", "- {name: \"d, e\", k: v}\n", "d, e"},
		"JSON": {"[\"x\", §\"a\"]", "[\"x\", {\"name\": \"a\", \"k\": \"v\"}]", nil},
		"a text that an alias names does not become a mapping": {"- §&a a\n- *a\n", "", nil},
		"not one of several lines":                             {"- §|\n  a\n", "", nil},
		"not the value of a key":                               {"a: §b\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, line, column := at(tt.in)
			insert := yamltext.Edit{Line: line, Column: column, Insert: true, Key: "k", Value: "v", Bare: "name"}
			switch {
			case tt.want == "":
				if got, refused := yamltext.Apply([]byte(text), []yamltext.Edit{insert}); refused[0] == nil || string(got) != text {
					t.Errorf("%q, %v", got, refused[0])
				}
			case tt.value == nil:
				check(t, text, tt.want, insert)
			default:
				check(t, text, tt.want, yamltext.Edit{Line: line, Column: column, Value: tt.value}, insert)
			}
		})
	}
	text, line, column := at("- §a\n")
	check(t, text, "- {name: a, k: v, m: w}\n", yamltext.Edit{Line: line, Column: column, Insert: true, Key: "k", Value: "v", Bare: "name"},
		yamltext.Edit{Line: line, Column: column, Insert: true, Key: "m", Value: "w", Bare: "name"})
}

func TestAnImpossibleEditIsRefusedAndTheOthersAreMade(t *testing.T) {
	t.Parallel()
	text := "a: 1\nb: {c: x}\n{d}: 2\n? e\n: 3\n"
	got, refused := yamltext.Apply([]byte(text), []yamltext.Edit{
		{Line: 1, Column: 4, Value: "2"}, {Line: 2, Column: 4, Value: "y"}, {Line: 9, Column: 9, Value: "y"}, {Line: 1, Column: 4, Value: "3"}, {Line: 2, Column: 4, Insert: true, Key: "d", Value: "4"},
	})
	if string(got) != "a: \"2\"\nb: {c: x, d: \"4\"}\n{d}: 2\n? e\n: 3\n" {
		t.Errorf("%s", got)
	}
	for i, want := range []bool{false, true, true, true, false} {
		if (refused[i] != nil) != want {
			t.Errorf("%d: %v", i, refused[i])
		}
	}
	if got, refused := yamltext.Apply([]byte("a: &x 1\nb: *x\n"), []yamltext.Edit{{Line: 1, Column: 4, Value: "z"}}); refused[0] == nil {
		t.Errorf("%s", got)
	}
	if got, refused := yamltext.Apply([]byte("a: [\n"), []yamltext.Edit{{Line: 1, Column: 4}}); refused[0] == nil || string(got) != "a: [\n" {
		t.Errorf("%s %v", got, refused)
	}
}

func TestAColonInsideAKeyGetsNoValue(t *testing.T) {
	t.Parallel()
	for text, column := range map[string]int{"d: {e:,H }": 7, "d: {e:, H: 1}": 7, "d: {e:}": 7, "[? a:, b]": 6} {
		for _, value := range []any{"y", yamltext.List{Whole: []string{"y"}}} {
			got, refused := yamltext.Apply([]byte(text), []yamltext.Edit{{Line: 1, Column: column, Value: value}})
			if refused[0] == nil || string(got) != text {
				t.Errorf("%s becomes %s", text, got)
			}
		}
	}
	check(t, "d: {e: , \"f\":, g : , h: 1}\n", "d: {e: v, \"f\": v, g : v, h: 1}\n", yamltext.Edit{Line: 1, Column: 8, Value: "v"},
		yamltext.Edit{Line: 1, Column: 14, Value: "v"}, yamltext.Edit{Line: 1, Column: 20, Value: "v"})
}

func TestSeveralEditsOfAFileAreMadeTogether(t *testing.T) {
	t.Parallel()
	check(t, "a: x\nl: [p, q]\nb: |\n  one\nc: {d: 1}\n", "a: z\nl: [q, r]\nb: |\n  two\nc: {d: 1, k: v, m: w}\n",
		yamltext.Edit{Line: 3, Column: 4, Value: "two\n"}, yamltext.Edit{Line: 1, Column: 4, Value: "z"}, yamltext.Edit{Line: 2, Column: 4, Value: yamltext.List{Drop: []yamltext.Place{{2, 5}}, Add: []string{"r"}}},
		yamltext.Edit{Line: 5, Column: 4, Insert: true, Key: "k", Value: "v"}, yamltext.Edit{Line: 5, Column: 4, Insert: true, Key: "m", Value: "w"})
}

// FuzzApply edits every value of a text in turn. If an edit is not refused, the text reads as before except for the value, or is invalid:
// the caller notices such odd forms of YAML when it reads the result.
func FuzzApply(f *testing.F) {
	for _, text := range []string{
		"a: x # c\nb:\n  - p\n  - {u: 'q', r: \"s\"}\nc: |\n  one\n\n  two\nd: [e, 'f']\n", "{\"a\": [\"b\", null], \"c\": {\"d\": 1}}", "a: &x 1\nb: *x\nc:\n? d\n: - 1\n  - - 2\n",
		"\ufeffa: x\r\nb: >-\r\n  y\r\n  z\r\n\r\nc: ~\r\n---\r\nd: !!str e\r\n", "a:\n  b:\n    c: one\n     two\n\n     three\n    d: {e: , f}\n", "a: |2-\n   x\n  y\n", "- a\n- b # c\n", "d: {e:,H } \n", "[a:, {b:}, ? c:]\n",
	} {
		for _, value := range []string{"y", "yes", ": #", "a\nb\n", "  x\ny", "\t", "\u0085", "- a", "!!int 1", "null", "", "'", "\"\\", "\n\nx", "a\u2028b", "x: |"} {
			f.Add(text, value)
		}
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		before, err := documents([]byte(text))
		if err != nil || !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) || len(text) > 2000 {
			return
		}
		nodes := all(before)
		for _, n := range nodes {
			place := yamltext.Place{Line: n.Line, Column: n.Column}
			for _, change := range []any{value, nil, yamltext.List{Drop: []yamltext.Place{place}, Add: []string{value}, Whole: []string{value}}} {
				got, refused := yamltext.Apply([]byte(text), []yamltext.Edit{{Line: n.Line, Column: n.Column, Value: change}})
				if refused[0] != nil && !bytes.Equal(got, []byte(text)) {
					t.Fatalf("refused, and changed: %q", got)
				}
				after, err := documents(got)
				if _, isText := change.(string); err != nil || !isText || refused[0] != nil || n.Kind != yaml.ScalarNode || len(all(after)) != len(nodes) {
					continue
				}
				changed := 0
				for i, m := range all(after) {
					if strings.TrimRight(m.Value, "\n") != strings.TrimRight(nodes[i].Value, "\n") {
						changed++
					}
				}
				if changed > 1 {
					t.Fatalf("%q at %d:%d of %q changes more:\n%q", value, n.Line, n.Column, text, got)
				}
			}
		}
	})
}

// TestAnEditChangesNothingElse edits every value of usual manifests, one by one.
func TestAnEditChangesNothingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"# top\na: x # c\nb:\n  - p # one\n  # two\n  - {u: 'q', r: \"s\"}\n  - k: |\n      one\n\n      two\n    # of m\n    m: plain\nd: [e, 'f', \"g\"]\nn:\no: ~\np: >-\n  y\n  z\n\nq: 1\n",
		"{\n  \"a\": [\"b\", null],\n  \"c\": {\"d\": 1, \"e\": \"f\"}\n}\n",
		"\ufeffa: x\r\nb: |\r\n  y\r\n  z\r\n\r\nc: ~\r\n---\r\nd: !!str e\r\nf:\r\n  g: one\r\n     two\r\n  h: 'i'\r\n",
	} {
		for _, value := range []string{"y", "yes", "null", "0777", "2026-12-01", "a: b", "a #b", "# a", "- a", "!!int 1", "&a", "*a", "@x", "`x", "%x", "{", "]", "'", "\"\\", "a\nb\n", "  x\n y\n\nz", "\tx", "\ty\nz", "\u0085", "a\u2028b", "x: |", "---", "...", "\u202e", strings.Repeat("long ", 2000), "?", "-", ":", "~", "=", "<<", " x ", "a\n---\nb\n", "a\n...\n"} {
			before, _ := documents([]byte(text))
			for i, n := range all(before) {
				if n.Kind != yaml.ScalarNode {
					continue
				}
				got, refused := yamltext.Apply([]byte(text), []yamltext.Edit{{Line: n.Line, Column: n.Column, Value: value}})
				if refused[0] != nil { // a key is not a value
					continue
				}
				documents, err := documents(got)
				if err != nil {
					t.Fatalf("%q at %d:%d: %v\n%s", value, n.Line, n.Column, err, got)
				}
				after := all(documents)
				if len(after) != len(all(before)) {
					t.Fatalf("%q at %d:%d:\n%s", value, n.Line, n.Column, got)
				}
				for j, m := range all(before) {
					want := m.Value
					if i == j {
						want = value
					}
					if strings.TrimRight(after[j].Value, "\n") != strings.TrimRight(want, "\n") || i == j && after[j].ShortTag() != "!!str" {
						t.Fatalf("%q at %d:%d: %q (%s), want %q\n%s", value, n.Line, n.Column, after[j].Value, after[j].ShortTag(), want, got)
					}
				}
				if strings.Count(string(got), "# ") < strings.Count(text, "# ") {
					t.Fatalf("a comment is lost:\n%s", got)
				}
				if strings.Contains(text, "\r\n") && strings.Count(string(got), "\r\n") != strings.Count(string(got), "\n") {
					t.Fatalf("line ends are mixed: %q", got)
				}
			}
		}
	}
}

func TestTextReturnsTheTextAtAPlace(t *testing.T) {
	t.Parallel()
	f, err := yamltext.Read([]byte("a: {b: 'docs/it''s.md'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := f.Text(1, 8); !ok || got != "docs/it's.md" {
		t.Error(got, ok)
	}
	if got, ok := f.Text(2, 2); ok {
		t.Error(got)
	}
}

func documents(text []byte) (list []*yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("panic")
		}
	}()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		n := new(yaml.Node)
		if err := d.Decode(n); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
}

// all returns the nodes of documents in their order.
func all(documents []*yaml.Node) (nodes []*yaml.Node) {
	for _, n := range documents {
		nodes = append(append(nodes, n), all(n.Content)...)
	}
	return slices.Clip(nodes)
}
