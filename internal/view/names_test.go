package view_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// shownIn is a plan in a format, with or without color.
func shownIn(t *testing.T, format string, p *planner.Plan, edit func(*planfile.Document)) string {
	t.Helper()
	s := newScreen(in(format))
	d := planfile.New(p, here())
	if edit != nil {
		edit(d)
	}
	if err := s.Plan(d); err != nil {
		t.Fatal(err)
	}
	return s.out.String()
}

func TestAPlanNamesWhatPeopleKnow(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	review, backlog := object("state", "in-review", web, "name", "In Review"), object("state", "backlog", web, "name", "Backlog")
	ops := object("label", "ops", web, "name", "ops")
	b.Objects = []*resource.Object{web, review, backlog, ops}
	item := object("work_item", "w0", web, "name", "Rebuild login")
	b.act(planner.Update, item, "w-0",
		changed("state", "Old state", "state/web/in-review"),
		changed("labels", "label/web/ops\nlabel/web/infra", "label/web/ops"),
		drifted("priority", "low", "high"), changed("fields.field-0", "x", "y"))
	b.Summary.Update = 1
	edit := func(d *planfile.Document) {
		d.Steps[0].Changes[2].Conflict, d.Steps[0].Changes[2].By = true, "bob"
		d.Steps[0].Changes[3].Name = "Field 0"
	}
	for format, wanted := range map[string][]string{
		"text":     {"Old state -> In Review", "labels:    -label/web/infra", "by bob, and in the manifest", `Field 0:   "x" -> "y"`},
		"markdown": {"`Old state` → `In Review`", "`labels` `-label/web/infra`", "by bob, and in the manifest", "`Field 0` `\"x\"` → `\"y\"`"},
	} {
		text := shownIn(t, format, &b.Plan, edit)
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", format, want, text)
			}
		}
	}
}

// An undo does not ask the manifests, so that nothing is said of them, also where a plan is shown in short.
func TestAnUndoInShortSaysNothingOfTheManifest(t *testing.T) {
	t.Parallel()
	b := &builder{}
	b.act(planner.NotPossible, object("label", "ops", object("project", "web", nil), "name", "ops"), "l-1", drifted("name", "Ops", "ops"))
	for undo, want := range map[string]bool{"": true, "last": false} {
		where := here()
		if undo != "" {
			where.Options.Undo = []string{undo}
		}
		d := planfile.New(&b.Plan, where)
		d.Steps[0].Changes[0].Conflict = true
		s := newScreen()
		if err := s.PlanInShort(d); err != nil {
			t.Fatal(err)
		}
		if got := s.out.String(); strings.Contains(got, "and in the manifest") != want || !strings.Contains(got, "changed on the service") {
			t.Error(undo, got)
		}
	}
}

func TestNamesThatTwoObjectsHaveAreNotShown(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	b.Objects = []*resource.Object{object("state", "a", web, "name", "Doing"), object("state", "b", web, "name", "Doing")}
	b.act(planner.Update, object("work_item", "w", web), "w-1", changed("state", "state/web/a", "state/web/b"))
	b.Summary.Update = 1
	if text := shownIn(t, "text", &b.Plan, nil); !strings.Contains(text, "state/web/a -> state/web/b") {
		t.Errorf("the plan does not tell the states apart:\n%s", text)
	}
}

func TestListsThatGetTheSameAreOneEntry(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	for _, key := range []string{"a", "b", "c"} {
		b.act(planner.Update, object("work_item", key, web), key, changed("labels", "own-"+key, "own-"+key+"\nops"))
	}
	if text := shownIn(t, "markdown", &b.Plan, nil); !strings.Contains(text, "- **3 work items**: `labels` `+ops`\n") {
		t.Errorf("not one entry:\n%s", text)
	}
}

func TestWhatWasNotPossibleBeforeIsOneLine(t *testing.T) {
	t.Parallel()
	b, web := &builder{}, object("project", "web", nil)
	for _, key := range []string{"a", "b", "new"} {
		b.act(planner.NotPossible, object("work_item", key, web), "").Cause = planner.Cause{Code: planner.Refused, Text: "no API for it"}
	}
	b.Summary.Blocked = 3
	old := func(d *planfile.Document) { d.Steps[0].AsBefore, d.Steps[1].AsBefore = true, true }
	for format, wanted := range map[string][]string{
		"text":     {"\n! work_item/web/new: no API for it\n", "\n! 2 not possible, as before; --full shows them\n"},
		"markdown": {"<details open><summary>Not possible (1)</summary>", "<details><summary>Not possible, as before (2)</summary>"},
		"html":     {`<h2 class="not">Not possible (1)</h2>`, `<h2 class="not">Not possible, as before (2)</h2>`},
	} {
		text := shownIn(t, format, &b.Plan, old)
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", format, want, text)
			}
		}
		if format == "text" && strings.Contains(text, "work_item/web/a") {
			t.Errorf("it names what was not possible before:\n%s", text)
		}
	}
}

func TestTheOnlyOneThatWasNotPossibleBeforeKeepsItsReason(t *testing.T) {
	t.Parallel()
	b := &builder{}
	b.act(planner.NotPossible, object("work_item", "a", object("project", "web", nil)), "").Cause = planner.Cause{Code: planner.Refused, Text: "no API for it"}
	b.Summary.Blocked = 1
	for format, want := range map[string]string{
		"text": "\n! work_item/web/a: no API for it\n", "markdown": "<details open><summary>Not possible (1)</summary>", "html": `<h2 class="not">Not possible (1)</h2>`,
	} {
		text := shownIn(t, format, &b.Plan, func(d *planfile.Document) { d.Steps[0].AsBefore = true })
		if !strings.Contains(text, want) || strings.Contains(text, "as before") {
			t.Errorf("%s does not say %q:\n%s", format, want, text)
		}
	}
}

func TestRefusalsWithoutAPositionEndWithTheirNames(t *testing.T) {
	t.Parallel()
	b := &builder{}
	for _, key := range []string{"a", "b", "c"} {
		b.act(planner.NotPossible, object("work_item", key, object("project", "web", nil)), "").Cause = planner.Cause{Code: planner.Refused, Text: "no API for it"}
	}
	b.Summary.Blocked = 3
	text := shownIn(t, "markdown", &b.Plan, func(d *planfile.Document) {
		for i := range d.Steps {
			d.Steps[i].Position = nil
		}
	})
	if !strings.Contains(text, "`work_item/web/c`\n") {
		t.Error(text)
	}
}

func TestAPlanGoesProjectByProject(t *testing.T) {
	t.Parallel()
	b := &builder{}
	web, ops := object("project", "web", nil, "name", "Website"), object("project", "ops", nil)
	b.create(web)
	b.create(object("label", "hot", web, "name", "Hot"))
	b.create(object("work_item", "shop", ops, "name", "Open the shop", "priority", "high"))
	b.create(object("label", "cold", web, "name", "Cold"))
	b.create(object("page", "handbook", nil, "name", "Handbook"))
	want := `
+ page/handbook  "Handbook"

Project web: Website
+ project/web  "Website"
+ label/web/hot  "Hot"
+ label/web/cold  "Cold"

Project ops
+ work_item/ops/shop  "Open the shop"
    priority:  high

Plan:`
	if text := shownIn(t, "text", &b.Plan, nil); !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestAProjectOfWhichNothingIsShownHasNoHeading(t *testing.T) {
	t.Parallel()
	b := &builder{}
	for _, project := range []string{"web", "ops"} {
		for i := range 100 {
			b.create(object("label", project+strconv.Itoa(i), object("project", project, nil), "name", "Label "+strconv.Itoa(i)))
		}
	}
	if text := shownIn(t, "text", &b.Plan, nil); strings.Contains(text, "Project ops") || !strings.Contains(text, "Project web\n") {
		t.Error(text)
	}
}

func TestARemarkOfAllFieldsIsToldOnce(t *testing.T) {
	t.Parallel()
	b := &builder{}
	unread := func(path, after string) planner.Change {
		return planner.Change{Path: path, After: text(after), Origin: planner.NotRefreshed, Possible: true}
	}
	b.act(planner.Update, object("work_item", "a", object("project", "web", nil)), "w-1", unread("state", "Todo"), unread("priority", "low"), unread("start_date", "2026-12-01"))
	b.Summary.Update = 1
	const want = "    state:      (unknown) -> Todo     (not read from the service; the same for all 3 fields)\n    priority:   (unknown) -> low\n"
	if text := shownIn(t, "text", &b.Plan, nil); !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
