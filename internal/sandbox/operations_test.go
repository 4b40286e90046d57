package sandbox

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/resource"
)

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// beyondDescriptors is what the sandbox serves although planform never asks for it, and why. Paths are whole, or below the workspace of
// API v1.
func beyondDescriptors() map[string]string {
	const (
		sdk      = "the service's own SDK calls it for a kind of planform, and so do people's scripts beside planform"
		features = "a project's features decide what the service takes; tests switch them"
		old      = "the name that it had before"
		recorded = "people and their scripts use it beside planform; behaviours of it are recorded"
		seen     = "the service's own tests say how it answers"
	)
	reasons := map[string]string{
		"DELETE projects/{}/estimates/":                                   sdk,
		"DELETE projects/{}/work-item-properties/{}/options/{}/":          sdk,
		"DELETE projects/{}/work-item-types/{}/work-item-properties/{}/":  sdk,
		"PATCH projects/{}/work-items/{}/work-item-properties/{}/values/": sdk,
		"GET projects/{}/work-items/{}/links/{}/":                         sdk,
		"GET projects/{}/cycles/{}/cycle-issues/{}/":                      recorded,
		"GET invitations/": recorded, "POST invitations/": recorded,
		"GET invitations/{}/": recorded, "PATCH invitations/{}/": recorded, "DELETE invitations/{}/": recorded,
		"GET projects/{}/features/": features, "PATCH projects/{}/features/": features, "PATCH features/": features,
	}
	for _, list := range []string{"states/", "labels/", "cycles/", "modules/", "milestones/", "work-items/{}/comments/"} {
		reasons["GET /api/v2/workspaces/{}/projects/{}/"+list], reasons["GET /api/v2/workspaces/{}/projects/{}/"+list+"{}/"] = seen, seen
	}
	for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
		for _, path := range []string{
			"issues/{}/", "projects/{}/issues/", "projects/{}/issues/{}/", "projects/{}/issues/{}/activities/", "projects/{}/issues/{}/comments/",
			"projects/{}/issues/{}/comments/{}/", "projects/{}/issues/{}/issue-attachments/", "projects/{}/issues/{}/issue-attachments/{}/",
			"projects/{}/issues/{}/links/", "projects/{}/issues/{}/links/{}/", "projects/{}/issues/{}/relations/", "projects/{}/issues/{}/relations/remove/",
			"projects/{}/members/", "projects/{}/members/{}/",
		} {
			reasons[method+" "+path] = old
		}
	}
	return reasons
}

func TestTheSandboxServesWhatTheDescriptorsNameAndLittleElse(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	served := map[string]bool{}
	serve := func(method, path string) {
		paths := []string{path}
		if one, members := strings.CutSuffix(path, "{members}/"); members { // one route for three lists
			paths = []string{one + "projects/", one + "labels/", one + "epics/"}
		}
		for _, path := range paths {
			path = pathParameter.ReplaceAllString(path, "{}")
			served[method+" "+strings.TrimSuffix(path, "/")] = true
		}
	}
	for _, r := range s.routes() {
		for method := range r.on {
			serve(method, r.api.root+r.pattern)
		}
	}
	extra := maps.Clone(served)
	for _, op := range resource.Operations() {
		name := op.Method + " " + strings.TrimSuffix(pathParameter.ReplaceAllString(op.Path, "{}"), "/")
		if delete(extra, name); !served[name] {
			t.Errorf("planform calls %s, which the sandbox does not serve", name)
		}
	}
	reasons := map[string]bool{}
	for name := range beyondDescriptors() {
		method, path, _ := strings.Cut(name, " ")
		if !strings.HasPrefix(path, "/") {
			path = apiRoot + "workspaces/{}/" + path
		}
		reasons[method+" "+strings.TrimSuffix(path, "/")] = true
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !reasons[name] {
			t.Errorf("the sandbox serves %s, which planform never calls, and nothing says why", name)
		}
	}
}
