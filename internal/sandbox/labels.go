package sandbox

import (
	"encoding/json"
	"slices"
)

func (s *Server) labels() *resource {
	k := s.kinds.label
	return &resource{
		kind: k, param: "label", scope: inProject,
		prepare: func(c *call, t *tx, old, r row) *reply {
			project := text(r, "project")
			if t.find(c.kinds.project, project) == nil {
				return new(notFound())
			}
			if old == nil {
				r["sort_order"] = nextOrder(t.all(k, scope(project)), r["sort_order"])
			}
			return nil
		},
		afterDelete: func(c *call, t *tx, r row) { c.dropSubLabels(t, r) },
	}
}

// unlessArchived finds nothing in a project that is archived.
func unlessArchived(h handler) handler {
	return func(c *call, t *tx) reply {
		if c.inArchivedProject(t) {
			return notFound()
		}
		return h(c, t)
	}
}

// firstOrder is the place of the first record of a list, unless its body names
// another.
const firstOrder = 65535

// nextOrder is the place of a new record: 10000 behind the last one. Only the
// first record has the place that its body names.
func nextOrder(rows []stored, given any) json.Number {
	if len(rows) == 0 {
		if n, ok := given.(json.Number); ok {
			return n
		}
		return float(firstOrder)
	}
	last := number(rows[0].row, "sort_order")
	for _, s := range rows {
		last = max(last, number(s.row, "sort_order"))
	}
	return float(last + 10000)
}

// orderBefore is the place of a new cycle or module: 10000 before the first one.
func orderBefore(rows []stored) json.Number {
	if len(rows) == 0 {
		return float(firstOrder)
	}
	first := number(rows[0].row, "sort_order")
	for _, s := range rows {
		first = min(first, number(s.row, "sort_order"))
	}
	return float(first - 10000)
}

// dropSubLabels deletes the labels below one that is deleted, and takes it from
// the items that have it.
func (c *call) dropSubLabels(t *tx, r row) {
	project, id := text(r, "project"), text(r, "id")
	for _, s := range t.all(c.kinds.label, scope(project)) {
		if text(s.row, "parent") == id {
			t.remove(c.kinds.label, s)
			c.dropSubLabels(t, s.row)
		}
	}
	for _, k := range []*kind{c.kinds.workItem, c.kinds.hiddenItem} {
		for _, s := range t.all(k, scope(project)) {
			if slices.Contains(list(s.row, "labels"), id) {
				s.row["labels"] = filterIDs(s.row, "labels", func(label string) bool { return label != id })
				t.save(k, s)
			}
		}
	}
}
