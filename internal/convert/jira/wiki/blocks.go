package wiki

import (
	"regexp"
	"strconv"
	"strings"
)

// maxDepth is the greatest depth of quotations and panels. Deeper ones stay text.
const maxDepth = 20

var (
	macroStart = regexp.MustCompile(`\{(code|noformat|quote|panel|note|info|warning|tip|expand)(?::([^{}\n]*))?\}`)
	heading    = regexp.MustCompile(`^\s*h([1-6])\.\s+(.*)$`)
	listItem   = regexp.MustCompile(`^\s*([*#]+-*|-+)\s+(\S.*)$`)
	rule       = regexp.MustCompile(`^\s*-{4,}\s*$`)
	quoteLine  = regexp.MustCompile(`^\s*bq\.\s+(.*)$`)
	language   = regexp.MustCompile(`^[A-Za-z0-9+#-]+$`)
)

func (c *converter) blocks(text string, depth int) []string {
	w := &writer{c: c}
	for text != "" {
		at, name, parameters := c.nextMacro(text, depth)
		if at == nil {
			w.text(text)
			break
		}
		w.text(text[:at[0]])
		body, rest := text[at[1]:], ""
		if end := strings.Index(body, "{"+name+"}"); end >= 0 {
			body, rest = body[:end], body[end+len(name)+2:]
		}
		w.macro(name, parameters, body, depth)
		text = strings.TrimPrefix(rest, "\n")
	}
	w.paragraph()
	return w.out
}

// nextMacro finds the next macro that makes a block. In a row of a table, code without a line break is no block.
func (c *converter) nextMacro(text string, depth int) (at []int, name, parameters string) {
	from := 0
	for {
		m := macroStart.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return nil, "", ""
		}
		begin, end := from+m[0], from+m[1]
		name = text[from+m[2] : from+m[3]]
		if m[4] >= 0 {
			parameters = text[from+m[4] : from+m[5]]
		} else {
			parameters = ""
		}
		from = end
		line := text[max(0, begin-maxSpan):begin]
		line = line[strings.LastIndexByte(line, '\n')+1:]
		verbatim := name == "code" || name == "noformat"
		if strings.HasSuffix(line, `\`) || !verbatim && depth >= maxDepth || strings.Count(line, "{{") > strings.Count(line, "}}") {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "|") && verbatim {
			closing := strings.Index(text[end:], "{"+name+"}")
			if closing >= 0 && !strings.Contains(text[end:end+closing], "\n") {
				from = end + closing + len(name) + 2
				continue
			}
		}
		return []int{begin, end}, name, parameters
	}
}

// codeInRows splits code of several lines in a row of a table into one piece of code for each line, because a cell of Markdown has no
// blocks.
func codeInRows(text string) string {
	var b strings.Builder
	for last, from := 0, 0; ; {
		m := macroStart.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return b.String() + text[last:]
		}
		begin, end, name := from+m[0], from+m[1], text[from+m[2]:from+m[3]]
		size := strings.Index(text[end:], "{"+name+"}")
		if from = end; name != "code" && name != "noformat" {
			continue
		}
		if size < 0 {
			return b.String() + text[last:]
		}
		stop := end + size + len(name) + 2
		line := text[max(last, begin-maxSpan):begin]
		at := strings.LastIndexByte(line, '\n')
		inRow := last > 0 && at < 0 || strings.HasPrefix(strings.TrimSpace(line[at+1:]), "|")
		if strings.HasSuffix(line, `\`) {
			continue
		}
		from = stop
		rest := text[stop:min(len(text), stop+maxSpan)]
		rest, _, _ = strings.Cut(rest, "\n")
		if body := strings.Trim(text[end:end+size], "\n"); inRow && strings.Contains(rest, "|") && strings.Contains(body, "\n") {
			var pieces []string
			for line := range strings.SplitSeq(body, "\n") {
				if strings.TrimSpace(line) != "" {
					pieces = append(pieces, "{{ "+strings.ReplaceAll(strings.TrimSpace(line), "}}", "} }")+" }}")
				}
			}
			b.WriteString(text[last:begin] + strings.Join(pieces, `\\`))
			last = stop
		}
	}
}

// level is an open list.
type level struct {
	marker byte
	depth  int // the length of its mark
	number int
	indent int // of the lines in its last item
}

type writer struct {
	c     *converter
	out   []string
	open  []string // lines of the paragraph, or of the list item, that is not written yet
	lists []level
	item  string // the mark in front of the item's text
}

// block writes lines with an empty line before them.
func (w *writer) block(lines ...string) {
	if len(w.out) > 0 && w.out[len(w.out)-1] != "" {
		w.out = append(w.out, "")
	}
	w.out = append(w.out, lines...)
}

// paragraph writes the open lines. Each line of Jira stays a line.
func (w *writer) paragraph() {
	if len(w.open) == 0 {
		return
	}
	lines := make([]string, len(w.open))
	for i, line := range w.open {
		lines[i] = w.c.inline(strings.TrimSpace(line), 0)
	}
	lines = strings.Split(strings.Join(lines, "\\\n"), "\n")
	for i, line := range lines {
		lines[i] = EscapeStart(line)
	}
	w.open = nil
	if len(w.lists) == 0 {
		w.block(lines...)
		return
	}
	w.out = append(w.out, Indent(w.item, strings.Repeat(" ", w.lists[len(w.lists)-1].indent), lines)...)
}

func (w *writer) endLists() {
	w.paragraph()
	w.lists = nil
}

// text writes the text between two macros.
func (w *writer) text(text string) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			if i < len(lines)-1 || len(lines) == 1 { // the end of the text is no empty line
				w.endLists()
			}
			continue
		}
		if m := match(heading, "h", trimmed); m != nil {
			w.endLists()
			level, _ := strconv.Atoi(m[1])
			w.block(strings.Repeat("#", level)+" "+w.c.inline(m[2], 0), "")
			continue
		}
		if m := match(quoteLine, "b", trimmed); m != nil {
			w.endLists()
			w.block("> "+EscapeStart(w.c.inline(m[1], 0)), "")
			continue
		}
		if m := match(listItem, "*#-", trimmed); m != nil && (len(w.lists) > 0 || !strings.HasPrefix(m[1], "--")) { // else it is a dash
			w.listItem(m[1], m[2])
			continue
		}
		switch {
		case match(rule, "-", trimmed) != nil:
			w.endLists()
			w.block("---", "")
		case trimmed[0] == '|' && len(trimmed) > 1:
			w.endLists()
			rows, next := tableRows(lines, i)
			w.block(append(w.c.table(rows), "")...)
			i = next - 1
		case len(w.lists) > 0 && len(w.open) == 0: // after a block in a list item
			w.endLists()
			w.open = append(w.open, line)
		default:
			w.open = append(w.open, line)
		}
	}
}

// match matches an expression if the line begins with a character in begins.
func match(re *regexp.Regexp, begins, line string) []string {
	if strings.IndexByte(begins, line[0]) < 0 {
		return nil
	}
	return re.FindStringSubmatch(line)
}

// listItem opens an item. Its depth is the length of its mark, and missing levels are not added.
func (w *writer) listItem(marks, text string) {
	w.paragraph()
	marker := marks[len(marks)-1]
	if len(w.lists) == 0 {
		w.block()
	}
	n := len(w.lists)
	for n > 0 && w.lists[n-1].depth > len(marks) || n > 0 && w.lists[n-1].depth == len(marks) &&
		(w.lists[n-1].marker == '#') != (marker == '#') {
		n--
	}
	w.lists = w.lists[:n]
	if n == 0 || w.lists[n-1].depth < len(marks) && n < maxDepth {
		w.lists = append(w.lists, level{marker: marker, depth: len(marks)})
	}
	n = len(w.lists)
	l := &w.lists[n-1]
	l.number++
	indent := 0
	if n > 1 {
		indent = w.lists[n-2].indent
	}
	sign := "- "
	if marker == '#' {
		sign = strconv.Itoa(l.number) + ". "
	}
	w.item = strings.Repeat(" ", indent) + sign
	l.indent = len(w.item)
	w.open = []string{text}
}

// macro writes a block macro. After the text of a list item, the block belongs to the item.
func (w *writer) macro(name, parameters, body string, depth int) {
	inItem := len(w.lists) > 0
	w.paragraph()
	var lines []string
	switch name {
	case "code", "noformat":
		lines = fence(body, parameters)
	default:
		title := parameter(parameters, "title")
		if name == "expand" && !strings.Contains(parameters, "=") {
			title = parameters
		}
		if title != "" {
			lines = append(lines, "**"+w.c.inline(title, 0)+"**", "")
		}
		inner := w.c.blocks(strings.Trim(body, "\n"), depth+1)
		for len(inner) > 0 && inner[len(inner)-1] == "" {
			inner = inner[:len(inner)-1]
		}
		lines = Quote(append(lines, inner...))
	}
	if !inItem {
		w.block(append(lines, "")...)
		return
	}
	pad := strings.Repeat(" ", w.lists[len(w.lists)-1].indent)
	w.out = append(append(w.out, ""), Indent(pad, pad, lines)...)
}

// fence returns a block of code with its title.
func fence(body, parameters string) []string {
	lang := parameter(parameters, "language")
	if first, _, _ := strings.Cut(parameters, "|"); lang == "" && !strings.Contains(first, "=") && language.MatchString(first) {
		lang = first
	}
	var lines []string
	if title := parameter(parameters, "title"); title != "" {
		lines = append(lines, "**"+Escape(title)+"**", "")
	}
	return append(lines, Fence(strings.TrimPrefix(body, "\n"), lang)...)
}

// parameter returns a parameter of a macro, such as title=x.
func parameter(parameters, name string) string {
	for part := range strings.SplitSeq(parameters, "|") {
		if key, value, ok := strings.Cut(part, "="); ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// tableRows returns the rows of a table from line i on. A row continues until a line ends with a bar.
func tableRows(lines []string, i int) (rows []string, next int) {
	for i < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i]), "|") {
		row := strings.TrimSpace(lines[i])
		i++
		for i < len(lines) && !strings.HasSuffix(row, "|") {
			more := strings.TrimSpace(lines[i])
			if more == "" || more[0] == '|' && !strings.HasSuffix(row, `\\`) {
				break
			}
			row += "\n" + more
			i++
		}
		rows = append(rows, row)
	}
	return rows, i
}

func (c *converter) table(rows []string) []string {
	const most = 200 // columns
	var all [][]Cell
	for _, row := range rows {
		cells := splitRow(row)
		cells = cells[:min(len(cells), most)]
		for i, cell := range cells {
			var parts []string
			for line := range strings.SplitSeq(strings.ReplaceAll(cell.Text, `\\`, "\n"), "\n") {
				parts = append(parts, strings.TrimSpace(strings.ReplaceAll(c.inline(strings.TrimSpace(line), 0), "\n", " ")))
			}
			cells[i].Text = strings.Join(parts, "<br>")
		}
		all = append(all, cells)
	}
	return Table(all, len(all) > 0 && len(all[0]) > 0 && all[0][0].Head)
}

// splitRow splits a row at its bars. It keeps bars in links, code and images, and bars after a backslash.
func splitRow(row string) (cells []Cell) {
	row = strings.TrimRight(row, " ")
	head := false
	begin, i := 0, 0
	flush := func(end int) {
		if begin > 0 {
			cells = append(cells, Cell{row[begin:end], head})
		}
	}
	for i < len(row) {
		switch rest := row[i:]; {
		case rest[0] == '\\' && len(rest) > 1:
			i += 2
			continue
		case rest[0] == '[', rest[0] == '!', strings.HasPrefix(rest, "{"):
			if n := atomLength(rest); n > 0 {
				i += n
				continue
			}
		case rest[0] == '|':
			flush(i)
			i++
			head = i < len(row) && row[i] == '|'
			if head {
				i++
			}
			begin = i
			continue
		}
		i++
	}
	if strings.TrimSpace(row[begin:]) != "" {
		flush(len(row))
	}
	return cells
}
