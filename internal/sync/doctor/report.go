package doctor

import (
	"slices"

	"github.com/planform/planform/internal/text/diag"
)

// Statuses of a check. A warning does not keep planform from working.
const (
	OK      = "ok"
	Warning = "warning"
	Problem = "problem"
)

// Check is the outcome of one check.
type Check struct {
	Name    string `json:"check"` // subject of the check, such as workspace
	Status  string `json:"status"`
	Summary string `json:"summary"`
	Hint    string `json:"hint"` // the next step; "" = none, which is null in JSON

	denied bool // the credential or a permission is the problem
}

// MarshalJSON writes null for a missing hint.
func (c Check) MarshalJSON() ([]byte, error) {
	type plain Check
	return diag.JSON(struct {
		plain
		Hint *string `json:"hint"`
	}{plain(c), diag.OrNull(c.Hint)}, "")
}

// formatVersion is the version of the format of a report. The first version had other keys.
const formatVersion = 2

// Report is the outcome of an examination, in the form that programs read.
type Report struct {
	FormatVersion int     `json:"format_version"`
	Workspace     string  `json:"workspace"`
	BaseURL       string  `json:"base_url"`
	Summary       Summary `json:"summary"`

	Supported     []string `json:"supported"` // kinds, among those that were asked for
	Unsupported   []string `json:"unsupported"`
	HasV2         bool     `json:"has_v2"`         // the service has an API v2
	V2Unsupported []string `json:"v2_unsupported"` // operations of API v2 that a run would use; nil = not known
	Checks        []Check  `json:"checks"`
}

// Summary counts the checks by their status, and the requests that were sent.
type Summary struct {
	OK       int `json:"ok"`
	Warnings int `json:"warnings"`
	Problems int `json:"problems"`
	Requests int `json:"requests"`
}

// countChecks completes the summary.
func (r *Report) countChecks() {
	for _, c := range r.Checks {
		switch c.Status {
		case OK:
			r.Summary.OK++
		case Warning:
			r.Summary.Warnings++
		case Problem:
			r.Summary.Problems++
		}
	}
}

// Denied reports whether the credential or a permission is a problem.
func (r *Report) Denied() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.denied })
}

func (r *Report) add(name, status, summary, hint string) {
	r.Checks = append(r.Checks, Check{Name: name, Status: status, Summary: summary, Hint: hint})
}

// addDenied adds a problem with the credential or a permission.
func (r *Report) addDenied(name, summary, hint string) {
	r.Checks = append(r.Checks, Check{name, Problem, summary, hint, true})
}

// addUnconfirmed adds a problem that leaves open whether the service accepts the credential.
func (ex *examination) addUnconfirmed(summary, hint string) {
	ex.add("service", Problem, summary, hint)
	ex.add("credential", OK, ex.in.Credential+", not confirmed", "")
}
