package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const wsV2 = "/api/v2/workspaces/acme/"

func TestV2CollectionsMakeReadChangeAndDelete(t *testing.T) {
	t.Parallel()
	item := itemsV2 + workItemWeb1 + "/"
	ops := wsV2 + "projects/" + projectOps + "/"
	for _, tt := range []struct {
		list, body, patch string
		v1                string // list of API v1 that shows it, "" if none does
	}{
		{wsV2 + "projects/", `{"name":"New","identifier":"new"}`, `{"description":"d","cycle_view":true}`, "projects/"},
		{webV2 + "states/", `{"name":"Review","color":"#ffffff","group":"started"}`, `{"name":"Re"}`, "projects/" + projectWeb + "/states/"},
		{webV2 + "labels/", `{"name":"new","parent_id":"` + labelBug + `"}`, `{"parent_id":null}`, "projects/" + projectWeb + "/labels/"},
		{webV2 + "cycles/", `{"name":"S","start_date":"2031-01-01"}`, `{"end_date":"2031-02-01T10:00:00Z"}`, "projects/" + projectWeb + "/cycles/"},
		{webV2 + "modules/", `{"name":"M","lead_id":"` + userBob + `"}`, `{"status":"in-progress"}`, "projects/" + projectWeb + "/modules/"},
		{webV2 + "milestones/", `{"title":"M"}`, `{"target_date":"2031-01-01"}`, "projects/" + projectWeb + "/milestones/"},
		{webV2 + "intake-issues/", `{"name":"I","description_html":"<p>x</p>"}`, `{"status":1}`, ""},
		{ops + "estimates/", `{"name":"E","type":"time"}`, `{"description":"d"}`, ""},
		{webV2 + "estimates/" + estimateWeb + "/points/", `{"value":"13","key":6}`, `{"value":"21"}`, ""},
		{webV2 + "work-item-types/", `{"name":"Bug","external_id":"1","external_source":"x"}`, `{"is_active":false}`, ""},
		{item + "comments/", `{"comment_html":"<p>a</p>"}`, `{"access":"EXTERNAL"}`, "projects/" + projectWeb + "/work-items/" + workItemWeb1 + "/comments/"},
		{item + "links/", `{"url":"https://example.com/x"}`, `{"title":"t"}`, "projects/" + projectWeb + "/work-items/" + workItemWeb1 + "/links/"},
		{wsV2 + "work-item-relation-definitions/", `{"name":"N","inward":"i","outward":"o"}`, `{"color":"#fff"}`, ""},
		{wsV2 + "initiatives/", `{"name":"I","project_ids":["` + projectWeb + `"],"description_html":"<p>x</p>"}`, `{"project_ids":[]}`, "initiatives/"},
		{wsV2 + "initiatives/labels/", `{"name":"L"}`, `{"color":"#123456"}`, "initiatives/labels/"},
		{wsV2 + "teamspaces/", `{"name":"T","member_ids":["` + userBob + `"]}`, `{"lead_id":"` + userAda + `"}`, "teamspaces/"},
		{wsV2 + "customers/", `{"name":"C","email":"a@example.com"}`, `{"employees":4}`, "customers/"},
		{wsV2 + "customers/" + customerGlobex + "/requests/", `{"name":"R","work_item_ids":["` + workItemWeb1 + `"]}`, `{"link":"https://example.com"}`, "customers/" + customerGlobex + "/requests/"},
		{wsV2 + "customer-properties/", `{"display_name":"P","property_type":"TEXT"}`, `{"is_required":true}`, "customer-properties/"},
		{wsV2 + "pages/", `{"name":"P","parent_id":"` + pageWelcome + `"}`, `{"parent_id":null}`, "pages/"},
		{webV2 + "pages/", `{"name":"P","description_html":"<p>x</p>"}`, `{"is_locked":true}`, ""},
	} {
		t.Run(strings.TrimPrefix(tt.list, wsV2), func(t *testing.T) {
			t.Parallel()
			s := openCloud(t, Options{})
			want(t, ask(t, s, "PATCH", wsV2+"projects/"+projectWeb+"/", `{"intake_view":true}`), 200)
			before := len(want(t, ask(t, s, "GET", tt.list, ""), 200).data(t))
			if got := want(t, ask(t, s, "POST", tt.list, `{"nope":1}`), 400); !strings.Contains(fmt.Sprint(got.fields(t)), "nope invalid") {
				t.Errorf("unknown field: %s", got.body)
			}
			want(t, ask(t, s, "POST", tt.list, tt.body, "X-Api-Key", keyEve), map[bool]int{true: 404, false: 403}[strings.Contains(tt.list, "projects/5") || strings.Contains(tt.list, "projects/f")])
			made := want(t, ask(t, s, "POST", tt.list, tt.body), 201).object(t)
			one := tt.list + made["id"].(string) + "/"
			if read := want(t, ask(t, s, "GET", one+"?fields=all", ""), 200).object(t); fmt.Sprint(without(read)) != fmt.Sprint(without(made)) {
				t.Errorf("made %v\nread %v", made, read)
			}
			rows := want(t, ask(t, s, "GET", tt.list+"?per_page=200", ""), 200).data(t)
			if len(rows) != before+1 || rows[0]["description_html"] != nil {
				t.Errorf("%d rows, had %d; %v", len(rows), before, rows[0])
			}
			if tt.v1 != "" {
				if got := want(t, ask(t, s, "GET", tt.v1, ""), 200); !strings.Contains(got.body, made["id"].(string)) {
					t.Errorf("v1 lists %s", got.body)
				}
			}
			changed := want(t, ask(t, s, "PATCH", one, tt.patch), 200).object(t)
			if changed["id"] != made["id"] || fmt.Sprint(changed) == fmt.Sprint(made) {
				t.Errorf("changed to %v", changed)
			}
			want(t, ask(t, s, "DELETE", one, ""), 204)
			want(t, ask(t, s, "GET", one, ""), 404)
			want(t, ask(t, s, "DELETE", one, ""), 404)
			inBatches(t, s, tt.list, tt.body, tt.patch)
			upserted(t, s, tt.list, tt.body)
		})
	}
}

// inBatches makes, changes and deletes a record by batches, if the collection has them.
func inBatches(t *testing.T, s *Server, list, body, patch string) {
	t.Helper()
	got := ask(t, s, "POST", list+"bulk-create/", `{"items":[`+body+`,{}]}`)
	if got.status == 404 {
		return
	}
	result := want(t, got, 200).object(t)
	row := result["results"].([]any)[0].(map[string]any)
	if result["succeeded"] != 1.0 || result["failed"] != 1.0 || row["result"] != "created" {
		t.Fatalf("created: %s", got.body)
	}
	id := row["id"].(string)
	got = ask(t, s, "POST", list+"bulk-update/", `{"items":[{"id":"`+id+`",`+patch[1:]+`],"all_or_none":true}`)
	if want(t, got, 200).object(t)["succeeded"] != 1.0 {
		t.Errorf("updated: %s", got.body)
	}
	if got := ask(t, s, "POST", list+"bulk-delete/", `{"ids":["`+id+`"]}`); strings.HasSuffix(list, "/projects/") {
		want(t, got, 404)
	} else if want(t, got, 200).object(t)["succeeded"] != 1.0 {
		t.Errorf("deleted: %s", got.body)
	}
}

// upserted makes a record and changes it by the same request, if the collection has upsert.
func upserted(t *testing.T, s *Server, list, body string) {
	t.Helper()
	body = strings.TrimSuffix(body, "}") + `,"external_id":"7","external_source":"x"}`
	if list == wsV2+"projects/" {
		body = strings.NewReplacer("New", "Other", "new", "oth").Replace(body)
	}
	made := ask(t, s, "POST", list+"upsert/", body)
	if made.status == 404 {
		return
	}
	first, second := want(t, made, 201).object(t), want(t, ask(t, s, "POST", list+"upsert/", body), 200).object(t)
	if first["id"] != second["id"] {
		t.Errorf("made %v, then %v", first["id"], second["id"])
	}
}

// without leaves out what a worker changes a moment after the answer.
func without(r map[string]any) map[string]any {
	delete(r, "metadata")
	delete(r, "created_by_id")
	return r
}

func TestV2UniqueAndProtectedRecordsAreConflicts(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	item := itemsV2 + workItemWeb1 + "/"
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", wsV2 + "projects/", `{"name":"Website","identifier":"X"}`, 409},
		{"POST", wsV2 + "projects/", `{"name":"X","identifier":"web"}`, 409},
		{"POST", webV2 + "states/", `{"name":"Todo","color":"#fff"}`, 409},
		{"POST", webV2 + "labels/", `{"name":"bug"}`, 409},
		{"POST", webV2 + "cycles/", `{"name":"Sprint 14"}`, 409},
		{"POST", webV2 + "modules/", `{"name":"Checkout"}`, 409},
		{"POST", item + "links/", `{"url":"https://example.com/prices.pdf"}`, 409},
		{"POST", webV2 + "members/", `{"member_id":"` + userBob + `","role":"admin"}`, 409},
		{"DELETE", webV2 + "states/" + stateBacklog + "/", "", 409},
		{"DELETE", webV2 + "work-item-types/" + typeStory + "/", "", 409},
		{"POST", wsV2 + "work-item-types/", `{"name":"X"}`, 409},
		{"PATCH", wsV2 + "work-item-types/" + typeStory + "/", `{"name":"X"}`, 404},
		{"GET", wsV2 + "work-item-types/?paginate=cursor&order_by=created_at&fields=id", "", 200},
		{"GET", wsV2 + "work-item-types/?fields=nope", "", 400},
		{"POST", webV2 + "cycles/" + cycleSprint14 + "/transfer/", `{"new_cycle_id":"` + cycleSprint15 + `"}`, 400},
		{"POST", webV2 + "cycles/" + cycleQ1 + "/transfer/", `{"new_cycle_id":"` + cycleSprint15 + `"}`, 404},
		{"POST", wsV2 + "projects/" + projectOps + "/modules/", `{"name":"M"}`, 402},
		{"PATCH", wsV2 + "work-item-relation-definitions/" + definitionRelates + "/", `{"name":"X"}`, 403},
		{"POST", webV2 + "labels/", `{"name":"x","parent_id":"` + labelInfra + `"}`, 400},
		{"POST", webV2 + "modules/", `{"name":"x","start_date":"2030-02-02","target_date":"2030-02-01"}`, 400},
		{"GET", webV2 + "labels/?paginate=cursor", "", 400},
		{"GET", webV2 + "labels/?paginate=cursor&order_by=created_at&name=BUG", "", 200},
	} {
		if got := ask(t, s, tt.method, tt.path, tt.body); got.status != tt.status || got.status >= 400 && got.object(t)["type"] != problemType(tt.status) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, got.status, got.body)
		}
	}
	// A state that becomes the default takes that from the other.
	want(t, ask(t, s, "PATCH", webV2+"states/"+stateTodo+"/", `{"is_default":true}`), 200)
	if rows := want(t, ask(t, s, "GET", webV2+"states/?is_default=true", ""), 200).data(t); len(rows) != 1 || rows[0]["id"] != stateTodo {
		t.Errorf("defaults: %v", rows)
	}
	body := want(t, ask(t, s, "POST", webV2+"labels/bulk-create/", `{"items":[{"name":"a"},{"name":"a"},{"name":"bug"}]}`), 200).object(t)
	if body["succeeded"] != 1.0 {
		t.Errorf("rows follow each other: %v", body)
	}
}

func TestV2ManageRoutesAnswerWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	milestone := want(t, ask(t, s, "POST", webV2+"milestones/", `{"title":"M"}`), 201).object(t)["id"].(string)
	for _, route := range []struct{ path, id string }{
		{webV2 + "cycles/" + cycleSprint14 + "/work-items/", workItemWeb1},
		{webV2 + "cycles/" + cycleSprint15 + "/work-items/", workItemWeb1}, // out of the other
		{webV2 + "modules/" + moduleCheckout + "/work-items/", workItemWeb1},
		{webV2 + "milestones/" + milestone + "/work-items/", workItemWeb1},
		{wsV2 + "initiatives/" + initiativeNorth + "/projects/", projectWeb},
		{wsV2 + "initiatives/" + initiativeNorth + "/labels/", initiativeLabelRisk},
		{wsV2 + "initiatives/" + initiativeNorth + "/work-items/", workItemWeb1},
		{wsV2 + "customers/" + customerGlobex + "/work-items/", workItemWeb1},
	} {
		add, remove := fmt.Sprintf(`{"add":[%q]}`, route.id), fmt.Sprintf(`{"remove":[%q]}`, route.id)
		for _, step := range []struct{ body, want string }{
			{add, fmt.Sprintf(`{"added":[%q],"removed":[]}`, route.id)},
			{add, `{"added":[],"removed":[]}`},
		} {
			if got := want(t, ask(t, s, "POST", route.path, step.body), 200); got.body != step.want {
				t.Errorf("%s %s: %s", route.path, step.body, got.body)
			}
		}
		if !strings.Contains(route.path, "cycles") {
			if got := want(t, ask(t, s, "POST", route.path, remove), 200); got.body != fmt.Sprintf(`{"added":[],"removed":[%q]}`, route.id) {
				t.Errorf("%s: %s", route.path, got.body)
			}
		}
		want(t, ask(t, s, "POST", route.path, fmt.Sprintf(`{"add":[%q],"remove":[]}`, route.id)), 200)
		want(t, ask(t, s, "POST", route.path, `{}`), 400)
		want(t, ask(t, s, "POST", route.path, `{"add":[],"remove":[]}`), 400)
		want(t, ask(t, s, "POST", route.path, `{"add":["x"]}`), 400)
		want(t, ask(t, s, "GET", route.path, ""), 405)
	}
	item := want(t, ask(t, s, "GET", itemsV2+workItemWeb1+"/?expand=cycle", ""), 200).object(t)
	if item["cycle_id"] != cycleSprint15 || item["cycle"].(map[string]any)["name"] != "Sprint 15" {
		t.Errorf("cycle: %v", item)
	}
	want(t, ask(t, s, "PATCH", webV2+"cycles/"+cycleSprint15+"/", `{"start_date":"2020-01-01","end_date":"2020-01-14"}`), 200)
	want(t, ask(t, s, "POST", webV2+"cycles/"+cycleSprint15+"/transfer/", `{"new_cycle_id":"`+cycleSprint14+`"}`), 200)
	if rows := want(t, ask(t, s, "GET", itemsV2+"?cycle_id="+cycleSprint14, ""), 200).data(t); len(rows) != 1 {
		t.Errorf("transferred: %v", rows)
	}
}

func TestV2RelationsAreAddedOrReplaced(t *testing.T) {
	t.Parallel()
	for _, replace := range []bool{false, true} {
		s := openCloud(t, Options{ReplaceRelations: replace})
		var ids []string
		for range 2 {
			ids = append(ids, want(t, ask(t, s, "POST", itemsV2, `{"name":"x"}`), 201).object(t)["id"].(string))
		}
		dependencies, relations := itemsV2+workItemWeb1+"/dependencies/", itemsV2+"WEB-1/relations/"
		for _, id := range ids {
			want(t, ask(t, s, "POST", dependencies, `{"relation_type":"blocking","work_item_ids":["`+id+`"]}`), 201)
			answer := want(t, ask(t, s, "POST", relations, `{"relation_definition_id":"`+definitionDuplicate+`","direction":"duplicated by","work_item_ids":["`+id+`"]}`), 201)
			if got := fmt.Sprint(answer.object(t)["duplicated by"]); !strings.Contains(got, id) {
				t.Errorf("answer: %s", answer.body)
			}
		}
		n := map[bool]int{false: 2, true: 1}[replace]
		d := want(t, ask(t, s, "GET", dependencies, ""), 200).object(t)
		r := want(t, ask(t, s, "GET", relations, ""), 200).object(t)
		if len(d) != 6 || len(d["blocking"].([]any)) != n || len(r["duplicated by"].([]any)) != n || len(r["relates to"].([]any)) != 0 {
			t.Errorf("replace %v: %v %v", replace, d, r)
		}
		other := want(t, ask(t, s, "GET", itemsV2+ids[1]+"/dependencies/", ""), 200).object(t)
		if fmt.Sprint(other["blocked_by"]) != "["+workItemWeb1+"]" {
			t.Errorf("from the other side: %v", other)
		}
		v1 := want(t, ask(t, s, "GET", itemsPath+workItemWeb1+"/relations/", ""), 200).object(t)
		if len(v1["blocking"].([]any)) != n || len(v1["duplicate"].([]any)) != n {
			t.Errorf("v1: %v", v1)
		}
		want(t, ask(t, s, "DELETE", dependencies+ids[1]+"/", ""), 204)
		want(t, ask(t, s, "DELETE", dependencies+ids[1]+"/", ""), 404)
		want(t, ask(t, s, "DELETE", relations+ids[1]+"/", ""), 204)
		want(t, ask(t, s, "POST", dependencies, `{"relation_type":"relates_to","work_item_ids":["`+ids[0]+`"]}`), 400)
		want(t, ask(t, s, "POST", dependencies, `{"relation_type":"blocking","work_item_ids":["`+workItemWeb1+`"]}`), 400)
	}
}

func TestV2MembersFeaturesAndValues(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	roster := want(t, ask(t, s, "GET", wsV2+"members/?expand=member&role__in=admin,guest", ""), 200).data(t)
	if len(roster) != 2 || roster[0]["id"] == roster[0]["member_id"] || roster[0]["member"].(map[string]any)["email"] != "ada@example.com" {
		t.Errorf("roster: %v", roster)
	}
	if found := want(t, ask(t, s, "GET", wsV2+"members/?search=BOB@example", ""), 200).data(t); len(found) != 1 || found[0]["member_id"] != userBob {
		t.Errorf("found: %v", found)
	}
	members := webV2 + "members/"
	eve := want(t, ask(t, s, "POST", members, `{"member_id":"`+userEve+`","role":"guest"}`), 201).object(t)
	want(t, ask(t, s, "GET", itemsV2, "", "X-Api-Key", keyEve), 200)
	want(t, ask(t, s, "POST", itemsV2, `{"name":"x"}`, "X-Api-Key", keyEve), 403)
	if got := want(t, ask(t, s, "PATCH", members+eve["id"].(string)+"/", `{"role":"contributor"}`), 200); fmt.Sprint(got.object(t)) !=
		fmt.Sprint(map[string]any{"id": eve["id"], "member_id": userEve, "role": "contributor"}) || roster[0]["created_at"] != nil {
		t.Errorf("memberships are their member and role: %s, %v", got.body, roster[0])
	}
	want(t, ask(t, s, "POST", itemsV2, `{"name":"x"}`, "X-Api-Key", keyEve), 201)
	want(t, ask(t, s, "DELETE", members+eve["id"].(string)+"/", ""), 204)
	want(t, ask(t, s, "GET", itemsV2, "", "X-Api-Key", keyEve), 404)
	want(t, ask(t, s, "POST", members, `{"member_id":"`+userEve+`","role":"boss"}`), 400)

	flags := want(t, ask(t, s, "PATCH", webV2+"features/", `{"is_milestone_enabled":false,"nope":1}`), 200).object(t)
	if _, shown := flags["is_epic_enabled"]; !shown || len(flags) != 7 {
		t.Errorf("features of a project are flags: %v", flags)
	}
	if all := want(t, ask(t, s, "GET", wsV2+"features/", ""), 200).object(t); all["id"] == nil || all["is_member_project_creation_enabled"] != true {
		t.Errorf("features of the workspace: %v", all)
	}
	want(t, ask(t, s, "POST", webV2+"milestones/", `{"title":"x"}`), http.StatusPaymentRequired)
	want(t, ask(t, s, "PATCH", wsV2+"features/", `{"is_teams_enabled":1}`), 400)
	want(t, ask(t, s, "PATCH", wsV2+"features/", `{"is_teams_enabled":false}`), 200)
	want(t, ask(t, s, "GET", wsV2+"teamspaces/", ""), http.StatusPaymentRequired)
	want(t, ask(t, s, "PATCH", wsV2+"features/", `{"is_work_item_types_enabled":true}`), 409)

	values := wsV2 + "customers/" + customerGlobex + "/property-values/"
	want(t, ask(t, s, "POST", values, `{"values":{"`+propertyTier+`":["gold"],"`+propertyRenewal+`":["2030-01-01"]}}`), 201)
	got := want(t, ask(t, s, "POST", values, `{"values":{"`+propertyTier+`":["silver"]}}`), 201).object(t)
	if len(got) != 2 || fmt.Sprint(got[propertyTier]) != "[silver]" {
		t.Errorf("values: %v", got)
	}
	types := wsV2 + "projects/" + projectOps + "/work-item-types/"
	if got := want(t, ask(t, s, "POST", types+"enable/", ""), 200).object(t); got["name"] != "Task" || got["is_default"] != true {
		t.Errorf("enabled: %v", got)
	}
	if got := want(t, ask(t, s, "GET", wsV2+"projects/WEB/summary/?counts=states,issues", ""), 200).object(t); fmt.Sprint(got["counts"]) != "map[issues:2 states:5]" {
		t.Errorf("summary: %v", got)
	}
	want(t, ask(t, s, "POST", wsV2+"projects/WEB/archive/", "", "X-Api-Key", keyBob), 403)
	want(t, ask(t, s, "POST", wsV2+"projects/WEB/archive/", ""), 204)
	if rows := want(t, ask(t, s, "GET", wsV2+"projects/", ""), 200).data(t); len(rows) != 1 {
		t.Errorf("projects: %v", rows)
	}
}

func TestV2BooleansSearchAndDefaults(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	want(t, ask(t, s, "POST", wsV2+"projects/OPS/archive/", ""), 204)
	for _, tt := range []struct {
		path string
		n    int
	}{
		{wsV2 + "projects/?include_archived=True", 2},
		{wsV2 + "projects/?is_archived=False", 1},
		{webV2 + "states/?is_default=True", 1},
		{webV2 + "labels/?parent_id__isnull=False", 0},
		{itemsV2 + "?cycle_id__isnull=True&is_draft=False", 1},
		{webV2 + "estimates/" + estimateWeb + "/points/?search=5", 1},
	} {
		if got := want(t, ask(t, s, "GET", tt.path+"&count=False", ""), 200); len(got.data(t)) != tt.n || got.object(t)["total_count"] != nil {
			t.Errorf("%s: %s", tt.path, got.body)
		}
	}
	for list, in := range map[string]bool{wsV2 + "pages/": true, webV2 + "pages/": false} {
		if made := want(t, ask(t, s, "POST", list, `{"name":"P"}`), 201).object(t); (made["collection_id"] != nil) != in {
			t.Errorf("%s: in collection %v", list, made["collection_id"])
		}
	}
	option := `[{"name":"A"}]`
	made := want(t, ask(t, s, "POST", wsV2+"customer-properties/", `{"display_name":"P","property_type":"OPTION","options":`+option+`}`), 201)
	if fmt.Sprint(made.object(t)["options"]) != "[map[name:A]]" {
		t.Errorf("options: %s", made.body)
	}
}

func TestV2NoValueOfAFieldIsAServerError(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	ids := strings.NewReplacer("{slug}", "acme", "{project_id}", projectWeb, "{work_item_id}", workItemWeb1, "{estimate_id}", estimateWeb, "{customer_id}", customerGlobex)
	pks := map[string]string{
		"projects/": projectWeb, "states/": stateTodo, "labels/": labelBug, "cycles/": cycleSprint14, "modules/": moduleCheckout, "work-items/": workItemWeb1,
		"pages/": pageWelcome, "links/": linkWeb1, "comments/": commentWeb1, "customers/": customerGlobex, "initiatives/": initiativeNorth,
		"teamspaces/": teamspacePlatform, "work-item-types/": typeTask, "estimates/": estimateWeb, "points/": seedPoint("1"), "initiatives/labels/": initiativeLabelRisk,
	}
	values := []string{`null`, `1`, `-1.5`, `1e999`, `"x"`, `""`, `"\u0000"`, `[]`, `[null]`, `["x",1]`, `{}`, `{"a":null}`, `true`, `"` + userAda + `"`, `["` + userAda + `"]`}
	for _, op := range s.operationsV2() {
		path, _, _ := strings.Cut(op.path, "{pk}")
		area := path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]
		path = v2Root + ids.Replace(strings.Replace(op.path, "{pk}", pks[area], 1))
		if op.method == http.MethodGet || op.method == http.MethodDelete {
			continue
		}
		fields := []string{"items", "ids", "add", "remove", "values", "work_item_ids", "relation_type", "direction", "new_cycle_id"}
		for _, f := range op.body {
			fields = append(fields, f.name)
		}
		for _, v := range values {
			body := `{"` + strings.Join(fields, `":`+v+`,"`) + `":` + v + "}" // each field with this value
			if got := ask(t, s, op.method, path, body); got.status >= 500 {
				t.Errorf("%s %s %s: %d %s", op.method, path, body, got.status, got.body)
			}
		}
	}
}
