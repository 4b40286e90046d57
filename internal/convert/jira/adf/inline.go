package adf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/convert/jira/wiki"
)

// lineBreak is the end of a line within a paragraph.
const lineBreak = "\\\n"

// span is a piece of a line with its marks, the outermost first.
type span struct {
	text  string // Markdown
	marks []mark
}

type mark struct{ open, shut string }

// delimits reports whether Markdown recognises the characters of the mark only next to certain characters.
func (m mark) delimits() bool { return m.open == "**" || m.open == "*" || m.open == "~~" }

// inline returns the Markdown of nodes within a line. Neighbours with the same marks share them, and blanks stay outside of marks.
func (c *converter) inline(nodes []node, depth int) string {
	var b strings.Builder
	var open []mark
	blanks, last := "", ' '
	for _, s := range c.spans(nodes, depth) {
		core := strings.TrimSpace(s.text)
		if s.text == lineBreak {
			if b.Len() > 0 {
				blanks = strings.TrimRight(blanks, " ") + lineBreak
			}
			continue
		}
		if core == "" {
			blanks += s.text
			continue
		}
		begin := strings.Index(s.text, core)
		same := 0
		for same < min(len(open), len(s.marks)) && open[same] == s.marks[same] {
			same++
		}
		shut, opened := open[same:], s.marks[same:]
		blanks += s.text[:begin]
		first, _ := utf8.DecodeRuneInString(core)
		apart := func(m mark, inner, outer rune) bool { return m.delimits() && isMark(inner) && isWord(outer) }
		if blanks == "" &&
			(slices.ContainsFunc(shut, func(m mark) bool { return apart(m, last, first) }) ||
				slices.ContainsFunc(opened, func(m mark) bool { return apart(m, first, last) })) {
			blanks = " " // **so:**that would be no mark
		}
		for _, m := range slices.Backward(shut) {
			b.WriteString(m.shut)
		}
		b.WriteString(blanks)
		for _, m := range opened {
			b.WriteString(m.open)
		}
		b.WriteString(core)
		open, blanks = s.marks, s.text[begin+len(core):]
		last, _ = utf8.DecodeLastRuneInString(core)
	}
	for _, m := range slices.Backward(open) {
		b.WriteString(m.shut)
	}
	if !strings.Contains(blanks, "\n") {
		b.WriteString(blanks)
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isMark(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func (c *converter) spans(nodes []node, depth int) []span {
	var list []span
	for i := range nodes {
		n := &nodes[i]
		add := func(text string) { list = append(list, span{text, c.marks(n)}) }
		switch n.Type {
		case "text":
			if slices.ContainsFunc(n.Marks, func(m node) bool { return m.Type == "code" }) {
				add(wiki.CodeSpan(n.Text))
			} else {
				add(wiki.Escape(n.Text))
			}
		case "hardBreak":
			list = append(list, span{text: lineBreak})
		case "mention":
			id := n.attr("id")
			name := c.o.Person(id)
			if told := strings.TrimPrefix(n.attr("text"), "@"); name == "" || name == id {
				name = cmp.Or(told, id)
			}
			add("@" + wiki.Escape(name))
		case "emoji":
			add(cmp.Or(n.attr("text"), n.attr("shortName")))
		case "date":
			add(date(n.attr("timestamp")))
		case "status":
			add(wiki.CodeSpan(n.attr("text")))
		case "inlineCard", "blockCard", "embedCard":
			url := n.attr("url")
			if data, ok := n.Attrs["data"].(map[string]any); ok && url == "" && data["url"] != nil {
				url = fmt.Sprint(data["url"])
			}
			if url != "" {
				add("<" + wiki.Destination(url) + ">")
			}
		case "media", "mediaInline":
			add(c.file(n))
		case "placeholder":
			add(wiki.Escape(n.attr("text")))
		default:
			c.lost["text-nodes"]++
			if len(n.Content) > 0 && depth < maxDepth {
				list = append(list, c.spans(n.Content, depth+1)...)
			} else {
				add(wiki.Escape(cmp.Or(n.plain(), n.attr("text"))))
			}
		}
	}
	return list
}

// marks returns the marks of a node in a fixed order, with a link as the outermost mark. Code is no mark, because the text of the node
// already has it.
func (c *converter) marks(n *node) []mark {
	simple := map[string]mark{"strong": {"**", "**"}, "em": {"*", "*"}, "strike": {"~~", "~~"}, "underline": {"<u>", "</u>"}}
	var list []mark
	for _, kind := range []string{"link", "strong", "em", "strike", "underline", "subsup"} {
		at := slices.IndexFunc(n.Marks, func(m node) bool { return m.Type == kind })
		if at < 0 {
			continue
		}
		switch attrs := n.Marks[at].Attrs; kind {
		case "link":
			if href, _ := attrs["href"].(string); href != "" {
				list = append(list, mark{"[", "](" + wiki.Destination(href) + ")"})
			}
		case "subsup":
			tag := "sub>"
			if attrs["type"] == "sup" {
				tag = "sup>"
			}
			list = append(list, mark{"<" + tag, "</" + tag})
		default:
			list = append(list, simple[kind])
		}
	}
	for _, m := range n.Marks {
		if m.Type == "textColor" || m.Type == "backgroundColor" {
			c.lost["colours"]++
		}
	}
	return list
}

func date(milliseconds string) string {
	n, err := strconv.ParseFloat(milliseconds, 64)
	if err != nil || n < -1e14 || n > 1e14 {
		return wiki.Escape(milliseconds)
	}
	return time.UnixMilli(int64(n)).UTC().Format(time.DateOnly)
}

// file returns an image or another file by its name. The ID of the node is not used, because attachments have other IDs.
func (c *converter) file(n *node) string {
	name, to, shown := n.attr("alt"), n.attr("url"), false
	if name == "" {
		c.files++
		name = "image " + strconv.Itoa(c.files)
	} else if to == "" {
		to, shown = c.o.File(name)
	}
	return wiki.File(wiki.Image, name, to, shown)
}
