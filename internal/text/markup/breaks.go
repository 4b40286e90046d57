package markup

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

var breaks = regexp.MustCompile(`(?i)<br ?/?>$`)

// HardBreaks returns Markdown in which each line end within a paragraph is a break. Code, tables and HTML stay unchanged.
func HardBreaks(markdown string) string {
	if !strings.Contains(markdown, "\n") || isExcessive(markdown) {
		return markdown
	}
	var ends []int // of lines that no blank line follows
	eachText(markdown, func(n *ast.Text) {
		if n.SoftLineBreak() && !n.HardLineBreak() {
			ends = append(ends, n.Segment.Stop)
		}
	})
	var b strings.Builder
	at := 0
	for _, end := range ends {
		line := strings.IndexByte(markdown[end:], '\n')
		if line < 0 || end < at || strings.TrimSpace(markdown[end:end+line]) != "" {
			continue
		}
		kept := strings.TrimRight(markdown[at:end], " \t")
		switch {
		case breaks.MatchString(kept): // the line ends with a break
			b.WriteString(markdown[at : end+line])
		case strings.HasSuffix(kept, "\\"): // the line ends with a backslash, which would escape another one
			b.WriteString(kept + "  ")
		default:
			b.WriteString(kept + "\\")
		}
		at = end + line
	}
	return b.String() + markdown[at:]
}

// eachText calls visit for each text of Markdown outside of code, images and HTML.
func eachText(markdown string, visit func(*ast.Text)) {
	_ = ast.Walk(plainParser().Parse(text.NewReader([]byte(markdown))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.Image, *ast.HTMLBlock, *ast.CodeBlock, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if entering {
				visit(n)
			}
		}
		return ast.WalkContinue, nil
	})
}

// Bold returns a text in which pairs of ** that CommonMark leaves as they are, since they stand between a letter and a sign such as 「, are
// what they are elsewhere.
func Bold(markdown string) string {
	if !strings.Contains(markdown, "**") || isExcessive(markdown) {
		return markdown
	}
	var marks []int // places of ** within text
	eachText(markdown, func(n *ast.Text) {
		for at := n.Segment.Start; at < n.Segment.Stop; at++ {
			if strings.HasPrefix(markdown[at:n.Segment.Stop], "**") {
				marks = append(marks, at)
				at++
			}
		}
	})
	var b strings.Builder
	last := 0
	for n := 0; n+1 < len(marks); n++ {
		begin, end := marks[n], marks[n+1]
		inner := markdown[begin+2 : end]
		if inner != strings.Trim(inner, " \t\n*") || inner == "" || strings.Contains(inner, "\n") || begin > 0 && strings.ContainsRune(`\*`, rune(markdown[begin-1])) {
			continue
		}
		b.WriteString(markdown[last:begin] + "<strong>" + inner + "</strong>")
		last = end + 2
		n++
	}
	return b.String() + markdown[last:]
}
