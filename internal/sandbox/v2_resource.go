package sandbox

import (
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// resourceV2 is one collection of API v2. Its lists are written as in the reference.
type resourceV2 struct {
	name string // of one record, in messages
	path string // of the list, with the parameters of the reference
	kind *kind
	// write is the fields of a body, as name=column*:type with "=column" where the store has another name, "*" for a field
	// that a creation needs, "?" behind the type if it may be null, and "~" if only a change may set it to null.
	write string
	// read is the names of a row's other fields, with "=column" as above. What is in write is read too, but for those
	// that begin with "-"; id and created_at are read unless it has them with "-".
	read     string
	filters  string // parameters of the list
	order    string // fields for ?order_by=; the first is the default
	expand   string // relations that ?expand= adds
	deferred string // fields that a list has only if they are named
	unique   string // fields that no two records of a list have in common
	verbs    string // of list, create, read, update, delete, bulk, bulk-delete, upsert; "" is the first five
	lenient  bool   // ignores unknown fields, whatever the server does
	access   accessV2
	feature  string // of the workspace, without which every operation is 402

	computed map[string]func(c *call, t *tx, r row) any // fields that are not stored
	rows     func(c *call, t *tx) []stored              // the list, if it is not the kind's
	resolve  func(w *writeV2)                           // puts IDs in place of names in the body
	prepare  func(w *writeV2)                           // completes or refuses a row; must not write
	store    func(w *writeV2)                           // stores a new row, if there is more to it
	after    func(w *writeV2)                           // follows the storing
	refuse   func(c *call, t *tx, r row) *problem       // speaks against a deletion
	manage   map[string]membersV2                       // routes that add and remove members, by their last segment

	fields []*fieldV2
	byName map[string]*fieldV2
}

// fieldV2 is one field of a collection.
type fieldV2 struct {
	name, column       string
	kind               string // "" is read-only
	options            []string
	limit              int
	of                 string // kind that an ID is of
	required, readable bool
	null, nullOnUpdate bool
}

// compile reads the lists.
func (res *resourceV2) compile() *resourceV2 {
	res.byName = map[string]*fieldV2{}
	if res.verbs == "" {
		res.verbs = "list create read update delete"
	}
	for spec := range strings.FieldsSeq(res.write) {
		f := &fieldV2{readable: true}
		spec, f.nullOnUpdate = strings.CutSuffix(spec, "~")
		spec, f.null = strings.CutSuffix(spec, "?")
		hidden := false
		if spec, hidden = strings.CutPrefix(spec, "-"); hidden {
			f.readable = false
		}
		name, kind, _ := strings.Cut(spec, ":")
		name, f.required = strings.CutSuffix(name, "*")
		kind, limit, _ := strings.Cut(kind, "≤")
		f.limit, _ = strconv.Atoi(limit)
		if of, ok := strings.CutPrefix(kind, "uuid→"); ok {
			kind = "uuid"
			if of, ok = strings.CutSuffix(of, "[]"); ok {
				kind = "uuid[]"
			}
			f.of = of
		}
		if strings.Contains(kind, "|") {
			kind, f.options = "choice", strings.Split(kind, "|")
		}
		f.kind = kind
		res.add(f, name)
	}
	for spec := range strings.FieldsSeq(res.read + " id created_at") {
		name, hidden := strings.CutPrefix(spec, "-")
		res.add(&fieldV2{readable: !hidden}, name)
	}
	return res
}

func (res *resourceV2) add(f *fieldV2, name string) {
	f.name, f.column, _ = strings.Cut(name, "=")
	if f.column == "" {
		f.column = res.kind.columnV2(f.name)
	}
	if res.byName[f.name] == nil {
		res.fields = append(res.fields, f)
		res.byName[f.name] = f
	}
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

// operations is the routes of a collection.
func (res *resourceV2) operations() []operationV2 {
	var out []operationV2
	add := func(verb, method, tail string, do handlerV2, bulk bool) {
		if slices.Contains(strings.Fields(res.verbs), verb) {
			op := operationV2{method: method, path: res.path + tail, do: do, res: res, access: res.access, bulk: bulk}
			if method == http.MethodPost && !bulk || method == http.MethodPatch {
				op.body = res.fields
			}
			out = append(out, op)
		}
	}
	add("list", http.MethodGet, "", res.list, false)
	add("create", http.MethodPost, "", res.createOne, false)
	add("read", http.MethodGet, "{pk}/", res.readOne, false)
	add("update", http.MethodPatch, "{pk}/", res.updateOne, false)
	add("delete", http.MethodDelete, "{pk}/", res.deleteOne, false)
	add("upsert", http.MethodPost, "upsert/", res.upsert, false)
	add("bulk", http.MethodPost, "bulk-create/", res.bulk(bulkCreate), true)
	add("bulk", http.MethodPost, "bulk-update/", res.bulk(bulkUpdate), true)
	add("bulk-delete", http.MethodPost, "bulk-delete/", res.bulk(bulkDelete), true)
	for name, of := range res.manage {
		out = append(out, operationV2{method: http.MethodPost, path: res.path + "{pk}/" + name + "/", do: res.manageMembers(of), res: res, access: res.access})
	}
	if res.access == forProjects {
		for i := range out {
			if !strings.Contains(out[i].path, "{pk}") {
				out[i].access = forMembers
			}
		}
	}
	return out
}

// check turns a value of a body into one of the store.
func (f *fieldV2) check(w *writeV2, v any) (value any, wrong *fieldError) {
	bad := func(code, format string, args ...any) (any, *fieldError) {
		return nil, &fieldError{f.name, code, fmt.Sprintf(format, args...)}
	}
	s, isString := v.(string)
	switch f.kind {
	case "str", "html", "url", "email":
		limit := f.limit
		switch {
		case !isString:
			return bad("invalid", "Not a valid string.")
		case strings.ContainsRune(s, 0):
			return bad("invalid", "Null characters are not allowed.")
		case limit > 0 && utf8.RuneCountInString(s) > limit:
			return bad("max_length", "Ensure this field has no more than %d characters.", limit)
		case f.kind == "html":
			clean, ok := sanitise(s)
			if !ok {
				return bad("invalid", "The HTML is invalid.")
			}
			return clean, nil
		}
		if s = strings.TrimSpace(s); s == "" && f.required {
			return bad("invalid", "This field may not be blank.")
		}
		if f.kind == "email" && s != "" {
			if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
				return bad("invalid", "Enter a valid email address.")
			}
		}
		if f.kind == "url" && s != "" {
			if u, err := url.Parse(s); err != nil || u.Host == "" {
				return bad("invalid", "Enter a valid URL.")
			}
		}
		return s, nil
	case "bool":
		if _, ok := v.(bool); !ok {
			return bad("invalid", "Must be a valid boolean.")
		}
		return v, nil
	case "int", "num":
		n, complaint := real(nil, v)
		if isString || complaint != nil || f.kind == "int" && strings.ContainsAny(fmt.Sprint(v), ".eE") {
			return bad("invalid", "A valid number is required.")
		}
		if f.kind == "int" {
			return v, nil
		}
		return n, nil
	case "choice":
		text := valueText(v)
		if _, ok := v.(bool); ok || v == nil || !slices.Contains(f.options, text) {
			return bad("invalid_choice", "%q is not a valid choice.", text)
		}
		return v, nil
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return bad("invalid", "Date has wrong format. Use YYYY-MM-DD.")
		}
		return s, nil
	case "datetime":
		at, ok := parseMoment(s)
		if !ok {
			return bad("invalid", "Datetime has wrong format.")
		}
		return momentText(at), nil
	case "IANA":
		if _, complaint := timezone(nil, v); complaint != nil {
			return bad("invalid_choice", "%q is not a valid choice.", s)
		}
		return s, nil
	case "json":
		return v, nil
	case "uuid":
		if !isUUID(strings.ToLower(s)) {
			return bad("invalid", "Must be a valid UUID.")
		}
		if !w.reaches(f.of, strings.ToLower(s)) {
			return bad("does_not_exist", "Object with id %s does not exist.", s)
		}
		return strings.ToLower(s), nil
	case "uuid[]", "str[]", "obj[]":
		list, ok := v.([]any)
		if !ok {
			return bad("invalid", "Expected a list of items.")
		}
		if f.kind != "uuid[]" {
			return list, nil
		}
		ids := []string{}
		one := fieldV2{name: f.name, kind: "uuid", of: f.of}
		for _, v := range list {
			id, wrong := one.check(w, v)
			if wrong != nil {
				return nil, wrong
			}
			ids = append(ids, id.(string))
		}
		slices.Sort(ids)
		return anyList(slices.Compact(ids)), nil
	}
	return bad("invalid", "This field cannot be set.")
}

// reaches says whether an ID is that of a record which a body of the path may name.
func (w *writeV2) reaches(of, id string) bool {
	k, t, project := w.kinds, w.t, w.vars["project"]
	switch of {
	case "user":
		if project == "" || w.res.access != forMembers {
			return workspaceRole(t, id) > 0
		}
		return projectRole(t, project, id) > 0
	case "work_item": // of any project
		s, ok := t.get(k.workItem, id)
		return ok && projectRole(t, text(s.row, "project"), w.user) > 0
	case "project":
		return projectRole(t, id, w.user) > 0
	case "estimate_point":
		s, ok := t.get(k.estimatePoint, id)
		return ok && t.has(k.estimate, scope(project), text(s.row, "estimate"))
	}
	for _, k := range k.every {
		if k.name == of {
			return t.has(k, k.scope(w.call), id)
		}
	}
	return false
}
