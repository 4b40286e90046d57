package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// change is what somebody does in the web app.
func (s *service) change(tb testing.TB, path string, fields map[string]any) {
	tb.Helper()
	s.do(tb, http.MethodPatch, path, fields)
}

func (s *service) do(tb testing.TB, method, path string, fields map[string]any) {
	tb.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(tb.Context(), method, s.url+"/api/v1/workspaces/acme/"+path, strings.NewReader(string(body)))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("X-Api-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode >= 300 {
		tb.Fatalf("%s: %s: %v %s", path, body, res.Status, text)
	}
}

// row is the row of a kind that bears a name.
func (s *service) row(tb testing.TB, kind, name string) map[string]any {
	tb.Helper()
	rows := s.Rows(kind)
	at := slices.IndexFunc(rows, func(row map[string]any) bool { return row["name"] == name || row["email"] == name })
	if at < 0 {
		tb.Fatalf("no %s %q", kind, name)
	}
	return rows[at]
}

func (s *service) changeItem(tb testing.TB, name string, fields map[string]any) {
	tb.Helper()
	item := s.row(tb, "work_item", name)
	s.change(tb, fmt.Sprintf("projects/%s/work-items/%s/", item["project"], item["id"]), fields)
}

// TestPullTakesIntoManifestsThatLeaveTheWorkspaceToTheEnvironment, which the manifests that are read again do not name either.
func TestPullTakesIntoManifestsThatLeaveTheWorkspaceToTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	env := map[string]string{"PLANE_BASE_URL": s.url, "PLANE_API_KEY": sandbox.Key, "PLANE_WORKSPACE_SLUG": sandbox.Workspace}
	m := s.write(t, "m.yaml", "version: 1\nprojects: [{identifier: WEB, work_items: [{key: a, name: Alpha, priority: low}]}]\n")
	if r := runIn(env, "apply", "-f", m); r.code != 0 {
		t.Fatal(r.err)
	}
	s.changeItem(t, "Alpha", map[string]any{"priority": "high"})
	if r := runIn(env, "pull", "-f", m); r.code != 0 || !strings.Contains(r.out, "Taken: 1 value") {
		t.Error(r.out, r.err)
	}
}

// onboarding is a manifest of fifty work items in many styles.
func onboarding() string {
	var b strings.Builder
	b.WriteString("# Onboarding.\nversion: 1\nworkspace: acme\ndefaults:\n  work_item: {priority: medium} # of all\nprojects:\n  - identifier: WEB\n    labels: [{name: urgent stuff}, {name: later}]\n    work_items:\n")
	for i := 1; i <= 50; i++ {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "      - {key: task-%d, name: Task %d, state: Todo, labels: [later]} # item %d\n", i, i, i)
		case 1:
			fmt.Fprintf(&b, "      # item %d\n      - name:   \"Task %d\"   # the name\n        state: 'Todo'\n        target_date: 2026-12-01\n\n        labels:\n          # why\n          - later # so\n        description: |-\n          One.\n\n          Two.\n        # end %d\n", i, i, i)
		default:
			fmt.Fprintf(&b, "      - name: Task %d\n        assignees: [ ada@example.com ]\n        priority: high\n        start_date: 2026-12-01 # item %d\n\n", i, i)
		}
	}
	return b.String()
}

func TestPullTakesWhatPeopleChangedAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, form := range []struct {
		name   string
		change func(string) string
	}{
		{"as it is", func(text string) string { return text }},
		{"with the line ends of Windows", func(text string) string { return "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n") }},
	} {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			before := form.change(onboarding())
			file := s.write(t, "m.yaml", before)
			s.must(t, "apply", "-f", file)
			done, bob, urgent := s.row(t, "state", "Done")["id"], s.row(t, "member", "bob@example.com")["id"], s.row(t, "label", "urgent stuff")["id"]
			later := s.row(t, "label", "later")["id"]
			for i := 1; i <= 30; i++ {
				name := fmt.Sprintf("Task %d", i)
				switch i % 3 {
				case 0:
					s.changeItem(t, name, map[string]any{"state": done, "labels": []any{later, urgent}})
				case 1:
					s.changeItem(t, name, map[string]any{"name": "Renamed: " + name + " # 1", "target_date": "2026-12-24", "labels": []any{}, "description_html": "<p>One.</p><ul><li>two</li></ul>"})
				default:
					s.changeItem(t, name, map[string]any{"assignees": []any{bob}, "priority": "low", "start_date": nil})
				}
			}

			dry := s.run(t, "pull", "-f", file, "--dry-run", "--detailed-exitcode")
			if dry.code != 2 || !strings.Contains(dry.out, "Would take 90 values into 1 file.") || !strings.Contains(dry.out, "-        target_date: 2026-12-01\n+        target_date: 2026-12-24\n") {
				t.Errorf("exit %d\n%s%s", dry.code, last(dry.out), dry.err)
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != before {
				t.Fatal("a dry run writes", err)
			}
			wrote := len(s.Log())
			if r := s.must(t, "pull", "-f", file); !strings.Contains(r.out, "m.yaml: 90 values\nTaken: 90 values.") {
				t.Errorf("%s%s", r.out, r.err)
			}
			if _, writes := s.sent(wrote); writes != 0 {
				t.Error("pull writes to the service")
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			after := string(data)
			want := onboarding()
			for i := 1; i <= 30; i++ {
				name := fmt.Sprintf("Task %d", i)
				old, now := "name: "+name+", state: Todo, labels: [later]}", "name: "+name+", state: Done, labels: [later, urgent stuff]}"
				switch i % 3 {
				case 1:
					old = fmt.Sprintf("\"%s\"   # the name\n        state: 'Todo'\n        target_date: 2026-12-01\n\n        labels:\n          # why\n          - later # so\n        description: |-\n          One.\n\n          Two.\n", name)
					now = fmt.Sprintf("\"Renamed: %s # 1\"   # the name\n        key: task-%d\n        state: 'Todo'\n        target_date: 2026-12-24\n\n        labels: []\n          # why\n        description: |-\n          One.\n\n          - two\n", name, i)
				case 2:
					old = fmt.Sprintf("name: %s\n        assignees: [ ada@example.com ]\n        priority: high\n        start_date: 2026-12-01 #", name)
					now = fmt.Sprintf("name: %s\n        assignees: [bob@example.com]\n        priority: low\n        start_date: null #", name)
				}
				if !strings.Contains(want, old) {
					t.Fatalf("no %q", old)
				}
				want = strings.Replace(want, old, now, 1)
			}
			want = form.change(want)
			if after != want {
				t.Errorf("%s", after)
			}
			if r := s.must(t, "plan", "-f", file, "--detailed-exitcode"); !strings.Contains(r.out, "No changes.") {
				t.Errorf("%s", r.out)
			}
			if r := s.must(t, "pull", "-f", file); !strings.Contains(r.out, "Nothing to take.") {
				t.Errorf("%s", r.out)
			}
			wrote = len(s.Log())
			s.must(t, "apply", "-f", file)
			if _, writes := s.sent(wrote); writes != 0 {
				t.Errorf("apply writes:%s", requests(s, wrote))
			}
			s.changeItem(t, "Task 3", map[string]any{"state": s.row(t, "state", "Todo")["id"]}) // as it was at first
			if r := s.must(t, "pull", "-f", file); !strings.Contains(r.out, "Taken: 1 value.") {
				t.Errorf("what was pulled and applied does not count as applied:\n%s%s", r.out, r.err)
			}
		})
	}
}

func TestHostileValuesComeBackAsTheSameText(t *testing.T) {
	t.Parallel()
	values := []string{
		"yes", "null", "~", "0777", "2026-12-01", "a: b", "a #b", "# a", "- a", "!!int 1", "!tag", "&a", "*a", "@x", "`x`", "%x", "{a", "]", "'", "\"\\\"", "<<", "=", "?", ": ", "---", "...", "1_000", "0x1f", "1e3", ".inf",
		"12:30:45", "\u202ereversed", "a\u2028b", "a\u0085x", "\U0001F600", "${x}", "{{ x }}", "$x", strings.Repeat("long ", 50), "a, b]", "key: [x", "true", "on", "\ufeffmark", "planform:work_item/web/x", "x\u200by",
	}
	for form, write := range map[string]func(i int, name string) string{
		"plain": func(i int, name string) string {
			return fmt.Sprintf("      - key: i%d\n        name: %s # c\n", i, name)
		},
		"quoted": func(i int, name string) string { return fmt.Sprintf("      - {key: i%d, name: '%s'}\n", i, name) },
		"JSON": func(i int, name string) string {
			return fmt.Sprintf("%s{\"key\": \"i%d\", \"name\": %q}\n", strings.Repeat(",", min(i, 1)), i, name)
		},
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			var b strings.Builder
			name, head, foot := "m.yaml", "version: 1\nworkspace: acme\nprojects:\n  - identifier: WEB\n    work_items:\n", ""
			if form == "JSON" {
				name, head, foot = "m.json", `{"version": 1, "workspace": "acme", "projects": [{"identifier": "WEB", "work_items": [`, "]}]}\n"
			}
			b.WriteString(head)
			for i := range values {
				b.WriteString(write(i, fmt.Sprintf("Item %d", i)))
			}
			file := s.write(t, name, b.String()+foot)
			s.must(t, "apply", "-f", file)
			for i, value := range values {
				s.changeItem(t, fmt.Sprintf("Item %d", i), map[string]any{"name": value, "description_html": "<p>x</p>"})
			}
			r := s.run(t, "pull", "-f", file)
			if r.code != 0 {
				t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
			}
			if r := s.must(t, "plan", "-f", file, "--detailed-exitcode"); !strings.Contains(r.out, "No changes.") {
				t.Errorf("%s", r.out)
			}
			if text, err := os.ReadFile(file); err != nil || form == "JSON" && !json.Valid(text) {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

func TestPullFollowsWhoWasMoved(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	file := s.write(t, "m.yaml", `version: 1
workspace: acme
projects:
  - identifier: WEB
    modules: [{key: one, name: One}, {key: two, name: Two}, {key: three, name: Three}]
    cycles: [{key: first, name: First}, {key: second, name: Second}]
    work_items:
      - {key: a, name: A, module: one, cycle: first} # a
      - {key: b, name: B, modules: [one, two], cycle: first} # b
      - {key: c, name: C, module: one, relations: {blocked_by: [a, b]}} # c
      - {key: d, name: D, cycle: first}
`)
	s.must(t, "apply", "-f", file)
	at := fmt.Sprintf("projects/%s/", sandboxtest.ProjectWeb)
	id := func(kind, name string) string { return fmt.Sprint(s.row(t, kind, name)["id"]) }
	a, b, c := id("work_item", "A"), id("work_item", "B"), id("work_item", "C")
	one, two := at+"modules/"+id("module", "One")+"/module-issues/", at+"modules/"+id("module", "Two")+"/module-issues/"
	s.do(t, http.MethodDelete, one+a+"/", nil)
	s.do(t, http.MethodPost, two, map[string]any{"issues": []string{a}})
	s.do(t, http.MethodDelete, one+b+"/", nil)
	s.do(t, http.MethodDelete, one+c+"/", nil)
	s.do(t, http.MethodPost, at+"cycles/"+id("cycle", "Second")+"/cycle-issues/", map[string]any{"issues": []string{a}})
	s.do(t, http.MethodPost, at+"work-items/"+c+"/relations/remove/", map[string]any{"related_issue": b})
	r := s.must(t, "pull", "-f", file)
	now, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"{key: a, name: A, module: two, cycle: second} # a", "{key: b, name: B, modules: [two], cycle: first} # b", "{key: c, name: C, module: null, relations: {blocked_by: [a]}} # c",
	} {
		if !strings.Contains(string(now), want) {
			t.Errorf("no %q in\n%s%s%s", want, now, r.out, r.err)
		}
	}
	if r := s.must(t, "plan", "-f", file); !strings.Contains(r.out, "No changes") && !strings.Contains(r.out, "0 requests") {
		t.Errorf("%s%s", r.out, r.err)
	}
	s.must(t, "apply", "-f", file)
	if r := s.must(t, "plan", "-f", file, "--detailed-exitcode"); !strings.Contains(r.out, "No changes") {
		t.Errorf("%s%s", r.out, r.err)
	}
	s.do(t, http.MethodPost, at+"cycles/"+id("cycle", "First")+"/cycle-issues/", map[string]any{"issues": []string{a}}) // and back
	s.do(t, http.MethodDelete, at+"work-items/"+id("work_item", "D")+"/", nil)
	if r := s.must(t, "pull", "-f", file); !strings.Contains(r.out, "Taken: 1 value.") || !strings.Contains(r.err, "work_item/web/d was deleted or archived on the service since the last apply") {
		t.Errorf("%s%s", r.out, r.err)
	}
}

func TestPullWritesWhatFollowedFromAnObject(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	file := s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects:\n  - key: shop # ours\n    identifier: SHOP\n    name: Shop\n    cycles: [{key: one, name: One}]\n")
	s.must(t, "apply", "-f", file)
	s.change(t, fmt.Sprintf("projects/%s/", s.row(t, "project", "Shop")["id"]), map[string]any{"cycle_view": false})
	r := s.run(t, "pull", "-f", file)
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "  - key: shop # ours\n    cycle_view: false\n    identifier: SHOP\n") {
		t.Errorf("%v %s%s%s", err, text, r.out, r.err)
	}
}

func TestPullRewritesTheFilesOfPages(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	file := s.write(t, "m.yaml", "version: 1\nworkspace: acme\nvars: {a: b}\npages:\n  - {name: Handbook, file: docs/handbook.md} # ours\n")
	if err := os.Mkdir(filepath.Join(s.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	page := s.write(t, "docs/handbook.md", "# Rules\r\n\r\nBe nice.\r\n")
	s.must(t, "apply", "-f", file)
	s.must(t, "plan", "-f", file)
	theirs := s.write(t, "theirs.yaml", "version: 1\nworkspace: acme\npages:\n  - {name: Handbook, description_html: '<h1>Rules</h1><p>Be <b>kind</b> to ${{ vars.a }}.</p>'}\n")
	s.must(t, "apply", "-f", theirs, "--state", filepath.Join(s.dir, "theirs.json"))
	if r := s.must(t, "pull", "-f", file); !strings.Contains(r.out, "handbook.md: 1 value\n") {
		t.Errorf("%s%s", r.out, r.err)
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != "# Rules\r\n\r\nBe **kind** to ${{ vars.a }}.\r\n" {
		t.Errorf("%v %q", err, text)
	}
	if r := s.must(t, "plan", "-f", file, "--detailed-exitcode"); !strings.Contains(r.out, "No changes.") {
		t.Errorf("%s", r.out)
	}
}

func TestWhatNoManifestCanSayIsNamedAndTheRestIsTaken(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	file := s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: a, name: A, priority: low}, {key: b, name: B}]}]\n")
	s.must(t, "apply", "-f", file)
	s.changeItem(t, "B", map[string]any{"name": "a\x1b[31mb\u0001"})
	s.changeItem(t, "A", map[string]any{"priority": "high"})
	r := s.run(t, "pull", "-f", file)
	if r.code != 3 || !strings.Contains(r.out, "Taken: 1 value") || !strings.Contains(r.err, "name of work_item/web/b is not taken: it contains the control character") || strings.Contains(r.out+r.err, "\x1b") {
		t.Errorf("exit %d\n%q%q", r.code, r.out, r.err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "{key: a, name: A, priority: high}, {key: b, name: B}") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestPullKeepsPermissionsAndLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has others
	}
	s := newService(t, sandboxtest.Options{})
	file := s.write(t, "real.yaml", "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: a, name: A, priority: low}]}]\n")
	link := filepath.Join(s.dir, "m.yaml")
	if err := os.Symlink("real.yaml", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	s.must(t, "apply", "-f", link)
	s.changeItem(t, "A", map[string]any{"priority": "high"})
	s.must(t, "pull", "-f", link)
	info, err := os.Stat(file)
	if at, linked := os.Readlink(link); err != nil || linked != nil || at != "real.yaml" || info.Mode().Perm() != 0o640 {
		t.Error(err, linked, at, info.Mode())
	}
}

// TestPullTakesTheFiltersOfAView: lists of names and of words keep what stays where it is written.
func TestPullTakesTheFiltersOfAView(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	text := func(filters string) string {
		return "version: 1\nworkspace: acme\nprojects:\n  - identifier: WEB\n    views:\n      - name: Bugs\n        filters: " + filters + "\n"
	}
	ours := s.write(t, "m.yaml", text("{labels: [bug], state_group: [], priority: [urgent, high]}"))
	s.must(t, "apply", "-f", ours)
	s.must(t, "apply", "--state", filepath.Join(t.TempDir(), "theirs.json"), "-f", s.write(t, "theirs.yaml", text("{labels: [backend, bug], state_group: [started], priority: [low, high]}")))
	s.must(t, "pull", "-f", ours)
	taken, err := os.ReadFile(ours)
	if want := text("{labels: [bug, backend], state_group: [started], priority: [high, low]}"); err != nil || string(taken) != want {
		t.Errorf("%v, pulled:\n%swant\n%s", err, taken, want)
	}
	if r := s.must(t, "plan", "-f", ours); !strings.Contains(r.out, "No changes.") {
		t.Error(r.out, r.err)
	}
}
