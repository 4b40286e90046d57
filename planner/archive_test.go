package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

func TestArchiving(t *testing.T) {
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
		"what is to be archived is": {
			api: full, prior: prior, given: given(), want: wants("archived=true"), steps: []string{"update module/web/board archived"},
		},
		"what is archived stays as it is": {
			api: full, prior: prior, given: given(since, "description=Old"), want: wants("archived=true", "description=New"),
		},
		"what is not to be archived comes back, and is changed then": {
			api: full, prior: prior, given: given(since, "description=Old"), want: wants("archived=false", "description=New"),
			steps: []string{"update module/web/board archived", "update module/web/board description"},
		},
		"what is not archived stays so": {
			api: full, prior: prior, given: given(), want: wants("archived=false"),
		},
		"a name means what is archived, where the manifest speaks of it": {
			api: full, given: given(since), want: wants("archived=true"),
		},
		"and brings it back": {
			api: full, given: given(since), want: wants("archived=false"),
			steps: []string{"update module/web/board archived", "adopt module/web/board: found by its name"},
		},
		"two of one name are an error": {
			api: full, given: func(s *fakeService) { given(since)(s); s.given("module", web, uuid(0xd, 2), since, "name=Board") }, want: wants("archived=true"),
			findings: []string{"error ambiguous: the service has 2 modules that could be module/web/board, found by its name: " + board + ", " + uuid(0xd, 2) + "; give the id of the right one"},
		},
		"the documented operations cannot": {
			api: documented, prior: prior, want: func(w *wanted) { w.put("project/web", "id="+web).put("module/web/board", "id="+board, "archived=true") },
		},
	})
}

// TestArchivingComesLast: what is archived takes nothing in any more.
func TestArchivingComesLast(t *testing.T) {
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
