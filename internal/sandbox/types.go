package sandbox

import (
	"net/http"
	"slices"
)

func (ks *kinds) describeItemTypes() {
	ks.itemType = ks.add(&kind{
		name: "work_item_type",
		columns: audit("name description logo_props is_epic is_default is_active level external_source external_id created_by " +
			"updated_by workspace project"),
		indexes: []index{uniqueExternalID("work_item_type", "project", "Work item type")},
		fields:  bodyFields("name*=line description=prose is_epic=off is_active=on" + externalPair),
		param:   "type", scope: inLevel, oldestFirst: true, shared: (*call).importedTypes,
		afterDelete: func(c *call, t *tx, r row) {
			for _, p := range t.all(ks.itemProperty, inLevel(c)) {
				switch types := list(p.row, "types"); {
				case !slices.Contains(types, text(r, "id")):
				case r["project"] != nil && len(types) == 1:
					ks.itemProperty.deleteRow(c, t, p)
				default:
					p.row["types"] = filterIDs(p.row, "types", func(id string) bool { return id != r["id"] })
					t.save(ks.itemProperty, p)
				}
			}
			var in []byte // a type of the workspace can be used in all projects
			if r["project"] != nil {
				in = scope(text(r, "project"))
			}
			for _, name := range []string{"type", "type_id"} {
				c.removeFromItems(t, in, name, text(r, "id"))
			}
		},
		created: func(c *call, t *tx, r row) {
			r["is_default"], r["level"], r["logo_props"] = t.count(ks.itemType, inLevel(c)) == 0, 0, row{}
		},
	})
}

// listTypes answers with a bare array, as the service's own SDK reads it.
func listTypes(c *call, t *tx) reply {
	if c.answersByContract() {
		return c.kinds.itemType.list(c, t)
	}
	return c.kinds.itemType.listWhole(c, t)
}

// describeEstimates adds the kinds of estimates. A project has at most one, so the routes need no ID.
func (ks *kinds) describeEstimates() {
	ks.estimate = ks.add(&kind{
		name:    "estimate",
		columns: audit("name description type last_used external_source external_id created_by updated_by project workspace"),
		fields: bodyFields("name*=line description=prose last_used=off"+externalPair,
			field{name: "type", check: choice("points", "categories", "time"), initial: "points", frozen: true},
		),
		param: "estimate", scope: inProject,
		prepare: func(c *call, t *tx, old, _ row) *reply {
			if old == nil && t.count(c.kinds.estimate, inProject(c)) > 0 {
				return new(refuse(http.StatusConflict, "error", "An estimate already exists in the project"))
			}
			return nil
		},
	})
}

// estimate returns the estimate of the route's project.
func (c *call) estimate(t *tx) (stored, bool) {
	found := t.all(c.kinds.estimate, inProject(c))
	if len(found) == 0 {
		return stored{}, false
	}
	c.vars["estimate"] = text(found[0].row, "id")
	return found[0], true
}

func readEstimate(c *call, t *tx) reply {
	s, ok := c.estimate(t)
	if !ok {
		return notFound()
	}
	return reply{http.StatusOK, c.kinds.estimate.visible(s.row)}
}

func changeEstimate(c *call, t *tx) reply {
	if _, ok := c.estimate(t); !ok {
		return notFound()
	}
	return c.kinds.estimate.change(c, t)
}

func inEstimate(c *call) []byte { return scope(c.vars["estimate"]) }

func (ks *kinds) describeEstimatePoints() {
	ks.estimatePoint = ks.add(&kind{
		name:    "estimate_point",
		columns: audit("key description value external_source external_id created_by updated_by project workspace estimate"),
		fields: bodyFields("description=prose"+externalPair,
			field{name: "key", check: whole(0, 12), initial: integer(0)},
			field{name: "value", required: true, check: str(255, false)},
		),
		param: "point", scope: inEstimate, oldestFirst: true,
		afterDelete: func(c *call, t *tx, r row) {
			c.removeFromItems(t, scope(text(r, "project")), "estimate_point", text(r, "id"))
		},
	})
}

func createPoints(c *call, t *tx) reply {
	if _, ok := t.getWithin(c.kinds.estimate, inProject(c), c.vars["estimate"]); !ok {
		return notFound()
	}
	given, ok := c.in["estimate_points"].([]any)
	if !ok || len(given) == 0 {
		return refuse(http.StatusBadRequest, "error", "Estimate points are required")
	}
	k, rows, out := c.kinds.estimatePoint, []row{}, []row{}
	for _, v := range given {
		in, _ := v.(row)
		r, complaints := k.decode(t, in, false)
		if len(complaints) > 0 {
			return invalid(complaints)
		}
		rows = append(rows, r)
	}
	for _, r := range rows {
		c.setAudit(k, r)
		r["estimate"] = c.vars["estimate"]
		t.insert(k, inEstimate(c), r)
		out = append(out, k.visible(r))
	}
	return reply{http.StatusCreated, out}
}

// estimatePointField returns the field that names an estimate point. The documentation has a number of points from 0 to 7
// instead, as a string.
func (ks *kinds) estimatePointField() field {
	f := field{name: "estimate_point", null: true, ref: &ks.estimatePoint}
	if ks.documented {
		f.ref, f.check = nil, choice(names("0 1 2 3 4 5 6 7")...)
	}
	return f
}
