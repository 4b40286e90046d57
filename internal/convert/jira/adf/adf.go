// Package adf turns the documents of Jira Cloud (Atlassian Document Format) into Markdown.
//
// A document is a tree of nodes: blocks (adf.go), and pieces of a line with their marks (inline.go). A node of an unknown
// kind becomes its text, and is counted. The package accepts any input, and bounds the depth.
// The package must not know issues or files.
package adf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/jira/wiki"
	"github.com/planform/planform/internal/text/diag"
)

// maxDepth is the greatest depth at which nodes are converted. Of deeper nodes, only the text remains.
const maxDepth = 60

const maxColumns = 200

type node struct {
	Type    string     `json:"type"`
	Text    string     `json:"text"`
	Attrs   attributes `json:"attrs"`
	Content []node     `json:"content"`
	Marks   []node     `json:"marks"` // only with type and attributes
}

// attributes are empty if the document has no object for them.
type attributes map[string]any

// UnmarshalJSON reads attributes, and never fails.
func (at *attributes) UnmarshalJSON(text []byte) error {
	_ = json.Unmarshal(text, (*map[string]any)(at))
	return nil
}

// Is reports whether a value of JSON is a document, even one with nodes that do not decode.
func Is(value []byte) bool {
	var doc struct{ Type any }
	return bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) && json.Unmarshal(value, &doc) == nil && doc.Type == "doc"
}

// Markdown converts a document. A document that does not decode becomes its plain texts, and is counted as one loss.
func Markdown(document []byte, o wiki.Options) (string, wiki.Lost) {
	c := converter{o: o, lost: wiki.Lost{}}
	var doc node
	if err := json.Unmarshal(document, &doc); err != nil {
		return strings.Join(paragraph(strings.ReplaceAll(wiki.Escape(Plain(document)), "\n", "\n\n")), "\n"), wiki.Lost{"texts-not-understood": 1}
	}
	return strings.Join(c.blocks(doc.Content, 0), "\n"), c.lost
}

type converter struct {
	o     wiki.Options
	lost  wiki.Lost
	files int // without a name so far
}

// attr returns an attribute as text, or "".
func (n *node) attr(name string) string {
	if v := n.Attrs[name]; v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// number returns an attribute that is a number from 0 to most, or else 1.
func (n *node) number(name string, most int) int {
	if v, ok := n.Attrs[name].(float64); ok && v >= 0 && v <= float64(most) {
		return int(v)
	}
	return 1
}

// plain returns all text below a node.
func (n *node) plain() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	if n.Type == "hardBreak" {
		b.WriteString("\n")
	}
	b.WriteString(n.Text)
	for i := range n.Content {
		n.Content[i].write(b)
	}
}

// blocks returns the lines of nodes, with an empty line between two nodes.
func (c *converter) blocks(nodes []node, depth int) []string {
	return c.join(nodes, depth, func(*node) bool { return true })
}

// join returns the lines of nodes, with an empty line before the nodes that are apart.
func (c *converter) join(nodes []node, depth int, apart func(*node) bool) []string {
	var lines []string
	for i := range nodes {
		block := c.block(&nodes[i], depth)
		if len(block) > 0 && len(lines) > 0 && apart(&nodes[i]) {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (c *converter) block(n *node, depth int) []string {
	if depth > maxDepth {
		c.lost["text-nodes"]++
		return paragraph(wiki.Escape(n.plain()))
	}
	switch n.Type {
	case "paragraph", "caption":
		return paragraph(c.inline(n.Content, depth))
	case "heading":
		return []string{strings.Repeat("#", max(1, n.number("level", 6))) + " " + oneLine(c.inline(n.Content, depth))}
	case "bulletList", "orderedList", "taskList", "decisionList":
		return c.list(n, depth)
	case "codeBlock":
		return wiki.Fence(n.plain(), oneLine(strings.ReplaceAll(n.attr("language"), "`", "")))
	case "blockquote":
		return wiki.Quote(c.blocks(n.Content, depth+1))
	case "panel":
		return wiki.Quote(append([]string{"**" + panel(n.attr("panelType")) + "**", ""}, c.blocks(n.Content, depth+1)...))
	case "rule":
		return []string{"---"}
	case "table":
		return c.table(n, depth)
	case "expand", "nestedExpand":
		lines := c.blocks(n.Content, depth+1)
		if title := oneLine(wiki.Escape(n.attr("title"))); title != "" {
			lines = append([]string{"**" + title + "**", ""}, lines...)
		}
		return lines
	case "doc", "layoutSection", "layoutColumn", "mediaSingle", "mediaGroup", "listItem":
		return c.blocks(n.Content, depth+1)
	case "media":
		return []string{c.file(n)}
	case "extension", "bodiedExtension", "multiBodiedExtension", "extensionFrame":
		c.lost["text-nodes"]++
		if len(n.Content) > 0 {
			return c.blocks(n.Content, depth+1)
		}
		return paragraph(wiki.Escape(n.attr("text")))
	}
	if len(n.Content) > 0 && n.Text == "" { // an unknown one
		c.lost["text-nodes"]++
		return c.blocks(n.Content, depth+1)
	}
	return paragraph(c.inline([]node{*n}, depth)) // a node within a line
}

func oneLine(text string) string { return diag.OneLine(strings.ReplaceAll(text, lineBreak, " ")) }

// paragraph returns the lines of a text that is already Markdown.
func paragraph(text string) []string {
	text = strings.Trim(text, " \n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wiki.EscapeStart(strings.TrimLeft(line, " \t"))
	}
	return lines
}

func panel(kind string) string {
	switch kind {
	case "info", "warning", "success", "error":
		return strings.ToUpper(kind[:1]) + kind[1:]
	}
	return "Note"
}

// list writes the items of a list. Lists below an item follow its text without a blank line, so that they stay close together.
func (c *converter) list(n *node, depth int) []string {
	var lines []string
	number := n.number("order", 999_999_999)
	for i := range n.Content {
		item := &n.Content[i]
		mark := "- "
		switch {
		case n.Type == "orderedList":
			mark = fmt.Sprintf("%d. ", number)
			number++
		case n.Type == "taskList" && item.attr("state") == "DONE":
			mark = "- [x] "
		case n.Type == "taskList":
			mark = "- [ ] "
		}
		pad := strings.Repeat(" ", len(mark))
		if n.Type == "taskList" {
			pad = "  "
		}
		var inner []string
		switch item.Type {
		case "taskItem", "decisionItem":
			inner = paragraph(c.inline(item.Content, depth))
		case "taskList": // of the item before
			inner, mark = c.block(item, depth+1), pad
		default:
			inner = c.join(item.Content, depth+1, func(n *node) bool { return !strings.HasSuffix(n.Type, "List") })
		}
		if len(inner) == 0 {
			inner = []string{""}
		}
		for _, line := range wiki.Indent(mark, pad, inner) {
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return lines
}

// table returns the lines of a table. Its first row is a header if all cells of the row are headings.
func (c *converter) table(n *node, depth int) []string {
	var rows [][]wiki.Cell
	for i := range n.Content {
		var cells []wiki.Cell
		for j := range n.Content[i].Content {
			cell := &n.Content[i].Content[j]
			head := cell.Type == "tableHeader"
			cells = append(cells, wiki.Cell{Text: c.cell(cell, depth), Head: head})
			span := cell.number("colspan", maxColumns)
			if span > 1 || cell.number("rowspan", maxColumns) > 1 {
				c.lost["table-spans"]++
			}
			for ; span > 1; span-- {
				cells = append(cells, wiki.Cell{Head: head})
			}
		}
		rows = append(rows, cells[:min(len(cells), maxColumns)])
	}
	header := len(rows) > 0 && !slices.ContainsFunc(rows[0], func(c wiki.Cell) bool { return !c.Head })
	return wiki.Table(rows, header)
}

// cell returns a cell of a table, on one line.
func (c *converter) cell(n *node, depth int) string {
	var parts []string
	for i := range n.Content {
		child := &n.Content[i]
		lines := []string{wiki.CodeSpan(child.plain())}
		if child.Type != "codeBlock" {
			lines = c.block(child, depth+1)
		}
		for _, line := range lines {
			if line = strings.TrimSpace(strings.TrimSuffix(line, "\\")); line != "" {
				parts = append(parts, line)
			}
		}
	}
	return strings.Join(parts, "<br>")
}

// Plain returns the text of a document, with a line for each block.
func Plain(document []byte) string {
	var doc node
	var lines []string
	if json.Unmarshal(document, &doc) != nil {
		doc.Content = nil
		var tree any
		var b strings.Builder
		_ = json.Unmarshal(document, &tree) // without a value there is no text
		writeTexts(&b, tree)
		for line := range strings.Lines(b.String()) {
			doc.Content = append(doc.Content, node{Text: line})
		}
	}
	for i := range doc.Content {
		if line := strings.TrimSpace(doc.Content[i].plain()); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// writeTexts writes the texts below a value of JSON, with the end of a line after each list.
func writeTexts(b *strings.Builder, value any) {
	switch value := value.(type) {
	case map[string]any:
		if value["text"] != nil {
			fmt.Fprint(b, value["text"])
		}
		writeTexts(b, value["content"])
	case []any:
		for _, one := range value {
			writeTexts(b, one)
		}
		b.WriteString("\n")
	}
}
