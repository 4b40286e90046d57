package sandbox

import (
	"slices"
	"strings"
)

// expand puts records in the place of ids. A relation that is null becomes an object of nothing, one that the service does not
// expand stays an id, and what is no relation becomes null.
func (c *call) expand(t *tx, k *kind, r row, names []string) row {
	r = clone(r)
	for _, name := range names {
		v, has := r[name]
		switch name {
		case "labels":
			if has {
				out := []row{}
				for _, id := range list(r, name) {
					if s, ok := t.get(c.kinds.label, id); ok {
						out = append(out, c.kinds.label.visible(s.row))
					}
				}
				slices.SortFunc(out, func(a, b row) int { return strings.Compare(text(b, "created_at"), text(a, "created_at")) })
				r[name] = out
			}
		case "members": // stay ids
		case "assignees":
			if has {
				out := []row{}
				for _, id := range list(r, name) {
					out = append(out, c.profile(t, id))
				}
				r[name] = out
			}
		case "type", "module":
			if c.contract() && slices.Contains(c.kinds.workItem.columns, "assignees") {
				r[name] = c.expandDocumented(t, r, name)
			}
		default:
			id, isText := v.(string)
			switch object, ok := c.expandOne(t, name, id); {
			case !slices.Contains(k.columns, name):
			case name == "parent" && k == c.kinds.label && isText:
				r[name] = row{"id": id, "project_id": r["project"]} // as if it were an item
			case ok && (isText || v == nil && has):
				r[name] = object
			case !k.refersTo(name) && !c.contract():
				r[name] = nil
			}
		}
	}
	return r
}

// expandOne is the record behind an id under a name; ok is false if the name
// is not that of a relation.
func (c *call) expandOne(t *tx, name, id string) (out row, ok bool) {
	brief := func(k *kind, names ...string) (row, bool) {
		s, ok := t.get(k, id)
		if !ok {
			return row{}, true
		}
		return selectFields(s.row, names), true
	}
	switch name {
	case "state":
		return brief(c.kinds.state, "id", "name", "color", "group")
	case "project":
		out, ok := brief(c.kinds.project, "id", "identifier", "name", "cover_image", "icon_prop", "emoji", "description")
		if len(out) > 0 {
			out["cover_image_url"] = nil
		}
		return out, ok
	case "workspace":
		return brief(c.kinds.workspace, "name", "slug", "id")
	case "parent":
		out, ok := brief(c.kinds.workItem, "id", "sequence_id", "project")
		if len(out) > 0 {
			out["project_id"] = out["project"]
			delete(out, "project")
		}
		return out, ok
	case "issue":
		if s, ok := c.anyItem(t, id); ok {
			return c.kinds.workItem.visible(s.row), true
		}
		return row{}, true
	case "created_by", "updated_by", "actor", "owned_by", "project_lead", "default_assignee":
		return brief(c.kinds.user, c.kinds.user.columns...)
	case "estimate_point":
		if s, found := t.get(c.kinds.estimatePoint, id); found {
			return c.kinds.estimatePoint.visible(s.row), true
		}
		return row{"deleted_at": nil, "key": nil, "description": "", "value": "", "created_by": nil, "updated_by": nil}, true
	}
	return nil, false
}

// expandDocumented is the two that only the contract promises.
func (c *call) expandDocumented(t *tx, r row, name string) any {
	k, id := c.kinds.itemType, text(r, "type")
	if name == "module" {
		k, id = c.kinds.module, ""
		if in := t.under(1, "module membership", text(r, "id")); len(in) > 0 {
			m, _ := t.get(c.kinds.moduleIssue, in[0])
			id = text(m.row, "module")
		}
	}
	s, ok := t.get(k, id)
	if !ok {
		return nil
	}
	return k.visible(s.row)
}
