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

// EscapeStart escapes what at the beginning of a line would make it something else than a paragraph.
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

// Destination is the address of a link.
func Destination(url string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E").Replace(url)
}

// CodeSpan is code within a line.
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

// Fence is a block of code, between marks that are longer than any within it.
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
	if body = strings.Trim(body, "\n"); body != "" {
		lines = append(lines, strings.Split(body, "\n")...)
	}
	return append(lines, marks)
}

// Table is a table; the first row is its header.
func Table(rows [][]string) []string {
	columns := 0
	for _, cells := range rows {
		columns = max(columns, len(cells))
	}
	var lines []string
	for n, cells := range rows {
		var line strings.Builder
		line.WriteString("|")
		for i := range columns {
			text := ""
			if i < len(cells) {
				text = cells[i]
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
