package sandbox

import "net/http"

func (s *Server) itemTypes() *resource {
	k := s.kinds.itemType
	return &resource{
		kind: k, param: "type", scope: inProject, oldestFirst: true,
		prepare: func(c *call, t *tx, old, r row) *reply {
			if old == nil {
				r["is_default"] = t.count(k, inProject(c)) == 0
				r["level"] = 0
				r["logo_props"] = row{}
			}
			return nil
		},
	}
}

// listTypes is a bare array, which is what the service's own SDK reads.
func listTypes(res *resource) handler {
	return func(c *call, t *tx) reply {
		if c.contract() {
			return res.list(c, t)
		}
		out := []row{}
		for _, s := range t.all(res.kind, inProject(c)) {
			out = append(out, res.render(c, t, s.row))
		}
		return reply{http.StatusOK, out}
	}
}

// A project has at most one estimate, so its routes need no id.

func (s *Server) estimates() *resource {
	return &resource{
		kind: s.kinds.estimate, param: "estimate", scope: inProject,
		prepare: func(c *call, t *tx, old, _ row) *reply {
			if old == nil && t.count(c.kinds.estimate, inProject(c)) > 0 {
				return new(refuse(http.StatusConflict, "error", "An estimate already exists in the project"))
			}
			return nil
		},
		afterDelete: func(c *call, t *tx, r row) {
			for _, p := range t.all(c.kinds.estimatePoint, scope(text(r, "id"))) {
				t.remove(c.kinds.estimatePoint, p)
			}
		},
	}
}

func (c *call) estimate(t *tx) (stored, bool) {
	found := t.all(c.kinds.estimate, inProject(c))
	if len(found) == 0 {
		return stored{}, false
	}
	c.vars["estimate"] = text(found[0].row, "id")
	return found[0], true
}

func readEstimate(c *call, t *tx) reply {
	s, ok := c.estimate(t)
	if !ok {
		return notFound()
	}
	return reply{http.StatusOK, c.kinds.estimate.visible(s.row)}
}

func changeEstimate(res *resource) handler {
	return func(c *call, t *tx) reply {
		if _, ok := c.estimate(t); !ok {
			return notFound()
		}
		return res.change(c, t)
	}
}

func removeEstimate(c *call, t *tx) reply {
	if _, ok := c.estimate(t); !ok {
		return notFound()
	}
	return c.Server.estimates().remove(c, t)
}

func inEstimate(c *call) []byte { return scope(c.vars["estimate"]) }

func (s *Server) estimatePoints() *resource {
	return &resource{kind: s.kinds.estimatePoint, param: "point", scope: inEstimate, oldestFirst: true}
}

func listPoints(res *resource) handler {
	return func(c *call, t *tx) reply {
		out := []row{}
		for _, s := range t.all(res.kind, inEstimate(c)) {
			out = append(out, res.kind.visible(s.row))
		}
		return reply{http.StatusOK, out}
	}
}

func createPoints(res *resource) handler {
	return func(c *call, t *tx) reply {
		if _, ok := t.in(c.kinds.estimate, inProject(c), c.vars["estimate"]); !ok {
			return notFound()
		}
		given, ok := c.in["estimate_points"].([]any)
		if !ok || len(given) == 0 {
			return refuse(http.StatusBadRequest, "error", "Estimate points are required")
		}
		var rows []row
		for _, v := range given {
			in, _ := v.(row)
			r, complaints := res.kind.decode(t, in, false)
			if len(complaints) > 0 {
				return invalid(complaints)
			}
			rows = append(rows, r)
		}
		out := []row{}
		for _, r := range rows {
			c.setAudit(res.kind, r)
			r["estimate"] = c.vars["estimate"]
			t.insert(res.kind, inEstimate(c), r)
			out = append(out, res.kind.visible(r))
		}
		return reply{http.StatusCreated, out}
	}
}
