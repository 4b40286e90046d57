package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// in is a record of what stood in other manifests than usual.
func in(r planner.Record, files ...string) planner.Record {
	r.Sources = files
	return r
}

// besides is an option: there are manifests that are not read.
func besides(files ...string) func(*planner.Input) {
	return func(in *planner.Input) {
		in.OtherSources = map[string]bool{}
		for _, file := range files {
			in.OtherSources[file] = true
		}
	}
}

func pruningBesides(files ...string) func(*planner.Input) {
	return func(in *planner.Input) { pruning(in); besides(files...)(in) }
}

func TestOrphansOfOtherManifestsStay(t *testing.T) {
	t.Parallel()
	a, b, c, s1 := uuid(9, 1), uuid(9, 2), uuid(9, 3), uuid(2, 1)
	items := func(s *fakeService) {
		s.given("work_item", web, a, "name=A").given("work_item", web, b, "name=B", "parent="+a).given("work_item", web, c, "name=C").given("cycle", web, s1, "name=One")
		s.members["cycle_work_item "+s1] = []string{a, c}
	}
	project := func(w *wanted) { w.put("project/web", "id="+web) }
	roster := planner.Record{Address: "cycle/web/s1#work_items", Members: []string{a, c}, Sources: []string{"a.yaml", "workspace.yaml"}}
	checkRules(t, map[string]rule{
		"an orphan of another manifest is not deleted, and is reported once": {
			api: full, given: items, want: project, options: pruningBesides("a.yaml"),
			prior:    []planner.Record{in(made("work_item/web/a", a), "a.yaml"), in(made("work_item/web/b", b), "a.yaml"), made("work_item/web/c", c)},
			steps:    []string{"delete work_item/web/c"},
			findings: []string{"warning other-source: 2 objects from a.yaml are left alone: not part of this run"},
		},
		"an orphan of two manifests is not deleted if only one of them is read": {
			api: full, given: items, want: project, options: pruningBesides("-"),
			prior:    []planner.Record{in(made("work_item/web/c", c), "-", "workspace.yaml")},
			findings: []string{"warning other-source: 1 object from standard input is left alone: not part of this run"},
		},
		"an orphan of another manifest is not counted as left over": {
			api: full, given: items, want: project, options: besides("a.yaml"),
			prior:    []planner.Record{in(made("work_item/web/a", a), "a.yaml"), made("work_item/web/c", c)},
			findings: []string{"warning orphaned: 1 object created by an earlier apply is no longer in the manifest: work_item/web/c; to delete it, use --prune"},
		},
		"an orphan of a manifest that is gone is deleted": {
			api: full, given: items, want: project, options: pruningBesides("b.yaml"),
			prior: []planner.Record{in(made("work_item/web/c", c), "a.yaml")},
			steps: []string{"delete work_item/web/c"},
		},
		"a project with an object of another manifest stays": {
			api: full, given: items, want: func(*wanted) {}, options: pruningBesides("a.yaml"),
			prior: []planner.Record{made("project/web", web), in(known("work_item/web/a", a), "a.yaml")},
			steps: []string{"not_possible project/web: it would be deleted, but work_item/web/a in it comes from a.yaml, which is not part of this run"},
		},
		"an item with an item of another manifest below it stays": {
			api: full, given: items, want: project, options: pruningBesides("a.yaml"),
			prior:    []planner.Record{made("work_item/web/a", a), in(made("work_item/web/b", b), "a.yaml")},
			steps:    []string{`not_possible work_item/web/a: it would be deleted, but work item "B" below it stays`},
			findings: []string{"warning other-source: 1 object from a.yaml is left alone: not part of this run"},
		},
		"an orphan in an object of another manifest is deleted by itself": {
			api: full, given: func(s *fakeService) { items(s); s.given("link", c, uuid(0xa, 1), "url=https://example.com") }, want: project, options: pruningBesides("a.yaml"),
			prior:    []planner.Record{in(made("work_item/web/c", c), "a.yaml"), made("link/web/c/x", uuid(0xa, 1))},
			steps:    []string{"delete link/web/c/x"},
			findings: []string{"warning other-source: 1 object from a.yaml is left alone: not part of this run"},
		},
		"the contents of a project that is gone are not read": {
			api: full, want: func(*wanted) {}, options: pruningBesides("a.yaml"),
			prior: []planner.Record{in(made("project/gone", shop), "a.yaml"), made("work_item/gone/x", c)},
			reads: []string{"projects/", "projects/" + shop + "/"},
		},
		"an orphan of an unknown manifest stays": {
			api: full, given: items, want: project, options: pruning,
			prior: []planner.Record{in(made("work_item/web/c", c))},
			findings: []string{
				"warning of-unknown: 1 object is left alone: the state file does not say which manifest had it; " +
					"to delete: write it once more, apply, and remove it again; to keep: planform state rm ADDRESS",
			},
		},
		"a member of another manifest does not leave a cycle": {
			api: full, given: items, options: pruningBesides("a.yaml"),
			want:     func(w *wanted) { project(w); w.put("cycle/web/s1", "id="+s1).put("work_item/web/c", "id="+c) },
			prior:    []planner.Record{roster, in(made("work_item/web/a", a), "a.yaml"), made("work_item/web/c", c)},
			steps:    []string{"remove_members cycle/web/s1#work_items 1"},
			findings: []string{"warning other-source: 1 object from a.yaml is left alone: not part of this run"},
		},
		"a member that the state does not know does not leave a cycle of two manifests": {
			api: full, given: items, options: pruningBesides("a.yaml"), prior: []planner.Record{roster},
			want: func(w *wanted) { project(w); w.put("cycle/web/s1", "id="+s1).put("work_item/web/c", "id="+c) },
		},
	})
}

// TestSourcesAreRecordedWithoutANotice covers what apply notes in the state though nothing changes.
func TestSourcesAreRecordedWithoutANotice(t *testing.T) {
	t.Parallel()
	a, s1 := uuid(9, 1), uuid(2, 1)
	item := resource.Address("work_item/web/a")
	for name, test := range map[string]struct {
		had       []string
		elsewhere string
		gone      bool // the manifest does not given it
		want      []string
	}{
		"a source that is unchanged is not recorded again":                         {had: presence()},
		"the source of an object in an old state is recorded":                      {want: presence()},
		"a source that is gone or part of the run is replaced by the new one":      {had: []string{"a.yaml"}, want: presence()},
		"a source that is not part of the run is kept beside the new one":          {had: []string{"a.yaml"}, elsewhere: "a.yaml", want: []string{"a.yaml", "workspace.yaml"}},
		"an object that left its only manifest keeps its source":                   {had: presence(), gone: true},
		"an object that left one of two manifests keeps the other as its source":   {had: []string{"a.yaml", "workspace.yaml"}, elsewhere: "a.yaml", gone: true, want: []string{"a.yaml"}},
		"an object that left one of two manifests keeps both if the other is gone": {had: []string{"a.yaml", "workspace.yaml"}, elsewhere: "b.yaml", gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB", "name=Website").given("cycle", web, s1, "name=One").given("work_item", web, a, "name=A")
			s.members["cycle_work_item "+s1] = []string{a}
			s.in.Prior[item] = in(made(item, a, "name=A"), test.had...)
			roster := resource.Address("cycle/web/s1#work_items")
			s.in.Prior[roster] = in(planner.Record{Address: roster, Members: []string{a}}, test.had...)
			besides(test.elsewhere)(&s.in)
			w := want(t).put("project/web", "id="+web).put("cycle/web/s1", "id="+s1)
			wanted := map[resource.Address][]string{}
			if test.want != nil {
				wanted[item] = test.want
			}
			if !test.gone {
				w.put(item, "name=A", "cycle=@cycle/web/s1")
				if test.want != nil {
					wanted[roster] = test.want
				}
			}
			objects := w.all()
			plan := s.mustPlan(objects)
			if diff := cmp.Diff(wanted, plan.Sources, cmp.Transformer("", func(m map[resource.Address][]string) map[resource.Address][]string {
				if m == nil {
					return map[resource.Address][]string{}
				}
				return m
			})); diff != "" || !plan.Empty() {
				t.Error(diff, plan.Empty())
			}
			if s.apply(plan); len(s.mustPlan(objects).Sources) > 0 {
				t.Error("it is noted again")
			}
		})
	}
}

func TestMembersHaveTheSourcesThatNameThem(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	w := want(t).put("project/web", "id="+web).put("cycle/web/s1", "name=One").put("work_item/web/a", "name=A", "cycle=@cycle/web/s1").put("work_item/web/b", "name=B", "cycle=@cycle/web/s1")
	w.byName["work_item/web/b"].Files = []string{"b.yaml"}
	s.makeAll(w.all())
	if diff := cmp.Diff([]string{"b.yaml", "workspace.yaml"}, s.in.Prior["cycle/web/s1#work_items"].Sources); diff != "" {
		t.Error(diff)
	}
}
