package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/proof"
	"github.com/planform/planform/internal/sample"
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
	return importedFrom(t, s, teamExport, flags...)
}

// importedFrom applies an export. Severity is a custom field, if there is one, and story points are the estimate.
func importedFrom(t *testing.T, s *service, text string, flags ...string) []string {
	t.Helper()
	dir := filepath.Join(s.dir, "out")
	export := s.write(t, "jira.csv", text)
	s.write(t, "users.csv", "User id,email\nu1,ada@example.com\nu2,bob@example.com\n")
	convert := []string{"convert", "jira-csv", export, "--to", dir, "--users", filepath.Join(s.dir, "users.csv")}
	s.run(t, convert...)
	if err := os.MkdirAll(filepath.Join(dir, "attachments"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "out/attachments/11-plan.txt", "the plan")
	mapping := filepath.Join(dir, "mapping.yaml")
	answered(t, mapping)
	answers, err := os.ReadFile(mapping)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "out/mapping.yaml", strings.NewReplacer(
		"Severity: text", "Severity: {field: Severity}", "Story Points: text", "Story Points: estimate_point",
	).Replace(string(answers)))
	s.must(t, convert...)
	s.must(t, append([]string{"apply", "-f", dir, "--workspace", "acme", "--yes"}, flags...)...)
	return []string{"convert", "check", "jira-csv", export, "-f", dir, "--workspace", "acme", "--output", "json", "--with", "all"}
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

// TestTheCheckFindsEachSingleChange makes one change after the other on the service: the check then says that, and nothing else, anew.
func TestTheCheckFindsEachSingleChange(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]sandboxtest.Options{
		"v1": {Empty: true}, "cloud, with v2": {Empty: true, Edition: sandbox.Cloud}, "community": {Empty: true, Edition: sandbox.Community},
	} {
		if !sample.Each() && name != "v1" {
			continue // a sample: one edition
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, options)
			check := append(imported(t, s, "--allow-unsupported"), "--allow-unsupported")
			before := s.checked(t, check)
			if len(before.Differences) > 0 || len(before.Fields) < 15 {
				t.Fatalf("not equal before anything was changed: %+v", before)
			}
			for _, tt := range singleChanges(t, s) {
				if tt.paid && options.Edition == sandbox.Community {
					continue
				}
				tt.change()
				after := s.checked(t, check)
				if diff := cmp.Diff(tt.found, anew(before, after)); diff != "" {
					t.Errorf("%s:\n%s", tt.name, diff)
				}
				before = after
			}
		})
	}
}

// TestTheCheckFindsSingleChangesOfWhatPaidEditionsHave, such as estimates.
func TestTheCheckFindsSingleChangesOfWhatPaidEditionsHave(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]sandboxtest.Options{
		"v1": {Empty: true}, "cloud, with v2": {Empty: true, Edition: sandbox.Cloud},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, options)
			check := importedFrom(t, s, "Summary,Issue key,Issue id,Issue Type,Status,Project key,Project name,"+
				"Attachment,Custom field (Story Points),Custom field (Severity)\nFirst,T-1,1,Task,To Do,T,Team,22/Sep/25 9:26 AM;Ada;plan.pdf;https://site.example/rest/api/3/attachment/content/12,3,High\n"+
				"Second,T-2,2,Task,To Do,T,Team,,5,Low\n")
			before := s.checked(t, check)
			if len(before.Differences) > 0 {
				t.Fatalf("not equal before anything was changed: %+v", before.Differences)
			}
			project := fmt.Sprintf("projects/%s/", s.row(t, "project", "Team")["id"])
			first := fmt.Sprintf("%swork-items/%s/", project, s.row(t, "work_item", "First")["id"])
			only := func(kind, field, text string) any {
				rows := s.Rows(kind)
				n := slices.IndexFunc(rows, func(row map[string]any) bool { return row[field] == text })
				if n < 0 {
					t.Fatalf("no %s %q: %v", kind, text, rows)
				}
				return rows[n]["id"]
			}
			severity := func(value any) func() {
				return func() {
					id := only("work_item_property", "display_name", "Severity")
					s.do(t, "POST", fmt.Sprintf("%swork-item-properties/%s/values/", first, id), map[string]any{"value": value})
				}
			}
			milestone := func(of string) func() {
				return func() {
					m := s.write(t, "milestone.yaml", "version: 1\nworkspace: acme\nprojects:\n  - identifier: T\n    milestones: [{title: Mine}]\n"+of)
					s.must(t, "apply", "-f", m, "--yes")
				}
			}
			for _, tt := range []singleChange{
				{name: "another estimate", change: func() {
					s.changeItem(t, "First", map[string]any{"estimate_point": only("estimate_point", "value", "5")})
				}, found: []string{"differs work_item/t/T-1 estimate_point"}},
				{
					name: "no estimate", change: func() { s.changeItem(t, "Second", map[string]any{"estimate_point": nil}) },
					found: []string{"differs work_item/t/T-2 estimate_point"},
				},
				{name: "another custom value", change: severity("Higher"), found: []string{"differs work_item/t/T-1 fields.severity"}},
				{name: "a link removed", change: func() {
					s.do(t, "DELETE", fmt.Sprintf("%slinks/%s/", first, s.Rows("link")[0]["id"]), nil)
				}, found: []string{"missing link/t/T-1/https://site.example/rest/api/3/attachment/content/12"}},
				{name: "a milestone", change: milestone(""), found: []string{"additional project/t milestone Mine"}},
				{
					name: "into that milestone", change: milestone("    work_items: [{identifier: T-2, key: T-2, milestone: Mine}]\n"),
					found: []string{"additional work_item/t/T-2 milestone"}, v2: true,
				},
			} {
				if tt.v2 && options.Edition != sandbox.Cloud {
					continue
				}
				tt.change()
				after := s.checked(t, check)
				if diff := cmp.Diff(tt.found, anew(before, after)); diff != "" {
					t.Errorf("%s:\n%s", tt.name, diff)
				}
				before = after
			}
		})
	}
}

// TestWhatIsMissingIsCountedOnce also where a request of its own would send a value of it.
func TestWhatIsMissingIsCountedOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Empty: true})
	check := importedFrom(t, s, "Summary,Issue key,Issue id,Issue Type,Status,Project key,Project name,Custom field (Severity)\n"+
		"First,T-1,1,Task,To Do,T,Team,High\nSecond,T-2,2,Task,To Do,T,Team,Low\n")
	s.do(t, "DELETE", fmt.Sprintf("projects/%s/work-items/%s/", s.row(t, "project", "Team")["id"], s.row(t, "work_item", "Second")["id"]), nil)
	report := s.checked(t, check)
	if diff := cmp.Diff([]string{"missing work_item/t/T-2"}, anew(proof.Report{}, report)); diff != "" {
		t.Error(diff)
	}
	for _, f := range report.Fields {
		if f.Equal < 0 || f.Equal+f.Differing+f.Missing+f.NotCompared != f.Export {
			t.Errorf("the counts are not their sum: %+v", f)
		}
	}
}

// anew are the differences that a check had not said before.
func anew(before, after proof.Report) []string {
	var found []string
	for _, d := range after.Differences {
		line := strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", d.What, d.Item, d.Field)), " ")
		if d.What == "additional" && d.Field == "" {
			line += " " + d.Kind + " " + strings.Join(strings.Fields(d.Name), " ")
		}
		if !slices.ContainsFunc(before.Differences, func(had proof.Difference) bool { return cmp.Equal(had, d) }) {
			found = append(found, line)
		}
	}
	return found
}

type singleChange struct {
	name   string
	change func()
	found  []string
	paid   bool // the API of the community edition has nothing for it
	v2     bool // nor has API v1
}

// singleChanges are changes that people make in the workspace of that export, one after the other.
func singleChanges(t *testing.T, s *service) []singleChange {
	t.Helper()
	id := func(kind, name string) any { return s.row(t, kind, name)["id"] }
	project := fmt.Sprintf("projects/%s/", id("project", "Team"))
	of := func(item, rest string) string {
		return fmt.Sprintf("%swork-items/%s/%s", project, id("work_item", item), rest)
	}
	in := func(kind, item string) any {
		rows := s.Rows(kind)
		n := slices.IndexFunc(rows, func(row map[string]any) bool { return row["issue"] == id("work_item", item) })
		if n < 0 {
			t.Fatalf("no %s in %s: %v", kind, item, rows)
		}
		return rows[n]["id"]
	}
	post := func(path string, fields map[string]any) func() { return func() { s.do(t, "POST", path, fields) } }
	set := func(item, field string, value any) func() {
		return func() { s.changeItem(t, item, map[string]any{field: value}) }
	}
	named := func(item, field, kind string, names ...string) func() {
		return func() {
			ids := []any{}
			for _, name := range names {
				ids = append(ids, id(kind, name))
			}
			s.changeItem(t, item, map[string]any{field: ids})
		}
	}
	container := func(kind, name, member string) string {
		return fmt.Sprintf("%s%ss/%s/%s-issues/%s", project, kind, id(kind, name), kind, member)
	}
	into := func(kind, name, item string) func() {
		return func() {
			s.do(t, "POST", container(kind, name, ""), map[string]any{"issues": []any{id("work_item", item)}})
		}
	}
	out := func(kind, name, item string) func() {
		return func() { s.do(t, "DELETE", container(kind, name, fmt.Sprint(id("work_item", item))+"/"), nil) }
	}
	relate := func(from, relation, to string) func() {
		return func() {
			s.do(t, "POST", of(from, "relations/"), map[string]any{"relation_type": relation, "issues": []any{id("work_item", to)}})
		}
	}
	file := func(text string) func() {
		return func() {
			s.do(t, "DELETE", of("First", fmt.Sprintf("attachments/%s/", in("attachment", "First"))), nil)
			s.write(t, "plan.txt", text)
			m := s.write(t, "file.yaml", "version: 1\nworkspace: acme\nprojects:\n  - identifier: T\n    work_items:\n"+
				"      - {identifier: T-1, key: T-1, attachments: [{file: plan.txt}]}\n")
			s.must(t, "apply", "-f", m, "--yes")
		}
	}
	const first, second, third = "work_item/t/T-1", "work_item/t/T-2", "work_item/t/T-3"
	one := func(line string) []string { return []string{line} }
	return []singleChange{
		{name: "a text", change: set("First", "description_html", "<p>other</p>"), found: one("differs " + first + " description")},
		{name: "a title", change: set("Second", "name", "2nd"), found: one("differs " + second + " name")},
		{name: "its former title", change: set("2nd", "name", "Second")},
		{name: "a state", change: func() { set("First", "state", id("state", "Cancelled"))() }, found: one("differs " + first + " state")},
		{name: "a priority", change: set("First", "priority", "urgent"), found: one("differs " + first + " priority")},
		{name: "no priority", change: set("Second", "priority", "none"), found: one("differs " + second + " priority")},
		{name: "a due date", change: set("First", "target_date", "2030-01-01"), found: one("differs " + first + " target_date")},
		{name: "no due date", change: set("Second", "target_date", nil), found: one("differs " + second + " target_date")},
		{name: "a start", change: set("First", "start_date", "2020-01-01"), found: one("additional " + first + " start_date")},
		{name: "a type", change: func() { set("First", "type_id", nil)() }, found: one("differs " + first + " type"), paid: true},
		{name: "a label more", change: named("First", "labels", "label", "red", "blue"), found: one("differs " + first + " labels")},
		{name: "no label", change: set("Second", "labels", []any{}), found: one("differs " + second + " labels")},
		{name: "nobody assigned", change: set("First", "assignees", []any{}), found: one("differs " + first + " assignees")},
		{
			name: "somebody else assigned", change: named("Second", "assignees", "member", "bob@example.com"),
			found: one("differs " + second + " assignees"),
		},
		{name: "no parent", change: set("Second", "parent", nil), found: one("differs " + second + " parent")},
		{name: "a parent", change: func() { set("First", "parent", id("work_item", "Second"))() }, found: one("additional " + first + " parent")},
		{name: "no parent again", change: set("First", "parent", nil)},
		{name: "a comment edited", change: func() {
			s.change(t, of("First", fmt.Sprintf("comments/%s/", in("comment", "First"))), map[string]any{"comment_html": "<p>x</p>"})
		}, found: one("differs comment/t/T-1/20250922T0927-u1-1 text")},
		{name: "a comment deleted", change: func() {
			s.do(t, "DELETE", of("Second", fmt.Sprintf("comments/%s/", in("comment", "Second"))), nil)
		}, found: one("missing comment/t/T-2/20250923T0927-u1-1")},
		{
			name: "a comment added", change: post(of("Third", "comments/"), map[string]any{"comment_html": "<p>mine</p>"}),
			found: one("additional " + third + " comment mine"),
		},
		{
			name: "a link added", change: post(of("First", "links/"), map[string]any{"url": "https://example.com/mine"}),
			found: one("additional " + first + " link https://example.com/mine"),
		},
		{
			name: "a file of another size", change: file("another plan"),
			found: []string{"missing attachment/t/T-1/11", "additional " + first + " attachment plan.txt"},
		},
		{name: "a file of the same size", change: file("the plan")},
		{name: "a relation removed", change: func() {
			s.do(t, "POST", of("First", "relations/remove/"), map[string]any{"related_issue": id("work_item", "Second")})
		}, found: one("differs " + first + " blocking"), paid: true},
		{name: "another relation", change: relate("Second", "relates_to", "Third"), found: one("additional " + second + " relates_to")},
		{name: "a relation to an item of the people", change: func() {
			s.do(t, "POST", project+"work-items/", map[string]any{"name": "Fourth"})
			relate("Third", "blocking", "Fourth")()
		}, found: []string{"additional project/t work_item T-4 Fourth", "additional " + third + " blocking"}},
		{name: "out of its module", change: out("module", "Api", "Third"), found: one("differs " + third + " module")},
		{name: "into another module", change: into("module", "Api", "First"), found: one("additional " + first + " module")},
		{name: "a module more", change: post(project+"modules/", map[string]any{"name": "Mine"}), found: one("additional project/t module Mine")},
		{name: "into that module", change: into("module", "Mine", "Third"), found: one("additional " + third + " module")},
		{name: "out of its cycle", change: out("cycle", "Sprint 2", "Third"), found: one("differs " + third + " cycle")},
		{name: "into another cycle", change: into("cycle", "Sprint 1", "Third"), found: one("differs " + third + " cycle")},
		{
			name: "a cycle more", change: post(project+"cycles/", map[string]any{"name": "Mine", "project_id": id("project", "Team")}),
			found: one("additional project/t cycle Mine"),
		},
		{name: "into that cycle", change: into("cycle", "Mine", "Second"), found: one("differs " + second + " cycle")},
		{
			name: "a label of the people", change: post(project+"labels/", map[string]any{"name": "Mine"}),
			found: one("additional project/t label Mine"),
		},
		{
			name: "a state of the people", change: post(project+"states/", map[string]any{"name": "Mine", "color": "#123456", "group": "started"}),
			found: one("additional project/t state Mine"),
		},
		{name: "a label renamed", change: func() {
			s.change(t, fmt.Sprintf("%slabels/%s/", project, id("label", "blue")), map[string]any{"name": "green"})
		}, found: one("differs label/t/blue name")},
		{name: "a module described", change: func() {
			s.change(t, fmt.Sprintf("%smodules/%s/", project, id("module", "Web")), map[string]any{"description": "Pages"})
		}, found: one("additional module/t/web description")},
		{
			name: "the project's name", change: func() { s.change(t, project, map[string]any{"name": "Other"}) },
			found: one("differs project/t name"),
		},
		{name: "an item deleted", change: func() { s.do(t, "DELETE", of("Second", ""), nil) }, found: one("missing " + second)},
		{name: "an item archived", change: func() {
			s.changeItem(t, "Third", map[string]any{"state": id("state", "Cancelled")})
			s.changeItem(t, "Third", map[string]any{"archived_at": "2026-01-01"})
		}, found: []string{"missing " + third, "missing comment/t/T-3/20250924T0927-u2-1"}},
	}
}

// TestTheCheckIsEqualOnEveryEdition counts its requests, too: one for each item and part that is asked for, but for the relations that are
// read anyway. API v1 needs one more for the roles.
func TestTheCheckIsEqualOnEveryEdition(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options sandboxtest.Options
		reads   int
		lacks   []string
	}{
		"v1":             {sandboxtest.Options{Empty: true}, 18, nil},
		"cloud, with v2": {sandboxtest.Options{Empty: true, Edition: sandbox.Cloud}, 15, nil},
		"community":      {sandboxtest.Options{Empty: true, Edition: sandbox.Community}, 18, []string{"work item types"}},
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
				{slices.DeleteFunc(slices.Clone(check), func(arg string) bool { return arg == "--with" || arg == "all" }), tt.reads, false},
				{check, tt.reads + 3*3 + 2, tt.lacks == nil},
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
