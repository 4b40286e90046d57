package simulation

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/planform/planform/internal/plane/resource"
)

var updateLimits = flag.Bool("update", false, "write the table of docs/limits.md anew") //nolint:gochecknoglobals // the flags of a test are global

// whyPatched holds the reasons for a PATCH of an object that the same run created, by list and field.
var whyPatched = map[string]string{ //nolint:gochecknoglobals // a constant
	"attachments is_uploaded":     "The service learns that the file is in its store.",
	"cycles end_date":             "A cycle that has ended takes no work items.",
	"cycles start_date":           "A cycle that has ended takes no work items.",
	"labels sort_order":           "The service places a new label after the others. It takes only the position of a project's first label.",
	"projects cycle_view":         "While a feature is off, the service creates no objects of it. So it is switched off afterwards.",
	"projects intake_view":        "A create that switches the intake on makes no intake.",
	"states color":                "The service creates its default states with the project. The manifest changes them.",
	"states sequence":             "The service places a new state after the others.",
	"work-items archived_at":      "The item has contents, or another object names it. An archived item takes no relation and no cycle, and a run leaves its contents alone.",
	"work-items assignees":        "The project has a default assignee, and the manifest wants nobody.",
	"work-items description_html": "The text links to an object that is created later.",
	"work-items sort_order":       "The service places a new item after the others.",
}

var patched = regexp.MustCompile(`/([a-z-]+)/([0-9a-f-]{36})/$`)

// patchesOfNew returns the fields that a scene sets by PATCH in objects that it created, after the names of their lists.
func patchesOfNew(t *testing.T, sc *scene) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	st := prepare(t, sc)
	synctest.Test(t, func(t *testing.T) {
		w := st.open(t)
		there := map[string]bool{}
		for _, ids := range rows(w) {
			for id := range ids {
				there[id] = true
			}
		}
		st.play(w, func() {})
		for _, e := range w.server.Log() {
			at := patched.FindStringSubmatch(e.Path)
			if e.Method != "PATCH" || at == nil || there[at[2]] {
				continue
			}
			var body map[string]any
			if err := json.Unmarshal(e.RequestBody, &body); err != nil {
				t.Error(err)
			}
			for field := range body {
				all[at[1]+" "+field] = true
			}
		}
	})
	return all
}

// everyReason is a manifest with a new object for each reason.
const everyReason = `version: 1
workspace: acme
projects:
  - identifier: NEW
    name: New
    members: [bob@example.com]
    default_assignee: bob@example.com
    intake_view: true
    cycle_view: false
    states: [{name: Todo, color: "#0ea5e9"}, {name: Review, group: started, color: "#111111", sequence: 5}]
    labels: [{name: one, sort_order: 20}, {name: two, sort_order: 10}]
    cycles: [{key: past, name: Past, start_date: 1999-01-01, end_date: 1999-01-14}]
    work_items:
      - {key: a, name: A, assignees: [], cycle: past, sort_order: 10, description: "See [B](work_item/new/b)."}
      - {key: b, name: B, archived: true, comments: [{key: c, text: Done}]}
      - {key: d, name: D, attachments: [{key: f, file: f.txt}]}
      - {key: e, name: E, archived: true}
`

func TestEachPatchOfANewObjectHasAReason(t *testing.T) {
	t.Parallel()
	all := scenes()
	all["every reason"] = &scene{
		name: "every reason", api: resource.V1, empty: true, commands: []string{"apply -f @workspace.yaml"},
		files: map[string]string{"workspace.yaml": everyReason, "f.txt": "a file"},
	}
	found := map[string]bool{}
	for _, sc := range all {
		if sc.api == resource.V2 || sc.beside != nil || sc.then != "" || len(sc.commands) > 1 {
			continue
		}
		maps.Copy(found, patchesOfNew(t, sc))
	}
	var rows strings.Builder
	rows.WriteString("\n| objects | field | why the create does not say it |\n|---|---|---|\n")
	for _, what := range slices.Sorted(maps.Keys(found)) {
		list, field, _ := strings.Cut(what, " ")
		if whyPatched[what] == "" {
			t.Errorf("a PATCH sets %s of new %s, which the POST could have said", field, list)
		}
		fmt.Fprintf(&rows, "| %s | `%s` | %s |\n", strings.ReplaceAll(list, "-", " "), field, whyPatched[what])
	}
	table := rows.String() + "\n"
	for what := range whyPatched {
		if !found[what] {
			t.Errorf("no scene has a PATCH for %s", what)
		}
	}
	const file, begin, end = "../../docs/limits.md", "<!-- patches: go test ./internal/simulation -run EachPatch -update -->\n", "<!-- end of patches -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	old, after, marked := strings.Cut(rest, end)
	if !marked {
		t.Fatalf("%s has no table", file)
	}
	if old != table && *updateLimits {
		err = os.WriteFile(file, []byte(before+begin+table+end+after), 0o600)
	} else if old != table {
		err = errors.New("the table is not current; -update writes it anew")
	}
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
}
