package remote_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox"
)

// TestWhoIsInAProjectAlready: who creates a project, and who leads it, is in it from the start.
func TestWhoIsInAProjectAlready(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.Full)
	const manifest = `
projects:
  - {identifier: NEW, name: New, lead: bob@example.com, members: [ada@example.com, bob@example.com, eve@example.com],
     work_items: [{name: A, assignees: [bob@example.com, ada@example.com]}]}`
	r := s.apply(t, applying{manifest: manifest})
	if len(r.failed()) > 0 || len(r.warnings()) > 0 {
		t.Error(r.failed(), r.warnings())
	}
	roles := map[any]int{}
	for _, row := range s.Rows("project_member") {
		if row["project"] == s.Rows("project")[2]["id"] {
			roles[row["role"]]++
		}
	}
	if len(roles) != 2 {
		t.Errorf("roles: %v", roles)
	}
	if again := s.apply(t, applying{manifest: manifest}); again.writes > 0 || !again.plan.Empty() {
		t.Errorf("%d writes, %+v", again.writes, again.plan.Summary)
	}
}

// TestRelationsOfAnItemAreReadAtOnce: one answer holds the lists of all relations.
func TestRelationsOfAnItemAreReadAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.Full)
	const manifest = `
projects:
  - key: web
    identifier: WEB
    work_items:
      - {key: a, name: A, relations: {blocking: [b], relates_to: [WEB-1], duplicate: [ops/c]}}
      - {key: b, name: B, relations: {blocked_by: [a]}}
  - {key: ops, identifier: OPS, work_items: [{key: c, name: C}]}`
	first := s.apply(t, applying{manifest: manifest})
	if len(first.failed()) > 0 || first.plan.Summary.AddMembers != 3 || len(s.Rows("relation")) != 6 {
		t.Errorf("%v %+v %v", first.failed(), first.plan.Summary, s.Rows("relation"))
	}
	before := len(s.Log())
	again := s.apply(t, applying{manifest: manifest})
	reads := 0
	for _, e := range s.Log()[before:] {
		if strings.HasSuffix(e.Path, "/relations/") {
			reads++
		}
	}
	if again.writes > 0 || !again.plan.Empty() || reads != 1 {
		t.Errorf("%d writes, %d reads of relations, %+v", again.writes, reads, again.plan.Summary)
	}
}

// TestWhatPeopleArchivedIsNotMadeAgain: the service shows it in another list only.
func TestWhatPeopleArchivedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.Full)
	const manifest = `
projects:
  - {key: web, identifier: WEB, modules: [{name: Tide tables}], work_items: [{name: A, module: tide-tables}]}`
	s.apply(t, applying{manifest: manifest})
	var id any
	for _, row := range s.Rows("module") {
		if row["name"] == "Tide tables" {
			id = row["id"]
		}
	}
	s.somebody(t, http.MethodPost, fmt.Sprintf("projects/%s/modules/%s/archive/", sandbox.ProjectWeb, id), "")
	for _, when := range []string{"at once", "after losing the state"} {
		a := s.apply(t, applying{manifest: manifest})
		if sum := a.plan.Summary; a.writes > 0 || sum.Create+sum.Update+sum.AddMembers > 0 {
			t.Errorf("%s: %d writes, %+v", when, a.writes, sum)
		}
		s.dir = t.TempDir()
	}
}
