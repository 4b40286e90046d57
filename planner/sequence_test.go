package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// turns writes down the steps with the number of their sequence and what they wait for.
func turns(plan *planner.Plan) []string {
	var list []string
	for _, s := range plan.Steps {
		var line strings.Builder
		fmt.Fprintf(&line, "%d %s %s", s.Sequence, s.Action, s.Address)
		for _, j := range s.Needs {
			fmt.Fprintf(&line, ", needs %s", plan.Steps[j].Address)
		}
		for _, j := range s.After {
			fmt.Fprintf(&line, ", after %s", plan.Steps[j].Address)
		}
		list = append(list, line.String())
	}
	return list
}

func TestObjectsAreCreatedInTheOrderOfTheManifest(t *testing.T) {
	t.Parallel()
	ada, bob := uuid(0xc, 1), uuid(0xc, 2)
	for name, tt := range map[string]struct {
		given func(*fakeService)
		want  func(*wanted)
		any   bool
		turn  []string
	}{
		"a parent that stands below its child is created just before it": {
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", "parent=@work_item/web/d")
				w.put("work_item/web/c", "name=C").put("work_item/web/d", "name=D")
			},
			turn: []string{
				"1 create work_item/web/a", "1 create work_item/web/d", "1 create work_item/web/b, needs work_item/web/d", "1 create work_item/web/c",
			},
		},
		"members and labels that an item names come before the first item": {
			given: func(s *fakeService) { s.given("member", "", bob, "email=bob@example.com") },
			want: func(w *wanted) {
				w.put("project/web", "id="+web, "members=bob@example.com")
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B", "assignees=bob@example.com", "labels=@label/web/x").put("work_item/web/c", "name=C")
				w.put("label/web/x", "name=X").put("label/web/y", "name=Y").put("link/web/a/l", "url=https://example.com")
			},
			turn: []string{
				"0 add_members project/web#members", "1 create label/web/x", "1 create label/web/y",
				"2 create work_item/web/a", "2 create work_item/web/b, needs label/web/x, after project/web#members", "2 create work_item/web/c",
				"0 create link/web/a/l, needs work_item/web/a",
			},
		},
		"a new container that nothing names is created before its members are added": {
			given: func(s *fakeService) { s.given("member", "", bob, "email=bob@example.com") },
			want:  func(w *wanted) { w.put("teamspace/core", "name=Core", "members=bob@example.com") },
			turn:  []string{"0 create teamspace/core", "0 add_members teamspace/core#members, needs teamspace/core"},
		},
		"projects run beside each other, and so do the children of different objects": {
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("project/ops", "identifier=OPS", "name=Ops")
				for _, p := range []string{"web", "ops"} {
					for _, k := range []string{"a", "b"} {
						item := "work_item/" + p + "/" + k
						w.put(resource.Address(item), "name="+k)
						w.put(resource.Address("comment/"+p+"/"+k+"/1"), "text=One").put(resource.Address("comment/"+p+"/"+k+"/2"), "text=Two")
					}
				}
			},
			turn: []string{
				"0 create project/ops",
				"1 create work_item/web/a", "1 create work_item/web/b", "2 create work_item/ops/a, needs project/ops", "2 create work_item/ops/b, needs project/ops",
				"3 create comment/web/a/1, needs work_item/web/a", "3 create comment/web/a/2, needs work_item/web/a",
				"4 create comment/web/b/1, needs work_item/web/b", "4 create comment/web/b/2, needs work_item/web/b",
				"5 create comment/ops/a/1, needs work_item/ops/a", "5 create comment/ops/a/2, needs work_item/ops/a",
				"6 create comment/ops/b/1, needs work_item/ops/b", "6 create comment/ops/b/2, needs work_item/ops/b",
			},
		},
		"items have no order if any order is allowed": {
			any: true,
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/a", "name=A").put("work_item/web/b", "name=B")
			},
			turn: []string{"0 create work_item/web/a", "0 create work_item/web/b"},
		},
		"defaults of new items are set before them, and an item without assignees is cleared after": {
			given: func(s *fakeService) {
				s.given("member", "", ada, "email=ada@example.com").given("member", "", bob, "email=bob@example.com")
				s.find(web).row["default_assignee"] = ada
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web, "default_assignee=bob@example.com", "members=bob@example.com")
				w.put("work_item/web/a", "name=A", "assignees!").put("work_item/web/b", "name=B", "state=@state/web/s").put("state/web/s", "name=S").put("state/web/n", "name=N", "default=true")
			},
			turn: []string{
				"0 add_members project/web#members", "0 update project/web, after project/web#members", "1 create state/web/s", "1 create state/web/n",
				"2 create work_item/web/a, after project/web#members, after project/web, after state/web/n", "0 update work_item/web/a, needs work_item/web/a",
				"2 create work_item/web/b, needs state/web/s, after project/web#members, after project/web",
			},
		},
		"an item without assignees is cleared if the service has a default assignee": {
			given: func(s *fakeService) { s.find(web).row["default_assignee"] = ada },
			want: func(w *wanted) {
				w.put("project/web", "id="+web, "name=Website").put("work_item/web/a", "name=A", "assignees!").put("work_item/web/b", "name=B", "assignees="+ada)
			},
			turn: []string{"1 create work_item/web/a", "0 update work_item/web/a, needs work_item/web/a", "1 create work_item/web/b"},
		},
		"a feature is switched on before an object that needs it is created or changed": {
			given: func(s *fakeService) {
				s.find(web).row["cycle_view"] = false
				s.given("cycle", web, uuid(3, 1), "name=Sprint")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web, "cycle_view=true").put("cycle/web/old", "id="+uuid(3, 1), "name=Sprint 1").put("cycle/web/new", "name=Sprint 2")
			},
			turn: []string{"0 update project/web", "0 update cycle/web/old, needs project/web", "0 create cycle/web/new, needs project/web"},
		},
		"people become members before they lead or own anything": {
			given: func(s *fakeService) { s.given("member", "", bob, "email=bob@example.com") },
			want: func(w *wanted) {
				w.put("project/new", "identifier=NEW", "name=New", "lead=bob@example.com", "members=bob@example.com", "module_view=true", "cycle_view=true")
				w.put("module/new/m", "name=M", "lead=bob@example.com", "members=bob@example.com").put("cycle/new/c", "name=C", "owned_by=bob@example.com")
			},
			turn: []string{
				"0 create project/new", "0 add_members project/new#members, needs project/new",
				"0 create module/new/m, needs project/new, after project/new#members", "0 create cycle/new/c, needs project/new, after project/new#members",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB", "name=Website")
			s.members["project_member "+web] = []string{ada}
			if tt.given != nil {
				tt.given(s)
			}
			s.in.AnyOrder = tt.any
			w := want(t)
			tt.want(w)
			if diff := cmp.Diff(tt.turn, turns(s.mustPlan(w.all()))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAnItemBeforeItsParentKeepsItsTurnInExactOrder: it gets the parent afterwards.
func TestAnItemBeforeItsParentKeepsItsTurnInExactOrder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		api   resource.API
		exact bool
		want  []string
	}{
		"an item gets its parent afterwards in exact order with API v1": {full, true, []string{
			"1 create work_item/web/a", "1 create work_item/web/b", "1 create work_item/web/top", "1 create work_item/web/c, needs work_item/web/top",
			"0 update work_item/web/b, needs work_item/web/b, needs work_item/web/top, after work_item/web/a", "0 update work_item/web/a, needs work_item/web/a, needs work_item/web/top",
		}},
		"an item gets its parent afterwards in exact order with API v2": {resource.V2, true, []string{
			"1 create work_item/web/a", "1 create work_item/web/b", "1 create work_item/web/top", "1 create work_item/web/c",
			"0 update work_item/web/b, needs work_item/web/b, needs work_item/web/top, after work_item/web/a", "0 update work_item/web/a, needs work_item/web/a, needs work_item/web/top",
			"0 update work_item/web/c, needs work_item/web/top, needs work_item/web/c",
		}},
		"an item waits for its parent in any other order": {full, false, []string{
			"1 create work_item/web/top", "1 create work_item/web/a, needs work_item/web/top",
			"1 create work_item/web/b, needs work_item/web/top, after work_item/web/a", "1 create work_item/web/c, needs work_item/web/top",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.api)
			s.given("project", "", web, "identifier=WEB")
			w := want(t).put("project/web", "id="+web).put("work_item/web/a", "name=A", "parent=@work_item/web/top")
			w.put("work_item/web/b", "name=B", "parent=@work_item/web/top", "description=[a](planform:work_item/web/a)").put("work_item/web/top", "name=Top").put("work_item/web/c", "name=C", "parent=@work_item/web/top")
			s.in.ExactOrder = tt.exact
			if diff := cmp.Diff(tt.want, turns(s.mustPlan(w.all()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnExistingItemDoesNotBringItsParentForwardInExactOrder: an apply that ended early left it without its parent, and without its link.
func TestAnExistingItemDoesNotBringItsParentForwardInExactOrder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		exact bool
		want  []string
	}{
		"an existing item gets its parent and link afterwards in exact order": {true, []string{
			"1 create work_item/web/c", "1 create work_item/web/top", "1 create work_item/web/d",
			"0 update work_item/web/a, needs work_item/web/top", "0 update work_item/web/b, after work_item/web/d",
		}},
		"an existing item brings its parent forward in any other order": {false, []string{
			"1 create work_item/web/top", "0 update work_item/web/a, needs work_item/web/top", "1 create work_item/web/c", "1 create work_item/web/d",
			"0 update work_item/web/b, after work_item/web/d",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB")
			a, b := uuid(7, 1), uuid(7, 2)
			s.given("work_item", web, a, "name=A").given("work_item", web, b, "name=B")
			w := want(t).put("project/web", "id="+web).put("work_item/web/a", "id="+a, "name=A", "parent=@work_item/web/top")
			w.put("work_item/web/b", "id="+b, "name=B", "description=[d](planform:work_item/web/d)")
			w.put("work_item/web/c", "name=C").put("work_item/web/top", "name=Top").put("work_item/web/d", "name=D")
			s.in.ExactOrder = tt.exact
			if diff := cmp.Diff(tt.want, turns(s.mustPlan(w.all()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestACustomFieldDoesNotBringAnItemForwardInExactOrder: its value is set after all items have their numbers.
func TestACustomFieldDoesNotBringAnItemForwardInExactOrder(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB")
	w := want(t).put("project/web", "id="+web).put("work_item_type/web/task", "name=Task")
	w.put("work_item_property/web/task/after", "name=After", "type=relation", "relation_type=issue")
	w.put("work_item/web/a", "name=A", "type=@work_item_type/web/task").put("work_item/web/b", "name=B").put("work_item/web/c", "name=C")
	a, ref := w.byName["work_item/web/a"], resource.Reference{Text: "c", Target: w.byName["work_item/web/c"]}
	a.Values = append(a.Values, resource.Value{Field: resource.CustomField(w.byName["work_item_property/web/task/after"]), Refs: []resource.Reference{ref}})
	s.in.ExactOrder = true
	got := turns(s.mustPlan(w.all()))
	if diff := cmp.Diff([]string{
		"1 create work_item/web/a, needs work_item_type/web/task", "1 create work_item/web/b", "1 create work_item/web/c",
		"0 update work_item/web/a, needs work_item_property/web/task/after, needs work_item/web/a, needs work_item/web/c",
	}, got[len(got)-4:]); diff != "" {
		t.Error(diff)
	}
}

// TestSubItemsShareARequestWithTheirParents: they are created without, and get them afterwards.
func TestSubItemsShareARequestWithTheirParents(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V2)
	s.given("project", "", web, "identifier=WEB")
	w := want(t).put("project/web", "id="+web).put("work_item/web/top", "name=Top")
	w.put("work_item/web/near", "name=Near", "parent=@work_item/web/top").put("work_item/web/old", "name=Old", "parent=@work_item/web/near", "archived=true")
	for i := range 50 {
		w.put(resource.Address(fmt.Sprintf("work_item/web/i%d", i)), "name=I")
	}
	w.put("work_item/web/far", "name=Far", "parent=@work_item/web/top")
	s.in.ExactOrder = true
	var got []string
	for _, line := range turns(s.mustPlan(w.all())) {
		if !strings.Contains(line, "work_item/web/i") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff([]string{
		"1 create work_item/web/top", "1 create work_item/web/near",
		"1 create work_item/web/old, needs work_item/web/near", // what is archived is left alone afterwards
		"1 create work_item/web/far",
		"0 update work_item/web/near, needs work_item/web/top, needs work_item/web/near",
		"0 update work_item/web/far, needs work_item/web/top, needs work_item/web/far",
		"0 update work_item/web/old, needs work_item/web/old",
	}, got); diff != "" {
		t.Error(diff)
	}
}
