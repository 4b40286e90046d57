package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// mailRoom stands between planform and a sandbox. It counts notices request by request, as version 1.4.1 was seen to make them.
type mailRoom struct {
	s        *service
	pass     http.Handler
	instance string // answer to the request for the version
	status   int    // of that answer
	lite     int    // status of the list of members that version 1.4 added

	mu       sync.Mutex
	follows  map[string]map[string]bool // people by item
	notices  map[string]int             // by person
	mails    map[string]bool            // person and item
	versions int                        // requests for the version
	t        *testing.T
}

// newMailRoom returns a mail room in front of a new sandbox, and a function that runs planform through it.
func newMailRoom(t *testing.T) (*mailRoom, func(args ...string) ran) {
	t.Helper()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Community, Workspace: "harbor"})
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	mm := &mailRoom{
		s: s, pass: httputil.NewSingleHostReverseProxy(to), follows: map[string]map[string]bool{}, t: t, status: http.StatusOK, instance: instance("1.4.1"),
	}
	mm.begin()
	proxy := httptest.NewServer(mm)
	t.Cleanup(proxy.Close)
	return mm, func(args ...string) ran {
		return runAt(proxy.URL, sandbox.Key, append(args, "-f", filepath.Join(s.dir, "port.yaml"))...)
	}
}

// instance returns what the community edition says of itself.
func instance(version string) string {
	return `{"instance":{"edition":"PLANE_COMMUNITY","current_version":"` + version + `"}}`
}

func (mm *mailRoom) begin() {
	mm.notices, mm.mails, mm.versions = map[string]int{}, map[string]bool{}, 0
}

var (
	itemPath    = regexp.MustCompile(`/work-items/(?:([0-9a-f-]{36})/(?:(relations|attachments)/(?:([0-9a-f-]{36})/)?)?)?$`)
	mentionedIn = regexp.MustCompile(`entity_identifier="([0-9a-f-]{36})"`)
)

// setOf returns the texts of a list, or the people whom a text mentions.
func setOf(value any) map[string]bool {
	set := map[string]bool{}
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			set[fmt.Sprint(v)] = true
		}
	case string:
		for _, found := range mentionedIn.FindAllStringSubmatch(value, -1) {
			set[found[1]] = true
		}
	}
	return set
}

func minus(a, b map[string]bool) map[string]bool {
	rest := maps.Clone(a)
	maps.DeleteFunc(rest, func(v string, _ bool) bool { return b[v] })
	return rest
}

func (mm *mailRoom) tell(people map[string]bool, item string, n int) {
	for id := range people {
		name := mm.person("id", id, "email")
		if n == 0 || name == "ada@example.com" {
			continue
		}
		mm.notices[name] += n
		mm.mails[name+" "+item] = true
	}
}

func (mm *mailRoom) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mm.mu.Lock()
	defer mm.mu.Unlock()
	if r.URL.Path == "/api/instances/" {
		if r.Header.Get("X-Api-Key") != "" {
			mm.t.Error("the credential is sent for the version")
		}
		mm.versions++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(mm.status)
		_, _ = io.WriteString(w, mm.instance)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/members-lite/") && mm.lite != 0 {
		mm.versions++
		w.WriteHeader(mm.lite)
		return
	}
	at := itemPath.FindStringSubmatch(r.URL.Path)
	if at == nil || r.Method == http.MethodGet {
		mm.pass.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	var sent map[string]any
	_ = json.Unmarshal(body, &sent)      // an upload has none
	row := func() (row map[string]any) { //nolint:contextcheck // its requests end with the test
		mm.read(r.URL.Path, &row)
		return row
	}
	item, list, one := at[1], at[2], at[3]
	changes := item != "" && list == "" && r.Method == http.MethodPatch
	var before map[string]any
	if changes {
		before = row()
	}
	answer := httptest.NewRecorder()
	mm.pass.ServeHTTP(answer, r)
	switch followers := mm.follows[item]; {
	case answer.Code > 299:
	case item == "":
		var created map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &created); err != nil {
			mm.t.Error(err)
		}
		mm.follows[fmt.Sprint(created["id"])] = minus(setOf(created["description_html"]), setOf(created["assignees"]))
	case list == "relations":
		mm.tell(followers, item, len(setOf(sent["issues"]))) //nolint:contextcheck // its requests end with the test
	case list == "attachments" && one != "":
		mm.tell(followers, item, 1) //nolint:contextcheck // its requests end with the test
	case changes:
		mm.changed(item, before, row()) //nolint:contextcheck // its requests end with the test
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// changed counts the notices of a change of an item.
func (mm *mailRoom) changed(item string, before, after map[string]any) {
	n := 0
	for _, field := range []string{"name", "parent", "priority", "state", "start_date", "target_date", "archived_at"} {
		if before[field] != after[field] {
			n++
		}
	}
	for _, list := range []string{"labels", "assignees"} {
		had, has := setOf(before[list]), setOf(after[list])
		n += len(minus(had, has)) + len(minus(has, had))
	}
	maps.Copy(mm.follows[item], minus(setOf(after["assignees"]), setOf(before["assignees"])))
	mentioned := minus(setOf(after["description_html"]), setOf(before["description_html"]))
	mm.tell(minus(mm.follows[item], mentioned), item, n)
	mm.tell(mentioned, item, n+1)
	maps.Copy(mm.follows[item], minus(mentioned, setOf(after["assignees"])))
}

// read returns the answer to a read.
func (mm *mailRoom) read(path string, into any) {
	mm.t.Helper()
	mm.ask(http.MethodGet, sandbox.Key, path, "", into)
}

// ask makes a request that the mail room does not see.
func (mm *mailRoom) ask(method, key, path, body string, into any) {
	mm.t.Helper()
	req, err := http.NewRequestWithContext(mm.t.Context(), method, mm.s.url+path, strings.NewReader(body))
	if err != nil {
		mm.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		mm.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		mm.t.Fatal(err)
	}
}

// person returns a field of the person who has a text in another field.
func (mm *mailRoom) person(by, text, field string) string {
	mm.t.Helper()
	var people []map[string]any
	mm.read("/api/v1/workspaces/harbor/members/", &people)
	for _, p := range people {
		if p[by] == text {
			return fmt.Sprint(p[field])
		}
	}
	mm.t.Errorf("nobody has the %s %s", by, text)
	return ""
}

// predicted returns the notices of a plan in JSON.
func predicted(t *testing.T, r ran) *planner.Notices {
	t.Helper()
	var plan struct{ Summary planner.Summary }
	if err := json.Unmarshal([]byte(r.out), &plan); err != nil {
		t.Fatalf("%v\n%s%s", err, r.out, r.err)
	}
	return plan.Summary.Notices
}

// counted returns the notices that were counted, in the form of a plan.
func (mm *mailRoom) counted(items int) *planner.Notices {
	if len(mm.notices) == 0 && items == 0 {
		return nil
	}
	all := &planner.Notices{People: len(mm.notices), Mails: len(mm.mails), AtLeast: true, Items: items, Known: []planner.Told{}}
	for name, n := range mm.notices {
		all.Notices += n
		all.Known = append(all.Known, planner.Told{Name: name, Notices: n})
	}
	slices.SortFunc(all.Known, func(a, b planner.Told) int { return 2*(b.Notices-a.Notices) + strings.Compare(a.Name, b.Name) })
	return all
}

func TestAPlanCountsTheNoticesThatItsRequestsMake(t *testing.T) {
	t.Parallel()
	mm, run := newMailRoom(t)
	mention := func(name string) string {
		return `<p>See <mention-component entity_name="user_mention" entity_identifier="` + mm.person("email", name+"@example.com", "id") + `"></mention-component></p>`
	}
	seed := `version: 1
workspace: harbor
projects:
  - identifier: PORT
    name: Port
    members: [bob@example.com, eve@example.com]
    labels: [{name: red}, {name: blue}]
    cycles: [{key: sprint, name: Sprint}]
    modules: [{key: crane, name: Crane}]
    work_items:
`
	var before, after strings.Builder
	before.WriteString(seed)
	after.WriteString(seed)
	for i := range 12 {
		fmt.Fprintf(&before, "      - {key: i%d, name: Item %d, priority: low, labels: [red], assignees: [bob@example.com], cycle: sprint, module: crane, description_html: '%s'}\n",
			i, i, mention([]string{"eve", "bob"}[i%2]))
		item := fmt.Sprintf("      - {key: i%d, name: Item %d, priority: high, labels: [blue], assignees: [eve@example.com], module: crane, description_html: '%s'",
			i, i, mention([]string{"eve", "bob", "eve"}[i%3]))
		switch {
		case i < 3:
			item += ", state: In Progress, target_date: 2026-12-24"
		case i < 6:
			item += fmt.Sprintf(", relations: {blocked_by: [i%d], relates_to: [i%d, i%d]}", i+1, i+4, i+5)
		case i < 9:
			item += ", attachments: [{key: f, file: f.txt}], comments: [{key: c, text: Done}], links: [{url: https://example.com/}]"
		}
		after.WriteString(item + "}\n")
	}
	mm.s.write(t, "f.txt", "a file")
	mm.s.write(t, "port.yaml", before.String())
	through := func(args ...string) ran {
		t.Helper()
		r := run(args...)
		if r.code != 0 {
			t.Fatalf("planform %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
		}
		return r
	}
	compare := func(what string, items int, plan []string, apply ...string) {
		t.Helper()
		mm.begin()
		want := predicted(t, through(append(plan, "--output", "json")...))
		if mm.versions > 1 || items == 0 && mm.versions > 0 {
			t.Errorf("%s: %d requests for the version", what, mm.versions)
		}
		mm.begin()
		through(apply...)
		if diff := cmp.Diff(want, mm.counted(items)); diff != "" {
			t.Errorf("%s (-predicted +counted):\n%s", what, diff)
		}
	}
	compare("seed", 0, []string{"plan"}, "apply")
	mm.s.write(t, "port.yaml", after.String())
	compare("change", 12, []string{"plan"}, "apply")
	compare("undo", 12, []string{"undo", "last", "--dry-run"}, "undo", "last", "--yes", "--allow-unsupported")
}

// harbor returns a manifest with two items; the second has further fields.
func harbor(item string) string {
	return "version: 1\nworkspace: harbor\nprojects:\n  - identifier: PORT\n    name: Port\n    members: [bob@example.com, eve@example.com]\n    work_items:\n" +
		"      - {key: quay, name: Quay}\n      - {key: crane, name: Crane" + item + "}\n"
}

func TestAPlanSaysWhomItTells(t *testing.T) {
	t.Parallel()
	mm, run := newMailRoom(t)
	mm.s.write(t, "port.yaml", harbor(", priority: low"))
	const sentence = "Notifies at least 2 people (4 notices, up to 2 e-mails): bob@example.com 2, eve@example.com 2; and whoever else follows this work item. Comments, links, cycles and new items notify nobody."
	if r := run("apply"); r.code != 0 || strings.Contains(r.out, "\nNotifies") {
		t.Fatalf("%d\n%s%s", r.code, r.out, r.err)
	}
	mm.s.write(t, "port.yaml", harbor(", priority: low, assignees: [bob@example.com, eve@example.com]"))
	for format, want := range map[string]string{
		"text": "\n" + sentence + "\n", "markdown": "\n\n" + strings.ReplaceAll(sentence, "@", "&#64;") + "\n", "html": "\n<p>" + sentence + "</p>\n",
		"json": `"notices":{"people":2,"notices":4,"mails":2,"at_least":true,"items":1,"known":[{"name":"bob@example.com","notices":2},{"name":"eve@example.com","notices":2}]}`,
	} {
		if r := run("plan", "--output", format); !strings.Contains(r.out, want) {
			t.Errorf("%s: no %q in\n%s", format, want, r.out)
		}
	}
	saved := filepath.Join(mm.s.dir, "plan.json")
	run("plan", "--out", saved)
	before := len(mm.s.written(0))
	for _, args := range [][]string{{"apply"}, {"apply", saved}} {
		r := run(append(args, "--max-notices", "3")...)
		if r.code != 1 || !strings.Contains(r.err, "the plan makes at least 4 notices, more than --max-notices 3; nothing was done") ||
			!strings.Contains(r.err, "give --max-notices 4") || len(mm.s.written(0)) != before {
			t.Errorf("%s: %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
	if r := run("apply", "--max-notices", "3", "--output", "json"); !strings.Contains(r.out+r.err, `"code":"too-many-notices"`) {
		t.Error(r.out, r.err)
	}
	if r := run("apply", "--max-notices", "4"); r.code != 0 || !strings.Contains(r.out, "Applied: 1 updated") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	if r := run("undo", "last", "--yes", "--max-notices", "3"); r.code != 1 || !strings.Contains(r.err, "the plan makes at least 4 notices") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
}

// The user who changed an item follows it, and is told that the change is taken back.
func TestAPlanNamesThePeopleWhoseChangesItOverwrites(t *testing.T) {
	t.Parallel()
	mm, run := newMailRoom(t)
	mm.s.write(t, "port.yaml", harbor(", priority: low, start_date: 2026-12-01"))
	run("apply")
	var list struct {
		Results []struct{ ID, Project, Name string }
	}
	mm.read("/api/v1/workspaces/harbor/projects/", &list)
	project := "/api/v1/workspaces/harbor/projects/" + list.Results[0].ID
	mm.read(project+"/work-items/", &list)
	for _, item := range list.Results {
		if item.Name == "Crane" {
			mm.ask(http.MethodPatch, sandboxtest.KeyBob, project+"/work-items/"+item.ID+"/", `{"priority":"high","start_date":"2026-12-24"}`, &item)
		}
	}
	if r := run("plan"); !strings.Contains(r.out, "Notifies at least 1 person (2 notices, up to 1 e-mail): bob@example.com 2; and whoever else follows this work item.") {
		t.Error(r.out, r.err)
	}
}

func TestOnlyAServiceThatIsKnownToTellPeopleIsCounted(t *testing.T) {
	t.Parallel()
	const followers, files = "Notifies the people who follow this work item;", "Notifies at least 1 person (1 notice, up to 1 e-mail): eve@example.com 1; and whoever else"
	for name, tt := range map[string]struct {
		instance     string
		status, lite int
		versions     int
		want         string // of a plan that changes a field; "" = nothing
		wantFile     string // of a plan that assigns eve and adds a file
	}{
		"version 1.4 tells followers":                                  {instance: instance("1.4.0"), versions: 1, want: followers, wantFile: "eve@example.com 2"},
		"a newer version tells followers":                              {instance: instance("v2.0"), versions: 1, want: followers, wantFile: "eve@example.com 2"},
		"version 1.3 tells of files only":                              {instance: instance("1.3.1"), versions: 1, wantFile: files},
		"an older version is not counted":                              {instance: instance("0.28.0"), versions: 1},
		"a service without a version is not counted":                   {instance: `{"is_setup_done":false}`, versions: 1},
		"another edition is not counted":                               {instance: `{"instance":{"edition":"PLANE_COMMERCIAL","current_version":"1.14.0"}}`, versions: 1},
		"without the route, the lists of version 1.4 show the version": {status: 404, lite: 401, versions: 2, want: followers, wantFile: "eve@example.com 2"},
		"without the route and these lists, the version is older":      {status: 404, lite: 404, versions: 2},
		"a web page in place of the route":                             {instance: "<!doctype html><p>Plane</p>", lite: 404, versions: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mm, run := newMailRoom(t)
			mm.instance, mm.lite = tt.instance, tt.lite
			if tt.status != 0 {
				mm.status = tt.status
			}
			mm.s.write(t, "f.txt", "a file")
			mm.s.write(t, "port.yaml", harbor(", priority: low"))
			run("apply")
			for item, want := range map[string]string{
				", priority: high": tt.want, ", assignees: [eve@example.com], attachments: [{key: f, file: f.txt}]": tt.wantFile,
				", priority: low": "", ", priority: low, comments: [{key: c, text: Done}]": "",
			} {
				mm.begin()
				mm.s.write(t, "port.yaml", harbor(item))
				r := run("plan")
				if r.code != 0 || !strings.Contains(r.out, want) || want == "" && strings.Contains(r.out, "\nNotifies") {
					t.Errorf("%s: no %q in\n%s%s", item, want, r.out, r.err)
				}
				asked := tt.versions
				if strings.HasPrefix(item, ", priority: low") {
					asked = 0
				}
				if mm.versions != asked {
					t.Errorf("%s: %d requests for the version, want %d", item, mm.versions, asked)
				}
			}
		})
	}
}
