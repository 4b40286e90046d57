package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// resourceV2 is one collection of API v2: another view of a kind, which checks what is written.
type resourceV2 struct {
	name  string // of one record, for messages
	path  string // of the list, with the parameters of the reference
	kind  *kind
	verbs string // any of list, create, read, update, delete and bulk; or single for one record at the path itself
	// write lists the fields of a body. "=column" follows if the store has another name, "*" if a creation needs the field,
	// "?" if it may be null, "~" if only a change may set it to null; "-" before a field means that no row shows it.
	write    string
	only     []field // fields that API v1 does not have
	read     string  // the other fields of a row, likewise; id and created_at are added unless they are listed with "-"
	order    string  // stored fields for ?order_by=; the first is the default
	deferred string  // fields that a list shows only if ?fields= names them
	unserved string  // fields of a body whose effect the sandbox does not know
	byOffset bool    // lists have neither cursor nor order
	perID    string  // field with a list of IDs, for each of which a creation makes a record
	unique   string  // field whose value must be unique in a list

	computed     map[string]computedV2                // fields that are not stored
	rows         func(c *call, t *tx) []stored        // the list, if it is not the kind's
	prepare      func(w *writeV2)                     // completes or refuses a row; must not write
	store        func(w *writeV2)                     // stores a new row; nil = as its kind does
	after        func(w *writeV2)                     // runs after a row was stored
	refuse       func(c *call, t *tx, r row) *problem // may refuse a deletion
	refuseWrites func(c *call, t *tx) *problem        // may refuse every write
	secret       func(t *tx, id string) (string, any) // makes a field that only one answer shows
	manage       map[string]membersV2                 // routes that add and remove members, by the last word of the path, such as work-items
	more         map[string]methods                   // further endpoints, by the rest of the path

	fields []*fieldV2
	byName map[string]*fieldV2
}

// computedV2 makes a field that is not stored.
type computedV2 func(c *call, t *tx, r row) any

// fieldV2 describes a field of a collection of API v2: where it is stored, and how it may be read and written.
type fieldV2 struct {
	name, column                           string
	field                                  *field // check of a written value; nil is read-only
	required, readable, null, nullOnUpdate bool
}

// compile parses the lists of fields.
func (rv *resourceV2) compile() *resourceV2 {
	rv.byName = map[string]*fieldV2{}
	for spec := range strings.FieldsSeq(rv.write) {
		f := rv.add(spec)
		f.field = rv.kind.field(f.column)
		if i := slices.IndexFunc(rv.only, func(o field) bool { return o.name == f.name }); i >= 0 {
			f.field = &rv.only[i]
		}
	}
	for spec := range strings.FieldsSeq(rv.read + " id created_at") {
		rv.add(spec)
	}
	return rv
}

// add adds a field of a list. If a name occurs twice, the first one counts.
func (rv *resourceV2) add(spec string) *fieldV2 {
	f := &fieldV2{}
	spec, f.nullOnUpdate = strings.CutSuffix(spec, "~")
	spec, f.null = strings.CutSuffix(spec, "?")
	spec, f.required = strings.CutSuffix(spec, "*")
	spec, hidden := strings.CutPrefix(spec, "-")
	f.readable = !hidden
	f.name, f.column, _ = strings.Cut(spec, "=")
	if f.column == "" {
		f.column = rv.kind.columnV2(f.name)
	}
	if rv.byName[f.name] == nil {
		rv.fields = append(rv.fields, f)
		rv.byName[f.name] = f
	}
	return f
}

// field returns a field of the kind's bodies, or nil.
func (k *kind) field(name string) *field {
	if i := slices.IndexFunc(k.fields, func(f field) bool { return f.name == name }); i >= 0 {
		return &k.fields[i]
	}
	return nil
}

// columnV2 returns the column of a field in the store: x for x_id, xs for x_ids.
func (k *kind) columnV2(name string) string {
	one, isID := strings.CutSuffix(name, "_id")
	many, isList := strings.CutSuffix(name, "_ids")
	has := func(name string) bool { return slices.Contains(k.columns, name) || slices.Contains(k.hidden, name) }
	switch {
	case has(name):
	case isID && has(one):
		return one
	case isList && has(many+"s"):
		return many + "s"
	}
	return name
}

// routes returns the routes of a collection.
func (rv *resourceV2) routes() []route {
	byTail := map[string]methods{}
	add := func(verb, method, tail string, do handler) {
		if !slices.Contains(strings.Fields(rv.verbs), verb) {
			return
		}
		if byTail[tail] == nil {
			byTail[tail] = methods{}
		}
		byTail[tail][method] = &endpoint{do: do, bulk: verb == "bulk"}
	}
	add("list", http.MethodGet, "", rv.list)
	add("create", http.MethodPost, "", rv.createOne)
	add("read", http.MethodGet, "{pk}/", rv.readOne)
	add("update", http.MethodPatch, "{pk}/", rv.updateOne)
	add("delete", http.MethodDelete, "{pk}/", rv.deleteOne)
	add("single", http.MethodGet, "", rv.readOne)
	add("single", http.MethodPatch, "", rv.updateOne)
	add("bulk", http.MethodPost, "bulk-create/", rv.bulk(bulkCreate))
	add("bulk", http.MethodPost, "bulk-update/", rv.bulk(bulkUpdate))
	add("bulk", http.MethodPost, "bulk-delete/", rv.bulk(bulkDelete))
	for members, of := range rv.manage {
		byTail["{pk}/"+members+"/"] = methods{http.MethodPost: do(rv.manageMembers(of))}
	}
	for tail, on := range rv.more {
		if byTail[tail] == nil {
			byTail[tail] = methods{}
		}
		maps.Copy(byTail[tail], on)
	}
	var out []route
	for _, tail := range slices.Sorted(maps.Keys(byTail)) {
		out = append(out, route{pattern: rv.path + tail, permission: workspaceWide, on: byTail[tail], res: rv})
	}
	return out
}

// referenceComplaint returns a complaint about an ID that a body of the path may not name, or nil.
func (fv *fieldV2) referenceComplaint(w *writeV2, value any) any {
	if fv.field.ref == nil || value == nil {
		return nil
	}
	ids, many := value.([]any)
	if !many {
		ids = []any{value}
	}
	for _, id := range ids {
		if !w.mayReference(*fv.field.ref, id.(string)) {
			return message("Object with id %s does not exist.", id)
		}
	}
	return nil
}

// complaintV2 turns a complaint of API v1 into one of API v2 with its code. Of the complaints about a list it takes one.
func complaintV2(name string, complaint any) fieldError {
	if of, ok := complaint.(row); ok {
		for _, complaint = range of {
			break
		}
	}
	text, code := complaint.([]string)[0], "invalid"
	for _, known := range [][2]string{
		{"is required", "required"},
		{"not a valid choice", "invalid_choice"},
		{"does not exist", "does_not_exist"},
		{"no more than", "max_length"},
	} {
		if strings.Contains(text, known[0]) {
			code = known[1]
		}
	}
	return fieldError{name, code, text}
}

// mayReference reports whether a body of the path may name the record with an ID.
func (w *writeV2) mayReference(k *kind, id string) bool {
	t, project := w.t, w.vars["project"]
	switch k {
	case w.kinds.user:
		if project == "" {
			return workspaceRole(t, id) > 0
		}
		return projectRole(t, project, id) > 0
	case w.kinds.workItem: // of any project
		s, ok := t.get(k, id)
		return ok && projectRole(t, text(s.row, "project"), w.user) > 0
	case w.kinds.estimatePoint:
		s, ok := t.get(k, id)
		return ok && t.has(w.kinds.estimate, scope(project), text(s.row, "estimate"))
	}
	return k.isAvailable(w.call, t, id)
}
