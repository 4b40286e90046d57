package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// whole is a manifest that needs every kind of write.
const whole = `
version: 1
workspace: acme
projects:
  - key: web
    id: ` + sandboxtest.ProjectWeb + `
    identifier: WEB
    description: Public site and shop
    cycles: [{key: c, id: ` + sandboxtest.CycleSprint14 + `}]
    work_items:
      - {key: old, id: ` + sandboxtest.WorkItemWeb1 + `, identifier: WEB-1RENAMED}
      - {key: first, name: First}
      - {key: a, name: Item ANAMED, cycle: c, links: [{url: "https://example.com/a"}]}
      - {key: b, name: Item B, cycle: c, links: [{url: "https://example.com/b"}, {url: "https://example.com/c"}]}
initiative_labels: [{key: growth, id: ` + sandboxtest.InitiativeLabelGrowth + `, color: "#15803d"}]
initiatives: [{key: north, id: ` + sandboxtest.InitiativeNorth + `, labels: [growth], projects: [web]}]
teamspaces: [{key: platform, id: ` + sandboxtest.TeamspacePlatform + `, description: Keeps the lights on., projects: [web]}]
customers:
  - key: globex
    id: ` + sandboxtest.CustomerGlobex + `
    requests:
      - {key: export, title: Export, description: Once a month.}
      - {key: dark, id: ` + sandboxtest.RequestDarkMode + `, description: For night shifts and mornings.}
pages: [{key: decisions, name: Decisions, description: Newest first.}]
`

// wholeOf returns the manifest for an API. Only the wider API can rename an item, or link its text to a later one.
func wholeOf(api resource.API) string {
	renamed, named := "", ""
	if api == resource.V1 {
		renamed, named = ", name: Renamed", `, description: "[b](planform:work_item/web/b)"`
	}
	return strings.NewReplacer("RENAMED", renamed, "NAMED", named).Replace(whole)
}

// picture returns the manifest's objects on the service, one in each line, sorted.
func (sv *service) picture() []string {
	names := map[any]string{}
	lines := []string{}
	for _, kind := range []string{"project", "work_item", "cycle", "initiative", "initiative_label", "teamspace"} {
		for _, r := range sv.Rows(kind) {
			names[r["id"]] = fmt.Sprint(r["name"])
		}
	}
	show := func(kind string, fields ...string) {
		for _, r := range sv.Rows(kind) {
			line := []string{kind}
			for _, f := range fields {
				v := fmt.Sprint(r[f])
				if name, ok := names[r[f]]; ok {
					v = name
				}
				line = append(line, f+"="+v)
			}
			lines = append(lines, strings.Join(line, " "))
		}
	}
	show("project", "name", "description")
	show("work_item", "name")
	for _, r := range sv.Rows("work_item") {
		if _, page, linked := strings.Cut(fmt.Sprint(r["description_html"]), "/issues/"); linked {
			id, _, _ := strings.Cut(page, `"`)
			lines = append(lines, fmt.Sprintf("work_item name=%s links to %s", r["name"], names[id]))
		}
	}
	show("link", "issue", "url")
	show("cycle_issue", "cycle", "issue")
	show("initiative_label", "name", "color")
	show("initiative_label_link", "initiative", "label")
	show("initiative_project", "initiative", "project")
	show("teamspace", "name", "description_html")
	show("teamspace_project", "teamspace", "project")
	show("customer_request", "name", "description_html")
	show("page", "name")
	slices.Sort(lines)
	return lines
}

// wantedPicture returns the picture of the whole manifest.
func wantedPicture(api resource.API) []string {
	first, dark, export := "Publish the old price list", "For night shifts and mornings.", "Once a month."
	if api == resource.V1 {
		first, dark, export = "Renamed", "<p>"+dark+"</p>", "<p>"+export+"</p>"
	}
	lines := []string{
		"project name=Website description=Public site and shop", "project name=Operations description=",
		"work_item name=" + first, "work_item name=First", "work_item name=Item A", "work_item name=Item B",
		"link issue=" + first + " url=https://example.com/prices.pdf",
		"link issue=Item A url=https://example.com/a", "link issue=Item B url=https://example.com/b", "link issue=Item B url=https://example.com/c",
		"cycle_issue cycle=Sprint 14 issue=Item A", "cycle_issue cycle=Sprint 14 issue=Item B",
		"initiative_label name=growth color=#15803d", "initiative_label name=risk color=#f97316",
		"initiative_label_link initiative=Grow in the north label=growth",
		"initiative_project initiative=Grow in the north project=Website",
		"teamspace name=Platform description_html=<p>Keeps the lights on.</p>",
		"teamspace_project teamspace=Platform project=Website",
		"customer_request name=Dark mode description_html=" + dark, "customer_request name=Export description_html=" + export,
		"page name=Welcome", "page name=Decisions",
	}
	if api == resource.V1 {
		lines = append(lines, "work_item name=Item A links to Item B")
	}
	slices.Sort(lines)
	return lines
}

// write is a write operation that gets a fault.
type write struct {
	method, path string // as for path.Match, below the workspace
	full         bool   // only the wider API has it
}

func (w write) is(req *http.Request) bool {
	below := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/api/v1/workspaces/acme/"), "/api/v2/workspaces/acme/"), "/")
	ok, err := path.Match(w.path, below)
	return ok && err == nil && req.Method == w.method
}

func writes() map[string]write {
	return map[string]write{
		"create work item":            {"POST", "projects/*/work-items", false},
		"create link":                 {"POST", "projects/*/work-items/*/links", false},
		"create customer request":     {"POST", "customers/*/requests", false},
		"create page":                 {"POST", "pages", false},
		"change project":              {"PATCH", "projects/*", false},
		"change initiative label":     {"PATCH", "initiatives/labels/*", false},
		"change teamspace":            {"PATCH", "teamspaces/*", false},
		"change customer request":     {"PATCH", "customers/*/requests/*", false},
		"change work item":            {"PATCH", "projects/*/work-items/*", true},
		"add work items to a cycle":   {"POST", "projects/*/cycles/*/cycle-issues", false},
		"add projects to initiative":  {"POST", "initiatives/*/projects", false},
		"add labels to an initiative": {"POST", "initiatives/*/labels", false},
		"add projects to a teamspace": {"POST", "teamspaces/*/projects", false},
	}
}

// trouble is the fault of the first such request.
type trouble struct {
	fault   sandboxtest.Fault
	killed  bool // the process dies during it
	short   bool // the client has a short timeout
	stopped bool // the user interrupts the run
}

func troubles() map[string]trouble {
	again := func(after string) sandboxtest.Fault {
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: 429, Header: http.Header{"Retry-After": {after}}}}
	}
	all := map[string]trouble{
		"turned away by the rate limit":              {fault: again("0")},
		"turned away by the rate limit for a second": {fault: again("1")},
		"turned away as busy, with a time to come":   {fault: sandboxtest.Fault{Before: sandboxtest.Break{Status: 503, Header: http.Header{"Retry-After": {"0"}}}}},
		"done, while the user interrupts":            {stopped: true},
		"done, and an answer that is not whole":      {fault: sandboxtest.Fault{After: sandboxtest.Break{Body: `{"half":`}}},
	}
	for name, one := range map[string]struct {
		sandboxtest.Break

		killed, short bool
	}{
		"cut":     {Break: sandboxtest.Break{Cut: true}},
		"500":     {Break: sandboxtest.Break{Status: 500, Body: `{"error":"Something went wrong"}`}},
		"503":     {Break: sandboxtest.Break{Status: 503, Body: `<html>busy</html>`}},
		"stalled": {Break: sandboxtest.Break{Stall: true}, short: true},
		"killed":  {Break: sandboxtest.Break{Stall: true}, killed: true},
	} {
		all["not done, "+name] = trouble{fault: sandboxtest.Fault{Before: one.Break}, killed: one.killed, short: one.short}
		all["done, "+name] = trouble{fault: sandboxtest.Fault{After: one.Break}, killed: one.killed, short: one.short}
	}
	for name, status := range map[string]int{"by the rate limit": 429, "as busy": 503} {
		all["done, and turned away "+name] = trouble{fault: sandboxtest.Fault{After: sandboxtest.Break{Status: status, Header: http.Header{"Retry-After": {"0"}}}}}
	}
	anID := regexp.MustCompile(`"id": ?"[0-9a-f-]{36}"`)
	all["done, with an ID that is none"] = trouble{fault: sandboxtest.Fault{Reword: func(body []byte) []byte {
		return anID.ReplaceAll(body, []byte(`"id":"../../x"`))
	}}}
	return all
}

// unrefused reports whether only the service's refusal of a second object shows that the first one exists.
func (tr trouble) unrefused() bool {
	after := tr.fault.After
	return tr.fault.Late > 0 || after.Status == 429 || after.Status == 503 && after.Header != nil
}

// undetectable reports whether a write is repeated because no read shows that it was carried out: no read shows a page, so the
// service is believed.
func (tr trouble) undetectable(api resource.API, path string) bool {
	return tr.unrefused() && tr.fault.Late == 0 && api == resource.Documented && strings.HasSuffix(strings.TrimSuffix(path, "/"), "pages")
}

// on returns the fault of the first request that matches the write.
func (tr trouble) on(w write) func(*http.Request, run) sandboxtest.Fault {
	var hit atomic.Bool
	return func(req *http.Request, run run) sandboxtest.Fault {
		if !w.is(req) || hit.Swap(true) {
			return sandboxtest.Fault{}
		}
		if tr.killed {
			defer run.kill()
		}
		if tr.stopped {
			defer run.stop()
		}
		return tr.fault
	}
}

// resolve looks up on the service, like a person, the objects for which the plan says that
// no read can show them, runs again, and expects every object exactly once.
func (sv *service) resolve(t *testing.T, last applied) {
	t.Helper()
	reasons := last.reasons()
	for address, reason := range reasons { // items are found by their numbers, but no read shows a page
		if sv.api == resource.V1 || address.Kind() != "page" || !strings.Contains(reason, "planform state resolve "+string(address)) {
			t.Errorf("%s is not possible: %s", address, reason)
		}
	}
	if len(reasons) > 0 {
		sv.neverDoubled(t)
		sv.say(t, reasons)
		if third := sv.apply(t, applying{manifest: wholeOf(sv.api)}); len(third.failed()) > 0 {
			t.Errorf("after a person has said what there is: %q", third.failed())
		}
	}
	if diff := cmp.Diff(wantedPicture(sv.api), sv.picture()); diff != "" {
		t.Errorf("what is there (-want +got):\n%s", diff)
	}
	if end := sv.apply(t, applying{manifest: wholeOf(sv.api)}); end.writes != 0 || !end.plan.Empty() {
		t.Errorf("the last run made %d writes: %q", end.writes, end.failed())
	}
}

// say acts like "planform state resolve".
func (sv *service) say(t *testing.T, reasons map[resource.Address]string) {
	t.Helper()
	names := map[resource.Address]string{"page/decisions": "Decisions", "work_item/web/a": "Item A", "work_item/web/b": "Item B"}
	file := sv.open(t)
	defer func() { _ = file.Close() }() // saved before
	prior := file.Prior()
	for address := range maps.Keys(reasons) {
		record, ok := prior[address]
		if !ok || record.PendingIntent == nil {
			continue // it waits for another step
		}
		rows := slices.DeleteFunc(sv.Rows(address.Kind()), func(r map[string]any) bool { return r["name"] != names[address] })
		if len(rows) == 0 {
			file.Remove(address)
			continue
		}
		record.PendingIntent, record.ID = nil, fmt.Sprint(rows[0]["id"])
		file.Put(record)
	}
	if err := file.Save(); err != nil {
		t.Fatal(err)
	}
}

// neverDoubled fails if an object is not wanted, or exists twice.
func (sv *service) neverDoubled(t *testing.T) {
	t.Helper()
	seen := map[string]int{}
	for _, kind := range []string{"work_item", "page", "customer_request", "link"} {
		for _, r := range sv.Rows(kind) {
			line := fmt.Sprint(kind, " ", r["name"], r["url"])
			if seen[line]++; seen[line] > 1 {
				t.Errorf("there twice: %s", line)
			}
		}
	}
}

// TestATemporaryRefusalIsLookedUpOnlyIfTheOutcomeIsInDoubt: a service whose own words say that it did nothing is asked again at once,
// and so is one that refuses a second object.
func TestATemporaryRefusalIsLookedUpOnlyIfTheOutcomeIsInDoubt(t *testing.T) {
	t.Parallel()
	foreign := sandboxtest.Break{Status: 429, Header: http.Header{"Retry-After": {"1"}}, Body: "<html>Too many requests</html>"}
	own := foreign
	own.Body = `{"error_code":5900,"error_message":"RATE_LIMIT_EXCEEDED"}`
	busy := sandboxtest.Break{Status: 503, Header: http.Header{"Retry-After": {"1"}}}
	item, link, request := write{"POST", "projects/*/work-items", false}, write{"POST", "projects/*/work-items/*/links", false}, write{"POST", "customers/*/requests", false}
	bulk := write{"POST", "projects/*/work-items/bulk-create", false}
	for name, tt := range map[string]struct {
		api     resource.API
		w       write
		fault   sandboxtest.Fault
		sent    int // requests of this kind
		looks   int // reads besides those without the fault, which reads what each batch stored
		repeats bool
	}{
		"a refused batch is sent again after a look":                                                 {resource.V2, bulk, before(foreign), 2, 1, true},
		"a batch that is refused in the service's own words is sent again after a look":              {resource.V2, bulk, before(own), 2, 1, true},
		"a batch that is refused as busy is sent again after a look":                                 {resource.V2, bulk, before(busy), 2, 1, true},
		"a refused batch that was done is found by a look":                                           {resource.V2, bulk, after(foreign), 1, 0, false},
		"a batch that is refused as busy and was done is found by a look":                            {resource.V2, bulk, after(busy), 1, 0, false},
		"a refused item is sent again without a look":                                                {resource.V1, item, before(foreign), 4, 0, true},
		"a refused item that was done is found when the second is refused":                           {resource.V1, item, after(foreign), 4, 1, false}, // the refusal of the second
		"a refused link is sent again without a look":                                                {resource.V1, link, before(busy), 4, 0, true},
		"a refused link that was done is found when the second is refused":                           {resource.Documented, link, after(busy), 4, 1, false},
		"a refused customer request is sent again after a look":                                      {resource.V1, request, before(foreign), 2, 1, true},
		"a customer request that is refused in the service's own words is sent again without a look": {resource.V1, request, before(own), 2, 0, true},
		"a refused customer request that was done is found by a look":                                {resource.V1, request, after(foreign), 1, 1, false},
		"a numbered item that is refused in the service's own words is sent again without a look":    {resource.Documented, item, before(own), 4, 0, true},
		"a refused item that was done is found by its number":                                        {resource.Documented, item, after(foreign), 3, 12, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reads := func(fault sandboxtest.Fault) (r applied, looks, sent int) {
					s := newVirtual(t, tt.api, sandboxtest.UniqueAlways)
					hit := trouble{fault: fault}.on(tt.w)
					r = s.apply(t, applying{manifest: wholeOf(tt.api), workers: 1, retries: 2, fault: func(req *http.Request, run run) sandboxtest.Fault {
						if req.Method == http.MethodGet {
							looks++
						}
						if tt.w.is(req) {
							sent++
						}
						return hit(req, run)
					}})
					s.neverDoubled(t)
					if failed := r.failed(); len(failed) > 0 {
						t.Error(failed)
					}
					return r, looks, sent
				}
				_, usual, _ := reads(sandboxtest.Fault{})
				r, looks, sent := reads(tt.fault)
				if looks-usual != tt.looks || sent != tt.sent {
					t.Errorf("%d looks and sent %d times; want %d and %d", looks-usual, sent, tt.looks, tt.sent)
				}
				recovered := 0
				for _, step := range r.Steps {
					if step.Outcome.RecoveredByLookup {
						recovered++
					}
					if step.Step.Action == planner.Create && !step.Outcome.CreatedByUs {
						t.Errorf("%s counts as another's", step.Step.Address)
					}
				}
				if (recovered == 0) != tt.repeats {
					t.Errorf("%d recovered", recovered)
				}
			})
		})
	}
}
