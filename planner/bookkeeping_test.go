package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// TestIntentsWithoutAStepAreClosed holds records with an open intent, whose
// request was carried out, against what the next plan makes of them.
func TestIntentsWithoutAStepAreClosed(t *testing.T) {
	t.Parallel()
	pay, ship, s1, s2 := uuid(9, 1), uuid(9, 2), uuid(2, 1), uuid(2, 2)
	const first, second = resource.Address("cycle/web/s1#work_items"), resource.Address("cycle/web/s2#work_items")
	adding := func(address resource.Address, sent string, members ...string) planner.Record {
		return planner.Record{Address: address, Members: members, PendingIntent: &planner.Intent{Action: planner.AddMembers, Name: sent}}
	}
	removing := func(address resource.Address, members ...string) planner.Record {
		return planner.Record{Address: address, Members: members, Sources: presence(), PendingIntent: &planner.Intent{Action: planner.RemoveMembers}}
	}
	archived := known("module/web/board", uuid(0xd, 1))
	archived.PendingIntent = &planner.Intent{Action: planner.Update}
	shelved := planner.Record{Address: "module/web/board", PendingIntent: &planner.Intent{Action: planner.Create, Name: "Board"}}
	deleted := made("project/gone", shop)
	deleted.PendingIntent = &planner.Intent{Action: planner.Delete}
	items := func(w *wanted) {
		w.put("project/web", "id="+web).put("cycle/web/s1", "id="+s1).put("cycle/web/s2", "id="+s2)
		w.put("work_item/web/pay", "id="+pay, "cycle=@cycle/web/s1").put("work_item/web/ship", "id="+ship, "cycle=@cycle/web/s1")
	}
	none := func(w *wanted) { w.put("project/web", "id="+web).put("cycle/web/s2", "id="+s2) }
	nothing := func(w *wanted) { w.put("project/web", "id="+web) }
	board := func(w *wanted) { nothing(w); w.put("module/web/board", "name=Board", "archived=true") }
	for name, tt := range map[string]struct {
		prior  []planner.Record
		want   func(*wanted)
		become map[string]string
	}{
		"a member of an unconfirmed add that is in the container counts as added, and no other member does": {
			[]planner.Record{adding(first, "work_item/web/pay")},
			items,
			map[string]string{string(first): fmt.Sprint([]string{pay})},
		},
		"an unconfirmed add stays open while the member is not in the container": {
			[]planner.Record{adding(second, "work_item/web/pay\nwork_item/web/ship")},
			func(w *wanted) {
				nothing(w)
				w.put("cycle/web/s2", "id="+s2).put("work_item/web/pay", "id="+pay, "cycle=@cycle/web/s2")
			},
			map[string]string{},
		},
		"a member of an unconfirmed add that is in the container counts as added, even if nobody wants it any more": {
			[]planner.Record{adding(first, "work_item/web/pay"), known("work_item/web/pay", pay)},
			func(w *wanted) {
				nothing(w)
				w.put("cycle/web/s1", "id="+s1).put("work_item/web/ship", "id="+ship, "cycle=@cycle/web/s1")
			},
			map[string]string{string(first): fmt.Sprint([]string{pay})},
		},
		"a member of an unconfirmed add counts as added, even if the container is to have no members": {
			[]planner.Record{adding(first, "work_item/web/pay"), known("work_item/web/pay", pay)},
			func(w *wanted) { nothing(w); w.put("cycle/web/s1", "id="+s1) },
			map[string]string{string(first): fmt.Sprint([]string{pay})},
		},
		"a member that arrived by an unconfirmed add is forgotten in the container that it left": {
			[]planner.Record{adding(first, "work_item/web/pay\nwork_item/web/ship"), {Address: second, Members: []string{pay}}},
			items,
			map[string]string{string(first): fmt.Sprint([]string{pay, ship}), string(second): "forgotten"},
		},
		"an unconfirmed removal is closed if the member is not in the container": {
			[]planner.Record{removing(second, pay)},
			none,
			map[string]string{string(second): "forgotten"},
		},
		"an unconfirmed archiving is closed if the object is archived": {
			[]planner.Record{archived},
			board,
			map[string]string{"module/web/board": archived.ID + " false []"},
		},
		"an unconfirmed create is closed if somebody archived the object since": {
			[]planner.Record{shelved},
			board,
			map[string]string{"module/web/board": archived.ID + " true []"},
		},
		"an unconfirmed delete forgets the object with everything in it, whoever created that": {
			[]planner.Record{
				deleted, known("state/gone/todo", uuid(4, 9)), made("work_item/gone/a", uuid(9, 8)), {Address: "work_item/gone/a#blocking", Members: []string{uuid(9, 9)}},
			},
			nothing,
			map[string]string{"project/gone": "forgotten", "state/gone/todo": "forgotten", "work_item/gone/a": "forgotten", "work_item/gone/a#blocking": "forgotten"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.in.Prune = true
			s.given("project", "", web, "identifier=WEB", "name=Website").given("cycle", web, s1, "name=One").given("cycle", web, s2, "name=Two")
			s.given("work_item", web, pay, "name=Pay").given("work_item", web, ship, "name=Ship")
			s.given("module", web, archived.ID, "name=Board", "archived_at=2026-11-20T10:00:00Z", "external_source=planform", "external_id=acme/module/web/board")
			s.members["cycle_work_item "+s1] = []string{pay, ship}
			for _, r := range tt.prior {
				s.in.Prior[r.Address] = r
			}
			w := want(t)
			tt.want(w)
			become := map[string]string{}
			for _, c := range s.mustPlan(w.all()).StateChanges {
				switch r := c.Record; {
				case c.To == "":
					become[string(c.From)] = "forgotten"
				case r.PendingIntent != nil:
					become[string(c.From)] = "open"
				case r.ID == "":
					become[string(c.From)] = fmt.Sprint(r.Members)
				default:
					become[string(c.From)] = fmt.Sprint(r.ID, " ", r.CreatedByUs, " ", r.Members)
				}
			}
			if diff := cmp.Diff(tt.become, become); diff != "" {
				t.Errorf("what the records become (-want +got):\n%s", diff)
			}
			for _, read := range s.reads {
				if resource.MustLookup(read.Operation.Kind).Membership != nil && read.Operation.Kind != "cycle_work_item" {
					t.Error("what is gone cannot be read:", read.Path)
				}
			}
		})
	}
}

func TestAnExternalIDProvesWhoCreatedAnObject(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mark string
		made bool
	}{
		"an object with its own mark was created by planform":                    {"acme/project/shop", true},
		"an object with the mark of another address was not created by planform": {"acme/project/other", false},
		"an object without a mark was not created by planform":                   {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", shop, "identifier=SHOP", "name=Shop", "external_source=planform", "external_id="+tt.mark)
			s.in.Prior["project/shop"] = planner.Record{Address: "project/shop", PendingIntent: &planner.Intent{Action: planner.Create, Name: "Shop"}}
			plan := s.mustPlan(want(t).put("project/shop", "identifier=SHOP", "name=Shop").all())
			if len(plan.Steps) != 1 || plan.Steps[0].Write.CreatedByUs != tt.made {
				t.Errorf("%v %+v", lines(plan), plan.Steps[0])
			}
		})
	}
}

// TestALinkOfAKilledRunWasCreatedByPlanform: a link bears no mark, and its address is unique within its item.
func TestALinkOfAKilledRunWasCreatedByPlanform(t *testing.T) {
	t.Parallel()
	pay, site := uuid(9, 1), "url=https://example.com"
	for name, tt := range map[string]struct {
		prior planner.Record
		made  bool
	}{
		"a link whose create was announced was created by planform": {planner.Record{Address: "link/web/pay/site", PendingIntent: &planner.Intent{Action: planner.Create}}, true},
		"a link that nobody announced was there before":             {planner.Record{Address: "link/web/pay/site"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB").given("work_item", web, pay, "name=Pay").given("link", pay, uuid(7, 1), site)
			s.in.Prior[tt.prior.Address] = tt.prior
			plan := s.mustPlan(want(t).put("project/web", "id="+web).put("work_item/web/pay", "id="+pay).put("link/web/pay/site", site).all())
			at := slices.IndexFunc(plan.Steps, func(s *planner.Step) bool { return s.Address == tt.prior.Address })
			if at < 0 || plan.Steps[at].Action != planner.Adopt || plan.Steps[at].Write.CreatedByUs != tt.made {
				t.Errorf("%v", lines(plan))
			}
		})
	}
}

// TestAnObjectAdoptedUnderAnotherKeyStaysPlanforms: a page whose folder was renamed has another key, and is found by its name.
func TestAnObjectAdoptedUnderAnotherKeyStaysPlanforms(t *testing.T) {
	t.Parallel()
	id := uuid(0xe, 1)
	others := made("page/how", id)
	others.Sources = []string{"elsewhere.yaml"}
	for name, tt := range map[string]struct {
		prior planner.Record
		ours  bool
	}{
		"an object that planform created stays planform's under another key":                    {made("page/how", id), true},
		"an object that planform only found does not become planform's under another key":       {planner.Record{Address: "page/how", ID: id, Sources: presence()}, false},
		"an object that another manifest may name does not become planform's under another key": {others, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V2)
			s.given("page", "", id, "name=How")
			s.in.Prior["page/how"], s.in.OtherSources = tt.prior, map[string]bool{"elsewhere.yaml": true}
			plan := s.mustPlan(want(t).put("page/guide", "name=How").all())
			forgotten := slices.ContainsFunc(plan.StateChanges, func(c planner.StateChange) bool { return c.From == "page/how" && c.To == "" })
			if len(plan.Steps) != 1 || plan.Steps[0].Write.CreatedByUs != tt.ours || forgotten != tt.ours {
				t.Errorf("%v %+v %v", lines(plan), plan.Steps[0].Write, plan.StateChanges)
			}
		})
	}
}
