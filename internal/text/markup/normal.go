package markup

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Normal returns the normal form of an HTML text: two texts that look the same to a reader have the same
// normal form. A text without visible content has the normal form "".
func Normal(html string) string {
	var w htmlWriter
	w.b.Grow(len(html))
	writeNormal(html, &w)
	return w.b.String()
}

// Equal reports whether two HTML texts are the same after the service's rewriting.
func Equal(a, b string) bool {
	return a == b || Normal(a) == Normal(b)
}

// Empty reports whether the HTML has no visible content: "", "<p></p>", white space, only a comment.
func Empty(html string) bool { return html == Nothing || Normal(html) == "" }

// attr is an attribute that the service keeps.
type attr struct{ key, value string }

// sink receives the elements and texts of a normal form in order and properly nested.
type sink interface {
	open(tag string, attrs []attr)
	close(tag string)
	void(tag string, attrs []attr)
	text(s string)
}

// htmlWriter writes the normal form as HTML.
type htmlWriter struct{ b strings.Builder }

func (hw *htmlWriter) open(tag string, attrs []attr) {
	hw.b.WriteString("<" + tag)
	for _, a := range attrs {
		hw.b.WriteString(" " + a.key + `="` + escapeAttribute.Replace(a.value) + `"`)
	}
	hw.b.WriteByte('>')
}

func (hw *htmlWriter) close(tag string)              { hw.b.WriteString("</" + tag + ">") }
func (hw *htmlWriter) void(tag string, attrs []attr) { hw.open(tag, attrs) }
func (hw *htmlWriter) text(s string)                 { _, _ = escapeText.WriteString(&hw.b, s) }

// The service writes only the necessary escapes.
//
//nolint:gochecknoglobals // constant tables
var (
	escapeText      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\u00a0", "&nbsp;")
	escapeAttribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\u00a0", "&nbsp;", `"`, "&quot;")
)

// block is an open block element.
type block struct {
	tag     string
	attrs   []attr
	kind    kind
	written bool // its start tag is in the output
	implied bool // a paragraph around loose text, without an end tag in the input
	inlines int  // number of open inline elements at its start
	before  int  // index of the previous open block of the same name, or -1
	scope   scope
}

// scope holds the indices of the open blocks that a tag at this place can end, or -1. It is updated with
// each block instead of searched, so that hostile input cannot make the walk quadratic.
type scope struct{ item, term, table, group, row, cell int }

// span is an open inline element.
type span struct {
	tag, name string // as written, and in the normal form
	attrs     []attr
	kind      kind
	silent    bool // it is not written
	opened    bool // it was written before, in another block
	depth     int  // number of explicit blocks around its start
	before    int  // index of the previous open span with the same tag, or -1
}

const (
	maxSpans   = 256     // nested inline elements; deeper ones are left out
	carryBytes = 1 << 16 // see walker.budget
)

// walker builds the normal form. It keeps blocks and inline elements on two stacks. A block closes the
// inline elements in the output, and the next text opens them again inside its block.
type walker struct {
	out      sink
	blocks   []block
	spans    []span
	written  int // number of spans, from the first, that are open in the output
	last     map[string]int
	lastSpan map[string]int
	implied  int // 1 while the innermost block is an implied paragraph
	pre      int // open pre blocks
	space    bool
	newlines int  // in pre: newlines that count only if text follows
	bol      bool // at the beginning of a line: white space is dropped
	preStart bool // nothing has been written in this pre
	// budget limits the output of inline elements that are opened again in further blocks.
	budget int
}

// writeNormal passes the normal form of an HTML text to out.
func writeNormal(text string, out sink) {
	if strings.TrimSpace(text) == "" {
		return
	}
	w := walker{
		out:      out,
		last:     map[string]int{},
		lastSpan: map[string]int{},
		bol:      true,
		budget:   carryBytes + 4*len(text),
	}
	w.blocks = append(w.blocks, block{
		kind: flow, written: true, before: -1,
		scope: scope{item: -1, term: -1, table: -1, group: -1, row: -1, cell: -1},
	})
	z := html.NewTokenizer(strings.NewReader(strings.ToValidUTF8(text, "\uFFFD")))
	skip := "" // the current hidden element
	for {
		switch z.Next() {
		case html.ErrorToken: // the input ends; there is no other error
			w.closeTo(1)
			return
		case html.TextToken:
			if skip == "" {
				w.text(string(z.Text()))
			}
		case html.StartTagToken:
			tag, attrs := w.tag(z)
			switch kindOf(tag) {
			case hidden:
				skip = tag
			default:
				skip = ""
				switch tag {
				case "noscript", "noembed", "noframes", "plaintext", "xmp":
					z.NextIsNotRawText()
				}
				w.start(tag, attrs)
			}
		case html.SelfClosingTagToken:
			tag, attrs := w.tag(z)
			z.NextIsNotRawText()
			if skip == "" && kindOf(tag) != hidden {
				w.start(tag, attrs)
				w.end(tag)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := string(name)
			if skip != "" {
				if tag == skip {
					skip = ""
				}
				continue
			}
			w.end(tag)
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// tag reads a start tag and its kept attributes, sorted.
func (w *walker) tag(z *html.Tokenizer) (tag string, attrs []attr) {
	name, more := z.TagName()
	tag = string(name)
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		key := string(k)
		if !keeps(tag, key) {
			continue
		}
		value := Clean(string(v))
		switch key {
		case "href", "src":
			var ok bool
			if value, ok = address(value); !ok {
				continue
			}
		case "class":
			value = strings.Join(strings.Fields(value), " ")
		case "checked":
			value = "checked"
		default:
			value = strings.TrimSpace(value)
		}
		if value == "" || slices.ContainsFunc(attrs, func(a attr) bool { return a.key == key }) {
			continue
		}
		if key == "checked" {
			value = ""
		}
		attrs = append(attrs, attr{key, value})
	}
	slices.SortFunc(attrs, func(a, b attr) int { return strings.Compare(a.key, b.key) })
	return tag, attrs
}

// Clean drops control characters, as the service does, and folds line ends.
func Clean(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case isControl(r):
			return -1
		}
		return r
	}, s)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF }

func (w *walker) top() *block { return &w.blocks[len(w.blocks)-1] }

// depth returns the number of explicit blocks, without implied paragraphs.
func (w *walker) depth() int { return len(w.blocks) - w.implied }

func (w *walker) start(tag string, attrs []attr) {
	switch k := kindOf(tag); k {
	case unknown, hidden:
	case boundary:
		if w.top().kind == paragraph && !w.top().implied {
			w.closeTo(len(w.blocks) - 1)
		}
	case inline, component:
		w.startSpan(tag, attrs, k)
	case voidInline:
		w.voidInline(tag, attrs)
	case voidBlock:
		w.closeParagraph()
		if tag == "col" {
			t := w.top().scope.table
			if t < 0 {
				return
			}
			if w.top().tag != "colgroup" {
				w.closeTo(t + 1)
			}
		}
		w.interrupt()
		w.out.void(tag, attrs)
		w.bol = true
	case paragraph, phrase, flow, structure:
		w.startBlock(tag, attrs, k)
	}
}

func (w *walker) startBlock(tag string, attrs []attr, k kind) {
	w.closeParagraph()
	sc := w.top().scope
	switch tag {
	case "li":
		if sc.item >= 0 {
			w.closeTo(sc.item)
		}
	case "dt", "dd":
		if sc.term >= 0 {
			w.closeTo(sc.term)
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if t := w.top().tag; len(t) == 2 && t[0] == 'h' {
			w.closeTo(len(w.blocks) - 1)
		}
	case "caption", "colgroup", "thead", "tbody":
		if sc.table < 0 {
			return
		}
		w.closeTo(sc.table + 1)
	case "tr":
		if !w.inGroup() {
			return
		}
	case "td", "th":
		if sc.table < 0 {
			return
		}
		if sc.row < 0 {
			w.inGroup()
			w.push("tr", nil, structure)
		} else {
			w.closeTo(sc.row + 1)
		}
	}
	w.push(tag, attrs, k)
}

// inGroup closes blocks that cannot contain a row, and opens a tbody if needed. It returns false outside a table.
func (w *walker) inGroup() bool {
	sc := w.top().scope
	switch {
	case sc.table < 0:
		return false
	case sc.group >= 0:
		w.closeTo(sc.group + 1)
	default:
		w.closeTo(sc.table + 1)
		w.push("tbody", nil, structure)
	}
	return true
}

func (w *walker) push(tag string, attrs []attr, k kind) {
	w.interrupt()
	i := len(w.blocks)
	b := block{tag: tag, attrs: attrs, kind: k, inlines: len(w.spans), before: -1, scope: w.top().scope}
	if j, ok := w.last[tag]; ok {
		b.before = j
	}
	w.last[tag] = i
	if tag != "div" && k != paragraph {
		b.scope.item, b.scope.term = -1, -1
	}
	switch tag {
	case "li":
		b.scope.item = i
	case "dt", "dd":
		b.scope.term = i
	case "table":
		b.scope.table, b.scope.group, b.scope.row, b.scope.cell = i, -1, -1, -1
	case "thead", "tbody":
		b.scope.group, b.scope.row, b.scope.cell = i, -1, -1
	case "tr":
		b.scope.row, b.scope.cell = i, -1
	case "td", "th":
		b.scope.cell = i
	case "pre":
		w.pre++
		w.preStart = true
	}
	// A paragraph is written once it has content. A div without attributes is never written.
	if k != paragraph && (tag != "div" || len(attrs) > 0) {
		b.written = true
		w.out.open(tag, attrs)
	}
	w.blocks = append(w.blocks, b)
	w.bol = true
}

// interrupt ends the line: it closes inline elements in the output, but they stay on the stack.
func (w *walker) interrupt() {
	w.shutSpans(0)
	w.space, w.newlines = false, 0
	w.bol = true
}

// closeParagraph ends the innermost block if it is a paragraph.
func (w *walker) closeParagraph() {
	if w.top().kind != paragraph {
		return
	}
	n := len(w.spans)
	w.top().inlines = n // the end of an interrupted paragraph does not end its inline elements
	w.closeTo(len(w.blocks) - 1)
}

// closeTo ends blocks until n are left. The first block, the top level, always stays.
func (w *walker) closeTo(n int) {
	n = max(n, 1)
	if len(w.blocks) <= n {
		return
	}
	w.interrupt()
	for len(w.blocks) > n {
		b := w.top()
		if b.written {
			w.out.close(b.tag)
		}
		switch {
		case b.implied:
			w.implied = 0
		default:
			w.cutSpans(b.inlines)
			if b.before >= 0 {
				w.last[b.tag] = b.before
			} else {
				delete(w.last, b.tag)
			}
		}
		if b.tag == "pre" {
			w.pre--
		}
		w.blocks = w.blocks[:len(w.blocks)-1]
	}
}

func (w *walker) end(tag string) {
	sc := w.top().scope
	switch kindOf(tag) {
	case unknown, hidden, voidInline, voidBlock:
	case boundary:
		if w.top().kind == paragraph && !w.top().implied {
			w.closeTo(len(w.blocks) - 1)
		}
	case inline, component:
		w.endSpan(tag)
	case paragraph, phrase, flow, structure:
		i := -1
		switch tag {
		case "li":
			i = sc.item
		case "table":
			i = sc.table
		case "thead", "tbody":
			i = sc.group
		case "tr":
			i = sc.row
		case "td", "th":
			i = sc.cell
		default:
			if j, ok := w.last[tag]; ok && j > max(sc.cell, sc.table) {
				i = j
			}
		}
		if i >= 0 && w.blocks[i].tag == tag {
			w.closeTo(i)
		}
	}
}

func (w *walker) startSpan(tag string, attrs []attr, k kind) {
	if tag == "a" {
		if i, ok := w.lastSpan["a"]; ok { // links do not nest
			if w.spans[i].depth >= w.depth() {
				w.cutSpans(i)
			} else {
				w.shutSpans(min(i, w.written))
				w.spans[i].silent = true
			}
		}
	}
	if len(w.spans) >= maxSpans {
		return
	}
	s := span{tag: tag, name: canonical(tag), attrs: attrs, kind: k, depth: w.depth(), before: -1}
	s.silent = len(attrs) == 0 && (tag == "span" || tag == "a")
	if i, ok := w.lastSpan[tag]; ok {
		s.before = i
	}
	w.lastSpan[tag] = len(w.spans)
	w.spans = append(w.spans, s)
	if k == component { // visible without content
		w.line()
		w.bol, w.preStart = false, false
	}
}

func (w *walker) endSpan(tag string) {
	// An end tag inside a block does not end an element that began outside it.
	if i, ok := w.lastSpan[tag]; ok && w.spans[i].depth >= w.depth() {
		w.cutSpans(i)
	}
}

// cutSpans removes the inline elements from index i on.
func (w *walker) cutSpans(i int) {
	w.shutSpans(i)
	for j := len(w.spans) - 1; j >= i; j-- {
		if s := &w.spans[j]; s.before >= 0 {
			w.lastSpan[s.tag] = s.before
		} else {
			delete(w.lastSpan, s.tag)
		}
	}
	if i < len(w.spans) {
		w.spans = w.spans[:i]
	}
}

// shutSpans writes the end tags of the inline elements from index i on.
func (w *walker) shutSpans(i int) {
	for ; w.written > i; w.written-- {
		if s := &w.spans[w.written-1]; !s.silent {
			w.out.close(s.name)
			s.silent = s.kind == component // a component is written once
		}
	}
}

// line prepares the output for a part of a line: its paragraph, the white space before it, the inline elements around it.
func (w *walker) line() {
	t := w.top()
	if t.kind == flow {
		w.blocks = append(w.blocks, block{
			tag: "p", kind: paragraph, implied: true, inlines: len(w.spans), before: -1, scope: t.scope,
		})
		w.implied = 1
		t = w.top()
	}
	if !t.written {
		t.written = true
		w.out.open(t.tag, t.attrs)
	}
	switch {
	case w.newlines > 0:
		w.out.text(strings.Repeat("\n", w.newlines))
	case w.space && !w.bol:
		w.out.text(" ")
	}
	w.space, w.newlines = false, 0
	for ; w.written < len(w.spans); w.written++ {
		s := &w.spans[w.written]
		if s.silent {
			continue
		}
		if s.opened {
			w.budget -= len(s.tag)
			for _, a := range s.attrs {
				w.budget -= len(a.key) + len(a.value)
			}
			if w.budget < 0 {
				s.silent = true
				continue
			}
		}
		s.opened = true
		w.out.open(s.name, s.attrs)
	}
}

func (w *walker) voidInline(tag string, attrs []attr) {
	if tag == "br" {
		w.space = false
	}
	w.line()
	w.out.void(tag, attrs)
	w.bol = tag == "br"
	w.preStart = false
}

func (w *walker) text(s string) {
	s = Clean(s)
	if w.pre > 0 {
		w.preText(s)
		return
	}
	const white = " \t\n"
	for s != "" {
		word := strings.TrimLeft(s, white)
		if len(word) < len(s) {
			w.space = true
		}
		if word == "" {
			return
		}
		end := strings.IndexAny(word, white)
		if end < 0 {
			end = len(word)
		}
		w.line()
		w.out.text(word[:end])
		w.bol = false
		s = word[end:]
	}
}

// preText writes text with its white space, except newlines at the very beginning and end.
func (w *walker) preText(s string) {
	if w.preStart {
		s = strings.TrimLeft(s, "\n")
	}
	body := strings.TrimRight(s, "\n")
	if body != "" {
		n := len(s) - len(body)
		w.line()
		w.out.text(body)
		w.preStart, w.bol = false, false
		w.newlines = n
		return
	}
	if !w.preStart {
		w.newlines += len(s)
	}
}
