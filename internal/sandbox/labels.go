package sandbox

import (
	"encoding/json"
	"slices"
)

func (k *kinds) labels() {
	k.label = k.add(&kind{
		name: "label",
		columns: audit("name", "description", "color", "sort_order", "external_source", "external_id", "created_by", "updated_by", "workspace",
			"project", "parent"),
		indexes: []index{
			uniqueName("label", "project", "Label with the same name already exists in the project"),
			uniqueExternalID("label", "project", "Label"),
		},
		fields: append([]field{
			{name: "name", required: true, check: line()},
			{name: "description", check: prose(), initial: ""},
			{name: "color", check: str(255, true), initial: ""},
			{name: "sort_order", check: real, derived: true},
			{name: "parent", ref: &k.label, null: true},
		}, external()...),
		param: "label", scope: inProject, readWhole: true,
		prepare: func(c *call, t *tx, old, r row) *reply {
			project := text(r, "project")
			if t.find(c.kinds.project, project) == nil && !c.wasProject(t, project) {
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

// listLabels shows those of a project to its members only, and to others that there are none.
func listLabels(labels *kind) handler {
	return func(c *call, t *tx) reply {
		if c.outsideProject(t) {
			return pageOf(c, []row{})
		}
		return labels.list(c, t)
	}
}

// readLabel finds none in a project for who is not in it, though that person may make, change and delete them.
func readLabel(labels *kind) handler {
	return func(c *call, t *tx) reply {
		if c.outsideProject(t) {
			return notFound()
		}
		return labels.read(c, t)
	}
}

// outsideProject says whether whoever asks is not in the project of the route.
func (c *call) outsideProject(t *tx) bool {
	id := c.vars["project"]
	return projectRole(t, id, c.user) == 0 && !(c.wasProject(t, id) && t.index("ever joined", id, c.user) != "")
}

// wasProject says whether an ID is that of a project which was deleted: the community edition still makes labels there.
func (c *call) wasProject(t *tx, id string) bool {
	return c.community() && t.index("deleted project", id) != ""
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
	if n, ok := given.(json.Number); ok && len(rows) == 0 {
		return n
	}
	return placed(rows, 10000)
}

// orderBefore is the place of a new cycle or module: 10000 before the first one.
func orderBefore(rows []stored) json.Number { return placed(rows, -10000) }

// placed is the place step behind the last of the rows, or, for a negative one, before the first.
func placed(rows []stored, step float64) json.Number {
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

// dropSubLabels deletes the labels below one that is deleted, and takes it from
// the items that have it.
func (c *call) dropSubLabels(t *tx, r row) {
	project, id := text(r, "project"), text(r, "id")
	for _, s := range t.all(c.kinds.label, scope(project)) {
		if text(s.row, "parent") == id {
			c.kinds.label.drop(c, t, s)
		}
	}
	c.takeFromItems(t, scope(project), "labels", id)
}
