package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/target"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func targets(patterns ...string) target.List {
	var list target.List
	for _, p := range patterns {
		list = append(list, target.New(p))
	}
	return list
}

func TestTargetsSelectObjectsAndWhatTheyNeed(t *testing.T) {
	t.Parallel()
	w := want(t).put("project/web", "id="+web).put("project/ops", "id="+shop).put("cycle/web/s1", "name=S1").put("cycle/ops/s1", "name=S1")
	w.put("work_item/web/shop", "name=Shop").put("work_item/web/paint", "name=Paint", "parent=@work_item/web/shop", "cycle=@cycle/web/s1")
	w.put("link/web/paint/https://example.com/a/b", "url=https://example.com/a/b").put("initiative/q1", "name=Q1", "projects=@project/web")
	objects := w.all()
	for name, tt := range map[string]struct {
		patterns []string
		known    []resource.Address
		want     []resource.Address
		finding  string
	}{
		"a run without a target selects everything": {want: []resource.Address{
			"project/web", "project/ops", "cycle/web/s1", "cycle/ops/s1", "work_item/web/shop", "work_item/web/paint", "link/web/paint/https://example.com/a/b", "initiative/q1",
		}},
		"a target selects its parent and what it names, and theirs": {
			patterns: []string{"work_item/web/paint"}, want: []resource.Address{"project/web", "cycle/web/s1", "work_item/web/shop", "work_item/web/paint"},
		},
		"a target does not select its contents": {patterns: []string{"project/web"}, want: []resource.Address{"project/web"}},
		"a star matches within one key":         {patterns: []string{"cycle/web/*"}, want: []resource.Address{"project/web", "cycle/web/s1"}},
		"two stars match across keys": {
			patterns: []string{"link/web/**"}, want: []resource.Address{"project/web", "cycle/web/s1", "work_item/web/shop", "work_item/web/paint", "link/web/paint/https://example.com/a/b"},
		},
		"a question mark matches one character":                              {patterns: []string{"*/ops/s?"}, want: []resource.Address{"project/ops", "cycle/ops/s1"}},
		"several targets are joined":                                         {patterns: []string{"project/ops", "work_item/*/shop"}, want: []resource.Address{"project/web", "project/ops", "work_item/web/shop"}},
		"a dot matches only a dot":                                           {patterns: []string{"project/w.b"}, finding: `no address of the manifest matches --target project/w.b; did you mean "project/web"?`},
		"a misspelt key is an error with a suggestion":                       {patterns: []string{"project/web", "work_item/web/pant"}, finding: `no address of the manifest matches --target work_item/web/pant; did you mean "work_item/web/paint"?`},
		"an unknown key of a known kind is an error that explains the stars": {patterns: []string{"module/web/zzz"}, finding: "no address of the manifest matches --target module/web/zzz; an address is KIND/KEY, such as project/web; * stands for a key, and KIND/** for all objects of a kind"},
		"a kind without a key is an error that suggests two stars":           {patterns: []string{"cycle"}, finding: "no address of the manifest matches --target cycle; an address is KIND/KEY, such as project/web; * stands for a key, and KIND/** for all objects of a kind"},
		"a misspelt kind is an error that explains the form":                 {patterns: []string{"cicle/*/s*"}, finding: `no address of the manifest matches --target cicle/*/s*; an address is KIND/KEY, such as project/web; * stands for a key, and KIND/** for all objects of a kind`},
		"a target may match an object that only the state knows": {
			patterns: []string{"work_item/web/old"}, known: []resource.Address{"work_item/web/old"}, want: []resource.Address{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selected, found := target.Select(objects, targets(tt.patterns...), tt.known)
			if tt.finding != "" {
				if len(found) != 1 || found[0].Summary+"; "+found[0].Hint != tt.finding {
					t.Error(found)
				}
				return
			}
			got := []resource.Address{}
			for _, o := range selected {
				got = append(got, o.Address)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(found) > 0 {
				t.Error(diff, found)
			}
		})
	}
}

func TestTargetsWithContentsSelectWhatIsInAndBelowThem(t *testing.T) {
	t.Parallel()
	w := want(t).put("project/web", "id="+web).put("label/web/bug", "name=Bug").put("work_item/web/a", "name=A", "labels=@label/web/bug").put("work_item/web/b", "name=B")
	w.put("work_item/web/sub", "name=Sub", "parent=@work_item/web/a").put("comment/web/a/x", "text=X").put("comment/web/b/x", "text=X").put("comment/web/sub/x", "text=X")
	w.put("work_item/web/ring", "name=Ring", "parent=@work_item/web/round").put("work_item/web/round", "name=Round", "parent=@work_item/web/ring")
	for pattern, all := range map[string][]resource.Address{
		"work_item/web/a":  {"project/web", "label/web/bug", "work_item/web/a", "work_item/web/sub", "comment/web/a/x", "comment/web/sub/x"},
		"comment/web/b/*":  {"project/web", "work_item/web/b", "comment/web/b/x"},
		"work_item/*/ring": {"project/web", "work_item/web/ring", "work_item/web/round"},
	} {
		withContents := targets(pattern)
		withContents[0].Contents = true
		selected, found := target.Select(w.all(), withContents, nil)
		var got []resource.Address
		for _, o := range selected {
			got = append(got, o.Address)
		}
		if diff := cmp.Diff(all, got); diff != "" || len(found) > 0 {
			t.Error(pattern, diff, found)
		}
	}
}

func TestNoCreateBlocksAMissingObjectAndWhatNeedsIt(t *testing.T) {
	t.Parallel()
	no := func(kinds ...string) func(*planner.Input) {
		return func(in *planner.Input) { in.NoCreate = kinds }
	}
	wants := func(w *wanted) {
		w.put("project/web", "id="+web).put("label/web/new", "name=New").put("label/web/old", "name=Old")
		w.put("work_item/web/a", "name=A", "labels=@label/web/new").put("work_item/web/b", "name=B", "labels=@label/web/old")
	}
	given := func(s *fakeService) { s.given("label", web, uuid(4, 1), "name=Old") }
	checkRules(t, map[string]rule{
		"a missing object of the kind is blocked with what needs it, and nothing else is": {
			api: full, given: given, want: wants, options: no("label"),
			steps: []string{
				"not_possible label/web/new: it is not on the service, and --no-create label is given",
				"adopt label/web/old: found by its name",
				"not_possible work_item/web/a: it needs label/web/new: it is not on the service, and --no-create label is given",
				"create work_item/web/b",
			},
		},
		"an object in the manifest can forbid its own creation": {
			api: full, given: given,
			want: func(w *wanted) { wants(w); w.byName["label/web/new"].NoCreate = true },
			steps: []string{
				"not_possible label/web/new: it is not on the service, and the manifest says create: false",
				"adopt label/web/old: found by its name",
				"not_possible work_item/web/a: it needs label/web/new: it is not on the service, and the manifest says create: false",
				"create work_item/web/b",
			},
		},
		"the contents of an object that may not be created are blocked too": {
			api: full, options: no("work_item"),
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/a", "name=A").put("link/web/a/l", "url=https://example.com")
			},
			steps: []string{
				"not_possible work_item/web/a: it is not on the service, and --no-create work_item is given",
				"not_possible link/web/a/l: it belongs to work_item/web/a: it is not on the service, and --no-create work_item is given",
			},
		},
	})
}

// TestOnlyTargetsAreDeleted covers pruning with targets.
func TestOnlyTargetsAreDeleted(t *testing.T) {
	t.Parallel()
	a, b := uuid(9, 1), uuid(9, 2)
	only := func(pattern string) func(*planner.Input) {
		return func(in *planner.Input) { in.Prune, in.Targets = true, targets(pattern) }
	}
	prior := []planner.Record{made("project/web", web), made("work_item/web/a", a), made("work_item/web/b", b)}
	given := func(s *fakeService) { s.given("work_item", web, a, "name=A").given("work_item", web, b, "name=B") }
	checkRules(t, map[string]rule{
		"an object that no target matches is not deleted": {
			api: full, given: given, prior: prior, options: only("work_item/web/b"), want: func(*wanted) {}, steps: []string{"delete work_item/web/b"},
		},
		"a target with an object in it that no target matches is not deleted": {
			api: full, given: given, prior: prior, options: only("project/*"), want: func(*wanted) {},
			steps: []string{"not_possible project/web: it would be deleted, but work_item/web/a in it is not targeted"},
		},
		"an orphan that no target matches is not counted": {
			api: full, given: given, prior: prior, want: func(*wanted) {},
			options:  func(in *planner.Input) { in.Targets = targets("work_item/web/b", "cycle/**") },
			findings: []string{"warning orphaned: 1 object created by an earlier apply is no longer in the manifest: work_item/web/b; to delete it, use --prune"},
		},
	})
}

func TestAnyTextCanBeATarget(t *testing.T) {
	t.Parallel()
	for pattern, address := range map[string]resource.Address{
		"page/größe":      "page/größe",
		"page/*öße":       "page/größe",
		"page/\xff":       "page/\xff",
		"page/[a]+(b)\\Q": "page/[a]+(b)\\Q",
	} {
		if _, missed := target.Select(nil, target.List{target.New(pattern)}, []resource.Address{address}); len(missed) > 0 {
			t.Errorf("%q does not match %q", pattern, address)
		}
	}
}
