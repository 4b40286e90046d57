package markup_test

import (
	"testing"

	"github.com/planform/planform/internal/text/markup"
)

func TestLinksOfASchemeLeadElsewhereOrBecomeTheirLabels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<p>see <a href="k:a" rel="r">A</a>.</p>`:                                                                        `<p>see <a href="https://new/a?b&amp;c" rel="r">A</a>.</p>`,
		`<p><a href="k:none"><b>B</b></a> <a href="https://x">C</a></p>`:                                                 `<p><b>B</b> <a href="https://x">C</a></p>`,
		`<a href="k:none">a <a href="k:a">b</a> c</a> d`:                                                                 `a <a href="https://new/a?b&amp;c">b</a> c d`,
		`<code>&lt;a href="k:a"&gt;</code> k:a <img alt="k:a"></a>`:                                                      `<code>&lt;a href="k:a"&gt;</code> k:a <img alt="k:a"></a>`,
		`<p><img src="k:a" alt="A &lt;"/> <img src="k:none" alt="B &lt;"> <img src="k:none"> <img src="/c" alt="C"></p>`: `<p><img src="https://new/a?b&amp;c" alt="A &lt;"> B &lt;  <img src="/c" alt="C"></p>`,
		`<a href="k:a"/>x</a> <a href="k:none" alt="B"/>x</a>`:                                                           `<a href="https://new/a?b&amp;c">x</a> x`,
		`<A HREF='k:a' title="&quot;">x</A><a title="k:a">y</a> <a href="k:a"`:                                           `<a href="https://new/a?b&amp;c" title="&quot;">x</A><a title="k:a">y</a> <a href="k:a"`,
	} {
		got := markup.Relink(text, "k:", func(rest string) string {
			if rest == "a" {
				return "https://new/a?b&c"
			}
			return ""
		})
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
