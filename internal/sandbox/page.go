package sandbox

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

// paged answers with one page of a list of the given length. fetch returns
// size rows after the first skip.
func (c *call) paged(total int, fetch func(skip, size int) any) reply {
	if c.contract() {
		p := c.offsetPage()
		return reply{http.StatusOK, row{"results": fetch(p.skip, p.size), "count": total}}
	}
	p, wrong := c.cursorPage()
	if wrong != nil {
		return *wrong
	}
	results := fetch(p.skip, p.size)
	pages := (total + p.size - 1) / p.size
	return reply{http.StatusOK, row{
		"grouped_by":        nil,
		"sub_grouped_by":    nil,
		"total_count":       total,
		"next_cursor":       fmt.Sprintf("%d:%d:0", p.size, p.number+1),
		"prev_cursor":       fmt.Sprintf("%d:%d:1", p.size, p.number-1),
		"next_page_results": p.skip+p.size < total,
		"prev_page_results": p.number > 0,
		"count":             max(0, min(p.size, total-p.skip)),
		"total_pages":       pages,
		"total_results":     total,
		"extra_stats":       nil,
		"results":           results,
	}}
}

// cursorPage reads per_page and cursor as the running server does: of the
// cursor only the middle number counts, and nothing else is looked at.
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

// offsetPage reads limit and offset as documented. A list that is documented
// to take neither is given whole.
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

// renderPage pages a list and renders the rows of the page only.
func renderPage[T any](c *call, all []T, render func(T) row) reply {
	return c.paged(len(all), func(skip, size int) any { return renderPart(all, skip, size, render) })
}

// renderPart renders size rows of a list after the first skip.
func renderPart[T any](all []T, skip, size int, render func(T) row) []row {
	out := []row{}
	for _, v := range all[min(skip, len(all)):min(len(all), skip+size)] {
		out = append(out, render(v))
	}
	return out
}

// pageOf pages a list that is at hand.
func pageOf(c *call, all []row) reply { return renderPage(c, all, func(r row) row { return r }) }
