package view

import (
	"cmp"

	"github.com/planform/planform/internal/sync/doctor"
	"github.com/planform/planform/internal/text/diag"
)

// Report shows the doctor's report on standard output.
func (v *View) Report(r *doctor.Report) error {
	return v.print(stdout, func(p *printer) {
		if v.json {
			p.document(*r)
		} else {
			p.report(r)
		}
	})
}

func (p *printer) report(r *doctor.Report) {
	names, statuses := 0, 0
	for _, c := range r.Checks {
		names, statuses = max(names, len(c.Name)), max(statuses, len(c.Status))
	}
	colors := map[string]style{doctor.OK: p.create, doctor.Warning: p.warning, doctor.Problem: p.failure}
	for _, c := range r.Checks {
		p.line(colors[c.Status].paint(c.Status), spaces(statuses-len(c.Status)), columnGap, c.Name, spaces(names-len(c.Name)), columnGap,
			Safe(c.Summary))
		if c.Hint != "" {
			p.line(spaces(names+statuses+2*len(columnGap)), p.dim.paint("-> "), Safe(c.Hint))
		}
	}
	found := cmp.Or(counts(noun(r.Summary.Problems, "problem"), noun(r.Summary.Warnings, "warning")), "All is well")
	p.line("\n", p.bold.paint(found+"."), " ", diag.Count(r.Summary.Requests, "request"), ", nothing was written.")
}
