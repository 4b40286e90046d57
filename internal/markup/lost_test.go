package markup_test

import (
	"slices"
	"testing"

	"github.com/planform/planform/internal/markup"
)

func TestLost(t *testing.T) {
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
