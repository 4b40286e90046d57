package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

func TestAPlanIsShownAsTextAndAsJSON(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]func(*view.Options){
		"plan.txt":  nil,
		"plan.ansi": {inColor},
		"plan.json": {inJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(set...)
			if err := showAs(s.Plan, everything(), here()); err != nil {
				t.Fatal(err)
			}
			golden(t, "plan/"+name, s.out.String()+"--- stderr\n"+s.err.String())
		})
	}
}

func TestAllMatchIsSaidOnlyOfWhatWasCompared(t *testing.T) {
	t.Parallel()
	const all = "; not compared: roles of members of 1 project (the service does not show them); values of custom fields of 12 work items, 70 links (--refresh-all reads them) (9 read requests).\n"
	for name, tt := range map[string]struct {
		summary planner.Summary
		unseen  []planner.NotCompared
		want    string
	}{
		"all was compared":     {planner.Summary{Unchanged: 63, Reads: 9}, nil, "No changes. All 63 objects match the manifest (9 read requests).\n"},
		"some was not":         {planner.Summary{Unchanged: 51, NotCompared: 12, Reads: 9}, unseen(), "No changes in what was compared: 51 of 63 objects match the manifest" + all},
		"nothing was":          {planner.Summary{NotCompared: 12, Reads: 9}, unseen(), "No changes found" + all},
		"and some is people's": {planner.Summary{Unchanged: 1, Ignored: 2, Reads: 9}, unseen(), "No changes in what was compared: 1 of 1 object match the manifest; 2 fields left to people (ignore_changes)" + all},
		"there are changes":    {planner.Summary{Unchanged: 51, Kept: 1, Reads: 9}, unseen(), "Plan: 1 kept as on the service; 51 unchanged. 0 requests. Not compared" + strings.TrimSuffix(strings.TrimPrefix(all, "; not compared"), " (9 read requests).\n") + ".\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := &planner.Plan{Summary: tt.summary, NotCompared: tt.unseen}
			s := newScreen()
			if err := showAs(s.PlanInShort, plan, here()); err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(s.out.String(), "\n\n"); got != tt.want {
				t.Errorf("got  %swant %s", got, tt.want)
			}
		})
	}
}

func TestAPlanAsMarkdownFitsIntoAComment(t *testing.T) {
	t.Parallel()
	web := object("project", "web", nil)
	many := &builder{}
	for i := range 5000 {
		b, o := many, object("work_item", "item-"+strconv.Itoa(i), web, "name", strings.Repeat("Ünï `code` | ", 8)+strconv.Itoa(i))
		switch {
		case i%2 == 0:
			b.act(planner.Update, o, "id", changed("state", "Todo", "Done"))
		case i%5 == 0:
			b.act(planner.Update, o, "id", changed("description", longBefore, longAfter+strconv.Itoa(i)))
		default:
			b.create(o)
		}
	}
	for name, plan := range map[string]*planner.Plan{
		"plan.md": everything(), "many.md": &many.Plan, "nothing.md": {Summary: planner.Summary{Unchanged: 57, Reads: 12}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(in("markdown"))
			if err := showAs(s.Plan, plan, here()); err != nil {
				t.Fatal(err)
			}
			got := s.out.String()
			if len(got) > 65_000 {
				t.Errorf("%d bytes", len(got))
			}
			if strings.Count(got, "<details") != strings.Count(got, "</details>") {
				t.Error("a section is not closed")
			}
			if name == "many.md" { // its middle is like its beginning
				got = got[:1600] + "\n…\n" + got[len(got)-600:]
			}
			golden(t, "plan/"+name, got)
		})
	}
}

func TestThePlanOfTheDesignDocument(t *testing.T) {
	t.Parallel()
	b := &builder{}
	web := object("project", "web", nil)
	shop := object("work_item", "shop", web)
	checkout := object("work_item", "checkout", web, "name", "Rebuild the checkout", "parent", "shop")
	parent, _ := checkout.Value("parent")
	parent.Refs[0].Target = shop
	b.create(checkout)
	b.create(object("link", "https://example.com/design", checkout, "url", "https://example.com/design"), 0)
	b.act(planner.Update, web, "", drifted("description", "Public site", "Public site and shop"))
	b.members(planner.AddMembers, "cycle_work_item", "cycle/web/sprint-14", 1, 0, 41)
	b.API = resource.V1
	b.Summary = planner.Summary{Create: 57, Update: 1, Adopt: 1, AddMembers: 41, Unchanged: 99, Requests: 60}
	s := newScreen()
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	want := `Workspace acme at https://api.plane.so, as ada (ada@example.com)
manifest workspace.yaml; state .planform/api.plane.so_acme.state.json

Project web
+ work_item/web/checkout  "Rebuild the checkout"
    parent:    work_item/web/shop
    links:     + https://example.com/design

~ project/web
    description: "Public site" -> "Public site and shop"     (changed on the service since the last apply)

> cycle/web/sprint-14: add 41 work items

Plan: 57 to create, 1 to update, 1 to adopt, 41 memberships; 99 unchanged. 60 requests by API v1, about 1 min at 60/min.
`
	if got := withoutHash(s.out.String()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// withoutHash is a plan without its last line.
func withoutHash(text string) string {
	return regexp.MustCompile(`plan sha256:[0-9a-f]{64}\n$`).ReplaceAllString(text, "")
}

func TestAPlanEndsWithItsCounts(t *testing.T) {
	t.Parallel()
	for want, sum := range map[string]planner.Summary{
		"No changes. All 57 objects match the manifest (12 read requests).":                                                          {Unchanged: 57, Reads: 12},
		"No changes. The 1 object matches the manifest (1 read request).":                                                            {Unchanged: 1, Reads: 1},
		"Plan: 1 to create. 1 request by the documented operations, under 1 min at 60/min.":                                          {Create: 1, Requests: 1},
		"Plan: 1 to adopt; 3 unchanged. 0 requests.":                                                                                 {Adopt: 1, Unchanged: 3},
		"Plan: 1 membership, 2 memberships to remove, 3 to delete. 61 requests by the documented operations, about 2 min at 60/min.": {AddMembers: 1, RemoveMembers: 2, Delete: 3, Requests: 61},
		"Plan: 2 not possible; 9 unchanged. 0 requests.":                                                                             {Blocked: 2, Unchanged: 9},
		"Plan: 100000 to create. 100000 requests by the documented operations, about 27 h 47 min at 60/min.":                         {Create: 100000, Requests: 100000},
		"Plan: 7200 to create, 1 not possible; 1 unchanged. 7200 requests by the documented operations, about 2 h at 60/min.":        {Create: 7200, Blocked: 1, Unchanged: 1, Requests: 7200},
	} {
		s := newScreen()
		if err := showAs(s.Plan, &planner.Plan{Summary: sum}, here()); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(withoutHash(s.out.String()), "\n\n"); got != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

// evilPlan is a plan with characters that move the cursor, hide text or fake a line.
func evilPlan() *planner.Plan {
	evil := "a\x1b[2J\nPlan: 0 to create.\r\u202e\u009b31m\xff\u2028\x00\u200b\"\\b"
	b := &builder{}
	web := object("project", evil, nil)
	item := object("work_item", evil, web, "name", evil, "description", "one\n"+evil+"\n"+evil, "state", evil)
	b.create(item)
	b.create(object("link", evil, item, "url", evil, "title", evil), 0)
	b.act(planner.Update, object("work_item", "u", web), evil, drifted("name", evil, "x"), changed(evil, "x", evil),
		changed("description", evil+strings.Repeat("x", 100), evil+strings.Repeat("y", 100)))
	b.act(planner.Adopt, object("work_item", "v", web), evil).Write.FoundBy = evil
	b.act(planner.NotPossible, object("work_item", "w", web), evil).Cause = planner.Cause{Code: planner.Refused, Text: evil}
	b.step(&planner.Step{Address: "work_item/web/gone", Action: planner.Delete, Kind: item.Kind, ID: evil, Identifier: evil, Name: evil})
	m := b.members(planner.AddMembers, "cycle_work_item", resource.Address("cycle/web/"+evil), 1, 0, 1)
	m.Members.Items[0].Address, m.Members.Items[0].Text = "", evil
	return &b.Plan
}

func TestNothingFromAManifestReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	plan := evilPlan()
	for name, set := range map[string][]func(*view.Options){"evil.txt": nil, "evil.json": {inJSON}, "evil.md": {in("markdown")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(set...)
			if err := showAs(s.Plan, plan, here()); err != nil {
				t.Fatal(err)
			}
			got := s.out.String()
			if strings.ContainsAny(got, "\x1b\r\x00\u202e\u009b\u2028\u200b") {
				t.Errorf("a control character came through: %q", got)
			}
			if strings.Contains(got, "\nPlan: 0") {
				t.Error("a line was faked")
			}
			golden(t, "plan/"+name, got)
		})
	}
}

func TestAJSONPlanIsJSONAndSaysTheSameTwice(t *testing.T) {
	t.Parallel()
	a, b := newScreen(inJSON), newScreen(inJSON)
	if err := errors.Join(showAs(a.Plan, everything(), here()), showAs(b.Plan, everything(), here())); err != nil {
		t.Fatal(err)
	}
	if a.out.String() != b.out.String() {
		t.Error("two prints differ")
	}
	var plan struct {
		FormatVersion int `json:"format_version"`
		Steps         []struct {
			ID      *string
			Needs   []string
			Changes []struct{ Before, After any }
		}
	}
	if err := json.Unmarshal(a.out.Bytes(), &plan); err != nil {
		t.Fatal(err)
	}
	if plan.FormatVersion != 1 || len(plan.Steps) != len(everything().Steps) || plan.Steps[0].ID != nil || plan.Steps[2].Needs[0] != "work_item/web/checkout" {
		t.Errorf("got %+v", plan)
	}
	empty := newScreen(inJSON)
	if err := showAs(empty.Plan, &planner.Plan{}, here()); err != nil || !json.Valid(empty.out.Bytes()) {
		t.Errorf("%v: %s", err, empty.out.String())
	}
	if a.err.Len() > 0 {
		t.Errorf("notices are in the plan, and on standard error too: %s", a.err.String())
	}
}

// TestASavedPlanIsShownAsItWasMade writes plans, reads them and shows them again.
func TestASavedPlanIsShownAsItWasMade(t *testing.T) {
	t.Parallel()
	kept := everything()
	kept.Drift = []planner.Drift{{Object: object("work_item", "k", object("project", "web", nil)), Change: new(drifted("state", "Done", "Todo")), Kept: true}}
	kept.StateChanges = []planner.StateChange{{From: "page/a", To: "page/b", Why: "its key changed"}, {From: "page/c"}}
	roles := &builder{}
	roles.members(planner.AddMembers, "project_member", "project/web", 1, 0, 1).Members.Items[0] = planner.Member{ID: "u-1", Text: "ada@example.com", Value: "guest"}
	role := roles.members(planner.Update, "project_member", "project/web", 2, 0, 1)
	role.Members.Items[0] = planner.Member{ID: "u-2", Text: "bob@example.com", Value: "admin", Before: "member"}
	roles.Summary = planner.Summary{AddMembers: 1, Update: 1}
	orphan := &builder{}
	orphan.step(&planner.Step{Address: "work_item/web/left", Action: planner.NotPossible, Kind: resource.MustLookup("work_item"), ID: "w-1", Identifier: "WEB-7", Cause: planner.Cause{Code: planner.Refused, Text: "it would be deleted"}})
	orphan.Steps[0].Position = diag.Position{}
	orphan.Summary.Blocked = 1
	for name, p := range map[string]*planner.Plan{"everything": everything(), "kept": kept, "roles": &roles.Plan, "an orphan that stays": &orphan.Plan} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var file bytes.Buffer
			made := planfile.New(p, here())
			if err := view.WritePlan(&file, made); err != nil {
				t.Fatal(err)
			}
			read, err := planfile.Parse("plan.json", file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if found := read.Stale(made, nil); found != nil {
				t.Error(found)
			}
			for _, format := range view.Formats() {
				want, got := newScreen(in(format)), newScreen(in(format))
				if err := errors.Join(want.Plan(made), got.Plan(read)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.out.String()+want.err.String(), got.out.String()+got.err.String()); diff != "" {
					t.Errorf("%s (-made +read):\n%s", format, diff)
				}
			}
		})
	}
}

func TestAFullDiskIsReportedToTheCaller(t *testing.T) {
	t.Parallel()
	for _, format := range view.Formats() {
		s := newScreen(func(o *view.Options) { o.Out, o.Format = brokenWriter{}, format })
		if err := showAs(s.Plan, everything(), here()); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("got %v", err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// aLongText is a plan in which a text of so many lines changes.
func aLongText(n int) *planner.Plan {
	b := &builder{}
	var before, after strings.Builder
	for i := range n {
		before.WriteString("line " + strconv.Itoa(i) + "\n")
		if i == n/2 {
			after.WriteString("inserted\n")
		}
		after.WriteString("line " + strconv.Itoa(i*(1+i%2)) + "\n")
	}
	b.act(planner.Update, object("work_item", "a", object("project", "web", nil)), "", changed("description", before.String(), after.String()))
	b.Summary.Update = 1
	return &b.Plan
}

// TestADifferenceKeepsWhatDiffersInSight goes through the sizes at which something is cut.
func TestADifferenceKeepsWhatDiffersInSight(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 20, 21, 22, 100, 600, 5000} {
		s := newScreen()
		if err := showAs(s.Plan, aLongText(n), planfile.Where{}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(s.out.String(), "\n"); lines > 27 || lines < 3 {
			t.Errorf("%d lines: %d shown", n, lines)
		}
		if n == 100 {
			golden(t, "plan/long.txt", s.out.String())
		}
	}
}

// manySteps is a plan of so many steps of all sorts, texts that change among them.
func manySteps(n int) *planner.Plan {
	b := &builder{planner.Plan{Workspace: "acme", BaseURL: "https://api.plane.so"}}
	web := object("project", "web", nil, "name", "Website")
	for i := 0; len(b.Steps) < n; i++ {
		key := "item-" + strconv.Itoa(i)
		item := object("work_item", key, web, "name", "Item number "+strconv.Itoa(i), "priority", "high", "start_date", "2026-12-01", "description", longBefore)
		switch i % 5 {
		case 0, 1:
			b.create(item)
			b.create(object("link", "https://example.com/"+key, item, "url", "https://example.com/"+key), planner.StepID(len(b.Steps)-1))
		case 2:
			b.act(planner.Update, item, "id", changed("description", longBefore, longAfter+key), changed("state", "Todo", "Done"))
		case 3:
			b.act(planner.Update, item, "id", changed("priority", "low", "high"))
		default:
			b.act(planner.Delete, item, "id")
		}
	}
	b.Summary.Create = n
	return &b.Plan
}

func BenchmarkPlan(b *testing.B) {
	plan := manySteps(5000)
	for _, name := range append(view.Formats(), "full") {
		b.Run(name, func(b *testing.B) {
			s := newScreen(in(name), func(o *view.Options) { o.Out = io.Discard })
			if name == "full" {
				s = newScreen(inFull, func(o *view.Options) { o.Out = io.Discard })
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := showAs(s.Plan, plan, here()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestMarkdownFromAManifestIsNoMarkup(t *testing.T) {
	t.Parallel()
	evil := "</details><img src=x> @everyone [a](http://b) `x` ``` | **b**"
	b := &builder{}
	web := object("project", evil, nil)
	b.create(object("work_item", evil, web, "name", evil, "description", "one\n"+evil))
	b.act(planner.Update, object("work_item", "u", web), "id", changed("name", evil, evil+"x"), changed("description", evil+"\n```\n"+evil, "```\n</details>"))
	b.act(planner.NotPossible, object("work_item", "w", web), "id").Cause = planner.Cause{Code: planner.Refused, Text: evil}
	b.Notices.Add(diag.Diagnostic{Summary: evil, Hint: evil})
	s := newScreen(in("markdown"))
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	// Without fenced blocks and code, in which nothing is markup, no markup of the manifest is left.
	rest := regexp.MustCompile("(?ms)^  (`{3,})diff$.*?^  (`{3,})$").ReplaceAllString(s.out.String(), "")
	rest = regexp.MustCompile("(?s)(?:`{4}.*?`{4}|`{3}[^`].*?[^`]`{3}|`[^`\n]+`)").ReplaceAllString(rest, "")
	rest = strings.NewReplacer(" ****", "", "\n**Project **", "").Replace(rest) // around the code of names
	for _, markup := range []string{"<img", "](", "@", "**", "</details><"} {
		if strings.Contains(rest, markup) {
			t.Errorf("%s is left in\n%s", markup, rest)
		}
	}
}

func TestTextsAreShownWholeIfAllIsAskedFor(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 40 {
		lines.WriteString("line " + strconv.Itoa(i) + strings.Repeat(" and more", 20) + "\n")
	}
	web := object("project", "web", nil)
	b := &builder{}
	b.create(object("work_item", "new", web, "name", strings.Repeat("long ", 40)+"name", "description", lines.String()))
	b.act(planner.Update, object("work_item", "there", web), "id", changed("description", strings.ReplaceAll(lines.String(), "line", "row"), lines.String()))
	s := newScreen(func(o *view.Options) { o.Extent = view.Full })
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	if got := s.out.String(); strings.Contains(got, "…") || strings.Count(got, " and more\n") != 2*40 || strings.Count(got, "~ [-row-]{+line+} ") != 40 || !strings.Contains(got, `long name"`) {
		t.Errorf("something is cut:\n%.3000s", got)
	}
}

func TestOfManyKeptFieldsTheFirstAreShown(t *testing.T) {
	t.Parallel()
	b := &builder{}
	web := object("project", "web", nil)
	for i := range 5000 {
		o := object("work_item", "item-"+strconv.Itoa(i), web)
		for _, c := range []planner.Change{drifted("state", "Done", "Todo"), drifted("priority", "low", "high")} {
			b.Drift = append(b.Drift, planner.Drift{Object: o, Change: &c, Kept: true})
		}
	}
	b.Summary.Kept = 10000
	s := newScreen()
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	text := s.out.String()
	if n := strings.Count(text, "\n"); n > 410 || !strings.Contains(text, "\n… not shown: 4900 kept as on the service; --full shows all\n") {
		t.Errorf("%d lines, which end with\n%s", n, text[len(text)-500:])
	}
}

func TestALargePlanAsTextCanBeReviewed(t *testing.T) {
	t.Parallel()
	b, web := &builder{planner.Plan{API: resource.V1}}, object("project", "web", nil)
	for i := range 500 {
		key := "item-" + strconv.Itoa(i)
		switch {
		case i < 150:
			b.act(planner.Update, object("work_item", key, web), "id", changed("state", "Todo", "Done"))
			b.Summary.Update++
		case i < 160:
			b.act(planner.Update, object("work_item", key, web, "name", "The item "+strconv.Itoa(i)), "id", changed("priority", "low", "high"))
			b.Summary.Update++
		case i < 280:
			b.act(planner.Delete, object("work_item", key, web), "id")
			b.Summary.Delete++
		default:
			b.create(object("work_item", key, web, "name", "Item "+strconv.Itoa(i)))
		}
	}
	shown := func(extent view.Extent) string {
		s := newScreen(func(o *view.Options) { o.Extent = extent })
		if err := showAs(s.Plan, &b.Plan, here()); err != nil {
			t.Fatal(err)
		}
		return s.out.String()
	}
	usual := shown(view.Usual)
	for _, want := range []string{
		"~ 150 work items\n    state:     Todo -> Done\n    work_item/web/item-0, work_item/web/item-1, ",
		"work_item/web/item-9 and 140 more\n\n~ work_item/web/item-150  \"The item 150\"\n    priority:  low -> high\n\n~ work_item/web/item-151",
		"\n- work_item/web/item-279  (id)\n", "\n+ work_item/web/item-379  \"Item 379\"\n", "\n\n… not shown: 120 create; --full shows all\n\nPlan: 220 to create, 160 to update, 120 to delete. ",
	} {
		if !strings.Contains(usual, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(usual, "item-380") {
		t.Error("it shows more than the first 100 that are created")
	}
	if full := shown(view.Full); strings.Count(full, "Todo -> Done") != 150 || strings.Count(full, "\n+ ") != 220 {
		t.Error("--full does not show every step")
	}
	want := "project  kind       create  update  delete\nweb      work item  220     160     120\n\nPlan: 220 to create, "
	if got := shown(view.Counts); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWhatContinuesAStepIsShownWithIt(t *testing.T) {
	t.Parallel()
	b := &builder{}
	item := object("work_item", "shop", object("project", "web", nil), "name", "Shop")
	b.create(item)
	b.act(planner.Update, item, "", changed("fields.effort", "", "3")).Continues = true
	for format, want := range map[string]string{
		"text":     "+ work_item/web/shop  \"Shop\"\n    fields.effort: \"3\"\n\nPlan: ",
		"markdown": "**Project `web`**\n\n- `work_item/web/shop` **`Shop`**: `fields.effort` `\"3\"`\n\n</details>",
		"html": `<b>Shop</b> <code class="dim">work_item/web/shop</code>` + "</span></summary>\n" + `<div class="body"><p class="dim">workspace.yaml:10:5</p>` + "\n" +
			`<div class="fields">` + "\n" + `<div class="field"><span class="name">fields.effort</span> <span class="value">&#34;3&#34;</span></div></div>`,
	} {
		s := newScreen(in(format))
		if err := showAs(s.Plan, &b.Plan, here()); err != nil {
			t.Fatal(err)
		}
		if got := s.out.String(); !strings.Contains(got, want) || strings.Contains(strings.ToLower(got), "update") && format != "html" {
			t.Errorf("%s does not say %q:\n%s", format, want, got)
		}
	}
}

func TestEveryFormatSaysThatATextDiffersInLineEndsOnly(t *testing.T) {
	t.Parallel()
	b := &builder{}
	b.act(planner.Update, object("page", "p", nil), "id", changed("description", "a\r\nb\r\n", "a\nb\n"))
	b.Summary.Update = 1
	for _, format := range []string{"text", "markdown", "html"} {
		s := newScreen(in(format))
		if err := showAs(s.Plan, &b.Plan, here()); err != nil {
			t.Fatal(err)
		}
		if got := s.out.String(); !strings.Contains(got, "differs in line ends only") || strings.Contains(got, "```diff") {
			t.Errorf("%s:\n%s", format, got)
		}
	}
}

func TestWhatIsAlikeInEachPlaceIsShownAsOne(t *testing.T) {
	t.Parallel()
	b, why := &builder{planner.Plan{API: resource.V2}}, "each new project has it"
	for i := range 30 {
		project := object("project", "p"+strconv.Itoa(i), nil)
		b.act(planner.Adopt, object("project_features", "features", project), "", changed("epics", "", "true")).Write.FoundBy = why
		b.act(planner.Adopt, object("state", "done", project), "id", changed("color", "", "red")).Write.FoundBy = why
		b.act(planner.NotPossible, object("project_view", "bugs", project), "").Cause = planner.Cause{Code: planner.Refused, Text: "no API for it"}
	}
	b.Summary.Update = 60
	s := newScreen()
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	got := s.out.String()
	if !strings.Contains(got, "! 30 project views: no API for it\n    --> workspace.yaml:12:5, ") || !strings.Contains(got, "~ 30 project features  (each new project has it)\n    epics:     (none) -> true\n    project_features/p0/features, ") ||
		strings.Count(got, "(exists on the service as id, each new project has it)") != 30 {
		t.Errorf("got\n%s", got)
	}
}
