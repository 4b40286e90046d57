package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/http/baseurl"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
)

// Client makes requests, as [apiclient.Client] does.
type Client interface {
	Do(ctx context.Context, req apiclient.Request) (*apiclient.Response, error)
}

// Input is the configuration to examine.
type Input struct {
	BaseURL   string // as the user wrote it
	Workspace string
	// Credential says where the credential comes from, such as "API key from PLANE_API_KEY"; "" = there is none.
	Credential string
	// Client is nil if none can be made. Then Refused says why, and RefusedHint what to do.
	Client      Client
	Refused     error
	RefusedHint string
	// API is the widest API that may be used.
	API resource.API
	// APIChosen says that the user insists on API.
	APIChosen bool
	// StatePath is the path of the state file; "" = not known.
	StatePath string
	// Connect opens the store of a shared state.
	Connect func(ctx context.Context, address string) (state.Objects, error)
	// Manifests are the files that were read, Desired their objects, Errors the number of their errors.
	Manifests []string
	Desired   []*resource.Object
	Errors    int

	Redact func(string) string // removes the credential from a text of another program; nil = there is no credential
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
	for i := range e.Checks {
		c := &e.Checks[i]
		c.Summary, c.Hint = e.in.Redact(c.Summary), e.in.Redact(c.Hint)
	}
	e.countChecks()
	return *e.Report
}

func newExamination(in Input) *examination {
	if in.Redact == nil {
		in.Redact = func(text string) string { return text }
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

	params         map[string]string     // path parameters that earlier answers gave
	lists          map[string]listResult // by kind, the result of reading its list
	userName       string                // the user's name
	userID         string
	remaining      int // requests left, according to the service; -1 = not announced
	reset          time.Time
	limited        *apiclient.Error // the answer 429
	quotaExhausted bool             // no request is left now
	waitsForQuota  bool             // the client waits until requests are left
	firstError     error            // of the first request
	anonymous      bool             // the service has no route for the credential's user
	notMember      []Check          // one for each project of the manifest whose member the user is not
}

// listResult is the result of reading a list, or the only object of a kind in a project.
type listResult struct {
	row resource.Row // the first row with a valid ID, else the first; nil = the list is empty
	err error
}

// reportNoClient reports why there is no client.
func (ex *examination) reportNoClient() {
	if ex.in.Credential == "" {
		ex.addDenied("credential", ex.in.Refused.Error(), ex.in.RefusedHint)
		return
	}
	ex.addUnconfirmed(ex.in.Refused.Error(), ex.in.RefusedHint)
}

// request makes one read request, for one row of a list; for all projects if a manifest names some.
func (ex *examination) request(ctx context.Context, op *resource.Operation) (*apiclient.Response, error) {
	query := url.Values{}
	if op.Verb == resource.List && !resource.MustLookup(op.Kind).Singleton && (op.Kind != "project" || len(ex.in.Desired) == 0) {
		query.Set("per_page", "1") // the service understands one of the two and ignores the other
		query.Set("limit", "1")
	}
	path, _ := op.Expand(ex.params)
	resp, err := ex.in.Client.Do(ctx, apiclient.Request{Operation: op, Path: path, Query: query})
	failed, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case ok:
		ex.Summary.Requests += max(1, failed.Attempts)
		if failed.Status == 429 {
			ex.limited, ex.quotaExhausted = failed, true
		}
		if failed.Status != 0 {
			ex.readHeaders(failed.Headers)
		}
	case err == nil:
		ex.Summary.Requests++
		if resp.Redirected {
			ex.Summary.Requests++
		}
		ex.readHeaders(resp.Headers)
	}
	return resp, err
}

// readHeaders records the quota of the service.
func (ex *examination) readHeaders(h apiclient.Headers) {
	if h.Remaining >= 0 {
		ex.remaining, ex.reset = h.Remaining, h.Reset
		ex.quotaExhausted = ex.quotaExhausted || h.Remaining == 0
	}
}

// checkAPI makes the checks that need the service.
func (ex *examination) checkAPI(ctx context.Context) {
	ops := ex.readOperations()
	defer ex.checkRateLimit()
	if _, missing := ops[0].Expand(ex.params); missing != "" {
		ex.reportNoWorkspace()
		return
	}
	if !ex.checkService(ctx, ops[0]) {
		return
	}
	if ex.Workspace == "" {
		ex.reportNoWorkspace()
		return
	}
	for _, op := range ops[1:] {
		ex.readListIfPossible(ctx, op)
	}
	if ex.hasNoAPI() {
		ex.reportNoAPI()
		return
	}
	ex.checkWorkspace()
	ex.checkV2(ctx)
	ex.checkEdition()
}

// readOperations returns the read operations to use, in this order: the credential's user, lists of the
// workspace, then lists and single objects of one project.
func (ex *examination) readOperations() []*resource.Operation {
	var self, projects, top, within []*resource.Operation
	project := resource.MustLookup("project")
	for _, op := range resource.Operations() {
		if k := resource.MustLookup(op.Kind); k.Governance.AtWorkspace || k.Singleton || k.Name == resource.Invitation {
			continue // what the workspace manages follows from its projects; few may read invitations
		}
		if !ex.in.API.Offers(op) || op.V2() || op.Verb != resource.Self && op.Verb != resource.List && op.Verb != resource.Get {
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

// checkService makes the first request and reports whether further requests make sense.
func (ex *examination) checkService(ctx context.Context, op *resource.Operation) bool {
	resp, err := ex.readList(ctx, op)
	ex.firstError = err
	summary, hint, reached := checkReached(ex.BaseURL, err)
	if err == nil && op.Verb == resource.Self && resp.Row.ID() == "" {
		summary, hint, reached = ex.BaseURL+" answers, but not as the API: it does not say whom the credential belongs to",
			baseURLHint(ex.BaseURL), false
	}
	if !reached {
		ex.addUnconfirmed(summary, hint)
		return false
	}
	if u, err := url.Parse(ex.BaseURL); err == nil && u.Scheme == "http" && !baseurl.Loopback(u.Hostname()) {
		ex.add("service", Warning, ex.BaseURL+" answers, and the credential goes there unencrypted",
			"use https, if the service offers it")
	} else {
		ex.add("service", OK, ex.BaseURL+" answers", "")
	}
	failed, _ := errors.AsType[*apiclient.Error](err)
	if failed != nil && failed.Credential() {
		summary, hint := "the "+ex.in.Credential+" is not accepted: "+refusalText(failed),
			"it may be mistyped, expired or revoked, or its owner deactivated: make a new one in the service's settings"
		if failed.Status == 401 && strings.HasPrefix(ex.in.Credential, "access token") {
			hint = "some editions take API keys only: set PLANE_API_KEY instead"
		}
		ex.addDenied("credential", summary, hint)
		return false
	}
	taken := ex.in.Credential
	if failed == nil || failed.Permission() {
		taken += ", accepted by the service"
	}
	ex.add("credential", OK, taken, "")
	if ex.limited != nil {
		return false
	}
	if op.Verb == resource.Self {
		ex.checkUser(resp, failed)
	}
	return true
}

// checkUser reports the user of the credential.
func (ex *examination) checkUser(resp *apiclient.Response, failed *apiclient.Error) {
	if failed != nil {
		summary := "the service does not tell whose credential this is: " + refusalText(failed)
		if ex.anonymous = failed.Unsupported(); ex.anonymous {
			ex.add("user", OK, summary, "")
		} else {
			ex.add("user", Warning, summary, "")
		}
		return
	}
	for _, name := range []string{"display_name", "email"} {
		if text, _ := resp.Row[name].(string); text != "" && ex.userName == "" {
			ex.userName = text
		} else if text != "" {
			ex.userName += " (" + text + ")"
		}
	}
	ex.userID = resp.Row.ID()
	ex.userName = cmp.Or(ex.userName, ex.userID)
	ex.add("user", OK, "the credential belongs to "+ex.userName, "")
}

// readList makes a request and records the first row of a list.
func (ex *examination) readList(ctx context.Context, op *resource.Operation) (*apiclient.Response, error) {
	resp, err := ex.request(ctx, op)
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
		} else if all := rowsOf(resp); len(all) > 0 {
			f.row = all[max(0, slices.IndexFunc(all, func(r resource.Row) bool { return resource.IsID(r.ID()) }))]
			if resource.IsID(f.row.ID()) {
				ex.params[resource.MustLookup(op.Kind).Param] = f.row.ID()
			}
			if op.Kind == "project" {
				ex.notMember = ex.membershipProblems(all, ex.in.Desired)
			}
		}
	}
	ex.lists[op.Kind] = f
	return resp, err
}

// readListIfPossible reads a list if its parent is known and the quota allows it.
func (ex *examination) readListIfPossible(ctx context.Context, op *resource.Operation) {
	if _, missing := op.Expand(ex.params); missing == "" && (ex.waitsForQuota || !ex.quotaExhausted) && ctx.Err() == nil {
		_, _ = ex.readList(ctx, op) // the error is in e.lists
	}
}

// refusalText returns a refusal in the service's own words.
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
