package yamltext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// editValue replaces a value by another one that is not a list.
func (f *File) editValue(at valueNode, value any) error {
	n := at.node
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		return errExtent
	}
	from, to, err := f.extent(n)
	if err != nil {
		return err
	}
	text, head, inBlock := asBlock(value, n.Style&blockStyles != 0)
	inBlock = inBlock && !at.inFlow && at.key != nil
	switch {
	case n.Style&blockStyles != 0 && inBlock:
		f.newLines(at, from, to, text)
	case n.Style&blockStyles != 0 && at.key == nil:
		return errExtent
	case n.Style&blockStyles != 0:
		b := f.blockLines(from, at.key.Column-1)
		f.splice(from, to, f.inline(yaml.DoubleQuotedStyle, at.inFlow, value))
		f.splice(f.lineEnd(from), b.to, "")
	case inBlock:
		end := f.lineEnd(to)
		f.splice(from, to, f.gap(from)+head)
		f.splice(end, end, f.lines(text, at.key.Column-1+step))
	case from == to && !f.afterColon(at, from):
		return errExtent
	default:
		f.splice(from, to, f.gap(from)+f.inline(n.Style, at.inFlow, value))
	}
	return nil
}

// asBlock returns a value as the text of a block, which ends in at most one line end, and its head. short allows a single line.
func asBlock(value any, short bool) (text, head string, ok bool) {
	text, _ = value.(string)
	if body := strings.TrimRight(text, "\n"); body != text {
		text = body + "\n"
	}
	head, ok = BlockHead(text)
	return text, head, ok && (short || strings.Contains(strings.TrimSuffix(text, "\n"), "\n"))
}

// newLines replaces the text of a block scalar, and keeps its head.
func (f *File) newLines(at valueNode, from, to int, text string) {
	column := at.key.Column - 1
	b := f.blockLines(from, column)
	if b.indent < 0 {
		b.indent = column + step
	}
	head := "|" + string(f.text[from+1:to])
	if strings.IndexByte(" \n", text[0]) >= 0 && !strings.ContainsAny(head, "123456789") { // otherwise the blanks would count as indentation
		head = "|" + strconv.Itoa(b.indent-column) + head[1:]
	}
	f.splice(from, to, head)
	lines := f.lines(text, b.indent)
	if b.from < b.to {
		lines = strings.TrimPrefix(lines, f.newline)
	}
	f.splice(b.from, b.to, lines)
}

// gap returns the blank that separates a value from the colon before it, or "" if there is one.
func (f *File) gap(at int) string {
	if at > 0 && f.text[at-1] == ':' {
		return " "
	}
	return ""
}

// afterColon reports whether an empty value would be written after a colon. The colon of {e:, f: 1} belongs to the key.
func (f *File) afterColon(at valueNode, from int) bool {
	if at.key == nil {
		return false
	}
	_, end, err := f.extent(at.key)
	return err == nil && end <= from && strings.HasSuffix(strings.TrimRight(string(f.text[end:from]), " \t"), ":")
}

// lines returns the lines of a text below the head of its block.
func (f *File) lines(text string, indent int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(f.newline)
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent) + line)
		}
	}
	return b.String()
}

// inline returns a value on one line, in the style of another value if possible.
func (f *File) inline(style yaml.Style, inFlow bool, value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case []string:
		members := make([]string, len(v))
		for i, text := range v {
			members[i] = f.inline(0, true, text)
		}
		return "[" + strings.Join(members, ", ") + "]"
	case Literal:
		if style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 && !f.json || json.Valid([]byte(v)) {
			return string(v)
		}
		return f.inline(style, inFlow, string(v))
	case string:
		switch {
		case f.json:
			return quoteJSON(v)
		case style&yaml.SingleQuotedStyle != 0 && !hasHidden(v):
			return "'" + strings.ReplaceAll(v, "'", "''") + "'"
		case style&yaml.DoubleQuotedStyle != 0:
			return Quoted(v)
		default:
			return Scalar(v, inFlow)
		}
	}
	panic("yamltext: no such value")
}

// quoteJSON returns a text as JSON, and also escapes characters that are line ends or invisible for readers of YAML.
func quoteJSON(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a buffer accepts everything
	var safe strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if r > 0x7e && r <= 0xffff && !Printable(r) {
			fmt.Fprintf(&safe, `\u%04x`, r)
		} else {
			safe.WriteRune(r)
		}
	}
	return safe.String()
}
