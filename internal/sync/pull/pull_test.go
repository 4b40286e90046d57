package pull_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/sync/pull"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// workspace is a manifest, and the service that it was applied to.
type workspace struct {
	*testing.T

	server *sandboxtest.Server
	client *apiclient.Client
	dir    string
	// reading, unless nil, adds findings to edited manifests.
	reading func(*manifest.Manifest, diag.List) (*manifest.Manifest, diag.List)
}

// newWorkspace applies manifests, by name, to a new service.
func newWorkspace(t *testing.T, files map[string]string) *workspace {
	t.Helper()
	server, err := sandboxtest.Open(sandboxtest.Options{Edition: sandbox.Cloud})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	client, err := apiclient.New(apiclient.Config{BaseURL: web.URL, Workspace: sandbox.Workspace, Credential: apiclient.APIKey(sandbox.Key)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.CloseIdle()
		web.Close()
		_ = server.Close()
	})
	w := &workspace{T: t, server: server, client: client, dir: t.TempDir()}
	for name, text := range files {
		w.write(name, text)
	}
	prior := w.open()
	defer func() { _ = prior.Close() }()
	plan, _, found, err := w.plan(w.load(), prior, false)
	if err != nil || plan == nil {
		t.Fatal(err, found)
	}
	result := executor.Run(t.Context(), plan, provider.NewService(client, plan, prior, provider.Grace{}), prior, executor.Options{Parallelism: 4})
	for _, s := range result.Steps {
		if s.Status != executor.Done {
			t.Fatal(s.Step.Action, s.Step.Address, s.Step.Reason(), s.Err)
		}
	}
	if err := prior.Save(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workspace) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *workspace) open() *state.File {
	w.Helper()
	f, err := state.Open(w.Context(), filepath.Join(w.dir, "state.json"), state.Options{BaseURL: "sandbox:", Workspace: sandbox.Workspace})
	if err != nil {
		w.Fatal(err)
	}
	return f
}

func (w *workspace) read(edited map[string][]byte) (*manifest.Manifest, diag.List) {
	m, found := manifest.Load(w.Context(), []string{w.dir}, manifest.Options{Edited: edited, Origins: true})
	if w.reading != nil && edited != nil {
		return w.reading(m, found)
	}
	return m, found
}

func (w *workspace) load() *manifest.Manifest {
	w.Helper()
	m, found := w.read(nil)
	if found.HasErrors() {
		w.Fatal(found)
	}
	return m
}

func (w *workspace) plan(m *manifest.Manifest, prior *state.File, pulling bool) (*planner.Plan, divergence.Set, diag.List, error) {
	world, plan, found, err := provider.Load(w.Context(), w.client, planner.Input{
		Workspace: sandbox.Workspace, API: resource.V2, Desired: m.Objects, Prior: prior.Prior(), Pull: pulling,
	}, provider.Grace{})
	if err != nil {
		return nil, divergence.Set{}, found, err
	}
	return plan, divergence.Find(world), found, nil
}

// send sends a request as the web app does; path is below the workspace.
func (w *workspace) send(method, path string, body any) {
	w.Helper()
	if answer := w.try(method, path, body); answer.Code >= 300 {
		w.Fatal(method, path, answer.Code, answer.Body)
	}
}

// try is like send, but the request may be refused.
func (w *workspace) try(method, path string, body any) *httptest.ResponseRecorder {
	w.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		w.Fatal(err)
	}
	req := httptest.NewRequestWithContext(context.Background(), method, "/api/v1/workspaces/acme/"+path, bytes.NewReader(text))
	req.Header.Set("X-Api-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.server.ServeHTTP(answer, req)
	return answer
}

// change changes the object of a kind with the given name; list is the path of its list.
func (w *workspace) change(kind, list, name string, fields map[string]any) {
	w.Helper()
	w.send(http.MethodPatch, list+w.id(kind, name)+"/", fields)
}

func (w *workspace) id(kind, name string) string {
	w.Helper()
	for _, row := range w.server.Rows(kind) {
		if row["name"] == name || row["title"] == name {
			return fmt.Sprint(row["id"])
		}
	}
	w.Fatal("no", kind, name)
	return ""
}

// pull takes the changes on the service and writes them. It returns the values that were not taken.
func (w *workspace) pull() []string {
	w.Helper()
	prior := w.open()
	defer func() { _ = prior.Close() }()
	desired := w.load()
	plan, differences, found, err := w.plan(desired, prior, true)
	if err != nil || plan == nil {
		w.Fatal(err, found)
	}
	result, err := pull.Take(pull.Input{
		Manifest: desired, Plan: plan, Differences: differences, Read: os.ReadFile, Load: w.read,
		Replan: func(m *manifest.Manifest) (*planner.Plan, divergence.Set, diag.List, error) {
			return w.plan(m, prior, true)
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range result.Files {
		if err := os.WriteFile(f.Name, f.After, 0o600); err != nil {
			w.Fatal(err)
		}
	}
	var left []string
	for _, d := range result.Findings {
		if d.Severity != diag.Note {
			left = append(left, d.Summary)
		}
	}
	return left
}

// has compares a manifest with the wanted text.
func (w *workspace) has(name, want string) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		w.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

const web = "projects/" + sandboxtest.ProjectWeb + "/"

// TestAReferenceIsWrittenByTheNameThatItsTargetGets renames an object of each kind that manifests refer to by name, and
// then refers to it from other objects.
func TestAReferenceIsWrittenByTheNameThatItsTargetGets(t *testing.T) {
	t.Parallel()
	const lines = `version: 1
projects:
  - key: web
    identifier: WEB
    %s
    work_items:
      - {key: a, name: Alpha, %s}
      - {key: b, name: Beta, %s}
`
	for name, tt := range map[string]struct {
		kind, list      string // of the target
		named, becomes  string
		before, after   [3]string // the target, one item that people put it on, and one that had it
		into, from, set string    // path of the members of the target, the name of who was in the other one, or the field
	}{
		"a renamed state is written by its new name": {
			"state", web + "states/", "Review", "In Review",
			[3]string{"states: [{name: Review, group: started}]", "state: Todo", "state: Review"},
			[3]string{"states: [{name: In Review, group: started, key: review}]", "state: In Review", "state: In Review"},
			"", "", "state",
		},
		"a renamed label is written by its new name": {
			"label", web + "labels/", "Big Bug", "Huge Bug",
			[3]string{"labels: [{name: Big Bug}]", "labels: []", "labels: [Big Bug]"},
			[3]string{"labels: [{name: Huge Bug, key: big-bug}]", "labels: [Huge Bug]", "labels: [Huge Bug]"},
			"", "", "labels",
		},
		"a renamed label that is a bare text becomes a mapping": {
			"label", web + "labels/", "Big Bug", "Huge, Bug",
			[3]string{"labels: [Big Bug]", "labels: []", "labels: [Big Bug]"},
			[3]string{"labels: [{name: \"Huge, Bug\", key: big-bug}]", "labels: [\"Huge, Bug\"]", "labels: [\"Huge, Bug\"]"},
			"", "", "labels",
		},
		"a renamed label keeps its key": {
			"label", web + "labels/", "Big Bug", "Huge Bug",
			[3]string{"labels: [{key: bug, name: Big Bug}]", "labels: []", "labels: [bug]"},
			[3]string{"labels: [{key: bug, name: Huge Bug}]", "labels: [Huge Bug]", "labels: [bug]"},
			"", "", "labels",
		},
		"a renamed cycle is written by its new name": {
			"cycle", web + "cycles/", "Sprint One", "Sprint 1",
			[3]string{"cycles: [{name: Sprint One}]", "cycle: null", "cycle: Sprint One"},
			[3]string{"cycles: [{name: Sprint 1, key: sprint-one}]", "cycle: Sprint 1", "cycle: Sprint 1"},
			"cycle-issues/", "issues", "",
		},
		"a renamed module is written by its new name": {
			"module", web + "modules/", "The Front", "Frontend",
			[3]string{"modules: [{name: The Front}]", "module: null", "module: The Front"},
			[3]string{"modules: [{name: Frontend, key: the-front}]", "module: Frontend", "module: Frontend"},
			"module-issues/", "issues", "",
		},
		"a renamed type is written by its new name": {
			"work_item_type", web + "work-item-types/", "User Story", "Story",
			[3]string{"work_item_types: [{name: User Story}]", "type: null", "type: User Story"},
			[3]string{"work_item_types: [{name: Story, key: user-story}]", "type: Story", "type: Story"},
			"", "", "type_id",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := func(parts [3]string) string { return fmt.Sprintf(lines, parts[0], parts[1], parts[2]) }
			w := newWorkspace(t, map[string]string{"m.yaml": text(tt.before)})
			id := w.id(tt.kind, tt.named)
			w.change(tt.kind, tt.list, tt.named, map[string]any{"name": tt.becomes})
			item := w.id("work_item", "Alpha")
			switch {
			case tt.into != "":
				w.send(http.MethodPost, tt.list+id+"/"+tt.into, map[string]any{tt.from: []string{item}})
			case tt.set == "labels":
				w.change("work_item", web+"work-items/", "Alpha", map[string]any{tt.set: []string{id}})
			default:
				w.change("work_item", web+"work-items/", "Alpha", map[string]any{tt.set: id})
			}
			w.change("work_item", web+"work-items/", "Beta", map[string]any{"priority": "high"})
			if left := w.pull(); len(left) > 0 {
				t.Error(strings.Join(left, "\n"))
			}
			w.has("m.yaml", text(tt.after))
		})
	}
}

// TestARenameAndAChangedReferenceAreTakenTogether covers what a name and the references to it do to each other.
func TestARenameAndAChangedReferenceAreTakenTogether(t *testing.T) {
	t.Parallel()
	const lists = `version: 1
projects:
  - key: web
    identifier: WEB
    states: [{name: Review, group: started}]
    labels: [{name: Big Bug}, {name: Other, key: huge}]
    cycles: [{name: Sprint One}]
`
	items := func(lines ...string) string {
		return lists + "    work_items:\n      - " + strings.Join(lines, "\n      - ") + "\n"
	}
	item := func(w *workspace, name string, fields map[string]any) {
		w.change("work_item", web+"work-items/", name, fields)
	}
	for name, tt := range map[string]struct {
		before, after string
		people        func(w *workspace)
		left          []string
	}{
		"an item gets another label and state while its old ones are renamed": {
			items("{name: A, state: Review, labels: [Big Bug, huge]}", "{name: B, state: Review}"),
			strings.NewReplacer("{name: Review, group: started}", "{name: In Review, group: started, key: review}", "{name: Big Bug}", "{name: Big Big Bug, key: big-bug}").Replace(
				items("{name: A, state: Done, labels: [huge]}", "{name: B, state: In Review}")),
			func(w *workspace) {
				w.change("state", web+"states/", "Review", map[string]any{"name": "In Review"})
				w.change("label", web+"labels/", "Big Bug", map[string]any{"name": "Big Big Bug"})
				item(w, "A", map[string]any{"state": w.id("state", "Done"), "labels": []string{w.id("label", "Other")}})
			}, nil,
		},
		"a new name means another object in the manifest": {
			items("{name: A, labels: []}", "{name: B, labels: [Big Bug]}"),
			strings.Replace(items("{name: A, labels: [big-bug]}", "{name: B, labels: [big-bug]}"), "{name: Big Bug}", "{name: huge, key: big-bug}", 1),
			func(w *workspace) {
				w.change("label", web+"labels/", "Big Bug", map[string]any{"name": "huge"})
				item(w, "A", map[string]any{"labels": []string{w.id("label", "huge")}})
			}, nil,
		},
		"the manifest cannot take a new name": {
			strings.Replace(items("{name: A, state: Todo}", "{name: B, state: Review, priority: low}"), "states: [{name: Review, group: started}]", "states: [{name: &n Review, group: started, description: *n}]", 1),
			strings.Replace(items("{name: A, state: Review}", "{name: B, state: Review, priority: high}"), "states: [{name: Review, group: started}]", "states: [{name: &n Review, group: started, description: *n}]", 1),
			func(w *workspace) {
				w.change("state", web+"states/", "Review", map[string]any{"name": "In Review"})
				item(w, "A", map[string]any{"state": w.id("state", "In Review")})
				item(w, "B", map[string]any{"priority": "high"})
			},
			[]string{"name of state/web/review is not taken: an alias repeats it"},
		},
		"an item is put into a cycle although the manifest says null": {
			items("{name: A, cycle: null}", "{name: B, cycle: Sprint One}"),
			items("{name: A, cycle: Sprint One}", "{name: B, cycle: null}"),
			func(w *workspace) {
				members := web + "cycles/" + w.id("cycle", "Sprint One") + "/cycle-issues/"
				w.send(http.MethodPost, members, map[string]any{"issues": []string{w.id("work_item", "A")}})
				w.send(http.MethodDelete, members+w.id("work_item", "B")+"/", nil)
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, map[string]string{"m.yaml": tt.before})
			tt.people(w)
			if diff := cmp.Diff(tt.left, w.pull()); diff != "" {
				t.Error(diff)
			}
			w.has("m.yaml", tt.after)
			w.load()
			if left := w.pull(); len(left) != len(tt.left) {
				t.Error("again:", left)
			}
		})
	}
}

// TestOneValueThatCannotBeTakenLeavesTheOthers checks that a bad value does not keep the rest of the file from being taken.
func TestOneValueThatCannotBeTakenLeavesTheOthers(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 9 {
		fmt.Fprintf(&before, "      - {name: Item %d, priority: low}\n", i)
		if i != 4 {
			fmt.Fprintf(&after, "      - {name: Item %d, priority: high}\n", i)
		} else {
			after.WriteString("      - {name: Item 4, priority: low}\n")
		}
	}
	const head = "version: 1\nprojects:\n  - key: web\n    identifier: WEB\n    work_items:\n"
	for name, blame := range map[string]func(edited bool, desired *manifest.Manifest) (diag.List, *manifest.Manifest){
		"an error that names the value leaves the others": func(edited bool, m *manifest.Manifest) (diag.List, *manifest.Manifest) {
			if edited {
				return diag.List{{Summary: "no such priority", Address: "work_item/web/item-4", Path: "projects[0].work_items[4].priority"}}, m
			}
			return nil, m
		},
		"an error that names nothing leaves the others": func(edited bool, m *manifest.Manifest) (diag.List, *manifest.Manifest) {
			if edited {
				return diag.List{{Summary: "no such priority"}}, m
			}
			return nil, m
		},
		"a value that changes another object leaves the others": func(edited bool, m *manifest.Manifest) (diag.List, *manifest.Manifest) {
			if edited {
				m.Objects[1].Key += "x"
			}
			return nil, m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, map[string]string{"m.yaml": head + before.String()})
			for i := range 9 {
				w.change("work_item", web+"work-items/", fmt.Sprintf("Item %d", i), map[string]any{"priority": "high"})
			}
			loads := 0
			w.reading = func(m *manifest.Manifest, found diag.List) (*manifest.Manifest, diag.List) {
				loads++
				o := m.Objects[5] // the project is the first
				v, _ := o.Value("priority")
				more, m := blame(o.Address == "work_item/web/item-4" && v.Text == "high", m)
				return m, append(found, more...)
			}
			if left := w.pull(); len(left) != 1 || !strings.HasPrefix(left[0], "priority of work_item/web/item-4 is not taken: ") {
				t.Error(strings.Join(left, "\n"))
			}
			w.has("m.yaml", head+after.String())
			if loads > 8 {
				t.Errorf("%d loads", loads)
			}
		})
	}
}

// FuzzPull: whatever people call an item and write into it, the manifest says that and nothing else afterwards, or is left as it was.
func FuzzPull(f *testing.F) {
	const text = `version: 1
projects:
  - key: web
    identifier: WEB
    labels: [Big Bug, {name: Other, key: other}]
    work_items:
      - {key: a, name: Alpha, labels: [Big Bug]} # one
      - key: b
        name: Beta
        description: |
          Two lines
          of text
`
	const more = `version: 1
projects:
  - key: web
    identifier: WEB
    work_items:
      - {for_each: {csv: t.csv}, key: "${{ each.key }}", name: "${{ each.name }}", description: "For ${{ each.whom }}."}
`
	for _, name := range []string{"x", "a: b", "- a", "#x", "yes", "1", "'", "\"", "{a}", "[a, b]", "*a", "&a", "a # b", "a, b", "${{ vars.x }}", "a\u2028b", "\u0085", "é😀", "null", "2027-01-01"} {
		f.Add(name, "<p>"+name+"</p>")
	}
	f.Fuzz(func(t *testing.T, name, html string) {
		if len(name) > 200 || len(html) > 2000 || !utf8.ValidString(name) || !utf8.ValidString(html) || strings.TrimSpace(name) == "" || strings.ContainsFunc(name+html, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return
		}
		w := newWorkspace(t, map[string]string{"m.yaml": text, "more.yaml": more, "t.csv": "key,name,whom\r\nc,Gamma,\"me\"\r\n"})
		for path, fields := range map[string]map[string]any{
			"labels/" + w.id("label", "Big Bug"):       {"name": name},
			"work-items/" + w.id("work_item", "Gamma"): {"name": name, "description_html": "<p>For " + name + ".</p>"},
			"work-items/" + w.id("work_item", "Alpha"): {"name": name},
			"work-items/" + w.id("work_item", "Beta"):  {"description_html": html},
		} {
			w.try(http.MethodPatch, web+path+"/", fields) // what the service refuses is not there to be pulled
		}
		before := w.load()
		w.pull()
		after := w.load()
		if len(before.Objects) != len(after.Objects) {
			t.Fatalf("%d objects became %d", len(before.Objects), len(after.Objects))
		}
		for i, o := range before.Objects {
			if now := after.Objects[i]; now.Address != o.Address || len(now.Values) != len(o.Values) {
				t.Errorf("%s with %d values became %s with %d", o.Address, len(o.Values), now.Address, len(now.Values))
			}
		}
		left := w.pull()
		if again := w.load(); !cmp.Equal(texts(after), texts(again)) {
			t.Errorf("a second pull makes another text (%q): %s", left, cmp.Diff(texts(after), texts(again)))
		}
	})
}

// texts returns the values that a manifest gives for each object.
func texts(m *manifest.Manifest) map[string]string {
	all := map[string]string{}
	for _, o := range m.Objects {
		for i := range o.Values {
			all[string(o.Address)+" "+o.Values[i].Field.Path()] = o.Values[i].Text
		}
	}
	return all
}
