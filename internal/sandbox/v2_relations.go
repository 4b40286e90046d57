package sandbox

import (
	"net/http"
	"slices"
)

// dependencyKinds is the fixed relations; the others are by definitions.
func dependencyKinds() []string {
	return []string{"blocked_by", "blocking", "start_before", "start_after", "finish_before", "finish_after"}
}

// related is the IDs of the items that are related to the one of the path, by the name that the relation has from its
// side: the relation as it is stored, reversed or not.
func (c *call) related(t *tx, stored string, reversed bool) []any {
	out := []any{}
	self := c.vars["item"]
	for _, s := range relationsOf(c, t, self) {
		near, other := text(s.row, "issue"), text(s.row, "related_issue")
		if reversed {
			near, other = other, near
		}
		if _, ok := t.get(c.kinds.workItem, other); ok && near == self && text(s.row, "relation_type") == stored && !slices.Contains(out, any(other)) {
			out = append(out, other)
		}
	}
	return out
}

func listDependencies(c *call, t *tx) (reply, *problem) {
	out := row{}
	for _, name := range dependencyKinds() {
		stored, reversed := storedRelation(name)
		out[name] = c.related(t, stored, reversed)
	}
	return reply{http.StatusOK, out}, nil
}

func addDependencies(c *call, t *tx) (reply, *problem) {
	w := &writeV2{call: c, t: t, res: &resourceV2{}}
	name := text(c.in, "relation_type")
	if !slices.Contains(dependencyKinds(), name) {
		w.fail("relation_type", "invalid_choice", "%q is not a valid choice.", name)
	}
	ids := w.otherItems()
	if p := w.refused(); p != nil {
		return reply{}, p
	}
	stored, reversed := storedRelation(name)
	c.relateTo(t, stored, reversed, ids)
	out, wrong := listDependencies(c, t)
	out.status = http.StatusCreated
	return out, wrong
}

// otherItems is the items of a body, which are there and not the one of the path.
func (w *writeV2) otherItems() []string {
	f := &fieldV2{name: "work_item_ids", kind: "uuid[]", of: "work_item"}
	v, given := w.in[f.name]
	if !given {
		w.fail(f.name, "required", "This field is required.")
		return nil
	}
	ids, wrong := f.check(w, v)
	if wrong != nil {
		w.errors = append(w.errors, *wrong)
		return nil
	}
	out := list(row{"ids": ids}, "ids")
	if slices.Contains(out, w.vars["item"]) {
		w.fail(f.name, "invalid", "A work item cannot be related to itself.")
	}
	return out
}

// relateTo adds relations of one name, or makes them all there are of it.
func (c *call) relateTo(t *tx, stored string, reversed bool, ids []string) {
	self := c.vars["item"]
	there := c.related(t, stored, reversed)
	for _, id := range there {
		if c.opts.ReplaceRelations && !slices.Contains(ids, id.(string)) {
			c.unrelate(t, id.(string), func(name string) bool { return name == stored })
		}
	}
	for _, id := range ids {
		from, to := self, id
		if reversed {
			from, to = to, from
		}
		if !slices.Contains(there, any(id)) {
			c.relate(t, from, to, stored)
		}
	}
}

// unrelate ends the relations between two items whose stored name passes, and says whether there were any.
func (c *call) unrelate(t *tx, other string, pass func(string) bool) bool {
	gone := false
	for _, s := range relationsOf(c, t, c.vars["item"]) {
		if (text(s.row, "issue") == other || text(s.row, "related_issue") == other) && pass(text(s.row, "relation_type")) {
			t.remove(c.kinds.relation, s)
			gone = true
		}
	}
	return gone
}

// isDependency says whether a stored relation is one of the fixed ones.
func isDependency(name string) bool { return slices.Contains(dependencyKinds(), name) }

// endRelations deletes the dependencies between two items, or their relations by definitions.
func endRelations(dependencies bool) handlerV2 {
	return func(c *call, t *tx) (reply, *problem) {
		if !c.unrelate(t, c.vars["related"], func(name string) bool { return isDependency(name) == dependencies }) {
			return reply{}, notFoundV2()
		}
		return reply{status: http.StatusNoContent}, nil
	}
}

// listRelationsV2 is the related items by the labels of the definitions.
func listRelationsV2(c *call, t *tx) (reply, *problem) {
	out := row{}
	for _, s := range t.all(c.kinds.relationDefinition, scope(workspaceID)) {
		name := storedDefinition(s.row)
		outward, inward := text(s.row, "outward"), text(s.row, "inward")
		out[outward] = c.related(t, name, false)
		back := c.related(t, name, true)
		if outward != inward {
			out[inward] = back
			continue
		}
		for _, id := range back {
			if there := out[outward].([]any); !slices.Contains(there, id) {
				out[outward] = append(there, id)
			}
		}
	}
	return reply{http.StatusOK, out}, nil
}

// storedDefinition is how relations of a definition are stored: the seeded ones are those that API v1 has names for.
func storedDefinition(definition row) string {
	if name := text(definition, "relation_type"); name != "" {
		return name
	}
	return text(definition, "id")
}

func addRelationsV2(c *call, t *tx) (reply, *problem) {
	w := &writeV2{call: c, t: t, res: &resourceV2{}}
	definition, ok := t.in(c.kinds.relationDefinition, scope(workspaceID), text(c.in, "relation_definition_id"))
	direction := text(c.in, "direction")
	switch {
	case !ok:
		w.fail("relation_definition_id", "does_not_exist", "There is no such definition.")
	case direction != text(definition.row, "outward") && direction != text(definition.row, "inward"):
		w.fail("direction", "invalid_choice", "%q is no label of the definition.", direction)
	}
	ids := w.otherItems()
	if p := w.refused(); p != nil {
		return reply{}, p
	}
	c.relateTo(t, storedDefinition(definition.row), direction != text(definition.row, "outward"), ids)
	out, wrong := listRelationsV2(c, t)
	out.status = http.StatusCreated
	return out, wrong
}

// relationDefinitions is the kind of the definitions, and its seeded ones.
func (k *kinds) relationDefinitions() {
	k.relationDefinition = k.add(&kind{
		name: "relation_definition", param: "definition",
		columns: audit("name", "inward", "outward", "color", "description", "is_active", "is_default", "logo_props", "sort_order", "external_id",
			"external_source", "created_by", "updated_by", "workspace"),
		hidden: []string{"relation_type"},
		fields: []field{
			{name: "color", initial: ""},
			{name: "description", initial: ""},
			{name: "is_active", initial: true},
			{name: "is_default", initial: false},
			{name: "logo_props", initial: row{}},
			{name: "sort_order", initial: float(firstOrder)},
		},
	})
}

// seedDefinitions adds the definitions that every workspace has.
func (s *Server) seedDefinitions(t *tx) {
	k := s.kinds.relationDefinition
	for _, d := range []struct{ id, name, outward, inward, stored string }{
		{definitionRelates, "Relates", "relates to", "relates to", "relates_to"},
		{definitionDuplicate, "Duplicate", "duplicate of", "duplicated by", "duplicate"},
	} {
		c := &call{Server: s, vars: map[string]string{}, user: userAda, now: s.opts.Now(), nextID: d.id}
		r := row{"name": d.name, "outward": d.outward, "inward": d.inward, "relation_type": d.stored}
		for _, f := range k.fields {
			r[f.name] = f.initial
		}
		r["is_default"] = true
		c.setAudit(k, r)
		t.insert(k, scope(workspaceID), r)
	}
}
