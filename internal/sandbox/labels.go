package sandbox

import (
	"encoding/json"
	"slices"
)

// describeLabels adds the kinds of the labels of projects.
func (ks *kinds) describeLabels() {
	ks.label = ks.add(&kind{
		name:    "label",
		columns: audit("name description color sort_order external_source external_id created_by updated_by workspace project parent"),
		indexes: []index{
			uniqueName("label", "project", "Label with the same name already exists in the project"),
			uniqueExternalID("label", "project", "Label"),
		},
		fields: bodyFields("name*=line description=prose color=text"+externalPair,
			field{name: "sort_order", check: real, derived: true},
			field{name: "parent", ref: &ks.label, null: true},
		),
		param: "label", scope: inProject, readWhole: true,
		prepare: func(c *call, t *tx, old, r row) *reply {
			project := text(r, "project")
			if t.find(c.kinds.project, project) == nil && !c.wasDeletedProject(t, project) {
				return new(notFound())
			}
			if old == nil {
				r["sort_order"] = nextOrder(t.all(c.kinds.label, scope(project)), r["sort_order"])
			}
			return nil
		},
		afterDelete: (*call).dropSubLabels,
	})
}

// listLabels lists the labels of a project. Users outside the project get an empty list.
func listLabels(c *call, t *tx) reply {
	if c.isOutsideProject(t) {
		return pageOf(c, []row{})
	}
	return c.kinds.label.list(c, t)
}

// readLabel hides labels from users outside the project, who may still create, change and delete them.
func readLabel(c *call, t *tx) reply {
	if c.isOutsideProject(t) {
		return notFound()
	}
	return c.kinds.label.read(c, t)
}

// isOutsideProject reports whether the user is not in the project of the route.
func (c *call) isOutsideProject(t *tx) bool {
	id := c.vars["project"]
	return projectRole(t, id, c.user) == 0 && !(c.wasDeletedProject(t, id) && t.index("ever joined", id, c.user) != "")
}

// wasDeletedProject reports whether a deleted project had the ID. The community edition still creates labels in it.
func (c *call) wasDeletedProject(t *tx, id string) bool {
	return c.isCommunity() && t.index("deleted project", id) != ""
}

// unlessArchived wraps a handler that finds nothing in an archived project.
func unlessArchived(h handler) handler {
	return func(c *call, t *tx) reply {
		if c.isInArchivedProject(t) {
			return notFound()
		}
		return h(c, t)
	}
}

// firstOrder is the sort order of the first record of a list, unless its body gives another.
const firstOrder = 65535

// nextOrder returns the sort order of a new record, 10000 after the last one. Only the first record takes the order in its body.
func nextOrder(rows []stored, given any) json.Number {
	if n, ok := given.(json.Number); ok && len(rows) == 0 {
		return n
	}
	return orderBeyond(rows, 10000)
}

// orderBefore returns the sort order of a new cycle or module, 10000 before the first one.
func orderBefore(rows []stored) json.Number { return orderBeyond(rows, -10000) }

// orderBeyond returns a sort order step after the last of the rows, or before the first if step is negative.
func orderBeyond(rows []stored, step float64) json.Number {
	if len(rows) == 0 {
		return float(firstOrder)
	}
	places := make([]float64, len(rows))
	for i, s := range rows {
		places[i] = number(s.row, "sort_order")
	}
	if step < 0 {
		return float(slices.Min(places) + step)
	}
	return float(slices.Max(places) + step)
}

// dropSubLabels deletes the labels below a deleted label, and removes the label from all items.
func (c *call) dropSubLabels(t *tx, r row) {
	project, id := text(r, "project"), text(r, "id")
	for _, s := range t.all(c.kinds.label, scope(project)) {
		if text(s.row, "parent") == id {
			c.kinds.label.deleteRow(c, t, s)
		}
	}
	c.removeFromItems(t, scope(project), "labels", id)
}
