package sandbox

import "net/http"

// dialect is what an API does in its own way with a request. What both do, and in which order, is in [call.handle].
type dialect struct {
	root      string // of its paths
	bodyLimit int    // bytes
	// match takes a segment of the path for the parameter of a route.
	match func(r *route, method, param, segment string, vars map[string]string) bool
	// admit knows the caller, or turns the request away before it is counted.
	admit func(c *call, t *tx) *problem
	// resolve turns a request away that was counted, before all other complaints about it.
	resolve func(c *call, t *tx) *problem
	decode  func(c *call, ep *endpoint) *problem // reads the body
	refuse  func(p *problem) reply               // gives a problem the shape of the API

	unreadable string // what is said of a body that breaks off
	proxied    bool   // bodies are read in front of the service, where nobody knows which methods a path takes
	counts     bool   // answers say how many requests are left
	atomic     bool   // what is refused leaves nothing behind
	forms      bool   // bodies may be forms
	lastCounts bool   // of the values of one parameter the last one counts
}

// v1 is the dialect of API v1.
func (s *Server) v1() *dialect {
	return &dialect{
		root: apiRoot, bodyLimit: maxBody, unreadable: "Invalid request body.", proxied: true, counts: true, forms: true, lastCounts: true,
		match: func(_ *route, _, param, segment string, vars map[string]string) bool {
			return matchParam(param, segment, vars)
		},
		admit: func(c *call, t *tx) *problem {
			if p := c.authenticate(t); p != nil {
				return p
			}
			return c.authorize(t)
		},
		resolve: func(*call, *tx) *problem { return nil },
		decode: func(c *call, ep *endpoint) *problem {
			if c.req.Method == http.MethodGet || len(c.raw) == 0 || ep.bodyless {
				return nil
			}
			wrong := c.parse()
			if wrong != nil && ep.anyMedia {
				c.body, c.in, wrong = nil, nil, nil
			}
			return wrong
		},
		refuse: func(p *problem) reply {
			switch p.status {
			case http.StatusRequestEntityTooLarge:
				return reply{p.status, row{
					"error":  "REQUEST_BODY_TOO_LARGE",
					"detail": "The size of the request body exceeds the maximum allowed size.",
				}}
			case http.StatusTooManyRequests:
				return reply{p.status, row{"error_code": 5900, "error_message": "RATE_LIMIT_EXCEEDED"}}
			case http.StatusInternalServerError:
				return serverError()
			}
			return refuse(p.status, "detail", p.detail)
		},
	}
}
