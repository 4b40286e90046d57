package markup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Text returns HTML as plain text: blocks on lines of their own, dashes and numbers before list items, no tags.
func Text(html string) string {
	var w textWriter
	writeNormal(html, &w)
	return strings.TrimRight(w.b.String(), "\n")
}

const maxIndent = 32 // nested lists and quotations that are indented

// textWriter writes the normal form as plain text.
type textWriter struct {
	b         strings.Builder
	indent    []string // prefixes of each line
	nested    []bool   // for each open list or quotation, whether it is in indent
	lists     []int    // for each open list, the number of its next item; 0 = dashes
	marker    string   // prefix of the next line instead of the last indent
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

func (tw *textWriter) newline() {
	if !tw.bol && tw.b.Len() > 0 {
		if tw.openCells > 0 { // a row stays on one line
			if tw.b.Len() > tw.cellStart {
				tw.b.WriteByte(' ')
			}
			return
		}
		tw.b.WriteByte('\n')
	}
	tw.bol = true
}

// begin writes the prefixes of a line.
func (tw *textWriter) begin() {
	if !tw.bol && tw.b.Len() > 0 {
		return
	}
	tw.bol = false
	n := len(tw.indent)
	for i, s := range tw.indent {
		if i == n-1 && tw.marker != "" {
			s = tw.marker
		}
		tw.b.WriteString(s)
	}
	tw.marker = ""
}

func (tw *textWriter) enter(indent, marker string) {
	ok := len(tw.indent) < maxIndent
	if ok {
		if tw.marker != "" { // an item begins with a list or a quotation
			tw.begin()
			tw.b.WriteByte('\n')
			tw.bol = true
		}
		tw.indent = append(tw.indent, indent)
		tw.marker = marker
	}
	tw.nested = append(tw.nested, ok)
}

func (tw *textWriter) leave() {
	if len(tw.nested) == 0 {
		return
	}
	if tw.marker != "" {
		tw.begin() // an empty item
	}
	if tw.nested[len(tw.nested)-1] {
		tw.indent = tw.indent[:len(tw.indent)-1]
	}
	tw.nested = tw.nested[:len(tw.nested)-1]
}

func (tw *textWriter) open(tag string, attrs []attr) {
	switch kindOf(tag) {
	case inline:
		if tag == "a" {
			tw.links = append(tw.links, link{value(attrs, "href"), tw.b.Len()})
		}
		return
	case component:
		tw.placeholder(strings.TrimSuffix(tag, "-component"), value(attrs, "entity_identifier"), value(attrs, "src"), value(attrs, "title"))
		return
	default: // a block
	}
	if tag != "td" && tag != "th" {
		tw.newline()
	}
	switch tag {
	case "ul":
		tw.lists = append(tw.lists, 0)
	case "ol":
		n, err := strconv.Atoi(value(attrs, "start"))
		if err != nil || n < 1 {
			n = 1
		}
		tw.lists = append(tw.lists, n)
	case "li":
		marker := "- "
		if n := len(tw.lists) - 1; n >= 0 && tw.lists[n] > 0 {
			marker = strconv.Itoa(tw.lists[n]) + ". "
			tw.lists[n]++
		}
		tw.box = true
		switch value(attrs, "data-checked") {
		case "true":
			marker += "[x] "
		case "false":
			marker += "[ ] "
		default:
			tw.box = false
		}
		tw.enter(strings.Repeat(" ", len(marker)), marker)
	case "blockquote":
		tw.enter("> ", "")
	case "tr":
		tw.cell = false
	case "td", "th":
		if tw.cell {
			tw.b.WriteString(" | ")
		}
		tw.cell = true
		tw.begin()
		tw.cellStart = tw.b.Len()
		tw.openCells++
	}
}

func (tw *textWriter) close(tag string) {
	switch kindOf(tag) {
	case inline:
		if n := len(tw.links) - 1; tag == "a" && n >= 0 {
			l := tw.links[n]
			tw.links = tw.links[:n]
			if shown := tw.b.String()[l.from:]; l.target != "" && strings.TrimSpace(shown) != strings.TrimPrefix(l.target, "mailto:") {
				tw.b.WriteString(" (" + l.target + ")")
			}
		}
		return
	case component:
		return
	default: // a block
	}
	switch tag {
	case "ul", "ol":
		tw.lists = tw.lists[:len(tw.lists)-1]
	case "li", "blockquote":
		tw.leave()
	case "td", "th":
		tw.openCells--
		return
	}
	if tw.openCells == 0 {
		tw.newline()
	}
}

func (tw *textWriter) void(tag string, attrs []attr) {
	switch tag {
	case "br":
		tw.begin()
		tw.newline()
	case "hr":
		tw.newline()
		tw.begin()
		tw.b.WriteString("---")
		tw.newline()
	case "input":
		switch {
		case tw.box:
			tw.box = false
		case value(attrs, "type") == "checkbox":
			tw.begin()
			if slices.ContainsFunc(attrs, func(a attr) bool { return a.key == "checked" }) {
				tw.b.WriteString("[x]")
			} else {
				tw.b.WriteString("[ ]")
			}
		}
	case "img":
		tw.placeholder("image", value(attrs, "alt"), value(attrs, "src"))
	}
}

// placeholder writes a substitute for an element without text, with the first of its names that is not empty.
func (tw *textWriter) placeholder(what string, names ...string) {
	tw.begin()
	tw.b.WriteString(strings.TrimSuffix("["+what+" "+cmp.Or(names...), " ") + "]")
}

func (tw *textWriter) text(s string) {
	for {
		line, rest, more := strings.Cut(s, "\n")
		if line != "" {
			tw.begin()
			tw.b.WriteString(line)
		}
		if !more {
			return
		}
		tw.begin()
		tw.newline()
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

// Escape returns a plain text in one line of Markdown.
func Escape(text string) string {
	return escapeMarkdown.Replace(strings.TrimSpace(text))
}
