package provider_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// days returns the stored dates of cycles: moments, which do not change with the time zone of the project.
func (sv *service) days() []string {
	var all []string
	for _, row := range sv.Rows("cycle") {
		if row["project"] != sandboxtest.ProjectWeb {
			all = append(all, fmt.Sprint(row["name"], " ", row["start_date"], " ", row["end_date"]))
		}
	}
	slices.Sort(all)
	return all
}

// TestAChangeOfTheTimeZoneMovesTheDaysOfCycles, because the service reads days in the time zone of the project, and stores moments.
func TestAChangeOfTheTimeZoneMovesTheDaysOfCycles(t *testing.T) {
	t.Parallel()
	text := func(zone, more string) string {
		return `{version: 1, projects: [{key: p, identifier: P, name: P, cycle_view: true, timezone: ` + zone + `, ` + more + `cycles: [
			{key: a, name: A, start_date: 2031-01-06, end_date: 2031-01-17}, {key: b, name: B, start_date: 2031-01-20, end_date: 2031-01-31, description: Last}]}]}`
	}
	const berlin, tokyo = "Europe/Berlin", "Asia/Tokyo"
	change := func(t *testing.T, s *service, kind, body string) {
		t.Helper()
		for _, row := range s.Rows(kind) {
			path := fmt.Sprintf("projects/%v/cycles/%v/", row["project"], row["id"])
			if kind == "project" {
				path = fmt.Sprintf("projects/%v/", row["id"])
			}
			if row["name"] == "P" || row["name"] == "A" {
				s.otherUser(t, http.MethodPatch, path, body)
			}
		}
	}
	for name, tt := range map[string]struct {
		people func(t *testing.T, s *service)
		then   string
		drift  []string // fields
		shown  []string // addresses of updated objects
		same   bool     // the moments stay the same
	}{
		"a time zone that people changed is restored without moving days": {
			people: func(t *testing.T, s *service) { t.Helper(); change(t, s, "project", `{"timezone": "Asia/Tokyo"}`) },
			then:   text(berlin, ""), drift: []string{"timezone"}, shown: []string{"project/p"}, same: true,
		},
		"a time zone that the manifest changes moves the days of cycles": {
			then: text(tokyo, ""), shown: []string{"project/p", "cycle/p/a", "cycle/p/b"},
		},
		"a time zone and a day that people changed are restored": {
			people: func(t *testing.T, s *service) {
				t.Helper()
				change(t, s, "project", `{"timezone": "Asia/Tokyo"}`)
				change(t, s, "cycle", `{"start_date": "2031-01-08", "end_date": "2031-01-17"}`)
			},
			then: text(berlin, ""), drift: []string{"timezone", "start_date"}, shown: []string{"project/p", "cycle/p/a"}, same: true,
		},
		"a time zone that people changed is restored beside a text that the manifest changes": {
			people: func(t *testing.T, s *service) {
				t.Helper()
				change(t, s, "project", `{"timezone": "America/Los_Angeles"}`)
			},
			then: text(berlin, "description: Shop, "), drift: []string{"timezone"}, shown: []string{"project/p"}, same: true,
		},
		"a time zone that people may change moves the days of cycles": {
			people: func(t *testing.T, s *service) { t.Helper(); change(t, s, "project", `{"timezone": "Asia/Tokyo"}`) },
			then:   text(berlin, "ignore_changes: [timezone], "), shown: []string{"cycle/p/a", "cycle/p/b"},
		},
	} {
		for _, api := range []resource.API{resource.V1, resource.V2} {
			t.Run(api.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud})
				s.apply(t, applying{manifest: text(berlin, "")})
				s.apply(t, applying{manifest: text(berlin, "")})
				before := s.days()
				if tt.people != nil {
					tt.people(t, s)
				}
				r := s.apply(t, applying{manifest: tt.then})
				var drift, shown []string
				for _, d := range r.plan.Drift {
					drift = append(drift, d.Change.Path)
				}
				for _, step := range r.plan.Steps {
					if step.Action == planner.Update {
						shown = append(shown, string(step.Address))
					}
				}
				if !slices.Equal(drift, tt.drift) || !slices.Equal(shown, tt.shown) || len(r.failed())+len(r.warnings()) > 0 {
					t.Errorf("drift %q, shown %q: %v %v", drift, shown, r.failed(), r.warnings())
				}
				if slices.Equal(before, s.days()) != tt.same {
					t.Errorf("before %q\nafter %q", before, s.days())
				}
				if end := s.apply(t, applying{manifest: tt.then}); end.writes > 0 || !end.plan.Empty() {
					t.Errorf("again: %d writes, %+v", end.writes, end.plan.Summary)
				}
			})
		}
	}
}
