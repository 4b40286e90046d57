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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planform/planform/internal/bucket/buckettest"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

//nolint:gochecknoglobals // the flag package works with variables
var (
	campaignSize = flag.Int("campaign", 0, "reach this many kills and as many cuts with each kind of round; 0 = as PLANFORM_TESTS says")
	campaignAPI  = flag.String("campaign-api", "", "kinds of rounds: full, documented, nothing, v2, shared, several of them (full,nothing), or all; default: nothing, and all of a larger campaign")
	campaignSeed = flag.Uint64("seed", 1, "seed of the campaign")
	campaignLate = flag.Duration("campaign-late", 250*time.Millisecond, "carry out what was given up as much as so long afterwards")
)

const (
	campaignChildren = 100 // more of them until a manifest is applied is a round that does not end

	// campaignLong is a lateness for which runs have to wait.
	campaignLong = 2 * time.Second

	killed     = -1 // in place of an exit code, as os.ProcessState has it
	notStarted = -2 // the time was up before that
)

// TestNothingIsDoubledOrLostByKillsAndCuts kills planform again and again while
// it applies a manifest, cuts its connections, lets requests be handled when it
// has given them up, and counts what came of it. The service refuses nothing
// that is there already. In some rounds of a campaign of 20 or more it also
// limits the rate of requests, and goes away for a moment. With a -campaign-late
// of more than two seconds more writes are late, kills come while a run waits for
// them too, and the service refuses a second object with the same external ID, as
// the real one does: planform relies on it. The kinds of rounds:
//
//   - full and documented import work items with links, parents and a cycle into a
//     project that is there, each with the operations of its name;
//   - nothing makes a workspace's contents of every kind, checks that each is there
//     once with all its values, lets somebody else add to them, then changes a
//     manifest at random and applies it with --prune;
//   - v2 does both with API v2: batches are cut and late more often, some of their
//     rows are refused, some services have no batches or put no new item into a
//     cycle, and some runs use API v1.
//
// It prints the figures of each kind of round:
//
//	go test ./internal/cli -run Doubled -campaign 500 -timeout 2h -v
//	go test ./internal/cli -run Doubled -campaign 50 -campaign-api nothing -seed 7 -v
//	go test ./internal/cli -run Doubled -campaign 60 -campaign-late 30s -timeout 1h -v
func TestNothingIsDoubledOrLostByKillsAndCuts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a killed process cannot be told from one that failed")
	}
	lanes := campaignLanes()
	planform := program(t)
	kinds := []struct {
		name string
		api  resource.API
		play func(*campaign, *testing.T, *service)
	}{
		{"documented", resource.Documented, (*campaign).imports},
		{"full", resource.V1, (*campaign).imports},
		{"nothing", resource.V1, (*campaign).fromNothing},
		{"v2", resource.V2, (*campaign).withV2},
		{"shared", resource.V1, (*campaign).fromNothing},
	}
	asked := strings.Split(cmp.Or(*campaignAPI, map[bool]string{true: "all", false: "nothing"}[campaignKills() > 1]), ",")
	for i, kind := range kinds {
		if !slices.Contains(asked, "all") && !slices.Contains(asked, kind.name) {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var bucket *buckettest.Server
			if kind.name == "shared" {
				bucket = buckettest.Start(t).Bad(t, rand.New(rand.NewPCG(*campaignSeed, 0)))
			}
			sum := &tally{}
			t.Run("rounds", func(t *testing.T) {
				for lane := range lanes {
					t.Run("", func(t *testing.T) {
						t.Parallel()
						c := &campaign{planform: planform, command: "apply", bucket: bucket, lane: lane, api: kind.api, rng: rand.New(rand.NewPCG(*campaignSeed, uint64(len(kinds)*lane+i)))}
						defer sum.add(&c.tally)
						size := (campaignKills() + lanes - 1) / lanes
						for !t.Failed() && (c.kills < size || int(c.cuts.Load()) < size) { // a failed one's sandbox and state would be buried under those of the next
							c.round(t, kind.play)
						}
					})
				}
			})
			t.Logf("%s: %s, seed %d", kind.name, sum, *campaignSeed)
		})
	}
}

// campaignKills is how many kills each kind of round reaches, and how many cuts.
func campaignKills() int { return cmp.Or(*campaignSize, sample.Of(1, 2, 50)) }

// campaignLanes is how many rounds of a kind run at once: the more, the longer they wait.
func campaignLanes() int {
	if *campaignLate > campaignLong {
		return 1 + min(9, campaignKills()/10)
	}
	return 1 + min(3, campaignKills()/50)
}

// campaignPatience is how late planform expects what was given up. The difference
// to how late it is is for a busy machine.
func campaignPatience() time.Duration { return *campaignLate + *campaignLate/10 + 750*time.Millisecond }

// findings is what the service has otherwise than the manifests say.
type findings struct{ doubled, lost, wrong int }

// tally is what happened.
type tally struct {
	findings

	mu                                                          sync.Mutex
	kills, midway, rounds, limited, refused, unsettled, strands int

	cuts, cutAfter, cutBefore, late, outages atomic.Int64
}

func (s *tally) add(o *tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, n := range map[*int]int{
		&s.kills: o.kills, &s.midway: o.midway, &s.rounds: o.rounds, &s.limited: o.limited, &s.refused: o.refused, &s.unsettled: o.unsettled, &s.strands: o.strands,
		&s.doubled: o.doubled, &s.lost: o.lost, &s.wrong: o.wrong,
	} {
		*at += n
	}
	for at, n := range map[*atomic.Int64]*atomic.Int64{
		&s.cuts: &o.cuts, &s.cutAfter: &o.cutAfter, &s.cutBefore: &o.cutBefore, &s.late: &o.late, &s.outages: &o.outages,
	} {
		at.Add(n.Load())
	}
}

func (s *tally) String() string {
	cuts, after, before, late := s.cuts.Load(), s.cutAfter.Load(), s.cutBefore.Load(), s.late.Load()
	return fmt.Sprintf("kills %d (%d after a first write), cuts %d (%d of writes that had happened, %d of writes that had not, %d of writes that happened up to %s later, %d of reads), "+
		"outages %d, doubled %d, lost %d, wrong values %d, rounds %d (%d with a rate limit, which refused %d requests), runs that ended with 3: %d, that found no service: %d",
		s.kills, s.midway, cuts, after, before, late, *campaignLate, cuts-after-before-late, s.outages.Load(), s.doubled, s.lost, s.wrong, s.rounds, s.limited, s.refused, s.unsettled, s.strands)
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
	tally

	planform string
	command  string             // of planform that is run until it is done
	bucket   *buckettest.Server // that the state is in; nil = it is in a file
	lane     int
	api      resource.API
	rng      *rand.Rand
	weather  *weather
}

// round plays with one sandbox.
func (c *campaign) round(t *testing.T, play func(*campaign, *testing.T, *service)) {
	t.Helper()
	c.rounds++
	o := sandboxtest.Options{
		Path: filepath.Join(t.TempDir(), "sandbox.db"), Unique: sandboxtest.UniqueInTurn + sandboxtest.Uniqueness(c.rng.IntN(2)),
	}
	if c.api == resource.Documented && c.rng.IntN(2) == 0 {
		o.Answers = sandbox.Contract
	}
	if c.api == resource.V2 {
		o.Edition, o.IgnoreMembership = sandbox.Cloud, c.rng.IntN(4) == 0
		if c.rng.IntN(4) == 0 {
			o.HasOperation = sandboxtest.FirstOperations
		}
	}
	if c.api != resource.Documented && *campaignLate > campaignLong {
		o.Unique = sandboxtest.UniqueAlways
	}
	outages := 0
	if campaignKills() >= 20 {
		if c.rng.IntN(4) == 0 {
			c.limited++
			o.Rate, o.Window = 200+c.rng.IntN(600), time.Duration(1000+c.rng.IntN(1000))*time.Millisecond
		}
		if outages = c.rng.IntN(6) - 2; *campaignLate > campaignLong {
			outages = 0 // in an outage, what is late is lost
		}
	}
	c.weather = &weather{c: c, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 0)), outages: outages}
	o.Fault, o.FailRow = c.weather.fault, c.weather.refuseRow
	s := newService(t, o)
	c.weather.outage = s.outage
	defer func() {
		c.weather.down.Wait()
		_ = s.Close() // the one that is open by now
	}()
	play(c, t, s)
	for _, e := range s.Log() {
		if e.Status == http.StatusTooManyRequests {
			c.refused++
		}
	}
}

// outage closes the service, refuses connections for a while, and opens it again
// under the same address.
func (s *service) outage(lasts time.Duration) error {
	if err := s.Close(); err != nil {
		return err
	}
	<-time.After(lasts)
	server, err := sandboxtest.Open(s.options)
	if err != nil {
		return err
	}
	for range 100 { // a connection may have taken the port meanwhile, for as long as it lasts
		if _, err = server.Start(context.Background(), strings.TrimPrefix(s.url, "http://")); err == nil {
			s.slowest = max(s.slowest, s.SlowestWrite())
			s.Server = server
			return nil
		}
		<-time.After(10 * time.Millisecond)
	}
	return errors.Join(err, server.Close())
}

// untilDone applies the manifest until a run ends with 0; or, where something
// cannot be done, with 3 although nothing went wrong.
func (c *campaign) untilDone(t *testing.T, s *service, ending int, flags ...string) {
	t.Helper()
	// A kill comes at a moment of its own, or at some write, while that is under
	// way. Each further one is less likely, so that the round ends. In small
	// campaigns the last runs have no cuts that take seconds to settle.
	patient := campaignKills() >= 100 && c.rng.IntN(4) == 0
	likely := 0.6 + 0.4*c.rng.Float64()
	ended, last := false, ""
	for child := 0; !ended; child++ {
		if child == campaignChildren {
			t.Fatalf("round %d has not ended after %d runs; the last said:\n%s", c.rounds, child, last)
		}
		ctx, kill := context.WithCancel(t.Context())
		bad := child < campaignChildren/2 && (ending == 0 || c.rng.IntN(4) > 0)
		doomed, nth := bad && c.rng.Float64() < likely, 0
		switch {
		case doomed && c.rng.IntN(2) == 0:
			nth = 1 + c.rng.IntN(100)
		case doomed:
			after := time.Duration(5+c.rng.IntN(396)) * time.Millisecond
			if *campaignLate > campaignLong && c.rng.IntN(3) == 0 {
				after = time.Duration(c.rng.Int64N(int64(campaignPatience()))) // while it waits
			}
			time.AfterFunc(after, kill) // of no effect on a later run
		}
		likely *= 0.97
		c.weather.set(bad, doomed || patient, nth, kill)
		code, errs := c.apply(ctx, t, s, flags...)
		last = errs
		kill()
		writes, missed, err := c.weather.passed()
		switch {
		case err != nil:
			t.Fatalf("round %d: the service did not come back: %v", c.rounds, err)
		case code == notStarted:
		case code == killed:
			c.kills++
			if writes > 0 {
				c.midway++
			}
		case code == 0 || code == 3 && ending == 3 && !bad && !missed:
			ended = true
		case code == 3:
			c.unsettled++
		case code == 1 && missed:
			c.strands++
		default:
			t.Fatalf("round %d, run %d: exit %d\n%s", c.rounds, child, code, errs)
		}
	}
	c.weather.set(false, false, 0, nil)
	c.weather.down.Wait()
	s.Drain()
}

// count adds up what a round found. It names the slowest write: one that the service carries out after the grace period
// may make a duplicate, which is not planform's doing.
func (c *campaign) count(t *testing.T, s *service, f findings) {
	t.Helper()
	c.doubled, c.lost, c.wrong = c.doubled+f.doubled, c.lost+f.lost, c.wrong+f.wrong
	if f != (findings{}) {
		t.Errorf("round %d: %d doubled, %d lost, %d wrong values; the slowest write was over %s after it arrived, the grace period is %s",
			c.rounds, f.doubled, f.lost, f.wrong, max(s.slowest, s.SlowestWrite()), campaignPatience())
	}
}

// restsAt makes sure that the next apply ends with code and writes nothing.
func (c *campaign) restsAt(t *testing.T, s *service, code int, flags ...string) {
	t.Helper()
	before := len(s.Log())
	if got, errs := c.apply(t.Context(), t, s, flags...); got != code {
		t.Errorf("round %d: the apply after it: exit %d, want %d\n%s", c.rounds, got, code, errs)
	}
	if _, writes := s.sent(before); writes != 0 {
		t.Errorf("round %d: the apply after it made %d write requests: %s", c.rounds, writes, s.written(before))
	}
}

// apply runs planform as a process of its own, which the end of ctx kills. The
// exit code is killed if that ended it.
func (c *campaign) apply(ctx context.Context, t *testing.T, s *service, flags ...string) (code int, errs string) {
	t.Helper()
	api := c.api
	if api == resource.V2 && c.rng.IntN(4) == 0 {
		api = resource.V1
	}
	if api == resource.V2 && c.command == "apply" && c.rng.IntN(2) == 0 {
		flags = append(slices.Clip(flags), "--order", "exact")
	}
	args := append([]string{
		c.command, "-f", "campaign.yaml", "--parallelism", "8", "--yes", "--api", api.String(), "--grace-period", campaignPatience().String(),
	}, flags...)
	cmd := exec.CommandContext(ctx, c.planform, args...) // its Cancel is Process.Kill
	cmd.Dir = s.dir
	if c.bucket != nil { // each run is on a machine of its own
		cmd.Dir = t.TempDir()
		if err := os.CopyFS(cmd.Dir, os.DirFS(s.dir)); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(cmd.Dir)                                  //nolint:errcheck // so that it is gone before the next
		_ = c.shares(t, s, "state", "unlock", "-f", "campaign.yaml") //nolint:contextcheck // it is none that is killed
	}
	cmd.Env = c.environment(s)
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
	r := ran{cmd.ProcessState.ExitCode(), said.String(), ""}
	if !r.saysWhy() {
		t.Errorf("exit 3 without a reason:\n%s", r.out)
	}
	return r.code, r.out
}

// environment is that of planform.
func (c *campaign) environment(s *service) []string {
	env := append(os.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1")
	if c.bucket != nil {
		for name, value := range c.bucket.Env() {
			env = append(env, name+"="+value)
		}
		env = append(env, fmt.Sprintf("PLANFORM_STATE=s3://%s/%d/%d.json", c.bucket.Bucket, c.lane, c.rounds))
	}
	return env
}

// shares runs another command with the state in the bucket, and returns what it prints.
func (c *campaign) shares(t *testing.T, s *service, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.planform, args...)
	cmd.Dir, cmd.Env = s.dir, c.environment(s)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("planform %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out
}

// weather decides what goes wrong with the requests of a round.
type weather struct {
	c      *campaign
	outage func(time.Duration) error
	down   sync.WaitGroup // while the service is away

	mu       sync.Mutex
	rng      *rand.Rand
	bad      bool // connections are cut
	terrible bool // also those of writes before they are done, which takes seconds to find out
	nth      int  // so many writes from now, kill is called; 0 is never
	kill     func()
	outages  int // that are to come
	away     bool
	missed   bool // the service was away since it was set
	writes   int  // since it was set
	broken   error
}

func (w *weather) set(bad, terrible bool, nth int, kill func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad, w.terrible, w.nth, w.kill = bad, terrible, nth, kill
	w.missed, w.writes = w.away, 0
}

// passed says what has been since the weather was set: how many writes came, and
// whether the service was away.
func (w *weather) passed() (writes int, missed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes, w.missed, w.broken
}

func (w *weather) fault(r *http.Request) sandboxtest.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := sandboxtest.Fault{Delay: time.Duration(w.rng.IntN(3001)) * time.Microsecond}
	dice := w.rng.Float64()
	read := r.Method == http.MethodGet
	if !read {
		w.writes++
	}
	if w.nth > 0 && !read {
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
	if strings.Contains(r.URL.Path, "/bulk-") { // there are few of them
		dice /= 8
	}
	if w.outages > 0 && !w.away && w.rng.IntN(100) == 0 {
		w.goAway()
	}
	late := 0.016
	if *campaignLate > campaignLong {
		late = 0.024
	}
	switch {
	case read && dice < 0.005:
		f.Before.Cut = true
	case read && dice < 0.01:
		f.After.Cut = true
	case read:
		return f
	case dice < 0.012:
		f.After.Cut = true
		w.c.cutAfter.Add(1)
	case dice < late:
		w.beLate(&f)
		return f
	case w.terrible && dice < late+0.004:
		f.Before.Cut = true
		w.c.cutBefore.Add(1)
	default:
		return f
	}
	w.c.cuts.Add(1)
	return f
}

// refuseRow refuses some rows of batches.
func (w *weather) refuseRow(*http.Request, int, any) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad && w.rng.IntN(200) == 0 {
		return "workflow_transition_denied"
	}
	return ""
}

// beLate lets a request be handled when its client has gone: soon, or when the
// next run looks already.
func (w *weather) beLate(f *sandboxtest.Fault) {
	longest := *campaignLate
	if w.rng.IntN(2) == 0 {
		longest /= 8
	}
	f.Late = time.Millisecond + time.Duration(w.rng.Int64N(int64(longest)))
	w.c.cuts.Add(1)
	w.c.late.Add(1)
}

// goAway begins an outage. What is under way ends without an answer, done or not.
func (w *weather) goAway() {
	w.outages--
	w.away, w.missed = true, true
	w.c.outages.Add(1)
	lasts := time.Duration(10+w.rng.IntN(600)) * time.Millisecond
	w.down.Go(func() {
		err := w.outage(lasts)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.away, w.broken = false, err
	})
}
