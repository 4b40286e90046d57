package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestWhatThePlanOfTheWorkspaceLacksIsLeftOutAndTheRestIsDone: API v2 answers 402 to it.
func TestWhatThePlanOfTheWorkspaceLacksIsLeftOutAndTheRestIsDone(t *testing.T) {
	t.Parallel()
	for word, tt := range map[string]struct {
		manifest string
		address  resource.Address // of what is left out; "" = API v1 makes it
	}{
		"releases":                       {`releases: [{name: R}]`, "release/r"},
		"work-item-relation-definitions": {`relation_definitions: [{name: R, outward: a, inward: b}]`, "relation_definition/r"},
		"pages":                          {`pages: [{name: R}]`, ""},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{Unpaid: []string{word}})
			a := s.apply(t, applying{manifest: "projects: [{identifier: WEB, labels: [other]}]\n" + tt.manifest})
			if _, without := a.reasons()[tt.address]; s.named("label", "other") != 1 || a.Stopped != nil || len(a.failed()) > 0 || without != (tt.address != "") {
				t.Errorf("%v %q %v", a.reasons(), a.failed(), a.Stopped)
			}
		})
	}
}

// TestWhatIsSwitchedOffIsSwitchedOnAlthoughItsListIsRefused: until then the service refuses to list it, each feature in its way.
func TestWhatIsSwitchedOffIsSwitchedOnAlthoughItsListIsRefused(t *testing.T) {
	t.Parallel()
	for list, tt := range map[string]struct {
		manifest, kind, feature string
		status                  int
	}{
		"/releases/":      {`releases: [{name: R}]`, "release", "is_release_enabled", 403},
		"/intake-issues/": {`projects: [{identifier: WEB, intake: [{name: R}]}]`, "intake_item", "intake_view", 400},
	} {
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{})
			off := func() bool {
				for _, row := range append(s.Rows("workspace"), s.Rows("project")...) {
					if row[tt.feature] == true {
						return false
					}
				}
				return true
			}
			s.always = func(req *http.Request) sandboxtest.Fault {
				if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, list) && off() {
					return before(sandboxtest.Problem(tt.status, "forbidden", "forbidden"))
				}
				return sandboxtest.Fault{}
			}
			a := s.apply(t, applying{manifest: tt.manifest})
			if len(a.failed()) > 0 || s.named(tt.kind, "R") != 1 {
				t.Errorf("%v %q %v", a.reasons(), a.failed(), a.Stopped)
			}
		})
	}
}
