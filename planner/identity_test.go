package planner_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

const full, documented = resource.V1, resource.Documented

// Names of objects in the tables.
var (
	web  = uuid(1, 1) //nolint:gochecknoglobals // a constant
	shop = uuid(1, 2) //nolint:gochecknoglobals // a constant
)

// rule is one rule of planning: what there is, what is wanted, and what comes of it.
type rule struct {
	api      resource.API
	options  func(*planner.Input)
	given    func(*fakeService)
	prior    []planner.Record
	want     func(*wanted)
	steps    []string // a line each, see lines
	findings []string // errors and notices, and what is not compared
	kept     int      // orphans that others changed, use, or given something in: the first of the findings
	reads    []string // paths below the workspace, if they matter
}

// notOffered is the notice about what the documented operations cannot do.
func notOffered(n int) string {
	if n == 1 {
		return "warning not-offered: 1 step not possible with the documented operations; leave it out, or give --api auto; --allow-unsupported accepts it"
	}
	return fmt.Sprintf("warning not-offered: %d steps not possible with the documented operations; leave them out, or give --api auto; --allow-unsupported accepts them", n)
}

// keptForOthers is the notice about orphans that stay for what others did.
func keptForOthers(n int) string {
	if n == 1 {
		return "warning kept-for-others: 1 object no longer in the manifest is not deleted, since others changed it, use it or have something in it; --delete-changed deletes it"
	}
	return fmt.Sprintf("warning kept-for-others: %d objects no longer in the manifest are not deleted, since others changed them, use them or have something in them; --delete-changed deletes them", n)
}

func checkRules(t *testing.T, rules map[string]rule) {
	t.Helper()
	for name, r := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, r.api)
			s.given("project", "", web, "identifier=WEB", "name=Website")
			if r.given != nil {
				r.given(s)
			}
			for _, record := range r.prior {
				s.in.Prior[record.Address] = record
			}
			if r.options != nil {
				r.options(&s.in)
			}
			w := want(t)
			r.want(w)
			plan, found := s.plan(w.all())
			var steps, findings []string
			if plan != nil {
				steps, found = lines(plan), plan.Notices
			}
			for _, d := range found {
				text := d.Severity.String() + " " + d.Code + ": " + d.Summary
				if d.Hint != "" {
					text += "; " + d.Hint
				}
				findings = append(findings, text)
			}
			if plan != nil {
				for _, n := range plan.NotCompared {
					findings = append(findings, "not compared: "+n.What+": "+n.Why)
				}
			}
			if diff := cmp.Diff(r.steps, steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if r.kept > 0 {
				r.findings = append([]string{keptForOthers(r.kept)}, r.findings...)
			}
			if diff := cmp.Diff(r.findings, findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if r.reads == nil {
				return
			}
			reads := []string{}
			for _, read := range s.reads {
				reads = append(reads, strings.TrimPrefix(read.Path, "/api/v1/workspaces/acme/"))
			}
			if diff := cmp.Diff(r.reads, reads); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
		})
	}
}

func known(address resource.Address, id string, values ...string) planner.Record {
	r := planner.Record{Address: address, ID: id, Values: map[string]string{}}
	for _, v := range values {
		name, text, _ := strings.Cut(v, "=")
		switch name {
		case "identifier":
			r.Identifier = text
			continue
		case "origin":
			r.Origin = origin(text)
			continue
		}
		r.Values[name] = text
	}
	return r
}

func TestAnObjectIsFoundByIDStateMarkOrName(t *testing.T) {
	t.Parallel()
	item := func(n int) string { return uuid(9, n) }
	mark := func(a resource.Address) []string {
		return []string{"external_source=planform", "external_id=" + resource.ExternalID(workspace, a)}
	}
	project := func(w *wanted) *wanted { return w.put("project/web", "id="+web) }
	twins := func(s *fakeService) {
		for _, n := range []int{7, 8} {
			s.given("work_item", web, item(n), append(mark("work_item/web/pay"), "sequence_id="+strconv.Itoa(n), "name=Pay")...)
		}
	}
	twin := "not_possible work_item/web/pay: 2 work items carry the mark of work_item/web/pay: WEB-7 (" + item(7) + "), WEB-8 (" + item(8) + "); " +
		"keep WEB-8 (" + item(8) + ") (the state file has it), and delete WEB-7 (" + item(7) + ")"
	checkRules(t, map[string]rule{
		"of two rows with the mark of an object, the object's own row is to be kept, even if another object has the other one": {
			api: full, given: twins,
			prior: []planner.Record{known("work_item/web/pay", item(7), "identifier=WEB-7", "name=Pay")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("work_item/web/copy", "id="+item(8), "name=Pay")
			},
			steps: []string{strings.NewReplacer("keep WEB-8 ("+item(8), "keep WEB-7 ("+item(7), "delete WEB-7 ("+item(7), "delete WEB-8 ("+item(8)).Replace(twin)},
		},
		"an id comes before the state": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, uuid(2, 1), "name=A").given("cycle", web, uuid(2, 2), "name=B")
			},
			prior: []planner.Record{known("cycle/web/a", uuid(2, 1), "name=A")},
			want:  func(w *wanted) { project(w).put("cycle/web/a", "id="+uuid(2, 2), "name=A") },
			steps: []string{"update cycle/web/a name"},
		},
		"an identifier of a project that contradicts the state is an error": {
			api:      full,
			given:    func(s *fakeService) { s.given("project", "", shop, "identifier=SHOP", "name=Shop") },
			prior:    []planner.Record{known("project/web", web, "identifier=WEB")},
			want:     func(w *wanted) { w.put("project/web", "identifier=SHOP", "name=Website") },
			findings: []string{"error other-identifier: project/web is WEB on the service, not SHOP; if an admin changed it, write identifier: WEB; if not, change the service first, or give the new project a key of its own"},
		},
		"an identifier of an item that contradicts the state is an error": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, item(7), "sequence_id=7", "name=Shop").given("work_item", web, item(8), "sequence_id=8", "name=Pay")
			},
			prior: []planner.Record{known("work_item/web/pay", item(8), "identifier=WEB-8", "name=Pay")},
			want:  func(w *wanted) { project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay") },
			findings: []string{"error contradiction: work_item/web/pay is WEB-8 (" + item(8) + ") according to the state file, but the manifest says WEB-7; " +
				"correct or remove the identifier; planform state rm work_item/web/pay removes the entry from the state"},
		},
		"an identifier of an item that contradicts the state is an error even without a refresh": {
			api:     full,
			options: func(in *planner.Input) { in.SkipRefresh = true },
			prior:   []planner.Record{{Address: "work_item/web/pay", ID: item(8), Identifier: "WEB-8"}},
			want:    func(w *wanted) { project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay") },
			findings: []string{"error contradiction: work_item/web/pay is WEB-8 (" + item(8) + ") according to the state file, but the manifest says WEB-7; " +
				"correct or remove the identifier; planform state rm work_item/web/pay removes the entry from the state"},
		},
		"an identifier of an item that planform created under another address is an error": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, item(7), "sequence_id=7", "name=Shop", "external_source=planform", "external_id=acme/work_item/web/shop")
			},
			want: func(w *wanted) { project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay") },
			findings: []string{"error contradiction: the manifest says that work_item/web/pay is WEB-7, but planform created that as work_item/web/shop; " +
				"correct or remove the identifier; to use it nevertheless, write id: " + item(7)},
		},
		"an identifier is an error if planform created another item under this address": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, item(7), "sequence_id=7", "name=Shop")
				s.given("work_item", web, item(8), "sequence_id=8", "name=Pay", "external_source=planform", "external_id=acme/work_item/web/pay")
			},
			want: func(w *wanted) { project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay") },
			findings: []string{"error contradiction: work_item/web/pay is WEB-8 (" + item(8) + ") according to planform's mark on the service, but the manifest says WEB-7; " +
				"correct or remove the identifier; to use it nevertheless, write id: " + item(7)},
		},
		"an archived item is left alone, with everything in it": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, item(7), "sequence_id=7", "name=Pay", "external_source=planform", "external_id=acme/work_item/web/pay", "archived_at=2026-01-01")
			},
			prior: []planner.Record{known("work_item/web/pay", item(7), "identifier=WEB-7", "name=Pay")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay online").put("link/web/pay/a", "url=https://a.example")
			},
			findings: []string{
				"warning archived: work_item/web/pay (WEB-7) is archived on the service: left alone, with everything in it; restore it on the service to have it managed, or remove it from the manifest",
				"not compared: 1 work item: archived or a draft, and left alone",
			},
		},
		"an object that names an archived item is created without the reference": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, item(7), "sequence_id=7", "name=Pay", "external_source=planform", "external_id=acme/work_item/web/pay", "archived_at=2026-01-01")
				s.given("work_item", web, item(8), "sequence_id=8", "name=Card", "parent="+item(7))
			},
			prior: []planner.Record{
				known("work_item/web/pay", item(7), "identifier=WEB-7", "name=Pay"),
				known("work_item/web/card", item(8), "identifier=WEB-8", "name=Card"),
			},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("work_item/web/card", "name=Card", "parent=@work_item/web/pay")
				w.put("work_item/web/cash", "name=Cash", "parent=@work_item/web/pay", "blocked_by=@work_item/web/pay")
			},
			steps: []string{
				"create work_item/web/cash",
				"not_possible work_item/web/cash: work_item/web/pay (or its parent) is archived",
			},
			findings: []string{
				"warning archived: work_item/web/pay (WEB-7) is archived on the service: left alone, with everything in it; restore it on the service to have it managed, or remove it from the manifest",
				"not compared: 1 work item: archived or a draft, and left alone",
			},
		},
		"an identifier that the service does not show blocks only its item and what is in it": {
			api: full,
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay").put("link/web/pay/a", "url=https://a.example")
				w.put("work_item/web/card", "name=Card", "parent=@work_item/web/pay", "blocked_by=@work_item/web/pay").put("link/web/card/b", "url=https://b.example")
			},
			steps: []string{
				"not_possible work_item/web/pay: the service shows no work item WEB-7: it was deleted or archived, is a draft or not yours to read, or the identifier is wrong",
				"create work_item/web/card",
				"not_possible work_item/web/card: work_item/web/pay: the service shows no work item WEB-7: it was deleted or archived, is a draft or not yours to read, or the identifier is wrong",
				"not_possible link/web/pay/a: it belongs to work_item/web/pay: the service shows no work item WEB-7: it was deleted or archived, is a draft or not yours to read, or the identifier is wrong",
				"create link/web/card/b",
			},
		},
		"two items with one mark are reported, with the one to keep": {
			api: full, given: twins, prior: []planner.Record{known("work_item/web/pay", item(8), "identifier=WEB-8", "name=Pay")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("work_item/web/cash", "name=Cash")
			},
			steps: []string{twin, "create work_item/web/cash"},
		},
		"two items with one mark are reported if the manifest has two items that the state knows": {
			api: full,
			given: func(s *fakeService) {
				twins(s)
				s.given("work_item", web, item(9), "sequence_id=9", "name=Cash")
			},
			prior: []planner.Record{
				known("work_item/web/pay", item(8), "identifier=WEB-8", "name=Pay"), known("work_item/web/cash", item(9), "identifier=WEB-9", "name=Cash"),
			},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("work_item/web/cash", "name=Cash")
			},
			steps: []string{twin},
		},
		"two items with one mark are reported for a single known item with --refresh-all": {
			api: full, given: twins, prior: []planner.Record{known("work_item/web/pay", item(8), "identifier=WEB-8", "name=Pay")},
			options: func(in *planner.Input) { in.RefreshAll = true },
			want:    func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") },
			steps:   []string{twin},
		},
		"an identifier that was changed on the service is an error": {
			api:      full,
			prior:    []planner.Record{known("project/web", web, "identifier=OLD")},
			want:     func(w *wanted) { w.put("project/web", "identifier=OLD", "name=Website") },
			findings: []string{"error other-identifier: project/web is WEB on the service, not OLD; if an admin changed it, write identifier: WEB; if not, change the service first, or give the new project a key of its own"},
		},
		"an id and an identifier that contradict each other are an error": {
			api:      full,
			want:     func(w *wanted) { w.put("project/web", "id="+web, "identifier=SHOP", "name=Website") },
			findings: []string{"error contradiction: the project with the ID " + web + " is WEB, not SHOP; keep the id or the identifier, whichever is right"},
		},
		"an id that contradicts the identifier of an item is an error with the documented operations": {
			api:      documented,
			given:    func(s *fakeService) { s.given("work_item", web, item(7), "sequence_id=7", "name=Shop") },
			want:     func(w *wanted) { project(w).put("work_item/web/shop", "id="+item(8), "identifier=WEB-7", "name=Shop") },
			findings: []string{"error contradiction: WEB-7 has the ID " + item(7) + ", not " + item(8) + "; keep the id or the identifier, whichever is right"},
		},
		"the state comes before the mark": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, uuid(2, 1), "name=A").given("cycle", web, uuid(2, 2), append(mark("cycle/web/a"), "name=B")...)
			},
			prior: []planner.Record{known("cycle/web/a", uuid(2, 1))},
			want:  func(w *wanted) { project(w).put("cycle/web/a", "name=A") },
		},
		"the mark comes before the name": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, uuid(2, 1), "name=A").given("cycle", web, uuid(2, 2), append(mark("cycle/web/a"), "name=B")...)
			},
			want:  func(w *wanted) { project(w).put("cycle/web/a", "name=A") },
			steps: []string{"adopt cycle/web/a name: found by its mark"},
		},
		"an object that is found by its name is adopted, whatever white space surrounds the name": {
			api:   full,
			given: func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name= Sprint 14 ") },
			want:  func(w *wanted) { project(w).put("cycle/web/a", "name=Sprint 14") },
			steps: []string{"adopt cycle/web/a: found by its name"},
		},
		"an adopted object is updated in the same step": {
			api:   documented,
			given: func(s *fakeService) { s.given("initiative_label", "", uuid(5, 1), "name=Growth", "color=#000000") },
			want:  func(w *wanted) { w.put("initiative_label/growth", "name=Growth", "color=#22c55e") },
			steps: []string{"adopt initiative_label/growth color: found by its name"},
		},
		"two objects of one name are an error that names both": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, uuid(2, 1), "name=A").given("cycle", web, uuid(2, 2), "name=A")
			},
			want:     func(w *wanted) { project(w).put("cycle/web/a", "name=A") },
			findings: []string{"error ambiguous: the service has 2 cycles that could be cycle/web/a, found by its name: " + uuid(2, 1) + ", " + uuid(2, 2) + "; give the id of the right one"},
		},
		"a row that a list shows twice is one object": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, uuid(2, 1), "name=A").given("cycle", web, uuid(2, 1), "name=A")
			},
			want:  func(w *wanted) { project(w).put("cycle/web/a", "name=A") },
			steps: []string{"adopt cycle/web/a: found by its name"},
		},
		"two objects of the manifest cannot be one on the service": {
			api:   full,
			given: func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name=A") },
			prior: []planner.Record{known("cycle/web/a", uuid(2, 1))},
			want:  func(w *wanted) { project(w).put("cycle/web/a", "name=B").put("cycle/web/b", "name=A") },
			findings: []string{"error ambiguous-match: cycle/web/b and cycle/web/a are the same cycle on the service: " + uuid(2, 1) +
				", found by its name; remove one of them from the manifest, or give each its own id"},
		},
		"a work item is not adopted by its name, and the plan says that there is one": {
			api:      full,
			given:    func(s *fakeService) { s.given("work_item", web, item(1), "sequence_id=1", "name=Pay") },
			want:     func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") },
			steps:    []string{"create work_item/web/pay"},
			findings: []string{"warning same-name: 1 work item will be created although the service already has one with the same name; --adopt-by-name adopts the existing ones instead"},
		},
		"a work item is adopted by its name if that is asked for": {
			api:     full,
			options: func(in *planner.Input) { in.AdoptByName = true },
			given:   func(s *fakeService) { s.given("work_item", web, item(1), "sequence_id=1", "name=Pay") },
			want:    func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") },
			steps:   []string{"adopt work_item/web/pay external_id: found by its name"},
		},
		"a work item that planform created for another key is not taken for a double": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, item(1), append(mark("work_item/web/a"), "name=Pay")...)
			},
			want:  func(w *wanted) { project(w).put("work_item/web/a", "name=Pay").put("work_item/web/b", "name=Pay") },
			steps: []string{"adopt work_item/web/a: found by its mark", "create work_item/web/b"},
		},
		"an item of another project is not taken for one of this project": {
			api: documented,
			given: func(s *fakeService) {
				s.given("project", "", shop, "identifier=SHOP").given("work_item", shop, item(7), "sequence_id=7", "name=Shop")
			},
			want:     func(w *wanted) { project(w).put("work_item/web/shop", "identifier=SHOP-7", "name=Shop") },
			findings: []string{"error elsewhere: work item SHOP-7 is not in project/web; move it there in the manifest"},
		},
		"an identifier that the service does not show blocks its item with the documented operations": {
			api:   documented,
			want:  func(w *wanted) { project(w).put("work_item/web/shop", "identifier=WEB-7", "name=Shop") },
			steps: []string{"not_possible work_item/web/shop: the service shows no work item WEB-7: it was deleted or archived, is a draft or not yours to read, or the identifier is wrong"},
		},
		"an unknown identifier of a project is reported with a similar one": {
			api:      full,
			want:     func(w *wanted) { w.put("project/web", "identifier=WEBS") },
			findings: []string{`error not-found: the service has no project WEBS; did you mean "WEB"?`},
		},
		"a deleted item is created again": {
			api:      documented,
			prior:    []planner.Record{known("work_item/web/pay", item(1), "identifier=WEB-1", "name=Pay")},
			want:     func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") },
			steps:    []string{"create work_item/web/pay"},
			findings: []string{"warning gone: work_item/web/pay was deleted or archived on the service since the last apply and is created again"},
		},
		"an item whose number another item has now is not taken for deleted": {
			api:   documented,
			given: func(s *fakeService) { s.given("work_item", web, item(2), "sequence_id=1", "name=Other") },
			prior: []planner.Record{known("work_item/web/pay", item(1), "identifier=WEB-1", "name=Pay")},
			want:  func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") },
			findings: []string{
				"warning identity-changed: WEB-1 was work_item/web/pay at the last apply, and is a different work item now; work_item/web/pay was not re-read",
				"not compared: 1 work item: the documented operations cannot read them",
			},
		},
		"a link that was deleted and made again by hand is adopted": {
			api: documented,
			given: func(s *fakeService) {
				s.given("work_item", web, item(1), "sequence_id=1", "name=Pay").given("link", item(1), uuid(0xa, 2), "url=https://a.example")
			},
			prior: []planner.Record{known("link/web/pay/a", uuid(0xa, 1), "url=https://a.example")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-1").put("link/web/pay/a", "url=https://a.example")
			},
			steps: []string{"adopt link/web/pay/a: found by its url"},
		},
		"an object that a list leaves out is read by ID before it counts as deleted": {
			api:   full,
			prior: []planner.Record{known("cycle/web/a", uuid(2, 1)), known("cycle/web/b", uuid(2, 2)), known("cycle/web/c", uuid(2, 3))},
			given: func(s *fakeService) {
				s.given("cycle", web, uuid(2, 1), "name=a").given("cycle", web, uuid(2, 2), "name=b").given("cycle", shop, uuid(2, 3), "name=c")
			},
			want: func(w *wanted) {
				project(w).put("cycle/web/a", "name=a").put("cycle/web/b", "name=b").put("cycle/web/c", "name=c")
			},
			reads: []string{"projects/" + web + "/", "projects/" + web + "/cycles/", "projects/" + web + "/cycles/" + uuid(2, 3) + "/"},
		},
		"an id that the service does not show blocks only its object": {
			api:   full,
			want:  func(w *wanted) { project(w).put("cycle/web/a", "id="+uuid(2, 9), "name=A") },
			steps: []string{"not_possible cycle/web/a: the service shows no cycle with the ID " + uuid(2, 9) + ": it was deleted or archived, or the id is wrong"},
		},
		"a list that does not exist is not taken for an empty list": {
			api: documented,
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "id="+item(1)).put("link/web/pay/a", "url=https://a.example")
			},
			steps: []string{"not_possible link/web/pay/a: the service has no work item with the ID " + item(1) + ": its links cannot be listed"},
		},
		"the contents of an archived project are not taken for deleted": {
			api:   full,
			given: func(s *fakeService) { s.find(web).row["archived_at"] = "2026-01-01" },
			prior: []planner.Record{known("work_item/web/pay", item(1))},
			want:  func(w *wanted) { w.put("project/web", "identifier=WEB").put("work_item/web/pay", "name=Pay") },
			findings: []string{
				"warning archived: project/web (WEB) is archived on the service: left alone, with everything in it; restore it on the service to have it managed, or remove it from the manifest",
				"not compared: 1 project: archived or a draft, and left alone",
			},
		},
		"records of another project are not used": {
			api: full,
			given: func(s *fakeService) {
				s.given("project", "", shop, "identifier=SHOP").given("work_item", web, item(1), "name=Pay")
			},
			prior: []planner.Record{known("project/web", web), known("work_item/web/pay", item(1), "identifier=WEB-1", "name=Pay")},
			want:  func(w *wanted) { w.put("project/web", "id="+shop).put("work_item/web/pay", "name=Pay") },
			steps: []string{"create work_item/web/pay"},
		},
		"an unconfirmed create is settled by a look at the service": {
			api: documented,
			given: func(s *fakeService) {
				s.given("work_item", web, item(1), "sequence_id=1").given("link", item(1), uuid(0xa, 1), "url=https://a.example")
			},
			prior: []planner.Record{{Address: "link/web/pay/a", PendingIntent: &planner.Intent{Action: planner.Create}}},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-1").put("link/web/pay/a", "url=https://a.example")
			},
			steps: []string{"adopt link/web/pay/a: found by its url"},
		},
		"an unconfirmed create that no read can settle is not sent again": {
			api:   documented,
			prior: []planner.Record{{Address: "work_item/web/a", PendingIntent: &planner.Intent{Action: planner.Create}}},
			want: func(w *wanted) {
				project(w).put("work_item/web/b", "name=B", "parent=@work_item/web/a").put("work_item/web/a", "name=A")
				w.put("link/web/a/l", "url=https://a.example").put("link/web/b/l", "url=https://a.example").put("work_item/web/c", "name=C", "parent=@work_item/web/b")
			},
			steps: []string{
				"not_possible work_item/web/b: it needs work_item/web/a: " + lostCreate,
				"not_possible work_item/web/a: " + lostCreate,
				"not_possible work_item/web/c: it needs work_item/web/a: " + lostCreate,
				"not_possible link/web/a/l: it belongs to work_item/web/a: " + lostCreate,
				"not_possible link/web/b/l: it needs work_item/web/a: " + lostCreate,
			},
		},
		"an unconfirmed update is settled by a look at the service": {
			api:   full,
			given: func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name=B") },
			prior: []planner.Record{{Address: "cycle/web/a", ID: uuid(2, 1), Values: map[string]string{"name": "A"}, PendingIntent: &planner.Intent{Action: planner.Update}}},
			want:  func(w *wanted) { project(w).put("cycle/web/a", "name=B") },
		},
		"an unconfirmed update that no read can settle is sent again": {
			api:   documented,
			prior: []planner.Record{{Address: "project/web", ID: web, Values: map[string]string{"name": "B"}, PendingIntent: &planner.Intent{Action: planner.Update}}},
			want:  func(w *wanted) { w.put("project/web", "name=B") },
			steps: []string{"update project/web name"},
		},
		"an unsupported kind is reported for each object that needs it": {
			api:   full,
			given: func(s *fakeService) { s.without["cycle"] = true },
			want: func(w *wanted) {
				project(w).put("cycle/web/a", "name=A").put("work_item/web/pay", "name=Pay", "cycle=@cycle/web/a")
			},
			steps: []string{
				"not_possible cycle/web/a: this edition of the service has no cycles",
				"create work_item/web/pay",
				"not_possible cycle/web/a#work_items 1: the cycle cannot be created",
			},
		},
		"the documented operations find no project by its identifier": {
			api:      documented,
			want:     func(w *wanted) { w.put("project/web", "identifier=WEB", "name=Website") },
			findings: []string{"error no-lookup: project WEB cannot be looked up with the documented operations; give its id, or use --api auto"},
		},
		"the documented operations find no cycle by its name": {
			api:      documented,
			want:     func(w *wanted) { project(w).put("cycle/web/a", "name=Sprint") },
			findings: []string{`error no-lookup: cycle "Sprint" can neither be looked up nor created with the documented operations; give its id, or use --api auto`},
		},
		"a kind that API v1 does not offer is not possible, and blocks nothing else": {
			api:      full,
			want:     func(w *wanted) { project(w).put("relation_definition/test", "name=Test") },
			steps:    []string{"not_possible relation_definition/test: API v1 cannot create a relation definition"},
			findings: []string{`warning not-offered: 1 step not possible with API v1; leave it out, or give --api auto; --allow-unsupported accepts it`},
		},
		"a comment that can be neither listed nor created blocks nothing else": {
			api: documented, prior: []planner.Record{known("work_item/web/pay", uuid(9, 1))},
			given: func(s *fakeService) { s.given("work_item", web, uuid(9, 1), "name=Pay") },
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay").put("comment/web/pay/k", "text=Hi")
			},
			steps:    []string{"not_possible comment/web/pay/k: the documented operations cannot create a comment"},
			findings: []string{notOffered(1), "not compared: 1 work item: the documented operations cannot read them"},
		},
	})
}

// cannotSettle is the notice that the project's identifier is not known.
func cannotSettle(objects string) string {
	return "warning cannot-settle: the identifier of the project is not known: if a response is lost, planform cannot find " + objects + " again" +
		"; add the project's identifier beside its id"
}

const lostCreate = "an earlier run may have created it: look on the service, then run planform state resolve work_item/web/a --id ID (or --absent)"

func TestADocumentedPlanReportsWhatItCannotCheck(t *testing.T) {
	t.Parallel()
	cannotTell := func(n, by string) []string {
		return []string{"warning cannot-tell: " + n + " not in the state file will be created: the documented operations cannot find existing ones" +
			"; objects of an earlier apply are then made twice: restore its state file, or give each " + by}
	}
	notice := append(cannotTell("2 work items", "work item its identifier or id"), cannotSettle("2 work items"))
	items := func(w *wanted) {
		w.put("project/web", "id="+web).put("work_item/web/a", "name=A").put("work_item/web/b", "name=B")
	}
	created := []string{"create work_item/web/a", "create work_item/web/b"}
	checkRules(t, map[string]rule{
		"a plan without a state says that items may be duplicated": {api: documented, want: items, steps: created, findings: notice},
		"a state that knows nothing of the project counts as no state": {
			api: documented, want: items, steps: created, findings: notice,
			prior: []planner.Record{known("project/web", web), known("work_item/shop/z", uuid(9, 9))},
		},
		"an item that the state of its project does not know is new": {
			api: documented, want: items, steps: created[1:],
			prior: []planner.Record{known("work_item/web/a", uuid(9, 1), "name=A")},
			findings: []string{
				cannotSettle("1 work item"),
				"not compared: 1 work item: the documented operations cannot read them",
			},
		},
		"the wider API looks for items even without a state": {api: full, want: items, steps: created},
		"a plan without a state says that pages may be duplicated": {
			api: documented, want: func(w *wanted) { w.put("page/handbook", "name=Handbook") }, steps: []string{"create page/handbook"},
			findings: cannotTell("1 page", "page its id"),
		},
		"links and customer requests are found even without a state": {
			api: documented,
			given: func(s *fakeService) {
				s.given("work_item", web, uuid(9, 7), "sequence_id=7").given("link", uuid(9, 7), uuid(0xa, 1), "url=https://a.example")
				s.given("customer", "", uuid(8, 1)).given("customer_request", uuid(8, 1), uuid(0xb, 1), "title=SSO")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/a", "identifier=WEB-7").put("link/web/a/l", "url=https://a.example")
				w.put("customer/globex", "id="+uuid(8, 1)).put("customer_request/globex/sso", "title=SSO")
			},
			steps: []string{"adopt customer_request/globex/sso: found by its title", "adopt link/web/a/l: found by its url"},
		},
	})
}
