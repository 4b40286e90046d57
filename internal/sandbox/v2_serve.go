package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	v2Root        = "/api/v2/"
	textInvalid   = "The request is invalid."
	textCycleOver = "This cycle is already completed; no new work items can be added to it."
)

// problem is an error before it has the shape of an API. API v2 shows all fields.
type problem struct {
	status int
	code   string // "" = the code follows from the status
	detail string
	errors []fieldError
}

// fieldError is the complaint about one field of a body or query.
type fieldError struct{ field, code, message string }

// problemBody is a body that is sent as application/problem+json.
type problemBody row

// problemType returns the type of a problem, which follows from its status.
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

func (pr *problem) row() row {
	kind := problemType(pr.status)
	code := pr.code
	if code == "" {
		code = kind
	}
	return row{"type": kind, "code": code, "detail": pr.detail}
}

// reply returns the answer to a single request. It lists fields only if the request was invalid, or a batch failed.
func (pr *problem) reply() reply {
	body := pr.row()
	if len(pr.errors) > 0 {
		body["errors"] = errorRows(pr.errors)
	}
	return reply{pr.status, problemBody(body)}
}

func errorRows(errs []fieldError) []row {
	out := make([]row, len(errs))
	for i, e := range errs {
		out[i] = row{"field": e.field, "code": e.code, "message": e.message}
	}
	return out
}

func notFoundV2() *problem {
	return &problem{status: http.StatusNotFound, detail: "The requested resource was not found."}
}

func forbidden() *problem { return &problem{status: http.StatusForbidden, detail: textForbidden} }

func conflictV2(detail string) *problem { return &problem{status: http.StatusConflict, detail: detail} }

// invalidV2 returns the answer to a request with wrong fields.
func invalidV2(errs ...fieldError) *problem {
	return &problem{status: http.StatusBadRequest, detail: textInvalid, errors: errs}
}

// routesV2 returns the routes of API v2, with the methods that the server has.
func (s *Server) routesV2() []route {
	routes, api := s.otherRoutesV2(), s.v2()
	for _, res := range s.tableV2() {
		routes = append(routes, res.routes()...)
	}
	for i, r := range routes {
		routes[i].api = api
		maps.DeleteFunc(r.on, func(method string, _ *endpoint) bool {
			return s.opts.HasOperation != nil && !s.opts.HasOperation(method, v2Root+r.pattern)
		})
	}
	return slices.DeleteFunc(routes, func(r route) bool { return len(r.on) == 0 })
}

// v2 returns the dialect of API v2.
func (s *Server) v2() *dialect {
	return &dialect{
		root: v2Root, bodyLimit: cmp.Or(s.opts.BodyLimit, maxBody), unreadable: textInvalid, atomic: true,
		match: func(r *route, method, param, segment string, vars map[string]string) bool {
			vars[param] = segment
			return param != "pk" || isUUID(segment) || r.on[method] != nil // otherwise the segment is an action that the server does not have
		},
		admit: func(c *call, t *tx) *problem {
			if c.authenticate(t) != nil {
				return &problem{status: http.StatusUnauthorized, detail: "Authentication credentials were not provided or are invalid."}
			}
			return nil
		},
		resolve: (*call).resolveV2, decode: (*call).decodeV2, refuse: (*problem).reply,
	}
}

// decodeV2 reads the body, which must be an object.
func (c *call) decodeV2(ep *endpoint) *problem {
	if c.req.Method == http.MethodGet || c.req.Method == http.MethodDelete || len(c.raw) == 0 && !ep.bulk {
		return nil
	}
	if wrong := c.parse(); wrong != nil {
		return wrong
	}
	if _, ok := c.body.(row); !ok {
		return &problem{status: http.StatusBadRequest, detail: "The body must be an object."}
	}
	return nil
}

// resolveV2 resolves the parameters of the path, and checks the user's permission. Records that the user cannot see are 404.
func (c *call) resolveV2(t *tx) *problem {
	if c.route.permission == anyone {
		return nil
	}
	in := c.vars
	c.vars = map[string]string{"workspace": in["slug"]}
	role := workspaceRole(t, c.user)
	if in["slug"] != c.opts.Workspace || role == 0 {
		return notFoundV2()
	}
	if slices.ContainsFunc(c.opts.Unpaid, func(word string) bool { return strings.Contains(c.route.pattern, word+"/") }) {
		return &problem{status: http.StatusPaymentRequired, detail: "The plan of the workspace does not have this feature."}
	}
	if project, ok := in["project_id"]; ok {
		project = cmp.Or(t.first("identifier", project), project)
		if role = projectRole(t, project, c.user); role == 0 || !t.has(c.kinds.project, scope(workspaceID), project) {
			return notFoundV2()
		}
		c.vars["project"] = project
	}
	for name, k := range map[string]*kind{
		"work_item_id": c.kinds.workItem, "estimate_id": c.kinds.estimate, "release_id": c.kinds.release, "type_id": c.kinds.itemType,
		"property_id": c.kinds.itemProperty, "workflow_id": c.kinds.workflow,
	} {
		id, given := in[name]
		if !given {
			continue
		}
		if c.vars[k.param] = id; !t.has(k, k.scope(c), id) {
			return notFoundV2()
		}
	}
	if pk, ok := in["pk"]; ok {
		c.vars[c.route.res.kind.param] = pk
	}
	if c.req.Method != http.MethodGet && role < roleMember {
		return forbidden()
	}
	return nil
}
