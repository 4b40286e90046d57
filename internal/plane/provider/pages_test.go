package provider_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

const nested = `pages: [{key: handbook, name: Handbook, pages: [{key: travel, name: Travel, description: By train.}]}, {key: other, name: Other}]`

// pages returns the pages of the workspace with the names of their parents, sorted.
func (sv *service) pages() []string {
	names := map[any]string{}
	for _, row := range sv.Rows("page") {
		names[row["id"]], _ = row["name"].(string)
	}
	var list []string
	for _, row := range sv.Rows("page") {
		name := names[row["id"]]
		if up := names[row["parent"]]; up != "" {
			name = up + " > " + name
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func cloud(t *testing.T) *service {
	t.Helper()
	return newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
}

func TestPagesAreNestedMovedAndDeletedByAPIV2(t *testing.T) {
	t.Parallel()
	s := cloud(t)
	before := s.pages()
	steps := []struct{ manifest, want string }{
		{nested, "Handbook, Handbook > Travel, Other"},
		{strings.Replace(nested, "By train.", "On foot.", 1), "Handbook, Handbook > Travel, Other"},
		{`pages: [{key: handbook, name: Handbook}, {key: other, name: Other, pages: [{key: travel, name: Travel}]}]`, "Handbook, Other, Other > Travel"},
		{`pages: [{key: handbook, name: Handbook, parent: other}, {key: other, name: Other}, {key: travel, name: Travel, parent: null}]`, "Other, Other > Handbook, Travel"},
	}
	for i, step := range steps {
		a := s.apply(t, applying{manifest: step.manifest})
		got := slices.DeleteFunc(s.pages(), func(p string) bool { return slices.Contains(before, p) })
		if len(a.failed()) > 0 || len(a.warnings()) > 0 || a.writes == 0 || strings.Join(got, ", ") != step.want {
			t.Errorf("%d: %v, want %s; %v %v", i, got, step.want, a.failed(), a.warnings())
		}
		if again := s.apply(t, applying{manifest: step.manifest}); again.writes > 0 || !again.plan.Empty() {
			t.Errorf("%d: again %d writes, %+v", i, again.writes, again.plan.Summary)
		}
	}
	a := s.apply(t, applying{manifest: `pages: []`, prune: true})
	if got := s.pages(); !slices.Equal(got, before) || len(a.failed()) > 0 || a.plan.Summary.Delete != 3 {
		t.Error(got, a.failed(), a.plan.Summary)
	}
}

// patchPage changes a page of the workspace, like a person.
func (sv *service) patchPage(t *testing.T, name, body string) {
	t.Helper()
	for _, row := range sv.Rows("page") {
		if row["name"] == name {
			sv.otherUser(t, http.MethodPatch, fmt.Sprintf("/api/v2/workspaces/acme/pages/%v/", row["id"]), body)
		}
	}
}

// sentTo lists the writes to paths with a part, as method and status.
func (sv *service) sentTo(part string, since int) (sent []string) {
	for _, e := range sv.Log()[since:] {
		if e.Method != http.MethodGet && strings.Contains(e.Path, part) {
			sent = append(sent, fmt.Sprint(e.Method, " ", e.Status))
		}
	}
	return sent
}

func TestAPageIsArchivedAndUnlockedBeforeItIsDeleted(t *testing.T) {
	t.Parallel()
	const one = `pages: [{key: a, name: A%s}]`
	lost := func(method string) func(*http.Request, run) sandboxtest.Fault {
		return func(req *http.Request, _ run) sandboxtest.Fault {
			if req.Method == method {
				return after(sandboxtest.Break{Cut: true})
			}
			return sandboxtest.Fault{}
		}
	}
	for name, tt := range map[string]struct {
		locked, people string // in the manifest, and by people
		fault          func(*http.Request, run) sandboxtest.Fault
		sent           string
	}{
		"a live page is archived and deleted":                     {sent: "PATCH 200, DELETE 204"},
		"a page that the manifest locks is archived and deleted":  {locked: ", is_locked: true", sent: "PATCH 200, DELETE 204"},
		"a page that people locked is archived and deleted":       {people: `{"is_locked":true}`, sent: "PATCH 200, DELETE 204"},
		"a page that people archived is deleted at once":          {people: `{"archived_at":"2026-11-20T10:00:00Z"}`, sent: "DELETE 204"},
		"a page that an earlier run archived is deleted at once":  {fault: lost(http.MethodPatch), sent: "DELETE 204"},
		"a page that an earlier run deleted is not deleted again": {fault: lost(http.MethodDelete)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloud(t)
			before := s.pages()
			s.apply(t, applying{manifest: fmt.Sprintf(one, tt.locked)})
			if tt.people != "" {
				s.patchPage(t, "A", tt.people)
			}
			if tt.fault != nil {
				s.apply(t, applying{manifest: `pages: []`, prune: true, changed: true, fault: tt.fault})
			}
			since := len(s.Log())
			a := s.apply(t, applying{manifest: `pages: []`, prune: true, changed: true})
			if got := strings.Join(s.sentTo("/pages/", since), ", "); got != tt.sent || len(a.failed()) > 0 || !slices.Equal(s.pages(), before) {
				t.Errorf("sent %s, want %s; %q, %v", got, tt.sent, a.failed(), s.pages())
			}
			if a.plan.Summary.Requests != a.writes && tt.sent != "" {
				t.Errorf("the plan counts %d requests, not %d", a.plan.Summary.Requests, a.writes)
			}
		})
	}
}

func TestALockedPageIsChangedAndStaysLocked(t *testing.T) {
	t.Parallel()
	const page, inProject = `pages: [{key: a, name: A, description: %s%s}]`, `projects: [{identifier: WEB, pages: [{key: a, name: A, description: %s%s}]}]`
	for name, tt := range map[string]struct{ manifest, kind, locked, people string }{
		"a page that the manifest locks is changed":              {page, "page", ", is_locked: true", ""},
		"a page of a project that the manifest locks is changed": {inProject, "project_page", ", is_locked: true", ""},
		"a page that people locked is changed":                   {page, "page", "", `{"is_locked":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloud(t)
			s.apply(t, applying{manifest: fmt.Sprintf(tt.manifest, "Old", tt.locked)})
			if tt.people != "" {
				s.patchPage(t, "A", tt.people)
			}
			changed := func(text string) {
				t.Helper()
				a := s.apply(t, applying{manifest: fmt.Sprintf(tt.manifest, text, tt.locked)})
				row := s.Rows(tt.kind)[len(s.Rows(tt.kind))-1]
				if len(a.failed())+len(a.warnings()) > 0 || a.writes != 1 || row["is_locked"] != true || row["description_html"] != "<p>"+text+"</p>" {
					t.Errorf("%q %v, %d writes: %v", a.failed(), a.warnings(), a.writes, row)
				}
			}
			changed("New")
			s.dir = t.TempDir() // the state is lost, and the page adopted
			changed("Newer")
			if a := s.apply(t, applying{manifest: fmt.Sprintf(tt.manifest, "Newer", ", is_locked: false")}); len(a.failed()) > 0 || a.writes != 1 {
				t.Errorf("unlocking: %q, %d writes", a.failed(), a.writes)
			}
		})
	}
}

// TestAPageThatContainsOthersIsKept, because the API does not document what happens to pages below a deleted one.
func TestAPageThatContainsOthersIsKept(t *testing.T) {
	t.Parallel()
	s := cloud(t)
	s.apply(t, applying{manifest: nested})
	other := *s
	other.dir = t.TempDir()
	a := other.apply(t, applying{manifest: `pages: [{key: guest, name: Guest, parent: handbook}]`})
	if len(a.failed()) > 0 {
		t.Fatal(a.failed())
	}
	a = s.apply(t, applying{manifest: `pages: []`, prune: true})
	if why := a.reasons()["page/handbook"]; !strings.Contains(why, "page \"Guest\" below it stays") || a.plan.Summary.Delete != 2 {
		t.Error(a.reasons(), a.plan.Summary)
	}
}

func TestAPIV1CreatesPagesWithoutTheirParents(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*service{
		"a page is created without its parent by API v1":              newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Cloud}),
		"a page is created without its parent if API v2 has no pages": withoutPages(cloud(t)),
		"a page is created without its parent if there is no API v2":  newService(t, resource.V1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.apply(t, applying{manifest: nested})
			const want = "API v1 cannot set parent of a page"
			if why := a.reasons(); len(why) != 1 || why["page/travel"] != want || len(a.failed()) > 0 || a.writes != 3 {
				t.Error(why, a.failed(), a.writes)
			}
			again := s.apply(t, applying{manifest: strings.Replace(nested, "By train.", "On foot.", 1)})
			const cannot = "API v1 cannot change description, parent of a page after creation"
			if why := again.reasons(); len(why) != 1 || why["page/travel"] != cannot || again.writes > 0 {
				t.Error(why, again.writes)
			}
			s.dir = t.TempDir()
			if a := s.apply(t, applying{manifest: nested}); a.writes > 0 || a.plan.Summary.Adopt+a.plan.Summary.Update != 3 {
				t.Error(a.writes, a.plan.Summary)
			}
			pruned := s.apply(t, applying{manifest: `pages: []`, prune: true})
			if pruned.writes > 0 || slices.ContainsFunc(pruned.plan.Steps, func(step *planner.Step) bool { return step.Action == planner.Delete }) {
				t.Error(pruned.writes, pruned.plan.Summary)
			}
		})
	}
}

// withoutPages returns a service whose API v2 has no pages.
func withoutPages(s *service) *service {
	s.always = func(req *http.Request) sandboxtest.Fault {
		if strings.HasPrefix(req.URL.Path, "/api/v2/") && strings.Contains(req.URL.Path, "/pages/") {
			return sandboxtest.Fault{Before: sandboxtest.RouteNotFound()}
		}
		return sandboxtest.Fault{}
	}
	return s
}

// TestALostCreateOfAPageIsFoundByItsExternalID in the list of API v2.
func TestALostCreateOfAPageIsFoundByItsExternalID(t *testing.T) {
	t.Parallel()
	s := cloud(t)
	lost := false
	a := s.apply(t, applying{manifest: nested, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/pages/") && !lost {
			lost = true
			return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
		}
		return sandboxtest.Fault{}
	}})
	if again := s.apply(t, applying{manifest: nested}); len(a.failed()) > 0 || !lost || again.writes > 0 || len(s.Rows("page")) != 4 {
		t.Error(a.failed(), lost, again.writes, s.pages())
	}
}
