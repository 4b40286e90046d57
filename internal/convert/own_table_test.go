package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/text/diag"
)

// A table without a known key gets a mapping with all its columns, and an error that names it.
func TestTheColumnsOfATableOfNobodyAreAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := inline(t, "t.csv", "gid,Was,Wer\n1,One,ada\n2,Two,bob\n")
	csv := func(o *convert.Options) { o.Format = "csv" }
	_, err := run(t, dir, f, csv)
	if path := filepath.Join(dir, "mapping.yaml"); err == nil || !strings.Contains(diag.HintOf(err), path) {
		t.Errorf("%v (%s)", err, diag.HintOf(err))
	}
	text, _ := os.ReadFile(filepath.Join(dir, "mapping.yaml"))
	for _, want := range []string{"gid: '?'", "Was: '?'", "Wer: '?'"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	answered := strings.NewReplacer("gid: '?'", "gid: key", "Was: '?'", "Was: name").Replace(string(text))
	put(t, dir, map[string]string{"mapping.yaml": strings.Replace(answered, "columns:\n", "columns:\n  '*': text\n", 1)})
	r := must(t, dir, f, csv).Report
	if len(r.Questions) > 0 || r.Carried.Items != 2 || !strings.Contains(written(t, dir), "| Wer | ada |") {
		t.Errorf("%+v\n%s", r.Questions, written(t, dir))
	}
}

// A column of the mapping that no file has is named, because it may be a mistake.
func TestColumnsThatNoFileHasAreNamed(t *testing.T) {
	t.Parallel()
	_, r := manifests(t, inline(t, "t.csv", "Key,Title,Size\nA-1,One,3\n"), "columns: {'*': text, Sice: skip, size: text}\n")
	if !slices.ContainsFunc(r.Notes, func(n convert.Remark) bool { return n.Kind == "unknown-columns" && strings.HasSuffix(n.Text, ": Sice") }) {
		t.Errorf("%+v", r.Notes)
	}
}

// Comments and the dates of a sprint may stand in the row of an item, as lists and objects of JSON do.
func TestARecordHasItsCommentsAndItsSprint(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "t.jsonl", `{"key":"W-1","title":"One","state":{"name":"Doing","group":"started"},"sprint":{"name":"Sprint 1","start_date":"2026-01-05","end_date":"2026-01-18"},"comments":[{"id":"7","author":{"name":"Bob M.","email":"bob@example.com"},"created_at":"2026-01-06T08:00:00Z","text":"first, and; more"},{"id":"8","text":"second"}]}
{"key":"W-2","title":"Two","comments":[]}
`), "")
	for _, want := range []string{
		"- {name: Doing, group: started}", "- {name: Sprint 1, start_date: 2026-01-05, end_date: 2026-01-18}", "- key: \"7\"\n            author: Bob M.\n            created_at: \"2026-01-06T08:00:00Z\"\n            text: first, and; more",
		"- key: \"8\"\n            author: somebody\n            text: second",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "bob@example.com", "Bob M."), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(r.Losses)+len(r.Questions) > 0 || r.Carried.Comments != 2 {
		t.Errorf("%+v %+v", r.Losses, r.Questions)
	}
}

// None says nothing of a person or a priority, but it may be a title, and it is a value of a column that is kept as a text.
func TestNoneIsAValueThatIsRead(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "t.csv", "Key,Title,Assignee,Remote,Due\nA-1,None,None,None,N/A\nA-2,b,ada@example.com,n/a,2026-01-01\n"), "columns: {Remote: text}\n")
	if r.Values.Read != 10 || r.Values.Decided != 2 || r.Values.Lost > 0 || !strings.Contains(text, "name: None") || !strings.Contains(text, "| Remote | None |") || !strings.Contains(text, "| Remote | n/a |") {
		t.Errorf("%+v\n%s", r.Values, text)
	}
}

// The time of a due date is a loss, as the date of an item has none.
func TestTimesOfDaysOfATableAreCounted(t *testing.T) {
	t.Parallel()
	_, r := manifests(t, inline(t, "t.csv", "Key,Title,Due,Start\nA-1,One,2026-01-01 14:30,2026-01-01\nA-2,Two,2026-01-02 00:00,\n"), "")
	if len(r.Losses) != 1 || r.Losses[0].Kind != "times-of-day" || r.Losses[0].Count != 1 {
		t.Errorf("%+v", r.Losses)
	}
}

// One answer answers all questions of a section that have none, before they are written and after.
func TestOneAnswerAnswersTheRest(t *testing.T) {
	t.Parallel()
	f := inline(t, "t.csv", "Key,Title,Status,Priority,Assignee,Size\nA-1,One,Ready,P9,Ada L.,1\nA-2,Two,Checked,P8,Bob M.,2\n")
	const answers = "columns: {'*': text}\npeople: {'*': text}\npriorities: {'*': medium}\nstates: {'*': {group: started}}\n"
	for name, first := range map[string]bool{"before": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if first {
				put(t, dir, map[string]string{"mapping.yaml": answers})
			} else {
				if r := must(t, dir, f, nil).Report; len(r.Questions) < 5 {
					t.Errorf("%+v", r.Questions)
				}
				text, _ := os.ReadFile(filepath.Join(dir, "mapping.yaml"))
				put(t, dir, map[string]string{"mapping.yaml": strings.NewReplacer(
					"columns:\n", "columns:\n  '*': text\n", "people:\n", "people:\n  '*': text\n", "priorities:\n", "priorities:\n  '*': medium\n",
					"states:\n", "states:\n  '*': {group: started}\n").Replace(string(text))})
			}
			r := must(t, dir, f, nil).Report
			text := written(t, dir)
			for _, want := range []string{"state: Ready", "name: Checked, group: started", "priority: medium", "Assignee in the export: Ada L."} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if len(r.Questions) > 0 {
				t.Errorf("%+v", r.Questions)
			}
		})
	}
}

// What people and spreadsheets write above a header is no header, and a name may have two lines.
func TestTheHeaderIsTheFirstLineOfSeveralCells(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a line may name a rare separator":          "sep=|\nKey|Title|Story Points\nA-1|One|3\n",
		"a line may name a separator":               "sep=;\nKey;Title;Story Points\nA-1;One;3\n",
		"a title above the header is skipped":       "Project plan,,\n\nKey,Title,Story Points\nA-1,One,3\n",
		"a title in one cell is skipped":            "Project plan\r\nKey,Title,Story Points\r\nA-1,One,3\r\n",
		"an empty line above the header is skipped": "\nKey;Title;Story Points\nA-1;One;3\n",
		"a name of the header may have two lines":   "Key,Title,\"Story\nPoints\"\nA-1,One,3\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, r := manifests(t, inline(t, "t.csv", text), "columns: {Story Points: text}\n")
			if !strings.Contains(all, "| Story Points | 3 |") || r.Carried.Items != 1 {
				t.Errorf("%+v\n%s", r, all)
			}
		})
	}
}

// Each sheet of a spreadsheet is a file of the export.
func TestAllSheetsOfASpreadsheetAreRead(t *testing.T) {
	t.Parallel()
	const table = "Key,Title,Status\n"
	for name, tt := range map[string]struct {
		sheets []string // name, then text
		format string
		items  int
		passed string
	}{
		"both tables of a workbook are read":        {[]string{"Now", table + "A-1,one,Open\n", "Done 2025", table + "A-2,two,Done\nA-3,three,Done\n"}, "auto", 3, ""},
		"both tables are read in a named format":    {[]string{"Now", table + "A-1,one,Open\n", "Done 2025", table + "A-2,two,Done\n"}, "xlsx", 2, ""},
		"a list of words is no table":               {[]string{"Now", table + "A-1,one,Open\n", "Lists", "Teams,Places\nred,north\n"}, "auto", 1, "book.xlsx/Lists"},
		"a cover before the table is passed over":   {[]string{"Read me", "Plan of the move,by\nAda,2026\n", "Now", table + "A-1,one,Open\n"}, "auto", 1, "book.xlsx"},
		"a sheet of another tracker is passed over": {[]string{"Now", table + "A-1,one,Open\n", "Tasks", "Task ID,Name,Section/Column\n1,a,b\n"}, "auto", 1, "book.xlsx/Tasks"},
		"empty sheets say nothing":                  {[]string{"Sheet1", "", "Now", table + "A-1,one,Open\n", "Sheet3", ""}, "auto", 1, ""},
		"keys may have another name in each sheet":  {[]string{"Plan", "Key,Title\nA-1,one\n", "Bugs", "ID,Summary\nB-1,two\n"}, "auto", 2, ""},
		"a sheet may have the name of a file":       {[]string{"Now", table + "A-1,one,Open\n", "old.csv", "x,y\n1,2\n"}, "auto", 1, "book.xlsx/old.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var names []string
			texts := map[string][]byte{}
			for n := 0; n < len(tt.sheets); n += 2 {
				names = append(names, "book.xlsx/"+tt.sheets[n])
				texts["book.xlsx/"+tt.sheets[n]] = []byte(tt.sheets[n+1])
			}
			f := inline(t, "book.xlsx", string(workbook(t, names, texts)))
			r := must(t, t.TempDir(), f, func(o *convert.Options) { o.Format = tt.format })
			passed := ""
			for _, n := range r.Report.Notes {
				if n.Kind == "files-passed-over" {
					_, passed, _ = strings.Cut(n.Text, "no export: ")
				}
			}
			if r.Report.Carried.Items != tt.items || strings.TrimPrefix(passed, filepath.Dir(f.files[0])+"/") != tt.passed {
				t.Errorf("%d items, passed over: %s", r.Report.Carried.Items, passed)
			}
		})
	}
}

func TestATableHasOneKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{"mapping.yaml": "columns: {A: key, B: key}\n"})
	f := inline(t, "a.csv", "A,B,Title\n1,2,One\n")
	_, err := run(t, dir, f, func(o *convert.Options) { o.Format = "csv" })
	if err == nil || err.Error() != f.files[0]+":1: the columns A and B cannot both be the key" || !strings.Contains(diag.HintOf(err), "never changes") {
		t.Errorf("%v, %s", err, diag.HintOf(err))
	}
}

func TestOfTwoColumnsThatMayBeTheKeyOfATrackerTheFirstCounts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"jira.csv":  "Issue key,Key,Summary,Issue Type\nAB-1,x,One,Bug\n",
		"plane.csv": "ID,Identifier,Project Identifier,Sequence ID,Name\nAB-1,x,AB,1,One\n",
	} {
		if text, r := manifests(t, inline(t, name, text), ""); !strings.Contains(text, "AB-1") || r.Carried.Items != 1 || r.Values.Lost != 1 {
			t.Errorf("%s: %+v\n%s", name, r.Values, text)
		}
	}
}

func TestRelationsOfATableLeadToOtherProjects(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "a.csv", "Key,Title,Project,Blocks,Description\nA-1,One,P1,B-1,See B-1\nB-1,Two,P2,,\n"), "")
	if len(r.Losses) > 0 || !strings.Contains(text, "relations: {blocking: [p2/B-1]}") || !strings.Contains(text, "(planform:work_item/p2/B-1)") {
		t.Errorf("%+v\n%s", r.Losses, text)
	}
}

func TestAnItemThatMovedToAnotherProjectKeepsItsRelations(t *testing.T) {
	t.Parallel()
	const list = "Task ID,Name,Section/Column,Projects,Blocking (Dependencies)\n11,Plan,To do,%s,\n12,Draw,To do,Website,Plan\n"
	dir, to := t.TempDir(), t.TempDir()
	for _, project := range []string{"Website", "Marketing"} {
		put(t, dir, map[string]string{"a.csv": fmt.Sprintf(list, project)})
		must(t, to, fixture{files: []string{filepath.Join(dir, "a.csv")}}, nil)
	}
	if text := contents(t, to)["marketing.yaml"]; !strings.Contains(text, "relations: {blocked_by: [website/12]}") {
		t.Error(text)
	}
}

func TestASecondColumnOfOneNameIsAskedFor(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "t.csv", "Key,Title,Status,Status,Status\nA-1,One,Open,Blocked,Late\n"), "")
	asked := slices.ContainsFunc(r.Questions, func(q convert.Question) bool { return q.Name == "Status (2)" })
	if !asked || !strings.Contains(text, "| Status (2) | Blocked |") || !strings.Contains(text, "| Status (3) | Late |") {
		t.Errorf("%+v\n%s", r.Questions, text)
	}
	text, _ = manifests(t, inline(t, "t.csv", "Key,Title,Status,Status\nA-1,One,Open,Blocked\n"), "columns: {Status (2): labels}\n")
	if !strings.Contains(text, "name: Blocked") || strings.Contains(text, "| Status (2) |") {
		t.Error(text)
	}
}
