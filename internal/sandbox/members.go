package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
)

func me(c *call, t *tx) reply {
	s, ok := t.get(c.kinds.user, c.user)
	if !ok {
		return notFound()
	}
	return reply{http.StatusOK, c.kinds.user.visible(s.row)}
}

func choiceOfRole(t *tx, v any) (any, any) {
	if s, _ := asString(v); s == "20" || s == "15" || s == "5" {
		return whole(0, roleAdmin)(t, v)
	}
	return nil, message("\"%s\" is not a valid choice.", pythonText(v))
}

func workspaceMembers(c *call, t *tx) reply {
	out := []row{}
	for _, m := range t.all(c.kinds.member, scope(workspaceID)) {
		out = append(out, c.kinds.member.visible(m.row))
	}
	slices.Reverse(out)
	return reply{http.StatusOK, out}
}

func listProjectMembers(c *call, t *tx) reply {
	out := []row{}
	for _, m := range t.all(c.kinds.projectMember, inProject(c)) {
		p := c.profile(t, text(m.row, "member"))
		if c.contract() { // the running server shows no roles
			p["role"] = m.row["role"]
		}
		out = append(out, p)
	}
	slices.Reverse(out)
	return reply{http.StatusOK, out}
}

// profile is a user as others show it.
func (c *call) profile(t *tx, id string) row {
	s, ok := t.get(c.kinds.user, id)
	if !ok {
		return row{}
	}
	return c.kinds.user.visible(s.row)
}

// join makes a user a member of a project.
func (c *call) join(t *tx, project, user string, role int, id string) row {
	r := row{"id": id, "member": user, "role": integer(role), "project": project, "created_at": c.stamp()}
	t.insert(c.kinds.projectMember, scope(project), r)
	t.setIndex("1", "ever joined", project, user)
	c.setRole(t, r)
	return r
}

// setRole lets the store find the role of a membership.
func (c *call) setRole(t *tx, r row) {
	project, user := text(r, "project"), text(r, "member")
	t.setIndex(strconv.Itoa(int(number(r, "role"))), "member", project, user)
	t.setIndex(text(r, "id"), "joined", user, project)
}

func (c *call) dropRole(t *tx, r row) {
	project, user := text(r, "project"), text(r, "member")
	t.dropIndex("member", project, user)
	t.dropIndex("joined", user, project)
}

// leave ends a membership. The service keeps it, inactive; the community edition
// still shows it in the list of members, and takes that person in no more.
func (c *call) leave(t *tx, m stored) {
	c.dropRole(t, m.row)
	if !c.community() {
		t.remove(c.kinds.projectMember, m)
		return
	}
	m.row["inactive"] = true
	t.save(c.kinds.projectMember, m)
}

// wasMember says whether somebody is in a project, or was and is still listed.
func (c *call) wasMember(t *tx, project, user string) bool {
	for _, m := range t.all(c.kinds.projectMember, scope(project)) {
		if text(m.row, "member") == user {
			return true
		}
	}
	return false
}

// activeMembers is how many are in a project.
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
	// The service keeps how the project looked to somebody, also when a membership has become another one's.
	if c.wasMember(t, project, user) || c.community() && t.index("ever joined", project, user) != "" {
		return badPayload()
	}
	m := c.join(t, project, user, int(number(r, "role")), newID())
	return reply{http.StatusCreated, c.kinds.projectMember.visible(m)}
}

// checkMember refuses people from outside the workspace.
func checkMember(t *tx, r, complaints row) *reply {
	if user := text(r, "member"); complaints["member"] == nil && user != "" && workspaceRole(t, user) == 0 {
		complaints["member"] = message("Member not found in workspace")
	}
	if len(complaints) > 0 {
		return new(invalid(complaints))
	}
	return nil
}

// membership finds what the route's {member} names: a membership or, but in the
// community edition, the member of one.
func (c *call) membership(t *tx) (stored, bool) {
	for _, m := range t.all(c.kinds.projectMember, inProject(c)) {
		if id := c.vars["member"]; text(m.row, "id") == id || !c.community() && text(m.row, "member") == id {
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

// changeMember changes the role of a membership, or whose it is.
func changeMember(c *call, t *tx) reply {
	m, ok := c.membership(t)
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
	m, ok := c.membership(t)
	if !ok {
		return notFound()
	}
	c.leave(t, m)
	return reply{status: http.StatusNoContent}
}
