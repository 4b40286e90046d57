package markup

import "testing"

func TestTagsToShowBecomeText(t *testing.T) {
	t.Parallel()
	all := IsElement
	for name, tt := range map[string]struct {
		markdown, want string
		shows          func(string) bool
	}{
		"a tag that destroys the rest":         {"Change the <title> of the page.\n\n- one\n\n**End**", "<p>Change the &lt;title&gt; of the page.</p><ul><li>one</li></ul><p><strong>End</strong></p>", IsSwallowing},
		"a script in lines of its own":         {"<script>\nx = 1\n\ny\n</script>\n\n**End**", "<p>&lt;script&gt; x = 1</p><p>y &lt;/script&gt;</p><p><strong>End</strong></p>", IsSwallowing},
		"within an element that is shown":      {"<div>\n<title>x</title>\n</div>\n\nEnd", "<div>&lt;title&gt;x&lt;/title&gt;</div><p>End</p>", IsSwallowing},
		"an element that is shown":             {"a <b>c</b>", "<p>a <b>c</b></p>", IsSwallowing},
		"each tag":                             {"a <b>c</b> <path> <!-- x --> </p>", "<p>a &lt;b&gt;c&lt;/b&gt; &lt;path&gt; &lt;!-- x --&gt; &lt;/p&gt;</p>", all},
		"code and addresses are as they are":   {"`<title>` <https://example.com>\n\n    <title>\n", "<p><code>&lt;title&gt;</code> <a href=\"https://example.com\">https://example.com</a></p><pre><code>&lt;title&gt;</code></pre>", all},
		"a tag that another one of them hides": {"<title>\n\n<script>\n\nEnd", "<p>&lt;title&gt;</p><p>&lt;script&gt;</p><p>End</p>", IsSwallowing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := HTML(ShowTags(tt.markdown, tt.shows)); !Equal(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
