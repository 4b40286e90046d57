package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Behaviour of a real service that loses, doubles or silently drops
// something, and how planform handles it. How it reads refusals and lists is
// tested in package apiclient; lost answers are tested beside this file.

// otherUser makes a request like another program, and returns the record in the answer.
func (sv *service) otherUser(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	return sv.as(t, sandbox.Key, method, path, body)
}

// as sends a request with the key of a user, by API v1 unless the path is whole.
func (sv *service) as(t *testing.T, key, method, path, body string) map[string]any {
	t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/api/v1/workspaces/acme/" + path
	}
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	sv.ServeHTTP(answer, req)
	var row map[string]any
	_ = json.Unmarshal(answer.Body.Bytes(), &row) // a list, or nothing
	return row
}

// spy records the requests.
type spy struct {
	mu    sync.Mutex
	paths []string
	sent  []map[string]any // bodies of writes
}

func (sp *spy) look(req *http.Request, _ run) sandboxtest.Fault {
	body, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.paths = append(sp.paths, req.Method+" "+req.URL.RequestURI())
	if req.Method != http.MethodGet {
		var sent map[string]any
		_ = json.Unmarshal(body, &sent)
		sp.sent = append(sp.sent, sent)
	}
	return sandboxtest.Fault{}
}

// keys returns the names in all bodies.
func (sp *spy) keys() []string {
	names := map[string]bool{}
	for _, body := range sp.sent {
		for name := range body {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// unchangedBy applies a manifest once more, which must change nothing.
func (sv *service) unchangedBy(t *testing.T, manifest string) {
	t.Helper()
	if r := sv.apply(t, applying{manifest: manifest}); r.writes != 0 || len(r.failed()) > 0 || len(r.reasons()) > 0 {
		t.Errorf("once more: %d writes, %q, %q", r.writes, r.failed(), r.reasons())
	}
}

// at fails unless there is one warning, with the code and address, at a line of the manifest.
func at(t *testing.T, l diag.List, code, address string, line int, says string) {
	t.Helper()
	if len(l) != 1 || l[0].Code != code || l[0].Address != address || l[0].Position.Line != line || !strings.Contains(l[0].Summary+l[0].Hint, says) {
		t.Errorf("%+v", l)
	}
}

// hint returns the next step of an error.
func hint(err error) string {
	h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err)
	if !ok {
		return ""
	}
	return h.Hint()
}

const cycleIssues = "projects/" + sandboxtest.ProjectWeb + "/cycles/%s/cycle-issues/"

// attempt is the context of one test of the table.
type attempt struct {
	*testing.T

	s *service
}

func TestKnownTrapsOfTheServiceAreReportedOrAvoided(t *testing.T) {
	t.Parallel()
	for trap, test := range map[string]struct {
		api resource.API
		try func(t attempt)
	}{
		"an item of another project is dropped from a module without a word": {resource.V1, func(t attempt) {
			other := t.s.otherUser(t.T, "POST", "projects/"+sandboxtest.ProjectOps+"/work-items/", `{"name":"Elsewhere"}`)["id"].(string)
			text := header + "      - {key: x, id: " + other + ", module: Checkout}\n"
			if findings := fmt.Sprint(t.s.findings(t.T, text)); !strings.Contains(findings, "no work item with the ID "+other) {
				t.Error(findings)
			}
			r := t.s.apply(t.T, applying{manifest: text, trust: true})
			at(t.T, r.warnings(), "not-taken", "work_item/web/x", 8, "is not in module/web/Checkout")
			if n := len(t.s.Rows("module_issue")); n != 0 {
				t.Errorf("%d items are in the module", n)
			}
		}},
		"a cycle takes an item of another project and never shows it": {resource.V1, func(t attempt) {
			other := t.s.otherUser(t.T, "POST", "projects/"+sandboxtest.ProjectOps+"/work-items/", `{"name":"Elsewhere"}`)["id"].(string)
			for _, what := range []string{"cycle: Sprint 14", "links: [{url: \"https://example.com/a\"}]"} {
				text := header + "      - {key: x, id: " + other + ", " + what + "}\n"
				if findings := fmt.Sprint(t.s.findings(t.T, text)); !strings.Contains(findings, "no work item with the ID "+other) {
					t.Errorf("%s: %s", what, findings)
				}
			}
		}},
		"a change that is answered with success is not made, and the state does not say that it was": {resource.Documented, func(t attempt) {
			text := "version: 1\nworkspace: acme\nteamspaces:\n  - {key: p, id: " + sandboxtest.TeamspacePlatform + ", lead: " + sandboxtest.UserBob + "}\n"
			unchanged := sandboxtest.Fault{Before: sandboxtest.Break{Status: 200, Body: `{"id":"` + sandboxtest.TeamspacePlatform + `","lead":"` + sandboxtest.UserAda + `"}`}}
			r := t.s.apply(t.T, applying{manifest: text, fault: always(writes()["change teamspace"], unchanged)})
			at(t.T, r.warnings(), "not-taken", "teamspace/p", 4, "lead")
			if r := t.s.apply(t.T, applying{manifest: text}); r.writes > 0 || !strings.Contains(r.reasons()["teamspace/p"], "the service ignored "+sandboxtest.UserBob+" as lead") {
				t.Errorf("the second run makes %d writes: %v", r.writes, r.reasons())
			}
			if r := t.s.apply(t.T, applying{manifest: text, all: true}); r.writes != 1 || len(r.warnings()) > 0 {
				t.Errorf("one that asks for it makes %d writes", r.writes)
			}
			t.s.unchangedBy(t.T, text)
		}},
		"a module in the body of an item is dropped without a word, which is said once": {resource.Documented, func(t attempt) {
			item := "      - {key: %s, name: Item %s, module: " + sandboxtest.ModuleCheckout + "}\n"
			text := header + fmt.Sprintf(item, "a", "A") + fmt.Sprintf(item, "b", "B")
			r := t.s.apply(t.T, applying{manifest: text, workers: 1})
			at(t.T, r.warnings(), "not-taken", "work_item/web/a", 8, "does not show module")
		}},
		"an item that got into two cycles cannot be moved any more": {resource.V1, func(t attempt) {
			t.s.otherUser(t.T, "POST", fmt.Sprintf(cycleIssues, sandboxtest.CycleSprint14), `{"issues":["`+sandboxtest.WorkItemWeb1+`"]}`)
			t.s.otherUser(t.T, "POST", fmt.Sprintf(cycleIssues, sandboxtest.CycleSprint15), `{"issues":["`+strings.ToUpper(sandboxtest.WorkItemWeb1)+`"]}`)
			third := t.s.otherUser(t.T, "POST", "projects/"+sandboxtest.ProjectWeb+"/cycles/", `{"name":"Sprint 16","project_id":"`+sandboxtest.ProjectWeb+`"}`)["id"].(string)
			if n := len(t.s.Rows("cycle_issue")); n != 2 {
				t.Fatalf("the item is in %d cycles", n)
			}
			items := make([]string, 7)
			for i := range items {
				items[i] = fmt.Sprintf("      - {key: i%d, name: Item %d, cycle: %s}\n", i, i, third)
			}
			text := header + strings.Join(items, "") + "      - {key: old, id: " + sandboxtest.WorkItemWeb1 + ", cycle: " + third + "}\n" +
				"      - {key: b, name: B, cycle: Sprint 14}\n      - {key: c, name: C, cycle: Sprint 15}\n"
			for range 2 {
				r := t.s.apply(t.T, applying{manifest: text})
				failed := r.failed()
				if len(failed) != 1 || !strings.Contains(failed[0], "The payload is not valid, because of work_item/web/old (") || !strings.Contains(failed[0], "m.yaml:15:") {
					t.Errorf("%q", failed)
				}
				for _, res := range r.Steps {
					if res.Err != nil && !strings.Contains(hint(res.Err), "in two cycles, remove it") {
						t.Errorf("no word of what to do: %v", res.Err)
					}
				}
			}
			if n := len(t.s.Rows("cycle_issue")); n != 2+7+2 {
				t.Errorf("%d memberships: the others of the batch are left out too", n)
			}
		}},
		"an item that got into two cycles is named by the plan that reads both": {resource.V1, func(t attempt) {
			other := t.s.otherUser(t.T, "POST", "projects/"+sandboxtest.ProjectWeb+"/work-items/", `{"name":"Other"}`)["id"].(string)
			t.s.otherUser(t.T, "POST", fmt.Sprintf(cycleIssues, sandboxtest.CycleSprint14), `{"issues":["`+sandboxtest.WorkItemWeb1+`"]}`)
			t.s.otherUser(t.T, "POST", fmt.Sprintf(cycleIssues, sandboxtest.CycleSprint15), `{"issues":["`+other+`","`+strings.ToUpper(sandboxtest.WorkItemWeb1)+`"]}`)
			text := header + "      - {key: other, id: " + other + ", cycle: Sprint 15}\n      - {key: old, id: " + sandboxtest.WorkItemWeb1 + ", cycle: Sprint 14}\n"
			r := t.s.apply(t.T, applying{manifest: text})
			at(t.T, r.plan.Notices, "in-two", "work_item/web/old", 9, "cycle/web/Sprint 15 and cycle/web/Sprint 14")
			if r.writes != 0 || len(r.failed()) > 0 {
				t.Errorf("%d writes, %q", r.writes, r.failed())
			}
		}},
		"an item is moved between cycles by one request, and named in no other": {resource.V1, func(t attempt) {
			text := header + "      - {key: a, name: Item A, cycle: Sprint 14}\n      - {key: b, name: Item B, cycle: Sprint 15}\n"
			t.s.apply(t.T, applying{manifest: text})
			p := &spy{}
			swapped := strings.NewReplacer("14", "15", "15", "14").Replace(text)
			if r := t.s.apply(t.T, applying{manifest: swapped, fault: p.look}); len(r.failed()) > 0 || r.writes != 2 || fmt.Sprint(p.sent[0]) == fmt.Sprint(p.sent[1]) {
				t.Errorf("%q %v", r.failed(), p.sent)
			}
			t.s.unchangedBy(t.T, swapped)
		}},
		"a refusal in general terms may come after the item was created": {resource.Documented, func(t attempt) {
			text := oneItem
			r := t.s.apply(t.T, applying{manifest: text, fault: always(writes()["create work item"], sandboxtest.Fault{
				After: sandboxtest.Break{Status: 400, Body: `{"error":"Please provide valid detail"}`},
			})})
			if got := r.itemA(t.T); got.Status != executor.Done || !got.Outcome.RecoveredByLookup || !got.Outcome.CreatedByUs || got.Outcome.Identifier != "WEB-2" {
				t.Errorf("%+v", got)
			}
			if r := t.s.apply(t.T, applying{manifest: text}); r.writes != 0 || t.s.named("work_item", "Item A") != 1 {
				t.Errorf("%d writes, %q", r.writes, t.s.picture())
			}
		}},
		"a link to an item that is gone is refused in general terms": {resource.V1, func(t attempt) {
			var hit atomic.Bool
			text := header + "      - {key: old, id: " + sandboxtest.WorkItemWeb1 + ", links: [{url: \"https://example.com/a\"}]}\n"
			r := t.s.apply(t.T, applying{manifest: text, fault: func(req *http.Request, _ run) sandboxtest.Fault {
				if req.Method == http.MethodPost && !hit.Swap(true) {
					t.s.otherUser(t.T, "DELETE", "projects/"+sandboxtest.ProjectWeb+"/work-items/"+sandboxtest.WorkItemWeb1+"/", ``)
				}
				return sandboxtest.Fault{}
			}})
			if len(r.failed()) != 1 || !strings.Contains(hint(r.Steps[0].Err), "check that its parent") {
				t.Errorf("%q", r.failed())
			}
		}},
		"a project that is archived is left alone": {resource.V1, func(t attempt) {
			text := header + "      - {key: a, name: Item A}\n"
			t.s.apply(t.T, applying{manifest: text})
			t.s.otherUser(t.T, "POST", "projects/"+sandboxtest.ProjectWeb+"/archive/", ``)
			if findings := t.s.findings(t.T, text); !strings.Contains(fmt.Sprint(findings), "project/web (WEB) is archived on the service") {
				t.Errorf("%v", findings)
			}
		}},
		"an archived item with the external ID is a conflict that no list shows": {resource.V1, func(t attempt) {
			const hidden = "00000000-0000-4000-8000-000000000001"
			r := t.s.apply(t.T, applying{manifest: oneItem, fault: always(writes()["create work item"], sandboxtest.Fault{
				Before: sandboxtest.Break{Status: 409, Body: `{"error":"Issue with the same external id and external source already exists","id":"` + hidden + `"}`},
			})})
			got := r.itemA(t.T)
			if got.Status != executor.Failed || !strings.Contains(got.Err.Error(), hidden) || !strings.Contains(hint(got.Err), "archived") {
				t.Errorf("%+v", got)
			}
		}},
		"no field that the service keeps for itself is sent, and no field that was read is sent back": {resource.V1, func(t attempt) {
			p := &spy{}
			r := t.s.apply(t.T, applying{manifest: wholeOf(t.s.api), fault: p.look})
			want := []string{
				"color", "description", "description_html", "external_id", "external_source", "issues", "label_ids", "name", "project_ids", "url",
			}
			if got := p.keys(); len(r.failed()) > 0 || !slices.Equal(got, want) {
				t.Errorf("%q, sent %q", r.failed(), got)
			}
			for i, body := range p.sent {
				if path := p.paths[i]; strings.HasPrefix(path, "PATCH") && len(body) != 1 {
					t.Errorf("%s: %v", path, body)
				}
			}
		}},
		"IDs in upper case are sent in lower case, because the service compares them as text": {resource.V1, func(t attempt) {
			point := t.s.Rows("estimate_point")[0]["id"].(string)
			text := strings.Replace(wholeOf(t.s.api), "name: Item A,", "name: Item A, estimate_point: "+point+", assignees: ["+sandboxtest.UserBob+"], labels: ["+sandboxtest.LabelBug+
				"], state: "+sandboxtest.StateTodo+", type: "+sandboxtest.TypeTask+", parent: "+sandboxtest.WorkItemWeb1+", module: "+sandboxtest.ModuleCheckout+",", 1)
			p := &spy{}
			uuid := regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
			upper := uuid.ReplaceAllStringFunc(text, strings.ToUpper)
			if r := t.s.apply(t.T, applying{manifest: upper, fault: p.look}); len(r.failed()) > 0 || len(r.warnings()) > 0 {
				t.Errorf("%q %v", r.failed(), r.warnings())
			}
			for _, sent := range []string{strings.Join(p.paths, " "), fmt.Sprint(p.sent)} {
				for _, id := range uuid.FindAllString(sent, -1) {
					if id != strings.ToLower(id) {
						t.Errorf("sent %s", id)
					}
				}
			}
			t.s.unchangedBy(t.T, upper)
		}},
		"an item can be made its own ancestor": {resource.V1, func(t attempt) {
			other := t.s.otherUser(t.T, "POST", "projects/"+sandboxtest.ProjectWeb+"/work-items/", `{"name":"Other"}`)["id"].(string)
			text := header + "      - {key: a, identifier: WEB-1, parent: WEB-2, labels: [bug]}\n" +
				"      - {key: b, id: " + other + ", parent: WEB-1}\n      - {key: c, name: C, parent: a}\n"
			at(t.T, t.s.findings(t.T, text), "dependency-cycle", "work_item/web/a", 8, "by way of work_item/web/b")
		}},
		"labels of another project are not sent, and guests are dropped and named": {resource.V1, func(t attempt) {
			r := t.s.apply(t.T, applying{manifest: header + "      - {key: a, name: Item A, labels: [bug, " + sandboxtest.LabelInfra + "]}\n"})
			if r.plan.Summary.Create != 1 || len(r.failed()) > 0 || len(r.plan.Steps) != 2 || !strings.Contains(r.plan.Steps[1].Reason(), "no label with the ID "+sandboxtest.LabelInfra) {
				t.Errorf("%+v", r.plan.Steps)
			}
			r = t.s.apply(t.T, applying{manifest: header + "      - {key: b, name: Item B, assignees: [bob@example.com, eve@example.com]}\n"})
			last := r.plan.Steps[len(r.plan.Steps)-1]
			if want := "add eve@example.com to its members"; last.Action != planner.NotPossible || !strings.HasSuffix(last.Reason(), want) {
				t.Errorf("%s: %s", last.Action, last.Reason())
			}
		}},
		"a start date after the target date that the service has is a warning": {resource.V1, func(t attempt) {
			t.s.otherUser(t.T, "PATCH", "projects/"+sandboxtest.ProjectWeb+"/work-items/"+sandboxtest.WorkItemWeb1+"/", `{"target_date":"2026-12-05"}`)
			r := t.s.apply(t.T, applying{manifest: header + "      - {key: a, identifier: WEB-1, start_date: 2026-12-10}\n"})
			at(t.T, r.plan.Notices, "dates", "work_item/web/a", 8, "start_date 2026-12-10, after its target_date 2026-12-05")
		}},
		"names are trimmed": {resource.V1, func(t attempt) {
			text := header + "      - {key: a, name: \"  Item A \\n\", links: [{url: \"https://example.com/a\", title: \" A \"}]}\n"
			if r := t.s.apply(t.T, applying{manifest: text}); len(r.failed()) > 0 || len(r.warnings()) > 0 {
				t.Errorf("%q %v", r.failed(), r.warnings())
			}
			t.s.unchangedBy(t.T, text)
		}},
		"members that an answer does not show are read, and those taken out are no change": {resource.V1, func(t attempt) {
			const module = "version: 1\nprojects: [{key: web, identifier: WEB, modules: [{name: M, members: [%s]}]}]\n"
			had := map[string]any{}
			t.s.replying = func(req *http.Request, row map[string]any) { // like the real server
				if members, ok := row["members"].([]any); ok && strings.Contains(req.URL.Path, "/modules/") {
					for _, m := range members {
						had[m.(string)] = true //nolint:forcetypeassert // it is a text
					}
					if row["members"] = slices.Collect(maps.Keys(had)); req.Method != http.MethodGet {
						delete(row, "members")
						if req.Method == http.MethodPatch {
							delete(row, "id")
						}
					}
				}
			}
			t.s.apply(t.T, applying{manifest: fmt.Sprintf(module, "ada@example.com, bob@example.com")})
			less := fmt.Sprintf(module, "bob@example.com")
			if r := t.s.apply(t.T, applying{manifest: less}); r.writes != 1 || len(r.warnings()) != 1 {
				t.Error(r.writes, r.warnings())
			}
			t.s.unchangedBy(t.T, less)
		}},
		"an element that the service leaves out of a text is named once, and not sent again": {resource.V1, func(t attempt) {
			const item = header + "      - {key: a, name: A, description_html: %q}\n"
			text := fmt.Sprintf(item, `<table><tbody><tr><th hidecontent="true">a</th></tr></tbody></table><iframe src="https://example.com"></iframe>`)
			r := t.s.apply(t.T, applying{manifest: text})
			if w := r.warnings(); len(w) != 1 || !strings.Contains(w[0].Summary, "<iframe>") {
				t.Error(w)
			}
			t.s.unchangedBy(t.T, text)
			for _, row := range t.s.Rows("work_item") { // a change by people is reported, and overwritten
				if row["name"] == "A" {
					t.s.otherUser(t.T, http.MethodPatch, "projects/"+sandboxtest.ProjectWeb+"/work-items/"+row["id"].(string)+"/", `{"description_html": "<p>Mine</p>"}`) //nolint:forcetypeassert // it is a text
				}
			}
			again := t.s.apply(t.T, applying{manifest: text})
			if again.writes != 1 || len(again.plan.Drift) != 1 {
				t.Error(again.writes, again.plan.Drift)
			}
			t.s.unchangedBy(t.T, text)
			changed := t.s.apply(t.T, applying{manifest: fmt.Sprintf(item, "<p>b</p>")})
			if changed.writes != 1 || len(changed.plan.Drift) != 0 {
				t.Error(changed.writes, changed.plan.Drift)
			}
		}},
		"a link that somebody else added meanwhile is refused and adopted": {resource.V1, func(t attempt) {
			text := header + "      - {key: a, name: Item A, links: [{url: \"https://example.com/a\"}]}\n"
			link := writes()["create link"]
			var hit atomic.Bool
			r := t.s.apply(t.T, applying{manifest: text, fault: func(req *http.Request, _ run) sandboxtest.Fault {
				if link.is(req) && !hit.Swap(true) {
					t.s.otherUser(t.T, "POST", strings.TrimPrefix(req.URL.Path, "/api/v1/workspaces/acme/"), `{"url":"https://example.com/a"}`)
				}
				return sandboxtest.Fault{}
			}})
			if len(r.failed()) > 0 || len(t.s.Rows("link")) != 2 {
				t.Errorf("%q %v", r.failed(), t.s.Rows("link"))
			}
			t.s.unchangedBy(t.T, text) // the service has removed the author in the meantime
		}},
		"a label that somebody else created meanwhile is refused and adopted": {resource.V1, func(t attempt) {
			text := "version: 1\nworkspace: acme\ninitiative_labels: [{key: a, name: Autumn, color: \"#22c55e\"}]\n"
			var hit atomic.Bool
			r := t.s.apply(t.T, applying{manifest: text, fault: func(req *http.Request, _ run) sandboxtest.Fault {
				if req.Method == http.MethodPost && !hit.Swap(true) {
					t.s.otherUser(t.T, "POST", "initiatives/labels/", `{"name":"Autumn","color":"#000000"}`)
				}
				return sandboxtest.Fault{}
			}})
			if len(r.failed()) > 0 || t.s.named("initiative_label", "Autumn") != 1 {
				t.Errorf("%q %v", r.failed(), t.s.Rows("initiative_label"))
			}
			if r.writes != 3 { // two to create it, and one for its colour
				t.Errorf("%d writes", r.writes)
			}
			t.s.unchangedBy(t.T, text)
		}},
		"descriptions come back rewritten": {resource.V1, func(t attempt) {
			var items []string
			for _, html := range []string{
				"just text", "<p>one</p><p>two</p>", "<b>un<i>closed", "<table><tr><td>x</table>", "<p>a &copy; b</p>\n",
				"<p>x</p><script>alert(1)</script>", "<!-- later -->", "<script>x()</script>", "  ",
			} {
				items = append(items, fmt.Sprintf("description_html: %q", html))
			}
			for _, markdown := range []string{"List<string> from <bob@x>", "one\n\n- two\n- [x] three", "<!-- later -->", "a & b < c"} {
				items = append(items, fmt.Sprintf("description: %q", markdown))
			}
			for i := range items {
				items[i] = fmt.Sprintf("      - {key: d%d, name: D%d, %s}\n", i, i, items[i])
			}
			text := header + strings.Join(items, "")
			r := t.s.apply(t.T, applying{manifest: text})
			if len(r.failed()) > 0 || len(r.warnings()) != 2 {
				t.Errorf("%q %v", r.failed(), r.warnings())
			}
			for _, w := range r.warnings() {
				if w.Summary != "the service left <script> out of the description_html" {
					t.Error(w)
				}
			}
			t.s.unchangedBy(t.T, text)
		}},
		"two objects with one external ID cannot be looked up": {resource.V1, func(t attempt) {
			t.s.apply(t.T, applying{manifest: oneItem, killed: true})
			externalID := t.s.Rows("work_item")[1]["external_id"].(string)
			double := t.s.otherUser(t.T, "POST", "projects/"+sandboxtest.ProjectWeb+"/work-items/", `{"name":"Item A","external_id":"`+externalID+`"}`)["id"].(string)
			t.s.otherUser(t.T, "PATCH", "projects/"+sandboxtest.ProjectWeb+"/work-items/"+double+"/", `{"external_source":"planform"}`)
			t.s.dir = t.TempDir() // the state is lost
			findings := fmt.Sprint(t.s.findings(t.T, oneItem))
			if !strings.Contains(findings, "the service has 2 work items that could be work_item/web/a") || !strings.Contains(findings, double) {
				t.Error(findings)
			}
		}},
		"a lost create is found although the clock of this machine goes back": {resource.Documented, func(t attempt) {
			t.s.now = func() time.Time { return time.Unix(1_900_000_000, 0) }
			first := header + "      - {key: first, name: First}\n"
			t.s.apply(t.T, applying{manifest: first}) // so that the plan knows a number
			t.s.now = func() time.Time { return time.Unix(-1, 0) }
			text := first + "      - {key: a, name: Item A}\n"
			t.s.apply(t.T, applying{manifest: text, killed: true, fault: always(writes()["create work item"], sandboxtest.Fault{After: sandboxtest.Break{Cut: true}})})
			r := t.s.apply(t.T, applying{manifest: text})
			if r.writes != 0 || len(r.failed()) > 0 || t.s.named("work_item", "Item A") != 1 {
				t.Errorf("%d writes, %q", r.writes, r.failed())
			}
			t.s.unchangedBy(t.T, text)
		}},
		"a 403 for an object that does not exist is reported as a missing object": {resource.V1, func(t attempt) {
			text := header + "      - {identifier: NOPE-1, key: old, priority: high}\n"
			client, done := t.s.client(t.T, apiclient.Config{Retries: -1})
			defer done()
			plan, found, err := provider.Plan(t.Context(), client, planner.Input{Workspace: sandbox.Workspace, API: t.s.api, Desired: t.s.load(t.T, text).Objects}, provider.Grace{})
			if err != nil || plan == nil {
				t.Fatal(err, found)
			}
			last := plan.Steps[len(plan.Steps)-1]
			if last.Action != planner.NotPossible || !strings.Contains(last.Reason(), "the service shows no work item NOPE-1") {
				t.Errorf("%s %s: %s", last.Action, last.Address, last.Reason())
			}
		}},
	} {
		t.Run(trap, func(t *testing.T) {
			t.Parallel()
			test.try(attempt{t, newServiceOf(t, test.api, sandboxtest.Options{})})
		})
	}
}

// TestMembersShownByTheServiceCountAsAdded: the answers differ by edition, so each
// is compared with the list of members if there is one.
func TestMembersShownByTheServiceCountAsAdded(t *testing.T) {
	t.Parallel()
	const done, notDone = true, false
	for name, tt := range map[string]struct {
		api       resource.API
		done      bool
		status    int
		answer    string
		in        bool
		recovered bool // the next run adds nothing
	}{
		"members that are in count as added after an empty list":                           {resource.V1, done, 200, `[]`, true, true},
		"members that are not in do not count as added after an empty list":                {resource.V1, notDone, 200, `[]`, false, false},
		"members that are not in do not count as added after a list of others":             {resource.V1, notDone, 200, `[{"id":"` + sandboxtest.WorkItemWeb1 + `"}]`, false, false},
		"members that are in count as added after an object that tells nothing":            {resource.V1, done, 201, `{"id":"` + sandboxtest.WorkItemWeb1 + `"}`, true, true},
		"members that are not in do not count as added after an object that tells nothing": {resource.V1, notDone, 201, `{"id":"` + sandboxtest.WorkItemWeb1 + `"}`, false, false},
		"members that are in count as added after an empty answer":                         {resource.V1, done, 204, ``, true, true},
		"members that are not in do not count as added after an empty answer":              {resource.V1, notDone, 204, ``, false, false},
		"members do not count as added after an empty list if no read can tell":            {resource.Documented, notDone, 200, `[]`, false, false},
		"members count as added after an object if no read can tell":                       {resource.Documented, done, 201, `{"id":"` + sandboxtest.WorkItemWeb1 + `"}`, true, true},
	} {
		for what, w := range writes() {
			if !strings.HasPrefix(what, "add ") || tt.api == resource.Documented && what != "add work items to a cycle" {
				continue
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				s := newServiceOf(t, tt.api, sandboxtest.Options{})
				answer := sandboxtest.Break{Status: tt.status, Body: tt.answer}
				fault := sandboxtest.Fault{Before: answer}
				if tt.done {
					fault = sandboxtest.Fault{After: answer}
				}
				r := s.apply(t, applying{manifest: wholeOf(s.api), fault: always(w, fault)})
				members := 1
				if what == "add work items to a cycle" {
					members = 2
				}
				if tt.in {
					members = 0
				}
				warnings := r.warnings()
				if len(r.failed()) > 0 || len(warnings) != members {
					t.Errorf("%q, %v", r.failed(), warnings)
				}
				for _, d := range warnings {
					if d.Code != "not-taken" || d.Address == "" || d.Position.IsZero() || !strings.Contains(d.Summary, "is not in") {
						t.Errorf("%+v", d)
					}
				}
				again := s.apply(t, applying{manifest: wholeOf(s.api)})
				if (again.writes == 0) != tt.recovered || len(again.failed()) > 0 || len(again.warnings()) > 0 {
					t.Errorf("the next run: %d writes, %q, %v", again.writes, again.failed(), again.warnings())
				}
				s.unchangedBy(t, wholeOf(s.api))
			})
		}
	}
}

// findings returns the findings of a plan.
func (sv *service) findings(t *testing.T, text string) diag.List {
	t.Helper()
	client, done := sv.client(t, apiclient.Config{Retries: -1})
	defer done()
	file := sv.open(t)
	defer func() { _ = file.Close() }() // nothing was written
	plan, findings, err := provider.Plan(t.Context(), client, planner.Input{
		Workspace: sandbox.Workspace, API: sv.api, Desired: sv.load(t, text).Objects, Prior: file.Prior(),
	}, provider.Grace{})
	if err != nil {
		t.Fatal(err)
	}
	if plan == nil {
		return findings
	}
	findings = plan.Notices
	for _, step := range plan.Steps {
		if step.Action == planner.NotPossible {
			findings.Add(diag.Diagnostic{Code: "not-possible", Position: step.Position, Address: string(step.Address), Summary: step.Reason()})
		}
	}
	return findings
}
