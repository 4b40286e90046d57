package apiclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"time"

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Response is the answer to a successful request.
type Response struct {
	Status  int
	Row     resource.Row   // of an answer that is an object; nil for an empty answer
	Rows    []resource.Row // of an answer that is a bare array
	Secret  string         // the secret in the answer, see [resource.Kind]; Row and Rows do not contain it
	Headers Headers
	// Redirected is set if the service expects the path with the other form of the trailing slash.
	Redirected bool
}

// answer is a 2xx answer whose contents were not checked yet.
type answer struct {
	status   int
	value    any // nil = the body is empty
	secret   string
	size     int64 // of the body
	attempts int
	headers  Headers
	location string // of a call with wantsLocation
}

// Do makes one call. Every 2xx answer with a valid body is a success. Every failure of a valid request is an [*Error]; an invalid request
// is not sent.
func (c *Client) Do(ctx context.Context, req Request) (*Response, error) {
	call, err := c.prepare(req)
	if err != nil {
		return nil, err
	}
	a, err := c.send(ctx, call)
	if err != nil {
		return nil, err
	}
	resp := &Response{Status: a.status, Headers: a.headers, Secret: a.secret, Redirected: call.redirected}
	switch v := a.value.(type) {
	case nil:
	case map[string]any:
		resp.Row = v
	case []any:
		if resp.Rows, err = rowsOf(v); err != nil {
			return nil, c.unexpected(call, a, err)
		}
	default:
		return nil, c.unexpected(call, a, errors.New("the answer is neither an object nor a list"))
	}
	return resp, nil
}

// Read makes a read by its expanded path. It returns all rows of a list, or the single row of an object or of an answer with several lists.
// The query may be nil. If it asks for only some fields, such as fields=id,name, a list needs the id to tell its rows apart.
func (c *Client) Read(ctx context.Context, op *resource.Operation, path string, query url.Values) ([]resource.Row, error) {
	req := Request{Operation: op, Path: path, Query: query}
	m := resource.MustLookup(op.Kind).Membership
	if op.Verb == resource.List || op.Verb == resource.ListArchived || op.Verb == resource.ListOverview || op.Verb == resource.ListLite ||
		op.Verb == resource.ListMembers && m.ResultKey == "" {
		return c.List(ctx, req)
	}
	resp, err := c.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if op.Verb == resource.GetValue && resp.Rows != nil { // of a property with several values
		return resp.Rows, nil
	}
	if resp.Row == nil {
		return nil, c.invalidResponse(&call{op: op, method: op.Method, path: path}, resp.Status, errors.New("the answer is not an object"))
	}
	return []resource.Row{resp.Row}, nil
}

// sendOnce sends the call once, with the path of the operation or with its slash toggled, and reads the answer.
func (c *Client) sendOnce(ctx context.Context, call *call, toggled bool, maxWait time.Duration) (*answer, *Error) {
	s, err := c.waitForQuota(ctx, call, maxWait)
	if err != nil {
		return nil, err
	}
	c.sent.Add(1)
	start := time.Now()
	a, status, err := c.exchange(ctx, call, toggled, s)
	s.drop() // has no effect after an answer
	if err != nil {
		err.Took = time.Since(start)
	}
	if c.log.Enabled(ctx, slog.LevelDebug) {
		c.logAttempt(ctx, call, status, time.Since(start), a, err)
	}
	return a, err
}

func (c *Client) logAttempt(ctx context.Context, call *call, status int, took time.Duration, a *answer, err *Error) {
	attrs := []slog.Attr{slog.String("method", call.method), slog.String("path", call.path)}
	if call.query != "" {
		attrs = append(attrs, slog.String("query", call.query))
	}
	attrs = append(attrs, slog.Int("status", status), slog.Duration("took", took))
	var headers Headers
	if err != nil {
		headers = err.Headers
	} else {
		headers = a.headers
	}
	if headers.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", headers.RequestID))
	}
	if err != nil && err.RetryAfter > 0 {
		attrs = append(attrs, slog.Duration("retry_after", err.RetryAfter))
	}
	if err != nil && err.Err != nil {
		attrs = append(attrs, slog.String("error", err.Err.Error()))
	}
	c.log.LogAttrs(ctx, slog.LevelDebug, "request", attrs...)
}

// exchange sends one request and checks its answer.
func (c *Client) exchange(ctx context.Context, call *call, toggled bool, s *slot) (*answer, int, *Error) {
	var out sending
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := c.newRequest(httptrace.WithClientTrace(limited, out.trace()), call, toggled)
	if err != nil {
		return nil, 0, c.failure(call, NoEffect, err)
	}
	resp, err := wire.Send(c.transport, req, call.limit)
	if none, ok := errors.AsType[*wire.NoAnswerError](err); ok {
		return nil, none.Status, c.invalidResponse(call, none.Status, none)
	}
	if err != nil {
		effect := UnknownEffect
		if c.traced && !out.bytesSent() || !c.traced && neverDialled(err) {
			effect = NoEffect
		}
		return nil, 0, c.failure(call, effect, c.transportError(ctx, limited, err))
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	headers := readHeaders(resp.Header)
	if headers.RequestID = c.credential.redact(resp.Header.Get("X-Request-Id")); len(headers.RequestID) > 128 {
		headers.RequestID = "" // too long for an ID
	}
	s.answered(resp.StatusCode, headers.Remaining, resp.Header)
	c.served.Store(max(c.served.Load(), headers.Date.Unix()))
	a, failed := c.check(ctx, limited, call, req.URL, resp)
	if failed != nil {
		failed.Headers = headers
	} else {
		a.headers = headers
	}
	return a, resp.StatusCode, failed
}

// check turns a response into an answer or an error.
func (c *Client) check(ctx, limited context.Context, call *call, from *url.URL, resp *http.Response) (*answer, *Error) {
	status := resp.StatusCode
	if call.wantsLocation && (status == http.StatusFound || status == http.StatusTemporaryRedirect) && resp.Header.Get("Location") != "" {
		return &answer{status: status, location: resp.Header.Get("Location")}, nil
	}
	if status > 299 {
		body, _ := io.ReadAll(resp.Body) // the status of an error is enough if its body cannot be read
		var e *Error
		if status >= 300 && status < 400 {
			e = c.failure(call, effectOf(status), judgeRedirect(&c.base, from, status, resp.Header.Get("Location"), c.credential.redact))
			e.Status, e.Err = status, c.clean(e.Err)
		} else {
			e = c.newAPIError(call, status, resp.Header, body)
		}
		var asked bool
		if e.RetryAfter, asked = retryAfter(resp.Header, time.Now()); asked && status == http.StatusServiceUnavailable {
			e.Effect = NoEffect // the service was too busy to take the request, and names a time for the retry
		}
		return nil, e
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		if !errors.Is(err, wire.ErrTooLarge) {
			err = fmt.Errorf("the answer broke off: %w", c.transportError(ctx, limited, err))
		}
		return nil, c.invalidResponse(call, status, err)
	}
	v, err := decode(resp.Header.Get("Content-Type"), body)
	if errors.Is(err, errEmpty) && (status == http.StatusNoContent || status == http.StatusResetContent || mayBeEmpty(call.op)) {
		return &answer{status: status}, nil
	}
	secret := removeSecret(v, resource.MustLookup(call.op.Kind).Secret())
	if row, single := v.(map[string]any); err == nil && single &&
		slices.Contains([]resource.Verb{resource.Create, resource.Update, resource.Get, resource.Find}, call.op.Verb) {
		err = call.checkID(row)
	}
	if err != nil {
		return nil, c.invalidResponse(call, status, err)
	}
	return &answer{status: status, value: v, secret: secret, size: int64(len(body))}, nil
}

// removeSecret removes a field from every row of an answer, so that nothing shows or stores it, and returns its last value.
func removeSecret(v any, field string) (secret string) {
	if field == "" {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		secret, _ = v[field].(string)
		delete(v, field)
		for _, inner := range v {
			secret = cmp.Or(removeSecret(inner, field), secret)
		}
	case []any:
		for _, inner := range v {
			secret = cmp.Or(removeSecret(inner, field), secret)
		}
	}
	return secret
}

// mayBeEmpty reports whether a success of the operation may have no body.
func mayBeEmpty(op *resource.Operation) bool {
	return slices.Contains([]resource.Verb{resource.Update, resource.Delete, resource.AddMembers, resource.RemoveMembers}, op.Verb)
}

// failure returns the error of a call.
func (c *Client) failure(call *call, effect Effect, err error) *Error {
	return &Error{
		Op: call.op, Method: call.method, Path: call.path, Scope: call.op.Scope,
		Effect: effect, Err: err, bearer: c.credential.bearer, owner: c.userName(), patience: c.maxElapsed, at: time.Now(),
	}
}

// unexpected returns the error of an answer whose JSON has the wrong shape.
func (c *Client) unexpected(call *call, a *answer, err error) *Error {
	e := c.invalidResponse(call, a.status, err)
	e.Attempts, e.Headers = a.attempts, a.headers
	if call.op.V2() && !errors.Is(err, wire.ErrTooLarge) {
		e.Err = diag.WithHint(fmt.Errorf("%w: %w", ErrUndocumented, e.Err), "use v1 of the service's API: --api v1")
	}
	return e
}

// invalidResponse returns the error of a 2xx answer that cannot be used. Its effect is unknown.
func (c *Client) invalidResponse(call *call, status int, err error) *Error {
	e := c.failure(call, UnknownEffect, c.clean(err))
	e.Status = status
	e.webPage = errors.Is(err, errHTML)
	return e
}
