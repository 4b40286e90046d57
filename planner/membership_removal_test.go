package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func TestMembersThatTheManifestDropsAreRemoved(t *testing.T) {
	t.Parallel()
	s1, s2, pay, ship := uuid(2, 1), uuid(2, 2), uuid(9, 1), uuid(9, 2)
	ada, bob := uuid(0xc, 1), uuid(0xc, 2)
	m1, m2, quarter := uuid(0xd, 1), uuid(0xd, 2), uuid(6, 1)
	given := func(s *fakeService) {
		s.given("cycle", web, s1, "name=One").given("cycle", web, s2, "name=Two").given("module", web, m1, "name=Front").given("module", web, m2, "name=Back")
		s.given("work_item", web, pay, "name=Pay").given("work_item", web, ship, "name=Ship").given("initiative", "", quarter, "name=Q1").given("project", "", shop, "identifier=SHOP")
		s.members["cycle_work_item "+s1] = []string{pay, ship}
		s.members["module_work_item "+m1] = []string{pay}
		s.members["initiative_project "+quarter] = []string{web, shop}
	}
	roster := func(address resource.Address, members ...string) planner.Record {
		return planner.Record{Address: address, Members: members, Sources: presence()}
	}
	split := func(fields string) []string {
		return slices.DeleteFunc(strings.Split(fields, "|"), func(f string) bool { return f == "" })
	}
	wants := func(fields string, more ...func(*wanted)) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("cycle/web/s1", "id="+s1).put("cycle/web/s2", "id="+s2).put("module/web/m1", "id="+m1).put("module/web/m2", "id="+m2)
			w.put("work_item/web/pay", append([]string{"id=" + pay}, split(fields)...)...)
			for _, f := range more {
				f(w)
			}
		}
	}
	initiative := func(fields string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("initiative/q1", append([]string{"id=" + quarter}, split(fields)...)...)
		}
	}
	checkRules(t, map[string]rule{
		"a member that the manifest no longer names stays without --prune": {
			api: full, given: given, want: wants(""), prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			findings: []string{"warning orphaned: 1 membership created by an earlier apply is no longer in the manifest; to delete it, use --prune"},
		},
		"an archived member is not left over, nor are members of an archived item": {
			api: full,
			given: func(s *fakeService) {
				given(s)
				s.given("work_item", web, uuid(9, 3), "sequence_id=3", "name=Cash", "external_source=planform", "external_id=acme/work_item/web/cash", "archived_at=2026-01-01")
			},
			prior: []planner.Record{
				{Address: "work_item/web/cash", ID: uuid(9, 3), Identifier: "WEB-3", Sources: presence()},
				roster("work_item/web/cash#blocked_by", ship), roster("work_item/web/pay#relates_to", uuid(9, 3)),
			},
			want: wants("", func(w *wanted) { w.put("work_item/web/cash", "name=Cash") }),
			findings: []string{
				"warning archived: work_item/web/cash (WEB-3) is archived on the service: left alone, with everything in it; restore it on the service to have it managed, or remove it from the manifest",
				"not compared: 1 work item: archived or a draft, and left alone",
			},
		},
		"dropped memberships are counted, except those that end with an orphan": {
			api: full, given: given, want: wants(""), prior: []planner.Record{
				made("work_item/web/ship", ship), made("cycle/web/s9", uuid(2, 9)), roster("cycle/web/s9#work_items", pay), roster("module/web/m1#work_items", pay, ship), roster("module/web/Back#work_items", pay),
			},
			findings: []string{"warning orphaned: 2 objects and 2 memberships created by an earlier apply are no longer in the manifest: cycle/web/s9, work_item/web/ship; to delete them, use --prune"},
		},
		"a membership that another manifest may want is not left over": {
			api: full, given: given, want: wants(""), options: besides("a.yaml"),
			prior: []planner.Record{in(roster("cycle/web/s1#work_items", pay), "a.yaml")},
		},
		"a member that the manifest no longer names is removed with --prune": {
			api: full, given: given, want: wants(""), options: pruning, prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps: []string{"remove_members cycle/web/s1#work_items 1"},
		},
		"a member that planform did not add stays even with --prune": {
			api: full, given: given, want: wants(""), options: pruning,
		},
		"an item that is to be in no cycle is removed from it, whoever added it": {
			api: full, given: given, want: wants("cycle!", func(w *wanted) { w.put("work_item/web/ship", "id="+ship, "cycle=@cycle/web/s1") }),
			steps: []string{"remove_members cycle/web/s1#work_items 1"},
		},
		"an item that is to be in none is removed from a container outside the manifest, whoever added it": {
			api: full, want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "id="+pay, "cycle!", "module!")
			}, given: given,
			steps: []string{"remove_members cycle/web/One#work_items 1", "remove_members module/web/Front#work_items 1"},
		},
		"an item that is to be in no milestone is removed from it": {
			api: resource.V2, want: func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/pay", "id="+pay, "milestone!") },
			given: func(s *fakeService) {
				given(s)
				s.given("milestone", web, uuid(0xb, 1), "title=Beta").given("milestone", web, uuid(0xb, 2), "title=Beta")
				s.members["milestone_work_item "+uuid(0xb, 2)] = []string{pay}
			},
			steps: []string{"remove_members milestone/web/" + uuid(0xb, 2) + "#work_items 1"},
		},
		"an item that is to be in no cycle is removed from the one that somebody moved it to": {
			api: full, given: func(s *fakeService) {
				given(s)
				s.members["cycle_work_item "+s1], s.members["cycle_work_item "+s2] = nil, []string{pay}
			},
			want: wants("cycle!"), prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps: []string{"remove_members cycle/web/s2#work_items 1"},
		},
		"an item stays in its cycle, with a notice, if many containers would have to be read": {
			api: full, want: wants("cycle!"),
			given: func(s *fakeService) {
				given(s)
				for i := range 60 {
					s.given("cycle", web, uuid(2, 100+i), "name=C")
				}
			},
			findings: []string{"not compared: cycle of 1 work item: reading them takes more than 60 requests"},
		},
		"an item that is to be in no cycle stays without a refresh": {
			api: full, want: wants("cycle!"), given: given, options: func(in *planner.Input) { in.SkipRefresh = true },
			findings: []string{"not compared: cycle of 1 work item: --no-refresh trusts the state file"},
		},
		"each member is removed by a request of its own if the service requires that": {
			api: full, given: given, want: wants(""), options: pruning, prior: []planner.Record{roster("cycle/web/s1#work_items", pay, ship)},
			steps: []string{"remove_members cycle/web/s1#work_items 1", "remove_members cycle/web/s1#work_items.2 1"},
		},
		"an item that enters another cycle leaves the former one without a request": {
			api: full, given: given, want: wants("cycle=@cycle/web/s2"), options: pruning, prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps: []string{"add_members cycle/web/s2#work_items 1"},
		},
		"an item that enters another module leaves the former one by a request, even without --prune": {
			api: full, given: given, want: wants("module=@module/web/m2"), prior: []planner.Record{roster("module/web/m1#work_items", pay)},
			steps: []string{"add_members module/web/m2#work_items 1", "remove_members module/web/m1#work_items 1"},
		},
		"an item that enters another module stays in the one that somebody else put it into": {
			api: full, given: given, want: wants("module=@module/web/m2"), prior: []planner.Record{roster("module/web/m1#work_items", ship)},
			steps:    []string{"add_members module/web/m2#work_items 1"},
			findings: []string{"warning orphaned: 1 membership created by an earlier apply is no longer in the manifest; to delete it, use --prune"},
		},
		"a cycle outside the manifest is found by its name": {
			api: full, given: given, options: pruning, prior: []planner.Record{roster("cycle/web/One#work_items", pay)},
			want:  func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/pay", "id="+pay) },
			steps: []string{"remove_members cycle/web/One#work_items 1"},
		},
		"a member that vanished and is created again is added again": {
			api: full, want: wants("", func(w *wanted) { w.put("work_item/web/new", "name=New", "cycle=@cycle/web/s1") }), given: given,
			prior:    []planner.Record{made("work_item/web/new", uuid(9, 77), "name=New"), roster("cycle/web/s1#work_items", uuid(9, 77))},
			steps:    []string{"create work_item/web/new", "add_members cycle/web/s1#work_items 1"},
			findings: []string{"warning gone: work_item/web/new was deleted or archived on the service since the last apply and is created again"},
		},
		"a container that vanished and is created again gets its members again": {
			api: full, given: given, prior: []planner.Record{made("cycle/web/gone", uuid(2, 77), "name=Gone"), {Address: "cycle/web/gone#work_items", ID: uuid(2, 77), Members: []string{pay}, Sources: presence()}},
			want:     wants("cycle=@cycle/web/gone", func(w *wanted) { w.put("cycle/web/gone", "name=Gone") }),
			steps:    []string{"create cycle/web/gone", "add_members cycle/web/gone#work_items 1"},
			findings: []string{"warning gone: cycle/web/gone was deleted or archived on the service since the last apply and is created again"},
		},
		"the credential's own user is not removed": {
			api: full, options: pruning, prior: []planner.Record{roster("project/web#members", ada, bob)},
			given: func(s *fakeService) {
				s.given("member", "", ada, "email=ada@example.com").given("member", "", bob, "email=bob@example.com")
				s.members["project_member "+web], s.me = []string{ada, bob}, ada
			},
			want:     func(w *wanted) { w.put("project/web", "id="+web) },
			steps:    []string{"remove_members project/web#members 1"},
			findings: []string{"warning own-user: the credential's own user stays in project/web: planform does not remove it; add `me` to its members, or leave it in the web app"},
		},
		"a member is not removed if the edition cannot remove members": {
			api: full, options: pruning, prior: []planner.Record{roster("project/web#members", bob)},
			given: func(s *fakeService) {
				s.given("member", "", bob, "email=bob@example.com")
				s.members["project_member "+web], s.without["remove project_member"] = []string{bob}, true
			},
			want:  func(w *wanted) { w.put("project/web", "id="+web) },
			steps: []string{"not_possible project/web#members 1: this edition of the service has no way to remove members of a project (do that in the web app; planform state rm ADDRESS forgets them)"},
		},
		"an empty list removes the members that planform added": {
			api: full, given: given, want: initiative("projects!"), prior: []planner.Record{roster("initiative/q1#projects", shop)},
			steps: []string{"remove_members initiative/q1#projects 1"},
		},
		"a list that shrank removes nobody without --prune": {
			api: full, given: given, want: initiative("projects=@project/web"), prior: []planner.Record{roster("initiative/q1#projects", web, shop)},
			findings: []string{"warning orphaned: 1 membership created by an earlier apply is no longer in the manifest; to delete it, use --prune"},
		},
		"several members of an initiative are removed in one request": {
			api: full, given: given, want: initiative("name=Q1"), options: pruning, prior: []planner.Record{roster("initiative/q1#projects", web, shop)},
			steps: []string{"remove_members initiative/q1#projects 2"},
		},
		"a member that left already is only forgotten": {
			api: full, given: given, want: wants(""), options: pruning, prior: []planner.Record{roster("cycle/web/s2#work_items", pay)},
		},
		"a member that is deleted needs no removal": {
			api: full, given: given, options: pruning, prior: []planner.Record{made("work_item/web/ship", ship), roster("cycle/web/s1#work_items", ship)},
			want: wants(""), steps: []string{"delete work_item/web/ship"},
		},
		"the members of deleted containers are not read": {
			api: full, given: given, options: pruning, want: func(*wanted) {}, reads: []string{"projects/", "projects/" + uuid(1, 9) + "/"},
			prior: []planner.Record{
				made("project/new", uuid(1, 9)), made("cycle/new/s1", uuid(2, 9)), made("work_item/new/a", uuid(9, 9)), roster("cycle/new/s1#work_items", uuid(9, 9), uuid(9, 8)),
			},
		},
		"the documented operations remove no member": {
			api: documented, given: given, want: wants("cycle!"), prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps:    []string{"not_possible cycle/web/s1#work_items 1: the documented operations cannot remove work items from a cycle"},
			findings: []string{notOffered(1), "not compared: cycle of 1 work item: the documented operations cannot read it"},
		},
		"only a targeted member is removed": {
			api: full, given: given, prior: []planner.Record{made("work_item/web/ship", ship), roster("cycle/web/s1#work_items", pay, ship)},
			want: wants(""), steps: []string{"remove_members cycle/web/s1#work_items 1"},
			options: func(in *planner.Input) { in.Prune, in.Targets = true, targets("work_item/web/pay") },
		},
	})
}

// TestARelationDeclaredByTheOtherSideStays covers what is said from both sides.
func TestARelationDeclaredByTheOtherSideStays(t *testing.T) {
	t.Parallel()
	a, b := uuid(9, 1), uuid(9, 2)
	rel := planner.Record{Address: "work_item/web/a#blocking", Members: []string{b}, Sources: presence()}
	given := func(s *fakeService) {
		s.given("work_item", web, a, "name=A").given("work_item", web, b, "name=B")
		s.members["work_item_blocking "+a], s.members["work_item_blocked_by "+b] = []string{b}, []string{a}
	}
	wants := func(fields ...string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("work_item/web/a", "id="+a).put("work_item/web/b", append(fields, "id="+b)...)
		}
	}
	checkRules(t, map[string]rule{
		"a relation stays if the other item declares it": {api: full, given: given, prior: []planner.Record{rel}, options: pruning, want: wants("blocked_by=@work_item/web/a")},
		"a relation that no item declares is removed":    {api: full, given: given, prior: []planner.Record{rel}, options: pruning, want: wants(), steps: []string{"remove_members work_item/web/a#blocking 1"}},
	})
}
