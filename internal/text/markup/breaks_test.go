package markup_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/text/markup"
)

func TestLineEndsBecomeBreaksExceptInMarkup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"App: 1\nPhone: 2\nSystem: 3":             "App: 1\\\nPhone: 2\\\nSystem: 3",
		"a\n\nb\n":                                "a\n\nb\n",
		"a  \nb\\\nc":                             "a  \nb\\\nc",
		"a \nb":                                   "a\\\nb",
		"- a\n  b\n- c\nlazy":                     "- a\\\n  b\n- c\\\nlazy",
		"> a\n> b\n>\n> c":                        "> a\\\n> b\n>\n> c",
		"- [ ] a\n- [x] b":                        "- [ ] a\n- [x] b",
		"a\n```\nb\nc\n```\nd\ne":                 "a\n```\nb\nc\n```\nd\\\ne",
		"a\n\n    b\n    c":                       "a\n\n    b\n    c",
		"| a | b |\n| --- | --- |\n| c | d |":     "| a | b |\n| --- | --- |\n| c | d |",
		"<div>\na\nb\n</div>":                     "<div>\na\nb\n</div>",
		"**a**\n`b`\n[c](https://example.com)\nd": "**a**\\\n`b`\\\n[c](https://example.com)\\\nd",
		"![a](b)\n<https://example.com>\nc":       "![a](b)\\\n<https://example.com>\\\nc",
		"a<br>\nb":                                "a<br>\nb",
		"# a\nb\nc":                               "# a\nb\\\nc",
		"`a\nb`\nc":                               "`a\nb`\\\nc",
		"*a\nb*":                                  "*a\\\nb*",
		"[x]: https://example.com\na\nb":          "[x]: https://example.com\na\\\nb",
		"a \\\\\nb":                               "a \\\\  \nb",
	} {
		got := markup.HardBreaks(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if again := markup.HardBreaks(got); again != got {
			t.Errorf("%q: once more %q", got, again)
		}
		if n := strings.Count(markup.HTML(got), "\n"); strings.Contains(want, "\\\n") && !strings.Contains(markup.HTML(got), "<br") {
			t.Errorf("%q: %d line ends and no break in %s", got, n, markup.HTML(got))
		}
	}
}
