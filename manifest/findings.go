package manifest

import (
	"slices"

	"github.com/planform/planform/internal/text/diag"
)

// finding is a diagnostic. suggest returns its hint; it is called only if the finding is reported.
type finding struct {
	diag.Diagnostic
	suggest func() string
}

// findings collects what is wrong, up to a maximum, and counts the rest.
type findings struct {
	list     []finding
	reported map[findingKey]bool // so that a problem shared by several objects is reported once
	max      int
	dropped  int      // errors beyond the maximum
	element  *element // the for_each element of the current object; nil = no for_each
}

// problem is the code, the summary and the hint of a finding.
type problem struct{ code, summary, hint string }

type findingKey struct {
	position diag.Position
	severity diag.Severity
	code     string
	summary  string
}

func (f *findings) add(d diag.Diagnostic) { f.addSuggesting(d, nil) }

// report adds an error at a place of a document.
func (f *findings) report(at diag.Position, path string, p problem, others ...diag.Related) {
	f.add(diag.Diagnostic{Code: p.code, Position: at, Path: path, Summary: p.summary, Hint: p.hint, Related: others})
}

// relatedPlace returns another place that a finding refers to.
func relatedPlace(note string, at diag.Position) diag.Related {
	return diag.Related{Position: at, Note: note}
}

// addSuggesting adds a finding. near returns its hint, and is called only if the finding is reported.
func (f *findings) addSuggesting(d diag.Diagnostic, near func() string) {
	key := findingKey{d.Position, d.Severity, d.Code, d.Summary}
	if f.reported[key] {
		return
	}
	if !f.full() {
		f.reported[key] = true
		d.Related = append(d.Related, f.element.related()...)
		f.list = append(f.list, finding{d, near})
	} else if d.Severity == diag.Error {
		f.dropped++
	}
}

// full reports whether the maximum is reached, so that callers need not word further findings.
func (f *findings) full() bool { return len(f.list) >= f.max }

func (f *findings) hasErrors() bool {
	return f.dropped > 0 || slices.ContainsFunc(f.list, func(n finding) bool { return n.Severity == diag.Error })
}

// diagnostics returns the findings in the order of their positions, up to the maximum.
func (f *findings) diagnostics() diag.List {
	var list diag.List
	for _, n := range f.list {
		if n.suggest != nil && n.Hint == "" {
			n.Hint = n.suggest()
		}
		list = append(list, n.Diagnostic)
	}
	list.Sort()
	if f.dropped > 0 {
		list = append(list, diag.Diagnostic{
			Severity: diag.Note, Code: "too-many-findings",
			Summary: diag.Count(f.dropped, "more error") + " not shown", Hint: "fix the errors above first",
		})
	}
	return list
}
