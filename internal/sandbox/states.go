package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// describeStates adds the kind of the workflow states of projects, such as Todo and Done.
func (ks *kinds) describeStates() {
	ks.state = ks.add(&kind{
		name: "state",
		columns: audit("name description color slug sequence group is_triage default external_source external_id created_by " +
			"updated_by project workspace"),
		indexes: []index{
			uniqueName("state", "project", "State with the same name already exists in the project"),
			uniqueExternalID("state", "project", "State"),
		},
		fields: bodyFields("name*=line description=prose color*=line is_triage=off default=off"+externalPair,
			field{name: "sequence", check: real, derived: true},
			field{name: "group", check: choice("backlog", "unstarted", "started", "completed", "cancelled", "triage"), initial: "backlog"},
		),
		param: "state", scope: inLevel, oldestFirst: true, shared: (*call).sharedStates,
		status:  http.StatusOK, // the service does not answer 201
		prepare: prepareState,
		beforeDelete: func(_ *call, t *tx, r row) *reply {
			switch {
			case flag(r, "default"):
				return new(refuse(http.StatusBadRequest, "error", "Default state cannot be deleted"))
			case t.counter("in-state:"+text(r, "id")) > 0:
				return new(refuse(http.StatusBadRequest, "error", "The state is not empty, only empty states can be deleted"))
			}
			return nil
		},
		sort: func(a, b row) int { return cmp.Compare(number(a, "sequence"), number(b, "sequence")) },
	})
}

// createState removes the default from the other states before it checks the new state, as the service does.
func createState(c *call, t *tx) reply {
	if r, complaints := c.kinds.state.decode(t, c.in, false); len(complaints) == 0 && flag(r, "default") {
		c.clearDefault(t, "")
	}
	return c.kinds.state.create(c, t)
}

// prepareState completes a state, or refuses it.
func prepareState(c *call, t *tx, old, r row) *reply {
	if text(r, "name") == "Triage" {
		// Each project has a state of this name that the API does not show.
		if old != nil {
			return new(badPayload())
		}
		return new(serverError())
	}
	if text(r, "group") == "triage" {
		return new(badRequest("Cannot create triage state"))
	}
	r["slug"] = slug(text(r, "name"))
	if old == nil {
		switch last, others := c.lastSequence(t); {
		case others:
			r["sequence"] = float(last + 15000)
		case r["sequence"] == nil:
			r["sequence"] = float(firstOrder)
		}
	}
	return nil
}

// lastSequence returns the largest sequence of the states on the route's level, and whether there are any states.
func (c *call) lastSequence(t *tx) (last float64, found bool) {
	for _, s := range t.all(c.kinds.state, inLevel(c)) {
		last, found = max(last, number(s.row, "sequence")), true
	}
	return last, found
}

// defaultState returns the state of an item that names none: the first default of the project, else its first state, or
// nil if it has no states.
func (c *call) defaultState(t *tx, project string) any {
	states := t.all(c.kinds.state, scope(project))
	if len(states) == 0 {
		return nil
	}
	slices.SortStableFunc(states, func(a, b stored) int { return cmp.Compare(number(a.row, "sequence"), number(b.row, "sequence")) })
	first := max(0, slices.IndexFunc(states, func(s stored) bool { return flag(s.row, "default") }))
	return states[first].row["id"]
}

// groupOf returns the group of a state, or "".
func (c *call) groupOf(t *tx, state string) string {
	s, _ := t.get(c.kinds.state, state)
	return text(s.row, "group")
}

// clearDefault removes the default from the project's other states. The service does this when a state is created, not
// when it is changed.
func (c *call) clearDefault(t *tx, id string) {
	for _, s := range t.all(c.kinds.state, inLevel(c)) {
		if text(s.row, "id") != id && flag(s.row, "default") {
			s.row["default"] = false
			t.save(c.kinds.state, s)
		}
	}
}

// slug returns a name in lower case with hyphens instead of spaces. It drops characters other than ASCII letters, digits,
// hyphens and underscores.
func slug(name string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '-':
			return ' '
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			return r
		}
		return -1
	}, strings.ToLower(name))
	return strings.Trim(strings.Join(strings.Fields(kept), "-"), "-_")
}
