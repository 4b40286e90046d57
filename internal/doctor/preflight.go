package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/resource"
)

// ProblemError is a problem that keeps a run from beginning, in the words of the report.
type ProblemError struct {
	Check

	Denied bool  // it is one of credential or permission
	Err    error // what the service or the connection said; nil = nothing of its own
}

func (e *ProblemError) Error() string { return e.Summary }

// Unwrap gives what the service or the connection said.
func (e *ProblemError) Unwrap() error { return e.Err }

// Hint is the next step.
func (e *ProblemError) Hint() string { return e.Check.Hint }

// Preflight checks base URL, credential and workspace before a run relies on
// other answers. It makes the requests of [Examine], as many as are needed: one
// where all is well.
type Preflight struct{ e *examination }

// NewPreflight makes no request yet. The client's retries and waits apply.
func NewPreflight(in Input) *Preflight {
	e := newExamination(in)
	e.waitsForQuota = true
	return &Preflight{e}
}

// User is whom the credential belongs to; "" = it is not known.
func (p *Preflight) User() string {
	if p.e.in.Redact == nil {
		return p.e.userName
	}
	return p.e.in.Redact(p.e.userName)
}

// Service checks base URL and credential, and the workspace where no operation reads the credential's user.
func (p *Preflight) Service(ctx context.Context) error {
	e := p.e
	ops := e.questions()
	if len(ops) == 0 {
		return nil
	}
	if !e.checkService(ctx, ops[0]) {
		return e.problemError(ctx)
	}
	if ops[0].Verb == resource.Self || e.failure == nil {
		return nil
	}
	return p.Workspace(ctx, nil)
}

// Workspace returns what is wrong where the list of projects cannot be read:
// nil if another list of the workspace can.
func (p *Preflight) Workspace(ctx context.Context, projects error) error {
	e := p.e
	if projects != nil {
		e.lists["project"] = listResult{err: projects}
	}
	for _, op := range e.questions() {
		if _, asked := e.lists[op.Kind]; asked || op.Verb == resource.Self || len(op.Params()) > 1 {
			continue
		}
		e.readListIfPossible(ctx, op)
		if f, asked := e.lists[op.Kind]; asked && f.err == nil {
			return nil
		}
	}
	if e.hasNoAPI() {
		e.reportNoAPI()
	} else {
		e.checkWorkspace()
	}
	return e.problemError(ctx)
}

// problemError is the problem that was found last, as an error; nil if there is none.
func (e *examination) problemError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	for _, c := range slices.Backward(e.Checks) {
		if c.Status == Problem {
			if e.in.Redact != nil {
				c.Summary, c.Hint = e.in.Redact(c.Summary), e.in.Redact(c.Hint)
			}
			return &ProblemError{Check: c, Denied: e.Denied(), Err: e.failure}
		}
	}
	return e.failure
}

// hasNoAPI reports whether no list of the API is at the base URL: each edition has some.
func (e *examination) hasNoAPI() bool {
	if !e.anonymous || e.in.API == resource.Documented {
		return false
	}
	for _, f := range e.lists {
		if !unsupported(f.err) {
			return false
		}
	}
	return len(e.lists) > 0
}

// reportNoAPI reports an address at which something answers that is not the API.
func (e *examination) reportNoAPI() {
	e.Checks, e.lists = nil, map[string]listResult{} // they judged something else
	e.unconfirmed(e.BaseURL+" answers, but has no Plane API", baseURLHint(e.BaseURL))
}

// CheckMembership returns an error that names the projects of the manifest of which the user is not a member.
func (p *Preflight) CheckMembership(projects []resource.Row, wanted []*resource.Object) error {
	all := p.e.notMemberOf(projects, wanted)
	if len(all) == 0 {
		return nil
	}
	for _, c := range all[1:] {
		all[0].Summary += "; " + c.Summary
	}
	return &ProblemError{Check: all[0], Denied: true}
}

func (e *examination) notMemberOf(projects []resource.Row, wanted []*resource.Object) []Check {
	var list []Check
	for _, o := range wanted {
		if o.Kind.Name != "project" {
			continue
		}
		for _, row := range projects {
			identifier, _ := row["identifier"].(string)
			if member, told := row["is_member"].(bool); !told || member || row.ID() != o.ID && !strings.EqualFold(identifier, o.Identifier) {
				continue
			}
			list = append(list, Check{
				"manifest", Problem, fmt.Sprintf("%s is not a member of the project %s (%s), and so cannot read its contents",
					e.user(), identifier, o.Position),
				"have an admin of the project add " + e.user() + ", or give the API key of a member", true,
			})
		}
	}
	return list
}

// user is what the report calls the user.
func (e *examination) user() string {
	if e.userName == "" {
		return "this user"
	}
	return e.userName
}

// rows are the records of an answer, bare or in a page.
func rows(resp *apiclient.Response) []resource.Row {
	list, ok := resp.Row["results"].([]any)
	if !ok {
		return resp.Rows
	}
	found := make([]resource.Row, 0, len(list))
	for _, one := range list {
		if row, ok := one.(map[string]any); ok {
			found = append(found, row)
		}
	}
	return found
}
