package planner_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// made is a record of an object that planform made.
func made(address resource.Address, id string, values ...string) planner.Record {
	r := known(address, id, values...)
	r.CreatedByUs, r.Sources = true, presence()
	return r
}

// presence is where objects stand, unless it matters.
func presence() []string { return []string{"workspace.yaml"} }

func pruning(in *planner.Input) { in.Prune = true }

func TestOrphansThatPlanformCreatedAreDeleted(t *testing.T) {
	t.Parallel()
	a, b, c := uuid(9, 1), uuid(9, 2), uuid(9, 3)
	items := func(s *fakeService) {
		s.given("work_item", web, a, "name=A").given("work_item", web, b, "name=B", "parent="+a).given("work_item", web, c, "name=C")
	}
	linked := func(s *fakeService) { items(s); s.given("link", a, uuid(0xa, 1), "url=https://example.com/a/b") }
	project := func(w *wanted) { w.put("project/web", "id="+web) }
	link := made("link/web/a/https://example.com/a/b", uuid(0xa, 1))
	checkRules(t, map[string]rule{
		"nothing is deleted without --prune, and the plan counts what is left over": {
			api: full, given: items, want: project,
			prior:    []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b), known("work_item/web/c", c)},
			findings: []string{"warning orphaned: 2 objects created by an earlier apply are no longer in the manifest: work_item/web/a, work_item/web/b; to delete them, use --prune"},
		},
		"orphans that planform created are deleted, children before their parents": {
			api: full, given: items, want: project, options: pruning,
			prior: []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent="+a), made("work_item/web/c", c)},
			steps: []string{"delete work_item/web/c", "delete work_item/web/b", "delete work_item/web/a"},
		},
		"an orphan whose project is named nowhere any more is found by its identifier": {
			api: full, given: linked, options: pruning, want: func(*wanted) {},
			prior: []planner.Record{{Address: "work_item/site/c", ID: c, Identifier: "WEB-3", CreatedByUs: true, Sources: presence()}, made("link/site/a/x", uuid(0xa, 1)), known("work_item/site/a", a)},
			steps: []string{"delete link/site/a/x", "delete work_item/site/c"},
			findings: []string{
				"warning not-made: 1 object no longer in the manifest is not deleted, since planform did not create it: work_item/site/a; planform state rm ADDRESS stops tracking one",
			},
		},
		"an orphan is not deleted if nothing tells its project": {
			api: full, given: linked, options: pruning, want: func(*wanted) {},
			prior: []planner.Record{made("work_item/site/c", c)},
			steps: []string{"not_possible work_item/site/c: it would be deleted, but the ID of project/site is not known"},
		},
		"an orphan with the name of a new object is deleted with a warning about its key": {
			api: full, options: pruning,
			given:    func(s *fakeService) { s.given("work_item", web, c, "name=C", "external_source=planform") },
			want:     func(w *wanted) { project(w); w.put("work_item/web/new", "name=C") },
			prior:    []planner.Record{made("work_item/web/c", c, "name=C")},
			steps:    []string{"create work_item/web/new", "delete work_item/web/c"},
			findings: []string{"warning another-key: work_item/web/new is created, and work_item/web/c is deleted; if it was renamed, add `previously: c` to the new entry"},
		},
		"the contents of a deleted item are deleted with it": {
			api: full, given: linked, want: project, options: pruning,
			prior: []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent="+a), link},
			steps: []string{"delete work_item/web/b", "delete work_item/web/a", "delete link/web/a/https://example.com/a/b: with work_item/web/a"},
		},
		"an orphan in an item that stays is deleted by itself": {
			api: full, given: linked, want: func(w *wanted) { project(w); w.put("work_item/web/a", "name=A") }, options: pruning,
			prior: []planner.Record{made("work_item/web/a", a, "name=A"), link},
			steps: []string{"delete link/web/a/https://example.com/a/b"},
		},
		"a link whose URL has a fragment is deleted like any other": {
			api: full, want: func(w *wanted) { project(w); w.put("work_item/web/a", "name=A") }, options: pruning,
			given: func(s *fakeService) {
				s.given("work_item", web, a, "name=A").given("link", a, uuid(0xa, 1), "url=https://example.com/a#b")
			},
			prior: []planner.Record{made("work_item/web/a", a, "name=A"), made("link/web/a/https://example.com/a#b", uuid(0xa, 1))},
			steps: []string{"delete link/web/a/https://example.com/a#b"},
		},
		"an object that planform did not create is not deleted": {
			api: full, given: items, want: project, options: pruning,
			prior:    []planner.Record{known("work_item/web/a", a), made("work_item/web/c", c)},
			steps:    []string{"delete work_item/web/c"},
			findings: []string{"warning not-made: 1 object no longer in the manifest is not deleted, since planform did not create it: work_item/web/a; planform state rm ADDRESS stops tracking one"},
		},
		"a project with an object that planform did not create is not deleted": {
			kept: 1,
			api:  full, given: items, want: func(*wanted) {}, options: pruning,
			prior: []planner.Record{made("project/web", web), known("work_item/web/a", a), made("work_item/web/b", b, "parent="+a)},
			steps: []string{
				"delete work_item/web/b",
				"not_possible project/web: it would be deleted, but planform did not create work_item/web/a in it",
			},
			findings: []string{"warning not-made: 1 object no longer in the manifest is not deleted, since planform did not create it: work_item/web/a; planform state rm ADDRESS stops tracking one"},
		},
		"an item with somebody else's comment stays, and so do the items above it with their contents": {
			kept: 3,
			api:  full, want: project, options: pruning,
			given: func(s *fakeService) {
				linked(s)
				d := uuid(9, 4)
				s.given("work_item", web, d, "name=D", "parent="+b).given("comment", d, uuid(0xb, 1), "comment_html=<p>Mine</p>")
			},
			prior: []planner.Record{
				made("work_item/web/a", a), link, made("work_item/web/b", b, "parent="+a), made("work_item/web/d", uuid(9, 4), "parent="+b),
			},
			steps: []string{
				"not_possible work_item/web/d: it would be deleted, but planform did not create the comment \"Mine\" in it",
				`not_possible work_item/web/b: it would be deleted, but work item "D" below it stays`,
				`not_possible work_item/web/a: it would be deleted, but work item "D" below it stays`,
			},
		},
		"a project is checked down to the contents of its work items before it is deleted": {
			kept: 3,
			api:  full, want: func(*wanted) {}, options: pruning,
			given: func(s *fakeService) {
				linked(s)
				s.given("comment", b, uuid(0xb, 1), "comment_html=<p>Mine</p>")
			},
			prior: []planner.Record{made("project/web", web), made("work_item/web/a", a), link, made("work_item/web/b", b, "parent="+a), made("work_item/web/c", c)},
			steps: []string{
				"delete work_item/web/c",
				"not_possible work_item/web/b: it would be deleted, but planform did not create the comment \"Mine\" in it",
				`not_possible work_item/web/a: it would be deleted, but work item "B" below it stays`,
				"not_possible project/web: it would be deleted, but work_item/web/b in it stays",
			},
		},
		"an item with somebody else's item below it stays": {
			kept: 1,
			api:  full, given: items, want: project, options: pruning,
			prior: []planner.Record{made("work_item/web/a", a)},
			steps: []string{`not_possible work_item/web/a: it would be deleted, but work item "B" below it stays`},
		},
		"an item is deleted after the manifest moves the item below it away": {
			api: full, given: items, options: pruning,
			want:  func(w *wanted) { project(w); w.put("work_item/web/b", "id="+b, "parent!") },
			prior: []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent="+a)},
			steps: []string{"update work_item/web/b parent", "delete work_item/web/a"},
		},
		"an item stays if the parent of the item below it is left to people": {
			api: full, given: items, options: pruning,
			want:  func(w *wanted) { project(w); w.put("work_item/web/b", "id="+b, "parent!", "ignore_changes=parent") },
			prior: []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent="+a)},
			steps: []string{`not_possible work_item/web/a: it would be deleted, but work item "B" below it stays`},
		},
		"an item stays if somebody put another one below it, and changes by people are kept": {
			api: full, given: items, options: func(in *planner.Input) { in.Prune, in.OnDrift = true, planner.Keep },
			want:  func(w *wanted) { project(w); w.put("work_item/web/b", "id="+b, "parent!") },
			prior: []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent=")},
			steps: []string{`not_possible work_item/web/a: it would be deleted, but work item "B" below it stays`},
		},
		"an item stays if an archived one below it cannot be moved away": {
			api: full, options: pruning,
			given:    func(s *fakeService) { items(s); s.find(b).row["archived_at"] = "2026-11-20" },
			want:     func(w *wanted) { project(w); w.put("work_item/web/b", "id="+b, "parent!", "archived=true") },
			prior:    []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent="+a)},
			steps:    []string{"not_possible work_item/web/a: it would be deleted, but work item " + b + " below it stays"},
			findings: []string{"not compared: 1 work item: archived, and no list shows them"},
		},
		"an item stays if the run cannot move the item below it away": {
			api: full, given: func(s *fakeService) { linked(s); s.find(c).row["parent"] = b },
			options: func(in *planner.Input) { in.Prune, in.NoCreate = true, []string{"work_item"} },
			want: func(w *wanted) {
				project(w)
				w.put("work_item/web/new", "name=New").put("work_item/web/c", "id="+c, "parent=@work_item/web/new")
			},
			prior: []planner.Record{made("work_item/web/a", a), link, made("work_item/web/b", b, "parent="+a), made("work_item/web/c", c, "parent="+b)},
			steps: []string{
				"not_possible work_item/web/new: it is not on the service, and --no-create work_item is given",
				"not_possible work_item/web/c: its parent needs work_item/web/new: it is not on the service, and --no-create work_item is given",
				`not_possible work_item/web/b: it would be deleted, but work item "C" below it stays`,
				`not_possible work_item/web/a: it would be deleted, but work item "B" below it stays`,
			},
		},
		"a customer with somebody else's request stays": {
			kept: 1,
			api:  full, want: func(*wanted) {}, options: pruning,
			given: func(s *fakeService) {
				s.given("customer", "", uuid(8, 1), "name=Globex").given("customer_request", uuid(8, 1), uuid(0xb, 1), "title=SSO")
			},
			prior: []planner.Record{made("customer/globex", uuid(8, 1))},
			steps: []string{`not_possible customer/globex: it would be deleted, but planform did not create the customer request "SSO" in it`},
		},
		"a work item with somebody else's link stays": {
			kept: 1,
			api:  full, given: linked, want: project, options: pruning,
			prior: []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent="+a)},
			steps: []string{
				"delete work_item/web/b",
				`not_possible work_item/web/a: it would be deleted, but planform did not create the link "https://example.com/a/b" in it`,
			},
		},
		"a cycle that somebody archived stays": {
			api: full, want: project, options: pruning,
			given:    func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name=S", "archived_at=2026-11-20") },
			prior:    []planner.Record{made("cycle/web/s", uuid(2, 1))},
			findings: []string{"warning archived: cycle/web/s is archived on the service: left alone, with everything in it; restore it to have it deleted; planform state rm ADDRESS stops tracking one"},
		},
		"a work item that somebody archived stays, with its relations and contents": {
			api: full, want: func(w *wanted) { project(w); w.put("work_item/web/b", "id="+b) }, options: pruning,
			given: func(s *fakeService) {
				s.given("work_item", web, a, "name=A", "external_source=planform", "external_id=acme/work_item/web/a", "archived_at=2026-11-20")
				s.given("work_item", web, b, "name=B").given("link", a, uuid(3, 9), "url=https://example.com/a/b")
				s.members["work_item_blocked_by "+b] = []string{a}
			},
			prior: []planner.Record{
				made("work_item/web/a", a), made("work_item/web/b", b), made("link/web/a/b", uuid(3, 9)),
				{Address: "work_item/web/b#blocked_by", Members: []string{a}, Sources: presence()},
				{Address: "work_item/web/a#relates_to", Members: []string{b}, Sources: presence()},
			},
			findings: []string{"warning archived: work_item/web/a is archived on the service: left alone, with everything in it; restore it to have it deleted; planform state rm ADDRESS stops tracking one"},
		},
		"a work item in an archived project stays": {
			api: full, want: project, options: pruning,
			given: func(s *fakeService) { s.find(web).row["archived_at"] = "2026-11-20" },
			prior: []planner.Record{made("work_item/web/a", a)},
			steps: []string{"not_possible work_item/web/a: it would be deleted, but project/web is archived, so its contents cannot be checked"},
		},
		"an orphan that is gone already is only forgotten": {
			api: full, want: project, options: pruning,
			prior: []planner.Record{made("work_item/web/a", a), made("work_item/web/b", b, "parent="+a), link},
		},
		"an object that the manifest has under another key is not deleted": {
			api: full, given: items, options: pruning,
			want:  func(w *wanted) { project(w); w.put("work_item/web/other", "id="+c) },
			prior: []planner.Record{made("work_item/web/c", c)},
		},
		"an object that has two addresses in the state is not deleted": {
			api: full, given: items, want: project, options: pruning,
			prior: []planner.Record{made("work_item/web/c", c), made("work_item/web/d", c)},
		},
		"an orphan that is protected is an error": {
			api: full, given: items, want: project, options: pruning,
			prior: []planner.Record{{Address: "work_item/web/c", ID: c, CreatedByUs: true, Sources: presence(), Protect: true}},
			findings: []string{
				"error protected: work_item/web/c is protected, and no longer in the manifest; add it again; to delete it, apply protect: false first",
			},
		},
		"the documented operations delete nothing": {
			api: documented, given: items, want: project, options: pruning,
			prior: []planner.Record{made("work_item/web/c", c)},
			steps: []string{"not_possible work_item/web/c: it would be deleted, but the documented operations cannot delete a work item: delete it in Plane, then run planform state rm work_item/web/c"},
		},
		"an object that the service cannot delete is reported": {
			api: full, want: func(*wanted) {}, options: pruning,
			given: func(s *fakeService) { s.given("page", "", uuid(0xe, 1), "name=Handbook") },
			prior: []planner.Record{made("page/handbook", uuid(0xe, 1))},
			steps: []string{"not_possible page/handbook: it would be deleted, but API v1 cannot delete a page: delete it in Plane, then run planform state rm page/handbook"},
		},
		"a delete without an outcome is sent again": {
			api: full, given: items, want: project, options: pruning,
			prior: []planner.Record{{Address: "work_item/web/c", ID: c, CreatedByUs: true, Sources: presence(), PendingIntent: &planner.Intent{Action: planner.Delete}}},
			steps: []string{"delete work_item/web/c"},
		},
		"an orphan of an unconfirmed create is deleted if its mark is found, and forgotten if not": {
			api: full, want: project, options: pruning,
			given: func(s *fakeService) {
				s.given("work_item", web, c, "name=D", "external_source=planform", "external_id=acme/work_item/web/d")
			},
			prior: []planner.Record{
				{Address: "work_item/web/d", Sources: presence(), PendingIntent: &planner.Intent{Action: planner.Create, Name: "D"}},
				{Address: "work_item/web/e", Sources: presence(), PendingIntent: &planner.Intent{Action: planner.Create, Name: "E"}},
			},
			steps: []string{"delete work_item/web/d"},
		},
		"an orphan of an unconfirmed create is not deleted if it was protected": {
			api: full, want: project, options: pruning,
			given: func(s *fakeService) {
				s.given("work_item", web, c, "name=D", "external_source=planform", "external_id=acme/work_item/web/d")
			},
			prior:    []planner.Record{{Address: "work_item/web/d", Protect: true, Sources: presence(), PendingIntent: &planner.Intent{Action: planner.Create, Name: "D"}}},
			findings: []string{"error protected: work_item/web/d is protected, and no longer in the manifest; add it again; to delete it, apply protect: false first"},
		},
		"an orphan of an unconfirmed create is deleted with its project": {
			api: full, want: func(*wanted) {}, options: pruning,
			given: func(s *fakeService) {
				s.given("work_item", web, c, "name=D", "external_source=planform", "external_id=acme/work_item/web/d")
			},
			prior: []planner.Record{
				made("project/web", web), {Address: "work_item/web/d", Sources: presence(), PendingIntent: &planner.Intent{Action: planner.Create, Name: "D"}},
			},
			steps: []string{"delete project/web", "delete work_item/web/d: with project/web"},
		},
		"an orphan of an unconfirmed create that no mark can tell is left to be settled": {
			api: full, want: project, options: pruning,
			prior:    []planner.Record{{Address: "customer/d", PendingIntent: &planner.Intent{Action: planner.Create, Name: "D"}}},
			findings: []string{"warning not-made: 1 object no longer in the manifest is not deleted, since planform did not create it: customer/d; planform state rm ADDRESS stops tracking one"},
		},
	})
}

// deletingChanged prunes also what others changed, use, or have something in.
func deletingChanged(in *planner.Input) { in.Prune, in.DeleteChanged = true, true }

func TestPruneKeepsWhatOthersChanged(t *testing.T) {
	t.Parallel()
	a, b, c, label := uuid(9, 1), uuid(9, 2), uuid(9, 3), uuid(0xe, 1)
	project := func(w *wanted) { w.put("project/web", "id="+web) }
	item := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) { s.given("work_item", web, a, fields...) }
	}
	const changed = "not_possible work_item/web/a: it would be deleted, but somebody changed its "
	sent := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	applied := func(r planner.Record) planner.Record { r.AppliedAt = sent.Add(-24 * time.Hour); return r }
	byOther := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) {
			s.me = uuid(0xc, 1)
			s.given("member", "", s.me, "display_name=ada")
			item(append(fields, "updated_by="+uuid(0xc, 2))...)(s)
		}
	}
	openUpdate := func(field string) planner.Record {
		r := applied(made("work_item/web/a", a, "name=A"))
		r.PendingIntent = &planner.Intent{Action: planner.Update, Fields: []string{field}, At: sent}
		return r
	}
	checkRules(t, map[string]rule{
		"an object stays if somebody changed a field of it": {
			api: full, want: project, options: pruning, given: item("name=B", "priority=high"), kept: 1,
			prior: []planner.Record{made("work_item/web/a", a, "name=A", "priority=high")},
			steps: []string{changed + "name since the last apply"},
		},
		"an object is deleted if a field differs and an update of it has no outcome": {
			api: full, want: project, options: pruning, given: item("name=B"),
			prior: []planner.Record{func() planner.Record {
				r := made("work_item/web/a", a, "name=A")
				r.PendingIntent = &planner.Intent{Action: planner.Update}
				return r
			}()},
			steps: []string{"delete work_item/web/a"},
		},
		"an object stays if a field differs that the update without an outcome did not send": {
			api: full, want: project, options: pruning, given: item("name=B"), kept: 1,
			prior: []planner.Record{func() planner.Record {
				r := made("work_item/web/a", a, "name=A")
				r.PendingIntent = &planner.Intent{Action: planner.Update, Fields: []string{"priority"}}
				return r
			}()},
			steps: []string{changed + "name since the last apply"},
		},
		"an object is deleted if its text is new and an update without an outcome sent the text in its other form": {
			api: full, want: project, options: pruning, given: item("name=A", "description_html=<p>New</p>"),
			prior: []planner.Record{openUpdate("description_html")},
			steps: []string{"delete work_item/web/a"},
		},
		"an object is deleted if its activities have one name for a field and the update without an outcome has another": {
			api: resource.V1, want: project, options: pruning,
			given: func(s *fakeService) {
				item("name=A", "description_html=<p></p>")(s)
				s.given("activity", a, uuid(0xa, 1), "field=description")
			},
			prior: []planner.Record{openUpdate("description_html")},
			steps: []string{"delete work_item/web/a"},
		},
		"an object is deleted if another login of planform changed it by an update without an outcome": {
			api: full, want: project, options: pruning,
			given: byOther("name=B", "updated_at=2026-11-20T12:00:30Z"),
			prior: []planner.Record{openUpdate("name")},
			steps: []string{"delete work_item/web/a"},
		},
		"an object is deleted if another login of planform related it by an addition without an outcome": {
			api: full, want: project, options: pruning,
			given: byOther("name=A", "updated_at=2026-11-20T12:00:30Z"),
			prior: []planner.Record{applied(made("work_item/web/a", a, "name=A")), {
				Address: "cycle/web/s#work_items", PendingIntent: &planner.Intent{Action: planner.AddMembers, Name: a, At: sent},
			}},
			steps: []string{"delete work_item/web/a"},
		},
		"an object stays if another user changed it long after the update without an outcome": {
			api: full, want: project, options: pruning, kept: 1,
			given: byOther("name=B", "updated_at=2026-11-20T14:00:00Z"),
			prior: []planner.Record{openUpdate("name")},
			steps: []string{"not_possible work_item/web/a: it would be deleted, but " + uuid(0xc, 2) + " changed it since the last apply (2026-11-20 14:00 UTC)"},
		},
		"an object is deleted if a field differs only in the form that the service shows": {
			api: full, want: project, options: pruning, given: item("name=A"),
			prior: []planner.Record{made("work_item/web/a", a, "name=a", planner.ShownKey("name")+"="+planner.ShownValue("A"))},
			steps: []string{"delete work_item/web/a"},
		},
		"an object is deleted if its text equals what was applied in one of its two forms": {
			api: full, want: project, options: pruning, given: item("name=A", "description_html=<p>New</p>"),
			prior: []planner.Record{made("work_item/web/a", a, "name=A", "description=<p>Old</p>", "description_html=<p>New</p>")},
			steps: []string{"delete work_item/web/a"},
		},
		"an object stays if somebody put a label on it": {
			api: full, want: project, options: pruning, kept: 1,
			given: func(s *fakeService) { s.given("label", web, label, "name=L"); item("name=A", "labels="+label)(s) },
			prior: []planner.Record{made("work_item/web/a", a, "name=A", "labels=")},
			steps: []string{changed + "labels since the last apply"},
		},
		"an object is deleted if one of its several labels was deleted": {
			api: full, want: project, options: pruning,
			given: func(s *fakeService) {
				s.given("label", web, label, "name=L").given("label", web, uuid(5, 8), "name=M")
				item("name=A")(s)
				s.find(a).row["labels"] = []any{label, uuid(5, 8)}
			},
			prior: []planner.Record{made("work_item/web/a", a, "name=A", "labels="+resource.Digest(uuid(5, 7)+","+uuid(5, 8)+","+label))},
			steps: []string{"delete work_item/web/a"},
		},
		"an object is deleted if its only label was deleted": {
			api: full, want: project, options: pruning, given: item("name=A", "labels="),
			prior: []planner.Record{made("work_item/web/a", a, "name=A", "labels="+label)},
			steps: []string{"delete work_item/web/a"},
		},
		"an object is deleted if its type and its estimate point were deleted": {
			api: full, want: project, options: pruning, given: func(s *fakeService) {
				s.given("estimate", web, uuid(7, 1), "name=Points")
				item("name=A", "type=", "estimate_point=")(s)
			},
			prior: []planner.Record{made("work_item/web/a", a, "name=A", "type="+uuid(6, 1), "estimate_point="+uuid(7, 5))},
			steps: []string{"delete work_item/web/a"},
		},
		"an object stays if somebody took an estimate point from it that still exists": {
			api: full, want: project, options: pruning, kept: 1,
			given: func(s *fakeService) {
				s.given("estimate", web, uuid(7, 1), "name=Points").given("estimate_point", uuid(7, 1), uuid(7, 5), "value=5")
				item("name=A", "estimate_point=")(s)
			},
			prior: []planner.Record{made("work_item/web/a", a, "name=A", "estimate_point="+uuid(7, 5))},
			steps: []string{changed + "estimate_point since the last apply"},
		},
		"a project stays if it has a work item that no list shows": {
			api: full, want: func(*wanted) {}, options: pruning, given: item("name=A", "archived_at=2026-11-20"), kept: 1,
			prior: []planner.Record{made("project/web", web)},
			steps: []string{"not_possible project/web: it would be deleted, but 1 work item that no list shows (archived, or a draft) is in it"},
		},
		"a changed object is deleted with everything below it if that is asked for": {
			api: full, want: project, options: deletingChanged,
			given: func(s *fakeService) {
				item("name=B")(s)
				s.given("work_item", web, b, "name=B", "parent="+a).given("work_item", web, c, "name=C", "parent="+b).given("comment", a, uuid(0xb, 1), "comment_html=<p>Mine</p>")
			},
			prior: []planner.Record{made("work_item/web/a", a, "name=A")},
			steps: []string{"delete work_item/web/a"},
		},
		"a changed object stays if the manifest has an item below it, whatever is asked for": {
			api: full, options: deletingChanged,
			want:  func(w *wanted) { project(w); w.put("work_item/web/b", "id="+b, "name=B") },
			given: func(s *fakeService) { item("name=B")(s); s.given("work_item", web, b, "name=B", "parent="+a) },
			prior: []planner.Record{made("work_item/web/a", a, "name=A")},
			steps: []string{`not_possible work_item/web/a: it would be deleted, but work item "B" below it stays`},
		},
		"a state that items have stays, whatever is asked for": {
			api: full, want: project, options: deletingChanged,
			given: func(s *fakeService) {
				s.given("state", web, uuid(0xf, 1), "name=S")
				item("name=A", "state="+uuid(0xf, 1))(s)
			},
			prior: []planner.Record{made("state/web/s", uuid(0xf, 1))},
			steps: []string{`not_possible state/web/s: it would be deleted, but 1 work item refers to it in state: "A"`},
		},
	})
}

// TestManyOrphansStayWithoutALookAtTheirContents: it would take minutes of the quota.
func TestManyOrphansStayWithoutALookAtTheirContents(t *testing.T) {
	t.Parallel()
	const many, each = 61, 4 // links, comments, attachments and relations
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	for i := range many {
		s.given("work_item", web, uuid(9, i), fmt.Sprintf("name=I%d", i)).given("comment", uuid(9, i), uuid(0xa, i), "comment_html=<p>Mine</p>")
		s.in.Prior[resource.Address(fmt.Sprintf("work_item/web/i%d", i))] = made(resource.Address(fmt.Sprintf("work_item/web/i%d", i)), uuid(9, i))
	}
	s.in.Prune = true
	objects := want(t).put("project/web", "id="+web).all()
	plan := s.mustPlan(objects)
	const unread = "it would be deleted, but planform did not check its contents and its use by others: this takes 244 requests (--refresh-all)"
	if plan.Summary.Blocked != many || len(s.reads) > 2 || plan.Steps[0].Reason() != unread || len(plan.Notices) != 1 {
		t.Errorf("%+v, %d reads, %s, %v", plan.Summary, len(s.reads), plan.Steps[0].Reason(), plan.Notices)
	}
	s.in.RefreshAll = true
	if plan = s.mustPlan(objects); plan.Summary.Blocked != many || requests(s.reads) > many*each+4 || !strings.Contains(plan.Steps[0].Reason(), "planform did not create the comment") {
		t.Errorf("thorough: %+v, %d reads, %s", plan.Summary, requests(s.reads), plan.Steps[0].Reason())
	}
	s.in.RefreshAll, s.in.DeleteChanged = false, true
	if plan = s.mustPlan(objects); plan.Summary.Delete != many || !plan.Steps[0].Deletion.Loss.Unread || len(s.reads) > 4 || len(plan.Notices) != 1 || plan.Notices[0].Code != "not-looked-into" {
		t.Errorf("all the same: %+v, %+v, %d reads, %v", plan.Summary, plan.Steps[0].Deletion.Loss, len(s.reads), plan.Notices)
	}
}

// requests counts the requests of reads: one answer tells several relations.
func requests(reads []planner.Read) int {
	paths := map[string]bool{}
	for _, r := range reads {
		paths[r.Path+r.ExternalID] = true
	}
	return len(paths)
}

// TestCreatedByUsSurvivesANewKey covers objects that are found again by their name.
func TestCreatedByUsSurvivesANewKey(t *testing.T) {
	t.Parallel()
	for name, prune := range map[string]bool{"a run that prunes keeps it": true, "a run that does not prune keeps it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB", "name=Website").given("module", web, uuid(0xd, 1), "name=Checkout")
			s.in.Prior["module/web/old"] = made("module/web/old", uuid(0xd, 1), "name=Checkout")
			objects := want(t).put("project/web", "id="+web).put("module/web/new", "name=Checkout").all()
			s.in.Prune = prune
			s.makeAll(objects)
			s.in.Prune = true
			s.makeAll(objects)
			_, old := s.in.Prior["module/web/old"]
			if old || !s.in.Prior["module/web/new"].CreatedByUs || !s.mustPlan(objects).Empty() {
				t.Errorf("%+v", s.in.Prior)
			}
		})
	}
}

func TestOfTwoObjectsWithOneExternalIDTheSameIsAlwaysDeleted(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB")
	for i := range 5 {
		s.given("work_item", web, uuid(9, i+1), "name=A", "external_source=planform", "external_id=acme/work_item/web/a")
	}
	s.in.Prune = true
	s.in.Prior["work_item/web/a"] = planner.Record{Address: "work_item/web/a", Sources: presence(), PendingIntent: &planner.Intent{Action: planner.Create, Name: "A"}}
	objects := want(t).put("project/web", "id="+web).all()
	for range 10 {
		if steps := s.mustPlan(objects).Steps; len(steps) != 1 || steps[0].ID != uuid(9, 1) {
			t.Fatalf("%+v", steps)
		}
	}
}

func TestVanishedOrphansAreForgotten(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("work_item", web, uuid(9, 2), "name=B")
	s.in.Prune, s.in.Targets = true, targets("work_item/web/a")
	s.in.Prior["work_item/web/a"] = made("work_item/web/a", uuid(9, 1))
	related := resource.Address("work_item/web/b#blocked_by")
	s.in.Prior[related] = planner.Record{Address: related, Members: []string{uuid(9, 1), uuid(9, 3)}, Sources: presence()}
	objects := want(t).put("project/web", "id="+web).put("work_item/web/b", "id="+uuid(9, 2)).all()
	plan := s.mustPlan(objects)
	if c := plan.StateChanges; len(c) != 2 || c[0].From != "work_item/web/a" || c[0].To != "" || !slices.Equal(c[1].Record.Members, []string{uuid(9, 3)}) {
		t.Fatalf("%+v", plan.StateChanges)
	}
	s.apply(plan)
	if _, ok := s.in.Prior["work_item/web/a"]; ok || !s.mustPlan(objects).Empty() {
		t.Error("it is still known")
	}
}

// TestAfterPruningThePlanIsEmpty is a property: whatever is taken out of a manifest goes, and nothing else.
func TestAfterPruningThePlanIsEmpty(t *testing.T) {
	t.Parallel()
	eachRandom(t, func(t *testing.T, r *rand.Rand, s *fakeService, documents [][]func(*wanted)) {
		t.Helper()
		if s.in.API == documented {
			return // with them nothing can be deleted
		}
		objects := assemble(t, documents)
		s.makeAll(objects)
		s.in.Prune, s.in.RefreshAll = true, true
		less := thinOut(r, objects)
		s.makeAll(less)
		if plan := s.mustPlan(less); !plan.Empty() {
			t.Fatal(strings.Join(lines(plan), "\n"), plan.StateChanges)
		}
		want := map[string][]string{}
		for _, o := range less {
			for _, v := range o.Values {
				via, ok := resource.MembershipOf(o.Kind.Name, v.Field.Name)
				for i := range v.Refs {
					container, member := o, v.Refs[i].Target
					if ok && via.Membership.On == via.Membership.Member {
						container, member = member, container
					}
					if ok && member != nil && container != nil {
						key := via.Name + " " + cmp.Or(s.in.Prior[container.Address].ID, container.ID)
						want[key] = append(want[key], cmp.Or(s.in.Prior[member.Address].ID, member.ID))
					}
				}
			}
		}
		for key, list := range s.members {
			slices.Sort(list)
			if slices.Sort(want[key]); !slices.Equal(list, want[key]) {
				t.Errorf("%s has %v, not %v", key, list, want[key])
			}
		}
		for _, o := range objects {
			if s.in.Prior[o.Address].ID != "" && s.find(s.in.Prior[o.Address].ID) == nil {
				t.Errorf("%s is known and not there", o.Address)
			}
		}
	})
}

// thinOut takes a quarter of what lives in something out of a manifest, with what lives in that.
func thinOut(r *rand.Rand, objects []*resource.Object) []*resource.Object {
	gone := map[*resource.Object]bool{}
	var less []*resource.Object
	for _, o := range objects {
		gone[o] = gone[o.Parent] || o.Parent != nil && o.ID == "" && r.IntN(4) == 0
		if !gone[o] {
			less = append(less, o)
		}
	}
	for _, o := range less {
		o.Values = slices.DeleteFunc(o.Values, func(v resource.Value) bool { return v.Field.Name == "cycle" && r.IntN(4) == 0 })
		for i := range o.Values {
			v := &o.Values[i]
			v.Links = slices.DeleteFunc(v.Links, func(r resource.Reference) bool { return gone[r.Target] })
			if v.Field.Name == "parent" && gone[v.Refs[0].Target] || v.Field.Name == "cycle" && r.IntN(4) == 0 {
				v.Refs, v.Text, v.Null = nil, "", true
			}
			if v.Field.Name == "projects" && len(v.Refs) > 0 {
				v.Refs = v.Refs[1:]
			}
		}
	}
	return less
}

func TestADeletionSaysWhatPeopleCallTheObject(t *testing.T) {
	t.Parallel()
	const number, title = "WEB-7", "Fix the log-in"
	id := uuid(9, 7)
	shown := func(s *fakeService) { s.given("work_item", web, id, "name="+title, "sequence_id=7") }
	record := made("work_item/web/fix-login", id, "name=As it was applied")
	for name, c := range map[string]struct {
		given        func(*fakeService)
		prior        planner.Record
		number, name string
	}{
		"a deletion names the object as the service shows it":                            {shown, record, number, title},
		"a deletion names the object as the service shows it, even if the state differs": {shown, func() planner.Record { r := record; r.Identifier = "OLD-1"; return r }(), number, title},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB", "name=Website")
			c.given(s)
			s.in.Prior[c.prior.Address], s.in.Prior["project/web"], s.in.Prune = c.prior, known("project/web", web, "identifier=WEB"), true
			w := want(t)
			w.put("project/web", "id="+web)
			plan := s.mustPlan(w.all())
			if len(plan.Steps) != 1 || plan.Steps[0].Identifier != c.number || plan.Steps[0].Title() != c.name {
				t.Errorf("it says %s %q", plan.Steps[0].Identifier, plan.Steps[0].Title())
			}
		})
	}
}

func TestADeletionSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	id := uuid(9, 1)
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("member", "", uuid(0xc, 1), "email=ada@example.com", "display_name=ada")
	s.given("state", web, uuid(0xf, 1), "name=In Progress")
	s.given("work_item", web, id, "name=Mine", "state="+uuid(0xf, 1), "description_html=<p>Call <b>them</b></p><p>"+strings.Repeat("x", 2000)+"</p>", "updated_by="+uuid(0xc, 1), "updated_at=2026-11-20T10:00:00Z")
	s.given("comment", id, uuid(0xb, 1), "comment_html=<p>Mine</p>")
	s.in.Prior["project/web"], s.in.Prior["work_item/web/a"] = known("project/web", web), made("work_item/web/a", id, "name=Ours")
	s.in.Prune, s.in.DeleteChanged = true, true
	plan := s.mustPlan(want(t).put("project/web", "id="+web).all())
	at := slices.IndexFunc(plan.Steps, func(s *planner.Step) bool { return s.Address == "work_item/web/a" })
	if at < 0 || plan.Steps[at].Page != "/acme/projects/"+web+"/issues/"+id {
		t.Fatalf("%q", lines(plan))
	}
	loss := plan.Steps[at].Deletion.Loss
	if text := []rune(loss.Text); len(text) != 1000 || !strings.HasPrefix(loss.Text, "Call them\nxxx") || !strings.HasSuffix(loss.Text, "…") {
		t.Errorf("the text is %q", loss.Text)
	}
	want := []string{"somebody changed its name, description since the last apply (last change by ada, 2026-11-20 10:00 UTC)", `planform did not create the comment "Mine" in it`}
	if !slices.Equal(want, loss.Despite) {
		t.Errorf("it goes despite %q", loss.Despite)
	}
}
