package planner_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// sent is when the creates of these tests were sent.
var sent = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// lostCreate is what the state has of the create of an item named Pay, without an outcome.
func unconfirmedCreate(address resource.Address, after int) planner.Record {
	return planner.Record{Address: address, PendingIntent: &planner.Intent{Name: "Pay", After: after, At: sent}}
}

// numbered gives the service a work item that was made so long after the creates were sent.
func (fs *fakeService) numbered(n int, name string, after time.Duration) *fakeService {
	at := sent.Add(after).Format("2006-01-02T15:04:05.999999Z07:00")
	return fs.given("work_item", web, uuid(9, n), "sequence_id="+strconv.Itoa(n), "name="+name, "created_at="+at)
}

func TestALostCreateIsFoundByNumberAndName(t *testing.T) {
	t.Parallel()
	const pay, again = resource.Address("work_item/web/pay"), resource.Address("work_item/web/again")
	ask := func(addresses ...resource.Address) (steps []string) {
		for _, a := range addresses {
			steps = append(steps, "not_possible "+string(a)+": "+strings.ReplaceAll(lostCreate, "work_item/web/a ", string(a)+" "))
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
	seven := known("work_item/web/old", uuid(9, 7), "identifier=WEB-7")
	checkRules(t, map[string]rule{
		"a lost create made the record that has its name and a higher number than the state knew": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Pay", -time.Hour).numbered(8, "Other", 0).numbered(9, "Pay", time.Second).numbered(10, "Pay", time.Second)
			},
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7), known("work_item/web/other", uuid(9, 10), "identifier=WEB-10")},
			want:  one,
			steps: adopted(pay),
		},
		"a lost create made nothing if no record with a higher number has its name": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Pay", -time.Hour).numbered(8, "Other", time.Second) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7)},
			want:  one,
			steps: []string{"create work_item/web/pay"},
		},
		"a lost create is left to a person if two records have its name": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second).numbered(9, "Pay", time.Second)
			},
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7)},
			want:  one,
			steps: ask(pay),
		},
		"two lost creates of one name are left to a person if a record has it": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7), unconfirmedCreate(again, 7)},
			want:  two,
			steps: ask(pay, again),
		},
		"two lost creates of one name made nothing if no record has it": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7), unconfirmedCreate(again, 7)},
			want:  two,
			steps: []string{"create work_item/web/pay", "create work_item/web/again"},
		},
		"a record that the manifest names by its id was not made by a lost create": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7)},
			want:  func(w *wanted) { one(w); w.put("work_item/web/theirs", "id="+uuid(9, 8)) },
			steps: []string{"create work_item/web/pay"},
		},
		"a record that the manifest names by its number was not made by a lost create": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7)},
			want:  func(w *wanted) { one(w); w.put("work_item/web/theirs", "identifier=WEB-8") },
			steps: []string{"create work_item/web/pay"},
		},
		"nine deleted items in a row do not hide the record of a lost create": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(17, "Pay", time.Second) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7)},
			want:  one,
			steps: adopted(pay),
		},
		"numbers that the state knows are not read again": {
			api: documented,
			given: func(s *fakeService) {
				s.numbered(7, "Old", -time.Hour).numbered(8, "A", 0).numbered(9, "B", 0).numbered(10, "C", 0).numbered(11, "Pay", 0)
			},
			prior: []planner.Record{
				there, unconfirmedCreate(pay, 7), seven,
				known("work_item/web/a", uuid(9, 8), "identifier=WEB-8"), known("work_item/web/b", uuid(9, 9), "identifier=WEB-9"), known("work_item/web/c", uuid(9, 10), "identifier=WEB-10"),
			},
			want:  one,
			steps: adopted(pay),
			reads: []string{
				"work-items/WEB-7/", "work-items/WEB-11/", "work-items/WEB-12/", "work-items/WEB-13/", "work-items/WEB-14/", "work-items/WEB-15/",
				"work-items/WEB-16/", "work-items/WEB-17/", "work-items/WEB-18/", "work-items/WEB-19/", "work-items/WEB-20/", "work-items/WEB-21/",
			},
		},
		"a lost create without a known number is looked for from the first number": {
			api:   documented,
			given: func(s *fakeService) { s.items(1, 30, "Old", -time.Hour).numbered(31, "Pay", time.Second) },
			prior: []planner.Record{there, unconfirmedCreate(pay, 0)},
			want:  one,
			steps: adopted(pay),
		},
		"a lost create of one of the first items is found among the many that the state knows": {
			api:   documented,
			given: func(s *fakeService) { s.items(1, 70, "Old", time.Second).numbered(71, "Pay", time.Second) },
			prior: append(knownItems(70), there, unconfirmedCreate(pay, 0)),
			want:  one,
			steps: adopted(pay),
		},
		"a lost create made nothing if the project is empty": {
			api:   documented,
			prior: []planner.Record{there, unconfirmedCreate(pay, 0)},
			want:  one,
			steps: []string{"create work_item/web/pay"},
		},
		"a lost create is left to a person if looking takes more than sixty requests": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).items(8, 60, "Other", time.Second) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7)},
			want:  one,
			steps: ask(pay),
		},
		"the numbers of a project that was created again begin anew": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(1, "Pay", time.Second).numbered(2, "Other", time.Hour) },
			prior: []planner.Record{
				there, unconfirmedCreate(pay, 2), known("work_item/web/a", uuid(7, 1), "identifier=WEB-1"), known("work_item/web/b", uuid(7, 2), "identifier=WEB-2"),
			},
			want:  one,
			steps: adopted(pay),
		},
		"archived items do not hide the record of a lost create": {
			api: documented,
			given: func(s *fakeService) {
				s.items(1, 5, "Old", -time.Hour).items(17, 19, "Old", -time.Hour).numbered(21, "Pay", time.Second)
			},
			prior: append(knownItems(20), there, unconfirmedCreate(pay, 20)),
			want:  one,
			steps: adopted(pay),
		},
		"archived items do not hide the record of a lost create after them": {
			api:   documented,
			given: func(s *fakeService) { s.items(1, 5, "Old", -time.Hour).numbered(21, "Pay", time.Second) },
			prior: append(knownItems(20), there, unconfirmedCreate(pay, 20)),
			want:  one,
			steps: adopted(pay),
		},
		"items that the state does not know any more do not hide the record of a lost create": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(21, "Pay", time.Second) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 20)},
			want:  one,
			steps: adopted(pay),
		},
		"a lost create of a project that was created again is found after the numbers that begin anew": {
			api: documented,
			given: func(s *fakeService) {
				s.items(101, 103, "Old", time.Hour).numbered(104, "Pay", time.Hour).renumber(100)
			},
			prior: append(knownItems(90), there, unconfirmedCreate(pay, 90)),
			want:  one,
			steps: adopted(pay),
		},
		"a lost create is left to a person if one of a removed object may have made its record": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", 0) },
			prior: []planner.Record{there, seven, unconfirmedCreate(pay, 7), unconfirmedCreate(again, 7)},
			want:  one,
			steps: ask(pay),
		},
		"a lost create of an item that was gone before is looked for": {
			api:   documented,
			given: func(s *fakeService) { s.numbered(7, "Old", -time.Hour).numbered(8, "Pay", time.Second) },
			prior: []planner.Record{there, seven, {
				Address: pay, ID: uuid(9, 3), Identifier: "WEB-3", PendingIntent: &planner.Intent{Name: "Pay", After: 7, At: sent},
			}},
			want:  one,
			steps: adopted(pay),
		},
	})
}

// items gives the service many work items.
func (fs *fakeService) items(first, last int, name string, after time.Duration) *fakeService {
	for n := first; n <= last; n++ {
		fs.numbered(n, name, after)
	}
	return fs
}

// renumber lowers the numbers of all work items.
func (fs *fakeService) renumber(by int) *fakeService {
	for _, o := range fs.objects {
		if n, numbered := o.row["sequence_id"].(json.Number); numbered {
			was, _ := n.Int64()
			o.row["sequence_id"] = json.Number(strconv.Itoa(int(was) - by))
		}
	}
	return fs
}

// knownItems are the records of many work items in the state.
func knownItems(last int) (records []planner.Record) {
	for n := 1; n <= last; n++ {
		number := strconv.Itoa(n)
		records = append(records, known(resource.Address("work_item/web/old"+number), uuid(9, n), "identifier=WEB-"+number))
	}
	return records
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
		waits bool // the step may have been sent before
		brief int  // 1 if the service refuses what may still come
	}{
		"a lost create that the service refuses twice waits for a short time": {full, []planner.Record{unconfirmedCreate("work_item/web/pay", 0)}, nil, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "", 0, true, 1},
		"a lost create reads the numbers that were missing again":             {documented, []planner.Record{unconfirmedCreate("work_item/web/pay", 7)}, func(s *fakeService) { s.items(1, 7, "Old", -time.Hour) }, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "work-items/WEB-8/", 10, false, 0},
		"a lost create that is found reads nothing again":                     {documented, []planner.Record{unconfirmedCreate("work_item/web/pay", 7)}, func(s *fakeService) { s.items(1, 7, "Old", -time.Hour).numbered(8, "Pay", 0) }, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "", 0, false, 0},
		"an item that was never sent reads nothing again":                     {full, nil, nil, func(w *wanted) { project(w).put("work_item/web/pay", "name=Pay") }, "", 0, false, 0},
		"an update without an outcome reads nothing again":                    {full, []planner.Record{{Address: "cycle/web/a", ID: uuid(2, 1), PendingIntent: &planner.Intent{Action: planner.Update}}}, func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name=A") }, func(w *wanted) { project(w).put("cycle/web/a", "name=A") }, "", 0, false, 0},
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
			if waits := slices.ContainsFunc(plan.Steps, func(s *planner.Step) bool { return s.Write.Announced }); waits != tt.waits {
				t.Errorf("a step may have been sent before: %t", waits)
			}
			in := s.in
			in.Desired, in.Observed = w.all(), planner.Observed{}
			for _, r := range s.reads {
				in.Observed[r] = s.answer(r)
			}
			first := ""
			doubt := load(t, in, s.answer).Settle()
			unseen := doubt.Again
			if doubt.Creates != (tt.brief > 0) {
				t.Errorf("a create may still come: %t", doubt.Creates)
			}
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
