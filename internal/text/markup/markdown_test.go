package markup_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/text/markup"
)

func TestHTMLIsConvertedToReadableMarkdown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ html, want string }{
		"a paragraph":                         {"<p>One page, no <strong>reload</strong>.</p>", "One page, no **reload**."},
		"two, wrapped by the service":         {"<div><p>One</p><p>Two</p></div>", "One\n\nTwo"},
		"a heading and a list":                {"<h2>Until then</h2><ul><li>pay</li><li><p>ship</p></li></ul>", "## Until then\n\n- pay\n- ship"},
		"a list in a list":                    {"<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n   - b\n2. c"},
		"a list that begins elsewhere":        {`<ol start="3"><li>a</li></ol>`, "3. a"},
		"two lists beside each other":         {"<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n* b"},
		"an item of two paragraphs":           {"<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c"},
		"tasks":                               {`<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><label><input type="checkbox" checked=""><span></span></label><div><p>a</p></div></li></ul>`, "- [x] a"},
		"code":                                {"<p>run <code>go test</code></p>", "run `go test`"},
		"code with a back-tick":               {"<p><code>a`b</code></p>", "``a`b``"},
		"a block of code":                     {"<pre><code class=\"language-go\">x := 1\n\ny</code></pre>", "```go\nx := 1\n\ny\n```"},
		"a fence in a block of code":          {"<pre><code>```\n</code></pre>", "````\n```\n````"},
		"a quotation":                         {"<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"},
		"a link":                              {`<p>see <a href="https://e.com/a" rel="noopener noreferrer">this</a></p>`, "see [this](https://e.com/a)"},
		"a link that shows its target":        {`<p><a href="https://e.com/">https://e.com/</a></p>`, "<https://e.com/>"},
		"an address that is no link":          {"<p>https://e.com, ada@e.com, www.e.com</p>", `https\://e.com, ada\@e.com, www\.e.com`},
		"a line end":                          {"<p>a<br>b</p>", "a\\\nb"},
		"a rule":                              {"<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"},
		"a table":                             {`<table><thead><tr><th>a</th><th style="text-align:right">b|c</th></tr></thead><tbody><tr><td>1</td><td style="text-align:right"></td></tr></tbody></table>`, "| a | b\\|c |\n| --- | ---: |\n| 1 |  |"},
		"what looks like marks":               {"<p>2 * 3 * 4, a_b, _c_, [x] &amp;amp; &lt;b&gt;</p>", `2 \* 3 \* 4, a_b, \_c\_, \[x\] \&amp; \<b>`},
		"a paragraph that begins like a list": {"<p>- a</p><p>1. b</p><p># c</p><p>-5 degrees</p>", "\\- a\n\n1\\. b\n\n\\# c\n\n-5 degrees"},
		"emphasis in strong":                  {"<p><strong>a <em>b</em></strong></p>", "**a *b***"},
		"underlined":                          {"<p><u>a</u></p>", "<u>a</u>"},
		"an image":                            {`<p><img src="https://e.com/i.png" alt="plan"></p>`, "![plan](https://e.com/i.png)"},
		"struck":                              {"<p><s>a</s></p>", "~~a~~"},
		"nothing":                             {"<p></p>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := markup.Markdown(tt.html)
			if !ok || got != tt.want {
				t.Errorf("got %q, %t; want %q\nnormal %s", got, ok, tt.want, markup.Normal(tt.html))
			}
		})
	}
}

func TestHTMLWithoutAMarkdownEquivalentIsNotConverted(t *testing.T) {
	t.Parallel()
	for name, html := range map[string]string{
		"a class":                                `<p class="big">a</p>`,
		"a colour":                               `<p><span data-text-color="red">a</span></p>`,
		"a mention":                              `<p><mention-component entity_identifier="x"></mention-component></p>`,
		"a table without head":                   "<table><tbody><tr><td>a</td></tr></tbody></table>",
		"more in each other than anybody writes": strings.Repeat("<blockquote>", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := markup.Markdown(html); ok {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestRenderedMarkdownIsConvertedBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"# A\n\nb *c* **d** `e`\n\n- f\n- g\n  1. h\n  2. i\n\n> j\n\n```sh\nk\n```\n\n| l | m |\n|---|---|\n| n | o |\n\n***\n\n[p](https://q.com 'r') <https://s.com>\n",
		"- [ ] a\n- [x] b\n", "a  \nb\\\nc", "Setext\n===\n\ntext\n", "- a\n\n      code\n", "***a** b*", "* * *\n\n- - - x", "1) a\n2) b",
	} {
		html := markup.HTML(text)
		got, ok := markup.Markdown(html)
		if !ok || !markup.Equal(markup.HTML(got), html) {
			t.Errorf("%q became %q, %t", text, got, ok)
		}
	}
}

// FuzzMarkdown converts any HTML without a panic; if it is reported as equal, it is equal.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"<p>a *b* <em>c</em></p>", "<ul><li>a<pre><code>b\n\nc</code></pre></li></ul>", "<p><strong>a</strong><strong>b</strong></p>", "<table><thead><tr><th>a<br>b</th></tr></thead></table>", "<h1>a<br>b</h1>", "<p><a href=\"https://e.com/(\">x]</a></p>", "<li>x", "<p>a<br><br>b</p>"} {
		f.Add(s)
	}
	for _, r := range recordings(f) {
		if _, stored, ok := r.texts(); ok {
			f.Add(stored)
		}
	}
	f.Fuzz(func(t *testing.T, html string) {
		if text, ok := markup.Markdown(html); ok && !markup.Equal(markup.HTML(text), html) {
			t.Errorf("%q became %q, which is %q", html, text, markup.HTML(text))
		}
	})
}
