package sandbox

import (
	"net/http"
	"slices"
	"strconv"
)

func (ks *kinds) describeRelations() {
	ks.relation = ks.add(&kind{
		name: "relation", param: "relation",
		columns: audit("relation_type issue related_issue created_by updated_by project workspace"),
		indexes: []index{{name: "relation to", fields: []string{"related_issue", "issue", "relation_type"}}},
		fields: []field{
			{name: "relation_type", required: true, check: choice(relationTypes()...)},
			{name: "issues", required: true, check: uuids},
		},
	})
}

func (ks *kinds) describeRelationDefinitions() {
	ks.relationDefinition = ks.add(&kind{
		name: "relation_definition", param: "definition", oldestFirst: true,
		columns: audit("name outward inward description color is_active is_default sort_order logo_props external_source " +
			"external_id created_by updated_by workspace"),
		fields: bodyFields("name=line outward=line inward=line description=prose color=text is_active=on sort_order=order" +
			" logo_props=object" + externalPair),
	})
}

// relationTypes returns the names of relations, from both sides.
func relationTypes() []string {
	return names("blocked_by duplicate relates_to start_before finish_before blocking start_after finish_after")
}

// uuids checks a list of IDs, whose records need not exist.
func uuids(_ *tx, v any) (any, any) {
	given, ok := v.([]any)
	switch {
	case !ok:
		return nil, message("Expected a list of items but got type \"%s\".", pythonType(v))
	case len(given) == 0:
		return nil, message("Ensure this field has at least 1 elements.")
	}
	ids, wrong := make([]any, len(given)), row{}
	for i, v := range given {
		id := pythonText(v)
		switch {
		case v == nil:
			wrong[strconv.Itoa(i)] = message(textNull)
		case !isUUID(id):
			wrong[strconv.Itoa(i)] = message("Must be a valid UUID.")
		}
		ids[i] = id
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return ids, nil
}

// relationPairs returns the relations that have a name for each side: the name that is stored, and the one from the other side.
func relationPairs() [][2]string {
	return [][2]string{{"blocked_by", "blocking"}, {"start_before", "start_after"}, {"finish_before", "finish_after"}}
}

// storedRelation returns the name under which a relation is stored, and whether it is stored from the other item.
func storedRelation(name string) (kept string, reversed bool) {
	for _, pair := range relationPairs() {
		if pair[1] == name {
			return pair[0], true
		}
	}
	return name, false
}

// inverseRelation returns the name of a stored relation from the other item's side.
func inverseRelation(kept string) string {
	for _, pair := range relationPairs() {
		if pair[0] == kept {
			return pair[1]
		}
	}
	return kept
}

// listRelations lists the relations of the item, each under its name from the item's side, the newest first.
func listRelations(c *call, t *tx) reply {
	out := row{}
	for _, name := range relationTypes() {
		out[name] = []row{}
	}
	self := c.vars["item"]
	for _, r := range slices.Backward(relationsOf(c, t, self)) {
		name := text(r.row, "relation_type")
		show := func(name, other string) {
			item, ok := c.itemOrDeleted(t, other)
			if !ok {
				return
			}
			entry := row{"project_id": item.row["project"], "issue_id": item.row["id"]}
			listed, ok := out[name].([]row)
			if !ok {
				return // the relation has a custom definition, which API v1 does not show
			}
			symmetric := name == "duplicate" || name == "relates_to"
			if symmetric && slices.ContainsFunc(listed, func(r row) bool { return r["issue_id"] == other }) {
				return
			}
			out[name] = append(listed, entry)
		}
		if text(r.row, "related_issue") == self {
			show(inverseRelation(name), text(r.row, "issue"))
		}
		if text(r.row, "issue") == self {
			show(name, text(r.row, "related_issue"))
		}
	}
	if c.opts.RelationIDs {
		for name, of := range out {
			ids := []any{}
			for _, entry := range of.([]row) {
				ids = append(ids, entry["issue_id"])
			}
			out[name] = ids
		}
	}
	return reply{http.StatusOK, out}
}

// relationsOf returns the relations from and to an item, the oldest first.
func relationsOf(c *call, t *tx, item string) []stored {
	found := t.all(c.kinds.relation, scope(item))
	for _, id := range t.indexValues(1<<20, "relation to", item) {
		if s, ok := t.get(c.kinds.relation, id); ok && text(s.row, "issue") != item {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, byNumber)
	return found
}

// addRelations stores each relation of a pair once. The community edition keeps one relation for each ordered pair, and
// silently ignores a second one of another kind.
func addRelations(c *call, t *tx) reply {
	if refused := c.notAnObject(); refused != nil {
		return *refused
	}
	body, complaints := c.kinds.relation.decode(t, c.in, false)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	name, ids := text(body, "relation_type"), list(body, "issues")
	self := c.vars["item"]
	ids = c.dropUnlisted(t, ids, func(row) bool { return true })
	for _, id := range append([]string{self}, ids...) {
		if len(ids) > 0 && !c.everExisted(t, id) {
			return badPayload()
		}
	}
	kept, reversed := storedRelation(name)
	for _, id := range ids {
		from, to := self, id
		if reversed {
			from, to = id, self
		}
		already := t.first("relation to", to, from, kept) != ""
		if c.isCommunity() {
			already = len(t.indexValues(1, "relation to", to, from)) > 0
		}
		if !already {
			c.addRelation(t, from, to, kept)
			c.logActivity(t, "updated", name, nil, id, "added "+name+" relation")
		}
	}
	out := []row{}
	for _, r := range slices.Backward(relationsOf(c, t, self)) {
		other, near := text(r.row, "related_issue"), text(r.row, "issue")
		if reversed {
			other, near = near, other
		}
		if near != self || !slices.Contains(ids, other) || text(r.row, "relation_type") != kept {
			continue
		}
		item, ok := c.itemOrDeleted(t, other)
		if !ok {
			continue
		}
		out = append(out, row{
			"id": other, "project_id": item.row["project"], "sequence_id": item.row["sequence_id"], "relation_type": kept,
			"name": item.row["name"], "state_id": item.row["state"], "priority": item.row["priority"], "created_by": r.row["created_by"],
			"created_at": r.row["created_at"], "updated_by": r.row["updated_by"], "updated_at": r.row["updated_at"],
		})
	}
	return reply{http.StatusCreated, out}
}

func (c *call) addRelation(t *tx, from, to, name string) {
	r := row{"relation_type": name, "issue": from, "related_issue": to}
	c.setAudit(c.kinds.relation, r)
	r["updated_by"] = c.user
	t.insert(c.kinds.relation, scope(from), r)
}

// removeRelation ends the relations between two items, in either direction.
func removeRelation(c *call, t *tx) reply {
	other := text(c.in, "related_issue")
	if !isUUID(other) {
		return badPayload()
	}
	gone := false
	for _, s := range relationsOf(c, t, c.vars["item"]) {
		if text(s.row, "issue") == other || text(s.row, "related_issue") == other {
			t.remove(c.kinds.relation, s)
			gone = true
		}
	}
	if !gone {
		return notFound()
	}
	return reply{status: http.StatusNoContent}
}

// customRelationsV2 describes the relations of a work item that the workspace defines. They are stored with the other
// relations, from the outward item, with the ID of the definition as relation_type.
func customRelationsV2(k *kinds) *resourceV2 {
	return &resourceV2{
		name: "relation", path: v2Item + "relations/", kind: k.relation,
		more: map[string]methods{
			"":      {http.MethodGet: do(listCustomRelations), http.MethodPost: do(addCustomRelations)},
			"{pk}/": {http.MethodDelete: do(removeCustomRelation)},
		},
	}
}

// listCustomRelations lists the IDs of related items by the label of the relation from the item's side.
func listCustomRelations(c *call, t *tx) reply {
	if wrong := c.knowsOnly(); wrong != nil {
		return wrong.reply()
	}
	out, self := row{}, c.vars["item"]
	for _, d := range t.all(c.kinds.relationDefinition, scope(workspaceID)) {
		out[text(d.row, "outward")], out[text(d.row, "inward")] = []any{}, []any{}
	}
	for _, r := range relationsOf(c, t, self) {
		d, ok := t.getWithin(c.kinds.relationDefinition, scope(workspaceID), text(r.row, "relation_type"))
		if !ok {
			continue
		}
		word, other := text(d.row, "outward"), text(r.row, "related_issue")
		if other == self {
			word, other = text(d.row, "inward"), text(r.row, "issue")
		}
		out[word] = anyList(append(list(out, word), other))
	}
	return reply{http.StatusOK, out}
}

func addCustomRelations(c *call, t *tx) reply {
	var wrong []fieldError
	d, ok := t.getWithin(c.kinds.relationDefinition, scope(workspaceID), text(c.in, "relation_definition_id"))
	if !ok {
		wrong = append(wrong, fieldError{"relation_definition_id", "does_not_exist", "Object with this id does not exist."})
	}
	word, self, ids := text(c.in, "direction"), c.vars["item"], list(c.in, "work_item_ids")
	if ok && word != text(d.row, "outward") && word != text(d.row, "inward") {
		wrong = append(wrong, fieldError{"direction", "invalid", "It is neither the outward nor the inward label of the definition."})
	}
	for _, id := range ids {
		if _, found := c.anyItem(t, id); !found || id == self {
			wrong = append(wrong, fieldError{"work_item_ids", "does_not_exist", "Object with id " + id + " does not exist."})
		}
	}
	if len(wrong) > 0 || len(ids) == 0 {
		return invalidV2(wrong...).reply()
	}
	inward, both, name := word != text(d.row, "outward"), text(d.row, "outward") == text(d.row, "inward"), text(d.row, "id")
	have := map[string]bool{}
	for _, r := range relationsOf(c, t, self) {
		other, near := text(r.row, "related_issue"), text(r.row, "issue")
		if inward || both && other == self {
			other, near = near, other
		}
		switch {
		case text(r.row, "relation_type") != name || near != self:
		case c.opts.ReplaceRelations && !slices.Contains(ids, other):
			t.remove(c.kinds.relation, r)
		default:
			have[other] = true
		}
	}
	for _, id := range ids {
		from, to := self, id
		if inward {
			from, to = id, self
		}
		if !have[id] {
			have[id] = true
			c.addRelation(t, from, to, name)
		}
	}
	return reply{http.StatusCreated, listCustomRelations(c, t).body}
}

// removeCustomRelation ends the oldest custom relation between two items. The reference does not say which one ends.
func removeCustomRelation(c *call, t *tx) reply {
	for _, r := range relationsOf(c, t, c.vars["item"]) {
		custom := t.has(c.kinds.relationDefinition, scope(workspaceID), text(r.row, "relation_type"))
		if other := c.vars["relation"]; custom && (text(r.row, "issue") == other || text(r.row, "related_issue") == other) {
			t.remove(c.kinds.relation, r)
			return reply{status: http.StatusNoContent}
		}
	}
	return notFoundV2().reply()
}
