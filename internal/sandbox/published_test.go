package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestTheSandboxSaysWhatItDoesNotServe(t *testing.T) {
	t.Parallel()
	const ws, project = "/api/v1/workspaces/" + Workspace + "/", "/api/v1/workspaces/" + Workspace + "/projects/" + projectWeb + "/"
	const v2 = "/api/v2/workspaces/" + Workspace + "/"
	for name, tt := range map[string]struct {
		edition            Edition
		method, path, body string
		status             int
		says               string
	}{
		"an operation that the service has":            {Community, "GET", ws + "stickies/", "", 501, "does not serve GET /api/v1/workspaces/{}/stickies/"},
		"an operation that planform never calls":       {Community, "GET", ws + "work-items/search/?search=A", "", 501, "does not serve GET /api/v1/workspaces/{}/work-items/search/"},
		"an action that planform never calls":          {Community, "POST", project + "cycles/" + cycleSprint14 + "/transfer-issues/", "{}", 501, "does not serve POST"},
		"another method at its path":                   {Community, "PUT", ws + "stickies/", "", 501, "does not serve /api/v1/workspaces/{}/stickies/"},
		"a method that planform never calls":           {Community, "PUT", ws + "invitations/" + unknownID + "/", "{}", 501, "does not serve PUT /api/v1/workspaces/{}/invitations/{}/"},
		"its path without the slash":                   {Community, "GET", ws + "stickies", "", 301, ""},
		"a path that the service does not have":        {Community, "GET", ws + "nosuch/", "", 404, "Page not found"},
		"a method that the service does not have":      {Community, "PUT", project + "labels/", "", 405, "not allowed"},
		"an operation of another edition":              {Community, "GET", ws + "customers/", "", 404, "Page not found"},
		"the intake, which planform has in API v2":     {Community, "GET", project + "intake-issues/", "", 501, "does not serve"},
		"the name that an operation had before":        {Full, "GET", project + "issues/", "", 501, "does not serve"},
		"a parameter that the community edition skips": {Community, "GET", project + "labels/?colour=red", "", 200, "results"},
		"an order that planform does not ask for":      {Community, "GET", project + "work-items/?order_by=-name", "", 501, "order_by"},
		"an order of a list that has one of its own":   {Community, "GET", ws + "projects/?order_by=-created_at", "", 501, "order_by"},
		"the order that planform asks for":             {Community, "GET", project + "work-items/?order_by=-created_at", "", 200, "results"},
		"records in the place of the IDs of a list":    {Community, "GET", project + "work-items/?expand=state", "", 501, "expand"},
		"another rendering":                            {Community, "GET", project + "labels/?format=xml", "", 501, "format"},
		"a field of API v2":                            {Cloud, "POST", v2 + "pages/", `{"name":"P","collection_id":"` + unknownID + `"}`, 501, `field \"collection_id\"`},
		"a method that API v2 does not have":           {Cloud, "DELETE", v2 + "webhooks/", "", 405, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := want(t, ask(t, openTest(t, Options{Edition: tt.edition}), tt.method, tt.path, tt.body), tt.status)
			if !strings.Contains(got.body, tt.says) {
				t.Errorf("answered %s", got.body)
			}
		})
	}
}

// TestEachOperationIsServedOrSaysThatItIsNot goes through all operations that the service has, and paths beside them that it does
// not have.
func TestEachOperationIsServedOrSaysThatItIsNot(t *testing.T) {
	t.Parallel()
	for section, edition := range map[string]Edition{"community": Community, "reference": Full, "v2": Cloud} {
		t.Run(section, func(t *testing.T) {
			t.Parallel()
			s := openTest(t, Options{Edition: edition})
			served := map[string]bool{}
			for _, r := range s.routes() {
				for method := range r.on {
					for _, members := range []string{"projects", "labels", "epics"} { // one route of all three
						path := strings.Replace(r.api.root+r.pattern, "{members}", members, 1)
						served[method+" "+pathParameter.ReplaceAllString(path, "{}")] = true
					}
				}
			}
			for _, p := range publishedPaths()[section] {
				path := strings.ReplaceAll(strings.Replace(p.pattern, "workspaces/{}", "workspaces/"+Workspace, 1), "{}", unknownID)
				for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
					got := ask(t, s, method, path, "")
					says := strings.Contains(got.body, fmt.Sprintf("does not serve %s %s,", method, p.pattern))
					_, known := s.unservedAnswer(method, path) // which another section may name
					switch known = known || slices.Contains(p.methods, method); {
					case says != (known && !served[method+" "+p.pattern]), says && got.status != http.StatusNotImplemented:
						t.Errorf("%s %s is answered with %d %.200s", method, p.pattern, got.status, got.body)
					case !known && !served[method+" "+p.pattern] && got.status < http.StatusMultipleChoices:
						t.Errorf("%s %s, which there is not, is answered with %d", method, p.pattern, got.status)
					}
				}
				if _, named := s.publishedAt(path + "no.such/"); named {
					continue
				}
				if beside := ask(t, s, http.MethodGet, path+"no.such/", ""); beside.status != http.StatusNotFound {
					t.Errorf("GET %sno.such/ is answered with %d %.200s", p.pattern, beside.status, beside.body)
				}
			}
		})
	}
}

// TestAParameterWithAnUnknownEffectIsRefused asks each list and record that only a reference tells of.
func TestAParameterWithAnUnknownEffectIsRefused(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Edition: Cloud})
	want(t, ask(t, s, http.MethodPatch, v2Root+"workspaces/"+Workspace+"/features/", `{"is_release_enabled":true}`), http.StatusOK)
	release := want(t, ask(t, s, http.MethodPost, v2Root+"workspaces/"+Workspace+"/releases/", `{"name":"One"}`), http.StatusCreated)
	known := strings.NewReplacer(
		"{workspace}", Workspace, "{slug}", Workspace, "{project}", projectWeb, "{project_id}", projectWeb, "{item}", workItemWeb1, "{work_item_id}", workItemWeb1,
		"{estimate_id}", estimateWeb, "{members}", "projects",
		"{release_id}", text(release.object(t), "id"),
	)
	for _, r := range s.routes() {
		if r.on[http.MethodGet] == nil || !r.notInCommunity && r.api.root != v2Root || strings.HasSuffix(r.pattern, "schema/") {
			continue
		}
		path := known.Replace(r.api.root + r.pattern)
		if r.api.root == v2Root && strings.Contains(strings.ReplaceAll(path, "{pk}", ""), "{") {
			continue // below a record that there is not: 404 comes first
		}
		path = pathParameter.ReplaceAllString(path, unknownID)
		for _, parameter := range []string{"colour", "expand", "name"} {
			got := ask(t, s, http.MethodGet, path+"?"+parameter+"=x", "")
			if got.status != http.StatusNotImplemented || !strings.Contains(got.body, `parameter \"`+parameter+`\"`) {
				t.Errorf("GET %s?%s=x is answered with %d %.200s", r.pattern, parameter, got.status, got.body)
			}
		}
	}
}
