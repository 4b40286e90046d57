package view_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/view"
)

func TestSafeShowsWhatATerminalWouldActOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"plain text stays":                                  {"Rebuild the checkout", "Rebuild the checkout"},
		"other scripts stay":                                {"Öl für 東京 — שלום", "Öl für 東京 — שלום"},
		"emoji and joiners stay":                            {"👩\u200d👧 می\u200cخواهم", "👩\u200d👧 می\u200cخواهم"},
		"the replacement character stays":                   {"\ufffd", "\ufffd"},
		"a backslash stays":                                 {`C:\temp`, `C:\temp`},
		"an escape sequence is shown":                       {"\x1b[31mred", `\x1b[31mred`},
		"the sequence for a terminal's title is shown":      {"\x1b]0;title\a", `\x1b]0;title\x07`},
		"carriage returns, line ends and tabs are shown":    {"a\r\nb\tc", `a\r\nb\tc`},
		"the delete character is shown":                     {"a\x7f", `a\x7f`},
		"an eight-bit control character is shown":           {"a\u009b1m", `a\u009b1m`},
		"bytes that are no UTF-8":                           {"a\xff\xc3", `a\xff\xc3`},
		"a mark that reverses text is shown":                {"file\u202etxt.exe", `file\u202etxt.exe`},
		"isolates and marks of direction are shown":         {"\u2066a\u2069\u200e", `\u2066a\u2069\u200e`},
		"line and paragraph separators are shown":           {"\u2028\u2029", `\u2028\u2029`},
		"spaces without width are shown":                    {"we\u200bb\ufeff", `we\u200bb\ufeff`},
		"tag characters are shown":                          {"a\U000e0041", `a\U000e0041`},
		"fillers that look like blanks are shown":           {"\u3164\u115f\uffa0\u2800a\u034f", `\u3164\u115f\uffa0\u2800a\u034f`},
		"a variant of a letter is shown":                    {"a\U000e0100", `a\U000e0100`},
		"an emoji's variant stays":                          {"\u2764\ufe0f", "\u2764\ufe0f"},
		"an emoji's variant behind a letter":                {"bug\ufe0f", `bug\ufe0f`},
		"variants of letters and ideographs are shown":      {"a\ufe00葛\ufe01\ufe0e", `a\ufe00葛\ufe01\ufe0e`},
		"a variant that an emoji has anyway":                {"🎉\ufe0f \u2764\ufe0e", "🎉\\ufe0f \u2764\\ufe0e"},
		"a variant that changes an emoji":                   {"⌚\ufe0e ©\ufe0f", "⌚\ufe0e ©\ufe0f"},
		"a variant after a variant is shown":                {"\u2764\ufe0f\ufe0f", "\u2764\ufe0f\\ufe0f"},
		"keycaps stay":                                      {"1\ufe0f\u20e3 #\ufe0f\u20e3", "1\ufe0f\u20e3 #\ufe0f\u20e3"},
		"a variant of a digit is shown":                     {"1\ufe0f", `1\ufe0f`},
		"sequences of emoji stay":                           {"👨🏽\u200d⚕\ufe0f 🏳\ufe0f\u200d🌈 👩\u200d\u2764\ufe0f\u200d👨 👨\u200d👩\u200d👧\u200d👦", "👨🏽\u200d⚕\ufe0f 🏳\ufe0f\u200d🌈 👩\u200d\u2764\ufe0f\u200d👨 👨\u200d👩\u200d👧\u200d👦"},
		"joiners at the end of a word are shown":            {"\u200dbug\u200d 👩\u200d \u200c", `\u200dbug\u200d 👩\u200d \u200c`},
		"joiners between letters without joining are shown": {"b\u200du\u200cg б\u200dб 東\u200d京", `b\u200du\u200cg б\u200dб 東\u200d京`},
		"a second joiner is shown":                          {"👩\u200d\u200d👧 می\u200c\u200cخ", "👩\\u200d\\u200d👧 می\\u200c\\u200cخ"},
		"joiners beside a virama stay":                      {"क्\u200dष क्\u200cष র\u200d্য ශ්\u200dරී", "क्\u200dष क्\u200cष র\u200d্য ශ්\u200dරී"},
		"joiners without a virama are shown":                {"क\u200dष क\u200cष", `क\u200dष क\u200cष`},
		"a non-joiner where nothing joins is shown":         {"دا\u200cر می\u200c", `دا\u200cر می\u200c`},
		"a joiner between letters that join is shown":       {"م\u200dی", `م\u200dی`},
		"more accents than a letter bears":                  {"a" + strings.Repeat("\u0301", 10), "a" + strings.Repeat("\u0301", 8) + `\u0301\u0301`},
		"a command of Azure Pipelines is broken":            {"x ##vso[task.setvariable variable=a]b", `x #\x23vso[task.setvariable variable=a]b`},
		"an older command of Azure Pipelines is broken":     {"##[error]a", `#\x23[error]a`},
		"a command of TeamCity is broken":                   {"##teamcity[buildStatus]", `#\x23teamcity[buildStatus]`},
		"a command after the signs of a heading is broken":  {"####vso[", `###\x23vso[`},
		"a command of GitHub is broken":                     {"::set-output name=a::b", `\x3a:set-output name=a::b`},
		"a command of GitHub after white space is broken":   {" \u00a0::error::a", " \u00a0\\x3a:error::a"},
		"colons elsewhere stay":                             {"std::string", "std::string"},
		"headings stay":                                     {"## [a](b) ##a #[b]", "## [a](b) ##a #[b]"},
		"a surrogate written as three bytes":                {"\xed\xa0\x80", `\xed\xa0\x80`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := view.Safe(tt.text); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("a\x1b[2J\n\u202e\xff")
	f.Add(" ::error::##vso[###[a]")
	commands := regexp.MustCompile(`##(vso|teamcity|)\[|^\s*::`)
	f.Fuzz(func(t *testing.T, s string) {
		got := view.Safe(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q gives invalid UTF-8 %q", s, got)
		}
		if strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q gives a control character: %q", s, got)
		}
		if commands.MatchString(got) {
			t.Errorf("%q gives a command: %q", s, got)
		}
		if view.Safe(got) != got {
			t.Errorf("%q is not safe yet: %q", s, got)
		}
	})
}

func TestNoOutputIsACommandOfACISystem(t *testing.T) {
	t.Parallel()
	s, inJSON := newScreen(), newScreen(inJSON)
	rows := [][]string{{"::set-output name=a::b", "##vso[a]"}, {"", "::error::a"}}
	value := map[string]any{"##vso[key]": []any{"###vso[a]", "##[b]", "## [c]"}}
	if err := errors.Join(s.Table([]string{"ID", "NAME"}, rows), inJSON.JSON(value)); err != nil {
		t.Fatal(err)
	}
	s.Notef("%s", "::warning::a")
	for _, text := range []string{s.out.String(), s.err.String(), inJSON.out.String()} {
		if regexp.MustCompile(`##[a-z]*\[|(?m)^\s*::`).MatchString(text) {
			t.Errorf("shows a command:\n%s", text)
		}
	}
	var back map[string]any
	if err := json.Unmarshal(inJSON.out.Bytes(), &back); err != nil || !reflect.DeepEqual(back, value) {
		t.Errorf("comes back as %q, %v", back, err)
	}
}

func TestALongCellDoesNotWidenTheOthers(t *testing.T) {
	t.Parallel()
	s := newScreen()
	rows := [][]string{{strings.Repeat("x", 3<<20), "y"}}
	for range 1000 {
		rows = append(rows, []string{"a", "b"})
	}
	if err := s.Table([]string{"NAME", "STATE"}, rows); err != nil {
		t.Fatal(err)
	}
	if n := s.out.Len(); n > 300<<10 {
		t.Errorf("%d bytes", n)
	}
}
