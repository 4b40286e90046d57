package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
)

// inline is an export that is written for a test.
func inline(tb testing.TB, name, text string, more ...string) fixture {
	tb.Helper()
	dir := tb.TempDir()
	files := map[string]string{name: text}
	f := fixture{files: []string{filepath.Join(dir, name)}}
	for n := 0; n < len(more); n += 2 {
		files[more[n]] = more[n+1]
		f.files = append(f.files, filepath.Join(dir, more[n]))
	}
	put(tb, dir, files)
	return f
}

// manifests is what a conversion wrote into manifests. A mapping may stand there before.
func manifests(tb testing.TB, f fixture, mapping string) (text string, r *convert.Report) {
	tb.Helper()
	dir := tb.TempDir()
	if mapping != "" {
		put(tb, dir, map[string]string{"mapping.yaml": mapping})
	}
	r = must(tb, dir, f, nil).Report
	var all strings.Builder
	for name, one := range contents(tb, dir) {
		if strings.HasSuffix(name, ".yaml") && name != "mapping.yaml" {
			all.WriteString(one)
		}
	}
	return all.String(), r
}

// A person sees the lines of a text as the tracker showed them.
func TestWhatTheTrackerShowsAsABreakIsOne(t *testing.T) {
	t.Parallel()
	const lines, want = `App: 1\nPhone: 2\n\n- a\n  b\n\n> c\n> d\n\n` + "```\\ne\\nf\\n```", "App: 1\\Phone: 2- a\\b> c\\> d```ef```"
	const board = `{"id": "b", "name": "B", "shortLink": "s", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "cards": [{"id": "c", "idBoard": "b", "idList": "l", "idShort": 1, "shortLink": "x", "name": "One", "desc": "` + lines +
		`", "badges": {"comments": 1}}], "actions": [{"id": "a", "type": "commentCard", "date": "2024-01-02T03:04:05Z", "idMemberCreator": "m", "data": {"text": "` + lines + `", "card": {"id": "c"}}}]}`
	cell := strings.ReplaceAll(lines, `\n`, "\n")
	for name, tt := range map[string]struct {
		file, text, mapping string
		times               int
		want                string
	}{
		"GitHub, with comments": {"i.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "body": "` + lines + `", "comments": [{"id": "7", "body": "` + lines + `"}]}]`, "", 2, want},
		"Trello, with comments": {"b.json", board, "", 2, want},
		"Shortcut":              {"s.csv", "id,name,requester,owners,epic_id,description\n1,One,a,,,\"" + cell + "\"\n", "", 1, want},
		"ClickUp":               {"c.csv", "Task ID,Task Name,Task Content\na1,One,\"" + cell + "\"\n", "", 1, want},
		"Redmine":               {"r.csv", "#,Project,Tracker,Status,Priority,Subject,Description\n1,Web,Bug,New,High,One,\"" + cell + "\"\n", "", 1, want},
		"a table of no tracker shows line ends as breaks": {"t.csv", "Key,Title,Description\nA-1,One,\"" + cell + "\"\n", "", 1, want},
		"Markdown within Jira":                            {"j.csv", "Issue key,Summary,Description\nA-1,One,\"**App**: 1\nPhone: 2\"\n", "", 1, `**App**: 1\Phone: 2`},
		"GitLab shows a blank":                            {"g.json", `[{"iid": 1, "title": "One", "web_url": "https://gitlab.com/a/b/-/issues/1", "description": "` + lines + `"}]`, "", 1, strings.ReplaceAll(want, `\`, "")},
		"a table without Markdown is plain text":          {"t.csv", "Key,Title,Description\nA-1,One,\"hello\n---\n# x *y* <b>\"\n", "", 1, `hello\---\\# x \*y\* \<b>`},
		"a table has the markup that the mapping says":    {"t.csv", "Key,Title,Description\nA-1,One,\"*x*\ny\"\n", "text: {markup: markdown}\n", 1, `*x*\y`},
		"tags of a table as text":                         {"t.csv", "Key,Title,Description\nA-1,One,\"Use <title> or <b>.\n\n**End**\"\n", "text: {markup: markdown}\n", 1, "Use &lt;title> or &lt;b>.**End**"},
		"tags in a text of Jira that is Markdown":         {"j.csv", "Summary,Issue key,Issue id,Issue Type,Status,Project key,Project name,Description\nOne,AB-1,1,Task,To Do,AB,Ab,\"Use <title> or <b>.\n\n**End**\"\n", "", 1, "Use &lt;title> or &lt;b>.**End**"},
		"GitHub shows allowed tags, and others as text":   {"i.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "body": "Use <title> or <b>x</b>.\n\n<script>\n\nEnd", "comments": []}]`, "", 1, "Use &lt;title> or <b>x</b>.&lt;script>End"},
		"an alert of GitHub becomes a quotation":          {"i.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "body": "> [!WARNING]\n> Hot", "comments": []}]`, "", 1, "> **Warning**>> Hot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _ := manifests(t, inline(t, tt.file, tt.text), tt.mapping)
			var flat strings.Builder
			for line := range strings.Lines(text) {
				flat.WriteString(strings.TrimSpace(line))
			}
			if got := strings.Count(flat.String(), tt.want); got != tt.times {
				t.Errorf("%d times %s in\n%s", got, tt.want, text)
			}
		})
	}
}

// Comments of issues that are not in the files are no silent loss.
func TestCommentsWithoutTheirIssueAreCounted(t *testing.T) {
	t.Parallel()
	const jira = `{"key": "A-1", "id": "1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}}}`
	for name, tt := range map[string]struct {
		f    fixture
		want string
	}{
		"GitHub": {inline(t, "i.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "comments": 1}, {"number": 3, "title": "PR", "html_url": "https://github.com/a/b/pull/3"}]`,
			"c.json", `[{"issue_url": "https://api.github.com/repos/a/b/issues/1", "body": "x", "id": 1}, {"issue_url": "https://api.github.com/repos/a/b/issues/2", "body": "y", "id": 2},
			{"issue_url": "https://api.github.com/repos/a/b/issues/3", "body": "z", "id": 3}, {"issue_url": "https://api.github.com/repos/a/b/issues/4", "html_url": "https://github.com/a/b/pull/4#issuecomment-4", "body": "z", "id": 4}]`), "1 [a/b#2]"},
		"Jira":   {inline(t, "i.json", jira, "c.json", `{"comments": [{"id": "1", "self": "https://x.atlassian.net/rest/api/2/issue/2/comment/1", "body": "x"}, {"id": "2", "self": "https://x.atlassian.net/rest/api/2/issue/2/comment/2", "body": "y"}], "startAt": 0, "total": 2}`), "2 [2]"},
		"GitLab": {inline(t, "i.json", `[{"iid": 1, "title": "One", "web_url": "https://gitlab.com/a/b/-/issues/1"}]`, "n.json", `[{"noteable_iid": 9, "body": "x", "id": 5}]`), "1 [#9]"}, //nolint:misspell // GitLab's word
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := manifests(t, tt.f, "")
			got := ""
			for _, l := range r.Losses {
				if l.Kind == "comments-outside" {
					got = fmt.Sprint(l.Count, " ", l.Items)
				}
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// What an issue names that is not in the export is named in its text, and in the report.
func TestParentsAndRelationsOutsideKeepTheirNames(t *testing.T) {
	t.Parallel()
	const rest = `{"key": "A-1", "self": "https://x.atlassian.net/rest/api/2/issue/1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"},
		"parent": {"id": "7", "key": "A-9", "fields": {"summary": "The | epic"}}, "issuelinks": [
		{"type": {"name": "Cloners", "inward": "is cloned by"}, "inwardIssue": {"key": "Z-9", "fields": {"summary": "Copy"}}},
		{"type": {"name": "Tests", "outward": "tests"}, "outwardIssue": {"key": "Q-1"}}]}}`
	const github = `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "parent_issue_url": "https://api.github.com/repos/a/c/issues/5", "comments": 0}]`
	for name, tt := range map[string]struct {
		f    fixture
		want []string
		to   string
	}{
		"Jira's REST API": {inline(t, "i.json", rest), []string{
			`| Parent | [A-9 The \| epic](https://x.atlassian.net/browse/A-9) |`, "| Is cloned by | [Z-9 Copy](https://x.atlassian.net/browse/Z-9) |",
			"| Tests (Tests) | [Q-1](https://x.atlassian.net/browse/Q-1) |",
		}, "[A-9 The | epic Q-1 Z-9 Copy]"},
		"Jira's CSV": {
			inline(t, "i.csv", "Summary,Issue key,Parent,Parent key,Parent summary,Inward issue link (Cloners),Attachment\nOne,A-1,7,A-9,The epic,Z-9,22/Sep/25 9:27 AM;u;n.txt;https://x.atlassian.net/rest/api/3/attachment/content/1\n"),
			[]string{"| Parent | [A-9 The epic](https://x.atlassian.net/browse/A-9) |", "| Is cloned by | [Z-9](https://x.atlassian.net/browse/Z-9) |"},
			"[A-9 The epic Z-9]",
		},
		"GitHub": {inline(t, "i.json", github), []string{"| Parent | [a/c#5](https://github.com/a/c/issues/5) |"}, "[a/c#5]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, r := manifests(t, tt.f, "")
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			var targets []string
			for _, l := range r.Losses {
				targets = append(targets, l.Targets...)
			}
			slices.Sort(targets)
			if got := fmt.Sprint(targets); got != tt.to {
				t.Errorf("%s, want %s", got, tt.to)
			}
		})
	}
}

// Estimates and the order of items are fields of items where the mapping wants it, and rows of the description where they do not fit.
func TestEstimatesAndOrderBecomeFieldsOfItems(t *testing.T) {
	t.Parallel()
	const csv = "Issue key,Summary,Custom field (Story Points),Custom field (Rank)\nA-1,One,3.0,0|i0001z:\nA-2,Two,13.0,0|hzzzzz:v\nA-3,Three,XL,?\n"
	for name, tt := range map[string]struct {
		mapping string
		want    []string
		not     []string
	}{
		"points become a field of the estimate": {"fields: {Story Points: estimate_point}\n", []string{
			"estimate_point: \"3\"}\n", "estimate_point: \"13\"}\n", "estimate_point: XL}\n", "type: categories, points: [{value: \"3\"}, {value: \"13\"}, {value: XL}]}\n",
		}, []string{"Story Points"}},
		"points become a number":                            {"fields: {Story Points: point}\n", []string{"point: 3\n", "| Story Points | 13.0 |", "| Story Points | XL |"}, []string{"estimates"}},
		"the rank becomes the order":                        {"fields: {Rank: sort_order}\n", []string{"sort_order: 50779981646784\n", "sort_order: 50779978327728\n"}, nil},
		"values that the mapping does not name become text": {"", []string{"| Story Points | 3.0 |"}, []string{"sort_order", "estimates"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _ := manifests(t, inline(t, "j.csv", csv), tt.mapping)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q is in\n%s", not, text)
				}
			}
		})
	}
}

// The old address of an item is a line of its text, unless the mapping says otherwise, or the conversion is older than that.
func TestTheOldAddressIsALineOfTheTextOrALink(t *testing.T) {
	t.Parallel()
	const line, link = "[#1 in GitHub](https://github.com/a/b/issues/1)", "title: \"#1 in GitHub\""
	file := inline(t, "i.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "comments": 0, "created_at": "2024-01-02T03:04:05Z"}]`)
	for name, tt := range map[string]struct {
		mapping, run string
		line, link   bool
		dates        string
	}{
		"a line links to the old issue":                          {line: true, dates: "2 Jan 2024"},
		"a link of the item leads to the old issue":              {mapping: "history: {link: link}\n", link: true, dates: "2 Jan 2024"},
		"neither a line nor a link is wanted":                    {mapping: "history: {dates: text, link: none}\n", dates: "2 Jan 2024"},
		"a full history has a line":                              {mapping: "history: full\n", line: true, dates: "created_at"},
		"an older conversion keeps its link":                     {mapping: "history: text\n", run: `{"format_version": 1, "files": {"old.yaml": "x"}}`, link: true, dates: "2 Jan 2024"},
		"an older conversion gets a line if the mapping says so": {mapping: "history: {link: text}\n", run: `{"format_version": 1, "files": {"old.yaml": "x"}}`, line: true, dates: "2 Jan 2024"},
		"a later run keeps the line":                             {mapping: "history: text\n", run: `{"format_version": 1, "files": {"old.yaml": "x"}, "link": "text"}`, line: true, dates: "2 Jan 2024"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, map[string]string{"mapping.yaml": "# planform mapping\n" + tt.mapping})
			if tt.run != "" {
				put(t, dir, map[string]string{".planform/convert.json": tt.run})
			}
			for range 2 {
				must(t, dir, file, nil)
				text := contents(t, dir)["b.yaml"]
				if strings.Contains(text, line) != tt.line || strings.Contains(text, link) != tt.link || !strings.Contains(text, tt.dates) {
					t.Error(text)
				}
			}
		})
	}
}

func TestWhatIsWrittenAsPeopleMeanIt(t *testing.T) {
	t.Parallel()
	const jira = `{"key": "A-1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "created": "2024-01-02T23:30:00.000-0500", "status": {"name": "Won't Do", "statusCategory": {"key": "done"}}}}`
	const plane = "ID,Project,Name,Description,State,Start Date,Target Date,Priority,Created By,Assignee,Labels,Cycle Name,Cycle Start Date,Cycle End Date,Module Name,Module Start Date,Module Target Date,Created At,Updated At,Completed At,Archived At\n" +
		"WEB-7,Website,Pay,,Done,,,high,ada,bob,red,Sprint,2024-01-01,2024-01-07,Shop,2024-01-01,2024-02-01,2024-01-02,2024-01-02,,\n"
	for name, tt := range map[string]struct {
		f    fixture
		want []string
	}{
		"a state that is not done":   {inline(t, "i.json", jira), []string{"name: Won't Do, group: cancelled", "2 Jan 2024, 23:30 UTC-5"}},
		"a page without its numbers": {inline(t, "i.json", `{"issues": [`+jira+`]}`), []string{"name: One"}},
		"a date of a CSV":            {inline(t, "i.csv", "Issue key,Summary,Resolved,Custom field (Signed),Description\nA-1,One,25/Jul/23 9:50 AM,26/Jul/23 9:50 AM,a&nbsp;b\n"), []string{"| Resolved | 2023-07-25 |", "| Signed | 2023-07-26 |", "a b"}},
		"an older export of Plane":   {inline(t, "i.csv", plane), []string{"key: WEB-7", "name: Website", "cycle: Sprint", "module: Shop", "priority: high"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, r := manifests(t, tt.f, "")
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if name == "an older export of Plane" && r.Source.Format != "plane" {
				t.Error(r.Source.Format)
			}
		})
	}
}

// What Plane has no place for is summed up in a comment where the mapping wants it, and is a loss otherwise.
func TestWhatPlaneHasNoPlaceForIsSummedUp(t *testing.T) {
	t.Parallel()
	const rest = `{"key": "A-1", "changelog": {"total": 1, "histories": [{"author": {"accountId": "u2", "displayName": "Bob"}, "created": "2024-01-03T10:00:00.000+0000", "items": [
		{"field": "status", "fromString": "To | do", "toString": "Done"}, {"field": "priority", "fromString": "Low", "toString": "High"}]}]},
		"fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}, "watches": {"watchCount": 3}, "votes": {"votes": 1},
		"worklog": {"total": 3, "worklogs": [{"author": {"accountId": "u1", "displayName": "Ada"}, "started": "2024-01-02T09:00:00.000+0000", "timeSpentSeconds": 5400, "comment": "Tried *it*"},
			{"author": {"accountId": "u2", "displayName": "Bob"}, "started": "2024-01-01T09:00:00.000+0000", "timeSpentSeconds": 3600}]}}}`
	const csv = "Issue key,Summary,Watchers,Watchers Id,Log Work\nA-1,One,Bob,u2,Tried; twice;02/Jan/24 9:00 AM;u1;5400\n"
	for name, tt := range map[string]struct {
		f       fixture
		summary string
		want    []string
		not     []string
		lost    string
	}{
		"without a summary the rest is lost": {inline(t, "i.json", rest), "off", nil, []string{"before the move"}, "history:2 votes:1 watchers:3 worklogs:3"},
		"a short summary counts": {inline(t, "i.json", rest), "short", []string{
			"**In Jira, before the move**", "- 2 work logs, 2h 30m: Ada 1h 30m, Bob 1h", "- 3 watchers", "- 1 vote\n", "- 2 changes, the last on 3 Jan 2024, 10:00 UTC",
		}, []string{"Tried"}, "worklogs:1"},
		"a full summary lists each entry": {inline(t, "i.json", rest), "full", []string{
			"| 1 Jan 2024, 09:00 UTC | Bob | 1h |  |", "| 2 Jan 2024, 09:00 UTC | Ada | 1h 30m | Tried **it** |",
			`| 3 Jan 2024, 10:00 UTC | Bob | status | To \| do | Done |`,
		}, nil, "worklogs:1"},
		"a summary of a CSV is the same": {inline(t, "i.csv", csv), "full", []string{"- 1 work log, 1h 30m: u1 1h 30m", "| 2 Jan 2024, 09:00 UTC | u1 | 1h 30m | Tried; twice |", "- 1 watcher: Bob"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, r := manifests(t, tt.f, "summary: "+tt.summary+"\n")
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q is in\n%s", not, text)
				}
			}
			var lost []string
			for _, l := range r.Losses {
				if strings.Contains("history votes watchers worklogs", l.Kind) {
					lost = append(lost, fmt.Sprintf("%s:%d", l.Kind, l.Count))
				}
			}
			slices.Sort(lost)
			if got := strings.Join(lost, " "); got != tt.lost {
				t.Errorf("%s, want %s", got, tt.lost)
			}
			if v := r.Values; v.Read != v.Carried+v.AsText+v.Decided+v.Lost {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestLabelsAreCountedByProject(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("Issue key,Project key,Summary,Status,Labels\nA-1,A,a,To Do,web\nB-1,B,b,To Do,web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(t, filepath.Join(t.TempDir(), "to"), fixture{files: []string{path}}, nil).Report
	if r.Counts.Labels != 2 || r.Carried.Labels != 2 {
		t.Errorf("%d of %d labels carried, want 2 of 2", r.Carried.Labels, r.Counts.Labels)
	}
}

// TestACharacterThatXMLForbidsStopsNoBackup: it is taken out and counted, as in JSON.
func TestACharacterThatXMLForbidsStopsNoBackup(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "entities.xml", `<entity-engine-xml><Project id="1" key="A" name="A"/><Status id="1" name="Open"/>`+
		"<Issue id=\"1\" key=\"A-1\" number=\"1\" project=\"1\" summary=\"O&#7;ne\" status=\"1\"><description>First\x08 and\x0b last</description></Issue></entity-engine-xml>"), "")
	for _, want := range []string{"name: One", "First and last"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !slices.ContainsFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "control-characters" && l.Count == 3 }) {
		t.Errorf("%+v", r.Losses)
	}
}
