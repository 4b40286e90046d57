package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	webV2   = "/api/v2/workspaces/acme/projects/" + projectWeb + "/"
	itemsV2 = webV2 + "work-items/"
)

func openCloud(tb testing.TB, opts Options) *Server {
	tb.Helper()
	opts.Edition, opts.Strict = Cloud, true
	return openTest(tb, opts)
}

// fields is "field code" of each of a problem's errors.
func (a answer) fields(tb testing.TB) []string {
	tb.Helper()
	var out []string
	errs, _ := a.object(tb)["errors"].([]any)
	for _, e := range errs {
		out = append(out, fmt.Sprint(e.(map[string]any)["field"], " ", e.(map[string]any)["code"]))
	}
	return out
}

func (a answer) data(tb testing.TB) []map[string]any {
	tb.Helper()
	out := []map[string]any{}
	for _, r := range a.object(tb)["data"].([]any) {
		out = append(out, r.(map[string]any))
	}
	return out
}

func TestV2ProblemsHaveTypeCodeAndDetail(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{Quirks: Quirks{BodyLimit: 2000}})
	for _, tt := range []struct {
		method, path, body, typ, code string
		status                        int
		header                        []string
	}{
		{"GET", "/api/v2/users/me/", "", "unauthorized", "unauthorized", 401, []string{"X-Api-Key", "bogus"}},
		{"GET", "/api/v2/users/me/", "", "unauthorized", "unauthorized", 401, []string{"X-Api-Key", ""}},
		{"GET", "/api/v2/workspaces/other/pages/", "", "not_found", "not_found", 404, nil},
		{"GET", "/api/v2/workspaces/acme/projects/" + projectOps + "/work-items/", "", "not_found", "not_found", 404, []string{"X-Api-Key", keyBob}},
		{"GET", itemsV2 + "WEB-1/", "", "not_found", "not_found", 404, nil},
		{"GET", itemsV2 + stateTodo + "/", "", "not_found", "not_found", 404, nil},
		{"PUT", itemsV2, "{}", "method_not_allowed", "method_not_allowed", 405, nil},
		{"GET", itemsV2, "", "not_acceptable", "not_acceptable", 406, []string{"Accept", "text/html"}},
		{"POST", itemsV2 + "bulk-create/", `{"name":"` + strings.Repeat("x", 2000) + `"}`, "payload_too_large", "payload_too_large", 413, nil},
		{"POST", itemsV2 + "bulk-create/", `name=x`, "unsupported_media_type", "unsupported_media_type", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"POST", itemsV2 + "bulk-create/", `[]`, "invalid_request", "invalid_request", 400, nil},
		{"POST", itemsV2 + "bulk-create/", `{`, "invalid_request", "invalid_request", 400, nil},
		{"GET", itemsV2 + "?paginate=cursor&order_by=sort_order", "", "invalid_request", "ordering_not_cursor_eligible", 400, nil},
	} {
		got := want(t, ask(t, s, tt.method, tt.path, tt.body, tt.header...), tt.status)
		problem := got.object(t)
		if problem["type"] != tt.typ || problem["code"] != tt.code || problem["detail"] == "" || got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %s %s", tt.method, tt.path, got.header, got.body)
		}
	}
	for path, status := range map[string]int{strings.TrimSuffix(itemsV2, "/"): 301, "/api/v2/nonsense/": 404, webV2 + "name:Website/": 404} {
		if got := want(t, ask(t, s, "GET", path, ""), status); status == 404 && got.object(t)["error"] != textNoPage {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	for _, edition := range []Edition{Full, Community} {
		want(t, ask(t, openTest(t, Options{Edition: edition}), "GET", "/api/v2/users/me/", ""), http.StatusNotFound)
	}
}

func TestV2SharesTheLimitWithV1AndABatchIsOneRequest(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	s := openCloud(t, Options{Rate: 3, Quirks: Quirks{Now: func() time.Time { return now }}})
	want(t, ask(t, s, "GET", "/api/v1/users/me/", ""), 200)
	me := want(t, ask(t, s, "GET", "/api/v2/users/me/", ""), 200).object(t)
	if me["principal_kind"] != "api_key" || me["id"] != userAda {
		t.Errorf("me: %v", me)
	}
	want(t, ask(t, s, "POST", itemsV2+"bulk-create/", `{"items":[{"name":"a"},{"name":"b"}]}`), 200)
	got := want(t, ask(t, s, "GET", "/api/v2/users/me/", ""), 429)
	if got.header.Get("Retry-After") != "60" || got.object(t)["type"] != "rate_limited" {
		t.Errorf("%s %s", got.header, got.body)
	}
}

func TestV2QueriesAreChecked(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for query, field := range map[string]string{
		"fields=nope": "fields", "fields=state": "fields", "fields=custom_fields": "fields", "fields=description_html": "fields",
		"per_page=x": "per_page", "paginate=cursor&cursor=nope": "cursor", "nope=1": "nope",
	} {
		if got := want(t, ask(t, s, "GET", itemsV2+"?"+query, ""), 400); !strings.HasPrefix(fmt.Sprint(got.fields(t)), "["+field+" ") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	want(t, ask(t, s, "GET", itemsV2+"?order_by=nope&paginate=nope&per_page=9999", ""), 200)
	lenient := openTest(t, Options{Edition: Cloud})
	want(t, ask(t, lenient, "GET", itemsV2+"?nope=1", ""), 501) // the service's answer is not known
}

// makeItem makes an item by a batch of one row.
func makeItem(t *testing.T, s *Server, body string) string {
	t.Helper()
	got := want(t, ask(t, s, "POST", itemsV2+"bulk-create/", `{"items":[`+body+`],"all_or_none":true}`), 200)
	return got.object(t)["results"].([]any)[0].(map[string]any)["id"].(string)
}

func TestV2ListsShowWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	id := makeItem(t, s, `{"name":"a","label_ids":["`+labelBug+`"],"external_id":"1","external_source":"x"}`)
	rows := want(t, ask(t, s, "GET", itemsV2+"?fields=id,identifier,label_ids", ""), 200).data(t)
	if len(rows) != 2 || len(rows[0]) != 3 || rows[0]["identifier"] != "WEB-2" || fmt.Sprint(rows[0]["label_ids"]) != "["+labelBug+"]" {
		t.Errorf("listed %v", rows)
	}
	all := want(t, ask(t, s, "GET", itemsV2+"?is_draft=false", ""), 200).object(t)
	for _, name := range []string{"description_html", "external_id", "estimate_point_id", "updated_at", "custom_fields", "sort_order"} {
		if v, ok := all["data"].([]any)[0].(map[string]any)[name]; ok {
			t.Errorf("a list shows %s: %v", name, v)
		}
	}
	if all["total_count"] != 2.0 {
		t.Errorf("counted %v", all["total_count"])
	}
	if got := want(t, ask(t, s, "GET", itemsV2+id+"/", ""), 200).object(t); got["custom_fields"] == nil {
		t.Errorf("single: %v", got)
	}
}

func TestV2ListsHaveNullLast(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	workspace := v2Root + "workspaces/" + Workspace + "/"
	want(t, ask(t, s, "PATCH", workspace+"features/", `{"is_release_enabled":true}`), 200)
	for _, body := range []string{`{"name":"undated"}`, `{"name":"late","release_date":"2026-12-01"}`, `{"name":"early","release_date":"2026-11-01"}`} {
		want(t, ask(t, s, "POST", workspace+"releases/", body), 201)
	}
	for order, names := range map[string][]any{"release_date": {"early", "late", "undated"}, "-release_date": {"undated", "late", "early"}} {
		var got []any
		for _, r := range want(t, ask(t, s, "GET", workspace+"releases/?order_by="+order, ""), 200).data(t) {
			got = append(got, r["name"])
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s: %v", order, got)
		}
	}
}

func TestV2SaysWhetherTheCallerHasAKeyOrAToken(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for kind, header := range map[string][]string{"api_key": nil, "oauth": {"X-Api-Key", "", "Authorization", "Bearer " + bearerToken}} {
		me := want(t, ask(t, s, "GET", "/api/v2/users/me/", "", header...), 200).object(t)
		if me["principal_kind"] != kind || (len(me["scopes"].([]any)) > 0) != (kind == "oauth") {
			t.Errorf("%s: %v", kind, me)
		}
	}
}

func TestV2ErrorsOfTheServerHaveTheDocumentedType(t *testing.T) {
	t.Parallel()
	if got := problemType(http.StatusInternalServerError); got != "server_error" {
		t.Error(got)
	}
}

func TestV2PagesMeetEachRowOnce(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for range 4 {
		want(t, ask(t, s, "POST", itemsV2+"bulk-create/", `{"items":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"},{"name":"f"}]}`), 200)
	}
	for _, style := range []string{"&order_by=-id", "", "&order_by=created_at"} {
		seen := map[any]bool{}
		for query, pages := "", 0; ; pages++ {
			page := want(t, ask(t, s, "GET", itemsV2+"?fields=id&per_page=7&paginate=cursor"+style+query, ""), 200)
			for _, r := range page.data(t) {
				if len(r) != 1 || seen[r["id"]] {
					t.Fatalf("%s: %v once more", style, r)
				}
				seen[r["id"]] = true
			}
			body := page.object(t)
			next := body["next_cursor"]
			if (next != nil) != body["has_more"].(bool) {
				t.Fatalf("%s", page.body)
			}
			makeItem(t, s, `{"name":"new"}`) // what is new meanwhile moves no cursor
			if next == nil || pages > 9 {
				break
			}
			query = "&cursor=" + next.(string)
		}
		if len(seen) < 25 {
			t.Errorf("%q: met %d", style, len(seen))
		}
	}
}

func TestV2WorkItemsFollowTheirRules(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for body, fields := range map[string]string{
		`{}`:                             "[name required]",
		`{"name":"a","nope":1}`:          "[nope invalid]",
		`{"name":null,"priority":"p"}`:   "[name invalid priority invalid_choice]",
		`{"name":"a","start_date":null}`: "[start_date invalid]",
		`{"name":"a","state_id":"` + opsStateTodo + `"}`:                    "[state_id does_not_exist]",
		`{"name":"a","assignee_ids":["` + userEve + `"]}`:                   "[assignee_ids does_not_exist]",
		`{"name":"a","assignee_ids":["x"]}`:                                 "[assignee_ids invalid]",
		`{"name":"a","start_date":"2030-02-02","target_date":"2030-02-01"}`: "[target_date invalid]",
		`{"name":"a","custom_fields":{"x":1}}`:                              "[custom_fields invalid]",
		`{"name":"` + strings.Repeat("x", 256) + `"}`:                       "[name max_length]",
		`{"name":"a","cycle_id":"` + cycleQ1 + `"}`:                         "[cycle_id does_not_exist]",
	} {
		got := want(t, ask(t, s, "POST", itemsV2+"bulk-create/", `{"items":[`+body+`],"all_or_none":true}`), 409)
		if complaints := strings.ReplaceAll(fmt.Sprint(got.fields(t)), "items.0.", ""); complaints != fields {
			t.Errorf("%s: %s, want %s", body, complaints, fields)
		}
	}
	want(t, ask(t, s, "PATCH", "projects/"+projectWeb+"/", `{"default_assignee":"`+userBob+`"}`), 200)
	id := makeItem(t, s, `{"name":"a","state_id":"`+stateTodo+`","label_ids":["`+labelBug+`"],"parent_id":"`+workItemWeb1+`","cycle_id":"`+cycleSprint14+
		`","module_ids":["`+moduleCheckout+`"],"created_by_id":"`+userBob+`","description_html":"<p>x<script>y</script></p>"}`)
	one := itemsV2 + id + "/"
	made := want(t, ask(t, s, "GET", one, ""), 200).object(t)
	if made["state_id"] != stateTodo || made["parent_id"] != workItemWeb1 || made["cycle_id"] != cycleSprint14 || made["created_by_id"] != userAda ||
		fmt.Sprint(made["module_ids"], made["assignee_ids"], made["label_ids"]) != fmt.Sprintf("[%s] [%s] [%s]", moduleCheckout, userBob, labelBug) {
		t.Errorf("made %v", made)
	}
	v1 := want(t, ask(t, s, "GET", itemsPath+id+"/", ""), 200).object(t)
	if v1["description_html"] != "<p>x</p>" || v1["parent"] != workItemWeb1 || v1["sequence_id"] != 2.0 {
		t.Errorf("v1 reads %v", v1)
	}
	change := func(set string) {
		t.Helper()
		want(t, ask(t, s, "POST", itemsV2+"bulk-update/", `{"items":[{"id":"`+id+`",`+set+`}],"all_or_none":true}`), 200)
	}
	change(`"parent_id":null,"cycle_id":"` + cycleSprint15 + `","module_ids":[],"sequence_id":99`)
	changed := want(t, ask(t, s, "GET", one, ""), 200).object(t)
	if changed["parent_id"] != nil || changed["cycle_id"] != cycleSprint15 || fmt.Sprint(changed["module_ids"]) != "[]" || changed["sequence_id"] != 2.0 {
		t.Errorf("changed to %v", changed)
	}
	want(t, ask(t, s, "POST", one+"archive/", ""), 400)
	change(`"state_id":"` + stateDone + `"`)
	if at := want(t, ask(t, s, "POST", one+"archive/", ""), 200).object(t)["archived_at"].(string); !strings.Contains(at, "T") {
		t.Errorf("archived at the day %s", at)
	}
	want(t, ask(t, s, "GET", one, ""), 404)
	want(t, ask(t, s, "POST", one+"unarchive/", ""), 200)
	byBob := want(t, ask(t, s, "POST", itemsV2+"bulk-delete/", `{"ids":["`+id+`"]}`, "X-Api-Key", keyBob), 200).object(t)
	if byBob["failed"] != 1.0 {
		t.Errorf("deleted by another: %v", byBob)
	}
	want(t, ask(t, s, "POST", itemsV2+"bulk-delete/", `{"ids":["`+id+`"],"all_or_none":true}`), 200)
	want(t, ask(t, s, "POST", itemsV2+"bulk-delete/", `{"ids":["`+id+`"],"all_or_none":true}`), 409)
	if rows := s.Rows("cycle_issue"); len(rows) != 0 {
		t.Errorf("left: %v", rows)
	}
}

func TestV2BatchesWriteTheirGoodRowsOrNothing(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	create := itemsV2 + "bulk-create/"
	mixed := `{"items":[{"name":"a"},{"priority":"x"},{"name":"c","state_id":"` + opsStateTodo + `"},{"name":"d"}]%s}`
	got := want(t, ask(t, s, "POST", create, fmt.Sprintf(mixed, `,"all_or_none":true`)), 409)
	if p := got.object(t); p["type"] != "conflict" || p["code"] != "batch_failed" ||
		fmt.Sprint(got.fields(t)) != "[items.1.name required items.1.priority invalid_choice items.2.state_id does_not_exist]" {
		t.Errorf("%s", got.body)
	}
	if n := len(s.Rows("work_item")); n != 1 {
		t.Errorf("%d items after a batch that failed", n)
	}
	got = want(t, ask(t, s, "POST", create, fmt.Sprintf(mixed, "")), 200)
	body := got.object(t)
	results := body["results"].([]any)
	if body["succeeded"] != 2.0 || body["failed"] != 2.0 || len(results) != 4 {
		t.Fatalf("%s", got.body)
	}
	var ids []string
	for i, v := range results {
		r := v.(map[string]any)
		switch good := i == 0 || i == 3; {
		case r["index"] != float64(i), good && (r["result"] != "created" || len(r) != 3), !good && (r["result"] != "failed" || r["type"] != "invalid_request" || r["errors"] == nil):
			t.Errorf("row %d: %v", i, r)
		case good:
			ids = append(ids, r["id"].(string))
		}
	}
	list := want(t, ask(t, s, "GET", itemsV2+"?order_by=sequence_id&fields=id,sequence_id", ""), 200).data(t)
	if len(list) != 3 || list[1]["id"] != ids[0] || list[1]["sequence_id"] != 2.0 || list[2]["sequence_id"] != 3.0 {
		t.Errorf("in the order of their rows: %v", list)
	}
	update := fmt.Sprintf(`{"items":[{"id":%q,"name":"A"},{"id":%q,"name":"?"},{"id":%q,"priority":"high"}]}`, ids[0], stateTodo, ids[1])
	body = want(t, ask(t, s, "POST", itemsV2+"bulk-update/", update), 200).object(t)
	if r := body["results"].([]any)[1].(map[string]any); body["succeeded"] != 2.0 || r["code"] != "not_found" || r["errors"] != nil {
		t.Errorf("%v", body)
	}
	got = want(t, ask(t, s, "POST", itemsV2+"bulk-delete/", fmt.Sprintf(`{"ids":[%q,%q],"all_or_none":true}`, ids[0], stateTodo)), 409)
	if fmt.Sprint(got.fields(t)) != "[ids.1 not_found]" || len(s.Rows("work_item")) != 3 {
		t.Errorf("%s", got.body)
	}
	want(t, ask(t, s, "POST", itemsV2+"bulk-delete/", fmt.Sprintf(`{"ids":[%q,%q]}`, ids[0], ids[1])), 200)
	if len(s.Rows("work_item")) != 1 {
		t.Errorf("left: %v", s.Rows("work_item"))
	}
}

func TestV2BatchesHaveOneTo50Rows(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	rows := strings.TrimSuffix(strings.Repeat(`{"name":"x"},`, 51), ",")
	for tail, body := range map[string]string{
		"bulk-create/": `{"items":[]}`, "bulk-create/?": `{}`, "bulk-create/??": `{"items":[` + rows + `]}`, "bulk-create/???": `{"items":[1]}`,
		"bulk-create/????": `{"items":[{"name":"x"}],"all_or_none":"yes"}`, "bulk-update/": `{"items":[{"id":"WEB-1","name":"x"}]}`, "bulk-delete/": `{"ids":["WEB-1"]}`,
		"bulk-delete/?": `{"items":[]}`,
	} {
		got := want(t, ask(t, s, "POST", itemsV2+strings.TrimRight(tail, "?"), body), 400)
		if len(got.fields(t)) == 0 || len(s.Rows("work_item")) != 1 {
			t.Errorf("%s %s: %s", tail, body, got.body)
		}
	}
	if got := want(t, ask(t, s, "POST", itemsV2+"bulk-create/", `{"items":[`+rows[:len(rows)-13]+`]}`), 200).object(t); got["succeeded"] != 50.0 {
		t.Errorf("%v", got)
	}
}

func TestV2SchemaNamesTheOperationsThereAre(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{Quirks: Quirks{HasOperation: func(_, path string) bool { return !strings.HasSuffix(path, "/bulk-update/") }}})
	paths := want(t, ask(t, s, "GET", "/api/v2/schema/", ""), 200).object(t)["paths"].(map[string]any)
	update := "/api/v2/workspaces/{slug}/projects/{project_id}/work-items/bulk-update/"
	create, _ := paths[strings.Replace(update, "update", "create", 1)].(map[string]any)
	if paths[update] != nil || create["post"] == nil {
		t.Errorf("paths: %v", paths)
	}
	if got := want(t, ask(t, s, "POST", itemsV2+"bulk-update/", "{}"), 404).object(t); got["error"] != textNoPage {
		t.Errorf("%v", got)
	}
}

func TestV1OfTheCloudIsAsItsSDKReadsIt(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{Quirks: Quirks{RelationIDs: true}})
	want(t, ask(t, s, "GET", itemsPath+"?per_page=101", ""), 400)
	want(t, ask(t, s, "GET", itemsPath+"?per_page=100", ""), 200)
	if got := want(t, ask(t, s, "GET", "projects/"+projectWeb+"/work-item-types/", ""), 200); !strings.HasPrefix(got.body, "[") {
		t.Errorf("types: %s", got.body)
	}
	other := want(t, ask(t, s, "POST", itemsPath, `{"name":"x"}`), 201).object(t)["id"].(string)
	relations := itemsPath + workItemWeb1 + "/relations/"
	want(t, ask(t, s, "POST", relations, `{"relation_type":"blocking","issues":["`+other+`"]}`), 201)
	if got := want(t, ask(t, s, "GET", relations, ""), 200).object(t); fmt.Sprint(got["blocking"]) != "["+other+"]" {
		t.Errorf("relations: %v", got)
	}
}
