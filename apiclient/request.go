package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Request is one call of an operation. Either Params or Path gives the path.
type Request struct {
	Operation *resource.Operation
	Params    map[string]string // without workspace_slug; UUIDs are sent in lower case
	Path      string            // from [Client.Path], instead of Params
	Query     url.Values
	Body      []byte // JSON; nil = none
	// Again, unless nil, is called before a create is repeated that may have been done although it was refused temporarily. Its error ends
	// the call.
	Again func(context.Context) error
}

// call is a checked request, which may be sent several times.
type call struct {
	op     *resource.Operation
	method string
	path   string // escaped, below the base URL
	query  string
	body   []byte
	limit  int64 // largest answer in bytes
	// shrinkable is set for a page of a list that can be smaller: a page that takes too long is not requested again with the same size.
	shrinkable bool
	again      func(context.Context) error // see [Request.Again]
	// wantsLocation is set for a read whose answer redirects to a file.
	wantsLocation bool
	// redirected is set after the service asked for the other form of the path.
	redirected bool
}

const (
	maxSingle = 8 << 20
	maxMany   = 64 << 20
)

// Path expands the operation's path for [Request.Path], with the workspace, and with UUIDs in lower case.
func (c *Client) Path(op *resource.Operation, params map[string]string) (string, error) {
	filled := make(map[string]string, len(params)+1)
	for name, v := range params {
		if resource.IsID(v) {
			v = resource.LowerID(v)
		}
		filled[name] = v
	}
	filled["workspace_slug"] = c.workspace
	path, missing := op.Expand(filled)
	if missing != "" {
		return "", fmt.Errorf("%s: no value for {%s}", op, missing)
	}
	return path, nil
}

// prepare checks a request and turns it into a call.
func (c *Client) prepare(req Request) (*call, error) {
	op := req.Operation
	if op == nil {
		return nil, errors.New("apiclient: request without an operation")
	}
	path := req.Path
	switch {
	case path == "":
		var err error
		if path, err = c.Path(op, req.Params); err != nil {
			return nil, err
		}
	case req.Params != nil:
		return nil, fmt.Errorf("%s: both a path and parameters are given", op)
	}
	if err := checkPath(op, path); err != nil {
		return nil, err
	}
	call := &call{op: op, method: op.Method, path: path, query: req.Query.Encode(), body: req.Body, limit: maxSingle, again: req.Again}
	if slices.Contains([]resource.Verb{
		resource.List, resource.ListArchived, resource.ListMembers, resource.ListOverview, resource.ListLite,
		resource.AddMembers,
	}, op.Verb) {
		call.limit = maxMany
	}
	return call, nil
}

// checkPath refuses an expanded path that does not match the template, or has a segment that is not an ID: if a proxy decodes the path
// again, it could lead elsewhere.
func checkPath(op *resource.Operation, path string) error {
	names, values := strings.Split(op.Path, "/"), strings.Split(path, "/")
	fits, wrong := len(names) == len(values), ""
	for i := 0; fits && i < len(names); i++ {
		v := values[i]
		fits = names[i] == v || strings.HasPrefix(names[i], "{") && v != "" && v != "." && v != ".." && !strings.ContainsAny(v, "?#\\")
		if strings.HasSuffix(names[i], "_id}") && !resource.IsID(v) {
			wrong = cmp.Or(wrong, v)
		}
	}
	switch {
	case !fits:
		return fmt.Errorf("%s: path %q does not fit", op, diag.Truncate(path, maxExcerpt))
	case wrong != "":
		return fmt.Errorf("%s: %q is no ID of the service, which are UUIDs", op, wire.OneLine(wrong, maxExcerpt))
	}
	return nil
}

// checkID refuses a row whose ID is invalid or differs from the ID in the path. Such a row comes from a faulty service, or from a cache or
// proxy that mixes up answers.
func (ca *call) checkID(row resource.Row) error {
	kind := resource.MustLookup(ca.op.Kind)
	id, shown := row["id"]
	if !shown || kind.Membership != nil {
		return nil
	}
	text, _ := id.(string)
	if !resource.IsID(text) {
		return wrongIDError(fmt.Sprintf("the answer has the ID %q, which is no UUID", wire.OneLine(fmt.Sprint(id), maxExcerpt)))
	}
	path, named := strings.CutSuffix(strings.TrimSuffix(ca.op.Path, "/"), "{"+kind.Param+"}")
	if asked := strings.TrimSuffix(ca.path, "/"); named && strings.Count(path, "/") == strings.Count(asked, "/") {
		if asked = asked[strings.LastIndexByte(asked, '/')+1:]; !strings.EqualFold(asked, text) {
			return wrongIDError("the answer is about another object, with the ID " + text)
		}
	}
	return nil
}

// wrongIDError is the reason why an answer cannot belong to the request.
type wrongIDError string

func (wi wrongIDError) Error() string { return string(wi) }

// url returns the URL of the call; toggled adds or removes the trailing slash.
func (c *Client) url(call *call, toggled bool) (*url.URL, error) {
	path := call.path
	if toggled {
		path = toggleSlash(path)
	}
	u := c.base
	escaped := u.EscapedPath() + path
	unescaped, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", path, err)
	}
	u.Path, u.RawPath, u.RawQuery = unescaped, escaped, call.query
	return &u, nil
}

// newRequest returns the HTTP request for one attempt.
func (c *Client) newRequest(ctx context.Context, call *call, toggled bool) (*http.Request, error) {
	u, err := c.url(call, toggled)
	if err != nil {
		return nil, err
	}
	header := make(http.Header, len(c.header)+2)
	maps.Copy(header, c.header)
	if !call.op.Public() {
		c.credential.set(header)
	}
	if call.body != nil {
		header["Content-Type"] = []string{"application/json"}
	}
	return request(ctx, call.method, u, header, call.body), nil
}

// request returns a request without GetBody, see the package documentation.
func request(ctx context.Context, method string, u *url.URL, header http.Header, body []byte) *http.Request {
	req := &http.Request{
		Method: method, URL: u, Host: u.Host, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(body)),
	}
	if len(body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return req.WithContext(ctx)
}
