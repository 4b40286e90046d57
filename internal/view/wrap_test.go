package view_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

func TestPlansFitTheTerminal(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string]int{"80": 80, "120": 120} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(onTerminal, inColor, func(o *view.Options) { o.Width = columns })
			if err := showAs(s.Plan, everything(), here()); err != nil {
				t.Fatal(err)
			}
			golden(t, "plan/plan_"+name+".ansi", s.out.String())
		})
	}
}

func TestLinesAreBrokenBetweenWords(t *testing.T) {
	t.Parallel()
	web := object("project", "web", nil)
	b := &builder{}
	long, wide := strings.TrimSpace(strings.Repeat("word ", 11)), strings.Repeat("日本語の題名", 5)
	b.act(planner.Update, object("work_item", "a", web), "", changed("name", long, long+"s"), changed("module", wide, "https://example.com/"+strings.Repeat("long/", 10)))
	b.create(object("work_item", "new", web, "description", "- "+long+"\n- 👩‍👩‍👧‍👦 e\u0301 "+long))
	s := newScreen(onTerminal, inColor, func(o *view.Options) { o.Width = 40 })
	if err := showAs(s.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan/narrow.ansi", s.out.String())
	elsewhere := newScreen(func(o *view.Options) { o.Width = 40 })
	if err := showAs(elsewhere.Plan, &b.Plan, here()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(elsewhere.out.String(), `"`+long+`" -> "`+long+`s"`) {
		t.Errorf("a line is broken without a terminal:\n%s", elsewhere.out.String())
	}
}
