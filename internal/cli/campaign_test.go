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

	"github.com/planform/planform/internal/sandbox"
)

//nolint:gochecknoglobals // the flag package works with variables
var (
	campaignSize = flag.Int("campaign", 6, "reach this many kills and as many cuts")
	campaignSeed = flag.Uint64("seed", 1, "seed of the campaign")
)

const (
	campaignItems    = 300
	campaignChildren = 200 // more of them in one round is a round that does not end

	killed     = -1 // in place of an exit code, as os.ProcessState has it
	notStarted = -2 // the time was up before that
)

// TestNothingIsDoubledOrLostByKillsAndCuts kills planform again and again while
// it applies a manifest, cuts its connections, and counts what came of it:
//
//	go test ./internal/cli -run Doubled -campaign 500 -v
func TestNothingIsDoubledOrLostByKillsAndCuts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a killed process cannot be told from one that failed")
	}
	c := &campaign{planform: program(t), rng: rand.New(rand.NewPCG(*campaignSeed, 0))}
	for c.kills < *campaignSize || int(c.cuts.Load()) < *campaignSize {
		c.round(t)
		if t.Failed() {
			break // its sandbox and state would only be buried under those of the next
		}
	}
	t.Logf("kills %d (%d after a first write), cuts %d (%d of writes that had happened, %d of writes that had not, %d of reads), rounds %d, doubled %d, lost %d, runs that ended with 3: %d, seed %d",
		c.kills, c.midway, c.cuts.Load(), c.cutAfter.Load(), c.cutBefore.Load(), c.cuts.Load()-c.cutAfter.Load()-c.cutBefore.Load(),
		c.rounds, c.doubled, c.lost, c.unsettled, *campaignSeed)
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
	planform string
	rng      *rand.Rand

	kills, midway, rounds, doubled, lost, unsettled int

	cuts, cutAfter, cutBefore atomic.Int64
}

// round applies one manifest to one sandbox until a run ends well, and counts.
func (c *campaign) round(t *testing.T) {
	t.Helper()
	c.rounds++
	weather := &weather{c: c, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 0))}
	s := newService(t, sandbox.Options{Fault: weather.fault})
	defer s.Close()
	want := wishes(c.rng)
	s.write(t, "campaign.yaml", want.manifest())

	// A kill comes at a moment of its own, or at some write, while that is under
	// way. Each further one is less likely, so that the round ends. In small
	// campaigns the last runs have no cuts that take seconds to settle.
	patient := *campaignSize >= 100 && c.rng.IntN(4) == 0
	likely := 0.6 + 0.4*c.rng.Float64()
	ended := false
	for child := 0; !ended; child++ {
		if child == campaignChildren {
			t.Fatalf("round %d has not ended after %d runs", c.rounds, child)
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
		t.Errorf("round %d: the apply after it made %d write requests", c.rounds, writes)
	}
}

// apply runs planform as a process of its own, which the end of ctx kills. The
// exit code is killed if that ended it.
func (c *campaign) apply(ctx context.Context, t *testing.T, s *service) (code int, errs string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, c.planform, "apply", "-f", "campaign.yaml", "--parallelism", "8", "--yes") // its Cancel is Process.Kill
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
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
	return cmd.ProcessState.ExitCode(), stderr.String()
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
	case w.terrible && dice < 0.016:
		f.Before.Cut = true
		w.c.cutBefore.Add(1)
	default:
		return f
	}
	w.c.cuts.Add(1)
	return f
}

// wish is one work item of the manifest.
type wish struct {
	name, parent string // the parent's name
	links        []string
	member       bool

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
		w := &wish{name: fmt.Sprintf("Item %03d", i), member: rng.IntN(3) > 0}
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
			w.parent, w.byKey = parent.name, rng.IntN(3) == 0
			depth[w] = depth[parent] + 1
		}
		switch {
		case w.parent != "" && !w.byKey:
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

func (l *wishList) manifest() string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    identifier: WEB\n    cycles: [{key: c, id: " + sandbox.CycleSprint14 + "}]\n    work_items:\n")
	for _, w := range l.roots {
		w.write(&b, "      ")
	}
	return b.String()
}

func campaignKey(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "-")) }

func (w *wish) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s- key: %s\n%s  name: %s\n", indent, campaignKey(w.name), indent, w.name)
	if w.byKey {
		fmt.Fprintf(b, "%s  parent: %s\n", indent, campaignKey(w.parent))
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
		names[row["id"]] = fmt.Sprint(row["name"])
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
		want = append(want, "item "+w.name)
		if w.parent != "" {
			want = append(want, fmt.Sprintf("item %s below %s", w.name, w.parent))
		}
		for _, url := range w.links {
			want = append(want, fmt.Sprintf("link of %s: %s", w.name, url))
		}
		if w.member {
			want = append(want, fmt.Sprintf("%s in %s", w.name, campaignCycle))
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
