package remote_test

import (
	"fmt"
	"net/http"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/remote"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox"
)

// lateness are ways to give up a request that is carried out nonetheless.
func lateness() map[string]trouble {
	stall := sandbox.Break{Stall: true}
	return map[string]trouble{
		"the connection is cut":                   {},
		"a gateway gives up":                      {fault: sandbox.Fault{Before: sandbox.Break{Status: 504, Body: "<html>too late</html>"}}},
		"the client gives up":                     {fault: sandbox.Fault{Before: stall}, short: true},
		"the process dies":                        {killed: true},
		"the process dies while it waits":         {fault: sandbox.Fault{Before: stall}, killed: true},
		"the user interrupts and the line breaks": {stopped: true},
	}
}

// TestWhatIsCarriedOutAfterItWasGivenUpIsThereOnce lets a service that refuses
// nothing carry a request out when nobody waits for it any more. No real time
// passes.
func TestWhatIsCarriedOutAfterItWasGivenUpIsThereOnce(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{5 * time.Millisecond, 3 * time.Second, 20 * time.Second, remote.DefaultPatience - time.Second}
	for _, api := range []resource.API{resource.Full, resource.Documented} {
		for _, what := range []string{"create work item", "create link", "create customer request"} {
			for how, tr := range lateness() {
				for _, delay := range delays {
					tr.fault.Late = delay
					t.Run(path.Join(api.String(), what, how, delay.String()), func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) { beLate(t, api, writes()[what], tr) })
					})
				}
			}
		}
	}
}

// beLate lets the first such request be late, and applies until all is well.
func beLate(t *testing.T, api resource.API, w write, tr trouble) {
	t.Helper()
	s := newVirtual(t, api)
	one := applying{manifest: wholeOf(api), patience: remote.DefaultPatience, fault: tr.on(w), killed: tr.killed}
	if tr.short { // what it waited counts as well
		one.timeout = tr.fault.Late / 2
	}
	s.apply(t, one)
	next := applying{manifest: wholeOf(api), patience: remote.DefaultPatience}
	second := s.apply(t, next)
	s.Drain()
	if failed := second.failed(); len(failed) > 0 || len(second.reasons()) > 0 {
		t.Errorf("the second run failed: %q %v", failed, second.reasons())
	}
	if diff := cmp.Diff(wantedPicture(api), s.picture()); diff != "" {
		t.Errorf("what is there (-want +got):\n%s", diff)
	}
	if end := s.apply(t, next); end.writes != 0 || !end.plan.Empty() {
		t.Errorf("the last run made %d writes: %q", end.writes, end.failed())
	}
}

// newVirtual is a service that refuses nothing, within a bubble.
func newVirtual(t *testing.T, api resource.API) *service {
	t.Helper()
	answers := sandbox.Observed
	if api == resource.Documented {
		answers = sandbox.Contract
	}
	s := newServiceOf(t, api, sandbox.Options{Answers: answers, Unique: sandbox.UniqueNever})
	s.virtual = true
	return s
}

func TestHowLongARunWaitsForWhatAnEarlierOneSent(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for name, tt := range map[string]struct {
		ago    time.Duration // when the earlier run was heard of last
		failed bool          // the request did not get through
		want   time.Duration
	}{
		"not at all if all is there":             {0, false, 0},
		"the whole time after a run that died":   {0, true, minute},
		"which may have waited for a time-out":   {minute, true, minute},
		"and have looked for something":          {2 * minute, true, minute},
		"what is left of it":                     {2*minute + 20*time.Second, true, 40 * time.Second},
		"not at all after a run that died early": {3 * minute, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newVirtual(t, resource.Documented)
				created := writes()["create work item"]
				s.apply(t, applying{manifest: oneItem, killed: true, fault: func(req *http.Request, run run) sandbox.Fault {
					if !created.is(req) {
						return sandbox.Fault{}
					}
					run.kill()
					if tt.failed {
						return sandbox.Fault{Before: sandbox.Break{Cut: true}}
					}
					return sandbox.Fault{After: sandbox.Break{Cut: true}}
				}})
				time.Sleep(tt.ago) //nolint:forbidigo // in a bubble it takes no time
				before := time.Now()
				r := s.apply(t, applying{manifest: oneItem, timeout: minute, patience: minute})
				if took := time.Since(before).Round(time.Second); took != tt.want {
					t.Errorf("it waited for %s, want %s", took, tt.want)
				}
				if len(r.failed()) > 0 || s.named("work_item", "Item A") != 1 {
					t.Error(r.failed(), fmt.Sprint(s.picture()))
				}
			})
		})
	}
}

func TestAReadThatCameTooEarlyIsRepeatedHoweverLongTheOthersTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVirtual(t, resource.Documented)
		s.apply(t, applying{manifest: oneItem, killed: true, fault: trouble{
			fault: sandbox.Fault{Late: 50 * time.Second}, killed: true,
		}.on(writes()["create work item"])})
		s.fault = func(*http.Request) sandbox.Fault { return sandbox.Fault{Delay: 15 * time.Second} }
		r := s.apply(t, applying{manifest: oneItem, timeout: time.Minute, patience: time.Minute})
		if len(r.failed()) > 0 || s.named("work_item", "Item A") != 1 {
			t.Error(r.failed(), s.picture())
		}
	})
}
