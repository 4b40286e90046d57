package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/wire"
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
	switch k := resource.MustLookup(req.Operation.Kind); {
	case k.Single:
		return c.single(ctx, req)
	case k.Inside != "":
		return c.inside(ctx, req, k.Inside)
	}
	all := []resource.Row{}
	for rows, err := range c.Pages(ctx, req) {
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// single reads a list of one object at most: the answer is the object, or that there is none.
func (c *Client) single(ctx context.Context, req Request) ([]resource.Row, error) {
	resp, err := c.Do(ctx, req)
	switch {
	case errors.Is(err, ErrNotFound) && !errors.Is(err, ErrUnsupported):
		return []resource.Row{}, nil
	case err != nil:
		return nil, err
	case resp.Row != nil:
		if k := resource.MustLookup(req.Operation.Kind); k.Singleton && resp.Row.ID() == "" { // it has that of its parent
			resp.Row["id"] = parentID(k, req)
		}
		return []resource.Row{resp.Row}, nil
	default:
		return resp.Rows, nil
	}
}

// inside reads a list that the row of the parent holds in a field. Where that has none, the edition has no such objects.
func (c *Client) inside(ctx context.Context, req Request, field string) ([]resource.Row, error) {
	resp, err := c.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	list, ok := resp.Row[field].([]any)
	if !ok {
		return nil, fmt.Errorf("%s: the answer has no list %q: %w", req.Operation, field, ErrUnsupported)
	}
	rows, err := rowsOf(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %q: %w", req.Operation, field, err)
	}
	return rows, nil
}

// parentID is the ID of what the objects of a list are in, by its path; of the workspace, whose ID no path has, that of none.
func parentID(k *resource.Kind, req Request) string {
	params := req.Params
	if params == nil {
		params, _ = req.Operation.Match(req.Path)
	}
	if parent, ok := resource.Lookup(k.Parent); ok {
		return params[parent.Param]
	}
	return "00000000-0000-0000-0000-000000000000"
}

// Pages is [Client.List] page by page: no page is requested before the last one's rows are
// taken. An error is the last element. The order is the service's own, or that of order_by
// in the query, such as -created_at for the newest first.
func (c *Client) Pages(ctx context.Context, req Request) iter.Seq2[[]resource.Row, error] {
	return func(yield func([]resource.Row, error) bool) {
		l, err := c.newListing(req)
		for more := err == nil; more; {
			var rows []resource.Row
			if rows, more, err = l.next(ctx); err != nil || !yield(rows, nil) {
				break
			}
		}
		if err != nil {
			yield(nil, err)
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
	size      int    // of the next page; 0 = the service's default
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
	l := &listing{c: c, call: call, query: url.Values{}, ids: map[string]struct{}{}, cursors: map[string]struct{}{}}
	maps.Copy(l.query, req.Query)
	l.call.limit = maxMany
	takes := func(param string) bool { return slices.Contains(call.op.Query, param) }
	switch {
	case call.op.V2():
		// Larger pages are cut without a word. A cursor needs an order that it can follow.
		l.sizeParam, l.sizes = "per_page", []int{200}
		if takes("offset") {
			break
		}
		for name, value := range map[string]string{"paginate": "cursor", "order_by": "created_at"} {
			if !l.query.Has(name) {
				l.query.Set(name, value)
			}
		}
	case takes("per_page"):
		l.sizeParam, l.sizes = "per_page", []int{1000, 100, 0}
	case takes("limit"):
		l.sizeParam, l.sizes = "limit", []int{100, 0}
	default:
		l.sizes = []int{0}
	}
	l.byOffset = takes("offset")
	l.offset, _ = strconv.Atoi(l.query.Get("offset"))
	if asked := positive(l.query.Get(l.sizeParam)); asked > 0 && l.sizeParam != "" {
		l.sizes = []int{asked}
	}
	l.size = c.learned.pageSize(l.sizes[0], call.op)
	if !call.op.V2() { // whose parameter of that name has another range
		l.size = c.learned.pageSize(l.size, l.sizeParam)
	}
	l.ask()
	return l, nil
}

// ask writes the query for the next page.
func (l *listing) ask() {
	size, param := l.size, l.sizeParam
	// v1 ignores the page size beside a cursor, and takes the one in it.
	if n, _, ok := strings.Cut(l.cursor, ":"); ok && positive(n) > 0 && !l.call.op.V2() {
		size, param = positive(n), "per_page"
	}
	switch {
	case param == "":
	case size > 0:
		l.query.Set(param, strconv.Itoa(size))
	default:
		l.query.Del(param)
	}
	if l.cursor != "" {
		l.query.Set("cursor", l.cursor)
		l.query.Del("limit")
		l.query.Del("offset")
	}
	if l.cursor == "" && l.byOffset && (l.offset > 0 || size > 0) {
		l.query.Set("offset", strconv.Itoa(l.offset))
	}
	l.call.hurried = size > smallestPage
	l.call.query = l.query.Encode()
}

// positive is a number of a query or cursor; 0 = none.
func positive(text string) int {
	n, _ := strconv.Atoi(text)
	return max(n, 0)
}

// next reads a page and returns the rows that were on no earlier one.
func (l *listing) next(ctx context.Context) (rows []resource.Row, more bool, err error) {
	p, err := l.fetch(ctx)
	if err != nil {
		return nil, false, err
	}
	l.pages++
	identities := make([]string, len(p.rows))
	for i, row := range p.rows {
		identities[i] = identity(row)
	}
	same := l.pages > 1 && len(p.rows) > 0 && slices.Equal(identities, l.last)
	if !same {
		rows = l.unseen(p.rows, identities)
	}
	l.last = identities
	l.rows += len(rows)
	l.offset += len(p.rows)
	l.emptyPages++
	if len(rows) > 0 {
		l.emptyPages = 0
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

// fetch reads one page, a smaller one where the service refuses the size or takes too long.
func (l *listing) fetch(ctx context.Context) (*page, error) {
	for {
		a, err := l.c.send(ctx, l.call)
		if e, failed := errors.AsType[*Error](err); failed && (l.refusedSize(e) || l.shrink(e)) {
			l.ask()
			continue
		}
		if err != nil {
			return nil, err
		}
		if l.pages == 0 && l.size < l.sizes[0] {
			l.c.learned.boundPageSize(l.call.op, l.size)
		}
		if l.bytes += a.size; l.bytes > l.c.maxListBytes {
			return nil, l.c.unexpected(l.call, a, fmt.Errorf("%w: the list has more than %d MiB", wire.ErrTooLarge, l.c.maxListBytes>>20))
		}
		read := readPage
		if l.call.op.V2() {
			read = l.readEnvelope
		}
		p, err := read(a.value)
		for i := 0; err == nil && i < len(p.rows); i++ {
			err = l.call.checkID(p.rows[i])
		}
		if err != nil {
			return nil, l.c.unexpected(l.call, a, err)
		}
		return p, nil
	}
}

// refusedSize reports whether the first page was refused for its size, and selects the next
// size. A refusal that names the parameter holds for every list with that parameter.
func (l *listing) refusedSize(e *Error) bool {
	next := slices.IndexFunc(l.sizes, func(size int) bool { return size < l.size })
	if l.pages > 0 || next < 0 || e.Status != http.StatusBadRequest && !errors.Is(e.Err, wire.ErrTooLarge) {
		return false
	}
	l.size = l.sizes[next]
	if e.Status == http.StatusBadRequest && strings.Contains(e.Message, l.sizeParam) {
		l.c.learned.boundPageSize(l.sizeParam, l.size)
	}
	return true
}

// shrink divides the page size by four after a page that took too long or was too large. A
// cursor of v1, size:page:0, is converted to the smaller size; rows that come twice are
// recognised by their IDs. One of v2 holds no size.
func (l *listing) shrink(e *Error) bool {
	if !l.call.hurried || !e.TooSlow() && !errors.Is(e.Err, wire.ErrTooLarge) {
		return false
	}
	size := l.size
	if l.cursor != "" && !l.call.op.V2() {
		parts := strings.Split(l.cursor, ":")
		page, err := strconv.Atoi(parts[min(1, len(parts)-1)])
		if size = positive(parts[0]); len(parts) != 3 || size == 0 || err != nil {
			return false
		}
		smaller := max(size/4, smallestPage)
		l.cursor = fmt.Sprintf("%d:%d:%s", smaller, page*size/smaller, parts[2])
	}
	l.size, l.last, l.emptyPages = max(size/4, smallestPage), nil, 0
	l.c.learned.boundPageSize(l.call.op, l.size)
	return true
}

// pageSize is the best size of a page, or less if the service is known to refuse or delay
// that for the operation, or for all lists with the parameter.
func (l *learned) pageSize(best int, operationOrParam any) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bound, ok := l.page[operationOrParam]; ok {
		return min(best, bound)
	}
	return best
}

// boundPageSize remembers that the service refuses or delays larger pages.
func (l *learned) boundPageSize(operationOrParam any, rows int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bound, ok := l.page[operationOrParam]; !ok || rows < bound {
		l.page[operationOrParam] = rows
	}
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
	unseen := make([]resource.Row, 0, len(rows))
	for i, row := range rows {
		if !strings.HasPrefix(identities[i], "{") {
			if _, seen := l.ids[identities[i]]; seen {
				continue
			}
			l.ids[identities[i]] = struct{}{}
		}
		unseen = append(unseen, row)
	}
	return unseen
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
		if p.total < 0 && p.count < 0 && n != l.size {
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

// readEnvelope reads a page of v2. A list without the parameter cursor may be a bare array, which is complete.
func (l *listing) readEnvelope(v any) (*page, error) {
	p := &page{nextKnown: true}
	var err error
	if list, bare := v.([]any); bare && !slices.Contains(l.call.op.Query, "cursor") {
		p.rows, err = rowsOf(list)
		return p, err
	}
	envelope, _ := v.(map[string]any)
	list, ok := envelope["data"].([]any)
	if !ok {
		return nil, errors.New(`"data" is not a list`)
	}
	if slices.Contains(l.call.op.Query, "offset") {
		p.nextKnown, p.total, p.count = false, number(envelope["total_count"]), -1
	} else if p.more, ok = envelope["has_more"].(bool); !ok {
		return nil, errors.New(`"has_more" is neither true nor false`)
	}
	if p.cursor, _ = envelope["next_cursor"].(string); p.more && p.cursor == "" {
		return nil, errors.New(`"has_more" is true, but there is no "next_cursor"`)
	}
	if p.rows, err = rowsOf(list); err != nil {
		return nil, err
	}
	for i, row := range p.rows {
		if row.ID() == "" {
			return nil, fmt.Errorf(`"data[%d].id" is no ID`, i)
		}
	}
	return p, nil
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
