package provider_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// roleOfEve returns her stored role in the project WEB.
func (sv *service) roleOfEve() string {
	for _, row := range sv.Rows("project_member") {
		if row["member"] == sandboxtest.UserEve && row["project"] == sandboxtest.ProjectWeb {
			return resource.MustLookup("project_member").Membership.Attribute.Shown(row)
		}
	}
	return ""
}

// TestANewMemberIsNeverPromotedByAccidentAndAWrittenRoleIsKept also checks that a role in the manifest is restored
// if the service shows it.
func TestANewMemberIsNeverPromotedByAccidentAndAWrittenRoleIsKept(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{key: web, identifier: WEB, members: `
	for name, answers := range map[string]sandbox.Answers{"the service shows the role": sandbox.Contract, "the service does not show the role": sandbox.Observed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Answers: answers})
			a := s.apply(t, applying{manifest: with + `[bob@example.com, eve@example.com]}]}`})
			if got := s.roleOfEve(); got != "guest" || len(a.failed()) > 0 {
				t.Errorf("a guest of the workspace became %q: %v", got, a.failed())
			}
			// A role that is not in the manifest is not managed; a role in the manifest stays as applied.
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
					s.otherUser(t, http.MethodPatch, "projects/"+sandboxtest.ProjectWeb+"/project-members/"+row["id"].(string)+"/", `{"role": 20}`) //nolint:forcetypeassert // it is a text
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

// TestARoleThatNoManifestNamesIsDriftToo covers roles of the workspace, which API v2 shows by their slugs.
func TestARoleThatNoManifestNamesIsDriftToo(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{key: web, identifier: WEB, members: [{user: eve@example.com, role: guest}]}]}`
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	s.apply(t, applying{manifest: text})
	s.replying = func(_ *http.Request, row map[string]any) {
		if row["member_id"] == sandboxtest.UserEve {
			row["role"] = "commenter"
		}
	}
	r := s.apply(t, applying{manifest: text})
	if len(r.plan.Steps) != 1 || len(r.plan.Drift) != 1 {
		t.Fatal(r.plan.Summary, len(r.plan.Drift))
	}
	if c := r.plan.Steps[0].Changes()[0]; *c.Before != "eve@example.com (commenter)" || *c.After != "eve@example.com (guest)" || c.Origin != planner.FromDrift {
		t.Errorf("%+v", c)
	}
}

// slugOfEve returns her role in the project WEB in API v2.
func (sv *service) slugOfEve() any {
	for _, row := range sv.Rows("project_member") {
		if row["member"] == sandboxtest.UserEve && row["project"] == sandboxtest.ProjectWeb {
			return row["slug"]
		}
	}
	return nil
}

// TestARoleThatTheWorkspaceDefinesIsGivenBySlugOrName covers adding, changing and removing members with such a role.
func TestARoleThatTheWorkspaceDefinesIsGivenBySlugOrName(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{key: web, identifier: WEB, members: [bob@example.com, {user: eve@example.com, role: `
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	asked, lists, others := 0, 0, false
	s.always = func(req *http.Request) sandboxtest.Fault {
		if strings.HasSuffix(req.URL.Path, "/roles/") {
			asked++
		}
		if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, sandboxtest.ProjectWeb+"/members/") {
			lists++
		}
		if req.Method != http.MethodGet && !others && !strings.HasPrefix(req.URL.Path, "/api/v2/") {
			t.Errorf("%s %s", req.Method, req.URL.Path)
		}
		return sandboxtest.Fault{}
	}
	for _, step := range []struct {
		role, slug string
		writes     int
	}{
		{"reviewer", "reviewer", 1},
		{"Reviewer", "reviewer", 0},
		{"release manager", "release-manager", 1}, // its name, in any case
		{"Contributor", "contributor", 1},
		{"member", "contributor", 0},
		{"commenter", "commenter", 1},
	} {
		a := s.apply(t, applying{manifest: with + step.role + `}]}]}`})
		if a.writes != step.writes || s.slugOfEve() != step.slug || len(a.failed())+len(a.warnings())+len(a.plan.Drift) > 0 {
			t.Fatalf("%s: %d writes, %v, %v %v", step.role, a.writes, s.slugOfEve(), a.failed(), a.warnings())
		}
	}
	if lists != 6 {
		t.Errorf("%d runs read the members %d times", 6, lists)
	}
	text := with + `reviewer}]}]}`
	s.apply(t, applying{manifest: text})
	others = true
	s.otherUser(t, http.MethodPatch, "projects/"+sandboxtest.ProjectWeb+"/project-members/"+sandboxtest.UserEve+"/", `{"role": 20}`)
	others = false
	drifted := s.apply(t, applying{manifest: text})
	if c := drifted.plan.Steps[0].Changes()[0]; s.slugOfEve() != "reviewer" || len(drifted.plan.Drift) != 1 ||
		*c.Before != "eve@example.com (admin)" || *c.After != "eve@example.com (reviewer)" {
		t.Errorf("%v, %+v", s.slugOfEve(), c)
	}
	if s.dir = t.TempDir(); s.apply(t, applying{manifest: text}).writes > 0 {
		t.Error("without the state it is given anew")
	}
	if asked == 0 {
		t.Error("nobody asked for the roles")
	}
	asked = 0
	s.apply(t, applying{manifest: with + `guest}]}]}`})
	if s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: [bob@example.com]}]}`, prune: true}); s.roleOfEve() != "guest" {
		t.Error("what planform found there was removed")
	}
	if s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: []}]}`}); asked > 0 {
		t.Errorf("the roles were asked for %d times", asked)
	}
}

// TestARoleThatDoesNotExistIsAnError of the plan, before anything is written.
func TestARoleThatDoesNotExistIsAnError(t *testing.T) {
	t.Parallel()
	without := func(_, path string) bool { return !strings.Contains(path, "/roles/") }
	for name, tt := range map[string]struct {
		api           resource.API
		options       sandboxtest.Options
		role          string
		summary, hint string
	}{
		"a role that does not exist is an error with API v2":                   {resource.V2, sandboxtest.Options{}, "editor", `the workspace has no role "editor" for projects`, "there are guest, member, admin, commenter, reviewer, release-manager; an admin defines roles in Plane"},
		"a role of the workspace is an error in a project":                     {resource.V2, sandboxtest.Options{}, "owner", `the workspace has no role "owner" for projects`, "there are guest"},
		"a misspelt role is an error with a suggestion with API v2":            {resource.V2, sandboxtest.Options{}, "gest", `the workspace has no role "gest" for projects`, `did you mean "guest"?`},
		"a role that a workspace defines is an error with API v1":              {resource.V1, sandboxtest.Options{}, "reviewer", `the role "reviewer" of eve@example.com is not predefined, and only API v2 reads those that a workspace defines`, "choose one of guest, member, admin; for others, use --api v2"},
		"a misspelt role is an error with a suggestion with API v1":            {resource.V1, sandboxtest.Options{}, "gest", `the role "gest" of eve@example.com is not predefined`, `did you mean "guest"?`},
		"a role that a workspace defines is an error if API v2 lists no roles": {resource.V2, sandboxtest.Options{HasOperation: without}, "reviewer", `the role "reviewer" of eve@example.com is not predefined`, "for others, use --api v2 if the service shows members by it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, tt.api, tt.options)
			found := s.findings(t, `{version: 1, projects: [{key: web, identifier: WEB, id: `+sandboxtest.ProjectWeb+`, members: [{user: eve@example.com, role: `+tt.role+`}]}]}`)
			if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
				return d.Severity == diag.Error && d.Position.Line == 1 && strings.HasPrefix(d.Summary, tt.summary) && strings.Contains(d.Hint, tt.hint)
			}) || s.writes() > 0 {
				t.Errorf("%+v", found)
			}
		})
	}
}

// TestAPersonWithARoleBelowMemberCannotBeAssigned, by the level of the role.
func TestAPersonWithARoleBelowMemberCannotBeAssigned(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	with := func(role string) string {
		return `{version: 1, projects: [{key: web, identifier: WEB, members: [{user: eve@example.com, role: ` + role + `}], work_items: [{key: a, name: A, assignees: [eve@example.com]}]}]}`
	}
	a := s.apply(t, applying{manifest: with("reviewer")})
	if why := a.reasons()["work_item/web/a"]; len(a.warnings()) > 0 || !strings.HasPrefix(why, "the service accepts no reviewer of project/web as assignees: give eve@example.com the role member") {
		t.Error(a.reasons(), a.warnings())
	}
	if b := s.apply(t, applying{manifest: with("Release manager")}); len(b.reasons())+len(b.warnings())+len(b.failed()) > 0 {
		t.Error(b.reasons(), b.warnings(), b.failed())
	}
	if c := s.apply(t, applying{manifest: with("release-manager")}); !c.plan.Empty() {
		t.Errorf("%+v", c.plan.Summary)
	}
}

// TestAPIV1WritesMembersIfAPIV2OnlyReadsThem, except for a role that only API v2 knows.
func TestAPIV1WritesMembersIfAPIV2OnlyReadsThem(t *testing.T) {
	t.Parallel()
	for name, has := range map[string]func(method, path string) bool{
		"API v2 only reads members": func(method, path string) bool {
			return method == http.MethodGet || !strings.Contains(path, "/members/")
		},
		"API v2 knows no members":      func(_, path string) bool { return !strings.Contains(path, "/members/") },
		"API v2 is closed for members": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{HasOperation: has, Answers: sandbox.Contract})
			if has == nil {
				s.always = func(req *http.Request) sandboxtest.Fault {
					if strings.HasPrefix(req.URL.Path, "/api/v2/") && strings.Contains(req.URL.Path, "/members/") {
						return sandboxtest.Fault{Before: sandboxtest.Problem(http.StatusForbidden, "forbidden", "forbidden")}
					}
					return sandboxtest.Fault{}
				}
			}
			members := func(list string) string {
				return `{version: 1, projects: [{key: web, identifier: WEB, members: [` + list + `]}]}`
			}
			for _, step := range []struct{ list, role string }{
				{"{user: eve@example.com, role: guest}", "guest"}, {"{user: eve@example.com, role: admin}", "admin"}, {"", ""},
			} {
				a := s.apply(t, applying{manifest: members(step.list)})
				if a.writes == 0 || len(a.failed())+len(a.warnings())+len(a.fallbacks) > 0 || s.roleOfEve() != step.role {
					t.Errorf("%s: %v %v, %q", step.list, a.failed(), a.warnings(), s.roleOfEve())
				}
			}
			if name != "API v2 only reads members" {
				found := s.findings(t, members("{user: eve@example.com, role: reviewer}"))
				if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
					return d.Severity == diag.Error && strings.HasPrefix(d.Summary, `the role "reviewer" of eve@example.com is not predefined`) && strings.HasSuffix(d.Hint, "for others, use --api v2 if the service shows members by it")
				}) {
					t.Error(found)
				}
				return
			}
			a := s.apply(t, applying{manifest: members("{user: eve@example.com, role: reviewer}")})
			if len(a.failed()) != 1 || s.roleOfEve() != "" {
				t.Error(a.failed(), s.roleOfEve())
			}
		})
	}
}

// TestARoleThatTheServiceStoresDifferentlyIsNotAChangeByPeople checks the next plan.
func TestARoleThatTheServiceStoresDifferentlyIsNotAChangeByPeople(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{key: web, identifier: WEB, members: [{user: eve@example.com, role: reviewer}]}]}`
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	s.replying = func(_ *http.Request, row map[string]any) {
		if row["member_id"] == sandboxtest.UserEve {
			row["role"] = "guest"
		}
	}
	for _, run := range []string{"adds her", "updates her role"} {
		a := s.apply(t, applying{manifest: text})
		if w := a.warnings(); len(w) != 1 || !strings.HasSuffix(w[0].Summary, "guest instead of reviewer") || len(a.plan.Drift) > 0 {
			t.Errorf("%s: %v, %d drifted", run, w, len(a.plan.Drift))
		}
	}
}

// TestSomebodyWhoWasAddedMeanwhileMayHaveAnotherRole, because the service refuses a second membership, and the first one stays unchanged.
func TestSomebodyWhoWasAddedMeanwhileMayHaveAnotherRole(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{key: web, identifier: WEB, members: [{user: eve@example.com, role: guest}]}]}`
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Answers: sandbox.Contract})
	s.apply(t, applying{manifest: text, file: func() {
		s.otherUser(t, http.MethodPost, "projects/"+sandboxtest.ProjectWeb+"/project-members/", `{"member": "`+sandboxtest.UserEve+`", "role": 20}`)
	}})
	if a := s.apply(t, applying{manifest: text}); a.plan.Summary.Update != 1 || len(a.plan.Drift) > 0 || s.roleOfEve() != "guest" {
		t.Errorf("%+v, %d drifted, %s", a.plan.Summary, len(a.plan.Drift), s.roleOfEve())
	}
}

// TestARoleWithTheWordOfAnotherIsNotTakenForThat: member in a manifest is contributor on the service, and a workspace may define its own "member".
func TestARoleWithTheWordOfAnotherIsNotTakenForThat(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	with := func(role string) string {
		return `{version: 1, projects: [{key: web, identifier: WEB, members: [{user: eve@example.com, role: ` + role + `}]}]}`
	}
	s.apply(t, applying{manifest: with("member")})
	var sent string
	s.always = func(req *http.Request) sandboxtest.Fault {
		if req.Method == http.MethodPatch {
			body, _ := io.ReadAll(req.Body)
			sent = string(body)
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		return sandboxtest.Fault{}
	}
	s.replying = func(req *http.Request, row map[string]any) {
		switch {
		case row["slug"] == "reviewer":
			row["slug"], row["name"] = "member", "Regular"
		case row["member_id"] == sandboxtest.UserEve && req.Method == http.MethodGet:
			row["role"] = "member"
		}
	}
	a := s.apply(t, applying{manifest: with("member")})
	if len(a.plan.Steps) != 1 || len(a.plan.Drift) != 1 || sent != `{"role":"contributor"}` {
		t.Fatalf("%d steps, %d drifted; sent %s", len(a.plan.Steps), len(a.plan.Drift), sent)
	}
	if c := a.plan.Steps[0].Changes()[0]; *c.Before != "eve@example.com (Member)" || *c.After != "eve@example.com (member)" {
		t.Errorf("%s -> %s", *c.Before, *c.After)
	}
	for _, role := range []string{"Member", "regular"} {
		if b := s.apply(t, applying{manifest: with(role)}); !b.plan.Empty() {
			t.Errorf("%s: %+v", role, b.plan.Summary)
		}
	}
	s.replying = func(_ *http.Request, row map[string]any) {
		if row["slug"] == "reviewer" {
			row["slug"] = "member"
		}
	}
	if s.apply(t, applying{manifest: with("Member")}); sent != `{"role":"member"}` {
		t.Errorf("sent %s", sent)
	}
}

// TestTheRoleOfAMemberIsComparedIfAPIV2ShowsIt, because API v1 of the same edition does not show it, and the state does not show changes by people.
func TestTheRoleOfAMemberIsComparedIfAPIV2ShowsIt(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{key: web, identifier: WEB, members: [{user: eve@example.com, role: guest}]}]}`
	unseen := []planner.NotCompared{{
		Kind: "project", Field: "members", Count: 1, What: "roles of members of 1 project", Why: "the service does not show them",
		Addresses: []resource.Address{"project/web"}, All: []resource.Address{"project/web"},
	}}
	for _, api := range []resource.API{resource.V1, resource.V2} {
		for _, forgetful := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, state lost %t", api, forgetful), func(t *testing.T) {
				t.Parallel()
				s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud})
				s.apply(t, applying{manifest: text})
				s.otherUser(t, http.MethodPatch, "projects/"+sandboxtest.ProjectWeb+"/project-members/"+sandboxtest.UserEve+"/", `{"role": 20}`)
				if got := s.roleOfEve(); got != "admin" {
					t.Fatal(got)
				}
				if forgetful {
					s.dir = t.TempDir()
				}
				r := s.apply(t, applying{manifest: text})
				if api == resource.V1 {
					if !reflect.DeepEqual(r.plan.NotCompared, unseen) || r.writes > 0 || r.plan.Summary.Unchanged != 0 {
						t.Errorf("%+v %+v", r.plan.NotCompared, r.plan.Summary)
					}
					return
				}
				if got := s.roleOfEve(); got != "guest" || len(r.plan.NotCompared) > 0 || !forgetful && len(r.plan.Drift) != 1 {
					t.Errorf("%s %+v, %d drifted", got, r.plan.NotCompared, len(r.plan.Drift))
				}
				if again := s.apply(t, applying{manifest: text}); !again.plan.Empty() || again.plan.Summary.Unchanged != 1 {
					t.Errorf("again: %+v", again.plan.Summary)
				}
			})
		}
	}
}

// TestTheCommunityEditionCannotRemoveMembers, because its lists do not show the ID that the request needs.
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

// TestAMemberWhoCannotBeRemovedIsNotReportedAsRemoved uses an edition that does not find the
// membership of a user, and answers as if it were gone.
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

// TestAGuestCannotBeAssigned, because the service silently drops guests from assignees. The plan reports them, and they are not sent.
func TestAGuestCannotBeAssigned(t *testing.T) {
	t.Parallel()
	const items = `work_items: [{key: a, name: A, assignees: [bob@example.com, eve@example.com]}, {key: b, name: B, assignees: [eve@example.com]}]}]}`
	const why = "the service accepts no guest of project/web as assignees: give eve@example.com the role member, or leave them out"
	for name, answers := range map[string]sandbox.Answers{"the service shows the role": sandbox.Contract, "the service does not show the role": sandbox.Observed} {
		for members, list := range map[string]string{"the manifest gives it": "[bob@example.com, {user: eve@example.com, role: guest}]", "the workspace gives it": "[bob@example.com, eve@example.com]"} {
			t.Run(name+", "+members, func(t *testing.T) {
				t.Parallel()
				s := newServiceOf(t, resource.V1, sandboxtest.Options{Answers: answers})
				manifest := `{version: 1, projects: [{key: web, identifier: WEB, members: ` + list + `, ` + items
				for _, run := range []string{"first", "second", "third"} {
					a := s.apply(t, applying{manifest: manifest})
					if r := a.reasons(); len(r) != 2 || r["work_item/web/a"] != why || r["work_item/web/b"] != why || len(a.warnings()) > 0 || (a.writes > 0) != (run == "first") {
						t.Error(run, a.writes, r, a.warnings())
					}
				}
				if answers == sandbox.Observed {
					return
				}
				a := s.apply(t, applying{workers: 1, manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: [bob@example.com, {user: eve@example.com, role: member}], ` + items})
				if a.plan.Summary.Update != 3 || len(a.reasons())+len(a.warnings())+len(a.failed()) > 0 {
					t.Errorf("as a member: %+v %v %v %v", a.plan.Summary, a.reasons(), a.warnings(), a.failed())
				}
			})
		}
	}
}

// TestAnAssigneeThatTheServiceLeavesOutIsSentOnce: the plan cannot know that the assignee is a guest. The assignee is sent again only after a change.
func TestAnAssigneeThatTheServiceLeavesOutIsSentOnce(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Answers: sandbox.Observed})
	const members = "projects/" + sandboxtest.ProjectWeb + "/project-members/"
	eve := s.otherUser(t, http.MethodPost, members, `{"member": "`+sandboxtest.UserEve+`", "role": 5}`)
	manifest := func(more string) string {
		return `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, assignees: [` + more + `]}]}]}`
	}
	s.apply(t, applying{manifest: manifest("")})
	first := s.apply(t, applying{manifest: manifest("eve@example.com")})
	if out := first.itemA(t).Outcome; first.writes != 1 || !out.NotTaken || out.LeftOut != 1 || len(out.Warnings) != 1 {
		t.Errorf("%d writes, %+v", first.writes, out)
	}
	again := s.apply(t, applying{manifest: manifest("eve@example.com")})
	if why := again.reasons()["work_item/web/a"]; again.writes > 0 || !strings.HasPrefix(why, "the service ignored eve@example.com as assignees") {
		t.Error(again.writes, why)
	}
	both := s.apply(t, applying{manifest: manifest("bob@example.com, eve@example.com")})
	if out := both.itemA(t).Outcome; both.writes != 1 || out.NotTaken || out.LeftOut != 1 {
		t.Errorf("with another: %d writes, %+v", both.writes, out)
	}
	s.otherUser(t, http.MethodPatch, members+eve["id"].(string)+"/", `{"role": 15}`) //nolint:forcetypeassert // it is a text
	if kept := s.apply(t, applying{manifest: manifest("bob@example.com, eve@example.com")}); kept.writes > 0 || len(kept.reasons()) != 1 {
		t.Error(kept.writes, kept.reasons())
	}
	if sent := s.apply(t, applying{manifest: manifest("bob@example.com, eve@example.com"), all: true}); sent.writes != 1 || len(sent.warnings()) > 0 {
		t.Error(sent.writes, sent.warnings())
	}
	if end := s.apply(t, applying{manifest: manifest("bob@example.com, eve@example.com")}); !end.plan.Empty() || end.plan.Summary.Blocked > 0 {
		t.Errorf("%+v", end.plan.Summary)
	}
}

func TestAnAssigneeWhoBecomesAMemberIsAssigned(t *testing.T) {
	t.Parallel()
	const manifest = "{version: 1, projects: [{key: web, identifier: NEW, name: New, members: [bob@example.com], work_items: [{key: a, name: A, assignees: [bob@example.com]}]}]}"
	refused := always(write{"POST", "projects/*/project-members", false}, sandboxtest.Fault{Before: sandboxtest.Break{Status: 403, Body: `{"error":"no"}`}})
	for name, colleague := range map[string]bool{"in the next run": false, "as an admin adds them": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Answers: sandbox.Observed})
			first := s.apply(t, applying{manifest: manifest, fault: refused})
			if out := first.itemA(t).Outcome; out.LeftOut != 1 {
				t.Fatalf("%+v", out)
			}
			if colleague {
				s.otherUser(t, http.MethodPost, "projects/"+first.Steps[0].Outcome.ID+"/project-members/", `{"member": "`+sandboxtest.UserBob+`", "role": 15}`)
			}
			if second := s.apply(t, applying{manifest: manifest}); len(second.reasons())+len(second.warnings())+len(second.failed()) > 0 {
				t.Error(second.reasons(), second.warnings(), second.failed())
			}
			if end := s.apply(t, applying{manifest: manifest, all: true}); !end.plan.Empty() || end.plan.Summary.Blocked > 0 {
				t.Errorf("%+v %v", end.plan.Summary, end.reasons())
			}
		})
	}
}

// TestARoleInAProjectOfAnotherOwnerIsNamedBesideAnAdditionThatIsNotPossible reads all refusals of one project from one plan.
func TestARoleInAProjectOfAnotherOwnerIsNamedBesideAnAdditionThatIsNotPossible(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Answers: sandbox.Contract})
	const project = `, projects: [{key: shop, name: Shop, identifier: SHOP, members: `
	s.apply(t, applying{manifest: `{version: 1, owner: platform` + project + `[bob@example.com]}]}`})
	s.dir = t.TempDir() // another repository, with a state of its own
	a := s.apply(t, applying{manifest: `{version: 1, owner: mobile` + project + `[{user: bob@example.com, role: admin}, eve@example.com]}]}`})
	var refused []string
	for _, step := range a.plan.Steps {
		if step.Action == planner.NotPossible && step.Members != nil {
			for _, m := range step.Members.Items {
				refused = append(refused, m.Text)
			}
		}
	}
	if slices.Sort(refused); !slices.Equal(refused, []string{"bob@example.com", "eve@example.com"}) || a.writes > 0 {
		t.Error(a.writes, refused, a.reasons())
	}
}

// TestRolesAreComparedSinceVersion14 covers the community edition, which shows roles and does not let planform change them.
func TestRolesAreComparedSinceVersion14(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{key: web, identifier: WEB, members: [me, {user: eve@example.com, role: `
	for _, version := range sandbox.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community, Version: version})
			s.apply(t, applying{manifest: with + `guest}]}]}`})
			first := s.apply(t, applying{manifest: with + `guest}]}]}`})
			for _, row := range s.Rows("project_member") {
				if row["member"] == sandboxtest.UserEve {
					s.otherUser(t, http.MethodPatch, "projects/"+sandboxtest.ProjectWeb+"/project-members/"+row["id"].(string)+"/", `{"role": 15}`) //nolint:forcetypeassert // it is a text
				}
			}
			second := s.apply(t, applying{manifest: with + `guest}]}]}`})
			if version == "1.3.1" {
				if len(first.plan.NotCompared) != 1 || len(second.plan.NotCompared) != 1 || len(second.plan.Steps) > 0 {
					t.Error(first.plan.NotCompared, second.plan.NotCompared)
				}
				return
			}
			if len(first.plan.NotCompared) > 0 || len(first.plan.Steps) > 0 {
				t.Error(first.plan.NotCompared, first.reasons())
			}
			const why = "API v1 does not let planform change the role of members of a project; change it in the web app"
			if reasons := second.reasons(); second.writes > 0 || len(second.plan.Drift) != 1 || reasons["project/web#members"] != why {
				t.Error(second.writes, second.plan.Drift, reasons)
			} else if c := second.plan.Drift[0].Change; *c.Before != "eve@example.com (member)" || *c.After != "eve@example.com (guest)" {
				t.Errorf("%s -> %s", *c.Before, *c.After)
			}
			third := s.apply(t, applying{manifest: with + `member}]}]}`})
			if len(third.plan.Steps) > 0 || len(third.plan.NotCompared) > 0 {
				t.Error(third.reasons(), third.plan.NotCompared)
			}
		})
	}
}

// TestFormerMembersAreNotAssigned covers people who left the project or the workspace, which the community edition shows since version 1.4.
func TestFormerMembersAreNotAssigned(t *testing.T) {
	t.Parallel()
	const left = "eve@example.com has left it or the workspace: leave them out, or take them back in the web app"
	item := func(project string) string {
		return "the service accepts no former member of " + project + " as assignees: leave eve@example.com out"
	}
	t.Run("the project", func(t *testing.T) {
		t.Parallel()
		s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
		s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: [me, bob@example.com, {user: eve@example.com, role: member}]}]}`})
		for _, row := range s.Rows("project_member") {
			if row["member"] == sandboxtest.UserEve {
				s.otherUser(t, http.MethodDelete, "projects/"+sandboxtest.ProjectWeb+"/project-members/"+row["id"].(string)+"/", ``) //nolint:forcetypeassert // it is a text
			}
		}
		a := s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, members: [me, bob@example.com, eve@example.com], work_items: [{key: a, name: A, assignees: [bob@example.com, eve@example.com]}]}]}`})
		if r := a.reasons(); len(r) != 2 || r["project/web#members"] != left || r["work_item/web/a"] != item("project/web") || s.named("work_item", "A") != 1 {
			t.Error(r)
		}
	})
	t.Run("the workspace", func(t *testing.T) {
		t.Parallel()
		s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
		s.replying = func(_ *http.Request, row map[string]any) {
			if _, shown := row["is_active"]; shown && row["id"] == sandboxtest.UserEve {
				row["is_active"] = false
			}
		}
		a := s.apply(t, applying{manifest: `{version: 1, projects: [{key: new, identifier: NEW, name: New, members: [eve@example.com], work_items: [{key: a, name: A, assignees: [eve@example.com]}]}]}`})
		if r := a.reasons(); len(r) != 2 || r["project/new#members"] != left || r["work_item/new/a"] != item("project/new") || s.named("work_item", "A") != 1 {
			t.Error(r)
		}
	})
}

// TestRolesAreReadOnceForEachProjectWithMembers counts the lists of roles that plans of three projects read, by the version of the service. A
// service without these lists is asked once.
func TestRolesAreReadOnceForEachProjectWithMembers(t *testing.T) {
	t.Parallel()
	projects := func(member string, more ...string) string {
		var list []string
		for i, key := range []string{"one", "two", "six"} {
			p := fmt.Sprintf("{key: %s, identifier: %s, name: %s, members: [me, %s]", key, strings.ToUpper(key), key, member)
			if i == 0 {
				p += strings.Join(more, "")
			}
			list = append(list, p+"}")
		}
		return "{version: 1, projects: [" + strings.Join(list, ", ") + "]}"
	}
	for _, version := range sandbox.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community, Version: version})
			lists := 0
			s.always = func(r *http.Request) sandboxtest.Fault {
				if strings.HasSuffix(r.URL.Path, "members-lite/") {
					lists++
				}
				return sandboxtest.Fault{}
			}
			const item = ", work_items: [{key: a, name: A, assignees: [bob@example.com]}]"
			s.apply(t, applying{manifest: projects("bob@example.com")})
			for _, c := range []struct {
				what, manifest string
				since14, until int
			}{
				{"no roles are written", projects("bob@example.com"), 3, 1},
				{"an item is assigned in one project", projects("bob@example.com", item), 3, 1},
				{"the item is assigned already", projects("bob@example.com", item), 3, 1},
				{"roles are written in each project", projects("{user: bob@example.com, role: member}", item), 3, 1},
			} {
				lists = 0
				s.apply(t, applying{manifest: c.manifest})
				want := c.since14
				if version == "1.3.1" {
					want = c.until
				}
				if lists != want {
					t.Errorf("%s: %d lists, want %d", c.what, lists, want)
				}
			}
		})
	}
}

// TestAPlanNeedsNoListOfRoles covers services that refuse the lists of members with roles, or do not have them.
func TestAPlanNeedsNoListOfRoles(t *testing.T) {
	t.Parallel()
	const manifest = `{version: 1, projects: [{key: web, identifier: WEB, members: [me, bob@example.com], work_items: [{key: a, name: A, assignees: [bob@example.com]}]},
  {key: new, identifier: NEW, name: New, members: [eve@example.com]}]}`
	for status, requests := range map[int]int{http.StatusUnauthorized: 2, http.StatusForbidden: 2, http.StatusNotFound: 1, http.StatusMethodNotAllowed: 2} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
			lists := map[string]bool{}
			s.always = func(r *http.Request) sandboxtest.Fault {
				if !strings.HasSuffix(r.URL.Path, "members-lite/") {
					return sandboxtest.Fault{}
				}
				lists[r.URL.Path] = true
				return sandboxtest.Fault{Before: sandboxtest.Break{Status: status, Body: `{"detail": "no"}`}}
			}
			a := s.apply(t, applying{manifest: manifest})
			if len(a.failed())+len(a.reasons()) > 0 || s.named("work_item", "A") != 1 || len(lists) != requests {
				t.Error(a.failed(), a.reasons(), lists)
			}
		})
	}
}
