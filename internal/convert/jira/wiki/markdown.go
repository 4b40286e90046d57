package wiki

import (
	"regexp"
	"strings"
)

// Escape escapes a plain text.
func Escape(s string) string {
	list := make([]token, 0, len(s))
	for _, r := range s {
		list = append(list, token{r: r})
	}
	var b strings.Builder
	for i := range list {
		b.WriteString(escapeAt(list, i))
	}
	return b.String()
}

var (
	numberStart = regexp.MustCompile(`^(\d{1,9})([.)])(\s|$)`)
	markStart   = regexp.MustCompile(`^(#{1,6}(\s|$)|>|[-+](\s|$)|={3,}\s*$|-{3,}\s*$|~{3,})`)
)

// EscapeStart escapes the beginning of a line if Markdown would not read the line as a paragraph.
func EscapeStart(line string) string {
	if line == "" {
		return line
	}
	if m := match(numberStart, "0123456789", line); m != nil {
		return m[1] + `\` + line[len(m[1]):]
	}
	if match(markStart, "#>-+=~", line) != nil {
		return `\` + line
	}
	return line
}

// Destination returns an address with escapes for a link.
func Destination(url string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E").Replace(url)
}

// Quote turns lines into a quotation.
func Quote(lines []string) []string {
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return lines
}

// Indent puts a mark in front of the first line, such as the mark of a list's item, and indents the other lines.
func Indent(mark, pad string, lines []string) []string {
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = mark + line
		case line != "":
			lines[i] = pad + line
		}
	}
	return lines
}

// Image is the prefix of a file's name if the text shows the file as an image.
const Image = "image: "

// File returns a link to an attached file, or the image if it can be shown. Without an address, it returns the name.
func File(prefix, name, to string, shown bool) string {
	switch {
	case to == "":
		return `\[` + prefix + Escape(name) + `\]`
	case shown && prefix == Image:
		return "![" + Escape(name) + "](" + Destination(to) + ")"
	}
	return "[" + prefix + Escape(name) + "](" + Destination(to) + ")"
}

// CodeSpan returns code within a line.
func CodeSpan(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\n", " "))
	if s == "" {
		return ""
	}
	marks, pad := "`", ""
	for strings.Contains(s, marks) {
		marks += "`"
	}
	if s[0] == '`' || s[len(s)-1] == '`' {
		pad = " "
	}
	return marks + pad + s + pad + marks
}

// Fence returns a block of code, between marks that are longer than the marks in the code. Blank lines at the beginning stay.
func Fence(body, lang string) []string {
	longest, run := 2, 0
	for _, r := range body {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	lines := []string{marks + lang}
	if body = strings.TrimRight(body, "\n"); body != "" {
		lines = append(lines, strings.Split(body, "\n")...)
	}
	return append(lines, marks)
}

// Cell is a cell of a table: its text, and whether it is a heading.
type Cell struct {
	Text string
	Head bool
}

// Table returns the lines of a table. Markdown wants a header: a table without one gets an empty header, and its headings are bold.
func Table(rows [][]Cell, header bool) []string {
	columns := 0
	for _, cells := range rows {
		columns = max(columns, len(cells))
	}
	if !header && len(rows) > 0 {
		rows = append([][]Cell{nil}, rows...)
	}
	var lines []string
	for n, cells := range rows {
		var line strings.Builder
		line.WriteString("|")
		for i := range columns {
			text := ""
			if i < len(cells) {
				text = strings.ReplaceAll(cells[i].Text, "|", `\|`)
				if cells[i].Head && n > 0 && text != "" {
					text = "**" + text + "**"
				}
			}
			line.WriteString(" " + text + " |")
		}
		lines = append(lines, line.String())
		if n == 0 {
			lines = append(lines, "|"+strings.Repeat(" --- |", columns))
		}
	}
	return lines
}
