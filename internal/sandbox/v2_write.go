package sandbox

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// writeV2 is one record that is being written.
type writeV2 struct {
	*call
	t   *tx
	res *resourceV2

	body    row // as sent, but with IDs instead of names
	old     row // nil for a new record
	r       row
	set     map[string]bool // fields that the body sets
	given   row             // values of fields that are not columns of the row, such as cycle_id
	errors  []fieldError
	problem *problem // other than wrong fields
}

func (w *writeV2) addError(field, code, format string, args ...any) {
	w.errors = append(w.errors, fieldError{field, code, fmt.Sprintf(format, args...)})
}

// refused returns the problem with the write, or nil.
func (w *writeV2) refused() *problem {
	if len(w.errors) > 0 {
		return invalidV2(w.errors...)
	}
	return w.problem
}

// decode reads the body into the row.
func (w *writeV2) decode() {
	for _, f := range w.res.fields {
		if f.field == nil {
			continue // read-only
		}
		value, given, complaint := f.field.read(w.t, w.body, f.name, f.required && w.old == nil, f.null || f.nullOnUpdate && w.old != nil)
		if complaint == nil && given {
			complaint = f.referenceComplaint(w, value)
		}
		if complaint != nil {
			w.errors = append(w.errors, complaintV2(f.name, complaint))
		} else if given {
			w.set[f.name] = true
			w.put(f, value)
		}
	}
	for name := range w.body {
		if slices.Contains(strings.Fields(w.res.unserved), name) {
			w.problem = &problem{status: http.StatusNotImplemented, detail: fmt.Sprintf("The sandbox does not know the field %q, which the real service has.", name)}
			if _, both := w.body[name+"_id"]; both {
				w.addError(name, "invalid", "Send %s or %s_id, not both.", name, name)
			}
		}
		if w.opts.Strict && w.res.byName[name] == nil && name != "id" {
			w.addError(name, "invalid", "Unknown field.")
		}
	}
}

func (w *writeV2) put(f *fieldV2, value any) {
	if w.res.computed[f.name] != nil {
		w.given[f.name] = value
		return
	}
	w.r[f.column] = value
}

// checkDates refuses an end before the start_date.
func (w *writeV2) checkDates(end string) {
	a, b := text(w.r, "start_date"), text(w.r, end)
	if a != "" && b != "" && a > b {
		w.addError(end, "invalid", "%s cannot be before start_date.", end)
	}
}

// writeProblem returns the problem of every write to the collection, or nil.
func (rv *resourceV2) writeProblem(c *call, t *tx) *problem {
	if rv.refuseWrites == nil {
		return nil
	}
	return rv.refuseWrites(c, t)
}

// create stores a new record.
func (rv *resourceV2) create(c *call, t *tx, body row) (row, *problem) {
	if p := rv.writeProblem(c, t); p != nil {
		return nil, p
	}
	w := &writeV2{call: c, t: t, res: rv, body: maps.Clone(body), r: row{}, set: map[string]bool{}, given: row{}}
	for _, f := range rv.kind.fields {
		if f.initial != nil && !f.derived {
			w.r[f.name] = f.initial
		}
	}
	c.setAudit(rv.kind, w.r)
	if p := w.check(); p != nil {
		return nil, p
	}
	if rv.store != nil {
		rv.store(w)
	} else {
		rv.kind.write(c, t, stored{}, w.r)
	}
	return w.finish(), nil
}

// update stores the changes of a record.
func (rv *resourceV2) update(c *call, t *tx, s stored, body row) (row, *problem) {
	if p := rv.writeProblem(c, t); p != nil {
		return nil, p
	}
	w := &writeV2{call: c, t: t, res: rv, body: maps.Clone(body), old: s.row, r: clone(s.row), set: map[string]bool{}, given: row{}}
	w.r["updated_at"], w.r["updated_by"] = c.stamp(), c.user
	c.vars[rv.kind.param] = text(s.row, "id")
	if p := w.check(); p != nil {
		return nil, p
	}
	rv.kind.write(c, t, s, w.r)
	return w.finish(), nil
}

// check checks the row and does not write, so that a refused row leaves nothing behind.
func (w *writeV2) check() *problem {
	if w.opts.IgnoreMembership {
		maps.DeleteFunc(w.body, func(name string, _ any) bool {
			return slices.Contains([]string{"cycle_id", "module_ids", "custom_fields"}, name)
		})
	}
	w.decode()
	if w.old == nil && w.res.kind.created != nil {
		w.res.kind.created(w.call, w.t, w.r)
	}
	if w.res.prepare != nil {
		w.res.prepare(w)
	}
	if name := w.res.unique; name != "" && w.refused() == nil {
		column := w.res.byName[name].column
		for _, s := range w.t.all(w.res.kind, w.res.kind.scope(w.call)) {
			if s.row["id"] != w.r["id"] && s.row[column] == w.r[column] && w.r[column] != "" {
				w.problem = conflictV2(fmt.Sprintf("A %s with this %s already exists.", w.res.name, name))
				w.problem.errors = []fieldError{{name, "unique", w.problem.detail}}
			}
		}
	}
	if w.refused() == nil && w.set["external_id"] && w.res.kind != w.kinds.comment && w.findClash(w.t, w.res.kind, nil, w.r) != nil {
		w.problem = conflictV2(fmt.Sprintf("A %s with this external_id already exists.", w.res.name))
		w.problem.errors = []fieldError{{"external_id", "unique", w.problem.detail}}
	}
	return w.refused()
}

// finish runs the last hook, and returns the row after it.
func (w *writeV2) finish() row {
	if w.res.after != nil {
		w.res.after(w)
	}
	s, _ := w.t.get(w.res.kind, text(w.r, "id"))
	return s.row
}

func (rv *resourceV2) remove(c *call, t *tx, id string) *problem {
	if p := rv.writeProblem(c, t); p != nil {
		return p
	}
	s, wrong := rv.find(c, t, id)
	if wrong != nil {
		return wrong
	}
	c.vars[rv.kind.param] = id
	if rv.refuse != nil {
		if p := rv.refuse(c, t, s.row); p != nil {
			return p
		}
	}
	rv.kind.deleteRow(c, t, s)
	return nil
}

// answerOne answers a write of one record. It writes only if the selection of fields is valid.
func (rv *resourceV2) answerOne(c *call, t *tx, status int, write func() (row, *problem)) reply {
	sel, wrong := rv.selection(c, false)
	if wrong != nil {
		return wrong.reply()
	}
	r, wrong := write()
	if wrong != nil {
		if wrong.status != http.StatusBadRequest {
			wrong.errors = nil
		}
		return wrong.reply()
	}
	return reply{status, rv.render(c, t, r, sel)}
}

func (rv *resourceV2) createOne(c *call, t *tx) reply {
	if rv.perID != "" {
		return rv.createEach(c, t)
	}
	return rv.withSecret(t, http.StatusCreated, rv.answerOne(c, t, http.StatusCreated, func() (row, *problem) { return rv.create(c, t, c.in) }))
}

// withSecret adds the field that no other answer shows, if the answer has the status.
func (rv *resourceV2) withSecret(t *tx, status int, answer reply) reply {
	if shown, ok := answer.body.(row); ok && rv.secret != nil && answer.status == status {
		name, value := rv.secret(t, text(shown, "id"))
		shown[name] = value
	}
	return answer
}

func (rv *resourceV2) updateOne(c *call, t *tx) reply {
	s, wrong := rv.find(c, t, c.vars[rv.kind.param])
	if wrong != nil {
		return wrong.reply()
	}
	return rv.answerOne(c, t, http.StatusOK, func() (row, *problem) { return rv.update(c, t, s, c.in) })
}

func (rv *resourceV2) deleteOne(c *call, t *tx) reply {
	if wrong := rv.remove(c, t, c.vars[rv.kind.param]); wrong != nil {
		return wrong.reply()
	}
	return reply{status: http.StatusNoContent}
}

// bulkKind is the verb of a batch.
type bulkKind int

const (
	bulkCreate bulkKind = iota
	bulkUpdate
	bulkDelete
)

func (bk bulkKind) list() string {
	if bk == bulkDelete {
		return "ids"
	}
	return "items"
}

func (bk bulkKind) done() string { return []string{"created", "updated", "deleted"}[bk] }

const maxBatch = 50

// bulk carries out the rows of a batch in order. It checks a row before writing it, so that failed rows leave nothing
// behind. With all_or_none, one failed row undoes all others, after all were tried.
func (rv *resourceV2) bulk(do bulkKind) handler {
	return func(c *call, t *tx) reply {
		rows, atomic, wrong := c.batch(do)
		if wrong != nil {
			return wrong.reply()
		}
		results, failed, errs := []row{}, 0, []fieldError{}
		for i, v := range rows {
			c.now = c.now.Add(time.Microsecond) // so that their times differ
			id, wrong := rv.bulkRow(c, t, do, i, v)
			if wrong == nil {
				results = append(results, row{"index": i, "result": do.done(), "id": id})
				continue
			}
			failed++
			result := wrong.row()
			result["index"], result["result"] = i, "failed"
			place := fmt.Sprintf("%s.%d", do.list(), i)
			for _, e := range wrong.errors {
				errs = append(errs, fieldError{place + "." + e.field, e.code, e.message})
			}
			if len(wrong.errors) > 0 {
				result["errors"] = errorRows(wrong.errors)
			} else {
				errs = append(errs, fieldError{place, valueText(result["code"]), wrong.detail})
			}
			results = append(results, result)
		}
		if atomic && failed > 0 {
			detail := fmt.Sprintf("%d of %d rows failed; nothing was written.", failed, len(rows))
			return (&problem{http.StatusConflict, "batch_failed", detail, errs}).reply()
		}
		return reply{http.StatusOK, row{"results": results, "succeeded": len(rows) - failed, "failed": failed}}
	}
}

// bulkRow carries out one row of a batch.
func (rv *resourceV2) bulkRow(c *call, t *tx, do bulkKind, i int, v any) (id string, wrong *problem) {
	if c.opts.FailRow != nil {
		if code := c.opts.FailRow(c.req, i, v); code != "" {
			return "", &problem{status: http.StatusConflict, code: code, detail: "The row was refused."}
		}
	}
	if do == bulkDelete {
		id = v.(string)
		return id, rv.remove(c, t, id)
	}
	body := v.(row)
	var r row
	if do == bulkCreate {
		r, wrong = rv.create(c, t, body)
	} else {
		var s stored
		if s, wrong = rv.find(c, t, text(body, "id")); wrong == nil {
			r, wrong = rv.update(c, t, s, body)
		}
	}
	return text(r, "id"), wrong
}

// batch reads the body of a batch. Its rows are objects, or IDs for a deletion.
func (c *call) batch(do bulkKind) (rows []any, atomic bool, wrong *problem) {
	name := do.list()
	rows, ok := c.in[name].([]any)
	switch {
	case c.in[name] == nil:
		return nil, false, invalidV2(fieldError{name, "required", "This field is required."})
	case !ok:
		return nil, false, invalidV2(fieldError{name, "invalid", "Expected a list of items."})
	case len(rows) == 0 || len(rows) > maxBatch:
		return nil, false, invalidV2(fieldError{name, "invalid", fmt.Sprintf("Ensure this field has from 1 to %d elements.", maxBatch)})
	}
	if v, given := c.in["all_or_none"]; given {
		if atomic, ok = v.(bool); !ok {
			return nil, false, invalidV2(fieldError{"all_or_none", "invalid", "Must be a valid boolean."})
		}
	}
	var errs []fieldError
	for i, v := range rows {
		place := fmt.Sprintf("%s.%d", name, i)
		body, isObject := v.(row)
		id := v
		if do == bulkUpdate {
			id, place = body["id"], place+".id"
		}
		switch {
		case do != bulkDelete && !isObject:
			errs = append(errs, fieldError{fmt.Sprintf("%s.%d", name, i), "invalid", "Expected an object."})
		case do != bulkCreate && !isUUID(valueText(id)):
			errs = append(errs, fieldError{place, "invalid", "Must be a valid UUID."})
		}
	}
	for name := range c.in {
		if c.opts.Strict && name != do.list() && name != "all_or_none" {
			errs = append(errs, fieldError{name, "invalid", "Unknown field."})
		}
	}
	if errs != nil {
		return nil, false, invalidV2(errs...)
	}
	return rows, atomic, nil
}

// membersV2 describes the members that a manage route adds and removes.
type membersV2 struct {
	members *kind                                               // kind of the memberships, whose index holds member and container
	of      *kind                                               // kind of the members
	add     func(c *call, t *tx, container, member string) bool // reports whether the record was no member before; nil = addMember
}

const maxManaged = 100

// manageMembers adds and removes members, and answers with the changed ones.
func (rv *resourceV2) manageMembers(of membersV2) handler {
	return func(c *call, t *tx) reply {
		container, wrong := rv.find(c, t, c.vars[rv.kind.param])
		if wrong != nil {
			return wrong.reply()
		}
		w := &writeV2{call: c, t: t, res: rv}
		lists := map[string][]string{}
		for _, name := range []string{"add", "remove"} {
			v, given := c.in[name]
			if !given {
				continue
			}
			items, ok := v.([]any)
			if !ok || len(items) > maxManaged {
				w.addError(name, "invalid", "Expected a list of up to %d IDs.", maxManaged)
			}
			for i, v := range items {
				id := valueText(v)
				switch field := fmt.Sprintf("%s.%d", name, i); {
				case !isUUID(id):
					w.addError(field, "invalid", "Must be a valid UUID.")
				case name == "add" && !w.mayReference(of.of, id):
					w.addError(field, "does_not_exist", "Object with id %s does not exist.", id)
				case !slices.Contains(lists[name], id):
					lists[name] = append(lists[name], id)
				}
			}
		}
		if len(w.errors) == 0 && len(lists) == 0 {
			w.addError("add", "required", "Send add, remove or both.")
		}
		if of.members == c.kinds.cycleIssue && len(lists["add"]) > 0 && isCompleted(container.row, c.now) {
			w.addError("add", "invalid", textCycleOver)
		}
		if p := w.refused(); p != nil {
			return p.reply()
		}
		added, removed := []string{}, []string{}
		for _, id := range lists["add"] {
			add := of.add
			if add == nil {
				add = func(c *call, t *tx, container, id string) bool { return c.addMember(t, of.members, container, id) }
			}
			if add(c, t, text(container.row, "id"), id) {
				added = append(added, id)
			}
		}
		for _, id := range lists["remove"] {
			if c.dropMember(t, of.members, text(container.row, "id"), id) {
				removed = append(removed, id)
			}
		}
		return reply{http.StatusOK, row{"added": added, "removed": removed}}
	}
}
