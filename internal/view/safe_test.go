package view_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/view"
)

func TestSafeShowsWhatATerminalWouldActOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"plain text stays":                   {"Rebuild the checkout", "Rebuild the checkout"},
		"other scripts stay":                 {"Öl für 東京 — שלום", "Öl für 東京 — שלום"},
		"emoji and joiners stay":             {"👩\u200d👧 می\u200cخواهم", "👩\u200d👧 می\u200cخواهم"},
		"the replacement character stays":    {"\ufffd", "\ufffd"},
		"a backslash stays":                  {`C:\temp`, `C:\temp`},
		"an escape sequence":                 {"\x1b[31mred", `\x1b[31mred`},
		"a terminal's title":                 {"\x1b]0;title\a", `\x1b]0;title\x07`},
		"line ends and tabs":                 {"a\r\nb\tc", `a\r\nb\tc`},
		"delete":                             {"a\x7f", `a\x7f`},
		"an eight-bit control character":     {"a\u009b1m", `a\u009b1m`},
		"bytes that are no UTF-8":            {"a\xff\xc3", `a\xff\xc3`},
		"reversed text":                      {"file\u202etxt.exe", `file\u202etxt.exe`},
		"isolates and marks":                 {"\u2066a\u2069\u200e", `\u2066a\u2069\u200e`},
		"line and paragraph separators":      {"\u2028\u2029", `\u2028\u2029`},
		"spaces without width":               {"we\u200bb\ufeff", `we\u200bb\ufeff`},
		"tags":                               {"a\U000e0041", `a\U000e0041`},
		"a surrogate written as three bytes": {"\xed\xa0\x80", `\xed\xa0\x80`},
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
	f.Fuzz(func(t *testing.T, s string) {
		got := view.Safe(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q gives invalid UTF-8 %q", s, got)
		}
		if strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q gives a control character: %q", s, got)
		}
		if view.Safe(got) != got {
			t.Errorf("%q is not safe yet: %q", s, got)
		}
	})
}
