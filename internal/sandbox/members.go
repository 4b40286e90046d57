package sandbox

import (
	"net/http"
	"slices"
	"strconv"
)

func me(c *call, t *tx) reply {
	s, ok := t.get(c.kinds.user, c.user)
	if !ok {
		return notFound()
	}
	return reply{http.StatusOK, shown{c.kinds.user.order, s.row}}
}

func nothing(*call, *tx) reply { return reply{http.StatusOK, []any{}} }

// emptyPage is a list of which the sandbox keeps none.
func emptyPage(perPage int) handler {
	return func(c *call, _ *tx) reply {
		return c.pagedBy(0, perPage, func(int, int) any { return []any{} })
	}
}

func workspaceMembers(c *call, t *tx) reply {
	out := []shown{}
	for _, m := range t.all(c.kinds.member, scope(WorkspaceID)) {
		out = append(out, shown{c.kinds.member.order, m.row})
	}
	slices.Reverse(out)
	return reply{http.StatusOK, out}
}

func projectMembers(c *call, t *tx) reply {
	out := []shown{}
	for _, m := range t.all(c.kinds.projectMember, inProject(c)) {
		out = append(out, c.profile(t, text(m.row, "member")))
	}
	slices.Reverse(out)
	return reply{http.StatusOK, out}
}

// profile is a user as others show it.
func (c *call) profile(t *tx, id string) shown {
	s, ok := t.get(c.kinds.user, id)
	if !ok {
		return shown{}
	}
	return shown{c.kinds.user.order, s.row}
}

// join makes a user a member of a project.
func (c *call) join(t *tx, project, user string, role int, id string) row {
	r := row{"id": id, "member": user, "role": integer(role), "project": project, "created_at": c.stamp()}
	t.insert(c.kinds.projectMember, scope(project), r)
	t.setIndex(strconv.Itoa(role), "member", project, user)
	t.setIndex(id, "joined", user, project)
	return r
}

func (c *call) leave(t *tx, m stored) {
	project, user := text(m.row, "project"), text(m.row, "member")
	t.remove(c.kinds.projectMember, m)
	t.dropIndex("member", project, user)
	t.dropIndex("joined", user, project)
}

func addMember(c *call, t *tx) reply {
	project := c.vars["project"]
	if projectRole(t, project, c.user) != roleAdmin {
		return forbidden()
	}
	r, complaints := c.kinds.projectMember.read(t, c.in, false)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	user := text(r, "member")
	switch {
	case workspaceRole(t, user) == 0:
		return invalid(row{"member": says("Member not found in workspace")})
	case projectRole(t, project, user) > 0:
		return badPayload()
	}
	m := c.join(t, project, user, int(number(r, "role")), newID())
	return reply{http.StatusCreated, shown{c.kinds.projectMember.order, m}}
}

// membership finds what the route's {member} names: a membership, or the
// member of one.
func (c *call) membership(t *tx) (stored, bool) {
	for _, m := range t.all(c.kinds.projectMember, inProject(c)) {
		if id := c.vars["member"]; text(m.row, "id") == id || text(m.row, "member") == id {
			return m, true
		}
	}
	return stored{}, false
}

func readMember(c *call, t *tx) reply {
	m, ok := c.membership(t)
	if !ok {
		return notFound()
	}
	return reply{http.StatusOK, c.profile(t, text(m.row, "member"))}
}

func changeMember(c *call, t *tx) reply {
	m, ok := c.membership(t)
	if !ok {
		return notFound()
	}
	set, complaints := c.kinds.projectMember.read(t, c.in, true)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	if role, ok := set["role"]; ok {
		m.row["role"] = role
		t.save(c.kinds.projectMember, m)
		t.setIndex(strconv.Itoa(int(number(m.row, "role"))), "member", c.vars["project"], text(m.row, "member"))
	}
	return reply{http.StatusOK, shown{c.kinds.projectMember.order, m.row}}
}

func removeMember(c *call, t *tx) reply {
	m, ok := c.membership(t)
	if !ok {
		return notFound()
	}
	c.leave(t, m)
	return reply{status: http.StatusNoContent}
}
