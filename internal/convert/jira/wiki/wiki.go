// Package wiki turns the wiki markup of Jira into Markdown.
//
// Blocks come first (blocks.go): code, quotations, panels, headings, lists, tables. Then the marks within a line (inline.go).
// What means something in Markdown and nothing in Jira is escaped, so that List<String> and __init__ stay what they are. A text
// that is Markdown already, since people paste it, is left as it is.
// The package must not know issues or files. It takes any input, in linear time but for what is nested.
package wiki

import (
	"regexp"
	"strings"
)

// Options say what names in a text stand for.
type Options struct {
	Person func(id string) string // the name behind a mention; nil leaves the ID
	// File is the address of an attached file, "" if it has none; shown says that it is a picture, which everybody sees there.
	File func(name string) (to string, shown bool)
}

// Lost counts what Markdown cannot say, by kind.
type Lost map[string]int

// Markdown converts a text.
func Markdown(text string, o Options) (string, Lost) {
	c := converter{o: o, lost: Lost{}}
	text = strings.ReplaceAll(text, "\u00a0", " ")
	if IsMarkdown(text) {
		return strings.TrimSpace(text), c.lost
	}
	return strings.TrimSpace(strings.Join(c.blocks(codeInRows(text), 0), "\n")), c.lost
}

type converter struct {
	o    Options
	lost Lost
}

var (
	markdownOnly = regexp.MustCompile("(?m)^```|\\*\\*[^*\\s][^*\\n]*\\*\\*|\\[[^\\]\\n]+\\]\\(https?://")
	jiraOnly     = regexp.MustCompile(`(?m)^h[1-6]\. |\{(?:code|noformat|quote|panel|note|info|warning|tip|expand|color)\b[^}\n]*\}|\{\{[^}\n]+\}\}|\[~|\[[^\]|\n]+\|[^\]\n]+\]|^\|\||^\*{2,} `)
)

// IsMarkdown reports whether a text has marks of Markdown and none of Jira.
func IsMarkdown(text string) bool {
	return (strings.Contains(text, "```") || strings.Contains(text, "**") || strings.Contains(text, "](http")) &&
		markdownOnly.MatchString(text) && !jiraOnly.MatchString(text)
}
