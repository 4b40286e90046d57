package sandbox

import (
	"strings"
	"testing"
)

func TestHTMLIsSanitisedAsTheServiceDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, out string }{
		{"just text", "<span>just text</span>"},
		{"# Title\n\n- a\n", "<span># Title\n\n- a</span>"},
		{"some <b>bold</b> text", "<span>some <b>bold</b> text</span>"},
		{"<i>a</i><i>b</i>", "<span><i>a</i><i>b</i></span>"},
		{"text <p>and a paragraph</p>", "<div>text <p>and a paragraph</p></div>"},
		{"<p>a paragraph</p> and text", "<div><p>a paragraph</p> and text</div>"},
		{"<p>one</p><p>two</p>", "<div><p>one</p><p>two</p></div>"},
		{"<p>a</p><script>alert(1)</script>", "<div><p>a</p></div>"},
		{"<script>alert(1)</script>", ""},
		{"<p>x &lt;string&gt; <bob@x></p>", "<p>x &lt;string&gt; </p>"},
		{"<p><a href='javascript:x'>y</a></p>", `<p><a rel="noopener noreferrer">y</a></p>`},
		{"<p><a href='mailto:a@b.example'>y</a></p>", `<p><a href="mailto:a@b.example" rel="noopener noreferrer">y</a></p>`},
		{"<p><a href=' java\nscript:x'>y</a></p>", `<p><a rel="noopener noreferrer">y</a></p>`},
		{"<table><tr><td>x</td></tr></table>", "<table><tbody><tr><td>x</td></tr></tbody></table>"},
		{"<article>x</article><p><time>y</time><wbr></p>", "<div><article>x</article><p><time>y</time><wbr></p></div>"},
		{"<pre>\n\nx</pre>", "<pre>\n\nx</pre>"},
		{"<p title='a\"b'>x</p>", `<p title="a&quot;b">x</p>`},
		{"<div>" + strings.Repeat("<ul><li>x</li></ul>", 3) + "</div>", "<div>" + strings.Repeat("<ul><li>x</li></ul>", 3) + "</div>"},
	} {
		got, ok := sanitise(tt.in)
		if !ok || got != tt.out {
			t.Errorf("sanitise(%q) = %q, %v, want %q", tt.in, got, ok, tt.out)
		}
	}
	for _, in := range []string{"", "  \n", "<!-- x -->", `<?xml version="1.0" encoding="utf-8"?><p>x</p>`} {
		if got, ok := sanitise(in); ok {
			t.Errorf("sanitise(%q) = %q, want a refusal", in, got)
		}
	}
}

// FuzzSanitise: what sanitise returns it leaves as it is.
func FuzzSanitise(f *testing.F) {
	for _, s := range []string{
		"a", "<p>a", "<b><i>x</b></i>", "<pre>\n\nx</pre>", "x<p>y</p>z", "<foo>x</foo>", "<p>a</p><foo>b</foo>", "<a href=x><a href=y>z</a></a>",
		"<table><p>x</table>", "<svg><p>x</svg>", "<math><mi>x</mi></math>", "<p>\u00a0</p>", "<ul><li>a<li>b", "<h1><p>x</p></h1>", "<select><option>x",
		"<textarea>\n<b>x</b></textarea>", "<plaintext>x", "<html><body><p>x</p></body></html>", "<p><div>x</div></p>", "&amp;lt;p&gt;", "<p>a</p>\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, ok := sanitise(s)
		if !ok || once == "" {
			return
		}
		twice, ok := sanitise(once)
		if !ok || twice != once {
			t.Errorf("%q -> %q -> %q, %v", s, once, twice, ok)
		}
		for _, bad := range []string{"<script", "<style", "<iframe", "<!--", "javascript:"} {
			if bad != "javascript:" && strings.Contains(once, bad) {
				t.Errorf("%q -> %q", s, once)
			}
		}
	})
}
