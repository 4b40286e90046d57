package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// readUser answers with the user of the request.
func readUser(c *call, t *tx) reply { return reply{http.StatusOK, c.profile(t, c.user)} }

func listProjectMembers(c *call, t *tx) reply {
	out := []row{}
	for _, m := range t.all(c.kinds.projectMember, inProject(c)) {
		p := c.profile(t, text(m.row, "member"))
		if c.answersByContract() { // the running server shows no roles
			p["role"] = m.row["role"]
		}
		out = append(out, p)
	}
	slices.Reverse(out)
	return reply{http.StatusOK, out}
}

// listLightly answers with a page of members, the newest first, with their roles and whether they are active. Rows name
// the user in a column.
func listLightly(k *kind, user string) handler {
	return func(c *call, t *tx) reply {
		found := t.all(k, k.scope(c))
		slices.Reverse(found)
		return renderPage(c, found, func(m stored) row {
			p := c.profile(t, text(m.row, user))
			p["role"], p["is_active"], p["is_bot"] = m.row["role"], !flag(m.row, "inactive"), false
			return p
		})
	}
}

// profile returns a user as other users see it.
func (c *call) profile(t *tx, id string) row {
	s, _ := t.get(c.kinds.user, id)
	return c.kinds.user.visible(s.row)
}

// addProjectMember makes a user a member of a project.
func (c *call) addProjectMember(t *tx, project, user string, role int, id string) row {
	r := row{"id": id, "member": user, "role": integer(role), "project": project, "created_at": c.stamp()}
	t.insert(c.kinds.projectMember, scope(project), r)
	t.setIndex("1", "ever joined", project, user)
	c.setRole(t, r)
	return r
}

// setRole indexes the role of a membership.
func (c *call) setRole(t *tx, r row) {
	project, user := text(r, "project"), text(r, "member")
	t.setIndex(strconv.Itoa(int(number(r, "role"))), "member", project, user)
	t.setIndex(text(r, "id"), "joined", user, project)
}

// dropRole removes the role of a membership from the index.
func (c *call) dropRole(t *tx, r row) {
	project, user := text(r, "project"), text(r, "member")
	t.dropIndex("member", project, user)
	t.dropIndex("joined", user, project)
}

// endMembership ends a membership. The service keeps it as inactive. The community edition still lists the user as a member, and
// refuses to add the user again.
func (c *call) endMembership(t *tx, m stored) {
	c.dropRole(t, m.row)
	if !c.isCommunity() {
		t.remove(c.kinds.projectMember, m)
		return
	}
	m.row["inactive"] = true
	t.save(c.kinds.projectMember, m)
}

// wasMember reports whether a user is in a project, or has left it and is still listed.
func (c *call) wasMember(t *tx, project, user string) bool {
	for _, m := range t.all(c.kinds.projectMember, scope(project)) {
		if text(m.row, "member") == user {
			return true
		}
	}
	return false
}

// activeMembers returns the number of members of a project who have not left.
func (c *call) activeMembers(t *tx, project string) int {
	n := 0
	for _, m := range t.all(c.kinds.projectMember, scope(project)) {
		if !flag(m.row, "inactive") {
			n++
		}
	}
	return n
}

func addMember(c *call, t *tx) reply {
	if refused := c.notAnObject(); refused != nil {
		return *refused
	}
	project := c.vars["project"]
	r, complaints := c.kinds.projectMember.decode(t, c.in, false)
	if refused := checkMember(t, r, complaints); refused != nil {
		return *refused
	}
	user := text(r, "member")
	// The service keeps a user's view settings of the project, even if the membership was given to another user.
	if c.wasMember(t, project, user) || c.isCommunity() && t.index("ever joined", project, user) != "" {
		return badPayload()
	}
	m := c.addProjectMember(t, project, user, int(number(r, "role")), newID())
	return reply{http.StatusCreated, c.kinds.projectMember.visible(m)}
}

// checkMember refuses users outside the workspace.
func checkMember(t *tx, r, complaints row) *reply {
	if user := text(r, "member"); complaints["member"] == nil && user != "" && workspaceRole(t, user) == 0 {
		complaints["member"] = message("Member not found in workspace")
	}
	if len(complaints) > 0 {
		return new(invalid(complaints))
	}
	return nil
}

// projectMembership finds the membership that the route's {member} names by its own ID or, except in the community edition, by
// the user's ID.
func (c *call) projectMembership(t *tx) (stored, bool) {
	for _, m := range t.all(c.kinds.projectMember, inProject(c)) {
		if id := c.vars["member"]; text(m.row, "id") == id || !c.isCommunity() && text(m.row, "member") == id {
			return m, true
		}
	}
	return stored{}, false
}

func readMember(c *call, t *tx) reply {
	m, ok := c.projectMembership(t)
	if !ok {
		return notFound()
	}
	return reply{http.StatusOK, c.profile(t, text(m.row, "member"))}
}

// changeMember changes the role or the user of a membership.
func changeMember(c *call, t *tx) reply {
	m, ok := c.projectMembership(t)
	if !ok {
		return notFound()
	}
	if refused := c.notAnObject(); refused != nil {
		return *refused
	}
	set, complaints := c.kinds.projectMember.decode(t, c.in, true)
	if refused := checkMember(t, set, complaints); refused != nil {
		return *refused
	}
	project, before := c.vars["project"], text(m.row, "member")
	if after := text(set, "member"); after != "" && after != before && c.wasMember(t, project, after) {
		return badPayload()
	}
	if maps.Copy(m.row, set); set["role"] != nil {
		delete(m.row, "slug")
	}
	t.save(c.kinds.projectMember, m)
	if !flag(m.row, "inactive") {
		c.dropRole(t, row{"project": project, "member": before})
		c.setRole(t, m.row)
	}
	return reply{http.StatusOK, c.kinds.projectMember.visible(m.row)}
}

func removeMember(c *call, t *tx) reply {
	m, ok := c.projectMembership(t)
	if !ok {
		return notFound()
	}
	c.endMembership(t, m)
	return reply{status: http.StatusNoContent}
}
