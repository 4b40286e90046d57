package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestOneOfEachKindCanBeMadeReadChangedAndDeleted(t *testing.T) {
	t.Parallel()
	web := "projects/" + projectWeb + "/"
	item := web + "work-items/" + workItemWeb1 + "/"
	for _, tt := range []struct {
		list, body, patch string
		status            int
	}{
		{"projects/", `{"name": "New", "identifier": "NEW"}`, `{"description": "d"}`, 201},
		{web + "states/", `{"name": "Review", "color": "#fff", "group": "started"}`, `{"name": "Check"}`, 200},
		{web + "labels/", `{"name": "new"}`, `{"color": "#123456"}`, 201},
		{web + "cycles/", `{"name": "C", "project_id": "` + projectWeb + `"}`, `{"start_date": "2031-01-01", "end_date": "2031-01-02"}`, 201},
		{web + "modules/", `{"name": "M", "lead": "` + userBob + `", "members": ["` + userBob + `"]}`, `{"status": "paused"}`, 201},
		{web + "work-item-types/", `{"name": "Epic", "is_epic": true}`, `{"is_active": false}`, 201},
		{web + "work-items/", `{"name": "W", "labels": ["` + labelBug + `"], "type_id": "` + typeStory + `"}`, `{"state": "` + stateDone + `"}`, 201},
		{item + "links/", `{"url": "https://example.com/new"}`, `{"title": "T"}`, 201},
		{item + "comments/", `{"comment_html": "<p>c</p>"}`, `{"comment_html": "<p>d</p>"}`, 201},
		{"initiatives/", `{"name": "I", "lead": "` + userAda + `", "description_html": "<p>x</p><p>y</p>"}`, `{"state": "ACTIVE"}`, 201},
		{"initiatives/labels/", `{"name": "L", "color": "#aabbcc"}`, `{"sort_order": 3}`, 201},
		{"teamspaces/", `{"name": "T"}`, `{"lead": "` + userBob + `"}`, 201},
		{"customers/", `{"name": "C", "employees": 5}`, `{"email": "a@b.example"}`, 201},
		{"customers/" + customerGlobex + "/requests/", `{"name": "R", "work_item_ids": ["` + workItemWeb1 + `"]}`, `{"description_html": "<p>x</p>"}`, 201},
		{"customer-properties/", `{"display_name": "P", "property_type": "TEXT"}`, `{"is_required": true}`, 201},
		{"pages/", `{"name": "P", "description_html": "<p>x</p>"}`, "", 201},
	} {
		t.Run(tt.list, func(t *testing.T) {
			t.Parallel()
			s := openTest(t, Options{})
			length := func() any {
				t.Helper()
				got := want(t, ask(t, s, http.MethodGet, tt.list, ""), http.StatusOK)
				if strings.HasPrefix(got.body, "[") {
					return float64(strings.Count(got.body, `"id":`))
				}
				return got.object(t)["total_count"]
			}
			before := length()
			want(t, ask(t, s, http.MethodPost, tt.list, "{}", "X-Api-Key", "bogus"), http.StatusForbidden)
			made := want(t, ask(t, s, http.MethodPost, tt.list, tt.body), tt.status).object(t)
			if length() != before.(float64)+1 {
				t.Errorf("list has %v, had %v", length(), before)
			}
			one := tt.list + made["id"].(string) + "/"
			got := want(t, ask(t, s, http.MethodGet, one, ""), http.StatusOK).object(t)
			for name, v := range made {
				switch name {
				case "updated_at", "updated_by", "created_by", "created_at", "metadata":
					continue
				}
				if text, ok := v.(string); ok && got[name] != text {
					t.Errorf("%s is %v, was answered as %v", name, got[name], v)
				}
			}
			if tt.patch == "" {
				return
			}
			changed := want(t, ask(t, s, http.MethodPatch, one, tt.patch), http.StatusOK).object(t)
			if changed["id"] != made["id"] || changed["name"] != made["name"] && !strings.Contains(tt.patch, "name") {
				t.Errorf("changed to %v", changed)
			}
			want(t, ask(t, s, http.MethodDelete, one, ""), http.StatusNoContent)
			status := http.StatusNotFound
			want(t, ask(t, s, http.MethodGet, one, ""), status)
			want(t, ask(t, s, http.MethodDelete, one, ""), map[bool]int{true: http.StatusForbidden, false: status}[tt.list == "projects/"])
			if length() != before {
				t.Errorf("list has %v after the deletion, had %v", length(), before)
			}
		})
	}
}

func TestAProjectHasOneEstimate(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	web := want(t, ask(t, s, "GET", "projects/"+projectWeb+"/estimates/", ""), http.StatusOK).object(t)
	if web["id"] != estimateWeb || len(s.Rows("estimate_point")) != 5 {
		t.Errorf("seeded: %v", web)
	}
	estimates := "projects/" + projectOps + "/estimates/"
	want(t, ask(t, s, "GET", estimates, ""), http.StatusNotFound)
	made := want(t, ask(t, s, "POST", estimates, `{"name": "Points", "type": "points"}`), http.StatusCreated).object(t)
	want(t, ask(t, s, "POST", estimates, `{"name": "More"}`), http.StatusConflict)
	points := estimates + made["id"].(string) + "/estimate-points/"
	want(t, ask(t, s, "POST", points, `{"estimate_points": [{"key": 1, "value": "S"}, {"key": 2, "value": "M"}]}`), http.StatusCreated)
	id := s.Rows("estimate_point")[6]["id"].(string)
	want(t, ask(t, s, "PATCH", points+id+"/", `{"value": "L"}`), http.StatusOK)
	item := want(t, ask(t, s, "POST", "projects/"+projectOps+"/work-items/", `{"name": "x", "estimate_point": "`+id+`"}`), http.StatusCreated).object(t)
	if item["estimate_point"] != id {
		t.Errorf("estimate point: %v", item["estimate_point"])
	}
	want(t, ask(t, s, "PATCH", estimates, `{"name": "Sizes"}`), http.StatusOK)
}

func TestAnOptionThatIsLeftOutTakesTheValuesOfCustomersWithIt(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	property := want(t, ask(t, s, "POST", "customer-properties/",
		`{"display_name":"Segment","property_type":"OPTION","is_multi":true,"options":[{"name":"small"},{"name":"big"}]}`), 201).object(t)
	path, ids := property["id"].(string)+"/", []string{}
	for _, option := range property["options"].([]any) {
		ids = append(ids, option.(map[string]any)["id"].(string))
	}
	values := "customers/" + customerGlobex + "/property-values/"
	want(t, ask(t, s, "PATCH", values+path, `{"values":["`+ids[0]+`","`+ids[1]+`"]}`), 204)
	for _, step := range []struct{ options, left string }{{`{"id":"` + ids[0] + `"}`, "[" + ids[0] + "]"}, {"", "<nil>"}} {
		want(t, ask(t, s, "PATCH", "customer-properties/"+path, `{"options":[`+step.options+`]}`), 200)
		if got := want(t, ask(t, s, "GET", values, ""), 200).object(t)[property["id"].(string)]; fmt.Sprint(got) != step.left {
			t.Errorf("%v, want %s", got, step.left)
		}
	}
}

func TestAModuleIsGivenItemsWhoseNumberPythonCanTell(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for body, status := range map[string]int{
		`{}`: http.StatusBadRequest, `{"issues": []}`: http.StatusBadRequest, `{"issues": ""}`: http.StatusBadRequest, `{"issues": {}}`: http.StatusBadRequest,
		`{"issues": null}`: http.StatusInternalServerError, `{"issues": 0}`: http.StatusInternalServerError, `{"issues": 5}`: http.StatusInternalServerError,
		`{"issues": false}`: http.StatusInternalServerError, `{"issues": true}`: http.StatusInternalServerError,
	} {
		if got := ask(t, s, "POST", "projects/"+projectWeb+"/modules/"+moduleCheckout+"/module-issues/", body); got.status != status {
			t.Errorf("%s: %d, want %d", body, got.status, status)
		}
	}
}

func TestItemsThatAreNoListAreRefusedAsPythonReadsThem(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for _, list := range []string{"modules/" + moduleCheckout + "/module-issues/", "cycles/" + cycleSprint14 + "/cycle-issues/"} {
		for named, status := range map[string]int{
			`"x"`: http.StatusBadRequest, `"` + workItemWeb1 + `"`: http.StatusBadRequest, `{"a": 1}`: http.StatusBadRequest,
			"5": http.StatusInternalServerError, "true": http.StatusInternalServerError,
		} {
			if got := ask(t, s, "POST", "projects/"+projectWeb+"/"+list, `{"issues": `+named+`}`); got.status != status {
				t.Errorf("%s %s: %d, want %d", list, named, got.status, status)
			}
		}
	}
}

func TestTheContentsOfAProjectOrAnItemAreDeletedWithIt(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	web := "projects/" + projectWeb + "/"
	issues := `{"issues": ["` + workItemWeb1 + `"]}`
	want(t, ask(t, s, "POST", web+"cycles/"+cycleSprint14+"/cycle-issues/", issues), http.StatusOK)
	want(t, ask(t, s, "POST", web+"modules/"+moduleCheckout+"/module-issues/", issues), http.StatusOK)
	want(t, ask(t, s, "DELETE", web+"work-items/"+workItemWeb1+"/", ""), http.StatusNoContent)
	for _, kind := range []string{"work_item", "link", "comment", "activity", "cycle_issue", "module_issue"} {
		if rows := s.Rows(kind); len(rows) != 0 {
			t.Errorf("%s: %v", kind, rows)
		}
	}
	want(t, ask(t, s, "DELETE", web, ""), http.StatusNoContent)
	for kind, n := range map[string]int{"project": 1, "state": 5, "label": 1, "cycle": 1, "module": 0, "project_member": 1} {
		if rows := s.Rows(kind); len(rows) != n {
			t.Errorf("%s: %d left, want %d", kind, len(rows), n)
		}
	}
	want(t, ask(t, s, "POST", "projects/", `{"name": "Website", "identifier": "WEB"}`), http.StatusCreated)
}

func TestTwoItemsOfOneExternalIDBreakItsLookup(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for range 2 {
		made := want(t, ask(t, s, "POST", itemsPath, `{"name": "x", "external_id": "e"}`), http.StatusCreated).object(t)
		want(t, ask(t, s, "PATCH", itemsPath+made["id"].(string)+"/", `{"external_source": "s"}`), http.StatusOK)
	}
	want(t, ask(t, s, "GET", itemsPath+"?external_id=e&external_source=s", ""), http.StatusInternalServerError)
}

func TestAnArchivedProjectTakesWritesAndShowsItsCyclesAndModulesOnly(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	web := "projects/" + projectWeb + "/"
	want(t, ask(t, s, "POST", web+"archive/", ""), http.StatusNoContent)
	want(t, ask(t, s, "POST", itemsPath, `{"name": "x"}`), http.StatusCreated)
	for list, n := range map[string]float64{"work-items/": 0, "labels/": 0, "states/": 0, "cycles/": 2, "modules/": 1} {
		if got := ask(t, s, "GET", web+list, "").object(t); got["total_count"] != n {
			t.Errorf("%s: %v, want %v", list, got["total_count"], n)
		}
	}
	want(t, ask(t, s, "GET", itemsPath+workItemWeb1+"/", ""), http.StatusNotFound)
	want(t, ask(t, s, "GET", web+"cycles/"+cycleSprint14+"/", ""), http.StatusOK)
	want(t, ask(t, s, "DELETE", web+"archive/", ""), http.StatusNoContent)
	if got := ask(t, s, "GET", web+"work-items/", "").object(t); got["total_count"] != 2.0 {
		t.Errorf("after it came back: %v", got["total_count"])
	}
}

func TestTheCursorMeetsEachItemOnce(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for range 24 {
		want(t, ask(t, s, "POST", itemsPath, `{"name": "x"}`), http.StatusCreated)
	}
	cursor, seen := "7:0:0", []any{}
	for {
		page := want(t, ask(t, s, "GET", itemsPath+"?per_page=7&fields=sequence_id&cursor="+cursor, ""), http.StatusOK).object(t)
		for _, r := range page["results"].([]any) {
			seen = append(seen, r.(map[string]any)["sequence_id"])
		}
		if page["next_page_results"] == false {
			break
		}
		cursor = page["next_cursor"].(string)
	}
	if len(seen) != 25 || seen[0] != 25.0 || seen[24] != 1.0 {
		t.Errorf("walked over %v", seen)
	}
}
