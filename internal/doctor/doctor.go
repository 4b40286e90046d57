package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/baseurl"
	"github.com/planform/planform/internal/resource"
)

// Client makes requests, as [apiclient.Client] does.
type Client interface {
	Do(ctx context.Context, req apiclient.Request) (*apiclient.Response, error)
}

// Input is what there is to look at.
type Input struct {
	BaseURL   string // as people know it
	Workspace string
	// Credential says where the credential comes from, such as "API key from PLANE_API_KEY"; "" = there is none.
	Credential string
	// Client is nil where none can be made; Refused says why, and Do what to do about it.
	Client  Client
	Refused error
	Do      string
	// API is what may be asked. Full is also for finding out.
	API resource.API
	// StatePath is where the state is; "" = it cannot be told.
	StatePath string
	// Manifests are files that were read, Wanted what they want, Errors how many errors they have.
	Manifests []string
	Wanted    []*resource.Object
	Errors    int

	Now  func() time.Time    // nil = time.Now
	Hide func(string) string // takes the credential out of a text that came from elsewhere; nil = there is none
}

// Examine looks at everything.
func Examine(ctx context.Context, in Input) Report {
	e := newExamination(in)
	if in.Client == nil {
		e.noClient()
	} else {
		e.service(ctx)
	}
	e.state()
	e.manifest()
	if in.Hide != nil {
		for i := range e.Checks {
			c := &e.Checks[i]
			c.Summary, c.Hint = in.Hide(c.Summary), in.Hide(c.Hint)
		}
	}
	return *e.Report
}

func newExamination(in Input) *examination {
	if in.Now == nil {
		in.Now = time.Now
	}
	e := &examination{
		in: in, Report: &Report{BaseURL: in.BaseURL, Workspace: in.Workspace},
		params: map[string]string{}, found: map[string]finding{}, remaining: -1,
	}
	if in.Workspace != "" {
		e.params["workspace_slug"] = in.Workspace
	}
	return e
}

// examination is a report that is being made.
type examination struct {
	*Report
	in Input

	params         map[string]string  // of paths, as far as answers told them
	found          map[string]finding // by kind, what became of reading its list
	userName       string             // the user's name
	remaining      int                // requests that the service says are left; -1 = not said
	reset          time.Time
	limited        *apiclient.Error // the refusal for the rate
	drift          time.Duration    // how far the service's clock is ahead
	dated          bool             // the service shows its clock
	quotaExhausted bool             // nothing more can be asked now
	patient        bool             // the client waits until it can
	failure        error            // of the first question
	anonymous      bool             // the service has no route that tells whom the credential belongs to
	outside        []Check          // projects of the manifest of which the user is not a member
}

// finding is what became of reading a list, or what a project has one of.
type finding struct {
	row resource.Row // the first with an ID that can be; nil = the list is empty
	err error
}

// noClient reports why there is no client.
func (e *examination) noClient() {
	if e.in.Credential == "" {
		e.deny("credential", e.in.Refused.Error(), e.in.Do)
		return
	}
	e.add("service", Problem, e.in.Refused.Error(), e.in.Do)
	e.add("credential", OK, e.in.Credential+", not confirmed", "")
}

// ask makes one read, of one row where it is a list: of projects only where no manifest names some.
func (e *examination) ask(ctx context.Context, op *resource.Operation) (*apiclient.Response, error) {
	query := url.Values{}
	if op.Verb == resource.List && (op.Kind != "project" || len(e.in.Wanted) == 0) {
		query.Set("per_page", "1") // one of the two is understood, the other ignored
		query.Set("limit", "1")
	}
	path, _ := op.Expand(e.params)
	resp, err := e.in.Client.Do(ctx, apiclient.Request{Operation: op, Path: path, Query: query})
	failed, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case ok:
		e.Requests += max(1, failed.Attempts)
		if failed.Status == 429 {
			e.limited, e.quotaExhausted = failed, true
		}
		if failed.Status != 0 {
			e.read(failed.Headers)
		}
	case err == nil:
		e.Requests++
		if resp.Redirected {
			e.Requests++
		}
		e.read(resp.Headers)
	}
	return resp, err
}

func (e *examination) read(h apiclient.Headers) {
	if h.Remaining >= 0 {
		e.remaining, e.reset = h.Remaining, h.Reset
		e.quotaExhausted = e.quotaExhausted || h.Remaining == 0
	}
	if !h.Date.IsZero() && !e.dated {
		// The service shows whole seconds.
		e.dated, e.drift = true, h.Date.Sub(e.in.Now().Truncate(time.Second))
	}
}

// service asks the service.
func (e *examination) service(ctx context.Context) {
	ops := e.questions()
	if len(ops) == 0 {
		return
	}
	defer func() {
		e.limit()
		e.clock()
	}()
	if _, missing := ops[0].Expand(e.params); missing != "" {
		e.noWorkspace()
		return
	}
	if !e.first(ctx, ops[0]) {
		return
	}
	if e.Workspace == "" {
		e.noWorkspace()
		return
	}
	for _, op := range ops[1:] {
		e.list(ctx, op)
	}
	if e.nowhere() {
		e.notThere()
		return
	}
	e.workspace()
	e.edition()
}

// questions are the reads that one path parameter after the other makes
// possible: who the credential belongs to, what the workspace holds, and what
// one project holds. What a project has one of is read as it is.
func (e *examination) questions() []*resource.Operation {
	var self, projects, top, within []*resource.Operation
	project := resource.MustLookup("project")
	for _, op := range resource.Operations() {
		if !e.in.API.Offers(op) || op.Verb != resource.Self && op.Verb != resource.List && op.Verb != resource.Get {
			continue
		}
		switch params := strings.Join(op.Params(), " "); {
		case op.Verb == resource.Self:
			self = append(self, op)
		case op.Kind == project.Name && op.Verb == resource.Get:
		case op.Kind == project.Name:
			projects = append(projects, op)
		case params == "workspace_slug":
			top = append(top, op)
		case params == "workspace_slug "+project.Param:
			within = append(within, op)
		}
	}
	return append(append(append(self, projects...), top...), within...)
}

// first asks the first question, whose answer tells most, and reports whether it makes sense to go on.
func (e *examination) first(ctx context.Context, op *resource.Operation) bool {
	resp, err := e.keep(ctx, op)
	e.failure = err
	what, do, reached := reach(e.BaseURL, err)
	if err == nil && op.Verb == resource.Self && resp.Row.ID() == "" {
		what, do, reached = e.BaseURL+" answers, but not as the API: it does not say whom the credential belongs to", elsewhere(e.BaseURL), false
	}
	if !reached {
		e.add("service", Problem, what, do)
		e.add("credential", OK, e.in.Credential+", not confirmed", "")
		return false
	}
	e.add("service", OK, e.BaseURL+" answers", "")
	if u, err := url.Parse(e.BaseURL); err == nil && u.Scheme == "http" && !baseurl.Loopback(u.Hostname()) {
		e.Checks[len(e.Checks)-1] = Check{"service", Warning, e.BaseURL + " answers, and the credential goes there unencrypted", "use https, if the service offers it"}
	}
	failed, _ := errors.AsType[*apiclient.Error](err)
	if failed != nil && failed.Credential() {
		what, do := "the "+e.in.Credential+" is not accepted: "+words(failed), "it may be mistyped, expired or revoked: make a new one in the service's settings"
		if failed.Status == 401 && strings.HasPrefix(e.in.Credential, "access token") {
			do = "some editions take API keys only: set PLANE_API_KEY instead"
		}
		e.deny("credential", what, do)
		return false
	}
	taken := e.in.Credential
	if failed == nil || failed.Permission() {
		taken += ", accepted by the service"
	}
	e.add("credential", OK, taken, "")
	if e.limited != nil {
		return false
	}
	if op.Verb == resource.Self {
		e.self(resp, failed)
	}
	return true
}

// self tells who the credential belongs to.
func (e *examination) self(resp *apiclient.Response, failed *apiclient.Error) {
	if failed != nil {
		what := "the service does not tell whose credential this is: " + words(failed)
		if e.anonymous = failed.Unsupported(); e.anonymous {
			e.add("user", OK, what, "")
		} else {
			e.add("user", Warning, what, "")
		}
		return
	}
	for _, name := range []string{"display_name", "email"} {
		if text, _ := resp.Row[name].(string); text != "" && e.userName == "" {
			e.userName = text
		} else if text != "" {
			e.userName += " (" + text + ")"
		}
	}
	if e.userName == "" {
		e.userName = resp.Row.ID()
	}
	e.add("user", OK, "the credential belongs to "+e.userName, "")
}

// keep asks, and keeps the first row of a list.
func (e *examination) keep(ctx context.Context, op *resource.Operation) (*apiclient.Response, error) {
	resp, err := e.ask(ctx, op)
	if op.Verb == resource.Self {
		return resp, err
	}
	f := finding{err: err}
	switch {
	case op.Verb == resource.Get && errors.Is(err, apiclient.ErrNotFound):
		f.err = nil // the project has none
	case err == nil && op.Verb == resource.List:
		if _, ok := resp.Row["results"].([]any); resp.Row != nil && !ok {
			f.err = errors.New("the answer is not a list")
		} else if all := rows(resp); len(all) > 0 {
			f.row = all[max(0, slices.IndexFunc(all, func(r resource.Row) bool { return resource.IsID(r.ID()) }))]
			if resource.IsID(f.row.ID()) {
				e.params[resource.MustLookup(op.Kind).Param] = f.row.ID()
			}
			if op.Kind == "project" {
				e.outside = e.outsider(all, e.in.Wanted)
			}
		}
	}
	e.found[op.Kind] = f
	return resp, err
}

// list asks for a list, if its parent is known and the limit allows it.
func (e *examination) list(ctx context.Context, op *resource.Operation) {
	if _, missing := op.Expand(e.params); missing == "" && (e.patient || !e.quotaExhausted) && ctx.Err() == nil {
		_, _ = e.keep(ctx, op) // the error is in what is kept
	}
}

// words are the service's own words for a refusal.
func words(e *apiclient.Error) string {
	switch {
	case e.Message != "" && e.Status != 0:
		return fmt.Sprintf("%d %s", e.Status, strings.TrimSuffix(e.Message, "."))
	case e.Err != nil:
		return e.Err.Error()
	default:
		return strconv.Itoa(e.Status)
	}
}
