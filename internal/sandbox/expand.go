package sandbox

import (
	"slices"
	"strings"
)

// expand replaces the IDs in a work item with records. A null relation becomes an empty object, and a field that is no
// relation becomes null.
func (c *call) expand(t *tx, r row, names []string) row {
	r = clone(r)
	for _, name := range names {
		v, has := r[name]
		id, isText := v.(string)
		switch name {
		case "labels", "assignees":
			r[name] = c.expandList(t, r, name)
		case "type", "module":
			if c.answersByContract() {
				r[name] = c.expandDocumented(t, r, name)
			}
		default:
			switch object, ok := c.expandOne(t, name, id); {
			case !has:
			case ok && (isText || v == nil):
				r[name] = object
			case !c.answersByContract():
				r[name] = nil
			}
		}
	}
	return r
}

// expandList returns the labels, the newest first, or the assignees of a work item.
func (c *call) expandList(t *tx, r row, name string) []row {
	out := []row{}
	for _, id := range list(r, name) {
		if s, ok := t.get(c.kinds.label, id); ok && name == "labels" {
			out = append(out, c.kinds.label.visible(s.row))
		} else if name == "assignees" {
			out = append(out, c.profile(t, id))
		}
	}
	slices.SortStableFunc(out, func(a, b row) int { return strings.Compare(text(b, "created_at"), text(a, "created_at")) })
	return out
}

// expandOne returns the record for an ID under a name; ok is false if no relation has the name.
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
		out, ok := brief(c.kinds.project, "id", "identifier", "name", "cover_image", "icon_prop", "emoji", "description", "archived_at")
		if !c.since14() {
			delete(out, "archived_at")
		}
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
	case "created_by", "updated_by":
		return brief(c.kinds.user, c.kinds.user.columns...)
	case "estimate_point":
		if s, found := t.get(c.kinds.estimatePoint, id); found {
			return c.kinds.estimatePoint.visible(s.row), true
		}
		return row{"deleted_at": nil, "key": nil, "description": "", "value": "", "created_by": nil, "updated_by": nil}, true
	}
	return nil, false
}

// expandDocumented returns the record of a type or module, which only the contract promises.
func (c *call) expandDocumented(t *tx, r row, name string) any {
	k, id := c.kinds.itemType, text(r, "type")
	if name == "module" {
		k, id = c.kinds.module, ""
		if in := t.indexValues(1, "module membership", text(r, "id")); len(in) > 0 {
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
