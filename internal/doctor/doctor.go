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
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/state"
)

// Client makes requests, as [apiclient.Client] does.
type Client interface {
	Do(ctx context.Context, req apiclient.Request) (*apiclient.Response, error)
}

// Input is what to examine.
type Input struct {
	BaseURL   string // as people know it
	Workspace string
	// Credential says where the credential comes from, such as "API key from PLANE_API_KEY"; "" = there is none.
	Credential string
	// Client is nil where none can be made: Refused says why, RefusedHint what to do.
	Client      Client
	Refused     error
	RefusedHint string
	// API is the widest that may be asked.
	API resource.API
	// APIChosen says that nothing less than API will do.
	APIChosen bool
	// StatePath is the path of the state file; "" = not known.
	StatePath string
	// Connect opens the store of a shared state.
	Connect func(ctx context.Context, address string) (state.Objects, error)
	// Manifests are the files that were read, Desired their objects, Errors the number of their errors.
	Manifests []string
	Desired   []*resource.Object
	Errors    int

	Now    func() time.Time    // nil = time.Now
	Redact func(string) string // takes the credential out of a text that came from elsewhere; nil = there is none
}

// Examine makes all checks.
func Examine(ctx context.Context, in Input) Report {
	e := newExamination(in)
	if in.Client == nil {
		e.reportNoClient()
	} else {
		e.checkAPI(ctx)
	}
	e.checkState(ctx)
	e.checkManifest()
	if in.Redact != nil {
		for i := range e.Checks {
			c := &e.Checks[i]
			c.Summary, c.Hint = in.Redact(c.Summary), in.Redact(c.Hint)
		}
	}
	e.count()
	return *e.Report
}

func newExamination(in Input) *examination {
	if in.Now == nil {
		in.Now = time.Now
	}
	e := &examination{
		in:     in,
		Report: &Report{FormatVersion: formatVersion, BaseURL: in.BaseURL, Workspace: in.Workspace, Supported: []string{}, Unsupported: []string{}},
		params: map[string]string{}, lists: map[string]listResult{}, remaining: -1,
	}
	if in.Workspace != "" {
		e.params["workspace_slug"] = in.Workspace
	}
	return e
}

// examination is a report in the making.
type examination struct {
	*Report
	in Input

	params         map[string]string     // of paths, as far as answers had them
	lists          map[string]listResult // by kind, the result of reading its list
	userName       string                // the user's name
	remaining      int                   // requests left, according to the service; -1 = not announced
	reset          time.Time
	limited        *apiclient.Error // the answer 429
	clockSkew      time.Duration    // how far the service's clock is ahead
	hasClock       bool             // the service shows its clock
	quotaExhausted bool             // nothing more can be asked now
	waitsForQuota  bool             // the client waits until it can
	failure        error            // of the first question
	anonymous      bool             // the service has no route for the credential's user
	notMember      []Check          // projects of the manifest of which the user is not a member
}

// listResult is the result of reading a list, or an object of which a project has one.
type listResult struct {
	row resource.Row // the first with a valid ID; nil = the list is empty
	err error
}

// reportNoClient reports why there is no client.
func (e *examination) reportNoClient() {
	if e.in.Credential == "" {
		e.deny("credential", e.in.Refused.Error(), e.in.RefusedHint)
		return
	}
	e.unconfirmed(e.in.Refused.Error(), e.in.RefusedHint)
}

// ask makes one read request, for one row of a list; for all projects if a manifest names some.
func (e *examination) ask(ctx context.Context, op *resource.Operation) (*apiclient.Response, error) {
	query := url.Values{}
	if op.Verb == resource.List && !resource.MustLookup(op.Kind).Singleton && (op.Kind != "project" || len(e.in.Desired) == 0) {
		query.Set("per_page", "1") // one of the two is understood, the other ignored
		query.Set("limit", "1")
	}
	path, _ := op.Expand(e.params)
	resp, err := e.in.Client.Do(ctx, apiclient.Request{Operation: op, Path: path, Query: query})
	failed, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case ok:
		e.Summary.Requests += max(1, failed.Attempts)
		if failed.Status == 429 {
			e.limited, e.quotaExhausted = failed, true
		}
		if failed.Status != 0 {
			e.readHeaders(failed.Headers)
		}
	case err == nil:
		e.Summary.Requests++
		if resp.Redirected {
			e.Summary.Requests++
		}
		e.readHeaders(resp.Headers)
	}
	return resp, err
}

func (e *examination) readHeaders(h apiclient.Headers) {
	if h.Remaining >= 0 {
		e.remaining, e.reset = h.Remaining, h.Reset
		e.quotaExhausted = e.quotaExhausted || h.Remaining == 0
	}
	if !h.Date.IsZero() && !e.hasClock {
		// The service shows whole seconds.
		e.hasClock, e.clockSkew = true, h.Date.Sub(e.in.Now().Truncate(time.Second))
	}
}

// checkAPI makes the checks that need the service.
func (e *examination) checkAPI(ctx context.Context) {
	ops := e.questions()
	if len(ops) == 0 {
		return
	}
	defer func() {
		e.checkRateLimit()
		e.checkClock()
	}()
	if _, missing := ops[0].Expand(e.params); missing != "" {
		e.reportNoWorkspace()
		return
	}
	if !e.checkService(ctx, ops[0]) {
		return
	}
	if e.Workspace == "" {
		e.reportNoWorkspace()
		return
	}
	for _, op := range ops[1:] {
		e.readListIfPossible(ctx, op)
	}
	if e.hasNoAPI() {
		e.reportNoAPI()
		return
	}
	e.checkWorkspace()
	e.checkV2(ctx)
	e.checkEdition()
}

// questions are the read operations to use, in this order: the credential's user,
// lists of the workspace, then lists and single objects of one project.
func (e *examination) questions() []*resource.Operation {
	var self, projects, top, within []*resource.Operation
	project := resource.MustLookup("project")
	for _, op := range resource.Operations() {
		if k := resource.MustLookup(op.Kind); k.Governance.AtWorkspace || k.Singleton || k.Name == resource.Invitation {
			continue // what the workspace manages follows from its projects; few may read invitations
		}
		if !e.in.API.Offers(op) || op.V2() || op.Verb != resource.Self && op.Verb != resource.List && op.Verb != resource.Get {
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

// checkService makes the first request and reports whether the others make sense.
func (e *examination) checkService(ctx context.Context, op *resource.Operation) bool {
	resp, err := e.readList(ctx, op)
	e.failure = err
	summary, hint, reached := checkReached(e.BaseURL, err)
	if err == nil && op.Verb == resource.Self && resp.Row.ID() == "" {
		summary, hint, reached = e.BaseURL+" answers, but not as the API: it does not say whom the credential belongs to",
			baseURLHint(e.BaseURL), false
	}
	if !reached {
		e.unconfirmed(summary, hint)
		return false
	}
	if u, err := url.Parse(e.BaseURL); err == nil && u.Scheme == "http" && !baseurl.Loopback(u.Hostname()) {
		e.add("service", Warning, e.BaseURL+" answers, and the credential goes there unencrypted",
			"use https, if the service offers it")
	} else {
		e.add("service", OK, e.BaseURL+" answers", "")
	}
	failed, _ := errors.AsType[*apiclient.Error](err)
	if failed != nil && failed.Credential() {
		summary, hint := "the "+e.in.Credential+" is not accepted: "+refusalText(failed),
			"it may be mistyped, expired or revoked: make a new one in the service's settings"
		if failed.Status == 401 && strings.HasPrefix(e.in.Credential, "access token") {
			hint = "some editions take API keys only: set PLANE_API_KEY instead"
		}
		e.deny("credential", summary, hint)
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
		e.checkUser(resp, failed)
	}
	return true
}

// checkUser reports whom the credential belongs to.
func (e *examination) checkUser(resp *apiclient.Response, failed *apiclient.Error) {
	if failed != nil {
		summary := "the service does not tell whose credential this is: " + refusalText(failed)
		if e.anonymous = failed.Unsupported(); e.anonymous {
			e.add("user", OK, summary, "")
		} else {
			e.add("user", Warning, summary, "")
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

// readList makes a request and records the first row of a list.
func (e *examination) readList(ctx context.Context, op *resource.Operation) (*apiclient.Response, error) {
	resp, err := e.ask(ctx, op)
	if op.Verb == resource.Self {
		return resp, err
	}
	f := listResult{err: err}
	switch {
	case resource.MustLookup(op.Kind).Single && (err == nil || errors.Is(err, apiclient.ErrNotFound) &&
		!errors.Is(err, apiclient.ErrUnsupported)):
		f.err = nil // the project may have none
	case err == nil && op.Verb == resource.List:
		if _, ok := resp.Row["results"].([]any); resp.Row != nil && !ok {
			f.err = errors.New("the answer is not a list")
		} else if all := rows(resp); len(all) > 0 {
			f.row = all[max(0, slices.IndexFunc(all, func(r resource.Row) bool { return resource.IsID(r.ID()) }))]
			if resource.IsID(f.row.ID()) {
				e.params[resource.MustLookup(op.Kind).Param] = f.row.ID()
			}
			if op.Kind == "project" {
				e.notMember = e.notMemberOf(all, e.in.Desired)
			}
		}
	}
	e.lists[op.Kind] = f
	return resp, err
}

// readListIfPossible reads a list if its parent is known and the quota allows it.
func (e *examination) readListIfPossible(ctx context.Context, op *resource.Operation) {
	if _, missing := op.Expand(e.params); missing == "" && (e.waitsForQuota || !e.quotaExhausted) && ctx.Err() == nil {
		_, _ = e.readList(ctx, op) // the error is in e.lists
	}
}

// refusalText is a refusal in the service's own words.
func refusalText(e *apiclient.Error) string {
	switch {
	case e.Message != "" && e.Status != 0:
		return fmt.Sprintf("%d %s", e.Status, strings.TrimSuffix(e.Message, "."))
	case e.Err != nil:
		return diag.PlainText(e.Err)
	default:
		return strconv.Itoa(e.Status)
	}
}
