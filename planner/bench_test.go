package planner_test

import (
	"fmt"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// bulk wants a project with that many work items, each with a link, all in one cycle.
func bulk(tb testing.TB, items int) []*resource.Object {
	tb.Helper()
	w := want(tb)
	w.put("project/web", "identifier=WEB", "name=Website", "description=Public site and shop")
	w.put("cycle/web/sprint", "name=Sprint 14")
	states := []string{"Backlog", "Todo", "In Progress", "Done"}
	labels := []string{"backend", "frontend", "design", "data", "security"}
	for i := range items {
		item := resource.Address(fmt.Sprintf("work_item/web/item-%d", i))
		fields := []string{
			fmt.Sprintf("name=Rebuild the checkout, part %d", i), "description=Customers leave here; support counted *many* calls.",
			"state=" + states[i%len(states)], "priority=high", "labels=" + labels[i%len(labels)] + "," + labels[(i+2)%len(labels)],
			"start_date=2026-12-01", "target_date=2026-12-12", "cycle=@cycle/web/sprint",
		}
		if i%7 == 3 {
			fields = append(fields, fmt.Sprintf("parent=@work_item/web/item-%d", i-2))
		}
		w.put(item, fields...)
		w.put(resource.Address(fmt.Sprintf("link/web/item-%d/design", i)), fmt.Sprintf("url=https://example.com/design/%d", i), "title=Design")
	}
	return w.all()
}

// bulkService has the project and what the items of bulk name.
func bulkService(tb testing.TB) *fakeService {
	tb.Helper()
	s := newService(tb, resource.V1)
	web := uuid(1, 1)
	s.given("project", "", web, "identifier=WEB", "name=Website", "description=Public site and shop")
	s.given("cycle", web, uuid(2, 1), "name=Sprint 14")
	for i, name := range []string{"Backlog", "Todo", "In Progress", "Done"} {
		s.given("state", web, uuid(3, i), "name="+name)
	}
	for i, name := range []string{"backend", "frontend", "design", "data", "security"} {
		s.given("label", web, uuid(4, i), "name="+name)
	}
	return s
}

func observe(tb testing.TB, s *fakeService, objects []*resource.Object) planner.Input {
	tb.Helper()
	s.mustPlan(objects)
	in := s.in
	in.Desired, in.Observed = objects, planner.Observed{}
	for _, r := range s.reads {
		in.Observed[r] = s.answer(r)
	}
	return in
}

// BenchmarkBuild plans a first apply: the last round of reads and the plan.
func BenchmarkBuild(b *testing.B) {
	for _, items := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			in := observe(b, bulkService(b), bulk(b, items))
			b.ReportAllocs()
			for b.Loop() {
				plan, found := build(b, in)
				if plan == nil || plan.Summary.Create != 2*items || plan.Summary.AddMembers != items {
					b.Fatal(found)
				}
			}
			perItem(b, items)
		})
	}
}

// BenchmarkRebuild plans again after everything was made. The links are trusted
// to be as the state has them: to read them takes hours.
func BenchmarkRebuild(b *testing.B) {
	for _, items := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			s, objects := bulkService(b), bulk(b, items)
			s.makeAll(objects)
			in := observe(b, s, objects)
			b.ReportAllocs()
			for b.Loop() {
				plan, found := build(b, in)
				if plan == nil || !plan.Empty() {
					b.Fatal(found)
				}
			}
			perItem(b, items)
		})
	}
}

func perItem(b *testing.B, items int) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(items), "ns/item")
}
