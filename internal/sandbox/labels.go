package sandbox

import "net/http"

func (s *Server) labels() *resource {
	k := s.kinds.label
	return &resource{
		kind: k, param: "label", within: inProject,
		prepare: func(c *call, t *tx, old, r row) *reply {
			project := text(r, "project")
			if t.find(c.kinds.project, project) == nil {
				return new(notFound())
			}
			if other := t.index("label-name", project, text(r, "name")); other != "" && other != text(r, "id") {
				if old != nil {
					return new(badPayload())
				}
				return new(reply{http.StatusConflict, object("error", "Label with the same name already exists in the project", "id", other)})
			}
			if refused := c.taken(t, k, project, old, r, "Label"); refused != nil {
				return refused
			}
			if old == nil {
				// The first is 65535, each next one 10000 more.
				r["sort_order"] = float(float64(65535 + 10000*t.counter("labels:"+project)))
			}
			return nil
		},
		written: func(_ *call, t *tx, old, r row) {
			project := text(r, "project")
			if old == nil {
				t.add("labels:"+project, 1)
			} else {
				t.dropIndex("label-name", project, text(old, "name"))
			}
			t.setIndex(text(r, "id"), "label-name", project, text(r, "name"))
			t.setIndex(project, "label-project", text(r, "id"))
			setExternal(t, k, project, old, r)
		},
		removed: func(_ *call, t *tx, r row) {
			project := text(r, "project")
			t.dropIndex("label-name", project, text(r, "name"))
			t.dropIndex("label-project", text(r, "id"))
			setExternal(t, k, project, r, nil)
		},
	}
}
