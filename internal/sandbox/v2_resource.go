package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// resourceV2 is one collection of API v2: another face of a kind, which checks what is written.
type resourceV2 struct {
	name  string // of one record, in messages
	path  string // of the list, with the parameters of the reference
	kind  *kind
	verbs string // of list, create, read, update, delete and bulk; single = there is one, at the path itself
	// write is the names of the fields of a body, with "=column" where the store has another name, "*" for a field that a
	// creation needs, "?" if it may be null, "~" if only a change may set it to null, and "-" before one that no row shows.
	write    string
	only     []field // that API v1 does not have
	read     string  // the names of a row's other fields, likewise; id and created_at are read unless it has them with "-"
	order    string  // stored fields for ?order_by=; the first is the default
	deferred string  // fields that a list has only if they are named
	unserved string  // fields of a body whose effect the sandbox does not know
	byOffset bool    // lists know no cursor and no order
	each     string  // a creation makes a record for each ID of this list
	unique   string  // field that no two records of a list have in common

	computed map[string]computedV2                // fields that are not stored
	rows     func(c *call, t *tx) []stored        // the list, if it is not the kind's
	prepare  func(w *writeV2)                     // completes or refuses a row; must not write
	store    func(w *writeV2)                     // stores a new row, if there is more to it
	after    func(w *writeV2)                     // follows the storing
	refuse   func(c *call, t *tx, r row) *problem // speaks against a deletion
	closed   func(c *call, t *tx) *problem        // speaks against any write
	once     func(t *tx, id string) (string, any) // makes a field that only the answer at hand shows
	manage   map[string]membersV2                 // the routes that add and remove members, by their words, such as work-items
	more     map[string]methods                   // further endpoints, by what follows the path

	fields []*fieldV2
	byName map[string]*fieldV2
}

// computedV2 makes a field that is not stored.
type computedV2 func(c *call, t *tx, r row) any

// fieldV2 is one field of a collection.
type fieldV2 struct {
	name, column                           string
	of                                     *field // that checks it; nil is read-only
	required, readable, null, nullOnUpdate bool
}

// compile reads the lists.
func (res *resourceV2) compile() *resourceV2 {
	res.byName = map[string]*fieldV2{}
	for spec := range strings.FieldsSeq(res.write) {
		f := res.add(spec)
		f.of = res.kind.field(f.column)
		if i := slices.IndexFunc(res.only, func(o field) bool { return o.name == f.name }); i >= 0 {
			f.of = &res.only[i]
		}
	}
	for spec := range strings.FieldsSeq(res.read + " id created_at") {
		res.add(spec)
	}
	return res
}

// add takes a field as it is written in a list. The first one of a name counts.
func (res *resourceV2) add(spec string) *fieldV2 {
	f := &fieldV2{}
	spec, f.nullOnUpdate = strings.CutSuffix(spec, "~")
	spec, f.null = strings.CutSuffix(spec, "?")
	spec, f.required = strings.CutSuffix(spec, "*")
	spec, hidden := strings.CutPrefix(spec, "-")
	f.readable = !hidden
	f.name, f.column, _ = strings.Cut(spec, "=")
	if f.column == "" {
		f.column = res.kind.columnV2(f.name)
	}
	if res.byName[f.name] == nil {
		res.fields = append(res.fields, f)
		res.byName[f.name] = f
	}
	return f
}

// field is a field of the kind's bodies, or nil.
func (k *kind) field(name string) *field {
	if i := slices.IndexFunc(k.fields, func(f field) bool { return f.name == name }); i >= 0 {
		return &k.fields[i]
	}
	return nil
}

// columnV2 is where the store has a field: x_id is x, x_ids is xs.
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

// routes is those of a collection.
func (res *resourceV2) routes() []route {
	byTail := map[string]methods{}
	add := func(verb, method, tail string, do handler) {
		if !slices.Contains(strings.Fields(res.verbs), verb) {
			return
		}
		if byTail[tail] == nil {
			byTail[tail] = methods{}
		}
		byTail[tail][method] = &endpoint{do: do, bulk: verb == "bulk"}
	}
	add("list", http.MethodGet, "", res.list)
	add("create", http.MethodPost, "", res.createOne)
	add("read", http.MethodGet, "{pk}/", res.readOne)
	add("update", http.MethodPatch, "{pk}/", res.updateOne)
	add("delete", http.MethodDelete, "{pk}/", res.deleteOne)
	add("single", http.MethodGet, "", res.readOne)
	add("single", http.MethodPatch, "", res.updateOne)
	add("bulk", http.MethodPost, "bulk-create/", res.bulk(bulkCreate))
	add("bulk", http.MethodPost, "bulk-update/", res.bulk(bulkUpdate))
	add("bulk", http.MethodPost, "bulk-delete/", res.bulk(bulkDelete))
	for members, of := range res.manage {
		byTail["{pk}/"+members+"/"] = methods{http.MethodPost: do(res.manageMembers(of))}
	}
	for tail, on := range res.more {
		if byTail[tail] == nil {
			byTail[tail] = methods{}
		}
		maps.Copy(byTail[tail], on)
	}
	var out []route
	for _, tail := range slices.Sorted(maps.Keys(byTail)) {
		out = append(out, route{pattern: res.path + tail, permission: workspaceWide, on: byTail[tail], res: res})
	}
	return out
}

// outOfReach complains of an ID that a body of the path may not name.
func (f *fieldV2) outOfReach(w *writeV2, value any) any {
	if f.of.ref == nil || value == nil {
		return nil
	}
	ids, many := value.([]any)
	if !many {
		ids = []any{value}
	}
	for _, id := range ids {
		if !w.reaches(*f.of.ref, id.(string)) {
			return message("Object with id %s does not exist.", id)
		}
	}
	return nil
}

// complaintV2 gives a complaint of API v1 the code that it has in API v2. Of the elements of a list one is complained of.
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

// reaches says whether an ID is that of a record which a body of the path may name.
func (w *writeV2) reaches(k *kind, id string) bool {
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
	return k.available(w.call, t, id)
}
