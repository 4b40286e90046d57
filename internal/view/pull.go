package view

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Pull holds the values that a pull took, or in a dry run would take, from the service into manifests. It is also the JSON of the result.
type Pull struct {
	FormatVersion int           `json:"format_version"` // [View.Pulled] sets it
	DryRun        bool          `json:"dry_run"`
	NotTaken      int           `json:"not_taken"` // values that differ on the service and were not taken
	Files         []PulledFile  `json:"files"`
	Values        []PulledValue `json:"values"`
	// NotCompared lists the parts that were not compared. People's changes in these parts were not taken.
	NotCompared []planner.NotCompared `json:"not_compared"`
}

// PulledFile is a manifest file that a pull changes.
type PulledFile struct {
	Name   string `json:"file"`
	Values int    `json:"values"`
	Diff   string `json:"diff"` // see [UnifiedDiff]
}

// PulledValue is a value that a pull takes from the service.
type PulledValue struct {
	Address resource.Address `json:"address"`
	Path    string           `json:"path"` // of the field
	diag.Position

	Before *string `json:"before"` // nil = none
	After  *string `json:"after"`
}

// Pulled shows the result of a pull. A dry run shows the changes of the files as a unified diff.
func (v *View) Pulled(r Pull) error {
	if v.json {
		r.FormatVersion, r.Files, r.Values, r.NotCompared = FormatVersion, diag.OrEmpty(r.Files), diag.OrEmpty(r.Values), diag.OrEmpty(r.NotCompared)
		return v.print(stdout, func(p *printer) { p.document(r) })
	}
	_, err := v.show(func(p *printer) {
		for _, f := range r.Files {
			if r.DryRun {
				p.unified(f.Diff)
			} else {
				p.line(Safe(f.Name), ": ", diag.Count(f.Values, "value"))
			}
		}
		what := "Nothing to take."
		switch n := diag.Count(len(r.Values), "value"); {
		case len(r.Values) > 0 && r.DryRun:
			what = "Would take " + n + " into " + diag.Count(len(r.Files), "file") + "."
		case len(r.Values) > 0:
			what = "Taken: " + n + ". planform plan shows what is left."
		}
		if r.NotTaken > 0 {
			what += " Not taken: " + diag.Count(r.NotTaken, "value") + ", see above."
		}
		p.line(p.bold.paint(what), notComparedToo(r.NotCompared))
	})
	return err
}

// unified prints a unified diff in colours.
func (p *printer) unified(text string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		style := p.dim
		switch {
		case strings.HasPrefix(l, "---"), strings.HasPrefix(l, "+++"), l[0] == ' ':
			p.line(Safe(l))
			continue
		case l[0] == '+':
			style = p.create
		case l[0] == '-':
			style = p.remove
		}
		p.line(style.paint(Safe(l)))
	}
}

// UnifiedDiff returns the difference of two versions of a file in the format of diff -u.
func UnifiedDiff(name string, before, after []byte) string {
	const context = 3
	out := []string{"--- " + name, "+++ " + name}
	old, now := 1, 1 // numbers of the next lines
	for _, p := range passages((&comparison{comparedPairs}).lines(string(before), string(after)), context) {
		old, now = old+p.omitted, now+p.omitted
		removed, added := 0, 0
		var hunk []string
		for _, l := range p.lines {
			if l.sign != '+' {
				removed++
			}
			if l.sign != '-' {
				added++
			}
			hunk = append(hunk, string(l.sign)+l.text)
		}
		out = append(append(out, fmt.Sprintf("@@ -%d,%d +%d,%d @@", old, removed, now, added)), hunk...)
		old, now = old+removed, now+added
	}
	return strings.Join(out, "\n") + "\n"
}
