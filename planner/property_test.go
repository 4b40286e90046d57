package planner_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/planner"
)

// randomManifest wants objects of every kind that the API can make, as documents:
// each document can stand anywhere among the others.
func randomManifest(r *rand.Rand) (documents [][]func(*wanted), given func(*fakeService)) {
	put := func(address, fields string) func(*wanted) {
		return func(w *wanted) { w.put(resource.Address(address), strings.Split(fields, "|")...) }
	}
	projects := 1 + r.IntN(3)
	var containers []string
	for p := range projects {
		head := fmt.Sprintf("project/p%d", p)
		doc := []func(*wanted){put(head, fmt.Sprintf("id=%s|name=Project %d|description=new", uuid(1, p), p))}
		cycles := 1 + r.IntN(3)
		for c := range cycles {
			doc = append(doc, put(fmt.Sprintf("cycle/p%d/c%d", p, c), fmt.Sprintf("id=%s|name=Cycle %d", uuid(2, 10*p+c), c)))
		}
		items := r.IntN(120)
		for i := range items {
			fields := fmt.Sprintf("name=Item %d|description=About **%d**", i%40, i)
			if r.IntN(3) == 0 {
				fields += fmt.Sprintf(" [as](planform:work_item/p%d/i%d) [in](planform:cycle/p%d/c0)", p, r.IntN(items), r.IntN(projects))
			}
			if r.IntN(3) > 0 {
				fields += fmt.Sprintf("|cycle=@cycle/p%d/c%d", p, r.IntN(cycles))
			}
			if above := r.IntN(items); above != i && (above < i) == (p%2 == 0) {
				fields += fmt.Sprintf("|parent=@work_item/p%d/i%d", p, above)
			}
			doc = append(doc, put(fmt.Sprintf("work_item/p%d/i%d", p, i), fields))
			for l := range r.IntN(3) {
				doc = append(doc, put(fmt.Sprintf("link/p%d/i%d/l%d", p, i, l), fmt.Sprintf("url=https://example.com/%d|title=Link", l)))
			}
		}
		documents = append(documents, doc)
		containers = append(containers, "@"+head)
	}
	documents = append(documents,
		[]func(*wanted){
			put("initiative_label/growth", "id="+uuid(5, 1)+"|name=Growth|color=#22c55e"),
			put("initiative/q1", "id="+uuid(6, 1)+"|name=First quarter|labels=@initiative_label/growth|projects="+strings.Join(containers, ",")),
		},
		[]func(*wanted){put("teamspace/platform", "id="+uuid(7, 1)+"|name=Platform|description=Keeps the lights on|projects="+containers[0])},
		[]func(*wanted){
			put("customer/globex", "id="+uuid(8, 1)),
			put("customer_request/globex/sso", "title=Single sign-on|description=They asked."),
			put("customer_request/globex/audit", "title=Audit log"),
		},
		[]func(*wanted){put("page/handbook", "name=Handbook|description=# How we work")},
	)
	return documents, func(s *fakeService) {
		for p := range projects {
			s.given("project", "", uuid(1, p), fmt.Sprintf("identifier=P%d", p), "name=Old", "description=")
			for c := range 3 {
				s.given("cycle", uuid(1, p), uuid(2, 10*p+c), fmt.Sprintf("name=Cycle %d", c))
			}
		}
		s.given("initiative_label", "", uuid(5, 1), "name=Growth", "color=#000000")
		s.given("initiative", "", uuid(6, 1), "name=First quarter")
		s.given("teamspace", "", uuid(7, 1), "name=Platform")
		s.given("customer", "", uuid(8, 1), "name=Globex")
	}
}

func assemble(t *testing.T, documents [][]func(*wanted)) []*resource.Object {
	t.Helper()
	w := want(t)
	for _, doc := range documents {
		for _, put := range doc {
			put(w)
		}
	}
	return w.all()
}

// eachRandom runs a property for some manifests under both APIs.
func eachRandom(t *testing.T, check func(t *testing.T, r *rand.Rand, s *fakeService, documents [][]func(*wanted))) {
	t.Helper()
	for _, api := range []resource.API{resource.Documented, resource.V1} {
		for seed := range sample.Of[uint64](3, 8, 100) {
			t.Run(fmt.Sprintf("%s/%d", api, seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(seed, 7))
				documents, given := randomManifest(r)
				s := newService(t, api)
				given(s)
				check(t, r, s, documents)
			})
		}
	}
}

func TestAfterApplyingAPlanTheNextOneIsEmpty(t *testing.T) {
	t.Parallel()
	eachRandom(t, func(t *testing.T, _ *rand.Rand, s *fakeService, documents [][]func(*wanted)) {
		t.Helper()
		objects := assemble(t, documents)
		s.makeAll(objects)
		for _, trust := range []bool{false, true} {
			s.in.SkipRefresh = trust
			plan := s.mustPlan(objects)
			if len(plan.Steps) > 0 {
				t.Fatalf("trust=%v: %s", trust, strings.Join(lines(plan), "\n"))
			}
		}
	})
}

func TestWithoutAStateNothingIsCreatedTwice(t *testing.T) {
	t.Parallel()
	eachRandom(t, func(t *testing.T, _ *rand.Rand, s *fakeService, documents [][]func(*wanted)) {
		t.Helper()
		objects := assemble(t, documents)
		s.makeAll(objects)
		s.in.Prior = planner.Prior{}
		plan := s.mustPlan(objects)
		for _, step := range plan.Steps {
			// The documented operations cannot list work items and pages, nor who is in a cycle or a teamspace.
			blind := s.in.API == resource.Documented && slices.Contains([]string{"work_item", "link", "page"}, step.Kind.Name)
			if step.Action == planner.Create && !blind || step.Action == planner.AddMembers && s.in.API == resource.V1 {
				t.Errorf("%s %s", step.Action, step.Address)
			}
		}
		if s.in.API == resource.V1 {
			s.apply(plan)
			if plan := s.mustPlan(objects); len(plan.Steps) > 0 {
				t.Errorf("after adopting: %s", strings.Join(lines(plan), "\n"))
			}
		}
	})
}

func TestTheOrderOfDocumentsDoesNotChangeWhatIsDone(t *testing.T) {
	t.Parallel()
	eachRandom(t, func(t *testing.T, r *rand.Rand, s *fakeService, documents [][]func(*wanted)) {
		t.Helper()
		shuffled := slices.Clone(documents)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		one, other := s.mustPlan(assemble(t, documents)), s.mustPlan(assemble(t, shuffled))
		if diff := cmp.Diff(doings(one), doings(other)); diff != "" {
			t.Error(diff)
		}
		if one.Summary != other.Summary {
			t.Errorf("%+v, %+v", one.Summary, other.Summary)
		}
	})
}

// doings is what the steps of a plan do, by address, with all batches of a container as one.
func doings(plan *planner.Plan) map[string][]string {
	all := map[string][]string{}
	for _, step := range plan.Steps {
		what := step.Action.String() + " " + string(step.Address)
		if step.Members != nil {
			what, _, _ = strings.Cut(what, ".")
			for _, m := range step.Members.Items {
				all[what] = append(all[what], string(m.Address)+m.ID)
			}
			continue
		}
		for _, j := range step.Needs {
			all[what] = append(all[what], "after "+string(plan.Steps[j].Address))
		}
		for _, v := range step.Values() {
			all[what] = append(all[what], v.Field.Name+"="+written(v))
		}
	}
	for what := range maps.Keys(all) {
		slices.Sort(all[what])
	}
	return all
}

// written is a value as the manifest has it.
func written(v *resource.Value) string {
	texts := []string{v.Text}
	for i := range v.Refs {
		texts = append(texts, v.Refs[i].Text)
	}
	return strings.Join(texts, ",")
}
