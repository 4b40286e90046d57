package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/markup"
)

// services gives the stories workspaces of a service in place of the sandbox: docs/contributors/testing.md shows how.
//
//nolint:gochecknoglobals // the flags of a test are global
var services = sandboxtest.ServiceFlags()

// place is a workspace of a service, and the people in it.
type place struct {
	t              *testing.T
	url, workspace string
	key, colleague string
	dir            string
}

// newPlace is an empty workspace: of a sandbox of its own, or the next one of -workspaces.
func newPlace(t *testing.T) *place {
	t.Helper()
	if services.Given() {
		next, err := services.Next()
		if err != nil {
			t.Fatal(err)
		}
		if next.Colleague == "" {
			t.Fatal("PLANE_COLLEAGUE_API_KEY is not set")
		}
		return &place{t: t, url: next.URL, workspace: next.Workspace, key: next.Key, colleague: next.Colleague, dir: t.TempDir()}
	}
	s, err := sandboxtest.Open(sandboxtest.Options{Empty: true, Edition: sandbox.Community})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	address, err := s.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return &place{t: t, url: address, workspace: sandbox.Workspace, key: sandbox.Key, colleague: sandboxtest.KeyBob, dir: t.TempDir()}
}

func (p *place) planform(args ...string) ran {
	p.t.Helper()
	r := runAt(p.url, p.key, args...)
	p.t.Logf("planform %s: exit %d\n%s", strings.Join(args, " "), r.code, r.text())
	return r
}

// text is what a run printed.
func (rn ran) text() string { return rn.out + rn.err }

func (p *place) must(args ...string) string {
	p.t.Helper()
	r := p.planform(args...)
	if r.code != 0 {
		p.t.Fatalf("planform %s: exit %d\n%s", strings.Join(args, " "), r.code, r.text())
	}
	return r.text()
}

// write puts a file into the place's folder and returns its path.
func (p *place) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// row is an object as the service shows it.
type row map[string]any

func (rw row) text(field string) string { text, _ := rw[field].(string); return text }

// send makes a request of somebody in the workspace. The path begins behind it.
func (p *place) send(key, method, path string, body any) (status int, answer []byte) {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+"/api/v1/workspaces/"+p.workspace+"/"+path, bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, answer
}

// do is send that must succeed, and returns the object that is answered.
func (p *place) do(key, method, path string, body any) row {
	p.t.Helper()
	status, answer := p.send(key, method, path, body)
	if status > 299 {
		p.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	var r row
	_ = json.Unmarshal(answer, &r)
	return r
}

// list reads all pages of a list, from the oldest; nil where the edition has none.
func (p *place) list(path string) []row {
	p.t.Helper()
	var all []row
	for cursor := ""; ; {
		status, answer := p.send(p.key, "GET", path+"?per_page=100"+cursor, nil)
		if status == http.StatusNotFound {
			return nil
		}
		var page struct {
			Results []row
			Next    string `json:"next_cursor"`
			More    bool   `json:"next_page_results"`
		}
		if err := json.Unmarshal(answer, &page); status != http.StatusOK || err != nil && json.Unmarshal(answer, &page.Results) != nil {
			p.t.Fatalf("GET %s: %d %s", path, status, answer)
		}
		if all = append(all, page.Results...); !page.More {
			return all
		}
		cursor = "&cursor=" + url.QueryEscape(page.Next)
	}
}

// find is the ID of the object of a list with a name.
func (p *place) find(path, name string) string {
	p.t.Helper()
	for _, r := range p.list(path) {
		if r.text("name") == name {
			return r.text("id")
		}
	}
	p.t.Fatalf("%s has no %s", path, name)
	return ""
}

// project is the path of the one project of the stories.
func (p *place) project() string { return "projects/" + p.find("projects/", "Source") + "/" }

// perService are fields that no two services have in common, or that nobody can set.
func perService(field string) bool {
	switch strings.TrimSuffix(field, "_detail") {
	case "id", "workspace", "project", "issue", "updated_at", "updated_by", "external_id", "external_source", "sequence_id", "sort_order", "sequence", "slug",
		"description_stripped", "description_json", "description_binary", "comment_stripped", "comment_json", "comment_binary", "edited_at", "last_activity_at",
		"actor", "is_member", "member_role", "sort_order_in_project", "network", "completed_at", "view_props", "progress_snapshot", "logo_props", "cover_image_url",
		"cover_image", "cover_image_asset", "deleted_at", "total_members", "total_cycles", "total_modules", "anchor", "member", "created_by_id", "version",
		"default_state", "icon_prop", "metadata", "is_deployed", "type", "type_id", "estimate", "description_text", "description_html_text", "owned_by_id":
		return true
	}
	return false
}

var (
	uuid      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	signature = regexp.MustCompile(`^<p><strong>([^<]*)</strong> · [^<]*</p>`)
)

// content is all that the project holds, an object a line: its fields by name, what it refers to by name, and in lists that people
// order its place.
func (p *place) content() []string {
	p.t.Helper()
	names := map[string]string{}
	for _, r := range p.list("members/") {
		names[r.text("id")] = r.text("display_name")
	}
	at := p.project()
	type object struct {
		list  string
		row   row
		place int
	}
	var objects []object
	add := func(list string, rows []row, order string) {
		if order != "" {
			slices.SortStableFunc(rows, func(a, b row) int {
				x, _ := a[order].(float64)
				y, _ := b[order].(float64)
				return cmp.Compare(x, y)
			})
		}
		for i, r := range rows {
			o := object{list: list, row: r}
			if order != "" {
				o.place = i + 1
			}
			objects = append(objects, o)
			if id := r.text("id"); id != "" && names[id] == "" {
				names[id] = cmp.Or(r.text("name"), r.text("url"))
			}
		}
	}
	for _, r := range p.list("projects/") {
		if r.text("name") == "Source" {
			add("project", []row{r}, "")
		}
	}
	add("state", p.list(at+"states/"), "sequence")
	add("label", p.list(at+"labels/"), "sort_order")
	items := p.list(at + "work-items/")
	for _, r := range items { // two may have one name
		names[r.text("id")] = r.text("name") + " of " + r.text("created_at")
	}
	add("item", items, "")
	for _, kind := range []string{"cycle", "module"} {
		containers := p.list(at + kind + "s/")
		for _, r := range p.list(at + "archived-" + kind + "s/") {
			r["archived_at"] = "yes"
			containers = append(containers, r)
		}
		add(kind, containers, "")
		for _, c := range containers {
			for _, r := range p.list(at + kind + "s/" + c.text("id") + "/" + kind + "-issues/") {
				add("in "+kind+" "+c.text("name"), []row{{"member": nil, "name": names[r.text("id")]}}, "")
			}
		}
	}
	for _, i := range items {
		of := " of " + names[i.text("id")]
		for _, r := range p.list(at + "work-items/" + i.text("id") + "/links/") {
			add("link"+of, []row{{"url": r["url"], "title": r["title"]}}, "")
		}
		for _, r := range p.list(at + "work-items/" + i.text("id") + "/comments/") {
			r["comment_html"] = markup.Normal(r.text("comment_html"))
			text := signature.ReplaceAllString(r.text("comment_html"), "")
			add("comment"+of, []row{{"comment_html": text, "access": r["access"], "author": p.author(names, r), "created_at": r["created_at"]}}, "")
		}
		_, answer := p.send(p.key, "GET", at+"work-items/"+i.text("id")+"/relations/", nil)
		relations := row{}
		if json.Unmarshal(answer, &relations) == nil {
			add("relations"+of, []row{relations}, "")
		}
	}
	lines := make([]string, len(objects))
	for n, o := range objects {
		var b strings.Builder
		fmt.Fprintf(&b, "%s", o.list)
		if o.place > 0 {
			fmt.Fprintf(&b, " %d", o.place)
		}
		for _, field := range slices.Sorted(maps.Keys(o.row)) {
			if perService(field) || field == "created_at" && o.list != "item" && !strings.HasPrefix(o.list, "comment") || field == "created_by" && o.list != "item" {
				continue
			}
			value := o.row[field]
			if html, isText := value.(string); isText && strings.HasSuffix(field, "_html") {
				value = markup.Normal(html)
			}
			if list, isList := value.([]any); isList {
				for i := range list {
					if id, isText := list[i].(string); isText {
						list[i] = cmp.Or(names[id], id)
					}
				}
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
			text := uuid.ReplaceAllStringFunc(fmt.Sprint(value), func(id string) string { return cmp.Or(names[id], id) })
			fmt.Fprintf(&b, " | %s: %s", field, text)
		}
		lines[n] = b.String()
	}
	slices.Sort(lines)
	return lines
}

// author is who wrote a comment: as its text says, where that was imported, else as the service does.
func (p *place) author(names map[string]string, comment row) string {
	if found := signature.FindStringSubmatch(comment.text("comment_html")); found != nil {
		return found[1]
	}
	return names[cmp.Or(comment.text("created_by"), comment.text("actor"))]
}

// repetition is a workspace that people work in, and another one that it is migrated into again and again.
type repetition struct {
	from, to *place
	again    bool // each export goes over the last one, not into a folder of its own
	exports  int
}

// repeat exports the source, and applies the export in the target, whose state is kept.
func (m *repetition) repeat(flags ...string) ran {
	m.from.t.Helper()
	out := filepath.Join(m.from.dir, "export")
	if m.exports++; !m.again {
		out = fmt.Sprintf("%s-%d", out, m.exports)
	}
	m.from.must("export", "--workspace", m.from.workspace, "--to", out, "--with", "links,comments,relations", "--force")
	for _, name := range []string{"src.yaml"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			m.from.t.Fatal(err)
		}
		m.to.write(name, string(text))
	}
	return m.apply(flags...)
}

func (m *repetition) apply(flags ...string) ran {
	m.to.t.Helper()
	return m.to.planform(append([]string{"apply", "-f", m.to.dir, "--workspace", m.to.workspace, "--yes", "--max-deletes", "99", "--refresh-all"}, flags...)...)
}

// check makes sure that the target is as the source, and that another apply changes nothing.
func (m *repetition) check(when string, r ran) {
	m.to.t.Helper()
	if r.code != 0 {
		m.to.t.Errorf("%s: exit %d\n%s", when, r.code, r.text())
	}
	if d := diff.Diff(m.from.content(), m.to.content()); d != "" {
		m.to.t.Errorf("%s it is not the same (-source +target):\n%s", when, d)
	}
	if r := m.apply(); r.code != 0 || !strings.Contains(r.text(), "No changes.") {
		m.to.t.Errorf("%s: the next apply: exit %d\n%s", when, r.code, r.text())
	}
}

// A team works in one workspace, and a copy of it is kept in another.
func TestStoryOfAMigrationThatIsRepeated(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"from a folder of its own": false, "from the folder of the last export": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &repetition{from: newPlace(t), to: newPlace(t), again: again}
			from, to := m.from, m.to

			t.Log("# planform seeds the source")
			seed := from.write("seed.yaml", "version: 1\nworkspace: "+from.workspace+`
projects:
  - identifier: SRC
    name: Source
    description: Where people work
    members: [bob@example.com]
    cycle_view: true
    module_view: true
    states: [{name: Review, group: started, color: "#123456"}]
    labels: [{name: Area, color: "#00aa00"}, {name: Bug, color: "#aa0000", parent: area}, {name: Idea}]
    cycles: [{key: one, name: Sprint, description: The first, start_date: 2031-01-06, end_date: 2031-01-17}]
    modules: [{key: board, name: Board, status: completed}]
    work_items:
      - {key: shop, name: Open the shop, description: "With **all** of it", labels: [Bug], cycle: one, links: ["https://example.com/shop"]}
      - {key: till, name: Buy a till, parent: shop, state: Review, priority: high, module: board, comments: [{key: c, text: Which one}]}
      - {key: sign, name: Paint the sign, assignees: [bob@example.com], start_date: 2031-02-01, target_date: 2031-02-03, relations: {blocked_by: [shop]}}
      - {key: sweep, name: Sweep, state: Done}
`)
			from.must("apply", "-f", seed, "--yes")
			if text := from.must("apply", "-f", seed, "--yes"); !strings.Contains(text, "No changes.") {
				t.Error(text)
			}

			t.Log("# people go on there")
			at := from.project()
			items := at + "work-items/"
			change := func(path string, body row) { t.Helper(); from.do(from.colleague, "PATCH", path+"/", body) }
			create := func(path string, body row) string {
				t.Helper()
				return from.do(from.colleague, "POST", path, body).text("id")
			}
			shop, till := from.find(items, "Open the shop"), from.find(items, "Buy a till")
			change(items+shop, row{"name": "Open the new shop", "description_html": "<p>With <em>most</em> of it</p>"})
			dup := create(items, row{"name": "Dup", "description_html": "<p>text 1</p>"})
			create(items, row{"name": "Dup", "description_html": "<p>text 2</p>", "labels": []string{from.find(at+"labels/", "Bug")}})
			first := create(items+till+"/comments/", row{"comment_html": "<p>The <strong>red</strong> one</p>"})
			create(items+till+"/comments/", row{"comment_html": "<p>No, the blue one</p>"})
			create(at+"labels/", row{"name": "Later", "color": "#0000aa"})
			sprint := create(at+"cycles/", row{"name": "Sprint", "project_id": strings.Split(at, "/")[1]}) // two cycles may have one name
			create(at+"cycles/"+sprint+"/cycle-issues/", row{"issues": []string{dup}})
			from.do(from.key, "POST", at+"modules/"+from.find(at+"modules/", "Board")+"/archive/", nil)
			m.check("after the migration", m.repeat())

			t.Log("# what people put into the copy is not lost with what goes")
			from.do(from.key, "DELETE", items+from.find(items, "Sweep")+"/", nil)
			there := to.project() + "work-items/"
			sweep := to.find(there, "Sweep")
			comment := to.do(to.colleague, "POST", there+sweep+"/comments/", row{"comment_html": "<p>Mine</p>"}).text("id")
			if r := m.repeat("--prune"); r.code != 3 || to.find(there, "Sweep") != sweep {
				t.Errorf("an item with a comment of somebody else: exit %d\n%s", r.code, r.text())
			}
			to.do(to.colleague, "DELETE", there+sweep+"/comments/"+comment+"/", nil)
			m.check("after pruning", m.repeat("--prune"))

			t.Log("# renamed, deleted and reordered, three times")
			bug, review := from.find(at+"labels/", "Bug"), from.find(at+"states/", "Review")
			change(items+shop, row{"name": "Open the better shop"})
			change(at+"labels/"+bug, row{"name": "Defect"})
			change(at+"states/"+review, row{"name": "QA"})
			change(at+"cycles/"+sprint, row{"name": "Sprint 2", "project_id": strings.Split(at, "/")[1]})
			m.check("after the first renames", m.repeat("--prune"))

			from.do(from.key, "DELETE", items+dup+"/", nil)
			from.do(from.colleague, "DELETE", items+till+"/comments/"+first+"/", nil)
			change(items+shop, row{"name": "Dup"})
			change(at+"labels/"+bug, row{"name": "Flaw", "sort_order": 1})
			change(at+"states/"+review, row{"name": "Check", "sequence": 10})
			create(at+"labels/", row{"name": "Bug"})
			create(items, row{"name": "Open the shop", "description_html": "<p>another one</p>", "state": review})
			m.check("after deleting and reordering", m.repeat("--prune"))

			from.do(from.key, "DELETE", at+"labels/"+from.find(at+"labels/", "Idea")+"/", nil)
			change(at+"labels/"+from.find(at+"labels/", "Later"), row{"name": "Idea"})
			change(at+"labels/"+bug, row{"name": "Bug 2", "sort_order": 900000})
			change(items+from.find(items, "Dup"), row{"name": "Buy a till", "parent": nil})
			from.do(from.key, "POST", at+"cycles/", row{"name": "Sprint 2", "project_id": strings.Split(at, "/")[1]})
			m.check("after names went around", m.repeat("--prune"))
		})
	}
}
