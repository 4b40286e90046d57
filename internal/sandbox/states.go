package sandbox

import (
	"cmp"
	"net/http"
	"strings"
)

// stateGroups in the order in which they sort.
func stateGroups() []string {
	return []string{"backlog", "unstarted", "started", "completed", "cancelled"}
}

func (s *Server) states() *resource {
	k := s.kinds.state
	return &resource{
		kind: k, param: "state", within: inProject, oldest: true,
		status:  http.StatusOK, // so it is: not 201
		prepare: prepareState,
		written: func(c *call, t *tx, old, r row) {
			if old == nil && flag(r, "default") {
				c.soleDefault(t, text(r, "id"))
			}
			if old != nil {
				unsetState(t, old)
			}
			setState(t, r)
			setExternal(t, k, text(r, "project"), old, r)
		},
		removing: func(_ *call, t *tx, r row) *reply {
			switch {
			case flag(r, "default"):
				return new(refuse(http.StatusBadRequest, "error", "Default state cannot be deleted"))
			case t.counter("in-state:"+text(r, "id")) > 0:
				return new(refuse(http.StatusBadRequest, "error", "The state is not empty, only empty states can be deleted"))
			}
			return nil
		},
		removed: func(_ *call, t *tx, r row) {
			unsetState(t, r)
			setExternal(t, k, text(r, "project"), r, nil)
		},
		sort: func(a, b row) int { return cmp.Compare(number(a, "sequence"), number(b, "sequence")) },
	}
}

func prepareState(c *call, t *tx, old, r row) *reply {
	project := text(r, "project")
	if text(r, "group") == "triage" {
		return new(senseless("Cannot create triage state"))
	}
	if other := t.index("state-name", project, text(r, "name")); other != "" && other != text(r, "id") {
		if old != nil {
			return new(badPayload())
		}
		return new(reply{http.StatusConflict, object("error", "State with the same name already exists in the project", "id", other)})
	}
	if refused := c.taken(t, c.kinds.state, project, old, r, "State"); refused != nil {
		return refused
	}
	r["slug"] = strings.ReplaceAll(strings.ToLower(text(r, "name")), " ", "-")
	if old == nil {
		last := 0.0
		for _, s := range t.all(c.kinds.state, scope(project)) {
			last = max(last, number(s.row, "sequence"))
		}
		r["sequence"] = float(last + 15000)
	}
	return nil
}

// setState keeps the indexes of a state: its name, and the default of its
// project with its group, so that creating a work item needs no list.
func setState(t *tx, r row) {
	project, id := text(r, "project"), text(r, "id")
	t.setIndex(id, "state-name", project, text(r, "name"))
	t.setIndex(text(r, "group"), "state-group", id)
	t.setIndex(project, "state-project", id)
	if flag(r, "default") || t.index("default-state", project) == "" {
		t.setIndex(id, "default-state", project)
	}
}

func unsetState(t *tx, r row) {
	project, id := text(r, "project"), text(r, "id")
	t.dropIndex("state-name", project, text(r, "name"))
	t.dropIndex("state-group", id)
	t.dropIndex("state-project", id)
}

// soleDefault takes the default from the project's other states. The service
// does this for a state that is created, and not for one that is changed.
func (c *call) soleDefault(t *tx, id string) {
	for _, s := range t.all(c.kinds.state, inProject(c)) {
		if text(s.row, "id") != id && flag(s.row, "default") {
			s.row["default"] = false
			t.save(c.kinds.state, s)
		}
	}
}
