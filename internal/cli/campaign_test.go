package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox"
)

//nolint:gochecknoglobals // the flag package works with variables
var (
	campaignSize = flag.Int("campaign", 4, "reach this many kills and as many cuts with each API")
	campaignAPI  = flag.String("campaign-api", "both", "full, documented or both")
	campaignSeed = flag.Uint64("seed", 1, "seed of the campaign")
)

const (
	campaignItems    = 300
	campaignChildren = 100 // more of them in one round is a round that does not end

	// The service is through with what was given up after campaignLate, and
	// planform relies on campaignPatience. The difference is for a busy machine.
	campaignLate     = 250 * time.Millisecond
	campaignPatience = 4 * campaignLate

	killed     = -1 // in place of an exit code, as os.ProcessState has it
	notStarted = -2 // the time was up before that
)

// TestNothingIsDoubledOrLostByKillsAndCuts kills planform again and again while
// it applies a manifest, cuts its connections, lets requests be handled when it
// has given them up, and counts what came of it. The service refuses nothing
// that is there already:
//
//	go test ./internal/cli -run Doubled -campaign 500 -v
func TestNothingIsDoubledOrLostByKillsAndCuts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a killed process cannot be told from one that failed")
	}
	lanes := campaignLanes()
	planform := program(t)
	for api, which := range map[string]resource.API{"full": resource.Full, "documented": resource.Documented} {
		if *campaignAPI != "both" && *campaignAPI != api {
			continue
		}
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			sum := &tally{}
			t.Run("rounds", func(t *testing.T) {
				for lane := range lanes {
					t.Run("", func(t *testing.T) {
						t.Parallel()
						c := &campaign{planform: planform, api: which, rng: rand.New(rand.NewPCG(*campaignSeed, uint64(2*lane)+uint64(which)))}
						defer sum.add(&c.tally)
						size := (*campaignSize + lanes - 1) / lanes
						for !t.Failed() && (c.kills < size || int(c.cuts.Load()) < size) { // a failed one's sandbox and state would be buried under those of the next
							c.round(t)
						}
					})
				}
			})
			t.Logf("%s: %s, seed %d", api, sum, *campaignSeed)
		})
	}
}

// campaignLanes is how many rounds run at once with each API.
func campaignLanes() int { return 1 + min(3, *campaignSize/50) }

// tally is what happened.
type tally struct {
	mu                                              sync.Mutex
	kills, midway, rounds, doubled, lost, unsettled int

	cuts, cutAfter, cutBefore, late atomic.Int64
}

func (s *tally) add(o *tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills, s.midway, s.rounds = s.kills+o.kills, s.midway+o.midway, s.rounds+o.rounds
	s.doubled, s.lost, s.unsettled = s.doubled+o.doubled, s.lost+o.lost, s.unsettled+o.unsettled
	for at, n := range map[*atomic.Int64]*atomic.Int64{&s.cuts: &o.cuts, &s.cutAfter: &o.cutAfter, &s.cutBefore: &o.cutBefore, &s.late: &o.late} {
		at.Add(n.Load())
	}
}

func (s *tally) String() string {
	cuts, after, before, late := s.cuts.Load(), s.cutAfter.Load(), s.cutBefore.Load(), s.late.Load()
	return fmt.Sprintf("kills %d (%d after a first write), cuts %d (%d of writes that had happened, %d of writes that had not, %d of writes that happened later, %d of reads), "+
		"late %d, doubled %d, lost %d, rounds %d, runs that ended with 3: %d",
		s.kills, s.midway, cuts, after, before, late, cuts-after-before-late, late, s.doubled, s.lost, s.rounds, s.unsettled)
}

// program is this test binary under the name by which TestMain makes it planform.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "planform")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

type campaign struct {
	tally

	planform string
	api      resource.API
	rng      *rand.Rand
}

// round applies one manifest to one sandbox until a run ends well, and counts.
func (c *campaign) round(t *testing.T) {
	t.Helper()
	c.rounds++
	weather := &weather{c: c, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 0))}
	answers := sandbox.Observed
	if c.api == resource.Documented && c.rng.IntN(2) == 0 {
		answers = sandbox.Contract
	}
	s := newService(t, sandbox.Options{
		Fault: weather.fault, Answers: answers, Unique: sandbox.UniqueInTurn + sandbox.Uniqueness(c.rng.IntN(2)),
	})
	defer s.Close()
	want := wishes(c.rng)
	s.write(t, "campaign.yaml", want.manifest(c.api, c.rng.IntN(2) == 0))

	// A kill comes at a moment of its own, or at some write, while that is under
	// way. Each further one is less likely, so that the round ends. In small
	// campaigns the last runs have no cuts that take seconds to settle.
	patient := *campaignSize >= 100 && c.rng.IntN(4) == 0
	likely := 0.6 + 0.4*c.rng.Float64()
	ended, last := false, ""
	for child := 0; !ended; child++ {
		if child == campaignChildren {
			t.Fatalf("round %d has not ended after %d runs; the last said:\n%s", c.rounds, child, last)
		}
		ctx, kill := context.WithCancel(t.Context())
		doomed, nth := c.rng.Float64() < likely, 0
		switch {
		case doomed && c.rng.IntN(2) == 0:
			nth = 1 + c.rng.IntN(100)
		case doomed:
			time.AfterFunc(time.Duration(5+c.rng.IntN(396))*time.Millisecond, kill) // of no effect on a later run
		}
		likely *= 0.97
		weather.set(child < campaignChildren/2, doomed || patient, nth, kill)
		before := len(s.Log())
		code, errs := c.apply(ctx, t, s)
		last = errs
		kill()
		switch code {
		case notStarted:
		case killed:
			c.kills++
			if _, writes := s.sent(before); writes > 0 {
				c.midway++
			}
		case 0:
			ended = true
		case 3:
			c.unsettled++
		default:
			t.Fatalf("round %d, run %d: exit %d\n%s", c.rounds, child, code, errs)
		}
	}
	weather.set(false, false, 0, nil)
	s.Drain()

	doubled, lost := want.compare(t, s)
	c.doubled += doubled
	c.lost += lost
	if doubled+lost > 0 {
		t.Errorf("round %d: %d doubled, %d lost", c.rounds, doubled, lost)
	}
	before := len(s.Log())
	if code, errs := c.apply(t.Context(), t, s); code != 0 {
		t.Errorf("round %d: the apply after it: exit %d\n%s", c.rounds, code, errs)
	}
	if _, writes := s.sent(before); writes != 0 {
		t.Errorf("round %d: the apply after it made %d write requests: %s", c.rounds, writes, s.written(before))
	}
}

// apply runs planform as a process of its own, which the end of ctx kills. The
// exit code is killed if that ended it.
func (c *campaign) apply(ctx context.Context, t *testing.T, s *service) (code int, errs string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, c.planform, "apply", "-f", "campaign.yaml", "--parallelism", "8", "--yes",
		"--api", c.api.String(), "--patience", campaignPatience.String()) // its Cancel is Process.Kill
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run() // waits for it, killed or not
	if cmd.ProcessState == nil {
		if ctx.Err() != nil {
			return notStarted, ""
		}
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), said.String()
}

// weather decides what goes wrong with the requests of a round.
type weather struct {
	c *campaign

	mu       sync.Mutex
	rng      *rand.Rand
	bad      bool // connections are cut
	terrible bool // also those of writes before they are done, which takes seconds to find out
	nth      int  // so many writes from now, kill is called; 0 is never
	kill     func()
}

func (w *weather) set(bad, terrible bool, nth int, kill func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad, w.terrible, w.nth, w.kill = bad, terrible, nth, kill
}

func (w *weather) fault(r *http.Request) sandbox.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := sandbox.Fault{Delay: time.Duration(w.rng.IntN(3001)) * time.Microsecond}
	dice := w.rng.Float64()
	if w.nth > 0 && r.Method != http.MethodGet {
		if w.nth--; w.nth == 0 {
			w.kill()
			if w.bad && w.rng.IntN(2) == 0 {
				w.beLate(&f)
				return f
			}
		}
	}
	if !w.bad {
		return f
	}
	switch read := r.Method == http.MethodGet; {
	case read && dice < 0.005:
		f.Before.Cut = true
	case read && dice < 0.01:
		f.After.Cut = true
	case read:
		return f
	case dice < 0.012:
		f.After.Cut = true
		w.c.cutAfter.Add(1)
	case dice < 0.016:
		w.beLate(&f)
		return f
	case w.terrible && dice < 0.02:
		f.Before.Cut = true
		w.c.cutBefore.Add(1)
	default:
		return f
	}
	w.c.cuts.Add(1)
	return f
}

// beLate lets a request be handled when its client has gone: soon, or when the
// next run looks already.
func (w *weather) beLate(f *sandbox.Fault) {
	longest := campaignLate
	if w.rng.IntN(2) == 0 {
		longest /= 8
	}
	f.Late = time.Millisecond + time.Duration(w.rng.Int64N(int64(longest)))
	w.c.cuts.Add(1)
	w.c.late.Add(1)
}

// wish is one work item of the manifest.
type wish struct {
	key, name string
	priority  string
	parent    *wish
	links     []string
	member    bool

	byKey    bool // the parent is named, the item does not stand below it
	children []*wish
}

// wishList is a manifest of work items, all in WEB and some in a cycle.
type wishList struct {
	roots []*wish
	all   []*wish
}

const campaignCycle = "Sprint 14" // seeded

// wishes makes up a manifest: a forest, with some parents that come later in the file.
func wishes(rng *rand.Rand) *wishList {
	l := &wishList{}
	depth := map[*wish]int{}
	for i := range campaignItems {
		w := &wish{key: fmt.Sprintf("item-%03d", i), name: fmt.Sprintf("Item %03d", i), priority: "none", member: rng.IntN(3) > 0}
		if i > 0 && rng.IntN(10) == 0 {
			w.name = l.all[rng.IntN(i)].name
		}
		if rng.IntN(3) == 0 {
			w.priority = "high"
		}
		for n := range rng.IntN(3) {
			w.links = append(w.links, fmt.Sprintf("https://example.com/%03d/%d", i, n))
		}
		if rng.IntN(10) == 0 {
			w.links = append(w.links, "https://example.com/shared") // by several items, once each
		}
		var parent *wish
		if i > 0 && rng.IntN(3) > 0 {
			parent = l.all[rng.IntN(len(l.all))]
		}
		if parent != nil && depth[parent] < 4 {
			w.parent, w.byKey = parent, rng.IntN(3) == 0
			depth[w] = depth[parent] + 1
		}
		switch {
		case w.parent != nil && !w.byKey:
			parent.children = append(parent.children, w)
		case w.byKey && rng.IntN(2) == 0:
			l.roots = append([]*wish{w}, l.roots...)
		default:
			l.roots = append(l.roots, w)
		}
		l.all = append(l.all, w)
	}
	return l
}

// manifest gives the IDs that the documented operations need, and perhaps an
// item that is there already, of which the number is known.
func (l *wishList) manifest(api resource.API, seeded bool) string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    identifier: WEB\n")
	if api == resource.Documented {
		b.WriteString("    id: " + sandbox.ProjectWeb + "\n")
	}
	b.WriteString("    cycles: [{key: c, id: " + sandbox.CycleSprint14 + "}]\n    work_items:\n")
	if seeded {
		b.WriteString("      - {key: seeded, id: " + sandbox.WorkItemWeb1 + ", identifier: WEB-1}\n")
	}
	for _, w := range l.roots {
		w.write(&b, "      ")
	}
	return b.String()
}

func (w *wish) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s- key: %s\n%s  name: %s\n%s  priority: %s\n", indent, w.key, indent, w.name, indent, w.priority)
	if w.byKey {
		fmt.Fprintf(b, "%s  parent: %s\n", indent, w.parent.key)
	}
	if w.member {
		fmt.Fprintf(b, "%s  cycle: c\n", indent)
	}
	if len(w.links) > 0 {
		fmt.Fprintf(b, "%s  links:\n", indent)
		for _, url := range w.links {
			fmt.Fprintf(b, "%s    - {url: %q}\n", indent, url)
		}
	}
	if len(w.children) > 0 {
		fmt.Fprintf(b, "%s  work_items:\n", indent)
		for _, child := range w.children {
			child.write(b, indent+"    ")
		}
	}
}

func (w *wish) String() string { return fmt.Sprintf("%s (%s)", w.name, w.priority) }

// compare counts what the service has too often, and what it lacks. What it has
// that nobody asked for counts as doubled.
func (l *wishList) compare(t *testing.T, s *service) (doubled, lost int) {
	t.Helper()
	names := map[any]string{nil: ""} // of items, by ID
	has := map[string]int{}
	for _, row := range s.Rows("work_item") {
		if row["id"] == sandbox.WorkItemWeb1 {
			continue // seeded
		}
		names[row["id"]] = fmt.Sprintf("%s (%s)", row["name"], row["priority"])
		has["item "+names[row["id"]]]++
	}
	for _, row := range s.Rows("work_item") {
		if row["parent"] != nil {
			has[fmt.Sprintf("item %s below %s", names[row["id"]], names[row["parent"]])]++
		}
	}
	for _, row := range s.Rows("link") {
		if row["id"] != sandbox.LinkWeb1 {
			has[fmt.Sprintf("link of %s: %s", names[row["issue"]], row["url"])]++
		}
	}
	cycles := map[any]string{}
	for _, row := range s.Rows("cycle") {
		cycles[row["id"]] = fmt.Sprint(row["name"])
	}
	for _, row := range s.Rows("cycle_issue") {
		has[fmt.Sprintf("%s in %s", names[row["issue"]], cycles[row["cycle"]])]++
	}

	var want []string
	for _, w := range l.all {
		want = append(want, "item "+w.String())
		if w.parent != nil {
			want = append(want, fmt.Sprintf("item %s below %s", w, w.parent))
		}
		for _, url := range w.links {
			want = append(want, fmt.Sprintf("link of %s: %s", w, url))
		}
		if w.member {
			want = append(want, fmt.Sprintf("%s in %s", w, campaignCycle))
		}
	}
	for _, what := range want {
		if has[what] == 0 {
			lost++
			t.Logf("lost: %s", what)
		}
		has[what]--
	}
	for what, n := range has {
		if n > 0 {
			doubled += n
			t.Logf("doubled: %s (%d too many)", what, n)
		}
	}
	return doubled, lost
}
