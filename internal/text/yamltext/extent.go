package yamltext

import (
	"bytes"
	"errors"
	"strings"

	"gopkg.in/yaml.v3"
)

var errExtent = errors.New("it is written in a way that cannot be edited safely")

// extent returns the range of a node without its anchor and tag. For a block scalar, it is the range of its head.
func (f *File) extent(n *yaml.Node) (from, to int, err error) {
	if from, err = f.offset(n); err != nil {
		return 0, 0, err
	}
	from = f.pastProperties(n, from)
	to = -1
	switch {
	case n.Kind == yaml.AliasNode:
		to = from + 1 + len(n.Value)
	case n.Style&yaml.FlowStyle != 0:
		to = f.bracketEnd(from)
	case n.Kind != yaml.ScalarNode:
		for _, inner := range n.Content {
			_, end, err := f.extent(inner)
			if err != nil {
				return 0, 0, err
			}
			if inner.Style&blockStyles != 0 {
				return 0, 0, errExtent
			}
			to = max(to, end)
		}
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		to = QuoteEnd(f.text, from)
	case n.Style&blockStyles != 0:
		to = from
		for to < len(f.text) && strings.IndexByte("|>+-0123456789", f.text[to]) >= 0 {
			to++
		}
	default:
		to = f.plainEnd(from, n.Value)
	}
	if to < from || to > len(f.text) {
		return 0, 0, errExtent
	}
	return from, to, nil
}

// pastProperties returns the position after a node's anchor and tag.
func (f *File) pastProperties(n *yaml.Node, at int) int {
	if n.Kind == yaml.AliasNode || n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 {
		return at
	}
	for at < len(f.text) && (f.text[at] == '&' || f.text[at] == '!') {
		end := bytes.IndexAny(f.text[at:], " \t\r\n,]}")
		if end < 0 {
			return len(f.text)
		}
		rest := bytes.TrimLeft(f.text[at+end:], " \t")
		if len(rest) > 0 && strings.IndexByte("\r\n#,]}", rest[0]) >= 0 { // the rest is empty, or on another line
			return at + end
		}
		at = len(f.text) - len(rest)
	}
	return at
}

// QuoteEnd returns the position after the quoted text that begins at a byte, or -1 if it has no end.
func QuoteEnd[T string | []byte](text T, at int) int {
	if at >= len(text) {
		return -1
	}
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// plainEnd returns the position after a plain text, which may extend over several lines.
func (f *File) plainEnd(at int, value string) int {
	for value != "" {
		if at >= len(f.text) {
			return -1
		}
		blanks := f.text[at : len(f.text)-len(bytes.TrimLeft(f.text[at:], " \t\r\n"))]
		breaks := bytes.Count(blanks, []byte("\n"))
		folded := string(blanks)
		switch {
		case len(blanks) == 0:
			if f.text[at] != value[0] {
				return -1
			}
			at, value = at+1, value[1:]
			continue
		case breaks == 1:
			folded = " "
		case breaks > 1:
			folded = strings.Repeat("\n", breaks-1)
		}
		rest, ok := strings.CutPrefix(value, folded)
		if !ok {
			return -1
		}
		at, value = at+len(blanks), rest
	}
	return at
}

// bracketEnd returns the position after the closing bracket.
func (f *File) bracketEnd(at int) int {
	depth := 0
	for i := at; i < len(f.text); i++ {
		begins := i == at || strings.IndexByte(" \t\r\n,:[{", f.text[i-1]) >= 0
		switch c := f.text[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case begins && (c == '"' || c == '\''):
			if i = QuoteEnd(f.text, i) - 1; i < 0 {
				return -1
			}
		case begins && c == '#':
			i = f.lineEnd(i) - 1
		}
	}
	return -1
}

// blockText is the position of the text of a block scalar.
type blockText struct {
	from, to int // range of its lines, without the last line end; empty = no lines
	indent   int // -1 = unknown
	next     int // number of the first line after it, from 0
}

// blockLines finds the lines of a block scalar. head is the byte of its head; column is the column of its key or hyphen, from 0, or -1.
func (f *File) blockLines(head, column int) blockText {
	b := blockText{indent: -1, from: f.lineEnd(head), to: f.lineEnd(head), next: f.line(head) + 1}
	for _, c := range string(f.text[head:f.lineEnd(head)]) {
		if c >= '1' && c <= '9' {
			b.indent = max(column, 0) + int(c-'0')
		} else if !strings.ContainsRune("|>+-", c) {
			break
		}
	}
	for first := b.next; b.next < len(f.starts); b.next++ {
		start := f.starts[b.next]
		text := string(f.text[start:f.lineEnd(start)])
		indent := len(text) - len(strings.TrimLeft(text, " "))
		if indent == len(text) {
			continue // the line may follow the text
		}
		if b.indent < 0 && indent > column {
			b.indent = indent
		}
		if b.indent < 0 || indent < b.indent {
			break
		}
		b.from, b.to = f.starts[first], f.lineEnd(start)
	}
	return b
}
