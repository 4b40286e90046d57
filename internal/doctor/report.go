package doctor

// The statuses of a check. A warning does not keep planform from working.
const (
	OK      = "ok"
	Warning = "warning"
	Problem = "problem"
)

// Check is the outcome of one check.
type Check struct {
	Name    string // what was examined, such as workspace
	Status  string
	Summary string
	Hint    string // the next step; "" = none
}

// Report is the outcome of an examination.
type Report struct {
	BaseURL   string
	Workspace string
	Checks    []Check
	Requests  int  // that were sent
	Denied    bool // a problem is one of credential or permission

	Supported, Unsupported []string // kinds, as far as the service was asked
	HasV2                  bool     // there is an API v2
	V2Unsupported          []string // operations of API v2 that a run would use; nil = not known
}

// Count tells how many checks ended with the status.
func (r *Report) Count(status string) (n int) {
	for _, c := range r.Checks {
		if c.Status == status {
			n++
		}
	}
	return n
}

func (r *Report) add(name, status, summary, hint string) {
	r.Checks = append(r.Checks, Check{name, status, summary, hint})
}

// deny is add for a problem of credential or permission.
func (r *Report) deny(name, summary, hint string) {
	r.add(name, Problem, summary, hint)
	r.Denied = true
}
