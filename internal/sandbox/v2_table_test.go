package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const wsV2 = "/api/v2/workspaces/acme/"

func TestV2CollectionsMakeReadChangeAndDelete(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ list, body, patch string }{
		{webV2 + "intake-issues/", `{"name":"I","description_html":"<p>x</p>"}`, `{"status":1}`},
		{wsV2 + "work-item-relation-definitions/", `{"name":"R","outward":"a","inward":"b"}`, `{"is_active":false}`},
		{wsV2 + "work-item-templates/", `{"name":"T","template_data":{"name":"x"}}`, `{"is_published":true}`},
		{webV2 + "work-item-templates/", `{"name":"T","template_data":{},"description_html":"<p>x</p>"}`, `{"template_data":{"name":"y"}}`},
		{webV2 + "workflows/", `{"name":"W","work_item_type_ids":["` + typeStory + `"]}`, `{"is_active":false}`},
		{webV2 + "views/", `{"name":"V","filters":{"priority":["high"]}}`, `{"filters":{}}`},
		{wsV2 + "views/", `{"name":"V","access":0}`, `{"display_filters":{"group_by":"state"}}`},
		{wsV2 + "webhooks/", `{"url":"https://ci.example.com","scopes":["work_item"]}`, `{"is_active":false}`},
		{wsV2 + "releases/", `{"name":"R","description_html":"<p>x</p>","lead_id":"` + userBob + `"}`, `{"status":"released","lead_id":null}`},
		{wsV2 + "releases/tags/", `{"version":"v1"}`, `{"git_tag":"v1.0.0"}`},
		{wsV2 + "releases/labels/", `{"name":"L"}`, `{"color":"#123456"}`},
		{wsV2 + "pages/", `{"name":"P","parent_id":"` + pageWelcome + `"}`, `{"parent_id":null}`},
	} {
		t.Run(strings.TrimPrefix(tt.list, wsV2), func(t *testing.T) {
			t.Parallel()
			s := openCloud(t, Options{})
			want(t, ask(t, s, "PATCH", "projects/"+projectWeb+"/", `{"intake_view":true,"issue_views_view":true}`), 200)
			want(t, ask(t, s, "PATCH", wsV2+"features/", `{"is_release_enabled":true}`), 200)
			want(t, ask(t, s, "PATCH", webV2+"features/", `{"is_workflow_enabled":true}`), 200)
			before := len(want(t, ask(t, s, "GET", tt.list, ""), 200).data(t))
			if got := want(t, ask(t, s, "POST", tt.list, `{"nope":1}`), 400); !strings.Contains(fmt.Sprint(got.fields(t)), "nope invalid") {
				t.Errorf("unknown field: %s", got.body)
			}
			want(t, ask(t, s, "POST", tt.list, tt.body, "X-Api-Key", keyEve), map[bool]int{true: 404, false: 403}[strings.Contains(tt.list, "projects/")])
			made := want(t, ask(t, s, "POST", tt.list, tt.body), 201).object(t)
			delete(made, "secret_key") // which nothing shows again
			one := tt.list + made["id"].(string) + "/"
			if read := want(t, ask(t, s, "GET", one+"?fields=all", ""), 200).object(t); fmt.Sprint(read) != fmt.Sprint(made) {
				t.Errorf("made %v\nread %v", made, read)
			}
			rows := want(t, ask(t, s, "GET", tt.list+"?per_page=200", ""), 200).data(t)
			if len(rows) != before+1 || rows[0]["description_html"] != nil {
				t.Errorf("%d rows, had %d; %v", len(rows), before, rows[0])
			}
			changed := want(t, ask(t, s, "PATCH", one, tt.patch), 200).object(t)
			if changed["id"] != made["id"] || fmt.Sprint(changed) == fmt.Sprint(made) {
				t.Errorf("changed to %v", changed)
			}
			if strings.Contains(tt.list, "pages") {
				want(t, ask(t, s, "PATCH", one, `{"archived_at":"2026-11-22T09:00:00Z"}`), 200)
			}
			want(t, ask(t, s, "DELETE", one, ""), 204)
			want(t, ask(t, s, "GET", one, ""), 404)
			want(t, ask(t, s, "DELETE", one, ""), 404)
		})
	}
}

func TestV2WorkflowsHaveStatesOfTheProjectAndTransitionsFromThose(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	want(t, ask(t, s, "POST", webV2+"workflows/", `{"name":"W"}`), 400)
	want(t, ask(t, s, "PATCH", webV2+"features/", `{"is_workflow_enabled":true}`), 200)
	path := webV2 + "workflows/" + want(t, ask(t, s, "POST", webV2+"workflows/", `{"name":"W"}`), 201).object(t)["id"].(string) + "/"
	for body, status := range map[string]int{
		`{"is_default":true}`: 400, `{"state_ids":[]}`: 400, `{"state_ids":["` + opsStateTodo + `"]}`: 400, `{"state_ids":[1]}`: 400,
	} {
		want(t, ask(t, s, "POST", path+"states/", body), status)
	}
	var made []map[string]any
	if err := json.Unmarshal([]byte(want(t, ask(t, s, "POST", path+"states/", `{"state_ids":["`+stateTodo+`","`+stateDone+`"]}`), 201).body), &made); err != nil {
		t.Fatal(err)
	}
	if len(made) != 2 || made[0]["state_id"] != stateTodo || made[0]["is_default"] != false {
		t.Fatal(made)
	}
	want(t, ask(t, s, "POST", path+"states/", `{"state_ids":["`+stateTodo+`"]}`), 501)
	want(t, ask(t, s, "POST", path+"state-transitions/", `{"state_id":"`+stateBacklog+`","transition_state_id":"`+stateDone+`"}`), 400)
	transition := want(t, ask(t, s, "POST", path+"state-transitions/", `{"state_id":"`+stateTodo+`","transition_state_id":"`+stateDone+`"}`), 201).object(t)
	if _, shown := transition["state_id"]; shown || transition["workflow_state_id"] != made[0]["id"] {
		t.Error(transition)
	}
	want(t, ask(t, s, "DELETE", path+"states/"+made[0]["id"].(string)+"/", ""), 204)
	if left := want(t, ask(t, s, "GET", path+"state-transitions/", ""), 200).data(t); len(left) != 0 {
		t.Error(left)
	}
}

func TestV2CollectionsAreWrittenInBatches(t *testing.T) {
	t.Parallel()
	item := itemsV2 + workItemWeb1 + "/"
	for list, tt := range map[string]struct {
		body, patch string
		v1          string // list of API v1 that shows it, below the project; "" if none does
	}{
		webV2 + "states/":     {`{"name":"Review","color":"#ffffff","group":"started"}`, `{"name":"Re"}`, "states/"},
		webV2 + "labels/":     {`{"name":"new","parent_id":"` + labelBug + `"}`, `{"parent_id":null}`, "labels/"},
		webV2 + "cycles/":     {`{"name":"S","start_date":"2031-01-01"}`, `{"end_date":"2031-02-01T10:00:00Z"}`, "cycles/"},
		webV2 + "modules/":    {`{"name":"M","lead_id":"` + userBob + `"}`, `{"status":"in-progress"}`, "modules/"},
		webV2 + "milestones/": {`{"title":"M"}`, `{"target_date":"2031-01-01"}`, "milestones/"},
		webV2 + "estimates/" + estimateWeb + "/points/": {`{"value":"13","key":6}`, `{"value":"21"}`, ""},
		item + "comments/": {`{"comment_html":"<p>a</p>"}`, `{"access":"EXTERNAL"}`, "work-items/" + workItemWeb1 + "/comments/"},
	} {
		t.Run(strings.TrimPrefix(list, wsV2), func(t *testing.T) {
			t.Parallel()
			s := openCloud(t, Options{})
			want(t, ask(t, s, "PATCH", webV2+"features/", `{"is_milestone_enabled":true}`), 200)
			got := want(t, ask(t, s, "POST", list+"bulk-create/", `{"items":[`+tt.body+`,{}]}`), 200)
			result := got.object(t)
			row := result["results"].([]any)[0].(map[string]any)
			if result["succeeded"] != 1.0 || result["failed"] != 1.0 || row["result"] != "created" {
				t.Fatalf("created: %s", got.body)
			}
			id := row["id"].(string)
			if tt.v1 != "" {
				if shown := want(t, ask(t, s, "GET", "projects/"+projectWeb+"/"+tt.v1, ""), 200); !strings.Contains(shown.body, id) {
					t.Errorf("v1 lists %s", shown.body)
				}
			}
			got = ask(t, s, "POST", list+"bulk-update/", `{"items":[{"id":"`+id+`",`+tt.patch[1:]+`],"all_or_none":true}`)
			if want(t, got, 200).object(t)["succeeded"] != 1.0 {
				t.Errorf("updated: %s", got.body)
			}
			if got := ask(t, s, "POST", list+"bulk-delete/", `{"ids":["`+id+`"]}`); want(t, got, 200).object(t)["succeeded"] != 1.0 {
				t.Errorf("deleted: %s", got.body)
			}
		})
	}
}

// refusal is the status with which a batch of one row is refused; 200 is not at all.
func refusal(t *testing.T, s *Server, path, row string) int {
	t.Helper()
	list := "items"
	if strings.HasSuffix(path, "bulk-delete/") {
		list = "ids"
	}
	got := ask(t, s, "POST", path, `{"`+list+`":[`+row+`]}`)
	result := want(t, got, 200).object(t)["results"].([]any)[0].(map[string]any)
	for _, status := range []int{400, 402, 403, 404, 409} {
		if result["type"] == problemType(status) {
			return status
		}
	}
	return got.status
}

func TestV2UniqueAndProtectedRecordsAreConflicts(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for _, tt := range []struct {
		path, row string
		status    int
	}{
		{webV2 + "states/bulk-create/", `{"name":"Todo","color":"#fff"}`, 409},
		{webV2 + "labels/bulk-create/", `{"name":"bug"}`, 409},
		{webV2 + "cycles/bulk-create/", `{"name":"Sprint 14"}`, 409},
		{webV2 + "modules/bulk-create/", `{"name":"Checkout"}`, 409},
		{webV2 + "states/bulk-delete/", `"` + stateBacklog + `"`, 409},
		{wsV2 + "projects/" + projectOps + "/modules/bulk-create/", `{"name":"M"}`, 400},
		{webV2 + "labels/bulk-create/", `{"name":"x","parent_id":"` + labelInfra + `"}`, 400},
		{webV2 + "modules/bulk-create/", `{"name":"x","start_date":"2030-02-02","target_date":"2030-02-01"}`, 400},
	} {
		if got := refusal(t, s, tt.path, tt.row); got != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.path, tt.row, got, tt.status)
		}
	}
	// A state that becomes the default takes that from the other.
	if got := refusal(t, s, webV2+"states/bulk-update/", `{"id":"`+stateTodo+`","is_default":true}`); got != 200 {
		t.Errorf("a new default: %d", got)
	}
	for _, state := range s.Rows("state") {
		if state["project"] == projectWeb && state["default"] != (state["id"] == stateTodo) {
			t.Errorf("default: %v", state)
		}
	}
	body := want(t, ask(t, s, "POST", webV2+"labels/bulk-create/", `{"items":[{"name":"a"},{"name":"a"},{"name":"bug"}]}`), 200).object(t)
	if body["succeeded"] != 1.0 {
		t.Errorf("rows follow each other: %v", body)
	}
}

func TestV2ManageRoutesAnswerWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	milestone := want(t, ask(t, s, "POST", "projects/"+projectWeb+"/milestones/", `{"title":"M"}`), 201).object(t)["id"].(string)
	for _, path := range []string{
		"cycles/" + cycleSprint14, "cycles/" + cycleSprint15, // out of the other
		"modules/" + moduleCheckout, "milestones/" + milestone,
	} {
		path = webV2 + path + "/work-items/"
		add, remove := fmt.Sprintf(`{"add":[%q]}`, workItemWeb1), fmt.Sprintf(`{"remove":[%q]}`, workItemWeb1)
		for _, step := range []struct{ body, want string }{
			{add, fmt.Sprintf(`{"added":[%q],"removed":[]}`, workItemWeb1)},
			{add, `{"added":[],"removed":[]}`},
		} {
			if got := want(t, ask(t, s, "POST", path, step.body), 200); got.body != step.want {
				t.Errorf("%s %s: %s", path, step.body, got.body)
			}
		}
		if !strings.Contains(path, "cycles") {
			if got := want(t, ask(t, s, "POST", path, remove), 200); got.body != fmt.Sprintf(`{"added":[],"removed":[%q]}`, workItemWeb1) {
				t.Errorf("%s: %s", path, got.body)
			}
		}
		want(t, ask(t, s, "POST", path, fmt.Sprintf(`{"add":[%q],"remove":[]}`, workItemWeb1)), 200)
		want(t, ask(t, s, "POST", path, `{}`), 400)
		want(t, ask(t, s, "POST", path, `{"add":[],"remove":[]}`), 400)
		want(t, ask(t, s, "POST", path, `{"add":["x"]}`), 400)
		want(t, ask(t, s, "GET", path, ""), 405)
	}
	if item := want(t, ask(t, s, "GET", itemsV2+workItemWeb1+"/", ""), 200).object(t); item["cycle_id"] != cycleSprint15 {
		t.Errorf("cycle: %v", item)
	}
}

func TestV2NoValueOfAFieldIsAServerError(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	ids := strings.NewReplacer("{slug}", "acme", "{project_id}", projectWeb, "{work_item_id}", workItemWeb1, "{estimate_id}", estimateWeb)
	pks := map[string]string{"cycles/": cycleSprint14, "modules/": moduleCheckout, "work-items/": workItemWeb1, "pages/": pageWelcome}
	values := []string{`null`, `1`, `-1.5`, `1e999`, `"x"`, `""`, `"\u0000"`, `[]`, `[null]`, `["x",1]`, `{}`, `{"a":null}`, `true`, `"` + userAda + `"`, `["` + userAda + `"]`}
	for _, r := range s.routesV2() {
		path, _, _ := strings.Cut(r.pattern, "{pk}")
		area := path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]
		path = v2Root + ids.Replace(strings.Replace(r.pattern, "{pk}", pks[area], 1))
		fields := []string{"items", "ids", "add", "remove"}
		if r.res != nil {
			for _, f := range r.res.fields {
				fields = append(fields, f.name)
			}
		}
		for method, ep := range r.on {
			if method == http.MethodGet || method == http.MethodDelete {
				continue
			}
			for _, v := range values {
				body := `{"` + strings.Join(fields, `":`+v+`,"`) + `":` + v + "}" // each field with this value
				if ep.bulk {
					body = `{"items":[` + body + `]}`
				}
				if got := ask(t, s, method, path, body); got.status >= 500 {
					t.Errorf("%s %s %s: %d %s", method, path, body, got.status, got.body)
				}
			}
		}
	}
}

func TestV2FeaturesAreSwitchedInTheirProjectOrWorkspace(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	for _, tt := range []struct{ path, feature string }{
		{webV2 + "features/", "is_milestone_enabled"}, {wsV2 + "features/", "is_release_enabled"},
	} {
		before := want(t, ask(t, s, "GET", tt.path, ""), 200).object(t)
		if _, hasID := before["id"]; before[tt.feature] != false || hasID != (tt.path == wsV2+"features/") {
			t.Errorf("%s: %v", tt.path, before)
		}
		for _, wrong := range []string{`{"` + tt.feature + `":"yes"}`, `{"nope":true}`} {
			want(t, ask(t, s, "PATCH", tt.path, wrong), 400)
		}
		if after := want(t, ask(t, s, "PATCH", tt.path, `{"`+tt.feature+`":true}`), 200).object(t); after[tt.feature] != true || len(after) != len(before) {
			t.Errorf("%s: %v", tt.path, after)
		}
		want(t, ask(t, s, "POST", tt.path, `{}`), 405)
		want(t, ask(t, s, "DELETE", tt.path, ""), 405)
	}
}

func TestCustomRelationsShowOnBothItemsInTheWordsOfTheirDefinition(t *testing.T) {
	t.Parallel()
	for replaces, left := range map[bool]string{false: "map[is needed by:[] needs:[c b] relates to:[]]", true: "map[is needed by:[] needs:[c] relates to:[]]"} {
		s := openCloud(t, Options{Quirks: Quirks{ReplaceRelations: replaces}})
		newItem := func(name string) string {
			return want(t, ask(t, s, "POST", itemsPath, `{"name":"`+name+`"}`), 201).object(t)["id"].(string)
		}
		web2, web3 := newItem("b"), newItem("c")
		made := want(t, ask(t, s, "POST", wsV2+"work-item-relation-definitions/", `{"name":"Need","outward":"needs","inward":"is needed by"}`), 201).object(t)
		item := func(id string) string { return itemsV2 + id + "/relations/" }
		add := func(from, word, to string) answer {
			return ask(t, s, "POST", item(from), `{"relation_definition_id":"`+made["id"].(string)+`","direction":"`+word+`","work_item_ids":["`+to+`"]}`)
		}
		name := strings.NewReplacer(workItemWeb1, "a", web2, "b", web3, "c")
		shown := func(id string) string {
			return name.Replace(fmt.Sprint(want(t, ask(t, s, "GET", item(id), ""), 200).object(t)))
		}
		want(t, add(workItemWeb1, "wants", web2), 400)
		want(t, add(workItemWeb1, "needs", web2), 201)
		want(t, add(workItemWeb1, "needs", web2), 201)
		if got := shown(web2); got != "map[is needed by:[a] needs:[] relates to:[]]" {
			t.Error(got)
		}
		want(t, add(web3, "is needed by", workItemWeb1), 201)
		want(t, add(workItemWeb1, "needs", web3), 201)
		if got := shown(workItemWeb1); len(got) != len(left) {
			t.Errorf("%v: %s", replaces, got)
		}
		want(t, ask(t, s, "DELETE", item(web3)+workItemWeb1+"/", ""), 204)
		want(t, ask(t, s, "DELETE", item(web3)+workItemWeb1+"/", ""), 404)
		if relations := want(t, ask(t, s, "GET", itemsPath+workItemWeb1+"/relations/", ""), 200).body; strings.Contains(relations, "needs") {
			t.Error("API v1 shows", relations)
		}
	}
}
