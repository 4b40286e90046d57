package sandbox

import (
	"net/http"
)

func (k *kinds) initiatives() {
	k.initiative = k.add(&kind{
		name: "initiative", path: "initiatives/",
		columns: audit("name", "description", "description_html", "description_stripped", "logo_props", "start_date", "end_date", "state",
			"archived_at",
			"created_by", "updated_by", "workspace", "lead"),
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), null: true},
			{name: "description_html", check: richText, initial: "<p></p>"},
			{name: "description_stripped", check: prose(), null: true},
			{name: "start_date", check: moment, null: true},
			{name: "end_date", check: moment, null: true},
			{name: "logo_props", check: mapping, initial: row{}},
			{name: "state", check: choice("DRAFT", "PLANNED", "ACTIVE", "COMPLETED", "CLOSED"), initial: "DRAFT"},
			{name: "archived_at", check: moment, null: true},
			{name: "lead", ref: &k.user, null: true},
		},
		param: "initiative",
		afterDelete: func(c *call, t *tx, r row) {
			c.clear(t, c.kinds.initiativeProject, text(r, "id"))
			c.clear(t, c.kinds.initiativeLabelLink, text(r, "id"))
			c.clear(t, c.kinds.initiativeEpic, text(r, "id"))
		},
	})
	k.initiativeLabel = k.add(&kind{
		name: "initiative_label", path: "initiatives/labels/",
		columns: audit("name", "description", "color", "sort_order", "created_by", "updated_by", "workspace"),
		indexes: []index{uniqueName("initiative_label", "workspace", "Initiative label with the same name already exists in the workspace")},
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "color", check: colour, initial: ""},
			{name: "sort_order", check: real, initial: float(65535)},
		},
	})
	k.initiativeEpic = k.membership("initiative_epic", "epic", "initiative") // any work item: epics are items here
	k.initiativeProject = k.membership("initiative_project", "project", "initiative")
	k.initiativeLabelLink = k.membership("initiative_label_link", "label", "initiative")
}

func (k *kinds) teamspaces() {
	k.teamspace = k.add(&kind{
		name: "teamspace", path: "teamspaces/",
		columns: audit("name", "description_json", "description_html", "description_stripped", "description_binary", "logo_props",
			"created_by", "updated_by", "workspace", "lead"),
		fields: []field{
			{name: "name", required: true, check: line()},
			{name: "description_json", check: mapping, null: true, initial: row{}},
			{name: "description_html", check: richText, initial: "<p></p>"},
			{name: "description_stripped", check: prose(), null: true},
			{name: "description_binary", check: prose(), null: true},
			{name: "logo_props", check: mapping, initial: row{}},
			{name: "lead", ref: &k.user, null: true},
		},
		param: "teamspace",
		afterDelete: func(c *call, t *tx, r row) {
			c.clear(t, c.kinds.teamspaceProject, text(r, "id"))
			c.clear(t, c.kinds.teamspaceMember, text(r, "id"))
		},
	})
	k.teamspaceProject = k.membership("teamspace_project", "project", "teamspace")
	k.teamspaceMember = k.membership("teamspace_member", "member", "teamspace")
}

// clear removes every row of a list.
func (c *call) clear(t *tx, k *kind, of string) {
	for _, s := range t.all(k, scope(of)) {
		t.remove(k, s)
	}
}

// memberList is a list of records that belong to another by being named: the
// projects of an initiative, and so on. Naming one that is there is harmless.
type memberList struct{ owner, kind, members *kind }

// column is the one of a membership that holds the member's ID.
func (m memberList) column() string { return m.kind.indexes[0].fields[0] }

func (m memberList) methods() methods {
	return methods{
		http.MethodGet:    do(m.list),
		http.MethodPost:   documented(m.add, http.StatusCreated),
		http.MethodDelete: do(m.remove),
	}
}

// initiativeMembers serves the projects, the labels and the epics of an initiative, which its path names.
func initiativeMembers(k *kinds) methods {
	out := methods{}
	lists := map[string]memberList{
		"projects": {k.initiative, k.initiativeProject, k.project}, "labels": {k.initiative, k.initiativeLabelLink, k.initiativeLabel},
		"epics": {k.initiative, k.initiativeEpic, k.workItem},
	}
	for method, of := range lists["projects"].methods() {
		out[method] = &endpoint{contract: of.contract, do: func(c *call, t *tx) reply {
			return lists[c.vars["members"]].methods()[method].do(c, t)
		}}
	}
	return out
}

// bodyIDs is the ids of the body, all of which must be there.
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

// member is the record that an id names, as the list shows it.
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
