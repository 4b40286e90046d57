package convert_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/formats"
	"github.com/planform/planform/internal/sample"
)

// deepJSON is a page of Jira's REST API with a description of lists within lists.
func deepJSON(levels int) string {
	return `{"issues": [{"id": "1", "key": "A-1", "fields": {"summary": "s", "project": {"key": "A", "name": "Al"}, "issuetype": {"name": "Story"}, "status": {"name": "To Do"},
		"description": {"type":"doc","version":1,"content":[` + strings.Repeat(`{"type":"bulletList","content":[{"type":"listItem","content":[`, levels) +
		`{"type":"paragraph","content":[{"type":"text","text":"x"}]}` + strings.Repeat(`]}]}`, levels) + `]}, "created": "2024-01-02T10:00:00.000+0000"}}], "total": 1, "startAt": 0, "maxResults": 50}`
}

// wideTable is a table of one row.
func wideTable(columns int) string {
	var b strings.Builder
	b.WriteString("key,name")
	for i := range columns {
		fmt.Fprintf(&b, ",c%d", i)
	}
	return b.String() + "\nA-1,One" + strings.Repeat(",x", columns) + "\n"
}

// TestAFileIsRecognisedAtLittleCost: each format looks at the beginning of each file.
func TestAFileIsRecognisedAtLittleCost(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	for name, tt := range map[string]struct { //nolint:paralleltest // likewise
		file, text, by string
	}{
		"a small table":        {"t.csv", "key,name\nA-1,One\n", "csv"},
		"a small record":       {"i.json", `[{"id": 1, "iid": 1, "title": "One", "web_url": "https://gitlab.com/a/b/-/issues/1"}]`, "gitlab"},
		"an issue of Redmine":  {"i.json", `{"issue": {"id": 1, "project": {"id": 1, "name": "Web"}, "tracker": {"id": 1, "name": "Bug"}, "status": {"id": 1, "name": "New"}, "subject": "One"}}`, "redmine-json"},
		"an item of Azure":     {"i.json", `{"count": 1, "value": [{"id": 1, "rev": 2, "fields": {"System.Title": "One"}, "url": "https://dev.azure.com/a/_apis/wit/workItems/1"}]}`, "azure-json"},
		"no comments there":    {"c.json", `{"totalCount": 0, "count": 0, "comments": []}`, "azure-json"},
		"an update there":      {"u.json", `{"count": 1, "value": [{"id": 1, "workItemId": 1, "rev": 1, "revisedBy": {}, "revisedDate": "9999-01-01T00:00:00Z"}]}`, "azure-json"},
		"an issue of YouTrack": {"i.json", `[{"id": "2-1", "idReadable": "A-1", "summary": "One", "customFields": [], "$type": "Issue"}]`, "youtrack-json"},
		"a task of Asana":      {"i.json", `{"data": [{"gid": "1", "name": "One", "completed": false}]}`, "asana-json"},
		"one task of Asana":    {"i.json", `{"data": {"gid": "1", "resource_type": "task", "name": "One"}}`, "asana-json"},
		"no stories there":     {"s.json", `{"data": []}`, "asana-json"},
		"bugs of Bugzilla":     {"b.json", `{"bugs": [{"id": 1, "summary": "One", "product": "Web"}]}`, "bugzilla"},
		"comments there":       {"c.json", `{"bugs": {"1": {"comments": []}}, "comments": {}}`, "bugzilla"},
		"files there":          {"a.json", `{"attachments": {}, "bugs": {"1": []}}`, "bugzilla"},
		"users of Redmine":     {"u.json", `{"users": [{"id": 1, "login": "ada", "firstname": "Ada", "lastname": "L.", "mail": "ada@example.com"}], "total_count": 1, "offset": 0, "limit": 25}`, "redmine-json"},
		"a table of many":      {"t.csv", wideTable(4000), "csv"},
		"a record of depth":    {"i.json", deepJSON(900), "jira-json"},
		"a record of breadth":  {"i.jsonl", `{"key": "A-1", "name": "One", "list": [` + strings.Repeat(`{"a": 1, "b": [2]}, `, 3000) + `{}]}`, "jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var by []string
			head := []byte(tt.text)
			for _, f := range formats.All() {
				if _, ok := f.Detect(head, tt.file); ok {
					by = append(by, f.Name)
				}
			}
			runtime.ReadMemStats(&after)
			if took, most := int(after.TotalAlloc-before.TotalAlloc), 400<<10+200*len(tt.text); took > most || len(by) == 0 || by[0] != tt.by {
				t.Errorf("recognised as %v; %d KB are allocated, at most %d are allowed", by, took>>10, most>>10)
			}
		})
	}
}

// TestLittleIsKeptOfEachIssue: what is in memory when all files are read, which is the most of a run, is some 3 KB of an issue with two comments of 300 letters.
func TestLittleIsKeptOfEachIssue(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const issues, most = 400, 4000
	words := strings.Repeat("some words of a text ", 15)
	var custom strings.Builder // fields of Jira
	for n := range 50 {
		fmt.Fprintf(&custom, `"customfield_1%02d": "some words of field %[1]d", `, n)
	}
	for format, tt := range map[string]struct{ begin, issue, between, comment, end string }{ //nolint:paralleltest // likewise
		"redmine-json": {`[`, `{"id": %d, "project": {"id": 1, "name": "Web"}, "tracker": {"id": 1, "name": "Bug"}, "status": {"id": 1, "name": "New", "is_closed": false}, "priority": {"id": 1, "name": "Normal"},
			"author": {"id": 3, "name": "Ann Doe"}, "assigned_to": {"id": 4, "name": "Bob Roe"}, "subject": "One", "description": "` + words + `", "created_on": "2024-01-02T10:00:00Z", "updated_on": "2024-01-02T10:00:00Z",
			"journals": [{"id": %[1]d1, "user": {"id": 4, "name": "Bob Roe"}, "notes": "` + words + `", "created_on": "2024-01-02T10:00:00Z", "details": []}, {"id": %[1]d2, "user": {"id": 4, "name": "Bob Roe"}, "notes": "` + words + `", "created_on": "2024-01-02T10:00:00Z"}]}`, ",", "", `]`},
		"github": {`[`, `{"url": "https://api.github.com/repos/o/r/issues/%d", "html_url": "https://github.com/o/r/issues/%[1]d", "id": %[1]d, "number": %[1]d, "title": "One", "user": {"login": "ann", "id": 1, "type": "User"},
			"labels": [{"id": 1, "name": "bug", "color": "ff0000", "default": true}], "state": "open", "assignees": [{"login": "ann", "id": 1, "type": "User"}], "comments": 2, "created_at": "2024-01-02T10:00:00Z",
			"updated_at": "2024-01-02T10:00:00Z", "author_association": "NONE", "body": "` + words + `"}`, ",", `{"url": "https://api.github.com/repos/o/r/issues/comments/%d%[2]d", "html_url": "https://github.com/o/r/issues/%[1]d#issuecomment-%[1]d%[2]d",
			"issue_url": "https://api.github.com/repos/o/r/issues/%[1]d", "id": %[1]d%[2]d, "user": {"login": "bob", "id": 2, "type": "User"}, "created_at": "2024-01-02T10:00:00Z", "updated_at": "2024-01-02T10:00:00Z", "author_association": "NONE", "body": "` + words + `"}`, `]`},
		"bitbucket": {
			`{"issues": [`, `{"id": %d, "kind": "bug", "title": "One", "content": "` + words + `", "content_updated_on": null, "status": "open", "priority": "major", "reporter": {"display_name": "Ann Doe", "account_id": "a1"},
			"assignee": {"display_name": "Ann Doe", "account_id": "a1"}, "created_on": "2024-01-02T10:00:00Z", "updated_on": "2024-01-02T10:00:00Z"}`, `], "comments": [`,
			`{"id": %d%d, "issue": %[1]d, "content": "` + words + `", "user": {"display_name": "Ann Doe", "account_id": "a1"}, "created_on": "2024-01-02T10:00:00Z"}`, `]}`,
		},
		"trello": {
			`{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "cards": [`,
			`{"id": "c%d", "idShort": %[1]d, "shortLink": "s%[1]d", "shortUrl": "https://trello.com/c/s%[1]d", "name": "One", "desc": "` + words + `", "idList": "l", "idMembers": ["m"], "closed": false, "pos": %[1]d, "badges": {"comments": 2}}`, `], "actions": [`,
			`{"id": "a%d%d", "type": "commentCard", "date": "2024-01-02T10:00:00Z", "idMemberCreator": "m", "memberCreator": {"id": "m", "fullName": "Ann"}, "data": {"text": "` + words + `", "card": {"id": "c%[1]d"}}}`, `]}`,
		},
		"jira-json": {`[`, `{"id": "1%d", "key": "AB-%[1]d", "self": "https://j.example.com/rest/api/2/issue/1%[1]d", "fields": {"summary": "One", "description": "` + words + `", "issuetype": {"name": "Story"}, "status": {"name": "To Do", "statusCategory": {"key": "new"}},
			"project": {"key": "AB", "name": "Ab"}, "assignee": {"accountId": "5b1", "displayName": "Ann Doe", "active": true}, "created": "2024-01-02T10:00:00.000+0000", ` + custom.String() + `"customfield_1": {"value": "x"},
			"comment": {"total": 2, "comments": [{"id": "%[1]d1", "author": {"accountId": "5b1"}, "body": "` + words + `", "created": "2024-01-02T10:00:00.000+0000"}, {"id": "%[1]d2", "author": {"accountId": "5b1"}, "body": "` + words + `", "created": "2024-01-02T10:00:00.000+0000"}]}}}`, ",", "", `]`},
	} {
		t.Run(format, func(t *testing.T) {
			export := func(issues int) fixture {
				var lines, comments []string
				for n := range issues {
					lines = append(lines, fmt.Sprintf(tt.issue, n+1))
					for k := range 2 {
						if tt.comment != "" {
							comments = append(comments, fmt.Sprintf(tt.comment, n+1, k+1))
						}
					}
				}
				return inline(t, "export.json", tt.begin+strings.Join(lines, ",")+strings.TrimSuffix(tt.between+strings.Join(comments, ","), ",")+tt.end)
			}
			must(t, t.TempDir(), export(1), nil) // makes what all conversions share, such as patterns
			f := export(issues)
			kept := &keeping{}
			r := must(t, t.TempDir(), f, func(o *convert.Options) {
				for n, format := range o.Formats {
					with := *format
					with.Read = func(ctx context.Context, in convert.Input, to convert.Sink) error {
						kept.Sink, kept.before = to, live()
						return format.Read(ctx, in, kept)
					}
					o.Formats[n] = &with
				}
			}).Report
			if each := int(kept.after-kept.before) / issues; each > most || r.Source.Format != format || r.Carried.Items != issues || r.Counts.Comments != 2*issues {
				t.Errorf("%s, %d items, %d comments: %d bytes are kept of each issue", r.Source.Format, r.Carried.Items, r.Counts.Comments, each)
			}
		})
	}
}

// keeping measures what is in memory when the first issue is handed out.
type keeping struct {
	convert.Sink

	before, after uint64
}

// Issue takes an issue.
func (k *keeping) Issue(i *convert.Issue) {
	if k.after == 0 {
		k.after = live()
	}
	k.Sink.Issue(i)
}

// live returns how many bytes are in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestATableOfManyColumnsIsConvertedTwice(t *testing.T) {
	t.Parallel()
	columns := sample.Of(4000, 20_000, 20_000)
	dir := t.TempDir()
	file := filepath.Join(dir, "wide.csv")
	if err := os.WriteFile(file, []byte(wideTable(columns)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, the mapping has an answer for each
		must(t, filepath.Join(dir, "to"), fixture{files: []string{file}}, nil)
	}
	if mapping := contents(t, filepath.Join(dir, "to"))["mapping.yaml"]; !strings.Contains(mapping, fmt.Sprintf("\n  c%d:", columns-1)) {
		t.Error("the mapping does not have the last column")
	}
}

func TestACardWithManyLabelsIsConverted(t *testing.T) {
	t.Parallel()
	labels := sample.Of(4000, 20_000, 20_000)
	var all, ids []string
	for n := range labels {
		all, ids = append(all, fmt.Sprintf(`{"id": "L%d", "name": "label %[1]d", "color": "red"}`, n)), append(ids, fmt.Sprintf(`"L%d"`, n))
	}
	f := inline(t, "board.json", `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}], "labels": [`+strings.Join(all, ",")+
		`], "cards": [{"id": "c", "idShort": 1, "shortLink": "s", "name": "One", "idList": "l", "idLabels": [`+strings.Join(ids, ",")+`]}]}`)
	if r := must(t, t.TempDir(), f, nil).Report; r.Counts.Labels != labels {
		t.Errorf("%d labels are carried", r.Counts.Labels)
	}
}

func TestACardWithManyCommentsIsConverted(t *testing.T) {
	t.Parallel()
	comments := sample.Of(4000, 20_000, 20_000)
	var all []string
	for n := range comments {
		all = append(all, fmt.Sprintf(`{"id": "a%d", "type": "commentCard", "date": "2024-01-02T10:00:00Z", "idMemberCreator": "m", "data": {"text": "word %[1]d", "card": {"id": "c"}}}`, n))
	}
	f := inline(t, "board.json", `{"id": "b", "shortLink": "S", "name": "B", "labelNames": {}, "lists": [{"id": "l", "name": "To do"}],
		"cards": [{"id": "c", "idShort": 1, "shortLink": "s", "name": "One", "idList": "l"}], "actions": [`+strings.Join(all, ",")+`]}`)
	if r := must(t, t.TempDir(), f, nil).Report; r.Counts.Comments != comments {
		t.Errorf("%d comments are carried", r.Counts.Comments)
	}
}

// BenchmarkShapes converts what costs more than its size: many files, many columns, much depth.
func BenchmarkShapes(b *testing.B) {
	for name, write := range map[string]func(dir string) error{
		"1,000 files": func(dir string) (err error) {
			for i := 0; i < 1000 && err == nil; i++ {
				text := fmt.Sprintf(`[{"id": %d, "iid": %[1]d, "title": "One", "state": "opened", "web_url": "https://gitlab.com/a/b/-/issues/%[1]d"}]`, i+1)
				err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.json", i)), []byte(text), 0o600)
			}
			return err
		},
		"100,000 columns": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "wide.csv"), []byte(wideTable(100_000)), 0o600)
		},
		"320 levels": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "deep.json"), []byte(deepJSON(320)), 0o600)
		},
		"1,280 levels": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "deep.json"), []byte(deepJSON(1280)), 0o600)
		},
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if err := write(dir); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				must(b, b.TempDir(), fixture{files: []string{dir}}, nil)
			}
		})
	}
}
