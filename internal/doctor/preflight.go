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

// Preflight makes sure of address, credential and workspace before a run
// concludes anything from other answers. It asks the questions of [Examine], and
// only as many as are needed: one where all is well.
type Preflight struct{ e *examination }

// NewPreflight asks nothing yet. What the client does about failures and the rate limit, it does here too.
func NewPreflight(in Input) *Preflight {
	e := newExamination(in)
	e.patient = true
	return &Preflight{e}
}

// User is whom the credential belongs to; "" = it is not known.
func (p *Preflight) User() string {
	if p.e.in.Hide == nil {
		return p.e.userName
	}
	return p.e.in.Hide(p.e.userName)
}

// Service makes sure of address and credential. Where the operations that may be
// used cannot ask whom the credential belongs to, it makes sure of the workspace.
func (p *Preflight) Service(ctx context.Context) error {
	e := p.e
	ops := e.questions()
	if len(ops) == 0 {
		return nil
	}
	if !e.first(ctx, ops[0]) {
		return e.refusal(ctx)
	}
	if ops[0].Verb == resource.Self || e.failure == nil {
		return nil
	}
	return p.Workspace(ctx, nil)
}

// Workspace tells what is wrong where the list of projects cannot be read:
// nothing at all, if something else of the workspace can.
func (p *Preflight) Workspace(ctx context.Context, projects error) error {
	e := p.e
	if projects != nil {
		e.found["project"] = finding{err: projects}
	}
	for _, op := range e.questions() {
		if _, asked := e.found[op.Kind]; asked || op.Verb == resource.Self || len(op.Params()) > 1 {
			continue
		}
		e.list(ctx, op)
		if f, asked := e.found[op.Kind]; asked && f.err == nil {
			return nil
		}
	}
	if e.nowhere() {
		e.notThere()
	} else {
		e.workspace()
	}
	return e.refusal(ctx)
}

// refusal is the problem that was found last, as an error; nil if there is none.
func (e *examination) refusal(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	for _, c := range slices.Backward(e.Checks) {
		if c.Status == Problem {
			if e.in.Hide != nil {
				c.Summary, c.Hint = e.in.Hide(c.Summary), e.in.Hide(c.Hint)
			}
			return &ProblemError{Check: c, Denied: e.Denied, Err: e.failure}
		}
	}
	return e.failure
}

// nowhere reports whether nothing of the API is where it is looked for: there is
// an edition without any one list, and none without all of them.
func (e *examination) nowhere() bool {
	if !e.anonymous || e.in.API == resource.Documented {
		return false
	}
	for _, f := range e.found {
		if !unsupported(f.err) {
			return false
		}
	}
	return len(e.found) > 0
}

// notThere reports an address at which something answers that is not the API.
func (e *examination) notThere() {
	e.Checks, e.found = nil, map[string]finding{} // what was taken for well, or for an edition, is not
	e.add("service", Problem, e.BaseURL+" answers, but has no Plane API", elsewhere(e.BaseURL))
	e.add("credential", OK, e.in.Credential+", not confirmed", "")
}

// Outsider names the projects of the manifest that the service lists and the user is not a member of.
func (p *Preflight) Outsider(projects []resource.Row, wanted []*resource.Object) error {
	all := p.e.outsider(projects, wanted)
	if len(all) == 0 {
		return nil
	}
	for _, c := range all[1:] {
		all[0].Summary += "; " + c.Summary
	}
	return &ProblemError{Check: all[0], Denied: true}
}

func (e *examination) outsider(projects []resource.Row, wanted []*resource.Object) []Check {
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
				"manifest", Problem, fmt.Sprintf("%s is not a member of the project %s (%s), and so cannot read its contents", e.user(), identifier, o.Position),
				"have an admin of the project add " + e.user() + ", or give the API key of a member",
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
