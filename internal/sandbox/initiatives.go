package sandbox

import (
	"net/http"
)

// sanitised replaces description_html where a body has set it.
func sanitised(c *call, r row) {
	if _, given := c.in["description_html"]; given {
		r["description_html"], _ = sanitise(text(r, "description_html"))
	}
}

func (s *Server) initiatives() *resource {
	return &resource{
		kind: s.kinds.initiative, param: "initiative", scope: inWorkspace,
		prepare: func(c *call, _ *tx, _, r row) *reply { sanitised(c, r); return nil },
		afterDelete: func(c *call, t *tx, r row) {
			c.clear(t, c.kinds.initiativeProject, text(r, "id"))
			c.clear(t, c.kinds.initiativeLabelLink, text(r, "id"))
		},
	}
}

func (s *Server) teamspaces() *resource {
	return &resource{
		kind: s.kinds.teamspace, param: "teamspace", scope: inWorkspace,
		prepare: func(c *call, _ *tx, _, r row) *reply { sanitised(c, r); return nil },
		afterDelete: func(c *call, t *tx, r row) {
			c.clear(t, c.kinds.teamspaceProject, text(r, "id"))
			c.clear(t, c.kinds.teamspaceMember, text(r, "id"))
		},
	}
}

// clear removes every row of a list.
func (c *call) clear(t *tx, k *kind, of string) {
	for _, s := range t.all(k, scope(of)) {
		t.remove(k, s)
	}
}

// memberList is a list of records that belong to another by being named: the
// projects of an initiative, and so on. Naming one that is there is harmless.
type memberList struct {
	owner   *kind  // what they belong to …
	param   string // … and the route's parameter for it
	kind    *kind  // the memberships
	ids     string // the field of the body
	column  string // the column of the membership that holds the id
	members *kind  // what may be named
}

func (s *Server) initiativeProjects() memberList {
	return memberList{s.kinds.initiative, "initiative", s.kinds.initiativeProject, "project_ids", "project", s.kinds.project}
}

func (s *Server) initiativeLabelLinks() memberList {
	return memberList{s.kinds.initiative, "initiative", s.kinds.initiativeLabelLink, "label_ids", "label", s.kinds.initiativeLabel}
}

func (s *Server) teamspaceProjects() memberList {
	return memberList{s.kinds.teamspace, "teamspace", s.kinds.teamspaceProject, "project_ids", "project", s.kinds.project}
}

func (s *Server) teamspaceMembers() memberList {
	return memberList{s.kinds.teamspace, "teamspace", s.kinds.teamspaceMember, "member_ids", "member", s.kinds.user}
}

func (m memberList) methods() methods {
	return methods{
		http.MethodGet:    do(m.list),
		http.MethodPost:   documented(m.add, http.StatusCreated),
		http.MethodDelete: do(m.remove),
	}
}

// initiativeMembers serves the projects and the labels of an initiative, which its path names.
func initiativeMembers(projects, labels methods) methods {
	out := methods{}
	for method, of := range projects {
		out[method] = &endpoint{contract: of.contract, do: func(c *call, t *tx) reply {
			if c.vars["members"] == "labels" {
				return labels[method].do(c, t)
			}
			return of.do(c, t)
		}}
	}
	return out
}

// bodyIDs is the ids of the body, all of which must be there.
func (m memberList) bodyIDs(c *call, t *tx) ([]string, *reply) {
	v, given := c.in[m.ids]
	if !given || v == nil {
		return nil, new(invalid(row{m.ids: message("This field is required.")}))
	}
	all, ok := v.([]any)
	if !ok {
		return nil, new(invalid(row{m.ids: message("Expected a list of items but got type \"%s\".", pythonType(v))}))
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

func (m memberList) current(c *call, t *tx) map[string]stored {
	out := map[string]stored{}
	for _, s := range t.all(m.kind, scope(c.vars[m.param])) {
		out[text(s.row, m.column)] = s
	}
	return out
}

func (m memberList) add(c *call, t *tx) reply {
	owner, ok := t.get(m.owner, c.vars[m.param])
	if !ok {
		return notFound()
	}
	ids, refused := m.bodyIDs(c, t)
	if refused != nil {
		return *refused
	}
	there := m.current(c, t)
	for _, id := range ids {
		if _, ok := there[id]; ok {
			continue
		}
		r := row{m.param: owner.row["id"], m.column: id}
		c.setAudit(m.kind, r)
		there[id] = t.insert(m.kind, scope(c.vars[m.param]), r)
	}
	out := []row{}
	for _, id := range ids {
		if s, ok := m.member(c, t, id); ok {
			out = append(out, s)
		}
	}
	return reply{http.StatusOK, out}
}

func (m memberList) remove(c *call, t *tx) reply {
	if t.find(m.owner, c.vars[m.param]) == nil {
		return notFound()
	}
	ids, refused := m.bodyIDs(c, t)
	if refused != nil {
		return *refused
	}
	there := m.current(c, t)
	for _, id := range ids {
		if s, ok := there[id]; ok {
			t.remove(m.kind, s)
			delete(there, id)
		}
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
	if t.find(m.owner, c.vars[m.param]) == nil {
		return notFound()
	}
	out := []row{}
	for _, s := range t.all(m.kind, scope(c.vars[m.param])) {
		if member, ok := m.member(c, t, text(s.row, m.column)); ok {
			out = append(out, member)
		}
	}
	return pageOf(c, out)
}

func (s *Server) pages() *resource {
	return &resource{
		kind: s.kinds.page, param: "page", scope: inWorkspace,
		prepare: func(c *call, _ *tx, old, r row) *reply {
			sanitised(c, r)
			if old == nil {
				r["owned_by"] = c.user
			}
			return nil
		},
	}
}
