package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// answered is the mapping with everything that is open answered, and everything that is lost agreed.
func answered(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var agreed []string
	for _, kind := range []string{
		"assignees", "relations-outside", "second-relations", "relation-types", "parents-outside", "attachments", "comments-not-exported", "bot-comments", "former-sprints",
		"affected-versions", "archived", "start-after-due", "titles-cut", "control-characters", "colours", "watchers", "votes", "worklogs", "reactions",
		"comments-restricted", "comments-outside", "dates-not-understood", "times-of-day", "check-item-people", "history", "values", "sprint-dates",
		"field-parts", "items-not-exported", "restricted",
	} {
		agreed = append(agreed, kind+": all")
	}
	text := regexp.MustCompile(`(?m)^  (ada|"?5b10.*?): '\?'`).ReplaceAllString(string(data), "  $1: ada@example.com")
	text = regexp.MustCompile(`(?m)^  (bob|"?712020:.*?): '\?'`).ReplaceAllString(text, "  $1: bob@example.com")
	text = regexp.MustCompile(`(?m)^  (ug:.*?): '\?'`).ReplaceAllString(text, "  $1: text")
	text = strings.NewReplacer(": '?' # write a field", ": text # write a field", "group: '?'", "group: started").Replace(text)
	text = regexp.MustCompile(`(?m): '\?'( # .*(assigned|reported|comment))`).ReplaceAllString(text, ": text$1")
	text = strings.NewReplacer("P2: '?'", "P2: high", "P2-High: '?'", "P2-High: high", "site: '?'", "site: none", "allow: {}", "allow: {"+strings.Join(agreed, ", ")+"}").Replace(text)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fetched lays the attached files into their folder, and counts them.
func fetched(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(dir, "attachments.tsv"))
	if err != nil {
		return 0
	}
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")[1:]
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		size, _ := strconv.Atoi(cells[2])
		path := filepath.Join(dir, filepath.FromSlash(cells[4]))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, bytes.Repeat([]byte("x"), max(size, 1)), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return len(lines)
}

// attached counts the attachments of an item.
func (s *service) attached(t *testing.T, path string) int {
	t.Helper()
	var list []any
	if err := json.Unmarshal(s.send(t, "GET", path, ""), &list); err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestAnExportOfAnotherTrackerIsAppliedWholeAndOnce(t *testing.T) {
	t.Parallel()
	const data = "../convert/testdata/"
	for name, tt := range map[string]struct {
		files  []string
		want   map[string]int // items by project
		titles []string
	}{
		"Jira Cloud":    {[]string{"jira-csv", data + "jira-cloud.csv"}, map[string]int{"SHOP": 5, "OPS": 1}, []string{"Pay by card", "Checkout"}},
		"Jira Server":   {[]string{data + "jira-server.csv", "--encoding", "windows-1252"}, map[string]int{"WEB": 2}, []string{"Größe ändern", "Second"}},
		"GitHub":        {[]string{"github", data + "github-rest.json", data + "github-comments.json"}, map[string]int{"SHOP": 4}, []string{"Parent", "First"}},
		"a table":       {[]string{"csv", data + "table.csv"}, map[string]int{"CSV": 3}, []string{"Größe; ändern", "Launch"}},
		"a workbook":    {[]string{data + "table.xlsx"}, map[string]int{"XLSX": 3}, []string{"Rich text here", "Second", "103"}},
		"records":       {[]string{data + "table.jsonl"}, map[string]int{"JSONL": 2}, []string{"Seven", "Eight"}},
		"GitLab CSV":    {[]string{"gitlab", data + "gitlab.csv"}, map[string]int{"SHOP": 3}, []string{"=SUM is shown"}},
		"GitLab REST":   {[]string{data + "gitlab.json", data + "gitlab-notes.json"}, map[string]int{"APP": 2}, []string{"Six"}},
		"Asana":         {[]string{data + "asana.csv"}, map[string]int{"WEBSITE": 6}, []string{"Plan, then launch", "Twin"}},
		"Azure":         {[]string{data + "azure.csv"}, map[string]int{"SHOP": 4}, []string{"Checkout", "Wrong total"}},
		"ClickUp":       {[]string{data + "clickup.csv"}, map[string]int{"ACME": 2}, []string{"Launch"}},
		"Redmine":       {[]string{data + "redmine.csv", "--encoding", "windows-1252"}, map[string]int{"WEBSITE": 3}, []string{"Größe falsch"}},
		"Redmine JSON":  {[]string{data + "redmine-issues.json", data + "redmine-single.json", data + "redmine-users.json"}, map[string]int{"WEBSHOP": 2, "OPERATIONS": 1}, []string{"Total is wrong"}},
		"YouTrack JSON": {[]string{data + "youtrack-issues.json", data + "youtrack-comments.json"}, map[string]int{"WEB": 2, "OPS": 1}, []string{"Total is wrong"}},
		"Asana JSON":    {[]string{data + "asana-tasks.json", data + "asana-stories.json"}, map[string]int{"WEBSHOP": 3}, []string{"Total is wrong"}},
		"Bugzilla":      {[]string{data + "bugzilla-bugs.json", data + "bugzilla-more.json"}, map[string]int{"WEBSHOP": 2}, []string{"Total is wrong"}},
		"Azure JSON":    {[]string{data + "azure-items.json", data + "azure-comments.json", data + "azure-updates.json"}, map[string]int{"WEBSHOP": 2, "OPERATIONS": 1}, []string{"Total is wrong"}},
		"YouTrack":      {[]string{data + "youtrack.csv"}, map[string]int{"WEB": 2, "OPS": 1}, []string{"Wrong total"}},
		"Shortcut":      {[]string{data + "shortcut.csv"}, map[string]int{"SHORTCUT": 2}, []string{"Launch", "Old"}},
		"Plane CSV":     {[]string{data + "plane.csv"}, map[string]int{"WEB": 2}, []string{"Launch"}},
		"Plane JSON":    {[]string{data + "plane.json"}, map[string]int{"WEB": 2}, []string{"Second"}},
		"Jira REST":     {[]string{data + "jira-rest-v3-1.json", data + "jira-rest-v3-2.json", data + "jira-rest-comments.json", data + "jira-rest-fields.json"}, map[string]int{"SHOP": 3}, []string{"Ship it now"}},
		"Linear":        {[]string{data + "linear.csv"}, map[string]int{"WEB": 3, "OPS": 1}, []string{"-- basket"}},
		"Linear JSON":   {[]string{data + "linear.json"}, map[string]int{"WEB": 2}, []string{"Test the basket"}},
		"Pivotal":       {[]string{data + "pivotal.csv"}, map[string]int{"PIVOTAL": 2}, []string{"Basket is slow"}},
		"Trello":        {[]string{data + "trello.json", data + "trello-actions.json"}, map[string]int{"WEBSHOP": 5}, []string{"Write the manual"}},
		"gh":            {[]string{"auto", data + "github-gh-utf16.json"}, map[string]int{"APP": 2}, []string{"Größe – wrong"}},
	} {
		if !sample.TakesNamed(name, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMortal(t)
			dir := filepath.Join(s.dir, "out")
			args := append([]string{"convert", "--to", dir}, tt.files...)
			if r := s.run(t, args...); r.code != 3 && name != "Azure" { // whose fixture settles everything
				t.Fatalf("exit code %d\n%s%s", r.code, r.out, r.err)
			}
			answered(t, filepath.Join(dir, "mapping.yaml"))
			files := fetched(t, dir)
			r := s.must(t, args...)
			if !strings.Contains(r.out, "0 questions.\nNext: planform plan -f ") {
				t.Error(r.out)
			}
			s.must(t, "validate", "-f", dir)
			kills, most := 0, 2
			if sample.Each() && slices.Contains([]string{"Jira Cloud", "Jira REST", "Linear", "Trello", "GitHub"}, name) { // the others differ in their columns only
				most = 20
			}
			for ; kills < most && s.kill(t, int64(1+kills%2), "apply", "-f", dir, "--workspace", "acme", "--yes"); kills++ {
			}
			if kills < 2 {
				t.Errorf("it was killed %d times only", kills)
			}
			s.must(t, "apply", "-f", dir, "--workspace", "acme", "--yes", "--patience", "0s")
			var report struct {
				Numbers []struct {
					Project, From string
					New           int
				}
			}
			if err := json.Unmarshal([]byte(s.must(t, append(args, "--output", "json")...).out), &report); err != nil {
				t.Fatal(err)
			}
			state := s.must(t, "state", "list", "-f", dir, "--workspace", "acme").out
			for _, n := range report.Numbers {
				if !regexp.MustCompile(fmt.Sprintf(`(?m)^work_item/\S+/%s +\S+ +%s-%d$`, n.From, n.Project, n.New)).MatchString(state) {
					t.Errorf("%s is not %s-%d in\n%s", n.From, n.Project, n.New, state)
				}
			}
			projects := map[string]int{}
			var titles []string
			comments, attachments := 0, 0
			for _, p := range s.rows(t, "projects/") {
				at := "projects/" + p["id"].(string) + "/work-items/" //nolint:forcetypeassert // as the sandbox answers
				for _, item := range s.rows(t, at) {
					projects[p["identifier"].(string)]++                                 //nolint:forcetypeassert // likewise
					titles = append(titles, item["name"].(string))                       //nolint:forcetypeassert // likewise
					comments += len(s.rows(t, at+item["id"].(string)+"/comments/"))      //nolint:forcetypeassert // likewise
					attachments += s.attached(t, at+item["id"].(string)+"/attachments/") //nolint:forcetypeassert // likewise
				}
			}
			if diff := cmp.Diff(tt.want, projects); diff != "" {
				t.Error(diff)
			}
			for _, title := range tt.titles {
				if !strings.Contains("\n"+strings.Join(titles, "\n")+"\n", "\n"+title+"\n") {
					t.Errorf("%q is missing in %q", title, titles)
				}
			}
			if want := s.run(t, append(args, "--output", "json")...).out; !strings.Contains(regexp.MustCompile(`(?s)"carried".*`).FindString(want), `"comments": `+string(rune('0'+comments))) {
				t.Errorf("%d comments: %s", comments, want)
			}
			if attachments != files {
				t.Errorf("%d attachments, want %d", attachments, files)
			}
			check := append([]string{"convert", "check", "-f", dir, "--workspace", "acme", "--with", "all"}, tt.files...)
			if r := s.must(t, check...); !strings.HasPrefix(r.out, "The export and the workspace acme are equal.\n") {
				t.Error(r.out)
			}
			n := len(s.Log())
			if r := s.must(t, "apply", "-f", dir, "--workspace", "acme", "--yes"); s.written(n) != "" || !strings.Contains(r.out, "No changes.") {
				t.Errorf("the second apply: %s%s%s", r.out, r.err, s.written(n))
			}
		})
	}
}

// TestTheCheckOfTheCommunityEditionIsEqualWithoutWhatThatLacks: a migration is complete without types, and that is said once.
func TestTheCheckOfTheCommunityEditionIsEqualWithoutWhatThatLacks(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Empty: true, Edition: sandbox.Community})
	dir := filepath.Join(s.dir, "out")
	export := []string{"jira-csv", "../convert/testdata/jira-cloud.csv", "--users", "../convert/testdata/users.csv"}
	s.run(t, append([]string{"convert", "--to", dir}, export...)...)
	answered(t, filepath.Join(dir, "mapping.yaml"))
	s.must(t, append([]string{"convert", "--to", dir}, export...)...)
	s.must(t, "apply", "-f", dir, "--workspace", "acme", "--yes", "--allow-unsupported")
	check := append([]string{"convert", "check", "-f", dir, "--workspace", "acme", "--with", "all", "--allow-unsupported"}, export...)
	if r := s.must(t, check...); !strings.HasPrefix(r.out, "The export and the workspace acme are equal in what was compared.\nNot compared: work item types: this edition of the service has none\n\n") ||
		strings.Contains(r.out, "Story") {
		t.Error(r.out)
	}
	if r := s.run(t, slices.DeleteFunc(check, func(arg string) bool { return arg == "--allow-unsupported" })...); r.code != 3 {
		t.Errorf("exit code %d", r.code)
	}
}

func TestAPilotIsCheckedAsItWasConverted(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Empty: true})
	dir := filepath.Join(s.dir, "out")
	export := []string{"jira-csv", "../convert/testdata/jira-cloud.csv", "--users", "../convert/testdata/users.csv"}
	pilot := append([]string{"convert", "--to", dir, "--limit", "2"}, export...)
	s.run(t, pilot...)
	answered(t, filepath.Join(dir, "mapping.yaml"))
	s.must(t, pilot...)
	s.must(t, "apply", "-f", dir, "--workspace", "acme", "--yes")
	check := append([]string{"convert", "check", "-f", dir, "--workspace", "acme", "--with", "all"}, export...)
	if r := s.must(t, append(check, "--limit", "2")...); !strings.HasPrefix(r.out, "The export and the workspace acme are equal.\n") {
		t.Error(r.out)
	}
	if r := s.run(t, check...); r.code != 3 || !strings.Contains(r.out, "\nmissing ") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}

func TestTheCheckNamesWhatDiffersOnTheService(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Empty: true})
	dir := filepath.Join(s.dir, "out")
	export := []string{"jira-csv", "../convert/testdata/jira-cloud.csv", "--users", "../convert/testdata/users.csv"}
	s.run(t, append([]string{"convert", "--to", dir}, export...)...)
	answered(t, filepath.Join(dir, "mapping.yaml"))
	s.must(t, append([]string{"convert", "--to", dir}, export...)...)
	s.must(t, "apply", "-f", dir, "--workspace", "acme", "--yes")
	check := append([]string{"convert", "check", "-f", dir, "--workspace", "acme"}, export...)
	n := len(s.Log())
	if r := s.must(t, check...); !strings.HasPrefix(r.out, "The export and the workspace acme are equal in what was compared.\n") || s.written(n) != "" {
		t.Error(r.out, s.written(n))
	}

	var items string
	for _, p := range s.rows(t, "projects/") {
		if p["identifier"] == "SHOP" {
			items = "projects/" + p["id"].(string) + "/work-items/" //nolint:forcetypeassert // as the sandbox answers
		}
	}
	for _, item := range s.rows(t, items) {
		switch at := items + item["id"].(string) + "/"; item["name"] { //nolint:forcetypeassert // likewise
		case "Summary of the week":
			s.send(t, "DELETE", at, "")
		case "Pay by card":
			s.send(t, "PATCH", at, `{"priority": "low"}`)
		}
	}
	s.send(t, "POST", items, `{"name": "Begun in Plane"}`)
	r := s.run(t, check...)
	if r.code != 3 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.out, r.err)
	}
	differences, table, _ := strings.Cut(r.out, "\n\nkind")
	for _, want := range []string{
		`(?m)^missing +work_item/shop/SHOP-12 +Summary of the week +not on the service$`,
		`(?m)^differs +work_item/shop/SHOP-3 +Pay by card +priority +the export says \S+, the service low$`,
		`(?m)^additional +project/shop +work item SHOP-6 Begun in Plane +only on the service$`,
	} {
		if !regexp.MustCompile(want).MatchString(differences) {
			t.Errorf("%s is missing in\n%s", want, differences)
		}
	}
	if !regexp.MustCompile(`(?m)^work item +priority +6 +5 +4 +1 +1 +- +- +-$`).MatchString(table) {
		t.Error(table)
	}
}

func TestWhoIsNoMemberAnyMoreIsNamedWithTheWayOn(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	file := s.write(t, "issues.jsonl", `{"key": "A-1", "fields": {"summary": "One", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}, "assignee": {"accountId": "gone", "displayName": "Zoe Z.", "emailAddress": "zoe@example.com"}}}
{"key": "A-2", "fields": {"summary": "Two", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}, "assignee": {"accountId": "inactive", "displayName": "Yan Y.", "emailAddress": "yan@example.com", "active": false}}}
{"key": "A-3", "fields": {"summary": "Three", "project": {"key": "A", "name": "A"}, "status": {"name": "Open"}, "assignee": {"accountId": "here", "displayName": "Ada L.", "emailAddress": "Ada@example.com"}}}
`)
	to := filepath.Join(filepath.Dir(file), "to")
	s.run(t, "convert", "jira-json", file, "--to", to)
	mapping, err := os.ReadFile(filepath.Join(to, "mapping.yaml"))
	if err != nil || !strings.Contains(string(mapping), "  inactive: text # Yan Y. - 1 assigned; guessed: left\n") {
		t.Fatalf("%s %v", mapping, err)
	}
	r := s.run(t, "plan", "-f", to, "--workspace", "acme")
	if want := "write gone: text under people: in " + filepath.Join(to, "mapping.yaml"); r.code == 0 || strings.Count(r.err, want) != 1 {
		t.Errorf("%d %s, want %s", r.code, r.err, want)
	}
	members := s.write(t, "members.json", s.must(t, "get", "members", "--workspace", "acme", "--output", "json").out)
	other := filepath.Join(filepath.Dir(file), "other")
	for name, dir := range map[string]string{"at once": other, "later": to} {
		s.run(t, "convert", "jira-json", file, "--to", dir, "--members", members)
		if r := s.run(t, "plan", "-f", dir, "--workspace", "acme"); r.code != 2 && r.code != 0 || strings.Contains(r.err, "zoe") {
			t.Errorf("%s: %d %s", name, r.code, r.err)
		}
	}
	if mapping, err := os.ReadFile(filepath.Join(other, "mapping.yaml")); err != nil ||
		!strings.Contains(string(mapping), "  gone: text # Zoe Z. - 1 assigned; guessed: zoe@example.com is no member\n") {
		t.Errorf("%s %v", mapping, err)
	}
	if r := s.run(t, "convert", "jira-json", file, "--to", other, "--members", file+".none"); r.code != 1 {
		t.Errorf("%d %s", r.code, r.err)
	}
}

// The numbers of the source stay, also of items that are older than their parent.
func TestNumbersOfAnExportAreKept(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"v1", "v2"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
			file := s.write(t, "jira.csv", "Summary,Issue key,Issue id,Issue Type,Status,Parent,Description,Custom field (Story Points),Custom field (Rank)\nOne,A-1,1,Task,Open,6,see A-2,5,0|i00:\nTwo,A-2,2,Task,Open,6,see A-6,8.0,0|hzz:v\nFive,A-5,5,Task,Open,,,,\nEpic,A-6,6,Epic,Open,,,,\nSeven,A-7,7,Task,Open,6,,,\n")
			to := filepath.Join(s.dir, "to")
			if err := os.MkdirAll(to, 0o700); err != nil {
				t.Fatal(err)
			}
			s.write(t, "to/mapping.yaml", "# planform mapping\nnumbers: fill\nsource: {site: none}\nfields: {Story Points: estimate_point, Rank: sort_order}\n")
			s.must(t, "convert", "jira-csv", file, "--to", to)
			s.must(t, "apply", "-f", to, "--workspace", "acme", "--api", api, "--yes")
			project := s.lookUp(t, "projects/", "identifier", "A")
			items, epic := s.rows(t, "projects/"+project+"/work-items/"), s.lookUp(t, "projects/"+project+"/work-items/", "name", "Epic")
			for _, row := range items {
				want := map[any]float64{"One": 1, "Two": 2, "Number 3 of A is not in the export": 3, "Number 4 of A is not in the export": 4, "Five": 5, "Epic": 6, "Seven": 7}[row["name"]]
				if sorted := row["sort_order"]; row["name"] == "One" && (row["estimate_point"] == nil || sorted != 50779978334208.0) {
					t.Errorf("estimated as %v, in the order as %v", row["estimate_point"], sorted)
				}
				child := row["name"] == "One" || row["name"] == "Two" || row["name"] == "Seven"
				if row["sequence_id"] != want || (row["parent"] == epic) != child {
					t.Errorf("%v has the number %v and the parent %v", row["name"], row["sequence_id"], row["parent"])
				}
			}
			if r := s.must(t, "apply", "-f", to, "--workspace", "acme", "--api", api, "--yes"); !strings.Contains(r.out, "o change") {
				t.Error(r.out)
			}
		})
	}
}

// The manifest says which order its numbers need; the command line may say another.
func TestTheOrderOfTheCommandLineOverridesThatOfTheManifest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, manifest, flag, want string
	}{
		{"the manifest says exact", "exact", "", "2"},
		{"the flag says otherwise", "exact", "manifest", "1"},
		{"the flag alone says exact", "manifest", "exact", "2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			file := s.write(t, "a.yaml", "version: 1\nworkspace: acme\norder: "+tt.manifest+
				"\nprojects: [{key: a, identifier: AA, name: A, work_items: [{name: Child, parent: epic}, {name: Epic}]}]\n")
			args := []string{"apply", "-f", file}
			if tt.flag != "" {
				args = append(args, "--order", tt.flag)
			}
			s.must(t, args...)
			for _, row := range s.Rows("work_item") {
				if row["name"] == "Epic" && fmt.Sprint(row["sequence_id"]) != tt.want {
					t.Errorf("the epic has the number %v, not %s", row["sequence_id"], tt.want)
				}
			}
			if r := s.must(t, "plan", "-f", file); !strings.Contains(r.out, "No changes") {
				t.Error(r.out)
			}
		})
	}
}

// Before the switch people work on the service already: what they delete does not come back.
func TestWhatPeopleDeleteBeforeTheSwitchStaysDeleted(t *testing.T) {
	t.Parallel()
	for name, edition := range map[string]sandbox.Edition{"community": sandbox.Community, "cloud": sandbox.Cloud} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: edition})
			file := s.write(t, "jira.csv", "Summary,Issue key,Issue id,Status,Parent,Comment,Inward issue link (Blocks)\nOne,A-1,1,Open,,18/Feb/26 9:10 AM;u1;Hello,\nTwo,A-2,2,Open,1,18/Feb/26 9:10 AM;u1;Bye,\nThree,A-3,3,Open,,,A-1\n")
			to := filepath.Join(s.dir, "to")
			if err := os.MkdirAll(to, 0o700); err != nil {
				t.Fatal(err)
			}
			s.write(t, "to/mapping.yaml", "# planform mapping\nsource: {site: none}\npeople: {u1: text}\n")
			s.run(t, "convert", "jira-csv", file, "--to", to)
			apply := func() ran {
				return s.must(t, "apply", "-f", to, "--workspace", "acme", "--on-drift", "keep", "--yes")
			}
			apply()
			items := "projects/" + s.lookUp(t, "projects/", "identifier", "A") + "/work-items/"
			two := s.lookUp(t, items, "name", "Two")
			for _, row := range s.rows(t, items+two+"/comments/") {
				s.send(t, "DELETE", items+two+"/comments/"+fmt.Sprint(row["id"])+"/", "")
			}
			s.send(t, "DELETE", items+s.lookUp(t, items, "name", "Three")+"/", "")
			for range 2 {
				r := apply()
				if n := len(s.rows(t, items)); n != 2 || len(s.rows(t, items+two+"/comments/")) != 0 {
					t.Errorf("%d items are there", n)
				}
				for _, gone := range []string{"work_item/a/A-3 was deleted", "comment/a/A-2/"} {
					if !strings.Contains(r.err+r.out, gone) {
						t.Errorf("%q is not named: %s%s", gone, r.out, r.err)
					}
				}
			}
		})
	}
}
