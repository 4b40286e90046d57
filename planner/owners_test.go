package planner_test

import (
	"testing"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// ownedBy marks an object of the test service as that of an owner, "" for a manifest without one.
func ownedBy(s *fakeService, id string, owner resource.Owner, at resource.Address) {
	row := s.find(id).row
	row["external_source"], row["external_id"] = owner.Source(), resource.ExternalID("acme", at)
}

// TestAnObjectOfAnotherOwnerIsNeitherAdoptedNorChanged holds what becomes of objects that other manifests made.
func TestAnObjectOfAnotherOwnerIsNeitherAdoptedNorChanged(t *testing.T) {
	t.Parallel()
	const a = resource.Address("work_item/web/a")
	item, label := uuid(9, 1), uuid(5, 1)
	items := func(owner resource.Owner) func(*fakeService) {
		return func(s *fakeService) {
			s.given("work_item", web, item, "name=Theirs")
			ownedBy(s, item, owner, a)
		}
	}
	labels := func(owner resource.Owner) func(*fakeService) {
		return func(s *fakeService) {
			s.given("label", web, label, "name=Bug", "color=#ff0000")
			ownedBy(s, label, owner, "label/web/bug")
		}
	}
	wantItem := func(w *wanted) { w.put("project/web", "id="+web).put(a, "name=Ours") }
	wantOther := func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/b", "name=B") }
	wantLabel := func(fields ...string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web).put("label/web/bug", append([]string{"name=Bug"}, fields...)...)
		}
	}
	of := func(owner resource.Owner, more ...func(*planner.Input)) func(*planner.Input) {
		return func(in *planner.Input) {
			in.Owner = owner
			for _, f := range more {
				f(in)
			}
		}
	}
	takeOver := func(in *planner.Input) { in.TakeOver = true }
	const unknown = "error unknown-mark: planform made 90000000-0000-4000-8000-000000000001 as work_item/web/a, and the state does not know it: " +
		"another manifest may have it; if it is this one's, --take-over takes it; if not, write an owner into each of the manifests (owner: NAME), " +
		"or choose another key"
	const unrecordedAlone = "warning unrecorded: 1 object with planform's mark is neither in the manifest nor in the state: " +
		"work_item/web/a; an earlier deletion took no effect, or the state is lost or old, and what was protected is not known"
	const unrecorded = unrecordedAlone + "; --prune --delete-unrecorded deletes it"
	item2 := uuid(9, 2)
	checkRules(t, map[string]rule{
		"an object with the owner's mark that the state does not know is reported even without --prune": {
			api: full, given: items("web"), options: of("web", func(in *planner.Input) { in.Knowing = true }),
			want:  wantOther,
			steps: []string{"create work_item/web/b"}, findings: []string{
				unrecorded, "not compared: 1 work item: planform's mark is on it, and neither the manifest nor the state has it",
			},
		},
		"a project with contents that the state does not know stays, because they may be protected": {
			api: full, given: func(s *fakeService) {
				s.given("project", "", uuid(1, 9), "name=Old")
				s.given("work_item", uuid(1, 9), item2, "name=Kept")
				ownedBy(s, item2, "web", "work_item/old/kept")
			},
			prior:   []planner.Record{made("project/old", uuid(1, 9), "name=Old")},
			options: of("web", pruning, func(in *planner.Input) { in.DeleteChanged = true }),
			want:    func(w *wanted) { w.put("project/web", "id="+web) },
			steps: []string{"not_possible project/old: it would be deleted, but the state does not know the " +
				"work item \"Kept\" in it: nobody can tell whether it was protected"},
		},
		"an item of another owner under the same key is not adopted": {
			api: full, given: items("mobile"), options: of("web"), want: wantItem,
			steps: []string{"create work_item/web/a"},
		},
		"an item that bears the owner's mark is adopted": {
			api: full, given: items("web"), options: of("web"), want: wantItem,
			steps: []string{"adopt work_item/web/a name: found by its mark"},
		},
		"an item whose mark has no owner is an error if the manifest has one": {
			api: full, given: items(""), options: of("web"), want: wantItem,
			findings: []string{unknown},
		},
		"an item whose mark a used state does not know is an error without an owner": {
			api: full, given: items(""), want: wantItem, options: of("", func(in *planner.Input) { in.Knowing = true }),
			findings: []string{unknown},
		},
		"an item with a mark is adopted without an owner if the state is empty": {
			api: full, given: items(""), want: wantItem, steps: []string{"adopt work_item/web/a name: found by its mark"},
		},
		"an item that the state knows is ours without an owner": {
			api: full, given: items(""), want: wantItem, prior: []planner.Record{made(a, item, "name=Theirs")},
			steps: []string{"update work_item/web/a name"},
		},
		"an item of another owner is adopted with --take-over": {
			api: full, given: items("mobile"), options: of("web", takeOver), want: wantItem,
			steps: []string{"adopt work_item/web/a name owner: found by its mark"},
		},
		"an owner that is added later is written to the items that the state knows": {
			api: full, given: items(""), options: of("web", func(in *planner.Input) { in.FormerOwners = []resource.Owner{""} }), want: wantItem,
			prior: []planner.Record{made(a, item, "name=Theirs")}, steps: []string{"update work_item/web/a name owner"},
			findings: []string{"warning taken-over: this run takes 1 object from a manifest without an owner to owner web, since the state knows it; " +
				"if the owner has no new name, give this manifest a state of its own: --state FILE"},
		},
		"an item that another owner took over is not changed, even if the state knows it": {
			api: full, given: items("mobile"), options: of("web"), want: wantItem, prior: []planner.Record{made(a, item, "name=Theirs")},
			steps: []string{"not_possible work_item/web/a: it belongs to owner mobile"},
		},
		"a label of another owner is used": {
			api: full, given: labels("mobile"), options: of("web"), want: wantLabel(),
		},
		"a label of another owner is not changed": {
			api: full, given: labels("mobile"), options: of("web"), want: wantLabel("color=#00ff00"),
			steps: []string{"not_possible label/web/bug: it belongs to owner mobile"},
		},
		"pruning without a state leaves an item with the owner's mark, which may have been protected": {
			api: full, given: items("web"), options: of("web", pruning), want: wantOther,
			steps: []string{
				"create work_item/web/b",
				"not_possible work_item/web/a: it would be deleted, but the state does not know it: nobody can tell whether it was protected",
			},
			findings: []string{unrecorded},
		},
		"pruning without a state deletes an item with the owner's mark if that is asked for": {
			api: full, given: items("web"), options: of("web", pruning, func(in *planner.Input) { in.DeleteUnrecorded = true }), want: wantOther,
			steps: []string{"create work_item/web/b", "delete work_item/web/a"},
			findings: []string{unrecordedAlone, "warning another-key: work_item/web/b is created, and work_item/web/a is deleted; " +
				"if it was renamed, add `previously: a` to the new entry"},
		},
		"an object with a mark that the state does not know is reported without an owner, and no flag deletes it": {
			api: full, given: items(""), options: of("", pruning, func(in *planner.Input) { in.DeleteUnrecorded = true }), want: wantOther,
			steps: []string{"create work_item/web/b"}, findings: []string{unrecordedAlone},
		},
		"without an owner, no flag is advised that deletes nothing": {
			api: full, given: items(""), options: of("", pruning), want: wantOther,
			steps: []string{"create work_item/web/b"}, findings: []string{unrecordedAlone},
		},
		"pruning without a state deletes no item of another owner, and none without a mark": {
			api: full, given: func(s *fakeService) {
				items("mobile")(s)
				s.given("work_item", web, uuid(9, 2), "name=Nobody's")
			},
			options: of("web", pruning), want: wantOther,
			steps: []string{"create work_item/web/b"},
		},
	})
}
