package export_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/markup"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// TestEveryValueIsTheSameInAnotherWorkspace exports any value of any field, applies it in an empty workspace, and finds
// the same value there.
func TestEveryValueIsTheSameInAnotherWorkspace(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]sandboxtest.Options{
		"full edition": {}, "community edition": {Edition: sandbox.Community},
	} {
		if o.Edition != sandbox.Community && !sample.Each() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := newService(t, o), newService(t, o)
			from.everyValue(o.Edition)
			dir, _ := from.export(export.Options{With: []string{"links", "comments"}})
			to.apply(dir)
			have := to.values()
			for object, want := range from.values() {
				if strings.HasPrefix(object, "/project/WEB/work_item/") || strings.HasPrefix(object, "/project/OPS/work_item/") {
					continue // both have these from the start
				}
				for field, value := range want {
					if got, there := have[object][field]; !there || got != value {
						t.Errorf("%s: %s is %q elsewhere, want %q", object, field, got, value)
					}
				}
			}
		})
	}
}

// values returns the values that a field can have, as JSON.
func values(f *resource.Field) []any {
	switch f.Type {
	case resource.Enum:
		var all []any
		for i, v := range f.Enum {
			if f.Codes != nil {
				all = append(all, f.Codes[i])
			} else if f.EnumInCapitals {
				all = append(all, strings.ToUpper(v))
			} else {
				all = append(all, v)
			}
		}
		return all
	case resource.Boolean:
		return []any{true, false}
	case resource.Number:
		return []any{0, 1, 12}
	case resource.JSON:
		return []any{map[string]any{}, map[string]any{"in_use": "emoji"}}
	case resource.Markdown, resource.HTML, resource.File, resource.Upload:
		return []any{"<p></p>", "<p>a <em>text</em></p>"}
	case resource.Ref, resource.RefSet, resource.EnumSet, resource.CustomFields, resource.SecretFile:
		return nil
	case resource.Text, resource.LongText, resource.Date, resource.Color, resource.URL:
	}
	return []any{f.Example}
}

// everyValue makes an object for each value of each field of each kind.
func (s *service) everyValue(edition sandbox.Edition) {
	s.t.Helper()
	project := s.send("POST", "projects/", map[string]any{"name": "Hull", "identifier": "HULL", "cycle_view": true, "module_view": true, "is_issue_type_enabled": true})
	params := map[string]string{"workspace_slug": sandbox.Workspace, "project_id": project}
	params["work_item_id"] = s.send("POST", "projects/"+project+"/work-items/", map[string]any{"name": "Host"})
	if edition == sandbox.Full {
		params["customer_id"] = s.send("POST", "customers/", map[string]any{"name": "Host"})
	}
	n := 0
	for _, k := range resource.Kinds() {
		create, ok := k.Op(resource.Create, resource.V1)
		if !ok || k.Section == "" || k.Uploads() || k.Single || k.Governance.AtWorkspace {
			continue
		}
		path, missing := create.Expand(params)
		list, _ := k.Op(resource.List, resource.V1)
		if _, err := s.client.Read(s.t.Context(), list, path, nil); missing != "" || errors.Is(err, apiclient.ErrUnsupported) {
			continue // this edition has no such objects
		}
		path = strings.TrimPrefix(path, "/api/v1/workspaces/acme/")
		for i := range k.Fields {
			f := &k.Fields[i]
			if f.Virtual || f.IsRef() || f.ArchiveFlag || f.Past || f.APIName() == "sequence" || f.APIName() == "sort_order" || slices.ContainsFunc([]string{"_json", "_stripped", "_binary"}, func(form string) bool { return strings.HasSuffix(f.APIName(), form) }) {
				continue
			}
			for _, value := range values(f) {
				if k.Name == "state" && value == true || k.Name == "comment" && value == "<p></p>" { // one of several is the default; a text is needed
					continue
				}
				n++
				body := map[string]any{"name": fmt.Sprintf("Object %d", n), "color": "#123456", "url": fmt.Sprintf("https://example.com/%d", n), "title": fmt.Sprintf("Object %d", n)}
				switch k.Name {
				case "project":
					body["identifier"] = fmt.Sprintf("T%d", n)
				case "cycle":
					body["project_id"] = project
				case "comment":
					body["comment_html"] = fmt.Sprintf("<p>Object %d</p>", n)
				case "customer_property":
					body["display_name"], body["property_type"] = body["name"], "TEXT"
				case "page", "project_page":
					body["description_html"] = "<p></p>"
				}
				body[f.Wire[resource.NewerDialect]] = value
				if f.Type == resource.Date && k.Name == "cycle" {
					body["start_date"], body["end_date"] = "2031-01-06", "2031-01-17"
				}
				if f.Type == resource.Text && (f.Name == "name" || f.Name == "title") {
					body[f.Wire[resource.NewerDialect]] = fmt.Sprintf("%v %d", value, n)
				}
				if _, ok := k.Field("color"); !ok || k.Section == "pages" && f.APIName() != "color" {
					delete(body, "color")
				}
				s.send("POST", path, body)
			}
		}
	}
	// A new project has states of its own.
	list, _ := resource.MustLookup("state").Op(resource.List, resource.V1)
	path, _ := list.Expand(params)
	states, err := s.client.Read(s.t.Context(), list, path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range states {
		body := map[string]any{"Backlog": map[string]any{"default": false}, "Todo": map[string]any{"default": true, "group": "backlog", "color": "#010203"}}[row["name"].(string)]
		if body != nil {
			s.send("PATCH", "projects/"+project+"/states/"+row.ID()+"/", body.(map[string]any))
		}
	}
	s.send("POST", "projects/"+project+"/work-items/", map[string]any{"name": "Long ago", "created_at": "2020-02-02T10:00:00Z", "created_by": sandboxtest.UserBob})
	s.send("PATCH", "projects/"+project+"/", map[string]any{"default_assignee": sandboxtest.UserAda})
}

// values returns the values of every object that the service shows, by the object's name.
func (s *service) values() map[string]map[string]string {
	s.t.Helper()
	all := map[string]map[string]string{}
	var visit func(parent, called string, params map[string]string)
	visit = func(parent, called string, params map[string]string) {
		for _, k := range resource.Kinds() {
			list, ok := k.Op(resource.List, resource.V1)
			if !ok || k.Section == "" || k.Parent != parent || k.Governance.AtWorkspace { // the workspace lists the states of all projects, by equal names
				continue
			}
			path, _ := list.Expand(params)
			rows, err := s.client.Read(s.t.Context(), list, path, nil)
			if err != nil {
				continue // the edition lacks it
			}
			for _, row := range rows {
				if comment, ok := row["comment_html"].(string); ok { // who wrote it there, and when, may lead it
					row["comment_html"] = regexp.MustCompile(`^<p><strong>ada</strong> · [^<]*</p>`).ReplaceAllString(markup.Normal(comment), "")
				}
				text := ""
				for _, field := range []string{"identifier", "name", "title", "url", "comment_html"} {
					if shown, ok := row[field].(string); ok && text == "" {
						text = shown
					}
				}
				name := called + "/" + k.Name + "/" + text
				shown := map[string]string{}
				for i := range k.Fields {
					f := &k.Fields[i]
					if f.IsRef() || f.APIName() == "sequence" || f.APIName() == "sort_order" || strings.HasSuffix(f.APIName(), "_json") {
						continue
					}
					if value, known := f.ObservedIn(row); known {
						shown[f.Name] = value
					}
				}
				for _, field := range []string{"created_at", "created_by"} {
					if k.Name == "work_item" {
						shown[field], _ = row[field].(string)
						shown[field] = strings.Replace(strings.TrimRight(strings.TrimSuffix(shown[field], "Z"), "0"), "T", " ", 1)
					}
				}
				if assignees, ok := row["assignees"]; ok {
					list, _ := json.Marshal(assignees)
					shown["assignees"] = string(list)
				}
				all[name] = shown
				inner := maps.Clone(params)
				inner[k.Param] = row.ID()
				visit(k.Name, name, inner)
			}
		}
	}
	visit("", "", map[string]string{"workspace_slug": sandbox.Workspace})
	return all
}

// apply applies the manifests of a folder as manifests of another service, whose IDs are unknown here.
func (s *service) apply(dir string) {
	s.t.Helper()
	m, found := manifest.Load(s.t.Context(), []string{dir}, manifest.Options{})
	if len(found) > 0 {
		s.t.Fatalf("the export is not valid: %v", found)
	}
	m.Localize(func(resource.Source) bool { return false })
	plan, found, err := provider.Plan(s.t.Context(), s.client, planner.Input{Workspace: m.Workspace, API: resource.V1, Desired: m.Objects}, provider.Grace{})
	if err != nil || found.HasErrors() {
		s.t.Fatal(err, found)
	}
	file, err := state.Open(s.t.Context(), filepath.Join(s.t.TempDir(), "state.json"), state.Options{BaseURL: s.url, Workspace: sandbox.Workspace})
	if err != nil {
		s.t.Fatal(err)
	}
	result := executor.Run(s.t.Context(), plan, provider.NewService(s.client, plan, file, provider.Grace{}), file, executor.Options{Parallelism: 4})
	for _, o := range result.Steps {
		if o.Status != executor.Done {
			s.t.Errorf("%s %s: %v %v", o.Step.Action, o.Step.Address, o.Status, o.Err)
		}
	}
	if err := file.Close(); err != nil {
		s.t.Error(err)
	}
}
