package view_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

// leaving is a plan that deletes objects, keeps fields as somebody changed them, and corrects the state.
func leaving() *planner.Plan {
	b := &builder{planner.Plan{Workspace: "acme", BaseURL: "https://api.plane.so"}}
	web := object("project", "web", nil)
	shop := object("work_item", "shop", web, "priority", "high", "description", longAfter)
	blamed := drifted("priority", "low", "high")
	blamed.By, blamed.At = "ada", "2026-11-20T19:40:45Z"
	b.act(planner.Update, shop, "w-1", blamed)
	b.members(planner.RemoveMembers, "initiative_project", "initiative/q1", 1, 0, 1)
	b.step(&planner.Step{Address: "work_item/web/old", Action: planner.Delete, Kind: resource.MustLookup("work_item"), ID: "w-2"})
	b.step(&planner.Step{Address: "link/web/old/https://example.com/\x1b[31m", Action: planner.Delete, Kind: resource.MustLookup("link"), ID: "l-1", Deletion: &planner.Deletion{With: "with work_item/web/old"}})
	b.step(&planner.Step{Address: "page/handbook", Action: planner.NotPossible, Kind: resource.MustLookup("page"), ID: "p-1", Cause: planner.Cause{Code: planner.Refused, Text: "it would be deleted, but API v1 cannot delete a page"}})
	kept, empty, long := drifted("priority", "low", "high"), drifted("start_date", "", "2026-12-01"), drifted("description", longBefore, longAfter)
	kept.By, kept.At, long.By = "bob\x1b[31m", "2026-11-20T19:40:45+01:00", "ada"
	for _, c := range []*planner.Change{&kept, &empty, &long} {
		b.Drift = append(b.Drift, planner.Drift{Object: shop, Change: c, Kept: true})
	}
	b.StateChanges = []planner.StateChange{
		{From: "work_item/web/a", To: "work_item/web/b", Why: "is now work_item/web/b"},
		{From: "link/web/a/x", To: "link/web/b/x"},
		{From: "work_item/web/gone", Why: "no longer exists on the service"},
	}
	b.Summary = planner.Summary{Update: 1, Delete: 2, RemoveMembers: 1, Blocked: 1, Kept: 3, Requests: 3, Unchanged: 4}
	return &b.Plan
}

func TestAPlanShowsDeletionsAndKeptFields(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]func(*view.Options){"leaving.txt": nil, "leaving.json": {inJSON}, "leaving.md": {in("markdown")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(set...)
			if err := showAs(s.Plan, leaving(), here()); err != nil {
				t.Fatal(err)
			}
			golden(t, "plan/"+name, s.out.String())
		})
	}
}

// TestAChangedExternalIDIsNotSpelledOut: what it is on the service is for programs.
func TestAChangedExternalIDIsNotSpelledOut(t *testing.T) {
	t.Parallel()
	b := &builder{}
	b.act(planner.Update, object("work_item", "b", object("project", "web", nil)), "", drifted("external_id", "acme/work_item/web/a", "acme/work_item/web/b"))
	b.Summary = planner.Summary{Update: 1, Requests: 1}
	s := newScreen()
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	if got := s.out.String(); !strings.Contains(got, "~ work_item/web/b\n    (its external ID on the service becomes the new key)\n") || strings.Contains(got, "acme/") {
		t.Error(got)
	}
	s = newScreen(inJSON)
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	if got := s.out.String(); !strings.Contains(got, "acme/work_item/web/b") {
		t.Error(got)
	}
}
