package planner_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// sent is when the creates of these tests were sent.
var sent = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// lostCreate is what the state has of the create of an item named Pay, without an outcome.
func unconfirmedCreate(address resource.Address, after int) planner.Record {
	return planner.Record{Address: address, PendingIntent: &planner.Intent{Name: "Pay", After: after, At: sent}}
}

// numbered gives the service a work item that was made so long after the creates were sent.
func (s *fakeService) numbered(n int, name string, after time.Duration, fields ...string) *fakeService {
	at := sent.Add(after).Format("2006-01-02T15:04:05.999999Z07:00")
	return s.given("work_item", web, uuid(9, n), append(fields, "sequence_id="+strconv.Itoa(n), "name="+name, "created_at="+at)...)
}

func TestALostCreateIsFoundByNumberAndName(t *testing.T) {
	t.Parallel()
	const pay, again = resource.Address("work_item/web/pay"), resource.Address("work_item/web/again")
	ask := func(addresses ...resource.Address) (steps []string) {
		for _, a := range addresses {
			steps = append(steps, "not_possible "+string(a)+": "+strings.ReplaceAll(lost, "work_item/web/a ", string(a)+" "))
		}
		return steps
	}
	adopted := func(addresses ...resource.Address) (steps []string) {
		for _, a := range addresses {
			steps = append(steps, "adopt "+string(a)+": found by its number and name")
		}
		return steps
	}
	there := known("project/web", web, "identifier=WEB")
	project := func(w *wanted) *wanted { return w.put("project/web", "id="+web) }
	one := func(w *wanted) { project(w).put(pay, "name=Pay") }
	two := func(w *wanted) { project(w).put(pay, "name=Pay").put(again, "name=Pay") }
	described := func(w *wanted) {
		project(w).put(pay, "name=Pay").put(again, "name=Pay", "priority=high")
	}
	twice := []planner.Record{there, unconfirmedCreate(pay, 7), unconfirmedCreate(again, 7)}
	checkRules(t, map[string]rule{
		"it is what bears its name and a higher number than was known": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Pay", -time.Hour).numbered(8, "Other", 0).numbered(9, "Pay", time.Second).numbered(10, "Pay", time.Second)
			},
			prior: []planner.Record{there, unconfirmedCreate(pay, 7), known("work_item/web/other", uuid(9, 10))},
			want:  one,
			steps: adopted(pay),
		},
		"it was not made if no such number bears its name": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Pay", -time.Hour).numbered(8, "Other", time.Second) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 7)},
			want:  one,
			steps: []string{"create work_item/web/pay"},
		},
		"two that bear it are an error": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second).numbered(9, "Pay", time.Second)
			},
			prior:    []planner.Record{there, unconfirmedCreate(pay, 7)},
			want:     one,
			findings: []string{"error ambiguous: the service has 2 work items that could be work_item/web/pay, found by its number and name: WEB-8 (" + uuid(9, 8) + "), WEB-9 (" + uuid(9, 9) + "); give the id of the right one"},
		},
		"unless only one of them is as it was sent": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second, "priority=none").numbered(9, "Pay", time.Second, "priority=high")
			},
			prior: []planner.Record{there, unconfirmedCreate(pay, 7)},
			want:  func(w *wanted) { project(w).put(pay, "name=Pay", "priority=high") },
			steps: adopted(pay),
		},
		"one that the manifest names by its id is another": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 7)},
			want:  func(w *wanted) { one(w); w.put("work_item/web/theirs", "id="+uuid(9, 8)) },
			steps: []string{"create work_item/web/pay"},
		},
		"or by its number": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 7)},
			want:  func(w *wanted) { one(w); w.put("work_item/web/theirs", "identifier=WEB-8") },
			steps: []string{"create work_item/web/pay"},
		},
		"a gap of deleted objects does not hide it": {
			api: documented,
			given: func(s *fakeService) {
				for n := 1; n <= 7; n++ {
					s.numbered(n, "Old", -time.Hour)
				}
				s.numbered(7+64, "Other", time.Second).numbered(7+65, "Pay", time.Second)
			},
			prior: []planner.Record{there, unconfirmedCreate(pay, 7)},
			want:  one,
			steps: adopted(pay),
		},
		"what the state knows is not read": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "A", 0).numbered(9, "B", 0).numbered(10, "C", 0).numbered(11, "Pay", 0)
			},
			prior: []planner.Record{
				there, unconfirmedCreate(pay, 7), known("work_item/web/old", uuid(9, 7), "identifier=WEB-7"),
				known("work_item/web/a", uuid(9, 8), "identifier=WEB-8"), known("work_item/web/b", uuid(9, 9), "identifier=WEB-9"), known("work_item/web/c", uuid(9, 10), "identifier=WEB-10"),
			},
			want:  one,
			steps: adopted(pay),
			reads: []string{
				"work-items/WEB-10/",
				"work-items/WEB-11/", "work-items/WEB-15/", "work-items/WEB-23/", "work-items/WEB-39/", "work-items/WEB-71/", "work-items/WEB-135/",
				"work-items/WEB-263/", "work-items/WEB-519/", "work-items/WEB-1031/",
				"work-items/WEB-12/", "work-items/WEB-13/", "work-items/WEB-14/",
				"work-items/WEB-16/", "work-items/WEB-17/", "work-items/WEB-18/", "work-items/WEB-19/", "work-items/WEB-20/", "work-items/WEB-21/",
			},
		},
		"without a known number it is what was made since": {
			api:   documented,
			given: func(s *fakeService) { s.items(1, 3000, "Old", -time.Hour).numbered(3001, "Pay", time.Second) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 0)},
			want:  one,
			steps: adopted(pay),
		},
		"without a known number and in an empty project it was not made": {
			api:   documented,
			prior: []planner.Record{there, unconfirmedCreate(pay, 0)},
			want:  one,
			steps: []string{"create work_item/web/pay"},
		},
		"without a known number and with nothing made since it was not made": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(1, "Pay", -48*time.Hour).items(2, 300, "Old", -time.Hour) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 0)},
			want:  one,
			steps: []string{"create work_item/web/pay"},
		},
		"clocks may differ by a little": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(1, "Pay", -time.Minute) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 0)},
			want:  one,
			steps: adopted(pay),
		},
		"if only a wrong clock could tell, somebody has to look": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(1, "Pay", -2*time.Hour) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 0)},
			want:  one,
			steps: ask(pay),
		},
		"without a known number and a time, somebody has to look": {
			api:   documented,
			prior: []planner.Record{there, {Address: pay, PendingIntent: &planner.Intent{Name: "Pay"}}},
			want:  one,
			steps: ask(pay),
		},
		"a number that is too high is not believed: the project was made anew": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(1, "Other", -time.Hour).numbered(2, "Pay", time.Second) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 900)},
			want:  one,
			steps: adopted(pay),
		},
		"nor if by now another object has it": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(1, "Pay", time.Second).items(2, 60, "Other", time.Hour) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 57)},
			want:  one,
			steps: adopted(pay),
		},
		"nor what the state knows of the project that was": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(1, "Pay", time.Second).numbered(2, "Other", time.Hour) },
			prior: []planner.Record{
				there, unconfirmedCreate(pay, 2), known("work_item/web/a", uuid(7, 1), "identifier=WEB-1"), known("work_item/web/b", uuid(7, 2), "identifier=WEB-2"),
			},
			want:  one,
			steps: adopted(pay),
		},
		"too many to look at leave it to somebody": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).items(8, 300, "Other", time.Second) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 7)},
			want:  one,
			steps: ask(pay),
		},
		"of two that sent the same each gets one, in the order of the manifest": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second).numbered(9, "Pay", time.Second)
			},
			prior: twice,
			want:  two,
			steps: adopted(pay, again),
		},
		"of two that sent the same, the one that is there is the first": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: twice,
			want:  two,
			steps: []string{"adopt work_item/web/pay: found by its number and name", "create work_item/web/again"},
		},
		"likewise if more was known when the second was sent": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Old", -time.Hour).numbered(9, "Pay", time.Second)
			},
			prior: []planner.Record{there, unconfirmedCreate(pay, 7), unconfirmedCreate(again, 8)},
			want:  two,
			steps: []string{"adopt work_item/web/pay: found by its number and name", "create work_item/web/again"},
		},
		"what came before the second was sent is the first": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0).numbered(9, "Old", 0).numbered(10, "Pay", 0)
			},
			prior: []planner.Record{there, unconfirmedCreate(pay, 9), unconfirmedCreate(again, 7)},
			want:  two,
			steps: adopted(pay, again),
		},
		"of two that sent the same neither is there": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour) },
			prior: twice,
			want:  two,
			steps: []string{"create work_item/web/pay", "create work_item/web/again"},
		},
		"three for two that sent the same are too many": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0).numbered(9, "Pay", 0).numbered(10, "Pay", 0)
			},
			prior: twice,
			want:  two,
			steps: ask(pay, again),
		},
		"of two that share a name each gets what it sent": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0, "priority=high").numbered(9, "Pay", 0, "priority=none")
			},
			prior: twice,
			want:  described,
			steps: adopted(pay, again),
		},
		"one that could be either is neither": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0, "priority=high") },
			prior: twice,
			want:  described,
			steps: ask(pay, again),
		},
		"one that can only be the other leaves the first to be made": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0, "priority=none") },
			prior: twice,
			want:  described,
			steps: []string{"adopt work_item/web/pay: found by its number and name", "create work_item/web/again"},
		},
		"two that share a name and a third that is as neither sent it": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0, "priority=low")
			},
			prior: twice,
			want: func(w *wanted) {
				project(w).put(pay, "name=Pay", "priority=urgent").put(again, "name=Pay", "priority=high")
			},
			steps: ask(pay, again),
		},
		"the parents tell children of one name apart": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(6, "P", -time.Hour).numbered(7, "Q", -time.Hour)
				s.numbered(8, "Pay", 0, "parent="+uuid(9, 7)).numbered(9, "Pay", 0, "parent="+uuid(9, 6))
			},
			prior: append([]planner.Record{
				known("work_item/web/p", uuid(9, 6), "identifier=WEB-6", "name=P"), known("work_item/web/q", uuid(9, 7), "identifier=WEB-7", "name=Q"),
			}, twice...),
			want: func(w *wanted) {
				project(w).put(pay, "name=Pay", "parent=@work_item/web/p").put(again, "name=Pay", "parent=@work_item/web/q")
				w.put("work_item/web/p", "name=P").put("work_item/web/q", "name=Q")
			},
			steps: adopted(pay, again),
		},
		"what was sent without a parent has none": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "P", -time.Hour).numbered(8, "Pay", 0, "parent="+uuid(9, 7))
			},
			prior: append([]planner.Record{known("work_item/web/p", uuid(9, 7), "identifier=WEB-7", "name=P")}, twice...),
			want: func(w *wanted) {
				project(w).put("work_item/web/p", "name=P").put(pay, "name=Pay").put(again, "name=Pay", "parent=@work_item/web/p")
			},
			steps: []string{"create work_item/web/pay", "adopt work_item/web/again: found by its number and name"},
		},
		"one that the manifest has no more may have made it": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0) },
			prior: twice,
			want:  one,
			steps: ask(pay),
		},
		"what was gone and sent again is looked for": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: []planner.Record{there, {
				Address: pay, ID: uuid(9, 3), Identifier: "WEB-3", PendingIntent: &planner.Intent{Name: "Pay", After: 7, At: sent},
			}},
			want:  one,
			steps: adopted(pay),
		},
	})
}

// items gives the service many work items.
func (s *fakeService) items(first, last int, name string, after time.Duration) *fakeService {
	for n := first; n <= last; n++ {
		s.numbered(n, name, after)
	}
	return s
}

func TestALostCreateThatIsNotFoundIsReadAgainBeforeItIsSent(t *testing.T) {
	t.Parallel()
	project := func(w *wanted) *wanted { return w.put("project/web", "id="+web, "identifier=WEB") }
	for name, tt := range map[string]struct {
		api   resource.API
		prior []planner.Record
		given func(*fakeService)
		want  func(*wanted)
		first string // the first of the reads; "" = there are none
		reads int
		waits bool // the step is pending
	}{
		"pending in a list":        {full, []planner.Record{unconfirmedCreate("work_item/web/pay", 0)}, nil, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "", 0, true},
		"numbers that are missing": {documented, []planner.Record{unconfirmedCreate("work_item/web/pay", 7)}, func(s *fakeService) { s.items(1, 7, "Old", -time.Hour) }, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "work-items/WEB-8/", 17, false},
		"none if it is found":      {documented, []planner.Record{unconfirmedCreate("work_item/web/pay", 7)}, func(s *fakeService) { s.items(1, 7, "Old", -time.Hour).numbered(8, "Pay", 0) }, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "", 0, false},
		"none if nothing was sent": {full, nil, nil, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "", 0, false},
		"none if it was an update": {full, []planner.Record{{Address: "cycle/web/a", ID: uuid(2, 1), PendingIntent: &planner.Intent{Action: planner.Update}}}, func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name=A") }, func(w *wanted) { project(w).put("cycle/web/a", "name=A") }, "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.api)
			s.given("project", "", web, "identifier=WEB", "name=Website")
			if tt.given != nil {
				tt.given(s)
			}
			for _, r := range tt.prior {
				s.in.Prior[r.Address] = r
			}
			w := want(t)
			tt.want(w)
			plan := s.mustPlan(w.all())
			if waits := slices.ContainsFunc(plan.Steps, func(s *planner.Step) bool { return s.Write.Pending != nil }); waits != tt.waits {
				t.Errorf("a step is pending: %t", waits)
			}
			in := s.in
			in.Desired, in.Observed = w.all(), planner.Observed{}
			for _, r := range s.reads {
				in.Observed[r] = s.answer(r)
			}
			first := ""
			unseen := planner.Build(in).Unconfirmed
			if len(unseen) > 0 {
				first = strings.TrimPrefix(unseen[0].Path, "/api/v1/workspaces/acme/")
			}
			if diff := cmp.Diff(tt.first, first); diff != "" || len(unseen) != tt.reads {
				t.Errorf("%d reads, want %d; the first (-want +got):\n%s", len(unseen), tt.reads, diff)
			}
		})
	}
}

func TestACreateRecordsTheHighestNumber(t *testing.T) {
	t.Parallel()
	s := newService(t, documented)
	s.given("project", "", web, "identifier=WEB").given("project", "", shop, "identifier=SHOP")
	s.items(1, 12, "Old", 0).given("work_item", shop, uuid(9, 90), "sequence_id=90")
	s.in.Prior["work_item/web/a"] = known("work_item/web/a", uuid(9, 9), "identifier=WEB-9", "name=Old")
	w := want(t).put("project/web", "id="+web, "identifier=WEB").put("project/shop", "id="+shop, "identifier=SHOP")
	w.put("work_item/web/a", "name=Old").put("work_item/web/b", "identifier=WEB-12").put("work_item/web/new", "name=New")
	w.put("work_item/shop/new", "name=New")
	got := map[resource.Address]int{}
	for _, step := range s.mustPlan(w.all()).Steps {
		got[step.Address] = step.Write.Newest
	}
	if diff := cmp.Diff(map[resource.Address]int{"work_item/web/new": 12, "work_item/shop/new": 0}, got); diff != "" {
		t.Error(diff)
	}
}
