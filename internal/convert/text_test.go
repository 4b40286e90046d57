package convert

import "testing"

func TestTextWithoutMarkupShowsTheSameAsMarkdown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\nb\n\nc":                    "a\\\nb\n\nc",
		"To do:\n- a *b*\n- c":         "To do:\n- a \\*b\\*\n- c",
		"1. one\n2. two":               "1. one\n2. two",
		"# no heading\n> no quote":     "\\# no heading\\\n\\> no quote",
		"<b> snake_case _x_ [a] 1 < 2": "\\<b> snake_case \\_x\\_ \\[a\\] 1 < 2",
		"    no code":                  "no code",
		"a &nbsp; & &copy; AT&T;":      "a \\&nbsp; & \\&copy; AT\\&T;",
		"C:\\temp\\\nx":                "C:\\\\temp\\\\  \nx",
		"https://example.com/a_b?c=d":  "https://example.com/a_b?c=d",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestHTMLBecomesMarkdownWhereThatSaysTheSame(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<div style="color:red"><p>Hello <b>you</b></p></div>`: "Hello **you**",
		"<p>a</p>\n\n<p>b</p>":                                 "a\n\nb",
		"":                                                     "",
		"<ul><li>a</li><li>b</li></ul>":                        "- a\n- b",
		"<table><tr><td colspan=2>a\n\nb</td></tr></table>": "<div><table><tr><td colspan=2>a\nb</td></tr></table></div>",
	} {
		if got := fromHTML(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
