package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

var errRefused = errors.New("the service refused it")

func errUnknown() error { return fmt.Errorf("connection reset: %w", executor.ErrOutcomeUnknown) }

func TestARunLeavesTheRecordsOfItsSteps(t *testing.T) {
	t.Parallel()
	const shop, cart, cycle = "work_item/web/shop", "work_item/web/cart", "cycle/web/s1#work_items"
	outcome := executor.Outcome{Record: planner.Record{ID: "id-1", Identifier: "WEB-1", Values: map[string]string{"name": "Shop", "state": "Todo"}}}
	done := planner.Record{Address: shop, ID: "id-1", Identifier: "WEB-1", Values: outcome.Values}
	intent := func(address resource.Address, a planner.Action) *planner.Intent {
		return &planner.Intent{Action: a, Name: "name of " + address.Path(), At: testTime()}
	}
	const hook = addr("webhook/ci")
	asked := func(fields ...string) *planner.Intent {
		return &planner.Intent{Action: planner.Update, Fields: fields, At: testTime()}
	}
	withIntent := func(r planner.Record, i *planner.Intent) planner.Record {
		r.PendingIntent = i
		return r
	}
	for name, test := range map[string]struct {
		before []planner.Record
		run    func(t *testing.T, f *File)
		want   []planner.Record
	}{
		"a run without steps leaves no record": {
			run: func(*testing.T, *File) {},
		},
		"a created object is recorded": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop))
				complete(t, f, create(shop), outcome, nil)
			},
			want: []planner.Record{done},
		},
		"an intent without an outcome is open": {
			run:  func(t *testing.T, f *File) { t.Helper(); intend(t, f, create(shop)) },
			want: []planner.Record{{Address: shop, PendingIntent: intent(shop, planner.Create)}},
		},
		"an unknown outcome leaves the intent open": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop))
				complete(t, f, create(shop), executor.Outcome{}, errUnknown())
			},
			want: []planner.Record{{Address: shop, PendingIntent: intent(shop, planner.Create)}},
		},
		"an adoption without an outcome leaves the intent of a lost create open": {
			before: []planner.Record{{Address: shop, PendingIntent: intent(shop, planner.Create)}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				adopt := create(shop)
				adopt.Action = planner.Adopt
				intend(t, f, adopt)
				complete(t, f, adopt, executor.Outcome{}, errUnknown())
			},
			want: []planner.Record{{Address: shop, PendingIntent: intent(shop, planner.Create)}},
		},
		"a create that was refused leaves nothing": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop))
				complete(t, f, create(shop), executor.Outcome{}, errRefused)
			},
		},
		"an update that was refused leaves the record as it was": {
			before: []planner.Record{done},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step(shop, planner.Update))
				complete(t, f, step(shop, planner.Update), executor.Outcome{}, errRefused)
			},
			want: []planner.Record{done},
		},
		"an update with an unknown outcome keeps the known values and is pending": {
			before: []planner.Record{done},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step(shop, planner.Update))
			},
			want: []planner.Record{{Address: shop, ID: "id-1", Identifier: "WEB-1", Values: outcome.Values, PendingIntent: intent(shop, planner.Update)}},
		},
		"an update changes the values that it sent and no other": {
			before: []planner.Record{done},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step(shop, planner.Update))
				complete(t, f, step(shop, planner.Update), executor.Outcome{Record: planner.Record{Values: map[string]string{"state": "Done", "size": "3"}}}, nil)
			},
			want: []planner.Record{{Address: shop, ID: "id-1", Identifier: "WEB-1", Values: map[string]string{"name": "Shop", "state": "Done", "size": "3"}}},
		},
		"an object that was created again keeps nothing of the former one": {
			before: []planner.Record{done, {Address: shop + "#blocking", Members: []string{"a"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop))
				complete(t, f, create(shop), executor.Outcome{Record: planner.Record{ID: "id-2", Values: map[string]string{"name": "Shop"}}}, nil)
			},
			want: []planner.Record{{Address: shop, ID: "id-2", Values: map[string]string{"name": "Shop"}}},
		},
		"an adoption without a request is known without an intent": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				s := step(shop, planner.Adopt)
				s.Operation, s.ID = nil, "id-1"
				intend(t, f, s)
				complete(t, f, s, executor.Outcome{Record: planner.Record{Identifier: "WEB-1", Values: outcome.Values}}, nil)
			},
			want: []planner.Record{done},
		},
		"a deleted object is removed with its members": {
			before: []planner.Record{{Address: "cycle/web/s1", ID: "c"}, {Address: cycle, Members: []string{"a"}}, {Address: "cycle/web/s10#work_items", Members: []string{"b"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step("cycle/web/s1", planner.Delete))
				complete(t, f, step("cycle/web/s1", planner.Delete), executor.Outcome{}, nil)
			},
			want: []planner.Record{{Address: "cycle/web/s10#work_items", Members: []string{"b"}}},
		},
		"a deleted object is removed with everything that lived in it": {
			before: []planner.Record{
				{Address: "project/web", ID: "p"},
				done,
				{Address: shop + "#blocking", Members: []string{"a"}},
				{Address: "link/web/shop/https://example.com/a/b", ID: "l"},
				{Address: "link/web2/shop/https://example.com/a", ID: "l2"},
				{Address: "cycle/web/s1", ID: "c"},
			},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create("comment/web/shop/new"), step("project/web", planner.Delete))
				complete(t, f, create("comment/web/shop/new"), executor.Outcome{Record: planner.Record{ID: "c2"}}, nil)
				complete(t, f, step("project/web", planner.Delete), executor.Outcome{}, nil)
			},
			want: []planner.Record{{Address: "link/web2/shop/https://example.com/a", ID: "l2"}},
		},
		"a deleted object is removed from all members": {
			before: []planner.Record{done, {Address: cycle, Members: []string{"id-0", "id-1", "id-2"}}, {Address: "cycle/web/s2#work_items", Members: []string{"id-1"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step(shop, planner.Delete))
				complete(t, f, step(shop, planner.Delete), executor.Outcome{}, nil)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"id-0", "id-2"}}},
		},
		"an object that was created again is removed from all members": {
			before: []planner.Record{done, {Address: cycle, Members: []string{"id-0", "id-1"}}, {Address: "work_item/web/cart#blocked_by", Members: []string{"id-1"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop))
				complete(t, f, create(shop), executor.Outcome{Record: planner.Record{ID: "id-2"}}, nil)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"id-0"}}, {Address: shop, ID: "id-2"}},
		},
		"an object created by planform stays so until it is another one": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				other := resource.Address("work_item/web/other")
				for _, a := range []resource.Address{shop, other} {
					intend(t, f, create(a))
					complete(t, f, create(a), executor.Outcome{Record: planner.Record{ID: "id-1", CreatedByUs: true}}, nil)
				}
				complete(t, f, step(shop, planner.Update), executor.Outcome{Record: planner.Record{ID: "id-1"}}, nil)
				complete(t, f, step(other, planner.Update), executor.Outcome{Record: planner.Record{ID: "id-3"}}, nil)
			},
			want: []planner.Record{{Address: shop, ID: "id-1", CreatedByUs: true}, {Address: "work_item/web/other", ID: "id-3"}},
		},
		"an object that the manifest protects stays protected while the manifest says nothing else": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				yes, s := true, create(shop)
				s.Object = &resource.Object{Kind: s.Kind, Address: shop, Protect: &yes}
				complete(t, f, s, executor.Outcome{Record: planner.Record{ID: "id-1", CreatedByUs: true}}, nil)
				s = step(shop, planner.Update)
				s.Object = &resource.Object{Kind: s.Kind, Address: shop}
				complete(t, f, s, executor.Outcome{Record: planner.Record{ID: "id-1"}}, nil)
			},
			want: []planner.Record{{Address: shop, ID: "id-1", CreatedByUs: true, Protect: true}},
		},
		"the sources of objects and members are added to the known ones": {
			before: []planner.Record{{Address: shop, ID: "id-1", Sources: []string{"b.yaml"}}, {Address: cycle, Members: []string{"a"}, Sources: []string{"b.yaml"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				s, m := step(shop, planner.Update), members(cycle, planner.AddMembers)
				s.Object.Files, m.Members.Sources = []string{"a.yaml", "b.yaml"}, []string{"a.yaml"}
				complete(t, f, s, executor.Outcome{Record: planner.Record{ID: "id-1"}}, nil)
				complete(t, f, m, executor.Outcome{Record: planner.Record{Members: []string{"b"}}}, nil)
			},
			want: []planner.Record{
				{Address: shop, ID: "id-1", Sources: []string{"a.yaml", "b.yaml"}}, {Address: cycle, Members: []string{"a", "b"}, Sources: []string{"a.yaml", "b.yaml"}},
			},
		},
		"the source of a new member is not recorded if nobody knows the sources of the others": {
			before: []planner.Record{{Address: cycle, Members: []string{"a"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				m := members(cycle, planner.AddMembers)
				m.Members.Sources = []string{"a.yaml"}
				complete(t, f, m, executor.Outcome{Record: planner.Record{Members: []string{"b"}}}, nil)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"a", "b"}}},
		},
		"a link whose URL has a fragment is no member of anything": {
			before: []planner.Record{{Address: "link/web/shop/https://example.com/a#b.2", ID: "l"}, {Address: "link/web/shop/https://example.com/a", ID: "m"}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				s := step("link/web/shop/https://example.com/a#b.2", planner.Update)
				complete(t, f, s, executor.Outcome{Record: planner.Record{Values: map[string]string{"title": "B"}}}, nil)
				complete(t, f, step("link/web/shop/https://example.com/a", planner.Delete), executor.Outcome{}, nil)
			},
			want: []planner.Record{{Address: "link/web/shop/https://example.com/a#b.2", ID: "l", Values: map[string]string{"title": "B"}}},
		},
		"a delete with an unknown outcome is open": {
			before: []planner.Record{done},
			run:    func(t *testing.T, f *File) { t.Helper(); intend(t, f, step(shop, planner.Delete)) },
			want:   []planner.Record{{Address: shop, ID: "id-1", Identifier: "WEB-1", Values: outcome.Values, PendingIntent: intent(shop, planner.Delete)}},
		},
		"batches of members are recorded together, sorted and each member once": {
			before: []planner.Record{{Address: cycle, Members: []string{"b"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				one, two := members(cycle, planner.AddMembers), members(cycle+".2", planner.AddMembers)
				intend(t, f, one, two)
				complete(t, f, two, executor.Outcome{Record: planner.Record{Members: []string{"d", "a"}}}, nil)
				complete(t, f, one, executor.Outcome{Record: planner.Record{Members: []string{"c", "b"}}}, nil)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"a", "b", "c", "d"}}},
		},
		"a member that was added is recorded, although others of its batch were refused": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				one := members(cycle, planner.AddMembers)
				intend(t, f, one)
				complete(t, f, one, executor.Outcome{Record: planner.Record{Members: []string{"a"}}}, errRefused)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"a"}}},
		},
		"a batch that is done does not complete another": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				one, two := members(cycle, planner.AddMembers), members(cycle+".2", planner.AddMembers)
				intend(t, f, one, two)
				complete(t, f, one, executor.Outcome{}, errUnknown())
				complete(t, f, two, executor.Outcome{Record: planner.Record{Members: []string{"a"}}}, nil)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"a"}, PendingIntent: &planner.Intent{Action: planner.AddMembers, At: testTime()}}},
		},
		"a batch that is done does not complete another, even if the state is saved between them": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				one, two := members(cycle, planner.AddMembers), members(cycle+".2", planner.AddMembers)
				intend(t, f, one, two)
				must(t, f.Save())
				complete(t, f, two, executor.Outcome{Record: planner.Record{Members: []string{"a"}}}, nil)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"a"}, PendingIntent: &planner.Intent{Action: planner.AddMembers, At: testTime()}}},
		},
		"an intent to add members stays open, although others are removed in the same run": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, members(cycle, planner.AddMembers))
				intend(t, f, members(cycle, planner.RemoveMembers))
			},
			want: []planner.Record{{Address: cycle, PendingIntent: &planner.Intent{Action: planner.AddMembers, At: testTime()}}},
		},
		"an intent to add members stays open, although others are updated in the same run": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, members(cycle, planner.AddMembers))
				intend(t, f, members(cycle, planner.Update))
			},
			want: []planner.Record{{Address: cycle, PendingIntent: &planner.Intent{Action: planner.AddMembers, At: testTime()}}},
		},
		"an update that is done does not complete another of the same object": {
			before: []planner.Record{done},
			run: func(t *testing.T, f *File) {
				t.Helper()
				one, two := step(shop, planner.Update), step(shop, planner.Update)
				two.Index = 1
				intend(t, f, one)
				complete(t, f, one, executor.Outcome{}, errUnknown())
				intend(t, f, two)
				complete(t, f, two, outcome, nil)
			},
			want: []planner.Record{withIntent(done, intent(shop, planner.Update))},
		},
		"an update closes the intent of an earlier run, which the plan has settled": {
			before: []planner.Record{{Address: hook, ID: "1", PendingIntent: asked("name", "secret_file")}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				update := step(hook, planner.Update)
				update.Kind = resource.MustLookup("webhook")
				intend(t, f, update)
				complete(t, f, update, executor.Outcome{}, nil)
			},
			want: []planner.Record{{Address: hook, ID: "1", AppliedAt: testTime()}},
		},
		"members that were removed are forgotten, and the record with the last of them": {
			before: []planner.Record{{Address: cycle, Members: []string{"a", "b"}}, {Address: "cycle/web/s2#work_items", Members: []string{"c"}}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				one, two := members(cycle, planner.RemoveMembers), members("cycle/web/s2#work_items", planner.RemoveMembers)
				intend(t, f, one, two)
				complete(t, f, one, executor.Outcome{Record: planner.Record{Members: []string{"a", "z"}}}, nil)
				complete(t, f, two, executor.Outcome{Record: planner.Record{Members: []string{"c"}}}, nil)
			},
			want: []planner.Record{{Address: cycle, Members: []string{"b"}}},
		},
		"an intent that an earlier run left open stays open after a refusal": {
			before: []planner.Record{{Address: shop, PendingIntent: intent(cart, planner.Create)}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop))
				complete(t, f, create(shop), executor.Outcome{}, errRefused)
			},
			want: []planner.Record{{Address: shop, PendingIntent: intent(cart, planner.Create)}},
		},
		"an intent that is announced again remembers that an earlier run sent it in a batch": {
			before: []planner.Record{{Address: shop, PendingIntent: &planner.Intent{Action: planner.Create, Batch: true}}},
			run:    func(t *testing.T, f *File) { t.Helper(); intend(t, f, create(shop)) },
			want:   []planner.Record{{Address: shop, PendingIntent: &planner.Intent{Action: planner.Create, Name: "name of web/shop", At: testTime(), Batch: true}}},
		},
		"an intent that an earlier run left open is closed by a success": {
			before: []planner.Record{{Address: shop, PendingIntent: intent(cart, planner.Create)}},
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop))
				complete(t, f, create(shop), outcome, nil)
			},
			want: []planner.Record{done},
		},
		"an intent in the state file is closed by an outcome in the next journal": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, create(shop), create(cart))
				must(t, f.Save())
				complete(t, f, create(shop), outcome, nil)
				complete(t, f, create(cart), executor.Outcome{}, errRefused)
			},
			want: []planner.Record{done},
		},
		"an intent to add a member stays while the batch that creates the member has no outcome": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				batch, one := create(shop), members(cycle, planner.AddMembers)
				batch.Batch, one.Members.Items = 1, []planner.Member{{Address: shop}, {ID: "b"}}
				intend(t, f, batch, one)
				complete(t, f, batch, executor.Outcome{}, errUnknown())
				complete(t, f, one, executor.Outcome{Record: planner.Record{Members: []string{"b"}}}, errRefused)
			},
			want: []planner.Record{
				{Address: shop, PendingIntent: &planner.Intent{Action: planner.Create, Name: "name of web/shop", At: testTime(), Batch: true}},
				{Address: cycle, Members: []string{"b"}, PendingIntent: &planner.Intent{Action: planner.AddMembers, Name: string(shop) + "\nb", At: testTime()}},
			},
		},
		"a step that is not possible leaves nothing": {
			run: func(t *testing.T, f *File) {
				t.Helper()
				intend(t, f, step(shop, planner.NotPossible))
				complete(t, f, step(shop, planner.NotPossible), executor.Outcome{}, nil)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			f := open(t, path)
			for _, r := range test.before {
				f.Put(r)
			}
			must(t, f.Save())
			test.run(t, f)
			want := planner.Prior{}
			for _, r := range test.want {
				want[r.Address] = r
			}
			check := against(t, want)
			check("in memory", f.Prior())
			check("read while it runs", readPrior(t, path))
			die(t, f)
			check("read after a kill", readPrior(t, path))
			g := open(t, path)
			check("folded", g.Prior())
			must(t, g.Close())
			check("read after folding", readPrior(t, path))
			if _, err := os.Stat(path + ".journal"); err == nil {
				t.Error("the journal is still there")
			}
		})
	}
}

// The line of the next outcome says that no intent is left at the record. It must not be read without the line before it.
func TestAnOutcomeThatTheFullDiskRefusedIsWrittenWithTheNextOne(t *testing.T) {
	t.Parallel()
	path, d, opts := statePath(t), &fullDisk{room: -1}, testOptions()
	opts.Disk = d
	f := openWith(t, path, opts)
	const cycle = "cycle/web/s1#work_items"
	one, two := members(cycle, planner.AddMembers), members(cycle+".2", planner.AddMembers)
	intend(t, f, one, two)
	d.set(0)
	if err := f.Complete(one, executor.Outcome{Record: planner.Record{Members: []string{"a"}}}, nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	d.set(-1)
	complete(t, f, two, executor.Outcome{Record: planner.Record{Members: []string{"b"}}}, nil)
	die(t, f)
	if diff := priorDiff(planner.Prior{cycle: {Address: cycle, Members: []string{"a", "b"}}}, readPrior(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestRecordAddressDropsTheNumberOfABatchOnly(t *testing.T) {
	t.Parallel()
	for step, want := range map[resource.Address]resource.Address{
		"cycle/web/s1#work_items":             "cycle/web/s1#work_items",
		"cycle/web/s1#work_items.2":           "cycle/web/s1#work_items",
		"cycle/web/s1#work_items.10":          "cycle/web/s1#work_items",
		"cycle/web/s1.2#work_items":           "cycle/web/s1.2#work_items",
		"cycle/web/Sprint #1.2#work_items.12": "cycle/web/Sprint #1.2#work_items",
		"cycle/web/s1#work_items.":            "cycle/web/s1#work_items.",
		"cycle/web/s1#work_items.x":           "cycle/web/s1#work_items.x",
		"work_item/web/v1.2":                  "work_item/web/v1.2",
		"":                                    "",
	} {
		if got := recordAddress(step); got != want {
			t.Errorf("%s is kept at %s, not at %s", step, got, want)
		}
	}
	for n := range 12 {
		if got := recordAddress(resource.Address("cycle/a/b").Members("work_items", n)); got != "cycle/a/b#work_items" {
			t.Errorf("batch %d is kept at %s", n, got)
		}
	}
}

func TestConcurrentIntentsShareAFlush(t *testing.T) {
	t.Parallel()
	const callers = 16
	d := &gateDisk{wrote: make(chan struct{}, callers), entered: make(chan struct{}, callers), gate: make(chan struct{})}
	opts := testOptions()
	opts.Disk = d
	f := openWith(t, statePath(t), opts)
	d.armed = true
	var group sync.WaitGroup
	errs := make([]error, callers)
	call := func(i int) {
		group.Go(func() {
			address := resource.Address(fmt.Sprintf("work_item/web/%d", i))
			errs[i] = f.Begin(t.Context(), []*planner.Step{create(address), create(address + "b")})
		})
	}
	call(0)
	<-d.entered // the first is being flushed; the others come now
	for i := 1; i < callers; i++ {
		call(i)
	}
	for range callers {
		<-d.wrote
	}
	close(d.gate)
	group.Wait()
	must(t, errors.Join(errs...))
	if n := len(d.entered); n != 1 {
		t.Errorf("%d intents that came during a flush took %d more", callers-1, n)
	}
	d.armed = false
	if n := len(f.Prior()); n != 2*callers {
		t.Errorf("%d intents are known", n)
	}
}

func TestBeginAfterACancelWritesNothing(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := readFile(t, path+".journal")
	if err := f.Begin(ctx, []*planner.Step{create("a/b")}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if after := readFile(t, path+".journal"); after != before {
		t.Errorf("the journal says %s", after)
	}
}

func TestTheJournalHasTheDocumentedFormat(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	intend(t, f, create("work_item/web/shop"))
	complete(t, f, create("work_item/web/shop"), executor.Outcome{Record: planner.Record{ID: "51f0", Identifier: "WEB-7", Values: map[string]string{"b": "2", "a": "1"}}}, nil)
	intend(t, f, create("work_item/web/cart"), members("cycle/web/s1#work_items", planner.AddMembers), members("cycle/web/s1#work_items.2", planner.AddMembers))
	complete(t, f, members("cycle/web/s1#work_items.2", planner.AddMembers), executor.Outcome{Record: planner.Record{Members: []string{"x"}}}, nil)
	lines := strings.Split(readFile(t, path+".journal"), "\n")
	for i, want := range []string{
		`{"planform_journal":2,"id":"` + f.writer.id + `","lineage":"` + f.store.Lineage + `","serial":0,"base_url":"https://api.plane.so","workspace":"acme","crc":"`,
		`{"i":"work_item/web/shop","action":"create","name":"name of web/shop","at":"2026-11-20T20:36:10Z","crc":"`,
		`{"s":`,
		`{"o":"work_item/web/shop","action":"create","id":"51f0","identifier":"WEB-7","values":{"a":"1","b":"2"},"at":"2026-11-20T20:36:10Z","crc":"`,
		`{"i":"work_item/web/cart","action":"create","name":"name of web/cart","after":7,"at":"2026-11-20T20:36:10Z","crc":"`,
		`{"i":"cycle/web/s1#work_items","action":"` + planner.AddMembers.String() + `","at":"2026-11-20T20:36:10Z","crc":"`,
		`{"i":"cycle/web/s1#work_items.2","action":"` + planner.AddMembers.String() + `","at":"2026-11-20T20:36:10Z","crc":"`,
		`{"s":`,
		`{"o":"cycle/web/s1#work_items.2","action":"` + planner.AddMembers.String() + `","members":["x"],"open":{"action":"` + planner.AddMembers.String() + `","at":"2026-11-20T20:36:10Z"},"at":"2026-11-20T20:36:10Z","crc":"`,
		``,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %s\nand not    %s", i+1, lines[i], want)
		}
	}
}

func TestNothingIsWrittenAfterClose(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	must(t, f.Close())
	before := folder(t, path)
	if err := f.Begin(t.Context(), []*planner.Step{create("a/b")}); !errors.Is(err, executor.ErrAbortRun) {
		t.Errorf("Begin: %v", err)
	}
	if err := f.Complete(create("a/b"), executor.Outcome{Record: planner.Record{ID: "1"}}, nil); !errors.Is(err, executor.ErrAbortRun) {
		t.Errorf("Complete: %v", err)
	}
	if err := f.Save(); !errors.Is(err, executor.ErrAbortRun) {
		t.Errorf("Save: %v", err)
	}
	must(t, f.Close())
	if diff := cmp.Diff(before, folder(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestStepsAreRecordedWhileTheStateIsSaved(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 40
	path := statePath(t)
	f := open(t, path)
	var group sync.WaitGroup
	errs := make([]error, workers+1)
	for w := range workers {
		group.Go(func() {
			for i := range each {
				s := create(addr(fmt.Sprintf("work_item/%d/%d", w, i)))
				batch := members(addr(fmt.Sprintf("cycle/web/s1#work_items.%d", 2+w*each+i)), planner.AddMembers)
				errs[w] = errors.Join(errs[w], f.Begin(t.Context(), []*planner.Step{s, batch}))
				switch i % 4 {
				case 0: // killed before it is known
				case 1:
					errs[w] = errors.Join(errs[w], f.Complete(s, executor.Outcome{}, errRefused), f.Complete(batch, executor.Outcome{}, errRefused))
				default:
					out := executor.Outcome{Record: planner.Record{ID: fmt.Sprint(w, i), Members: []string{fmt.Sprint(w, i)}}}
					errs[w] = errors.Join(errs[w], f.Complete(s, out, nil), f.Complete(batch, out, nil))
				}
			}
		})
	}
	group.Go(func() {
		for range 10 {
			_ = f.Prior()
			errs[workers] = errors.Join(errs[workers], f.Save())
		}
	})
	group.Wait()
	must(t, errors.Join(errs...))
	die(t, f)
	prior := readPrior(t, path)
	if diff := cmp.Diff(f.store.records, prior); diff != "" {
		t.Fatal(diff)
	}
	for w := range workers {
		for i := range each {
			a := addr(fmt.Sprintf("work_item/%d/%d", w, i))
			r, known := prior[a]
			switch {
			case i%4 == 0 && r.PendingIntent == nil, i%4 == 1 && known, i%4 > 1 && (r.PendingIntent != nil || r.ID != fmt.Sprint(w, i)):
				t.Errorf("%s is %+v", a, r)
			}
		}
	}
	if r := prior["cycle/web/s1#work_items"]; len(r.Members) != workers*each/2 || r.PendingIntent == nil {
		t.Errorf("the members are %+v", r)
	}
}

func TestTheLastActivityOfARunIsTheTimeOfItsLatestLine(t *testing.T) {
	t.Parallel()
	const shop, cart = "work_item/web/shop", "work_item/web/cart"
	at := testTime()
	opts := testOptions()
	opts.Now = func() time.Time { return at }
	path := statePath(t)
	check := func(when string, f *File, want time.Time) {
		t.Helper()
		if got := f.Snapshot().LastActivity(); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", when, got.UTC(), want)
		}
		s, err := Read(t.Context(), path, opts)
		must(t, err)
		if got := s.LastActivity(); !got.Equal(want) {
			t.Errorf("%s, read: %s, want %s", when, got.UTC(), want)
		}
	}
	f := openWith(t, path, opts)
	check("nothing was ever done", f, time.Time{})
	intend(t, f, create(shop), create(cart))
	check("an intent", f, at)
	at = at.Add(time.Minute)
	complete(t, f, create(shop), executor.Outcome{Record: planner.Record{ID: "id-1"}}, nil)
	check("an outcome", f, at)
	die(t, f)
	last := at
	at = at.Add(time.Hour)
	f = openWith(t, path, opts)
	check("folded by another run", f, last)
	must(t, f.Save())
	must(t, f.Close())
	check("from the state file", openWith(t, path, opts), last)
}

func TestALateRequestIsRecordedUntilItsGracePeriodIsOver(t *testing.T) {
	t.Parallel()
	path, now := statePath(t), testTime()
	opts := testOptions()
	opts.Now = func() time.Time { return now }
	f, err := Open(t.Context(), path, opts)
	must(t, err)
	made := create(addr("label/web/bug"))
	intend(t, f, made)
	complete(t, f, made, executor.Outcome{Record: planner.Record{ID: "one", Late: now.Add(time.Minute)}}, nil)
	for _, tt := range []struct {
		after time.Duration
		known bool
	}{{time.Second, true}, {2 * time.Minute, false}} {
		now = testTime().Add(tt.after)
		f.Put(planner.Record{Address: made.Address, ID: "one", CreatedByUs: true})
		changed := step(made.Address, planner.Update)
		intend(t, f, changed)
		complete(t, f, changed, executor.Outcome{Record: planner.Record{ID: "one"}}, nil)
		must(t, f.Save())
		if r := readPrior(t, path)[made.Address]; r.Late.IsZero() == tt.known {
			t.Errorf("after %s: %v", tt.after, r.Late)
		}
	}
	must(t, f.Close())
}

func TestAnEmptyContainerIsRecordedUntilItsLateRequestIsOver(t *testing.T) {
	t.Parallel()
	path, now := statePath(t), testTime()
	opts := testOptions()
	opts.Now = func() time.Time { return now }
	f, err := Open(t.Context(), path, opts)
	must(t, err)
	at := addr("cycle/web/s1#work_items")
	f.Put(planner.Record{Address: at, Members: []string{"one"}})
	removal := members(at, planner.RemoveMembers)
	intend(t, f, removal)
	complete(t, f, removal, executor.Outcome{Record: planner.Record{Members: []string{"one"}, Late: now.Add(time.Minute)}}, nil)
	for _, tt := range []struct {
		after time.Duration
		known bool
	}{{time.Second, true}, {2 * time.Minute, false}} {
		now = testTime().Add(tt.after)
		f.Put(planner.Record{Address: "label/web/bug", ID: tt.after.String()})
		must(t, f.Save())
		if r, known := readPrior(t, path)[at]; known != tt.known || len(r.Members) > 0 {
			t.Errorf("after %s: known %t, %+v", tt.after, known, r)
		}
	}
	must(t, f.Close())
}
