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

// badQuery returns the answer to a wrong query parameter.
func badQuery(name, code, format string, args ...any) *problem {
	return invalidV2(fieldError{name, code, fmt.Sprintf(format, args...)})
}

// knowsOnly refuses a request with unknown parameters, because the service may heed them.
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

// selection returns the fields of an answer, as ?fields= names them.
func (rv *resourceV2) selection(c *call, listed bool) ([]string, *problem) {
	var valid, selected []string
	for _, f := range rv.fields {
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
		if name == "id" || slices.Contains(given, "all") || slices.Contains(given, name) || given == nil && !(listed && slices.Contains(strings.Fields(rv.deferred), name)) {
			selected = append(selected, name)
		}
	}
	return selected, nil
}

// value returns a field of a stored row as API v2 shows it.
func (rv *resourceV2) value(c *call, t *tx, r row, name string) any {
	if compute := rv.computed[name]; compute != nil {
		return compute(c, t, r)
	}
	return r[rv.column(name)]
}

// column returns the column of a field in the store.
func (rv *resourceV2) column(name string) string {
	if f := rv.byName[name]; f != nil {
		return f.column
	}
	return rv.kind.columnV2(name)
}

func (rv *resourceV2) render(c *call, t *tx, r row, fields []string) row {
	out := make(row, len(fields))
	for _, name := range fields {
		out[name] = rv.value(c, t, r, name)
	}
	return out
}

func (rv *resourceV2) readOne(c *call, t *tx) reply {
	sel, wrong := rv.selection(c, false)
	if wrong != nil {
		return wrong.reply()
	}
	s, wrong := rv.find(c, t, c.vars[rv.kind.param])
	if wrong != nil {
		return wrong.reply()
	}
	return reply{http.StatusOK, rv.render(c, t, s.row, sel)}
}

// all returns the list in order of creation.
func (rv *resourceV2) all(c *call, t *tx) []stored {
	if rv.rows != nil {
		return rv.rows(c, t)
	}
	return rv.kind.recordsIn(c, t)
}

// find returns a record of the collection.
func (rv *resourceV2) find(c *call, t *tx, id string) (stored, *problem) {
	if rv.rows != nil {
		for _, s := range rv.rows(c, t) {
			if rv.verbs == "single" || rv.value(c, t, s.row, "id") == id {
				return s, nil
			}
		}
		return stored{}, notFoundV2()
	}
	s, ok := t.getWithin(rv.kind, rv.kind.scope(c), id)
	if !ok {
		return stored{}, notFoundV2()
	}
	return s, nil
}

func (rv *resourceV2) list(c *call, t *tx) reply {
	sel, wrong := rv.selection(c, true)
	if wrong != nil {
		return wrong.reply()
	}
	known := []string{"per_page", "paginate", "order_by", "fields", "cursor", "is_draft"} // is_draft has no effect, because no list shows drafts
	if rv.byOffset {
		known = append(known, "offset")
	}
	if wrong := c.knowsOnly(known...); wrong != nil {
		return wrong.reply()
	}
	by, down := rv.ordering(c)
	column := rv.column(by)
	size, after, wrong := c.pageV2(by, column)
	if wrong != nil {
		return wrong.reply()
	}
	less := func(a, b stored) int {
		n := cmp.Or(compareColumn(a.row, b.row, column), byNumber(a, b))
		if down {
			n = -n
		}
		return n
	}
	found := c.ordered(t, func() []stored {
		found := rv.all(c, t)
		slices.SortFunc(found, less)
		return found
	})
	skip := 0
	for after != nil && skip < len(found) && less(found[skip], *after) <= 0 {
		skip++
	}
	if rv.byOffset {
		from, _ := strconv.Atoi(c.query.Get("offset"))
		skip = max(0, min(from, len(found)))
	}
	data := renderPart(found, skip, size, func(s stored) row { return rv.render(c, t, s.row, sel) })
	end := skip + len(data)
	if rv.byOffset || c.query.Get("paginate") != "cursor" && !c.query.Has("cursor") { // an answer with the total count
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

// ordering returns the field and the direction of a list. It ignores an unknown ?order_by=.
func (rv *resourceV2) ordering(c *call) (by string, down bool) {
	allowed := strings.Fields(rv.order)
	by, down = strings.CutPrefix(c.query.Get("order_by"), "-")
	if by == "" || !slices.Contains(allowed, by) && "-"+by != allowed[0] {
		by, down = strings.CutPrefix(allowed[0], "-")
	}
	return by, down
}

// pageV2 returns the number of rows that a request asks for, and the row after which they begin; nil is the first page.
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

// encodeCursor returns a cursor with the position of a page's last row: its order value and its number among equal rows.
func encodeCursor(s stored, column string) string {
	return base64.RawURLEncoding.EncodeToString(encode([]any{s.row[column], s.number()}))
}

func decodeCursor(token, column string) *stored {
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	v, _ := decodeJSON(raw)
	parts, _ := v.([]any)
	if len(parts) != 2 {
		return nil
	}
	n, _ := parts[1].(json.Number)
	tie, err := strconv.ParseUint(n.String(), 10, 64)
	if err != nil {
		return nil
	}
	return &stored{binary.BigEndian.AppendUint64(nil, tie), row{column: parts[0]}}
}
