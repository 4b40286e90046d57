package provider_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// TestAMovedItemIsDeletedOnlyWhenItsReplacementIsComplete moves the key of a work item to
// another project while one write for the new item is refused, in two runs: the old
// one stays. The third run, without a refusal, finishes.
func TestAMovedItemIsDeletedOnlyWhenItsReplacementIsComplete(t *testing.T) {
	t.Parallel()
	const projects = `{version: 1, projects: [{identifier: WEB, work_items: [OLD]}, {identifier: APP, name: App,
		cycle_view: true, module_view: true, cycles: [{key: c, name: C}], modules: [{key: m, name: M}],
		work_items: [{key: other, name: Other}, {key: below, name: BelowPARENT}, NEW]}]}`
	const moved = `key: a, name: A, links: ["https://example.com/a"], comments: [{key: one, text: One}]`
	before := strings.NewReplacer("OLD", "{"+moved+"}", ", NEW", "", "PARENT", "").Replace(projects)
	after := strings.NewReplacer("OLD", "", "NEW", "{"+moved+", cycle: c, module: m, relations: {relates_to: [other]}, sort_order: 5, work_items: [{key: sub, name: Sub}]}",
		"PARENT", ", parent: a").Replace(projects)
	for name, refuse := range map[string]struct {
		method, path, body string // end of its path, and a part of its body
	}{
		"an item is kept if its replacement is refused":                          {http.MethodPost, "/work-items/", `"A"`},
		"an item is kept if the item below its replacement is refused":           {http.MethodPost, "/work-items/", `"Sub"`},
		"an item is kept if the link of its replacement is refused":              {http.MethodPost, "/links/", ""},
		"an item is kept if the comment of its replacement is refused":           {http.MethodPost, "/comments/", ""},
		"an item is kept if its replacement's membership of a cycle is refused":  {http.MethodPost, "/cycle-issues/", ""},
		"an item is kept if its replacement's membership of a module is refused": {http.MethodPost, "/module-issues/", ""},
		"an item is kept if the relation of its replacement is refused":          {http.MethodPost, "/relations/", ""},
		"an item is kept if an item does not move below its replacement":         {http.MethodPatch, "/", "parent"},
		"an item is kept if the place of its replacement is refused":             {http.MethodPatch, "/", "sort_order"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			if failed := s.apply(t, applying{manifest: before}).failed(); len(failed) > 0 {
				t.Fatal(failed)
			}
			for range 2 {
				hit := false
				a := s.apply(t, applying{manifest: after, prune: true, workers: 1, fault: func(r *http.Request, _ run) sandboxtest.Fault {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					if r.Method != refuse.method || !strings.HasSuffix(r.URL.Path, refuse.path) || !strings.Contains(string(body), refuse.body) {
						return sandboxtest.Fault{}
					}
					hit = true
					return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusBadRequest, Body: `{"error": "Not today."}`}}
				}})
				old := a.Steps[len(a.Steps)-1]
				for _, r := range a.Steps {
					if r.Step.Address == "work_item/web/a" {
						old = r
					}
				}
				if !hit || old.Status != executor.Blocked || old.BlockedBy == nil || old.BlockedBy.Action == planner.Delete {
					t.Fatalf("hit %v, %s is %v, by %v: %q", hit, old.Step.Address, old.Status, old.BlockedBy, a.failed())
				}
			}
			if a := s.apply(t, applying{manifest: after, prune: true}); len(a.failed()) > 0 || a.plan.Summary.Delete < 1 || s.named("work_item", "A") != 1 {
				t.Error(a.failed(), a.plan.Summary, s.named("work_item", "A"))
			}
			(&life{T: t, s: s}).empty("the old one", after)
		})
	}
}
