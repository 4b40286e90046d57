package sandbox

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
)

// rolesByEmail lists the roles that the API shows of the workspace's members.
func rolesByEmail(t *testing.T, s *Server) map[string]string {
	t.Helper()
	var members []struct {
		Email string
		Role  json.Number
	}
	if err := json.Unmarshal([]byte(want(t, ask(t, s, "GET", "/api/v1/workspaces/"+s.opts.Workspace+"/members/", ""), 200).body), &members); err != nil {
		t.Fatal(err)
	}
	roles := map[string]string{}
	for _, m := range members {
		roles[m.Email] = m.Role.String()
	}
	return roles
}

func TestPeopleInTheOptionsAreMembersOnce(t *testing.T) {
	t.Parallel()
	o := Options{Path: filepath.Join(t.TempDir(), "a.db"), Workspace: "mine", People: []string{"Me@my.example", "me@my.example", "ADA@example.com", "nobody"}}
	for range 2 {
		s := openTest(t, o)
		roles := rolesByEmail(t, s)
		if len(roles) != 4 || roles["me@my.example"] != "15" || roles["ada@example.com"] != "20" || len(s.Rows("member")) != 4 {
			t.Error(roles)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		o.People = append(o.People, "me@MY.example")
	}
	if s := openTest(t, o); s.Rows("user")[3]["display_name"] != "me" {
		t.Error(s.Rows("user"))
	}
}

func TestEveIsAGuestInTheWorkspaceWithContentOnly(t *testing.T) {
	t.Parallel()
	for workspace, role := range map[string]string{Workspace: "5", "mine": "15"} {
		if got := rolesByEmail(t, openTest(t, Options{Workspace: workspace}))["eve@example.com"]; got != role {
			t.Errorf("in %s eve has the role %s, want %s", workspace, got, role)
		}
	}
}

func TestAWelcomingWorkspaceTakesInvitedPeopleInAtOnce(t *testing.T) {
	t.Parallel()
	for _, welcoming := range []bool{true, false} {
		s := openTest(t, Options{Welcoming: welcoming})
		made := want(t, ask(t, s, "POST", "invitations/", `{"email":"zoe@my.example","role":5}`), 201).object(t)
		if role, member := rolesByEmail(t, s)["zoe@my.example"]; made["accepted"] != welcoming || member != welcoming || member && role != "5" {
			t.Errorf("welcoming %v: %v, member %v with the role %q", welcoming, made, member, role)
		}
		want(t, ask(t, s, "GET", "/api/v1/users/me/", "", "X-Api-Key", ""), 401) // an empty key is nobody's
	}
}

func TestSandboxesGiveAPersonTheSameID(t *testing.T) {
	t.Parallel()
	var ids []any
	for _, workspace := range []string{"one", "two"} {
		ids = append(ids, openTest(t, Options{Workspace: workspace, People: []string{"me@my.example"}}).Rows("user")[3]["id"])
	}
	if len(slices.Compact(ids)) != 1 {
		t.Error(ids)
	}
}
