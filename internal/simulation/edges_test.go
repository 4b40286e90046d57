package simulation

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

//nolint:gochecknoglobals // flags
var (
	endings = flag.Int("endings", 4, "a story is played so many `times`, each with other faults")
	edges   = flag.Uint("edges", 0, "one of so many `faults` at an edge is played; 1 = all, 0 = as PLANFORM_TESTS says")
	only    = flag.String("only", "", "only faults that match the `regexp` are played, alone and in pairs")
	pairs   = flag.Uint("pairs", 0, "one of so many `pairs` of faults is played; 0 = none")
)

func TestMain(m *testing.M) {
	if runtime.GOOS == "windows" {
		return // the simulated disk is one of POSIX
	}
	debug.SetGCPercent(sandboxtest.GCPercent)
	sandboxtest.TempInMemory()
	signals := make(chan os.Signal, 1) // the goroutine that waits for signals must begin outside of any bubble
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "5", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil { // until a flag says otherwise
			panic(err)
		}
	}
	flag.Parse()
	os.Exit(m.Run())
}

// faults gives what can befall a run at the edges that it came to.
func (st *stage) faults(visits []visit) (faults []fault) {
	began := false
	for _, v := range visits {
		if st.beside != nil && st.beside.once && v.user == "beside" {
			if !began || v.kind == edgeOfRead || v.kind == edgeOfWrite {
				began = began || v.call == "put .lock"
				continue // it would come second; and what is late is not waited for where the manifest is another one
			}
		}
		for _, how := range slices.Concat(v.crashes, faultsOf(v.kind), st.naps(v.kind)) {
			f := fault{v.edge, how}
			if f.deceives() && st.api == resource.Documented && strings.HasPrefix(v.call, "POST /pages/") {
				continue // nothing shows a page, so that the service is taken at its word
			}
			faults = append(faults, f)
		}
	}
	return faults
}

// naps returns how long a process may sleep while others run. A request that is sent after a longer time cannot be
// distinguished from one that the service lost.
func (st *stage) naps(kind edgeKind) []string {
	switch {
	case st.beside == nil:
		return nil
	case kind == edgeOfRead || kind == edgeOfWrite || !st.shared: // nothing but a lease runs out
		return []string{"asleep for a minute"}
	}
	return slices.Sorted(maps.Keys(sleeps()))
}

// drawn reports whether a case is in a share of one in so many, the same in each run of the test.
func drawn(share uint, name string, faults ...fault) bool {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, name, faults)
	return share > 0 && h.Sum32()%uint32(share) == 0
}

// tally counts the cases of a scene.
type tally struct {
	began                 time.Time
	singles, pairs, never atomic.Int64
}

// suffer plays a case. If its faults do not come, it does so again: how steps that wait for nothing overtake each other is not quite in our
// hands.
func (tl *tally) suffer(t *testing.T, st *stage, count *atomic.Int64, faults ...fault) (visits []visit) {
	t.Helper()
	count.Add(1)
	for range 3 {
		visits, came := st.suffer(t, faults...)
		if came {
			return visits
		}
	}
	tl.never.Add(1)
	t.Logf("never came: %s", faults)
	return nil
}

// leavesNothing reports whether a fault of a read had no effect after the read was repeated. The fault changed nothing
// outside of the process. If all calls are then as in a run without it, a second fault after it has the same effect as
// alone.
func (st *stage) leavesNothing(f fault, visits []visit) bool {
	calls := map[string]int{f.at.call: 1}
	for _, v := range st.visits {
		calls[v.call]++
		if v.edge == f.at && v.kind != edgeOfRead {
			return false
		}
	}
	for _, v := range visits {
		calls[v.call]--
	}
	for _, n := range calls {
		if n != 0 {
			return false
		}
	}
	return leftovers()[f.how].text == nil
}

// TestAfterAFaultAtAnyEdgeTheNextRunsReachTheSameEnd lets each edge of each scene suffer each fault that it can, and each edge
// that comes after it one more.
func TestAfterAFaultAtAnyEdgeTheNextRunsReachTheSameEnd(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs thousands of commands")
	}
	all := scenes()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, c, wanted := prepare(t, all[name]), &tally{began: time.Now()}, regexp.MustCompile(*only)
			t.Cleanup(func() {
				fmt.Printf("%-22s %s, %d single faults, %d pairs, %d that never came, %s\n", //nolint:forbidigo // what was played is the result
					name, sizes(st.visits), c.singles.Load(), c.pairs.Load(), c.never.Load(), time.Since(c.began).Round(time.Second))
				if played := c.singles.Load() + c.pairs.Load(); c.never.Load() > played/5 {
					t.Errorf("%d of %d cases never came", c.never.Load(), played)
				}
			})
			share := cmp.Or(*edges, sample.Of[uint](800, 32, 1))
			for _, first := range st.faults(st.visits) {
				if !drawn(share, name, first) || !wanted.MatchString(first.String()) {
					continue
				}
				t.Run(first.String(), func(t *testing.T) {
					t.Parallel()
					visits := c.suffer(t, st, &c.singles, first)
					at, share := slices.IndexFunc(visits, func(v visit) bool { return v.edge == first.at }), *pairs
					if st.leavesNothing(first, visits) {
						share *= 10 // to see that it is so
					}
					for _, second := range st.faults(visits[at+1:]) {
						if drawn(share, name, first, second) && wanted.MatchString(second.String()) {
							c.suffer(t, st, &c.pairs, first, second)
						}
					}
				})
			}
		})
	}
}

// dated is a manifest with work items.
func dated(items string) string {
	return "version: 1\nworkspace: acme\nprojects:\n  - {key: shop, identifier: SHOP, name: Shop, work_items: [" + items + "]}\n"
}

// TestDefectsThatWereFoundStayFixed plays cases that failed once. A failure prints a line of this table.
func TestDefectsThatWereFoundStayFixed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scene  *scene
		faults []string
	}{
		"a create whose client died is not sent again while it may be late": {scenes()["small, v1"], []string{"1: POST /pages/ #1: killed, and the request is late"}},
		"an undo that was stopped gives back the label that it has made again": {
			story{
				api: 2, undone: true, pace: 0x3,
				first: "version: 1\nworkspace: acme\nprojects:\n  - key: shop\n    identifier: SHOP\n    name: Shop\n    labels: [{name: new, color: \"#ef4444\"}]\n    work_items:\n      - {key: d, name: Item d, labels: [new]}\n",
				next:  "version: 1\nworkspace: acme\nprojects:\n  - key: shop\n    identifier: SHOP\n    name: Shop\n    labels: []\n    work_items:\n      - {key: d, name: \"Item d, larger\"}\n",
			}.scene(),
			[]string{"2: write state.json.journal #3: no space"},
		},
		"an item whose change got no answer is pruned when no manifest has it": {
			story{
				api: 2, pace: 0x3,
				first: dated("{key: a, name: A}"),
				next:  dated("{key: b, name: B}, {key: a, name: A, priority: high, start_date: 2026-03-02}, {key: c, name: C}"),
				last:  dated(""),
			}.scene(),
			[]string{"1: POST /projects/*/work-items/bulk-create/ #1: power lost"},
		},
		"a late removal takes nobody out who stays": {
			story{
				api:   2,
				first: module("{key: a, name: A, module: m}, {key: b, name: B, module: m}"),
				next:  module("{key: a, name: A}, {key: b, name: B}"),
				last:  module("{key: a, name: A, module: m}"),
			}.scene(),
			[]string{"1: POST /projects/*/modules/*/work-items/ #1: killed, and the request is late"},
		},
		"a repeated late removal takes nobody out who came back": {
			story{
				api:   2,
				first: module("{key: a, name: A, module: m}"),
				next:  module("{key: a, name: A}"),
				last:  module("{key: a, name: A, module: m}"),
			}.scene(),
			[]string{"1: POST /projects/*/modules/*/work-items/ #1: late", "1: remove state.json.journal #1: no space"},
		},
		"a repeated late role does not overwrite a newer role": {
			story{api: 2, first: reviewed, next: strings.Replace(reviewed, "reviewer", "commenter", 1), last: reviewed}.scene(),
			[]string{"1: PATCH /projects/*/members/*/ #1: late", "1: remove state.json.journal #1: no space"},
		},
		"a run that did nothing keeps no later one from being taken back": {scenes()["apply and undo"], []string{"1: write state.json.journal #2: no space"}},
		"an undo of the last run is repeated without harm":                {scenes()["small, undo last"], []string{"1: remove state.json.journal #1: no space"}},
		"an undo waits for what a killed run has sent":                    {scenes()["apply and undo"], []string{"1: PATCH /projects/*/ #1: killed, and the request is late"}},
		"an undo waits for what a run has sent again":                     {scenes()["apply and undo"], []string{"1: POST /projects/*/work-items/ #1: late"}},
		"a run that slept removes nothing of the run that took its lock":  {scenes()["taken over, slowly"], []string{"beside1: list .journal/ #1: asleep for a minute"}},
		"a run that lost its lock while the service was busy sends nothing more": {
			scenes()["taken over"],
			[]string{"beside1: PATCH /projects/* #1: busy for a minute", "beside1: put .lock #3: out of reach for two minutes"},
		},
		"a run that took a lock over and slept before it read the state writes none": {
			scenes()["two at once, elsewhere"],
			[]string{"1: put .lock #1: killed", "beside1: get the state #1: asleep for an hour"},
		},
		"a run whose create another run forestalled adopts what that run made": {
			scenes()["two at once, each its state"],
			[]string{"1: GET /projects/ #2: half an answer"},
		},
		"an added member is recorded although another member had to leave": {scenes()["small, members"], []string{"1: POST /projects/*/cycles/*/cycle-issues/ #1: killed"}},
		"an added member is recorded although the manifest now wants it elsewhere": {
			scenes()["small, edited"],
			[]string{"1: POST /projects/*/cycles/*/cycle-issues/ #1: killed"},
		},
		"an answer with several lists is requested again after the grace period": {
			scenes()["small, edited, v2"],
			[]string{"1: POST /projects/*/work-items/*/relations/ #1: killed, and the request is late"},
		},
		"a late update does not overwrite another value": {
			scenes()["small, thrice"],
			[]string{"1: PATCH /projects/*/labels/*/ #1: killed, and the request is late"},
		},
		"a repeated late update does not overwrite a newer value": {
			scenes()["small, thrice"],
			[]string{"1: PATCH /projects/*/labels/*/ #1: done, nothing answered", "1: PATCH /projects/*/labels/*/ #2: killed, and the request is late"},
		},
		"a late update does not overwrite an undo": {
			scenes()["small, back"],
			[]string{"1: PATCH /projects/*/work-items/*/ #1: killed, and the request is late"},
		},
		"an update that was sent again does not undo the next one": {
			scenes()["small, back"],
			[]string{"1: PATCH /projects/*/work-items/*/ #1: late", "1: remove state.json.journal #1: no space"},
		},
		"members that were added twice do not come back": {
			scenes()["small, edited"],
			[]string{"1: POST /projects/*/cycles/*/cycle-issues/ #1: late", "1: remove state.json.journal #1: no space"},
		},
		"a repeated create does not make a deleted object again": {
			scenes()["small, either"],
			[]string{"1: POST /projects/*/work-items/ #1: late", "1: remove state.json.journal #1: no space"},
		},
		"an object that was deleted and is wanted again is created again": {
			scenes()["edited, pruned"],
			[]string{"1: DELETE /projects/*/labels/*/ #1: killed, and the request is late"},
		},
		"a member that an unanswered create added is recorded": {
			scenes()["small, placed, v2"],
			[]string{"1: POST /projects/*/work-items/bulk-create/ #1: done, 503, and so each time", "1: GET /projects/*/work-items/ #3: half an answer"},
		},
		"an outcome that the full disk refused is written with the next one": {
			scenes()["small, members"],
			[]string{"1: write state.json.journal #3: no space", "1: write state.json.journal #4: killed"},
		},
		"members are recorded although a gateway always answers that it is busy": {scenes()["v1"], []string{"1: POST /projects/*/cycles/*/cycle-issues/ #1: done, 503, and so each time"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var during, faults []fault
			for _, text := range c.faults {
				f := parse(t, text)
				if _, isDeed := deeds()[f.how]; isDeed {
					during = append(during, f)
				} else {
					faults = append(faults, f)
				}
			}
			st := prepare(t, c.scene)
			st.rehearse(t, during...)
			if _, came := st.suffer(t, faults...); !came {
				t.Errorf("no run came to it")
			}
		})
	}
}

var faultText = regexp.MustCompile(`^([a-z]*)(\d+): (.+) #(\d+): (.+)$`)

// parse reads a fault as it is printed.
func parse(t *testing.T, text string) fault {
	t.Helper()
	m := faultText.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%q is no fault", text)
	}
	run, _ := strconv.Atoi(m[2])
	nth, _ := strconv.Atoi(m[4])
	return fault{edge{m[1], run, m[3], nth}, m[5]}
}
