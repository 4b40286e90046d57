package convert_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/formats"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
)

//nolint:gochecknoglobals // the flag package works with variables
var update = flag.Bool("update", false, "write the golden files anew")

// fixture is an export in testdata.
type fixture struct {
	files    []string
	encoding string
	counts   *convert.Counts // counted by hand
}

func fixtures() map[string]fixture {
	return map[string]fixture{
		"jira-cloud":  {files: []string{"testdata/jira-cloud.csv"}},
		"jira-server": {files: []string{"testdata/jira-server.csv"}, encoding: "windows-1252"},
		"github-rest": {files: []string{"testdata/github-rest.json", "testdata/github-comments.json"}},
		"linear": {files: []string{"testdata/linear.csv"}, counts: &convert.Counts{
			Items: 5, Relations: 4, Parents: 2, Labels: 2, Attachments: 1, People: 4,
			States: map[string]int{"In Review": 1, "Done": 1, "Duplicate": 1, "Todo": 1, "Triage": 1},
		}},
		"pivotal": {files: []string{"testdata/pivotal.csv"}, counts: &convert.Counts{
			Items: 2, Comments: 2, Labels: 2, People: 2, States: map[string]int{"accepted": 1, "unscheduled": 1},
		}},
		"linear-json": {files: []string{"testdata/linear.json"}, counts: &convert.Counts{
			Items: 2, Comments: 2, Relations: 2, Parents: 1, Labels: 2, Attachments: 1, People: 2, States: map[string]int{"In Review": 1, "Not needed": 1},
		}},
		"azure-json": {files: []string{"testdata/azure-items.json", "testdata/azure-comments.json", "testdata/azure-updates.json"}, counts: &convert.Counts{
			Items: 3, Comments: 5, Relations: 3, Parents: 1, Labels: 2, Attachments: 2, People: 4, States: map[string]int{"Resolved": 1, "Active": 1, "Removed": 1},
		}},
		"youtrack-json": {files: []string{"testdata/youtrack-issues.json", "testdata/youtrack-comments.json"}, counts: &convert.Counts{
			Items: 4, Comments: 3, Relations: 3, Parents: 1, Labels: 2, Attachments: 1, People: 3, States: map[string]int{"To be discussed": 1, "Live": 1, "Submitted": 1},
		}},
		"asana-json": {files: []string{"testdata/asana-tasks.json", "testdata/asana-stories.json"}, counts: &convert.Counts{
			Items: 3, Comments: 2, Relations: 2, Parents: 1, Labels: 2, Attachments: 1, People: 3, States: map[string]int{"In review": 1, "Done": 2},
		}},
		"bugzilla": {files: []string{"testdata/bugzilla-bugs.json", "testdata/bugzilla-more.json"}, counts: &convert.Counts{
			Items: 3, Comments: 2, Relations: 3, Labels: 2, Attachments: 1, People: 3, States: map[string]int{"ASSIGNED": 1, "RESOLVED": 1},
		}},
		"redmine-json": {files: []string{"testdata/redmine-issues.json", "testdata/redmine-single.json", "testdata/redmine-users.json"}, counts: &convert.Counts{
			Items: 4, Comments: 2, Relations: 3, Parents: 1, Attachments: 1, People: 3, States: map[string]int{"In Progress": 1, "Shipped": 1, "Rejected": 1},
		}},
		"jira-rest-v3": {files: []string{"testdata/jira-rest-v3-1.json", "testdata/jira-rest-v3-2.json", "testdata/jira-rest-comments.json", "testdata/jira-rest-fields.json"}, counts: &convert.Counts{
			Items: 3, Comments: 5, Relations: 2, Parents: 1, Labels: 2, Attachments: 1, People: 3, States: map[string]int{"To Do": 1, "Deploy": 1, "Done": 1},
		}},
		"bitbucket": {files: inFolder("bitbucket", "db-2.0.json"), counts: &convert.Counts{
			Items: 2, Comments: 3, Attachments: 1, People: 2, States: map[string]int{"on hold": 1, "wontfix": 1},
		}},
		"bitbucket-rest": {files: inFolder("bitbucket", "issues.json", "comments.json"), counts: &convert.Counts{
			Items: 2, Comments: 1, People: 2, States: map[string]int{"resolved": 1, "open": 1},
		}},
		"gitlab-export": {files: inFolder("gitlab-export", "issues.ndjson", "labels.ndjson", "milestones.ndjson", "project.json", "project_members.ndjson"), counts: &convert.Counts{
			Items: 3, Comments: 3, Labels: 3, Attachments: 3, People: 3, States: map[string]int{"in review": 1, "Closed": 1},
		}},
		"jira-backup": {files: []string{"testdata/jira-backup-entities.xml", "testdata/jira-backup-activeobjects.xml"}, counts: &convert.Counts{
			Items: 4, Comments: 5, Relations: 1, Parents: 1, Labels: 2, Attachments: 1, People: 3, States: map[string]int{"Open": 1, "Reviewing": 1, "Deployed": 1},
		}},
		"jira-rest-v2": {files: []string{"testdata/jira-rest-v2.jsonl"}, counts: &convert.Counts{
			Items: 3, Comments: 2, Parents: 2, Attachments: 1, People: 2, States: map[string]int{"Open": 3},
		}},
		"trello": {files: []string{"testdata/trello.json", "testdata/trello-actions.json"}, counts: &convert.Counts{
			Items: 7, Comments: 6, Relations: 1, Labels: 6, Attachments: 1, People: 5,
			States: map[string]int{"Ideas": 1, "To Do": 2, "In review": 1, "Done": 1, "Parking": 1, "Old sprint": 1},
		}},
		"github-board": {files: []string{"testdata/github-board-issues.json", "testdata/github-board.json"}, counts: &convert.Counts{
			Items: 5, Comments: 1, Labels: 2, People: 3, States: map[string]int{"In review": 1, "closed": 1, "Live": 1, "Backlog": 1, "No status": 1},
		}},
		"github-graphql": {files: []string{"testdata/github-graphql.json"}, counts: &convert.Counts{
			Items: 3, Comments: 1, Parents: 1, Labels: 1, People: 3, States: map[string]int{"Doing it": 1, "Shipped": 1, "No status": 1},
		}},
		"monday": {files: []string{"testdata/monday.xlsx"}, counts: &convert.Counts{
			Items: 5, Comments: 3, Parents: 2, Labels: 2, Attachments: 1, People: 3,
			States: map[string]int{"Working on it": 1, "Done": 1, "Stuck": 1, "No status": 2},
		}},
		"github-gh": {files: []string{"testdata/github-gh-utf16.json"}},
	}
}

// inFolder are files of a folder of testdata.
func inFolder(dir string, names ...string) []string {
	for n, name := range names {
		names[n] = "testdata/" + dir + "/" + name
	}
	return names
}

// run converts files into a folder.
func run(tb testing.TB, dir string, f fixture, change func(*convert.Options)) (*convert.Result, error) {
	tb.Helper()
	files, err := convert.Files(f.files, f.encoding, nil)
	if err != nil {
		return nil, err
	}
	o := convert.Options{Format: convert.Auto, Formats: formats.All(), Files: files, Dir: dir, Report: view.ConversionReport}
	if change != nil {
		change(&o)
	}
	return convert.Run(tb.Context(), o)
}

func must(tb testing.TB, dir string, f fixture, change func(*convert.Options)) *convert.Result {
	tb.Helper()
	r, err := run(tb, dir, f, change)
	if err != nil {
		tb.Fatalf("%v\n%s", err, diag.HintOf(err))
	}
	return r
}

// contents are the files of a folder.
func contents(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
			return nil
		}
		data, err2 := os.ReadFile(path)
		name, err3 := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return errors.Join(err, err2, err3)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestCountsAreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	for name, f := range fixtures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := countedGitHub
			if strings.HasPrefix(name, "jira") {
				want = countedJira
			}
			if f.counts != nil {
				want = func(*testing.T, fixture) convert.Counts { return *f.counts }
			}
			r := must(t, t.TempDir(), f, nil)
			if diff := cmp.Diff(want(t, f), r.Report.Counts); diff != "" {
				t.Error(diff)
			}
			everyItem(t, r.Report)
		})
	}
}

// everyItem checks that items are carried over, left in the archive, or held back.
func everyItem(t *testing.T, r *convert.Report) {
	t.Helper()
	left := 0
	for _, l := range r.Losses {
		if l.Kind == "archived" || l.Kind == "restricted" {
			left += l.Count
		}
	}
	if r.Carried.Items+left != r.Counts.Items {
		t.Errorf("%d of %d items, %d archived or held back", r.Carried.Items, r.Counts.Items, left)
	}
}

// countedJira counts an export another way: the cells of all columns of a name, in one list.
func countedJira(t *testing.T, f fixture) convert.Counts {
	t.Helper()
	data, err := os.ReadFile(f.files[0])
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(data), "\uFEFF")))
	r.FieldsPerRecord = -1
	if f.encoding != "" {
		r.Comma = ';'
	}
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	n := convert.Counts{States: map[string]int{}}
	labels, people, links := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		cells := map[string][]string{}
		for i, cell := range row {
			if name := strings.ToLower(strings.TrimSpace(rows[0][i])); cell != "" {
				cells[name] = append(cells[name], cell)
			}
		}
		if key := cells["issue key"]; len(key) == 0 || !regexp.MustCompile(`^[A-Z]+-\d+$`).MatchString(key[0]) {
			continue
		}
		n.Items++
		n.States[cells["status"][0]]++
		n.Comments += len(cells["comment"])
		n.Attachments += len(cells["attachment"])
		if len(cells["parent"])+len(cells["parent id"])+len(cells["parent key"])+len(cells["custom field (epic link)"]) > 0 {
			n.Parents++
		}
		for _, l := range cells["labels"] {
			labels[l] = true
		}
		ids := slices.Concat(cells["assignee id"], cells["reporter id"], cells["creator id"])
		if f.encoding != "" {
			ids = slices.Concat(cells["assignee"], cells["reporter"])
		}
		for _, c := range cells["comment"] {
			ids = append(ids, strings.Split(c, ";")[1])
		}
		for _, id := range ids {
			people[id] = people[id] || id != ""
		}
		for name, list := range cells {
			direction, kind, ok := strings.Cut(name, " issue link ")
			for _, to := range list {
				if ok && direction == "inward" {
					links[kind+to+cells["issue key"][0]] = true
				} else if ok {
					links[kind+cells["issue key"][0]+to] = true
				}
			}
		}
	}
	delete(people, "")
	n.Labels, n.People, n.Relations = len(labels), len(people), len(links)
	return n
}

// countedGitHub counts without the types of the format.
func countedGitHub(t *testing.T, f fixture) convert.Counts {
	t.Helper()
	n := convert.Counts{States: map[string]int{}}
	labels, people := map[string]bool{}, map[string]bool{}
	login := func(v any) {
		if u, ok := v.(map[string]any); ok {
			people[fmt.Sprint(u["login"])] = true
		}
	}
	for _, name := range f.files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if strings.HasPrefix(text, "\xFF\xFE") {
			var units []uint16
			for i := 2; i < len(data); i += 2 {
				units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
			}
			text = string(utf16.Decode(units))
		}
		var entries []map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "][", ",")), &entries); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e["pull_request"] != nil {
				continue
			}
			login(e["user"])
			login(e["author"])
			if e["issue_url"] != nil {
				continue
			}
			n.Items++
			n.States[strings.ToLower(e["state"].(string))]++ //nolint:forcetypeassert // as the fixtures are
			if e["parent_issue_url"] != nil {
				n.Parents++
			}
			switch c := e["comments"].(type) {
			case float64:
				n.Comments += int(c)
			case []any:
				n.Comments += len(c)
				for _, one := range c {
					login(one.(map[string]any)["author"]) //nolint:forcetypeassert // likewise
				}
			}
			for _, a := range e["assignees"].([]any) { //nolint:forcetypeassert // likewise
				login(a)
			}
			for _, l := range e["labels"].([]any) { //nolint:forcetypeassert // likewise
				labels[l.(map[string]any)["name"].(string)] = true //nolint:forcetypeassert // likewise
			}
		}
	}
	n.Labels, n.People = len(labels), len(people)
	return n
}

func TestManifestsAreValidAndTheSameAgain(t *testing.T) {
	t.Parallel()
	for name, f := range allFixtures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := must(t, dir, f, nil)
			m, findings := manifest.Load(t.Context(), []string{dir}, manifest.Options{})
			if len(findings) > 0 || len(m.Objects) < r.Report.Carried.Items {
				t.Fatal(findings)
			}
			before := contents(t, dir)
			must(t, dir, f, nil)
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("the second run wrote something else: %s", diff)
			}
		})
	}
}

func TestWhatIsWritten(t *testing.T) {
	t.Parallel()
	for name, f := range allFixtures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, dir, f, func(o *convert.Options) {
				users, err := convert.Files([]string{"testdata/users.csv"}, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				o.Users = users
			})
			var b strings.Builder
			all := contents(t, dir)
			for _, file := range slices.Sorted(func(yield func(string) bool) {
				for file := range all {
					if !strings.HasPrefix(file, ".planform/") && file != "report.json" && !yield(file) {
						return
					}
				}
			}) {
				b.WriteString("-- " + file + " --\n" + strings.ReplaceAll(all[file], filepath.ToSlash(dir), "DIR"))
			}
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheAddressThatTakesCommentsIsWrittenNowhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, fixtures()["trello"], nil)
	for name, text := range contents(t, dir) {
		if strings.Contains(text, "SECRET") || strings.Contains(text, "boards.trello.example") {
			t.Error(name)
		}
	}
}

func TestArchivedItemsAreCarriedOverIfTheMappingSaysSo(t *testing.T) {
	t.Parallel()
	for word, archived := range map[string]bool{"keep": false, "archive": true} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"mapping.yaml": "# planform mapping\narchived: " + word + "\n"})
		r := must(t, dir, fixtures()["trello"], nil)
		text := contents(t, dir)["web-shop.yaml"]
		if r.Report.Carried.Items != 7 || !strings.Contains(text, "From the old list") || strings.Contains(text, "archived: true") != archived {
			t.Error(word, r.Report.Carried.Items)
		}
	}
}

func TestWhatCannotBeReadIsAnErrorAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	cloud, err := os.ReadFile("testdata/jira-cloud.csv")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := os.ReadFile("testdata/github-rest.json")
	if err != nil {
		t.Fatal(err)
	}
	board, err := os.ReadFile("testdata/trello.json")
	if err != nil {
		t.Fatal(err)
	}
	site, err := os.ReadFile("testdata/jira-backup-entities.xml")
	if err != nil {
		t.Fatal(err)
	}
	const head = "Summary,Issue key,Issue Type,Status,Created\n"
	for name, tt := range map[string]struct{ file, format, want, hint string }{
		"an empty file is to be exported again":                             {"", "auto", "FILE: the file is empty", "export it again"},
		"a table of no known tracker gets the hint to planform convert csv": {"a,b\n1,2\n", "auto", "FILE:1: it is not a known export", "planform convert csv reads any table"},
		"an export of another format names both formats":                    {string(rest), "jira-csv", "FILE:1: it is github, not jira-csv", "number and title"},
		"a page to log in is not an export":                                 {"<!DOCTYPE html><html>", "auto", "FILE:1: it is a web page", "log in"},
		"a damaged archive is an error":                                     {"PK\x03\x04abc", "auto", "FILE: the archive is damaged", "again"},
		"a file with NUL bytes is an error":                                 {head + "a,A-1,\x00", "auto", "FILE:2:7: it holds NUL bytes", ""},
		"a byte that is not UTF-8 gets the hint to an encoding":             {head + "Gr\xf6\xdfe,A-1,Bug,Open,\n", "auto", "FILE:2:3: the byte 0xF6 is not UTF-8", "windows-1252"},
		"a CSV that ends within a cell is cut off":                          {string(cloud[:len(cloud)-1500]), "auto", "FILE:", "cut off"},
		"a CSV that ends within a row is cut off":                           {head + "a,A-1,Bug,Open,x\nb,A-2,Bu", "auto", "FILE:3: the file ends within this row", "cut off"},
		"a quotation mark within a cell is written twice":                   {head + "a,A-1,Bug,Open,x\nb \"c\",A-2,Bug,Open,x\n", "auto", "FILE:3:3: a quotation mark", "twice"},
		"a number that a spreadsheet rounded is no key":                     {head + "a,A-1,Bug,Open,x\nb,1.2E+5,Bug,Open,x\n", "auto", `FILE:3: "1.2E+5" is no issue key`, "spreadsheet"},
		"a number that a spreadsheet rounded is no ID":                      {"Summary,Issue key,Issue id\na,A-1,1.2E+05\n", "auto", "FILE:2: the issue ID 1.2E+05 is no whole number", "spreadsheet"},
		"a header alone has no issue":                                       {head, "auto", "FILE: there is no issue in it", "filter"},
		"a header in another language is to be exported in English":         {"Riepilogo,Chiave segnalazione,Stato\na,A-1,Fatto\n", "auto", "FILE:1: the header is in a language that is not known here", "English"},
		"a JSON that ends within a value is cut off":                        {string(rest[:len(rest)-700]), "auto", "FILE:1", "cut off"},
		"an answer that ends within a value is cut off":                     {`{"data": {"issues": {"nodes": [{"identifier": "W-1", "title": "a"}, {"iden`, "auto", "FILE:1: the file ends within a value", "cut off"},
		"a broken JSON names its line":                                      {"[{\"number\": 1, \"title\": \"a\"},\n {\"number\" 2}]", "github", "FILE:2: it is not JSON", ""},
		"an entry of GitHub needs a number and a title":                     {"[{\"number\": 1, \"title\": \"a\"},\n {\"title\": \"b\"}]", "github", "FILE:2: an entry without number and title", "--json"},
		"a number that a spreadsheet rounded is no key of Linear":           {"ID,Team,Title,Status,Cycle Number,Parent issue\nA-1,A,x,Todo,,\n1.2E+5,A,y,Todo,,\n", "auto", `FILE:3: "1.2E+5" is no issue key`, "spreadsheet"},
		"an XML that ends within an element is cut off":                     {string(site[:len(site)-300]), "auto", "FILE:93: the file ends within an element", "cut off"},
		"a broken XML names its line":                                       {strings.Replace(string(site), "</body>", "</text>", 1), "auto", "FILE:15: it is not XML", ""},
		"an entity that a file defines is not read":                         {strings.Replace(string(site), "The form", "&lol;", 1), "auto", "FILE:53: it is not XML", ""},
		"a backup that ends within an element is cut off":                   {"<?xml version=\"1.0\"?>\n<entity-engine-xml date=\"1\">\n", "auto", "FILE:3: the file ends within an element", "cut off"},
		"an issue of Jira needs its fields":                                 {"{\"issues\": [\n{\"id\": \"10001\"}], \"isLast\": true}", "auto", "FILE:2: an issue without key and fields", "fields=*all"},
		"an error of Jira is not an export":                                 {`{"errorMessages": ["The requested API has been removed."], "errors": {}, "issues": [], "isLast": true}`, "jira-json", "FILE:1: the file is not an export, but an error of Jira: The requested API", "jql"},
		"an error of Bitbucket is not an export":                            {`{"type": "error", "error": {"message": "Not found"}}`, "bitbucket", "FILE:1: the file is not an export, but an error of Bitbucket", "token"},
		"a comment names its issue":                                         {`{"key": "A-1", "fields": {"summary": "x"}} {"body": "x", "self": "y"}`, "auto", "FILE:1: the comment does not name its issue", ""},
		"a board that ends within a value is cut off":                       {string(board[:len(board)/2]), "auto", "FILE:", "cut off"},
		"a card alone is not a board":                                       {`{"id": "a", "idShort": 1, "idBoard": "b", "idList": "c"}`, "auto", "FILE:1: it is the export of a card", "board"},
		"a board needs an ID, a name and lists":                             {"{\"labelNames\": {},\n\"shortLink\": \"a\", \"cards\": [\n{\"id\": 7}]}", "auto", "FILE:1: it is no board: a board has an ID, a name and lists", "Export as JSON"},
		"a board needs lists":                                               {`{"id": "a", "name": "b", "labelNames": {}, "shortLink": "c"}`, "trello", "FILE:1: it is no board", "Export as JSON"},
		"an item of a board needs an ID":                                    {`{"items": [{"content": {"type": "DraftIssue", "title": "x"}, "fieldValues": {}}]}`, "auto", "FILE:1: an item of a board without id", "ask for id"},
		"an error of GitHub is not a board":                                 {`{"data": {"organization": {"projectV2": null}}, "errors": [{"message": "Could not resolve to a ProjectV2"}]}`, "github", "FILE:1: the file is not an export, but an error of GitHub: Could not resolve", "read:project"},
		"pull requests alone are no issues":                                 {`[{"number": 1, "title": "a", "pull_request": {}}]`, "github", "FILE: there is no issue in it", "1 pull request left out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(t.TempDir(), "export")
			if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := run(t, filepath.Join(dir, "to"), fixture{files: []string{file}}, func(o *convert.Options) { o.Format = tt.format })
			if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), file, "FILE"), tt.want) || !strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("%v (%s), want %s", err, diag.HintOf(err), tt.want)
			}
			if all := contents(t, dir); len(all) > 0 {
				t.Errorf("something was written: %v", all)
			}
		})
	}
}

func TestMistakesInTheMappingAreAllNamedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, fixtures()["jira-cloud"], nil)
	path := filepath.Join(dir, "mapping.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.NewReplacer("components: module", "components: modul", "Medium: medium", "Medium: mediun").Replace(string(data))
	if err := os.WriteFile(path, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	_, err = run(t, dir, fixtures()["jira-cloud"], nil)
	list, ok := errors.AsType[diag.ListError](err)
	if !ok || len(list.List) != 2 || !strings.Contains(err.Error(), `did you mean "medium"?`) || !strings.Contains(err.Error(), path+":") {
		t.Error(err)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestAFileThatSomebodyChangedIsNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := fixtures()["jira-cloud"]
	must(t, dir, f, nil)
	shop := filepath.Join(dir, "shop.yaml")
	data, err := os.ReadFile(shop)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(shop, append(data, "# mine\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, dir, f, nil); err == nil || !strings.Contains(err.Error(), "shop.yaml was changed since convert wrote it") {
		t.Error(err)
	}
	if err := os.Remove(shop); err != nil {
		t.Fatal(err)
	}
	must(t, dir, f, nil)

	// What a mapping leaves out is not left behind.
	path := filepath.Join(dir, "mapping.yaml")
	mapping, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	skip := regexp.MustCompile(`(?m)^  OPS: .*$`).ReplaceAllString(string(mapping), "  OPS: skip")
	if err := os.WriteFile(path, []byte(skip), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, dir, f, nil)
	if _, there := contents(t, dir)["ops.yaml"]; there {
		t.Error("ops.yaml is still there")
	}
}

// TestOddDatesStopNoConversion: all dates of an export are others, and what can be said of it is said.
func TestOddDatesStopNoConversion(t *testing.T) {
	t.Parallel()
	date := regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?|\d{1,2}/[A-Z][a-z]{2}/\d\d \d{1,2}:\d\d [AP]M|[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} [\d:]+ \+\d{4}`)
	odd := []string{"2024-01-02T10:00:00+24:00", "9999-12-31T23:59:60+99:99", "0000-01-01T00:00:00Z", "31/Feb/24 9:26 AM", "a: b}]"}
	for name, f := range fixtures() {
		if !sample.TakesNamed(name, 3) {
			continue
		}
		for first := range 2 {
			t.Run(name+" from "+odd[first], func(t *testing.T) {
				t.Parallel()
				dir, found := t.TempDir(), 0
				other := fixture{encoding: f.encoding}
				for _, file := range f.files {
					text, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					other.files = append(other.files, filepath.Join(dir, filepath.Base(file)))
					if err := os.WriteFile(other.files[len(other.files)-1], date.ReplaceAllFunc(text, func([]byte) []byte {
						found++
						return []byte(odd[(first+found)%len(odd)])
					}), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if found == 0 {
					t.Skip("it has dates of other forms")
				}
				for range 2 { // what is kept of the first run is read by the second
					must(t, filepath.Join(dir, "to"), other, nil)
				}
				if m, findings := manifest.Load(t.Context(), []string{filepath.Join(dir, "to")}, manifest.Options{}); findings.HasErrors() || len(m.Objects) == 0 {
					t.Error(findings)
				}
			})
		}
	}
}

// large is a Jira export of n issues, with what real ones have, and so much text.
func large(n, texts int) string {
	var b strings.Builder
	b.WriteString("Summary,Issue key,Issue id,Issue Type,Status,Project key,Project name,Priority,Assignee,Assignee Id,Reporter,Reporter Id,Created,Updated,Labels,Labels,Sprint,Sprint,Description,Outward issue link (Blocks),Attachment,Attachment,Comment,Comment,Comment,Parent,Status Category\n")
	text := strings.Repeat("h2. Steps\r\n# Open *the* page [here|https://example.com/a]\r\n# Press {{save}}\r\n\r\n{code:java}\r\nList<String> a;\r\n{code}\r\n|a|b|\r\n", texts)
	for i := n; i > 0; i-- {
		kind, parent, blocks := "Task", "", ""
		if i%5 == 0 && i > 10 {
			kind, parent, blocks = "Sub-task", strconv.Itoa(10000+i-7), fmt.Sprintf("BIG-%d", i-3)
		}
		file := fmt.Sprintf("22/Sep/25 9:26 AM;id1;shot %d.png;https://example.atlassian.net/rest/api/3/attachment/content/%d", i, i)
		fmt.Fprintf(&b, "Issue number %d,BIG-%d,%d,%s,To Do,BIG,Big,Medium,P%d,id%d,P1,id1,22/Sep/25 9:26 AM,22/Sep/25 9:26 AM,a%d,b,S%d,S%d,\"%s\",%s,%s,,\"22/Sep/25 9:26 AM;id%d;%s\",22/Sep/25 9:27 AM;id2;Yes; so.,,%s,To Do\n",
			i, i, 10000+i, kind, i%90, i%90, i%30, i%40, i%40+1, text, blocks, file, i%90, text[:min(len(text), 300)], parent)
	}
	return b.String()
}

func TestManyItemsAreWrittenInPartsInAscendingOrder(t *testing.T) {
	t.Parallel()
	n := sample.Of(2001, 4001, 4001)
	dir := t.TempDir()
	file := filepath.Join(dir, "big.csv")
	if err := os.WriteFile(file, []byte(large(n, 0)), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "to")
	r := must(t, to, fixture{files: []string{file}}, nil)
	parts := []string{"big-001.yaml", "big-002.yaml", "big-003.yaml"}[:n/2000+1]
	want := append(slices.Clone(parts), "attachments.tsv", "report.md", "report.json")
	if !slices.Equal(r.Files, want) {
		t.Fatal(r.Files)
	}
	var keys []string
	for _, name := range parts {
		for _, m := range regexp.MustCompile(`(?m)^      - key: (BIG-\d+)$`).FindAllStringSubmatch(contents(t, to)[name], -1) {
			keys = append(keys, m[1])
		}
	}
	if len(keys) != n || keys[0] != "BIG-1" || keys[2000] != "BIG-2001" || keys[n-1] != fmt.Sprintf("BIG-%d", n) {
		t.Errorf("%d: %v", len(keys), keys[:3])
	}
	if m, findings := manifest.Load(t.Context(), []string{to}, manifest.Options{}); findings.HasErrors() || len(m.Objects) < n {
		t.Error(findings)
	}
}

// BenchmarkJiraCSV converts 8,000 issues with comments, links, sub-tasks, sprints and attachments, the first time and again, which
// reads what the first run kept. It is to take less than 10 seconds a run and 300 MB.
func BenchmarkJiraCSV(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "big.csv")
	if err := os.WriteFile(file, []byte(large(8000, 6)), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, to := range map[string]func() string{"first": b.TempDir, "again": func() string { return filepath.Join(dir, "to") }} {
		b.Run(name, func(b *testing.B) {
			var peak uint64
			for b.Loop() {
				if r := must(b, to(), fixture{files: []string{file}}, nil); r.Report.Counts.Items != 8000 {
					b.Fatal(r.Report.Counts)
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapSys-m.HeapReleased)
			}
			b.ReportMetric(float64(peak)/1e6, "MB")
		})
	}
}

// TestFieldsBecomeCustomFieldsIfTheMappingSaysSo: their types are those of the mapping, or such as the values are.
func TestFieldsBecomeCustomFieldsIfTheMappingSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id,title,type,Grade,Hours,Found,Ok,Since,Two\n")
	for i := range 6 {
		odd := i % 2
		fmt.Fprintf(&b, "%d,Item %d,%s,%s,%d.5,rev-%d,%s,2031-05-1%d,%s\n", i, i, []string{"Bug", "Story"}[odd], []string{"A", "B"}[odd], i, i, []string{"yes", "no"}[odd], i, []string{"x", "7"}[odd])
	}
	source, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out")
	if err := os.WriteFile(source, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	of := fixture{files: []string{source}}
	must(t, out, of, nil)
	path := filepath.Join(out, "mapping.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, text, _ := strings.Cut(string(data), "\nfields:\n")
	for name, to := range map[string]string{
		"Grade": "{field: Severity}", "Hours": "{field: Effort}", "Found": "{field: Found in}", "Ok": "{field: Ok}", "Since": "{field: Since}", "Two": "{field: Two, type: decimal}",
	} {
		text = regexp.MustCompile(`(?m)^(  `+name+`:) \S+`).ReplaceAllString(text, "${1} "+to)
	}
	if err := os.WriteFile(path, []byte(head+"\nfields:\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(t, out, of, nil)
	got := contents(t, out)["csv.yaml"]
	for _, want := range []string{
		`
      - name: Story
        properties:
          - {name: Effort, type: decimal}
          - {name: Found in, type: text}
          - {name: Ok, type: boolean}
          - {name: Severity, type: option, options: [{name: A}, {name: B}]}
          - {name: Since, type: datetime}
          - {name: Two, type: decimal}
    work_items:
`, `
      - key: "1"
        name: Item 1
        type: Story
        fields: {Severity: B, Effort: 1.5, Found in: rev-1, Ok: false, Since: "2031-05-11", Two: 7}
`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s\nin %s", want, got)
		}
	}
	if loss := r.Report.Losses; len(loss) != 1 || loss[0].Kind != "field-values" || loss[0].Count != 3 {
		t.Error(loss)
	}
	if _, found := manifest.Load(t.Context(), []string{filepath.Join(out, "csv.yaml")}, manifest.Options{Workspace: "acme"}); found.HasErrors() {
		t.Error(found)
	}
}

// TestLinksBecomeCustomRelationsInTheWordsOfTheMapping, whichever tracker they come from.
func TestLinksBecomeCustomRelationsInTheWordsOfTheMapping(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ kind, relations string }{
		"jira-rest-v3":  {"Blocks", "{custom: [{item: shop/SHOP-2, relation: holds up}]}"},
		"jira-cloud":    {"Cloners", "{blocked_by: [shop/SHOP-9], custom: [{item: shop/SHOP-5, relation: waits for}]}"},
		"jira-backup":   {"Blocks", "{custom: [{item: ops/OPS-3, relation: waits for}]}"},
		"redmine-json":  {"relates", "{custom: [{item: web-shop/21, relation: waits for}]}"},
		"linear-json":   {"Blocks", "{custom: [{item: web/WEB-2, relation: holds up}]}"},
		"youtrack-json": {"blocks", "{custom: [{item: web/WEB-41, relation: waits for}]}"},
		"azure-json":    {"Duplicate", "{custom: [{item: web-shop/302, relation: holds up}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, map[string]string{"mapping.yaml": "# planform mapping\nlinks: {" + tt.kind + ": {outward: holds up, inward: waits for}}\n"})
			r := must(t, dir, allFixtures()[name], nil)
			var written []string
			for file, text := range contents(t, dir) {
				if strings.HasSuffix(file, ".yaml") && strings.Contains(text, "- {name: "+tt.kind+", outward: holds up, inward: waits for}\n") {
					written = append(written, text)
				}
			}
			if len(written) != 1 || !strings.Contains(written[0], "\n        relations: "+tt.relations+"\n") {
				t.Errorf("%q is not in one of %d manifests with its definition: %s", tt.relations, len(written), written)
			}
			if slices.ContainsFunc(r.Report.Losses, func(l convert.Loss) bool { return l.Kind == "relation-types" }) {
				t.Error(r.Report.Losses)
			}
		})
	}
}

// TestTheMappingProposesTheWordsOfALink, in both directions, where the export has them.
func TestTheMappingProposesTheWordsOfALink(t *testing.T) {
	t.Parallel()
	in, dir := t.TempDir(), t.TempDir()
	const (
		issue = `{"key": "SHOP-%d", "fields": {"summary": "A", "project": {"key": "SHOP"}, "issuelinks": [{"type": {"name": "Cloners", "inward": "is cloned by", "outward": "clones"}, %q: {"key": "SHOP-%d"}}]}}`
		name  = "jira.jsonl"
	)
	put(t, in, map[string]string{name: fmt.Sprintf(issue, 1, "outwardIssue", 2) + "\n" + fmt.Sprintf(issue, 2, "inwardIssue", 1)})
	must(t, dir, fixture{files: []string{filepath.Join(in, name)}}, nil)
	const want = "Cloners: relates_to # guessed; or {outward: clones, inward: is cloned by}, with API v2\n"
	if written := contents(t, dir)["mapping.yaml"]; !strings.Contains(written, want) {
		t.Errorf("%q is not in %s", want, written)
	}
}
