package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// roleOfEve is that in the project WEB, as it is stored.
func (s *service) roleOfEve() string {
	for _, row := range s.Rows("project_member") {
		if row["member"] == sandboxtest.UserEve && row["project"] == sandboxtest.ProjectWeb {
			return (&resource.Attribute{Name: "role", Values: []string{"guest", "member", "admin"}, Codes: []int{5, 15, 20}}).Shown(row)
		}
	}
	return ""
}

// TestANewMemberIsNeverPromotedByAccidentAndAWrittenRoleIsKept: who comes new is never promoted by accident, and a role that is
// written is kept, where the service shows it.
func TestANewMemberIsNeverPromotedByAccidentAndAWrittenRoleIsKept(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{key: web, identifier: WEB, members: `
	for name, answers := range map[string]sandbox.Answers{"shown": sandbox.Contract, "not shown": sandbox.Observed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Answers: answers})
			a := s.apply(t, applying{manifest: with + `[bob@example.com, eve@example.com]}]}`})
			if got := s.roleOfEve(); got != "guest" || len(a.failed()) > 0 {
				t.Errorf("a guest of the workspace became %q: %v", got, a.failed())
			}
			// What is not said is not managed; what is said and was applied is as it was.
			for _, members := range []string{`[bob@example.com, eve@example.com]`, `[bob@example.com, {user: eve@example.com, role: guest}]`} {
				if again := s.apply(t, applying{manifest: with + members + `}]}`}); !again.plan.Empty() || again.writes > 0 || len(again.plan.Notices) > 0 {
					t.Error(members, again.writes, again.plan.Notices)
				}
			}
			changed := s.apply(t, applying{manifest: with + `[{user: eve@example.com, role: member}]}]}`})
			if answers == sandbox.Observed {
				if reasons := changed.reasons(); changed.writes > 0 || len(reasons) != 1 {
					t.Error(changed.writes, reasons)
				}
				return
			}
			if got := s.roleOfEve(); got != "member" || changed.plan.Summary.Update != 1 || len(changed.failed()) > 0 {
				t.Error(got, changed.plan.Summary, changed.failed())
			}
			for _, row := range s.Rows("project_member") {
				if row["member"] == sandboxtest.UserEve {
					s.somebody(t, http.MethodPatch, "projects/"+sandboxtest.ProjectWeb+"/project-members/"+row["id"].(string)+"/", `{"role": 20}`) //nolint:forcetypeassert // it is a text
				}
			}
			drifted := s.apply(t, applying{manifest: with + `[{user: eve@example.com, role: member}]}]}`})
			if got := s.roleOfEve(); got != "member" || len(drifted.plan.Drift) != 1 {
				t.Error(got, drifted.plan.Drift)
			}
			step := drifted.plan.Steps[0]
			if c := step.Changes(); step.Action != planner.Update || *c[0].Before != "eve@example.com (admin)" || *c[0].After != "eve@example.com (member)" || c[0].Origin != planner.FromDrift {
				t.Errorf("%s %+v", step.Action, c)
			}
			if a := s.apply(t, applying{manifest: with + `[{user: eve@example.com, role: member}]}]}`}); !a.plan.Empty() {
				t.Error(a.plan.Summary)
			}
		})
	}
}

// TestTheCommunityEditionCannotRemoveMembers: its lists do not show what the request needs.
func TestTheCommunityEditionCannotRemoveMembers(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
	s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: [me, eve@example.com]}]}`})
	for _, members := range []string{`, members: []`, ``} {
		a := s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB` + members + `}]}`, prune: true})
		if reasons := a.reasons(); a.writes > 0 || len(reasons) != 1 || !strings.Contains(reasons["project/web#members"], "no way to remove members of a project (do that in the web app") {
			t.Error(a.writes, reasons)
		}
		if a.plan.Summary.RemoveMembers > 0 || s.roleOfEve() == "" {
			t.Error(a.plan.Summary)
		}
	}
}

// TestAMemberWhoCannotBeRemovedIsNotReportedAsRemoved: an edition that does not find the
// membership of a user answers as if it were gone.
func TestAMemberWhoCannotBeRemovedIsNotReportedAsRemoved(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: [eve@example.com]}]}`})
	a := s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: []}]}`, fault: func(r *http.Request, _ run) sandboxtest.Fault {
		if r.Method != http.MethodDelete || !strings.Contains(r.URL.Path, "project-members") {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusNotFound, Body: `{"error": "The requested resource does not exist."}`}}
	}})
	if len(a.failed()) != 1 || s.roleOfEve() == "" {
		t.Error(a.failed())
	}
}
