package sandbox

import (
	"slices"
	"strings"
)

// expand puts records in the place of ids. What is not a relation is left as
// it is, but for three fields that the service turns into null; a relation that
// is null becomes an object of nothing.
func (c *call) expand(t *tx, r row, names []string) row {
	r = clone(r)
	for _, name := range names {
		v, has := r[name]
		switch name {
		case "id", "name", "description_html":
			if has {
				r[name] = nil
			}
		case "labels":
			if has {
				out := []shown{}
				for _, id := range list(r, name) {
					if s, ok := t.get(c.kinds.label, id); ok {
						out = append(out, shown{c.kinds.label.order, s.row})
					}
				}
				slices.SortFunc(out, func(a, b shown) int { return strings.Compare(text(b.row, "created_at"), text(a.row, "created_at")) })
				r[name] = out
			}
		case "assignees", "members":
			if has {
				out := []shown{}
				for _, id := range list(r, name) {
					out = append(out, c.profile(t, id))
				}
				r[name] = out
			}
		case "type", "module":
			if c.contract() && slices.Contains(c.kinds.workItem.order, "assignees") {
				r[name] = c.expandDocumented(t, r, name)
			}
		default:
			if id, ok := v.(string); has && (ok || v == nil) {
				if object, ok := c.expandOne(t, name, id); ok {
					r[name] = object
				}
			}
		}
	}
	return r
}

// expandOne is the record behind an id under a name; ok is false if the name
// is not that of a relation.
func (c *call) expandOne(t *tx, name, id string) (out shown, ok bool) {
	brief := func(k *kind, names ...string) (shown, bool) {
		s, ok := t.get(k, id)
		if !ok {
			return shown{}, true
		}
		return shown{names, s.row}, true
	}
	switch name {
	case "state":
		return brief(c.kinds.state, "id", "name", "color", "group")
	case "project":
		out, ok := brief(c.kinds.project, "id", "identifier", "name", "cover_image", "icon_prop", "emoji", "description", "cover_image_url")
		if out.row != nil {
			out.row["cover_image_url"] = nil
		}
		return out, ok
	case "workspace":
		return brief(c.kinds.workspace, "name", "slug", "id")
	case "parent":
		out, ok := brief(c.kinds.workItem, "id", "sequence_id", "project_id")
		if out.row != nil {
			out.row["project_id"] = out.row["project"]
		}
		return out, ok
	case "issue":
		return brief(c.kinds.workItem, c.kinds.workItem.order...)
	case "created_by", "updated_by", "actor", "owned_by", "lead", "project_lead", "default_assignee":
		return brief(c.kinds.user, c.kinds.user.order...)
	case "estimate_point":
		if s, found := t.get(c.kinds.estimatePoint, id); found {
			return shown{c.kinds.estimatePoint.order, s.row}, true
		}
		return object("deleted_at", nil, "key", nil, "description", "", "value", "", "created_by", nil, "updated_by", nil), true
	}
	return shown{}, false
}

// expandDocumented is the two that only the contract promises.
func (c *call) expandDocumented(t *tx, r row, name string) any {
	k, id := c.kinds.itemType, text(r, "type")
	if name == "module" {
		k, id = c.kinds.module, ""
		if in := t.under(1, "modules-of", text(r, "id")); len(in) > 0 {
			m, _ := t.get(c.kinds.moduleIssue, in[0])
			id = text(m.row, "module")
		}
	}
	s, ok := t.get(k, id)
	if !ok {
		return nil
	}
	return shown{k.order, s.row}
}
