package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planform/planform/manifest"
)

// valid checks the manifests of a folder.
func valid(tb testing.TB, dir string) {
	tb.Helper()
	if _, findings := manifest.Load(tb.Context(), []string{dir}, manifest.Options{}); len(findings) > 0 {
		tb.Errorf("%v", findings)
	}
}

// What convert guesses and writes passes the checks of the mapping, and of manifests.
func TestWhatConvertWritesPassesItsOwnChecks(t *testing.T) {
	t.Parallel()
	board := func(name string) string {
		return `{"id":"b1","name":"` + name + `","url":"https://trello.com/b/abc","lists":[{"id":"l1","name":"Doing","closed":false,"pos":1}],"labels":[],"members":[],"checklists":[],"actions":[],"cards":[{"id":"c1","idShort":1,"name":"Card","desc":"","closed":false,"idList":"l1","idBoard":"b1","shortLink":"abc","url":"https://trello.com/c/abc","pos":1}]}`
	}
	long := "モバイルアプリ開発チームのスプリント計画と振り返りの記録その"
	jira := func(name, email string) string {
		return `[{"key":"A-1","self":"https://j.example.com/rest/api/2/issue/1","fields":{"summary":"One","project":{"key":"A","name":"A"},"status":{"name":"Open"},"assignee":{"accountId":"5","displayName":"` + name + `","emailAddress":"` + email + `"}}}]`
	}
	for name, tt := range map[string]struct {
		f         fixture
		want      string
		questions int
	}{
		"a key keeps letters outside ASCII":              {inline(t, "b.json", board("Été 2026")), "key: été-2026", 0},
		"a key keeps Chinese letters":                    {inline(t, "b.json", board("2026-06 看板")), "key: 2026-06-看板", 0},
		"a key is guessed from a project of a table":     {inline(t, "t.csv", "Key,Title,Project\nA-1,x,Büro-Umzug\nA-2,y,Straße\n"), "key: büro-umzug", 0},
		"projects whose keys would be equal get numbers": {inline(t, "t.csv", "Key,Title,Project\nA-1,x,a_b\nA-2,y,a b\nA-3,z,a-b\n"), "key: a-b-2", 0},
		"a login is no address":                          {inline(t, "j.json", jira("Kim Doe", "kim")), "'?'", 1},
		"an address needs a host":                        {inline(t, "j.json", jira("Kim Doe", "kim@")), "'?'", 1},
		"blanks around an address are ignored":           {inline(t, "j.json", jira("Kim Doe", " KIM@EXAMPLE.COM ")), "KIM@EXAMPLE.COM", 0},
		"a control character of a name is left out":      {inline(t, "j.json", jira(`Kim\u0007 Doe`, "")), "Kim Doe", 1},
		"long names of sprints stay different":           {inline(t, "s.csv", "ID,Title,Status,Sprint\nA-1,One,Open,"+long+"一月\nA-2,Two,Open,"+long+"二月\n"), long, 0},
		"a comment of somebody of a long name":           {inline(t, "b.json", strings.Replace(board("B"), `"actions":[]`, `"actions":[{"type":"commentCard","date":"2025-01-02T00:00:00Z","idMemberCreator":"`+long+`","data":{"text":"x","card":{"id":"c1"}}}]`, 1)), "x", 1},
		"a file of a long name":                          {inline(t, "t.csv", "Key,Title,Attachments\nA-1,One,https://example.com/"+long+".txt\n"), long, 0},
		"a type that is called skip":                     {inline(t, "t.csv", "Key,Title,Type\nA-1,One,skip\n"), "type: skip", 0},
		"a state of a long name":                         {inline(t, "t.csv", "Key,Title,Status\nA-1,One,"+strings.Repeat("long ", 70)+"\n"), "…", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for range 2 {
				r := must(t, dir, tt.f, nil).Report
				if len(r.Questions) != tt.questions {
					t.Errorf("%+v", r.Questions)
				}
			}
			if text := written(t, dir); !strings.Contains(text, tt.want) {
				t.Errorf("no %q in\n%s", tt.want, text)
			}
			valid(t, dir)
		})
	}
}

// Two groups of one name stay two, and each keeps its items and its days.
func TestGroupsOfOneNameStayApart(t *testing.T) {
	t.Parallel()
	const azure = "ID,Work Item Type,Title,Assigned To,State,Tags,Area Path,Iteration Path\n"
	sprint := func(id int, start string) string {
		return fmt.Sprintf(`"customfield_1":[{"id":%d,"name":"Sprint 1","state":"closed","boardId":%d,"startDate":"%s-05T00:00:00Z","endDate":"%[3]s-19T00:00:00Z"}]`, id, id, start)
	}
	jira := func(n int, more string) string {
		return fmt.Sprintf(`{"key":"A-%d","self":"https://j.example.com/rest/api/2/issue/%[1]d","fields":{"summary":"One","project":{"key":"A","name":"A"},"status":{"name":"Open"},%s}}`, n, more)
	}
	version := func(due string) string { return `"fixVersions":[{"name":"1.0","releaseDate":"` + due + `"}]` }
	for name, tt := range map[string]struct {
		f    fixture
		want []string
	}{
		"areas and iterations of Azure": {inline(t, "a.csv", azure+`1,Bug,First,,New,,Shop\Team A\Backend,Shop\Release 1\Sprint 1`+"\n"+`2,Bug,Second,,New,,Shop\Team B\Backend,Shop\Release 2\Sprint 1`+"\n"+`3,Bug,Third,,New,,Shop\Backend,Shop\Release 1\Sprint 1`+"\n"), []string{
			"{name: Sprint 1}", "{name: Sprint 1 (Release 2)}", "{name: Backend}", "{name: Backend (Team B)}", "{name: Backend (Shop)}",
		}},
		"sprints of two boards of Jira": {inline(t, "j.json", `{"names":{"customfield_1":"Sprint"},"issues":[`+jira(1, sprint(11, "2025-01"))+","+jira(2, sprint(22, "2025-06"))+`]}`), []string{
			"name: Sprint 1, start_date: 2025-01-05", "name: Sprint 1 (2025-06-05), start_date: 2025-06-05",
		}},
		"lists of two folders of ClickUp": {inline(t, "c.csv", "Task ID,Task Name,List Name,Folder Name/Path,Space Name\na1,One,Backlog,Web,Shop\na2,Two,Backlog,App,Shop\n"), []string{
			"{name: Backlog}", "{name: Backlog (App)}",
		}},
		"versions of two days": {inline(t, "j.json", "["+jira(1, version("2025-01-31"))+","+jira(2, version("2025-06-30"))+"]"), []string{
			"name: \"1.0\", target_date: 2025-01-31", "name: 1.0 (2025-06-30), target_date: 2025-06-30",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, dir, tt.f, nil)
			text := written(t, dir)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			valid(t, dir)
		})
	}
}

// TestAFieldSaysWhatToDecideOn: the mapping says how many items have a value, how many values there are, and which is there most often.
// The mapping says what to answer, and where two entries may be one person.
func TestTheMappingSaysWhatToAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, inline(t, "j.csv", "Zusammenfassung,Vorgangsschlüssel,Vorgangs-ID,Vorgangstyp,Status,Projektschlüssel,Priorität,Zugewiesene Person,Zugewiesene Person-ID,Erstellt\n"+
		"Eins,AB-1,1,Story,Erledigt,AB,Hoch,Bob Müller,5f1,01/02/2024 10:00\nZwei,AB-2,2,Story,In Arbeit,AB,Mittel,Bob Müller,,02/02/2024 10:00\n"), nil)
	text := written(t, dir)
	for _, want := range []string{
		"# site: what stands before /browse/{key} in the addresses of Jira, such as https://example.com; dates: dmy or mdy, as day or month comes first",
		"5f1: '?' # Bob Müller - 1 assigned; Bob Müller has the same name", "Bob Müller: '?' # Bob Müller - 1 assigned; 5f1 has the same name",
		"Erledigt: {name: Erledigt, group: completed} # guessed", "In Arbeit: {name: In Arbeit, group: started} # guessed", "Hoch: high", "Mittel: medium",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Cycles stand in the order of their dates, or of the numbers in their names.
func TestCyclesStandInTheirOrder(t *testing.T) {
	t.Parallel()
	text, _ := manifests(t, inline(t, "t.csv", "Key,Title,Sprint\nA-1,a,Sprint 10\nA-2,b,Sprint 9\nA-3,c,Sprint 2\n"), "")
	if !strings.Contains(text, "- {name: Sprint 2}\n      - {name: Sprint 9}\n      - {name: Sprint 10}\n") {
		t.Error(text)
	}
}

func TestAFieldSaysWhatToDecideOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{"mapping.yaml": "# planform mapping\ncolumns: {Flag: text, Note: text}\n"})
	must(t, dir, inline(t, "t.csv", "Key,Title,Flag,Note\nA-1,One,FALSE,x\nA-2,Two,FALSE,\nA-3,Three,TRUE,y\nA-4,,,\n"), nil)
	all := contents(t, dir)
	for _, want := range []string{"Flag: text # guessed; in 3 items, 2 values: FALSE 2\n", "Note: text # guessed; in 2 items\n"} {
		if !strings.Contains(all["mapping.yaml"], want) {
			t.Errorf("no %q in\n%s", want, all["mapping.yaml"])
		}
	}
	if want := `1 line with nothing but the key skipped: "A-4"`; !strings.Contains(all["report.md"], want) {
		t.Errorf("no %q in\n%s", want, all["report.md"])
	}
}
