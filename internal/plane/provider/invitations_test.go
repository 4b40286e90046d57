package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

const withGus = `version: 1
projects:
  - identifier: OPS
    members: [gus@example.com, Hal@example.com]
    work_items: [{key: a, name: Call, assignees: [gus@example.com]}]
`

// TestPeopleAreInvitedOnceAndOnlyOnRequest, because the service sends them a mail.
func TestPeopleAreInvitedOnceAndOnlyOnRequest(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud})
			found := s.findings(t, withGus)
			if !found.HasErrors() || !strings.Contains(found[0].Summary+found[0].Hint, "no member \"gus@example.com\"") || !strings.Contains(found[0].Hint, "--invite") || s.writes() > 0 {
				t.Fatal(found)
			}
			a := s.apply(t, applying{manifest: withGus, invite: true})
			if len(a.failed()) > 0 || s.invitations() != "gus@example.com 15, hal@example.com 15" {
				t.Errorf("%v %q", a.failed(), s.invitations())
			}
			const once = "apply again then; if no mail came, an admin finds the link in Settings, Members"
			if want := map[resource.Address]string{
				"project/ops":     "2 people have not accepted their invitations yet: Hal@example.com, gus@example.com; " + once,
				"work_item/ops/a": "gus@example.com is invited to the workspace, and has not accepted yet: " + once,
			}; !maps.Equal(a.reasons(), want) {
				t.Errorf("%q", a.reasons())
			}
			for _, prune := range []bool{false, true} { // pending invitations are not deleted
				if again := s.apply(t, applying{manifest: withGus, invite: true, prune: prune}); again.writes > 0 || len(again.failed()) > 0 {
					t.Error(again.writes, again.failed())
				}
			}
			s.dir = t.TempDir() // the state is lost
			if again := s.apply(t, applying{manifest: withGus, invite: true}); again.writes > 0 {
				t.Error(again.writes)
			}
			if gone := s.apply(t, applying{manifest: "version: 1\nprojects: [{identifier: OPS}]", prune: true}); strings.Contains(strings.Join(gone.failed(), " "), "invitation") || s.invitations() == "" {
				t.Error(gone.failed())
			}
		})
	}
}

// TestAnInvitationWithoutAnAnswerIsNotSentTwice, because the list of invitations shows its outcome.
func TestAnInvitationWithoutAnAnswerIsNotSentTwice(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandboxtest.Fault{
		"an invitation that was lost before it arrived is sent once more": {Before: sandboxtest.Break{Cut: true}}, "an invitation that was lost after it was carried out is found": {After: sandboxtest.Break{Cut: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Cloud})
			hit := false
			a := s.apply(t, applying{manifest: withGus, invite: true, workers: 1, fault: func(req *http.Request, r run) sandboxtest.Fault {
				if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/invitations/") || hit {
					return sandboxtest.Fault{}
				}
				hit = true
				return fault
			}})
			again := s.apply(t, applying{manifest: withGus, invite: true})
			last := s.apply(t, applying{manifest: withGus, invite: true})
			if !hit || len(again.failed()) > 0 || last.writes > 0 || s.invitations() != "gus@example.com 15, hal@example.com 15" {
				t.Errorf("%v %v %d %q", a.failed(), again.failed(), last.writes, s.invitations())
			}
			sent := 0
			for _, step := range append(a.plan.Steps, again.plan.Steps...) {
				if step.Kind.Name == resource.Invitation && step.Action == planner.Create {
					sent++
				}
			}
			if sent < 2 {
				t.Error("no plan shows the invitations")
			}
		})
	}
}

// invitations returns the invited people with their roles.
func (sv *service) invitations() string {
	var all []string
	for _, row := range sv.Rows("invitation") {
		all = append(all, row["email"].(string)+" "+fmt.Sprint(row["role"]))
	}
	return strings.Join(all, ", ")
}
