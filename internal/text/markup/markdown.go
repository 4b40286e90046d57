package markup

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Markdown converts HTML to Markdown for which [HTML] gives an equal text: it renders the result and
// compares. ok is false if Markdown has no equivalent: for classes, colours, mentions and other components.
func Markdown(html string) (markdown string, ok bool) {
	var t treeWriter
	writeNormal(html, &t)
	t.flush()
	if t.excessive {
		return "", false
	}
	normal := Normal(html)
	for _, w := range []markdownWriter{{}, {underscore: true}, {thorough: true}, {thorough: true, underscore: true}} {
		text := w.blocks(t.root.kids, 0)
		if w.failed {
			return "", false
		}
		if Normal(HTML(text)) == normal {
			return text, true
		}
	}
	return "", false
}

// element is an element of the normal form, or a text if it has no tag.
type element struct {
	tag   string
	attrs []attr
	text  string
	kids  []*element
}

// treeWriter builds a tree of the normal form.
type treeWriter struct {
	root element
	path []*element
	run  strings.Builder // pieces of text that are not an element yet

	elements  int
	excessive bool // whether the text exceeds the limits
}

// Limits of a text that is converted to Markdown.
const (
	maxTree     = 40     // nested elements
	maxElements = 20_000 // elements in total
)

func (t *treeWriter) add(e *element) {
	t.flush()
	t.elements++
	t.excessive = t.excessive || t.elements > maxElements
	to := &t.root
	if n := len(t.path); n > 0 {
		to = t.path[n-1]
	}
	to.kids = append(to.kids, e)
}

func (t *treeWriter) open(tag string, attrs []attr) {
	e := &element{tag: tag, attrs: attrs}
	t.add(e)
	t.path = append(t.path, e)
	t.excessive = t.excessive || len(t.path) > maxTree
}

func (t *treeWriter) close(string) {
	t.flush()
	t.path = t.path[:len(t.path)-1]
}

func (t *treeWriter) void(tag string, attrs []attr) { t.add(&element{tag: tag, attrs: attrs}) }
func (t *treeWriter) text(s string)                 { t.run.WriteString(s) }

// flush adds the text since the last element as one element.
func (t *treeWriter) flush() {
	if t.run.Len() > 0 {
		e := &element{text: t.run.String()}
		t.run.Reset()
		t.add(e)
	}
}

// hasOnly reports whether an element has no attributes besides the given ones.
func (e *element) hasOnly(keys ...string) bool {
	return !slices.ContainsFunc(e.attrs, func(a attr) bool { return !slices.Contains(keys, a.key) })
}

// markdownWriter writes a tree as Markdown. It may be wrong in corner cases, because its result is compared.
type markdownWriter struct {
	thorough   bool // escape every possible Markdown character, not only likely ones
	underscore bool // _emphasis_ instead of *emphasis*
	failed     bool
	cell       bool // whether it writes a table cell, which must stay on one line
}

func (mw *markdownWriter) fail() string {
	mw.failed = true
	return ""
}

// blocks writes blocks one below the other.
func (mw *markdownWriter) blocks(list []*element, depth int) string {
	var b strings.Builder
	last, second := "", false // second: of two adjacent lists, the second needs other markers
	for i, e := range list {
		if i > 0 {
			b.WriteString("\n\n")
		}
		second = e.tag == last && !second
		last = e.tag
		b.WriteString(mw.block(e, depth, second))
	}
	return b.String()
}

func (mw *markdownWriter) block(e *element, depth int, second bool) string {
	switch e.tag {
	case "p":
		if !e.hasOnly() {
			return mw.fail()
		}
		return mw.paragraph(e.kids)
	case "h1", "h2", "h3", "h4", "h5", "h6":
		text := mw.inline(e.kids)
		if !e.hasOnly() || strings.Contains(text, "\n") {
			return mw.fail()
		}
		return strings.TrimRight(strings.Repeat("#", int(e.tag[1]-'0'))+" "+text, " ")
	case "ul", "ol":
		return mw.list(e, depth, second)
	case "blockquote":
		if !e.hasOnly() {
			return mw.fail()
		}
		return prefixed(mw.blocks(e.kids, depth+1), "> ", "> ")
	case "pre":
		return mw.code(e)
	case "hr":
		if depth > 0 {
			return "***"
		}
		return "---"
	case "table":
		return mw.table(e)
	default:
		return mw.fail()
	}
}

// prefixed puts one prefix before the first line and another before the others.
func prefixed(text, first, others string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		before := others
		if i == 0 {
			before = first
		}
		lines[i] = strings.TrimRight(before+line, " ")
		if line != "" {
			lines[i] = before + line
		}
	}
	return strings.Join(lines, "\n")
}

func (mw *markdownWriter) list(e *element, depth int, second bool) string {
	tasks := e.tag == "ul" && value(e.attrs, "data-type") == "taskList"
	if !e.hasOnly("start") && !(tasks && e.hasOnly("data-type")) {
		return mw.fail()
	}
	number, mark := 1, "-"
	if e.tag == "ol" {
		mark = "."
	}
	if second {
		mark = map[string]string{"-": "*", ".": ")"}[mark]
	}
	if n, err := strconv.Atoi(value(e.attrs, "start")); err == nil {
		number = n
	}
	var items []string
	loose := false
	for _, li := range e.kids {
		kids, box := li.kids, ""
		switch {
		case li.tag != "li":
			return mw.fail()
		case tasks:
			if box, kids = checkBox(li); box == "" {
				return mw.fail()
			}
		case !li.hasOnly():
			return mw.fail()
		}
		marker := mark + " "
		if e.tag == "ol" {
			marker = strconv.Itoa(number) + mark + " "
			number++
		}
		body := ""
		if len(kids) == 2 && kids[0].tag == "p" && (kids[1].tag == "ul" || kids[1].tag == "ol") {
			body = mw.blocks(kids[:1], depth+1) + "\n" + mw.blocks(kids[1:], depth+1)
		} else {
			body = mw.blocks(kids, depth+1)
			loose = loose || len(kids) > 1
		}
		items = append(items, prefixed(box+body, marker, strings.Repeat(" ", len(marker))))
	}
	if loose {
		return strings.Join(items, "\n\n")
	}
	return strings.Join(items, "\n")
}

// checkBox removes the check box from an item of a task list.
func checkBox(li *element) (box string, rest []*element) {
	if !li.hasOnly("data-type", "data-checked") || len(li.kids) == 0 {
		return "", nil
	}
	box = "[ ] "
	if value(li.attrs, "data-checked") == "true" {
		box = "[x] "
	}
	label := li.kids[0]
	if len(label.kids) != 1 || label.kids[0].tag != "label" {
		return "", nil
	}
	return box, li.kids[1:]
}

func (mw *markdownWriter) code(e *element) string {
	if !e.hasOnly() || len(e.kids) != 1 || e.kids[0].tag != "code" {
		return mw.fail()
	}
	code := e.kids[0]
	language, is := strings.CutPrefix(value(code.attrs, "class"), "language-")
	if !code.hasOnly("class") || len(code.attrs) > 0 && !is || len(code.kids) != 1 || code.kids[0].tag != "" {
		return mw.fail()
	}
	fence := fenceOf(code.kids[0].text, "```")
	return fence + language + "\n" + code.kids[0].text + "\n" + fence
}

// fenceOf returns a fence of back-ticks longer than any in the text.
func fenceOf(text, fence string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(len(fence), longest+1))
}

func (mw *markdownWriter) table(e *element) string {
	if !e.hasOnly() || len(e.kids) == 0 || e.kids[0].tag != "thead" || len(e.kids[0].kids) != 1 || len(e.kids) > 2 {
		return mw.fail()
	}
	mw.cell = true
	defer func() { mw.cell = false }()
	var lines []string
	row := func(tr *element, cell string) {
		var cells, rule []string
		for _, c := range tr.kids {
			if c.tag != cell || !c.hasOnly("style") || len(c.kids) > 1 || len(c.kids) == 1 && (c.kids[0].tag != "p" || !c.kids[0].hasOnly()) {
				mw.fail()
				return
			}
			text := ""
			if len(c.kids) == 1 {
				text = mw.inline(c.kids[0].kids)
			}
			cells = append(cells, text)
			switch value(c.attrs, "style") {
			case "text-align:left":
				rule = append(rule, ":---")
			case "text-align:center":
				rule = append(rule, ":---:")
			case "text-align:right":
				rule = append(rule, "---:")
			default:
				rule = append(rule, "---")
			}
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		if cell == "th" {
			lines = append(lines, "| "+strings.Join(rule, " | ")+" |")
		}
	}
	row(e.kids[0].kids[0], "th")
	for _, body := range e.kids[1:] {
		if body.tag != "tbody" {
			return mw.fail()
		}
		for _, tr := range body.kids {
			row(tr, "td")
		}
	}
	return strings.Join(lines, "\n")
}

var (
	blockStart = regexp.MustCompile(`^(>|#{1,6}( |$)|[-+]( |$)|-+ *$|=+ *$)`)
	numberMark = regexp.MustCompile(`^([0-9]{1,9})([.)]( |$))`)
)

// paragraph writes a line of text, and escapes its beginning if that would begin another block.
func (mw *markdownWriter) paragraph(kids []*element) string {
	lines := strings.Split(mw.inline(kids), "\n")
	for i, line := range lines {
		if blockStart.MatchString(line) {
			lines[i] = `\` + line
		} else {
			lines[i] = numberMark.ReplaceAllString(line, `$1\$2`)
		}
	}
	return strings.Join(lines, "\n")
}

func (mw *markdownWriter) inline(kids []*element) string {
	var b strings.Builder
	for i, e := range kids {
		switch e.tag {
		case "":
			text := mw.escape(e.text)
			if strings.HasSuffix(e.text, "!") && i+1 < len(kids) && kids[i+1].tag == "a" && !mw.thorough {
				text = text[:len(text)-1] + `\!`
			}
			b.WriteString(text)
		case "br":
			if mw.cell || i == 0 || i+1 == len(kids) || kids[i+1].tag == "br" {
				b.WriteString("<br>")
			} else {
				b.WriteString("\\\n")
			}
		default:
			b.WriteString(mw.span(e))
		}
	}
	return b.String()
}

// span writes an inline element.
func (mw *markdownWriter) span(e *element) string {
	around := func(mark string) string { return mark + mw.inline(e.kids) + mark }
	switch e.tag {
	case "a":
		return mw.link(e)
	case "img":
		if !e.hasOnly("alt", "src") {
			return mw.fail()
		}
		return "![" + mw.escape(value(e.attrs, "alt")) + "](" + destination(value(e.attrs, "src")) + ")"
	}
	if !e.hasOnly() {
		return mw.fail()
	}
	switch e.tag {
	case "strong":
		return around("**")
	case "em":
		if mw.underscore {
			return around("_")
		}
		return around("*")
	case "s":
		return around("~~")
	case "code":
		if len(e.kids) != 1 || e.kids[0].tag != "" {
			return mw.fail()
		}
		text := e.kids[0].text
		fence := fenceOf(text, "`")
		if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
			text = " " + text + " "
		}
		if mw.cell {
			text = strings.ReplaceAll(text, "|", `\|`)
		}
		return fence + text + fence
	case "u", "sub", "sup", "mark", "kbd", "small", "ins":
		return "<" + e.tag + ">" + mw.inline(e.kids) + "</" + e.tag + ">"
	default:
		return mw.fail()
	}
}

func (mw *markdownWriter) link(e *element) string {
	href := value(e.attrs, "href")
	if href == "" || !e.hasOnly("href", "title") {
		return mw.fail()
	}
	title := value(e.attrs, "title")
	if title == "" && len(e.kids) == 1 && e.kids[0].text == href && strings.Contains(href, "://") {
		return "<" + href + ">"
	}
	if title != "" {
		title = ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(title) + `"`
	}
	return "[" + mw.inline(e.kids) + "](" + destination(href) + title + ")"
}

func destination(href string) string {
	if href == "" || strings.ContainsAny(href, "() ") {
		return "<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(href) + ">"
	}
	return href
}

// escape escapes the characters of a text that Markdown would interpret.
func (mw *markdownWriter) escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if mw.needsEscape(text, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// needsEscape reports whether Markdown could interpret the character at i.
func (mw *markdownWriter) needsEscape(text string, i int) bool {
	c := text[i]
	before, after := byte(' '), byte(' ')
	if i > 0 {
		before = text[i-1]
	}
	if i+1 < len(text) {
		after = text[i+1]
	}
	switch c {
	case '\\', '`', '*', '[', ']', '<', '~':
		return true
	case '|':
		return mw.cell || mw.thorough
	case '_':
		return mw.thorough || !isWord(before) || !isWord(after)
	case '&':
		return mw.thorough || isWord(after) || after == '#'
	case ':': // a bare address would become a link
		return mw.thorough || strings.HasPrefix(text[i:], "://")
	case '@':
		return mw.thorough || isWord(before) && isWord(after)
	case '.':
		return mw.thorough || strings.EqualFold(text[max(0, i-3):i], "www")
	default:
		return mw.thorough && (c > ' ' && c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' && c < 0x7F)
	}
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}
