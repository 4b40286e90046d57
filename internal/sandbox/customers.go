package sandbox

import (
	"strings"
)

func (s *Server) customers() *resource {
	k := s.kinds.customer
	return &resource{
		kind: k, param: "customer", scope: inWorkspace,
		prepare: func(c *call, _ *tx, _, r row) *reply { sanitised(c, r); return nil },
		afterDelete: func(c *call, t *tx, r row) { c.clear(t, c.kinds.request, text(r, "id")) },
		show: func(c *call, t *tx, r row, _ bool) row {
			r = clone(r)
			r["customer_request_count"] = t.count(c.kinds.request, scope(text(r, "id")))
			return r
		},
	}
}

func inCustomer(c *call) []byte { return scope(c.vars["customer"]) }

// requests are kept under the newer names; the contract's title and description
// are the same two things under their older ones.
func (s *Server) requests() *resource {
	return &resource{
		kind: s.kinds.request, param: "request", scope: inCustomer,
		prepare: func(c *call, t *tx, old, r row) *reply {
			if old == nil {
				r["customer"] = c.vars["customer"]
			}
			if c.contract() {
				fromContractFields(c, old, r)
			} else {
				sanitised(c, r)
			}
			return nil
		},
		show: func(c *call, _ *tx, r row, _ bool) row {
			if !c.contract() {
				return r
			}
			r = clone(r)
			r["title"] = r["name"]
			r["description"] = r["description_html"]
			for _, name := range []string{"name", "description_html", "link", "work_item_ids"} {
				delete(r, name)
			}
			return r
		},
	}
}

// fromContractFields turns the contract's fields into those that are kept.
func fromContractFields(c *call, old, r row) {
	if old == nil {
		r["name"], r["description"], r["description_html"] = "", row{}, ""
		r["work_item_ids"] = []any{}
	} else {
		r["description"] = old["description"]
	}
	if v, given := c.in["title"]; given {
		s, _ := asString(v)
		r["name"] = strings.TrimSpace(s)
	}
	if v, given := c.in["description"]; given {
		r["description_html"], _ = asString(v)
	}
	delete(r, "title")
}

// requestsOf lets only those through that name a customer there is.
func requestsOf(h handler) handler {
	return func(c *call, t *tx) reply {
		if t.find(c.kinds.customer, c.vars["customer"]) == nil {
			return notFound()
		}
		return h(c, t)
	}
}

// listRequests knows two filters, of which each names what the path already
// says.
func listRequests(res *resource) handler {
	return requestsOf(func(c *call, t *tx) reply {
		customer, workspace := c.query.Get("customer"), c.query.Get("workspace")
		if c.contract() && (customer != "" && customer != c.vars["customer"] || !c.thisWorkspace(workspace)) {
			return pageOf(c, []row{})
		}
		return res.list(c, t)
	})
}

func (c *call) thisWorkspace(id string) bool {
	return id == "" || id == workspaceID || id == c.opts.Workspace
}

func (s *Server) properties() *resource {
	k := s.kinds.property
	return &resource{
		kind: k, param: "property", scope: inWorkspace,
		prepare: func(_ *call, _ *tx, _, r row) *reply {
			r["name"] = strings.ReplaceAll(strings.ToLower(text(r, "display_name")), " ", "_")
			return nil
		},
	}
}

func listProperties(res *resource) handler {
	return func(c *call, t *tx) reply {
		if c.contract() && !c.thisWorkspace(c.query.Get("workspace")) {
			return pageOf(c, []row{})
		}
		return res.list(c, t)
	}
}
