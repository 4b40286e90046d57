package convert_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
)

// What was written is carried, and nothing else: each word is in what was written, or its field is named among the losses.
func TestTheAccountIsOfWhatWasWritten(t *testing.T) {
	t.Parallel()
	const jira = "Summary,Issue key,Issue id,Issue Type,Status,Project key,Project name,Created,"
	const bug = `{"id":1,"summary":"First","status":"NEW","product":"Shop","component":"Web","version":"1","creation_time":"2025-01-01T00:00:00Z","last_change_time":"2025-01-01T00:00:00Z","creator":"kim@example.com"`
	const board = `{"id":"b1","name":"B","url":"https://trello.com/b/abc","lists":[{"id":"l1","name":"Doing","closed":false,"pos":1}],"labels":[],"members":[],"checklists":[%s],"actions":[],"cards":[{"id":"c1","idShort":1,"name":"Card","desc":"","closed":false,"idList":"l1","idBoard":"b1","shortLink":"abc","url":"https://trello.com/c/abc","pos":1%s}]}`
	for name, tt := range map[string]struct {
		f       fixture
		written []string
		lost    map[string]string // words, by the fields that are named
	}{
		"the name and the status of an epic are rows": {
			f:       inline(t, "j.csv", jira+"Custom field (Epic Name),Custom field (Epic Status)\nCollect it,AB-1,1,Epic,To Do,AB,Ab,02/Jan/24 10:00 AM,ONBOARDING,Shelved\n"),
			written: []string{"Epic Name | ONBOARDING", "Epic Status | Shelved"},
		},
		"the name of an epic that is its title is no row": {
			f: inline(t, "j.csv", jira+"Custom field (Epic Name)\nCollect it,AB-1,1,Epic,To Do,AB,Ab,02/Jan/24 10:00 AM,Collect it\n"),
		},
		"a word longer than a line is found, and so is a title with a sign of HTML": {
			f:       inline(t, "t.csv", "Key,Title,Description\nA-1,a &lt; b,"+strings.Repeat("é", 900)+"\n"),
			written: []string{"&lt; b"},
		},
		"comments within a bug are read": {
			f: inline(t, "b.json", `{"bugs":[`+bug+`,"comments":[{"id":1,"bug_id":1,"count":0,"text":"zebra description","creator":"kim@example.com","time":"2025-01-01T00:00:00Z"},{"id":2,"bug_id":1,"count":1,"text":"zebra reply","creator":"lee@example.com","time":"2025-01-02T00:00:00Z"}],
				"attachments":[{"id":3,"bug_id":1,"file_name":"zebra.png","summary":"a picture"}]}]}`),
			written: []string{"zebra description", "text: zebra reply", "zebra.png", "a picture"},
		},
		"a checklist of a card that is not there is lost": {
			f:    inline(t, "t.json", fmt.Sprintf(board, `{"id":"k1","name":"Loose","idCard":"gone","checkItems":[{"name":"zebra step","state":"incomplete","pos":1}]}`, "")),
			lost: map[string]string{"of no item here: checklists.checkItems.name": "zebra step", "of no item here: checklists.name": "Loose"},
		},
		"a lost text is named, although the watchers of its issue are lost, too": {
			f:    inline(t, "j.json", `[{"key": "A-1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}, "watches": {"watchCount": 3}, "versions": [{"name": "1", "description": "zebra"}]}}]`),
			lost: map[string]string{"versions.description": "zebra"},
		},
		"a checklist without its card is lost by name, although a comment without its card is, too": {
			f: inline(t, "t.json", strings.Replace(fmt.Sprintf(board, `{"id":"k1","name":"Loose","idCard":"gone","checkItems":[]}`, ""),
				`"actions":[]`, `"actions":[{"id":"a1","type":"commentCard","date":"2025-01-02T00:00:00Z","idMemberCreator":"m","data":{"text":"zebra reply","card":{"id":"gone"}}}]`, 1)),
			lost: map[string]string{"of no item here: checklists.name": "Loose"},
		},
		"labels within a card are labels, and what people did to the board is no loss": {
			f: inline(t, "t.json", strings.Replace(fmt.Sprintf(board, "", `,"idLabels":["x1"],"labels":[{"id":"x1","idBoard":"b1","name":"quokka","color":"green"}]`),
				`"actions":[]`, `"actions":[{"id":"a2","type":"addMemberToBoard","date":"2025-01-02T00:00:00Z","idMemberCreator":"m","data":{"board":{"id":"b1"}}}]`, 1)),
			written: []string{`{name: quokka, color: "#4bce97"}`, "labels: [quokka]"},
		},
		"actions within a card are comments": {
			f:       inline(t, "t.json", fmt.Sprintf(board, "", `,"actions":[{"id":"a1","type":"commentCard","date":"2025-01-02T00:00:00Z","idMemberCreator":"m","data":{"text":"zebra reply","card":{"id":"c1"}}}]`)),
			written: []string{"text: zebra reply"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := must(t, dir, tt.f, nil).Report
			text := strings.ReplaceAll(written(t, dir), "\\", "")
			for _, want := range tt.written {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			for field, word := range tt.lost {
				if strings.Contains(text, word) || !slices.ContainsFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "values" && slices.Contains(l.Items, field) }) {
					t.Errorf("%q of %s: %+v", word, field, r.Losses)
				}
			}
			if len(tt.lost) == 0 && (r.Values.Lost > 0 || len(r.Losses) > 0 && r.Losses[0].Kind != "attachments") {
				t.Errorf("%+v %+v", r.Values, r.Losses)
			}
		})
	}
}

// A child that the export does not have is named, as a parent is.
func TestChildrenThatAreNotInTheExportAreNamed(t *testing.T) {
	t.Parallel()
	const issue = `{"key":"AB-1","self":"https://j.example.com/rest/api/2/issue/1","fields":{"summary":"First","status":{"name":"To Do"},"project":{"key":"AB","name":"Ab"},
		"subtasks":[{"id":"9","key":"AB-9","fields":{"summary":"a child","status":{"name":"To Do"}}}]}}`
	const child = `{"key":"AB-9","self":"https://j.example.com/rest/api/2/issue/9","fields":{"summary":"a child","status":{"name":"To Do"},"project":{"key":"AB","name":"Ab"},"parent":{"key":"AB-1"}}}`
	const linear = `{"data":{"issues":{"nodes":[{"identifier":"AB-1","title":"First","state":{"name":"Todo"},"children":{"nodes":[{"identifier":"AB-9","title":"a child"}]}}%s]}}}`
	for file, lost := range map[string]int{
		"[" + issue + "]": 1, "[" + issue + "," + child + "]": 0,
		fmt.Sprintf(linear, ""): 1, fmt.Sprintf(linear, `,{"identifier":"AB-9","title":"a child","state":{"name":"Todo"},"parent":{"identifier":"AB-1"}}`): 0,
	} {
		text, r := manifests(t, inline(t, "j.json", file), "")
		if got := slices.ContainsFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "items-not-exported" && l.Count == 1 }); got != (lost == 1) {
			t.Errorf("%+v", r.Losses)
		}
		if strings.Contains(strings.ReplaceAll(text, "[", ""), "| Child | AB-9 a child") != (lost == 1) {
			t.Error(text)
		}
	}
}

// The ID of a thing that has a name is no loss, whatever the query of the API asked for.
func TestAnIDBesideANameIsNoLoss(t *testing.T) {
	t.Parallel()
	const issue = `[{"identifier":"AB-1","title":"First","state":{"id":"s1","name":"Todo"},"project":{"id":"p1","name":"Relaunch"},"cycle":{"id":"c1","number":1,"name":"Spring"}}]`
	_, r := manifests(t, inline(t, "linear.json", issue), "")
	if r.Values.Lost > 0 || len(r.Losses) > 0 {
		t.Errorf("%+v %+v", r.Values, r.Losses)
	}
}

// The REST API says of each issue and comment where its reactions are, if nobody reacted, too.
func TestTheAddressOfReactionsIsNoLoss(t *testing.T) {
	t.Parallel()
	const none = `"reactions": {"url": "https://api.github.com/repos/a/b/issues/1/reactions", "total_count": 0, "+1": 0}`
	_, r := manifests(t, inline(t, "1.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "comments": 1, `+none+`}]`,
		"2.json", `[{"id": 7, "issue_url": "https://api.github.com/repos/a/b/issues/1", "body": "Yes", "user": {"login": "kim"}, "created_at": "2025-02-03T10:00:00Z", `+none+`}]`), "people: {'*': text}\n")
	if r.Values.Lost > 0 || len(r.Losses) > 0 {
		t.Errorf("%+v %+v", r.Values, r.Losses)
	}
}

// The first comment of a bug is its description, and a file that is called as it is described has its name: neither is a loss.
func TestBugsOfAnOlderBugzillaLoseNothing(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "1.json", `{"bugs":[{"id":1,"summary":"One","product":"Web","status":"NEW","creator":"ada@example.com","last_change_time":"2016-06-07T00:00:00Z"}]}`,
		"2.json", `{"bugs":{"1":{"comments":[{"bug_id":1,"id":5,"creator":"ada@example.com","creation_time":"2016-05-17T09:44:44Z","is_private":false,"text":"The first"},
			{"bug_id":1,"id":6,"creator":"bob@example.com","creation_time":"2016-05-18T09:44:44Z","is_private":false,"text":"The second"}]}},"comments":{}}`,
		"3.json", `{"attachments":{},"bugs":{"1":[{"bug_id":1,"id":8,"file_name":"a.zip","description":"a.zip","summary":"a.zip","is_private":0}]}}`), "source: {site: 'https://bugs.example.com'}\n")
	if r.Values.Lost > 0 || strings.Contains(text, "no object") || !strings.Contains(text, "description: |-\n          The first") {
		t.Errorf("%+v %s", r.Values, text)
	}
}

// Rows of one key in one file are one if they are equal, and otherwise further rows are lost by name.
func TestOfSeveralRowsOfOneKeyNoneIsDroppedInSilence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rows string
		lost int
	}{
		"rows with one key that differ are lost": {"A-1,One,Open,kim,first\nA-1,One,Open,lee,second\nA-1,One,Open,kim,third\nA-2,Two,Open,,\n", 2},
		"equal rows are no loss":                 {"A-1,One,Open,kim,first\nA-1,One,Open,kim,first\nA-2,Two,Open,,\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := manifests(t, inline(t, "t.csv", "ID,Title,Status,Comment by,Remark\n"+tt.rows), "columns: {Comment by: text, Remark: text}\n")
			got := 0
			for _, l := range r.Losses {
				if l.Kind == "doubles" {
					got = l.Count
				}
			}
			if got != tt.lost || r.Counts.Items != 2+tt.lost || r.Carried.Items != 2 {
				t.Errorf("%d lost, %+v of %+v", got, r.Carried, r.Counts)
			}
		})
	}
}

// The later state of an issue says nothing of the columns that its file lacks.
func TestTheEarlierStateOfAnIssueIsNamedIfTheLaterFileLacksItsColumns(t *testing.T) {
	t.Parallel()
	const head = "Summary,Issue key,Issue id,Issue Type,Status,Updated,Priority"
	_, r := manifests(t, inline(t, "1.csv", head+",Sprint\nOne,A-1,1,Story,Done,01/Jan/26 9:00 AM,High,Sprint 1\n",
		"2.csv", head+"\nOne,A-1,1,Story,Done,02/Jan/26 9:00 AM,\nTwo,A-2,2,Story,Done,02/Jan/26 9:00 AM,High\n"), "")
	if r.Values.Lost != 1 || !slices.ContainsFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "values" && slices.Equal(l.Items, []string{"Sprint"}) }) {
		t.Errorf("%d lost, %+v", r.Values.Lost, r.Losses)
	}
}

// A value that the writer of its own part did not write is not carried because another part has the same words.
func TestAValueIsNotCarriedByWordsElsewhere(t *testing.T) {
	t.Parallel()
	const github = `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "body": "Empty the cart first", "user": {"login": "kim"}, "assignees": [{"login": "lee"}],
		"comments": [{"id": 7, "body": "Empty the cart first", "user": {"login": "robot"}, "created_at": "2025-02-03T10:00:00Z"}, {"id": 8, "body": "Ask lee", "user": {"login": "kim"}, "created_at": "2025-02-04T10:00:00Z"}]}]`
	const redmine = `{"issues": [{"id": 1, "subject": "One", "tracker": {"id": 1, "name": "Bug"}, "project": {"id": 1, "name": "Web"}, "watchers": [{"id": 7, "name": "Kim Lee"}],
		"journals": [{"id": 3, "user": {"id": 8, "name": "Lou Ray"}, "created_on": "2025-01-02T00:00:00Z", "details": [{"property": "attr", "name": "status_id", "old_value": "1", "new_value": "2"}]}]}]}`
	const gitlab = "Title,Description,Issue ID,URL,State,Author,Author Username,Assignee,Assignee Username,Confidential,Locked,Due Date,Created At (UTC),Updated At (UTC),Closed At (UTC),Milestone,Weight,Labels,Time Estimate,Time Spent\n" +
		"One,Text,1,https://gitlab.com/a/b/-/issues/1,Open,Kim,kim,\"Kim, Lou\",\"kim, lou\",No,No,,2025-01-02 00:00:00,2025-01-02 00:00:00,,,,\"hot, cold\",0,0\n"
	const jiraComment = "Summary,Issue key,Issue id,Issue Type,Status,Comment\nOne,A-1,1,Story,Done,02/Jan/24 10:00 AM;kim;Looks good\n"
	const planeComments = "ID,Project Identifier,Sequence ID,Name,Comments\nA-1,A,1,One,\"[{\"\"comment\"\": \"\"Yes\"\", \"\"created_by\"\": \"\"Kim\"\"}, {\"\"comment\"\": \"\"Built\"\", \"\"created_by\"\": \"\"Robot\"\"}]\"\n"
	const state = `[{"issue_url": "https://api.github.com/repos/a/b/issues/1", "id": 7, "body": "zebra %s", "user": {"login": "kim"}, "created_at": "2025-02-03T10:00:00Z", "updated_at": "2025-02-0%dT10:00:00Z"}]`
	for name, tt := range map[string]struct {
		f       fixture
		mapping string
		field   string
		want    convert.ValueCount
	}{
		"of two fields for one estimate the second is lost, although both are 3": {
			inline(t, "t.csv", "Key,Title,Points,Effort\nA-1,One,3,3\n"), "columns: {Points: text, Effort: text}\nfields: {Points: estimate_point, Effort: estimate_point}\n", "Effort", convert.ValueCount{Lost: 1},
		},
		"a label that the mapping skips is left out, although the title is equal": {
			inline(t, "t.csv", "Key,Title,Labels\nA-1,Hot,Hot\n"), "labels: {skip: [Hot]}\n", "Labels", convert.ValueCount{Decided: 1},
		},
		"of two due dates the one that is not taken is lost, although the start is equal": {
			inline(t, "t.csv", "Key,Title,Start,Due,Deadline\nA-1,One,2025-03-01,2025-03-09,2025-03-01\n"), "columns: {Deadline: target_date}\n", "Deadline", convert.ValueCount{Lost: 1},
		},
		"an assignee without a name is lost, although a comment names the person": {
			inline(t, "g.json", github), "people: {'*': anonymous}\n", "assignees.login", convert.ValueCount{Lost: 1},
		},
		"the author of a comment is left out, if the mapping makes everybody anonymous": {
			inline(t, "g.json", github), "people: {'*': anonymous}\n", "comments.user.login", convert.ValueCount{Decided: 2},
		},
		"the author of a comment is left out, if the mapping wants no header": {
			inline(t, "g.json", github), "comments: {header: ''}\npeople: {'*': text}\n", "comments.user.login", convert.ValueCount{Decided: 2},
		},
		"the date of a comment is left out, if the mapping wants no header": {
			inline(t, "g.json", github), "comments: {header: ''}\npeople: {'*': text}\n", "comments.created_at", convert.ValueCount{Decided: 2},
		},
		"a project besides the first one is left out, if the mapping skips the row that names it": {
			inline(t, "a.csv", "Task ID,Created At,Completed At,Last Modified,Name,Section/Column,Assignee,Assignee Email,Start Date,Due Date,Tags,Notes,Projects,Parent task\n7,2025-01-02,,2025-01-03,One,To do,,,,,,Note,\"Web, Shop\",\n"),
			"fields: {Projects: skip}\n", "Projects",
			convert.ValueCount{Decided: 1},
		},
		"a second name of a project is lost": {
			inline(t, "p.json", `[{"project_name": "Shop", "project_identifier": "A", "identifier": "A-1", "cycles": [], "modules": [], "sequence_id": 1, "name": "One"}, {"project_name": "Store", "project_identifier": "A", "identifier": "A-2", "cycles": [], "modules": [], "sequence_id": 2, "name": "Two"}]`),
			"", "project_name",
			convert.ValueCount{Carried: 1, Lost: 1},
		},
		"who voted is lost, although the number of votes is in a text": {
			fixture{files: []string{filepath.Join("testdata", "bitbucket", "db-2.0.json")}}, "summary: full\n", "voters.account_id", convert.ValueCount{Lost: 1},
		},
		"the time at which a later change replaced a change is of use to the tracker only": {
			fixture{files: []string{filepath.Join("testdata", "azure-items.json"), filepath.Join("testdata", "azure-updates.json")}}, "summary: full\n", "updates.revisedDate", convert.ValueCount{Decided: 2},
		},
		"a person who reported an issue is left out, too": {
			inline(t, "g.json", github), "people: {'*': anonymous}\n", "user.login", convert.ValueCount{Decided: 1},
		},
		"a comment of a bot is lost, although the description has its words": {
			inline(t, "g.json", github), "people: {robot: bot, '*': text}\n", "comments.body", convert.ValueCount{Carried: 1, Lost: 1},
		},
		"a long comment without an ID is carried": {
			inline(t, "g.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "comments": [{"body": "<b>Note</b> `+strings.Repeat("that the cart is empty ", 9)+`", "user": {"login": "kim"}}]}]`),
			"people: {'*': text}\n", "comments.body",
			convert.ValueCount{Carried: 1},
		},
		"of several pages those whose address Plane refuses are lost": {
			inline(t, "b.json", `{"bugs": [{"id": 7, "summary": "One", "product": "Shop", "see_also": ["https://example.com/`+strings.Repeat("a-long-way/", 9)+`", "file:///share/plan", "no address"]}]}`),
			"", "see_also",
			convert.ValueCount{Carried: 1, Lost: 2},
		},
		"of two titles of one page the second is lost": {
			inline(t, "p.json", `[{"project_name": "Shop", "project_identifier": "A", "identifier": "A-1", "cycles": [], "modules": [], "sequence_id": 1, "name": "One", "links": [{"url": "https://example.com", "title": "Plan"}, {"url": "https://example.com", "title": "Drawing"}]}]`),
			"", "links.title",
			convert.ValueCount{Carried: 1, Lost: 1},
		},
		"a former sprint is lost, although its name is long or looks like markup": {
			inline(t, "j.csv", "Summary,Issue key,Issue id,Issue Type,Status,Sprint,Sprint,Sprint\nOne,A-1,1,Story,Done,Sprint <1>,"+strings.Repeat("Long ", 30)+",Sprint 3\n"),
			"", "Sprint",
			convert.ValueCount{Carried: 1, Lost: 2},
		},
		"a state whose name looks like markup is carried": {
			inline(t, "t.csv", "Key,Title,Status\nA-1,One,Open <1>\n"), "states: {Open <1>: Todo}\n", "Status", convert.ValueCount{Carried: 1},
		},
		"the author of a comment in a record of its own is left out, too": {
			fixture{files: []string{filepath.Join("testdata", "gitlab.json"), filepath.Join("testdata", "gitlab-notes.json")}}, "people: {'*': anonymous}\n", "author.name", convert.ValueCount{Decided: 4},
		},
		"a comment of a bot in the row of its issue is lost": {
			inline(t, "p.csv", "Id,Title,Labels,Iteration,Type,Estimate,Priority,Current State,Created at,Requested By,Description,URL,Owned By,Comment,Comment\n7,One,,,feature,,,started,\"Mar 1, 2024\",,,https://www.pivotaltracker.com/story/show/7,,\"Looks good. (Bob M. - Mar 5, 2024)\",\"Built. (Robot - Mar 6, 2024)\"\n"),
			"people: {Robot: bot, '*': text}\n", "Comment",
			convert.ValueCount{Carried: 1, Lost: 1},
		},
		"a comment of a bot in a list of its issue is lost": {
			inline(t, "p.json", `[{"project_name": "Shop", "project_identifier": "A", "identifier": "A-1", "cycles": [], "modules": [], "sequence_id": 1, "name": "One", "comments": [{"comment": "Yes", "created_by": "Kim"}, {"comment": "Built", "created_by": "Robot"}]}]`),
			"people: {Robot: bot, '*': text}\n", "comments.comment",
			convert.ValueCount{Carried: 1, Lost: 1},
		},
		"a cell with a comment and its author is left out, if the mapping makes everybody anonymous": {
			inline(t, "j.csv", jiraComment), "people: {'*': anonymous}\n", "Comment", convert.ValueCount{Decided: 1},
		},
		"a cell with a comment and its date is left out, if the mapping wants no date": {
			inline(t, "j.csv", jiraComment), "comments: {header: '{author}'}\npeople: {'*': text}\n", "Comment", convert.ValueCount{Decided: 1},
		},
		"a cell with a comment, its author and its date is carried, if all three are written": {
			inline(t, "j.csv", jiraComment), "people: {'*': text}\n", "Comment", convert.ValueCount{Carried: 1},
		},
		"a cell with a long comment and its author is left out, if the mapping wants no header": {
			inline(t, "p.csv", "Id,Title,Labels,Iteration,Type,Estimate,Priority,Current State,Created at,Requested By,Description,URL,Owned By,Comment\n7,One,,,feature,,,started,\"Mar 1, 2024\",,,https://www.pivotaltracker.com/story/show/7,,\""+strings.Repeat("Looks good. ", 20)+"(Bob M. - Mar 5, 2024)\"\n"),
			"comments: {header: ''}\npeople: {'*': text}\n", "Comment",
			convert.ValueCount{Decided: 1},
		},
		"of several comments in a cell the one of a bot is lost": {
			inline(t, "p.csv", planeComments), "people: {Robot: bot, '*': text}\n", "Comments", convert.ValueCount{Lost: 1},
		},
		"a cell with comments and their authors is left out, if the mapping makes everybody anonymous": {
			inline(t, "p.csv", planeComments), "people: {'*': anonymous}\n", "Comments", convert.ValueCount{Decided: 1},
		},
		"the author of a comment in a list of its issue is left out, if the mapping wants no header": {
			inline(t, "p.json", `[{"project_name": "Shop", "project_identifier": "A", "identifier": "A-1", "cycles": [], "modules": [], "sequence_id": 1, "name": "One", "comments": [{"comment": "Yes", "created_by": "Kim"}]}]`),
			"comments: {header: ''}\npeople: {'*': text}\n", "comments.created_by",
			convert.ValueCount{Decided: 1},
		},
		"an older text of a comment is left out, if another file has a newer one": {
			inline(t, "a.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "comments": 1}]`, "b.json", fmt.Sprintf(state, "new", 5), "c.json", fmt.Sprintf(state, "old", 4)),
			"people: {'*': text}\n", "comments.body",
			convert.ValueCount{Carried: 1, Decided: 1},
		},
		"a text of a comment is carried from each file that has it": {
			inline(t, "a.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "comments": 1}]`, "b.json", fmt.Sprintf(state, "new", 5), "c.json", fmt.Sprintf(state, "new", 4)),
			"people: {'*': text}\n", "comments.body",
			convert.ValueCount{Carried: 2},
		},
		"a type of relations that the mapping skips is lost, although the mapping names it": {
			inline(t, "j.json", `[{"key": "A-1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}, "issuelinks": [{"type": {"name": "Cloners"}, "outwardIssue": {"key": "A-2"}}]}},
				{"key": "A-2", "fields": {"summary": "Two", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}}}]`),
			"links: {Cloners: skip}\n", "issuelinks.type.name",
			convert.ValueCount{Lost: 1},
		},
		"the names of watchers are left out, if the mapping makes everybody anonymous": {
			inline(t, "r.json", redmine), "people: {'*': anonymous}\nsummary: full\n", "watchers.name", convert.ValueCount{Decided: 1},
		},
		"the number of watchers is in a text, and who they are is left out, if nobody has a name": {
			inline(t, "j.json", `[{"key": "A-1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}, "watches": {"watchCount": 3}}}]`),
			"people: {'*': anonymous}\nsummary: full\n", "watches.watchCount",
			convert.ValueCount{AsText: 1},
		},
		"who changed an issue is left out, if the mapping makes everybody anonymous": {
			inline(t, "r.json", redmine), "people: {'*': anonymous}\nsummary: full\n", "changes: journals.user.name", convert.ValueCount{Decided: 1},
		},
		"a number that a change shows as a name is left out": {
			inline(t, "r.json", strings.Replace(redmine, `"journals"`, `"status": {"id": 2, "name": "Open"}, "journals"`, 1)), "summary: full\n", "journals.details.new_value", convert.ValueCount{Decided: 1},
		},
		"a number that a change shows as such is in a text": {
			inline(t, "r.json", redmine), "summary: full\n", "journals.details.new_value", convert.ValueCount{AsText: 1},
		},
		"the name of a field that a change shows in other words is left out": {
			inline(t, "r.json", redmine), "summary: full\n", "journals.details.name", convert.ValueCount{Decided: 1},
		},
		"the kind of a change in Redmine is of use to the tracker only": {
			inline(t, "r.json", redmine), "summary: full\n", "journals.details.property", convert.ValueCount{Decided: 1},
		},
		"the login of a comment's author is left out, if the name is written": {
			inline(t, "y.json", `[{"idReadable": "A-1", "summary": "One", "comments": [{"id": "7", "text": "Yes", "author": {"login": "kim", "fullName": "Kim Lee"}, "created": 1790760000000}]}]`),
			"people: {'*': text}\n", "comments.author.login",
			convert.ValueCount{Decided: 1},
		},
		"the name of a comment's author is carried, if everybody is text": {
			inline(t, "y.json", `[{"idReadable": "A-1", "summary": "One", "comments": [{"id": "7", "text": "Yes", "author": {"login": "kim", "fullName": "Kim Lee"}, "created": 1790760000000}]}]`),
			"people: {'*': text}\n", "comments.author.fullName",
			convert.ValueCount{Carried: 1},
		},
		"of several assignees in a cell the one who is lost counts": {
			inline(t, "g.csv", gitlab), "people: {Kim: kim@example.com, '*': anonymous}\n", "Assignee", convert.ValueCount{Lost: 1},
		},
		"of several labels in a cell the one that the mapping skips counts": {
			inline(t, "g.csv", gitlab), "labels: {skip: [cold]}\npeople: {'*': text}\n", "Labels", convert.ValueCount{Decided: 1},
		},
		"a type that the mapping skips is left out": {
			inline(t, "t.csv", "Key,Title,Type\nA-1,One,Bug\nA-2,Two,Task\n"), "types: {Bug: skip}\n", "Type", convert.ValueCount{Carried: 1, Decided: 1},
		},
		"a type of JSON that the mapping skips is left out": {
			inline(t, "r.json", redmine), "types: {Bug: skip}\npeople: {'*': text}\n", "tracker.name", convert.ValueCount{Decided: 1},
		},
		"the date of a comment of a bot is lost, too": {
			inline(t, "g.json", github), "people: {robot: bot, '*': text}\n", "comments.created_at", convert.ValueCount{Carried: 1, Lost: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := manifests(t, tt.f, tt.mapping)
			n := slices.IndexFunc(r.Values.Fields, func(v convert.ValueCount) bool { return v.Name == tt.field })
			if n < 0 {
				t.Fatalf("no %s in %+v", tt.field, r.Values.Fields)
			}
			got := r.Values.Fields[n]
			if got.Carried != tt.want.Carried || got.AsText != tt.want.AsText || got.Decided != tt.want.Decided || got.Lost != tt.want.Lost {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// Of two texts of one comment the newer one is written, in whichever file it is.
func TestOfTwoTextsOfOneCommentTheNewerCounts(t *testing.T) {
	t.Parallel()
	const issue = `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "comments": 1}]`
	const comment = `[{"issue_url": "https://api.github.com/repos/a/b/issues/1", "id": 7, "body": "%s", "user": {"login": "kim"}, "created_at": "2025-02-03T10:00:00Z"%s}]`
	newer := fmt.Sprintf(comment, "zebra new", `, "updated_at": "2025-02-05T10:00:00Z"`)
	older := fmt.Sprintf(comment, "zebra old", `, "updated_at": "2025-02-04T10:00:00Z"`)
	for name, tt := range map[string]struct{ first, second, want string }{
		"the first is newer":                        {newer, older, "zebra new"},
		"the second is newer":                       {older, newer, "zebra new"},
		"without a time of change the later file's": {fmt.Sprintf(comment, "zebra old", ""), fmt.Sprintf(comment, "zebra new", ""), "zebra new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _ := manifests(t, inline(t, "a.json", issue, "b.json", tt.first, "c.json", tt.second), "people: {'*': text}\n")
			if !strings.Contains(text, tt.want) || strings.Contains(text, "zebra old") {
				t.Error(text)
			}
		})
	}
}

// Labels and milestones that no issue has do not arrive, so the report names each.
func TestLabelsAndMilestonesOfNoIssueAreNamed(t *testing.T) {
	t.Parallel()
	const labels, milestone = `[{"name": "hot", "color": "ffffff", "default": false, "node_id": "x"}, {"name": "quokka", "color": "ffffff", "default": false, "node_id": "y"}]`,
		`[{"number": 1, "title": "zebra", "html_url": "https://github.com/a/b/milestone/1"}, {"number": 2, "title": "Next", "html_url": "https://github.com/a/b/milestone/2"}]`
	for name, tt := range map[string]struct {
		f    fixture
		want string
	}{
		"GitHub": {inline(t, "i.json", `[{"number": 1, "title": "One", "html_url": "https://github.com/a/b/issues/1", "labels": [{"name": "hot"}], "milestone": {"title": "Next"}}]`, "l.json", labels, "m.json", milestone), "labels, lists, milestones and components that no issue has, which are left out (2) [quokka zebra]"},
		"GitLab, whose report does not show what a confidential issue may have": {fixture{files: []string{filepath.Join("testdata", "gitlab-export")}}, "labels, lists, milestones and components that no issue has, which are left out (1) []"},
		"Trello": {inline(t, "t.json", `{"id": "b", "name": "B", "shortLink": "s", "labelNames": {}, "labels": [{"id": "x", "name": "quokka", "color": "green"}], "lists": [{"id": "l", "name": "To do"}, {"id": "m", "name": "zebra"}],
			"cards": [{"id": "c", "idBoard": "b", "idList": "l", "idShort": 1, "shortLink": "x", "name": "One"}]}`), "labels, lists, milestones and components that no issue has, which are left out (2) [quokka zebra]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			_, r := manifests(t, tt.f, "")
			for _, n := range r.Notes {
				if n.Kind == "unused" {
					got = append(got, fmt.Sprint(n.Text, " ", n.Items))
				}
			}
			if got := strings.Join(got, "; "); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestADateOfACommentThatCannotBeReadIsALossAlsoInAFileOfComments(t *testing.T) {
	t.Parallel()
	const issue = `[{"number": 1, "title": "One", "state": "open", "url": "https://api.github.com/repos/o/r/issues/1", "html_url": "https://github.com/o/r/issues/1"}]`
	const comment = `[{"id": 7, "body": "Hi", "created_at": "soon", "issue_url": "https://api.github.com/repos/o/r/issues/1", "html_url": "https://github.com/o/r/issues/1#issuecomment-7"}]`
	_, r := manifests(t, inline(t, "issues.json", issue, "comments.json", comment), "")
	if !slices.ContainsFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "dates-not-understood" && l.Count == 1 }) {
		t.Errorf("%+v", r.Losses)
	}
}

func TestABackupHidesCommentsForAGroupOfAnyNameAndNamesEachColumnOfAField(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "entities.xml", `<entity-engine-xml><Project id="1" key="A" name="A"/><CustomField id="3" name="Notes"/>
		<Issue id="1" key="A-1" number="1" project="1" summary="One"/>
		<Action id="4" issue="1" type="comment" body="Hidden" actionlevel="false"/><Action id="5" issue="1" type="comment" body="Hidden, too" rolelevel="0"/>
		<CustomFieldValue id="6" issue="1" customfield="3" textvalue="Long" stringvalue="Short"/></entity-engine-xml>`), "")
	named := slices.ContainsFunc(r.Values.Fields, func(f convert.ValueCount) bool {
		return f.Name == "reference.CustomFieldValue.textvalue" && f.Decided == 1
	})
	if strings.Contains(text, "Hidden") || !strings.Contains(text, "| Notes | Short |") || !named {
		t.Errorf("%+v\n%s", r.Values.Fields, text)
	}
}

func TestWhatALaterRecordOfAnIssueTakesFromTheEarlierOneIsNoLoss(t *testing.T) {
	t.Parallel()
	const record = `{"issues": [{"key": "AB-1", "id": "10", "fields": {"summary": "One", "status": {"name": "Open"}, "updated": "2024-0%d-01T00:00:00.000+0000"%s}}]}`
	earlier := fmt.Sprintf(record, 1, `, "attachment": [{"id": "5", "filename": "a.png"}], "parent": {"key": "AB-2"}, "duedate": "2024-05-05",
		"comment": {"comments": [{"id": "1", "body": "Hi", "created": "2024-01-01T00:00:00.000+0000", "author": {"name": "kim"}}]}`)
	for _, files := range [][2]string{{earlier, fmt.Sprintf(record, 2, "")}, {fmt.Sprintf(record, 2, ""), earlier}} {
		_, r := manifests(t, inline(t, "1.json", files[0], "2.json", files[1]), "")
		n := slices.IndexFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "values" })
		if n < 0 || !slices.Equal(r.Losses[n].Items, []string{"duedate"}) || r.Carried.Comments != 1 {
			t.Errorf("%+v", r.Losses)
		}
	}
}
