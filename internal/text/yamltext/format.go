package yamltext

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Problem is the reason why a file cannot be formatted.
type Problem struct {
	Line int // from 1; 0 = unknown
	Text string
}

func (p *Problem) Error() string { return p.Text }

// Format returns a manifest in the one layout: indentation by two spaces, one space after a colon and a hyphen, quotes only if YAML needs
// them, no blanks at line ends. An error is a [Problem].
func Format(text []byte) ([]byte, error) {
	const foreign = "\r\u0085\u2028\u2029" // only some readers take them for line ends
	source := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	if at := strings.IndexAny(source, foreign); at >= 0 || !utf8.ValidString(source) {
		return nil, &Problem{
			Line: 1 + strings.Count(source[:max(at, 0)], "\n"),
			Text: "it holds a character that not every reader reads alike",
		}
	}
	before, err := readRoots(source)
	if err != nil {
		return nil, &Problem{Text: err.Error()}
	}
	if slices.ContainsFunc(before, func(root *yaml.Node) bool { return root.Style&yaml.FlowStyle != 0 || root.Kind == yaml.ScalarNode }) {
		return text, nil // JSON is not changed
	}
	body := strings.TrimRight(source, " \n")
	l := &layout{File: newFile([]byte(body))}
	l.lines = make([]line, len(l.starts))
	for _, root := range before {
		l.layOut(root, -1, -step)
	}
	if l.problem != nil {
		return nil, l.problem
	}
	l.indentLines()
	out := string(l.spliced())
	if l.openEnd { // the line ends there are part of a text
		out += source[len(body):]
	} else {
		out = strings.TrimRight(out, "\n") + "\n"
	}
	after, err := readRoots(out)
	if err != nil || !slices.EqualFunc(before, after, equal) {
		return nil, &Problem{Line: firstChanged(before, after), Text: "it would read differently in the usual layout"}
	}
	if strings.Contains(string(text), "\r\n") {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return []byte(out), nil
}

// readRoots returns the root nodes of the documents in a text.
func readRoots(source string) (list []*yaml.Node, err error) {
	err = Documents(strings.NewReader(source), func(root *yaml.Node) { list = append(list, root) })
	return list, err
}

// equal reports whether two nodes have the same meaning.
func equal(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, equal)
}

// layout is a file that is being formatted.
type layout struct {
	*File

	lines   []line
	openEnd bool // the last line belongs to a block scalar
	problem *Problem
}

// line holds facts about one line of the file.
type line struct {
	marks []mark // the hyphens and keys on it, from left to right
	block *mark  // set if the line belongs to a block scalar
}

// mark holds the old and the new column of something on a line.
type mark struct{ old, now int }

// lineText returns the text of a line, by its number from 0.
func (l *layout) lineText(i int) string { return string(l.text[l.starts[i]:l.lineEnd(l.starts[i])]) }

// startOf returns the number of the line in which a node begins, from 0, and its byte, or the end of the line.
func (l *layout) startOf(n *yaml.Node) (i, at int) {
	i = min(n.Line, len(l.lines)) - 1
	end := l.lineEnd(l.starts[i])
	if at, err := l.offset(n); err == nil {
		return i, min(at, end)
	}
	return i, end
}

func (l *layout) refuse(n *yaml.Node) {
	if l.problem == nil {
		l.problem = &Problem{Line: n.Line, Text: "its layout is too unusual here to change it safely"}
	}
}

// layOut lays out the value of a key or hyphen that moves from column old to column now.
func (l *layout) layOut(n *yaml.Node, old, now int) {
	l.collapse(n)
	switch flow := n.Style&yaml.FlowStyle != 0; {
	case flow:
		l.unquoteAll(n)
	case n.Kind == yaml.MappingNode:
		l.layOutMapping(n, now+step)
	case n.Kind == yaml.SequenceNode:
		l.layOutSequence(n, now+step)
	case n.Kind == yaml.ScalarNode && n.Style&blockStyles != 0:
		l.blockScalar(n, old, now)
	case n.Kind == yaml.ScalarNode:
		l.unquote(n, false)
	}
}

func (l *layout) layOutMapping(n *yaml.Node, now int) {
	for key, value := range Pairs(n.Content) {
		number, at := l.startOf(key)
		in, before := &l.lines[number], strings.TrimRight(l.lineBefore(at), " \t")
		if key.Kind != yaml.ScalarNode && key.Kind != yaml.AliasNode || before != "" && len(in.marks) == 0 ||
			strings.HasSuffix(before, "?") {
			l.refuse(key)
			return
		}
		in.marks = append(in.marks, mark{key.Column - 1, now})
		l.unquote(key, true)
		l.layOut(value, key.Column-1, now)
	}
}

// hyphen matches a line that ends with a hyphen, and possibly a comment.
var hyphen = regexp.MustCompile(`^([ \t-]*-)[ \t]*(#.*)?$`)

func (l *layout) layOutSequence(n *yaml.Node, now int) {
	for _, item := range n.Content {
		number, at := l.startOf(item)
		before := strings.TrimRight(l.lineBefore(at), " \t")
		for before == "" && number > 0 { // the item is below its hyphen
			number--
			if found := hyphen.FindStringSubmatch(l.lineText(number)); found != nil {
				before = found[1]
			} else if text := strings.TrimSpace(l.lineText(number)); text != "" && text[0] != '#' {
				break
			}
		}
		old := len(before) - 1
		if !strings.HasSuffix(before, "-") || strings.Trim(before[:old], " \t-") != "" {
			l.refuse(item)
			return
		}
		l.lines[number].marks = append(l.lines[number].marks, mark{old, now})
		l.layOut(item, old, now)
	}
}

// collapse reduces the blanks before a value to one.
func (l *layout) collapse(n *yaml.Node) {
	_, at := l.startOf(n)
	before := l.lineBefore(at)
	blanks := before[len(strings.TrimRight(before, " \t")):]
	if len(blanks) == len(before) || blanks == "" || blanks == " " || at == l.lineEnd(at) || l.text[at] == '#' {
		return
	}
	l.splice(at-len(blanks), at, " ")
}

// blockScalar moves the lines of a block scalar. old and now are the columns of its key or hyphen.
func (l *layout) blockScalar(n *yaml.Node, old, now int) {
	from, to, err := l.extent(n)
	if err != nil {
		l.refuse(n)
		return
	}
	if digit := strings.IndexAny(string(l.text[from:to]), "123456789"); digit >= 0 { // the head gives the indentation
		l.splice(from+digit, from+digit+1, strconv.Itoa(step))
	}
	b := l.blockLines(from, old)
	m := &mark{b.indent, now + step}
	for i := l.line(from) + 1; i < b.next; i++ {
		l.lines[i].block = m
	}
	l.openEnd = l.openEnd || b.next == len(l.lines)
}

// unquoteAll removes unneeded quotes from the texts between brackets.
func (l *layout) unquoteAll(n *yaml.Node) {
	for _, inner := range n.Content {
		l.unquoteAll(inner)
	}
	if n.Kind == yaml.ScalarNode {
		l.unquote(n, true)
	}
}

// unquote removes the quotes from a text that reads the same without them.
func (l *layout) unquote(n *yaml.Node, inFlow bool) {
	if n.Style != yaml.DoubleQuotedStyle && n.Style != yaml.SingleQuotedStyle || n.Anchor != "" || Scalar(n.Value, inFlow) != n.Value {
		return
	}
	from, to, err := l.extent(n)
	if err != nil || string(l.text[from+1:to-1]) != n.Value { // a plain text has no escapes
		return
	}
	before, after := l.lineBefore(from), string(l.text[to:l.lineEnd(to)])
	if before != "" && !strings.ContainsRune(" \t[{,", rune(before[len(before)-1])) ||
		strings.HasPrefix(after, ":") && !strings.ContainsAny((after + " ")[1:2], " \t") {
		return // as in {"a":"b"}
	}
	l.splice(from, to, n.Value)
	if comment := strings.TrimLeft(after, " "); strings.HasPrefix(comment, "#") && len(after)-len(comment) > 1 { // the comment keeps its column
		l.splice(to, to, "  ")
	}
}

// indentLines gives every line its indentation, and removes the blanks at its end.
func (l *layout) indentLines() {
	shift := 0 // shift of lines that continue a value from above
	for i := range l.lines {
		in, text := &l.lines[i], l.lineText(i)
		start, body := l.starts[i], strings.Trim(text, " \t")
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		columns := 0
		switch {
		case in.block != nil:
			if indent, columns = min(in.block.old, len(text)), in.block.now; indent < 0 || indent == len(text) {
				indent, columns = len(text), 0
			}
			l.splice(start, start+indent, strings.Repeat(" ", columns))
			continue
		case body == "":
		case len(in.marks) > 0:
			last := in.marks[len(in.marks)-1]
			shift, columns = last.now-last.old, in.marks[0].now
		case body[0] == '#':
			columns = l.commentIndent(i, shift)
		case strings.HasPrefix(text, "---"), strings.HasPrefix(text, "..."), body[0] == '%':
		default:
			columns = l.indent(i) + shift
		}
		end := start + len(text)
		l.splice(start, start+indent, strings.Repeat(" ", max(columns, 0)))
		if body != "" {
			l.splice(start+indent+len(body), end, "")
		}
	}
}

// indent returns the number of spaces before the text of a line.
func (l *layout) indent(i int) int {
	text := l.lineText(i)
	return len(text) - len(strings.TrimLeft(text, " "))
}

// commentIndent returns the indentation of a comment on its own line. It follows the next line if both began in the same column, and
// otherwise the nearest line above that began in this column.
func (l *layout) commentIndent(i, shift int) int {
	old := l.indent(i)
	next := old + shift
	for j := i + 1; j < len(l.lines); j++ {
		if text := strings.TrimSpace(l.lineText(j)); text == "" || text[0] == '#' {
			continue
		}
		marks := l.lines[j].marks
		if len(marks) == 0 {
			break
		}
		if next = marks[0].now; marks[0].old == old {
			return next
		}
		break
	}
	if old == 0 {
		return 0
	}
	for j := i - 1; j >= 0; j-- {
		for _, m := range slices.Backward(l.lines[j].marks) {
			if m.old == old {
				return m.now
			}
			if m.old < old {
				return next
			}
		}
	}
	return next
}

// firstChanged returns the first line whose node reads differently.
func firstChanged(before, after []*yaml.Node) int {
	for i, a := range before {
		if i >= len(after) {
			return a.Line
		}
		if equal(a, after[i]) {
			continue
		}
		if len(a.Content) == 0 {
			return a.Line
		}
		return cmp.Or(firstChanged(a.Content, after[i].Content), a.Line)
	}
	return 0
}
