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

const withMilestones = `{version: 1, projects: [{key: ops, identifier: OPS, milestones: [Alpha, Beta]}, {key: new, identifier: NEW, name: New, milestones: [Alpha, Beta]}]}`

// TestAFeatureThatTheManifestNeedsIsSwitchedOnFirst uses milestones, which API v2 refuses while their feature is off, in an existing project and in a new one.
func TestAFeatureThatTheManifestNeedsIsSwitchedOnFirst(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	a := s.apply(t, applying{manifest: withMilestones})
	if len(a.failed()) > 0 || len(s.Rows("milestone")) != 4 {
		t.Errorf("%v, %d milestones", a.failed(), len(s.Rows("milestone")))
	}
	for _, address := range []resource.Address{"project_features/ops/features", "project_features/new/features"} {
		i := slices.IndexFunc(a.plan.Steps, func(step *planner.Step) bool { return step.Address == address })
		if i < 0 || len(a.plan.Steps[i].Changes()) != 1 || a.plan.Steps[i].Changes()[0].Path != "milestones" {
			t.Errorf("the plan does not say what is switched on in %s", address)
		}
	}
	again := s.apply(t, applying{manifest: withMilestones})
	if !again.plan.Empty() || again.writes > 0 {
		t.Error(again.plan.Summary)
	}
	// It stays on when nothing needs it any more, and is never deleted.
	gone := s.apply(t, applying{manifest: `{version: 1, projects: [{key: ops, identifier: OPS}, {key: new, identifier: NEW, name: New}]}`, prune: true})
	if len(gone.failed()) > 0 || len(gone.reasons()) > 0 || gone.plan.Summary.Delete != 4 {
		t.Error(gone.failed(), gone.reasons(), gone.plan.Summary)
	}
}

// TestAFeatureThatANewObjectNeedsIsSwitchedOnBeforeIt also checks that the plan shows the switch.
func TestAFeatureThatANewObjectNeedsIsSwitchedOnBeforeIt(t *testing.T) {
	t.Parallel()
	const off = "version: 1\nfeatures: {wiki: false, customers: false, initiatives: false}\n"
	const epic = `version: 1
projects: [{key: new, identifier: NEW, name: New, work_item_types: [{key: a, name: Saga, is_epic: %s}]}]`
	const ofProject, ofWorkspace = "project_features/new/features", "workspace_features/features"
	for name, tt := range map[string]struct {
		manifest, at, path string
		made               resource.Address
	}{
		"a page switches on the wiki":                     {"version: 1\npages: [{name: A}]", ofWorkspace, "wiki", "page/a"},
		"a customer property switches on customers":       {"version: 1\ncustomer_properties: [{name: A, type: text}]", ofWorkspace, "customers", "customer_property/a"},
		"an initiative label switches on initiatives":     {"version: 1\ninitiative_labels: [{name: A}]", ofWorkspace, "initiatives", "initiative_label/a"},
		"a type that is an epic switches on epics":        {fmt.Sprintf(epic, "true"), ofProject, "epics", "work_item_type/new/a"},
		"a type that is no epic does not switch on epics": {fmt.Sprintf(epic, "false"), ofProject, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
			s.apply(t, applying{manifest: off})
			a := s.apply(t, applying{manifest: tt.manifest})
			switched, made := planner.StepID(-1), planner.StepID(-1)
			for _, step := range a.plan.Steps {
				if string(step.Address) == tt.at {
					for _, c := range step.Changes() {
						if c.Path != tt.path {
							t.Errorf("%s is changed", c.Path)
						}
					}
					switched = step.Index
				}
				if step.Address == tt.made {
					made = step.Index
					if !slices.Contains(step.Needs, switched) {
						t.Error("it does not wait for the switch")
					}
				}
			}
			if found := switched >= 0 && made >= 0; found != (tt.path != "") || len(a.failed()) > 0 {
				t.Errorf("switched by step %d, made by step %d, %v", switched, made, a.failed())
			}
			if again := s.apply(t, applying{manifest: tt.manifest}); !again.plan.Empty() {
				t.Error(again.plan.Summary)
			}
		})
	}
}

// TestNothingFailsIfTheServiceHasNoFeaturesToSwitchOn covers a service without the path, API v1, and a user who may not read it.
func TestNothingFailsIfTheServiceHasNoFeaturesToSwitchOn(t *testing.T) {
	t.Parallel()
	const written = `{version: 1, features: {initiatives: true}, projects: [{key: ops, identifier: OPS, features: {epics: true}}], initiatives: [{name: Grow}]}`
	lacking := sandboxtest.Options{Edition: sandbox.Cloud, HasOperation: func(_, path string) bool { return !strings.HasSuffix(path, "/features/") }}
	for name, tt := range map[string]struct {
		api     resource.API
		options sandboxtest.Options
		status  int
	}{
		"nothing fails with API v1": {resource.V1, sandboxtest.Options{}, 0}, "nothing fails if the path of features is missing": {resource.V2, lacking, 0},
		"nothing fails if features may not be read": {resource.V2, sandboxtest.Options{Edition: sandbox.Cloud}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, tt.api, tt.options)
			refusing := func(req *http.Request) sandboxtest.Fault {
				if tt.status == 0 || !strings.HasSuffix(req.URL.Path, "/features/") {
					return sandboxtest.Fault{}
				}
				return sandboxtest.Fault{Before: sandboxtest.Break{Status: tt.status, Body: `{"type":"forbidden","code":"forbidden","detail":"No."}`}}
			}
			s.fault = refusing
			a := s.apply(t, applying{manifest: `{version: 1, initiatives: [{name: Grow}]}`})
			if len(a.failed()) > 0 || len(a.reasons()) > 0 || len(a.warnings()) > 0 || s.named("initiative", "Grow") != 1 {
				t.Error(a.failed(), a.reasons(), a.warnings())
			}
			s.fault = refusing
			said := s.apply(t, applying{manifest: written})
			if reasons := said.reasons(); len(said.failed()) > 0 || len(reasons) != 2 || said.writes > 0 {
				t.Error(said.failed(), reasons, said.writes)
			}
		})
	}
}
