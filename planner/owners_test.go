package planner_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
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
	family := func(s *fakeService) {
		items("mobile")(s)
		labels("mobile")(s)
		ownedBy(s, web, "mobile", "project/web")
		s.given("work_item", web, uuid(9, 3), "name=Sub", "parent="+item).given("comment", item, uuid(0xb, 1), "comment_html=<p>Note</p>")
		s.given("link", item, uuid(0xa, 1), "url=https://example.com")
		ownedBy(s, uuid(9, 3), "mobile", "work_item/web/sub")
		ownedBy(s, uuid(0xb, 1), "mobile", "comment/web/a/note")
	}
	wantFamily := func(w *wanted) {
		w.put("project/web", "identifier=WEB").put("label/web/bug", "name=Bug").put(a, "name=Theirs").put("work_item/web/sub", "name=Sub", "parent=@work_item/web/a")
		w.put("comment/web/a/note", "text=<p>Note</p>").put("link/web/a/https://example.com", "url=https://example.com")
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
		"another manifest may have it; if it is this manifest's, give --take-over; if not, give each manifest an owner (owner: NAME), " +
		"or use another key"
	const unrecordedAlone = "warning unrecorded: 1 object with planform's mark is neither in the manifest nor in the state: " +
		"work_item/web/a; an earlier deletion failed, or the state is lost or old; it is not known which of them were protected"
	const unrecorded = unrecordedAlone + "; --prune --delete-unrecorded deletes it"
	item2 := uuid(9, 2)
	checkRules(t, map[string]rule{
		"an object with the owner's mark that the state does not know is reported even without --prune": {
			api: full, given: items("web"), options: of("web", func(in *planner.Input) { in.StateIsComplete = true }),
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
			api: full, given: items(""), want: wantItem, options: of("", func(in *planner.Input) { in.StateIsComplete = true }),
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
		"--take-over of a target takes it with what is in or below it, and not what it needs": {
			api: full, given: family, options: of("web", takeOver, func(in *planner.Input) { in.Targets = targets(string(a)) }), want: wantFamily,
			steps: []string{
				"adopt work_item/web/a owner: found by its mark", "adopt work_item/web/sub owner: found by its mark",
				"adopt comment/web/a/note owner: found by its mark", "adopt link/web/a/https://example.com: found by its url",
			},
		},
		"--take-over finds what another owner has by its key, even if what that is in had another key": {
			api: full, options: of("web", takeOver), given: func(s *fakeService) {
				family(s)
				ownedBy(s, web, "mobile", "project/site")
				ownedBy(s, uuid(9, 3), "mobile", "work_item/site/sub")
				s.find(item).row["sequence_id"] = json.Number("1")
			},
			want: func(w *wanted) {
				w.put("project/web", "identifier=WEB").put("work_item/web/mine", "identifier=WEB-1").put("work_item/web/sub", "name=Sub").put("comment/web/mine/note", "text=<p>Note</p>")
			},
			steps: []string{
				"update project/web owner", "update work_item/web/mine owner", "adopt work_item/web/sub owner: found by its mark",
				"adopt comment/web/mine/note owner: found by its mark",
			},
		},
		"--take-over of what is in an item takes nothing if the item stays another owner's": {
			api: full, given: family, want: wantFamily,
			options: of("web", takeOver, func(in *planner.Input) { in.Targets = targets("comment/**", "link/**") }),
			steps: []string{
				"create work_item/web/a", "create work_item/web/sub", "create comment/web/a/note", "create link/web/a/https://example.com",
			},
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
		"a module of another owner is not archived": {
			api: full, options: of("web"), given: func(s *fakeService) {
				s.given("module", web, uuid(0xd, 1), "name=Board", "status=completed")
				ownedBy(s, uuid(0xd, 1), "mobile", "module/web/board")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("module/web/board", "name=Board", "archived=true")
			},
			steps: []string{"not_possible module/web/board: it belongs to owner mobile"},
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

// TestWhatWentToAnotherOwnerIsLeftAloneAndForgotten holds what the plan of an owner does whose objects bear the mark of another one by now.
func TestWhatWentToAnotherOwnerIsLeftAloneAndForgotten(t *testing.T) {
	t.Parallel()
	a, c, c1, x := uuid(9, 1), uuid(9, 2), uuid(9, 3), uuid(9, 4)
	s1, m1, link, note, bob, label := uuid(2, 1), uuid(0xd, 1), uuid(0xa, 1), uuid(0xb, 1), uuid(0xc, 1), uuid(5, 1)
	const site, comment, item, below = "link/web/c/https://example.com", "comment/web/c/note", "work_item/web/c", "work_item/web/c1"
	given := func(s *fakeService) {
		s.given("cycle", web, s1, "name=One").given("module", web, m1, "name=Front")
		s.given("work_item", web, a, "name=A").given("work_item", web, c, "name=C", "sequence_id=2").given("work_item", web, c1, "name=C1", "parent="+c)
		s.given("link", c, link, "url=https://example.com").given("comment", c, note, "comment_html=<p>Note</p>")
		s.members["cycle_work_item "+s1], s.members["module_work_item "+m1] = []string{a, c}, []string{c}
		s.members["work_item_blocked_by "+c], s.members["work_item_blocking "+a] = []string{a}, []string{c}
		ownedBy(s, web, "web", "project/web")
		ownedBy(s, a, "web", "work_item/web/a")
		ownedBy(s, c, "mobile", item)
		ownedBy(s, c1, "mobile", below)
		ownedBy(s, note, "web", comment)
	}
	and := func(more func(*fakeService)) func(*fakeService) { return func(s *fakeService) { given(s); more(s) } }
	roster := func(address resource.Address, members ...string) planner.Record {
		return planner.Record{Address: address, Members: members, Sources: presence()}
	}
	project := func(w *wanted) *wanted {
		return w.put("project/web", "id="+web).put("cycle/web/s1", "name=One").put("module/web/m1", "name=Front")
	}
	wants := func(more ...func(*wanted)) func(*wanted) {
		return func(w *wanted) {
			project(w).put("work_item/web/a", "name=A", "cycle=@cycle/web/s1")
			for _, f := range more {
				f(w)
			}
		}
	}
	itsItem := func(fields ...string) func(*wanted) {
		return func(w *wanted) { w.put(item, append([]string{"identifier=WEB-2"}, fields...)...) }
	}
	changed := func(in *planner.Input) { in.Prune, in.DeleteChanged = true, true }
	kept := []string{
		`not_possible work_item/web/a: it would be deleted, but planform did not make its relation blocking "C"`,
		`not_possible cycle/web/s1: it would be deleted, but 1 work item added by others is in it: "C"`,
		`not_possible module/web/m1: it would be deleted, but 1 work item added by others is in it: "C"`,
		`not_possible label/web/bug: it would be deleted, but 1 work item refers to it in labels: "C"`,
	}
	all := []string{comment, site, item, below}
	for name, tt := range map[string]struct {
		given     func(*fakeService) // nil = as above
		options   func(*planner.Input)
		prior     []planner.Record // beside the others
		want      func(*wanted)
		steps     []string
		forgotten []string
		members   []resource.Address // of which the state knows members afterwards
		again     []string           // steps of the second plan
		notices   []string           // codes, of both plans
	}{
		"an item of another owner stays as it is, with what is in it and its memberships": {
			options: pruning, want: wants(), forgotten: all, members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"--delete-changed deletes nothing of another owner": {
			options: changed, want: wants(), forgotten: all, members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"a list that is read anyway tells it without --prune": {
			want:  wants(func(w *wanted) { w.put("work_item/web/d", "name=D") }),
			steps: []string{"create work_item/web/d"}, forgotten: all, members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"an item that was only found is forgotten with the link that planform made in it": {
			options: pruning, want: wants(), prior: []planner.Record{{Address: item, ID: c, Sources: presence()}}, forgotten: all,
			members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"an item that was protected is forgotten without an error": {
			options: pruning, want: wants(), forgotten: all, members: []resource.Address{"cycle/web/s1#work_items"},
			prior: []planner.Record{{Address: item, ID: c, CreatedByUs: true, Protect: true, Sources: presence()}},
		},
		"an item that a manifest has which is not read is neither forgotten nor deleted": {
			options: func(in *planner.Input) { in.Prune, in.OtherSources = true, map[string]bool{"more.yaml": true} }, want: wants(),
			prior: []planner.Record{{Address: item, ID: c, CreatedByUs: true, Sources: []string{"more.yaml"}}, {Address: comment}},
			steps: nil, forgotten: []string{site, below}, notices: []string{"other-source"},
			members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/c#blocked_by"},
		},
		"a sub-item stays below an item of another owner, whatever its own mark": {
			given: and(func(s *fakeService) { ownedBy(s, c1, "web", below) }), options: pruning, want: wants(), forgotten: all,
			members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"a sub-item that the manifest has is managed below an item of another owner": {
			given: and(func(s *fakeService) { ownedBy(s, c1, "web", below) }), options: pruning,
			want:  wants(func(w *wanted) { w.put(below, "name=New") }),
			steps: []string{"update work_item/web/c1 name"}, forgotten: []string{comment, site, item}, members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"an item above one of another owner is not deleted, even with --delete-changed": {
			given: and(func(s *fakeService) {
				s.given("work_item", web, x, "name=X")
				ownedBy(s, x, "web", "work_item/web/x")
				s.find(c).row["parent"] = x
			}),
			options: changed, want: wants(), prior: []planner.Record{made("work_item/web/x", x)}, forgotten: all,
			steps:   []string{`not_possible work_item/web/x: it would be deleted, but work item "C" below it stays`},
			again:   []string{`not_possible work_item/web/x: it would be deleted, but work item "C" below it stays`},
			members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"a project with an item of another owner is not deleted, even with --delete-changed": {
			options: changed, want: func(*wanted) {}, forgotten: all, members: nil,
			steps: []string{"delete work_item/web/a", "delete cycle/web/s1", "delete module/web/m1", `not_possible project/web: it would be deleted, but the work item "C" in it belongs to owner mobile`},
			again: []string{`not_possible project/web: it would be deleted, but the work item "C" in it belongs to owner mobile`},
		},
		"what an item of another owner uses or is in is kept, and so is what it is related to": {
			given: and(func(s *fakeService) {
				s.given("label", web, label, "name=Bug")
				ownedBy(s, label, "web", "label/web/bug")
				s.find(c).row["labels"] = []any{label}
			}),
			options: pruning, want: func(w *wanted) { w.put("project/web", "id="+web) }, prior: []planner.Record{
				made("label/web/bug", label, "name=Bug"), made(item, c, "name=C", "labels="+label), made("work_item/web/a", a, "name=A"),
			},
			forgotten: all, steps: kept, again: kept, notices: []string{"kept-for-others"},
			members: []resource.Address{"cycle/web/s1#work_items"},
		},
		"a member stays in a cycle of another owner only as long as its own manifest says so": {
			given: and(func(s *fakeService) { ownedBy(s, s1, "mobile", "cycle/web/s1") }), options: pruning,
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("module/web/m1", "name=Front").put("work_item/web/a", "name=A")
			},
			steps: []string{"remove_members cycle/web/s1#work_items 1"}, forgotten: append([]string{comment, "cycle/web/s1"}, all[1:]...),
		},
		"in an item of another owner a link stays that the manifest drops, and a comment with the owner's mark goes": {
			options: pruning, want: wants(itsItem()), steps: []string{"delete comment/web/c/note"}, forgotten: []string{site, below},
			members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/c#blocked_by"},
		},
		"nothing is put into an item of another owner, or said of where it is, but what bears a mark of its own": {
			given: and(func(s *fakeService) {
				s.members["module_work_item "+m1], s.members["cycle_work_item "+s1] = nil, []string{a}
			}), options: pruning,
			want: wants(itsItem("cycle=@cycle/web/s1", "modules=@module/web/m1"), func(w *wanted) {
				w.put(site, "url=https://example.com", "title=Other").put("link/web/c/new", "url=https://example.com/new").put(comment, "text=Changed")
				w.put("comment/web/c/other", "text=Other")
			}),
			steps: []string{
				"update comment/web/c/note text", "create comment/web/c/other",
				"not_possible cycle/web/s1#work_items 1: work_item/web/c belongs to owner mobile",
				"not_possible link/web/c/https://example.com: it belongs to owner mobile",
				"not_possible link/web/c/new: work_item/web/c belongs to owner mobile",
				"not_possible module/web/m1#work_items 1: work_item/web/c belongs to owner mobile",
			},
			forgotten: []string{below}, members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/c#blocked_by"},
			again: []string{
				"not_possible cycle/web/s1#work_items 1: work_item/web/c belongs to owner mobile",
				"not_possible link/web/c/https://example.com: it belongs to owner mobile",
				"not_possible link/web/c/new: work_item/web/c belongs to owner mobile",
				"not_possible module/web/m1#work_items 1: work_item/web/c belongs to owner mobile",
			},
		},
		"a relation to an item of another owner is made": {
			given: and(func(s *fakeService) {
				s.members["work_item_blocked_by "+c], s.members["work_item_blocking "+a] = nil, nil
			}), options: pruning,
			want:  wants(itsItem(), func(w *wanted) { w.put("work_item/web/x", "name=X", "blocking=@work_item/web/c") }),
			steps: []string{"create work_item/web/x", "add_members work_item/web/x#blocking 1", "delete comment/web/c/note"}, forgotten: []string{site, below},
			members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/c#blocked_by", "work_item/web/x#blocking"},
		},
		"a relation to an item of another owner that the manifest drops stays": {
			options: pruning, want: wants(itsItem()), prior: []planner.Record{roster("work_item/web/a#blocking", c)},
			steps: []string{"delete comment/web/c/note"}, forgotten: []string{site, below},
			members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/a#blocking", "work_item/web/c#blocked_by"},
		},
		"a relation to an item of another owner ends if the manifest's own item is said to have none": {
			want: func(w *wanted) {
				project(w).put(item, "identifier=WEB-2").put("work_item/web/a", "name=A", "cycle=@cycle/web/s1", "blocking!")
			},
			prior: []planner.Record{roster("work_item/web/a#blocking", c)}, steps: []string{"remove_members work_item/web/a#blocking 1"},
			forgotten: []string{site, below}, notices: []string{"orphaned"},
			members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/c#blocked_by"},
		},
		"people are added to a project of another owner by that owner only": {
			given: and(func(s *fakeService) {
				ownedBy(s, web, "mobile", "project/web")
				s.given("member", "", bob, "email=bob@example.com")
			}),
			want:  func(w *wanted) { w.put("project/web", "id="+web, "members=bob@example.com") },
			steps: []string{"not_possible project/web#members 1: project/web belongs to owner mobile"},
			again: []string{"not_possible project/web#members 1: project/web belongs to owner mobile"}, notices: []string{"orphaned"},
			members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/c#blocked_by"},
		},
		"an undo names what went to another owner and leaves it, with its memberships": {
			options: func(in *planner.Input) {
				in.Prune, in.Deletes = true, map[resource.Address]bool{item: true, below: true, site: true, comment: true}
				in.Leaves = map[resource.Address]map[string]bool{"cycle/web/s1#work_items": {c: true, a: true}}
			},
			want: func(w *wanted) { project(w).put("work_item/web/a", "name=A") },
			steps: []string{
				"remove_members cycle/web/s1#work_items 1", "not_possible work_item/web/c1: it would be deleted, but it belongs to owner mobile",
				"not_possible work_item/web/c: it would be deleted, but it belongs to owner mobile",
			},
			forgotten: []string{comment, site}, members: []resource.Address{"cycle/web/s1#work_items", "module/web/m1#work_items", "work_item/web/c#blocked_by"},
			again: []string{
				"not_possible work_item/web/c1: it would be deleted, but it belongs to owner mobile",
				"not_possible work_item/web/c: it would be deleted, but it belongs to owner mobile",
			},
		},
	} {
		for api, by := range map[resource.API]string{resource.V1: "v1", resource.V2: "v2"} {
			t.Run(name+" by API "+by, func(t *testing.T) {
				t.Parallel()
				s := newService(t, api)
				s.given("project", "", web, "identifier=WEB", "name=Website")
				if tt.given == nil {
					tt.given = given
				}
				tt.given(s)
				for _, r := range append([]planner.Record{
					made("project/web", web), made("cycle/web/s1", s1, "name=One"), made("module/web/m1", m1, "name=Front"),
					made("work_item/web/a", a, "name=A"), made(item, c, "name=C"), made(below, c1, "name=C1"),
					made(site, link, "url=https://example.com"), made(comment, note),
					roster("cycle/web/s1#work_items", a, c), roster("module/web/m1#work_items", c), roster("work_item/web/c#blocked_by", a),
				}, tt.prior...) {
					if s.in.Prior[r.Address] = r; r.ID == "" && r.Address.IsObject() {
						delete(s.in.Prior, r.Address)
					}
				}
				s.in.Owner, s.in.FormerOwners, s.in.StateIsComplete = "web", []resource.Owner{"web"}, true
				if tt.options != nil {
					tt.options(&s.in)
				}
				w := want(t)
				tt.want(w)
				plan := s.mustPlan(w.all())
				codes := func(plan *planner.Plan) (codes []string) {
					for _, n := range plan.Notices {
						codes = append(codes, n.Code)
					}
					return codes
				}
				var forgotten []string
				for _, change := range plan.StateChanges {
					if change.To == "" && change.From.IsObject() {
						forgotten = append(forgotten, string(change.From))
					}
				}
				if diff := cmp.Diff([][]string{tt.steps, tt.forgotten, tt.notices}, [][]string{lines(plan), forgotten, codes(plan)}); diff != "" {
					t.Errorf("steps, forgotten and notices (-want +got):\n%s", diff)
				}
				s.apply(plan)
				var members []resource.Address
				for _, address := range slices.Sorted(maps.Keys(s.in.Prior)) {
					if !address.IsObject() {
						members = append(members, address)
					}
				}
				if diff := cmp.Diff(tt.members, members); diff != "" {
					t.Errorf("members in the state (-want +got):\n%s", diff)
				}
				again := s.mustPlan(w.all())
				if diff := cmp.Diff([][]string{tt.again, tt.notices}, [][]string{lines(again), codes(again)}); diff != "" || len(again.StateChanges) > 0 {
					t.Errorf("the second plan (-want +got):\n%s%v", diff, again.StateChanges)
				}
			})
		}
	}
}
