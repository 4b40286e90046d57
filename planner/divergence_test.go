package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// divergences makes a plan for a pull, and shows what people changed.
func divergences(s *fakeService, objects []*resource.Object) []string {
	s.in.Pull = true
	s.mustPlan(objects)
	found := divergence.Find(s.world)
	list := []string{}
	text := func(t *string) string {
		if t == nil {
			return "-"
		}
		return strings.ReplaceAll(*t, "\n", ",")
	}
	for _, d := range found.Fields {
		line := fmt.Sprintf("%s %s: %s -> %s", d.Object.Address, d.Change.Path, text(d.Change.After), text(d.Change.Before))
		if d.Value.Field.IsRef() {
			line += fmt.Sprintf(" drop %v add %v all %v", d.Drop, d.Add, d.All)
		}
		if d.Conflict {
			line += " conflict"
		}
		if d.Unknown {
			line += " unknown"
		}
		list = append(list, line)
	}
	for _, o := range found.Vanished {
		list = append(list, "vanished "+string(o.Address))
	}
	for _, u := range found.Unmanaged {
		list = append(list, fmt.Sprintf("unmanaged %d %s of %s", len(u.Names), u.Kind.Name, u.Parent))
	}
	return list
}

func TestAPullFindsWhatPeopleChanged(t *testing.T) {
	t.Parallel()
	pay, ada, bob := uuid(9, 1), uuid(0xc, 1), uuid(0xc, 2)
	todo, done := uuid(4, 1), uuid(4, 2)
	prior := func(fields ...string) []planner.Record {
		return []planner.Record{known("work_item/web/pay", pay, append([]string{"name=Pay"}, fields...)...)}
	}
	given := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) {
			s.given("member", "", ada, "email=ada@example.com", "display_name=ada").given("member", "", bob, "email=bob@example.com", "display_name=bob")
			s.given("state", web, todo, "name=Todo").given("state", web, done, "name=Done")
			s.given("work_item", web, pay, append([]string{"name=Pay"}, fields...)...)
		}
	}
	item := func(fields ...string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("work_item/web/pay", append([]string{"id=" + pay, "name=Pay"}, fields...)...)
		}
	}
	for name, tt := range map[string]struct {
		prior []planner.Record
		given func(*fakeService)
		want  func(*wanted)
		finds []string
	}{
		"a value that somebody changed is found":                                 {prior("priority=high"), given("priority=low"), item("priority=high"), []string{"work_item/web/pay priority: high -> low"}},
		"a value that somebody cleared is found":                                 {prior("start_date=2026-12-01"), given("start_date="), item("start_date=2026-12-01"), []string{"work_item/web/pay start_date: 2026-12-01 -> -"}},
		"a value that only the manifest changed is not found":                    {prior("priority=high"), given("priority=high"), item("priority=urgent"), nil},
		"a value that the manifest writes for the first time is not found":       {prior(), given("priority=high"), item("priority=urgent"), nil},
		"a value that the manifest and somebody else changed is a conflict":      {prior("priority=high"), given("priority=low"), item("priority=urgent"), []string{"work_item/web/pay priority: urgent -> low conflict"}},
		"a value that the manifest and somebody else changed alike is not found": {prior("priority=high"), given("priority=low"), item("priority=low"), nil},
		"a value is of unknown origin if nothing is known of the last apply":     {nil, given("priority=low"), item("priority=urgent"), []string{"work_item/web/pay priority: urgent -> low unknown"}},
		"a field that is left to people is not compared":                         {prior("priority=high"), given("priority=low"), item("priority=high", "ignore_changes=priority"), nil},
		"a value is found even if the object's policy makes drift an error":      {prior("priority=high"), given("priority=low"), item("priority=high", "on_drift=fail"), []string{"work_item/web/pay priority: high -> low"}},
		"a value is found even if the object's policy keeps drift":               {prior("priority=high"), given("priority=low"), item("priority=high", "on_drift=keep"), []string{"work_item/web/pay priority: high -> low"}},
		"a label that somebody deleted is found on the item and as an object": {
			append(prior("labels="+uuid(5, 1)), known("label/web/red", uuid(5, 1), "name=Red")), given("labels="),
			func(w *wanted) {
				w.put("project/web", "id="+web).put("label/web/red", "name=Red").put("work_item/web/pay", "id="+pay, "name=Pay", "labels=@label/web/red")
			},
			[]string{"work_item/web/pay labels: label/web/red -> - drop [0] add [] all []", "vanished label/web/red"},
		},
		"a changed reference is found by its name": {prior("state=" + todo), given("state=" + done), item("state=Todo"), []string{"work_item/web/pay state: Todo -> Done drop [0] add [Done] all [Done]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB")
			tt.given(s)
			for _, r := range tt.prior {
				s.in.Prior[r.Address] = r
			}
			w := want(t)
			tt.want(w)
			got := divergences(s, w.all())
			if diff := cmp.Diff(append([]string{}, tt.finds...), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPullFindsMembersThatMovedOrLeftAndObjectsThatVanished(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s1, s2, pay, ship := uuid(2, 1), uuid(2, 2), uuid(9, 1), uuid(9, 2)
	s.given("project", "", web, "identifier=WEB").given("cycle", web, s1, "name=One").given("cycle", web, s2, "name=Two").given("cycle", web, uuid(2, 3), "name=Three")
	s.given("work_item", web, pay, "name=Pay").given("work_item", web, ship, "name=Ship").given("work_item", web, uuid(9, 3), "name=Else")
	s.members["cycle_work_item "+s2] = []string{pay}
	s.in.Prior["cycle/web/one#work_items"] = planner.Record{Address: "cycle/web/one#work_items", Members: []string{pay, ship}}
	for _, r := range []planner.Record{known("work_item/web/pay", pay, "name=Pay"), known("work_item/web/ship", ship, "name=Ship"), known("work_item/web/gone", uuid(9, 9), "name=Gone"), known("cycle/web/one", s1)} {
		s.in.Prior[r.Address] = r
	}
	w := want(t).put("project/web", "id="+web).put("cycle/web/one", "name=One").put("cycle/web/two", "name=Two")
	w.put("work_item/web/pay", "name=Pay", "cycle=@cycle/web/one").put("work_item/web/ship", "name=Ship", "cycle=@cycle/web/one").put("work_item/web/gone", "name=Gone")
	got := divergences(s, w.all())
	if diff := cmp.Diff([]string{
		"work_item/web/pay cycle: cycle/web/one -> cycle/web/two drop [0] add [Two] all [Two]",
		"work_item/web/ship cycle: cycle/web/one -> - drop [0] add [] all []",
		"vanished work_item/web/gone", "unmanaged 1 cycle of project/web", "unmanaged 1 work_item of project/web",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPullFindsTheContainersOfAnObjectThatIsToBeInNone(t *testing.T) {
	t.Parallel()
	one, two, front, back, pay, ship := uuid(2, 1), uuid(2, 2), uuid(0xd, 1), uuid(0xd, 2), uuid(9, 1), uuid(9, 2)
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("cycle", web, one, "name=One").given("cycle", web, two, "name=Two").given("module", web, front, "name=Front").given("module", web, back, "name=Back")
	s.given("work_item", web, pay, "name=Pay").given("work_item", web, ship, "name=Ship")
	s.members["cycle_work_item "+one], s.members["cycle_work_item "+two] = []string{pay}, []string{ship}
	s.members["module_work_item "+front], s.members["module_work_item "+back] = []string{pay}, []string{pay}
	s.in.Prior["work_item/web/pay"], s.in.Prior["work_item/web/ship"] = known("work_item/web/pay", pay, "name=Pay"), known("work_item/web/ship", ship, "name=Ship")
	s.in.Prior["cycle/web/Two#work_items"] = planner.Record{Address: "cycle/web/Two#work_items", Members: []string{ship}} // the manifest takes it out
	w := want(t).put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "cycle!", "module!").put("work_item/web/ship", "name=Ship", "cycle!")
	if diff := cmp.Diff([]string{
		"work_item/web/pay module: - -> Front,Back drop [] add [Back Front] all [Back Front]",
		"work_item/web/pay cycle: - -> One drop [] add [One] all [One]",
	}, divergences(s, w.all())); diff != "" {
		t.Error(diff)
	}
}

// TestAPullFindsMembershipsThatPeopleAdded covers containers that no manifest names. Each membership is found once, if it is asked for.
func TestAPullFindsMembershipsThatPeopleAdded(t *testing.T) {
	t.Parallel()
	one, two, front := uuid(2, 1), uuid(2, 2), uuid(0xd, 1)
	pay, ship, other, last := uuid(9, 1), uuid(9, 2), uuid(9, 3), uuid(9, 4)
	for name, tt := range map[string]struct {
		contents []string
		finds    []string
	}{
		"members of containers that the plan reads anyway are found": {nil, []string{"work_item/web/ship cycle: cycle/web/one"}},
		"members of cycles and modules outside the manifest are found if they are asked for": {[]string{"cycle_work_item", "module_work_item"}, []string{
			"work_item/web/pay cycle: cycle/web/Two", "work_item/web/pay module: module/web/Front", "work_item/web/ship cycle: cycle/web/one",
		}},
		"relations are found if they are asked for, and an item outside the manifest is shown by its name": {
			[]string{"work_item_blocking", "work_item_blocked_by", "work_item_relates_to"},
			[]string{
				"work_item/web/pay blocking: work_item/web/ship", "work_item/web/ship cycle: cycle/web/one", "work_item/web/ship relates_to: Else",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB")
			s.given("cycle", web, one, "name=One").given("cycle", web, two, "name=Two").given("module", web, front, "name=Front")
			s.given("work_item", web, pay, "name=Pay").given("work_item", web, ship, "name=Ship")
			s.given("work_item", web, other, "name=Else").given("work_item", web, last, "name=Last")
			maps.Copy(s.members, map[string][]string{
				"cycle_work_item " + one: {ship, other, last}, "cycle_work_item " + two: {pay}, "module_work_item " + front: {pay, other},
				"work_item_blocking " + pay: {ship}, "work_item_blocked_by " + ship: {pay}, "work_item_relates_to " + ship: {other},
			})
			s.in.Pull, s.in.AdoptByName, s.in.Contents = true, true, map[string]bool{}
			for _, kind := range tt.contents {
				s.in.Contents[kind] = true
			}
			w := want(t).put("project/web", "id="+web).put("cycle/web/one", "name=One").put("work_item/web/pay", "name=Pay")
			w.put("work_item/web/ship", "name=Ship").put("work_item/web/last", "name=Last", "cycle=@cycle/web/one")
			var finds []string
			s.mustPlan(w.all())
			for _, e := range divergence.Find(s.world).ExtraMembers {
				finds = append(finds, string(e.On.Address)+" "+e.Membership.Membership.Field+": "+e.Other)
			}
			slices.Sort(finds)
			if diff := cmp.Diff(tt.finds, finds); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAValueThatTheManifestTookOverCountsAsApplied covers a value that somebody copied, by pull or by hand.
func TestAValueThatTheManifestTookOverCountsAsApplied(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB")
	drifted(s)
	s.in.Prior["work_item/web/pay"] = known("work_item/web/pay", uuid(9, 1), "name=Pay", "priority=high", "start_date=2026-12-01")
	plan := s.mustPlan(want(t).put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "priority=low", "start_date=2026-12-01").all())
	if len(plan.Seen) != 1 || plan.Seen[0].Record.Values["priority"] != "low" || plan.Seen[0].Record.Values["start_date"] != "2026-12-01" || !plan.Empty() {
		t.Errorf("%+v", plan.Seen)
	}
}
