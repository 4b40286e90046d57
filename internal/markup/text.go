package markup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Text is HTML as plain text: blocks on lines of their own, dashes and numbers before list items, no tags.
func Text(html string) string {
	var w textWriter
	walk(html, &w)
	return strings.TrimRight(w.b.String(), "\n")
}

const maxIndent = 32 // nested lists and quotations that are indented

// textWriter writes the normal form as plain text.
type textWriter struct {
	b         strings.Builder
	indent    []string // prefixes of each line
	nested    []bool   // for each open list or quotation: whether it is in indent
	lists     []int    // for each open list: the number of its next item, 0 = dashes
	marker    string   // prefix of the next line in place of the last indent
	bol       bool     // at the beginning of a line
	cell      bool     // a cell of the row has been written
	cellStart int
	box       bool // the marker of this item has a check box
	openCells int  // open cells
	links     []link
}

type link struct {
	target string
	from   int
}

func (w *textWriter) newline() {
	if !w.bol && w.b.Len() > 0 {
		if w.openCells > 0 { // a row stays on one line
			if w.b.Len() > w.cellStart {
				w.b.WriteByte(' ')
			}
			return
		}
		w.b.WriteByte('\n')
	}
	w.bol = true
}

// begin writes the prefixes of a line.
func (w *textWriter) begin() {
	if !w.bol && w.b.Len() > 0 {
		return
	}
	w.bol = false
	n := len(w.indent)
	for i, s := range w.indent {
		if i == n-1 && w.marker != "" {
			s = w.marker
		}
		w.b.WriteString(s)
	}
	w.marker = ""
}

func (w *textWriter) enter(indent, marker string) {
	ok := len(w.indent) < maxIndent
	if ok {
		if w.marker != "" { // an item begins with a list or a quotation
			w.begin()
			w.b.WriteByte('\n')
			w.bol = true
		}
		w.indent = append(w.indent, indent)
		w.marker = marker
	}
	w.nested = append(w.nested, ok)
}

func (w *textWriter) leave() {
	if len(w.nested) == 0 {
		return
	}
	if w.marker != "" {
		w.begin() // an empty item
	}
	if w.nested[len(w.nested)-1] {
		w.indent = w.indent[:len(w.indent)-1]
	}
	w.nested = w.nested[:len(w.nested)-1]
}

func (w *textWriter) open(tag string, attrs []attr) {
	switch kindOf(tag) {
	case inline:
		if tag == "a" {
			w.links = append(w.links, link{value(attrs, "href"), w.b.Len()})
		}
		return
	case component:
		w.placeholder(strings.TrimSuffix(tag, "-component"), value(attrs, "entity_identifier"), value(attrs, "src"), value(attrs, "title"))
		return
	default: // a block
	}
	if tag != "td" && tag != "th" {
		w.newline()
	}
	switch tag {
	case "ul":
		w.lists = append(w.lists, 0)
	case "ol":
		n, err := strconv.Atoi(value(attrs, "start"))
		if err != nil || n < 1 {
			n = 1
		}
		w.lists = append(w.lists, n)
	case "li":
		marker := "- "
		if n := len(w.lists) - 1; n >= 0 && w.lists[n] > 0 {
			marker = strconv.Itoa(w.lists[n]) + ". "
			w.lists[n]++
		}
		w.box = true
		switch value(attrs, "data-checked") {
		case "true":
			marker += "[x] "
		case "false":
			marker += "[ ] "
		default:
			w.box = false
		}
		w.enter(strings.Repeat(" ", len(marker)), marker)
	case "blockquote":
		w.enter("> ", "")
	case "tr":
		w.cell = false
	case "td", "th":
		if w.cell {
			w.b.WriteString(" | ")
		}
		w.cell = true
		w.begin()
		w.cellStart = w.b.Len()
		w.openCells++
	}
}

func (w *textWriter) close(tag string) {
	switch kindOf(tag) {
	case inline:
		if n := len(w.links) - 1; tag == "a" && n >= 0 {
			l := w.links[n]
			w.links = w.links[:n]
			if shown := w.b.String()[l.from:]; l.target != "" && strings.TrimSpace(shown) != strings.TrimPrefix(l.target, "mailto:") {
				w.b.WriteString(" (" + l.target + ")")
			}
		}
		return
	case component:
		return
	default: // a block
	}
	switch tag {
	case "ul", "ol":
		w.lists = w.lists[:len(w.lists)-1]
	case "li", "blockquote":
		w.leave()
	case "td", "th":
		w.openCells--
		return
	}
	if w.openCells == 0 {
		w.newline()
	}
}

func (w *textWriter) void(tag string, attrs []attr) {
	switch tag {
	case "br":
		w.begin()
		w.newline()
	case "hr":
		w.newline()
		w.begin()
		w.b.WriteString("---")
		w.newline()
	case "input":
		switch {
		case w.box:
			w.box = false
		case value(attrs, "type") == "checkbox":
			w.begin()
			if slices.ContainsFunc(attrs, func(a attr) bool { return a.key == "checked" }) {
				w.b.WriteString("[x]")
			} else {
				w.b.WriteString("[ ]")
			}
		}
	case "img":
		w.placeholder("image", value(attrs, "alt"), value(attrs, "src"))
	}
}

// placeholder stands for what has no text, with the first of its names that is not empty.
func (w *textWriter) placeholder(what string, names ...string) {
	w.begin()
	w.b.WriteString(strings.TrimSuffix("["+what+" "+cmp.Or(names...), " ") + "]")
}

func (w *textWriter) text(s string) {
	for {
		line, rest, more := strings.Cut(s, "\n")
		if line != "" {
			w.begin()
			w.b.WriteString(line)
		}
		if !more {
			return
		}
		w.begin()
		w.newline()
		s = rest
	}
}

func value(attrs []attr, key string) string {
	for _, a := range attrs {
		if a.key == key {
			return a.value
		}
	}
	return ""
}

//nolint:gochecknoglobals // a constant
var escapeMarkdown = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "<", "\\<", "[", "\\[", "]", "\\]", "`", "\\`", "~", "\\~",
	"&", "\\&", "\n", " ")

// Escape is a plain text in one line of Markdown.
func Escape(text string) string {
	return escapeMarkdown.Replace(strings.TrimSpace(text))
}
