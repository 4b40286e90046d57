package view

import (
	"cmp"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// The statuses of a check. A warning does not keep planform from working.
const (
	OK      = "ok"
	Warning = "warning"
	Problem = "problem"
)

// Report is the outcome of an examination.
type Report struct {
	BaseURL   string
	Workspace string
	Checks    []Check
	Requests  int      // sent
	Offers    []string // kinds that this edition has
	Lacks     []string // kinds that it does not have
}

// Check is the outcome of one check.
type Check struct {
	Name    string // what was examined, such as workspace
	Status  string // one of the three
	Summary string
	Hint    string // the next step; "" = none
}

// Count tells how many checks ended with the status.
func (r *Report) Count(status string) int {
	n := 0
	for i := range r.Checks {
		if r.Checks[i].Status == status {
			n++
		}
	}
	return n
}

// Report shows an examination on standard output.
func (v *View) Report(r *Report) error {
	return v.print(stdout, func(p *printer) {
		if v.o.JSON {
			p.reportJSON(r)
			return
		}
		p.report(r)
	})
}

func (p *printer) report(r *Report) {
	names, words := 0, 0
	for i := range r.Checks {
		names, words = max(names, len(r.Checks[i].Name)), max(words, len(r.Checks[i].Status))
	}
	indent := blanks(names + words + 2*len(between))
	for i := range r.Checks {
		c := &r.Checks[i]
		p.paint(p.statusStyle(c.Status), c.Status)
		p.str(blanks(words - len(c.Status)))
		p.str(between + c.Name + blanks(names-len(c.Name)) + between)
		p.safe(c.Summary)
		p.nl()
		if c.Hint != "" {
			p.str(indent)
			p.paint(p.dim, "-> ")
			p.safe(c.Hint)
			p.nl()
		}
	}
	p.nl()
	p.paint(p.bold, verdict(r))
	p.str(" " + diag.Count(r.Requests, "request") + ", nothing was written.")
	p.nl()
}

func (p *printer) statusStyle(status string) style {
	switch status {
	case Warning:
		return p.warning
	case Problem:
		return p.failure
	default:
		return p.create
	}
}

// verdict is the sentence that closes a report.
func verdict(r *Report) string {
	var parts []string
	if n := r.Count(Problem); n > 0 {
		parts = append(parts, diag.Count(n, "problem"))
	}
	if n := r.Count(Warning); n > 0 {
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

func (p *printer) reportJSON(r *Report) {
	p.str("{\n")
	p.member("format_version", FormatVersion)
	p.member("workspace", r.Workspace)
	p.member("base_url", r.BaseURL)
	p.member("summary", struct {
		OK       int `json:"ok"`
		Warnings int `json:"warnings"`
		Problems int `json:"problems"`
		Requests int `json:"requests"`
	}{r.Count(OK), r.Count(Warning), r.Count(Problem), r.Requests})
	p.member("offers", append([]string{}, r.Offers...))
	p.member("lacks", append([]string{}, r.Lacks...))
	p.str(`  "checks": `)
	p.list(len(r.Checks), func(i int) any {
		c := &r.Checks[i]
		return jsonCheck{c.Name, c.Status, c.Summary, known(c.Hint)}
	})
	p.str("\n}\n")
}
