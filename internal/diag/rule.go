package diag

import (
	"slices"
	"strings"
)

// Rule is what findings have in common that are shown as one: all but the first text between quotation marks.
type Rule struct {
	severity                  Severity
	code, hint, before, after string
}

// Rule returns the rule that a finding is about. ok is false if the finding names other places, which its reader needs.
func (d Diagnostic) Rule() (r Rule, ok bool) {
	before, _, after := d.subject()
	return Rule{d.Severity, d.Code, d.Hint, before, after}, len(d.Related) == 0
}

// subject splits a summary at its first text between quotation marks; without one, all is before it.
func (d Diagnostic) subject() (before, subject, after string) {
	before, rest, _ := strings.Cut(d.Summary, `"`)
	subject, after, closed := strings.Cut(rest, `"`)
	if !closed {
		return d.Summary, "", ""
	}
	return before, `"` + subject + `"`, after
}

// Together is the summary of findings of one rule: it lists what they are about, ten at most.
func Together(list []Diagnostic) string {
	const most = 10
	var subjects []string
	for _, d := range list {
		if _, s, _ := d.subject(); !slices.Contains(subjects, s) {
			subjects = append(subjects, s)
		}
	}
	before, _, after := list[0].subject()
	return before + First(subjects, most) + after
}
