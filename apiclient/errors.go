package apiclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Effect is the effect that a failed request may have had.
type Effect int

// The effects, from harmless to severe.
const (
	// NoEffect: certainly none. The request was never sent, or the service refused it before it read the contents.
	NoEffect Effect = iota
	// Rejected: none, according to the service. It has been seen to say so after it had made the change, so a careful caller checks.
	Rejected
	// UnknownEffect: the request may have been sent, and there is no usable answer.
	UnknownEffect
)

// String returns the effect as a word.
func (ef Effect) String() string {
	switch ef {
	case NoEffect:
		return "not done"
	case Rejected:
		return "refused"
	case UnknownEffect:
		return "unknown"
	default:
		return "Effect(" + strconv.Itoa(int(ef)) + ")"
	}
}

// Errors that an [Error] matches with [errors.Is].
var (
	ErrUnsupported  = errors.New("the service has no such route")
	ErrNotFound     = errors.New("the service has no such object")
	ErrUnauthorized = errors.New("the credential is missing or not valid")
	ErrForbidden    = errors.New("the credential lacks permission")
	ErrConflict     = errors.New("the service has such an object already")
	ErrRateLimited  = errors.New("the service's rate limit is used up")
	ErrTimeout      = errors.New("no answer in time")
	ErrWebPage      = errors.New("the answer is a web page, not the API's")
	ErrUndocumented = errors.New("the answer is not as v2 of the service's API is documented")
)

// Error is a failed request: an error of the service or of the connection, or an answer that cannot be used. It never contains the
// credential.
type Error struct {
	Op     *resource.Operation
	Method string
	Path   string // without the query
	Status int    // of the answer; 0 = there was none
	// Message is the service's own message, on one line; "" = none.
	Message string
	// Code is the service's code for the reason, such as CYCLE_COMPLETED or, in v2, ordering_not_cursor_eligible; "" = none. Decide by the
	// code, never by the message.
	Code string
	// Fields holds messages about single fields, by path, such as "assignees.0".
	Fields map[string][]string
	// ExistingID is the ID of the conflicting object; "" = the service does not name it.
	ExistingID string
	// RetryAfter is the pause that the service asked for; 0 = none.
	RetryAfter time.Duration
	// Scope is the scope that the operation needs.
	Scope  string
	Effect Effect
	// Doubted is set if an earlier attempt of a write was refused temporarily, but not in the service's own words, so that it may have had
	// an effect.
	Doubted bool
	// Took is the duration of the last attempt, from sending to the answer.
	Took time.Duration
	// Attempts is the number of attempts to send the request.
	Attempts int
	Headers  Headers // of the last answer; meaningless if the status is 0
	// Err is the error of the connection, of the context, or of the answer's form; nil = a refusal.
	Err error

	webPage  bool          // the answer was a web page
	problem  bool          // the answer had the form of an error of v2, so the service has the route
	bearer   bool          // the credential was a bearer token
	owner    string        // name of the credential's user
	patience time.Duration // the longest pause that the client waits for
	at       time.Time     // time of the failure
}

// Messages of the service with 403: for an unknown credential, and for a missing permission.
const (
	badKey       = "Given API token is not valid"
	noPermission = "You do not have permission to perform this action"
)

// Generic messages of the service with 400. It sends them for internal errors too, even after it has made the change.
const (
	badDetail  = "Please provide valid detail"
	badPayload = "The payload is not valid"
)

// Credential reports whether the credential is missing or refused, so that no request can succeed.
func (e *Error) Credential() bool {
	return e.Status == http.StatusUnauthorized ||
		e.Status == http.StatusForbidden && strings.Contains(strings.ToLower(e.Message), strings.ToLower(badKey))
}

// Permission reports whether the service answered 403 to a known credential.
func (e *Error) Permission() bool { return e.Status == http.StatusForbidden && !e.Credential() }

// TooLarge reports whether the service refused the request because of its size.
func (e *Error) TooLarge() bool { return e.Status == http.StatusRequestEntityTooLarge }

// migrating reports whether the service is moving states or types between the workspace and its projects, and refuses changes of them until
// it has finished.
func (e *Error) migrating() bool { return e.Code == "governance_migration_in_progress" }

// managedElsewhere reports whether such objects are managed on the other level: by the workspace, or in each project.
func (e *Error) managedElsewhere() bool {
	switch e.Code {
	case "states_managed_at_workspace", "work_item_types_managed_at_workspace", "work_item_types_managed_at_project",
		"workspace_managed", "workspace_not_managed": // in API v1
		return true
	default:
		return false
	}
}

// Collided reports whether the service may have refused the change because of a simultaneous one: the conflict names neither a field nor
// another object.
func (e *Error) Collided() bool {
	return e.problem && e.Status == http.StatusConflict && (e.Code == "conflict" || e.migrating()) && len(e.Fields) == 0 && e.ExistingID == ""
}

// Generic reports whether the message does not name a cause. The service has been seen to send such a message after it had made the change.
func (e *Error) Generic() bool {
	return e.Status == http.StatusBadRequest && (e.Message == badDetail || e.Message == badPayload)
}

// Transient reports whether the same request may succeed later, because the failure of the service or the network is temporary.
func (e *Error) Transient() bool {
	switch e.Status {
	case 0:
		return !permanent(e.Err)
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	default:
		return e.migrating()
	}
}

// Refusal returns the service's reason in its own words, without the object; "" = it did not refuse, or other requests cannot have the same
// reason.
func (e *Error) Refusal() string {
	if e.Status < 400 || e.Status >= 500 || e.Effect == UnknownEffect || e.Message == "" && !e.Permission() {
		return ""
	}
	return strconv.Itoa(e.Status) + ": " + e.Message
}

// TooSlow reports whether the answer was late, or a gateway reports that.
func (e *Error) TooSlow() bool {
	return e.Status == http.StatusGatewayTimeout || e.Status == http.StatusRequestTimeout || errors.Is(e.Err, ErrTimeout)
}

// Finished reports whether the request was certainly finished when the answer came, so that it cannot take effect later. A gateway that gives
// up waiting answers late, or says so.
func (e *Error) Finished() bool {
	const gatewayWaits = 5 * time.Second
	return e.Status != 0 && !e.TooSlow() && e.Took < gatewayWaits
}

// busy reports whether the service refused the request temporarily without an effect, so that it can be sent again.
func (e *Error) busy() bool {
	return e.Status == http.StatusTooManyRequests && !errors.Is(e.Err, errPause) || e.Status == http.StatusServiceUnavailable &&
		e.Effect == NoEffect
}

// throttled reports whether the service's own throttle refused the request, before any processing. Another server in front of the service
// may have passed the request on.
func (e *Error) throttled() bool {
	return e.Status == http.StatusTooManyRequests &&
		(e.Message == "RATE_LIMIT_EXCEEDED" || strings.HasPrefix(e.Message, "Request was throttled") ||
			e.problem && strings.HasPrefix(e.Message, "Rate limit exceeded"))
}

// unreachable reports whether the last attempt got no connection.
func (e *Error) unreachable() bool { return e.Status == 0 && neverDialled(e.Err) }

// v2 reports whether the request belongs to v2 of the service's API.
func (e *Error) v2() bool { return e.Op != nil && e.Op.V2() }

// Unsupported reports whether the service lacks the operation: because of its edition, because of the workspace's plan, or because such
// objects are managed on the other level.
func (e *Error) Unsupported() bool {
	switch {
	case e.webPage:
		return false
	case e.Status == http.StatusNotFound && e.v2():
		return !e.problem
	case e.Status == http.StatusNotFound:
		return strings.Contains(strings.ToLower(e.Message), "page not found")
	case e.Status == http.StatusPaymentRequired, e.Status == http.StatusMethodNotAllowed:
		return e.v2()
	default:
		return e.managedElsewhere()
	}
}

// NotFound reports whether the service has the operation but not the object. A web page with 404 does not count, because it does not come
// from the service.
func (e *Error) NotFound() bool {
	return e.Status == http.StatusNotFound && !e.webPage && !e.Unsupported()
}

// Is implements the matching of [errors.Is].
func (e *Error) Is(target error) bool {
	switch target {
	case ErrUnsupported:
		return e.Unsupported()
	case ErrNotFound:
		return e.NotFound()
	case ErrUnauthorized:
		return e.Credential()
	case ErrForbidden:
		return e.Permission()
	case ErrConflict:
		return e.Status == http.StatusConflict && !e.Unsupported() && !e.migrating() || e.ExistingID != ""
	case ErrRateLimited:
		return e.Status == http.StatusTooManyRequests
	case ErrWebPage:
		return e.webPage
	default:
		return false
	}
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Error returns a text such as: POST …/work-items/: 400: name: This field is required.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Method + " " + shortPath(e.Path))
	if e.Status != 0 {
		b.WriteString(": " + strconv.Itoa(e.Status))
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + e.Message)
	case e.Err == nil && http.StatusText(e.Status) != "":
		b.WriteString(": " + http.StatusText(e.Status))
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	text := b.String()
	if hint := e.hint(); hint != "" {
		text = strings.TrimSuffix(text, ".") + "; " + hint
	}
	if e.Effect == UnknownEffect && (e.Op == nil || e.Op.Writes()) {
		text = strings.TrimSuffix(text, ".") + "; it is not known whether it took effect"
	}
	return text
}

// hint returns the next step, or another possible meaning.
func (e *Error) hint() string {
	switch {
	case e.Status == http.StatusUnauthorized && e.bearer:
		return "the service refuses the access token; some editions take only an API key (PLANE_API_KEY)"
	case e.Status == http.StatusUnauthorized:
		return "give an API key in PLANE_API_KEY or with --api-key-file, or an access token in PLANE_ACCESS_TOKEN"
	case e.Credential():
		return "the API key is not valid: it may be mistyped, expired or revoked, or its owner deactivated"
	case e.Permission():
		return e.permissionHint()
	case e.Status == http.StatusPaymentRequired:
		return "the workspace's plan lacks this feature, or it is switched off"
	case e.managedElsewhere():
		return "this workspace manages them on its other level (workspace or project); planform doctor says which"
	case e.Unsupported():
		return "this edition of the service lacks the route, or an ID in it is malformed"
	case e.problem && e.NotFound():
		return "there is no such object, or " + cmp.Or(e.owner, "the user") + " may not see it"
	case e.webPage && e.Err == nil && e.Status < 500:
		return "this is a web page, not the API: is the base URL right?"
	case e.TooLarge():
		return "the service takes about 5 MB in one request: shorten the longest text"
	default:
		return e.Pause()
	}
}

// Pause returns the pause that the service asks for in words. If it is longer than the client waits, it also says when to come back; "" =
// no pause.
func (e *Error) Pause() string {
	if e.RetryAfter <= 0 || e.Status != http.StatusTooManyRequests && e.Status != http.StatusServiceUnavailable {
		return ""
	}
	text := "the service asks to wait " + waitText(e.RetryAfter)
	if e.RetryAfter > e.patience {
		again := e.at.Add(e.RetryAfter).UTC().Add(time.Minute) // rounded up
		form := "15:04 UTC"
		if e.RetryAfter > 12*time.Hour {
			form = "2006-01-02 " + form
		}
		text += ", longer than planform does (" + waitText(e.patience) + "): run it again after " + again.Format(form)
	}
	return text
}

// waitText returns a duration in whole seconds, or in days if it is long.
func waitText(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return diag.Count(int(d/day), "day")
	}
	return d.Round(time.Second).String()
}

// permissionHint explains a 403. Only access tokens have scopes; an API key has the permissions of its user.
func (e *Error) permissionHint() string {
	scope := ""
	if e.bearer && e.Scope != "" {
		scope = "the access token needs the scope " + e.Scope
	}
	if e.problem || e.Message != "" && !strings.HasPrefix(e.Message, noPermission) {
		return scope // the service's own message says more; v2 answers 404 for objects that the user may not see
	}
	owner, place := cmp.Or(e.owner, "the user"), "workspace"
	if strings.Contains(e.Path, "/projects/") || e.Op != nil && slices.Contains(e.Op.Params(), "identifier") {
		place = "project"
	}
	if scope != "" {
		scope += "; or "
	}
	return scope + owner + " is not a member of this " + place + " or has too low a role in it, or there is no such " + place
}

// shortPath leaves out the workspace, and shortens a very long path.
func shortPath(path string) string {
	const longest = 300
	path = diag.Truncate(path, longest)
	for prefix, short := range map[string]string{"/api/v1/workspaces/": "…/", "/api/v2/workspaces/": "/api/v2/…/"} {
		if _, rest, ok := strings.Cut(path, prefix); ok {
			if _, rest, ok = strings.Cut(rest, "/"); ok {
				return short + rest
			}
		}
	}
	return path
}

// effectOf returns the effect of a request by the status of its answer.
func effectOf(status int) Effect {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnsupportedMediaType, http.StatusTooManyRequests, http.StatusMisdirectedRequest,
		http.StatusRequestHeaderFieldsTooLarge, http.StatusUpgradeRequired, http.StatusTooEarly,
		http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return NoEffect
	case http.StatusRequestTimeout, 499: // 499: a proxy gave up on its client
		return UnknownEffect
	}
	if status >= 400 && status < 500 {
		return Rejected
	}
	return UnknownEffect
}

// contextError returns the error of a context that ended, with its cause for errors.Is.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == nil || errors.Is(cause, err) {
		return err
	}
	if stopped, ok := errors.AsType[*stoppedError](cause); ok && stopped.unreachable {
		return cause // a deadline, not a cancellation
	}
	return fmt.Errorf("%w: %w", err, cause)
}
