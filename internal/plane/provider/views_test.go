package provider_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const bugsInProgress = `{version: 1, projects: [{key: web, identifier: WEB, views: [{name: Bugs in progress, description: Now,
  filters: {state: [In Progress, Todo], priority: [urgent, high], assignees: [ada@example.com], labels: [bug]}, display: {group_by: state}}]}]}`

// filtersOfView returns the filters of the view on the service.
func (sv *service) filtersOfView() map[string]any {
	filters, _ := sv.Rows("project_view")[0]["filters"].(map[string]any)
	return filters
}

// viewPath is the path for changing the view.
func (sv *service) viewPath() string {
	return "/api/v2/workspaces/acme/projects/" + sandboxtest.ProjectWeb + "/views/" + sv.Rows("project_view")[0]["id"].(string) + "/" //nolint:forcetypeassert // it is a text
}

// TestFiltersOfAViewAreNamesAndTheirOrderIsNotAChange also checks that unknown filters are kept.
func TestFiltersOfAViewAreNamesAndTheirOrderIsNotAChange(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	a := s.apply(t, applying{manifest: bugsInProgress})
	if len(a.failed())+len(a.warnings()) > 0 || len(s.Rows("project_view")) != 1 {
		t.Fatal(a.failed(), a.warnings())
	}
	ids, _ := s.filtersOfView()["state"].([]any)
	if len(ids) != 2 || slices.ContainsFunc(ids, func(id any) bool { text, _ := id.(string); return !resource.IsID(text) }) {
		t.Errorf("states are sent as %v", ids)
	}
	turned := strings.NewReplacer("[In Progress, Todo]", "[todo, in progress]", "[urgent, high]", "[high, urgent]").Replace(bugsInProgress)
	if again := s.apply(t, applying{manifest: turned}); !again.plan.Empty() {
		t.Error(again.plan.Steps[0].Changes())
	}

	// A person adds a filter that planform does not know, and changes one that it knows.
	body := `{"filters":{"priority":["low"],"labels":["` + ids[0].(string) + `"],"target_date":["2031-01-01;after"]},"display_filters":{"group_by":"state","sub_issue":true}}` //nolint:forcetypeassert // see above
	s.otherUser(t, http.MethodPatch, s.viewPath(), body)
	back := s.apply(t, applying{manifest: bugsInProgress})
	if len(back.failed())+len(back.warnings()) > 0 || back.writes != 1 || len(back.plan.Drift) != 4 {
		t.Error(back.failed(), back.warnings(), back.writes, back.plan.Drift)
	}
	filters := s.filtersOfView()
	if filters["target_date"] == nil || len(filters["state"].([]any)) != 2 || len(filters["priority"].([]any)) != 2 { //nolint:forcetypeassert // as sent
		t.Errorf("the filters are %v", filters)
	}
	// A change of another field leaves all of them.
	s.apply(t, applying{manifest: strings.ReplaceAll(bugsInProgress, "Now", "Then")})
	if after := s.filtersOfView(); len(after) != len(filters) || s.Rows("project_view")[0]["display_filters"].(map[string]any)["sub_issue"] != true { //nolint:forcetypeassert // as sent
		t.Errorf("the filters are %v", after)
	}
	if again := s.apply(t, applying{manifest: strings.ReplaceAll(bugsInProgress, "Now", "Then")}); !again.plan.Empty() {
		t.Error(again.plan.Summary)
	}
}

// TestAServerThatStoresOtherFiltersIsReported, because the reference does not document their form.
func TestAServerThatStoresOtherFiltersIsReported(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	a := s.apply(t, applying{manifest: bugsInProgress, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/views/") {
			return sandboxtest.Fault{}
		}
		body := `{"id":"8a234ec6-0000-4000-8000-000000000000","name":"Bugs in progress","description":"Now","filters":{"priority":["high"],"and":[]},"display_filters":{}}`
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: 201, Body: body}}
	}})
	var said []string
	for _, w := range a.warnings() {
		said = append(said, w.Summary)
	}
	for _, field := range []string{"state", "priority", "assignees", "labels", "group_by"} {
		if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, field) }) {
			t.Errorf("nothing is said of %s: %q", field, said)
		}
	}
}

// TestAServerWithOtherKeysOfFiltersIsReportedInEachPlan, because filters under other keys cannot be compared.
func TestAServerWithOtherKeysOfFiltersIsReportedInEachPlan(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	otherKeys := func(req *http.Request) sandboxtest.Fault {
		if !strings.Contains(req.URL.Path, "/views/") {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{Reword: func(body []byte) []byte {
			other := strings.NewReplacer(`"state":`, `"state_id":`, `"priority":`, `"priority__in":`, `"assignees":`, `"assignee_id":`, `"labels":`, `"label_id":`,
				`"group_by":`, `"grouping":`)
			return []byte(other.Replace(string(body)))
		}}
	}
	fields := []string{"state", "priority", "assignees", "labels", "group_by"}
	for _, when := range []string{"made", "again", "and again"} {
		s.fault = otherKeys // while the plan is made
		a := s.apply(t, applying{manifest: bugsInProgress, fault: func(req *http.Request, _ run) sandboxtest.Fault { return otherKeys(req) }})
		var said []string
		for _, w := range a.warnings() {
			said = append(said, w.Summary)
		}
		for _, n := range a.plan.Notices {
			said = append(said, n.Summary)
		}
		for _, step := range a.plan.Steps {
			said = append(said, step.Reason())
		}
		for _, n := range a.plan.NotCompared {
			said = append(said, n.Field)
		}
		t.Log(when, a.writes, a.plan.Summary, said)
		for _, field := range fields {
			if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, field) }) {
				t.Errorf("%s: nothing is said of %s: %q", when, field, said)
			}
		}
	}
}
