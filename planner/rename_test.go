package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// corrections is what a plan corrects, by the address that the state has.
func corrections(plan *planner.Plan) map[resource.Address]string {
	all := map[resource.Address]string{}
	for _, c := range plan.StateChanges {
		all[c.From] = string(c.To)
	}
	return all
}

func TestARenamedObjectKeepsItsRecords(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Old")
	objects := func(project, cycle, item string, former ...string) []*resource.Object {
		w := want(t).put(resource.Address("project/"+project), "id="+web, "name=Website")
		at := func(kind, rest string) resource.Address { return resource.NewAddress(kind, project, rest) }
		w.put(at("cycle", cycle), "name=Sprint", "description=x").put(at("work_item", item), "name=A", "cycle=@"+string(at("cycle", cycle)))
		w.put(at("link", item+"/https://example.com/a"), "url=https://example.com/a")
		w.all()
		for i, key := range former {
			if key != "" {
				w.objects[i].Previously = []string{"older", key}
			}
		}
		return w.objects
	}
	s.in.Prune = true
	s.makeAll(objects("web", "s1", "a"))
	before := len(s.objects)
	renamed := objects("site", "sprint", "b", "web", "s1", "a")
	plan := s.mustPlan(renamed)
	want := map[resource.Address]string{
		"project/web": "project/site", "cycle/web/s1": "cycle/site/sprint", "cycle/web/s1#work_items": "cycle/site/sprint#work_items",
		"work_item/web/a": "work_item/site/b", "link/web/a/https://example.com/a": "link/site/b/https://example.com/a",
	}
	if diff := cmp.Diff(want, corrections(plan)); diff != "" {
		t.Error(diff)
	}
	if plan.Summary.Create+plan.Summary.Delete+plan.Summary.Adopt > 0 || plan.StateChanges[0].Why != "is now cycle/site/sprint" {
		t.Error(lines(plan), plan.StateChanges)
	}
	s.apply(plan)
	if plan := s.mustPlan(renamed); !plan.Empty() || len(plan.Steps) > 0 || len(s.objects) != before {
		t.Error(lines(plan), plan.StateChanges)
	}
	if !s.in.Prior["work_item/site/b"].CreatedByUs || s.in.Prior["work_item/site/b"].Address != "work_item/site/b" {
		t.Errorf("%+v", s.in.Prior)
	}

	s.in.Prior = planner.Prior{} // without the state the former external IDs tell
	again := objects("home", "sprint", "c", "site", "", "b")
	plan = s.mustPlan(again)
	if plan.Summary.Create > 0 || len(plan.StateChanges) > 0 {
		t.Error(lines(plan), plan.StateChanges)
	}
}

func TestPreviouslyIsIgnoredWhereNoRecordFits(t *testing.T) {
	t.Parallel()
	a, b := uuid(9, 1), uuid(9, 2)
	given := func(s *fakeService) { s.given("work_item", web, a, "name=A").given("work_item", web, b, "name=B") }
	wants := func(w *wanted) {
		w.put("project/web", "id="+web).put("work_item/web/b", "name=B")
		w.byName["work_item/web/b"].Previously = []string{"a"}
	}
	checkRules(t, map[string]rule{
		"a former key is ignored if the state knows the new key": {
			api: full, given: given, want: wants, prior: []planner.Record{made("work_item/web/a", a), known("work_item/web/b", b, "name=B")},
			findings: []string{"warning orphaned: 1 object created by an earlier apply is no longer in the manifest: work_item/web/a; to delete it, use --prune"},
		},
		"a former key is ignored if the state does not know it": {
			api: full, given: given, want: wants, prior: []planner.Record{known("project/web", web)}, steps: []string{"create work_item/web/b"},
			findings: []string{"warning same-name: 1 work item will be created although the service already has one with the same name; --adopt-by-name adopts the existing ones instead"},
		},
	})
}

// TestTheMovedRecordOfAVanishedObjectIsForgotten covers corrections that meet.
func TestTheMovedRecordOfAVanishedObjectIsForgotten(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	s.in.Prune = true
	s.in.Prior["project/web"] = known("project/web", web, "identifier=WEB")
	s.in.Prior["work_item/web/a"] = made("work_item/web/a", uuid(9, 1))
	w := want(t).put("project/site", "identifier=WEB")
	yes := true
	w.objects[0].Previously, w.objects[0].Protect = []string{"web"}, &yes
	plan := s.mustPlan(w.all())
	want := map[resource.Address]string{"project/web": "project/site", "work_item/web/a": ""}
	if diff := cmp.Diff(want, corrections(plan)); diff != "" || !plan.StateChanges[0].Record.Protect {
		t.Error(diff, plan.StateChanges)
	}
	s.apply(plan)
	if plan := s.mustPlan(w.all()); !plan.Empty() {
		t.Error(plan.StateChanges)
	}
}
