package provider_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// header is the beginning of a manifest whose project has the following work items.
const header = "version: 1\nworkspace: acme\nprojects:\n  - key: web\n    id: " + sandboxtest.ProjectWeb + "\n    identifier: WEB\n    work_items:\n"

const oneItem = header + "      - {key: a, name: Item A}\n"

// named counts the rows of a kind with a name.
func (sv *service) named(kind, name string) int {
	return len(slices.DeleteFunc(sv.Rows(kind), func(r map[string]any) bool { return r["name"] != name }))
}

// itemA returns the result of the step of the item.
func (a applied) itemA(t *testing.T) executor.StepResult {
	t.Helper()
	for _, r := range a.Steps {
		if r.Step.Address == "work_item/web/a" {
			return r
		}
	}
	t.Fatal("no step for the item")
	return executor.StepResult{}
}

// always returns a function that gives every matching request a fault.
func always(w write, f sandboxtest.Fault) func(*http.Request, run) sandboxtest.Fault {
	return func(req *http.Request, _ run) sandboxtest.Fault {
		if w.is(req) {
			return f
		}
		return sandboxtest.Fault{}
	}
}

func TestACreateWithALostAnswerIsRecoveredInTheSameRunIfALookupIsPossible(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		trouble

		recovered bool
		sent      int
	}{
		"a create that was done is found":                      {trouble{fault: sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}}, true, 1},
		"a create that was done and refused is found":          {trouble{fault: sandboxtest.Fault{After: sandboxtest.Break{Status: 400, Body: `{"error":"no"}`}}}, true, 1},
		"a create that was done with an empty answer is found": {trouble{fault: sandboxtest.Fault{After: sandboxtest.Break{Status: 201, Body: `{}`}}}, true, 1},
		"a create that was not done is sent again":             {trouble{fault: sandboxtest.Fault{Before: sandboxtest.Break{Cut: true}}}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			r := s.apply(t, applying{manifest: oneItem, fault: tt.on(writes()["create work item"])})
			got := r.itemA(t)
			if got.Status != executor.Done || got.Outcome.RecoveredByLookup != tt.recovered || got.Outcome.Identifier != "WEB-2" || r.writes != tt.sent {
				t.Errorf("%+v, %d writes", got, r.writes)
			}
			if s.named("work_item", "Item A") != 1 {
				t.Error(s.picture())
			}
		})
	}
}

func TestACreateThatIsRefusedFailsAndIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	refused := sandboxtest.Fault{Before: sandboxtest.Break{Status: 400, Body: `{"name":["No such names today."]}`}}
	r := s.apply(t, applying{manifest: oneItem, fault: always(writes()["create work item"], refused)})
	if got := r.itemA(t); got.Status != executor.Failed || r.writes != 1 || !strings.Contains(got.Err.Error(), "No such names today.") {
		t.Errorf("%+v, %d writes", got, r.writes)
	}
}

func TestACreateThatIsNeverAnsweredIsSentThreeTimesAtMost(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	r := s.apply(t, applying{manifest: oneItem, fault: always(writes()["create work item"], sandboxtest.Fault{Before: sandboxtest.Break{Cut: true}})})
	if got := r.itemA(t); got.Status != executor.Unknown || r.writes != 3 {
		t.Errorf("%+v, %d writes", got, r.writes)
	}
	if r := s.apply(t, applying{manifest: oneItem}); r.writes != 1 || s.named("work_item", "Item A") != 1 {
		t.Errorf("%d writes, %q", r.writes, s.picture())
	}
}

func TestACreateIsNotSentAgainWhileLookupsFail(t *testing.T) {
	t.Parallel()
	for name, looking := range map[string]sandboxtest.Break{
		"a create is not sent again if the look-up loses its connection":             {Cut: true},
		"a create is not sent again if the look-up gets a server error":              {Status: 500, Body: `{"error":"Something went wrong"}`},
		"a create is not sent again if the look-up gets another answer":              {Status: 200, Body: `{"id":"` + sandboxtest.WorkItemWeb1 + `"}`},
		"a create is not sent again if the look-up gets a web page":                  {Status: 404, Body: `<html>gone</html>`},
		"a create is not sent again if the look-up gets a refusal of the credential": {Status: 401, Body: `{"detail":"Authentication credentials were not provided."}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			created := writes()["create work item"]
			var lost atomic.Bool
			r := s.apply(t, applying{manifest: oneItem, fault: func(req *http.Request, _ run) sandboxtest.Fault {
				switch {
				case created.is(req):
					lost.Store(true)
					return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
				case lost.Load():
					return sandboxtest.Fault{Before: looking}
				}
				return sandboxtest.Fault{}
			}})
			if got := r.itemA(t); got.Status != executor.Unknown || r.writes != 1 {
				t.Errorf("%+v, %d writes", got, r.writes)
			}
			if stopped := errors.Is(r.Stopped, executor.ErrAbortRun); stopped != (looking.Status == 401) {
				t.Errorf("stopped: %v", r.Stopped)
			}
			if r := s.apply(t, applying{manifest: oneItem}); r.writes != 0 || len(r.failed()) > 0 || s.named("work_item", "Item A") != 1 {
				t.Errorf("%d writes, %q %q", r.writes, r.failed(), s.picture())
			}
		})
	}
}

func TestACreateThatNoLookupCanFindIsNeverSentAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandboxtest.Fault{
		"a create that was done is not sent again":     {After: sandboxtest.Break{Cut: true}},
		"a create that was not done is not sent again": {Before: sandboxtest.Break{Cut: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.Documented)
			unnumbered := strings.Replace(oneItem, "    identifier: WEB\n", "", 1)
			first := s.apply(t, applying{manifest: unnumbered, fault: always(writes()["create work item"], fault)})
			if got := first.itemA(t); got.Status != executor.Unknown || first.writes != 1 {
				t.Errorf("%+v, %d writes", got, first.writes)
			}
			for range 2 {
				r := s.apply(t, applying{manifest: unnumbered})
				if reason := r.reasons()["work_item/web/a"]; r.writes != 0 || !strings.Contains(reason, "planform state resolve work_item/web/a") {
					t.Errorf("%d writes, %q", r.writes, reason)
				}
			}
		})
	}
}

// replay sends a request again, whose body was read, like another client.
func (sv *service) replay(req *http.Request, body []byte) {
	again := req.Clone(req.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	sv.ServeHTTP(httptest.NewRecorder(), again)
}

func TestAnItemWithTheSameExternalIDIsAdopted(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	created := writes()["create work item"]
	var hit atomic.Bool
	r := s.apply(t, applying{manifest: oneItem, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if created.is(req) && !hit.Swap(true) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				t.Error(err)
			}
			s.replay(req, body)
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		return sandboxtest.Fault{}
	}})
	got := r.itemA(t)
	rows := s.Rows("work_item")
	if got.Status != executor.Done || !got.Outcome.RecoveredByLookup || got.Outcome.ID != rows[len(rows)-1]["id"] || s.named("work_item", "Item A") != 1 {
		t.Errorf("%+v %v", got, rows)
	}
	looks := slices.DeleteFunc(s.Log(), func(e sandboxtest.Entry) bool { return !strings.Contains(e.Query, "external_id=") })
	if len(looks) != 1 {
		t.Errorf("it was looked for %d times to be compared", len(looks))
	}
	if r := s.apply(t, applying{manifest: oneItem}); r.writes != 0 || !r.plan.Empty() {
		t.Errorf("%d writes", r.writes)
	}
}

func TestIdempotentRequestsAreRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	for what, w := range writes() {
		if strings.HasPrefix(what, "create") {
			continue
		}
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			lost := trouble{fault: sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}}
			if r := s.apply(t, applying{manifest: wholeOf(s.api), retries: 1, fault: lost.on(w)}); len(r.failed()) > 0 {
				t.Errorf("%q", r.failed())
			}
			s.resolve(t, applied{plan: &planner.Plan{}})
		})
	}
}

func TestAMemberMissingFromTheAnswerIsReported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		api   resource.API
		items string
	}{
		"an assignee whom a new item cannot have is reported by the plan":     {resource.V1, "      - {key: a, name: Item A, assignees: [" + sandboxtest.UserEve + ", " + sandboxtest.UserBob + "]}\n"},
		"an assignee whom the answer about a new item lacks is reported":      {resource.Documented, "      - {key: a, name: Item A, assignees: [" + sandboxtest.UserEve + ", " + sandboxtest.UserBob + "]}\n"},
		"an assignee whom a changed item cannot have is reported by the plan": {resource.V1, "      - {key: a, id: " + sandboxtest.WorkItemWeb1 + ", assignees: [" + sandboxtest.UserEve + "]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.api)
			r := s.apply(t, applying{manifest: header + tt.items})
			if tt.api == resource.V1 { // the plan knows the members of the project
				if len(r.warnings())+len(r.failed()) > 0 || r.plan.Summary.Blocked != 1 {
					t.Errorf("%v %q %+v", r.warnings(), r.failed(), r.plan.Summary)
				}
				return
			}
			got := r.warnings()
			if len(got) != 1 || len(r.failed()) > 0 {
				t.Fatalf("%v %q", got, r.failed())
			}
			if w := got[0]; w.Code != "not-taken" || w.Address != "work_item/web/a" || w.Position.Line != 8 || !strings.Contains(w.Summary, "assignees") || !strings.Contains(w.Hint, "guests") {
				t.Errorf("%+v", w)
			}
		})
	}
}

func TestACredentialRefusedDuringTheRunStopsIt(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]sandboxtest.Break{
		"a 401 stops the run":               {Status: 401, Body: `{"detail":"Authentication credentials were not provided."}`},
		"a 403 for a bad key stops the run": {Status: 403, Body: `{"detail":"Given API token is not valid"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			var text strings.Builder
			text.WriteString(header)
			for i := range 5 {
				fmt.Fprintf(&text, "      - {key: i%d, name: Item %d}\n", i, i)
			}
			manifest := text.String()
			var n atomic.Int32
			r := s.apply(t, applying{manifest: manifest, workers: 1, fault: func(req *http.Request, _ run) sandboxtest.Fault {
				if req.Method != http.MethodPost || n.Add(1) < 3 {
					return sandboxtest.Fault{}
				}
				return sandboxtest.Fault{Before: refusal}
			}})
			if !errors.Is(r.Stopped, executor.ErrAbortRun) || r.writes != 3 {
				t.Errorf("%v, %d writes", r.Stopped, r.writes)
			}
			if r := s.apply(t, applying{manifest: manifest}); r.writes != 3 || len(r.failed()) > 0 || len(s.Rows("work_item")) != 6 {
				t.Errorf("%d writes, %q", r.writes, r.failed())
			}
		})
	}
}

func TestALackOfPermissionFailsOneStepOnly(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	lacking := sandboxtest.Fault{Before: sandboxtest.Break{Status: 403, Body: `{"detail":"You do not have permission to perform this action."}`}}
	r := s.apply(t, applying{manifest: wholeOf(s.api), fault: always(writes()["create page"], lacking)})
	if failed := r.failed(); len(failed) != 1 || !strings.Contains(failed[0], "has too low a role") || r.Stopped != nil {
		t.Errorf("%q %v", failed, r.Stopped)
	}
}

func TestTheDialectOfTheServiceIsLearnedFromOneRefusal(t *testing.T) {
	t.Parallel()
	// Initech has no requests yet, so no answer shows in advance which names the service uses.
	manifest := "version: 1\nworkspace: acme\ncustomers:\n  - key: initech\n    id: " + sandboxtest.CustomerInitech +
		"\n    requests:\n      - {key: a, title: A, description: First.}\n      - {key: b, title: B}\n"
	for name, tt := range map[string]struct {
		answers sandbox.Answers
		api     resource.API
		writes  int
		shown   string
	}{
		"the newer names are learned from one refusal": {sandbox.Observed, resource.V1, 3, "<p>First.</p>"},
		"the documented names need no refusal":         {sandbox.Contract, resource.V1, 2, "First."},
		"the documented operations need no refusal":    {sandbox.Contract, resource.Documented, 2, "First."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, tt.api, sandboxtest.Options{Answers: tt.answers})
			r := s.apply(t, applying{manifest: manifest, workers: 1})
			if len(r.failed()) > 0 || r.writes != tt.writes || s.named("customer_request", "A") != 1 || s.named("customer_request", "B") != 1 {
				t.Errorf("%q, %d writes, %v", r.failed(), r.writes, s.Rows("customer_request"))
			}
			if got := s.Rows("customer_request")[1]["description_html"]; got != tt.shown {
				t.Errorf("description %q, want %q", got, tt.shown)
			}
			if r := s.apply(t, applying{manifest: manifest}); r.writes != 0 {
				t.Errorf("the second run makes %d writes", r.writes)
			}
		})
	}
}

func TestTheWiderAPIIsDetectedWithOneRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer sandboxtest.Break
		want   resource.API
		fails  bool
	}{
		"the projects are listed":          {sandboxtest.Break{}, resource.V1, false},
		"the route is not there":           {sandboxtest.Break{Status: 404, Body: `{"error":"Page not found."}`}, resource.Documented, false},
		"there is no such workspace":       {sandboxtest.Break{Status: 404, Body: `{"error":"The requested resource does not exist."}`}, resource.Documented, false},
		"the credential may not list them": {sandboxtest.Break{Status: 403, Body: `{"detail":"You do not have permission to perform this action."}`}, resource.Documented, true},
		"the credential is not valid":      {sandboxtest.Break{Status: 403, Body: `{"detail":"Given API token is not valid"}`}, resource.Documented, true},
		"the service is broken":            {sandboxtest.Break{Status: 503}, resource.Documented, true},
		"a web page is there instead":      {sandboxtest.Break{Status: 404, Body: "<html></html>"}, resource.Documented, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			s.fault = func(*http.Request) sandboxtest.Fault { return sandboxtest.Fault{Before: tt.answer} }
			client, done := s.client(t, apiclient.Config{Retries: -1})
			defer done()
			observed := planner.Observed{}
			got, err := provider.Detect(t.Context(), client, sandbox.Workspace, resource.V1, observed)
			if got != tt.want || (err != nil) != tt.fails || len(s.Log()) != 1 {
				t.Errorf("%s, %v, %d requests", got, err, len(s.Log()))
			}
			if kept := len(observed) == 1; kept != (tt.want == resource.V1) {
				t.Errorf("%d answers are kept", len(observed))
			}
		})
	}
}

func TestUnsupportedKindsAreNotPossibleAndTheRestIsDone(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
	r := s.apply(t, applying{manifest: wholeOf(s.api)})
	if failed := r.failed(); len(failed) > 0 {
		t.Errorf("%q", failed)
	}
	reasons := r.reasons()
	for _, address := range []resource.Address{"teamspace/platform", "page/decisions", "customer_request/globex/export", "initiative_label/growth"} {
		if !strings.HasPrefix(reasons[address], "this edition of the service has no ") {
			t.Errorf("%s: %q", address, reasons[address])
		}
	}
	if s.named("work_item", "Item A") != 1 || s.named("page", "Decisions") != 0 {
		t.Error(s.picture())
	}
	if again := s.apply(t, applying{manifest: wholeOf(s.api)}); again.writes != 0 || len(again.reasons()) != len(reasons) {
		t.Errorf("the second run makes %d writes", again.writes)
	}
}

// TestAListIsNotMistakenForAProbe plans a new project beside others: probes in one of them
// show the edition's kinds, while its objects are read too.
func TestAListIsNotMistakenForAProbe(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	manifest := `
projects:
  - {identifier: NEW, name: New, labels: [{name: x}], cycles: [{name: Q1}]}
  - {identifier: OPS, labels: [{name: infra}], cycles: [{name: Q1}]}
  - {identifier: WEB, labels: [{name: bug}], cycles: [{name: Sprint 14}]}
`
	r := s.apply(t, applying{manifest: manifest})
	if len(r.failed()) > 0 || s.named("cycle", "Q1") != 2 || s.named("cycle", "Sprint 14") != 1 || s.named("label", "infra") != 1 {
		t.Errorf("%q %v", r.failed(), s.Rows("cycle"))
	}
	for _, step := range r.plan.Steps {
		if parent := step.Address.Parent(); step.Action == planner.Create && (parent == "project/ops" || parent == "project/web") {
			t.Errorf("%s would be created", step.Address)
		}
	}
}

// TestAKindThatTurnsOutToBeUnsupportedIsLeftOut: if only a create shows that a route is
// missing, its objects and the fields that refer to them are left out, and nothing else.
func TestAKindThatTurnsOutToBeUnsupportedIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	tries := 0
	r := s.apply(t, applying{manifest: `
projects:
  - identifier: NEW
    name: New
    is_issue_type_enabled: true
    cycle_view: true
    cycles: [{name: Q1}]
    work_item_types: [{name: Story}, {name: Bug}]
    work_items:
      - {key: a, name: Item A, type: Story, cycle: Q1}
      - {key: b, name: Item B, type: Bug, cycle: Q1}
`, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/work-item-types/") {
			return sandboxtest.Fault{}
		}
		tries++
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: 404, Body: `{"error":"Page not found."}`}}
	}})
	if tries == 0 || s.named("work_item", "Item A") != 1 || s.named("work_item", "Item B") != 1 || len(s.Rows("cycle_issue")) < 2 {
		t.Errorf("%d tries; %q; %s", tries, r.failed(), s.picture())
	}
	if failed := r.failed(); len(failed) != 2 {
		t.Errorf("more than the types failed: %q", failed)
	}
	if w := r.warnings(); len(w) != 1 || !strings.HasPrefix(w[0].Summary, "type is left out") {
		t.Errorf("warnings: %v", w)
	}
}

// TestAForbiddenProbeShowsNothing, because the probed project may belong to others.
func TestAForbiddenProbeShowsNothing(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	probes := 0
	s.fault = func(req *http.Request) sandboxtest.Fault {
		if req.URL.Query().Get("per_page") != "1" {
			return sandboxtest.Fault{}
		}
		probes++
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: 403, Body: `{"detail":"You do not have permission to perform this action."}`}}
	}
	r := s.apply(t, applying{manifest: `{projects: [{identifier: NEW, name: New, labels: [{name: x}]}]}`})
	if len(r.failed()) > 0 || probes != 1 || s.named("label", "x") != 1 {
		t.Errorf("%q, %d probes", r.failed(), probes)
	}
}
