package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func item(address resource.Address, identifier string) planner.Record {
	return planner.Record{Address: address, ID: "id of " + identifier, Identifier: identifier}
}

// makeItem creates an object, with success.
func makeItem(t *testing.T, f *File, address resource.Address, identifier string) {
	t.Helper()
	intend(t, f, create(address))
	complete(t, f, create(address), executor.Outcome{Record: planner.Record{ID: "new id of " + identifier, Identifier: identifier}}, nil)
}

// afters are the numbers that the open intents carry.
func afters(prior planner.Prior) map[resource.Address]int {
	got := map[resource.Address]int{}
	for address, r := range prior {
		if r.PendingIntent != nil {
			got[address] = r.PendingIntent.After
		}
	}
	return got
}

func TestAnIntentToCreateCarriesTheHighestNumberKnownInItsSequence(t *testing.T) {
	t.Parallel()
	const lost, other = "work_item/web/lost", "work_item/web/other"
	for name, test := range map[string]struct {
		before []planner.Record // in the state file
		run    func(t *testing.T, f *File)
		want   map[resource.Address]int
	}{
		"an intent carries no number if none is known": {
			before: []planner.Record{{Address: "project/web", ID: "p", Identifier: "WEB"}},
			run:    func(t *testing.T, f *File) { t.Helper(); intend(t, f, create(lost)) },
			want:   map[resource.Address]int{lost: 0},
		},
		"an intent carries the highest number of the state file, by value and not by text or order": {
			before: []planner.Record{item("work_item/web/a", "WEB-9"), item("work_item/web/b", "WEB-10"), item("work_item/web/c", "WEB-2")},
			run:    func(t *testing.T, f *File) { t.Helper(); intend(t, f, create(lost)) },
			want:   map[resource.Address]int{lost: 10},
		},
		"an intent carries the highest number of the outcomes of this run": {
			before: []planner.Record{item("work_item/web/a", "WEB-9")},
			run: func(t *testing.T, f *File) {
				t.Helper()
				makeItem(t, f, "work_item/web/b", "WEB-57")
				makeItem(t, f, "work_item/web/c", "WEB-56")
				intend(t, f, create(lost))
				makeItem(t, f, "work_item/web/d", "WEB-59")
				intend(t, f, create(other))
			},
			want: map[resource.Address]int{lost: 57, other: 59},
		},
		"an intent carries the number of an adoption without a request": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				s := step("work_item/web/a", planner.Adopt)
				s.Operation, s.ID = nil, "id-1"
				complete(t, f, s, executor.Outcome{Record: planner.Record{Identifier: "WEB-4"}}, nil)
				intend(t, f, create(lost))
			},
			want: map[resource.Address]int{lost: 4},
		},
		"an intent carries the highest number that the plan read": {
			before: []planner.Record{item("work_item/web/a", "WEB-3")},
			run: func(t *testing.T, f *File) {
				t.Helper()
				s := create(lost)
				s.Write.Newest = 8
				less := create(other)
				less.Write.Newest = 2
				intend(t, f, s, less)
			},
			want: map[resource.Address]int{lost: 8, other: 3},
		},
		"an intent carries the number of a record that was put": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				f.Put(item("work_item/web/a", "WEB-3"))
				intend(t, f, create(lost))
			},
			want: map[resource.Address]int{lost: 3},
		},
		"intents of one call carry the same number": {
			before: []planner.Record{item("work_item/web/a", "WEB-9")},
			run:    func(t *testing.T, f *File) { t.Helper(); intend(t, f, create(lost), create(other)) },
			want:   map[resource.Address]int{lost: 9, other: 9},
		},
		"an intent carries the number of its own project and kind": {
			before: []planner.Record{
				item("work_item/web/a", "WEB-9"), item("work_item/app/a", "APP-70"), item("work_item/web2/a", "WEB2-80"),
				{Address: "link/web/a/docs", ID: "l"},
				{Address: "cycle/web/s1", ID: "c"},
			},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(lost), create("work_item/app/lost"), create("work_item/new/lost"), create("link/web/a/home"),
					create("cycle/web/s2"), create("project/lost"))
			},
			want: map[resource.Address]int{
				lost: 9, "work_item/app/lost": 70, "work_item/new/lost": 0, "link/web/a/home": 0, "cycle/web/s2": 0, "project/lost": 0,
			},
		},
		"an intent to update or delete carries no number": {
			before: []planner.Record{item("work_item/web/a", "WEB-9"), item("work_item/web/b", "WEB-8")},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step("work_item/web/a", planner.Update), step("work_item/web/b", planner.Delete))
			},
			want: map[resource.Address]int{"work_item/web/a": 0, "work_item/web/b": 0},
		},
		"an intent carries the number of a deleted object": {
			before: []planner.Record{item("work_item/web/a", "WEB-9"), item("work_item/web/b", "WEB-8"), item("work_item/web/c", "WEB-1")},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step("work_item/web/a", planner.Delete))
				complete(t, f, step("work_item/web/a", planner.Delete), executor.Outcome{}, nil)
				f.Remove("work_item/web/b")
				intend(t, f, create(lost))
			},
			want: map[resource.Address]int{lost: 9},
		},
		"an intent carries the former number of an object that is created again": {
			before: []planner.Record{item("work_item/web/a", "WEB-9")},
			run: func(t *testing.T, f *File) {
				t.Helper()
				makeItem(t, f, "work_item/web/a", "")
				intend(t, f, create(lost))
			},
			want: map[resource.Address]int{lost: 9},
		},
		"an intent in a project that is created anew carries a number of the new project only": {
			before: []planner.Record{
				{Address: "project/web", ID: "p", Identifier: "WEB"}, item("work_item/web/a", "WEB-1"), item("work_item/web/b", "WEB-57"), item("work_item/web2/a", "WEB2-80"),
			},
			run: func(t *testing.T, f *File) {
				t.Helper()
				makeItem(t, f, "project/web", "WEB")
				intend(t, f, create("work_item/web/b"), create("work_item/web2/lost")) // what is known of b is of the former project
				makeItem(t, f, "work_item/web/a", "WEB-1")
				intend(t, f, create(lost))
			},
			want: map[resource.Address]int{"work_item/web/b": 0, lost: 1, "work_item/web2/lost": 80},
		},
		"an intent carries no number of a project that was deleted": {
			before: []planner.Record{{Address: "project/web", ID: "p"}, item("work_item/web/a", "WEB-57")},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step("project/web", planner.Delete))
				complete(t, f, step("project/web", planner.Delete), executor.Outcome{}, nil)
				intend(t, f, create(lost))
			},
			want: map[resource.Address]int{lost: 0},
		},
		"an intent is not affected by another kind of object with the project's key": {
			before: []planner.Record{{Address: "customer/web", ID: "p"}, item("work_item/web/a", "WEB-57")},
			run: func(t *testing.T, f *File) {
				t.Helper()
				makeItem(t, f, "customer/web", "")
				intend(t, f, create(lost))
			},
			want: map[resource.Address]int{lost: 57},
		},
		"an intent carries only a number that follows the last hyphen": {
			before: []planner.Record{
				item("work_item/web/a", "MY-WEB-12"), item("work_item/web/b", "WEB-99999999999"), item("work_item/web/c", "WEB-"), item("work_item/web/d", "WEB77"),
				item("work_item/web/e", "WEB-+88"), item("work_item/web/f", "WEB-99a"), item("work_item/web/g", "A-B"), item("work_item/web/h", "WEB-98-C"),
			},
			run:  func(t *testing.T, f *File) { t.Helper(); intend(t, f, create(lost)) },
			want: map[resource.Address]int{lost: 12},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			before := open(t, path)
			for _, r := range test.before {
				before.Put(r)
			}
			must(t, before.Save())
			must(t, before.Close())
			f := open(t, path)
			test.run(t, f)
			if diff := cmp.Diff(test.want, afters(f.Prior())); diff != "" {
				t.Errorf("in memory (-want +got):\n%s", diff)
			}
			newest := f.store.newest
			die(t, f)
			if diff := cmp.Diff(test.want, afters(readPrior(t, path))); diff != "" {
				t.Errorf("read after a kill (-want +got):\n%s", diff)
			}
			s, err := Read(t.Context(), path, testOptions())
			must(t, err)
			for scope, n := range s.store.newest { // what was only in memory is lost with the run
				if n > newest[scope] {
					t.Errorf("after a kill %d is known of %s, and %d before", n, scope, newest[scope])
				}
			}
		})
	}
}

func TestTheNumberSurvivesTheJournalAndTheStateFile(t *testing.T) {
	t.Parallel()
	const lost, later = "work_item/web/lost", "work_item/web/later"
	path := statePath(t)
	at := testTime()
	opts := testOptions()
	opts.Now = func() time.Time { return at }
	f := openWith(t, path, opts)
	makeItem(t, f, "work_item/web/a", "WEB-57")
	at = at.Add(time.Minute)
	intend(t, f, create(lost))
	want := planner.Prior{
		"work_item/web/a": {Address: "work_item/web/a", ID: "new id of WEB-57", Identifier: "WEB-57"},
		lost:              {Address: lost, PendingIntent: &planner.Intent{Action: planner.Create, Name: "name of web/lost", After: 57, At: at}},
	}
	check := against(t, want)
	check("in memory", f.Prior())
	check("from the journal", readPrior(t, path))
	die(t, f)

	at = at.Add(time.Hour)
	f = openWith(t, path, opts)
	check("folded", f.Prior())
	check("from the state file", readPrior(t, path))

	// A refusal of the next attempt brings the former intent back as it was.
	intend(t, f, create(lost))
	complete(t, f, create(lost), executor.Outcome{}, errRefused)
	check("after a refusal", f.Prior())
	check("after a refusal, from the journal", readPrior(t, path))

	// The number that was replayed is known to the run after it.
	intend(t, f, create(later))
	want[later] = planner.Record{Address: later, PendingIntent: &planner.Intent{Action: planner.Create, Name: "name of web/later", After: 57, At: at}}
	check("in the next run", f.Prior())
	must(t, f.Save())
	check("saved", readPrior(t, path))

	// A number from a journal that was not replayed into the file yet counts too.
	makeItem(t, f, "work_item/web/b", "WEB-60")
	die(t, f)
	f = openWith(t, path, opts)
	intend(t, f, create("work_item/web/last"))
	if n := f.Prior()["work_item/web/last"].PendingIntent.After; n != 60 {
		t.Errorf("after folding the number is %d", n)
	}
}

func TestAClockBefore1970LeavesFilesThatCanBeRead(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	opts := testOptions()
	opts.Now = func() time.Time { return time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC) }
	f := openWith(t, path, opts)
	f.Put(item("work_item/web/a", "WEB-1"))
	must(t, f.Save())
	intend(t, f, create("work_item/web/lost"))
	want := f.Prior()
	die(t, f)
	if diff := priorDiff(want, readPrior(t, path)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, openWith(t, path, opts).Prior()); diff != "" {
		t.Error(diff)
	}
}
