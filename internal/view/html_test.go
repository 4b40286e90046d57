package view_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// pageOf is a plan as a page, and its elements.
func pageOf(t *testing.T, p *planner.Plan) (text string, elements []*html.Node) {
	t.Helper()
	s := newScreen(in("html"))
	if err := showAs(s.Plan, p, here()); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(s.out.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			elements = append(elements, n)
		}
	}
	return s.out.String(), elements
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func TestAPlanAsAPage(t *testing.T) {
	t.Parallel()
	p := everything()
	p.Drift = []planner.Drift{{Object: object("work_item", "k", object("project", "web", nil)), Change: new(drifted("state", "Done", "Todo")), Kept: true}}
	p.StateChanges = []planner.StateChange{{From: "page/a", To: "page/b", Why: "its key changed"}}
	text, elements := pageOf(t, p)
	golden(t, "plan/plan.html", text)
	ids, steps, policy := map[string]bool{}, 0, ""
	for _, n := range elements {
		if n.Data == "meta" && attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
		if id := attribute(n, "id"); id != "" && ids[id] {
			t.Errorf("the ID %s is there twice", id)
		} else {
			ids[id] = true
		}
		if attribute(n, "data-kind") != "" {
			steps++
		}
	}
	if want := len(p.Steps) - 1; steps != want { // two are batches of one membership
		t.Errorf("%d steps, want %d", steps, want)
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	for _, n := range elements {
		if n.Data != "script" && n.Data != "style" {
			continue
		}
		sum := sha256.Sum256([]byte(n.FirstChild.Data))
		if !strings.Contains(policy, n.Data+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy does not allow the %s", n.Data)
		}
	}
}

// TestNothingOfAManifestIsMarkupOfThePage puts markup and control characters wherever a plan has texts.
func TestNothingOfAManifestIsMarkupOfThePage(t *testing.T) {
	t.Parallel()
	evil := "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u202e{{.}}\x1b[2J</style></details>"
	web := object("project", evil, nil)
	item := object("work_item", evil, web, "name", evil, "description", evil+"\n"+evil, "state", evil)
	build := func(evil string) *planner.Plan {
		b := &builder{}
		b.Workspace = evil
		b.create(item)
		b.act(planner.Update, object("work_item", "u", web), evil, drifted("name", evil, "x"), changed(evil, "x", evil),
			changed("description", evil+strings.Repeat("x ", 100), evil+strings.Repeat("y ", 100)))
		b.act(planner.Adopt, object("work_item", "v", web), evil).Write.FoundBy = evil
		b.act(planner.NotPossible, object("work_item", "w", web), evil).Cause = planner.Cause{Code: planner.Refused, Text: evil}
		b.step(&planner.Step{Address: "work_item/web/gone", Action: planner.Delete, Kind: item.Kind, ID: evil, Identifier: evil, Name: evil})
		m := b.members(planner.AddMembers, "cycle_work_item", resource.Address("cycle/web/"+evil), 1, 0, 1)
		m.Members.Items[0].Address, m.Members.Items[0].Text = "", evil
		return &b.Plan
	}
	text, elements := pageOf(t, build(evil))
	for _, n := range elements {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "style" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	scripts := 0
	for _, n := range elements {
		if n.Data == "img" || n.Data == "script" {
			scripts++
		}
	}
	if scripts != 1 || strings.ContainsAny(text, "\x1b\u202e") {
		t.Errorf("%d scripts or pictures, want the page's own script; control characters: %t", scripts, strings.ContainsAny(text, "\x1b\u202e"))
	}
}

func TestAPageSaysNothingTwiceAndCutsNothingWithoutNeed(t *testing.T) {
	t.Parallel()
	b := &builder{}
	web := object("project", "web", nil)
	step := b.act(planner.Update, web, "id", changed("description", "a", "b"))
	step.Identifier, step.Name = "WEB", "WEB"
	b.create(object("work_item", "shop", web, "name", "Shop", "description", "one\ntwo\n"))
	text, _ := pageOf(t, &b.Plan)
	for _, wrong := range []string{"WEB WEB", "more character"} {
		if strings.Contains(text, wrong) {
			t.Errorf("the page says %q", wrong)
		}
	}
}

func TestWordsThatDifferAreMarked(t *testing.T) {
	t.Parallel()
	b := &builder{}
	b.act(planner.Update, object("page", "p", nil), "id", changed("description", "One line.\nThe old words of a line.\nLast.", "One line.\nThe new words, of a line.\nLast.\nAdded."))
	text, _ := pageOf(t, &b.Plan)
	for _, want := range []string{
		`<div>One line.</div>`,
		`<div class="old">The <del>old</del> words of a line.</div>`,
		`<div class="new">The <ins>new</ins> words<ins>,</ins> of a line.</div>`,
		`<div class="pair"><div class="none"></div><div class="new">Added.</div></div>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not have %s", want)
		}
	}
}

func TestAPageOfAThousandStepsIsSmall(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	for i := range 1000 {
		b.act(planner.Update, object("work_item", "item-"+strconv.Itoa(i), web, "name", "Item"), "id", changed("state", "Todo", "Done"))
	}
	if text, _ := pageOf(t, &b.Plan); len(text) > 500_000 {
		t.Errorf("%d bytes", len(text))
	}
}

// TestAReviewerSeesWhatGoesFirst holds what a page says of deletions, of equal changes, and where it links to.
func TestAReviewerSeesWhatGoesFirst(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	b.WebURL = "https://app.plane.so"
	for _, key := range []string{"a", "b", "c"} {
		b.act(planner.Update, object("work_item", key, web, "name", "Item "+key), "id-"+key,
			changed("labels", "own-"+key, "own-"+key+"\nops")).Page = "/acme/browse/WEB-1"
	}
	b.step(&planner.Step{
		Address: "work_item/web/gone", Action: planner.Delete, Kind: resource.MustLookup("work_item"), ID: "id-gone", Identifier: "WEB-9", Name: "Old log-in", Page: "/acme/browse/WEB-9",
		Deletion: &planner.Deletion{Loss: &planner.Loss{
			Progress: "In Progress", People: []string{"bob"}, ChangedBy: "eve", ChangedAt: "2026-11-20T10:00:00Z", Text: "What it\nsaid",
			Contents: []planner.Content{{Noun: "comment", Where: planner.Inside, Count: 2}}, Despite: []string{"somebody changed its name"},
		}},
	})
	many := b.act(planner.Update, object("work_item", "many", web, "name", "Many"), "id-many",
		changed("priority", "low", "high"), changed("start_date", "", "2026-12-01"), changed("target_date", "", "2026-12-02"), changed("sort_order", "1", "2"))
	many.Identifier = "WEB-4"
	b.Summary.Update, b.Summary.Delete = 4, 1
	text, _ := pageOf(t, &b.Plan)
	for _, want := range []string{
		`<a class="count delete" href="#action=delete">1 to delete</a>`,
		`<a href="#action=update&amp;kind=work%20item&amp;project=web">4</a>`,
		`<b>Old log-in</b> <span>WEB-9</span> <code class="dim">work_item/web/gone</code>`,
		`<p>although somebody changed its name; &#34;What it said&#34;; In Progress; bob; last changed by eve, 2026-11-20 10:00 UTC; with 2 comments</p>`,
		`<a href="https://app.plane.so/acme/browse/WEB-9" rel="noreferrer" target="_blank">open in Plane</a>`,
		`<b><span class="size">3</span> work items</b> <span class="dim">labels &#43;ops</span>`,
		`<li data-project="web"><b>Item b</b> <code class="dim">work_item/web/b</code> <span class="dim">workspace.yaml:11:5</span> <a href="https://app.plane.so/`,
		`<b>Many</b> <span>WEB-4</span> <code class="dim">work_item/web/many</code> <span class="dim">4 fields: priority low → high, `,
		`<del>low</del> → <ins>high</ins>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if strings.Index(text, `class="delete-list"`) > strings.Index(text, `class="update-list"`) {
		t.Error("the deletion does not stand first")
	}
	made := b.act(planner.Create, object("work_item", "new", web, "name", "New"), "")
	made.Page = "/acme/projects/id-web"
	for _, want := range []string{"- [`work_item/web/gone`](https://app.plane.so/acme/browse/WEB-9) `WEB-9` ", "- `work_item/web/new`"} {
		if comment := shownIn(t, "markdown", &b.Plan, nil); !strings.Contains(comment, want) {
			t.Errorf("the comment does not have %s:\n%s", want, comment)
		}
	}
	if t.Failed() {
		t.Log(text[strings.Index(text, "<body>"):strings.Index(text, "<script>")])
	}
}

func TestADifferenceSaysThatTheTextGoesOn(t *testing.T) {
	t.Parallel()
	b := &builder{}
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9"
	b.act(planner.Update, object("page", "p", nil), "id", changed("description", before, strings.Replace(before, "5", "five", 1)))
	text, _ := pageOf(t, &b.Plan)
	if got := strings.Count(text, `<div class="gap">…</div>`); got != 2 {
		t.Errorf("%d gaps, want one above and one below", got)
	}
}

func TestThePageSaysWhyAndWhereOfEqualRefusals(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	for _, key := range []string{"a", "b", "c"} {
		step := b.act(planner.NotPossible, object("work_item", key, web, "name", "Item "+key), "", changed("assignees", "", "eve@example.com"))
		step.Cause = planner.Cause{Code: planner.Refused, Text: "project/web accepts no guest"}
	}
	b.Summary.Blocked = 3
	text, _ := pageOf(t, &b.Plan)
	for _, want := range []string{
		`<b><span class="size">3</span> work items</b> <span class="dim">assignees (none) → eve@example.com</span><br>project/web accepts no guest</span></summary>`,
		`<code class="dim">work_item/web/b</code> <span class="dim">workspace.yaml:11:5</span></li>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s\n%s", want, text[strings.Index(text, "<main>"):])
		}
	}
	if comment := shownIn(t, "markdown", &b.Plan, nil); !strings.Contains(comment, "; workspace.yaml:10:5, workspace.yaml:11:5, workspace.yaml:12:5\n") {
		t.Errorf("the comment does not say where:\n%s", comment)
	}
}

func TestManyStepsOfOneKindAreFoldedOnThePage(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	for i := range 30 {
		b.create(object("work_item", "item-"+strconv.Itoa(i), web, "name", "Item "+strconv.Itoa(i)))
		b.act(planner.Delete, object("label", "label-"+strconv.Itoa(i), web), "id")
	}
	text, elements := pageOf(t, &b.Plan)
	if !strings.Contains(text, `<details class="group rows"><summary>30 work items</summary>`) || strings.Contains(text, "<summary>30 labels</summary>") {
		t.Error("the creations are not folded, or the deletions are")
	}
	for _, n := range elements {
		if n.Data == "div" && attribute(n, "class") == "group" && n.FirstChild.Data != "h3" {
			t.Error("a project has no heading")
		}
	}
}
