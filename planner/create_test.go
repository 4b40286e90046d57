package planner_test

import (
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func TestAMissingObjectIsCreatedOrReported(t *testing.T) {
	t.Parallel()
	shopProject := func(w *wanted) *wanted { return w.put("project/shop", "identifier=SHOP", "name=Shop") }
	checkRules(t, map[string]rule{
		"a project is created if no other has its identifier": {
			api:   full,
			want:  func(w *wanted) { shopProject(w) },
			steps: []string{"create project/shop"},
		},
		"a project identifier of more than ten characters is a warning with API v2": {
			api:   resource.V2,
			want:  func(w *wanted) { w.put("project/shop", "identifier=SHOPSHOPSHO", "name=Shop") },
			steps: []string{"create project/shop"},
			findings: []string{`warning long-identifier: a service with API v2 may take 10 characters of an identifier at most, not SHOPSHOPSHO; ` +
				`shorten it before the apply: work item numbers begin with it`},
		},
		"a project is not created beside another of the same name": {
			api:   full,
			want:  func(w *wanted) { w.put("project/site", "identifier=SITE", "name=Website") },
			steps: []string{"not_possible project/site: the service has another project \"Website\" (" + web + "): give its `id` to use that one, or rename or delete one of them"},
		},
		"a project is not created without an identifier": {
			api:      full,
			want:     func(w *wanted) { w.put("project/shop", "name=Shop") },
			findings: []string{`error incomplete: the service has no project "Shop", and it cannot be created without its identifier; write these fields, or the id of an existing project`},
		},
		"an incomplete object that does not exist is reported with similar names": {
			api:      full,
			given:    func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name=Sprint 14") },
			want:     func(w *wanted) { w.put("project/web", "id="+web).put("cycle/web/sprint 15") },
			findings: []string{`error incomplete: the service has no cycle "sprint 15", and it cannot be created without its name; did you mean "Sprint 14"?`},
		},
		"a name that every new project has may be used before the project exists": {
			api:   full,
			want:  func(w *wanted) { shopProject(w).put("work_item/shop/pay", "name=Pay", "state=in progress") },
			steps: []string{"create project/shop", "create work_item/shop/pay"},
		},
		"a name that a new project does not have is an error": {
			api:  full,
			want: func(w *wanted) { shopProject(w).put("work_item/shop/pay", "name=Pay", "state=Review") },
			findings: []string{
				`error unknown-name: the state "Review" is not there: project/shop does not exist yet; add it to the states of project/shop`,
			},
		},
		"an object beside one whose name differs in case is reported": {
			api: full,
			given: func(s *fakeService) {
				s.given("label", web, uuid(5, 1), "name=Frontend").given("label", web, uuid(5, 2), "name=bug").given("label", web, uuid(5, 3), "name=BUG")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("label/web/frontend", "name=frontend").put("label/web/bug", "name=bug").put("label/web/bug2", "name=BUG").put("label/web/bug3", "name=Bug")
			},
			steps:    []string{"create label/web/frontend", "adopt label/web/bug: found by its name", "adopt label/web/bug2: found by its name", "create label/web/bug3"},
			findings: []string{`warning other-letters: label/web/frontend is created although the service has "Frontend"; to use that one, write its name exactly like this`},
		},
		"fields of a new object that the documented operations cannot send are reported": {
			api: documented,
			want: func(w *wanted) {
				w.put("page/a", "name=A", "access=private").put("page/b", "name=B")
				w.put("project/web", "id="+web, "identifier=WEB").put("work_item/web/pay", "name=Pay", "sort_order=5", "point!", "blocked_by=WEB-7")
			},
			given: func(s *fakeService) { s.given("work_item", web, uuid(9, 7), "sequence_id=7") },
			steps: []string{
				"create work_item/web/pay", "not_possible work_item/web/pay: the documented operations cannot set sort_order, blocked_by of a work item",
				"create page/a", "not_possible page/a: the documented operations cannot set access of a page", "create page/b",
			},
			findings: []string{
				"warning cannot-tell: 1 work item not in the state file will be created: the documented operations cannot find existing ones; objects of an earlier apply are then made twice: restore its state file, or give each work item its identifier or id",
				"warning cannot-tell: 2 pages not in the state file will be created: the documented operations cannot find existing ones; objects of an earlier apply are then made twice: restore its state file, or give each page its id",
				notOffered(2),
			},
		},
		"a work item of another project is found by its identifier": {
			api:   full,
			given: func(s *fakeService) { s.given("work_item", web, uuid(9, 7), "sequence_id=7") },
			want:  func(w *wanted) { shopProject(w).put("work_item/shop/pay", "name=Pay", "relates_to=WEB-7") },
			steps: []string{"create project/shop", "create work_item/shop/pay", "add_members work_item/shop/pay#relates_to 1"},
		},
		"a predefined object of a new project is adopted and changed to what the manifest wants": {
			api:   full,
			want:  func(w *wanted) { shopProject(w).put("state/shop/todo", "name=Todo", "color=#112233") },
			steps: []string{"create project/shop", "adopt state/shop/todo color: each new project has it"},
		},
		"a feature is switched on before an object that needs it is created": {
			api: full,
			given: func(s *fakeService) {
				s.given("project", "", shop, "identifier=SHOP", "name=Shop").find(shop).row["cycle_view"] = false
			},
			want: func(w *wanted) {
				w.put("project/shop", "identifier=SHOP", "cycle_view=true").put("cycle/shop/a", "name=A")
			},
			steps: []string{"update project/shop cycle_view", "create cycle/shop/a"},
		},
		"the word me names the user of the credential": {
			api: full,
			given: func(s *fakeService) {
				s.given("member", "", uuid(0xc, 1), "email=ada@example.com")
				s.me = uuid(0xc, 1)
			},
			want:  func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "assignees=me") },
			steps: []string{"create work_item/web/pay"},
			reads: []string{"projects/" + web + "/", "projects/" + web + "/work-items/", "/api/v1/users/me/", "projects/" + web + "/project-members/"},
		},
		"a kind that the edition lacks in its projects is lacking in a new project too": {
			api:   full,
			given: func(s *fakeService) { s.without["work_item_type"] = true },
			want: func(w *wanted) {
				shopProject(w).put("work_item_type/shop/story", "name=Story")
				w.put("work_item/shop/pay", "name=Pay", "type=@work_item_type/shop/story").put("work_item/shop/win", "name=Win", "type=Bug")
			},
			steps: []string{
				"create project/shop",
				"not_possible work_item_type/shop/story: this edition of the service has no work item types",
				"create work_item/shop/pay", "not_possible work_item/shop/pay: this edition of the service has no work item types",
				"create work_item/shop/win", "not_possible work_item/shop/win: this edition of the service has no work item types",
			},
		},
		"a field that only a create accepts is not compared on an existing object": {
			api:   full,
			given: func(s *fakeService) { s.given("work_item", web, uuid(9, 1), "sequence_id=1", "name=Pay") },
			prior: []planner.Record{known("work_item/web/pay", uuid(9, 1), "identifier=WEB-1", "name=Pay")},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "created_at=2020-01-01T00:00:00Z")
			},
		},
		"a field that a create does not accept is sent right after it": {
			api:   full,
			want:  func(w *wanted) { w.put("project/web", "id="+web).put("state/web/review", "name=Review", "sequence=7") },
			steps: []string{"create state/web/review", "update state/web/review sequence"},
		},
		"the mark follows a key that changed": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, uuid(9, 1), "sequence_id=1", "name=Pay", "external_source=planform", "external_id=acme/work_item/web/old")
			},
			prior: []planner.Record{known("work_item/web/pay", uuid(9, 1), "identifier=WEB-1", "name=Pay")},
			want:  func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay") },
			steps: []string{"update work_item/web/pay external_id"},
		},
		"an object that the manifest names by its id keeps the mark of its owner": {
			api: full,
			given: func(s *fakeService) {
				s.given("work_item", web, uuid(9, 1), "sequence_id=1", "name=Pay", "external_source=planform", "external_id=acme/work_item/web/old")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "id="+uuid(9, 1), "name=Pay")
			},
		},
	})
}
