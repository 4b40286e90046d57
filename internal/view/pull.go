package view

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Pull is what was taken from the service into manifests, or would be.
type Pull struct {
	DryRun   bool
	Files    []PulledFile
	Values   []PulledValue
	NotTaken int // values that the service has otherwise, and that were not taken
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
}

type jsonPulledFile struct {
	File   string `json:"file"`
	Values int    `json:"values"`
	Diff   string `json:"diff"`
}

// Pulled shows what was taken, or as a unified diff what would be.
func (v *View) Pulled(r Pull) error {
	if v.o.JSON {
		out := jsonPull{FormatVersion: FormatVersion, DryRun: r.DryRun, NotTaken: r.NotTaken, Files: []jsonPulledFile{}, Values: append([]PulledValue{}, r.Values...)}
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
		p.line(p.bold.paint(what))
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
	before, after := string(f.Before), string(f.After)
	lines := comparePieces(splitLines(&before), splitLines(&after))
	out := []string{"--- " + f.Name, "+++ " + f.Name}
	old, now := 1, 1 // numbers of the next lines
	for i := 0; i < len(lines); {
		if lines[i].sign == ' ' {
			old, now, i = old+1, now+1, i+1
			continue
		}
		end := i // of the hunk: behind the last change that is near
		for j := i; j < len(lines) && j < end+2*context+1; j++ {
			if lines[j].sign != ' ' {
				end = j
			}
		}
		first := max(0, i-context)
		last := min(len(lines), end+context+1)
		from, to := old-(i-first), now-(i-first)
		var hunk []string
		removed, added := 0, 0
		for _, l := range lines[first:last] {
			if l.sign != '+' {
				removed++
			}
			if l.sign != '-' {
				added++
			}
			hunk = append(hunk, string(l.sign)+l.text)
		}
		out = append(append(out, fmt.Sprintf("@@ -%d,%d +%d,%d @@", from, removed, to, added)), hunk...)
		old, now, i = from+removed, to+added, last
	}
	return out
}
