package sandbox

import "net/http"

// dialect holds the parts of handling a request in which the APIs differ. [call.handle] calls them in order.
type dialect struct {
	root      string // of its paths
	bodyLimit int    // bytes
	// match checks a segment of the path against a parameter of a route, and keeps it in vars.
	match func(r *route, method, param, segment string, vars map[string]string) bool
	// admit finds the user, or refuses the request before it is counted.
	admit func(c *call, t *tx) *problem
	// resolve refuses a request that was counted, before all other complaints about it.
	resolve    func(c *call, t *tx) *problem
	decode     func(c *call, ep *endpoint) *problem // reads the body
	refuse     func(p *problem) reply               // gives a problem the shape of the API
	unreadable string                               // complaint about an incomplete body
	proxied    bool                                 // a proxy that does not know the methods of a path reads the body first
	counts     bool                                 // answers say how many requests are left
	atomic     bool                                 // a refused request writes nothing
	forms      bool                                 // bodies may be forms
	lastCounts bool                                 // only the last value of a parameter counts
}

// v1 returns the dialect of API v1.
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
