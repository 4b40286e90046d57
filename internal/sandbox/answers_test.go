package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestTheDocumentedOperationsAnswerAsDocumented(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Answers: Contract})
	web, item := "projects/"+projectWeb, "projects/"+projectWeb+"/work-items/"+workItemWeb1
	for _, op := range []struct {
		n            int
		method, path string
		body         string
		status       int
		has          []string
	}{
		{1, "POST", web + "/work-items/", `{"name": "a", "estimate_point": "3", "module": "` + moduleCheckout + `", "type": "` + typeStory + `"}`, 201, []string{"id", "created_at", "name", "state", "priority"}},
		{2, "PATCH", web, `{"description": "new"}`, 200, []string{"id", "created_at", "name", "identifier", "description"}},
		{3, "POST", item + "/links/", `{"url": "https://example.com/x"}`, 201, []string{"id", "created_at", "url"}},
		{4, "POST", web + "/cycles/" + cycleSprint14 + "/cycle-issues/", `{"issues": ["` + workItemWeb1 + `"]}`, 201, nil},
		{5, "PATCH", "teamspaces/" + teamspacePlatform + "/", `{"lead": "` + userBob + `", "description_json": {"a": 1}}`, 200, []string{"id", "created_at", "lead"}},
		{6, "POST", "teamspaces/" + teamspacePlatform + "/projects/", `{"project_ids": ["` + projectWeb + `"]}`, 201, nil},
		{7, "PATCH", "initiatives/labels/" + initiativeLabelGrowth + "/", `{"color": "#000000", "sort_order": 1.5}`, 200, []string{"id", "created_at", "color"}},
		{8, "POST", "initiatives/" + initiativeNorth + "/projects/", `{"project_ids": ["` + projectWeb + `", "` + projectOps + `"]}`, 201, nil},
		{9, "POST", "initiatives/" + initiativeNorth + "/labels/", `{"label_ids": ["` + initiativeLabelRisk + `"]}`, 201, nil},
		{10, "POST", "customers/" + customerInitech + "/requests/", `{"title": "Export", "description": "as CSV"}`, 201, []string{"id", "created_at", "title", "description"}},
		{11, "PATCH", "customers/" + customerGlobex + "/requests/" + requestDarkMode + "/", `{"description": "at night"}`, 200, []string{"id", "created_at", "title", "description"}},
		{12, "POST", "pages/", `{}`, 201, []string{"id", "created_at", "name"}},
		{13, "GET", "work-items/WEB-2/?expand=type,module,state,project,labels,assignees", "", 200, []string{"id", "created_at", "module", "type"}},
		{14, "GET", item + "/links/", "", 200, []string{"results", "count"}},
		{15, "GET", item + "/activities/", "", 200, []string{"results", "count"}},
		{16, "GET", item + "/comments/" + commentWeb1 + "/", "", 200, []string{"id", "created_at"}},
		{17, "GET", "initiatives/" + initiativeNorth + "/projects/?limit=1&offset=1", "", 200, []string{"results", "count"}},
		{18, "GET", "initiatives/labels/?limit=1", "", 200, []string{"results", "count"}},
		{19, "GET", "customers/" + customerGlobex + "/requests/?workspace=" + workspaceID, "", 200, []string{"results", "count"}},
		{20, "GET", "customer-properties/?limit=1&offset=1", "", 200, []string{"results", "count"}},
	} {
		got := ask(t, s, op.method, op.path, op.body, "X-Api-Key", "", "Authorization", "Bearer "+bearerToken)
		if got.status != op.status {
			t.Errorf("operation %d: status %d, want %d: %s", op.n, got.status, op.status, got.body)
			continue
		}
		for _, name := range op.has {
			if _, ok := got.object(t)[name]; !ok {
				t.Errorf("operation %d: no %s in %s", op.n, name, got.body)
			}
		}
	}
	item2 := ask(t, s, "GET", "work-items/WEB-2/?expand=type,module", "").object(t)
	if item2["module"].(map[string]any)["name"] != "Checkout" || item2["type"].(map[string]any)["name"] != "Story" || item2["estimate_point"] != "3" {
		t.Errorf("documented fields of a work item: %v", item2)
	}
	page := ask(t, s, "GET", "initiatives/"+initiativeNorth+"/projects/?limit=1&offset=1", "").object(t)
	if page["count"] != 2.0 || len(page["results"].([]any)) != 1 {
		t.Errorf("second page: %v", page)
	}
	if got := ask(t, s, "PATCH", "teamspaces/"+teamspacePlatform, "{}"); got.status != http.StatusMovedPermanently {
		t.Errorf("a slashed route without slash: %d", got.status)
	}
}

func TestTheDocumentedPagesHaveLimits(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Answers: Contract})
	links := "projects/" + projectWeb + "/work-items/" + workItemWeb1 + "/links/"
	for i := range 120 {
		want(t, ask(t, s, "POST", "initiatives/labels/", fmt.Sprintf(`{"name": "l%d"}`, i)), http.StatusCreated)
		want(t, ask(t, s, "POST", links, fmt.Sprintf(`{"url": "https://example.com/%d"}`, i)), http.StatusCreated)
	}
	for query, n := range map[string]int{"": 50, "?limit=10": 10, "?limit=1000": 100, "?limit=100&offset=100": 22, "?offset=500": 0} {
		got := ask(t, s, "GET", "initiatives/labels/"+query, "").object(t)
		if len(got["results"].([]any)) != n || got["count"] != 122.0 {
			t.Errorf("%q: %d results, count %v", query, len(got["results"].([]any)), got["count"])
		}
	}
	if got := ask(t, s, "GET", links, "").object(t); len(got["results"].([]any)) != 121 {
		t.Errorf("links, which have no limit: %d", len(got["results"].([]any)))
	}
}

func TestARecordMadeInOneDialectIsReadInTheOther(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/sandbox.db"
	requests := "customers/" + customerGlobex + "/requests/"
	s, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for body, refusal := range map[string]string{`{"title": "x"}`: `{"name":["This field is required."]}`} {
		if got := want(t, ask(t, s, "POST", requests, body), http.StatusBadRequest); got.body != refusal {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	if got := want(t, ask(t, s, "POST", "pages/", `{"name": "x"}`), http.StatusBadRequest); !strings.Contains(got.body, "description_html") {
		t.Error(got.body)
	}
	made := want(t, ask(t, s, "POST", requests, `{"name": "N", "description_html": "<p>D</p>", "link": "https://example.com"}`), http.StatusCreated).object(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Path: path, Answers: Contract})
	id := made["id"].(string)
	got := want(t, ask(t, s, "PATCH", requests+id+"/", `{"title": "T"}`), http.StatusOK).object(t)
	if got["title"] != "T" || got["description"] != "<p>D</p>" || got["name"] != nil {
		t.Errorf("documented: %v", got)
	}
	if r := s.Rows("customer_request")[1]; r["link"] != "https://example.com" || r["name"] != "T" {
		t.Errorf("kept: %v", r)
	}
}

func TestTheCommunityEditionLacksRoutes(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Edition: Community})
	for _, path := range []string{
		"initiatives/", "initiatives/labels/", "teamspaces/", "customers/", "customer-properties/", "pages/", "customers/" + customerGlobex + "/requests/",
		"projects/" + projectWeb + "/work-item-types/", "projects/" + projectWeb + "/estimates/", "projects/" + projectWeb + "/features/",
	} {
		for _, key := range []string{Key, ""} {
			got := want(t, ask(t, s, "GET", path, "", "X-Api-Key", key), http.StatusNotFound)
			if got.body != `{"error":"Page not found."}` {
				t.Errorf("%s: %s", path, got.body)
			}
		}
	}
	got := want(t, ask(t, s, "GET", "projects/", "", "X-Api-Key", "", "Authorization", "Bearer "+bearerToken), http.StatusUnauthorized)
	if got.header.Get("Www-Authenticate") != "" {
		t.Error("WWW-Authenticate on a 401")
	}
	want(t, ask(t, s, "GET", "projects/", ""), http.StatusOK)
}

func TestACredentialIsCheckedFirst(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for _, tt := range []struct {
		key, bearer string
		status      int
	}{
		{Key, "", 200}, {"", bearerToken, 200}, {Key, "bogus", 200}, {"bogus", bearerToken, 403}, {"", "bogus", 403}, {"", "", 401}, {"bogus", "", 403},
	} {
		header := []string{"X-Api-Key", tt.key}
		if tt.bearer != "" {
			header = append(header, "Authorization", "Bearer "+tt.bearer)
		}
		if got := ask(t, s, "GET", "/api/v1/users/me/", "", header...); got.status != tt.status {
			t.Errorf("key %q, token %q: %d %s", tt.key, tt.bearer, got.status, got.body)
		}
	}
}

func TestAddingAMemberTwiceIsHarmlessAndAnUnknownMemberIsRefused(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for _, list := range []struct{ path, field, a, b, kind string }{
		{"initiatives/" + initiativeNorth + "/projects/", "project_ids", projectWeb, projectOps, "initiative_project"},
		{"initiatives/" + initiativeNorth + "/labels/", "label_ids", initiativeLabelGrowth, initiativeLabelRisk, "initiative_label_link"},
		{"teamspaces/" + teamspacePlatform + "/projects/", "project_ids", projectWeb, projectOps, "teamspace_project"},
		{"teamspaces/" + teamspacePlatform + "/members/", "member_ids", userAda, userBob, "teamspace_member"},
	} {
		body := func(ids ...string) string { return fmt.Sprintf(`{%q: ["%s"]}`, list.field, strings.Join(ids, `", "`)) }
		count := func(n int) {
			t.Helper()
			if got := ask(t, s, "GET", list.path, "").object(t); got["total_count"] != float64(n) {
				t.Errorf("%s: %v members, want %d", list.path, got["total_count"], n)
			}
			if got := len(s.Rows(list.kind)); got != n {
				t.Errorf("%s: %d rows, want %d", list.kind, got, n)
			}
		}
		want(t, ask(t, s, "POST", list.path, body(list.a)), http.StatusOK)
		want(t, ask(t, s, "POST", list.path, body(list.a, list.b, list.b)), http.StatusOK)
		count(2)
		got := want(t, ask(t, s, "POST", list.path, body("11111111-1111-4111-8111-111111111111")), http.StatusBadRequest)
		if got.body != `{"error":"The payload is not valid"}` {
			t.Error(got.body)
		}
		want(t, ask(t, s, "DELETE", list.path, body(list.b)), http.StatusNoContent)
		count(1)
	}
}
