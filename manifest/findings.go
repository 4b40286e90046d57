package manifest

import (
	"slices"

	"github.com/planform/planform/internal/diag"
)

// finding is a diagnostic whose hint may have to be looked for: that is done
// only for those that are told.
type finding struct {
	diag.Diagnostic
	suggest func() string
}

// findings collects what is wrong, as much of it as will be told and the number of the rest.
type findings struct {
	list    []finding
	told    map[findingKey]bool // What several objects share is found wrong in each, and told once.
	max     int
	dropped int      // errors beyond
	made    *element // that made the object which is looked at; nil = it is written as it is
}

// problem is what a mistake is called, what it is, and what to do about it.
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

// other is another place that a finding is about.
func other(note string, at diag.Position) diag.Related { return diag.Related{Position: at, Note: note} }

// addSuggesting adds a finding whose hint is looked for if it is told.
func (f *findings) addSuggesting(d diag.Diagnostic, near func() string) {
	key := findingKey{d.Position, d.Severity, d.Code, d.Summary}
	if f.told[key] {
		return
	}
	if !f.full() {
		f.told[key] = true
		d.Related = append(d.Related, f.made.related()...)
		f.list = append(f.list, finding{d, near})
	} else if d.Severity == diag.Error {
		f.dropped++
	}
}

// full reports that no more findings will be told, so that none has to be put into words.
func (f *findings) full() bool { return len(f.list) >= f.max }

func (f *findings) hasErrors() bool {
	return f.dropped > 0 || slices.ContainsFunc(f.list, func(n finding) bool { return n.Severity == diag.Error })
}

// diagnostics returns the findings in the order of their places, no more than the limit.
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
			Summary: diag.Count(f.dropped, "more error") + " not shown", Hint: "put these right first",
		})
	}
	return list
}
