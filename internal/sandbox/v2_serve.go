package sandbox

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const v2Root = "/api/v2/"

// problem is an error as API v2 answers it.
type problem struct {
	status int
	code   string // "" is that of the status
	detail string
	errors []fieldError
}

// fieldError is the complaint about one field of a body or query.
type fieldError struct{ field, code, message string }

func (f fieldError) row() row { return row{"field": f.field, "code": f.code, "message": f.message} }

// problemBody is a body that is sent as application/problem+json.
type problemBody row

// problemType is the type of a problem, which follows from its status.
func problemType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "invalid_request"
	case http.StatusRequestEntityTooLarge:
		return "payload_too_large"
	case http.StatusTooManyRequests:
		return "rate_limited"
	case http.StatusInternalServerError:
		return "server_error"
	}
	return strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
}

func (p *problem) row() row {
	kind := problemType(p.status)
	code := p.code
	if code == "" {
		code = kind
	}
	return row{"type": kind, "code": code, "detail": p.detail}
}

// reply is the answer to a single request: it lists fields only if the request was invalid, or a batch failed.
func (p *problem) reply() reply {
	body := p.row()
	if len(p.errors) > 0 {
		body["errors"] = errorRows(p.errors)
	}
	return reply{p.status, problemBody(body)}
}

func errorRows(errs []fieldError) []row {
	out := make([]row, len(errs))
	for i, e := range errs {
		out[i] = e.row()
	}
	return out
}

func notFoundV2() *problem {
	return &problem{status: http.StatusNotFound, detail: "The requested resource was not found."}
}

func forbiddenV2() *problem {
	return &problem{status: http.StatusForbidden, detail: textForbidden}
}

func conflictV2(detail string) *problem {
	return &problem{status: http.StatusConflict, detail: detail}
}

func switchedOff(feature string) *problem {
	return &problem{status: http.StatusPaymentRequired, detail: fmt.Sprintf("The feature is switched off (%s).", feature)}
}

// invalidV2 is the answer to a request of which some fields are wrong.
func invalidV2(errs ...fieldError) *problem {
	return &problem{status: http.StatusBadRequest, detail: "The request is invalid.", errors: errs}
}

// handlerV2 answers inside a transaction, which a problem rolls back.
type handlerV2 func(c *call, t *tx) (reply, *problem)

// operationV2 is one method of one path, which is written as the reference does.
type operationV2 struct {
	method, path string
	do           handlerV2
	res          *resourceV2 // nil outside of collections
	open         bool        // to anybody with a key, outside of any workspace
	bulk         bool        // takes JSON only
}

// operationsV2 is every operation that the server has.
func (s *Server) operationsV2() []operationV2 {
	var all []operationV2
	for _, res := range s.tableV2() {
		all = append(all, res.operations()...)
	}
	all = append(all, s.otherOperationsV2()...)
	all = slices.DeleteFunc(all, func(op operationV2) bool {
		return s.opts.HasOperation != nil && !s.opts.HasOperation(op.method, v2Root+op.path)
	})
	// Literal segments sort before "{pk}".
	slices.SortStableFunc(all, func(a, b operationV2) int { return strings.Compare(a.path, b.path) })
	return all
}

// matchV2 is the parameters of a path, if it is one of the pattern.
func matchV2(pattern, path string) (vars map[string]string, ok bool) {
	vars = map[string]string{}
	names, segments := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(names) != len(segments) {
		return nil, false
	}
	for i, name := range names {
		param, isParam := strings.CutPrefix(strings.TrimSuffix(name, "}"), "{")
		switch {
		case isParam && segments[i] == "", !isParam && name != segments[i]:
			return nil, false
		case isParam:
			vars[param] = segments[i]
		}
	}
	return vars, true
}

// routesV2 is the operations of API v2 by method and path.
func (s *Server) routesV2() http.HandlerFunc {
	all := s.operationsV2()
	return func(w http.ResponseWriter, req *http.Request) {
		path := strings.TrimPrefix(req.URL.Path, v2Root)
		var found []operationV2
		var vars map[string]string
		for _, op := range all {
			if len(found) > 0 && op.path != found[0].path {
				continue
			}
			if v, ok := matchV2(op.path, strings.TrimSuffix(path, "/")+"/"); ok {
				found, vars = append(found, op), v
			}
		}
		takes := func(op operationV2) bool { return op.method == req.Method }
		switch pk, ok := vars["pk"]; {
		case len(found) == 0, ok && !isUUID(pk) && !slices.ContainsFunc(found, takes): // an action that there is not
			noRoute(w, req)
		case !strings.HasSuffix(path, "/"):
			to := url.URL{Path: s.opts.Prefix + req.URL.Path + "/", RawQuery: req.URL.RawQuery}
			send(w, req, reply{status: http.StatusMovedPermanently}, http.Header{"Location": {to.String()}, "Content-Type": {htmlText}})
		default:
			s.answerV2(w, req, found, vars)
		}
	}
}

// answerV2 runs the operation and sends its answer.
func (s *Server) answerV2(w http.ResponseWriter, req *http.Request, found []operationV2, vars map[string]string) {
	raw, fits, err := readBody(req)
	c := &call{
		Server: s, req: req, vars: vars, query: req.URL.Query(), raw: raw, now: s.opts.Now(), snapshot: snapshotOf(req),
		headers: http.Header{},
	}
	var allow []string
	var op *operationV2
	for i := range found {
		allow = append(allow, found[i].method)
		if found[i].method == req.Method {
			op = &found[i]
		}
	}
	c.headers.Set("Allow", strings.Join(allow, ", "))
	limit := s.opts.BodyLimit
	if limit == 0 {
		limit = maxBody
	}
	var r reply
	switch {
	case err != nil:
		r = invalidV2().reply()
	case !fits || len(raw) > limit:
		r = (&problem{status: http.StatusRequestEntityTooLarge, detail: "The request body exceeds the size limit."}).reply()
	default:
		r = c.handleV2(op, found[0])
	}
	send(w, req, r, c.headers)
}

// errRollback rolls back the transaction of a handler.
var errRollback = errors.New("rolled back")

// handleV2 runs the checks and the handler in the order of API v1. op is nil if the path does not take the method.
func (c *call) handleV2(op *operationV2, path operationV2) reply {
	if !acceptsJSON(c.req) {
		return (&problem{status: http.StatusNotAcceptable, detail: "Could not satisfy the request Accept header."}).reply()
	}
	var wrong *problem
	err := c.store.view(func(t *tx) error {
		if c.authenticate(t) != nil {
			wrong = &problem{status: http.StatusUnauthorized, detail: "Authentication credentials were not provided or are invalid."}
		}
		return nil
	})
	switch {
	case err != nil:
		return c.failedV2(err)
	case wrong != nil:
		return wrong.reply()
	}
	// The reference names no headers that count requests.
	if wait, ok := c.limiter.allow(c.key(), c.now, http.Header{}); !ok {
		c.headers.Set("Retry-After", strconv.Itoa(wait))
		return (&problem{status: http.StatusTooManyRequests, detail: fmt.Sprintf("Request was throttled. Expected available in %d seconds.",
			wait)}).reply()
	}
	if op == nil {
		op = &path
		wrong = &problem{status: http.StatusMethodNotAllowed, detail: fmt.Sprintf("Method %q not allowed.", c.req.Method)}
	} else {
		wrong = c.parseV2(op.bulk)
	}
	run := c.store.update
	if c.req.Method == http.MethodGet {
		run = c.store.view
	}
	var r reply
	err = run(func(t *tx) error {
		if p := c.resolveV2(t, op); p != nil { // a 404 comes before complaints about the request
			wrong = p
		}
		if wrong == nil {
			r, wrong = op.do(c, t)
		}
		if wrong != nil {
			return errRollback
		}
		return nil
	})
	switch {
	case wrong != nil:
		return wrong.reply()
	case err != nil:
		return c.failedV2(err)
	}
	return r
}

func (c *call) failedV2(err error) reply {
	return (&problem{status: c.failed(err).status, detail: textBroken}).reply()
}

// parseV2 decodes the body, which is an object.
func (c *call) parseV2(jsonOnly bool) *problem {
	c.in = row{}
	if c.req.Method == http.MethodGet || c.req.Method == http.MethodDelete || len(c.raw) == 0 && !jsonOnly {
		return nil
	}
	given := c.req.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(given); err != nil || kind != "application/json" {
		return &problem{status: http.StatusUnsupportedMediaType, detail: fmt.Sprintf("Unsupported media type %q in request.", given)}
	}
	v, err := decodeJSON(c.raw)
	if err != nil {
		return &problem{status: http.StatusBadRequest, detail: "JSON parse error - " + err.Error()}
	}
	in, ok := v.(row)
	if !ok {
		return &problem{status: http.StatusBadRequest, detail: "The body must be an object."}
	}
	c.in = in
	return nil
}

// resolveV2 resolves the parameters of the path, and checks the caller's permission: records out of reach are 404.
func (c *call) resolveV2(t *tx, op *operationV2) *problem {
	if op.open {
		return nil
	}
	in := c.vars
	c.vars = map[string]string{"workspace": in["slug"]}
	role := workspaceRole(t, c.user)
	if in["slug"] != c.opts.Workspace || role == 0 {
		return notFoundV2()
	}
	if project, ok := in["project_id"]; ok {
		if role = projectRole(t, project, c.user); role == 0 || !t.has(c.kinds.project, scope(workspaceID), project) {
			return notFoundV2()
		}
		c.vars["project"] = project
	}
	for name, k := range map[string]*kind{"work_item_id": c.kinds.workItem, "estimate_id": c.kinds.estimate} {
		id, given := in[name]
		if !given {
			continue
		}
		if c.vars[k.param] = id; !t.has(k, k.scope(c), id) {
			return notFoundV2()
		}
	}
	if pk, ok := in["pk"]; ok {
		c.vars[op.res.kind.param] = pk
	}
	if c.req.Method != http.MethodGet && role < roleMember {
		return forbiddenV2()
	}
	return nil
}
