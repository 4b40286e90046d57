package diag

import (
	"slices"
	"strings"
)

// Rule identifies findings that are shown as one. Their first texts between quotation marks may differ.
type Rule struct {
	severity                  Severity
	code, hint, before, after string
}

// Rule returns the rule of a finding. ok is false if the finding names other places, which must be shown.
func (d Diagnostic) Rule() (r Rule, ok bool) {
	before, _, after := d.Subject()
	return Rule{d.Severity, d.Code, d.Hint, before, after}, len(d.Related) == 0
}

// Subject splits a summary at its first text between quotation marks. Without one, before is the whole summary.
func (d Diagnostic) Subject() (before, subject, after string) {
	before, rest, _ := strings.Cut(d.Summary, `"`)
	subject, after, closed := strings.Cut(rest, `"`)
	if !closed {
		return d.Summary, "", ""
	}
	return before, `"` + subject + `"`, after
}

// Together returns one summary for findings of one rule. It lists up to three of their subjects.
func Together(list []Diagnostic) string {
	const most = 3
	var subjects []string
	for _, d := range list {
		if _, s, _ := d.Subject(); !slices.Contains(subjects, s) {
			subjects = append(subjects, s)
		}
	}
	before, _, after := list[0].Subject()
	return before + First(subjects, most) + after
}
