// Package wiki turns the wiki markup of Jira into Markdown.
//
// Blocks come first (blocks.go): code, quotations, panels, headings, lists, tables. Then the marks within a line (inline.go).
// Characters with a meaning only in Markdown are escaped, so that List<String> and __init__ stay as they are. A text
// that is already Markdown stays as it is, because people paste Markdown.
// The package must not know issues or files. It accepts any input, and takes linear time except for nested parts.
package wiki

import (
	"regexp"
	"strings"
)

// Options tells the meaning of names in a text.
type Options struct {
	Person func(id string) string // returns the name for a mention; "" leaves the ID
	// File returns the address of an attached file, or "". shown means that the file is a picture that everybody can see at the address.
	File func(name string) (to string, shown bool)
}

// Lost counts the losses by their kind, because Markdown cannot express everything.
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
