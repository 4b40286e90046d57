package cli_test

import (
	"bytes"
	"cmp"
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

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state/bucket/buckettest"
)

//nolint:gochecknoglobals // the flag package works with variables
var (
	campaignSize = flag.Int("campaign", 0, "reach this many kills and as many cuts with each kind of round; 0 = as PLANFORM_TESTS says")
	campaignSeed = flag.Uint64("seed", 1, "seed of the campaign")
)

const (
	campaignItems    = 200
	campaignChildren = 100                    // more runs until a manifest is applied is a round that does not end
	campaignLate     = 250 * time.Millisecond // what was given up is carried out as much as so long afterwards
	campaignPatience = campaignLate + 775*time.Millisecond
)

// TestNothingIsDoubledOrLostByKillsAndCuts kills processes of planform while they apply a manifest, or ends them by a signal, cuts their
// connections, and carries out requests that they gave up. In the end each object is there once. What a disk, a service or a state can do
// otherwise is for internal/simulation, in virtual time.
//
//	go test ./internal/cli -run Doubled -campaign 500 -timeout 2h -v
func TestNothingIsDoubledOrLostByKillsAndCuts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes ten seconds of processes")
	}
	if runtime.GOOS == "windows" {
		t.Skip("a killed process cannot be told from one that failed")
	}
	size := cmp.Or(*campaignSize, sample.Of(1, 2, 50))
	for i, name := range []string{"v1", "v2", "shared"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &campaign{planform: program(t), api: strings.Replace(name, "shared", "v1", 1), rng: rand.New(rand.NewPCG(*campaignSeed, uint64(i)))}
			if name == "shared" {
				c.bucket = buckettest.Start(t)
			}
			for !t.Failed() && (c.kills < size || int(c.cuts.Load()) < size) {
				c.round(t)
			}
			t.Logf("%d rounds, %d kills and signals, %d cuts, seed %d", c.rounds, c.kills, c.cuts.Load(), *campaignSeed)
		})
	}
}

// program is this test binary under the name by which TestMain makes it planform.
func program(tb testing.TB) string {
	tb.Helper()
	return programAs(tb, "planform")
}

// programAs is the test binary as one of the commands of TestMain.
func programAs(tb testing.TB, command string) string {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	name := filepath.Join(tb.TempDir(), command)
	if err := os.Symlink(self, name); err != nil {
		tb.Fatal(err)
	}
	return name
}

type campaign struct {
	planform, api string
	bucket        *buckettest.Server // that the state is in; nil = it is in a file
	rng           *rand.Rand
	rounds, kills int
	cuts          atomic.Int64
}

// round applies one manifest to one sandbox, and counts what came of it.
func (cp *campaign) round(t *testing.T) {
	t.Helper()
	cp.rounds++
	w := &weather{c: cp, rng: rand.New(rand.NewPCG(cp.rng.Uint64(), 0))}
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, Unique: sandboxtest.Uniqueness(cp.rng.IntN(2)), Fault: w.fault})
	want := cp.manifest(t, s)
	for child, ended := 0, false; !ended; child++ {
		if child == campaignChildren {
			t.Fatalf("round %d has not ended after %d runs", cp.rounds, child)
		}
		ctx, stop := context.WithCancel(t.Context())
		bad, nth := child < campaignChildren/2, 0
		switch doomed := bad && cp.rng.IntN(10) > child/4; {
		case doomed && cp.rng.IntN(2) == 0:
			nth = 1 + cp.rng.IntN(100)
		case doomed:
			time.AfterFunc(time.Duration(5+cp.rng.IntN(396))*time.Millisecond, stop) // of no effect on a later run
		}
		w.set(bad, nth, stop)
		code, said := cp.apply(ctx, t, s)
		ending := ctx.Err() != nil
		stop()
		switch ended = code == 0; {
		case ended, code == 3 && bad: // with 3, something is not settled yet
		case ending && (code == killed || code == interrupted):
			cp.kills++
		default:
			t.Fatalf("round %d, run %d: exit %d\n%s", cp.rounds, child, code, said)
		}
	}
	w.set(false, 0, nil)
	s.Drain()
	cp.count(t, s, want)
	before := len(s.Log())
	if code, said := cp.apply(t.Context(), t, s); code != 0 || s.written(before) != "" {
		t.Errorf("round %d: the apply after it: exit %d\n%s%s", cp.rounds, code, said, s.written(before))
	}
}

const (
	killed      = -1 // in place of an exit code, as os.ProcessState has it
	interrupted = 130
)

// manifest writes a manifest of work items with parents, links and a cycle, and returns what is to be there, with how often.
func (cp *campaign) manifest(t *testing.T, s *service) map[string]int {
	t.Helper()
	want := map[string]int{}
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    identifier: WEB\n    cycles: [{key: c, name: Campaign}]\n    work_items:\n")
	for i := range campaignItems {
		fmt.Fprintf(&b, "      - {key: item-%d, name: Item %d, description: Text %d", i, i, i)
		want[fmt.Sprintf("Item %d", i)]++
		if i > 0 && cp.rng.IntN(2) == 0 {
			parent := cp.rng.IntN(i)
			fmt.Fprintf(&b, ", parent: item-%d", parent)
			want[fmt.Sprintf("Item %d below Item %d", i, parent)]++
		}
		if cp.rng.IntN(3) > 0 {
			b.WriteString(", cycle: c")
			want[fmt.Sprintf("Item %d in Campaign", i)]++
		}
		if cp.rng.IntN(2) == 0 {
			b.WriteString(`, links: [{url: "https://example.com/shared"}]`)
			want[fmt.Sprintf("Item %d links to https://example.com/shared", i)]++
		}
		b.WriteString("}\n")
	}
	want["Campaign"]++
	s.write(t, "campaign.yaml", b.String())
	return want
}

// count compares what the service has with what it is to have.
func (cp *campaign) count(t *testing.T, s *service, want map[string]int) {
	t.Helper()
	has, names := map[string]int{}, map[any]string{}
	for _, kind := range []string{"work_item", "cycle"} {
		for _, row := range s.Rows(kind) {
			if name := fmt.Sprint(row["name"]); kind == "cycle" && name == "Campaign" || strings.HasPrefix(name, "Item ") {
				names[row["id"]] = name
				has[name]++
			}
		}
	}
	for _, row := range s.Rows("work_item") {
		if name := names[row["id"]]; name != "" && row["description_html"] != "<p>"+strings.Replace(name, "Item", "Text", 1)+"</p>" {
			t.Errorf("round %d: %s has the text %v", cp.rounds, name, row["description_html"])
		}
		if row["parent"] != nil {
			has[names[row["id"]]+" below "+names[row["parent"]]]++
		}
	}
	for _, row := range s.Rows("cycle_issue") {
		has[names[row["issue"]]+" in "+names[row["cycle"]]]++
	}
	for _, row := range s.Rows("link") {
		if name := names[row["issue"]]; name != "" { // another one is seeded
			has[fmt.Sprintf("%s links to %v", name, row["url"])]++
		}
	}
	for what := range want {
		if has[what] == 0 {
			t.Errorf("round %d: lost: %s", cp.rounds, what)
		}
	}
	for what, n := range has {
		if n > want[what] {
			t.Errorf("round %d: %d of %d: %s", cp.rounds, n, want[what], what)
		}
	}
}

// apply runs planform as a process of its own, which the end of ctx kills, or asks to end by a signal.
func (cp *campaign) apply(ctx context.Context, t *testing.T, s *service) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, cp.planform, "apply", "-f", "campaign.yaml", "--parallelism", "8", "--yes", "--api", cp.api, "--grace-period", campaignPatience.String())
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1")
	cmd.Stdout, cmd.Stderr = &out, &out
	if cp.rng.IntN(4) == 0 {
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	}
	if cp.bucket != nil { // each run is on a machine of its own
		cmd.Dir = t.TempDir()
		if err := os.CopyFS(cmd.Dir, os.DirFS(s.dir)); err != nil {
			t.Fatal(err)
		}
		for name, value := range cp.bucket.Env() {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Env = append(cmd.Env, fmt.Sprintf("PLANFORM_STATE=s3://%s/%d.json", cp.bucket.Bucket, cp.rounds))
		unlock := exec.CommandContext(t.Context(), cp.planform, "state", "unlock", "-f", "campaign.yaml") //nolint:contextcheck // it is none that is killed
		unlock.Dir, unlock.Env = cmd.Dir, cmd.Env
		_ = unlock.Run() // there may be no lock
	}
	err := cmd.Run() // waits for it, killed or not
	if cmd.ProcessState == nil {
		if ctx.Err() != nil {
			return killed, "" // before it began
		}
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// weather decides what goes wrong with the requests of a round.
type weather struct {
	c *campaign

	mu   sync.Mutex
	rng  *rand.Rand
	bad  bool
	nth  int // so many writes from now, stop is called; 0 is never
	stop func()
}

func (wt *weather) set(bad bool, nth int, stop func()) {
	wt.mu.Lock()
	defer wt.mu.Unlock()
	wt.bad, wt.nth, wt.stop = bad, nth, stop
}

func (wt *weather) fault(r *http.Request) sandboxtest.Fault {
	wt.mu.Lock()
	defer wt.mu.Unlock()
	f := sandboxtest.Fault{Delay: time.Duration(wt.rng.IntN(3001)) * time.Microsecond}
	dice, read := wt.rng.Float64(), r.Method == http.MethodGet
	ends := false
	if wt.nth > 0 && !read {
		if wt.nth--; wt.nth == 0 {
			wt.stop()
			ends = true
		}
	}
	if strings.Contains(r.URL.Path, "/bulk-") { // there are few of them
		dice /= 8
	}
	switch {
	case !wt.bad, dice > 0.02 && !ends:
		return f
	case read:
		f.Before.Cut = true
	case dice < 0.012:
		f.After.Cut = true
	default:
		f.Late = time.Millisecond + time.Duration(wt.rng.Int64N(int64(campaignLate)))
	}
	wt.c.cuts.Add(1)
	return f
}
