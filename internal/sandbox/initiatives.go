package sandbox

import (
	"net/http"
)

// describeInitiatives adds the kinds of initiatives, their labels and their members.
func (ks *kinds) describeInitiatives() {
	ks.initiative = ks.add(&kind{
		name: "initiative", path: "initiatives/",
		columns: audit("name description description_html description_stripped logo_props start_date end_date state archived_at " +
			"created_by updated_by workspace lead"),
		fields: bodyFields("name*=line description=prose? description_html=html description_stripped=prose? start_date=moment?"+
			" end_date=moment? logo_props=object archived_at=moment?",
			field{name: "state", check: choice("DRAFT", "PLANNED", "ACTIVE", "COMPLETED", "CLOSED"), initial: "DRAFT"},
			field{name: "lead", ref: &ks.user, null: true},
		),
		param:    "initiative",
		contents: []**kind{&ks.initiativeProject, &ks.initiativeLabelLink, &ks.initiativeEpic},
	})
	ks.initiativeLabel = ks.add(&kind{
		name: "initiative_label", path: "initiatives/labels/",
		columns: audit("name description color sort_order created_by updated_by workspace"),
		indexes: []index{uniqueName("initiative_label", "workspace", "Initiative label with the same name already exists in the workspace")},
		fields:  bodyFields("name*=line description=prose sort_order=order", field{name: "color", check: colour, initial: ""}),
	})
	ks.initiativeEpic = ks.addMembership("initiative_epic", "epic", "initiative") // any work item can be an epic here
	ks.initiativeProject = ks.addMembership("initiative_project", "project", "initiative")
	ks.initiativeLabelLink = ks.addMembership("initiative_label_link", "label", "initiative")
}

// describeTeamspaces adds the kinds of teamspaces and their members.
func (ks *kinds) describeTeamspaces() {
	ks.teamspace = ks.add(&kind{
		name: "teamspace", path: "teamspaces/",
		columns: audit("name description_json description_html description_stripped description_binary logo_props created_by " +
			"updated_by workspace lead"),
		fields: bodyFields("name*=line description_html=html description_stripped=prose? description_binary=prose?"+
			" logo_props=object",
			field{name: "description_json", check: mapping, null: true, initial: row{}},
			field{name: "lead", ref: &ks.user, null: true},
		),
		param:    "teamspace",
		contents: []**kind{&ks.teamspaceProject, &ks.teamspaceMember},
	})
	ks.teamspaceProject = ks.addMembership("teamspace_project", "project", "teamspace")
	ks.teamspaceMember = ks.addMembership("teamspace_member", "member", "teamspace")
}

// clear removes every row of a list.
func (c *call) clear(t *tx, k *kind, of string) {
	for _, s := range t.all(k, scope(of)) {
		t.remove(k, s)
	}
}

// memberList is a list of records that belong to an owner, such as the projects of an initiative. Adding a record twice has no effect.
type memberList struct{ owner, kind, members *kind }

// column returns the column of a membership with the member's ID.
func (m memberList) column() string { return m.kind.indexes[0].fields[0] }

func (m memberList) methods() methods {
	return methods{http.MethodGet: do(m.list), http.MethodPost: documented(m.add, http.StatusCreated), http.MethodDelete: do(m.remove)}
}

// bodyIDs returns the IDs in the body. All of them must exist.
func (m memberList) bodyIDs(c *call, t *tx) ([]string, *reply) {
	name := m.column() + "_ids"
	v, given := c.in[name]
	if !given || v == nil {
		return nil, new(invalid(row{name: message("This field is required.")}))
	}
	all, ok := v.([]any)
	if !ok {
		return nil, new(invalid(row{name: message("Expected a list of items but got type \"%s\".", pythonType(v))}))
	}
	var ids []string
	for _, v := range all {
		id, _ := v.(string)
		if !isUUID(id) || t.find(m.members, id) == nil {
			return nil, new(badPayload())
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (m memberList) add(c *call, t *tx) reply {
	owner, ok := t.get(m.owner, c.vars[m.owner.param])
	if !ok {
		return notFound()
	}
	ids, refused := m.bodyIDs(c, t)
	if refused != nil {
		return *refused
	}
	out := []row{}
	for _, id := range ids {
		c.addMember(t, m.kind, text(owner.row, "id"), id)
		if s, ok := m.member(c, t, id); ok {
			out = append(out, s)
		}
	}
	return reply{http.StatusOK, out}
}

func (m memberList) remove(c *call, t *tx) reply {
	if t.find(m.owner, c.vars[m.owner.param]) == nil {
		return notFound()
	}
	ids, refused := m.bodyIDs(c, t)
	if refused != nil {
		return *refused
	}
	for _, id := range ids {
		c.dropMember(t, m.kind, c.vars[m.owner.param], id)
	}
	return reply{status: http.StatusNoContent}
}

// member returns the record with an ID as the list shows it.
func (m memberList) member(c *call, t *tx, id string) (row, bool) {
	s, ok := t.get(m.members, id)
	if !ok {
		return nil, false
	}
	r := s.row
	if m.members == c.kinds.project {
		r = showProject(c, t, r, false)
	}
	return selectFields(m.members.visible(r), c.fields()), true
}

func (m memberList) list(c *call, t *tx) reply {
	if t.find(m.owner, c.vars[m.owner.param]) == nil {
		return notFound()
	}
	out := []row{}
	for _, s := range t.all(m.kind, scope(c.vars[m.owner.param])) {
		if member, ok := m.member(c, t, text(s.row, m.column())); ok {
			out = append(out, member)
		}
	}
	return pageOf(c, out)
}
