package view

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Pull is what was taken from the service into manifests, or would be.
type Pull struct {
	DryRun   bool
	Files    []PulledFile
	Values   []PulledValue
	NotTaken int // values that the service has otherwise, and that were not taken
	// NotCompared is what nobody looked at: what people changed in it was not taken.
	NotCompared []planner.NotCompared
}

// PulledFile is a file that changes.
type PulledFile struct {
	Name          string
	Before, After []byte
	Values        int
}

// PulledValue is a value that is taken.
type PulledValue struct {
	Address resource.Address `json:"address"`
	Path    string           `json:"path"` // of the field
	diag.Position

	Before *string `json:"before"` // nil = none
	After  *string `json:"after"`
}

type jsonPull struct {
	FormatVersion int              `json:"format_version"`
	DryRun        bool             `json:"dry_run"`
	NotTaken      int              `json:"not_taken"`
	Files         []jsonPulledFile `json:"files"`
	Values        []PulledValue    `json:"values"`

	NotCompared []planner.NotCompared `json:"not_compared"`
}

type jsonPulledFile struct {
	File   string `json:"file"`
	Values int    `json:"values"`
	Diff   string `json:"diff"`
}

// Pulled shows what was taken, or as a unified diff what would be.
func (v *View) Pulled(r Pull) error {
	if v.json {
		out := jsonPull{
			FormatVersion: FormatVersion, DryRun: r.DryRun, NotTaken: r.NotTaken, Files: []jsonPulledFile{},
			Values: append([]PulledValue{}, r.Values...), NotCompared: append([]planner.NotCompared{}, r.NotCompared...),
		}
		for _, f := range r.Files {
			out.Files = append(out.Files, jsonPulledFile{f.Name, f.Values, strings.Join(unified(f), "\n") + "\n"})
		}
		return v.print(stdout, func(p *printer) { p.document(out) })
	}
	return v.show(func(p *printer) {
		for _, f := range r.Files {
			if r.DryRun {
				p.unified(unified(f))
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
}

// unified colours a unified diff.
func (p *printer) unified(lines []string) {
	for _, l := range lines {
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

// unified is the difference of a file as diff -u has it.
func unified(f PulledFile) []string {
	const context = 3
	out := []string{"--- " + f.Name, "+++ " + f.Name}
	old, now := 1, 1 // numbers of the next lines
	for _, p := range passages(compareLines(string(f.Before), string(f.After)), context) {
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
	return out
}
