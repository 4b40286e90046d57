package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func countOf(n int) string { return uuid(9, n) }

func website(w *wanted) *wanted { return w.put("project/web", "id="+web) }

func TestAChangedNameIsTakenForARename(t *testing.T) {
	t.Parallel()
	const hint = "; if it was renamed, add `previously: fix-tge-login` to the new entry; to delete it, use --prune"
	login := made("work_item/web/fix-tge-login", countOf(2), "identifier=WEB-2", "name=Fix tge login", "priority=high")
	given := func(s *fakeService) {
		for n, name := range []string{"", "Open", "Fix tge login", "Close"} {
			if name != "" {
				s.given("work_item", web, countOf(n), "sequence_id="+string(rune('0'+n)), "name="+name, "priority=high")
			}
		}
	}
	checkRules(t, map[string]rule{
		"a similar name is taken for a rename": {
			api: full, given: given, prior: []planner.Record{login},
			want:     func(w *wanted) { website(w).put("work_item/web/fix-the-login", "name=Fix the login") },
			steps:    []string{"create work_item/web/fix-the-login"},
			findings: []string{"warning renamed: work_item/web/fix-tge-login (WEB-2) was created by an earlier apply and is no longer in the manifest, and work_item/web/fix-the-login is created" + hint},
		},
		"a new entry with a written key is not taken for a rename": {
			api: full, given: given, prior: []planner.Record{login},
			want:     func(w *wanted) { website(w).put("work_item/web/login", "name=Fix the login", "priority=high") },
			steps:    []string{"create work_item/web/login"},
			findings: []string{"warning orphaned: 1 object created by an earlier apply is no longer in the manifest: work_item/web/fix-tge-login (WEB-2); to delete it, use --prune"},
		},
		"a different name is not taken for a rename, whatever the other fields are": {
			api: full, given: given, prior: []planner.Record{login},
			want:     func(w *wanted) { website(w).put("work_item/web/let-people-in", "name=Let people in", "priority=high") },
			steps:    []string{"create work_item/web/let-people-in"},
			findings: []string{"warning orphaned: 1 object created by an earlier apply is no longer in the manifest: work_item/web/fix-tge-login (WEB-2); to delete it, use --prune"},
		},
		"a likely rename is reported even if the former object is deleted": {
			api: full, given: given, prior: []planner.Record{login}, options: func(in *planner.Input) { in.Prune = true },
			want:     func(w *wanted) { website(w).put("work_item/web/fix-the-login", "name=Fix the login") },
			steps:    []string{"create work_item/web/fix-the-login", "delete work_item/web/fix-tge-login"},
			findings: []string{"warning another-key: work_item/web/fix-the-login is created, and work_item/web/fix-tge-login is deleted; if it was renamed, add `previously: fix-tge-login` to the new entry"},
		},
	})
}

func TestWithoutPruneOrphansAreListed(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	for n := range 7 {
		r := made(resource.NewAddress("work_item", "web", string(rune('a'+n))), countOf(n+1), "identifier=WEB-"+string(rune('1'+n)), "name=X")
		s.in.Prior[r.Address] = r
	}
	plan := s.mustPlan(website(want(t)).all())
	if len(plan.Orphans) != 7 || plan.Orphans[6].Address != "work_item/web/g" || plan.Orphans[6].ID != countOf(7) {
		t.Errorf("%+v", plan.Orphans)
	}
	const text = "7 objects created by an earlier apply are no longer in the manifest: work_item/web/a (WEB-1), work_item/web/b (WEB-2), " +
		"work_item/web/c (WEB-3), work_item/web/d (WEB-4), work_item/web/e (WEB-5) and 2 more"
	if diff := cmp.Diff(text, plan.Notices[0].Summary); diff != "" {
		t.Error(diff)
	}
}
