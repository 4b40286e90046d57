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

// TestWhatAnswersOfAPIsMean: an answer holds what the tracker shows, not how it keeps it.
func TestWhatAnswersOfAPIsMean(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, mapping string
		want, not     []string // in manifests
		note          string   // of that kind
	}{
		"Redmine: private issues, if they are wanted": {
			text:    `{"issues": [{"id": 1, "subject": "Secret", "tracker": {"id": 1, "name": "Bug"}, "project": {"id": 1, "name": "Web"}, "is_private": true}], "total_count": 1, "offset": 0}`,
			mapping: "columns: {is_private: skip}\n", want: []string{"name: Secret"}, note: "no-comments",
		},
		"Redmine: a child that is not in the export": {
			text: `[{"id": 1, "subject": "One", "tracker": {"id": 1, "name": "Bug"}, "project": {"id": 1, "name": "Web"}, "children": [{"id": 9, "subject": "Nine", "tracker": {"id": 1, "name": "Bug"}}]}]`,
			want: []string{"Nine"}, note: "items-not-exported",
		},
		"Redmine: a page that is missing": {
			text: `{"issues": [{"id": 1, "subject": "One", "tracker": {"id": 1, "name": "Bug"}, "project": {"id": 1, "name": "Web"}}], "total_count": 7, "offset": 0}`,
			note: "pages-missing",
		},
		"Redmine: a state that is closed wherever it is": {
			text: `[{"id": 1, "subject": "One", "tracker": {"id": 1, "name": "Bug"}, "project": {"id": 1, "name": "Web"}, "status": {"id": 5, "name": "Cerrada"}, "closed_on": "2025-01-01T00:00:00Z"}]`,
			want: []string{"{name: Cerrada, group: completed}"},
		},
		"Redmine: an issue without a time at which it was closed is open": {
			text: `[{"id": 1, "subject": "One", "tracker": {"id": 1, "name": "Bug"}, "project": {"id": 1, "name": "Web"}, "status": {"id": 5, "name": "Wartend"}, "closed_on": ""}]`,
			want: []string{"{name: Wartend}"},
		},
		"Redmine: what is closed is done, whatever its name": {
			text: `[{"id": 1, "subject": "One", "tracker": {"id": 1, "name": "Bug"}, "project": {"id": 1, "name": "Web"}, "status": {"id": 5, "name": "Feedback", "is_closed": true}}]`,
			want: []string{"{name: Feedback, group: completed}"},
		},
		"Azure: a day that somebody east of Greenwich entered": {
			text:    `{"id": 1, "fields": {"System.Title": "One", "System.TeamProject": "Web", "Microsoft.VSTS.Scheduling.DueDate": "2025-11-29T23:00:00Z", "Microsoft.VSTS.Scheduling.StartDate": "2025-11-01T00:00:00Z"}}`,
			mapping: "source: {timezone: Europe/Berlin}\n", want: []string{"target_date: 2025-11-30", "start_date: 2025-11-01"},
		},
		"Azure: a comment that was deleted": {
			text: `[{"id": 1, "fields": {"System.Title": "One", "System.TeamProject": "Web"}}, {"workItemId": 1, "id": 5, "text": "gone", "isDeleted": true}]`,
			want: []string{"name: One"}, not: []string{"gone"},
		},
		"Azure: fields in HTML are parts of the text": {
			text: `{"id": 1, "fields": {"System.Title": "One", "System.TeamProject": "Web", "Custom.TestPlan": "<p>Look</p>", "Custom.Team": "Blue"}}`,
			want: []string{"## Test Plan", "| Team | Blue |"},
		},
		"YouTrack: the address of a file begins with the tracker's": {
			text:    `{"idReadable": "A-1", "summary": "One", "attachments": [{"id": "8-1", "name": "a.png", "url": "/youtrack/api/files/8-1?sign=x"}]}`,
			mapping: "source: {site: 'https://example.com/youtrack'}\n", want: []string{"https://example.com/youtrack/api/files/8-1?sign=x", "https://example.com/youtrack/issue/A-1"},
		},
		"YouTrack: of a link with two ends each says what the other is": {
			text: `[{"idReadable": "A-1", "summary": "One", "links": [{"direction": "OUTWARD", "linkType": {"name": "Duplicate"}, "issues": [{"idReadable": "A-2"}]}]},
				{"idReadable": "A-2", "summary": "Two", "links": [{"direction": "INWARD", "linkType": {"name": "Duplicate"}, "issues": [{"idReadable": "A-1"}]}, {"direction": "OUTWARD", "linkType": {"name": "Depend"}, "issues": [{"idReadable": "A-3"}]}]},
				{"idReadable": "A-3", "summary": "Three", "links": [{"direction": "INWARD", "linkType": {"name": "Subtask"}, "issues": [{"idReadable": "A-1"}]}]}]`,
			want: []string{"relations: {duplicate: [a/A-2]}", "relations: {blocking: [a/A-3]}", "parent: A-1"},
		},
		"YouTrack: an article is no issue": {
			text: `[{"idReadable": "A-1", "summary": "One"}, {"idReadable": "A-A-1", "summary": "How to", "content": "Press it", "project": {"shortName": "A"}}]`,
			want: []string{"name: One"}, not: []string{"How to"}, note: "values",
		},
		"YouTrack: reactions and an issue elsewhere are carried or named": {
			text: `[{"idReadable": "A-1", "summary": "One", "externalIssue": {"name": "X-7", "url": "https://x.example/7"},
				"comments": [{"id": "4-1", "text": "Yes", "reactions": [{"reaction": "thumbs-up"}]}]}]`,
			want: []string{"| External issue | X-7 |", `url: "https://x.example/7"`}, note: "values",
		},
		"YouTrack: a moment that is a custom field": {
			text: `{"idReadable": "A-1", "summary": "One", "customFields": [{"name": "Deployed", "$type": "SimpleIssueCustomField", "value": 1791374400000,
				"projectCustomField": {"field": {"fieldType": {"id": "date and time"}}}}]}`,
			want: []string{"| Deployed | 2026-10-07 12:00 UTC |"},
		},
		"YouTrack: a moment in no year is carried as it is": {
			text: `{"idReadable": "A-1", "summary": "One", "customFields": [{"name": "Deployed", "$type": "SimpleIssueCustomField", "value": 99999999999999999,
				"projectCustomField": {"field": {"fieldType": {"id": "date and time"}}}}]}`,
			want: []string{"| Deployed | 99999999999999999 |"},
		},
		"YouTrack: logged time is no comment": {
			text: `[{"idReadable": "A-1", "summary": "One"}, {"id": "115-1", "$type": "IssueWorkItem", "date": 1790726400000, "duration": {"minutes": 90},
				"author": {"login": "ada"}, "text": "Traced", "created": 1790760000000, "issue": {"idReadable": "A-1"}}]`,
			want: []string{"name: One"}, not: []string{"text: Traced"}, note: "worklogs",
		},
		"Asana: a subtask is where its parent is": {
			text: `{"data": {"gid": "1", "name": "One", "completed": false, "projects": [{"gid": "3", "name": "Web"}], "subtasks": [{"gid": "2", "name": "Two", "completed": true}]}}`,
			want: []string{"The project Web of Asana", "name: Two", "parent: \"1\""},
		},
		"Asana: a subtask of which there is a name only": {
			text: `{"data": [{"gid": "1", "name": "One", "completed": false, "subtasks": [{"gid": "2", "name": "Two"}]}]}`,
			want: []string{"name: One"}, not: []string{"name: Two"}, note: "items-not-exported",
		},
		"Asana: a page that is missing": {
			text: `{"data": [{"gid": "1", "name": "One", "completed": false}], "next_page": {"offset": "x"}}`, note: "pages-missing",
		},
		"Trello: cards of one number, as a board has that was made from a template": {
			text: `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "cards": [
				{"id": "62dada7423260c564e37f60f", "idShort": 1, "shortLink": "two", "name": "Two", "idList": "l"},
				{"id": "62dab815c4e7796d16beafdb", "idShort": 1, "shortLink": "one", "name": "One", "idList": "l"},
				{"id": "62dada88f1138732476089be", "idShort": 2, "shortLink": "other", "name": "Other", "idList": "l",
					"attachments": [{"id": "a", "name": "x", "url": "https://trello.com/c/two/1-two"}]}]}`,
			want: []string{"key: \"1\"\n        name: One", "key: \"2\"", "key: two\n        name: Two", "relations: {relates_to: [b/two]}"}, note: "shared-numbers",
		},
		"GitLab: other lists of a project are no issues": {
			text: `[{"iid": 1, "title": "One", "web_url": "https://gitlab.com/g/p/-/issues/1"}, {"iid": 1, "title": "v1", "web_url": "https://gitlab.com/g/p/-/milestones/1"},
				{"iid": 1, "title": "Merge it", "web_url": "https://gitlab.com/g/p/-/merge_requests/1"}, {"iid": 2, "title": "Down", "web_url": "https://gitlab.com/g/p/-/issues/incident/2"}]`,
			want: []string{"name: One", "name: Down"}, not: []string{"name: v1", "Merge it", "project-"}, note: "rows-left-out",
		},
		"Trello: the place of a card on the map": {
			text: `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "cards": [
				{"id": "c", "idShort": 1, "shortLink": "one", "name": "One", "idList": "l", "locationName": "Depot", "address": "Main Street 1"}]}`,
			want: []string{"| Location | Depot |", "| Address | Main Street 1 |"},
		},
		"Asana: who completed a task": {
			text: `{"data": {"gid": "1", "name": "One", "completed": true, "completed_by": {"gid": "4", "name": "Ada L."}, "projects": [{"gid": "3", "name": "Web"}]}}`,
			want: []string{"| Completed by | Ada L. |"},
		},
		"Azure: the lane on the board": {
			text: `{"id": 1, "fields": {"System.Title": "One", "System.TeamProject": "Web", "System.BoardColumn": "Doing", "System.BoardLane": "Expedite"}}`,
			want: []string{"| Board Lane | Expedite |"}, not: []string{"Doing"},
		},
		"Linear: a page that is missing": {
			text: `{"data": {"issues": {"nodes": [{"identifier": "W-1", "title": "One"}], "pageInfo": {"hasNextPage": true}}}}`, note: "pages-missing",
		},
		"Linear: a page that is longer than what is looked at first": {
			text: `{"data": {"issues": {"nodes": [{"identifier": "W-1", "title": "One", "description": "` + strings.Repeat("long ", 20_000) + `"}]}}}`,
			want: []string{"name: One"},
		},
		"Linear: a list within an issue that was cut": {
			text: `{"identifier": "W-1", "title": "One", "comments": {"nodes": [{"id": "c", "body": "x"}], "pageInfo": {"hasNextPage": true}}}`,
			want: []string{"text: x"}, note: "lists-cut",
		},
		"Linear: comments that were not asked for": {text: `{"identifier": "W-1", "title": "One"}`, note: "no-comments"},
		"Bugzilla: the first comment is the description, counted or not": {
			text: `[{"bugs": [{"id": 7, "summary": "One", "product": "Web", "creator": "ada", "last_change_time": "2025-01-01T00:00:00Z"}]}, {"bugs": {"7": {"comments": [
				{"id": 12, "bug_id": 7, "text": "second", "creator": "bob", "creation_time": "2025-01-02T00:00:00Z"}, {"id": 9, "bug_id": 7, "text": "first", "creator": "ada", "creation_time": "2025-01-01T00:00:00Z"}]}}}]`,
			want: []string{"first\n", "text: second"}, not: []string{"text: first"},
		},
		"Bugzilla: pages of bugs differ behind the question mark": {
			text: `{"bugs": [{"id": 7, "summary": "One", "product": "Web"}, {"id": 8, "summary": "Two", "product": "Web"}]} {"bugs": {"7": {"comments": [
				{"id": 9, "bug_id": 7, "count": 0, "text": "See https://bugs.example.com/show_bug.cgi?id=8#c2", "creator": "ada"}]}}}`,
			mapping: "source: {site: 'https://bugs.example.com'}\n", want: []string{"See [#8](planform:work_item/web/8)", "[#7 in Bugzilla](https://bugs.example.com/show_bug.cgi?id=7)"},
		},
		"Bugzilla: comments and files that are asked for with their bug": {
			text: `{"bugs": [{"id": 1, "summary": "One", "product": "Web", "comments": [{"id": 1, "bug_id": 1, "count": 0, "text": "the description", "creator": "ada"},
				{"id": 2, "bug_id": 1, "count": 1, "text": "a reply", "creator": "bob"}], "attachments": [{"id": 3, "file_name": "bill.png", "summary": "The bill"}, {"id": 4, "file_name": "secret.png", "is_private": 1}]}]}`,
			mapping: "source: {site: 'https://bugs.example.com'}\n", want: []string{"the description\n", "text: a reply", "https://bugs.example.com/attachment.cgi?id=3", "bill.png: The bill"}, not: []string{"text: the description", "secret"},
		},
		"Azure: a file without an address is in the list of files": {
			text: `{"id": 1, "fields": {"System.Title": "One", "System.TeamProject": "Web"}, "relations": [{"rel": "AttachedFile", "attributes": {"name": "bill.pdf", "comment": "The bill"}}]}`,
			want: []string{"bill.pdf: The bill"}, note: "attachments",
		},
		"GitLab: a note that does not say who wrote it, a person or GitLab, is a comment": {
			text: `{"iid": 1, "title": "One", "author_id": 5, "project_id": 9, "confidential": false, "due_date": null, "notes": [{"id": 7, "note": "a reply", "author_id": 6, "author": {"name": "Bob"}}]}`,
			want: []string{"text: a reply", "author: Bob"},
		},
		"Azure: comments that are asked for with their item": {
			text: `{"value": [{"id": 1, "fields": {"System.Title": "One", "System.TeamProject": "Web", "System.CommentCount": 1}, "comments": {"totalCount": 1, "comments": [{"id": 5, "text": "<p>a reply</p>", "createdBy": "Ada"}, {"id": 6, "text": "gone", "isDeleted": true}]}}]}`,
			want: []string{"text: a reply"}, not: []string{"gone"},
		},
		"Bitbucket: code of Creole is code": {
			text: `{"issues": [{"id": 1, "kind": "bug", "title": "One", "content_updated_on": null, "reporter": null, "status": "open", "content": "Run\n{{{\n#!python\n__x__ = _a_\n}}}\nand {{{ __y__ }}} of <<changeset 311>>\n` + "```\\n{{{ }}}\\n```" + `"}],
				"comments": [{"id": 5, "issue": 1, "content": "first {{{\n  __z__` + "\\n```" + `\n}}} then", "user": null}]}`,
			want: []string{
				"Run\n          ```python\n          __x__ = _a_\n          ```\n          and `__y__` of <<changeset 311>>\n          ```\n          {{{ }}}\n          ```",
				"first\n              ````\n                __z__\n              ```\n              ````\n              then",
			},
		},
		"Bitbucket: code of Creole keeps blank lines at its beginning": {
			text: `{"issues": [{"id": 1, "kind": "bug", "title": "One", "content_updated_on": null, "reporter": null, "status": "open", "content": "Run\n{{{\n\n  x = 1\n}}}\nand {{{\n#!python\n\na\nb\n}}}"}], "comments": []}`,
			want: []string{"Run\n          ```\n\n            x = 1\n          ```\n", "```python\n\n          a\n          b\n          ```"},
		},
		"Jira: a document that does not decode shows its texts": {
			text: `{"key": "AB-1", "self": "https://x.example/rest/api/3/issue/1", "fields": {"summary": "One", "status": {"name": "To Do"}, "project": {"key": "AB", "name": "Ab"},
				"description": {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": "zebra words", "marks": "strong"}]}]}}}`,
			want: []string{"zebra words"}, not: []string{"paragraph"},
		},
		"Trello: a list and a label that the file does not have": {
			text: `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "labels": [], "cards": [
				{"id": "1", "idShort": 1, "shortLink": "one", "name": "One", "idList": "l"},
				{"id": "2", "idShort": 2, "shortLink": "two", "name": "Two", "idList": "gone", "idLabels": ["gone2"]}]}`,
			want: []string{"{name: (a list that is not in the file)}", "name: Two, state: (a list that is not in the file)"}, note: "values",
		},
		"Trello: a page is no relation to a card without a short link": {
			text: `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "cards": [
				{"id": "1", "idShort": 1, "name": "One", "idList": "l"},
				{"id": "2", "idShort": 2, "shortLink": "two", "name": "Two", "idList": "l", "attachments": [{"id": "a", "name": "x", "url": "https://x.example/y"}]}]}`,
			want: []string{"{url: \"https://x.example/y\", title: x}"}, not: []string{"relations"},
		},
		"Trello: an uploaded file without an address is in the list of files": {
			text: `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "cards": [
				{"id": "1", "idShort": 1, "shortLink": "one", "name": "One", "idList": "l", "attachments": [{"id": "a", "name": "bill.pdf", "isUpload": true}]}]}`,
			want: []string{"| Files | bill.pdf |"}, note: "attachments",
		},
		"Trello: a comment that does not say its card is a loss, and no error": {
			text: `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}],
				"actions": [{"id": "a", "type": "commentCard", "data": {"text": "zebra"}}], "cards": [{"id": "1", "idShort": 1, "shortLink": "one", "name": "One", "idList": "l"}]}`,
			want: []string{"name: One"}, not: []string{"zebra"}, note: "comments-outside",
		},
		"Jira: fields without names are known by their shape": {
			text: `{"issues": [{"key": "AB-1", "id": "1", "fields": {"summary": "One", "status": {"name": "To Do"}, "project": {"key": "AB", "name": "Ab"}, "parent": {"key": "AB-2"},
				"customfield_10007": [{"id": 1, "name": "Sprint 100", "state": "active", "boardId": 3, "startDate": "2024-01-01T00:00:00.000Z", "endDate": "2024-01-15T00:00:00.000Z"}],
				"customfield_10008": "AB-2", "customfield_10009": "AB-7", "customfield_10011": "1|hzxlwn:i"}},
				{"key": "AB-2", "id": "2", "fields": {"summary": "Two", "status": {"name": "To Do"}, "project": {"key": "AB", "name": "Ab"},
				"customfield_10007": ["com.atlassian.greenhopper.service.sprint.Sprint@1[id=1,name=Sprint 9,state=CLOSED,startDate=2024-01-01T00:00:00.000Z,endDate=2024-01-05T00:00:00.000Z]"]}}]}`,
			want: []string{"cycle: Sprint 100", "name: Sprint 100, start_date: 2024-01-01, end_date: 2024-01-15", "name: Sprint 9, start_date: 2024-01-01", "parent: AB-2", `| customfield\_10009 | AB-7 |`},
			not:  []string{"10007", "10008", "10011"}, note: "fields-without-names",
		},
		"GitHub: a list of issues of GraphQL": {
			text: `{"data": {"repository": {"issues": {"nodes": [{"number": 1, "title": "One", "body": "text", "state": "CLOSED", "stateReason": "COMPLETED", "url": "https://github.com/o/r/issues/1",
				"author": {"login": "kim"}, "createdAt": "2024-01-01T00:00:00Z", "labels": {"nodes": [{"name": "bug", "color": "ff0000"}]}, "assignees": {"nodes": [{"login": "lee"}]},
				"comments": {"totalCount": 2, "nodes": [{"id": "c", "body": "a reply", "author": {"login": "lee"}, "createdAt": "2024-01-02T00:00:00Z"}]}}], "pageInfo": {"hasNextPage": true}}}}}`,
			want: []string{"name: One", "state: Done", "labels: [bug]", "Assignee in GitHub: lee", "text: a reply"}, note: "pages-missing",
		},
		"GitHub: what a search of GraphQL found": {
			text: `{"data": {"search": {"nodes": [{"number": 1, "title": "One", "state": "OPEN", "url": "https://github.com/o/r/issues/1", "comments": {"totalCount": 2, "nodes": [{"id": "c", "body": "a reply"}]}},
				{"number": 2, "title": "Two", "state": "OPEN", "url": "https://github.com/o/r/pull/2"}], "pageInfo": {"hasNextPage": false}}}}`,
			want: []string{"name: One", "text: a reply"}, not: []string{"Two"}, note: "comments-not-exported",
		},
		"Linear: a relation without a type relates two issues": {
			text: `{"nodes": [{"identifier": "A-1", "title": "One", "relations": {"nodes": [{"relatedIssue": {"identifier": "A-2"}}, {"type": "BLOCKS", "relatedIssue": {"identifier": "A-3"}}]}},
				{"identifier": "A-2", "title": "Two"}, {"identifier": "A-3", "title": "Three"}]}`,
			want: []string{"relations: {blocking: [a/A-3], relates_to: [a/A-2]}"}, note: "no-comments",
		},
		"Trello: bold beside signs that are no letters": {
			text: `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "cards": [
				{"id": "1", "idShort": 1, "shortLink": "one", "name": "One", "idList": "l", "desc": "名**「引用」**名 and **名(x)**名, **b**, ` + "`**「c」**名`" + `, 2 ** 3 ** 4"}]}`,
			want: []string{"名<strong>「引用」</strong>名 and <strong>名(x)</strong>名, **b**, `**「c」**名`, 2 ** 3 ** 4"},
		},
		"Bugzilla: an open state of an unknown name is started": {
			text: `{"bugs": [{"id": 7, "summary": "One", "product": "Web", "status": "WAITING_QA", "is_open": true}]}`,
			want: []string{"{name: WAITING_QA, group: started}"}, note: "no-comments",
		},
		"Bugzilla: what was not done is cancelled": {
			text: `{"bugs": [{"id": 7, "summary": "One", "product": "Web", "status": "RESOLVED", "is_open": false, "resolution": "WORKSFORME"}]}`,
			want: []string{"state: Cancelled", "| Resolution | WORKSFORME |"}, note: "no-comments",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, r := manifests(t, inline(t, "answer.json", tt.text), tt.mapping)
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
			noted := tt.note == ""
			for _, n := range r.Notes {
				noted = noted || n.Kind == tt.note
			}
			for _, l := range r.Losses {
				noted = noted || l.Kind == tt.note
			}
			if !noted {
				t.Errorf("nothing of the kind %s is noted: %+v", tt.note, r.Notes)
			}
		})
	}
}

func TestTheAnswerThatSaysMoreOfAnIssueCounts(t *testing.T) {
	t.Parallel()
	const issue = `"id":5,"tracker":{"name":"Bug"},"project":{"name":"Shop"},"subject":"s","status":{"name":"New"},"updated_on":"2024-01-02T03:04:05Z"`
	dir := t.TempDir()
	for name, text := range map[string]string{
		"issue-5.json":    `{"issue":{` + issue + `,"spent_hours":7.5,"relations":[{"issue_id":5,"issue_to_id":9,"relation_type":"blocks"}]}}`,
		"issues-000.json": `{"issues":[{` + issue + `}],"total_count":1,"offset":0,"limit":100}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "to")
	r := must(t, to, fixture{files: []string{dir}}, nil).Report
	if text := written(t, to); !strings.Contains(text, "7.5") || r.Counts.Relations != 1 {
		t.Errorf("%d relations in the export, and\n%s", r.Counts.Relations, text)
	}
}

// Two lists of one name are one state, and the report says so.
func TestListsOfTrelloOfOneNameAreNamed(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "b.json", `{"id":"b","shortLink":"S","name":"B","labelNames":{},"lists":[{"id":"l1","name":"Doing"},{"id":"l2","name":"doing "},{"id":"l3","name":"Later"}],
		"cards":[{"id":"c1","idShort":1,"shortLink":"s1","name":"One","idList":"l1"},{"id":"c2","idShort":2,"shortLink":"s2","name":"Two","idList":"l2"},{"id":"c3","idShort":3,"shortLink":"s3","name":"Three","idList":"l3"}]}`), "")
	n := slices.IndexFunc(r.Notes, func(n convert.Remark) bool { return n.Kind == "equal-lists" })
	again := func(n convert.Remark) bool { return n.Kind == "equal-lists" }
	if n < 0 || slices.ContainsFunc(r.Notes[n+1:], again) || !strings.Contains(r.Notes[n].Text, `2 lists are called "Doing"`) || strings.Count(text, "state: Doing") != 2 {
		t.Errorf("%+v\n%s", r.Notes, text)
	}
}

// A text of Jira that is neither text nor document, and other values of a type that Jira does not write, are carried or named.
func TestValuesOfAnotherTypeOfJiraAreCarriedOrNamed(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "i.json", `{"id": 1, "key": "A-1", "self": "https://j.example.com/rest/api/2/issue/1", "fields": {"summary": 17, "description": {"type": "paragraph"},
		"labels": "red", "status": {"name": 5}, "priority": "High", "assignee": "ann", "fixVersions": ["v1"], "duedate": 20240102, "comment": "none", "attachment": ["a.txt"]}}`), "")
	for _, want := range []string{`name: "17"`, "paragraph", "labels: [red]", `state: "5"`, "ann", "priority | High |", "fixVersions | v1 |", "a.txt"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if r.Counts.Items != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// A text where a tracker writes an object becomes a row.
func TestATextInPlaceOfAnObjectIsARow(t *testing.T) {
	t.Parallel()
	text, _ := manifests(t, inline(t, "i.json", `[{"id": 1, "project": {"id": 1, "name": "Web"}, "tracker": "Bug", "priority": "High", "subject": "One", "journals": ["said"]}]`), "")
	for _, want := range []string{"| no object: tracker | Bug |", "| no object: priority | High |", "said"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

// A text where an object is expected in a record that another one is part of is carried or named, and so is a state in place of an object.
func TestATextInPlaceOfAnObjectIsCarriedOrNamed(t *testing.T) {
	t.Parallel()
	const board = `{"id":"b1","name":"B","labelNames":{},"shortLink":"abc","lists":[{"id":"l1","name":"Doing"}],"cards":[{"id":"c1","idShort":1,"name":"Card","idList":"l1","shortLink":"s"}],%s}`
	for name, tt := range map[string]struct {
		file, want string
		lost       []string // names of lost values
	}{
		"the state of an issue of Redmine":        {`[{"id": 1, "project": {"id": 1, "name": "Web"}, "tracker": {"name": "Bug"}, "status": "Waiting", "subject": "One"}]`, "state: Waiting", nil},
		"the category of a state of Jira":         {`{"id": 1, "key": "A-1", "fields": {"summary": "One", "status": {"name": "Odd", "statusCategory": "Done"}}}`, "{name: Odd, group: completed}", nil},
		"an item of a checklist of Trello":        {fmt.Sprintf(board, `"checklists":[{"id":"k1","name":"List","idCard":"c1","checkItems":["zebra step"]}]`), `checklists.checkItems | zebra step |`, nil},
		"the data of an action of Trello":         {fmt.Sprintf(board, `"actions":[{"id":"a1","type":"updateCard","date":"2025-01-02T00:00:00Z","data":"zebra"}]`), "Card", []string{"no object: board actions.data"}},
		"a subtask of Asana":                      {`{"data": [{"gid": "1", "name": "One", "completed": false, "subtasks": ["zebra"]}]}`, "subtasks | zebra |", nil},
		"a custom field of Trello":                {strings.Replace(fmt.Sprintf(board, `"actions":[]`), `"idList":"l1"`, `"idList":"l1","customFieldItems":[{"id":"f","value":"zebra"},"quokka"]`, 1), "customFieldItems | quokka |", nil},
		"the fields of a parent of Jira":          {`{"id": 1, "key": "A-1", "fields": {"summary": "One", "parent": {"key": "A-2", "fields": "zebra"}}}`, "parent.fields | zebra |", nil},
		"the options of a custom field of Trello": {fmt.Sprintf(board, `"customFields":[{"id":"f","name":"Size","options":["zebra"]}]`), "Card", []string{"no object: customFields.options"}},
		"the value of an option of Trello":        {fmt.Sprintf(board, `"customFields":[{"id":"f","name":"Size","options":[{"id":"o","value":"zebra"}]}]`), "Card", []string{"no object: customFields.options.value"}},
		"a category of Jira that is unknown":      {`{"id": 1, "key": "A-1", "fields": {"summary": "One", "status": {"name": "Odd", "statusCategory": "zebra"}}}`, "statusCategory | zebra |", nil},
		"the author of an action of Trello":       {fmt.Sprintf(board, `"actions":[{"id":"a1","type":"commentCard","date":"2025-01-02T00:00:00Z","memberCreator":"zebra","data":{"text":"x","card":{"id":"c1"}}}]`), "author: zebra", nil},
		"the card of a comment of Trello":         {fmt.Sprintf(board, `"actions":[{"id":"a1","type":"commentCard","date":"2025-01-02T00:00:00Z","data":{"text":"x","card":{"id":"c1"},"list":"quokka"}}]`), "text: x", nil},
		"the user of a change of Bitbucket": {
			`{"issues": [{"id": 1, "title": "One", "kind": "bug", "status": "new", "priority": "major", "reporter": "kim", "content_updated_on": null}], "attachments": [{"issue": 1, "filename": "zebra.png", "path": "p/1", "user": "ann"}],
			"comments": [{"issue": 1, "id": 5, "content": "x", "user": "zebra", "created_on": "2025-01-02T00:00:00Z"}], "logs": []}`, "author: zebra", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, r := manifests(t, inline(t, "i.json", tt.file), "")
			if !strings.Contains(strings.ReplaceAll(text, "\\", ""), tt.want) {
				t.Errorf("%s is not in\n%s", tt.want, text)
			}
			for _, lost := range tt.lost {
				if !slices.ContainsFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "values" && slices.Contains(l.Items, lost) }) {
					t.Errorf("%s is not in %+v", lost, r.Losses)
				}
			}
		})
	}
}

// A custom field keeps a text that looks like a number, and a field or a sprint without content has no part in the manifest.
func TestCustomFieldsOfJiraAreWhatPeopleRead(t *testing.T) {
	t.Parallel()
	const issue = `{"issues":[{"id":"1","key":"A-1","fields":{"summary":"One","status":{"name":"Open"},%s}}],"isLast":true,"names":{"customfield_1":"Release","customfield_2":"Size"}}`
	fields := `"customfield_1":"Release 2.0","customfield_2":3.0,"customfield_3":[],"customfield_4":"",
		"comment":{"total":1,"comments":[{"id":"5","author":{"accountId":"u","displayName":"U"},"body":"","created":"2026-01-01T00:00:00.000+0000"}]}`
	text, r := manifests(t, inline(t, "i.json", fmt.Sprintf(issue, fields)), "")
	for _, want := range []string{"| Release | Release 2.0 |", "| Size | 3 |", `key: "5"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if slices.ContainsFunc(r.Notes, func(n convert.Remark) bool { return n.Kind == "fields-without-names" }) {
		t.Errorf("%+v", r.Notes)
	}
	text, r = manifests(t, inline(t, "i.json", fmt.Sprintf(issue, `"customfield_5":[{"id":9,"boardId":4}],"customfield_6":{"foo":"bar"}`)), "")
	if strings.Contains(text, "cycles:") || r.Values.Lost != 1 {
		t.Errorf("%+v\n%s", r.Values, text)
	}
}
