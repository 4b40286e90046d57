package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// cloud is a store in memory.
type cloud struct {
	mu       sync.Mutex
	objects  map[string]string
	versions map[string]int
	next     int
	puts     []string
	fault    func(what, name string) (before, after error) // nil = none
	careless bool                                          // it overwrites what it is told not to
}

func newCloud() *cloud { return &cloud{objects: map[string]string{}, versions: map[string]int{}} }

func (c *cloud) faults(what, name string) (before, after error) {
	if c.fault == nil {
		return nil, nil
	}
	return c.fault(what, name)
}

func (c *cloud) Get(_ context.Context, name string) ([]byte, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, after := c.faults("get", name); before != nil || after != nil {
		return nil, "", errors.Join(before, after)
	}
	text, ok := c.objects[name]
	if !ok {
		return nil, "", fs.ErrNotExist
	}
	return []byte(text), strconv.Itoa(c.versions[name]), nil
}

func (c *cloud) Put(_ context.Context, name string, text []byte, version string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, after := c.faults("put", name)
	if before != nil {
		return "", before
	}
	if _, there := c.objects[name]; there && version != strconv.Itoa(c.versions[name]) && !c.careless || !there && version != "" {
		return "", ErrChanged
	}
	c.next++
	c.objects[name], c.versions[name] = string(text), c.next
	c.puts = append(c.puts, name)
	return strconv.Itoa(c.next), after
}

func (c *cloud) List(_ context.Context, prefix string) (names []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, after := c.faults("list", prefix); before != nil || after != nil {
		return nil, errors.Join(before, after)
	}
	for name := range c.objects {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (c *cloud) Remove(_ context.Context, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, after := c.faults("remove", name)
	if before == nil {
		delete(c.objects, name)
	}
	return errors.Join(before, after)
}

const cloudAddress = "s3://bucket/web.json"

func (c *cloud) options() Options {
	o := testOptions()
	o.Connect = func(context.Context, string) (Objects, error) { return c, nil }
	o.Command = "planform apply"
	return o
}

func (c *cloud) open(t *testing.T) *File {
	t.Helper()
	f, err := Open(t.Context(), cloudAddress, c.options())
	must(t, err)
	return f
}

// stall acts like a run that was killed or sleeps: its lock is not renewed.
func stall(t *testing.T, f *File) {
	t.Helper()
	s := f.opts.shared
	s.lease.stop()
	<-s.lease.ended
}

// takeLock acts like a run that dies as soon as it has the lock.
func (c *cloud) takeLock(t *testing.T) {
	t.Helper()
	l, _, err := takeLease(t.Context(), cloudAddress, c, c.options())
	must(t, err)
	l.stop()
	<-l.ended
}

func creation(n int) *planner.Step {
	return create(addr(fmt.Sprintf("work_item/web/%d", n)))
}

func TestASharedStateKnowsWhatEachRunDid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		f := c.open(t)
		if f.Path() != cloudAddress {
			t.Error(f.Path())
		}
		must(t, f.Begin(t.Context(), []*planner.Step{creation(1)}))
		complete(t, f, creation(1), executor.Outcome{Record: planner.Record{ID: "one"}}, nil)
		must(t, f.Save())
		must(t, f.Close())
		f = c.open(t)
		if got := f.Prior()["work_item/web/1"].ID; got != "one" {
			t.Error(got)
		}
		must(t, f.Close())
		s, err := Read(t.Context(), cloudAddress, c.options())
		must(t, err)
		if s.Prior()["work_item/web/1"].ID != "one" || s.Path != cloudAddress {
			t.Errorf("%+v", s)
		}
		for name := range c.objects {
			if name != "" && name != leaseName {
				t.Errorf("%s is left", name)
			}
		}
	})
}

// TestARunThatDiedIsContinuedElsewhere kills a run at each of its requests to the store, before and after the request.
func TestARunThatDiedIsContinuedElsewhere(t *testing.T) {
	t.Parallel()
	died := errors.New("died")
	for nth := 1; ; nth++ {
		reached := false
		for _, behind := range []bool{false, true} {
			t.Run(fmt.Sprintf("request %d, behind: %t", nth, behind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCloud()
					must(t, c.open(t).Close())
					n, dead := 0, false
					var sent []int // what the run sent to the service
					opts := c.options()
					ctx, kill := context.WithCancel(t.Context())
					c.fault = func(string, string) (before, after error) {
						if n++; n == nth {
							if dead, reached = true, true; behind {
								return nil, died
							}
						}
						if dead {
							kill()
							return died, nil
						}
						return nil, nil
					}
					f, err := Open(ctx, cloudAddress, opts)
					if err == nil {
						for i := range 3 {
							if f.Begin(ctx, []*planner.Step{creation(i)}) != nil || dead {
								break
							}
							sent = append(sent, i)
							if f.Complete(creation(i), executor.Outcome{Record: planner.Record{ID: strconv.Itoa(i)}}, nil) != nil || dead {
								break
							}
						}
						if !dead {
							_ = f.Save()
						}
						if !dead {
							_ = f.Close()
						}
						stall(t, f)
					}
					kill()
					c.fault = nil
					began := time.Now()
					g := c.open(t)
					if waited := time.Since(began); waited > time.Minute {
						t.Errorf("it waited %s", waited)
					}
					for _, i := range sent {
						r := g.Prior()[creation(i).Address]
						if r.ID != strconv.Itoa(i) && r.PendingIntent == nil {
							t.Errorf("%d was sent, and nobody knows: %+v", i, r)
						}
					}
					if f != nil && !f.closed { // it wakes up
						if err := f.Begin(t.Context(), []*planner.Step{creation(9)}); err == nil {
							t.Error("the run that was dead sends on")
						}
						if err := f.Save(); err == nil && f.store.changed() {
							t.Error("the run that was dead saves")
						}
					}
					must(t, g.Begin(t.Context(), []*planner.Step{creation(5)}))
					complete(t, g, creation(5), executor.Outcome{Record: planner.Record{ID: "five"}}, nil)
					must(t, g.Save())
					must(t, g.Close())
					h := c.open(t)
					if h.Prior()[creation(5).Address].ID != "five" {
						t.Error("what came after it is lost")
					}
					must(t, h.Close())
				})
			})
		}
		if !reached || t.Failed() {
			if nth < 15 {
				t.Errorf("only %d requests", nth)
			}
			return
		}
	}
}

func TestALockThatIsRenewedIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		f := c.open(t)
		<-time.After(5 * time.Minute)
		began := time.Now()
		var locked *LockedError
		if _, err := Open(t.Context(), cloudAddress, c.options()); !errors.As(err, &locked) || locked.Holder.Command != "planform apply" {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > 2*beatTime {
			t.Errorf("it took %s to see that it is held", waited)
		}
		if h, held := LockedBy(t.Context(), cloudAddress, c.options()); !held || h.Command != "planform apply" {
			t.Error(h, held)
		}
		must(t, f.Begin(t.Context(), []*planner.Step{creation(1)}))
		must(t, f.Close())
		if _, held := LockedBy(t.Context(), cloudAddress, c.options()); held {
			t.Error("it is still held")
		}
	})
}

func TestALockIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		f := c.open(t)
		go func() {
			<-time.After(3 * time.Minute)
			_ = f.Close()
		}()
		opts := c.options()
		opts.LockTimeout = 10 * time.Minute
		g, err := Open(t.Context(), cloudAddress, opts)
		must(t, err)
		must(t, g.Close())
	})
}

func TestAnUnlockedRunSendsNothingMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		f := c.open(t)
		must(t, f.Begin(t.Context(), []*planner.Step{creation(1)}))
		h, held, err := Unlock(t.Context(), cloudAddress, c.options())
		if err != nil || !held || h.Command != "planform apply" {
			t.Fatal(h, held, err)
		}
		if _, held, err := Unlock(t.Context(), cloudAddress, c.options()); held || err != nil {
			t.Error(held, err)
		}
		g := c.open(t)
		if g.Prior()["work_item/web/1"].PendingIntent == nil {
			t.Error("what it was about to do is lost")
		}
		if err := f.Begin(t.Context(), []*planner.Step{creation(2)}); !errors.Is(err, executor.ErrAbortRun) ||
			!strings.Contains(err.Error(), cloudAddress) {
			t.Error(err)
		}
		if err := f.Save(); err == nil {
			t.Error("it saves")
		}
		must(t, g.Close())
		_ = f.Close()
	})
}

// sleeper is the store of a run that sleeps before it reads the state, with each call of its process.
type sleeper struct {
	*cloud

	before      string // it lists what is there, or gets the state
	fallsAsleep *sync.Once
	asleep      *atomic.Bool
	awake       chan struct{}
}

func (sl sleeper) sleep(call string) {
	if call == sl.before {
		sl.fallsAsleep.Do(func() {
			sl.asleep.Store(true)
			<-time.After(deadTime + lostTime)
			close(sl.awake)
		})
	}
	if sl.asleep.Load() {
		<-sl.awake
	}
}

func (sl sleeper) List(ctx context.Context, prefix string) ([]string, error) {
	sl.sleep("list")
	return sl.cloud.List(ctx, prefix)
}

func (sl sleeper) Get(ctx context.Context, name string) ([]byte, string, error) {
	sl.sleep("get " + name)
	return sl.cloud.Get(ctx, name)
}

func (sl sleeper) Put(ctx context.Context, name string, text []byte, version string) (string, error) {
	sl.sleep("put " + name)
	return sl.cloud.Put(ctx, name, text, version)
}

func TestARunThatLostItsLockBeforeReadingTheStateRemovesNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before string
		done   bool // the other run has ended when it wakes up
	}{
		"a run that slept before it listed the store takes nothing away":                             {"list", false},
		"a run that slept before it read the state takes nothing away":                               {"get ", false},
		"a run that slept before it listed the store, until the other had ended, takes nothing away": {"list", true},
		"a run that slept before it read the state, until the other had ended, takes nothing away":   {"get ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud()
				f := c.open(t)
				must(t, f.Save())
				stall(t, f)
				asleep := make(chan error, 1)
				opts := c.options()
				opts.LockTimeout = time.Hour
				go func() {
					opts := opts
					opts.Connect = func(context.Context, string) (Objects, error) {
						return sleeper{c, tt.before, &sync.Once{}, &atomic.Bool{}, make(chan struct{})}, nil
					}
					_, err := Open(t.Context(), cloudAddress, opts)
					asleep <- err
				}()
				<-time.After(deadTime + 10*time.Second)
				g, err := Open(t.Context(), cloudAddress, opts)
				must(t, err)
				must(t, g.Begin(t.Context(), []*planner.Step{creation(1)}))
				woke := func() {
					if err := <-asleep; err == nil {
						t.Error("it has the lock that another run has taken")
					}
				}
				if !tt.done {
					woke()
				}
				must(t, g.Begin(t.Context(), []*planner.Step{creation(2)}))
				must(t, g.Save())
				must(t, g.Close())
				if tt.done {
					woke()
				}
				h := c.open(t)
				for _, address := range []resource.Address{"work_item/web/1", "work_item/web/2"} {
					if h.Prior()[address].PendingIntent == nil {
						t.Errorf("%s is lost", address)
					}
				}
				must(t, h.Close())
			})
		})
	}
}

func TestARunWithAnUnknownWriteDoesNotLockOutOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		must(t, c.open(t).Close())
		c.objects[leaseName] = strings.Replace(c.objects[leaseName], `"free":true,"clean":true`, `"free":false`, 1) // a run died before it began
		var written time.Time
		c.fault = func(what, name string) (before, after error) {
			if what == "put" && name == "" && written.IsZero() {
				written = time.Now()
				return nil, errors.New("no answer")
			}
			if name == "" && !written.IsZero() && time.Since(written) < settleTime+time.Second {
				return errors.New("it is busy"), nil
			}
			return nil, nil
		}
		opts := c.options()
		opts.LockTimeout = time.Hour
		if _, err := Open(t.Context(), cloudAddress, opts); err == nil {
			t.Fatal("it wrote the state")
		}
		<-time.After(time.Minute)
		must(t, c.open(t).Close())
	})
}

func TestARunThatCouldNotReadTheStateDoesNotLockOutOthers(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(c *cloud, cancel func()){
		"a run that was stopped does not lock out others": func(_ *cloud, cancel func()) { cancel() },
		"a run to which the store did not answer does not lock out others": func(c *cloud, _ func()) {
			began := time.Now()
			c.fault = func(what, name string) (before, after error) {
				if what == "get" && name == "" && time.Since(began) < time.Minute {
					return errors.New("it is busy"), nil
				}
				return nil, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud()
				f := c.open(t)
				must(t, f.Begin(t.Context(), []*planner.Step{creation(1)}))
				must(t, f.Save())
				must(t, f.Close())
				left := c.objects[leaseName]
				ctx, cancel := context.WithCancel(t.Context())
				opts := c.options()
				opts.Connect = func(context.Context, string) (Objects, error) {
					return hooked{c, func() { how(c, cancel) }}, nil
				}
				if _, err := Open(ctx, cloudAddress, opts); err == nil {
					t.Fatal("it read the state")
				}
				if now := c.objects[leaseName]; now != left {
					t.Errorf("the lock says %s, and said %s", now, left)
				}
				<-time.After(time.Minute)
				g := c.open(t)
				if g.Prior()["work_item/web/1"].PendingIntent == nil {
					t.Error("what the run before did is lost")
				}
				must(t, g.Close())
			})
		})
	}
}

// hooked is a store where something happens when a run looks what is there.
type hooked struct {
	*cloud

	then func()
}

func (hk hooked) List(ctx context.Context, prefix string) ([]string, error) {
	hk.then()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return hk.cloud.List(ctx, prefix)
}

func TestARunThatCannotRenewItsLockStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		f := c.open(t)
		c.mu.Lock()
		c.fault = func(_, name string) (before, after error) {
			if name == leaseName {
				return errors.New("cut"), nil
			}
			return nil, nil
		}
		c.mu.Unlock()
		<-time.After(2 * lostTime)
		if err := f.Begin(t.Context(), []*planner.Step{creation(1)}); !errors.Is(err, executor.ErrAbortRun) {
			t.Error(err)
		}
		stall(t, f)
	})
}

func TestAStoreWithoutConditionalWritesIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		c.careless = true
		if _, err := Open(t.Context(), cloudAddress, c.options()); err == nil || !strings.Contains(err.Error(), "conditional writes") {
			t.Error(err)
		}
	})
}

// TestAnUnreliableStoreLosesNothing refuses, cuts and denies one request in ten.
func TestAnUnreliableStoreLosesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 0))
				c := newCloud()
				c.fault = func(string, string) (before, after error) {
					switch rng.IntN(20) {
					case 0:
						return errors.New("503"), nil
					case 1:
						return nil, errors.New("cut")
					}
					return nil, nil
				}
				for run := range 5 {
					f, err := Open(t.Context(), cloudAddress, c.options())
					must(t, err)
					for i := range 5 {
						s := creation(10*run + i)
						must(t, f.Begin(t.Context(), []*planner.Step{s}))
						complete(t, f, s, executor.Outcome{Record: planner.Record{ID: "x"}}, nil)
					}
					must(t, f.Save())
					must(t, f.Close())
				}
				s, err := Read(t.Context(), cloudAddress, c.options())
				must(t, err)
				if n := len(s.Prior()); n != 25 {
					t.Errorf("%d records", n)
				}
			})
		})
	}
}

// TestTheCostOfASharedStateIsCounted says how many writes a run makes to the store.
func TestTheCostOfASharedStateIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		f := c.open(t)
		must(t, f.Begin(t.Context(), []*planner.Step{creation(1), creation(2)}))
		must(t, f.Begin(t.Context(), []*planner.Step{creation(3)}))
		must(t, f.Save())
		must(t, f.Close())
		kinds := map[string]int{}
		for _, name := range c.puts {
			kinds[strings.SplitN(name, "/", 2)[0]]++
		}
		// The lock taken, renewed before the journal goes, and given back; a beginning and two flushes; the state.
		want := map[string]int{leaseName: 3, ".journal": 3, "": 1}
		for _, kind := range slices.Sorted(func(yield func(string) bool) {
			for k := range want {
				if !yield(k) {
					return
				}
			}
		}) {
			if kinds[kind] != want[kind] {
				t.Errorf("%q: %d writes, not %d", kind, kinds[kind], want[kind])
			}
		}
	})
}

// TestARunThatLostItsLockAfterASaveSendsNothing has a machine that sleeps, with its clock, between a save and the next intent.
func TestARunThatLostItsLockAfterASaveSendsNothing(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(t *testing.T, f *File){
		"a run that slept before its first request sends nothing": func(*testing.T, *File) {},
		"a run that slept between two requests sends nothing": func(t *testing.T, f *File) {
			t.Helper()
			must(t, f.Begin(t.Context(), []*planner.Step{creation(1)}))
			complete(t, f, creation(1), executor.Outcome{Record: planner.Record{ID: "one"}}, nil)
			must(t, f.Save())
		},
	} {
		for between, meanwhile := range map[string]func(t *testing.T, c *cloud){
			"": func(*testing.T, *cloud) {},
			", and two took its lock and died at once": func(t *testing.T, c *cloud) {
				t.Helper()
				c.takeLock(t)
				c.takeLock(t)
			},
			", and one took its lock and died, and was unlocked": func(t *testing.T, c *cloud) {
				t.Helper()
				c.takeLock(t)
				_, _, err := Unlock(t.Context(), cloudAddress, c.options())
				must(t, err)
			},
		} {
			t.Run(name+between, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := newCloud()
					f := c.open(t)
					must(t, f.StartPlan("a plan"))
					work(t, f)
					stall(t, f)
					meanwhile(t, c)
					g := c.open(t)
					f.opts.shared.lease.renewed = time.Now() // as the clock of a machine that slept has it
					if err := f.Begin(t.Context(), []*planner.Step{creation(2)}); !errors.Is(err, executor.ErrAbortRun) {
						t.Errorf("two runs send: %v", err)
					}
					must(t, g.Begin(t.Context(), []*planner.Step{creation(3)}))
					must(t, g.Save())
					must(t, g.Close())
					_ = f.Close()
					must(t, c.open(t).Close())
				})
			})
		}
	}
}

func TestUnlockAcceptsAStateThatWasReplacedByHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud()
		f := c.open(t)
		f.Put(planner.Record{Address: "project/web", ID: "p"})
		must(t, f.Save())
		must(t, f.Close())
		_, err := c.Put(t.Context(), "", []byte(c.objects[""]), strconv.Itoa(c.versions[""])) // as by a copy of an earlier version
		must(t, err)
		if _, err := Open(t.Context(), cloudAddress, c.options()); err == nil || !strings.Contains(withHint(err), "planform state unlock accepts what is stored") {
			t.Fatalf("another state than the last run left is used: %v", err)
		}
		if _, held, err := Unlock(t.Context(), cloudAddress, c.options()); held || err != nil {
			t.Fatal(held, err)
		}
		f = c.open(t)
		if f.Prior()["project/web"].ID != "p" {
			t.Error("it is not the one that was put there")
		}
		must(t, f.Close())
	})
}

// FuzzStore reads any store, because others can write anything into it.
func FuzzStore(f *testing.F) {
	c := newCloud()
	file, err := Open(f.Context(), cloudAddress, c.options())
	if err != nil {
		f.Fatal(err)
	}
	journal := ""
	for name := range c.objects {
		if rest, ok := strings.CutPrefix(name, journalPrefix); ok {
			journal = rest
		}
	}
	f.Add(c.objects[leaseName], journal, c.objects[journalPrefix+journal], "")
	if err := errors.Join(file.StartPlan("sha256:1"), file.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(c.objects[leaseName], "../../victim", "", c.objects[""])
	f.Add(`{"planform_lease":"x","clean":true,"free":true,"state":"7","open":[{"planform_lease":"y","next":-5}]}`, "y/-1", "closed\n", "{}")
	f.Add(`{"planform_lease":"../x","beat":9223372036854775807,"next":9}`, "../x/00000000000000000009", "{", `{"format_version":1}`)
	f.Add("null", "/", "\xff", "null")
	f.Fuzz(func(t *testing.T, lease, name, part, text string) {
		synctest.Test(t, func(t *testing.T) {
			c := newCloud()
			for name, text := range map[string]string{leaseName: lease, journalPrefix + name: part, "": text} {
				if text != "" {
					_, err := c.Put(t.Context(), name, []byte(text), "")
					must(t, err)
				}
			}
			before, readErr := Read(t.Context(), cloudAddress, c.options())
			f, err := Open(t.Context(), cloudAddress, c.options())
			if err != nil {
				if strings.ContainsFunc(err.Error(), func(r rune) bool { return r == 0x1b || r == 0x202e }) && readErr == nil {
					t.Errorf("it shows what a terminal would obey: %q", err)
				}
				return
			}
			if readErr == nil && before.Exists && before.Lineage != "" && f.store.Lineage != before.Lineage {
				t.Errorf("the lineage was %q and is %q", before.Lineage, f.store.Lineage)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if now, _, err := readLease(t.Context(), c); err != nil || !now.Free {
				t.Errorf("%+v %v", now, err)
			}
			again, err := Open(t.Context(), cloudAddress, c.options())
			if err != nil {
				t.Fatalf("a state that was opened and closed cannot be opened: %v", err)
			}
			must(t, again.Close())
		})
	})
}
