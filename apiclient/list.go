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

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/plane/resource"
)

const (
	maxPages      = 10_000
	maxRows       = 1_000_000
	maxEmptyPages = 3 // pages in a row without a new row
	smallestPage  = 10
)

// List reads every page of a list. A row that is on several pages, by its ID, is returned once.
func (c *Client) List(ctx context.Context, req Request) ([]resource.Row, error) {
	switch k := resource.MustLookup(req.Operation.Kind); {
	case k.Single:
		return c.readSingle(ctx, req)
	case k.Inside() != "":
		return c.readInside(ctx, req, k.Inside())
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

// readSingle reads a list of at most one object: the answer is the object, or that there is none.
func (c *Client) readSingle(ctx context.Context, req Request) ([]resource.Row, error) {
	resp, err := c.Do(ctx, req)
	switch {
	case errors.Is(err, ErrNotFound) && !errors.Is(err, ErrUnsupported):
		return []resource.Row{}, nil
	case err != nil:
		return nil, err
	case resp.Row != nil:
		if k := resource.MustLookup(req.Operation.Kind); k.Singleton && resp.Row.ID() == "" { // it gets the ID of its parent
			resp.Row["id"] = parentID(k, req)
		}
		return []resource.Row{resp.Row}, nil
	default:
		return resp.Rows, nil
	}
}

// readInside reads a list in a field of the parent's row. If the row lacks the field, the edition has no such objects.
func (c *Client) readInside(ctx context.Context, req Request, field string) ([]resource.Row, error) {
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

// parentID returns the ID of the parent of a list's objects, from its path. For the workspace, whose ID is in no path, it returns the zero
// UUID.
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

// Pages is [Client.List] page by page: a page is requested only after the rows of the previous one were taken. An error comes last. The
// order is the service's own, or order_by in the query, such as -created_at for the newest first.
func (c *Client) Pages(ctx context.Context, req Request) iter.Seq2[[]resource.Row, error] {
	return func(yield func([]resource.Row, error) bool) {
		l, err := c.newListing(req)
		for more := err == nil; more; {
			var rows []resource.Row
			if rows, more, err = l.readNext(ctx); err != nil || !yield(rows, nil) {
				break
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// listing is the state of reading a list.
type listing struct {
	c     *Client
	call  *call
	query url.Values

	sizeParam string // query parameter for the page size; "" = none
	sizes     []int  // page sizes to try, the best one first; 0 = without the parameter
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
		// The service silently reduces larger pages. A cursor needs a suitable order.
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
	if !call.op.V2() { // in v2 the parameter of this name has another range
		l.size = c.learned.pageSize(l.size, l.sizeParam)
	}
	l.writeQuery()
	return l, nil
}

// writeQuery writes the query for the next page.
func (ls *listing) writeQuery() {
	size, param := ls.size, ls.sizeParam
	// With a cursor, v1 ignores the page size and takes the size in the cursor.
	if n, _, ok := strings.Cut(ls.cursor, ":"); ok && positive(n) > 0 && !ls.call.op.V2() {
		size, param = positive(n), "per_page"
	}
	switch {
	case param == "":
	case size > 0:
		ls.query.Set(param, strconv.Itoa(size))
	default:
		ls.query.Del(param)
	}
	if ls.cursor != "" {
		ls.query.Set("cursor", ls.cursor)
		ls.query.Del("limit")
		ls.query.Del("offset")
	}
	if ls.cursor == "" && ls.byOffset && (ls.offset > 0 || size > 0) {
		ls.query.Set("offset", strconv.Itoa(ls.offset))
	}
	ls.call.shrinkable = size > smallestPage
	ls.call.query = ls.query.Encode()
}

// positive returns a number of a query or cursor; 0 = none.
func positive(text string) int {
	n, _ := strconv.Atoi(text)
	return max(n, 0)
}

// readNext reads a page, and returns the rows that were on no earlier page.
func (ls *listing) readNext(ctx context.Context) (rows []resource.Row, more bool, err error) {
	p, err := ls.fetch(ctx)
	if err != nil {
		return nil, false, err
	}
	ls.pages++
	identities := make([]string, len(p.rows))
	for i, row := range p.rows {
		identities[i] = identity(row)
	}
	same := ls.pages > 1 && len(p.rows) > 0 && slices.Equal(identities, ls.last)
	if !same {
		rows = ls.unseen(p.rows, identities)
	}
	ls.last = identities
	ls.rows += len(rows)
	ls.offset += len(p.rows)
	ls.emptyPages++
	if len(rows) > 0 {
		ls.emptyPages = 0
	}
	more, err = ls.nextPage(p, same)
	switch {
	case err != nil:
	case more && (ls.pages >= maxPages || ls.rows >= maxRows):
		err = fmt.Errorf("the list does not end: %d pages with %d rows", ls.pages, ls.rows)
	case more && ls.emptyPages >= maxEmptyPages:
		err = fmt.Errorf("the list does not go on: the last %d pages brought nothing new", ls.emptyPages)
	}
	if err != nil {
		return nil, false, ls.c.unexpected(ls.call, &answer{status: http.StatusOK, attempts: 1}, err)
	}
	if more {
		ls.writeQuery()
	}
	return rows, more, nil
}

// fetch reads one page. It asks for a smaller page if the service refuses the size or takes too long.
func (ls *listing) fetch(ctx context.Context) (*page, error) {
	for {
		a, err := ls.c.send(ctx, ls.call)
		if e, failed := errors.AsType[*Error](err); failed && (ls.refusedSize(e) || ls.shrink(e)) {
			ls.writeQuery()
			continue
		}
		if err != nil {
			return nil, err
		}
		if ls.pages == 0 && ls.size < ls.sizes[0] {
			ls.c.learned.boundPageSize(ls.call.op, ls.size)
		}
		if ls.bytes += a.size; ls.bytes > ls.c.maxListBytes {
			return nil, ls.c.unexpected(ls.call, a, fmt.Errorf("%w: the list has more than %d MiB", wire.ErrTooLarge, ls.c.maxListBytes>>20))
		}
		read := readPage
		if ls.call.op.V2() {
			read = ls.readEnvelope
		}
		p, err := read(a.value)
		for i := 0; err == nil && i < len(p.rows); i++ {
			err = ls.call.checkID(p.rows[i])
		}
		if err != nil {
			return nil, ls.c.unexpected(ls.call, a, err)
		}
		return p, nil
	}
}

// refusedSize reports whether the first page was refused because of its size, and selects the next size. A refusal that names the parameter
// applies to every list with that parameter.
func (ls *listing) refusedSize(e *Error) bool {
	next := slices.IndexFunc(ls.sizes, func(size int) bool { return size < ls.size })
	if ls.pages > 0 || next < 0 || e.Status != http.StatusBadRequest && !errors.Is(e.Err, wire.ErrTooLarge) {
		return false
	}
	ls.size = ls.sizes[next]
	if e.Status == http.StatusBadRequest && strings.Contains(e.Message, ls.sizeParam) {
		ls.c.learned.boundPageSize(ls.sizeParam, ls.size)
	}
	return true
}

// shrink divides the page size by four after a page that took too long or was too large. A cursor of v1, size:page:0, is converted to the
// smaller size; repeated rows are recognized by their IDs. A cursor of v2 contains no size.
func (ls *listing) shrink(e *Error) bool {
	if !ls.call.shrinkable || !e.TooSlow() && !errors.Is(e.Err, wire.ErrTooLarge) {
		return false
	}
	size := ls.size
	if ls.cursor != "" && !ls.call.op.V2() {
		parts := strings.Split(ls.cursor, ":")
		page, err := strconv.Atoi(parts[min(1, len(parts)-1)])
		if size = positive(parts[0]); len(parts) != 3 || size == 0 || err != nil {
			return false
		}
		smaller := max(size/4, smallestPage)
		ls.cursor = fmt.Sprintf("%d:%d:%s", smaller, page*size/smaller, parts[2])
	}
	ls.size, ls.last, ls.emptyPages = max(size/4, smallestPage), nil, 0
	ls.c.learned.boundPageSize(ls.call.op, ls.size)
	return true
}

// pageSize returns the best size of a page, or less if the service is known to refuse or delay that size for the operation, or for all
// lists with the parameter.
func (le *learned) pageSize(best int, operationOrParam any) int {
	bound, _ := le.page.Load(operationOrParam)
	if rows, known := bound.(int); known {
		return min(best, rows)
	}
	return best
}

// boundPageSize remembers that the service refuses or delays larger pages.
func (le *learned) boundPageSize(operationOrParam any, rows int) {
	le.page.Store(operationOrParam, le.pageSize(rows, operationOrParam))
}

// identity returns a row's ID, or its whole contents if it has none.
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

// unseen returns the rows that were on no earlier page. Rows without an ID are all returned.
func (ls *listing) unseen(rows []resource.Row, identities []string) []resource.Row {
	unseen := make([]resource.Row, 0, len(rows))
	for i, row := range rows {
		if !strings.HasPrefix(identities[i], "{") {
			if _, seen := ls.ids[identities[i]]; seen {
				continue
			}
			ls.ids[identities[i]] = struct{}{}
		}
		unseen = append(unseen, row)
	}
	return unseen
}

// nextPage decides from the answer whether there is another page, and how to ask for it. The documented parameters of the operation matter
// only if the answer does not show it.
func (ls *listing) nextPage(p *page, same bool) (more bool, err error) {
	if p.nextKnown {
		return ls.nextPageByCursor(p, same)
	}
	n := len(p.rows)
	announced := max(p.total, p.count)
	if n == 0 {
		return false, nil
	}
	if !ls.byOffset {
		// If the total shows a longer list, the service may accept an undocumented offset.
		ls.byOffset = announced > ls.offset
		ls.guessed = ls.byOffset
		return ls.guessed, nil
	}
	if same && ls.guessed && announced > ls.rows {
		return false, fmt.Errorf("the list has %d rows, but the service shows %d and no way to the rest", announced, ls.rows)
	}
	if same && ls.guessed {
		return false, nil
	}
	if same {
		// The service ignores the offset. If it gave no total, and not as many rows as requested, the first page was the whole list.
		if p.total < 0 && p.count < 0 && n != ls.size {
			return false, nil
		}
		return false, errors.New("the page repeats: the service ignores the offset, and the list may be longer")
	}
	if p.total >= 0 && ls.offset >= p.total {
		return false, nil
	}
	// "count" is the length of the whole list or of the page. It is ambiguous only for a first page of a round length.
	if p.total < 0 && p.count >= 0 && ls.offset >= p.count && (ls.pages > 1 && p.count != n || n%5 != 0) {
		return false, nil
	}
	return true, nil
}

func (ls *listing) nextPageByCursor(p *page, same bool) (more bool, err error) {
	if !p.more {
		return false, nil
	}
	if same {
		return false, errors.New("the page repeats, though the service says that there are more")
	}
	if p.cursor == "" {
		return false, errors.New("the service says that there are more rows, but not where")
	}
	if _, seen := ls.cursors[p.cursor]; seen {
		return false, errors.New("the cursor repeats, though the service says that there are more rows")
	}
	ls.cursors[p.cursor] = struct{}{}
	ls.cursor = p.cursor
	return true, nil
}

// page is an answer to a list request.
type page struct {
	rows      []resource.Row
	nextKnown bool // the answer shows whether there are more rows
	more      bool
	cursor    string
	total     int // rows of the whole list; -1 = unknown
	count     int // rows of the list or of the page; -1 = unknown
}

// readPage reads the answer of a list: a bare array, or an object with the rows in "results".
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

// readEnvelope reads a page of v2. A list without a cursor parameter may be a bare array, which is complete.
func (ls *listing) readEnvelope(v any) (*page, error) {
	p := &page{nextKnown: true}
	var err error
	if list, bare := v.([]any); bare && !slices.Contains(ls.call.op.Query, "cursor") {
		p.rows, err = rowsOf(list)
		return p, err
	}
	envelope, _ := v.(map[string]any)
	list, ok := envelope["data"].([]any)
	if !ok {
		return nil, errors.New(`"data" is not a list`)
	}
	if slices.Contains(ls.call.op.Query, "offset") {
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

// number returns a count in an answer; -1 = none.
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
