package planner_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// Objects of another workspace, and what they became here.
func idHere(n int) string { return uuid(9, n) }
func there(n int) string  { return uuid(0xa, n) }

func TestAnObjectOfAnotherWorkspaceIsTheSameWhateverItIsCalledThere(t *testing.T) {
	t.Parallel()
	mark := func(key string) []string {
		return []string{"external_source=planform", "external_id=" + resource.ExternalID(workspace, resource.Address("label/web/"+key))}
	}
	label := func(n int, name, key string) func(*fakeService) {
		return func(s *fakeService) { s.given("label", web, idHere(n), append(mark(key), "name="+name)...) }
	}
	both := func(all ...func(*fakeService)) func(*fakeService) {
		return func(s *fakeService) {
			for _, f := range all {
				f(s)
			}
		}
	}
	item := func(n int, name string) func(*fakeService) {
		return func(s *fakeService) { s.given("work_item", web, idHere(n), "name="+name) }
	}
	project := func(w *wanted) *wanted { return w.put("project/web", "id="+web) }
	checkRules(t, map[string]rule{
		"an object that was renamed there is renamed here": {
			api: full, given: label(1, "Bug", "bug"), prior: []planner.Record{known("label/web/bug", idHere(1), "name=Bug", "origin="+there(1))},
			want:  func(w *wanted) { project(w).put("label/web/defect", "origin="+there(1), "name=Defect") },
			steps: []string{"update label/web/defect name external_id"},
		},
		"an object is the same if its identifier there is the same": {
			api: full, given: item(1, "One"), prior: []planner.Record{known("work_item/web/one", idHere(1), "name=One", "origin=MAIN-1")},
			want:  func(w *wanted) { project(w).put("work_item/web/main-1", "origin=MAIN-1", "name=One, better") },
			steps: []string{"update work_item/web/main-1 name"},
		},
		"the ID that an object has there comes before its key": {
			api: full, given: both(item(1, "Dup"), item(2, "Dup")),
			prior: []planner.Record{known("work_item/web/dup", idHere(1), "name=Dup", "description=1", "origin="+there(1)), known("work_item/web/dup-2", idHere(2), "name=Dup", "description=2", "origin="+there(2))},
			want:  func(w *wanted) { project(w).put("work_item/web/dup", "origin="+there(2), "name=Dup") },
		},
		"two objects that exchange their keys stay the same": {
			api: full, given: both(item(1, "A"), item(2, "B")),
			prior: []planner.Record{known("work_item/web/a", idHere(1), "name=A", "origin="+there(1)), known("work_item/web/b", idHere(2), "name=B", "origin="+there(2))},
			want: func(w *wanted) {
				project(w).put("work_item/web/a", "origin="+there(2), "name=B").put("work_item/web/b", "origin="+there(1), "name=A")
			},
		},
		"another object is never written over the one that the state has under its key": {
			api: full, given: item(1, "Dup"), prior: []planner.Record{known("work_item/web/dup", idHere(1), "name=Dup", "origin=MAIN-3")},
			want: func(w *wanted) { project(w).put("work_item/web/dup", "origin=MAIN-12", "name=Dup") },
			findings: []string{"error other-origin: work_item/web/dup was MAIN-3 of the workspace there of https://there.example.com at the last apply, and the manifest says that it is MAIN-12 of the workspace there of " +
				"https://there.example.com: it is another work item; give the new one another key; planform export makes the keys of work items from their numbers"},
		},
		"a new label takes the place of a label of the same name that was deleted there": {
			api: full, given: label(1, "Bug", "bug"), prior: []planner.Record{known("label/web/bug", idHere(1), "name=Bug", "origin="+there(1))},
			want: func(w *wanted) { project(w).put("label/web/bug", "origin="+there(2), "name=Bug", "color=#123456") }, steps: []string{"update label/web/bug color"},
		},
		"an object of the same name is not created a second time if the state has no origins": {
			api: full, given: both(item(1, "Dup"), item(2, "Dup")),
			prior: []planner.Record{known("work_item/web/dup", idHere(1), "name=Dup"), known("work_item/web/dup-2", idHere(2), "name=Dup")},
			want:  func(w *wanted) { project(w).put("work_item/web/main-1", "origin=MAIN-1", "name=Dup") },
			findings: []string{"error another-key: work_item/web/main-1 would be created twice: the state has work_item/web/dup with the same name, and the manifest lacks that key; " +
				"if only the key changed, add `previously: dup`; if not, planform state rm work_item/web/dup forgets the former object"},
		},
		"an object that was renamed there is not created a second time if the state has no origins": {
			api: full, given: item(1, "One"), prior: []planner.Record{known("work_item/web/one", idHere(1), "name=One")},
			want: func(w *wanted) { project(w).put("work_item/web/main-1", "origin=MAIN-1", "name=One, better") },
			findings: []string{"error unknown-origin: work_item/web/main-1 (MAIN-1 of the workspace there of https://there.example.com) is new or was renamed; " +
				"the state has work_item/web/one, which the manifest lacks; if it was renamed, add `previously: KEY`; planform state rm ADDRESS forgets a deleted object"},
		},
		"a former key identifies an object if the state has no origins": {
			api: full, given: item(1, "One"), prior: []planner.Record{known("work_item/web/one", idHere(1), "name=One")},
			want: func(w *wanted) {
				project(w).put("work_item/web/main-1", "origin=MAIN-1", "name=One, better")
				w.byName["work_item/web/main-1"].Previously = []string{"one"}
			},
			steps: []string{"update work_item/web/main-1 name"},
		},
		"a new object is created beside those that the state knows": {
			api: full, given: item(1, "One"), prior: []planner.Record{known("work_item/web/main-1", idHere(1), "name=One", "origin=MAIN-1")},
			want: func(w *wanted) { project(w).put("work_item/web/main-2", "origin=MAIN-2", "name=One, better") }, steps: []string{"create work_item/web/main-2"},
		},
		"an id in the manifest moves the record to the new key": {
			api: full, given: label(1, "Bug", "bug"), prior: []planner.Record{known("label/web/bug", idHere(1), "name=Bug")},
			want: func(w *wanted) { project(w).put("label/web/defect", "id="+idHere(1), "name=Defect") }, steps: []string{"update label/web/defect name"},
		},
	})
}

func TestTheStateRemembersWhereObjectsComeFrom(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	objects := func(keys ...string) []*resource.Object {
		w := want(t).put("project/web", "id="+web)
		for n, key := range keys {
			w.put(resource.Address("work_item/web/"+key), "origin="+there(n+1), "name=Dup")
			w.put(resource.Address("comment/web/"+key+"/c"), "origin="+there(n+11), "text=Comment")
		}
		return w.all()
	}
	s.in.Prior["work_item/web/dup"] = made("work_item/web/dup", idHere(1))
	s.given("work_item", web, idHere(1), "name=Dup")
	plan := s.mustPlan(objects("dup"))
	if len(plan.Seen) != 1 || !plan.Seen[0].Record.Origin.Is(origin(there(1))) {
		t.Errorf("of one that an older state has: %+v", plan.Seen)
	}
	s.apply(plan)

	plan = s.mustPlan(objects("main-1", "dup"))
	want := map[resource.Address]string{"work_item/web/dup": "work_item/web/main-1", "comment/web/dup/c": "comment/web/main-1/c"}
	if diff := cmp.Diff(want, corrections(plan)); diff != "" || len(lines(plan)) != 3 {
		t.Error(diff, lines(plan))
	}
	s.apply(plan)

	w := (&wanted{t: t, byName: map[resource.Address]*resource.Object{}}).put("project/web", "id="+web)
	w.put("work_item/web/main-1", "origin="+there(2), "name=Dup") // the first is deleted there, and the second has its key
	plan = s.mustPlan(w.all())
	want = map[resource.Address]string{
		"work_item/web/dup": "work_item/web/main-1", "comment/web/dup/c": "comment/web/main-1/c",
		"work_item/web/main-1": "work_item/web/main-1-former", "comment/web/main-1/c": "comment/web/main-1-former/c",
	}
	if diff := cmp.Diff(want, corrections(plan)); diff != "" || !slices.Equal(lines(plan), []string{"update work_item/web/main-1 external_id"}) {
		t.Error(diff, lines(plan))
	}
	if why := plan.StateChanges[len(plan.StateChanges)-1].Why; why != "is now work_item/web/main-1-former: the manifest has another object under its key" {
		t.Error(why)
	}
}

// The service takes a name once, and so planform's mark.
func TestANameOrMarkIsTakenWhenItIsFree(t *testing.T) {
	t.Parallel()
	label := func(n int) string { return uuid(4, n) }
	given := func(labels ...string) func(*fakeService) {
		return func(s *fakeService) {
			for n, text := range labels {
				name, key, marked := strings.Cut(text, " ")
				fields := []string{"name=" + name}
				if marked {
					fields = append(fields, "external_source=planform", "external_id="+resource.ExternalID(workspace, resource.Address("label/web/"+key)))
				}
				s.given("label", web, label(n+1), fields...)
			}
		}
	}
	state := func(keys ...string) (prior []planner.Record) {
		for n, key := range keys {
			name, key, _ := strings.Cut(key, " ")
			prior = append(prior, made(resource.Address("label/web/"+key), label(n+1), "name="+name, "origin="+there(n+1)))
		}
		return prior
	}
	wants := func(labels ...string) func(*wanted) {
		return func(w *wanted) {
			w.put("project/web", "id="+web)
			for _, text := range labels {
				parts := strings.Fields(text) // name, key, and number there
				n, _ := strconv.Atoi(parts[2])
				w.put(resource.Address("label/web/"+parts[1]), "name="+parts[0], "origin="+there(n))
			}
		}
	}
	const both = "give its `id` to use that one, or rename or delete one of them"
	checkRules(t, map[string]rule{
		"a name is taken after another object gives it up": {
			api: full, given: given("A a", "B b"), prior: state("A a", "B b"), want: wants("B a 1", "C b 2"), steps: []string{"update label/web/b name", "update label/web/a name"},
		},
		"a mark is taken after another object gives it up": {
			api: full, given: given("A a", "B b"), prior: state("A a", "B b"), want: wants("B b 1", "C c 2"),
			steps: []string{"update label/web/c name external_id", "update label/web/b name external_id"},
		},
		"a new object takes a name after another object gives it up": {
			api: full, given: given("A a"), prior: state("A a"), want: wants("A a 2", "B b 1"), steps: []string{"update label/web/b name external_id", "create label/web/a"},
		},
		"a name is taken after the object that has it is deleted": {
			api: full, given: given("A a", "B b"), prior: state("A a", "B b"), want: wants("A a 2"), options: prune,
			steps: []string{"delete label/web/a-former", "update label/web/a name external_id"},
		},
		"a name is not taken from an object that only --prune deletes": {
			api: full, given: given("A a", "B b"), prior: state("A a", "B b"), want: wants("A a 2"),
			steps:    []string{"not_possible label/web/a: the service has another label \"A\" (" + label(1) + "), which is label/web/a-former in the state: --prune deletes it"},
			findings: []string{"warning orphaned: 1 object created by an earlier apply is no longer in the manifest: label/web/a-former; to delete it, use --prune"},
		},
		"a name that people gave to another object is not taken": {
			api: full, given: given("A a", "B"), prior: state("A a"), want: wants("B a 1"),
			steps: []string{"not_possible label/web/a: the service has another label \"B\" (" + label(2) + "): " + both},
		},
		"two objects do not exchange their names": {
			api: full, given: given("A a", "B b"), prior: state("A a", "B b"), want: wants("B a 1", "A b 2"),
			steps: []string{
				"not_possible label/web/a: label/web/b has it until then: two objects exchange it, and the service takes each name once: give one of them a third name first",
				"not_possible label/web/b: label/web/a has it until then: two objects exchange it, and the service takes each name once: give one of them a third name first",
			},
		},
		"a mark that another object keeps is not taken": {
			api: full, given: given("A a", "B b"), prior: state("A a", "B b")[1:], want: wants("B a 2"),
			steps: nil, findings: nil,
		},
	})
}

func TestAnObjectIsNotCreatedAgainUnderAnotherKey(t *testing.T) {
	t.Parallel()
	given := func(s *fakeService) { s.given("work_item", web, idHere(1), "name=Beta") }
	wants := func(w *wanted) { w.put("project/web", "id="+web).put("work_item/web/bb", "name=Beta") }
	const refused = "error another-key: work_item/web/bb would be created twice: the state has work_item/web/b with the same name, and the manifest lacks that key; " +
		"if only the key changed, add `previously: b`; if not, planform state rm work_item/web/b forgets the former object"
	const leftOver = "warning orphaned: 1 object created by an earlier apply is no longer in the manifest: work_item/web/b; to delete it, use --prune"
	mine := made("work_item/web/b", idHere(1), "name=Beta")
	checkRules(t, map[string]rule{
		"an object that planform created is not created again under another key": {
			api: full, given: given, want: wants, prior: []planner.Record{mine}, findings: []string{leftOver, refused + ", or --prune deletes it"},
		},
		"an object that planform adopted is not created again under another key": {
			api: full, given: given, want: wants, prior: []planner.Record{known("work_item/web/b", idHere(1), "name=Beta")}, findings: []string{refused},
		},
		"an adopted object is not created again under another key, because --prune does not delete it": {
			api: full, given: given, want: wants, prior: []planner.Record{known("work_item/web/b", idHere(1), "name=Beta")}, options: prune,
			findings: []string{"warning not-made: 1 object no longer in the manifest is not deleted, since planform did not create it: work_item/web/b; planform state rm ADDRESS stops tracking one", refused},
		},
		"an object that is gone on the service is created under another key": {
			api: full, want: wants, prior: []planner.Record{mine}, steps: []string{"create work_item/web/bb"},
			findings: []string{leftOver},
		},
		"an object that --prune deletes is created under another key with a warning": {
			api: full, given: given, want: wants, prior: []planner.Record{mine}, options: prune, steps: []string{"create work_item/web/bb", "delete work_item/web/b"},
			findings: []string{"warning another-key: work_item/web/bb is created, and work_item/web/b is deleted; if it was renamed, add `previously: b` to the new entry"},
		},
	})
}

func prune(in *planner.Input) { in.Prune = true }
