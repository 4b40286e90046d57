package planner_test

import (
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func TestWhatTheManifestLeavesToPeopleIsNotCompared(t *testing.T) {
	t.Parallel()
	s1, s2, pay := uuid(2, 1), uuid(2, 2), uuid(9, 1)
	prior := []planner.Record{
		known("work_item/web/pay", pay, "name=Pay", "priority=high", "start_date=2026-12-01"),
		{Address: "cycle/web/s1#work_items", Members: []string{pay}, Sources: presence()},
	}
	given := func(s *fakeService) {
		s.given("cycle", web, s1, "name=One").given("cycle", web, s2, "name=Two", "start_date=2027-01-01", "end_date=2027-01-15")
		s.given("work_item", web, pay, "sequence_id=1", "name=Pay", "priority=low", "start_date=2026-12-01")
		s.members["cycle_work_item "+s2] = []string{pay} // somebody moved it
	}
	item := func(fields ...string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("cycle/web/s1", "id="+s1).put("cycle/web/s2", "id="+s2)
			w.put("work_item/web/pay", append([]string{"name=Pay", "priority=high", "cycle=@cycle/web/s1"}, fields...)...)
		}
	}
	prune := func(in *planner.Input) { in.Prune = true }
	overridden := func(in *planner.Input) { in.OnDrift = planner.Fail }
	checkRules(t, map[string]rule{
		"people's changes are taken back without a policy": {
			api: full, given: given, prior: prior, want: item(),
			steps: []string{"update work_item/web/pay priority", "add_members cycle/web/s1#work_items 1"},
		},
		"ignored fields and cycles stay as people left them": {
			api: full, given: given, prior: prior, want: item("ignore_changes=priority,cycle"),
		},
		"ignored fields stay even if the manifest changed them": {
			api: full, given: given, prior: prior, want: item("start_date=2026-12-24", "ignore_changes=priority,cycle,start_date"),
		},
		"ignored memberships stay even with --prune": {
			api: full, given: given, prior: prior, want: item("ignore_changes=all"), options: prune,
		},
		"a field that the policy does not name is compared": {
			api: full, given: given, prior: prior, want: item("ignore_changes=start_date,cycle"), steps: []string{"update work_item/web/pay priority"},
		},
		"a new object gets its ignored fields too": {
			api: full, want: func(w *wanted) {
				w.put("project/web", "id="+web).put("cycle/web/s1", "id="+s1).put("work_item/web/new", "name=New", "priority=high", "cycle=@cycle/web/s1", "ignore_changes=all")
			},
			given: func(s *fakeService) { s.given("cycle", web, s1, "name=One") },
			steps: []string{"create work_item/web/new", "add_members cycle/web/s1#work_items 1"},
		},
		"an ignored field that each update sends is not a change by itself": {
			api: full, given: given, want: func(w *wanted) {
				w.put("project/web", "id="+web).put("cycle/web/s2", "id="+s2, "name=Second", "start_date=2026-01-01", "end_date=2026-01-15", "ignore_changes=start_date,end_date")
			},
			steps: []string{"update cycle/web/s2 name"},
		},
		"an object's own drift policy comes before the flag": {
			api: full, given: given, prior: prior[:1], options: overridden, want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "priority=high", "on_drift=overwrite")
			},
			steps: []string{"update work_item/web/pay priority"},
		},
		"an error of an object's drift policy names the policy as the way out": {
			api: full, given: given, prior: prior[:1], want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "priority=high", "on_drift=fail")
			},
			findings: []string{
				`error drift: priority of work_item/web/pay was changed on the service since the last apply: it is "low"; planform pull takes the value into the manifest; or write on_drift: overwrite or keep`,
			},
		},
		"an object's own drift policy keeps what the run would overwrite": {
			api: full, given: given, prior: prior[:1], want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "priority=high", "on_drift=keep")
			},
		},
	})
}

func TestAFieldThatIsKeptIsSentAsTheServiceHasIt(t *testing.T) {
	t.Parallel()
	id := uuid(2, 2)
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("cycle", web, id, "name=Two", "start_date=2027-01-01", "end_date=2027-01-15")
	s.in.Prior["cycle/web/s2"] = known("cycle/web/s2", id, "name=Two", "start_date=2026-12-01", "end_date=2027-01-15")
	plan := s.mustPlan(want(t).put("project/web", "id="+web).
		put("cycle/web/s2", "name=Second", "start_date=2026-12-01", "end_date=2027-01-15", "on_drift=keep").all())
	sent := map[string]string{}
	for _, v := range plan.Steps[0].Values() {
		sent[v.Field.Name] = v.Text
	}
	if len(sent) != 3 || sent["start_date"] != "2027-01-01" || plan.Summary.Kept != 1 {
		t.Errorf("%v %+v", sent, plan.Summary)
	}
	s.apply(plan)
	if again := s.mustPlan(want(t).put("project/web", "id="+web).
		put("cycle/web/s2", "name=Second", "start_date=2026-12-01", "end_date=2027-01-15", "on_drift=keep").all()); len(again.Steps) > 0 || again.Summary.Kept != 1 {
		t.Errorf("again %v %+v", lines(again), again.Summary)
	}
}

func TestLinksThatPeopleTookOutOfTheirTextStayOut(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	wanted := func() []*resource.Object {
		return want(t).put("project/web", "id="+web).put("work_item/web/a", "name=A").
			put("work_item/web/b", "name=B", to("description", "work_item/web/a"), "ignore_changes=description").all()
	}
	s.apply(s.mustPlan(wanted()))
	s.find(s.in.Prior["work_item/web/b"].ID).row["description_html"] = "<p>a</p>"
	if plan := s.mustPlan(wanted()); len(plan.Steps) > 0 || plan.Summary.Ignored != 1 {
		t.Errorf("%v %+v", lines(plan), plan.Summary)
	}
}

func TestAFieldThatIsPeoplesIsSentAsTheServiceHasIt(t *testing.T) {
	t.Parallel()
	id := uuid(2, 2)
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("cycle", web, id, "name=Two", "start_date=2027-01-01", "end_date=2027-01-15")
	plan := s.mustPlan(want(t).put("project/web", "id="+web).
		put("cycle/web/s2", "id="+id, "name=Second", "start_date=2026-01-01", "end_date=2026-01-15", "ignore_changes=start_date,end_date").all())
	sent := map[string]string{}
	for _, v := range plan.Steps[0].Values() {
		sent[v.Field.Name] = v.Text
	}
	if len(sent) != 3 || sent["start_date"] != "2027-01-01" || sent["end_date"] != "2027-01-15" || plan.Summary.Ignored != 2 {
		t.Errorf("%v %+v", sent, plan.Summary)
	}
}
