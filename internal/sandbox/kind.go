package sandbox

import (
	"maps"
	"net/http"
	"slices"
)

// kind is one sort of record: the fields that are shown, and what may be written
// into it. Kinds are the only description of a record; storing, showing and
// checking all follow them. What one kind does differently from the next is in its hooks.
type kind struct {
	name    string
	columns []string // fields that are shown
	hidden  []string // fields that are only kept
	// computed is those columns that are not kept but made when shown.
	computed []string
	fields   []field // fields that a body may set
	indexes  []index
	// path is that of the list, below the workspace, of a kind whose routes are just those of its description.
	path string

	param       string               // the route's parameter that holds the id
	scope       func(c *call) []byte // the list that the route stands for
	oldestFirst bool                 // lists run from old to new
	status      int                  // of a creation, 201 if 0
	// fixed refuses to change a record, whatever the change; it may look but not write.
	fixed func(c *call, old row) *reply
	// prepare completes the row of a creation or a change, or refuses it. old
	// is nil for a creation. It may look but not write.
	prepare func(c *call, t *tx, old, r row) *reply
	// afterWrite follows a creation (old is nil) or a change, and may write.
	afterWrite func(c *call, t *tx, old, r row)
	// beforeDelete is asked before a deletion and may refuse it; it may look but
	// not write.
	beforeDelete func(c *call, t *tx, r row) *reply
	// afterDelete follows a deletion and may write.
	afterDelete func(c *call, t *tx, r row)
	// sort orders a list, where creation is not its order.
	sort func(a, b row) int
	// shared is the records of the workspace that lists of a project have beside its own.
	shared func(c *call, t *tx) []stored
	// alwaysListed is a field that a list shows whatever ?fields= names.
	alwaysListed string
	// readWhole says that a read of one record shows all of it, whatever ?fields= asks for.
	readWhole bool
	// failsAtNoObject says that the service fails at a body that is no object, in place of a refusal.
	failsAtNoObject bool

	// readableArchived says that records are still read when their project is archived.
	readableArchived bool
	// unnamed says of a record that no other one can name it, as if it were not there; nil = of none.
	unnamed func(t *tx, r row) bool
	// patchColumns is the fields that the community edition shows in the answer to a
	// change; nil is all.
	patchColumns []string
	// show makes what is answered of a row; listed tells a list or a read
	// from the answer to a write.
	show func(c *call, t *tx, r row, listed bool) row

	all       []string
	rows, ids []byte
}

func (k *kind) shown(c *call, t *tx, r row, listed bool) row {
	if k.show != nil {
		r = k.show(c, t, r, listed)
	}
	return k.visible(r)
}

// render applies ?fields= to a row.
func (k *kind) render(c *call, t *tx, r row) row {
	r = k.shown(c, t, r, true)
	names := c.fields()
	if names != nil && k.alwaysListed != "" {
		names = append(names, k.alwaysListed)
	}
	return selectFields(r, names)
}

// inArchivedProject says whether the project of the route is archived: but for cycles
// and modules it shows nothing then, while it still takes what is written to it.
func (c *call) inArchivedProject(t *tx) bool { return c.kinds.archived(t, c.vars["project"]) }

// archived says whether a project is.
func (k *kinds) archived(t *tx, project string) bool {
	if project == "" {
		return false
	}
	p, ok := t.get(k.project, project)
	return ok && p.row["archived_at"] != nil
}

// within is the records of the list that a route stands for, in order of creation.
func (k *kind) within(c *call, t *tx) []stored {
	all := t.all(k, k.scope(c))
	if k.shared != nil && c.vars["project"] != "" {
		all = append(all, k.shared(c, t)...)
	}
	return all
}

// available says whether a project has a record, its own or one of the workspace.
func (k *kind) available(c *call, t *tx, id string) bool {
	return t.has(k, k.scope(c), id) || k.shared != nil && slices.ContainsFunc(k.within(c, t), func(s stored) bool { return text(s.row, "id") == id })
}

func (k *kind) list(c *call, t *tx) reply {
	if c.inArchivedProject(t) {
		return pageOf(c, []row{})
	}
	return renderPage(c, c.ordered(t, func() []stored {
		all := k.within(c, t)
		if k.sort != nil {
			slices.SortStableFunc(all, func(a, b stored) int { return k.sort(a.row, b.row) })
		} else if !k.oldestFirst {
			slices.Reverse(all)
		}
		return all
	}), func(s stored) row { return k.render(c, t, s.row) })
}

// where is the rows of a list that pass a test, all if it is nil, in order of creation.
func (k *kind) where(c *call, t *tx, pass func(row) bool) []row {
	out := []row{}
	for _, s := range k.within(c, t) {
		if pass == nil || pass(s.row) {
			out = append(out, k.render(c, t, s.row))
		}
	}
	return out
}

// check prepares a row, or refuses it.
func (k *kind) check(c *call, t *tx, old, r row) *reply {
	if k.prepare != nil {
		if refused := k.prepare(c, t, old, r); refused != nil {
			return refused
		}
	}
	return c.clash(t, k, old, r)
}

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
	return reply{status, k.shown(c, t, r, false)}
}

func (k *kind) read(c *call, t *tx) reply {
	s, ok := t.in(k, k.scope(c), c.vars[k.param])
	if !ok || c.inArchivedProject(t) && !k.readableArchived {
		return notFound()
	}
	if k.readWhole && !c.contract() {
		return reply{http.StatusOK, k.shown(c, t, s.row, true)}
	}
	return reply{http.StatusOK, k.render(c, t, s.row)}
}

func (k *kind) change(c *call, t *tx) reply {
	if refused := c.notAnObject(); refused != nil && k.failsAtNoObject {
		return serverError()
	} else if refused != nil {
		return *refused
	}
	s, ok := t.in(k, k.scope(c), c.vars[k.param])
	if !ok {
		return notFound()
	}
	if k.fixed != nil {
		if refused := k.fixed(c, s.row); refused != nil {
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
	answer := k.shown(c, t, r, false)
	if k.patchColumns != nil && c.community() {
		answer = selectFields(answer, k.patchColumns)
	}
	return reply{http.StatusOK, answer}
}

func (k *kind) remove(c *call, t *tx) reply {
	s, ok := t.in(k, k.scope(c), c.vars[k.param])
	if !ok {
		return notFound()
	}
	if k.beforeDelete != nil {
		if refused := k.beforeDelete(c, t, s.row); refused != nil {
			return *refused
		}
	}
	k.drop(c, t, s)
	return reply{status: http.StatusNoContent}
}

// write stores a new row, or the changes of one that is there, and what follows from it.
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

// drop deletes a row, and what hangs on it.
func (k *kind) drop(c *call, t *tx, s stored) {
	t.remove(k, s)
	if k.afterDelete != nil {
		k.afterDelete(c, t, s.row)
	}
}

// setAudit gives a row the columns that every new record has; those of the kind
// that nobody has set are null.
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

// fillNull makes the columns null that a row does not have.
func (k *kind) fillNull(r row) {
	for _, name := range k.columns {
		if _, ok := r[name]; !ok && !slices.Contains(k.computed, name) {
			r[name] = nil
		}
	}
}
