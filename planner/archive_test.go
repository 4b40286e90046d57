package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func TestTheManifestArchivesAndRestoresObjects(t *testing.T) {
	t.Parallel()
	board := uuid(0xd, 1)
	given := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) { s.given("module", web, board, append(fields, "name=Board")...) }
	}
	wants := func(fields ...string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("module/web/board", append(fields, "name=Board")...)
		}
	}
	const since = "archived_at=2026-11-20T10:00:00Z"
	prior := []planner.Record{known("module/web/board", board, "name=Board")}
	checkRules(t, map[string]rule{
		"an object that the manifest archives is archived": {
			api: full, prior: prior, given: given(), want: wants("archived=true"), steps: []string{"update module/web/board archived"},
		},
		"an archived object is left as it is if the manifest archives it": {
			api: full, prior: prior, given: given(since, "description=Old"), want: wants("archived=true", "description=New"),
		},
		"an archived object is restored before it is changed if the manifest says archived: false": {
			api: full, prior: prior, given: given(since, "description=Old"), want: wants("archived=false", "description=New"),
			steps: []string{"update module/web/board archived", "update module/web/board description"},
		},
		"an object that is not archived is left as it is if the manifest says archived: false": {
			api: full, prior: prior, given: given(), want: wants("archived=false"),
		},
		"an archived object is found by its name if the manifest writes archived": {
			api: full, given: given(since), want: wants("archived=true"),
		},
		"an archived object found by its name is restored if the manifest says archived: false": {
			api: full, given: given(since), want: wants("archived=false"),
			steps: []string{"update module/web/board archived", "adopt module/web/board: found by its name"},
		},
		"two archived objects of one name are an error": {
			api: full, given: func(s *fakeService) { given(since)(s); s.given("module", web, uuid(0xd, 2), since, "name=Board") }, want: wants("archived=true"),
			findings: []string{"error ambiguous: the service has 2 modules that could be module/web/board, found by its name: " + board + ", " + uuid(0xd, 2) + "; give the id of the right one"},
		},
		"the documented operations plan no step to archive a module": {
			api: documented, prior: prior, want: func(w *wanted) { w.put("project/web", "id="+web).put("module/web/board", "id="+board, "archived=true") },
		},
	})
}

// TestAnObjectIsArchivedAfterItsMembersAreAdded: what is archived takes nothing in any more.
func TestAnObjectIsArchivedAfterItsMembersAreAdded(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "module_view=true")
	w := want(t).put("project/web", "identifier=WEB").put("module/web/board", "name=Board", "status=completed", "archived=true")
	w.put("work_item/web/pay", "name=Pay", "module=@module/web/board")
	plan := s.mustPlan(w.all())
	want := []string{"create module/web/board", "create work_item/web/pay", "add_members module/web/board#work_items 1", "update module/web/board archived"}
	if diff := cmp.Diff(want, lines(plan)); diff != "" {
		t.Error(diff)
	}
	if last := plan.Steps[len(plan.Steps)-1]; last.Operation.Verb != resource.Archive || len(last.Values()) != 1 {
		t.Errorf("%+v", last)
	}
}

func TestAnObjectThatIsOnlyArchivedIsNotCountedAsUnchanged(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	s.given("module", web, uuid(0xd, 1), "name=Board", "status=completed")
	s.in.Prior["module/web/board"] = known("module/web/board", uuid(0xd, 1), "name=Board")
	summary := s.mustPlan(want(t).put("project/web", "id="+web).put("module/web/board", "name=Board", "archived=true").all()).Summary
	if summary.Update != 1 || summary.Unchanged != 1 {
		t.Errorf("the module is to be archived, and the project unchanged: %+v", summary)
	}
}
