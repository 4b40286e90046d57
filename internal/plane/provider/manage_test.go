package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// planned returns a project with items that have the fields.
func planned(items int, fields string) string {
	var b strings.Builder
	b.WriteString(`projects: [{key: web, identifier: WEB, cycles: [{name: Next}], modules: [{name: Red}], milestones: [{title: Beta}, {title: Final}], work_items: [`)
	for i := range items {
		fmt.Fprintf(&b, "{key: i%d, name: Item %d%s},", i, i, fields)
	}
	return b.String() + "]}]"
}

// TestManyMembersLeaveInOneRequestByAPIV2 removes 90 items from a cycle, a module and a milestone.
func TestManyMembersLeaveInOneRequestByAPIV2(t *testing.T) {
	t.Parallel()
	const n = 90
	for name, tt := range map[string]struct {
		missing string
		writes  int
	}{
		"all members of a container leave in one request":                {"none", 3},
		"members of a module leave one by one if their route is missing": {"/modules/", 1 + 2 + n}, // the first request shows it
		"members of a cycle leave one by one if their route is missing":  {"/cycles/", 1 + 2 + n},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloud(t)
			made := s.apply(t, applying{manifest: planned(n, ", cycle: next, module: red, milestone: beta")})
			if len(made.failed()) > 0 || len(made.warnings()) > 0 || len(s.Rows("milestone_issue")) != n {
				t.Fatal(made.failed(), made.warnings(), len(s.Rows("milestone_issue")))
			}
			s.always = func(req *http.Request) sandboxtest.Fault {
				if strings.HasPrefix(req.URL.Path, "/api/v2/") && strings.Contains(req.URL.Path, tt.missing) && strings.HasSuffix(req.URL.Path, "/work-items/") {
					return sandboxtest.Fault{Before: sandboxtest.RouteNotFound()}
				}
				return sandboxtest.Fault{}
			}
			a := s.apply(t, applying{manifest: planned(n, ", cycle: null, module: null, milestone: null")})
			if left := len(s.Rows("cycle_issue")) + len(s.Rows("module_issue")) + len(s.Rows("milestone_issue")); len(a.failed()) > 0 || a.writes != tt.writes || left != 0 {
				t.Errorf("%d writes, want %d; %d left; %v", a.writes, tt.writes, left, a.failed())
			}
			if again := s.apply(t, applying{manifest: planned(n, "")}); again.writes > 0 || !again.plan.Empty() {
				t.Errorf("again: %d writes, %+v", again.writes, again.plan.Summary)
			}
		})
	}
}

func TestAWorkItemMovesToAnotherMilestone(t *testing.T) {
	t.Parallel()
	s := cloud(t)
	s.apply(t, applying{manifest: planned(2, ", milestone: beta")})
	for _, prune := range []bool{false, true} {
		fields := ", milestone: final"
		if prune {
			fields = ""
		}
		a := s.apply(t, applying{manifest: planned(2, fields), prune: prune})
		want := 2
		if prune {
			want = 0
		}
		if in := s.Rows("milestone_issue"); len(a.failed()) > 0 || len(a.warnings()) > 0 || len(in) != want {
			t.Error(a.failed(), a.warnings(), in)
		}
		if again := s.apply(t, applying{manifest: planned(2, fields), prune: prune}); again.writes > 0 || !again.plan.Empty() {
			t.Errorf("%d writes, %+v", again.writes, again.plan.Summary)
		}
	}
}

func TestAPIV1CannotPutItemsIntoMilestones(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Cloud})
	for _, want := range []string{"API v1 cannot set milestone of a work item", "API v1 cannot change milestone of a work item after creation"} {
		a := s.apply(t, applying{manifest: planned(1, ", milestone: beta")})
		if why := a.reasons()["work_item/web/i0"]; why != want || len(a.failed()) > 0 {
			t.Error(a.reasons(), a.failed())
		}
	}
}
