package view_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

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

// wordy is a plan of long words and long lines.
func wordy() *planner.Plan {
	web := object("project", "web", nil)
	b := &builder{}
	long, wide := strings.TrimSpace(strings.Repeat("word ", 11)), strings.Repeat("日本語の題名", 5)
	b.act(planner.Update, object("work_item", "a", web), "", changed("name", long, long+"s"), changed("module", wide, "https://example.com/"+strings.Repeat("long/", 10)))
	b.create(object("work_item", "new", web, "description", "- "+long+"\n- 👩‍👩‍👧‍👦 e\u0301 "+long))
	b.act(planner.Update, object("work_item", "measure-the-price-cache-before-it-is-rebuilt", web), "", changed("state", "Todo", "Done"))
	return &b.Plan
}

func TestLinesAreBrokenBetweenWords(t *testing.T) {
	t.Parallel()
	s := newScreen(onTerminal, inColor, func(o *view.Options) { o.Width = 40 })
	if err := showAs(s.Plan, wordy(), here()); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan/narrow.ansi", s.out.String())
	elsewhere := newScreen(func(o *view.Options) { o.Width = 40 })
	if err := showAs(elsewhere.Plan, wordy(), here()); err != nil {
		t.Fatal(err)
	}
	long := strings.TrimSpace(strings.Repeat("word ", 11))
	if !strings.Contains(elsewhere.out.String(), `"`+long+`" -> "`+long+`s"`) {
		t.Errorf("a line is broken without a terminal:\n%s", elsewhere.out.String())
	}
}

func TestNothingOfAPlanIsWiderThanTheTerminal(t *testing.T) {
	t.Parallel()
	plans := map[string]*planner.Plan{
		"everything": everything(), "leaving": leaving(), "evil": evilPlan(), "wordy": wordy(), "long": aLongText(100), "many": manySteps(150),
	}
	for name, p := range plans {
		for _, columns := range []int{40, 80, 200} {
			for _, extent := range []view.Extent{view.Usual, view.Full, view.Counts} {
				s := newScreen(onTerminal, inColor, func(o *view.Options) { o.Width, o.Extent = columns, extent })
				if err := showAs(s.Plan, p, here()); err != nil {
					t.Fatal(err)
				}
				text := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(s.out.String()+s.err.String(), "")
				for l := range strings.SplitSeq(text, "\n") {
					if w := uniseg.StringWidth(l); w > columns {
						t.Errorf("%s, %d columns: a line takes %d: %s", name, columns, w, l)
					}
				}
			}
		}
	}
}

func TestWarningsAreToldOnceMoreBelowAPlanThatIsLongerThanTheTerminal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rows, times int
		file        bool
	}{"longer": {20, 2, false}, "not longer": {200, 1, false}, "in a file": {20, 1, true}} {
		paged := 0
		s := newScreen(onTerminal, func(o *view.Options) {
			o.Height, o.OutTTY = tt.rows, !tt.file
			o.Pager = func([]byte) error { paged++; return nil }
		})
		if err := showAs(s.Plan, everything(), here()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.err.String(), "warning: 3 objects are no longer in the manifest"); n != tt.times || paged != tt.times-1 {
			t.Errorf("%s: the warning is told %d times, want %d; %d pages", name, n, tt.times, paged)
		}
	}
}
