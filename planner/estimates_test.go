package planner_test

import (
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// A project has one estimate. Its points are named by work items beside it, and lost with it.
func TestAProjectHasOneEstimateWhosePointsItemsName(t *testing.T) {
	t.Parallel()
	points, five, eight, item := uuid(0xe, 1), uuid(0xe, 2), uuid(0xe, 3), uuid(9, 7)
	given := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) {
			s.given("estimate", web, points, "name=Points").given("estimate_point", points, five, "value=5").given("estimate_point", points, eight, "value=8")
			s.given("work_item", web, item, append(fields, "name=Pay", "sequence_id=7")...)
		}
	}
	wants := func(of ...[]string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web)
			for _, o := range of {
				w.put(resource.Address(o[0]), o[1:]...)
			}
		}
	}
	pay := []planner.Record{known("work_item/web/pay", item, "identifier=WEB-7", "name=Pay")}
	checkRules(t, map[string]rule{
		"an estimate point is found on the service if the manifest lists none": {
			api: full, prior: pay, given: given("estimate_point=" + five), want: wants([]string{"work_item/web/pay", "name=Pay", "estimate_point=8"}),
			steps: []string{"update work_item/web/pay estimate_point"},
		},
		"an estimate point is cleared on an item if the manifest lists none": {
			api: full, prior: pay, given: given("estimate_point=" + five), want: wants([]string{"work_item/web/pay", "name=Pay", "estimate_point="}),
			steps: []string{"update work_item/web/pay estimate_point"},
		},
		"a project with an estimate takes no other": {
			api: full, given: given(), want: wants([]string{"estimate/web/sizes", "name=Sizes"}),
			findings: []string{"error one-only: project/web has the estimate \"Points\" already, and can have no other; to manage that one, write its name, or id: " + points},
		},
		"an estimate point that an item has is not deleted": {
			kept: 1,
			api:  full, options: pruning, given: given("estimate_point=" + five), want: wants([]string{"estimate/web/points", "name=Points"}),
			prior: []planner.Record{made("estimate_point/web/points/5", five), made("estimate_point/web/points/8", eight)},
			steps: []string{
				"adopt estimate/web/points: found by its name", "delete estimate_point/web/points/8",
				`not_possible estimate_point/web/points/5: it would be deleted, but 1 work item refers to it in estimate_point: "Pay"`,
			},
		},
		"an estimate is not deleted, nor are its points": {
			api: full, options: pruning, given: given(), want: wants(),
			prior: []planner.Record{made("estimate/web/points", points), made("estimate_point/web/points/5", five)},
			steps: []string{
				"not_possible estimate_point/web/points/5: it would be deleted, but its estimate stays",
				"not_possible estimate/web/points: it would be deleted, but API v1 cannot delete an estimate: delete it in Plane, then run planform state rm estimate/web/points",
			},
		},
	})
}
