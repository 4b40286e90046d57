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
	within func(c *call) []byte // the list that the route stands for
	oldest bool                 // lists run from old to new
	status int                  // of a creation, 201 if 0
	// prepare completes the row of a creation or a change, or refuses it. old
	// is nil for a creation. It may look but not write.
	prepare func(c *call, t *tx, old, r row) *reply
	// written follows a creation (old is nil) or a change, and may write.
	written func(c *call, t *tx, old, r row)
	// removing is asked before a deletion and may refuse it; it may look but
	// not write.
	removing func(c *call, t *tx, r row) *reply
	// removed follows a deletion and may write.
	removed func(c *call, t *tx, r row)
	// sort orders a list, where creation is not its order.
	sort func(a, b row) int
	// always is a field that a list shows whatever ?fields= names.
	always string
	// outlasts says that records are still read when their project is archived.
	outlasts bool
	// changed is the fields that the community edition shows in the answer to a
	// change; nil is all.
	changed []string
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
	return &resource{kind: k, param: "id", within: within}
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
	if names != nil && res.always != "" {
		names = append(names, res.always)
	}
	return only(r, names)
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
	in := res.within(c)
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
	if res.oldest {
		t.each(res.kind, in, take)
	} else {
		t.newest(res.kind, in, take)
	}
	return out
}

// refuse prepares a row, and says what speaks against it.
func (res *resource) refuse(c *call, t *tx, old, r row) *reply {
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
	r, complaints := res.kind.read(t, c.in, false)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	c.fresh(res.kind, r)
	if refused := res.refuse(c, t, nil, r); refused != nil {
		return *refused
	}
	t.insert(res.kind, res.within(c), r)
	if res.written != nil {
		res.written(c, t, nil, r)
	}
	status := res.status
	if status == 0 {
		status = http.StatusCreated
	}
	return reply{status, res.shown(c, t, r, false)}
}

func (res *resource) read(c *call, t *tx) reply {
	s, ok := t.in(res.kind, res.within(c), c.vars[res.param])
	if !ok || c.inArchivedProject(t) && !res.outlasts {
		return notFound()
	}
	return reply{http.StatusOK, res.render(c, t, s.row)}
}

func (res *resource) change(c *call, t *tx) reply {
	if _, ok := c.body.(row); !ok {
		return serverError()
	}
	s, ok := t.in(res.kind, res.within(c), c.vars[res.param])
	if !ok {
		return notFound()
	}
	set, complaints := res.kind.read(t, c.in, true)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	r := clone(s.row)
	maps.Copy(r, set)
	r["updated_at"] = c.stamp()
	r["updated_by"] = c.user
	if refused := res.refuse(c, t, s.row, r); refused != nil {
		return *refused
	}
	t.save(res.kind, stored{s.key, r})
	if res.written != nil {
		res.written(c, t, s.row, r)
	}
	answer := res.shown(c, t, r, false)
	if res.changed != nil && c.community() {
		answer = only(answer, res.changed)
	}
	return reply{http.StatusOK, answer}
}

func (res *resource) remove(c *call, t *tx) reply {
	s, ok := t.in(res.kind, res.within(c), c.vars[res.param])
	if !ok {
		return notFound()
	}
	if res.removing != nil {
		if refused := res.removing(c, t, s.row); refused != nil {
			return *refused
		}
	}
	t.remove(res.kind, s)
	if res.removed != nil {
		res.removed(c, t, s.row)
	}
	return reply{status: http.StatusNoContent}
}

// fresh gives a row the columns that every new record has; those of the kind
// that nobody has set are null.
func (c *call) fresh(k *kind, r row) {
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
