package layout

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Problem is what keeps a file from being formatted.
type Problem struct {
	Line int // from 1; 0 = not known
	Text string
}

func (p *Problem) Error() string { return p.Text }

// Format gives a manifest the one layout. An error is a [Problem].
func Format(text []byte) ([]byte, error) {
	const foreign = "\r\u0085\u2028\u2029" // line ends for some readers only
	source := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	if at := strings.IndexAny(source, foreign); at >= 0 || !utf8.ValidString(source) {
		return nil, &Problem{Line: 1 + strings.Count(source[:max(at, 0)], "\n"), Text: "it holds a character that not every reader reads alike"}
	}
	before, err := parse(source)
	if err != nil {
		return nil, &Problem{Text: err.Error()}
	}
	l := &layout{}
	for text := range strings.SplitSeq(strings.TrimRight(source, " \n"), "\n") {
		l.lines = append(l.lines, line{text: []rune(text)})
	}
	for _, document := range before {
		if root := document.Content[0]; root.Style&yaml.FlowStyle != 0 || root.Kind == yaml.ScalarNode { // JSON stays JSON
			return text, nil
		}
	}
	for _, document := range before {
		l.value(document.Content[0], -1, -step)
	}
	if l.problem != nil {
		return nil, l.problem
	}
	out := l.String()
	if l.openEnd { // the line ends there are part of a text
		out += source[len(strings.TrimRight(source, " \n")):]
	} else {
		out += "\n"
	}
	after, err := parse(out)
	if err != nil || !slices.EqualFunc(before, after, same) {
		return nil, &Problem{Line: l.changed(before, after), Text: "it would read differently in the usual layout"}
	}
	if strings.Contains(string(text), "\r\n") {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return []byte(out), nil
}

// parse reads every document. The library panics on some inputs.
func parse(source string) (documents []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	for d := yaml.NewDecoder(strings.NewReader(source)); ; {
		document := new(yaml.Node)
		switch err := d.Decode(document); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err //nolint:wrapcheck // it says it all
		case len(document.Content) > 0:
			documents = append(documents, document)
		}
	}
}

// same reports whether two nodes mean the same.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor && slices.EqualFunc(a.Content, b.Content, same)
}

const step = 2

// layout is a file on the way to its new layout.
type layout struct {
	lines   []line
	openEnd bool // the last line belongs to a block scalar
	problem *Problem
}

// line is one line of the file. Columns count characters from 0.
type line struct {
	text  []rune
	marks []mark // of what begins on it: hyphens and keys, from left to right
	edits []edit
	block *mark // set if it is of a block scalar
}

// mark says where something stood, and where it shall.
type mark struct{ old, now int }

// edit puts a text in the place of the characters from up to to.
type edit struct {
	from, to int
	with     string
}

func (l *layout) at(n *yaml.Node) (in *line, column int) {
	return &l.lines[min(n.Line, len(l.lines))-1], n.Column - 1
}

func (l *layout) refuse(n *yaml.Node) {
	if l.problem == nil {
		l.problem = &Problem{Line: n.Line, Text: "its layout is too unusual here to change it safely"}
	}
}

// value places the value of a key or a hyphen that was in column old and comes to column now.
func (l *layout) value(n *yaml.Node, old, now int) {
	l.gap(n)
	switch flow := n.Style&yaml.FlowStyle != 0; {
	case flow:
		l.unquoteAll(n)
	case n.Kind == yaml.MappingNode:
		l.mapping(n, now+step)
	case n.Kind == yaml.SequenceNode:
		l.sequence(n, now+step)
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		l.blockScalar(n, old, now)
	case n.Kind == yaml.ScalarNode:
		l.unquote(n, false)
	}
}

func (l *layout) mapping(n *yaml.Node, now int) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		in, old := l.at(key)
		before := strings.TrimRight(string(in.text[:min(old, len(in.text))]), " \t")
		if key.Kind != yaml.ScalarNode && key.Kind != yaml.AliasNode || before != "" && len(in.marks) == 0 || strings.HasSuffix(before, "?") {
			l.refuse(key)
			return
		}
		in.marks = append(in.marks, mark{old, now})
		l.unquote(key, true)
		l.value(n.Content[i+1], old, now)
	}
}

// hyphen matches a line that ends with a hyphen, and a comment perhaps.
var hyphen = regexp.MustCompile(`^([ \t-]*-)[ \t]*(#.*)?$`)

func (l *layout) sequence(n *yaml.Node, now int) {
	for _, item := range n.Content {
		in, column := l.at(item)
		before := strings.TrimRight(string(in.text[:min(column, len(in.text))]), " \t")
		for at := item.Line - 2; before == "" && at >= 0; at-- { // the item is below its hyphen
			in = &l.lines[at]
			text := strings.TrimSpace(string(in.text))
			if found := hyphen.FindStringSubmatch(string(in.text)); found != nil {
				before = found[1]
			} else if text != "" && text[0] != '#' {
				break
			}
		}
		old := len([]rune(before)) - 1
		if !strings.HasSuffix(before, "-") || strings.Trim(before[:old], " \t-") != "" {
			l.refuse(item)
			return
		}
		in.marks = append(in.marks, mark{old, now})
		l.value(item, old, now)
	}
}

// gap leaves one blank in front of a value.
func (l *layout) gap(n *yaml.Node) {
	in, column := l.at(n)
	if column < len(in.text) && strings.TrimSpace(string(in.text[:column])) != "" {
		in.collapse(column)
	}
}

// collapse leaves one of the blanks in front of a column.
func (in *line) collapse(column int) {
	from := column
	for from > 0 && (in.text[from-1] == ' ' || in.text[from-1] == '\t') {
		from--
	}
	if blanks := string(in.text[from:column]); blanks != "" && blanks != " " && in.text[column] != '#' {
		in.edits = append(in.edits, edit{from, column, " "})
	}
}

// header matches the beginning of a block scalar.
var header = regexp.MustCompile(`[|>][-+]?([1-9])?[-+]?[ \t]*(#.*)?$`)

// blockScalar moves the lines of a block scalar together. old and now are the columns of what it belongs to.
func (l *layout) blockScalar(n *yaml.Node, old, now int) {
	in, _ := l.at(n)
	found := header.FindSubmatchIndex([]byte(string(in.text)))
	if found == nil {
		l.refuse(n)
		return
	}
	m := &mark{old: -1, now: now + step}
	if found[2] >= 0 { // it says its indentation
		digit := utf8.RuneCountInString(string(in.text)[:found[2]])
		m.old = max(old, 0) + int(in.text[digit]-'0')
		in.edits = append(in.edits, edit{digit, digit + 1, strconv.Itoa(step)})
	}
	for i := n.Line; i < len(l.lines); i++ {
		in := &l.lines[i]
		if strings.Trim(string(in.text), " ") != "" {
			indent := in.indent()
			if m.old < 0 && indent > old {
				m.old = indent
			}
			if m.old < 0 || indent < m.old {
				return
			}
		}
		in.block = m
	}
	l.openEnd = true
}

func (in *line) indent() int {
	return len(in.text) - len([]rune(strings.TrimLeft(string(in.text), " ")))
}

// unquoteAll takes the quotes from the texts between brackets.
func (l *layout) unquoteAll(n *yaml.Node) {
	for _, inner := range n.Content {
		l.unquoteAll(inner)
	}
	if n.Kind == yaml.ScalarNode {
		l.unquote(n, true)
	}
}

// unquote takes the quotes from a text that reads the same without them.
func (l *layout) unquote(n *yaml.Node, inFlow bool) {
	in, from := l.at(n)
	if n.Style != yaml.DoubleQuotedStyle && n.Style != yaml.SingleQuotedStyle || n.Anchor != "" || from >= len(in.text) || !plain(n.Value, inFlow) {
		return
	}
	quoted := in.text[from] // what stands between the quotes is the value itself, since a plain text needs no escapes
	to := from + utf8.RuneCountInString(n.Value) + 2
	if to > len(in.text) || quoted != '"' && quoted != '\'' || string(in.text[from+1:to-1]) != n.Value || in.text[to-1] != quoted {
		return
	}
	after := string(in.text[to:])
	if from > 0 && !strings.ContainsRune(" \t[{,", in.text[from-1]) || strings.HasPrefix(after, ":") && !strings.HasPrefix(after+" ", ": ") {
		return // as in {"a":"b"}
	}
	in.edits = append(in.edits, edit{from, to, n.Value})
	if comment := strings.TrimLeft(after, " "); strings.HasPrefix(comment, "#") && len(after)-len(comment) > 1 { // which stays in its column
		in.edits = append(in.edits, edit{to, to, "  "})
	}
}

// String puts the lines together.
func (l *layout) String() string {
	out := make([]string, len(l.lines))
	shift := 0 // of the lines that go on with what began above them
	for i := range l.lines {
		in := &l.lines[i]
		text := strings.TrimSpace(string(in.text))
		switch {
		case in.block != nil:
			out[i] = in.ofBlock()
			continue
		case text == "":
			continue
		case len(in.marks) > 0:
			last := in.marks[len(in.marks)-1]
			shift = last.now - last.old
			out[i] = indented(in.marks[0].now, in.edited())
		case text[0] == '#':
			out[i] = indented(l.commentIndent(i, shift), text)
		case strings.HasPrefix(string(in.text), "---"), strings.HasPrefix(string(in.text), "..."), text[0] == '%':
			out[i] = text
		default:
			out[i] = indented(in.indent()+shift, in.edited())
		}
	}
	return strings.Join(out, "\n")
}

func indented(columns int, text string) string {
	return strings.Repeat(" ", max(columns, 0)) + text
}

// ofBlock is a line of a block scalar in its new place.
func (in *line) ofBlock() string {
	if rest := in.text[min(max(in.block.old, 0), len(in.text)):]; len(rest) > 0 && in.block.old >= 0 {
		return indented(in.block.now, string(rest))
	}
	return ""
}

// edited is the line without indentation.
func (in *line) edited() string {
	text := in.text
	slices.SortStableFunc(in.edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range in.edits {
		text = slices.Concat(text[:e.from], []rune(e.with), text[e.to:])
	}
	return strings.Trim(string(text), " \t")
}

// commentIndent is the indentation of a comment that has its line: that of the next line if both began in the same column,
// else that of what began there above.
func (l *layout) commentIndent(i, shift int) int {
	old := l.lines[i].indent()
	next := old + shift
	for j := i + 1; j < len(l.lines); j++ {
		in := &l.lines[j]
		if text := strings.TrimSpace(string(in.text)); text == "" || text[0] == '#' {
			continue
		}
		if len(in.marks) == 0 {
			break
		}
		if next = in.marks[0].now; in.marks[0].old == old {
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

// changed is the first line whose node reads differently.
func (l *layout) changed(before, after []*yaml.Node) int {
	for i, a := range before {
		if i >= len(after) {
			return a.Line
		}
		if same(a, after[i]) {
			continue
		}
		if len(a.Content) == 0 {
			return a.Line
		}
		return cmp.Or(l.changed(a.Content, after[i].Content), a.Line)
	}
	return 0
}
