package provider_test

import (
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestEpicsAreWorkItems checks work items of an epic type, with items below them, in initiatives.
func TestEpicsAreWorkItems(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, initiatives: [{name: Grow, epics: [web/checkout]}], projects: [{key: web, identifier: WEB,
		work_item_types: [{name: Epic, is_epic: true}], work_items: [{key: checkout, name: Checkout, type: Epic, work_items: [{name: Pay}]}]}]}`
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud})
			if a := s.apply(t, applying{manifest: text}); len(a.failed())+len(a.warnings()) > 0 {
				t.Error(a.failed(), a.warnings())
			}
			for range 2 {
				if a := s.apply(t, applying{manifest: text}); a.writes != 0 || a.plan.Summary.Create != 0 {
					t.Errorf("again: %d writes, %+v", a.writes, a.plan.Summary)
				}
				s.dir = t.TempDir() // the state is lost
			}
			if of := s.Rows("initiative_epic"); len(of) != 1 {
				t.Error(of)
			}
		})
	}
}
