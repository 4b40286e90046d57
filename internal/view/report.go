package view

import (
	"cmp"

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
	BaseURL       string
	Workspace     string
	Checks        []Check
	Requests      int      // sent
	Supported     []string // kinds that this edition has
	Unsupported   []string // kinds that it does not have
	HasV2         bool     // there is an API v2
	V2Unsupported []string // operations of API v2 that are missing; nil = not known
}

// Check is the outcome of one check.
type Check struct {
	Name    string // what was examined, such as workspace
	Status  string // one of the three
	Summary string
	Hint    string // the next step; "" = none
}

// count tells how many checks ended with the status.
func (r *Report) count(status string) (n int) {
	for _, c := range r.Checks {
		if c.Status == status {
			n++
		}
	}
	return n
}

// Report shows an examination on standard output.
func (v *View) Report(r *Report) error {
	return v.print(stdout, func(p *printer) {
		if v.json {
			p.document(newJSONReport(r))
		} else {
			p.report(r)
		}
	})
}

func (p *printer) report(r *Report) {
	names, statuses := 0, 0
	for _, c := range r.Checks {
		names, statuses = max(names, len(c.Name)), max(statuses, len(c.Status))
	}
	colors := map[string]style{OK: p.create, Warning: p.warning, Problem: p.failure}
	for _, c := range r.Checks {
		p.line(colors[c.Status].paint(c.Status), blanks(statuses-len(c.Status)), columnGap, c.Name, blanks(names-len(c.Name)), columnGap, Safe(c.Summary))
		if c.Hint != "" {
			p.line(blanks(names+statuses+2*len(columnGap)), p.dim.paint("-> "), Safe(c.Hint))
		}
	}
	found := cmp.Or(counts(noun(r.count(Problem), "problem"), noun(r.count(Warning), "warning")), "All is well")
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

func newJSONReport(r *Report) jsonReport {
	j := jsonReport{
		reportVersion, r.Workspace, r.BaseURL,
		reportSummary{r.count(OK), r.count(Warning), r.count(Problem), r.Requests},
		diag.OrEmpty(r.Supported), diag.OrEmpty(r.Unsupported), r.HasV2, r.V2Unsupported, make([]jsonCheck, len(r.Checks)),
	}
	for i, c := range r.Checks {
		j.Checks[i] = jsonCheck{c.Name, c.Status, c.Summary, diag.OrNull(c.Hint)}
	}
	return j
}
