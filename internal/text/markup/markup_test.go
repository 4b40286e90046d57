package markup_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/text/markup"
)

// recording is one exchange with a real server. Long texts were cut when it was recorded.
type recording struct {
	N       int    `json:"n"`
	About   string `json:"about"`
	Request struct {
		Body json.RawMessage `json:"body"`
	} `json:"request"`
	Response struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
}

// texts returns the HTML that was sent and the HTML that came back; ok is false where one of them is missing.
func (r recording) texts() (sent, stored string, ok bool) {
	var request, response struct {
		HTML *string `json:"description_html"`
	}
	if r.Response.Status != 201 ||
		json.Unmarshal(r.Request.Body, &request) != nil || json.Unmarshal(r.Response.Body, &response) != nil ||
		request.HTML == nil || response.HTML == nil || strings.Contains(*request.HTML, "characters]") {
		return "", "", false
	}
	return *request.HTML, *response.HTML, true
}

func recordings(tb testing.TB) []recording {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", "04-description-html.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var all []recording
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			tb.Fatal(err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestAStoredTextEqualsTheSentOne(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, r := range recordings(t) {
		sent, stored, ok := r.texts()
		if !ok {
			continue
		}
		compared++
		t.Run(r.About, func(t *testing.T) {
			t.Parallel()
			if !markup.Equal(sent, stored) {
				t.Errorf("recording %d:\nsent   %q\nstored %q\nnormal %q\nnormal %q", r.N, sent, stored, markup.Normal(sent), markup.Normal(stored))
			}
		})
	}
	if compared < 40 {
		t.Errorf("only %d recordings were compared", compared)
	}
}

func TestStoredTextsDifferIfTheSentOnesDo(t *testing.T) {
	t.Parallel()
	// These recordings differ only in the parts that the service removes.
	same := map[string]string{
		"script": "p a", "only script": "nothing", "style element": "p a", "onclick attr": "p a", "iframe": "nothing",
		"only iframe": "nothing", "empty p": "nothing", "comment": "p x", "html comment marker for idempotency": "p x",
		"leading newline": "p a", "javascript url": "p x", "slack link": "p x",
	}
	seen := map[string]string{}
	for _, r := range recordings(t) {
		_, stored, ok := r.texts()
		if !ok {
			continue
		}
		what := r.About
		if s, ok := same[what]; ok {
			what = s
		}
		normal := markup.Normal(stored)
		if other, ok := seen[normal]; ok && other != what {
			t.Errorf("%q and %q have the normal form %q", other, what, normal)
		}
		seen[normal] = what
	}
}

func TestTextsThatLookTheSameAreEqual(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"loose text is a paragraph":                        {`text`, `<p>text</p>`},
		"newer servers wrap text in a span":                {`text`, `<span>text</span>`},
		"newer servers leave text before a block alone":    {`<div>intro <p>a</p></div>`, `<div><p>intro </p><p>a</p></div>`},
		"several roots are wrapped":                        {`<h1>a</h1><p>b</p>`, `<div><h1>a</h1><p>b</p></div>`},
		"a text and inline elements are one paragraph":     {`a <b>b</b> c`, `<p>a <b>b</b> c</p>`},
		"a list item may hold a paragraph":                 {`<ul><li>a</li></ul>`, `<ul><li><p>a</p></li></ul>`},
		"a table cell may hold a paragraph":                {`<table><tr><td>a</td></tr></table>`, `<table><tbody><tr><td><p>a</p></td></tr></tbody></table>`},
		"white space between blocks":                       {"<ul>\n<li>a</li>\n</ul>\n<p>b</p>", `<ul><li>a</li></ul><p>b</p>`},
		"white space is collapsed":                         {"<p> a\n\n  b\t</p>", `<p>a b</p>`},
		"white space may stand on either side of a tag":    {`<p>a<b> b</b></p>`, `<p>a <b>b</b></p>`},
		"order of attributes":                              {`<p class="c" id="i">a</p>`, `<p id="i" class="c">a</p>`},
		"case of names":                                    {`<P CLASS="c">a</P>`, `<p class="c">a</p>`},
		"entities":                                         {`<p>&quot;&copy;&#233;&apos;</p>`, `<p>"©é'</p>`},
		"an ampersand in a link":                           {`<a href="/?a=1&b=2">x</a>`, `<p><a rel="noopener noreferrer" href="/?a=1&amp;b=2">x</a></p>`},
		"percent-encoding in a link":                       {`<a href="https://e.com/é x%c3">x</a>`, `<a href="https://e.com/%C3%A9%20x%C3">x</a>`},
		"a link that the service removes":                  {`<a href=" JavaScript:alert(1)">x</a>`, `x`},
		"a link hidden by control characters":              {"<a href=\"java\tscript:alert(1)\">x</a>", `x`},
		"b and strong":                                     {`<b>a</b>`, `<strong>a</strong>`},
		"del and s":                                        {`<del>a</del>`, `<s>a</s>`},
		"a newline at the end of pre":                      {"<pre><code>a\n</code></pre>", `<pre><code>a</code></pre>`},
		"newlines at the beginning of pre":                 {"<pre>\n\na</pre>", `<pre>a</pre>`},
		"line ends":                                        {"<pre>a\r\nb</pre>", "<pre>a\nb</pre>"},
		"an empty paragraph":                               {`<p>a</p><p></p>`, `<p>a</p>`},
		"an empty text":                                    {``, `<p></p>`},
		"unclosed cells":                                   {`<table><tr><td>a<td>b<tr><td>c</table>`, `<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></tbody></table>`},
		"unclosed terms":                                   {`<dl><dt>a<dd>b<dt>c</dl>`, `<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>`},
		"a list in a list item stays there":                {`<ul><li>a<ul><li>b</ul><li>c</ul>`, `<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>`},
		"a block inside an inline element":                 {`<b><p>a</p><p>b</p></b>`, `<p><b>a</b></p><p><b>b</b></p>`},
		"a paragraph ends the inline elements inside":      {`<p>a<b>b</p><p>c</p>`, `<p>a<b>b</b></p><p>c</p>`},
		"an end tag without a start tag":                   {`<p>a</b></div></p>b</li>`, `<p>a</p>b`},
		"an element that the service does not know":        {`<section><p>a</p></section><font>b</font>`, `<p>a</p><p>b</p>`},
		"the content of an unknown raw text element":       {`<noscript><b>a</b></noscript>`, `<b>a</b>`},
		"a comment in a word":                              {`a<!-- x -->b`, `ab`},
		"a byte that is not UTF-8":                         {"a\xffb", "a\uFFFDb"},
		"a tag that is closed as in XML":                   {`<p/><span/><hr/>x`, `<hr><p>x</p>`},
		"a document":                                       {`<!DOCTYPE html><html><body><p>x</p></body></html>`, `<p>x</p>`},
		"a table's parts outside a table":                  {`<tr><td>x</td></tr>`, `x`},
		"a column group":                                   {`<table><col><tr><td>a</table>`, `<table><col><tbody><tr><td>a</td></tr></tbody></table>`},
		"links do not nest":                                {`<a href="/1">a<a href="/2">b</a></a>`, `<a href="/1">a</a><a href="/2">b</a>`},
		"links do not nest across blocks":                  {`<a href="/1"><div>a<a href="/2">b</a></div></a>`, `<a href="/1">a</a><a href="/2">b</a>`},
		"the white space in a class":                       {"<p class=' a\n b'>x</p>", `<p class="a b">x</p>`},
		"an attribute given twice":                         {`<p id="a" id="b">x</p>`, `<p id="a">x</p>`},
		"an attribute that says nothing":                   {`<p title="">x</p>`, `<p>x</p>`},
		"a paragraph that an unknown block ends":           {`<p>a<section>b</section>`, `<p>a</p><p>b</p>`},
		"a div that says nothing":                          {`<div><div><p>a</p></div><div>b</div></div>`, `<p>a</p><p>b</p>`},
		"a script in a paragraph":                          {`<p>a<script>if (a < b) { "</p>" }</script>b</p>`, `<p>ab</p>`},
		"a heading that was not closed":                    {`<h1>a<h2>b</h2>`, `<h1>a</h1><h2>b</h2>`},
		"a component of the editor stands alone":           {`<mention-component id="1"></mention-component>`, `<p><mention-component id="1"></mention-component></p>`},
		"text in a list outside its items":                 {`<ul> a <li>b</li></ul>`, `<ul>a<li>b</li></ul>`},
		"an inline element that is empty":                  {`<p>a <b></b> c</p>`, `<p>a c</p>`},
		"an end tag in a block ends nothing outside of it": {`<b><div>a</b>b</div></b>`, `<b><div>ab</div></b>`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(markup.Normal(tt[0]), markup.Normal(tt[1])); diff != "" {
				t.Errorf("%q and %q differ (-first +second):\n%s", tt[0], tt[1], diff)
			}
			if !markup.Equal(tt[0], tt[1]) {
				t.Error("Equal says that they differ")
			}
		})
	}
}

func TestTextsThatLookDifferentAreNotEqual(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"another word differs":                              {`<p>a b</p>`, `<p>a c</p>`},
		"the case of letters differs":                       {`<p>a</p>`, `<p>A</p>`},
		"words that run together differ":                    {`<p>a b</p>`, `<p>ab</p>`},
		"a space that does not break differs from a blank":  {`<p>a b</p>`, `<p>a&nbsp;b</p>`},
		"paragraphs that run together differ":               {`<p>a</p><p>b</p>`, `<p>a b</p>`},
		"a line break differs from a blank":                 {`<p>a<br>b</p>`, `<p>a b</p>`},
		"bold text differs from plain text":                 {`<p><b>a</b></p>`, `<p>a</p>`},
		"another bold part differs":                         {`<p><b>a</b> b</p>`, `<p>a <b>b</b></p>`},
		"a bold block differs from a plain block":           {`<b><p>a</p></b>`, `<p>a</p>`},
		"bold differs from italic":                          {`<b>a</b>`, `<i>a</i>`},
		"text that is struck out differs from plain text":   {`<del>a</del>`, `a`},
		"a link differs from its text":                      {`<a href="/x">a</a>`, `a`},
		"another target of a link differs":                  {`<a href="/x">a</a>`, `<a href="/y">a</a>`},
		"another target of a link around a block differs":   {`<a href="/x"><p>a</p></a>`, `<a href="/y"><p>a</p></a>`},
		"the case of a link's target differs":               {`<a href="/x">a</a>`, `<a href="/X">a</a>`},
		"another image differs":                             {`<p>a<img src="/1.png"></p>`, `<p>a<img src="/2.png"></p>`},
		"another order of items differs":                    {`<ul><li>a</li><li>b</li></ul>`, `<ul><li>b</li><li>a</li></ul>`},
		"items that run together differ":                    {`<ul><li>a</li><li>b</li></ul>`, `<ul><li>a b</li></ul>`},
		"an empty item differs from none":                   {`<ul><li>a</li><li></li></ul>`, `<ul><li>a</li></ul>`},
		"a numbered list differs from a list":               {`<ul><li>a</li></ul>`, `<ol><li>a</li></ol>`},
		"another first number of a list differs":            {`<ol start="2"><li>a</li></ol>`, `<ol><li>a</li></ol>`},
		"another depth of a list differs":                   {`<ul><li>a</li><li>b</li></ul>`, `<ul><li>a<ul><li>b</li></ul></li></ul>`},
		"a list differs from a paragraph":                   {`<ul><li>a</li></ul>`, `<p>a</p>`},
		"a task that is done differs from an open one":      {`<input type="checkbox" checked>`, `<input type="checkbox">`},
		"another level of a heading differs":                {`<h1>a</h1>`, `<h2>a</h2>`},
		"a quotation differs from a paragraph":              {`<blockquote>a</blockquote>`, `<p>a</p>`},
		"a rule differs from none":                          {`<p>a</p><hr><p>b</p>`, `<p>a</p><p>b</p>`},
		"white space in pre differs":                        {"<pre>a\n  b</pre>", "<pre>a\nb</pre>"},
		"an empty line in pre differs from none":            {"<pre>a\n\nb</pre>", "<pre>a\nb</pre>"},
		"indentation at the start of pre differs from none": {"<pre>  a</pre>", "<pre>a</pre>"},
		"another language of code differs":                  {`<pre><code class="language-go">a</code></pre>`, `<pre><code class="language-c">a</code></pre>`},
		"code differs from text":                            {`<code>a</code>`, `a`},
		"two cells differ from one":                         {`<table><tr><td>a<td>b</table>`, `<table><tr><td>a b</table>`},
		"a head of a table differs from a cell":             {`<table><tr><th>a</table>`, `<table><tr><td>a</table>`},
		"another mentioned person differs":                  {`<mention-component entity_identifier="1"></mention-component>`, `<mention-component entity_identifier="2"></mention-component>`},
		"a mention differs from none":                       {`<p>a<mention-component></mention-component></p>`, `<p>a</p>`},
		"a colour differs from none":                        {`<p style="color:red">a</p>`, `<p>a</p>`},
		"a tag as text differs from the tag":                {`<p>&lt;b&gt;a&lt;/b&gt;</p>`, `<p><b>a</b></p>`},
		"an entity as text differs from the entity":         {`<p>&amp;lt;</p>`, `<p>&lt;</p>`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if markup.Equal(tt[0], tt[1]) {
				t.Errorf("%q and %q have the normal form %q", tt[0], tt[1], markup.Normal(tt[0]))
			}
		})
	}
}

func TestMarkdownIsRenderedAsTheServiceStoresIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ markdown, html string }{
		"nothing":                              {"", `<p></p>`},
		"white space":                          {" \n\t\n", `<p></p>`},
		"only a comment":                       {"<!-- x -->\n", `<p></p>`},
		"one block is the root":                {"One page, no **reload**.\n", `<p>One page, no <strong>reload</strong>.</p>`},
		"several blocks are wrapped":           {"# a\n\nb\n", "<div><h1>a</h1>\n<p>b</p></div>"},
		"quotes are not entities":              {`"a" & 'b' < c`, `<p>"a" &amp; 'b' &lt; c</p>`},
		"links carry the rel that is forced":   {`[a](https://e.com/é "t")`, `<p><a href="https://e.com/%C3%A9" title="t" rel="noopener noreferrer">a</a></p>`},
		"bare links":                           {`https://e.com`, `<p><a href="https://e.com" rel="noopener noreferrer">https://e.com</a></p>`},
		"struck out":                           {`~~a~~`, `<p><del>a</del></p>`},
		"a hard line break":                    {"a  \nb", "<p>a<br>\nb</p>"},
		"a rule":                               {"- - -", `<hr>`},
		"code":                                 {"`List<string>`", `<p><code>List&lt;string&gt;</code></p>`},
		"a block of code":                      {"```go\na < b && \"c\"\n```", "<pre><code class=\"language-go\">a &lt; b &amp;&amp; \"c\"\n</code></pre>"},
		"a type in angle brackets is text":     {"a List<string> b", `<p>a List&lt;string&gt; b</p>`},
		"so is its end":                        {"<T>a</T>", `<p>&lt;T&gt;a&lt;/T&gt;</p>`},
		"an address in angle brackets":         {"<bob@x>", `<p><a href="mailto:bob@x" rel="noopener noreferrer">bob@x</a></p>`},
		"raw HTML stays":                       {"a <kbd>k</kbd> <u title='\"'>b</u>", `<p>a <kbd>k</kbd> <u title="&quot;">b</u></p>`},
		"raw HTML that the service removes":    {"<section>a</section>", `<section>a</section>`},
		"raw HTML that was not closed":         {"<div>\n\na", "<div>\n<p>a</p>\n</div>"},
		"raw HTML that was not opened":         {"</div>\n\na", `<p>a</p>`},
		"a component of the editor":            {`<mention-component entity_identifier="1"></mention-component>`, `<p><mention-component entity_identifier="1"></mention-component></p>`},
		"a control character":                  {"a\x00b\x01c", `<p>abc</p>`},
		"line ends":                            {"```\r\na\r\nb\r\n```\r\n", "<pre><code>a\nb\n</code></pre>"},
		"a script keeps its text as it is":     {"<script>a && b</script>\n", `<script>a && b</script>`},
		"alignment in a table":                 {"|a|\n|-:|\n|1|", "<table>\n<thead>\n<tr>\n<th style=\"text-align:right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td style=\"text-align:right\">1</td>\n</tr>\n</tbody>\n</table>"},
		"a list with tasks and others":         {"- [x] a\n- b", "<ul>\n<li><input type=\"checkbox\" checked=\"\"> a</li>\n<li>b</li>\n</ul>"},
		"markdown that is built to be costly":  {strings.Repeat(">", 101) + "<", `<pre><code>` + strings.Repeat("&gt;", 101) + "&lt;\n</code></pre>"},
		"a long rule is not costly":            {strings.Repeat("- ", 200), `<hr>`},
		"a wide table is not costly":           {"a|b\n" + strings.Repeat("-", 200) + "|-", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n</table>"},
		"a task list is the editor's":          {"- [x] a\n- [ ] b", "<ul data-type=\"taskList\">\n" + task("true", ` checked=""`, "a") + "\n" + task("false", "", "b") + "\n</ul>"},
		"a task list with space between tasks": {"- [x] a\n\n- [ ] b", "<ul data-type=\"taskList\">\n" + task("true", ` checked=""`, "a") + "\n" + task("false", "", "b") + "\n</ul>"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := markup.HTML(tt.markdown)
			if strings.Contains(got, "taskItem") { // white space between the parts does not matter
				got = strings.NewReplacer("<div>\n", "<div>", "</p>\n", "</p>").Replace(got)
			}
			if diff := cmp.Diff(tt.html, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func task(checked, attr, text string) string {
	return `<li data-type="taskItem" data-checked="` + checked + `"><label><input type="checkbox"` + attr +
		`><span></span></label><div><p>` + text + `</p></div></li>`
}

func TestPlainTextReadsLikeTheOriginal(t *testing.T) {
	t.Parallel()
	const markdown = "# Title\n\nA **b** `c`\nd [e](https://e.com) https://f.com\n\n- a\n\n  second\n- b\n  1. x\n  2. y\n\n" +
		"* [x] done\n* [ ] open\n\n> quoted\n> - in\n\n```\ncode  here\n\nend\n```\n\n| h | i |\n|---|---|\n| 1 | **2** |\n\n---\nx  \ny ![alt](/i.png)\n"
	const want = `Title
A b c d e (https://e.com) https://f.com
- a
  second
- b
  1. x
  2. y
- [x] done
- [ ] open
> quoted
> - in
code  here

end
h | i
1 | 2
---
x
y [image alt]`
	if diff := cmp.Diff(want, markup.Text(markup.HTML(markdown))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFragmentsHaveAPlainText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ html, want string }{
		"nothing":               {`<p></p>`, ``},
		"text":                  {`a &lt;b&gt;`, `a <b>`},
		"an empty item":         {`<ul><li></li><li>a</li></ul>`, "- \n- a"},
		"a list in an item":     {`<ol start="9"><li><ul><li>a</li></ul></li><li>b</li></ol>`, "9. \n   - a\n10. b"},
		"a mention":             {`hi <mention-component entity_identifier="7"></mention-component>!`, `hi [mention 7]!`},
		"a check box":           {`<input type="checkbox" checked> a`, `[x] a`},
		"paragraphs in a cell":  {`<table><tr><td><p>a</p><p>b</p></td><td></td><td>c</td></tr></table>`, `a b |  | c`},
		"a quotation":           {`<blockquote><p>a</p><p>b</p></blockquote><p>c</p>`, "> a\n> b\nc"},
		"an address":            {`<a href="mailto:a@b.c">a@b.c</a>`, `a@b.c`},
		"an image without text": {`<img src="/a.png">`, `[image /a.png]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, markup.Text(tt.html)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestATextWithoutVisibleContentIsEmpty(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]bool{
		"": true, "<p></p>": true, " \n ": true, "<p> </p><p class='a'></p>": true, "<div><p></p></div>": true,
		"<!-- a -->": true, "<script>a</script>": true, "<p><b></b></p>": true, "<p><a href='/x'></a></p>": true,
		"a": false, "<p>&nbsp;</p>": false, "<p><img src='/a'></p>": false, "<hr>": false, "<ul><li></li></ul>": false,
		"<p><br></p>": false, "<mention-component></mention-component>": false, "<div data-type='x'></div>": false,
	} {
		if got := markup.Empty(html); got != want {
			t.Errorf("Empty(%q) = %v", html, got)
		}
		if got := markup.Normal(html) == ""; got != want {
			t.Errorf("Normal(%q) = %q", html, markup.Normal(html))
		}
	}
}

// TestHostileInputIsCheap checks that results are proportional to hostile input. Quadratic time would exceed the time
// limit of the test.
func TestHostileInputIsCheap(t *testing.T) {
	t.Parallel()
	const n = 20_000
	html := map[string]string{
		"deep blocks":                 strings.Repeat("<div>", n) + strings.Repeat("<blockquote>", n),
		"deep inline":                 strings.Repeat("<b>", n) + "x" + strings.Repeat("</b>", n),
		"end tags that match nothing": strings.Repeat("<div><i>", n) + strings.Repeat("</u></p></li>", n),
		"inline around blocks":        strings.Repeat("<b title='0123456789'>", n) + strings.Repeat("<p>x", n),
		"one large inline element":    "<span title='" + strings.Repeat("x", n) + "'>" + strings.Repeat("<p>x</p>", n),
		"items behind blocks":         "<ul><li>" + strings.Repeat("<div>", n) + strings.Repeat("<li></li>", n),
		"tables in tables":            strings.Repeat("<table><tr><td>", n),
		"links in blocks":             strings.Repeat("<a href=/><div>", n) + "x",
		"comments":                    strings.Repeat("<!--", n),
		"tags that do not end":        strings.Repeat("<a ", n),
	}
	for name, text := range html {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			normal := markup.Normal(text)
			_ = markup.Text(text)
			if limit := 20*len(text) + 1<<17; len(normal) > limit {
				t.Errorf("%d bytes became %d", len(text), len(normal))
			}
		})
	}
	for _, piece := range []string{">", "1. ", "- a ", "![](", "[a](", "_a*", "[x]\n", "<a ", "`a``", "<!--", "| a"} {
		t.Run("markdown "+piece, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(piece, n)
			if html, limit := markup.HTML(text), 20*len(text)+1<<17; len(html) > limit {
				t.Errorf("%d bytes became %d", len(text), len(html))
			}
		})
	}
}

func TestMarkdownWithAnExcessiveCostIsShownAsWritten(t *testing.T) {
	t.Parallel()
	const n = 20_001
	for piece, want := range map[string]bool{
		">": true, "1. ": true, "> - ": true, "![](": true, "[a](": true, "_a*": true, "[x]\n": true,
		"- ": false, "-": false, "[a](b) [c](d)\n\n": false, "_a_ ": false, "- a\n": false, "> a\n": false, "[x]\n\n": false, "| a": false,
	} {
		text := strings.Repeat(piece, n)
		html := markup.HTML(text)
		if got := strings.HasPrefix(html, "<pre><code>"); got != want {
			t.Errorf("%q repeated: verbatim %v, want %v", piece, got, want)
		}
		if want && markup.Text(html) != strings.Trim(text, "\n") {
			t.Errorf("%q repeated does not keep its text", piece)
		}
	}
}

func FuzzNormal(f *testing.F) {
	for _, r := range recordings(f) {
		if sent, _, ok := r.texts(); ok {
			f.Add(sent)
		}
	}
	f.Add("<b><p>a</b>b</p></b><pre>\n\n <i>\n</i></pre><table><caption>a<td>b<col></table><p><section>x<a>y<a href=/>z")
	f.Add("<mention-component><p>x<b></mention-component>y</p><li><dd><h1><h2><ul>a<li><a href=/><div><a href=/b>c")
	f.Fuzz(func(t *testing.T, text string) {
		normal := markup.Normal(text)
		if again := markup.Normal(normal); again != normal {
			t.Errorf("the normal form of %q is not stable:\n%q\n%q", text, normal, again)
		}
		if markup.Empty(text) != (normal == "") {
			t.Errorf("Empty(%q) contradicts %q", text, normal)
		}
		if !markup.Equal(text, normal) {
			t.Errorf("%q does not equal its normal form", text)
		}
		if a, b := markup.Text(text), markup.Text(normal); a != b {
			t.Errorf("plain text of %q and of its normal form differ:\n%q\n%q", text, a, b)
		}
	})
}

func FuzzHTML(f *testing.F) {
	f.Add("# a\n\nb **c** `d` <e>\n\n- [x] f\n- g\n\n> h\n\n```i\nj\n```\n\n|k|\n|-|\n|l|\n")
	f.Add("<div>\n\n**a**\n\n</div></p><b>c\n\n[d](javascript:e) <f@g> https://h.i <!-- j -->")
	f.Fuzz(func(t *testing.T, markdown string) {
		html := markup.HTML(markdown)
		if again := markup.HTML(markdown); again != html {
			t.Fatalf("%q was rendered differently the second time:\n%q\n%q", markdown, html, again)
		}
		if html == "" {
			t.Fatalf("%q became a text that the service refuses", markdown)
		}
		for _, stored := range []string{"<div>" + html + "</div>", html + "\n", "<!-- -->" + html} {
			if !markup.Equal(html, stored) {
				t.Errorf("%q\ndoes not equal %q\n%q\n%q", html, stored, markup.Normal(html), markup.Normal(stored))
			}
		}
	})
}

func typical() string {
	return strings.Repeat("## Heading\n\nOne page, no **reload**, see [the design](https://example.com/a?b=1&c=2).\n\n"+
		"- first `code`\n- second\n- [x] third\n\n```go\nif a < b {\n}\n```\n\n", 3)
}

func BenchmarkHTML(b *testing.B) {
	text := typical()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		markup.HTML(text)
	}
}

func BenchmarkEqualAfterRewriting(b *testing.B) {
	html := markup.HTML(typical())
	stored := strings.ReplaceAll(html, "\n<", "<")
	b.SetBytes(int64(len(html)))
	for b.Loop() {
		if !markup.Equal(html, stored) {
			b.Fatal("differs")
		}
	}
}

// TestFootnotesAndSubscriptsStayTexts checks that texts which the service's HTML cannot express stay as written, there
// and back.
func TestFootnotesAndSubscriptsStayTexts(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"Water is H~2~O.":                                    "<p>Water is H~2~O.</p>",
		"About ~100 of ~200":                                 "<p>About ~100 of ~200</p>",
		"That is ~~gone~~.":                                  "<p>That is <del>gone</del>.</p>",
		"A claim[^1].\n\n[^1]: https://example.com":          `<div><p>A claim[^1].</p><p>[^1]: <a href="https://example.com">https://example.com</a></p></div>`,
		"A claim[^note].\n\n[^note]: Proof":                  "<div><p>A claim[^note].</p><p>[^note]: Proof</p></div>",
		"A [link] stays.\n\n[link]: https://example.com/ref": `<p>A <a href="https://example.com/ref">link</a> stays.</p>`,
	} {
		html := markup.HTML(markdown)
		if !markup.Equal(html, want) {
			t.Errorf("%q: %s, want %s", markdown, html, want)
		}
		if back, ok := markup.Markdown(html); !ok || !markup.Equal(markup.HTML(back), html) {
			t.Errorf("%q: %q does not say the same as %s", markdown, back, html)
		}
	}
}
