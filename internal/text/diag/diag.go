package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Position is a place in a manifest. The zero Position is no place.
type Position struct {
	File   string `json:"file"`   // as the user named it; "-" is standard input
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // from 1, in characters
}

// IsZero reports whether the position is no place.
func (p Position) IsZero() bool { return p == Position{} }

// String returns file:line:column, without unknown parts.
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}

// Compare orders positions by file, line and column.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Severity tells whether a diagnostic stops the run.
type Severity int

// An Error stops the run before any request. A Warning is shown, and the run goes on. A Note comments on the other findings, and comes
// after them.
const (
	Error Severity = iota
	Warning
	Note
)

// String returns "error", "warning" or "note".
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Note:
		return "note"
	default:
		return "error"
	}
}

// MarshalText returns the word of [Severity.String].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the word of [Severity.String].
func (s *Severity) UnmarshalText(word []byte) error {
	for *s = range Note + 1 {
		if s.String() == string(word) {
			return nil
		}
	}
	return fmt.Errorf("there is no severity %q", word)
}

// Diagnostic is one finding.
type Diagnostic struct {
	Severity Severity  `json:"severity"`
	Code     string    `json:"code"` // stable name for programs, such as "unknown-field"
	Position           // where it starts
	Path     string    `json:"path"`    // path in the document, such as projects[0].work_items[3].state
	Address  string    `json:"address"` // of the object concerned; "" = none
	Summary  string    `json:"summary"` // the problem, in one line
	Hint     string    `json:"hint"`    // the next step, in one line; "" = unknown
	Related  []Related `json:"related"`
}

// Related is another place that belongs to a finding, such as the first of two equal keys.
type Related struct {
	Position
	Note string `json:"note"`
}

// String returns the finding on one line: place, severity, summary and hint.
func (d Diagnostic) String() string {
	var b strings.Builder
	if !d.Position.IsZero() {
		fmt.Fprintf(&b, "%s: ", d.Position)
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Summary)
	if d.Path != "" {
		fmt.Fprintf(&b, " (at %s)", d.Path)
	}
	for _, r := range d.Related {
		fmt.Fprintf(&b, "; %s %s", r.Note, r.Position)
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "; %s", d.Hint)
	}
	return b.String()
}

// List holds findings. The nil List is valid and empty.
type List []Diagnostic

// Errorf adds an error without a hint.
func (l *List) Errorf(pos Position, code, format string, args ...any) {
	l.Add(Diagnostic{Severity: Error, Code: code, Position: pos, Summary: fmt.Sprintf(format, args...)})
}

// maxText is the maximum length of a summary or hint, in characters. They quote manifests and the service.
const maxText = 1000

// Add appends findings. Long texts are truncated.
func (l *List) Add(ds ...Diagnostic) {
	for _, d := range ds {
		d.Summary, d.Hint = Truncate(d.Summary, maxText), Truncate(d.Hint, maxText)
		*l = append(*l, d)
	}
}

// HasErrors reports whether any finding stops the run.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders the findings by place, severity and text, with notes at the end, so that equal findings are always printed in the same order.
func (l List) Sort() {
	last := func(d Diagnostic) int {
		if d.Severity == Note {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(last(a)-last(b), a.Position.Compare(b.Position), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Summary, b.Summary))
	})
}

// MaxShown is the number of findings of one severity that are shown.
const MaxShown = 100

// Clip is [List.ClipTo] with [MaxShown].
func (l List) Clip() List { return l.ClipTo(MaxShown) }

// ClipTo returns the first errors and warnings of a sorted list, up to most of each, without repetitions. It adds a note with the number of
// the others.
func (l List) ClipTo(most int) List {
	count := map[Severity]int{}
	seen := map[string]bool{} // several objects may come from one place
	kept := slices.DeleteFunc(slices.Clone(l), func(d Diagnostic) bool {
		if key := fmt.Sprint(d.Position, d.Severity, d.Code, d.Summary); !d.Position.IsZero() && d.Line > 0 {
			if seen[key] {
				return true
			}
			seen[key] = true
		}
		count[d.Severity]++
		return d.Severity != Note && count[d.Severity] > most
	})
	for _, severity := range []Severity{Error, Warning} {
		if more := count[severity] - most; more > 0 {
			kept.Add(Diagnostic{Severity: Note, Code: "too-many-findings", Summary: Count(more, "more "+severity.String()) + " not shown"})
		}
	}
	return kept
}

// Err returns the list as an error if it contains one, otherwise nil.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return ListError{l}
}

// ListError is a [List] that contains an error.
type ListError struct{ List List }

// Error returns the findings, one in each line.
func (le ListError) Error() string {
	lines := make([]string, len(le.List))
	for i, d := range le.List {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}
