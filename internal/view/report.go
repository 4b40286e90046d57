package view

import (
	"cmp"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/doctor"
)

// Report shows what the doctor found, on standard output.
func (v *View) Report(r *doctor.Report) error {
	return v.print(stdout, func(p *printer) {
		if v.o.JSON {
			p.reportJSON(r)
			return
		}
		p.report(r)
	})
}

func (p *printer) report(r *doctor.Report) {
	names, words := 0, 0
	for i := range r.Checks {
		names, words = max(names, len(r.Checks[i].Name)), max(words, len(r.Checks[i].Status.String()))
	}
	indent := blanks(names + words + 2*len(between))
	for i := range r.Checks {
		c := &r.Checks[i]
		p.paint(p.statusStyle(c.Status), c.Status.String())
		p.str(blanks(words - len(c.Status.String())))
		p.str(between + c.Name + blanks(names-len(c.Name)) + between)
		p.safe(c.What)
		p.nl()
		if c.Do != "" {
			p.str(indent)
			p.paint(p.dim, "-> ")
			p.safe(c.Do)
			p.nl()
		}
	}
	p.nl()
	p.paint(p.bold, verdict(r))
	p.str(" " + diag.Count(r.Requests, "request") + ", nothing was written.")
	p.nl()
}

func (p *printer) statusStyle(s doctor.Status) style {
	switch s {
	case doctor.Warning:
		return p.warning
	case doctor.Problem:
		return p.failure
	case doctor.OK:
		return p.create
	default:
		return style{}
	}
}

// verdict is the sentence that closes a report.
func verdict(r *doctor.Report) string {
	var parts []string
	if n := r.Count(doctor.Problem); n > 0 {
		parts = append(parts, diag.Count(n, "problem"))
	}
	if n := r.Count(doctor.Warning); n > 0 {
		parts = append(parts, diag.Count(n, "warning"))
	}
	return cmp.Or(strings.Join(parts, ", "), "All is well") + "."
}

type jsonCheck struct {
	Check  string  `json:"check"`
	Status string  `json:"status"`
	What   string  `json:"what"`
	Do     *string `json:"do"`
}

func (p *printer) reportJSON(r *doctor.Report) {
	p.str("{\n")
	p.member("format_version", formatVersion)
	p.member("workspace", r.Workspace)
	p.member("base_url", r.BaseURL)
	p.member("summary", struct {
		OK       int `json:"ok"`
		Warnings int `json:"warnings"`
		Problems int `json:"problems"`
		Requests int `json:"requests"`
	}{r.Count(doctor.OK), r.Count(doctor.Warning), r.Count(doctor.Problem), r.Requests})
	p.member("offers", append([]string{}, r.Offers...))
	p.member("lacks", append([]string{}, r.Lacks...))
	p.str(`  "checks": `)
	p.list(len(r.Checks), func(i int) any {
		c := &r.Checks[i]
		return jsonCheck{c.Name, c.Status.String(), c.What, known(c.Do)}
	})
	p.str("\n}\n")
}
