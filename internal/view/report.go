package view

import (
	"cmp"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/doctor"
)

// Report shows an examination on standard output.
func (v *View) Report(r *doctor.Report) error {
	return v.print(stdout, func(p *printer) {
		if v.json {
			p.document(newJSONReport(r))
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
		p.line(colors[c.Status].paint(c.Status), blanks(statuses-len(c.Status)), columnGap, c.Name, blanks(names-len(c.Name)), columnGap,
			Safe(c.Summary))
		if c.Hint != "" {
			p.line(blanks(names+statuses+2*len(columnGap)), p.dim.paint("-> "), Safe(c.Hint))
		}
	}
	found := cmp.Or(counts(noun(r.Count(doctor.Problem), "problem"), noun(r.Count(doctor.Warning), "warning")), "All is well")
	p.line("\n", p.bold.paint(found+"."), " ", diag.Count(r.Requests, "request"), ", nothing was written.")
}

// reportVersion is the version of the format of a report. The first had other keys.
const reportVersion = 2

type jsonReport struct {
	FormatVersion int           `json:"format_version"`
	Workspace     string        `json:"workspace"`
	BaseURL       string        `json:"base_url"`
	Summary       reportSummary `json:"summary"`
	Supported     []string      `json:"supported"`
	Unsupported   []string      `json:"unsupported"`
	HasV2         bool          `json:"has_v2"`
	V2Unsupported []string      `json:"v2_unsupported"`
	Checks        []jsonCheck   `json:"checks"`
}

type reportSummary struct {
	OK       int `json:"ok"`
	Warnings int `json:"warnings"`
	Problems int `json:"problems"`
	Requests int `json:"requests"`
}

type jsonCheck struct {
	Check   string  `json:"check"`
	Status  string  `json:"status"`
	Summary string  `json:"summary"`
	Hint    *string `json:"hint"`
}

func newJSONReport(r *doctor.Report) jsonReport {
	j := jsonReport{
		reportVersion, r.Workspace, r.BaseURL,
		reportSummary{r.Count(doctor.OK), r.Count(doctor.Warning), r.Count(doctor.Problem), r.Requests},
		diag.OrEmpty(r.Supported), diag.OrEmpty(r.Unsupported), r.HasV2, r.V2Unsupported, make([]jsonCheck, len(r.Checks)),
	}
	for i, c := range r.Checks {
		j.Checks[i] = jsonCheck{c.Name, c.Status, c.Summary, diag.OrNull(c.Hint)}
	}
	return j
}
