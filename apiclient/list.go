package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

const (
	maxPages      = 10_000
	maxRows       = 1_000_000
	maxEmptyPages = 3 // pages in a row without a new row
	smallestPage  = 10
)

// List reads every page of a list. A row that is on several pages, by its ID, is returned
// once, as on the first.
func (c *Client) List(ctx context.Context, req Request) ([]resource.Row, error) {
	rows := []resource.Row{}
	for row, err := range c.All(ctx, req) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// All is [Client.List] row by row, reading a page at a time. An error is the last element.
func (c *Client) All(ctx context.Context, req Request) iter.Seq2[resource.Row, error] {
	return func(yield func(resource.Row, error) bool) {
		l, err := c.newListing(req)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			rows, more, err := l.next(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if !more {
				return
			}
		}
	}
}

// listing is a list that is being read.
type listing struct {
	c     *Client
	call  *call
	query url.Values

	sizeParam string // query parameter for the page size; "" = the operation has none
	sizes     []int  // page sizes to try, best first; 0 = without the parameter
	size      int    // index into sizes
	slow      int    // bound of the page size, since larger pages took too long; 0 = none
	byOffset  bool   // the operation takes an offset
	guessed   bool   // byOffset is a guess
	cursor    string // of the next page

	pages, rows, offset, emptyPages int
	bytes                           int64 // of all pages
	ids                             map[string]struct{}
	cursors                         map[string]struct{}
	last                            []string // identities of the last page's rows
}

func (c *Client) newListing(req Request) (*listing, error) {
	call, err := c.prepare(req)
	if err != nil {
		return nil, err
	}
	if call.op.Writes() {
		return nil, fmt.Errorf("%s is not a list", call.op)
	}
	l := &listing{
		c: c, call: call, query: url.Values{},
		ids: map[string]struct{}{}, cursors: map[string]struct{}{},
	}
	for name, values := range req.Query {
		l.query[name] = slices.Clone(values)
	}
	l.call.limit = maxMany
	l.sizes = []int{0}
	switch {
	case slices.Contains(call.op.Query, "per_page"):
		l.sizeParam, l.sizes = "per_page", []int{1000, 100, 0}
	case slices.Contains(call.op.Query, "limit"):
		l.sizeParam, l.sizes = "limit", []int{100, 0}
	}
	l.byOffset = slices.Contains(call.op.Query, "offset")
	l.offset, _ = strconv.Atoi(l.query.Get("offset"))
	if asked, err := strconv.Atoi(l.query.Get(l.sizeParam)); err == nil && l.sizeParam != "" {
		l.sizes = []int{asked}
	}
	l.size = min(c.learned.pageSize(call.op, l.sizeParam), len(l.sizes)-1)
	l.slow = c.learned.slowPage(call.op)
	l.ask()
	return l, nil
}

// ask writes the query for the next page.
func (l *listing) ask() {
	l.call.hurried = l.rowsAsked() > smallestPage
	if n := l.rowsAsked(); n > 0 && l.sizeParam != "" {
		l.query.Set(l.sizeParam, strconv.Itoa(n))
	} else if l.sizeParam != "" {
		l.query.Del(l.sizeParam)
	}
	switch {
	case l.cursor != "":
		// The service ignores the page size then, and takes the one in the cursor.
		if n, _, ok := strings.Cut(l.cursor, ":"); ok && isNumber(n) {
			l.query.Set("per_page", n)
			size, _ := strconv.Atoi(n)
			l.call.hurried = size > smallestPage
		}
		l.query.Set("cursor", l.cursor)
		l.query.Del("limit")
		l.query.Del("offset")
	case l.byOffset && (l.offset > 0 || l.sizes[l.size] > 0):
		l.query.Set("offset", strconv.Itoa(l.offset))
	}
	l.call.query = l.query.Encode()
}

// rowsAsked is the size of the next page; 0 = the service's default.
func (l *listing) rowsAsked() int {
	if n := l.sizes[l.size]; l.slow == 0 || n == 0 {
		return n
	}
	return min(l.sizes[l.size], l.slow)
}

func isNumber(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0
}

// next reads a page and returns the rows that were on no earlier one.
func (l *listing) next(ctx context.Context) (rows []resource.Row, more bool, err error) {
	p, err := l.fetch(ctx)
	if err != nil {
		return nil, false, err
	}
	l.pages++
	same, identities := l.sameAsLast(p.rows)
	if !same {
		rows = l.unseen(p.rows, identities)
	}
	l.rows += len(rows)
	l.offset += len(p.rows)
	l.last = identities
	if len(rows) > 0 {
		l.emptyPages = 0
	} else {
		l.emptyPages++
	}
	more, err = l.nextPage(p, same)
	switch {
	case err != nil:
	case more && (l.pages >= maxPages || l.rows >= maxRows):
		err = fmt.Errorf("the list does not end: %d pages with %d rows", l.pages, l.rows)
	case more && l.emptyPages >= maxEmptyPages:
		err = fmt.Errorf("the list does not go on: the last %d pages brought nothing new", l.emptyPages)
	}
	if err != nil {
		return nil, false, l.c.unexpected(l.call, &answer{status: http.StatusOK, attempts: 1}, err)
	}
	if more {
		l.ask()
	}
	return rows, more, nil
}

// fetch reads one page. If the first is refused for its size, it tries smaller ones and
// remembers the accepted size.
func (l *listing) fetch(ctx context.Context) (*page, error) {
	for {
		a, err := l.c.send(ctx, l.call)
		if l.pages == 0 && l.size < len(l.sizes)-1 && l.refusedSize(err) {
			l.ask()
			continue
		}
		if l.shrink(err) {
			l.ask()
			continue
		}
		if err != nil {
			return nil, err
		}
		if l.pages == 0 && len(l.sizes) > 1 {
			l.c.learned.setPageSize(l.call.op, l.size)
		}
		if l.bytes += a.size; l.bytes > l.c.maxListBytes {
			return nil, l.c.unexpected(l.call, a, fmt.Errorf("%w: the list has more than %d MiB", errTooLarge, l.c.maxListBytes>>20))
		}
		p, err := readPage(a.value)
		if err != nil {
			return nil, l.c.unexpected(l.call, a, err)
		}
		return p, nil
	}
}

// refusedSize reports whether a page was refused for its size, and selects a smaller one. A
// refusal that names the parameter holds for every list with that parameter.
func (l *listing) refusedSize(err error) bool {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return false
	case e.Status == http.StatusBadRequest && l.sizeParam != "" && strings.Contains(e.Message, l.sizeParam):
		l.size = min(l.c.learned.refusePageSize(l.sizeParam, l.size), len(l.sizes)-1)
		return true
	case e.Status == http.StatusBadRequest, errors.Is(err, errTooLarge):
		l.size++
		return true
	default:
		return false
	}
}

// shrink divides the page size by four after a page that took too long or was too large. A
// cursor of the form size:page:0 is converted to the smaller size; rows that come twice
// are recognised by their IDs.
func (l *listing) shrink(err error) bool {
	e, failed := errors.AsType[*Error](err)
	if !failed || !l.call.hurried || !e.tooSlow() && !errors.Is(err, errTooLarge) {
		return false
	}
	size, _ := strconv.Atoi(l.query.Get(l.sizeParam))
	smaller := max(size/4, smallestPage)
	if l.cursor != "" {
		parts := strings.Split(l.cursor, ":")
		page, err := strconv.Atoi(parts[min(1, len(parts)-1)])
		if len(parts) != 3 || !isNumber(parts[0]) || err != nil {
			return false
		}
		l.cursor = fmt.Sprintf("%d:%d:%s", smaller, page*size/smaller, parts[2])
	}
	l.slow, l.last, l.emptyPages = smaller, nil, 0
	l.c.learned.setSlowPage(l.call.op, smaller)
	return true
}

// slowPage is the bound of the operation's page size; 0 = none.
func (l *learned) slowPage(op *resource.Operation) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slow[op]
}

func (l *learned) setSlowPage(op *resource.Operation, rows int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have := l.slow[op]; have == 0 || rows < have {
		l.slow[op] = rows
	}
}

// pageSize is the index of the page size to try first.
func (l *learned) pageSize(op *resource.Operation, param string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.page[op], l.refused[param])
}

// setPageSize remembers the page size that the service accepted.
func (l *learned) setPageSize(op *resource.Operation, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page[op] = size
}

// refusePageSize remembers that the service refused a page size, and returns the index of the next one.
func (l *learned) refusePageSize(param string, size int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[param] = max(l.refused[param], size+1)
	return l.refused[param]
}

// sameAsLast reports whether the page has the same rows as the one before.
func (l *listing) sameAsLast(rows []resource.Row) (same bool, identities []string) {
	identities = make([]string, len(rows))
	for i, row := range rows {
		identities[i] = identity(row)
	}
	return l.pages > 1 && len(rows) > 0 && slices.Equal(identities, l.last), identities
}

// identity is a row's ID, or its whole content if it has none.
func identity(row resource.Row) string {
	switch id := row["id"].(type) {
	case string:
		if id != "" {
			return resource.LowerID(id)
		}
	case json.Number:
		return id.String()
	}
	text, err := json.Marshal(row) // sorts the keys
	if err != nil {
		return ""
	}
	return "{" + string(text)
}

// unseen leaves out rows that were on an earlier page. Rows without an ID are all kept.
func (l *listing) unseen(rows []resource.Row, identities []string) []resource.Row {
	newRows := make([]resource.Row, 0, len(rows))
	for i, row := range rows {
		if !strings.HasPrefix(identities[i], "{") {
			if _, seen := l.ids[identities[i]]; seen {
				continue
			}
			l.ids[identities[i]] = struct{}{}
		}
		newRows = append(newRows, row)
	}
	return newRows
}

// nextPage decides from the answer whether there is another page, and how to ask for it.
// The operation's documented parameters matter only where the answer does not say.
func (l *listing) nextPage(p *page, same bool) (more bool, err error) {
	if p.nextKnown {
		return l.nextPageByCursor(p, same)
	}
	n := len(p.rows)
	if n == 0 {
		return false, l.complete(p)
	}
	if !l.byOffset {
		// A list that is longer according to its total may take an undocumented offset.
		l.byOffset = max(p.total, p.count) > l.offset
		l.guessed = l.byOffset
		return l.guessed, nil
	}
	if same && l.guessed {
		return false, l.complete(p)
	}
	if same {
		// The service ignores the offset. If it gave no total, and not as many rows as were
		// asked for, the first page was the whole list.
		if p.total < 0 && p.count < 0 && n != l.rowsAsked() {
			return false, nil
		}
		return false, errors.New("the page repeats: the service ignores the offset, and the list may be longer")
	}
	if p.total >= 0 && l.offset >= p.total {
		return false, nil
	}
	// "count" is the length of the whole list or of the page. It is ambiguous only for a
	// first page of a round length.
	if p.total < 0 && p.count >= 0 && l.offset >= p.count && (l.pages > 1 && p.count != n || n%5 != 0) {
		return false, nil
	}
	return true, nil
}

func (l *listing) nextPageByCursor(p *page, same bool) (more bool, err error) {
	if !p.more {
		return false, nil
	}
	if same {
		return false, errors.New("the page repeats, though the service says that there are more")
	}
	if p.cursor == "" {
		return false, errors.New("the service says that there are more rows, but not where")
	}
	if _, seen := l.cursors[p.cursor]; seen {
		return false, errors.New("the cursor repeats, though the service says that there are more rows")
	}
	l.cursors[p.cursor] = struct{}{}
	l.cursor = p.cursor
	return true, nil
}

// complete is an error if a list ends before its announced length.
func (l *listing) complete(p *page) error {
	if announced := max(p.total, p.count); len(p.rows) > 0 && announced > l.rows {
		return fmt.Errorf("the list has %d rows, but the service shows %d and no way to the rest", announced, l.rows)
	}
	return nil
}

// page is one answer to a list request.
type page struct {
	rows      []resource.Row
	nextKnown bool // the answer says whether there are more
	more      bool
	cursor    string
	total     int // rows of the whole list; -1 = not given
	count     int // rows of the list or of the page; -1 = not given
}

// readPage reads a list's answer: a bare array, or an object with the rows in "results".
func readPage(v any) (*page, error) {
	p := &page{total: -1, count: -1}
	var list []any
	switch v := v.(type) {
	case []any:
		list = v
	case map[string]any:
		var ok bool
		if list, ok = v["results"].([]any); !ok {
			return nil, errors.New(`the answer is not a list: it is an object without an array "results"`)
		}
		p.more, p.nextKnown = v["next_page_results"].(bool)
		p.cursor, _ = v["next_cursor"].(string)
		p.count = number(v["count"])
		p.total = max(number(v["total_count"]), number(v["total_results"]))
	default:
		return nil, errors.New("the answer is not a list")
	}
	var err error
	p.rows, err = rowsOf(list)
	return p, err
}

// number is a count in an answer; -1 = none.
func number(v any) int {
	n, ok := v.(json.Number)
	if !ok {
		return -1
	}
	i, err := strconv.Atoi(n.String())
	if err != nil || i < 0 {
		return -1
	}
	return i
}
