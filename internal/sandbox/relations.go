package sandbox

import (
	"net/http"
	"slices"
)

// relationNames is each relation with the name it is kept under; the second of
// a pair is the same relation seen from the other item.
func relationNames() [][2]string {
	return [][2]string{
		{"blocked_by", "blocking"},
		{"duplicate", "duplicate"},
		{"relates_to", "relates_to"},
		{"start_before", "start_after"},
		{"finish_before", "finish_after"},
	}
}

func listRelations(c *call, t *tx) reply {
	out := object("blocking", nil, "blocked_by", nil, "duplicate", nil, "relates_to", nil,
		"start_after", nil, "start_before", nil, "finish_after", nil, "finish_before", nil)
	for _, name := range out.order {
		out.row[name] = []shown{}
	}
	for _, r := range t.all(c.kinds.relation, scope(c.vars["item"])) {
		item, ok := t.get(c.kinds.workItem, text(r.row, "related_issue"))
		if !ok {
			continue
		}
		name := text(r.row, "relation_type")
		out.row[name] = append(out.row[name].([]shown), object("project_id", item.row["project"], "issue_id", item.row["id"]))
	}
	return reply{http.StatusOK, out}
}

// addRelations keeps a relation once from each side.
func addRelations(c *call, t *tx) reply {
	name := text(c.in, "relation_type")
	i := slices.IndexFunc(relationNames(), func(p [2]string) bool { return p[0] == name || p[1] == name })
	if i < 0 {
		if _, given := c.in["relation_type"]; !given {
			return invalid(row{"relation_type": says("This field is required.")})
		}
		return invalid(row{"relation_type": says("\"%v\" is not a valid choice.", c.in["relation_type"])})
	}
	pair := relationNames()[i]
	inverse := pair[0]
	if inverse == name {
		inverse = pair[1]
	}
	ids, _, refused := c.issueList()
	switch {
	case refused != nil && refused.body == nil:
		return invalid(row{"issues": says("This field is required.")})
	case refused != nil:
		return *refused
	case !c.known(t, c.vars["item"]):
		return badPayload()
	}
	for _, id := range ids {
		if !c.known(t, id) {
			return badPayload()
		}
	}
	out := []shown{}
	for _, id := range ids {
		kept := c.relate(t, c.vars["item"], id, name)
		c.relate(t, id, c.vars["item"], inverse)
		item, _ := t.get(c.kinds.workItem, id)
		out = append(out, object("id", id, "project_id", item.row["project"], "sequence_id", item.row["sequence_id"], "relation_type", pair[0],
			"name", item.row["name"], "state_id", item.row["state"], "priority", item.row["priority"], "created_by", kept["created_by"],
			"created_at", kept["created_at"], "updated_by", kept["updated_by"], "updated_at", kept["updated_at"]))
	}
	return reply{http.StatusCreated, out}
}

func (c *call) relate(t *tx, from, to, name string) row {
	for _, s := range t.all(c.kinds.relation, scope(from)) {
		if text(s.row, "related_issue") == to && text(s.row, "relation_type") == name {
			return s.row
		}
	}
	r := row{"relation_type": name, "issue": from, "related_issue": to}
	c.fresh(c.kinds.relation, r)
	r["updated_by"] = c.user
	t.insert(c.kinds.relation, scope(from), r)
	return r
}

func removeRelation(c *call, t *tx) reply {
	other := text(c.in, "related_issue")
	gone := false
	for _, side := range [][2]string{{c.vars["item"], other}, {other, c.vars["item"]}} {
		if !isUUID(side[0]) {
			return badPayload()
		}
		for _, s := range t.all(c.kinds.relation, scope(side[0])) {
			if text(s.row, "related_issue") == side[1] {
				t.remove(c.kinds.relation, s)
				gone = true
			}
		}
	}
	if !gone {
		return notFound()
	}
	return reply{status: http.StatusNoContent}
}
