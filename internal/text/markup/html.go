package markup

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// Nothing is the HTML of an empty text: the service refuses "".
const Nothing = "<p></p>"

//nolint:gochecknoglobals // a function, never assigned again: the converter is built once, does not change and may be shared
var converter = sync.OnceValue(newConverter)

// HTML renders Markdown (CommonMark with tables, strikethrough, task lists and bare links) as one root element that the service stores
// unchanged. Raw HTML is kept as it is, except tags that are not HTML, such as the string in List<string>: the service would drop them
// silently, so they become text. Markdown with an excessive cost is shown as written, in a pre. HTML of an empty text is [Nothing].
func HTML(markdown string) string {
	markdown = Clean(strings.ToValidUTF8(markdown, "\uFFFD"))
	if strings.TrimSpace(markdown) == "" {
		return Nothing
	}
	if isExcessive(markdown) {
		return verbatim(markdown)
	}
	var out bytes.Buffer
	out.Grow(len(markdown) + len(markdown)/2)
	if err := converter().Convert([]byte(markdown), &out); err != nil {
		return verbatim(markdown) // cannot happen: writing to a buffer never fails
	}
	return canonicalize(out.Bytes())
}

func verbatim(s string) string {
	return "<pre><code>" + escapeText.Replace(strings.Trim(s, "\n")+"\n") + "</code></pre>"
}

// isExcessive reports Markdown for which the parser takes quadratic time or space. That holds for hundreds of blocks
// nested in one line; for thousands of link openings, or tens of thousands of brackets and emphasis characters, without
// an empty line; for tables of a hundred thousand cells (every row is as wide as the first); and for tens of thousands
// of lines, because each line can be a block that takes far more memory than its text. No author writes such a text.
func isExcessive(s string) bool {
	const (
		maxNested = 100
		maxBegun  = 1000
		maxMarks  = 10000
		maxCells  = 100_000
		maxLines  = 50_000
	)
	begun, brackets, stars, underlines := 0, 0, 0, 0
	cells, columns, lines := 0, 0, 0
	for line := range strings.Lines(s) {
		line = strings.Trim(line, " \t\n")
		if line == "" {
			begun, brackets, stars, underlines, columns = 0, 0, 0, 0, 0
			continue
		}
		rule := line[0] != '>' && strings.Trim(line, line[:1]+" \t") == "" // "- - - -" is a rule, not a list
		if !rule && nesting(line) > maxNested {
			return true
		}
		begun = max(0, begun+strings.Count(line, "](")-strings.Count(line, ")"))
		brackets += strings.Count(line, "[")
		stars += strings.Count(line, "*")
		underlines += strings.Count(line, "_")
		if strings.Trim(line, ">*+.)0123456789 \t:-|") == "" { // may separate the head of a table from its rows
			columns = max(columns, 1+strings.Count(line, "|"))
		}
		cells += columns
		lines++
		if begun > maxBegun || brackets > 2*maxMarks || min(stars, underlines) > maxMarks || cells > maxCells || lines > maxLines {
			return true
		}
	}
	return false
}

// nesting counts the quotation and list markers at the beginning of a line.
func nesting(line string) int {
	n := 0
	for i := range len(line) {
		ends := i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t'
		switch c := line[i]; {
		case c == '>':
			n++
		case (c == '-' || c == '*' || c == '+' || c == '.' || c == ')') && ends:
			n++
		case c == ' ' || c == '\t' || '0' <= c && c <= '9':
		default:
			return n
		}
	}
	return n
}

// canonicalize writes rendered Markdown as one element in the service's form, so that the service usually returns the same bytes.
func canonicalize(rendered []byte) string {
	var b strings.Builder
	b.Grow(len(rendered) + 64)
	z := html.NewTokenizer(bytes.NewReader(rendered))
	var open []string         // open elements
	count := map[string]int{} // of open elements by name
	roots := 0                // number of top-level elements and texts
	begin := func() {
		if len(open) == 0 {
			roots++
		}
	}
loop:
	for {
		tt := z.Next()
		switch tt {
		case html.ErrorToken:
			// A tag without an end is text.
			if raw := z.Raw(); len(raw) > 0 && raw[0] == '<' {
				begin()
				b.WriteString(escapeText.Replace(string(raw)))
			}
			break loop
		case html.TextToken:
			raw := z.Raw()
			if len(bytes.TrimSpace(raw)) > 0 {
				begin()
			}
			isRaw := len(open) > 0 && kindOf(open[len(open)-1]) == hidden // such a text is not parsed as HTML
			if bytes.IndexByte(raw, '&') < 0 && bytes.IndexByte(raw, '>') < 0 || isRaw {
				b.Write(raw)
			} else {
				b.WriteString(escapeText.Replace(Clean(string(z.Text()))))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			name, more := z.TagName()
			tag := string(name)
			begin()
			k := kindOf(tag)
			if k == unknown && !isStandard(tag) {
				b.WriteString(escapeText.Replace(raw))
				continue
			}
			writeTag(&b, tag, z, more)
			switch {
			case k == voidBlock, k == voidInline:
			case tt == html.StartTagToken:
				open = append(open, tag)
				count[tag]++
			default:
				b.WriteString("</" + tag + ">")
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			raw := string(z.Raw())
			name, _ := z.TagName()
			tag := string(name)
			switch {
			case count[tag] > 0:
				for n, last := range slices.Backward(open) {
					open = open[:n]
					count[last]--
					b.WriteString("</" + last + ">")
					if last == tag {
						break
					}
				}
			case kindOf(tag) == unknown && !isStandard(tag):
				begin()
				b.WriteString(escapeText.Replace(raw))
			}
		case html.CommentToken, html.DoctypeToken: // the service drops them
		}
	}
	for _, tag := range slices.Backward(open) {
		b.WriteString("</" + tag + ">")
	}
	out := strings.TrimSpace(b.String())
	switch {
	case out == "":
		return Nothing
	case roots > 1 || out[0] != '<':
		return "<div>" + out + "</div>"
	}
	return out
}

func writeTag(b *strings.Builder, tag string, z *html.Tokenizer, more bool) {
	b.WriteString("<" + tag)
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		if tag == "a" && string(k) == "rel" {
			continue
		}
		b.WriteString(" " + string(k) + `="` + escapeAttribute.Replace(Clean(string(v))) + `"`)
	}
	if tag == "a" {
		b.WriteString(` rel="noopener noreferrer"`)
	}
	b.WriteByte('>')
}

// taskLists renders task lists in the form of the service's editor, which has no check boxes in ordinary lists.
type taskLists struct{}

var _ renderer.NodeRenderer = taskLists{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (taskLists) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	plain := ghtml.NewRenderer(ghtml.WithUnsafe())
	standard := map[ast.NodeKind]renderer.NodeRendererFunc{}
	plain.RegisterFuncs(registry(standard))

	r.Register(ast.KindList, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && allTasks(n) {
			n.SetAttributeString(taskMark, true)
		}
		if !isTaskList(n) {
			return standard[ast.KindList](w, source, n, entering)
		}
		if entering {
			_, _ = w.WriteString("<ul data-type=\"taskList\">\n")
		} else {
			_, _ = w.WriteString("</ul>\n")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindListItem, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !isTaskList(n.Parent()):
			return standard[ast.KindListItem](w, source, n, entering)
		case !entering:
			_, _ = w.WriteString("</div></li>\n")
		case taskOf(n).IsChecked:
			_, _ = w.WriteString(`<li data-type="taskItem" data-checked="true"><label><input type="checkbox" checked=""><span></span></label><div>`)
		default:
			_, _ = w.WriteString(`<li data-type="taskItem" data-checked="false"><label><input type="checkbox"><span></span></label><div>`)
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindTextBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch item := n.Parent(); {
		case item.Kind() != ast.KindListItem || !isTaskList(item.Parent()):
			return standard[ast.KindTextBlock](w, source, n, entering)
		case entering:
			_, _ = w.WriteString("<p>")
		default:
			_, _ = w.WriteString("</p>")
		}
		return ast.WalkContinue, nil
	})
	r.Register(extast.KindTaskCheckBox, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		box, ok := n.(*extast.TaskCheckBox)
		if item := n.Parent().Parent(); !ok || !entering || item != nil && isTaskList(item.Parent()) {
			return ast.WalkContinue, nil
		}
		if box.IsChecked {
			_, _ = w.WriteString(`<input type="checkbox" checked=""> `)
		} else {
			_, _ = w.WriteString(`<input type="checkbox"> `)
		}
		return ast.WalkContinue, nil
	})
}

// registry collects the functions of another renderer.
type registry map[ast.NodeKind]renderer.NodeRendererFunc

// Register implements [renderer.NodeRendererFuncRegisterer].
func (rg registry) Register(kind ast.NodeKind, f renderer.NodeRendererFunc) { rg[kind] = f }

// taskMark is set on a list that is rendered as a task list.
const taskMark = "planform-tasks"

func isTaskList(n ast.Node) bool {
	if n == nil {
		return false
	}
	_, ok := n.AttributeString(taskMark)
	return ok
}

func allTasks(list ast.Node) bool {
	l, ok := list.(*ast.List)
	if !ok || l.IsOrdered() {
		return false
	}
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		if taskOf(item) == nil {
			return false
		}
	}
	return list.HasChildren()
}

// taskOf returns the check box at the beginning of an item, or nil.
func taskOf(item ast.Node) *extast.TaskCheckBox {
	first := item.FirstChild()
	if first == nil {
		return nil
	}
	box, _ := first.FirstChild().(*extast.TaskCheckBox)
	return box
}
