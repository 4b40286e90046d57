package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/proof"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// teamExport is an export of Jira with something of everything.
const teamExport = `Summary,Issue key,Issue id,Issue Type,Status,Priority,Project key,Project name,Assignee,Assignee Id,Created,Due date,Labels,Components,Sprint,Description,Parent key,Inward issue link (Blocks),Attachment,Comment
First,T-1,1,Task,To Do,High,T,Team,Ada,u1,22/Sep/25 9:26 AM,24/Dec/25,red,Web,Sprint 1,Some *text*,,,22/Sep/25 9:26 AM;Ada;plan.txt;https://site.example/rest/api/3/attachment/content/11,22/Sep/25 9:27 AM;u1;One
Second,T-2,2,Task,To Do,Low,T,Team,Ada,u1,22/Sep/25 9:26 AM,25/Dec/25,red,Web,Sprint 1,More text,T-1,T-1,,23/Sep/25 9:27 AM;u1;Two
Third,T-3,3,Task,Done,Low,T,Team,Bob,u2,22/Sep/25 9:26 AM,26/Dec/25,blue,Api,Sprint 2,Last text,T-1,,,24/Sep/25 9:27 AM;u2;Three
`

// imported applies that export and gives the arguments that check it.
func imported(t *testing.T, s *service, flags ...string) []string {
	t.Helper()
	dir := filepath.Join(s.dir, "out")
	export := s.write(t, "jira.csv", teamExport)
	s.write(t, "users.csv", "User id,email\nu1,ada@example.com\nu2,bob@example.com\n")
	convert := []string{"convert", "jira-csv", export, "--to", dir, "--users", filepath.Join(s.dir, "users.csv")}
	s.run(t, convert...)
	if err := os.MkdirAll(filepath.Join(dir, "attachments"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "out/attachments/11-plan.txt", "the plan")
	answered(t, filepath.Join(dir, "mapping.yaml"))
	s.must(t, convert...)
	s.must(t, append([]string{"apply", "-f", dir, "--workspace", "acme", "--yes"}, flags...)...)
	return []string{"convert", "check", "jira-csv", export, "-f", dir, "--workspace", "acme", "--output", "json", "--with", "comments,links,attachments"}
}

// checked is what a check says.
func (s *service) checked(t *testing.T, args []string) proof.Report {
	t.Helper()
	var report proof.Report
	r := s.run(t, args...)
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || (r.code == 0) != report.Proven(slices.Contains(args, "--allow-unsupported")) {
		t.Fatalf("exit code %d: %v: %s%s", r.code, err, r.out, r.err)
	}
	return report
}

// TestTheCheckFindsEachSingleChange makes one change after the other on the service, each of an item that chance takes.
func TestTheCheckFindsEachSingleChange(t *testing.T) {
	t.Parallel()
	const seed = 7
	chance := rand.New(rand.NewPCG(seed, seed))
	s := newService(t, sandboxtest.Options{Empty: true})
	check := imported(t, s)
	if r := s.checked(t, check); !r.Equal || len(r.Accepted) == 0 && len(r.Fields) < 15 {
		t.Fatalf("not equal before anything was changed: %+v", r)
	}
	titles := []string{"First", "Second", "Third"}
	project := s.row(t, "project", "Team")["id"]
	at := func(item map[string]any, rest string) string {
		return fmt.Sprintf("projects/%s/work-items/%s/%s", project, item["id"], rest)
	}
	in := func(kind, item string) map[string]any {
		id := s.row(t, "work_item", item)["id"]
		rows := s.Rows(kind)
		if n := slices.IndexFunc(rows, func(row map[string]any) bool { return row["issue"] == id || row["work_item"] == id }); n >= 0 {
			return rows[n]
		}
		t.Fatalf("no %s in %s: %v", kind, item, rows)
		return nil
	}
	field := func(name string, value any) func(string) {
		return func(item string) { s.changeItem(t, item, map[string]any{name: value}) }
	}
	for _, tt := range []struct {
		name   string
		change func(item string)
		what   string // missing, additional or differs
		field  string
		item   string // "" = any
	}{
		{"text", field("description_html", "<p>other</p>"), "differs", "description", ""},
		{"due date", field("target_date", "2030-01-01"), "differs", "target_date", ""},
		{"no due date", field("target_date", nil), "differs", "target_date", ""},
		{"priority", field("priority", "urgent"), "differs", "priority", ""},
		{"no assignee", field("assignees", []string{}), "differs", "assignees", ""},
		{"no labels", field("labels", []string{}), "differs", "labels", ""},
		{"parent", field("parent", nil), "differs", "parent", "Second"},
		{"state", func(item string) {
			s.changeItem(t, item, map[string]any{"state": s.row(t, "state", "Cancelled")["id"]})
		}, "differs", "state", ""},
		{"comment edited", func(item string) {
			c := in("comment", item)
			s.change(t, at(s.row(t, "work_item", item), fmt.Sprintf("comments/%s/", c["id"])), map[string]any{"comment_html": "<p>x</p>"})
		}, "differs", "text", "First"},
		{"comment deleted", func(item string) {
			s.do(t, "DELETE", at(s.row(t, "work_item", item), fmt.Sprintf("comments/%s/", in("comment", item)["id"])), nil)
		}, "missing", "", "Second"},
		{"another comment elsewhere", func(item string) {
			s.do(t, "POST", at(s.row(t, "work_item", item), "comments/"), map[string]any{"comment_html": "<p>mine</p>"})
		}, "additional", "", "Third"},
		{"a file deleted", func(item string) {
			s.do(t, "DELETE", at(s.row(t, "work_item", item), fmt.Sprintf("attachments/%s/", s.Rows("attachment")[0]["id"])), nil)
		}, "missing", "", "First"},
		{"a link added", func(item string) {
			s.do(t, "POST", at(s.row(t, "work_item", item), "links/"), map[string]any{"url": "https://example.com/mine"})
		}, "additional", "", ""},
		{"out of its module", func(item string) {
			module := s.row(t, "module", "Api")
			s.do(t, "DELETE", fmt.Sprintf("projects/%s/modules/%s/module-issues/%s/", project, module["id"], s.row(t, "work_item", item)["id"]), nil)
		}, "differs", "module", "Third"},
		{"out of its cycle", func(item string) {
			cycle := s.row(t, "cycle", "Sprint 2")
			s.do(t, "DELETE", fmt.Sprintf("projects/%s/cycles/%s/cycle-issues/%s/", project, cycle["id"], s.row(t, "work_item", item)["id"]), nil)
		}, "differs", "cycle", "Third"},
		{"a relation taken away", func(item string) {
			s.do(t, "POST", at(s.row(t, "work_item", item), "relations/remove/"), map[string]any{"related_issue": s.row(t, "work_item", "Second")["id"]})
		}, "differs", "blocking", "First"},
		{"an item more", func(string) {
			s.do(t, "POST", fmt.Sprintf("projects/%s/work-items/", project), map[string]any{"name": "Fourth"})
		}, "additional", "", ""},
		{"a start", field("start_date", "2020-01-01"), "differs", "start_date", "Third"},
		{"a parent more", func(item string) {
			s.changeItem(t, item, map[string]any{"parent": s.row(t, "work_item", "Third")["id"]})
		}, "differs", "parent", "First"},
		{"into another module", func(item string) {
			module := s.row(t, "module", "Api")
			s.do(t, "POST", fmt.Sprintf("projects/%s/modules/%s/module-issues/", project, module["id"]), map[string]any{"issues": []any{s.row(t, "work_item", item)["id"]}})
		}, "additional", "module", "First"},
		{"into a cycle", func(item string) {
			cycle := s.row(t, "cycle", "Sprint 2")
			s.do(t, "POST", fmt.Sprintf("projects/%s/cycles/%s/cycle-issues/", project, cycle["id"]), map[string]any{"issues": []any{s.row(t, "work_item", item)["id"]}})
		}, "differs", "", "First"},
		{"a label renamed", func(string) {
			s.change(t, fmt.Sprintf("projects/%s/labels/%s/", project, s.row(t, "label", "blue")["id"]), map[string]any{"name": "green"})
		}, "differs", "name", ""},
		{"the project's name", func(string) {
			s.change(t, fmt.Sprintf("projects/%s/", project), map[string]any{"name": "Other"})
		}, "differs", "name", ""},
		{"an item deleted", func(item string) { s.do(t, "DELETE", at(s.row(t, "work_item", item), ""), nil) }, "missing", "", "Second"},
		{"title", field("name", "Renamed"), "differs", "name", "Third"},
	} {
		item := tt.item
		if item == "" {
			item = titles[chance.IntN(len(titles))]
		}
		before := s.checked(t, check)
		tt.change(item)
		after := s.checked(t, check)
		found := slices.ContainsFunc(after.Differences, func(d proof.Difference) bool {
			return d.What == tt.what && (tt.field == "" || d.Field == tt.field) && !slices.ContainsFunc(before.Differences, func(had proof.Difference) bool {
				return had.What == d.What && had.Item == d.Item && had.Field == d.Field && text(had.Service) == text(d.Service) && had.Name == d.Name
			})
		})
		if !found {
			var all []string
			for _, d := range after.Differences {
				all = append(all, fmt.Sprintf("%s %s %s %s: %s, %s", d.What, d.Item, d.Name, d.Field, text(d.Export), text(d.Service)))
			}
			t.Errorf("%s of %s was not found in\n%s", tt.name, item, strings.Join(all, "\n"))
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestTheCheckIsEqualOnEveryEdition counts its requests, too: one for each item and section that is asked for.
func TestTheCheckIsEqualOnEveryEdition(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options sandboxtest.Options
		reads   int
		lacks   []string
	}{
		"v1":             {sandboxtest.Options{Empty: true}, 16, nil},
		"cloud, with v2": {sandboxtest.Options{Empty: true, Edition: sandbox.Cloud}, 14, nil},
		"community":      {sandboxtest.Options{Empty: true, Edition: sandbox.Community}, 16, []string{"work item types"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.options)
			check := append(imported(t, s, "--allow-unsupported"), "--allow-unsupported")
			for _, run := range []struct {
				flags []string
				reads int
				equal bool // in everything
			}{
				{slices.DeleteFunc(slices.Clone(check), func(arg string) bool { return strings.HasPrefix(arg, "--with") || strings.HasPrefix(arg, "comments,") }), tt.reads, false},
				{check, tt.reads + 3*3, tt.lacks == nil},
			} {
				n := len(s.Log())
				report := s.checked(t, run.flags)
				var lacks []string
				for _, not := range report.NotCompared {
					if not.Lacking {
						lacks = append(lacks, not.What)
					}
				}
				reads, writes := s.sent(n)
				if report.Equal != run.equal || len(report.Differences) > 0 || !slices.Equal(lacks, tt.lacks) || reads != run.reads || writes > 0 {
					t.Errorf("equal: %t, lacks %q, %d reads, %d writes, %v", report.Equal, lacks, reads, writes, report.Differences)
				}
			}
		})
	}
}
