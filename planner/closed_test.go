package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
)

// TestClosedObjectsTakeNoChanges: a cycle of the past is filled before it gets its dates.
func TestClosedObjectsTakeNoChanges(t *testing.T) {
	t.Parallel()
	sprint := uuid(2, 1)
	const past, over = "start_date=2026-11-02|end_date=2026-11-13", "start_date=2026-11-02T00:00:01Z|end_date=2026-11-13T23:59:00Z"
	for name, tt := range map[string]struct {
		given, want string // of the cycle; "" = there is none
		prior       bool
		item        string // of the item
		turn        []string
	}{
		"a new cycle of the past gets its dates after its items, and is archived then": {
			want: past + "|archived=true|description=Done", item: "cycle=@cycle/web/s",
			turn: []string{
				"0 create cycle/web/s", "0 create work_item/web/pay", "0 add_members cycle/web/s#work_items, needs cycle/web/s, after work_item/web/pay",
				"0 update cycle/web/s, needs cycle/web/s, needs work_item/web/pay, needs cycle/web/s#work_items",
				"0 update cycle/web/s, needs cycle/web/s, needs work_item/web/pay, needs cycle/web/s#work_items, needs cycle/web/s",
			},
		},
		"a new cycle of the past without items gets its dates when it is created": {
			want: past,
			turn: []string{"0 create cycle/web/s", "0 create work_item/web/pay"},
		},
		"a new cycle that has not ended gets its dates when it is created": {
			want: "start_date=2026-11-02|end_date=2026-11-22", item: "cycle=@cycle/web/s",
			turn: []string{"0 create cycle/web/s", "0 create work_item/web/pay", "0 add_members cycle/web/s#work_items, needs cycle/web/s, after work_item/web/pay"},
		},
		"a cycle of the past that an earlier run left without dates is filled and gets its dates": {
			given: "start_date|end_date", want: past, prior: true, item: "cycle=@cycle/web/s",
			turn: []string{
				"0 create work_item/web/pay", "0 add_members cycle/web/s#work_items, after work_item/web/pay",
				"0 update cycle/web/s, needs work_item/web/pay, needs cycle/web/s#work_items",
			},
		},
		"a cycle that has ended takes no changes and no items": {
			given: over, want: past + "|description=New", item: "cycle=@cycle/web/s",
			turn: []string{
				"0 adopt cycle/web/s", "0 not_possible cycle/web/s", "0 create work_item/web/pay", "0 not_possible cycle/web/s#work_items",
			},
		},
		"a cycle that has ended takes no items, even if the manifest does not have it": {
			given: over, item: "cycle=Sprint",
			turn: []string{"0 create work_item/web/pay", "0 not_possible cycle/web/Sprint#work_items"},
		},
		"a cycle that has not ended cannot be archived": {
			want: "start_date=2026-11-02|end_date=2026-11-22|archived=true",
			turn: []string{"0 create cycle/web/s", "0 not_possible cycle/web/s", "0 create work_item/web/pay"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.in.Now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
			s.given("project", "", web, "identifier=WEB", "name=Website", "cycle_view=true")
			if tt.given != "" {
				s.given("cycle", web, sprint, append(fields(tt.given), "name=Sprint")...)
			}
			if tt.prior {
				s.in.Prior["cycle/web/s"] = known("cycle/web/s", sprint, "name=Sprint")
			}
			w := want(t).put("project/web", "id="+web)
			if tt.want != "" {
				w.put("cycle/web/s", append(fields(tt.want), "name=Sprint")...)
			}
			w.put("work_item/web/pay", append(fields(tt.item), "name=Pay")...)
			plan := s.mustPlan(w.all())
			if diff := cmp.Diff(tt.turn, turns(plan)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestFillingAClosedCycleKeepsTheOrderOfItems: that a cycle waits for some does not bring them forward.
func TestFillingAClosedCycleKeepsTheOrderOfItems(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.in.Now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s.given("project", "", web, "identifier=WEB", "name=Website", "cycle_view=true").given("member", "", uuid(0xc, 1), "email=ada@example.com")
	s.members["project_member "+web] = []string{uuid(0xc, 1)}
	w := want(t).put("project/web", "id="+web)
	w.put("cycle/web/s", "name=S", "start_date=2026-11-02", "end_date=2026-11-13", "owned_by=ada@example.com")
	w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", "cycle=@cycle/web/s").put("work_item/web/c", "name=C")
	plan := s.mustPlan(w.all())
	want := []string{
		"0 create cycle/web/s", "1 create work_item/web/a", "1 create work_item/web/b", "1 create work_item/web/c",
		"0 add_members cycle/web/s#work_items, needs cycle/web/s, after work_item/web/b",
		"0 update cycle/web/s, needs cycle/web/s, needs work_item/web/b, needs cycle/web/s#work_items",
	}
	if diff := cmp.Diff(want, turns(plan)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var sent, shown []string
	last := plan.Steps[len(plan.Steps)-1]
	for _, v := range last.Values() {
		sent = append(sent, v.Field.Name)
	}
	for _, c := range last.Changes() {
		shown = append(shown, c.Path)
	}
	if got := strings.Join(sent, " ") + "; " + strings.Join(shown, " "); got != "start_date end_date owned_by; start_date end_date" {
		t.Errorf("sent; shown: %s", got)
	}
}

// fields takes a list apart that is written with | between.
func fields(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, "|")
}

// TestDatesAreInTheTimeZoneOfTheProject: the moments at which they begin and end there.
func TestDatesAreInTheTimeZoneOfTheProject(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Pacific/Pago_Pago", "Pacific/Chatham", "Pacific/Kiritimati", "Asia/Kathmandu", "America/St_Johns", "UTC"} {
		zone := resource.Zone(name)
		s := newService(t, full)
		s.in.Now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		s.given("project", "", web, "identifier=WEB", "name=Website", "cycle_view=true", "timezone="+name)
		first := time.Date(2031, 1, 6, 0, 0, 1, 0, zone).UTC().Format(time.RFC3339)
		last := time.Date(2031, 1, 17, 23, 59, 0, 0, zone).UTC().Format(time.RFC3339)
		s.given("cycle", web, uuid(2, 1), "name=Sprint", "start_date="+first, "end_date="+last)
		s.in.Prior["cycle/web/s"] = known("cycle/web/s", uuid(2, 1), "name=Sprint")
		w := want(t).put("project/web", "id="+web).put("cycle/web/s", "name=Sprint", "start_date=2031-01-06", "end_date=2031-01-17")
		if got := lines(s.mustPlan(w.all())); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
