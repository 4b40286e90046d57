package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// No list shows a work item that is archived, and none is created again.
func TestArchivedWorkItemsAreNeverCreatedAgain(t *testing.T) {
	t.Parallel()
	item, mark := uuid(9, 7), "acme/work_item/web/pay"
	there := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) {
			s.given("work_item", web, item, append(fields, "name=Pay", "sequence_id=7", "external_source=planform", "external_id="+mark)...)
		}
	}
	none := func(*fakeService) {}
	const since = "archived_at=2026-11-20"
	wants := func(fields ...string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("work_item/web/pay", append(fields, "name=Pay")...)
		}
	}
	prior := []planner.Record{known("work_item/web/pay", item, "identifier=WEB-7", "name=Pay")}
	unread := []string{"not compared: 1 work item: archived, and no list shows them"}
	all := func(in *planner.Input) { in.RefreshAll = true }
	for _, api := range []resource.API{resource.V1, resource.V2} {
		checkRules(t, map[string]rule{
			api.String() + ": a work item that the manifest archives is archived":                                         {api: api, prior: prior, given: there(), want: wants("archived=true"), steps: []string{"update work_item/web/pay archived"}},
			api.String() + ": an archived work item that the manifest archives is left as it is, and not compared":        {api: api, findings: unread, prior: prior, given: there(since), want: wants("archived=true")},
			api.String() + ": an archived work item is compared if everything is read":                                    {api: api, options: all, prior: prior, given: there(since), want: wants("archived=true")},
			api.String() + ": an archived work item that is gone is not compared, even if everything is read":             {api: api, options: all, prior: prior, given: none, want: wants("archived=true"), findings: []string{"not compared: 1 work item: archived, and nothing shows them"}},
			api.String() + ": an archived work item is found without a state":                                             {api: api, given: there(since), want: wants("archived=true")},
			api.String() + ": an archived work item is left alone with a warning if the manifest does not write archived": {api: api, prior: prior, given: there(since), want: wants(), findings: []string{"warning archived: work_item/web/pay (WEB-7) is archived on the service: left alone, with everything in it; restore it on the service to have it managed, or remove it from the manifest", "not compared: 1 work item: archived or a draft, and left alone"}},
			api.String() + ": an archived work item is restored if the manifest says archived: false":                     {api: api, prior: prior, given: there(since), want: wants("archived=false"), steps: []string{"update work_item/web/pay archived"}},
			api.String() + ": an archived work item is restored even without a state":                                     {api: api, given: there(since), want: wants("archived=false"), steps: []string{"update work_item/web/pay archived"}},
			api.String() + ": an archived work item is restored before its fields are changed":                            {api: api, prior: prior, given: there(since), want: wants("archived=false", "priority=high"), steps: []string{"update work_item/web/pay archived", "update work_item/web/pay priority"}},
			api.String() + ": an archived work item that is gone is taken for archived, because no list shows it":         {api: api, findings: unread, prior: prior, given: none, want: wants("archived=true")},
			api.String() + ": a new work item with contents is archived after them":                                       {api: api, given: none, want: func(w *wanted) { wants("archived=true")(w); w.put("link/web/pay/a", "url=https://example.com/a") }, steps: []string{"create work_item/web/pay", "create link/web/pay/a", "update work_item/web/pay archived"}},
			api.String() + ": the contents of an archived work item are left alone with it":                               {api: api, findings: unread, prior: prior, given: there(since), want: func(w *wanted) { wants("archived=true")(w); w.put("link/web/pay/a", "url=https://example.com/a") }},
			api.String() + ": an archived work item of an unconfirmed create is found, and not created again":             {api: api, prior: []planner.Record{{Address: "work_item/web/pay", PendingIntent: &planner.Intent{Action: planner.Create, Name: "Pay"}}}, given: there(since), want: wants("archived=true")},
		})
	}
}

// A new work item that nothing names is archived by the request that creates it, where that takes the field.
func TestANewWorkItemIsCreatedArchived(t *testing.T) {
	t.Parallel()
	for api, steps := range map[resource.API][]string{
		resource.V1: {"create work_item/web/pay"},
		resource.V2: {"create work_item/web/pay", "update work_item/web/pay archived"},
	} {
		s := newService(t, api)
		s.given("project", "", web)
		plan := s.mustPlan(want(t).put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "archived=true").all())
		if diff := cmp.Diff(steps, lines(plan)); diff != "" || plan.Summary.Create != 1 || plan.Summary.Update != 0 {
			t.Errorf("%s: %+v\n%s", api, plan.Summary, diff)
		}
		changes := plan.Steps[0].Changes()
		if api == resource.V1 && changes[len(changes)-1].Path != "archived" {
			t.Errorf("the create shows %+v", changes)
		}
	}
}

// TestAWorkItemIsArchivedAfterEverythingThatNamesIt: what is archived takes nothing in any more, and is nobody's parent.
func TestAWorkItemIsArchivedAfterEverythingThatNamesIt(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		s := newService(t, api)
		s.given("project", "", web, "identifier=WEB", "cycle_view=true")
		w := want(t).put("project/web", "identifier=WEB").put("cycle/web/one", "name=One")
		w.put("work_item/web/shop", "name=Shop", "archived=true").put("work_item/web/pay", "name=Pay", "parent=@work_item/web/shop", "cycle=@cycle/web/one", "archived=true", "relates_to=@work_item/web/shop")
		w.put("link/web/shop/a", "url=https://example.com/a").put("comment/web/pay/b", "text=Done")
		plan := s.mustPlan(w.all())
		got := lines(plan)
		if diff := cmp.Diff([]string{"update work_item/web/shop archived", "update work_item/web/pay archived"}, got[len(got)-2:]); diff != "" {
			t.Errorf("%s: %s\n%q", api, diff, got)
		}
		last := plan.Steps[len(plan.Steps)-1]
		if len(last.Needs) != 5 || last.Operation.Verb != resource.Archive || last.Batch != 0 { // both items, the comment, the cycle and the relation
			t.Errorf("%s: %+v", api, last)
		}
	}
}
