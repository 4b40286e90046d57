package sandbox

import (
	"strings"
	"testing"
)

func TestWhatTheSandboxDoesNotKnowItSays(t *testing.T) {
	t.Parallel()
	const ws, project = "/api/v1/workspaces/" + Workspace + "/", "/api/v1/workspaces/" + Workspace + "/projects/" + projectWeb + "/"
	for name, tt := range map[string]struct {
		edition      Edition
		method, path string
		status       int
		says         string
	}{
		"an operation that the service has":            {Community, "GET", ws + "stickies/", 501, "does not serve GET /api/v1/workspaces/{}/stickies/"},
		"a path that the service does not have":        {Community, "GET", ws + "nosuch/", 404, "Page not found"},
		"a method that the service does not have":      {Community, "PUT", project + "labels/", 405, "not allowed"},
		"an operation of another edition":              {Community, "GET", ws + "customers/", 404, "Page not found"},
		"a parameter whose effect nobody saw":          {Full, "GET", ws + "customers/?colour=red", 501, `parameter \"colour\"`},
		"a parameter that the community edition skips": {Community, "GET", project + "labels/?colour=red", 200, "results"},
		"an operation of API v2":                       {Cloud, "GET", "/api/v2/workspaces/" + Workspace + "/automations/", 501, "does not serve GET"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := want(t, ask(t, openTest(t, Options{Edition: tt.edition}), tt.method, tt.path, ""), tt.status)
			if !strings.Contains(string(got.body), tt.says) {
				t.Errorf("answered %s", got.body)
			}
		})
	}
}
