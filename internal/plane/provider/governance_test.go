package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestAnObjectThatTheOtherLevelManagesIsReportedBeforeAnythingIsWritten, because the service refuses such a write.
func TestAnObjectThatTheOtherLevelManagesIsReportedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	const byWorkspace, byProjects = "in the workspace acme the workspace manages the ", "in the workspace acme each project manages the "
	for name, tt := range map[string]struct {
		manifest string
		governed bool
		only     resource.API // 0 = both versions of the API
		want     string       // "" = no finding
	}{
		"a new state of a project is refused if the workspace manages states":             {`projects: [{identifier: WEB, states: [In Review]}]`, true, 0, byWorkspace + "states: the service refuses to write state/web/in-review"},
		"a changed state of a project is refused if the workspace manages states":         {`projects: [{identifier: WEB, states: [{name: Todo, color: "#123456"}]}]`, true, 0, byWorkspace + "states: the service refuses to write state/web/todo"},
		"a type of a project is refused if the workspace manages types":                   {`projects: [{identifier: WEB, work_item_types: [{name: Risk}]}]`, true, 0, byWorkspace + "work item types: the service refuses to write work_item_type/web/risk"},
		"a property of a project is refused if the workspace manages types":               {`projects: [{identifier: WEB, work_item_types: [{name: Story, properties: [{name: Size, type: text}]}]}]`, true, 0, byWorkspace + "work item types: the service refuses to write work_item_property/web/story/size"},
		"a state of the workspace is refused if projects manage states":                   {`states: [In Review]`, false, 0, byProjects + "states: the service refuses to write workspace_state/in-review"},
		"a type of the workspace is refused if projects manage types":                     {`work_item_types: [{name: Risk}]`, false, resource.V2, byProjects + "work item types: the service refuses to write workspace_work_item_type/risk"},
		"an existing state of a project is accepted if the workspace manages states":      {`projects: [{identifier: WEB, states: [Todo, {name: Done, group: completed}]}]`, true, 0, ""},
		"a predefined state of a new project is accepted if the workspace manages states": {`projects: [{identifier: NEW, name: New, states: [Todo]}]`, true, 0, ""},
		"a type of the workspace is accepted if the manifest switches its feature on":     {"features: {work_item_types: true}\nwork_item_types: [{name: Risk}]", false, resource.V2, ""},
		"a type of the workspace is refused if the manifest switches its feature off":     {"features: {work_item_types: false}\nwork_item_types: [{name: Risk}]", true, resource.V2, byProjects + "work item types: the service refuses to write workspace_work_item_type/risk"},
	} {
		for _, api := range []resource.API{resource.V1, resource.V2} {
			if tt.only != 0 && tt.only != api {
				continue
			}
			t.Run(api.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud, Governed: tt.governed})
				found := s.findings(t, "version: 1\n"+tt.manifest+"\n")
				if tt.want == "" {
					if found.HasErrors() || s.writes() > 0 {
						t.Error(found)
					}
					return
				}
				if len(found) != 1 || found[0].Code != "managed-elsewhere" || found[0].Summary != tt.want || !strings.Contains(found[0].Hint, "write it in the ") || found[0].Position.IsZero() {
					t.Errorf("got %v", found)
				}
				if s.writes() > 0 {
					t.Error("something was written")
				}
			})
		}
	}
}

const governed = `version: 1
projects:
  - identifier: OPS
    imported_types: [Incident]
    work_items:
      - {key: a, name: Server down, type: Incident, state: Triaged, fields: {Severity: High, Reported by: Somebody}}
work_item_types:
  - {name: Incident, properties: [Severity, Reported by]}
work_item_properties:
  - {name: Severity, type: option, options: [Low, High]}
  - {name: Reported by, type: text}
states:
  - {name: Triaged, group: unstarted, color: "#123456"}
`

// TestWorkItemsUseStatesAndTypesThatTheWorkspaceManages refers to types, states and properties of the workspace like to those of a project.
func TestWorkItemsUseStatesAndTypesThatTheWorkspaceManages(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud, Governed: true})
	a := s.apply(t, applying{manifest: governed})
	if len(a.failed())+len(a.reasons())+len(a.warnings()) > 0 {
		t.Fatal(a.failed(), a.reasons(), a.warnings())
	}
	if again := s.apply(t, applying{manifest: governed, all: true}); again.writes > 0 || !again.plan.Empty() {
		t.Error(again.plan.Summary, again.writes)
	}
	id := func(kind, name string) any {
		for _, row := range s.Rows(kind) {
			if row["name"] == name && row["project"] == nil {
				return row["id"]
			}
		}
		return nil
	}
	for _, row := range s.Rows("work_item") {
		if row["name"] == "Server down" && (row["type"] != id("work_item_type", "Incident") || row["state"] != id("state", "Triaged")) {
			t.Error(row)
		}
	}
	if got := s.fieldsOf("Server down"); got != "Reported by=Somebody; Severity=High" {
		t.Errorf("%q", got)
	}
	// A change of a value by people is found by the names of the workspace's properties.
	changed := s.apply(t, applying{manifest: strings.Replace(governed, "Severity: High,", "Severity: Low,", 1), all: true})
	if len(changed.failed()) > 0 || changed.writes != 1 {
		t.Error(changed.failed(), changed.writes)
	}
}

// TestAnObjectOfAProjectIsNotPrunedIfTheWorkspaceManagesItNow, because the service would refuse it.
func TestAnObjectOfAProjectIsNotPrunedIfTheWorkspaceManagesItNow(t *testing.T) {
	t.Parallel()
	const manifest = `version: 1
projects: [{identifier: WEB, work_item_types: [{name: Risk}]}]`
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	s.apply(t, applying{manifest: manifest})
	s.as(t, sandbox.Key, http.MethodPatch, "/api/v2/workspaces/acme/features/", `{"is_work_item_types_enabled": true}`)
	a := s.apply(t, applying{manifest: "version: 1\nprojects: [{identifier: WEB}]", prune: true})
	if got := a.reasons()["work_item_type/web/risk"]; got != "it would be deleted, but in this workspace the workspace manages the work item types" || a.writes > 1 {
		t.Error(got, a.writes, a.reasons())
	}
}
