package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
)

// ProblemError is a problem that keeps a run from beginning, in the words of the report.
type ProblemError struct {
	Check

	Denied bool  // the credential or a permission is the problem
	Err    error // answer of the service or error of the connection; nil = neither
}

func (e *ProblemError) Error() string { return e.Summary }

// Unwrap returns the answer of the service or the error of the connection.
func (e *ProblemError) Unwrap() error { return e.Err }

// Hint returns the next step.
func (e *ProblemError) Hint() string { return e.Check.Hint }

// Preflight checks base URL, credential and workspace before a run relies on other answers. It makes the
// same requests as [Examine], but only as many as are needed: one if all is well.
type Preflight struct{ e *examination }

// NewPreflight prepares the checks and makes no request yet. Requests are retried and wait for quota as the client does.
func NewPreflight(in Input) *Preflight {
	e := newExamination(in)
	e.waitsForQuota = true
	return &Preflight{e}
}

// User returns the user of the credential; "" = not known.
func (p *Preflight) User() string { return p.e.in.Redact(p.e.userName) }

// UserID returns the ID of the credential's user; "" = not known.
func (p *Preflight) UserID() string { return p.e.userID }

// Service checks base URL and credential, and the workspace if no operation reads the credential's user.
func (p *Preflight) Service(ctx context.Context) error {
	e := p.e
	ops := e.readOperations()
	if !e.checkService(ctx, ops[0]) {
		return e.problemError(ctx)
	}
	if ops[0].Verb == resource.Self || e.firstError == nil {
		return nil
	}
	return p.Workspace(ctx, nil)
}

// Workspace explains why the list of projects cannot be read. It returns nil if another list of the workspace can be read.
func (p *Preflight) Workspace(ctx context.Context, projects error) error {
	e := p.e
	if projects != nil {
		e.lists["project"] = listResult{err: projects}
	}
	for _, op := range e.readOperations() {
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

// problemError returns the latest problem as an error, or nil if there is none.
func (ex *examination) problemError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	for _, c := range slices.Backward(ex.Checks) {
		if c.Status == Problem {
			c.Summary, c.Hint = ex.in.Redact(c.Summary), ex.in.Redact(c.Hint)
			return &ProblemError{Check: c, Denied: ex.Denied(), Err: ex.firstError}
		}
	}
	return ex.firstError
}

// hasNoAPI reports whether the base URL has no list of the API: each edition has some.
func (ex *examination) hasNoAPI() bool {
	if !ex.anonymous || ex.in.API == resource.Documented {
		return false
	}
	for _, f := range ex.lists {
		if !isUnsupported(f.err) {
			return false
		}
	}
	return len(ex.lists) > 0
}

// reportNoAPI reports an address at which something answers that is not the API.
func (ex *examination) reportNoAPI() {
	ex.Checks, ex.lists = nil, map[string]listResult{} // earlier checks judged something else than the API
	ex.addUnconfirmed(ex.BaseURL+" answers, but has no Plane API", baseURLHint(ex.BaseURL))
}

// CheckMembership returns an error that names the projects of the manifest whose member the user is not.
func (p *Preflight) CheckMembership(projects []resource.Row, wanted []*resource.Object) error {
	all := p.e.membershipProblems(projects, wanted)
	if len(all) == 0 {
		return nil
	}
	for _, c := range all[1:] {
		all[0].Summary += "; " + c.Summary
	}
	return &ProblemError{Check: all[0], Denied: true}
}

// membershipProblems returns a problem for each wanted project whose member the user is not.
func (ex *examination) membershipProblems(projects []resource.Row, wanted []*resource.Object) []Check {
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
					ex.userText(), identifier, o.Position),
				"have an admin of the project add " + ex.userText() + ", or give the API key of a member", true,
			})
		}
	}
	return list
}

// userText returns a name for the user in a sentence.
func (ex *examination) userText() string {
	if ex.userName == "" {
		return "this user"
	}
	return ex.userName
}

// rowsOf returns the records of an answer, whether they stand alone or in a page.
func rowsOf(resp *apiclient.Response) []resource.Row {
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
