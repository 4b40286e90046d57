package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// TestOrphansThatOthersUseStay covers objects that planform made, that the manifest does
// not have any more, and that something of others is in or names.
func TestOrphansThatOthersUseStay(t *testing.T) {
	t.Parallel()
	const refused = "it would be deleted, but "
	cyc, mod, label, state, kind := uuid(0xc, 1), uuid(0xd, 1), uuid(0xe, 1), uuid(0xf, 1), uuid(7, 1)
	bobs, ours, flow := uuid(9, 1), uuid(9, 2), uuid(8, 1)
	project := func(w *wanted) { w.put("project/web", "id="+web) }
	item := func(id string, n int, more ...string) func(*fakeService) {
		return func(s *fakeService) {
			s.given("work_item", web, id, append([]string{"name=" + strings.ToUpper(id[:1]), fmt.Sprintf("sequence_id=%d", n)}, more...)...)
		}
	}
	all := func(given ...func(*fakeService)) func(*fakeService) {
		return func(s *fakeService) {
			s.given("cycle", web, cyc, "name=Cyc").given("module", web, mod, "name=Mod").given("label", web, label, "name=l1").
				given("state", web, state, "name=S").given("work_item_type", web, kind, "name=Story")
			for _, h := range given {
				h(s)
			}
		}
	}
	in := func(membership, container string, members ...string) func(*fakeService) {
		return func(s *fakeService) { s.members[membership+" "+container] = members }
	}
	checkRules(t, map[string]rule{
		"a cycle and a module stay if somebody put an item into them": {
			kept: 2,
			api:  full, want: project, options: pruning,
			given: all(item(bobs, 1), in("cycle_work_item", cyc, bobs), in("module_work_item", mod, bobs)),
			prior: []planner.Record{made("cycle/web/cyc", cyc), made("module/web/mod", mod)},
			steps: []string{
				"not_possible cycle/web/cyc: " + refused + "1 work item added by others is in it: " + bobs,
				"not_possible module/web/mod: " + refused + "1 work item added by others is in it: " + bobs,
			},
		},
		"a cycle is deleted if planform put the item into it": {
			api: full, want: project, options: pruning,
			given: all(item(bobs, 1), in("cycle_work_item", cyc, bobs)),
			prior: []planner.Record{
				made("cycle/web/cyc", cyc), {Address: "cycle/web/cyc#work_items", Members: []string{bobs}, Sources: presence()},
			},
			steps: []string{"delete cycle/web/cyc"},
		},
		"a cycle stays if an export found an item in it, because planform did not put it there": {
			kept: 1,
			api:  full, want: project, options: pruning,
			given: all(item(bobs, 1), in("cycle_work_item", cyc, bobs)),
			prior: []planner.Record{
				made("cycle/web/cyc", cyc),
				{Address: "cycle/web/cyc#work_items", Members: []string{bobs}, Found: []string{bobs}, Sources: presence()},
			},
			steps: []string{"not_possible cycle/web/cyc: " + refused + "1 work item added by others is in it: " + bobs},
		},
		"a cycle is deleted if the item in it is deleted too": {
			api: full, want: project, options: pruning,
			given: all(item(ours, 2), in("cycle_work_item", cyc, ours)),
			prior: []planner.Record{made("cycle/web/cyc", cyc), made("work_item/web/ours", ours)},
			steps: []string{"delete work_item/web/ours", "delete cycle/web/cyc"},
		},
		"a label, a state and a type stay if somebody's item has them": {
			kept: 2,
			api:  full, want: project, options: pruning,
			given: all(item(bobs, 1, "labels="+label, "state="+state, "type="+kind)),
			prior: []planner.Record{made("label/web/l1", label), made("state/web/s", state), made("work_item_type/web/story", kind)},
			steps: []string{
				"not_possible work_item_type/web/story: " + refused + "1 work item refers to it in type: \"9\"",
				"not_possible label/web/l1: " + refused + "1 work item refers to it in labels: \"9\"",
				"not_possible state/web/s: " + refused + "1 work item refers to it in state: \"9\"",
			},
		},
		"a state stays if somebody's workflow goes through it or leads to it": {
			api: resource.V2, want: project, options: pruning,
			given: all(func(s *fakeService) {
				s.given("workflow", web, flow, "name=Review").given("workflow_state", flow, uuid(8, 2), "state_id="+state).
					given("workflow_transition", flow, uuid(8, 3), "transition_state_id="+state)
			}),
			prior: []planner.Record{made("state/web/s", state)},
			steps: []string{"not_possible state/web/s: " + refused + "1 workflow refers to it in states.state: \"Review\""},
		},
		"a state is deleted if the workflow that has it is deleted too": {
			api: resource.V2, want: project, options: pruning,
			given: all(func(s *fakeService) {
				s.given("workflow", web, flow, "name=Review").given("workflow_state", flow, uuid(8, 2), "state_id="+state)
			}),
			prior: []planner.Record{made("state/web/s", state), made("workflow/web/review", flow), made("workflow_state/web/review/s", uuid(8, 2))},
			steps: []string{"delete workflow/web/review", "delete state/web/s", "delete workflow_state/web/review/s: with workflow/web/review"},
		},
		"a label and a state are deleted if planform's item that has them is deleted too": {
			api: full, want: project, options: pruning,
			given: all(item(ours, 2, "labels="+label, "state="+state)),
			prior: []planner.Record{made("label/web/l1", label), made("state/web/s", state), made("work_item/web/ours", ours)},
			steps: []string{"delete work_item/web/ours", "delete label/web/l1", "delete state/web/s"},
		},
		"a label and a state are deleted after the item that has them, if an unconfirmed create made that": {
			api: full, want: project, options: pruning,
			given: all(item(ours, 2, "labels="+label, "state="+state, "external_source=planform", "external_id=acme/work_item/web/ours")),
			prior: []planner.Record{
				made("label/web/l1", label), made("state/web/s", state),
				{Address: "work_item/web/ours", Sources: presence(), PendingIntent: &planner.Intent{Action: planner.Create, Name: "9"}},
			},
			steps: []string{"delete work_item/web/ours", "delete label/web/l1", "delete state/web/s"},
		},
		"a state stays if planform's item has it, because an item always has a state": {
			api: full, options: pruning,
			want:  func(w *wanted) { project(w); w.put("work_item/web/ours", "name=9") },
			given: all(item(ours, 2, "state="+state)),
			prior: []planner.Record{made("state/web/s", state), made("work_item/web/ours", ours, "name=9", "state="+state)},
			steps: []string{"not_possible state/web/s: " + refused + "1 work item refers to it in state: WEB-2"},
		},
		"a label is deleted if planform put it on an item, and stays if somebody else did": {
			kept: 1,
			api:  full, options: pruning,
			want: func(w *wanted) { project(w); w.put("work_item/web/ours", "name=9") },
			given: func(s *fakeService) {
				all(item(ours, 2, "labels="+label))(s)
				s.given("label", web, uuid(0xe, 2), "name=l2").given("work_item", web, bobs, "name=B", "labels="+uuid(0xe, 2))
			},
			prior: []planner.Record{
				made("label/web/l1", label), made("label/web/l2", uuid(0xe, 2)), made("work_item/web/ours", ours, "name=9", "labels="+label),
			},
			steps: []string{
				"not_possible label/web/l2: " + refused + "1 work item refers to it in labels: \"B\"",
				"delete label/web/l1",
			},
		},
		"a label and a cycle stay if the manifest names them": {
			api: full, options: pruning,
			want:  func(w *wanted) { project(w); w.put("work_item/web/ours", "name=9", "labels=l1", "cycle=Cyc") },
			given: all(item(ours, 2, "labels="+label), in("cycle_work_item", cyc, ours)),
			prior: []planner.Record{made("label/web/l1", label), made("cycle/web/cyc", cyc), made("work_item/web/ours", ours, "name=9", "labels="+label)},
			steps: []string{
				"not_possible cycle/web/cyc: " + refused + "work_item/web/ours still refers to it",
				"not_possible label/web/l1: " + refused + "work_item/web/ours still refers to it",
			},
		},
		"an initiative and a teamspace stay if somebody's project is in them": {
			kept: 2,
			api:  full, options: pruning, want: func(*wanted) {},
			given: func(s *fakeService) {
				s.given("initiative", "", uuid(5, 1), "name=Q1").given("teamspace", "", uuid(5, 2), "name=T")
				s.members["initiative_project "+uuid(5, 1)], s.members["teamspace_project "+uuid(5, 2)] = []string{web}, []string{web}
			},
			prior: []planner.Record{made("initiative/q1", uuid(5, 1)), made("teamspace/t", uuid(5, 2))},
			steps: []string{
				"not_possible teamspace/t: " + refused + "1 project added by others is in it: " + web,
				"not_possible initiative/q1: " + refused + "1 project added by others is in it: " + web,
			},
		},
		"an item is deleted if planform made its relation by a request without an outcome": {
			api: full, want: project, options: pruning,
			given: all(item(bobs, 1), item(ours, 2), in("work_item_blocked_by", ours, bobs), in("work_item_blocking", bobs, ours)),
			prior: []planner.Record{
				made("work_item/web/ours", ours),
				{Address: "work_item/web/ours#blocked_by", PendingIntent: &planner.Intent{Action: planner.AddMembers, Name: bobs}},
			},
			steps: []string{"delete work_item/web/ours"},
		},
		"a label is deleted if planform gave it to an initiative by a request without an outcome": {
			api: full, options: pruning, want: func(w *wanted) { w.put("initiative/q1", "id="+uuid(5, 1)) },
			given: func(s *fakeService) {
				s.given("initiative", "", uuid(5, 1), "name=Q1").given("initiative_label", "", uuid(5, 2), "name=Growth")
				s.members["initiative_initiative_label "+uuid(5, 1)] = []string{uuid(5, 2)}
			},
			prior: []planner.Record{
				known("initiative/q1", uuid(5, 1)), made("initiative_label/growth", uuid(5, 2)),
				{Address: "initiative/q1#initiative_labels", PendingIntent: &planner.Intent{Action: planner.AddMembers, Name: "initiative_label/growth"}},
			},
			steps: []string{"delete initiative_label/growth"},
		},
		"a label stays if somebody's initiative carries it": {
			kept: 1,
			api:  full, options: pruning, want: func(*wanted) {},
			given: func(s *fakeService) {
				s.given("initiative", "", uuid(5, 1), "name=Q1").given("initiative_label", "", uuid(5, 2), "name=Growth")
				s.members["initiative_initiative_label "+uuid(5, 1)] = []string{uuid(5, 2)}
			},
			prior: []planner.Record{made("initiative_label/growth", uuid(5, 2))},
			steps: []string{"not_possible initiative_label/growth: " + refused + "1 initiative refers to it in labels: \"Q1\""},
		},
	})
}

// TestUsersOfAnOrphanAreShownByIdentifier also keeps a state in use from
// being asked for again and again.
func TestUsersOfAnOrphanAreShownByIdentifier(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website").given("state", web, uuid(0xf, 1), "name=S")
	for i := range 7 {
		s.given("work_item", web, uuid(9, i+1), "name=A", fmt.Sprintf("sequence_id=%d", i+1), "state="+uuid(0xf, 1))
	}
	s.in.Prune = true
	s.in.Prior["state/web/s"] = made("state/web/s", uuid(0xf, 1))
	plan := s.mustPlan(want(t).put("project/web", "id="+web, "identifier=WEB", "name=Website").all())
	const reason = "it would be deleted, but 7 work items refer to it in state: WEB-1, WEB-2, WEB-3, WEB-4, WEB-5 and 2 more"
	if got := lines(plan); len(got) != 1 || got[0] != "not_possible state/web/s: "+reason {
		t.Error(got)
	}
	var paths []string
	for _, r := range s.reads {
		paths = append(paths, strings.TrimPrefix(r.Path, "/api/v1/workspaces/acme/")+"?"+r.Fields)
	}
	if len(paths) != 4 { // the project, the state, who manages states, the items
		t.Error(paths)
	}
}

func TestTheMembersOfManyContainersAreNotRead(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB")
	const many = 241
	for i := range many {
		id, address := uuid(0xc, i+1), resource.Address(fmt.Sprintf("cycle/web/c%d", i))
		s.given("cycle", web, id, fmt.Sprintf("name=C%d", i))
		s.members["cycle_work_item "+id] = []string{uuid(9, 1)}
		s.in.Prior[address] = made(address, id)
	}
	s.in.Prune = true
	objects := want(t).put("project/web", "id="+web).all()
	plan := s.mustPlan(objects)
	if plan.Summary.Blocked != many || len(s.reads) > 4 || !strings.Contains(plan.Steps[0].Reason(), "this takes 241 requests (--refresh-all)") {
		t.Errorf("%+v, %d reads, %s", plan.Summary, len(s.reads), plan.Steps[0].Reason())
	}
	s.in.RefreshAll = true
	if plan = s.mustPlan(objects); plan.Summary.Blocked != many || !strings.Contains(plan.Steps[0].Reason(), "1 work item added by others is in it") {
		t.Errorf("thorough: %+v, %s", plan.Summary, plan.Steps[0].Reason())
	}
}
