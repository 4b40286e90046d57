package provider_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// suffers reports whether the n-th write of a scene gets the i-th of so many faults: a few writes do, the first of its kind in all scenes
// has its own fault, because the simulation plays the faults of one kind, or all get every fault.
func (sc scene) suffers(name string, n, i, count int, first bool) bool {
	one := i == (n*7+len(name))%count
	return sample.Of(one && n%24 == len(name)%24, one && first, true)
}

// anyID matches an ID within a path.
var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// scene is a run whose writes get faults, with the runs before it.
type scene struct {
	setup     []string
	text      string
	api       resource.API
	prune     bool
	forgetful bool // the state is lost before
	late      bool // at a time when every cycle is over
}

// scenes returns runs that together make every possible write.
func scenes(t *testing.T) map[string]scene {
	t.Helper()
	s := newService(t, resource.V1)
	of := func(e everything) string {
		e.T, e.s = t, s
		return e.text()
	}
	first, changed := of(everything{}), of(everything{changed: true})
	all := map[string]scene{
		"building":             {text: of(everything{guarded: true})},
		"changing":             {setup: []string{first}, text: changed},
		"changing and moving":  {setup: []string{first, changed}, text: first, prune: true},
		"deleting":             {setup: []string{first}, text: `{"version": 1}`, prune: true},
		"taking out":           {setup: []string{first, changed}, text: of(everything{changed: true, alone: true}), prune: true},
		"archiving":            {setup: []string{first}, text: of(everything{archived: true}), late: true},
		"filling what is over": {text: pastCycle, late: true},
		"bringing back":        {setup: []string{first, of(everything{archived: true})}, text: of(everything{archived: false}), late: true},
		"renaming":             {setup: []string{first}, text: of(everything{renamed: true})},
		"renaming, changing and pruning": {
			setup: []string{first}, text: of(everything{renamed: true, changed: true, alone: true}), prune: true,
		},
		"finding all without a state": {setup: []string{first}, text: changed, forgetful: true},
		"adding an owner":             {setup: []string{first}, text: of(everything{owned: true})},
		"finding and pruning an owner's without a state": {
			setup: []string{of(everything{owned: true})}, text: of(everything{owned: true, renamed: true, alone: true}), prune: true, forgetful: true,
		},
	}
	for name, sc := range maps.Clone(all) {
		sc.api = resource.V2
		all["v2, "+name] = sc
		sc.api = resource.V1
		all[name] = sc
	}
	all["documented"] = scene{api: resource.Documented, text: wholeOf(resource.Documented)}
	return all
}

// pastCycle is a cycle in the past: it gets its items before its dates.
const pastCycle = `{version: 1, projects: [{key: old, identifier: OLD, name: Old, cycle_view: true, cycles: [{key: s, name: S, start_date: 2024-01-01, end_date: 2024-01-12}],
	work_items: [{name: A, cycle: s}, {name: B, cycle: s}]}]}`

// writeFault is a fault at one write of a run.
type writeFault struct {
	trouble

	api    resource.API
	moment moment // when the process dies on its own
}

// moment is a position in the journal of a run.
type moment int

const (
	never     moment = iota
	announced        // the intent is on the disk, and nothing was sent
	answered         // the answer was received, and is not recorded
	recorded         // the outcome is recorded
)

func faultsOfWrites() map[string]writeFault {
	all := map[string]writeFault{
		"killed before it is sent":           {moment: announced},
		"killed when the answer came":        {moment: answered},
		"killed when the outcome is written": {moment: recorded},
	}
	for name, tr := range troubles() {
		all[name] = writeFault{trouble: tr}
	}
	for name, b := range map[string]sandboxtest.Break{
		"502":              {Status: 502, Body: "<html>Bad Gateway</html>"},
		"504":              {Status: 504, Body: "<html>Gateway Timeout</html>"},
		"400":              {Status: 400, Body: `{"error":"Please provide valid detail"}`},
		"another's answer": {Status: 200, Body: "<html>Please sign in</html>"},
		"half an answer":   {Body: `{"half":`},
	} {
		all["not done, "+name] = writeFault{trouble: trouble{fault: sandboxtest.Fault{Before: b}}}
		all["done, "+name] = writeFault{trouble: trouble{fault: sandboxtest.Fault{After: b}}}
	}
	all["turned away by the rate limit, without a word when to come"] = writeFault{trouble: trouble{fault: sandboxtest.Fault{Before: sandboxtest.Break{Status: 429}}}}
	for _, delay := range []time.Duration{5 * time.Millisecond, 20 * time.Second, provider.DefaultGrace - time.Second} {
		for how, tr := range lateness() {
			tr.fault.Late = delay
			all[how+", done "+delay.String()+" later"] = writeFault{trouble: tr}
		}
	}
	return all
}

// at counts the writes of a run, and returns the fault of the n-th.
func (wf writeFault) at(n int, count *int) func(*http.Request, run) sandboxtest.Fault {
	var mu sync.Mutex
	return func(req *http.Request, now run) sandboxtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if req.Method == http.MethodGet || wf.undetectable(wf.api, req.URL.Path) { // their order is not fixed
			return sandboxtest.Fault{}
		}
		if *count++; *count != n || wf.moment != never {
			return sandboxtest.Fault{}
		}
		if wf.killed {
			defer now.kill()
		}
		if wf.stopped {
			defer now.stop()
		}
		return wf.fault
	}
}

// run makes a run with a fault at its n-th write.
func (wf writeFault) run(n, workers, retries int) applying {
	count := 0
	a := applying{workers: workers, retries: retries, fault: wf.at(n, &count), killed: wf.killed || wf.moment != never}
	if wf.moment != never {
		a.dies = func(j executor.Journal, r run) executor.Journal {
			return &mortal{Journal: j, run: r, n: n, moment: wf.moment}
		}
	}
	if wf.short {
		a.timeout = time.Second
		if wf.fault.Late > 0 {
			a.timeout = wf.fault.Late / 2
		}
	}
	return a
}

// mortal is a journal of a run that dies at a step, and records nothing afterwards.
type mortal struct {
	executor.Journal
	run

	n      int
	moment moment

	mu              sync.Mutex
	intents, ending int
	dead            bool
}

func (m *mortal) Begin(ctx context.Context, steps []*planner.Step) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead || ctx.Err() != nil {
		return executor.ErrAbortRun
	}
	err := m.Journal.Begin(ctx, steps)
	if m.intents += len(steps); m.moment == announced && m.intents >= m.n {
		m.die()
		return executor.ErrAbortRun
	}
	return err
}

func (m *mortal) Complete(step *planner.Step, outcome executor.Outcome, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if step.Operation != nil {
		m.ending++
	}
	due := m.ending == m.n
	if due && m.moment == answered {
		m.die()
	}
	if m.dead {
		return nil
	}
	failed := m.Journal.Complete(step, outcome, err)
	if due && m.moment == recorded {
		m.die()
	}
	return failed
}

func (m *mortal) die() {
	m.dead = true
	m.kill()
}

// stage is a service on which a scene can be repeated.
type stage struct {
	scene

	folder string   // the contents before
	writes []string // writes of a run without faults
	all    []string // the contents in the end
	state  map[resource.Address]string
	made   map[resource.Address]bool
}

// open returns a service in the state before the scene.
func (st *stage) open(t *testing.T, unique sandboxtest.Uniqueness) *service {
	t.Helper()
	dir := t.TempDir()
	if st.folder != "" {
		if err := os.CopyFS(dir, os.DirFS(st.folder)); err != nil {
			t.Fatal(err)
		}
	}
	o := sandboxtest.Options{Path: filepath.Join(dir, "db"), Unique: unique}
	if st.api == resource.Documented {
		o.Answers = sandbox.Contract
	}
	if st.late {
		o.Now = func() time.Time { return time.Now().AddDate(100, 0, 0) }
	}
	s := newServiceOf(t, st.api, o)
	s.dir, s.virtual, s.today, s.loaded = dir, true, o.Now, map[[2]string]*manifest.Manifest{}
	return s
}

// run makes one more run of the scene.
func (st *stage) apply(t *testing.T, s *service, a applying) applied {
	t.Helper()
	a.manifest, a.prune, a.grace = st.text, st.prune, provider.DefaultGrace
	return s.apply(t, a)
}

// prepare plays the scene once without any fault. The folder gets the contents before it.
func (sc scene) prepare(t *testing.T, folder string) *stage {
	t.Helper()
	st := &stage{scene: sc}
	synctest.Test(t, func(t *testing.T) {
		s := st.open(t, sandboxtest.UniqueAlways)
		l := &life{T: t, s: s}
		for _, text := range sc.setup {
			l.done("what is before", s.apply(t, applying{manifest: text, prune: true}))
		}
		_ = s.Close()
		if err := os.CopyFS(folder, os.DirFS(s.dir)); err != nil {
			t.Fatal(err)
		}
	})
	if st.folder = folder; sc.forgetful {
		if err := os.Remove(filepath.Join(folder, "state.json")); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := st.open(t, sandboxtest.UniqueAlways)
		a := st.apply(t, s, applying{workers: 1, fault: func(req *http.Request, _ run) sandboxtest.Fault {
			if req.Method != http.MethodGet {
				st.writes = append(st.writes, req.Method+" "+strings.TrimPrefix(strings.Replace(req.URL.Path, "/api/v2", "/api/v1", 1), "/api/v1/workspaces/acme"))
			}
			return sandboxtest.Fault{}
		}})
		l := &life{T: t, s: s}
		l.done("the scene", a)
		if end := st.apply(t, s, applying{}); !end.plan.Empty() || end.writes > 0 || len(st.writes) == 0 {
			t.Fatalf("%d writes, and then %+v", len(st.writes), end.plan.Summary)
		}
		st.all = s.Picture()
		st.state, st.made = s.remembered(t)
	})
	return st
}

// TestAfterAnyFaultOfAnyWriteTheNextRunsReachTheSameEnd gives every write of every scene a fault, and checks that
// the following runs reach the end of a run without faults.
func TestAfterAnyFaultOfAnyWriteTheNextRunsReachTheSameEnd(t *testing.T) {
	t.Parallel()
	what := faultsOfWrites()
	names := slices.Sorted(maps.Keys(what))
	all := scenes(t)
	stages := make(map[string]*stage)
	var mu sync.Mutex
	before := t.TempDir()
	t.Run("without faults", func(t *testing.T) {
		for i, name := range slices.Sorted(maps.Keys(all)) {
			if folder := filepath.Join(before, strconv.Itoa(i)); sample.Takes(i, 3) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					st := all[name].prepare(t, folder)
					mu.Lock()
					defer mu.Unlock()
					stages[name] = st
				})
			}
		}
	})
	met := map[string]bool{} // kinds of writes, by API
	for _, name := range slices.Sorted(maps.Keys(stages)) {
		st := stages[name]
		first := make([]bool, len(st.writes))
		for n, w := range st.writes {
			kind := st.api.String() + " " + anyID.ReplaceAllString(w, "*")
			first[n], met[kind] = !met[kind], true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%d writes", len(st.writes))
			for n := range st.writes {
				for i, how := range names {
					if !st.suffers(name, n, i, len(names), first[n]) || what[how].undetectable(st.api, st.writes[n]) {
						continue
					}
					t.Run(fmt.Sprintf("%d/%s", n+1, how), func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) { st.suffer(t, n+1, what[how], n+i) })
					})
				}
			}
		})
	}
}

// TestACycleThatIsFilledGetsItsDatesInTheNextRun if the process dies between the two steps.
func TestACycleThatIsFilledGetsItsDatesInTheNextRun(t *testing.T) {
	t.Parallel()
	st := scene{api: resource.V1, text: pastCycle, late: true}.prepare(t, t.TempDir())
	n := 1 + slices.IndexFunc(st.writes, func(w string) bool { return strings.HasSuffix(w, "/cycle-issues/") })
	if last := st.writes[len(st.writes)-1]; n == 0 || n == len(st.writes) || !strings.HasPrefix(last, "PATCH /projects/") {
		t.Fatal(st.writes)
	}
	for name, m := range map[string]moment{"the run dies when its members are announced": announced, "the run dies when its members are in": answered, "the run dies when its members are written down": recorded} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { st.suffer(t, n, writeFault{moment: m}, 0) })
		})
	}
	t.Run("the run dies when its dates are announced", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { st.suffer(t, len(st.writes), writeFault{moment: announced}, 0) })
	})
}

// suffer plays the scene with a fault at its n-th write, and runs again
// until nothing is left to do. Variants differ in the number of workers and retries,
// in the refusals of the service, and in whether the second run gets a fault too.
func (st *stage) suffer(t *testing.T, n int, m writeFault, variant int) {
	t.Helper()
	unique, retries := sandboxtest.UniqueAlways, 0
	if variant%2 == 1 && !m.unrefused() { // a service that refuses nothing doubles requests that it carries out late, or carries out and denies
		unique = sandboxtest.UniqueNever
	}
	if variant/2%2 == 1 {
		retries = 3
	}
	s := st.open(t, unique)
	m.api = st.api
	first := st.apply(t, s, m.run(n, 1+3*(variant%2), retries))
	if variant/4%2 == 1 {
		st.apply(t, s, m.run(1, 4, retries))
	}
	second := st.apply(t, s, applying{})
	s.Drain()
	for address, reason := range second.reasons() {
		if record := second.plan.Known[address]; st.api == resource.Documented && address.Kind() == "page" && record.ID == "" {
			s.say(t, map[resource.Address]string{address: reason})
			st.apply(t, s, applying{})
		}
	}
	if failed := second.failed(); len(failed) > 0 {
		t.Errorf("the second run failed: %q", failed)
	}
	if end := st.apply(t, s, applying{}); end.writes != 0 || !end.plan.Empty() {
		for _, step := range end.plan.Steps {
			t.Logf("%s %s %+v", step.Action, step.Address, step.Changes())
		}
		t.Errorf("the last run made %d writes: %q %+v", end.writes, end.failed(), end.plan.StateChanges)
	}
	if diff := cmp.Diff(st.all, s.Picture()); diff != "" {
		t.Errorf("what is there (-want +got):\n%s", diff)
	}
	state, made := s.remembered(t)
	for address, record := range st.state { // an object that existed before may match the manifest without an entry in the state
		if _, _, _, members := address.ParseMembership(); state[address] == "" && !members && !st.made[address] {
			state[address] = record
		}
	}
	if diff := cmp.Diff(st.state, state); diff != "" {
		t.Errorf("what the state knows (-want +got):\n%s", diff)
	}
	for address, was := range st.made { // an equal name does not show who created an object
		k, _ := resource.Lookup(address.Kind())
		if made[address] && !was || was && !made[address] && k.HasExternalID && st.api != resource.Documented {
			t.Errorf("planform made %s: %t", address, was)
		}
	}
	if t.Failed() {
		t.Logf("%s\nfirst run: %q\nwrites: %d", st.writes[n-1], first.failed(), first.writes)
	}
}
