package provider_test

import (
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

func release(items string) string {
	return `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A}, {key: b, name: B}]},
		{key: ops, identifier: OPS, work_items: [{key: c, name: C}]}], releases: [{name: Spring, work_items: ` + items + `}]}`
}

// TestWorkItemsOfAReleaseAreWrittenAndNotCompared, because no operation shows them.
func TestWorkItemsOfAReleaseAreWrittenAndNotCompared(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	const path = "/api/v2/workspaces/acme/releases/"
	apply := func(when, items string, prune bool, writes, in int) applied {
		t.Helper()
		a := s.apply(t, applying{manifest: release(items), prune: prune})
		if len(a.failed())+len(a.reasons())+len(a.warnings()) > 0 || a.writes != writes || len(s.Rows("release_item")) != in {
			t.Errorf("%s: %v %v %v, %d writes, %d items", when, a.failed(), a.reasons(), a.warnings(), a.writes, len(s.Rows("release_item")))
		}
		return a
	}
	first := apply("created", "[web/a, ops/c, WEB-1]", false, 2+2+1, 3) // items of two projects, feature and release, members
	if !slices.ContainsFunc(first.plan.Steps, func(step *planner.Step) bool {
		return step.Address == "workspace_features/features" && step.Changes()[0].Path == "releases"
	}) {
		t.Error("the plan does not say what it switches on")
	}
	blind := []planner.NotCompared{{
		Kind: "release", Field: "work_items", Count: 1, What: "work_items of 1 release", Why: "the API cannot read it",
		Addresses: []resource.Address{"release/spring"}, All: []resource.Address{"release/spring"},
	}}
	s.otherUser(t, http.MethodPost, path+s.Rows("release")[0]["id"].(string)+"/work-items/", `{"remove":["`+sandboxtest.WorkItemWeb1+`"]}`) //nolint:forcetypeassert // it is a text
	again := apply("again, though somebody took one out", "[web/a, ops/c, WEB-1]", false, 0, 2)
	if !again.plan.Empty() || !reflect.DeepEqual(again.plan.NotCompared, blind) || again.plan.Summary.NotCompared != 1 {
		t.Errorf("not compared: %+v, %+v", again.plan.NotCompared, again.plan.Summary)
	}
	apply("one more", "[web/a, web/b, ops/c]", false, 1, 3)
	apply("two less", "[web/b]", true, 1, 1)
	s.dir = t.TempDir()
	apply("without the state", "[web/b]", false, 1, 1)
	apply("none", "[]", false, 1, 0)
	if none := apply("none, again", "[]", false, 0, 0); !none.plan.Empty() {
		t.Error(none.plan.Summary)
	}
}
