package provider_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestArchivedItemsAreMadeOnce covers runs with a state, without one, and with too many items to look up one by one.
func TestArchivedItemsAreMadeOnce(t *testing.T) {
	t.Parallel()
	const many = 65 // more than are looked up one by one
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			var items strings.Builder
			for n := range many {
				fmt.Fprintf(&items, "{key: i%d, name: Item %d, state: Done, archived: true, comments: [{key: c, text: Gone}]},", n, n)
			}
			text := `{version: 1, projects: [{key: new, identifier: NEW, name: New, work_items: [` + items.String() + `{key: sub, name: Sub, parent: i0}]}]}`
			// A server of API v2 need not refuse an existing object.
			s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud})
			first := s.apply(t, applying{manifest: text})
			if len(first.failed())+len(first.warnings()) > 0 {
				t.Error(first.failed(), first.warnings())
			}
			there := func(when string) {
				t.Helper()
				if hidden, shown, comments := len(s.Rows("hidden_work_item")), len(s.Rows("work_item")), len(s.Rows("comment")); hidden != many || shown != 2 || comments != many+1 {
					t.Errorf("%s: %d archived, %d others, %d comments", when, hidden, shown, comments)
				}
			}
			there("first")
			if a := s.apply(t, applying{manifest: text}); a.writes != 0 || !a.plan.Empty() || a.plan.Summary.Reads > 15 {
				t.Errorf("again: %d writes, %+v", a.writes, a.plan.Summary)
			}
			s.dir = t.TempDir() // the state is lost
			s.apply(t, applying{manifest: text})
			there("without the state")
		})
	}
}

// TestArchivingThatChangesNothingFails uses a server that accepts archived_at and does not store it.
func TestArchivingThatChangesNothingFails(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{identifier: WEB, work_items: [{name: Pay, archived: true, links: [{url: https://example.com/}]}]}]}`
	s := newService(t, resource.V1)
	a := s.apply(t, applying{manifest: text, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method != http.MethodPatch {
			return sandboxtest.Fault{}
		}
		return before(sandboxtest.Break{Status: 200, Body: `{"id": "00000000-0000-4000-8000-000000000001", "archived_at": null}`})
	}})
	if failed := a.failed(); len(failed) != 1 || !strings.Contains(failed[0], "changes nothing") {
		t.Error(failed)
	}
	if again := s.apply(t, applying{manifest: text}); again.writes != 1 || len(again.failed()) > 0 {
		t.Error(again.writes, again.failed())
	}
}

// A new item that nothing names is archived by the request that creates it.
func TestANewItemIsArchivedByOneRequest(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{identifier: WEB, work_items: [{name: Pay, archived: true}]}]}`
	s := newService(t, resource.V1)
	a := s.apply(t, applying{manifest: text})
	if a.writes != 1 || len(a.failed())+len(a.warnings()) > 0 || len(s.Rows("hidden_work_item")) != 1 {
		t.Error(a.writes, a.failed(), a.warnings(), s.Rows("hidden_work_item"))
	}
	if again := s.apply(t, applying{manifest: text}); again.writes != 0 || !again.plan.Empty() {
		t.Errorf("again: %d writes, %+v", again.writes, again.plan.Summary)
	}
}

func TestANewItemThatTheServiceDoesNotArchiveIsArchivedByTheNextRun(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{identifier: WEB, work_items: [{name: Pay, archived: true}]}]}`
	s := newService(t, resource.V1)
	ignored := regexp.MustCompile(`"archived_at":"[0-9-]+",`)
	a := s.apply(t, applying{manifest: text, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if body, err := io.ReadAll(req.Body); err == nil {
			req.Body = io.NopCloser(bytes.NewReader(ignored.ReplaceAll(body, nil)))
		}
		return sandboxtest.Fault{}
	}})
	if warnings := a.warnings(); len(warnings) != 1 || !strings.Contains(warnings[0].Summary, "archived") {
		t.Error(warnings)
	}
	if again := s.apply(t, applying{manifest: text}); again.writes != 1 || len(s.Rows("hidden_work_item")) != 1 {
		t.Error(again.writes, again.failed())
	}
}

// TestAChangeByPeopleToAnArchivedObjectIsReportedAndKept also checks that the change does not count as applied.
func TestAChangeByPeopleToAnArchivedObjectIsReportedAndKept(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{key: new, identifier: NEW, name: New, module_view: true, modules: [{key: m, name: Done, status: completed, archived: true}]}]}`
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
	s.apply(t, applying{manifest: text})
	for _, row := range s.Rows("module") {
		if row["name"] != "Done" {
			continue
		}
		path := fmt.Sprintf("projects/%v/", row["project"])
		s.otherUser(t, http.MethodDelete, path+fmt.Sprintf("archived-modules/%v/unarchive/", row["id"]), "")
		s.otherUser(t, http.MethodPatch, path+fmt.Sprintf("modules/%v/", row["id"]), `{"name": "Done by people"}`)
		s.otherUser(t, http.MethodPost, path+fmt.Sprintf("modules/%v/archive/", row["id"]), "")
	}
	for range 2 {
		a := s.apply(t, applying{manifest: text})
		if len(a.plan.Drift) != 1 || !a.plan.Drift[0].Kept || a.plan.Summary.Kept != 1 || a.writes > 0 || s.named("module", "Done by people") != 1 {
			t.Errorf("%+v %+v, %d writes", a.plan.Summary, a.plan.Drift, a.writes)
		}
	}
}

// TestAWorkItemIsArchivedByEitherRuleOfAPIV2, because the service's own tests disagree whether an unfinished item can be archived.
func TestAWorkItemIsArchivedByEitherRuleOfAPIV2(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{identifier: WEB, work_items: [{name: Pay, state: %s, archived: true}]}]}`
	for name, tt := range map[string]struct {
		open  bool
		state string
		fails string
	}{
		"an open work item is archived if the service accepts that":          {true, "Todo", ""},
		"an open work item is reported if the service refuses to archive it": {false, "Todo", "Only completed or cancelled work items can be archived."},
		"a work item that is done is archived":                               {false, "Done", ""},
		"a cancelled work item is archived":                                  {true, "Cancelled", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{ArchiveOpen: tt.open})
			a := s.apply(t, applying{manifest: fmt.Sprintf(text, tt.state)})
			failed, away := strings.Join(a.failed(), ""), len(s.Rows("hidden_work_item"))
			if (failed == "") != (tt.fails == "") || !strings.Contains(failed, tt.fails) || (away == 1) != (tt.fails == "") {
				t.Errorf("%q, %d archived", failed, away)
			}
			if again := s.apply(t, applying{manifest: fmt.Sprintf(text, "Done")}); len(again.failed()) > 0 || tt.fails != "" && len(s.Rows("hidden_work_item")) != 1 {
				t.Errorf("again: %q, %d archived", again.failed(), len(s.Rows("hidden_work_item")))
			}
		})
	}
}
