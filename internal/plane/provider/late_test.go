package provider_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// lateness lists ways to give up a request that is carried out nonetheless.
func lateness() map[string]trouble {
	stall := sandboxtest.Break{Stall: true}
	return map[string]trouble{
		"the connection is cut":                   {},
		"a gateway gives up":                      {fault: sandboxtest.Fault{Before: sandboxtest.Break{Status: 504, Body: "<html>too late</html>"}}},
		"the client gives up":                     {fault: sandboxtest.Fault{Before: stall}, short: true},
		"the process dies":                        {killed: true},
		"the process dies while it waits":         {fault: sandboxtest.Fault{Before: stall}, killed: true},
		"the user interrupts and the line breaks": {stopped: true},
	}
}

// newVirtual returns a service within a bubble.
func newVirtual(t *testing.T, api resource.API, unique sandboxtest.Uniqueness) *service {
	t.Helper()
	answers := sandbox.Observed
	if api == resource.Documented {
		answers = sandbox.Contract
	}
	s := newServiceOf(t, api, sandboxtest.Options{Answers: answers, Unique: unique})
	s.virtual = true
	return s
}

// TestALostCreateIsRecoveredWithinTheRunWhileOtherStepsGoOn checks that lost creates are recovered within
// the run, and that this takes no longer than the service may take.
func TestALostCreateIsRecoveredWithinTheRunWhileOtherStepsGoOn(t *testing.T) {
	t.Parallel()
	cut := sandboxtest.Fault{Before: sandboxtest.Break{Cut: true}}
	for name, tt := range map[string]struct {
		what   string
		fault  sandboxtest.Fault
		killed bool
		most   time.Duration // longest duration of the run that recovers it: after a kill, the next run
	}{
		"a create that was done is found at once":                                   {"create work item", sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}, false, 0},
		"an item that was not done is sent again after a moment":                    {"create work item", cut, false, 3 * time.Second},
		"an item that was not done is sent again by the next run":                   {"create work item", cut, true, 3 * time.Second},
		"a link that was not done is sent again after a moment":                     {"create link", cut, false, 3 * time.Second},
		"a link that was not done is sent again by the next run":                    {"create link", cut, true, 3 * time.Second},
		"a customer request that was not done is sent again after the grace period": {"create customer request", cut, false, time.Minute},
		"a customer request that was not done is sent again by the next run":        {"create customer request", cut, true, time.Minute},
		"an item that comes late is found when it is sent again":                    {"create work item", sandboxtest.Fault{Late: 10 * time.Second}, false, 3 * time.Second},
		"a link that comes late is found when it is sent again":                     {"create link", sandboxtest.Fault{Late: 10 * time.Second}, false, 3 * time.Second},
		"a customer request that comes late is found as soon as a look shows it":    {"create customer request", sandboxtest.Fault{Late: 10 * time.Second}, false, 15 * time.Second},
		"a 503 with a time is asked again at that time without a doubt":             {"create work item", sandboxtest.Fault{Before: sandboxtest.Break{Status: 503, Header: http.Header{"Retry-After": {"1"}}}}, false, 2 * time.Second},
		"a 503 without a time is looked into for a moment":                          {"create work item", sandboxtest.Fault{Before: sandboxtest.Break{Status: 503}}, false, time.Second},
		"a 503 is looked into for longer if the service refuses no second object":   {"create customer request", sandboxtest.Fault{Before: sandboxtest.Break{Status: 503}}, false, 2 * time.Second},
		"a 503 that comes late is looked into until the grace period is over":       {"create customer request", sandboxtest.Fault{Delay: 6 * time.Second, Before: sandboxtest.Break{Status: 503}}, false, time.Minute + 6*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newVirtual(t, resource.V1, sandboxtest.UniqueAlways)
				start := time.Now()
				r := s.apply(t, applying{
					manifest: wholeOf(resource.V1), grace: time.Minute, retries: 3, killed: tt.killed,
					fault: trouble{fault: tt.fault, killed: tt.killed}.on(writes()[tt.what]),
				})
				if tt.killed {
					start = time.Now()
					r = s.apply(t, applying{manifest: wholeOf(resource.V1), grace: time.Minute})
				}
				if took := time.Since(start); took > tt.most+100*time.Millisecond {
					t.Errorf("it took %s, at most %s are needed", took, tt.most)
				}
				s.Drain()
				if failed := r.failed(); len(failed) > 0 {
					t.Errorf("not all was done in one run: %q", failed)
				}
				if diff := cmp.Diff(wantedPicture(resource.V1), s.picture()); diff != "" {
					t.Errorf("what is there (-want +got):\n%s", diff)
				}
				if end := s.apply(t, applying{manifest: wholeOf(resource.V1)}); end.writes != 0 || !end.plan.Empty() {
					t.Errorf("the next run made %d writes: %q", end.writes, end.failed())
				}
			})
		})
	}
}

// TestALostCreateThatOnlyItsNumberIdentifiesIsFoundInTheSameRun: with the documented operations, an unanswered item is found by its number within
// the run, and the items after it keep theirs.
func TestALostCreateThatOnlyItsNumberIdentifiesIsFoundInTheSameRun(t *testing.T) {
	t.Parallel()
	const grace = provider.DefaultGrace
	cut := sandboxtest.Break{Cut: true}
	html := func(status int) sandboxtest.Break { return sandboxtest.Break{Status: status, Body: "<html>"} }
	for name, tt := range map[string]struct {
		fault sandboxtest.Fault
		every int // which creates get the fault
		most  time.Duration
		names string // names of the items; "" = all different
	}{
		"an item whose answer is cut off is found":                                   {fault: after(cut), every: 4, most: 0},
		"an item whose request is cut off is sent again":                             {fault: before(cut), every: 12, most: grace},
		"an item that comes late is found":                                           {fault: sandboxtest.Fault{Late: 30 * time.Second}, every: 12, most: grace},
		"an item that is answered with a 503 is sent again":                          {fault: before(html(503)), every: 4, most: 4 * 2 * time.Second},
		"an item that was done and answered with a 502 is found":                     {fault: after(html(502)), every: 4, most: 3 * 2 * time.Second},
		"an item of several with one name that is answered with a 503 is sent again": {fault: before(html(503)), every: 4, most: 4 * 2 * time.Second, names: "Same"},
		"an item of several with one name whose answer is cut off is found":          {fault: after(cut), every: 4, most: 0, names: "Same"},
		"an item whose answer is not whole is found":                                 {fault: after(sandboxtest.Break{Body: `{"half":`}), every: 4, most: 3 * 2 * time.Second},
		"an item whose answer has an invalid ID is found":                            {fault: troubles()["done, with an ID that is none"].fault, every: 4, most: 3 * 2 * time.Second},
		"an item that was done and refused for the moment is found":                  {fault: after(sandboxtest.Break{Status: 429}), every: 4, most: 10 * time.Second},
		"an item that was done and refused in general terms is found":                {fault: after(sandboxtest.Break{Status: 400, Body: `{"error":"Please provide valid detail"}`}), every: 4, most: 0},
	} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d at once", name, workers), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newVirtual(t, resource.Documented, sandboxtest.UniqueAlways)
					itemName := func(i int) string {
						if tt.names != "" {
							return tt.names
						}
						return fmt.Sprintf("Item %d", i)
					}
					text := strings.Builder{}
					text.WriteString(header)
					for i := range 12 {
						fmt.Fprintf(&text, "      - {key: i%d, name: %s, links: [{url: \"https://example.com/%d\"}]}\n", i, itemName(i), i)
					}
					n, created, start := 0, writes()["create work item"], time.Now()
					var mu sync.Mutex
					r := s.apply(t, applying{manifest: text.String(), workers: workers, retries: 2, grace: grace, fault: func(req *http.Request, _ run) sandboxtest.Fault {
						mu.Lock()
						defer mu.Unlock()
						if created.is(req) {
							if n++; n%tt.every == 2%tt.every {
								return tt.fault
							}
						}
						return sandboxtest.Fault{}
					}})
					if took := time.Since(start); took > tt.most+100*time.Millisecond {
						t.Errorf("it took %s, at most %s are needed", took, tt.most)
					}
					s.Drain()
					if failed := r.failed(); len(failed) > 0 {
						t.Errorf("not all was done in one run: %q", failed)
					}
					if items, links := len(s.Rows("work_item")), len(s.Rows("link")); items != 1+12 || links != 1+12 {
						t.Errorf("%d items, %d links", items, links)
					}
					for _, step := range r.Steps {
						var i int
						if n, _ := fmt.Sscanf(string(step.Step.Address), "work_item/web/i%d", &i); n == 1 && step.Step.Kind.Numbered() && step.Outcome.Identifier != fmt.Sprintf("WEB-%d", 2+i) {
							t.Errorf("%s is %s", step.Step.Address, step.Outcome.Identifier)
						}
					}
					if end := s.apply(t, applying{manifest: text.String()}); end.writes != 0 || !end.plan.Empty() {
						t.Errorf("the next run made %d writes: %q", end.writes, end.failed())
					}
				})
			})
		}
	}
}

func TestARunWaitsForTheRequestsOfAnEarlierRunUntilTheGracePeriodIsOver(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for name, tt := range map[string]struct {
		ago    time.Duration // time since the earlier run was last seen alive
		failed bool          // the request did not reach the service
		want   time.Duration
	}{
		"a run does not wait if the request was carried out":                                                       {0, false, 0},
		"a run waits for the whole grace period after a run that died":                                             {0, true, minute},
		"a run waits for the whole grace period after a run that may have waited for a time-out":                   {minute, true, minute},
		"a run waits for the whole grace period after a run that may have sent its request three times":            {6 * minute, true, minute},
		"a run waits for the whole grace period after a run that may have been refused for five minutes each time": {21 * minute, true, minute},
		"a run waits for the rest of the grace period":                                                             {21*minute + 20*time.Second, true, 40 * time.Second},
		"a run does not wait after a run that died early":                                                          {22 * minute, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newVirtual(t, resource.Documented, sandboxtest.UniqueNever)
				created := writes()["create work item"]
				s.apply(t, applying{manifest: oneItem, killed: true, fault: func(req *http.Request, run run) sandboxtest.Fault {
					if !created.is(req) {
						return sandboxtest.Fault{}
					}
					run.kill()
					if tt.failed {
						return sandboxtest.Fault{Before: sandboxtest.Break{Cut: true}}
					}
					return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
				}})
				time.Sleep(tt.ago) //nolint:forbidigo // in a bubble it takes no time
				before := time.Now()
				r := s.apply(t, applying{manifest: oneItem, timeout: minute, grace: minute})
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

func TestAReadBeforeTheEndOfTheGracePeriodIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVirtual(t, resource.Documented, sandboxtest.UniqueNever)
		s.apply(t, applying{manifest: oneItem, killed: true, fault: trouble{
			fault: sandboxtest.Fault{Late: 50 * time.Second}, killed: true,
		}.on(writes()["create work item"])})
		s.fault = func(*http.Request) sandboxtest.Fault { return sandboxtest.Fault{Delay: 15 * time.Second} }
		r := s.apply(t, applying{manifest: oneItem, timeout: time.Minute, grace: time.Minute})
		if len(r.failed()) > 0 || s.named("work_item", "Item A") != 1 {
			t.Error(r.failed(), s.picture())
		}
	})
}

func TestALostCreateIsFoundUnderTheFormerKey(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		for _, late := range []time.Duration{10 * time.Millisecond, 20 * time.Second} {
			t.Run(fmt.Sprint(api, ", ", late), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newServiceOf(t, api, sandboxtest.Options{Unique: sandboxtest.UniqueAlways})
					s.virtual = true
					die := func(req *http.Request, r run) sandboxtest.Fault {
						if req.Method != http.MethodPost {
							return sandboxtest.Fault{}
						}
						r.kill()
						return sandboxtest.Fault{Late: late}
					}
					s.apply(t, applying{manifest: header + "      - {key: a, name: Item A}\n      - {key: b, name: Item B}\n", killed: true, workers: 1, grace: time.Minute, fault: die})
					renamed := header + "      - {key: c, previously: a, name: Item A}\n      - {key: d, previously: b, name: Item B}\n"
					r := s.apply(t, applying{manifest: renamed, grace: time.Minute})
					s.Drain()
					if len(r.failed()) > 0 || s.named("work_item", "Item A") != 1 || s.named("work_item", "Item B") != 1 {
						t.Errorf("%q: %d, %d", r.failed(), s.named("work_item", "Item A"), s.named("work_item", "Item B"))
					}
					s.apply(t, applying{manifest: renamed}) // sets the external IDs of their new keys
					if end := s.apply(t, applying{manifest: renamed}); end.writes != 0 || !end.plan.Empty() {
						t.Errorf("the last run made %d writes", end.writes)
					}
				})
			})
		}
	}
}

func TestALostIntakeItemIsFoundByItsExternalID(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{10 * time.Millisecond, 20 * time.Second} {
		t.Run(late.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, resource.V2, sandboxtest.Options{})
				s.virtual = true
				die := func(req *http.Request, r run) sandboxtest.Fault {
					if req.Method != http.MethodPost {
						return sandboxtest.Fault{}
					}
					r.kill()
					return sandboxtest.Fault{Late: late}
				}
				text := "version: 1\nprojects: [{key: web, identifier: WEB, intake: [{key: dark, name: Dark mode}]}]\n"
				s.apply(t, applying{manifest: text, killed: true, grace: time.Minute, fault: die})
				again := s.apply(t, applying{manifest: text, grace: time.Minute})
				s.Drain()
				if len(again.failed()) > 0 || s.named("intake_item", "Dark mode") != 1 {
					t.Error(again.failed(), s.named("intake_item", "Dark mode"))
				}
				if end := s.apply(t, applying{manifest: text}); end.writes != 0 || !end.plan.Empty() {
					t.Errorf("the last run made %d writes", end.writes)
				}
			})
		})
	}
}

func TestAPIV1CannotCreateIntakeItems(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	a := s.apply(t, applying{manifest: "version: 1\nprojects: [{key: web, identifier: WEB, intake: [{key: dark, name: Dark mode}]}]\n"})
	if reasons := fmt.Sprint(a.reasons()); !strings.Contains(reasons, "API v1 cannot create an intake item") {
		t.Error(reasons)
	}
}

// TestATextWithoutItsLinkIsKnownAfterALostAnswer: the run that finds the item does not find the target of its link. If the
// state did not know the sent text, the next plan would contain a change, which the documented operations cannot make.
func TestATextWithoutItsLinkIsKnownAfterALostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newVirtual(t, resource.Documented, sandboxtest.UniqueNever)
		dying := writeFault{moment: answered}.run(1, 1, 0)
		next := applying{grace: provider.DefaultGrace, manifest: `{version: 1, projects: [{key: web, id: ` + sandboxtest.ProjectWeb + `, identifier: WEB, work_items: [
			{key: a, name: A, description: "[b](planform:work_item/web/b)"}, {key: b, name: B}]}]}`}
		dying.manifest, dying.grace = next.manifest, next.grace
		s.apply(t, dying)
		if a := s.apply(t, next); len(a.failed()) > 0 || len(a.reasons()) > 0 || a.writes != 1 {
			t.Fatalf("%d writes, failed %q, not possible %q", a.writes, a.failed(), a.reasons())
		}
		state, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
		if err != nil || !strings.Contains(string(state), `"values":{"description":`) {
			t.Errorf("%v\n%s", err, state)
		}
	})
}

// TestALateRequestThatTheManifestTakesBackIsWaitedFor: a killed run may have sent a value that the manifest no longer contains, and the service may
// still carry it out. No real time passes.
func TestALateRequestThatTheManifestTakesBackIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		api           resource.API
		text          string
		first, second string
		all           bool
	}{
		"a role of a member that comes late is changed back":                {resource.V1, `members: [{user: eve@example.com, role: %s}]`, "guest", "admin", false},
		"a role of a member that comes late is changed back by API v2":      {resource.V2, `members: [{user: eve@example.com, role: %s}]`, "guest", "admin", false},
		"a custom field that comes late is changed back":                    {resource.V1, custom, "one", "two", false},
		"a custom field that comes late and is read is changed back":        {resource.V1, custom, "one", "two", true},
		"an object whose restoring comes late is archived again":            {resource.V1, archivable, "true", "false", false},
		"an object whose archiving comes late is restored again":            {resource.V1, archivable, "false", "true", false},
		"a work item whose restoring comes late is archived again":          {resource.V1, archivableItem, "true", "false", false},
		"a field of an object in a project that comes late is changed back": {resource.V2, `labels: [{name: bug, color: "%s"}]`, "#ef4444", "#15803d", false},
		"a field of an adopted object that comes late is changed back":      {resource.V1, `states: [{name: Todo, color: "%s"}]`, "#60646C", "#15803d", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, tt.api, sandboxtest.Options{Answers: sandbox.Contract})
				s.virtual = true
				a := applying{all: tt.all, grace: provider.DefaultGrace}
				with := func(value string) applying {
					a.manifest = `{version: 1, projects: [{key: web, identifier: WEB, ` + fmt.Sprintf(tt.text, value) + `}]}`
					return a
				}
				if !strings.Contains(name, "adopted") {
					s.apply(t, with(tt.first))
				}
				killed, sent := with(tt.second), 0
				killed.killed = true
				killed.fault = func(req *http.Request, r run) sandboxtest.Fault {
					if req.Method == http.MethodGet {
						return sandboxtest.Fault{}
					}
					sent++
					r.kill()
					return sandboxtest.Fault{Late: provider.DefaultGrace / 2}
				}
				s.apply(t, killed)
				s.apply(t, with(tt.first))
				s.Drain()
				all := with(tt.first)
				all.all = true
				if end := s.apply(t, all); sent != 1 || !end.plan.Empty() {
					t.Errorf("%d requests were late; then %+v", sent, end.plan.Summary)
				}
			})
		})
	}
}

const (
	custom         = `work_item_types: [{name: Thing, properties: [{name: Size, type: text}]}], work_items: [{key: a, name: A, type: Thing, fields: {Size: %s}}]`
	archivable     = `cycle_view: true, cycles: [{key: c, name: C, start_date: 1999-01-01, end_date: 1999-02-02, archived: %s}]`
	archivableItem = `work_items: [{key: a, name: A, state: Done, archived: %s}]`
)

// TestALostUpdateOfAnObjectIsNotForgottenIfAnotherSucceeds, if the manifest takes it back and no read shows the field.
func TestALostUpdateOfAnObjectIsNotForgottenIfAnotherSucceeds(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	with := func(size, color string) applying {
		return applying{workers: 1, manifest: `{version: 1, projects: [{key: web, identifier: WEB, work_item_types: [{name: Thing, properties: [{name: Size, type: text}, {name: Color, type: text}]}], work_items: [{key: a, name: A, type: Thing, fields: {Size: ` + size + `, Color: ` + color + `}}]}]}`}
	}
	s.apply(t, with("one", "one"))
	lost, sent := with("two", "two"), 0
	lost.fault = func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method == http.MethodGet {
			return sandboxtest.Fault{}
		}
		if sent++; sent > 1 {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
	}
	if first := s.apply(t, lost); len(first.failed()) != 1 || sent != 2 {
		t.Fatalf("%d were sent: %v", sent, first.failed())
	}
	if again := s.apply(t, with("one", "two")); again.plan.Summary.Adopt > 0 { // it would close the intent before anything is sent
		t.Errorf("%+v", again.plan.Summary)
	}
	end := with("one", "two")
	end.all = true
	if last := s.apply(t, end); !last.plan.Empty() {
		t.Errorf("%+v", last.plan.Summary)
	}
}
