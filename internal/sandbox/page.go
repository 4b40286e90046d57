package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	maxPerPage = 1000

	contractLimit    = 50
	contractMaxLimit = 100
)

// page is the part of a list that a request asks for.
type page struct {
	skip, size int
	number     int
}

// renderPage answers with one page of a list. It renders only the rows of the page.
func renderPage[T any](c *call, all []T, render func(T) row) reply {
	total := len(all)
	if c.answersByContract() {
		p := c.offsetPage()
		return reply{http.StatusOK, row{"results": renderPart(all, p.skip, p.size, render), "count": total}}
	}
	p, wrong := c.cursorPage()
	if wrong != nil {
		return *wrong
	}
	return reply{http.StatusOK, row{
		"grouped_by":        nil,
		"sub_grouped_by":    nil,
		"total_count":       total,
		"next_cursor":       fmt.Sprintf("%d:%d:0", p.size, p.number+1),
		"prev_cursor":       fmt.Sprintf("%d:%d:1", p.size, p.number-1),
		"next_page_results": p.skip+p.size < total,
		"prev_page_results": p.number > 0,
		"count":             max(0, min(p.size, total-p.skip)),
		"total_pages":       (total + p.size - 1) / p.size,
		"total_results":     total,
		"extra_stats":       nil,
		"results":           renderPart(all, p.skip, p.size, render),
	}}
}

// cursorPage reads per_page and cursor like the running server, which uses only the middle number of the cursor.
func (c *call) cursorPage() (page, *reply) {
	p := page{size: c.opts.PerPage}
	if c.query.Has("per_page") {
		n, err := strconv.Atoi(c.query.Get("per_page"))
		switch {
		case err != nil:
			return p, new(refuse(http.StatusBadRequest, "detail", "Invalid per_page parameter."))
		case n > c.opts.PerPage:
			return p, new(refuse(http.StatusBadRequest, "detail", fmt.Sprintf("Invalid per_page value. Cannot exceed %d.", c.opts.PerPage)))
		}
		p.size = n
	}
	if c.query.Has("cursor") {
		parts := strings.Split(c.query.Get("cursor"), ":")
		if len(parts) != 3 {
			return p, new(refuse(http.StatusBadRequest, "detail", "Invalid cursor parameter."))
		}
		for i, part := range parts {
			n, err := strconv.Atoi(part)
			if err != nil {
				return p, new(refuse(http.StatusBadRequest, "detail", "Invalid cursor parameter."))
			}
			if i == 1 {
				p.number = n
			}
		}
	}
	if p.number < 0 {
		return p, new(refuse(http.StatusBadRequest, "detail", "Error in parsing"))
	}
	if p.size < 1 {
		return p, new(serverError())
	}
	p.skip = p.number * p.size
	return p, nil
}

// offsetPage reads limit and offset as documented. A list without documented paging is given whole.
func (c *call) offsetPage() page {
	p := page{size: contractLimit}
	if c.route.unpaged {
		p.size = int(^uint(0) >> 2)
	}
	if n, err := strconv.Atoi(c.query.Get("limit")); err == nil && n > 0 {
		p.size = min(n, contractMaxLimit)
	}
	if n, err := strconv.Atoi(c.query.Get("offset")); err == nil && n > 0 {
		p.skip = n
	}
	return p
}

// renderPart renders size rows of a list after the first skip rows.
func renderPart[T any](all []T, skip, size int, render func(T) row) []row {
	out := []row{}
	for _, v := range all[min(skip, len(all)):min(len(all), skip+size)] {
		out = append(out, render(v))
	}
	return out
}

// pageOf answers with a page of rows.
func pageOf(c *call, all []row) reply { return renderPage(c, all, func(r row) row { return r }) }

// listCache keeps the last list that was made, for a walk over its pages. It is valid until the next write.
type listCache struct {
	mu    sync.Mutex
	key   string
	found []stored
}

// ordered returns the list that a request asks for, in its order, from the cache or by find.
func (c *call) ordered(t *tx, find func() []stored) []stored {
	l := &c.lastList
	query := maps.Clone(c.query)
	for _, name := range []string{"cursor", "per_page", "paginate", "fields", "limit", "offset"} {
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

// compareColumn compares a column of two rows, which holds a number or a text. Null comes last, as in PostgreSQL.
func compareColumn(a, b row, name string) int {
	if null := a[name] == nil; null != (b[name] == nil) {
		return map[bool]int{true: 1, false: -1}[null]
	}
	return cmp.Or(cmp.Compare(number(a, name), number(b, name)), strings.Compare(text(a, name), text(b, name)))
}
