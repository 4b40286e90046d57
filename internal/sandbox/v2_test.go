package sandbox

import (
	"fmt"
	"net/http"
	"strconv"
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
	s := openCloud(t, Options{BodyLimit: 2000})
	for _, tt := range []struct {
		method, path, body, typ, code string
		status                        int
		header                        []string
	}{
		{"GET", "/api/v2/users/me/", "", "unauthorized", "unauthorized", 401, []string{"X-Api-Key", "bogus"}},
		{"GET", "/api/v2/users/me/", "", "unauthorized", "unauthorized", 401, []string{"X-Api-Key", ""}},
		{"GET", "/api/v2/workspaces/other/work-items/", "", "not_found", "not_found", 404, nil},
		{"GET", "/api/v2/workspaces/acme/projects/" + projectOps + "/work-items/", "", "not_found", "not_found", 404, []string{"X-Api-Key", keyBob}},
		{"GET", itemsV2 + "WEB-1/", "", "not_found", "not_found", 404, nil},
		{"GET", itemsV2 + stateTodo + "/", "", "not_found", "not_found", 404, nil},
		{"PUT", itemsV2, "{}", "method_not_allowed", "method_not_allowed", 405, nil},
		{"GET", itemsV2, "", "not_acceptable", "not_acceptable", 406, []string{"Accept", "text/html"}},
		{"POST", itemsV2, `{"name":"` + strings.Repeat("x", 2000) + `"}`, "payload_too_large", "payload_too_large", 413, nil},
		{"POST", itemsV2, `name=x`, "unsupported_media_type", "unsupported_media_type", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"POST", itemsV2 + "bulk-create/", `[]`, "invalid_request", "invalid_request", 400, nil},
		{"POST", itemsV2, `{`, "invalid_request", "invalid_request", 400, nil},
		{"GET", itemsV2 + "?paginate=cursor&order_by=priority", "", "invalid_request", "ordering_not_cursor_eligible", 400, nil},
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
	s := openCloud(t, Options{Rate: 3, Now: func() time.Time { return now }})
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
		"expand=state_id": "expand", "expand=nope": "expand", "per_page=x": "per_page", "offset=-1": "offset", "offset=10001": "offset",
		"priority=low,high": "priority", "priority__in=low,nope": "priority__in", "state_group=open": "state_group", "cursor=nope": "cursor",
		"created_at__gte=yesterday": "created_at__gte", "label_id__isnull=1": "label_id__isnull", "sequence_id__in=1": "sequence_id__in", "state_id=x": "state_id",
	} {
		if got := want(t, ask(t, s, "GET", itemsV2+"?"+query, ""), 400); !strings.HasPrefix(fmt.Sprint(got.fields(t)), "["+field+" ") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	want(t, ask(t, s, "GET", itemsV2+"?order_by=nope&paginate=nope&per_page=9999", ""), 200)
	lenient := openTest(t, Options{Edition: Cloud})
	want(t, ask(t, lenient, "GET", itemsV2+"?nope=1", ""), 200)
}

func TestV2ListsShowWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	made := want(t, ask(t, s, "POST", itemsV2+"?fields=id,identifier&expand=state,labels", `{"name":"a","label_ids":["`+labelBug+`"],"external_id":"1","external_source":"x"}`), 201)
	one := made.object(t)
	if len(one) != 4 || one["identifier"] != "WEB-2" || one["state"].(map[string]any)["group"] != "backlog" || len(one["labels"].([]any)) != 1 {
		t.Errorf("made %s", made.body)
	}
	rows := want(t, ask(t, s, "GET", itemsV2+"?external_source=x&external_id=1", ""), 200).data(t)
	if len(rows) != 1 || rows[0]["id"] != one["id"] {
		t.Fatalf("by external ID: %v", rows)
	}
	for _, name := range []string{"description_html", "external_id", "estimate_point_id", "updated_at", "custom_fields", "sort_order"} {
		if v, ok := rows[0][name]; ok {
			t.Errorf("a list shows %s: %v", name, v)
		}
	}
	for query, n := range map[string]int{
		"label_id=" + labelBug: 1, "label_id__isnull=true": 1, "search=PRICE": 1, "state_group__in=backlog,started": 2, "priority=none": 2, "parent_id__isnull=false": 0,
		"sequence_id=1": 1, "created_at__gte=2000-01-01": 2, "updated_at__lte=2000-01-01T00:00:00Z": 0, "is_draft=false": 2, "cycle_id__isnull=true": 2,
	} {
		if got := want(t, ask(t, s, "GET", itemsV2+"?"+query, ""), 200).object(t); got["total_count"] != float64(n) {
			t.Errorf("%s: %v, want %d", query, got["total_count"], n)
		}
	}
	want(t, ask(t, s, "GET", "/api/v2/workspaces/acme/work-items/web-2/", ""), 200)
	if got := want(t, ask(t, s, "GET", "/api/v2/workspaces/acme/work-items/?count=false", ""), 200).object(t); len(got["data"].([]any)) != 2 || got["total_count"] != nil {
		t.Errorf("of every project: %v", got)
	}
	if got := want(t, ask(t, s, "GET", "/api/v2/workspaces/acme/projects/web/work-items/"+workItemWeb1+"/", ""), 200).object(t); got["custom_fields"] == nil {
		t.Errorf("single: %v", got)
	}
}

func TestV2PagesMeetEachRowOnce(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for range 4 {
		want(t, ask(t, s, "POST", itemsV2+"bulk-create/", `{"items":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"},{"name":"f"}]}`), 200)
	}
	for _, style := range []string{"", "&paginate=cursor&order_by=-id", "&paginate=cursor", "&paginate=cursor&order_by=created_at"} {
		seen := map[any]bool{}
		for query, pages := "", 0; ; pages++ {
			page := want(t, ask(t, s, "GET", itemsV2+"?fields=id&per_page=7"+style+query, ""), 200)
			for _, r := range page.data(t) {
				if len(r) != 1 || seen[r["id"]] {
					t.Fatalf("%s: %v once more", style, r)
				}
				seen[r["id"]] = true
			}
			body := page.object(t)
			next := body["next"]
			if style != "" {
				next = body["next_cursor"]
				if (next != nil) != body["has_more"].(bool) {
					t.Fatalf("%s", page.body)
				}
				// What is new meanwhile moves no cursor.
				want(t, ask(t, s, "POST", itemsV2, `{"name":"new"}`), 201)
			}
			if next == nil || pages > 9 {
				break
			}
			if style == "" {
				query = "&offset=" + strconv.Itoa(int(next.(float64)))
			} else {
				query = "&cursor=" + next.(string)
			}
		}
		if style == "" && len(seen) != 25 || len(seen) < 25 {
			t.Errorf("%q: met %d", style, len(seen))
		}
	}
}

func TestV2WorkItemsFollowTheirRules(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for body, fields := range map[string]string{
		`{}`:                             "[name required]",
		`{"name":"a","state":"nope"}`:    "[state does_not_exist]",
		`{"name":"a","nope":1}`:          "[nope invalid]",
		`{"name":null,"priority":"p"}`:   "[name invalid priority invalid_choice]",
		`{"name":"a","start_date":null}`: "[start_date invalid]",
		`{"name":"a","state":"todo","state_id":"` + stateTodo + `"}`:        "[state invalid]",
		`{"name":"a","state_id":"` + opsStateTodo + `"}`:                    "[state_id does_not_exist]",
		`{"name":"a","assignee_ids":["` + userEve + `"]}`:                   "[assignee_ids does_not_exist]",
		`{"name":"a","start_date":"2030-02-02","target_date":"2030-02-01"}`: "[target_date invalid]",
		`{"name":"a","custom_fields":{"x":1}}`:                              "[custom_fields invalid]",
		`{"name":"` + strings.Repeat("x", 256) + `"}`:                       "[name max_length]",
		`{"name":"a","cycle_id":"` + cycleQ1 + `"}`:                         "[cycle_id does_not_exist]",
	} {
		if got := want(t, ask(t, s, "POST", itemsV2, body), 400); fmt.Sprint(got.fields(t)) != fields {
			t.Errorf("%s: %s, want %s", body, got.fields(t), fields)
		}
	}
	want(t, ask(t, s, "PATCH", "projects/"+projectWeb+"/", `{"default_assignee":"`+userBob+`"}`), 200)
	made := want(t, ask(t, s, "POST", itemsV2, `{"name":"a","state":"TODO","labels":["Bug"],"parent":"web-1","cycle_id":"`+cycleSprint14+
		`","module_ids":["`+moduleCheckout+`"],"created_by_id":"`+userBob+`","description_html":"<p>x<script>y</script></p>"}`), 201).object(t)
	id := made["id"].(string)
	if made["state_id"] != stateTodo || made["parent_id"] != workItemWeb1 || made["cycle_id"] != cycleSprint14 || made["created_by_id"] != userAda ||
		fmt.Sprint(made["module_ids"], made["assignee_ids"], made["label_ids"]) != fmt.Sprintf("[%s] [%s] [%s]", moduleCheckout, userBob, labelBug) {
		t.Errorf("made %v", made)
	}
	v1 := want(t, ask(t, s, "GET", itemsPath+id+"/", ""), 200).object(t)
	if v1["description_html"] != "<p>x</p>" || v1["parent"] != workItemWeb1 || v1["sequence_id"] != 2.0 {
		t.Errorf("v1 reads %v", v1)
	}
	if got := want(t, ask(t, s, "POST", itemsV2, `{"name":"b","assignee_ids":[]}`), 201).object(t); fmt.Sprint(got["assignee_ids"]) != "[]" {
		t.Errorf("nobody: %v", got)
	}
	changed := want(t, ask(t, s, "PATCH", itemsV2+id+"/", `{"parent_id":null,"cycle_id":"`+cycleSprint15+`","module_ids":[],"sequence_id":99}`), 200).object(t)
	if changed["parent_id"] != nil || changed["cycle_id"] != cycleSprint15 || fmt.Sprint(changed["module_ids"]) != "[]" || changed["sequence_id"] != 2.0 {
		t.Errorf("changed to %v", changed)
	}
	want(t, ask(t, s, "POST", itemsV2+id+"/archive/", ""), 400)
	want(t, ask(t, s, "PATCH", itemsV2+id+"/", `{"state":"done"}`), 200)
	if at := want(t, ask(t, s, "POST", itemsV2+id+"/archive/", ""), 200).object(t)["archived_at"].(string); !strings.Contains(at, "T") {
		t.Errorf("archived at the day %s", at)
	}
	want(t, ask(t, s, "GET", itemsV2+id+"/", ""), 404)
	want(t, ask(t, s, "POST", itemsV2+id+"/unarchive/", ""), 200)
	want(t, ask(t, s, "DELETE", itemsV2+id+"/", "", "X-Api-Key", keyBob), 403)
	want(t, ask(t, s, "DELETE", itemsV2+id+"/", ""), 204)
	want(t, ask(t, s, "DELETE", itemsV2+id+"/", ""), 404)
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

func TestV2UpsertFindsItsRecordByTheExternalID(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	upsert := itemsV2 + "upsert/"
	if got := want(t, ask(t, s, "POST", upsert, `{"name":"a","external_id":"1"}`), 400); fmt.Sprint(got.fields(t)) != "[external_source required]" {
		t.Errorf("%s", got.body)
	}
	first := want(t, ask(t, s, "POST", upsert, `{"name":"a","external_id":"1","external_source":"x","priority":"high"}`), 201)
	second := want(t, ask(t, s, "POST", upsert, `{"name":"b","external_id":"1","external_source":"x"}`), 200)
	if first.header.Get("X-Plane-Upsert") != "created" || second.header.Get("X-Plane-Upsert") != "updated" {
		t.Errorf("%v %v", first.header, second.header)
	}
	if a, b := first.object(t), second.object(t); a["id"] != b["id"] || b["name"] != "b" || b["priority"] != "high" {
		t.Errorf("%v, then %v", a, b)
	}
	// Plain creation does not look for the external ID, and a list answers doubles.
	want(t, ask(t, s, "POST", itemsV2, `{"name":"c","external_id":"1","external_source":"x"}`), 201)
	if rows := want(t, ask(t, s, "GET", itemsV2+"?external_id=1&external_source=x", ""), 200).data(t); len(rows) != 2 {
		t.Errorf("doubles: %v", rows)
	}
}

func TestV2SchemaNamesTheOperationsThereAre(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{HasOperation: func(_, path string) bool { return !strings.HasSuffix(path, "/upsert/") }})
	paths := want(t, ask(t, s, "GET", "/api/v2/schema/", ""), 200).object(t)["paths"].(map[string]any)
	upsert := "/api/v2/workspaces/{slug}/projects/{project_id}/work-items/upsert/"
	create, _ := paths[strings.Replace(upsert, "upsert", "bulk-create", 1)].(map[string]any)
	if paths[upsert] != nil || create["post"] == nil {
		t.Errorf("paths: %v", paths)
	}
	if got := want(t, ask(t, s, "POST", itemsV2+"upsert/", "{}"), 404).object(t); got["error"] != textNoPage {
		t.Errorf("%v", got)
	}
}

func TestV1OfTheCloudIsAsItsSDKReadsIt(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{RelationIDs: true})
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
