package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/target"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// shown are the texts that the service has, by address. Instead of an ID, a link has the address.
func (fs *fakeService) shown() map[resource.Address]string {
	short := []string{"https://plane.example.com/acme/projects/", "/", ` rel="noopener noreferrer"`, "", "<p>", "", "</p>", "", web, "web"}
	for address, r := range fs.in.Prior {
		if r.ID != "" {
			short = append(short, r.ID, address.Key())
		}
	}
	texts := map[resource.Address]string{}
	for address, r := range fs.in.Prior {
		for _, field := range []string{"description_html", "comment_html"} {
			if text, ok := fs.find(r.ID).row[field].(string); ok {
				texts[address] = strings.NewReplacer(short...).Replace(text)
			}
		}
	}
	return texts
}

// to is a text that links to objects.
func to(field string, addresses ...string) string {
	links := make([]string, len(addresses))
	for i, a := range addresses {
		links[i] = "[" + a[strings.LastIndex(a, "/")+1:] + "](planform:" + a + ")"
	}
	return field + "=" + strings.Join(links, "")
}

func TestATextLinksToWhatItNames(t *testing.T) {
	t.Parallel()
	item := func(key string) string { return "work_item/web/" + key }
	project := func(w *wanted) *wanted { return w.put("project/web", "id="+web) }
	issue := func(key string) string { return `<a href="/web/issues/` + key + `">` + key + "</a>" }
	for name, tt := range map[string]struct {
		api     resource.API
		given   func(*fakeService)
		first   func(*wanted) // is applied before
		between func(*fakeService)
		want    func(*wanted)
		options func(*planner.Input)
		steps   []string
		texts   map[resource.Address]string
	}{
		"a text links at once to an object that exists": {
			api:   full,
			first: func(w *wanted) { w.put("work_item/web/a", "name=A") },
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			steps: []string{"create work_item/web/b"},
			texts: map[resource.Address]string{"work_item/web/b": issue("a")},
		},
		"a text links at once to an object that is created before it": {
			api: full,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b"},
			texts: map[resource.Address]string{"work_item/web/b": issue("a")},
		},
		"an item gets its links before it is archived": {
			api:   full,
			given: func(s *fakeService) { s.given("state", web, uuid(3, 1), "name=Done", "group=completed") },
			want: func(w *wanted) {
				for i, key := range []string{"a", "b"} {
					w.put("work_item/web/"+resource.Address(key), "name=A", "state=Done", "archived=true", to("description", item([]string{"b", "a"}[i])))
				}
			},
			steps: []string{
				"create work_item/web/a", "create work_item/web/b", "update work_item/web/a description", "update work_item/web/a archived", "update work_item/web/b archived",
			},
		},
		"a link to an object that is created later takes a second step": {
			api: full,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A", to("description", item("b"))).put("work_item/web/b", "name=B")
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b", "update work_item/web/a description"},
			texts: map[resource.Address]string{"work_item/web/a": issue("b")},
		},
		"API v2 creates many items in one request, and adds their links afterwards": {
			api: resource.V2,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b", "update work_item/web/b description"},
			texts: map[resource.Address]string{"work_item/web/b": issue("a")},
		},
		"items that name each other and themselves are linked": {
			api: full,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A", to("description", item("b"), item("a"))).put("work_item/web/b", "name=B", to("description", item("a")))
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b", "update work_item/web/a description"},
			texts: map[resource.Address]string{"work_item/web/a": issue("b") + issue("a"), "work_item/web/b": issue("a")},
		},
		"a parent that names its sub-item is linked after the sub-item is created": {
			api: full,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A", "parent=@work_item/web/b").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			steps: []string{"create work_item/web/b", "create work_item/web/a", "update work_item/web/b description"},
			texts: map[resource.Address]string{"work_item/web/b": issue("a")},
		},
		"the order of creation is that of the manifest": {
			api: full,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A", to("description", item("c"))).put("work_item/web/b", "name=B").put("work_item/web/c", "name=C")
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b", "create work_item/web/c", "update work_item/web/a description"},
			texts: map[resource.Address]string{"work_item/web/a": issue("c")},
		},
		"a comment waits for the item that it names": {
			api: full,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("comment/web/a/x", to("text", item("b"))).put("work_item/web/b", "name=B")
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b", "create comment/web/a/x"},
			texts: map[resource.Address]string{"comment/web/a/x": issue("b")},
		},
		"an item waits for the cycle that it names, and other objects wait for the item": {
			api: full,
			want: func(w *wanted) {
				w.put("cycle/web/s", "name=S").put("work_item/web/a", "name=A", to("description", "cycle/web/s", "project/web")).put("customer/c", "name=C", to("description", item("a"))).put("initiative/i", "name=I", to("description", item("a")))
			},
			steps: []string{"create cycle/web/s", "create work_item/web/a", "create customer/c", "create initiative/i"},
			texts: map[resource.Address]string{"customer/c": issue("a"), "initiative/i": issue("a"), "work_item/web/a": `<a href="/web/cycles/s">s</a><a href="/web/issues">web</a>`},
		},
		"an existing item gets its text once, after the new item that it names": {
			api:   full,
			first: func(w *wanted) { w.put("work_item/web/a", "name=A", "description=x") },
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=AA", to("description", item("b"))).put("work_item/web/b", "name=B")
			},
			steps: []string{"update work_item/web/a name", "create work_item/web/b", "update work_item/web/a description"},
			texts: map[resource.Address]string{"work_item/web/a": issue("b")},
		},
		"a text that no longer links loses its link": {
			api: full,
			first: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			want:  func(w *wanted) { w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", "description=a") },
			steps: []string{"update work_item/web/b description"},
			texts: map[resource.Address]string{"work_item/web/b": "a"},
		},
		"a link to an object under another key stays the same page": {
			api: full,
			first: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			want: func(w *wanted) {
				w.put("work_item/web/z", "name=A").put("work_item/web/b", "name=B", "description=[a](planform:work_item/web/z)")
				w.byName["work_item/web/z"].Previously = []string{"a"}
			},
			steps: []string{"update work_item/web/z external_id"},
			texts: map[resource.Address]string{"work_item/web/b": strings.Replace(issue("z"), ">z<", ">a<", 1)},
		},
		"a deleted item is created again and linked": {
			api: full,
			first: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			between: func(s *fakeService) { s.drop(s.in.Prior["work_item/web/a"].ID) },
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			steps: []string{"create work_item/web/a", "update work_item/web/b description"},
			texts: map[resource.Address]string{"work_item/web/b": issue("a")},
		},
		"a link follows an item that moved to another project": {
			api: full,
			first: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			want: func(w *wanted) {
				w.put("project/shop", "identifier=SHOP", "name=Shop").put("work_item/shop/a", "name=A").put("work_item/web/b", "name=B", to("description", "work_item/shop/a"))
			},
			steps: []string{"create project/shop", "create work_item/shop/a", "update work_item/web/b description"},
			texts: map[resource.Address]string{"work_item/web/b": strings.Replace(issue("a"), "/web/", "/shop/", 1)},
		},
		"an archived item keeps its link": {
			api: full,
			first: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			between: func(s *fakeService) { s.find(s.in.Prior["work_item/web/a"].ID).row["archived_at"] = "2026-01-01" },
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", to("description", item("a")))
			},
			texts: map[resource.Address]string{"work_item/web/b": issue("a")},
		},
		"an object that may not be created is named by its label, without a link": {
			api:     full,
			options: func(in *planner.Input) { in.NoCreate = []string{"cycle"} },
			want: func(w *wanted) {
				w.put("cycle/web/s", "name=S").put("work_item/web/a", "name=A", to("description", "cycle/web/s"))
			},
			steps: []string{"not_possible cycle/web/s: it is not on the service, and --no-create cycle is given", "create work_item/web/a"},
			texts: map[resource.Address]string{"work_item/web/a": "s"},
		},
		"a text that somebody changed before its links came is overwritten": {
			api:   full,
			first: func(w *wanted) { w.put("work_item/web/a", "name=A", "description=x").put("work_item/web/b", "name=B") },
			between: func(s *fakeService) {
				s.find(s.in.Prior["work_item/web/a"].ID).row["description_html"] = "<p>y</p>"
			},
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A", to("description", item("b"))).put("work_item/web/b", "name=B")
			},
			steps: []string{"update work_item/web/a description"},
			texts: map[resource.Address]string{"work_item/web/a": issue("b")},
		},
		"the documented operations add links at creation or not at all": {
			api: documented,
			want: func(w *wanted) {
				w.put("work_item/web/a", "name=A", to("description", item("b"), "project/web")).put("work_item/web/b", "name=B", to("description", "project/web"))
			},
			steps: []string{"create work_item/web/a", "create work_item/web/b"},
			texts: map[resource.Address]string{"work_item/web/a": "bweb", "work_item/web/b": `<a href="/web/issues">web</a>`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.api)
			s.given("project", "", web, "identifier=WEB", "name=Website")
			if tt.given != nil {
				tt.given(s)
			}
			if tt.first != nil {
				w := project(want(t))
				tt.first(w)
				s.makeAll(w.all())
			}
			if tt.between != nil {
				tt.between(s)
			}
			if tt.options != nil {
				tt.options(&s.in)
			}
			w := project(want(t))
			tt.want(w)
			plan := s.mustPlan(w.all())
			if diff := cmp.Diff(tt.steps, lines(plan)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			s.apply(plan)
			texts := s.shown()
			for a, want := range tt.texts {
				if texts[a] != want {
					t.Errorf("%s has the text %s, want %s", a, texts[a], want)
				}
			}
			again := s.mustPlan(w.all())
			if !again.Empty() {
				t.Errorf("planned again: %v", lines(again))
			}
			said := 0
			for _, d := range again.Notices {
				if d.Code == "no-links" {
					said++
				}
			}
			if (said == 1) != (tt.api == documented) {
				t.Errorf("said %d times: %v", said, again.Notices)
			}
		})
	}
}

// A link changes as well, so that the words differ, too.
func TestAPlanShowsTheMarkdownOfTextsThatChange(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	objects := func(text string) []*resource.Object {
		return want(t).put("project/web", "id="+web).put("work_item/web/a", "name=A", "description="+text).all()
	}
	const before, after = "# Title\n\na small step, see [b](https://b.example)", "## Title\n\na **small** step, see [c](https://c.example)"
	s.makeAll(objects(before))
	for text, wanted := range map[string][2]string{
		after: {before, after},
		"<p style=\"color: red\">a **small** step</p>": {"Title\na small step, see b (https://b.example)", "a **small** step"},
	} {
		c := s.mustPlan(objects(text)).Steps[0].Changes()[0]
		if got := [2]string{side(c.Before), side(c.After)}; strings.TrimSpace(*c.Before) != wanted[0] || strings.TrimSpace(*c.After) != wanted[1] {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestAPlanShowsWhatTextsNameByAddress(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	objects := func(texts ...string) []*resource.Object {
		w := want(t).put("project/web", "id="+web)
		for i, text := range texts {
			w.put(resource.Address("work_item/web/"+string(rune('a'+i))), "name=A", "description="+text)
		}
		return w.all()
	}
	change := func(texts ...string) string {
		s.t.Helper()
		plan := s.mustPlan(objects(texts...))
		for _, step := range plan.Steps {
			if step.Action == planner.Update {
				c := step.Changes()[0]
				return strings.Trim(side(c.Before)+" -> "+side(c.After), "\n") + strings.Repeat(" *", c.References)
			}
		}
		return ""
	}
	const a, b = "[a](planform:work_item/web/a)", "[b](planform:work_item/web/b)"
	s.makeAll(objects(a+"!", a))
	for _, tt := range []struct {
		texts []string
		want  string
	}{
		{[]string{a + "!", a}, ""},
		{[]string{a + "!", "now " + a + " and " + b}, `"` + a + `" -> "now ` + a + ` and ` + b + `"`},
		{[]string{a + "! " + b, a}, `"` + a + `!" -> "` + a + `! ` + b + `"`},
		{[]string{a + "! [c](planform:work_item/web/c)", a, "c"}, `"` + a + `!" -> "` + a + `! [c](planform:work_item/web/c)"`},
	} {
		if got := change(tt.texts...); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.texts, got, tt.want)
		}
	}
	// A run that ended before its second step leaves what was planned: only the links.
	s.find(s.in.Prior["work_item/web/a"].ID).row["description_html"] = "<p>a!</p>"
	if got, want := change(a+"!", a), side(nil)+` -> "`+a+`!" *`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// With --target, and without what the state knows, a page that a text links to is not known.
func TestATargetedRunTakesNoLinkOutOfATextThatItFinds(t *testing.T) {
	t.Parallel()
	wanted := func(patterns ...string) []*resource.Object {
		objects := want(t).put("project/web", "id="+web).put("cycle/web/c", "name=C").
			put("work_item/web/b", "name=B", to("description", "cycle/web/c")).all()
		selected, _ := target.Select(objects, targets(patterns...), nil)
		return selected
	}
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	s.apply(s.mustPlan(wanted()))
	row := s.find(s.in.Prior["work_item/web/b"].ID).row
	row["external_source"], row["external_id"] = "planform", resource.ExternalID(workspace, "work_item/web/b")
	s.in.Prior = planner.Prior{}
	plan := s.mustPlan(wanted("work_item/web/b"))
	want := []string{"adopt work_item/web/b: found by its mark", "not_possible work_item/web/b: its description links to cycle/web/c, which is not among the targets, and not in the state"}
	if diff := cmp.Diff(want, lines(plan)); diff != "" {
		t.Error(diff)
	}
}
