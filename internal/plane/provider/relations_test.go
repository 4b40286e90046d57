package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// TestRelationsThatTheServiceCannotStoreAreReported at each apply, and never sent.
func TestRelationsThatTheServiceCannotStoreAreReported(t *testing.T) {
	t.Parallel()
	const items = `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, relations: %}, {key: b, name: B}]}]}`
	with := func(relations string) string { return strings.Replace(items, "%", relations, 1) }
	lacking := func(s *service) { // the community edition can add relations, but not remove them
		s.always = func(r *http.Request) sandboxtest.Fault {
			if !strings.HasSuffix(r.URL.Path, "/relations/remove/") {
				return sandboxtest.Fault{}
			}
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusNotFound, Body: `{"error": "Page not found."}`}}
		}
	}
	t.Run("a second relation of two items is reported", func(t *testing.T) {
		t.Parallel()
		s := newService(t, resource.V1)
		s.apply(t, applying{manifest: with("{relates_to: [b]}")})
		a := s.apply(t, applying{manifest: with("{relates_to: [b], duplicate: [b]}")})
		if reason := a.reasons()["work_item/web/a#duplicate"]; a.writes > 0 || !strings.Contains(reason, "are already related as relates_to") {
			t.Error(a.writes, reason)
		}
	})
	t.Run("an empty list takes relations out", func(t *testing.T) {
		t.Parallel()
		s := newService(t, resource.V1)
		s.apply(t, applying{manifest: with("{blocking: [b]}")})
		if a := s.apply(t, applying{manifest: with("{blocking: []}")}); a.writes != 1 || len(a.failed()) > 0 {
			t.Error(a.writes, a.failed())
		}
	})
	t.Run("an empty list is reported if the edition cannot take relations out", func(t *testing.T) {
		t.Parallel()
		s := newService(t, resource.V1)
		s.apply(t, applying{manifest: with("{blocking: [b]}")})
		lacking(s)
		a := s.apply(t, applying{manifest: with("{blocking: []}")})
		if a.writes > 0 || len(a.plan.Steps) != 1 || a.plan.Steps[0].Action != planner.NotPossible || a.plan.Steps[0].Cause.Objects == "" {
			t.Error(a.writes, a.plan.Steps)
		}
	})
	t.Run("an empty list is not reported if there is nothing to take out", func(t *testing.T) {
		t.Parallel()
		s := newService(t, resource.V1)
		lacking(s)
		s.apply(t, applying{manifest: with("{blocking: []}")})
		if a := s.apply(t, applying{manifest: with("{blocking: []}")}); !a.plan.Empty() || len(a.plan.Steps) > 0 {
			t.Error(a.plan.Steps)
		}
	})
}

// TestAnotherRelationReplacesTheOneThatTheManifestTakesBack takes the former relation out before it adds the other one: the service keeps one
// relation between two items.
func TestAnotherRelationReplacesTheOneThatTheManifestTakesBack(t *testing.T) {
	t.Parallel()
	const items = `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, relations: {%a}}, {key: b, name: B, relations: {%b}}]}]}`
	with := func(relations [2]string) string {
		return strings.NewReplacer("%a", relations[0], "%b", relations[1]).Replace(items)
	}
	for name, tt := range map[string]struct{ before, after [2]string }{
		"an item names the other relation":              {[2]string{"relates_to: [b]", ""}, [2]string{"relates_to: [], duplicate: [b]", ""}},
		"an item names a relation that sorts before":    {[2]string{"relates_to: [b]", ""}, [2]string{"relates_to: [], blocked_by: [b]", ""}},
		"the other item names the other relation":       {[2]string{"blocking: [b]", ""}, [2]string{"blocking: []", "relates_to: [a]"}},
		"the other item has the relation the other way": {[2]string{"blocking: [b]", ""}, [2]string{"blocking: []", "blocking: [a]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			s.apply(t, applying{manifest: with(tt.before)})
			if done := s.apply(t, applying{manifest: with(tt.after)}); done.writes != 2 || len(done.failed())+len(done.reasons()) > 0 {
				t.Errorf("%d writes: %v %v", done.writes, done.failed(), done.reasons())
			}
			if again := s.apply(t, applying{manifest: with(tt.after)}); !again.plan.Empty() || again.writes > 0 || len(again.reasons()) > 0 {
				t.Errorf("again: %d writes, %+v %v", again.writes, again.plan.Summary, again.reasons())
			}
		})
	}
	t.Run("the other relation is not possible if somebody else made the former one", func(t *testing.T) {
		t.Parallel()
		s := newService(t, resource.V1)
		s.apply(t, applying{manifest: with([2]string{"relates_to: [b]", ""})})
		s.dir = t.TempDir() // the state is lost: who made the relation is not known
		a := s.apply(t, applying{manifest: with([2]string{"relates_to: [], duplicate: [b]", ""})})
		if reason := a.reasons()["work_item/web/a#duplicate"]; a.writes > 0 || !strings.Contains(reason, "are already related as relates_to") {
			t.Error(a.writes, reason)
		}
	})
}

// TestEveryRelationIsAddedOnceSeenAndTakenBack covers all relations of two work items.
func TestEveryRelationIsAddedOnceSeenAndTakenBack(t *testing.T) {
	t.Parallel()
	const items = `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, relations: {%a}}, {key: b, name: B, relations: {%b}}]}]}`
	with := func(a, b string) string { return strings.NewReplacer("%a", a, "%b", b).Replace(items) }
	for _, k := range resource.Memberships() {
		m := k.Membership
		if m.Inverse == "" {
			continue
		}
		t.Run(m.Field, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			inverse := resource.MustLookup(m.Inverse).Membership.Field
			both := with(m.Field+": [b]", inverse+": [a]")
			if m.Attribute != nil {
				s = newService(t, resource.V2)
				s.otherUser(t, http.MethodPost, "/api/v2/workspaces/acme/work-item-relation-definitions/", `{"name":"Code","outward":"implements","inward":"is implemented by"}`)
				both = with(m.Field+": [{item: b, relation: implements}]", inverse+": [{item: a, relation: is implemented by}]")
			}
			s.apply(t, applying{manifest: with("", "")})
			for _, do := range []struct{ what, manifest string }{{"added", both}, {"taken back", with(m.Field+": []", "")}, {"added again", both}} {
				if done := s.apply(t, applying{manifest: do.manifest}); done.writes != 1 || len(done.failed()) > 0 {
					t.Errorf("%s with %d writes: %v", do.what, done.writes, done.failed())
				}
			}
			s.dir = t.TempDir() // the state is lost
			if seen := s.apply(t, applying{manifest: both}); seen.writes > 0 || seen.plan.Summary.Create > 0 {
				t.Errorf("seen, yet %d writes: %+v", seen.writes, seen.plan.Summary)
			}
		})
	}
}
