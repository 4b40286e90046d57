package provider_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestAnObjectThatThePricePlanLacksIsLeftOutAndTheRestIsDone, because API v2 answers 402.
func TestAnObjectThatThePricePlanLacksIsLeftOutAndTheRestIsDone(t *testing.T) {
	t.Parallel()
	for word, tt := range map[string]struct {
		manifest string
		address  resource.Address // of the object that is left out; "" = API v1 creates it
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

// TestAFeatureThatIsOffIsSwitchedOnAlthoughItsListIsRefused: the service refuses the list of each feature in another way.
func TestAFeatureThatIsOffIsSwitchedOnAlthoughItsListIsRefused(t *testing.T) {
	t.Parallel()
	const releases, intake = `releases: [{name: R}]`, `projects: [{identifier: WEB, intake: [{name: R}]}]`
	for name, tt := range map[string]struct {
		manifest, kind, list, feature string
		status                        int
	}{
		"releases of the workspace are switched on although their list is refused": {releases, "release", "/releases/", "is_release_enabled", 403},
		"the intake of a project is switched on although its list is refused":      {intake, "intake_item", "/intake-issues/", "intake_view", 400},
		"the intake of a project is switched on although its list does not exist":  {intake, "intake_item", "/intake-issues/", "intake_view", 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{})
			s.always = func(req *http.Request) sandboxtest.Fault {
				on := slices.ContainsFunc(append(s.Rows("workspace"), s.Rows("project")...), func(row map[string]any) bool { return row[tt.feature] == true })
				if on || req.Method != http.MethodGet || !strings.HasSuffix(req.URL.Path, tt.list) {
					return sandboxtest.Fault{}
				}
				return before(sandboxtest.Problem(tt.status, "refused", "refused"))
			}
			a := s.apply(t, applying{manifest: tt.manifest})
			if len(a.failed())+len(a.reasons()) > 0 || s.named(tt.kind, "R") != 1 {
				t.Errorf("%v %q %v", a.reasons(), a.failed(), a.Stopped)
			}
			if again := s.apply(t, applying{manifest: tt.manifest}); again.writes > 0 {
				t.Errorf("again: %d writes", again.writes)
			}
		})
	}
}
