package doctor

// Status is how well something is.
type Status int

// The statuses. A warning does not keep planform from working.
const (
	OK Status = iota
	Warning
	Problem
)

// String gives a word.
func (s Status) String() string {
	switch s {
	case Warning:
		return "warning"
	case Problem:
		return "problem"
	case OK:
		return "ok"
	default:
		return "?"
	}
}

// Check is the outcome of one check.
type Check struct {
	Name    string // what was looked at, such as workspace
	Status  Status
	Summary string // how it is
	Hint    string // the next step; "" = none
}

// Report is everything that was looked at.
type Report struct {
	BaseURL   string
	Workspace string
	Checks    []Check
	Requests  int  // that were sent
	Denied    bool // a problem is one of credential or permission

	Supported, Unsupported []string // kinds, as far as the service was asked
}

// Count tells how many checks ended with the status.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Checks {
		if r.Checks[i].Status == s {
			n++
		}
	}
	return n
}

func (r *Report) add(name string, s Status, what, do string) {
	r.Checks = append(r.Checks, Check{Name: name, Status: s, Summary: what, Hint: do})
}

// deny is add for a problem of credential or permission.
func (r *Report) deny(name, what, do string) {
	r.add(name, Problem, what, do)
	r.Denied = true
}
