package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/planner"
)

// TestApplyingARichPlanLeavesOnlyImpossibleSteps covers names and every action at once.
func TestApplyingARichPlanLeavesOnlyImpossibleSteps(t *testing.T) {
	t.Parallel()
	s, objects := rich(t, full)
	s.makeAll(objects)
	if plan := s.mustPlan(objects); len(plan.Steps) > 0 || !plan.Empty() || plan.Summary.Unchanged != len(objects) {
		t.Errorf("%+v %q", plan.Summary, lines(plan))
	}
	s, objects = rich(t, documented)
	s.makeAll(objects)
	plan := s.mustPlan(objects)
	want := []string{
		"not_possible work_item/web/shop: the documented operations cannot change description, state, priority of a work item after creation",
		"not_possible link/web/shop/shop: the documented operations cannot change title of a link after creation",
	}
	if diff := cmp.Diff(want, lines(plan)); diff != "" || !plan.Empty() {
		t.Error(diff)
	}
}

func TestActionsHaveStableWords(t *testing.T) {
	t.Parallel()
	var words []string
	for a := planner.Create; a <= planner.NotPossible+1; a++ {
		words = append(words, a.String())
	}
	want := []string{"create", "update", "adopt", "add_members", "remove_members", "delete", "not_possible", "unknown"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
}

// TestVanishedObjectsAreCreatedAgainOrReported covers objects that planform only finds.
func TestVanishedObjectsAreCreatedAgainOrReported(t *testing.T) {
	t.Parallel()
	checkRules(t, map[string]rule{
		"a deleted object is created again": {
			api:      full,
			prior:    []planner.Record{known("cycle/web/a", uuid(2, 1), "name=A")},
			want:     func(w *wanted) { w.put("project/web", "id="+web).put("cycle/web/a", "name=A") },
			steps:    []string{"create cycle/web/a"},
			findings: []string{"warning gone: cycle/web/a was deleted or archived on the service since the last apply and is created again"},
		},
		"an object that somebody archived is not created again": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, uuid(2, 1), "name=B", "archived_at=2026-11-20T10:00:00Z").given("work_item", web, uuid(9, 1), "sequence_id=1", "name=Pay")
			},
			prior: []planner.Record{known("cycle/web/a", uuid(2, 1), "name=A")},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("cycle/web/a", "name=A").put("work_item/web/pay", "id="+uuid(9, 1), "cycle=@cycle/web/a")
			},
			findings: []string{
				"warning archived: cycle/web/a is archived on the service; it and its members are left as they are",
				"not compared: 1 cycle: archived or a draft, and left alone",
				"not compared: cycle of 1 work item: archived or a draft, and left alone",
			},
		},
		"an archived object with planform's mark is not created again, even if the state is lost": {
			api: full,
			given: func(s *fakeService) {
				s.given("module", web, uuid(0xd, 1), "name=B", "archived_at=2026-11-20T10:00:00Z", "external_source=planform", "external_id=acme/module/web/a")
			},
			want: func(w *wanted) { w.put("project/web", "id="+web).put("module/web/a", "name=A") },
			findings: []string{
				"warning archived: module/web/a is archived on the service; it and its members are left as they are",
				"not compared: 1 module: archived or a draft, and left alone",
			},
		},
		"an archived object of the same name without a mark is another object": {
			api: full,
			given: func(s *fakeService) {
				s.given("module", web, uuid(0xd, 1), "name=A", "archived_at=2026-11-20T10:00:00Z")
			},
			want:  func(w *wanted) { w.put("project/web", "id="+web).put("module/web/a", "name=A") },
			steps: []string{"create module/web/a"},
		},
		"a deleted project is created again with its identifier": {
			api:      full,
			given:    func(s *fakeService) { s.given("project", "", shop, "identifier=SHOP") },
			prior:    []planner.Record{known("project/old", uuid(1, 9), "identifier=OLD")},
			want:     func(w *wanted) { w.put("project/old", "identifier=OLD", "name=Old") },
			steps:    []string{"create project/old"},
			findings: []string{"warning gone: project/old was deleted or archived on the service since the last apply and is created again"},
		},
		"a deleted project is not created again if the manifest lacks a field that it needs": {
			api:   full,
			prior: []planner.Record{known("project/old", uuid(1, 9), "identifier=OLD")},
			want:  func(w *wanted) { w.put("project/old", "identifier=OLD") },
			findings: []string{
				`error incomplete: the service has no project "OLD", and it cannot be created without its name; write these fields, or the id of an existing project`,
				"warning gone: project/old was deleted or archived on the service since the last apply and is created again",
			},
		},
		"a project that has another ID now is reported, not created again": {
			api:      full,
			prior:    []planner.Record{known("project/web", uuid(1, 9), "identifier=WEB", "name=Website")},
			want:     func(w *wanted) { w.put("project/web", "identifier=WEB", "name=Website") },
			findings: []string{"warning identity-changed: WEB is a different project now than at the last apply: " + web + " instead of " + uuid(1, 9)},
		},
	})
}
