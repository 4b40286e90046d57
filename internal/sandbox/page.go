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

// window is the part of a list that a request asks for.
type window struct {
	skip, size int
	page       int
}

// paged answers with one window of a list of the given length. fetch returns
// size rows after the first skip.
func (c *call) paged(total int, fetch func(skip, size int) any) reply {
	return c.pagedBy(total, c.opts.PerPage, fetch)
}

func (c *call) pagedBy(total, perPage int, fetch func(skip, size int) any) reply {
	if c.contract() {
		w := c.offsetWindow()
		return reply{http.StatusOK, row{"results": fetch(w.skip, w.size), "count": total}}
	}
	w, wrong := c.cursorWindow(perPage)
	if wrong != nil {
		return *wrong
	}
	results := fetch(w.skip, w.size)
	pages := (total + w.size - 1) / w.size
	return reply{http.StatusOK, row{
		"grouped_by":        nil,
		"sub_grouped_by":    nil,
		"total_count":       total,
		"next_cursor":       fmt.Sprintf("%d:%d:0", w.size, w.page+1),
		"prev_cursor":       fmt.Sprintf("%d:%d:1", w.size, w.page-1),
		"next_page_results": w.skip+w.size < total,
		"prev_page_results": w.page > 0,
		"count":             max(0, min(w.size, total-w.skip)),
		"total_pages":       pages,
		"total_results":     total,
		"extra_stats":       nil,
		"results":           results,
	}}
}

// cursorWindow reads per_page and cursor as the running server does: of the
// cursor only the middle number counts, and nothing else is looked at.
func (c *call) cursorWindow(perPage int) (window, *reply) {
	w := window{size: perPage}
	if c.query.Has("per_page") {
		n, err := strconv.Atoi(c.query.Get("per_page"))
		switch {
		case err != nil:
			return w, new(refuse(http.StatusBadRequest, "detail", "Invalid per_page parameter."))
		case n > c.opts.PerPage:
			return w, new(refuse(http.StatusBadRequest, "detail", fmt.Sprintf("Invalid per_page value. Cannot exceed %d.", c.opts.PerPage)))
		}
		w.size = n
	}
	if c.query.Has("cursor") {
		parts := strings.Split(c.query.Get("cursor"), ":")
		if len(parts) != 3 {
			return w, new(refuse(http.StatusBadRequest, "detail", "Invalid cursor parameter."))
		}
		for i, p := range parts {
			n, err := strconv.Atoi(p)
			if err != nil {
				return w, new(refuse(http.StatusBadRequest, "detail", "Invalid cursor parameter."))
			}
			if i == 1 {
				w.page = n
			}
		}
	}
	if w.page < 0 {
		return w, new(refuse(http.StatusBadRequest, "detail", "Error in parsing"))
	}
	if w.size < 1 {
		return w, new(serverError())
	}
	w.skip = w.page * w.size
	return w, nil
}

// offsetWindow reads limit and offset as documented. A list that is documented
// to take neither is given whole.
func (c *call) offsetWindow() window {
	w := window{size: contractLimit}
	if c.route.whole {
		w.size = int(^uint(0) >> 2)
	}
	if n, err := strconv.Atoi(c.query.Get("limit")); err == nil && n > 0 {
		w.size = min(n, contractMaxLimit)
	}
	if n, err := strconv.Atoi(c.query.Get("offset")); err == nil && n > 0 {
		w.skip = n
	}
	return w
}

// pageOf pages a list that is at hand.
func pageOf[T any](c *call, all []T) reply {
	return c.paged(len(all), func(skip, size int) any {
		skip = min(skip, len(all))
		return all[skip:min(len(all), skip+size)]
	})
}
