package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// resource is a kind with a place under a route: what is needed to list,
// create, read, change and delete it. What one kind does differently from the
// next is in its hooks.
type resource struct {
	kind   *kind
	param  string               // the route's parameter that holds the id
	scope func(c *call) []byte // the list that the route stands for
	oldestFirst bool                 // lists run from old to new
	status int                  // of a creation, 201 if 0
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
	// alwaysListed is a field that a list shows whatever ?fields= names.
	alwaysListed string
	// readableArchived says that records are still read when their project is archived.
	readableArchived bool
	// patchColumns is the fields that the community edition shows in the answer to a
	// change; nil is all.
	patchColumns []string
	// show makes what is answered of a row; listed tells a list or a read
	// from the answer to a write.
	show func(c *call, t *tx, r row, listed bool) row
}

// asDescribed is a kind that does nothing differently from the others.
func asDescribed(k *kind) *resource {
	within := inWorkspace
	if strings.HasPrefix(k.path, "projects/{project}/") {
		within = inProject
	}
	return &resource{kind: k, param: "id", scope: within}
}

func (res *resource) shown(c *call, t *tx, r row, listed bool) row {
	if res.show != nil {
		r = res.show(c, t, r, listed)
	}
	return res.kind.visible(r)
}

// render applies ?expand= and ?fields= to a row.
func (res *resource) render(c *call, t *tx, r row) row {
	r = res.shown(c, t, r, true)
	if names := c.expands(); names != nil {
		r = res.kind.visible(c.expand(t, r, names))
	}
	names := c.fields()
	if names != nil && res.alwaysListed != "" {
		names = append(names, res.alwaysListed)
	}
	return selectFields(r, names)
}

// inArchivedProject says whether the project of the route is archived: but for cycles
// and modules it shows nothing then, while it still takes what is written to it.
func (c *call) inArchivedProject(t *tx) bool {
	id := c.vars["project"]
	if id == "" {
		return false
	}
	p, ok := t.get(c.kinds.project, id)
	return ok && p.row["archived_at"] != nil
}

func (res *resource) list(c *call, t *tx) reply {
	if c.inArchivedProject(t) {
		return pageOf(c, []row{})
	}
	in := res.scope(c)
	if res.sort != nil {
		all := t.all(res.kind, in)
		slices.SortStableFunc(all, func(a, b stored) int { return res.sort(a.row, b.row) })
		return renderPage(c, all, func(s stored) row { return res.render(c, t, s.row) })
	}
	return c.paged(t.count(res.kind, in), func(skip, size int) any { return res.page(c, t, in, skip, size) })
}

// page reads part of a list.
func (res *resource) page(c *call, t *tx, in []byte, skip, size int) any {
	out := []row{}
	take := func(_, value []byte) bool {
		if skip--; skip >= 0 {
			return true
		}
		if len(out) == size {
			return false
		}
		r, err := decodeRow(value)
		must(err)
		out = append(out, res.render(c, t, r))
		return true
	}
	if res.oldestFirst {
		t.each(res.kind, in, take)
	} else {
		t.newest(res.kind, in, take)
	}
	return out
}

// check prepares a row, and says what speaks against it.
func (res *resource) check(c *call, t *tx, old, r row) *reply {
	if res.prepare != nil {
		if refused := res.prepare(c, t, old, r); refused != nil {
			return refused
		}
	}
	return c.clash(t, res.kind, old, r)
}

func (res *resource) create(c *call, t *tx) reply {
	if _, ok := c.body.(row); !ok {
		return serverError()
	}
	r, complaints := res.kind.decode(t, c.in, false)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	c.setAudit(res.kind, r)
	if refused := res.check(c, t, nil, r); refused != nil {
		return *refused
	}
	t.insert(res.kind, res.scope(c), r)
	if res.afterWrite != nil {
		res.afterWrite(c, t, nil, r)
	}
	status := res.status
	if status == 0 {
		status = http.StatusCreated
	}
	return reply{status, res.shown(c, t, r, false)}
}

func (res *resource) read(c *call, t *tx) reply {
	s, ok := t.in(res.kind, res.scope(c), c.vars[res.param])
	if !ok || c.inArchivedProject(t) && !res.readableArchived {
		return notFound()
	}
	return reply{http.StatusOK, res.render(c, t, s.row)}
}

func (res *resource) change(c *call, t *tx) reply {
	if _, ok := c.body.(row); !ok {
		return serverError()
	}
	s, ok := t.in(res.kind, res.scope(c), c.vars[res.param])
	if !ok {
		return notFound()
	}
	set, complaints := res.kind.decode(t, c.in, true)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	r := clone(s.row)
	maps.Copy(r, set)
	r["updated_at"] = c.stamp()
	r["updated_by"] = c.user
	if refused := res.check(c, t, s.row, r); refused != nil {
		return *refused
	}
	t.save(res.kind, stored{s.key, r})
	if res.afterWrite != nil {
		res.afterWrite(c, t, s.row, r)
	}
	answer := res.shown(c, t, r, false)
	if res.patchColumns != nil && c.community() {
		answer = selectFields(answer, res.patchColumns)
	}
	return reply{http.StatusOK, answer}
}

func (res *resource) remove(c *call, t *tx) reply {
	s, ok := t.in(res.kind, res.scope(c), c.vars[res.param])
	if !ok {
		return notFound()
	}
	if res.beforeDelete != nil {
		if refused := res.beforeDelete(c, t, s.row); refused != nil {
			return *refused
		}
	}
	t.remove(res.kind, s)
	if res.afterDelete != nil {
		res.afterDelete(c, t, s.row)
	}
	return reply{status: http.StatusNoContent}
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
	for _, name := range k.columns {
		if _, ok := r[name]; !ok && !slices.Contains(k.computed, name) {
			r[name] = nil
		}
	}
}
