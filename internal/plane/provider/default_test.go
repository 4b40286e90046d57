package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// defaults are the states in which new work items start.
func (sv *service) defaults() []string {
	var names []string
	for _, row := range sv.Rows("state") {
		if name, _ := row["name"].(string); row["default"] == true && row["project"] != sandboxtest.ProjectWeb && row["project"] != sandboxtest.ProjectOps {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestOneStateIsTheDefault: a change leaves the default of before what it is.
func TestOneStateIsTheDefault(t *testing.T) {
	t.Parallel()
	project := func(states string) string {
		return "version: 1\nprojects: [{key: p, identifier: P, name: P, states: [" + states + "]}]\n"
	}
	for name, tt := range map[string]struct {
		api     resource.API
		before  string
		after   string
		blocked string
		want    []string
	}{
		"a new default state takes the default from the others":                      {resource.V1, "{name: Todo}", "{name: Todo}, {name: Review, default: true}", "", []string{"Review"}},
		"an existing state does not take the default from another":                   {resource.V1, "{name: Review}", "{name: Review, default: true}", `state "Backlog"`, []string{"Backlog"}},
		"an existing state takes the default that the manifest takes from the other": {resource.V1, "{name: Review}", "{name: Review, default: true}, {name: Backlog, default: false}", "", []string{"Review"}},
		"a second default state of the manifest is reported":                         {resource.V1, "{name: Review}", "{name: Review, default: true}, {name: Backlog, default: true}", `state "Backlog"`, []string{"Backlog"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.api)
			s.apply(t, applying{manifest: project(tt.before)})
			for range 2 {
				r := s.apply(t, applying{manifest: project(tt.after)})
				if got := r.reasons()["state/p/review"]; (got == "") != (tt.blocked == "") || !strings.Contains(got, tt.blocked) || len(r.failed()) > 0 {
					t.Errorf("%q %q", got, r.failed())
				}
			}
			if r := s.apply(t, applying{manifest: project(tt.after)}); r.writes > 0 {
				t.Errorf("%d writes", r.writes)
			}
			if got := s.defaults(); !slices.Equal(got, tt.want) {
				t.Errorf("defaults: %q, want %q", got, tt.want)
			}
		})
	}
}
