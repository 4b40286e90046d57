package sandbox

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// beyondDescriptors names the test that needs an operation which planform never calls. Paths are whole, or below the workspace of API v1.
func beyondDescriptors() map[string]string {
	const seen = "TestAPIV2AnswersAsTheServicesOwnTestsSawIt reads what its batches made"
	reasons := map[string]string{
		"GET projects/{}/work-items/{}/links/{}/": "TestTheSandboxBehavesAsRecorded reads what a change did to a link",
		"GET projects/{}/project-members-lite/":   "TestTheSandboxBehavesAsRecorded reads what 1.4 shows of members",
	}
	for _, list := range []string{"states/", "labels/", "cycles/", "modules/", "milestones/", "work-items/{}/comments/"} {
		reasons["GET /api/v2/workspaces/{}/projects/{}/"+list], reasons["GET /api/v2/workspaces/{}/projects/{}/"+list+"{}/"] = seen, seen
	}
	return reasons
}

// servedIn returns the operations that an edition serves.
func servedIn(t *testing.T, edition Edition) map[string]bool {
	t.Helper()
	served := map[string]bool{}
	for _, r := range openTest(t, Options{Edition: edition}).routes() {
		for method := range r.on {
			served[method+" "+strings.TrimSuffix(pathParameter.ReplaceAllString(r.api.root+r.pattern, "{}"), "/")] = true
		}
	}
	return served
}

func TestEachEditionServesTheOperationsOfTheDescriptorsAndOfTests(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	for _, op := range resource.Operations() {
		called[op.Method+" "+strings.TrimSuffix(pathParameter.ReplaceAllString(op.Path, "{}"), "/")] = true
	}
	reasons := map[string]bool{}
	for name := range beyondDescriptors() {
		method, path, _ := strings.Cut(name, " ")
		if !strings.HasPrefix(path, "/") {
			path = apiRoot + "workspaces/{}/" + path
		}
		reasons[method+" "+strings.TrimSuffix(path, "/")] = true
	}
	needed := maps.Clone(reasons)
	unserved := maps.Clone(called)
	delete(unserved, "GET /api/instances") // it is no route of an API
	for name, edition := range map[string]Edition{"community": Community, "full": Full, "cloud": Cloud} {
		served := servedIn(t, edition)
		for _, op := range slices.Sorted(maps.Keys(served)) {
			delete(unserved, op)
			if delete(needed, op); !called[op] && !reasons[op] {
				t.Errorf("the %s edition serves %s, which planform never calls, and no test needs", name, op)
			}
		}
	}
	for op := range unserved {
		t.Errorf("planform calls %s, which no edition serves", op)
	}
	for op := range needed {
		t.Errorf("a reason is given for %s, which no edition serves", op)
	}
}
