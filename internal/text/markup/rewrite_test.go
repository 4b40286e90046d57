package markup_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/text/markup"
)

func TestTextsAndLinksAreRewrittenAndNothingElse(t *testing.T) {
	t.Parallel()
	r := markup.Rewriter{
		Text: func(piece string) string { return strings.ReplaceAll(piece, "A-1", "[A-1](new:1)") },
		Link: func(target string) (string, string) {
			if target == "https://old/A-1" {
				return "new:1", "A-1"
			}
			return "", ""
		},
	}
	for text, want := range map[string]string{
		"See A-1, *A-1* and **`A-1`**.":                                                                                  "See [A-1](new:1), *[A-1](new:1)* and **`A-1`**.",
		"- A-1\n\n      A-1\n- a_b_A-1_c":                                                                                "- [A-1](new:1)\n\n      A-1\n- a_b_[A-1](new:1)_c",
		"```\nA-1\n```\n\n    A-1\n\n~~~sh\n# A-1\n~~~\n\n> A-1":                                                         "```\nA-1\n```\n\n    A-1\n\n~~~sh\n# A-1\n~~~\n\n> [A-1](new:1)",
		"# A-1\n\n| A-1 | `A-1` |\n| --- | --- |\n| x \\| A-1 | y |":                                                     "# [A-1](new:1)\n\n| [A-1](new:1) | `A-1` |\n| --- | --- |\n| x \\| [A-1](new:1) | y |",
		"[A-1](https://old/A-1), [**it**](<https://old/A-1> \"A-1\")":                                                    "[A-1](new:1), [**it**](<new:1> \"A-1\")",
		"[https://old/A-1](https://old/A-1) `x` <https://old/A-1> done":                                                  "[A-1](new:1) `x` [A-1](new:1) done",
		"`<https://old/A-1>` <https://old/A-1> <https://other>":                                                          "`<https://old/A-1>` [A-1](new:1) <https://other>",
		"[A-1](https://other) ![A-1](https://old/A-1 \"A-1\") [A-1][x]\n\n[x]: https://old/A-1":                          "[A-1](https://other) ![A-1](new:1 \"A-1\") [A-1][x]\n\n[x]: https://old/A-1",
		"<b title=\"A-1\">A-1</b>\n\n<div>\nA-1\n</div>":                                                                 "<b title=\"A-1\">[A-1](new:1)</b>\n\n<div>\nA-1\n</div>",
		"![](https://old/A-1) [![](https://old/A-1) A-1 ![x](https://old/A-1)](https://other) ![](https://other) A-1":    "![](new:1) [![](new:1) A-1 ![x](new:1)](https://other) ![](https://other) [A-1](new:1)",
		"`![](https://old/A-1)` a <img alt=A-1 src='https://old/A-1'> b\n\n<p>\n<a href=\"https://old/A-1\">A-1</a></p>": "`![](https://old/A-1)` a <img alt=A-1 src='new:1'> b\n\n<p>\n<a href=\"new:1\">A-1</a></p>",
		"- [ ] A-1 ~~A-1~~":            "- [ ] [A-1](new:1) ~~[A-1](new:1)~~",
		"größe A-1\r\nüber A-1  \nend": "größe [A-1](new:1)\r\nüber [A-1](new:1)  \nend",
		"":                             "",
	} {
		if got := r.Rewrite(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func FuzzRewriteKeepsWhatNobodyChanges(f *testing.F) {
	for _, text := range []string{"a <https://x> [b](c) `d`", "> - a\n>\tb", "|a|\n|-|\n|b\\|c|", "[a]: b\n[a]", "\\#1 &amp; <b>c", "1. a\n   \tb"} {
		f.Add(text)
	}
	same := markup.Rewriter{Text: func(piece string) string { return piece }, Link: func(string) (string, string) { return "", "" }}
	f.Fuzz(func(t *testing.T, text string) {
		if got := same.Rewrite(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		// Whatever it finds to change, it finds where it says.
		markup.Rewriter{Text: strings.ToUpper, Link: func(target string) (string, string) { return target, "x" }}.Rewrite(text)
	})
}
