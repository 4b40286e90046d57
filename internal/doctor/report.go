package doctor

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/planform/planform/internal/diag"
)

// The statuses of a check. A warning does not keep planform from working.
const (
	OK      = "ok"
	Warning = "warning"
	Problem = "problem"
)

// Check is the outcome of one check.
type Check struct {
	Name    string `json:"check"` // what was examined, such as workspace
	Status  string `json:"status"`
	Summary string `json:"summary"`
	Hint    string `json:"hint"` // the next step; "" = none, which is null in JSON

	denied bool // it is a problem of credential or permission
}

// MarshalJSON writes null for a hint that there is not.
func (c Check) MarshalJSON() ([]byte, error) {
	type plain Check
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		plain
		Hint *string `json:"hint"`
	}{plain(c), diag.OrNull(c.Hint)})
	return text.Bytes(), err
}

// formatVersion is the version of the format of a report. The first had other keys.
const formatVersion = 2

// Report is the outcome of an examination, in the form that programs read.
type Report struct {
	FormatVersion int     `json:"format_version"`
	Workspace     string  `json:"workspace"`
	BaseURL       string  `json:"base_url"`
	Summary       Summary `json:"summary"`

	Supported     []string `json:"supported"` // kinds, as far as the service was asked
	Unsupported   []string `json:"unsupported"`
	HasV2         bool     `json:"has_v2"`         // there is an API v2
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

// count completes the summary.
func (r *Report) count() {
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

// Denied reports whether a problem is one of credential or permission.
func (r *Report) Denied() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.denied })
}

func (r *Report) add(name, status, summary, hint string) {
	r.Checks = append(r.Checks, Check{Name: name, Status: status, Summary: summary, Hint: hint})
}

// deny is add for a problem of credential or permission.
func (r *Report) deny(name, summary, hint string) {
	r.Checks = append(r.Checks, Check{name, Problem, summary, hint, true})
}

// unconfirmed reports a problem that leaves open whether the service accepts the credential.
func (e *examination) unconfirmed(summary, hint string) {
	e.add("service", Problem, summary, hint)
	e.add("credential", OK, e.in.Credential+", not confirmed", "")
}
