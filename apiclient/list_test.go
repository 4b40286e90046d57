package apiclient_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// id returns the n-th UUID.
func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// records returns the rows from, to-1 as JSON.
func records(from, to int) string {
	rows := make([]string, 0, max(0, to-from))
	for n := from; n < to; n++ {
		rows = append(rows, `{"id":"`+id(n)+`","name":"row `+strconv.Itoa(n)+`"}`)
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// asked returns a number of the query.
func asked(q url.Values, name string, otherwise int) int {
	n, err := strconv.Atoi(q.Get(name))
	if err != nil {
		return otherwise
	}
	return n
}

// pager returns the status and body for a query of a list.
type pager func(q url.Values) (int, string)

// cursors pages like the real server.
func cursors(total int) pager {
	return func(q url.Values) (int, string) {
		size := asked(q, "per_page", 1000)
		switch {
		case size > 1000:
			return 400, `{"detail":"Invalid per_page value. Cannot exceed 1000."}`
		case size < 1:
			return 500, `{}`
		}
		page := 0
		if c := q.Get("cursor"); c != "" {
			page, _ = strconv.Atoi(strings.Split(c, ":")[1])
		}
		from, to := min(page*size, total), min((page+1)*size, total)
		return 200, fmt.Sprintf(`{"grouped_by":null,"total_count":%d,"next_cursor":"%d:%d:0","prev_cursor":"x","next_page_results":%t,"count":%d,"total_pages":9,"total_results":%d,"results":%s}`,
			total, size, page+1, to < total, to-from, total, records(from, to))
	}
}

// offsets pages like the contract: limit and offset, in a wrapper with %s for the rows and, if it has one, %d for a count.
func offsets(total, most int, wrapper string, count func(total, rows int) int) pager {
	return func(q url.Values) (int, string) {
		size := min(asked(q, "limit", 50), most)
		from := min(asked(q, "offset", 0), total)
		to := min(from+size, total)
		if count == nil {
			return 200, fmt.Sprintf(wrapper, records(from, to))
		}
		return 200, fmt.Sprintf(wrapper, records(from, to), count(total, to-from))
	}
}

func ofList(total, _ int) int { return total }
func ofPage(_, rows int) int  { return rows }

const bare = `%s`

func TestListsAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	const results = `{"results":%s}`
	ignores := func(format string, n int) pager {
		return func(url.Values) (int, string) { return 200, fmt.Sprintf(format, records(0, n)) }
	}
	tests := []struct {
		name     string
		op       int // 18 takes limit and offset, 14 takes nothing, 0 is a wider one that takes per_page and cursor, -2 one of API v2 without a cursor
		service  pager
		rows     int
		requests int
	}{
		{"cursor", 0, cursors(2500), 2500, 3},
		{"cursor, exactly a page", 0, cursors(1000), 1000, 1},
		{"cursor, empty", 0, cursors(0), 0, 1},
		{"cursor, though limit and offset are documented", 18, cursors(2500), 2500, 3},
		{"cursor, though nothing is documented", 14, cursors(2500), 2500, 3},
		{"cursor, page size refused", 0, func(q url.Values) (int, string) {
			if asked(q, "per_page", 0) > 100 {
				return 400, `{"detail":"Invalid per_page value. Cannot exceed 100."}`
			}
			return cursors(250)(q)
		}, 250, 4},
		{"cursor, any page size refused", 0, func(q url.Values) (int, string) {
			if q.Has("per_page") && !q.Has("cursor") {
				return 400, `{}`
			}
			return cursors(250)(q)
		}, 250, 3},
		{"a cursor of another form", 0, func(q url.Values) (int, string) {
			switch q.Get("cursor") {
			case "":
				return 200, `{"results":` + records(0, 2) + `,"next_page_results":true,"next_cursor":"abc=="}`
			case "abc==":
				return 200, `{"results":` + records(2, 3) + `,"next_page_results":false,"next_cursor":null}`
			}
			return 500, `{}`
		}, 3, 2},
		{"offset, bare array", 18, offsets(250, 100, bare, nil), 250, 4},
		{"offset, bare array, the server gives fewer than asked", 18, offsets(120, 50, bare, nil), 120, 4},
		{"offset, API v2", -2, func(q url.Values) (int, string) {
			from, to := min(asked(q, "offset", 0), 450), min(asked(q, "offset", 0)+asked(q, "per_page", 50), 450)
			return 200, fmt.Sprintf(`{"data":%s,"next":%d,"previous":null,"total_count":450,"pagination":{"style":"offset"}}`, records(from, to), to)
		}, 450, 3},
		{"offset, API v2, without a count", -2, offsets(120, 200, `{"data":%s,"next":null,"pagination":{"style":"offset"}}`, nil), 120, 4},
		{"offset, results", 18, offsets(250, 100, results, nil), 250, 4},
		{"offset, results and count of the list", 18, offsets(250, 100, `{"results":%s,"count":%d}`, ofList), 250, 3},
		{"offset, results and count of the list, one page", 18, offsets(7, 100, `{"results":%s,"count":%d}`, ofList), 7, 1},
		{"offset, results and count of the list, one round page", 18, offsets(100, 100, `{"results":%s,"count":%d}`, ofList), 100, 2},
		{"offset, results and count of the page", 18, offsets(250, 100, `{"results":%s,"count":%d}`, ofPage), 250, 4},
		{"offset, results and count of the page, the server gives fewer than asked", 18, offsets(120, 50, `{"results":%s,"count":%d}`, ofPage), 120, 4},
		{"offset, results and total_count", 18, offsets(250, 100, `{"results":%s,"total_count":%d}`, ofList), 250, 3},
		{"offset, results and total_results", 18, offsets(250, 30, `{"results":%s,"total_results":%d}`, ofList), 250, 9},
		{"offset, limit refused", 18, func(q url.Values) (int, string) {
			if q.Has("limit") {
				return 400, `{}`
			}
			return offsets(120, 50, results, nil)(q)
		}, 120, 5},
		{"offset ignored, bare array", 18, ignores(bare, 7), 7, 2},
		{"offset ignored, results", 18, ignores(results, 250), 250, 2},
		{"offset ignored, results with the count", 18, ignores(`{"results":%s,"count":7}`, 7), 7, 1},
		{"nothing documented, bare array", 14, ignores(bare, 250), 250, 1},
		{"nothing documented, results", 14, ignores(results, 250), 250, 1},
		{"per_page documented, bare array", 0, ignores(bare, 250), 250, 1},
		{"an empty bare array takes one request", 18, ignores(bare, 0), 0, 1},
		{"empty results take one request", 18, ignores(results, 0), 0, 1},
		{"rows without an ID are all returned", 14, func(url.Values) (int, string) { return 200, `[{"name":"x"},{"name":"x"},{}]` }, 3, 1},
		{"rows without ID, offset ignored", 18, func(url.Values) (int, string) { return 200, `[{"name":"x"},{"name":"x"},{}]` }, 3, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var queries []string
			c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				queries = append(queries, r.URL.RawQuery)
				code, body := test.service(r.URL.Query())
				status(code, body)(w, r)
			}))
			rows, err := c.List(t.Context(), request(listOp(t, test.op)))
			if err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(queries, "\n"))
			}
			if len(rows) != test.rows || len(queries) != test.requests {
				t.Errorf("%d rows instead of %d, %d requests instead of %d:\n%s", len(rows), test.rows, len(queries), test.requests, strings.Join(queries, "\n"))
			}
			for i, row := range rows {
				if name, _ := row["name"].(string); strings.HasPrefix(name, "row ") && name != "row "+strconv.Itoa(i) {
					t.Errorf("row %d is %v", i, row)
					break
				}
			}
		})
	}
}

func listOp(tb testing.TB, number int) *resource.Operation {
	tb.Helper()
	switch number {
	case 0:
		return wider(tb, "{project_id}/work-items/")
	case -2:
		return wider(tb, "relation-definitions/")
	}
	return documented(tb, number)
}

func TestARefusedPageSizeIsRemembered(t *testing.T) {
	t.Parallel()
	const over = `{"detail":"Invalid per_page value. Cannot exceed 100."}`
	lists := []*resource.Operation{wider(t, "{project_id}/work-items/"), wider(t, "/states/"), wider(t, "/labels/")}
	for name, tt := range map[string]struct {
		refusal  string
		requests int // for each list twice
	}{
		"for all lists, where the refusal names the parameter":          {over, 1 + 3 + 3},
		"for all lists, where the refusal has the parameter as a field": {`{"per_page":["At most 100."]}`, 1 + 3 + 3},
		"for that list, where the refusal says nothing":                 {`{}`, 3 + 3 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var queries []string
			c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				queries = append(queries, r.URL.RawQuery)
				if asked(r.URL.Query(), "per_page", 0) > 100 {
					status(400, tt.refusal)(w, r)
					return
				}
				status(cursors(5)(r.URL.Query()))(w, r)
			}))
			for range 2 {
				for _, op := range lists {
					if rows, err := c.List(t.Context(), request(op)); err != nil || len(rows) != 5 {
						t.Fatalf("%d rows, %v", len(rows), err)
					}
				}
			}
			if len(queries) != tt.requests {
				t.Errorf("%d requests instead of %d:\n%s", len(queries), tt.requests, strings.Join(queries, "\n"))
			}
		})
	}
}

func TestListsOfTheSandboxAreComplete(t *testing.T) {
	t.Parallel()
	states := wider(t, "/states/")
	for name, tt := range map[string]struct {
		op      *resource.Operation
		rows    int
		options sandboxtest.Options
		queries []string // of the list, twice
	}{
		"1000 rows a page, as the community edition gives": {states, 5, sandboxtest.Options{}, []string{"per_page=1000", "per_page=1000"}},
		"100 rows a page, as the cloud edition gives": {states, 5, sandboxtest.Options{PerPage: 100}, []string{
			"per_page=1000", "per_page=100", "per_page=100",
		}},
		"fewer than are tried, by the cursor": {states, 5, sandboxtest.Options{PerPage: 3}, []string{
			"per_page=1000", "per_page=100", "", "cursor=3%3A1%3A0&per_page=3", "", "cursor=3%3A1%3A0&per_page=3",
		}},
		"by offset, as one of API v2 has it": {wider(t, "relation-definitions/"), 1, sandboxtest.Options{Edition: sandbox.Cloud}, []string{
			"offset=0&per_page=200", "offset=0&per_page=200",
		}},
		"by offset, as the contract has it": {documented(t, 18), 2, sandboxtest.Options{Answers: sandbox.Contract}, []string{
			"limit=100&offset=0", "limit=100&offset=0",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sandboxtest.Open(tt.options)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var queries []string
			server := listenHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				queries = append(queries, r.URL.RawQuery)
				s.ServeHTTP(w, r)
			}))
			c := client(t, server, func(cfg *apiclient.Config) { cfg.Credential = apiclient.APIKey(sandbox.Key) })
			for range 2 {
				rows, err := c.List(t.Context(), apiclient.Request{Operation: tt.op, Params: map[string]string{"project_id": sandboxtest.ProjectWeb}})
				if err != nil || len(rows) != tt.rows {
					t.Fatalf("%d rows, %v", len(rows), err)
				}
			}
			if !slices.Equal(queries, tt.queries) {
				t.Errorf("asked %q", queries)
			}
		})
	}
}

func TestTheCallersQueryIsKept(t *testing.T) {
	t.Parallel()
	var queries []string
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		status(cursors(5)(r.URL.Query()))(w, r)
	}))
	req := request(listOp(t, 0))
	req.Query = url.Values{"per_page": {"2"}, "fields": {"id,name"}}
	rows, err := c.List(t.Context(), req)
	want := []string{"fields=id%2Cname&per_page=2", "cursor=2%3A1%3A0&fields=id%2Cname&per_page=2", "cursor=2%3A2%3A0&fields=id%2Cname&per_page=2"}
	if err != nil || len(rows) != 5 || !slices.Equal(queries, want) {
		t.Errorf("%d rows, %v, %q", len(rows), err, queries)
	}
	if len(req.Query) != 2 {
		t.Errorf("the caller's query was changed: %v", req.Query)
	}
}

func TestRowsThatMoveBetweenPagesAreReturnedOnce(t *testing.T) {
	t.Parallel()
	// A newer row is added before each further page, so the last row of a page is repeated on the next page.
	for name, service := range map[string]func(added, skip int) string{
		"offset": func(added, skip int) string { return records(skip-added, min(skip-added+100, 250)) },
		"cursor": func(added, skip int) string {
			return fmt.Sprintf(`{"results":%s,"next_page_results":%t,"next_cursor":"100:%d:0"}`,
				records(skip-added, min(skip-added+100, 250)), skip-added+100 < 250, skip/100+1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			added := -1
			c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				added++
				skip := asked(r.URL.Query(), "offset", 0)
				if c := r.URL.Query().Get("cursor"); c != "" {
					page, _ := strconv.Atoi(strings.Split(c, ":")[1])
					skip = page * 100
				}
				status(200, service(added, skip))(w, r)
			}))
			rows, err := c.List(t.Context(), request(documented(t, 18)))
			if err != nil || len(rows) != 250 {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		})
	}
}

func TestInvalidListsAreErrors(t *testing.T) {
	t.Parallel()
	page := 0
	tests := []struct {
		name    string
		op      int
		service pager
		says    string
	}{
		{"a cursor may not repeat", 0, func(q url.Values) (int, string) {
			n := len(q.Get("cursor"))
			return 200, `{"results":` + records(n, n+1) + `,"next_page_results":true,"next_cursor":"1:1:0"}`
		}, "cursor repeats"},
		{"two cursors may not take turns", 0, func(q url.Values) (int, string) {
			next := map[string]string{"": "1:1:0", "1:1:0": "1:2:0", "1:2:0": "1:1:0"}[q.Get("cursor")]
			n := int(next[2])
			return 200, `{"results":` + records(n, n+1) + `,"next_page_results":true,"next_cursor":"` + next + `"}`
		}, "cursor repeats"},
		{"a page may not repeat", 0, func(q url.Values) (int, string) {
			return 200, `{"results":` + records(0, 3) + `,"next_page_results":true,"next_cursor":"1:1` + q.Get("cursor") + `:0"}`
		}, "page repeats"},
		{"two pages may not take turns", 0, func(q url.Values) (int, string) {
			n := len(q.Get("cursor")) % 2
			return 200, `{"results":` + records(n, n+1) + `,"next_page_results":true,"next_cursor":"1:1:` + q.Get("cursor") + `0"}`
		}, "nothing new"},
		{"empty pages may not go on without end", 0, func(q url.Values) (int, string) {
			return 200, `{"results":[],"next_page_results":true,"next_cursor":"1:1:` + q.Get("cursor") + `0"}`
		}, "nothing new"},
		{"more, but no cursor", 0, func(url.Values) (int, string) {
			return 200, `{"results":` + records(0, 3) + `,"next_page_results":true,"next_cursor":null}`
		}, "not where"},
		{"offset ignored, and a count that is higher", 18, func(url.Values) (int, string) {
			return 200, `{"results":` + records(0, 3) + `,"count":10}`
		}, "page repeats"},
		{"offset ignored, and just as many as asked for", 18, func(url.Values) (int, string) { return 200, records(0, 100) }, "page repeats"},
		{"no way to the rest", 14, func(url.Values) (int, string) {
			return 200, `{"results":` + records(0, 3) + `,"total_count":10}`
		}, "no way to the rest"},
		{"no way to the rest, of which only the count tells", 0, func(url.Values) (int, string) {
			return 200, `{"results":` + records(0, 3) + `,"count":10}`
		}, "no way to the rest"},
		{"rows may not go on without end", 18, func(url.Values) (int, string) {
			page++
			return 200, records(page, page+1)
		}, "does not end"},
		{"an object is not a list", 18, func(url.Values) (int, string) { return 200, `{"id":"x"}` }, "not a list"},
		{"results that are an object are not a list", 18, func(url.Values) (int, string) { return 200, `{"results":{"a":[]}}` }, "not a list"},
		{"results that are null are not a list", 18, func(url.Values) (int, string) { return 200, `{"results":null}` }, "not a list"},
		{"a text is not a list", 18, func(url.Values) (int, string) { return 200, `"x"` }, "not a list"},
		{"an entry of a list may not be a text", 18, func(url.Values) (int, string) { return 200, `["x"]` }, "entry 1"},
		{"an entry of a list may not be null", 18, func(url.Values) (int, string) { return 200, `{"results":[{},null]}` }, "entry 2"},
		{"a number is no ID of a row", 18, func(url.Values) (int, string) { return 200, `[{"id":1}]` }, `the ID "1", which is no UUID`},
		{"a path is no ID of a row", 18, func(url.Values) (int, string) { return 200, `[{},{"id":"../../x"}]` }, `the ID "../../x", which is no UUID`},
		{"an empty answer is not a list", 18, func(url.Values) (int, string) { return 200, `` }, "empty"},
		{"a web page asks whether the base URL is right", 18, func(url.Values) (int, string) { return 200, `<html>Log in</html>` }, "is the base URL right?"},
		{"a list with too many values is too large", 18, func(url.Values) (int, string) { return 200, `[` + strings.Repeat(`0,`, 4_000_000) + `0]` }, "too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
				cfg.Transport = scripted(func(r *http.Request) (*http.Response, error) {
					return reply(test.service(r.URL.Query())), nil
				})
			})
			rows, err := c.List(t.Context(), request(listOp(t, test.op)))
			e, ok := errors.AsType[*apiclient.Error](err)
			if !ok || rows != nil || !strings.Contains(e.Error(), test.says) || e.Attempts != 1 {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		})
	}
}

func TestATooLargePageIsReadInSmallerOnes(t *testing.T) {
	t.Parallel()
	tooLarge := strings.Repeat(" ", 65<<20)
	c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
		cfg.Transport = scripted(func(r *http.Request) (*http.Response, error) {
			if asked(r.URL.Query(), "per_page", 0) > 100 {
				return reply(200, tooLarge), nil
			}
			return reply(cursors(700)(r.URL.Query())), nil
		})
	})
	rows, err := c.List(t.Context(), request(listOp(t, 0)))
	if err != nil || len(rows) != 700 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	for n, row := range rows {
		if row.ID() != id(n) {
			t.Fatalf("row %d is %s", n, row.ID())
		}
	}
}

func TestReadingAListCanStopAfterAnyPage(t *testing.T) {
	t.Parallel()
	var queries []string
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		status(cursors(5000)(r.URL.Query()))(w, r)
	}))
	req := request(listOp(t, 0))
	req.Query = url.Values{"order_by": {"-created_at"}}
	seen := 0
	for rows, err := range c.Pages(t.Context(), req) {
		if seen += len(rows); err != nil || seen >= 1500 {
			break
		}
	}
	want := []string{"order_by=-created_at&per_page=1000", "cursor=1000%3A1%3A0&order_by=-created_at&per_page=1000"}
	if seen != 2000 || !slices.Equal(queries, want) {
		t.Errorf("%d rows, %q", seen, queries)
	}
}

func TestReadReturnsListsAndObjects(t *testing.T) {
	t.Parallel()
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/comments/") {
			status(200, `{"name":"one"}`)(w, r)
			return
		}
		status(200, records(0, 2))(w, r)
	}))
	for number, want := range map[int]int{14: 2, 16: 1} {
		op := documented(t, number)
		path, err := c.Path(op, params(op))
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := c.Read(t.Context(), op, path, nil); err != nil || len(rows) != want {
			t.Errorf("operation %d: %v, %v", number, rows, err)
		}
	}
	op := documented(t, 16)
	path, _ := c.Path(op, params(op))
	list := setup(t, status(200, records(0, 1)))
	if rows, err := list.Read(t.Context(), op, path, nil); err == nil {
		t.Errorf("a list is taken for a record: %v", rows)
	}
	if _, err := c.List(t.Context(), request(documented(t, 1))); err == nil {
		t.Error("a create is taken for a list")
	}
}

func TestAReadCanAskForSomeFields(t *testing.T) {
	t.Parallel()
	var queries []string
	s, err := sandboxtest.Open(sandboxtest.Options{PerPage: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := client(t, listenHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		s.ServeHTTP(w, r)
	})), func(cfg *apiclient.Config) { cfg.Credential = apiclient.APIKey(sandbox.Key) })
	op := wider(t, "/states/")
	path, err := c.Path(op, map[string]string{"project_id": sandboxtest.ProjectWeb})
	if err != nil {
		t.Fatal(err)
	}
	query := url.Values{"fields": {"id,name"}, "per_page": {"2"}}
	rows, err := c.Read(t.Context(), op, path, query)
	if err != nil || len(rows) != 5 || len(rows[0]) != 2 || rows[0]["name"] == "" {
		t.Errorf("%v, %v", rows, err)
	}
	want := []string{"fields=id%2Cname&per_page=2", "cursor=2%3A1%3A0&fields=id%2Cname&per_page=2", "cursor=2%3A2%3A0&fields=id%2Cname&per_page=2"}
	if !slices.Equal(queries, want) {
		t.Errorf("asked %q", queries)
	}
	op = wider(t, "/states/{state_id}/")
	path, _ = c.Path(op, map[string]string{"project_id": sandboxtest.ProjectWeb, "state_id": rows[0].ID()})
	if one, err := c.Read(t.Context(), op, path, url.Values{"fields": {"id"}}); err != nil || len(one) != 1 || len(one[0]) != 1 {
		t.Errorf("%v, %v", one, err)
	}
}

// FuzzList reads lists from a server with arbitrary answers, twice.
func FuzzList(f *testing.F) {
	for _, body := range []string{
		records(0, 3), `{"results":` + records(0, 3) + `,"next_page_results":true,"next_cursor":"2:1:0"}`, `{"results":[],"count":0}`,
		`{"results":[{"id":1},{"id":"1"},{}],"total_count":1e3,"count":-1}`, `null`, `"`, `[[[[`, `{"results":null}`, `<html>`, "\xff", ` `, `{"next_cursor":{}}`,
		`{"data":` + records(0, 3) + `,"next_cursor":"a","has_more":true}`,
	} {
		f.Add(body, `[]`)
		f.Add(body, body)
	}
	f.Add(`{"results":[`+good(0)+`,`+bad+`],"succeeded":1,"failed":1}`, `[]`)
	f.Add(`{"results":[{"index":0,"result":"created","id":"7"},{"index":1,"result":"created","id":""}],"succeeded":2,"failed":0}`, `[]`)
	f.Fuzz(func(t *testing.T, first, second string) {
		n := 0
		c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
			cfg.Transport = scripted(func(*http.Request) (*http.Response, error) {
				if n++; n == 1 {
					return reply(200, first), nil
				}
				return reply(200, second), nil
			})
		})
		for _, op := range []*resource.Operation{listOp(t, 18), listOp(t, 14), listOp(t, 0), v2List()} {
			n = 0
			rows, err := c.List(t.Context(), request(op))
			if _, ok := errors.AsType[*apiclient.Error](err); err != nil && (!ok || rows != nil) {
				t.Errorf("rows %v, error %v", rows, err)
			}
			if n > 10 {
				t.Errorf("%d requests for two different answers", n)
			}
			seen := map[string]bool{}
			for _, row := range rows {
				if row.ID() != "" && seen[row.ID()] {
					t.Errorf("%s is there twice", row.ID())
				}
				seen[row.ID()] = true
			}
			if err == nil && rows == nil {
				t.Error("neither rows nor an error")
			}
		}
		n = 0
		results, err := c.Bulk(t.Context(), request(v2(resource.Create, "POST", "bulk-create/")), "created", 2)
		if err == nil && len(results) != 2 || err != nil && results != nil {
			t.Errorf("results %v, error %v", results, err)
		}
		for i, r := range results {
			if r.ID != "" && (!resource.IsID(r.ID) || r.Err != nil || slices.ContainsFunc(results[:i], func(o apiclient.RowResult) bool { return o.ID == r.ID })) {
				t.Errorf("only a row that was done has an ID, which is a UUID and no other row's: %v", results)
			}
		}
	})
}

// FuzzErrorBody reads arbitrary bodies of errors.
func FuzzErrorBody(f *testing.F) {
	for _, r := range complaints(f) {
		f.Add(r.Status, r.ContentType, r.Body)
	}
	f.Fuzz(func(t *testing.T, code int, kind, body string) {
		if code < 400 || code > 599 {
			code = 400
		}
		c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
			cfg.MaxElapsed = 1
			cfg.Transport = scripted(func(*http.Request) (*http.Response, error) {
				return reply(code, body, "Content-Type", kind), nil
			})
		})
		e := failure(t, c, documented(t, 1))
		text := e.Error()
		if len(text) > 20_000 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) {
			t.Errorf("%d bytes: %q", len(text), text)
		}
		if e.Status != code {
			t.Errorf("status %d instead of %d", e.Status, code)
		}
		if _, err := json.Marshal(e.Fields); err != nil {
			t.Error(err)
		}
	})
}

// TestPagesGetSmallerAfterOneThatTakesTooLong uses a service that delivers only some
// rows in time. Every row comes once, and the next list begins with small pages.
func TestPagesGetSmallerAfterOneThatTakesTooLong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		most  func(page int) int // rows that come in time
		rows  int
		sizes string // in the order of the requests of the first list
	}{
		"the first page is too large":     {func(int) int { return 300 }, 700, "1000 250 250 250"},
		"pages get smaller a second time": {func(int) int { return 70 }, 130, "1000 250 62 62 62"},
		"a later page is too large":       {func(n int) int { return []int{1000, 1000, 300}[min(n, 2)] }, 2400, "1000 1000 1000 250 250"},
		"pages get as small as they may":  {func(int) int { return 10 }, 15, "1000 250 62 15 10 10"},
	} {
		for how, slow := range map[string]func() (*http.Response, error){
			"no answer": func() (*http.Response, error) { pass(time.Minute); return nil, errors.New("cut") },
			"504":       func() (*http.Response, error) { return reply(504, "<html>"), nil },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var sizes []string
					want, served := tt.sizes, 0
					c := offline(t, func(r *http.Request) (*http.Response, error) {
						q := r.URL.Query()
						sizes = append(sizes, q.Get("per_page"))
						if asked(q, "per_page", 1000) > tt.most(served) {
							return slow()
						}
						served++
						status, body := cursors(tt.rows)(q)
						return reply(status, body), nil
					}, func(cfg *apiclient.Config) { cfg.Timeout = 10 * time.Second })
					for range 2 {
						rows, err := c.List(t.Context(), request(listOp(t, 0)))
						if err != nil {
							t.Fatal(err)
						}
						seen := map[any]bool{}
						for _, row := range rows {
							seen[row["id"]] = true
						}
						if len(rows) != tt.rows || len(seen) != tt.rows {
							t.Errorf("%d rows, %d different ones, of %d", len(rows), len(seen), tt.rows)
						}
						if got := strings.Join(sizes, " "); want != "" && got != want {
							t.Errorf("pages of %s, want %s", got, want)
						}
						if first := sizes[len(sizes)-1]; want == "" && first == "1000" {
							t.Errorf("what was learned is forgotten: pages of %v", sizes)
						}
						sizes, want = nil, ""
					}
				})
			})
		}
	}
}
