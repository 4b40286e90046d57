package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/resource"
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
		"nobody leaves only because the manifest says nothing": {
			api: full, given: given, want: wants(""), prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			findings: []string{"warning orphaned: 1 membership created by an earlier apply is no longer in the manifest; to delete it, use --prune"},
		},
		"an archived member is not left over, nor are members of what is archived": {
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
		"dropped memberships are counted, but not those that end with an orphan": {
			api: full, given: given, want: wants(""), prior: []planner.Record{
				made("work_item/web/ship", ship), made("cycle/web/s9", uuid(2, 9)), roster("cycle/web/s9#work_items", pay), roster("module/web/m1#work_items", pay, ship), roster("module/web/Back#work_items", pay),
			},
			findings: []string{"warning orphaned: 2 objects and 2 memberships created by an earlier apply are no longer in the manifest: cycle/web/s9, work_item/web/ship; to delete them, use --prune"},
		},
		"nor what another manifest may want": {
			api: full, given: given, want: wants(""), options: besides("a.yaml"),
			prior: []planner.Record{in(roster("cycle/web/s1#work_items", pay), "a.yaml")},
		},
		"unless it is to be pruned": {
			api: full, given: given, want: wants(""), options: pruning, prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps: []string{"remove_members cycle/web/s1#work_items 1"},
		},
		"whom planform did not add stays then too": {
			api: full, given: given, want: wants(""), options: pruning,
		},
		"who is said to be in none leaves, whoever added it": {
			api: full, given: given, want: wants("cycle!", func(w *wanted) { w.put("work_item/web/ship", "id="+ship, "cycle=@cycle/web/s1") }),
			steps: []string{"remove_members cycle/web/s1#work_items 1"},
		},
		"also out of one that the manifest does not have, whoever added it": {
			api: full, want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "id="+pay, "cycle!", "module!")
			}, given: given,
			steps: []string{"remove_members cycle/web/One#work_items 1", "remove_members module/web/Front#work_items 1"},
		},
		"and out of a milestone": {
			api: resource.V2, want: func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/pay", "id="+pay, "milestone!") },
			given: func(s *fakeService) {
				given(s)
				s.given("milestone", web, uuid(0xb, 1), "title=Beta").given("milestone", web, uuid(0xb, 2), "title=Beta")
				s.members["milestone_work_item "+uuid(0xb, 2)] = []string{pay}
			},
			steps: []string{"remove_members milestone/web/" + uuid(0xb, 2) + "#work_items 1"},
		},
		"out of the one that somebody moved it to": {
			api: full, given: func(s *fakeService) {
				given(s)
				s.members["cycle_work_item "+s1], s.members["cycle_work_item "+s2] = nil, []string{pay}
			},
			want: wants("cycle!"), prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps: []string{"remove_members cycle/web/s2#work_items 1"},
		},
		"not where many containers would have to be read, which is said": {
			api: full, want: wants("cycle!"),
			given: func(s *fakeService) {
				given(s)
				for i := range 60 {
					s.given("cycle", web, uuid(2, 100+i), "name=C")
				}
			},
			findings: []string{"not compared: cycle of 1 work item: reading them takes more than 60 requests"},
		},
		"nor without a refresh": {
			api: full, want: wants("cycle!"), given: given, options: func(in *planner.Input) { in.SkipRefresh = true },
			findings: []string{"not compared: cycle of 1 work item: --no-refresh trusts the state file"},
		},
		"each leaves by a request of its own where the service wants that": {
			api: full, given: given, want: wants(""), options: pruning, prior: []planner.Record{roster("cycle/web/s1#work_items", pay, ship)},
			steps: []string{"remove_members cycle/web/s1#work_items 1", "remove_members cycle/web/s1#work_items.2 1"},
		},
		"who enters another cycle leaves the former by that": {
			api: full, given: given, want: wants("cycle=@cycle/web/s2"), options: pruning, prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps: []string{"add_members cycle/web/s2#work_items 1"},
		},
		"a module it leaves by a request, which needs no pruning": {
			api: full, given: given, want: wants("module=@module/web/m2"), prior: []planner.Record{roster("module/web/m1#work_items", pay)},
			steps: []string{"add_members module/web/m2#work_items 1", "remove_members module/web/m1#work_items 1"},
		},
		"unless somebody else put it there": {
			api: full, given: given, want: wants("module=@module/web/m2"), prior: []planner.Record{roster("module/web/m1#work_items", ship)},
			steps:    []string{"add_members module/web/m2#work_items 1"},
			findings: []string{"warning orphaned: 1 membership created by an earlier apply is no longer in the manifest; to delete it, use --prune"},
		},
		"a cycle that the manifest only names is found by its name": {
			api: full, given: given, options: pruning, prior: []planner.Record{roster("cycle/web/One#work_items", pay)},
			want:  func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/pay", "id="+pay) },
			steps: []string{"remove_members cycle/web/One#work_items 1"},
		},
		"what is not there any more left no membership": {
			api: full, want: wants("", func(w *wanted) { w.put("work_item/web/new", "name=New", "cycle=@cycle/web/s1") }), given: given,
			prior:    []planner.Record{made("work_item/web/new", uuid(9, 77), "name=New"), roster("cycle/web/s1#work_items", uuid(9, 77))},
			steps:    []string{"create work_item/web/new", "add_members cycle/web/s1#work_items 1"},
			findings: []string{"warning gone: work_item/web/new was deleted or archived on the service since the last apply and is created again"},
		},
		"nor did a container that vanished": {
			api: full, given: given, prior: []planner.Record{made("cycle/web/gone", uuid(2, 77), "name=Gone"), {Address: "cycle/web/gone#work_items", ID: uuid(2, 77), Members: []string{pay}, Sources: presence()}},
			want:     wants("cycle=@cycle/web/gone", func(w *wanted) { w.put("cycle/web/gone", "name=Gone") }),
			steps:    []string{"create cycle/web/gone", "add_members cycle/web/gone#work_items 1"},
			findings: []string{"warning gone: cycle/web/gone was deleted or archived on the service since the last apply and is created again"},
		},
		"the credential's own user stays": {
			api: full, options: pruning, prior: []planner.Record{roster("project/web#members", ada, bob)},
			given: func(s *fakeService) {
				s.given("member", "", ada, "email=ada@example.com").given("member", "", bob, "email=bob@example.com")
				s.members["project_member "+web], s.me = []string{ada, bob}, ada
			},
			want:     func(w *wanted) { w.put("project/web", "id="+web) },
			steps:    []string{"remove_members project/web#members 1"},
			findings: []string{"warning own-user: the credential's own user stays in project/web: planform does not remove it; add `me` to its members, or leave it in the web app"},
		},
		"nobody leaves where the service does not find who leaves by what its list shows": {
			api: full, options: pruning, prior: []planner.Record{roster("project/web#members", bob)},
			given: func(s *fakeService) {
				s.given("member", "", bob, "email=bob@example.com")
				s.members["project_member "+web], s.without["remove project_member"] = []string{bob}, true
			},
			want:  func(w *wanted) { w.put("project/web", "id="+web) },
			steps: []string{"not_possible project/web#members 1: this edition of the service has no way to remove members of a project (do that in the web app; planform state rm ADDRESS forgets them)"},
		},
		"an empty list takes out what planform added": {
			api: full, given: given, want: initiative("projects!"), prior: []planner.Record{roster("initiative/q1#projects", shop)},
			steps: []string{"remove_members initiative/q1#projects 1"},
		},
		"a list that shrank only with pruning": {
			api: full, given: given, want: initiative("projects=@project/web"), prior: []planner.Record{roster("initiative/q1#projects", web, shop)},
			findings: []string{"warning orphaned: 1 membership created by an earlier apply is no longer in the manifest; to delete it, use --prune"},
		},
		"and then all in one request": {
			api: full, given: given, want: initiative("name=Q1"), options: pruning, prior: []planner.Record{roster("initiative/q1#projects", web, shop)},
			steps: []string{"remove_members initiative/q1#projects 2"},
		},
		"who left already is only forgotten": {
			api: full, given: given, want: wants(""), options: pruning, prior: []planner.Record{roster("cycle/web/s2#work_items", pay)},
		},
		"who is deleted leaves by that": {
			api: full, given: given, options: pruning, prior: []planner.Record{made("work_item/web/ship", ship), roster("cycle/web/s1#work_items", ship)},
			want: wants(""), steps: []string{"delete work_item/web/ship"},
		},
		"the members of deleted containers are not read": {
			api: full, given: given, options: pruning, want: func(*wanted) {}, reads: []string{"projects/" + uuid(1, 9) + "/"},
			prior: []planner.Record{
				made("project/new", uuid(1, 9)), made("cycle/new/s1", uuid(2, 9)), made("work_item/new/a", uuid(9, 9)), roster("cycle/new/s1#work_items", uuid(9, 9), uuid(9, 8)),
			},
		},
		"the documented operations take nobody out": {
			api: documented, given: given, want: wants("cycle!"), prior: []planner.Record{roster("cycle/web/s1#work_items", pay)},
			steps:    []string{"not_possible cycle/web/s1#work_items 1: the documented operations cannot remove work items from a cycle"},
			findings: []string{notOffered(1), "not compared: cycle of 1 work item: the documented operations cannot read it"},
		},
		"only who is targeted leaves": {
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
		"it is said the other way round": {api: full, given: given, prior: []planner.Record{rel}, options: pruning, want: wants("blocked_by=@work_item/web/a")},
		"nobody says it":                 {api: full, given: given, prior: []planner.Record{rel}, options: pruning, want: wants(), steps: []string{"remove_members work_item/web/a#blocking 1"}},
	})
}
