package apiclient_test

import (
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

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// v2 returns an operation on the labels of a project, below the path of their list.
func v2(verb resource.Verb, method, rest string) *resource.Operation {
	op := &resource.Operation{Kind: "label", Verb: verb, Method: method, Path: "/api/v2/workspaces/{workspace_slug}/projects/{project_id}/labels/" + rest, Success: 200}
	if verb == resource.List {
		op.Query = []string{"per_page", "cursor"}
	}
	return op
}

func v2List() *resource.Operation { return v2(resource.List, "GET", "") }

// problem sends an error in the form of v2; more follows its detail.
func problem(code int, kind, name, more string) http.HandlerFunc {
	return status(code, fmt.Sprintf(`{"type":%q,"code":%q,"detail":"That is refused."%s}`, kind, name, more), "Content-Type", "application/problem+json")
}

func TestTheErrorsOfV2AreRead(t *testing.T) {
	t.Parallel()
	none, rejected, unknown := apiclient.NoEffect, apiclient.Rejected, apiclient.UnknownEffect
	const fields = `,"errors":[{"field":"name","code":"unique","message":"Taken."},{"field":"name","code":"max_length","message":""},{"field":"items.2.color","code":"invalid","message":"No color."}]`
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		says   string
		effect apiclient.Effect
		is     error // one of the sentinel errors; nil = none
	}{
		"a refusal names every field that is wrong":                {problem(400, "invalid_request", "invalid_request", fields), "400: That is refused: name: Taken. max_length; items.2.color: No color.", rejected, nil},
		"a refused credential asks for an API key":                 {problem(401, "unauthorized", "unauthorized", ""), "give an API key", none, apiclient.ErrUnauthorized},
		"a feature that the workspace's plan lacks is unsupported": {problem(402, "payment_required", "payment_required", ""), "the workspace's plan lacks this feature", none, apiclient.ErrUnsupported},
		"a missing permission is forbidden":                        {problem(403, "forbidden", "workflow_transition_denied", ""), "403: That is refused.", none, apiclient.ErrForbidden},
		"an object that is not found may be hidden from the user":  {problem(404, "not_found", "not_found", ""), "there is no such object, or the credential's owner may not see it", none, apiclient.ErrNotFound},
		"a route that does not exist is unsupported":               {status(404, `{"error":"Not here."}`), "lacks the route", none, apiclient.ErrUnsupported},
		"a 404 without a body is unsupported":                      {status(404, ``), "lacks the route", none, apiclient.ErrUnsupported},
		"a web page with 404 asks whether the base URL is right":   {status(404, `<html><title>nginx</title>`), "is the base URL right?", none, apiclient.ErrWebPage},
		"a method that the route lacks is unsupported":             {problem(405, "method_not_allowed", "method_not_allowed", ""), "lacks the route", none, apiclient.ErrUnsupported},
		"a duplicate is a conflict, and was rejected":              {problem(409, "conflict", "conflict", ""), "409: That is refused.", rejected, apiclient.ErrConflict},
		"states that the workspace manages are on the other level": {problem(409, "conflict", "states_managed_at_workspace", ""), "on its other level", none, apiclient.ErrUnsupported},
		"types that the workspace manages are on the other level":  {problem(409, "conflict", "work_item_types_managed_at_workspace", ""), "on its other level", none, apiclient.ErrUnsupported},
		"types that the project manages are on the other level":    {problem(409, "conflict", "work_item_types_managed_at_project", ""), "on its other level", none, apiclient.ErrUnsupported},
		"a body that is too large names the limit":                 {problem(413, "payload_too_large", "payload_too_large", ""), "about 5 MB", none, nil},
		"an internal error leaves the effect unknown":              {problem(500, "server_error", "listing_authorization_misconfigured", ""), "it is not known whether it took effect", unknown, nil},
		"a service that is unavailable leaves the effect unknown":  {problem(503, "service_unavailable", "service_unavailable", ""), "it is not known whether it took effect", unknown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := failure(t, setup(t, tt.answer), v2(resource.Create, "POST", ""))
			if !strings.Contains(e.Error(), tt.says) || e.Effect != tt.effect {
				t.Errorf("%s: %v", e.Effect, e)
			}
			for _, sentinel := range []error{
				apiclient.ErrUnsupported, apiclient.ErrNotFound, apiclient.ErrUnauthorized, apiclient.ErrForbidden, apiclient.ErrConflict, apiclient.ErrWebPage,
			} {
				if errors.Is(e, sentinel) != errors.Is(tt.is, sentinel) {
					t.Errorf("is it %q? %t", sentinel, errors.Is(e, sentinel))
				}
			}
			if e.TooLarge() != (e.Status == 413) {
				t.Error("too large is a matter of the status")
			}
			if name == "a refusal names every field that is wrong" && (e.Code != "invalid_request" || len(e.Fields["name"]) != 2) {
				t.Errorf("code %q, fields %v", e.Code, e.Fields)
			}
		})
	}
}

func TestARequestWaitsForAMigration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := offline(t, func(*http.Request) (*http.Response, error) {
			if time.Since(start) < time.Minute {
				return reply(409, `{"type":"conflict","code":"governance_migration_in_progress","detail":"Retry shortly."}`), nil
			}
			return reply(201, `{"name":"x"}`), nil
		})
		if _, err := c.Do(t.Context(), request(v2(resource.Create, "POST", ""))); err != nil || time.Since(start) < time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

// envelopes pages like v2.
func envelopes(total int) pager {
	return func(q url.Values) (int, string) {
		from, _ := strconv.Atoi(q.Get("cursor"))
		to := min(from+asked(q, "per_page", 50), total)
		next := "null"
		if to < total {
			next = fmt.Sprintf("%q", strconv.Itoa(to))
		}
		return 200, fmt.Sprintf(`{"data":%s,"next_cursor":%s,"has_more":%t,"pagination":{"style":"cursor"}}`, records(from, to), next, to < total)
	}
}

func TestAListOfV2RepeatsItsQueryOnEveryPage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		query url.Values
		total int
		want  []string
	}{
		"a list asks for large pages in a stable order": {nil, 450, []string{
			"order_by=created_at&paginate=cursor&per_page=200",
			"cursor=200&order_by=created_at&paginate=cursor&per_page=200",
			"cursor=400&order_by=created_at&paginate=cursor&per_page=200",
		}},
		"the caller's filters, fields, order and size are sent": {
			url.Values{"order_by": {"id"}, "fields": {"id"}, "name": {"x"}, "per_page": {"2"}},
			3,
			[]string{
				"fields=id&name=x&order_by=id&paginate=cursor&per_page=2",
				"cursor=2&fields=id&name=x&order_by=id&paginate=cursor&per_page=2",
			},
		},
		"an empty list takes one request": {nil, 0, []string{"order_by=created_at&paginate=cursor&per_page=200"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var queries []string
			c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				queries = append(queries, r.URL.RawQuery)
				status(envelopes(tt.total)(r.URL.Query()))(w, r)
			}))
			req := request(v2List())
			req.Query = tt.query
			rows, err := c.List(t.Context(), req)
			if err != nil || len(rows) != tt.total || !slices.Equal(queries, tt.want) {
				t.Errorf("%d rows, %v, asked %q", len(rows), err, queries)
			}
		})
	}
}

func TestAListOfV2IsReadInSmallerPagesIfItTakesTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asks []string
		c := offline(t, func(r *http.Request) (*http.Response, error) {
			q := r.URL.Query()
			asks = append(asks, q.Get("cursor")+"+"+q.Get("per_page"))
			if q.Get("cursor") == "200" && asked(q, "per_page", 0) > 100 {
				return reply(504, ``), nil
			}
			return reply(envelopes(260)(q)), nil
		})
		rows, err := c.List(t.Context(), request(v2List()))
		if want := []string{"+200", "200+200", "200+50", "250+50"}; err != nil || len(rows) != 260 || !slices.Equal(asks, want) {
			t.Errorf("%d rows, %v, asked %q", len(rows), err, asks)
		}
	})
}

func TestAPageSizeThatV1RefusesDoesNotLimitV2(t *testing.T) {
	t.Parallel()
	var last string
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r.URL.RawQuery
		switch q := r.URL.Query(); {
		case strings.Contains(r.URL.Path, "/v2/"):
			status(envelopes(3)(q))(w, r)
		case asked(q, "per_page", 0) > 100:
			status(400, `{"detail":"Invalid per_page value. Cannot exceed 100."}`)(w, r)
		default:
			status(cursors(3)(q))(w, r)
		}
	}))
	for _, op := range []*resource.Operation{listOp(t, 0), v2List()} {
		if rows, err := c.List(t.Context(), request(op)); err != nil || len(rows) != 3 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	}
	if !strings.HasSuffix(last, "per_page=200") {
		t.Errorf("asked %q", last)
	}
}

func TestABareArrayIsAListOfV2OnlyWithoutACursor(t *testing.T) {
	t.Parallel()
	c := setup(t, status(200, `[{"value":"x"}]`))
	op := v2List()
	if rows, err := c.List(t.Context(), request(op)); !errors.Is(err, apiclient.ErrUndocumented) {
		t.Errorf("%v, %v", rows, err)
	}
	op.Query = nil
	if rows, err := c.List(t.Context(), request(op)); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestAListOfV2ThatIsNotAsDocumentedNamesTheField(t *testing.T) {
	t.Parallel()
	row := records(1, 2)
	for name, tt := range map[string]struct{ body, says string }{
		"a list needs the field data":                {`{"has_more":false}`, `"data" is not a list`},
		"the envelope of API v1 is not a list of v2": {`{"results":[],"next_page_results":false}`, `"data" is not a list`},
		"data that is an object is not a list":       {`{"data":{},"has_more":false}`, `"data" is not a list`},
		"offset pages lack has_more":                 {`{"data":[],"next":50,"pagination":{"style":"offset"}}`, `"has_more" is neither`},
		"has_more needs a cursor":                    {`{"data":` + row + `,"has_more":true,"next_cursor":null}`, `no "next_cursor"`},
		"a cursor may not repeat":                    {`{"data":` + row + `,"has_more":true,"next_cursor":"a"}`, "repeats"},
		"a row needs an ID":                          {`{"data":[{"id":"` + id(1) + `"},{"name":"y"}],"has_more":false}`, `"data[1].id"`},
		"a row may not be a text":                    {`{"data":["x"],"has_more":false}`, "entry 1"},
		"an answer that is no object is not a list":  {`"x"`, `"data" is not a list`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, err := setup(t, status(200, tt.body)).List(t.Context(), request(v2List()))
			if rows != nil || !errors.Is(err, apiclient.ErrUndocumented) || !strings.Contains(err.Error(), tt.says) ||
				!strings.HasPrefix(err.Error(), "GET /api/v2/…/projects/") || !strings.Contains(diag.HintOf(err), "--api v1") {
				t.Errorf("%d rows, %v, hint %q", len(rows), err, diag.HintOf(err))
			}
		})
	}
}

const bad = `{"index":1,"result":"failed","type":"invalid_request","code":"invalid_request","detail":"The request was invalid.","errors":[{"field":"name","code":"unique","message":"Taken."}]}`

func good(index int) string {
	return fmt.Sprintf(`{"index":%d,"result":"created","id":"%s"}`, index, strings.ToUpper(id(index)))
}

func bulk(t *testing.T, answer http.HandlerFunc, n int) ([]apiclient.RowResult, error) {
	t.Helper()
	return setup(t, answer).Bulk(t.Context(), request(v2(resource.Create, "POST", "bulk-create/")), "created", n)
}

func TestEveryRowOfABulkRequestHasAResult(t *testing.T) {
	t.Parallel()
	results, err := bulk(t, status(200, `{"results":[`+good(2)+`,`+bad+`,`+good(0)+`],"succeeded":2,"failed":1}`), 3)
	if err != nil {
		t.Fatal(err)
	}
	if results[0].ID != id(0) || results[2].ID != id(2) || results[0].Err != nil {
		t.Errorf("%v", results)
	}
	e := results[1].Err
	if results[1].ID != "" || e.Status != 400 || e.Effect != apiclient.Rejected || e.Attempts != 1 || e.Message != "The request was invalid: name: Taken." ||
		cmp.Diff(map[string][]string{"name": {"Taken."}}, e.Fields) != "" {
		t.Errorf("%v %+v", e, e)
	}
}

func TestAnInvalidOrRepeatedIDOfARowIsDropped(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]string{"none": `"ENG-1"`, "nothing": `""`, "that of another row": `"` + strings.ToUpper(id(1)) + `"`} {
		results, err := bulk(t, status(200, `{"results":[`+good(0)+`,`+good(1)+`,{"index":2,"result":"created","id":`+wrong+`}],"succeeded":3,"failed":0}`), 3)
		if err != nil {
			t.Fatal(err)
		}
		if of := results[1].ID; results[0].ID != id(0) || results[2].ID != "" || (of == "") != (name == "that of another row") {
			t.Errorf("%s: %v", name, results)
		}
	}
}

func TestTheErrorOfARowHasTheFormOfARequestError(t *testing.T) {
	t.Parallel()
	for kind, is := range map[string]error{
		"not_found": apiclient.ErrNotFound, "conflict": apiclient.ErrConflict, "forbidden": apiclient.ErrForbidden, "payment_required": apiclient.ErrUnsupported,
		"rate_limited": apiclient.ErrRateLimited, "unauthorized": apiclient.ErrUnauthorized,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			results, err := bulk(t, status(200, fmt.Sprintf(`{"results":[{"index":0,"result":"failed","type":%q,"code":"c","detail":"d"}],"succeeded":0,"failed":1}`, kind)), 1)
			if err != nil || !errors.Is(results[0].Err, is) || results[0].Err.Code != "c" || results[0].Err.Effect != apiclient.Rejected {
				t.Errorf("%v, %v", results, err)
			}
		})
	}
}

func TestABulkAnswerThatIsNotAsDocumentedLeavesTheEffectUnknown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ body, says string }{
		"a bulk answer needs results":                           {`{"succeeded":2,"failed":0}`, `"results" is not a list`},
		"a bulk answer may not be an array":                     {`[` + good(0) + `,` + good(1) + `]`, `"results" is not a list`},
		"a bulk answer needs as many rows as were sent":         {`{"results":[` + good(0) + `],"succeeded":1,"failed":0}`, "1 rows instead of 2"},
		"a bulk answer may not name a row twice":                {`{"results":[` + good(0) + `,` + good(0) + `],"succeeded":2,"failed":0}`, `"results[1].index"`},
		"a bulk answer may not name a row that was not sent":    {`{"results":[` + good(0) + `,` + good(2) + `],"succeeded":2,"failed":0}`, `"results[1].index"`},
		"a row of a bulk answer needs its index":                {`{"results":[` + good(0) + `,{"result":"created"}],"succeeded":2,"failed":0}`, `"results[1].index"`},
		"a row of a bulk answer may not be null":                {`{"results":[` + good(0) + `,null],"succeeded":2,"failed":0}`, `"results[1].index"`},
		"a row of a bulk answer may not have an unknown result": {`{"results":[` + good(0) + `,{"index":1,"result":"queued"}],"succeeded":2,"failed":0}`, `"results[1].result"`},
		"a row of a bulk create may not be updated":             {`{"results":[` + good(0) + `,{"index":1,"result":"updated","id":"` + id(1) + `"}],"succeeded":2,"failed":0}`, `"results[1].result"`},
		"a created row needs an ID":                             {`{"results":[` + good(0) + `,{"index":1,"result":"created"}],"succeeded":2,"failed":0}`, `"results[1].id"`},
		"a number is no ID of a created row":                    {`{"results":[` + good(0) + `,{"index":1,"result":"created","id":7}],"succeeded":2,"failed":0}`, `"results[1].id"`},
		"the counts of a bulk answer fit its rows":              {`{"results":[` + good(0) + `,` + bad + `],"succeeded":2,"failed":0}`, `"succeeded" and "failed"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := bulk(t, status(200, tt.body), 2)
			e, ok := errors.AsType[*apiclient.Error](err)
			if results != nil || !ok || !errors.Is(err, apiclient.ErrUndocumented) || e.Effect != apiclient.UnknownEffect ||
				!strings.Contains(err.Error(), tt.says) || !strings.Contains(diag.HintOf(err), "--api v1") {
				t.Errorf("%v, %v", results, err)
			}
		})
	}
}
