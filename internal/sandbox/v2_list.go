package sandbox

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	v2PerPage    = 50
	v2MaxPerPage = 200
	v2MaxOffset  = 10_000
)

// badQuery is the answer to a wrong parameter of a query.
func badQuery(name, code, format string, args ...any) *problem {
	return invalidV2(fieldError{name, code, fmt.Sprintf(format, args...)})
}

// selection is the fields and relations that an answer has.
type selection struct{ fields, expand []string }

// selection reads ?fields= and ?expand=.
func (res *resourceV2) selection(c *call, listed bool) (selection, *problem) {
	relations := strings.Fields(res.expand)
	var valid []string
	for _, f := range res.fields {
		if f.readable && !(listed && f.name == "custom_fields") {
			valid = append(valid, f.name)
		}
	}
	sel := selection{}
	for _, name := range c.expands() {
		if !slices.Contains(relations, name) {
			hint := fmt.Sprintf("%q cannot be expanded; choose from: %s.", name, res.expand)
			if slices.Contains(valid, name) {
				hint = fmt.Sprintf("%q is a field: name it in ?fields=.", name)
			}
			return sel, badQuery("expand", "invalid_choice", "%s", hint)
		}
		sel.expand = append(sel.expand, name)
	}
	given := c.fields()
	for _, name := range given {
		if name != "all" && !slices.Contains(valid, name) {
			hint := fmt.Sprintf("Unknown field %q; choose from: %s.", name, strings.Join(valid, ", "))
			if slices.Contains(relations, name) {
				hint = fmt.Sprintf("%q is a relation: name it in ?expand=.", name)
			}
			return sel, badQuery("fields", "invalid_choice", "%s", hint)
		}
	}
	for _, name := range valid {
		deferred := listed && slices.Contains(strings.Fields(res.deferred), name)
		if name == "id" || slices.Contains(given, "all") || slices.Contains(given, name) || given == nil && !deferred {
			sel.fields = append(sel.fields, name)
		}
	}
	return sel, nil
}

// value is a field of a stored row as API v2 shows it; filters ask for some that no row shows.
func (res *resourceV2) value(c *call, t *tx, r row, name string) any {
	if compute := res.computed[name]; compute != nil {
		return compute(c, t, r)
	}
	if f := res.byName[name]; f != nil {
		return r[f.column]
	}
	return r[res.kind.columnV2(name)]
}

func (res *resourceV2) render(c *call, t *tx, r row, sel selection) row {
	out := make(row, len(sel.fields)+len(sel.expand))
	for _, name := range sel.fields {
		out[name] = res.value(c, t, r, name)
	}
	for _, name := range sel.expand {
		out[name] = res.expanded(c, t, r, name)
	}
	return out
}

// expanded is the records behind a relation.
func (res *resourceV2) expanded(c *call, t *tx, r row, name string) any {
	k, shape := c.kinds.user, "id display_name avatar_url email"
	switch name {
	case "state":
		k, shape = c.kinds.state, "id name color group"
	case "type":
		k, shape = c.kinds.itemType, "id name logo_props is_epic"
	case "parent":
		k, shape = res.kind, "id name"
		if k == c.kinds.workItem {
			shape += " sequence_id"
		}
	case "labels":
		k, shape = c.kinds.label, "id name color"
	case "cycle":
		k, shape = c.kinds.cycle, "id name"
	case "modules":
		k, shape = c.kinds.module, "id name"
	case "points":
		out := []row{}
		for _, s := range t.all(c.kinds.estimatePoint, scope(text(r, "id"))) {
			out = append(out, selectFields(s.row, []string{"id", "key", "value", "description"}))
		}
		return out
	}
	one := func(id string) any {
		if s, ok := t.get(k, id); ok {
			return selectFields(s.row, strings.Fields(shape))
		}
		return nil
	}
	if ids, ok := res.value(c, t, r, strings.TrimSuffix(name, "s")+"_ids").([]any); ok {
		out := []any{}
		for _, id := range ids {
			if v := one(valueText(id)); v != nil {
				out = append(out, v)
			}
		}
		return out
	}
	return one(valueText(res.value(c, t, r, name+"_id")))
}

func (res *resourceV2) readOne(c *call, t *tx) (reply, *problem) {
	sel, wrong := res.selection(c, false)
	if wrong != nil {
		return reply{}, wrong
	}
	s, wrong := res.find(c, t, c.vars[res.kind.param])
	if wrong != nil {
		return reply{}, wrong
	}
	return reply{http.StatusOK, res.render(c, t, s.row, sel)}, nil
}

// find is a record of the collection.
func (res *resourceV2) find(c *call, t *tx, id string) (stored, *problem) {
	if res.rows != nil {
		for _, s := range res.rows(c, t) {
			if res.value(c, t, s.row, "id") == id {
				return s, nil
			}
		}
		return stored{}, notFoundV2()
	}
	s, ok := t.in(res.kind, res.kind.scope(c), id)
	if !ok {
		return stored{}, notFoundV2()
	}
	return s, nil
}

// entry is a row of a list with its sort key, and its number to break ties.
type entry struct {
	stored
	key any
	tie uint64
}

func (res *resourceV2) list(c *call, t *tx) (reply, *problem) {
	sel, wrong := res.selection(c, true)
	if wrong != nil {
		return reply{}, wrong
	}
	pass, wrong := res.filter(c, t)
	if wrong != nil {
		return reply{}, wrong
	}
	by, down := res.ordering(c)
	page, wrong := c.pageV2(by)
	if wrong != nil {
		return reply{}, wrong
	}
	less := func(a, b entry) int {
		n := cmp.Or(compare(a.key, b.key), cmp.Compare(a.tie, b.tie))
		if down {
			n = -n
		}
		return n
	}
	found := c.lastList.get(c, t, func() []entry {
		var found []entry
		for _, s := range res.candidates(c, t) {
			if pass(s.row) {
				tie := binary.BigEndian.Uint64(s.key[len(s.key)-8:])
				found = append(found, entry{s, res.orderValue(c, t, s.row, by), tie})
			}
		}
		slices.SortFunc(found, less)
		return found
	})
	skip := page.offset
	if page.after != nil {
		skip = 0
		for skip < len(found) && less(found[skip], *page.after) <= 0 {
			skip++
		}
	}
	end := min(len(found), skip+page.size)
	data := []row{}
	for _, e := range found[min(skip, len(found)):end] {
		data = append(data, res.render(c, t, e.row, sel))
	}
	more := end < len(found)
	if page.cursor {
		body := row{"data": data, "next_cursor": nil, "has_more": more, "pagination": row{"style": "cursor"}}
		if more {
			body["next_cursor"] = encodeCursor(found[end-1])
		}
		return reply{http.StatusOK, body}, nil
	}
	body := row{"data": data, "next": nil, "previous": nil, "pagination": row{"style": "offset"}}
	if more {
		body["next"] = page.offset + page.size
	}
	if page.offset > 0 {
		body["previous"] = max(0, page.offset-page.size)
	}
	if !strings.EqualFold(c.query.Get("count"), "false") {
		body["total_count"] = len(found)
	}
	return reply{http.StatusOK, body}, nil
}

// listCache keeps the last list that was put together, for a walk over its pages: it is good until the next write.
type listCache struct {
	mu    sync.Mutex
	key   string
	found []entry
}

func (l *listCache) get(c *call, t *tx, find func() []entry) []entry {
	query := maps.Clone(c.query)
	for _, name := range []string{"cursor", "offset", "per_page", "paginate", "count", "fields", "expand"} {
		query.Del(name)
	}
	key := fmt.Sprint(t.btx.ID(), c.user, c.req.URL.Path, "?", query.Encode())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.key != key {
		l.key, l.found = key, find()
	}
	return l.found
}

// candidates is the rows among which a list searches: those with an external ID, if it asks for one.
func (res *resourceV2) candidates(c *call, t *tx) []stored {
	if res.rows != nil {
		return res.rows(c, t)
	}
	source, id := c.query.Get("external_source"), c.query.Get("external_id")
	if ix := res.kind.externalIndex(); ix != nil && source != "" && id != "" {
		return res.withExternalID(c, t, source, id)
	}
	return t.all(res.kind, res.kind.scope(c))
}

// externalIndex is the index of the external IDs of a kind.
func (k *kind) externalIndex() *index {
	for i := range k.indexes {
		if fields := k.indexes[i].fields; fields[len(fields)-1] == "external_id" {
			return &k.indexes[i]
		}
	}
	return nil
}

// withExternalID is the records of the list with an external ID.
func (res *resourceV2) withExternalID(c *call, t *tx, source, id string) []stored {
	in := res.kind.scope(c)
	ix := res.kind.externalIndex()
	if ix == nil {
		return slices.DeleteFunc(t.all(res.kind, in), func(s stored) bool {
			return text(s.row, "external_source") != source || text(s.row, "external_id") != id
		})
	}
	owner := workspaceID
	switch ix.fields[0] {
	case "project":
		owner = c.vars["project"]
	case "issue":
		owner = c.vars["item"]
	}
	var out []stored
	for _, id := range t.under(1<<20, ix.name, owner, source, id) {
		if s, ok := t.in(res.kind, in, id); ok {
			out = append(out, s)
		}
	}
	return out
}

// ordering is the field and direction of a list; an unknown ?order_by= is ignored.
func (res *resourceV2) ordering(c *call) (by string, down bool) {
	allowed := strings.Fields(res.order)
	by, down = strings.CutPrefix(c.query.Get("order_by"), "-")
	if by == "" || !slices.Contains(allowed, by) && "-"+by != allowed[0] {
		by, down = strings.CutPrefix(allowed[0], "-")
	}
	return by, down
}

func (res *resourceV2) orderValue(c *call, t *tx, r row, by string) any {
	switch by {
	case "priority":
		return slices.Index([]string{"urgent", "high", "medium", "low", "none"}, text(r, by))
	case "state_group":
		return slices.Index(stateGroups(), c.group(t, text(r, "state")))
	}
	return res.value(c, t, r, by)
}

// pageV2 is the part of a list that a request asks for.
type pageV2 struct {
	cursor       bool
	size, offset int
	after        *entry
}

func (c *call) pageV2(by string) (pageV2, *problem) {
	p := pageV2{size: v2PerPage, cursor: c.query.Get("paginate") == "cursor" || c.query.Has("cursor")}
	if c.query.Has("per_page") {
		n, err := strconv.Atoi(c.query.Get("per_page"))
		if err != nil || n < 1 {
			return p, badQuery("per_page", "invalid", "A valid integer is required.")
		}
		p.size = min(n, v2MaxPerPage)
	}
	if !p.cursor {
		if c.query.Has("offset") {
			n, err := strconv.Atoi(c.query.Get("offset"))
			if err != nil || n < 0 || n > v2MaxOffset {
				return p, badQuery("offset", "invalid", "An integer from 0 to %d is required.", v2MaxOffset)
			}
			p.offset = n
		}
		return p, nil
	}
	if !slices.Contains([]string{"created_at", "updated_at", "sequence_id", "id"}, by) {
		return p, &problem{
			status: http.StatusBadRequest, code: "ordering_not_cursor_eligible",
			detail: fmt.Sprintf("The ordering %q cannot be used with a cursor.", by),
		}
	}
	if token := c.query.Get("cursor"); token != "" {
		if p.after = decodeCursor(token); p.after == nil {
			return p, badQuery("cursor", "invalid", "Invalid cursor.")
		}
	}
	return p, nil
}

// A cursor is the position of the last row of a page and no more: its order value and its place among equals.

func encodeCursor(e entry) string {
	return base64.RawURLEncoding.EncodeToString(encode([]any{e.key, e.tie}))
}

func decodeCursor(token string) *entry {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil
	}
	v, err := decodeJSON(raw)
	parts, _ := v.([]any)
	if err != nil || len(parts) != 2 {
		return nil
	}
	n, ok := parts[1].(json.Number)
	tie, err := strconv.ParseUint(n.String(), 10, 64)
	if !ok || err != nil {
		return nil
	}
	return &entry{key: parts[0], tie: tie}
}

// filter is the test that the parameters of a list put its rows to.
func (res *resourceV2) filter(c *call, t *tx) (func(row) bool, *problem) {
	var tests []func(row) bool
	known := strings.Fields("per_page offset count paginate order_by fields expand cursor " + res.filters)
	for name := range c.query {
		if !slices.Contains(known, name) {
			if c.opts.Strict {
				return nil, badQuery(name, "invalid", "Unknown parameter.")
			}
			continue
		}
		if !slices.Contains(strings.Fields(res.filters), name) {
			continue
		}
		test, wrong := res.filterBy(c, t, name, c.query.Get(name))
		if wrong != nil {
			return nil, wrong
		}
		tests = append(tests, test)
	}
	return func(r row) bool {
		return !slices.ContainsFunc(tests, func(test func(row) bool) bool { return !test(r) })
	}, nil
}

// filterBy is the test of one parameter.
func (res *resourceV2) filterBy(c *call, t *tx, name, given string) (func(row) bool, *problem) {
	base, op, _ := strings.Cut(name, "__")
	switch base {
	case "search":
		return func(r row) bool {
			return strings.Contains(strings.ToLower(res.searched(c, t, r)), strings.ToLower(given))
		}, nil
	case "name":
		return func(r row) bool { return strings.EqualFold(valueText(r[res.nameColumn()]), given) }, nil
	}
	if op == "isnull" || strings.HasPrefix(base, "is_") { // True is true
		given = strings.ToLower(given)
	}
	get := func(r row) []any {
		switch v := res.filterValue(c, t, r, base).(type) {
		case nil:
			return nil
		case []any:
			return v
		default:
			return []any{v}
		}
	}
	switch op {
	case "isnull":
		if given != "true" && given != "false" {
			return nil, badQuery(name, "invalid", "Must be true or false.")
		}
		return func(r row) bool { return (len(get(r)) == 0) == (given == "true") }, nil
	case "gte", "lte":
		return res.rangeTest(name, given, op == "gte", get)
	}
	values := []string{given}
	if op == "in" {
		values = strings.Split(given, ",")
	}
	for _, v := range values {
		if wrong := res.checkFilter(name, base, v); wrong != nil {
			return nil, wrong
		}
	}
	return func(r row) bool {
		return slices.ContainsFunc(get(r), func(v any) bool { return slices.Contains(values, valueText(v)) })
	}, nil
}

// filterValue is the value that a filter compares: for label_id the field label_ids.
func (res *resourceV2) filterValue(c *call, t *tx, r row, base string) any {
	if base == "state_group" {
		return c.group(t, text(r, "state"))
	}
	if many := res.byName[base+"s"]; many != nil {
		return res.value(c, t, r, base+"s")
	}
	return res.value(c, t, r, base)
}

// checkFilter refuses a value that a filter cannot have.
func (res *resourceV2) checkFilter(name, base, v string) *problem {
	f := res.byName[base]
	var options []string
	switch {
	case base == "state_group":
		options = stateGroups()
	case f != nil && f.kind == "choice":
		options = f.options
	case strings.HasPrefix(base, "is_"):
		options = []string{"true", "false"}
	case strings.HasSuffix(base, "_id") && base != "external_id" && base != "sequence_id":
		if !isUUID(v) {
			return badQuery(name, "invalid", "Must be a valid UUID.")
		}
	case base == "sequence_id":
		if _, err := strconv.Atoi(v); err != nil {
			return badQuery(name, "invalid", "A valid integer is required.")
		}
	}
	if options != nil && !slices.Contains(options, v) {
		return badQuery(name, "invalid_choice", "%q is not a valid choice.", v)
	}
	return nil
}

// rangeTest compares dates and moments, ends included.
func (res *resourceV2) rangeTest(name, given string, from bool, get func(row) []any) (func(row) bool, *problem) {
	limit, ok := parseMoment(given)
	if _, err := time.Parse(time.DateOnly, given); !ok || strings.HasSuffix(strings.Split(name, "__")[0], "_date") && err != nil {
		return nil, badQuery(name, "invalid", "Enter a valid date or date-time.")
	}
	return func(r row) bool {
		for _, v := range get(r) {
			at, ok := parseMoment(valueText(v))
			return ok && (from && !at.Before(limit) || !from && !at.After(limit))
		}
		return false
	}, nil
}

func (res *resourceV2) nameColumn() string {
	for _, name := range []string{"name", "title", "display_name", "value"} {
		if res.byName[name] != nil {
			return res.byName[name].column
		}
	}
	return "name"
}

func (res *resourceV2) searched(c *call, t *tx, r row) string {
	if compute := res.computed["search"]; compute != nil {
		return valueText(compute(c, t, r))
	}
	return valueText(r[res.nameColumn()])
}
