package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

const columns = "Summary,Issue key,Issue id,Issue Type,Status,Reporter,Reporter Id,Created,Updated,Labels,Parent,Outward issue link (Blocks),Comment,Comment\n"

// exported is an export of Jira with some rows.
func exported(tb testing.TB, rows ...string) fixture {
	tb.Helper()
	dir := tb.TempDir()
	put(tb, dir, map[string]string{"jira.csv": columns + strings.Join(rows, "\n") + "\n"})
	return fixture{files: []string{filepath.Join(dir, "jira.csv")}}
}

const (
	first  = "First,A-1,101,Bug,Open,Ada L.,u1,22/Sep/25 9:26 AM,22/Sep/25 9:26 AM,red,,A-2,22/Sep/25 9:27 AM;u1;Hello,"
	second = "Second,A-2,102,Task,Doing,Bob,u2,22/Sep/25 9:26 AM,23/Sep/25 9:26 AM,blue,101,,,"
	third  = "Third,A-3,103,Task,Open,Bob,u2,22/Sep/25 9:26 AM,24/Sep/25 9:26 AM,,,,,"
)

func TestTheReportSaysWhatChangedSinceTheLastExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r := must(t, dir, exported(t, first, second), nil); r.Report.Since != nil {
		t.Error(r.Report.Since)
	}
	edited := strings.NewReplacer("First", "The first", "Hello,", "Hello again,22/Sep/25 9:28 AM;u1;More").Replace(first)
	want := &convert.Since{New: []string{"A-3"}, Changed: []convert.Change{{Item: "A-1", Fields: []string{"title", "comments"}}}, Gone: []string{}, Moved: []convert.Move{}, CommentsNew: 1, CommentsEdited: 1}
	f := exported(t, edited, second, third)
	for range 2 { // the same export again says the same: the mapping was changed, perhaps
		if diff := cmp.Diff(want, must(t, dir, f, nil).Report.Since); diff != "" {
			t.Error(diff)
		}
	}
	later := exported(t, edited, strings.Replace(second, "23/Sep/25", "29/Sep/25", 1), third)
	if diff := cmp.Diff(want, must(t, dir, later, nil).Report.Since); diff != "" {
		t.Errorf("the time of the last update alone is no change: %s", diff)
	}
}

// A list of Trello has an ID. If people rename it, the state keeps its object.
func TestARenamedStateKeepsItsObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const board = `{"id":"b1","name":"B","lists":[{"id":"l1","name":%q,"closed":false,"pos":1},{"id":"l2","name":%q,"closed":false,"pos":2}],"cards":[
		{"id":"c1","idShort":1,"name":"One","idList":"l1","idBoard":"b1","shortLink":"a"},{"id":"c2","idShort":2,"name":"Two","idList":"l2","idBoard":"b1","shortLink":"b"}]}`
	for _, tt := range []struct{ first, second, want string }{
		{"Sketched", "Reviewing", "- {name: Sketched, group: backlog}"},
		{"Drawn", "Reviewing", "- {name: Drawn, previously: [sketched], group: backlog}"},
		{"Drawn", "Reviewing", "- {name: Drawn, previously: [sketched], group: backlog}"},
		{"Reviewing", "Drawn", "- {name: Reviewing, previously: [sketched], group: started}"}, // of two names that are swapped, neither is former
	} {
		must(t, dir, inline(t, "t.json", fmt.Sprintf(board, tt.first, tt.second)), func(o *convert.Options) {
			text, _ := os.ReadFile(filepath.Join(dir, "mapping.yaml"))
			put(t, dir, map[string]string{"mapping.yaml": strings.ReplaceAll(string(text), "group: '?'", "group: backlog")})
		})
		must(t, dir, inline(t, "t.json", fmt.Sprintf(board, tt.first, tt.second)), func(o *convert.Options) {
			text, _ := os.ReadFile(filepath.Join(dir, "mapping.yaml"))
			put(t, dir, map[string]string{"mapping.yaml": strings.ReplaceAll(string(text), "group: '?'", "group: backlog")})
		})
		if got := written(t, dir); !strings.Contains(got, tt.want) {
			t.Errorf("no %q in\n%s", tt.want, got)
		}
	}
}

func TestWhatIsGoneFromAnExportStaysInTheManifestsUntilItIsDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, exported(t, first, second, third), nil)
	whole := contents(t, dir)["a.yaml"]
	short := exported(t, third)
	for range 2 {
		r := must(t, dir, short, nil)
		all := contents(t, dir)
		if diff := cmp.Diff(whole, all["a.yaml"]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"A-1", "A-2"}, r.Report.Since.Gone); diff != "" || !strings.Contains(all["report.md"], "kept in the manifests until a run with --drop-missing: A-1, A-2.") {
			t.Error(diff, all["report.md"])
		}
		if c := r.Report.Counts; c.Items != 1 || r.Report.Carried.Items != 1 || c.Relations != 0 || r.Report.Carried.Relations != 0 || r.Report.Carried.Comments != 0 {
			t.Errorf("the numbers are not those of the export: %+v, %+v", c, r.Report.Carried)
		}
	}
	// The mapping is for all of them.
	path := filepath.Join(dir, "mapping.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string]string{"mapping.yaml": strings.Replace(string(data), "Bug: Bug", "Bug: Defect", 1)})
	must(t, dir, short, nil)
	if got := contents(t, dir)["a.yaml"]; !strings.Contains(got, "type: Defect") {
		t.Error(got)
	}
	must(t, dir, short, func(o *convert.Options) { o.DropMissing = true })
	if got := contents(t, dir)["a.yaml"]; strings.Contains(got, "A-1") || !strings.Contains(got, "A-3") {
		t.Error(got)
	}
	if r := must(t, dir, short, nil); len(r.Report.Since.Gone) > 0 {
		t.Error("it is still known:", r.Report.Since.Gone)
	}
}

func TestAnItemThatWasMovedKeepsItsObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, exported(t, first, second), nil)
	path := filepath.Join(dir, "mapping.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The project has another key now: the mapping gives the same project for it.
	put(t, dir, map[string]string{"mapping.yaml": strings.Replace(string(data), "  A: {key: a,", "  NEW: {key: a,", 1)})
	renamed := strings.NewReplacer("A-1", "NEW-1", "A-2", "NEW-2")
	f := exported(t, renamed.Replace(first), renamed.Replace(second))
	for range 2 {
		r := must(t, dir, f, nil)
		got := contents(t, dir)["a.yaml"]
		if !strings.Contains(got, "- key: NEW-1\n        previously: [A-1]\n") || len(r.Report.Since.Gone) > 0 {
			t.Errorf("%+v\n%s", r.Report.Since, got)
		}
		if diff := cmp.Diff([]convert.Move{{From: "A-1", To: "NEW-1"}, {From: "A-2", To: "NEW-2"}}, r.Report.Since.Moved); diff != "" {
			t.Error(diff)
		}
	}
	if _, findings := manifest.Load(t.Context(), []string{dir}, manifest.Options{}); len(findings) > 0 {
		t.Error(findings)
	}
	// To another project of Plane nothing can be moved.
	r := must(t, dir, exported(t, renamed.Replace(first), strings.NewReplacer("A-2", "OPS-1", ",101,", ",,").Replace(second)), nil)
	if diff := cmp.Diff([]convert.Move{{From: "NEW-2", To: "OPS-1", Anew: true}}, r.Report.Since.Moved); diff != "" {
		t.Error(diff)
	}
	if got := contents(t, dir)["ops.yaml"]; strings.Contains(got, "previously") {
		t.Error(got)
	}
}

func TestAPartOfAnExportIsConvertedWithItsParents(t *testing.T) {
	t.Parallel()
	f := exported(t, first, second, third)
	for name, tt := range map[string]struct {
		change func(*convert.Options)
		want   string
	}{
		"issues with some keys have their parents":    {func(o *convert.Options) { o.Only = []string{"A-2"} }, "A-1 A-2"},
		"issues changed since a day are converted":    {func(o *convert.Options) { o.Since = "2025-09-24" }, "A-3"},
		"an issue changed since a day has its parent": {func(o *convert.Options) { o.Since = "2025-09-23" }, "A-1 A-2 A-3"},
		"the first issues are converted":              {func(o *convert.Options) { o.Limit = 1 }, "A-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := must(t, dir, f, tt.change)
			m, findings := manifest.Load(t.Context(), []string{dir}, manifest.Options{})
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			var keys []string
			for _, o := range m.Objects {
				if o.Kind.Name == "work_item" {
					keys = append(keys, o.Key)
				}
			}
			if got := strings.Join(keys, " "); got != tt.want || r.Report.Counts.Items != len(keys) {
				t.Errorf("%s, want %s", got, tt.want)
			}
			for _, l := range r.Report.Losses {
				if strings.HasSuffix(l.Kind, "-outside") {
					t.Errorf("what waits is not lost: %+v", l)
				}
			}
			// The rest is new when it is converted, and nothing is gone.
			after := must(t, dir, f, nil).Report.Since
			if after != nil && (len(after.New) != 3-len(keys) || len(after.Gone)+len(after.Changed) > 0) {
				t.Errorf("%+v", after)
			}
			if r = must(t, dir, exported(t, second, third), func(o *convert.Options) { o.Only = []string{"A-2"} }); r.Report.Since != nil && len(r.Report.Since.Gone) > 0 || strings.Contains(contents(t, dir)["a.yaml"], "key: A-1") {
				t.Errorf("a part holds what is gone: %+v", r.Report.Since)
			}
		})
	}
	for name, tt := range map[string]struct {
		change     func(*convert.Options)
		want, hint string
	}{
		"a key that is not there":        {func(o *convert.Options) { o.Only = []string{"A-22"} }, "--only A-22: there is no such issue in the export", "A-2"},
		"a word is no date":              {func(o *convert.Options) { o.Since = "sunday" }, "--since sunday: it is not a date", "2026-11-20"},
		"a day to come selects no issue": {func(o *convert.Options) { o.Since = "2030-01-01" }, "none of 3 issues is selected", "another date"},
	} {
		dir := filepath.Join(t.TempDir(), "to")
		if _, err := run(t, dir, f, tt.change); err == nil || err.Error() != tt.want || !strings.Contains(diag.HintOf(err), tt.hint) {
			t.Errorf("%s: %v (%s)", name, err, diag.HintOf(err))
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error(name, "something was written")
		}
	}
}

func TestADamagedMemoryOfEarlierExportsIsAnErrorAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) error{
		"a missing list of items is an error": func(dir string) error { return os.Remove(filepath.Join(dir, ".planform", "convert-items.jsonl.gz")) },
		"a list of items that is cut is an error": func(dir string) error {
			return os.Truncate(filepath.Join(dir, ".planform", "convert-items.jsonl.gz"), 40)
		},
		"a memory that is no JSON is an error": func(dir string) error { return os.Truncate(filepath.Join(dir, ".planform", "convert.json"), 40) },
	} {
		dir := t.TempDir()
		must(t, dir, exported(t, first, second), nil)
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		before := contents(t, dir)
		if _, err := run(t, dir, exported(t, first), nil); err == nil || diag.HintOf(err) == "" {
			t.Error(name, err)
		}
		if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
			t.Error(name, diff)
		}
	}
}

// Without room for what is to be written, nothing is: not the folder either.
func TestWithoutATemporaryFileNothingIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "acme")
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	t.Setenv("TMP", filepath.Join(dir, "missing"))
	_, err := run(t, dir, inline(t, "j.csv", "Issue key,Summary,Status\nA-1,One,Open\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "write a temporary file") {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error(err)
	}
}
