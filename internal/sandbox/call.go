package sandbox

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// maxBody is the size of the largest accepted body, in bytes.
const maxBody = 5 << 20

// maxURL is the length of the longest accepted address with its query. The service accepts 60 KB and refuses 100.
const maxURL = 64 << 10

// plainText is the body of an answer that is not JSON.
type plainText string

// call is one request on its way through a handler.
type call struct {
	*Server
	req      *http.Request
	route    *route
	vars     map[string]string // values of the pattern's parameters
	query    url.Values
	raw      []byte
	body     any // the decoded body
	in       row // the body if it is an object
	user     string
	now      time.Time
	snapshot snapshot
	headers  http.Header // further headers of the answer
	// nextID is the ID of the next new record; "" = a random ID.
	nextID string
}

// reply is an answer. If body is nil, the answer has no body.
type reply struct {
	status int
	body   any
}

// Texts by which callers recognise a situation.
const (
	textNoPage     = "Page not found."
	textNoObject   = "The requested resource does not exist."
	textForbidden  = "You do not have permission to perform this action."
	textBadPayload = "The payload is not valid"
	textBadDetail  = "Please provide valid detail"
	textBroken     = "Something went wrong please try again later"
	textNoJSON     = "JSON parse error - " // an explanation follows
)

func refuse(status int, name, message string) reply { return reply{status, row{name: message}} }

func notFound() reply    { return refuse(http.StatusNotFound, "error", textNoObject) }
func badPayload() reply  { return refuse(http.StatusBadRequest, "error", textBadPayload) }
func serverError() reply { return refuse(http.StatusInternalServerError, "error", textBroken) }

// invalid returns the answer to a body with wrong fields.
func invalid(complaints row) reply { return reply{http.StatusBadRequest, complaints} }

// badRequest returns the answer to a body whose fields contradict each other.
func badRequest(message string) reply {
	return reply{http.StatusBadRequest, row{"non_field_errors": []string{message}}}
}

// notAnObject refuses a body that is no object.
func (c *call) notAnObject() *reply {
	if _, ok := c.body.(row); ok {
		return nil
	}
	if c.body == nil {
		return new(badRequest("No data provided"))
	}
	return new(badRequest(fmt.Sprintf("Invalid data. Expected a dictionary, but got %s.", pythonType(c.body))))
}

func (c *call) stamp() string { return stamp(c.now) }

func newID() string { return uuid.NewString() }

func (c *call) newID() string {
	if id := c.nextID; id != "" {
		c.nextID = ""
		return id
	}
	return newID()
}

// answersByContract reports whether to answer as documented.
func (c *call) answersByContract() bool { return c.opts.Answers == Contract }

// isCommunity reports whether to keep rules and mistakes that were seen only in the running community edition. Other editions may have them or not.
func (c *call) isCommunity() bool { return c.opts.Edition == Community && !c.answersByContract() }

// since14 reports whether to keep rules that came with version 1.4 of the community edition.
func (c *call) since14() bool { return c.isCommunity() && c.opts.Version >= "1.4" }

// handler answers a request inside a transaction. It may run more than once, and must write only after its last refusal.
type handler func(c *call, t *tx) reply

// answer reads the body, runs the handler and sends its answer. It serves requests of both APIs.
func (s *Server) answer(w http.ResponseWriter, req *http.Request, rt *route, vars map[string]string) {
	raw, fits, err := readBody(req)
	in := row{}
	c := &call{
		Server: s, req: req, route: rt, vars: vars, query: req.URL.Query(), raw: raw, body: in, in: in, now: s.opts.Now(),
		snapshot: snapshotOf(req), headers: http.Header{"Allow": {rt.allowHeader()}},
	}
	if rt.api.lastCounts {
		for name, values := range c.query {
			c.query[name] = values[len(values)-1:]
		}
	}
	var wrong *problem
	switch {
	case err != nil:
		wrong = &problem{status: http.StatusBadRequest, detail: rt.api.unreadable}
	case !fits || len(raw) > rt.api.bodyLimit:
		wrong = &problem{status: http.StatusRequestEntityTooLarge, detail: "The request body exceeds the size limit."}
	default:
		send(w, req, c.handle(), c.headers)
		return
	}
	if rt.api.proxied {
		c.headers = nil
	}
	send(w, req, rt.api.refuse(wrong), c.headers)
}

// errRollback rolls back the transaction of a handler.
var errRollback = errors.New("rolled back")

// handle runs the checks and the handler of a route, in the service's order.
func (c *call) handle() (r reply) {
	api := c.route.api
	ep := c.route.on[c.req.Method]
	if ep == nil {
		if unknown, ok := c.unservedAnswer(c.req.Method, c.req.URL.Path); ok {
			return unknown
		}
	}
	if !acceptsJSON(c.req) {
		return api.refuse(&problem{status: http.StatusNotAcceptable, detail: "Could not satisfy the request Accept header."})
	}
	var wrong *problem
	err := c.store.view(func(t *tx) error {
		wrong = api.admit(c, t)
		return nil
	})
	switch {
	case err != nil:
		return c.logFailure(api, err)
	case wrong != nil:
		return api.refuse(wrong)
	}
	counts := c.headers
	if !api.counts {
		counts = http.Header{}
	}
	if wait, ok := c.limiter.allow(c.credential(), c.now, counts); !ok {
		c.headers.Set("Retry-After", strconv.Itoa(wait))
		const detail = "Rate limit exceeded. Retry after %d seconds."
		return api.refuse(&problem{status: http.StatusTooManyRequests, detail: fmt.Sprintf(detail, wait)})
	}
	if ep == nil {
		wrong = &problem{status: http.StatusMethodNotAllowed, detail: fmt.Sprintf("Method %q not allowed.", c.req.Method)}
	} else {
		wrong = api.decode(c, ep)
	}
	if wrong == nil && api.lastCounts && c.req.Method == http.MethodGet {
		if name := c.unservedParameter(); name != "" {
			return refuse(http.StatusNotImplemented, "error", unknownParameter(name))
		}
	}
	run := c.store.update
	if c.req.Method == http.MethodGet {
		run = c.store.view
	}
	err = run(func(t *tx) error {
		if p := api.resolve(c, t); p != nil { // a 404 comes before complaints about the body
			wrong = p
		}
		if wrong != nil {
			r = api.refuse(wrong)
			return errRollback
		}
		if r = ep.do(c, t); api.atomic && r.status >= http.StatusBadRequest {
			return errRollback
		}
		return nil
	})
	if err != nil && !errors.Is(err, errRollback) {
		return c.logFailure(api, err)
	}
	if c.answersByContract() && ep != nil && ep.contract != 0 && r.status < 300 {
		r.status = ep.contract
	}
	return r
}

func acceptsJSON(req *http.Request) bool {
	accept := req.Header.Get("Accept")
	if accept == "" {
		return true
	}
	for part := range strings.SplitSeq(accept, ",") {
		kind, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "*/*", "application/*", "application/json":
			return true
		}
	}
	return false
}

// readBody reads the body up to the limit; ok is false if it is longer.
func readBody(req *http.Request) (body []byte, ok bool, err error) {
	body, err = io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		// Let the client finish; otherwise it sees a reset instead of the 413.
		_, err = io.Copy(io.Discard, io.LimitReader(req.Body, 8*maxBody))
		return nil, false, err
	}
	return body, true, err
}

// parse decodes the body. Like the service, it runs after all checks that need no body.
func (c *call) parse() *problem {
	given := c.req.Header.Get("Content-Type")
	switch kind, _, err := mime.ParseMediaType(given); {
	case c.route.api.forms && (kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data"):
		return &problem{status: http.StatusNotImplemented, detail: "The sandbox takes no forms, which the real service does."}
	case err != nil || kind != "application/json":
		return &problem{status: http.StatusUnsupportedMediaType, detail: fmt.Sprintf("Unsupported media type %q in request.", given)}
	}
	v, err := decodeJSON(c.raw)
	if err != nil {
		return &problem{status: http.StatusBadRequest, detail: textNoJSON + err.Error()}
	}
	c.body = v
	c.in, _ = v.(row)
	return nil
}

// fields returns the names in ?fields=, or nil if there is no such parameter. The service trims nothing: "id, name" means
// "id" and " name".
func (c *call) fields() []string {
	if !c.query.Has("fields") || c.query.Get("fields") == "" {
		return nil
	}
	return strings.Split(c.query.Get("fields"), ",")
}
