package planner_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func TestAMissingMemberIsAddedToItsContainer(t *testing.T) {
	t.Parallel()
	sprint, pay := uuid(2, 1), uuid(9, 1)
	there := func(s *fakeService) {
		s.given("cycle", web, sprint, "name=Sprint").given("work_item", web, pay, "sequence_id=1", "name=Pay")
	}
	wants := func(cycle string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("cycle/web/sprint", "id="+sprint).put("work_item/web/pay", "id="+pay, "cycle="+cycle)
		}
	}
	roster := planner.Record{Address: "cycle/web/sprint#work_items", Members: []string{pay}}
	added := []string{"add_members cycle/web/sprint#work_items 1"}
	checkRules(t, map[string]rule{
		"a member that is in the container is not added": {
			api: full, given: func(s *fakeService) { there(s); s.members["cycle_work_item "+sprint] = []string{pay} }, want: wants("@cycle/web/sprint"),
		},
		"a member that somebody took out is added again": {
			api: full, given: there, prior: []planner.Record{roster}, want: wants("@cycle/web/sprint"), steps: added,
		},
		"the state tells who is in a container that cannot be read": {
			api: documented, given: there, prior: []planner.Record{roster}, want: wants("@cycle/web/sprint"),
			findings: []string{"not compared: cycle of 1 work item: the documented operations cannot read it"},
		},
		"a member is added again after an unconfirmed add if the container cannot be read": {
			api: documented, given: there, want: wants("@cycle/web/sprint"), steps: added,
			prior: []planner.Record{{Address: roster.Address, Members: roster.Members, PendingIntent: &planner.Intent{Action: planner.AddMembers}}},
		},
		"a member is added if the state knows the container under another ID": {
			api: documented, given: there, prior: []planner.Record{known("cycle/web/sprint", uuid(2, 9)), roster}, want: wants("@cycle/web/sprint"), steps: added,
		},
		"a member is added if the state has its members from a container with another ID": {
			api: documented, given: there, want: wants("@cycle/web/sprint"), steps: added,
			prior: []planner.Record{{Address: roster.Address, ID: uuid(2, 9), Members: roster.Members}},
		},
		"a run without a refresh takes members from the state": {
			api: full, given: there, prior: []planner.Record{roster}, want: wants("@cycle/web/sprint"), reads: []string{},
			findings: []string{"not compared: cycle of 1 work item: --no-refresh trusts the state file"},
			options:  func(in *planner.Input) { in.SkipRefresh = true },
		},
		"a run without a refresh reads members that the state does not know": {
			api: full, given: there, want: wants("@cycle/web/sprint"), steps: added, reads: []string{"projects/" + web + "/cycles/" + sprint + "/cycle-issues/"},
			options: func(in *planner.Input) { in.SkipRefresh = true },
		},
		"a member is added if the state knows no members of the container and no list shows them": {
			api: documented, prior: []planner.Record{known("work_item/web/pay", pay)}, // an initiative cannot be made: a customer neither
			want:  func(w *wanted) { w.put("initiative/q1", "id="+uuid(6, 1), "projects="+web) },
			given: func(s *fakeService) { s.given("initiative", "", uuid(6, 1)) }, steps: []string{"add_members initiative/q1#projects 1"},
		},
		"a container that is named by its ID or name is the one of the manifest": {
			api: full, given: there,
			want: func(w *wanted) {
				wants(sprint)(w)
				w.put("work_item/web/b", "name=B", "cycle=Sprint").put("work_item/web/c", "name=C", "cycle=@cycle/web/sprint")
			},
			steps: []string{"create work_item/web/b", "create work_item/web/c", "add_members cycle/web/sprint#work_items 3"},
		},
		"a container outside the manifest is one, however it is named": {
			api:   full,
			given: func(s *fakeService) { there(s); s.given("cycle", web, uuid(2, 5), "name=Other") },
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/a", "name=A", "cycle="+uuid(2, 5)).
					put("work_item/web/b", "name=B", "cycle=other").put("work_item/web/c", "name=C", "cycle=Other")
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b", "create work_item/web/c", "add_members cycle/web/Other#work_items 3"},
		},
		"a member that is listed twice is added once": {
			api:   full,
			given: func(s *fakeService) { s.given("teamspace", "", uuid(7, 1), "name=Platform") },
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("teamspace/platform", "name=Platform", "projects=@project/web,"+web+",WEB,Website")
			},
			steps: []string{"adopt teamspace/platform: found by its name", "add_members teamspace/platform#projects 1"},
		},
		"a list without members reads and adds nothing": {
			api: documented, given: func(s *fakeService) { s.given("initiative", "", uuid(6, 1)) },
			want: func(w *wanted) { w.put("initiative/q1", "id="+uuid(6, 1), "labels=") }, reads: []string{},
		},
		"a membership that the edition lacks is reported": {
			api: documented, given: func(s *fakeService) { s.without["initiative_project"] = true },
			want:  func(w *wanted) { w.put("initiative/q1", "id="+uuid(6, 1), "projects="+web) },
			steps: []string{"not_possible initiative/q1#projects 1: this edition of the service does not have projects of initiatives"},
		},
		"no member is added to a container that does not exist": {
			api:   documented,
			want:  func(w *wanted) { w.put("initiative/q1", "id="+uuid(6, 1), "projects="+web) },
			steps: []string{"not_possible initiative/q1#projects 1: the service shows no initiative with the ID " + uuid(6, 1) + ": it was deleted or archived, or the ID is wrong"},
		},
		"a member that cannot be created is left out, and the others are added": {
			api: documented, given: there,
			prior: []planner.Record{{Address: "work_item/web/lost", PendingIntent: &planner.Intent{Action: planner.Create}}},
			want: func(w *wanted) {
				wants("@cycle/web/sprint")(w)
				w.put("work_item/web/lost", "name=Lost", "cycle=@cycle/web/sprint")
			},
			steps: []string{
				"not_possible work_item/web/lost: an earlier run may have created it: look on the service, then run planform state resolve work_item/web/lost --id ID (or --absent)",
				added[0],
			},
		},
	})
}

func TestAMissingRelationIsAddedOnce(t *testing.T) {
	t.Parallel()
	a, b := uuid(9, 1), uuid(9, 2)
	there := func(s *fakeService) {
		s.given("work_item", web, a, "sequence_id=1", "name=A").given("work_item", web, b, "sequence_id=2", "name=B")
	}
	wants := func(ofA, ofB string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("work_item/web/a", "id="+a, ofA).put("work_item/web/b", "id="+b, ofB)
		}
	}
	const ofA, ofB = "add_members work_item/web/a#blocking 1", "add_members work_item/web/b#blocked_by 1"
	checkRules(t, map[string]rule{
		"a relation that both items declare is added once": {
			api: full, given: there, want: wants("blocking=@work_item/web/b", "blocked_by=@work_item/web/a"), steps: []string{ofA},
		},
		"a symmetric relation that both items declare is added once": {
			api: full, given: there, want: wants("relates_to=@work_item/web/b", "relates_to=@work_item/web/a"), steps: []string{"add_members work_item/web/a#relates_to 1"},
		},
		"relations that contradict each other are sent for the service to judge": {
			api: full, given: there, want: wants("blocked_by=@work_item/web/b", "blocked_by=@work_item/web/a"),
			steps: []string{"add_members work_item/web/a#blocked_by 1", ofB},
		},
		"a relation that exists is not added": {
			api: full, given: func(s *fakeService) { there(s); s.members["work_item_blocking "+a] = []string{b} },
			want: wants("blocking=@work_item/web/b", "blocked_by=@work_item/web/a"),
			reads: []string{
				"projects/" + web + "/", "projects/" + web + "/work-items/", "projects/" + web + "/work-items/" + a + "/relations/",
			},
		},
		"an item of another project is named by its identifier": {
			api: full, given: func(s *fakeService) {
				there(s)
				s.given("project", "", shop, "identifier=SHOP").given("work_item", shop, uuid(9, 9), "sequence_id=3", "name=Other")
			},
			want:  wants("duplicate=SHOP-3", "blocked_by="+uuid(9, 9)),
			steps: []string{ofB, "add_members work_item/web/a#duplicate 1"},
		},
		"a relation that the edition lacks is reported": {
			api: full, given: func(s *fakeService) { there(s); s.without["work_item_blocking"] = true },
			want:  wants("blocking=@work_item/web/b", "blocked_by=@work_item/web/a"),
			steps: []string{"not_possible work_item/web/a#blocking 1: this edition of the service does not have relations of work items"},
		},
	})
}

func TestRelationsOfManyItemsAreNotReadAgain(t *testing.T) {
	t.Parallel()
	const many = 61
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("work_item", web, uuid(9, 1), "sequence_id=1", "name=All")
	w := want(t).put("project/web", "identifier=WEB")
	for i := range many {
		w.put(resource.Address(fmt.Sprintf("work_item/web/i%d", i)), fmt.Sprintf("name=Item %d", i), "relates_to=WEB-1")
	}
	s.makeAll(w.all())
	plan := s.mustPlan(w.all())
	want := []planner.NotCompared{{
		Kind: "work_item", Field: "relations.relates_to", Count: many, What: "relations.relates_to of 61 work items",
		Why: "reading them takes more than 60 requests", Hint: "--refresh-all reads them",
	}}
	if !plan.Empty() || len(s.reads) > 3 || len(plan.Notices) > 0 {
		t.Errorf("%d reads, %+v %v", len(s.reads), plan.Summary, plan.Notices)
	}
	if diff := cmp.Diff(want, plan.NotCompared, cmpopts.IgnoreFields(planner.NotCompared{}, "Addresses", "All")); diff != "" {
		t.Errorf("not compared (-want +got):\n%s", diff)
	}
	if n := len(plan.NotCompared[0].Addresses); n != 10 || plan.Summary.Unchanged != 1 || plan.Summary.NotCompared != many {
		t.Errorf("%d addresses, %+v", n, plan.Summary)
	}
	s.in.RefreshAll = true
	if plan = s.mustPlan(w.all()); !plan.Empty() || len(s.reads) < many || len(plan.NotCompared) > 0 || plan.Summary.Unchanged != 1+many {
		t.Errorf("thorough: %d reads, %+v %v", len(s.reads), plan.Summary, plan.NotCompared)
	}
}

func TestRecreatedObjectsDoNotCountAsNotRead(t *testing.T) {
	t.Parallel()
	const many = 61
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB")
	w := want(t).put("project/web", "identifier=WEB")
	for i := range many {
		item := resource.Address(fmt.Sprintf("work_item/web/i%d", i))
		w.put(item, fmt.Sprintf("name=Item %d", i)).put(item.Child("link", "https://example.com"), "url=https://example.com")
	}
	s.makeAll(w.all())
	count := func() int {
		for _, n := range s.mustPlan(w.all()).NotCompared {
			if n.Kind == "link" {
				return n.Count
			}
		}
		return 0
	}
	if n := count(); n != many {
		t.Errorf("%d links are not compared while they are there", n)
	}
	for _, gone := range s.objects[1:] {
		delete(s.byID, gone.row.ID())
	}
	s.objects = s.objects[:1]
	if n := count(); n != 0 {
		t.Errorf("%d links are not compared that are created again", n)
	}
}

// TestAssigneesBecomeMembersBeforeItemsNameThem: the service drops in silence who is not in the project.
func TestAssigneesBecomeMembersBeforeItemsNameThem(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("member", "", uuid(0xc, 1), "email=ada@example.com").given("member", "", uuid(0xc, 2), "email=bob@example.com")
	w := want(t).put("project/new", "identifier=NEW", "name=New", "members=ada@example.com,bob@example.com")
	w.put("work_item/new/a", "name=A", "assignees=bob@example.com").put("work_item/new/b", "name=B", "assignees=ada@example.com")
	w.put("work_item/new/c", "name=C")
	plan := s.mustPlan(w.all())
	after := map[resource.Address][]resource.Address{}
	for _, step := range plan.Steps {
		for _, n := range step.After {
			after[step.Address] = append(after[step.Address], plan.Steps[n].Address)
		}
	}
	want := map[resource.Address][]resource.Address{
		"work_item/new/a": {"project/new#members.2"}, "work_item/new/b": {"project/new#members"},
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
}

func TestMembersAreAddedInBatchesOf100(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB")
	w := want(t).put("project/web", "identifier=WEB").put("cycle/web/sprint", "id="+uuid(2, 1))
	for i := range 250 {
		w.put(resource.Address(fmt.Sprintf("work_item/web/i%d", i)), fmt.Sprintf("name=Item %d", i), "cycle=@cycle/web/sprint")
	}
	plan := s.mustPlan(w.all())
	type batch struct {
		Address                resource.Address
		Members, Needs, Afters int
		First                  resource.Address
	}
	var got []batch
	for _, step := range plan.Steps[250:] {
		got = append(got, batch{step.Address, len(step.Members.Items), len(step.Needs), len(step.After), step.Members.Items[0].Address})
	}
	want := []batch{
		{"cycle/web/sprint#work_items", 100, 0, 100, "work_item/web/i0"},
		{"cycle/web/sprint#work_items.2", 100, 0, 100, "work_item/web/i100"},
		{"cycle/web/sprint#work_items.3", 50, 0, 50, "work_item/web/i200"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if plan.Summary.AddMembers != 250 || plan.Summary.Requests != 253 {
		t.Errorf("%+v", plan.Summary)
	}
}

// TestAnInactivePropertyOfATypeDidNotLeaveIt: only people leave a container.
func TestAnInactivePropertyOfATypeDidNotLeaveIt(t *testing.T) {
	t.Parallel()
	bug, severity := uuid(3, 1), uuid(4, 1)
	s := newService(t, resource.V2)
	s.given("workspace_work_item_type", "", bug, "name=Bug").given("workspace_work_item_property", "", severity, "name=Severity")
	s.members["workspace_type_property "+bug] = []string{severity}
	in := s.in
	in.Observed = planner.Observed{}
	in.Desired = want(t).put("workspace_work_item_property/severity", "id="+severity).
		put("workspace_work_item_type/bug", "id="+bug, "properties=@workspace_work_item_property/severity").all()
	result := planner.Build(load(t, in, func(r planner.Read) planner.Answer {
		a := s.answer(r)
		for _, row := range a.Rows {
			row["is_active"] = false
		}
		return a
	}))
	if err := result.Findings.Err(); err != nil || len(result.Plan.Steps) > 0 {
		t.Errorf("%v %v", err, lines(result.Plan))
	}
}
