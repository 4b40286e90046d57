package sandbox

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	v2PerPage    = 50
	v2MaxPerPage = 200
)

// badQuery is the answer to a wrong parameter of a query.
func badQuery(name, code, format string, args ...any) *problem {
	return invalidV2(fieldError{name, code, fmt.Sprintf(format, args...)})
}

// knowsOnly refuses a request with other parameters: the service may heed them.
func (c *call) knowsOnly(known ...string) *problem {
	switch unknown := c.unknownParameters(known...); {
	case len(unknown) == 0:
		return nil
	case c.opts.Strict:
		return badQuery(unknown[0], "invalid", "Unknown parameter.")
	default:
		return &problem{status: http.StatusNotImplemented, detail: unknownParameter(unknown[0])}
	}
}

// selection is the fields that an answer has, as ?fields= names them.
func (res *resourceV2) selection(c *call, listed bool) ([]string, *problem) {
	var valid, selected []string
	for _, f := range res.fields {
		if f.readable && !(listed && f.name == "custom_fields") {
			valid = append(valid, f.name)
		}
	}
	given := c.fields()
	if !listed {
		if wrong := c.knowsOnly("fields"); wrong != nil {
			return nil, wrong
		}
	}
	for _, name := range given {
		if name != "all" && !slices.Contains(valid, name) {
			return nil, badQuery("fields", "invalid_choice", "Unknown field %q; choose from: %s.", name, strings.Join(valid, ", "))
		}
	}
	for _, name := range valid {
		if name == "id" || slices.Contains(given, "all") || slices.Contains(given, name) || given == nil && !(listed && slices.Contains(strings.Fields(res.deferred), name)) {
			selected = append(selected, name)
		}
	}
	return selected, nil
}

// value is a field of a stored row as API v2 shows it.
func (res *resourceV2) value(c *call, t *tx, r row, name string) any {
	if compute := res.computed[name]; compute != nil {
		return compute(c, t, r)
	}
	return r[res.column(name)]
}

// column is where the store has a field.
func (res *resourceV2) column(name string) string {
	if f := res.byName[name]; f != nil {
		return f.column
	}
	return res.kind.columnV2(name)
}

func (res *resourceV2) render(c *call, t *tx, r row, fields []string) row {
	out := make(row, len(fields))
	for _, name := range fields {
		out[name] = res.value(c, t, r, name)
	}
	return out
}

func (res *resourceV2) readOne(c *call, t *tx) reply {
	sel, wrong := res.selection(c, false)
	if wrong != nil {
		return wrong.reply()
	}
	s, wrong := res.find(c, t, c.vars[res.kind.param])
	if wrong != nil {
		return wrong.reply()
	}
	return reply{http.StatusOK, res.render(c, t, s.row, sel)}
}

// all is the list, in order of creation.
func (res *resourceV2) all(c *call, t *tx) []stored {
	if res.rows != nil {
		return res.rows(c, t)
	}
	return res.kind.within(c, t)
}

// find is a record of the collection.
func (res *resourceV2) find(c *call, t *tx, id string) (stored, *problem) {
	if res.rows != nil {
		for _, s := range res.rows(c, t) {
			if res.verbs == "single" || res.value(c, t, s.row, "id") == id {
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

func (res *resourceV2) list(c *call, t *tx) reply {
	sel, wrong := res.selection(c, true)
	if wrong != nil {
		return wrong.reply()
	}
	known := []string{"per_page", "paginate", "order_by", "fields", "cursor", "is_draft"} // no list shows drafts
	if res.byOffset {
		known = append(known, "offset")
	}
	if wrong := c.knowsOnly(known...); wrong != nil {
		return wrong.reply()
	}
	by, down := res.ordering(c)
	column := res.column(by)
	size, after, wrong := c.pageV2(by, column)
	if wrong != nil {
		return wrong.reply()
	}
	less := func(a, b stored) int {
		n := cmp.Or(compare(a.row[column], b.row[column]), byNumber(a, b))
		if down {
			n = -n
		}
		return n
	}
	found := c.ordered(t, func() []stored {
		found := res.all(c, t)
		slices.SortFunc(found, less)
		return found
	})
	skip := 0
	for after != nil && skip < len(found) && less(found[skip], *after) <= 0 {
		skip++
	}
	if res.byOffset {
		from, _ := strconv.Atoi(c.query.Get("offset"))
		skip = max(0, min(from, len(found)))
	}
	data := renderPart(found, skip, size, func(s stored) row { return res.render(c, t, s.row, sel) })
	end := skip + len(data)
	if res.byOffset || c.query.Get("paginate") != "cursor" && !c.query.Has("cursor") { // which counts; others end with the first page
		body := row{"data": data, "next": nil, "previous": nil, "pagination": row{"style": "offset"}, "total_count": len(found)}
		if end < len(found) {
			body["next"] = end
		}
		return reply{http.StatusOK, body}
	}
	body := row{"data": data, "next_cursor": nil, "has_more": end < len(found), "pagination": row{"style": "cursor"}}
	if end < len(found) {
		body["next_cursor"] = encodeCursor(found[end-1], column)
	}
	return reply{http.StatusOK, body}
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

// pageV2 is how many rows a request asks for, and behind which one of the list; nil is the first page.
func (c *call) pageV2(by, column string) (size int, after *stored, wrong *problem) {
	size = v2PerPage
	if c.query.Has("per_page") {
		n, err := strconv.Atoi(c.query.Get("per_page"))
		if err != nil || n < 1 {
			return 0, nil, badQuery("per_page", "invalid", "A valid integer is required.")
		}
		size = min(n, v2MaxPerPage)
	}
	if c.query.Get("paginate") != "cursor" && !c.query.Has("cursor") {
		return size, nil, nil
	}
	if !slices.Contains([]string{"created_at", "updated_at", "sequence_id", "id"}, by) {
		return 0, nil, &problem{
			status: http.StatusBadRequest, code: "ordering_not_cursor_eligible",
			detail: fmt.Sprintf("The ordering %q cannot be used with a cursor.", by),
		}
	}
	if token := c.query.Get("cursor"); token != "" {
		if after = decodeCursor(token, column); after == nil {
			return 0, nil, badQuery("cursor", "invalid", "Invalid cursor.")
		}
	}
	return size, after, nil
}

// A cursor is the position of the last row of a page and no more: its order value and its place among equals.

func encodeCursor(s stored, column string) string {
	return base64.RawURLEncoding.EncodeToString(encode([]any{s.row[column], s.number()}))
}

func decodeCursor(token, column string) *stored {
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
	return &stored{binary.BigEndian.AppendUint64(nil, tie), row{column: parts[0]}}
}
