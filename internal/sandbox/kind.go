package sandbox

import (
	"maps"
	"net/http"
	"slices"
)

// kind describes one sort of record: the fields that are shown, and the fields that may be written. Storing, showing and
// checking all follow this description. Its hooks hold everything that other kinds do differently.
type kind struct {
	name    string
	columns []string // fields that are shown
	hidden  []string // fields that are stored and not shown
	// computed lists the columns that are made when a row is shown.
	computed []string
	fields   []field // fields that a body may set
	indexes  []index
	// path is the path of the list, below the workspace, if the kind has only the routes that follow from its description.
	path string

	param       string               // the route's parameter with the ID
	scope       func(c *call) []byte // the list that the route names
	oldestFirst bool                 // lists are sorted from old to new
	status      int                  // of a creation, 201 if 0
	// refuseChange may refuse every change of a record. It must not write.
	refuseChange func(c *call, old row) *reply
	// created completes the row of a creation, in both APIs. It must not write.
	created func(c *call, t *tx, r row)
	// prepare completes the row of a creation or a change, or refuses it. old is nil for a creation. It must not write.
	prepare func(c *call, t *tx, old, r row) *reply
	// afterWrite follows a creation (old is nil) or a change, and may write.
	afterWrite func(c *call, t *tx, old, r row)
	// beforeDelete may refuse a deletion. It must not write.
	beforeDelete func(c *call, t *tx, r row) *reply
	// contents are kinds whose rows with the record as their scope are deleted with it.
	contents []**kind
	// afterDelete follows a deletion and may write.
	afterDelete func(c *call, t *tx, r row)
	// sort sorts a list; nil = by creation.
	sort func(a, b row) int
	// shared returns the records of the workspace that lists of a project also hold.
	shared func(c *call, t *tx) []stored
	// alwaysListed is a field that a list shows even if ?fields= does not name it.
	alwaysListed string
	// readWhole makes a read of one record show all fields, even if ?fields= is given.
	readWhole bool
	// failsAtNoObject makes the service fail if a body is no object, instead of refusing it.
	failsAtNoObject bool

	// readableArchived allows reads of records whose project is archived.
	readableArchived bool
	// hideFromReferences reports whether references to a record are refused, as if it did not exist; nil = never.
	hideFromReferences func(t *tx, r row) bool
	// patchColumns lists the fields that the community edition shows in the answer to a change; nil = all.
	patchColumns []string
	// show changes a row before it is shown; listed is false for the answer to a write.
	show func(c *call, t *tx, r row, listed bool) row

	stored    []string
	rows, ids []byte
}

// shownRow returns a row as answers show it.
func (k *kind) shownRow(c *call, t *tx, r row, listed bool) row {
	if k.show != nil {
		r = k.show(c, t, r, listed)
	}
	return k.visible(r)
}

// render returns a row with the fields that ?fields= names.
func (k *kind) render(c *call, t *tx, r row) row {
	r = k.shownRow(c, t, r, true)
	names := c.fields()
	if names != nil && k.alwaysListed != "" {
		names = append(names, k.alwaysListed)
	}
	return selectFields(r, names)
}

// isInArchivedProject reports whether the project of the route is archived. Then only cycles and modules are shown, but
// writes are still accepted.
func (c *call) isInArchivedProject(t *tx) bool { return c.kinds.isArchived(t, c.vars["project"]) }

// isArchived reports whether a project is archived.
func (ks *kinds) isArchived(t *tx, project string) bool {
	p, _ := t.get(ks.project, project)
	return p.row["archived_at"] != nil
}

// recordsIn returns the records of the list that a route names, in order of creation.
func (k *kind) recordsIn(c *call, t *tx) []stored {
	all := t.all(k, k.scope(c))
	if k.shared != nil && c.vars["project"] != "" {
		all = append(all, k.shared(c, t)...)
	}
	return all
}

// isAvailable reports whether a project can use a record, its own or one of the workspace.
func (k *kind) isAvailable(c *call, t *tx, id string) bool {
	return t.has(k, k.scope(c), id) || k.shared != nil && slices.ContainsFunc(k.recordsIn(c, t), func(s stored) bool { return text(s.row, "id") == id })
}

// list answers with a page of the list.
func (k *kind) list(c *call, t *tx) reply {
	if c.isInArchivedProject(t) {
		return pageOf(c, []row{})
	}
	return renderPage(c, c.ordered(t, func() []stored {
		all := k.recordsIn(c, t)
		if k.sort != nil {
			slices.SortStableFunc(all, func(a, b stored) int { return k.sort(a.row, b.row) })
		} else if !k.oldestFirst {
			slices.Reverse(all)
		}
		return all
	}), func(s stored) row { return k.render(c, t, s.row) })
}

// listNewest answers with the whole list of the workspace without pages, the newest first.
func (k *kind) listNewest(_ *call, t *tx) reply { return k.listAll(t.all(k, scope(workspaceID))) }

// listAll answers with rows without pages, the newest first.
func (k *kind) listAll(rows []stored) reply {
	out := []row{}
	for _, s := range slices.Backward(rows) {
		out = append(out, k.visible(s.row))
	}
	return reply{http.StatusOK, out}
}

// listWhole answers with the whole list as an array, in order of creation.
func (k *kind) listWhole(c *call, t *tx) reply { return reply{http.StatusOK, k.renderWhere(c, t, nil)} }

// renderWhere returns the rows of a list that pass a test, in order of creation; nil passes all rows.
func (k *kind) renderWhere(c *call, t *tx, pass func(row) bool) []row {
	out := []row{}
	for _, s := range k.recordsIn(c, t) {
		if pass == nil || pass(s.row) {
			out = append(out, k.render(c, t, s.row))
		}
	}
	return out
}

// check prepares a row, or refuses it.
func (k *kind) check(c *call, t *tx, old, r row) *reply {
	if old == nil && k.created != nil {
		k.created(c, t, r)
	}
	if k.prepare != nil {
		if refused := k.prepare(c, t, old, r); refused != nil {
			return refused
		}
	}
	return c.findClash(t, k, old, r)
}

// create creates a record from the body.
func (k *kind) create(c *call, t *tx) reply {
	if refused := c.notAnObject(); refused != nil && k.failsAtNoObject {
		return serverError()
	} else if refused != nil {
		return *refused
	}
	r, complaints := k.decode(t, c.in, false)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	c.setAudit(k, r)
	if refused := k.check(c, t, nil, r); refused != nil {
		return *refused
	}
	k.write(c, t, stored{}, r)
	status := k.status
	if status == 0 {
		status = http.StatusCreated
	}
	return reply{status, k.shownRow(c, t, r, false)}
}

// read answers with one record.
func (k *kind) read(c *call, t *tx) reply {
	s, ok := t.getWithin(k, k.scope(c), c.vars[k.param])
	if !ok || c.isInArchivedProject(t) && !k.readableArchived {
		return notFound()
	}
	if k.readWhole && !c.answersByContract() {
		return reply{http.StatusOK, k.shownRow(c, t, s.row, true)}
	}
	return reply{http.StatusOK, k.render(c, t, s.row)}
}

// change changes a record as the body says.
func (k *kind) change(c *call, t *tx) reply {
	if refused := c.notAnObject(); refused != nil && k.failsAtNoObject {
		return serverError()
	} else if refused != nil {
		return *refused
	}
	s, ok := t.getWithin(k, k.scope(c), c.vars[k.param])
	if !ok {
		return notFound()
	}
	if k.refuseChange != nil {
		if refused := k.refuseChange(c, s.row); refused != nil {
			return *refused
		}
	}
	set, complaints := k.decode(t, c.in, true)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	r := clone(s.row)
	maps.Copy(r, set)
	r["updated_at"] = c.stamp()
	r["updated_by"] = c.user
	if refused := k.check(c, t, s.row, r); refused != nil {
		return *refused
	}
	k.write(c, t, s, r)
	answer := k.shownRow(c, t, r, false)
	if k.patchColumns != nil && c.isCommunity() {
		answer = selectFields(answer, k.patchColumns)
	}
	return reply{http.StatusOK, answer}
}

// remove deletes a record, unless its kind refuses.
func (k *kind) remove(c *call, t *tx) reply {
	s, ok := t.getWithin(k, k.scope(c), c.vars[k.param])
	if !ok {
		return notFound()
	}
	if k.beforeDelete != nil {
		if refused := k.beforeDelete(c, t, s.row); refused != nil {
			return *refused
		}
	}
	k.deleteRow(c, t, s)
	return reply{status: http.StatusNoContent}
}

// write stores a new or a changed row and runs the hook that follows a write.
func (k *kind) write(c *call, t *tx, there stored, r row) {
	if there.key == nil {
		t.insert(k, k.scope(c), r)
	} else {
		t.save(k, stored{there.key, r})
	}
	if k.afterWrite != nil {
		k.afterWrite(c, t, there.row, r)
	}
}

// deleteRow deletes a row and runs the hook that follows a deletion.
func (k *kind) deleteRow(c *call, t *tx, s stored) {
	t.remove(k, s)
	for _, content := range k.contents {
		c.clear(t, *content, text(s.row, "id"))
	}
	if k.afterDelete != nil {
		k.afterDelete(c, t, s.row)
	}
}

// setAudit sets the columns that every new record has, and makes its other missing columns null.
func (c *call) setAudit(k *kind, r row) {
	r["id"] = c.newID()
	r["created_at"] = c.stamp()
	r["updated_at"] = c.stamp()
	r["workspace"] = workspaceID
	if r["created_by"] == nil {
		r["created_by"] = c.user
	}
	if id, ok := c.vars["project"]; ok {
		r["project"] = id
	}
	k.fillNull(r)
}

// fillNull sets missing columns of a row to null.
func (k *kind) fillNull(r row) {
	for _, name := range k.columns {
		if _, ok := r[name]; !ok && !slices.Contains(k.computed, name) {
			r[name] = nil
		}
	}
}
