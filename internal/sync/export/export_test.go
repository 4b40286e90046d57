package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

//nolint:gochecknoglobals // the flag package works with variables
var update = flag.Bool("update", false, "write the golden files anew")

// service is a sandbox with a client for it.
type service struct {
	*sandboxtest.Server

	t      testing.TB
	client *apiclient.Client
	url    string
	api    resource.API
}

func newService(tb testing.TB, o sandboxtest.Options) *service {
	tb.Helper()
	server, err := sandboxtest.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = server.Close() })
	url, err := server.Start(tb.Context(), "")
	if err != nil {
		tb.Fatal(err)
	}
	client, err := apiclient.New(apiclient.Config{BaseURL: url, Workspace: sandbox.Workspace, Credential: apiclient.APIKey(sandbox.Key)})
	if err != nil {
		tb.Fatal(err)
	}
	return &service{server, tb, client, url, resource.V1}
}

// send makes a write request below the workspace and returns the ID that is answered.
func (s *service) send(method, path string, body map[string]any) string {
	s.t.Helper()
	id, err := s.try(method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *service) try(method, path string, body map[string]any) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(path, "/") {
		path = "/api/v1/workspaces/acme/" + path
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	req.Header.Set("X-API-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode > 299 {
		return "", fmt.Errorf("%s %s: %d %s %w", method, path, res.StatusCode, answer, err)
	}
	var row struct{ ID string }
	_ = json.Unmarshal(answer, &row)
	return row.ID, nil
}

const (
	web   = "projects/" + sandboxtest.ProjectWeb + "/"
	items = web + "work-items/"
)

func (s *service) item(body map[string]any) string { s.t.Helper(); return s.send("POST", items, body) }

// export reads the workspace and writes it into a folder.
func (s *service) export(o export.Options) (dir string, e *export.Export) {
	s.t.Helper()
	o.Workspace, o.BaseURL, s.api = sandbox.Workspace, s.url, max(o.API, resource.V1)
	e, err := export.Read(s.t.Context(), s.client, o)
	if err != nil {
		s.t.Fatal(err)
	}
	dir = s.t.TempDir()
	if err := export.Write(dir, e.Files); err != nil {
		s.t.Fatal(err)
	}
	return dir, e
}

// plan plans the manifests of a folder against the service. With trust, it does not read again what the records know.
func (s *service) plan(dir string, records []planner.Record, trust bool) *planner.Plan {
	s.t.Helper()
	m, found := manifest.Load(context.Background(), []string{dir}, manifest.Options{})
	if len(found) > 0 {
		s.t.Fatalf("the export is not valid: %v", found)
	}
	if found := m.Localize(func(from resource.Source) bool { return from.BaseURL == s.url }); len(found) > 0 {
		s.t.Fatal(found)
	}
	prior := planner.Prior{}
	for _, r := range records {
		prior[r.Address] = r
	}
	plan, found, err := provider.Plan(s.t.Context(), s.client, planner.Input{
		Workspace: m.Workspace, API: s.api, Desired: m.Objects, Prior: prior, Settings: planner.Settings{RefreshAll: true, SkipRefresh: trust},
	}, provider.Grace{})
	if err != nil || len(found) > 0 {
		s.t.Fatal(err, found)
	}
	return plan
}

// hold makes sure that the export, applied, changes nothing: with its state, and without it.
func (s *service) hold(dir string, e *export.Export) {
	s.t.Helper()
	plan := s.plan(dir, e.Records, false)
	for _, step := range plan.Steps {
		s.t.Errorf("with the state: %s %s %+v %s", step.Action, step.Address, step.Changes(), step.Reason())
	}
	for _, step := range s.plan(dir, e.Records, true).Steps {
		s.t.Errorf("by the state alone: %s %s %+v %s", step.Action, step.Address, step.Changes(), step.Reason())
	}
	for _, step := range s.plan(dir, nil, false).Steps {
		if step.Action != planner.Adopt || step.Operation != nil {
			s.t.Errorf("without the state: %s %s %+v %s", step.Action, step.Address, step.Changes(), step.Reason())
		}
	}
	if plan.Summary.Unchanged == 0 {
		s.t.Error("nothing was exported")
	}
}

// fill adds objects that people write, and values that only a service can hold.
func (s *service) fill() {
	const emoji = "👩‍💻 ships ❤️"
	text := func(html string) map[string]any { return map[string]any{"name": "Text", "description_html": html} }
	shop := s.item(map[string]any{
		"name": "Open the new shop", "priority": "urgent", "state": sandboxtest.StateInProgress, "labels": []string{sandboxtest.LabelFrontend, sandboxtest.LabelBackend},
		"assignees": []string{sandboxtest.UserBob, sandboxtest.UserAda}, "start_date": "2026-12-01", "target_date": "2026-12-12", "type_id": sandboxtest.TypeStory,
		"description_html": "<div><p>The old shop is switched off on <strong>31 January</strong>. Until then:</p><ul><li>customers can pay</li><li>orders reach the warehouse</li></ul></div>",
	})
	child := s.item(map[string]any{"name": "Open the new shop", "parent": shop})
	for _, name := range []string{"2026-12-01", "yes", "- a: [b] #c", "line\r\nend", emoji, "  around  ", "a\u202Eb", "???"} {
		s.item(map[string]any{"name": name})
	}
	bell := s.item(map[string]any{"name": "a\u0007b", "description_html": "<p>c\u007Fd</p>"})
	s.item(text("<p class=\"big\">A class</p><p>and another paragraph</p>"))
	s.item(text("<p>" + strings.Repeat("A long text. ", 1000) + "</p><pre><code>a\n\n  b\n</code></pre>"))

	// Only a change can make these.
	first, second := s.item(map[string]any{"name": "Round"}), s.item(map[string]any{"name": "Round"})
	s.send("PATCH", items+first+"/", map[string]any{"parent": second})
	s.send("PATCH", items+second+"/", map[string]any{"parent": first, "target_date": "2026-01-01"})
	s.send("PATCH", items+second+"/", map[string]any{"start_date": "2026-02-01"})

	other := s.send("POST", web+"cycles/", map[string]any{"name": "Sprint 14", "project_id": sandboxtest.ProjectWeb})
	s.send("POST", web+"cycles/"+other+"/cycle-issues/", map[string]any{"issues": []string{shop}})
	s.send("POST", web+"cycles/"+sandboxtest.CycleSprint15+"/cycle-issues/", map[string]any{"issues": []string{child, first}})
	module := s.send("POST", web+"modules/", map[string]any{"name": "Basket"})
	for _, m := range []string{module, sandboxtest.ModuleCheckout} {
		s.send("POST", web+"modules/"+m+"/module-issues/", map[string]any{"issues": []string{shop}})
	}
	// A name that is another's key: nobody but its own key names it.
	s.send("POST", web+"states/", map[string]any{"name": "In-Review!", "color": "#123456", "group": "started"})
	review := s.send("POST", web+"states/", map[string]any{"name": "in-review", "color": "#123456", "group": "started"})
	s.send("PATCH", items+bell+"/", map[string]any{"state": review})
	s.send("POST", web+"labels/", map[string]any{"name": "red", "color": "red", "parent": sandboxtest.LabelBug})

	s.send("POST", items+shop+"/links/", map[string]any{"url": "https://example.com/brief", "title": "Brief"})
	bad := s.send("POST", items+shop+"/links/", map[string]any{"url": "https://example.com/bad"})
	s.send("PATCH", items+shop+"/links/"+bad+"/", map[string]any{"url": "nope"})
	s.send("POST", items+shop+"/comments/", map[string]any{"comment_html": "<p>One page, <em>please</em>.</p>"})
	s.send("POST", items+shop+"/relations/", map[string]any{"relation_type": "blocking", "issues": []string{child}})
	elsewhere := s.send("POST", "projects/"+sandboxtest.ProjectOps+"/work-items/", map[string]any{"name": "Watch the shop"})
	s.send("POST", items+shop+"/relations/", map[string]any{"relation_type": "blocked_by", "issues": []string{elsewhere}})
	s.send("POST", items+child+"/relations/", map[string]any{"relation_type": "relates_to", "issues": []string{first}})
	s.send("POST", items+child+"/relations/", map[string]any{"relation_type": "start_after", "issues": []string{elsewhere}})
}

// rest adds what the community edition does not have.
func (s *service) rest() {
	s.item(map[string]any{"name": "Estimated", "estimate_point": sandboxtest.EstimateWeb[:len(sandboxtest.EstimateWeb)-1] + "5"})
	for _, name := range []string{"Twice", "Twice", "../../etc/passwd", "CON", "日本語の頁", "👍", strings.Repeat("long ", 50)} {
		s.send("POST", "pages/", map[string]any{"name": name, "description_html": "<h1>Title</h1><p>of <a href=\"https://example.com\">" + name + "</a></p>"})
	}
	s.send("POST", "pages/", map[string]any{"name": "Coloured", "description_html": "<p>a <span data-text-color=\"red\">b</span></p>"})
	s.send("POST", "initiatives/"+sandboxtest.InitiativeNorth+"/projects/", map[string]any{"project_ids": []string{sandboxtest.ProjectWeb, sandboxtest.ProjectOps}})
	s.send("POST", "initiatives/"+sandboxtest.InitiativeNorth+"/labels/", map[string]any{"label_ids": []string{sandboxtest.InitiativeLabelGrowth}})
	s.send("POST", "teamspaces/"+sandboxtest.TeamspacePlatform+"/projects/", map[string]any{"project_ids": []string{sandboxtest.ProjectOps}})
	s.send("PATCH", "teamspaces/"+sandboxtest.TeamspacePlatform+"/", map[string]any{"description_html": "<p>Keeps the <em>lights</em> on.</p>", "logo_props": map[string]any{"in_use": "emoji", "n": 1.5, "yes": "0777"}})
	s.send("PATCH", "initiatives/"+sandboxtest.InitiativeNorth+"/", map[string]any{"logo_props": map[string]any{"a\u0007b": 1}})
}

func TestAnExportThatIsAppliedChangesNothing(t *testing.T) {
	t.Parallel()
	everything := []string{"links", "comments", "relations"}
	for name, tt := range map[string]struct {
		service sandboxtest.Options
		fill    bool
		export  export.Options
	}{
		"the seed of the sandbox is exported and applied": {},
		"with what takes a request each":                  {export: export.Options{With: everything}},
		"what only a service can hold":                    {fill: true},
		"with its links and comments":                     {fill: true, export: export.Options{With: everything}},
		"one project of two":                              {fill: true, export: export.Options{Projects: []string{"web"}}},
		"one section":                                     {fill: true, export: export.Options{Only: []string{"work_items"}}},
		"from the community edition":                      {service: sandboxtest.Options{Edition: sandbox.Community}, fill: true, export: export.Options{With: everything}},
		"as the contract has it":                          {service: sandboxtest.Options{Answers: sandbox.Contract}},
		"by small pages":                                  {service: sandboxtest.Options{PerPage: 3}, fill: true},
		"relations by their IDs alone":                    {service: sandboxtest.Options{RelationIDs: true}, fill: true, export: export.Options{With: everything}},
		"by API v2":                                       {service: sandboxtest.Options{Edition: sandbox.Cloud}, fill: true, export: export.Options{API: resource.V2, With: everything}},
		"by an API v2 without pages":                      {service: sandboxtest.Options{Edition: sandbox.Cloud, Fault: noPages}, fill: true, export: export.Options{API: resource.V2}},
	} {
		if !sample.TakesNamed(name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.service)
			if tt.fill {
				s.fill()
				if tt.service.Edition != sandbox.Community {
					s.rest()
				}
			}
			s.hold(s.export(tt.export))
		})
	}
}

// noPages has no pages in API v2.
func noPages(req *http.Request) sandboxtest.Fault {
	if strings.HasPrefix(req.URL.Path, "/api/v2/workspaces/acme/pages/") {
		return sandboxtest.Fault{Before: sandboxtest.RouteNotFound()}
	}
	return sandboxtest.Fault{}
}

func TestMilestonesOfItemsAreExportedByAPIV2(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	beta := s.send("POST", web+"milestones/", map[string]any{"title": "Beta"})
	s.send("POST", "/api/v2/workspaces/acme/"+web+"milestones/"+beta+"/work-items/", map[string]any{"add": []string{sandboxtest.WorkItemWeb1}})
	dir, e := s.export(export.Options{API: resource.V2})
	if !slices.ContainsFunc(e.Files, func(f export.File) bool { return strings.Contains(string(f.Data), "milestone: Beta") }) {
		t.Error("the milestone is missing")
	}
	s.hold(dir, e)
	s.hold(s.export(export.Options{})) // API v1 cannot set it
}

// TestObjectsThatTheWorkspaceManagesAreExportedOnceAboveItsProjects: lists of projects have it too.
func TestObjectsThatTheWorkspaceManagesAreExportedOnceAboveItsProjects(t *testing.T) {
	t.Parallel()
	const ws = "/api/v2/workspaces/acme/"
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, Governed: true})
	kind := s.send("POST", ws+"work-item-types/", map[string]any{"name": "Incident"})
	size := s.send("POST", ws+"work-item-properties/", map[string]any{"display_name": "Size", "property_type": "OPTION", "is_active": true})
	big := s.send("POST", ws+"work-item-properties/"+size+"/options/", map[string]any{"name": "Big"})
	s.send("POST", ws+"work-item-types/"+kind+"/properties/", map[string]any{"properties": []string{size}})
	s.send("POST", ws+web+"work-item-types/import/", map[string]any{"work_item_types": []string{kind}})
	triaged := s.send("POST", "states/", map[string]any{"name": "Triaged", "color": "#123456"})
	s.send("PATCH", web+"work-items/"+sandboxtest.WorkItemWeb1+"/", map[string]any{"type_id": kind, "state": triaged})
	s.send("POST", web+"work-items/"+sandboxtest.WorkItemWeb1+"/work-item-properties/"+size+"/values/", map[string]any{"value": big})
	dir, e := s.export(export.Options{API: resource.V2, With: []string{"fields"}})
	for _, want := range []string{"imported_types: [Default, Incident]", "type: Incident", "state: Triaged", "Size: Big", "work_item_types:\n  - key: default", "  - key: incident"} {
		n := 0
		for _, f := range e.Files {
			n += strings.Count(string(f.Data), want)
		}
		if n != 1 {
			t.Errorf("%q is there %d times", want, n)
		}
	}
	s.hold(dir, e)
}

// TestObjectsThatTheServiceMakesItselfAreNotExported: every workspace has such a kind of relation.
func TestObjectsThatTheServiceMakesItselfAreNotExported(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	dir, e := s.export(export.Options{API: resource.V2})
	for _, f := range e.Files {
		if strings.Contains(string(f.Data), "Relates to") {
			t.Errorf("%s", f.Data)
		}
	}
	s.hold(dir, e)
}

func TestObjectsThatOnlyAPIV2ListsAreExported(t *testing.T) {
	t.Parallel()
	const ws = "/api/v2/workspaces/acme/"
	for noun, tt := range map[string]struct {
		list  string
		body  map[string]any
		wants []string
	}{
		"intake item": {
			ws + web + "intake-issues/",
			map[string]any{"name": "Dark mode", "description_html": "<p>Easier on the eyes.</p>", "status": -1},
			[]string{"intake:", "name: Dark mode", "description: Easier on the eyes.", "status: rejected"},
		},
		"relation definition": {
			ws + "work-item-relation-definitions/",
			map[string]any{"name": "Test", "outward": "tests", "inward": "is tested by"},
			[]string{"relation_definitions:", "name: Test", "outward: tests", "inward: is tested by"},
		},
		"work item template": {
			ws + "work-item-templates/",
			map[string]any{"name": "Bug", "template_data": map[string]any{"priority": "high"}, "description_html": "<p>Hm.</p>"},
			[]string{"work_item_templates:", "name: Bug", "priority: high", "description: Hm."},
		},
		"release": {
			ws + "releases/",
			map[string]any{"name": "Spring", "status": "released", "description_html": "<p>Hm.</p>", "target_date": "2031-03-01"},
			[]string{"releases:", "name: Spring", "status: released", "description: Hm.", "target_date: 2031-03-01"},
		},
		"release tag": {ws + "releases/tags/", map[string]any{"version": "v2.0.0", "git_tag": "v2"}, []string{"release_tags:", "version: v2.0.0", "git_tag: v2"}},
		"project work item template": {
			ws + web + "work-item-templates/",
			map[string]any{"name": "Bug", "template_data": map[string]any{"name": "Bug: "}},
			[]string{"work_item_templates:", "name: Bug", `name: "Bug: "`},
		},
	} {
		t.Run(noun, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
			s.send("PATCH", web, map[string]any{"intake_view": true})
			s.send("PATCH", ws+"features/", map[string]any{"is_release_enabled": true})
			s.send("POST", tt.list, tt.body)
			dir, e := s.export(export.Options{API: resource.V2})
			for _, want := range tt.wants {
				if !slices.ContainsFunc(e.Files, func(f export.File) bool { return strings.Contains(string(f.Data), want) }) {
					t.Errorf("%q is missing", want)
				}
			}
			s.hold(dir, e)
			dir, e = s.export(export.Options{})
			if told := fmt.Sprint(e.Findings()); noun == "intake item" && !strings.Contains(told, "API v1 has no list of them that planform reads") {
				t.Error(told) // a summary counts them
			}
			s.hold(dir, e)
		})
	}
}

func TestAReleaseIsExportedAsTheServiceShowsIt(t *testing.T) {
	t.Parallel()
	const ws = "/api/v2/workspaces/acme/"
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	s.send("PATCH", ws+"features/", map[string]any{"is_release_enabled": true})
	tag, label := s.send("POST", ws+"releases/tags/", map[string]any{"version": "v2"}), s.send("POST", ws+"releases/labels/", map[string]any{"name": "Public"})
	release := ws + "releases/" + s.send("POST", ws+"releases/", map[string]any{"name": "Spring", "tag_id": tag}) + "/"
	s.send("POST", release+"labels/", map[string]any{"add": []string{label}})
	s.send("POST", release+"work-items/", map[string]any{"add": []string{sandboxtest.WorkItemWeb1}})
	s.send("POST", release+"links/", map[string]any{"url": "https://example.com/notes", "title": "Notes"})
	s.send("PATCH", release+"changelog/", map[string]any{"description_html": "<p>Much.</p>"})
	dir, e := s.export(export.Options{API: resource.V2})
	for _, want := range []string{"tag: v2", "labels: [Public]", "changelog: {description: Much.}", "title: Notes"} {
		if !slices.ContainsFunc(e.Files, func(f export.File) bool { return strings.Contains(string(f.Data), want) }) {
			t.Errorf("%q is missing", want)
		}
	}
	if told := fmt.Sprint(e.Findings()); !strings.Contains(told, `the list of work items of Spring is left out: the API cannot read it`) {
		t.Error(told)
	}
	s.hold(dir, e)
}

func TestPropertiesOfCustomersAreExported(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
			for name, value := range map[string]string{"TEXT": "Gold", "BOOLEAN": "True", "DECIMAL": "2.50", "DATETIME": "2031-05-17"} {
				id := s.send("POST", "customer-properties/", map[string]any{"display_name": "A " + name, "property_type": name})
				s.send("PATCH", "customers/"+sandboxtest.CustomerGlobex+"/property-values/"+id+"/", map[string]any{"values": []string{value}})
			}
			dir, e := s.export(export.Options{API: api, With: []string{"fields"}})
			for _, want := range []string{"A TEXT: Gold", "A BOOLEAN: true", "A DECIMAL: 2.50", `A DATETIME: "2031-05-17"`} {
				if !slices.ContainsFunc(e.Files, func(f export.File) bool { return strings.Contains(string(f.Data), want) }) {
					t.Errorf("%q is missing in %s", want, e.Files[0].Data)
				}
			}
			s.hold(dir, e)
			_, e = s.export(export.Options{API: api})
			if !slices.ContainsFunc(e.Skipped, func(c export.Count) bool { return c.Name == "fields" }) {
				t.Error(e.Skipped)
			}
		})
	}
}

func TestNestedPagesAreExportedByAPIV2(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	s.send("POST", "/api/v2/workspaces/acme/pages/", map[string]any{"name": "Inner", "parent_id": sandboxtest.PageWelcome})
	dir, e := s.export(export.Options{API: resource.V2})
	if at := slices.IndexFunc(e.Files, func(f export.File) bool { return f.Name == "workspace.yaml" }); at < 0 || !strings.Contains(string(e.Files[at].Data), "parent: Welcome") {
		t.Errorf("%s", e.Files[at].Data)
	}
	s.hold(dir, e)
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func TestTheSameServiceGivesTheSameFiles(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	s.fill()
	s.rest()
	o := export.Options{With: []string{"links", "comments", "relations"}}
	_, first := s.export(o)
	_, second := s.export(o)
	if diff := cmp.Diff(first.Files, second.Files); diff != "" {
		t.Errorf("the second export differs:\n%s", diff)
	}
	ids := map[string]string{}
	var text strings.Builder
	for _, f := range first.Files {
		fmt.Fprintf(&text, "-- %s --\n%s", f.Name, f.Data)
	}
	text.WriteString("-- findings --\n")
	for _, d := range first.Findings() {
		text.WriteString(d.Summary + "\n")
	}
	got := regexp.MustCompile(`created_at: "[^"]*"`).ReplaceAllString(text.String(), `created_at: "..."`)
	got = strings.ReplaceAll(got, s.url, "https://plane.example.com")
	got = regexp.MustCompile(`(comment|link|page)-[0-9a-f]{8}\b`).ReplaceAllString(got, "$1-00000000")
	got = uuids.ReplaceAllStringFunc(got, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(ids)+1)
		}
		return ids[id]
	})
	got = strings.ReplaceAll(got, strings.Repeat("A long text. ", 999), "A long text. … ")
	const golden = "testdata/export.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run go test ./internal/sync/export -update and look at the difference:\n%s", diff)
	}
}

func TestManyItemsTakeARequestForEachPage(t *testing.T) {
	t.Parallel()
	const n = 500
	s := newService(t, sandboxtest.Options{PerPage: n / 5})
	read := func(o export.Options) int {
		t.Helper()
		before, log := s.client.Sent(), len(s.Log())
		if _, e := s.export(o); len(e.Files) == 0 {
			t.Error("no files")
		}
		sent := s.client.Sent() - before
		if logged := len(s.Log()) - log; logged != sent {
			t.Errorf("the client says that it sent %d requests, the service got %d", sent, logged)
		}
		return sent
	}
	read(export.Options{}) // the client learns how long a page can be
	few := read(export.Options{})
	var g errgroup.Group
	g.SetLimit(16)
	for i := range n - 1 { // one is seeded
		g.Go(func() error {
			_, err := s.try("POST", items, map[string]any{"name": "Item " + strconv.Itoa(i), "description_html": "<p>Number <b>" + strconv.Itoa(i) + "</b></p>"})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, want := read(export.Options{}), few+4; got != want {
		t.Errorf("%d requests, want %d: five pages instead of one", got, want)
	}
	if got, want := read(export.Options{With: []string{"links"}}), few+4+n; got != want {
		t.Errorf("%d requests, want %d: one more for the links of each item", got, want)
	}
	dir, e := s.export(export.Options{})
	if plan := s.plan(dir, e.Records, false); len(plan.Steps) > 0 {
		t.Errorf("%d steps", len(plan.Steps))
	}
}

func TestOmissionsAreReported(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Community})
	archived := s.send("POST", "projects/", map[string]any{"name": "Old", "identifier": "OLD"})
	s.send("POST", "projects/"+archived+"/archive/", nil)
	s.item(map[string]any{"name": "A draft", "is_draft": true})
	s.item(map[string]any{"name": "Done with", "archived_at": "2026-01-01"})
	_, e := s.export(export.Options{})
	var text strings.Builder
	for _, d := range e.Findings() {
		text.WriteString(d.Summary + "\n")
	}
	wanted := []export.Omission{
		{What: "project", Why: "archived, and the service does not show its contents", Count: 1, Examples: []string{"OLD"}},
		{What: "work item", Why: "archived, or a draft, which no list shows", Count: 2, Examples: []string{"WEB"}},
	}
	if diff := cmp.Diff(wanted, e.Omitted); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"1 project left out: archived, and the service does not show its contents (OLD)\n",
		"2 work items left out: archived, or a draft, which no list shows (WEB)\n",
		"not exported, because manifests do not support them: subscribers, worklogs of work items\n",
		"this edition of the service does not have customers, ",
	} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("%q is not told once:\n%s", want, text.String())
		}
	}
	if len(e.Skipped) == 0 || e.Skipped[0].Number != 1 {
		t.Errorf("what takes a request for each item: %v", e.Skipped)
	}
}

// TestReferencesToArchivedObjectsAreLeftOut exports references to objects that no list shows: their IDs would mean
// nothing elsewhere.
func TestReferencesToArchivedObjectsAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, edition := range map[string]sandbox.Edition{"full": sandbox.Full, "community": sandbox.Community} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: edition})
			above := s.item(map[string]any{"name": "Above"})
			below := s.item(map[string]any{"name": "Below", "parent": above})
			beside := s.item(map[string]any{"name": "Beside"})
			s.send("POST", items+below+"/relations/", map[string]any{"relation_type": "blocked_by", "issues": []string{above, beside}})
			s.send("PATCH", items+above+"/", map[string]any{"archived_at": "2026-01-01"})
			_, e := s.export(export.Options{With: []string{"relations"}})
			for _, f := range e.Files {
				if strings.Contains(string(f.Data), above) {
					t.Errorf("%s names %s:\n%s", f.Name, above, f.Data)
				}
				if f.Name == "web.yaml" && !strings.Contains(string(f.Data), "blocked_by: [web/web-4]") && !strings.Contains(string(f.Data), "blocked_by: [web-4]") {
					t.Errorf("%s does not name the other one:\n%s", f.Name, f.Data)
				}
			}
			told := map[string]bool{}
			for _, o := range e.Omitted {
				told[o.What+": "+o.Why] = true
			}
			if why := ": no list shows the work item: it is archived or a draft, or elsewhere"; !told["parent"+why] {
				t.Errorf("told: %v", told)
			}
			s.hold(s.export(export.Options{With: []string{"relations"}}))
		})
	}
}

// TestAFeatureThatIsOffStaysOff exports a feature that is off although objects need it. In another workspace it is off
// again after the objects are created.
func TestAFeatureThatIsOffStaysOff(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Community})
	s.send("PATCH", "projects/"+sandboxtest.ProjectWeb+"/", map[string]any{"cycle_view": false, "page_view": false})
	files, e := s.export(export.Options{})
	var text strings.Builder
	for _, f := range e.Files {
		text.Write(f.Data)
	}
	if strings.Count(text.String(), "cycle_view: false") != 1 || strings.Count(text.String(), "page_view: false") != 1 {
		t.Error(text.String())
	}
	s.hold(files, e)
}

// TestTheOrderIsExportedIfPeopleChangedIt exports places only if people changed the order, because the order of a list
// decides the order in a new workspace.
func TestTheOrderIsExportedIfPeopleChangedIt(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Community})
	text := func() string {
		dir, e := s.export(export.Options{Projects: []string{"WEB"}})
		s.hold(dir, e)
		return string(e.Files[0].Data)
	}
	if got := text(); strings.Contains(got, "sort_order") || strings.Contains(got, "sequence") {
		t.Error(got)
	}
	s.send("PATCH", web+"labels/"+sandboxtest.LabelBug+"/", map[string]any{"sort_order": 1})
	if got := text(); strings.Count(got, "sort_order: ") != 3 || strings.Contains(got, "sequence") || strings.Index(got, "name: bug\n") > strings.Index(got, "name: backend\n") {
		t.Error(got)
	}
	s.send("PATCH", web+"states/"+sandboxtest.StateInProgress+"/", map[string]any{"sequence": 1})
	if got := text(); strings.Count(got, "sequence: ") != 5 {
		t.Error(got)
	}
}

// TestChoicesAreExportedInTheirOrder needs the order of the list, because the service puts each new choice after the others.
func TestChoicesAreExportedInTheirOrder(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	property := s.send("POST", web+"work-item-types/"+sandboxtest.TypeTask+"/work-item-properties/", map[string]any{"display_name": "Size", "property_type": "OPTION"})
	for _, name := range []string{"Small", "Middle", "Large"} {
		s.send("POST", web+"work-item-properties/"+property+"/options/", map[string]any{"name": name})
	}
	s.send("POST", "customer-properties/", map[string]any{
		"display_name": "Plan", "property_type": "OPTION", "options": []any{map[string]any{"name": "Trial"}, map[string]any{"name": "Free"}, map[string]any{"name": "Paid"}},
	})
	dir, e := s.export(export.Options{})
	var all strings.Builder
	for _, f := range e.Files {
		all.Write(f.Data)
	}
	for _, names := range []string{"Small Middle Large", "Trial Free Paid"} {
		at := -1
		for name := range strings.FieldsSeq(names) {
			next := strings.Index(all.String(), "name: "+name)
			if next < at || next < 0 {
				t.Errorf("%s is at %d, after %d", name, next, at)
			}
			at = next
		}
	}
	s.hold(dir, e)
}

// TestArchivedCyclesAndModulesAreExported exports archived objects that a manifest can express, with their members.
func TestArchivedCyclesAndModulesAreExported(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Community})
	item := s.item(map[string]any{"name": "Done long ago"})
	cycle := s.send("POST", web+"cycles/", map[string]any{"name": "Sprint 1", "project_id": sandboxtest.ProjectWeb})
	s.send("POST", web+"cycles/"+cycle+"/cycle-issues/", map[string]any{"issues": []string{item}})
	s.send("PATCH", web+"cycles/"+cycle+"/", map[string]any{"start_date": "2026-01-05", "end_date": "2026-01-16"})
	s.send("POST", web+"cycles/"+cycle+"/archive/", nil)
	module := s.send("POST", web+"modules/", map[string]any{"name": "Old shop", "status": "completed"})
	s.send("POST", web+"modules/"+module+"/module-issues/", map[string]any{"issues": []string{item}})
	s.send("POST", web+"modules/"+module+"/archive/", nil)
	dir, e := s.export(export.Options{})
	var all strings.Builder
	for _, f := range e.Files {
		all.Write(f.Data)
	}
	text := all.String()
	for _, want := range []string{"name: Sprint 1\n", "name: Old shop\n", "cycle: Sprint 1\n", "module: Old shop\n", "archived: true\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if len(e.Omitted) > 0 {
		t.Errorf("left out: %v", e.Omitted)
	}
	s.hold(dir, e)
}

// TestAKindThatTheEditionLacksIsReportedOnce checks the names in the report: a kind that is missing only at the workspace
// is called so, and likewise a kind that is missing only in projects.
func TestAKindThatTheEditionLacksIsReportedOnce(t *testing.T) {
	t.Parallel()
	without := func(ends ...string) sandboxtest.Options {
		return sandboxtest.Options{Edition: sandbox.Cloud, HasOperation: func(_, path string) bool {
			return !slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) })
		}}
	}
	for name, tt := range map[string]struct {
		api     resource.API
		service sandboxtest.Options
		want    string
	}{
		"the kinds that the community edition lacks are listed": {
			resource.V1,
			sandboxtest.Options{Edition: sandbox.Community},
			"customers, customer properties, estimates, initiatives, initiative labels, milestones, pages, " +
				"teamspaces, work item types, states of the workspace",
		},
		"both kinds of views are one kind in the list": {
			resource.V2, without("/views/", "/work-item-relation-definitions/"), "views, relation definitions",
		},
		"a service may lack the views of the workspace alone": {resource.V2, without("{slug}/views/"), "views of the workspace"},
		"a service may lack the views of projects alone":      {resource.V2, without("{project_id}/views/"), "views of projects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, e := newService(t, tt.service).export(export.Options{API: tt.api})
			lacks := ""
			for _, d := range e.Findings() {
				if d.Code == "not-in-edition" {
					lacks = d.Summary
				}
			}
			if want := "this edition of the service does not have " + tt.want; lacks != want {
				t.Errorf("%q, want %q", lacks, want)
			}
		})
	}
}

// TestAnObjectWithoutAnIDIsAnError refuses an ID that is no UUID, because no path with it is safe.
func TestAnObjectWithoutAnIDIsAnError(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	for _, id := range []string{`""`, "12", "null", "{}", `"../../../x"`} {
		odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, r)
			body := answer.Body.Bytes()
			if strings.HasSuffix(r.URL.Path, "/pages/") {
				body = regexp.MustCompile(`"id":"[^"]*"`).ReplaceAll(body, []byte(`"id":`+id))
			}
			w.WriteHeader(answer.Code)
			_, _ = w.Write(body)
		}))
		client, err := apiclient.New(apiclient.Config{BaseURL: odd.URL, Workspace: sandbox.Workspace, Credential: apiclient.APIKey(sandbox.Key)})
		if err != nil {
			t.Fatal(err)
		}
		e, err := export.Read(t.Context(), client, export.Options{Workspace: sandbox.Workspace, Only: []string{"pages"}})
		odd.Close()
		if err != nil {
			t.Log(id, err) // refused as a whole
			continue
		}
		if len(e.Omitted) != 1 || e.Omitted[0].What != "page" || e.Omitted[0].Count != 1 {
			t.Errorf("%s: %v", id, e.Omitted)
		}
	}
}

func TestObjectsOfAListWithoutTextsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	without := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		if strings.HasSuffix(r.URL.Path, "/pages/") {
			body = bytes.ReplaceAll(body, []byte(`"description_html":`), []byte(`"other":`))
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	}))
	t.Cleanup(without.Close)
	client, err := apiclient.New(apiclient.Config{BaseURL: without.URL, Workspace: sandbox.Workspace, Credential: apiclient.APIKey(sandbox.Key)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Read(t.Context(), client, export.Options{Workspace: sandbox.Workspace, Only: []string{"pages"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(e.Files, func(f export.File) bool { return f.Name == "pages/welcome.md" && string(f.Data) == "Start here.\n" }) {
		t.Errorf("%v", e.Files)
	}
}

func TestAForbiddenListIsReportedAndTheRestExported(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Fault: func(r *http.Request) sandboxtest.Fault {
		if strings.HasSuffix(r.URL.Path, "/cycles/") || strings.HasSuffix(r.URL.Path, "/customers/") {
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusForbidden, Body: `{"detail":"You do not have permission to perform this action."}`}}
		}
		return sandboxtest.Fault{}
	}})
	_, e := s.export(export.Options{})
	var told []string
	for _, d := range e.Findings() {
		told = append(told, d.Summary)
	}
	want := []string{
		"the credential may not read the customers of the workspace",
		"the credential may not read the cycles of OPS, WEB",
		"the service does not show the roles of members of 2 projects: a guest becomes a member in a copy (OPS, WEB)",
		"not exported, because manifests do not support them: subscribers, worklogs of work items",
	}
	if diff := cmp.Diff(want, told, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
	if len(e.Files) < 4 || !e.Denied {
		t.Errorf("%d files, denied: %t", len(e.Files), e.Denied)
	}
}

func TestAnUnknownSectionIsAnErrorWithAHint(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	for name, tt := range map[string]struct {
		o    export.Options
		want string
	}{
		"an unknown project suggests a similar one":              {export.Options{Projects: []string{"WEP"}}, `the service has no project WEP: did you mean "WEB"`},
		"an unknown section lists the known ones":                {export.Options{Only: []string{"iterations"}}, "--only iterations: no such section: one of "},
		"a section that takes long may be named in the singular": {export.Options{With: []string{"link"}}, ""},
		"a section that takes no time cannot be asked for":       {export.Options{With: []string{"cycles"}}, "--with cycles: no such section: one of attachments, comments, links, relations"},
		"a project may be named by its name":                     {export.Options{Projects: []string{"website"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.o.Workspace = sandbox.Workspace
			_, err := export.Read(t.Context(), s.client, tt.o)
			got := ""
			if err != nil {
				got = err.Error() + ": " + diag.HintOf(err)
			}
			if !strings.HasPrefix(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestFilesStayInTheirFolder(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "pages")); err != nil {
		t.Skip(err)
	}
	if err := export.Write(dir, []export.File{{Name: "pages/a.md", Data: []byte("a")}}); err == nil {
		t.Error("a link leads out of the folder")
	}
	if err := export.Write(dir, []export.File{{Name: "../a.md", Data: []byte("a")}}); err == nil {
		t.Error("a name leads out of the folder")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error("something was written outside")
	}
}

func TestAFolderWithManifestsIsNotEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := export.CheckEmpty(dir, "web.yaml", "pages/a.md"); err != nil {
		t.Error(err)
	}
	if err := export.CheckEmpty(filepath.Join(dir, "not-there")); err != nil {
		t.Error(err)
	}
	if err := export.Write(dir, []export.File{{Name: "other.yml"}, {Name: "pages/a.md"}}); err != nil {
		t.Fatal(err)
	}
	var occupied *export.NotEmptyError
	if err := export.CheckEmpty(dir, "pages/a.md"); !errors.As(err, &occupied) || !cmp.Equal(occupied.Files, []string{"other.yml", "pages/a.md"}) {
		t.Errorf("%v", err)
	}
}

// TestRolesAreExported writes a role where it is known and another than a member has.
func TestRolesAreExported(t *testing.T) {
	t.Parallel()
	const eve, ada = "{user: eve@example.com, role: guest}", "{user: ada@example.com, role: admin}"
	for name, c := range map[string]struct {
		options sandboxtest.Options
		shown   bool
		want    []string
	}{
		"roles are exported if the service shows them":            {sandboxtest.Options{Answers: sandbox.Contract}, true, []string{eve, ada}},
		"the role of a guest of the workspace is always exported": {sandboxtest.Options{Answers: sandbox.Observed}, false, []string{eve, "- ada@example.com"}},
		"version 1.4 of the community edition shows roles":        {sandboxtest.Options{Edition: sandbox.Community}, true, []string{eve, ada}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			s.send("POST", web+"project-members/", map[string]any{"member": sandboxtest.UserEve, "role": 5})
			dir, e := s.export(export.Options{})
			s.hold(dir, e)
			unknown := slices.ContainsFunc(e.Findings(), func(d diag.Diagnostic) bool { return d.Code == "roles-unknown" })
			if unknown == c.shown {
				t.Errorf("roles are identified as unknown: %t", unknown)
			}
			var all strings.Builder
			for _, f := range e.Files {
				all.Write(f.Data)
			}
			for _, want := range c.want {
				if !strings.Contains(all.String(), want) {
					t.Errorf("no %s in\n%s", want, all.String())
				}
			}
		})
	}
}
