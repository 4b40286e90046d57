package markup_test

import (
	"slices"
	"testing"

	"github.com/planform/planform/internal/text/markup"
)

func TestLostNamesElementsAndAttributesMissingInTheKeptText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent, kept string
		want       []string
	}{
		{"<p>a</p>", "<p>a</p>", nil},
		{"<b>a</b><b>c</b>", "<p><b>a</b></p>", nil},
		{`<p>a</p><iframe src="x"></iframe>`, "<p>a</p>", []string{"<iframe>"}},
		{`<table><th hidecontent="true" colspan="2">a</th></table>`, `<table><tbody><th colspan="2">a</th></tbody></table>`, []string{"hidecontent of <th>"}},
		{`<svg><path d="a"/></svg><!-- x -->`, "", []string{"<path>", "<svg>"}},
	} {
		if got := markup.Lost(c.sent, c.kept); !slices.Equal(got, c.want) {
			t.Errorf("of %s in %s: %q, not %q", c.sent, c.kept, got, c.want)
		}
	}
}

func TestStrippedNamesWhatTheServiceRemoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{`<p class="a">a <a href="https://example.com" rel="nofollow">b</a> List<string x="y"></p>`, nil},
		{`<p onclick="x()">a</p><iframe src="x"></iframe><script>1</script>`, []string{"<iframe>", "<script>", "onclick of <p>"}},
		{`<section><video src="a"></video></section>`, []string{"<section>", "<video>"}},
		{markup.HTML("a `<iframe>` b\n\n```\n<script>\n```\n"), nil},
		{markup.HTML("a <video src=x> b"), []string{"<video>"}},
	} {
		if got := markup.Stripped(c.text); !slices.Equal(got, c.want) {
			t.Errorf("of %s: %q, not %q", c.text, got, c.want)
		}
	}
}
