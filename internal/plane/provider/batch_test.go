package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// rowsOf returns the number of rows of a batch of API v2, 0 for another request.
func rowsOf(req *http.Request) int {
	if !strings.Contains(req.URL.Path, "/bulk-") {
		return 0
	}
	text, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(text))
	var body struct{ Items, IDs []any }
	_ = json.Unmarshal(text, &body) // otherwise it has no rows
	return len(body.Items) + len(body.IDs)
}

// batches records the requests, and injects faults into batches.
type batches struct {
	fault func(n int) sandboxtest.Fault // of the n-th batch, from 1; nil = none
	mu    sync.Mutex
	rows  []int // of each batch
	alone int   // other writes
}

func (b *batches) on(req *http.Request, _ run) sandboxtest.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch n := rowsOf(req); {
	case n > 0:
		b.rows = append(b.rows, n)
		if b.fault != nil {
			return b.fault(len(b.rows))
		}
	case req.Method != http.MethodGet:
		b.alone++
	}
	return sandboxtest.Fault{}
}

func (b *batches) sent() string {
	text := strings.Trim(fmt.Sprint(b.rows), "[]")
	if b.alone > 0 {
		text += fmt.Sprintf(" and %d alone", b.alone)
	}
	return strings.TrimSpace(text)
}

// first injects a fault into the first batch, and every into the first n.
func first(f sandboxtest.Fault) func(int) sandboxtest.Fault { return every(1, f) }

func every(last int, f sandboxtest.Fault) func(int) sandboxtest.Fault {
	return func(n int) sandboxtest.Fault {
		if n <= last {
			return f
		}
		return sandboxtest.Fault{}
	}
}

func before(b sandboxtest.Break) sandboxtest.Fault { return sandboxtest.Fault{Before: b} }
func after(b sandboxtest.Break) sandboxtest.Fault  { return sandboxtest.Fault{After: b} }

// manyItems returns a manifest with n new items.
func manyItems(n int) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range n {
		fmt.Fprintf(&b, "      - {key: i%d, name: Item %d}\n", i, i)
	}
	return b.String()
}

// settled applies a manifest of n items until nothing is left to do, and checks that each exists once.
func (sv *service) settled(t *testing.T, text string, n int, next resource.API, grace time.Duration) {
	t.Helper()
	sv.api = next
	if r := sv.apply(t, applying{manifest: text, grace: grace}); len(r.failed()) > 0 || len(r.reasons()) > 0 {
		t.Errorf("the next run failed: %q %v", r.failed(), r.reasons())
	}
	sv.Drain()
	for _, api := range []resource.API{resource.V2, resource.V1} {
		sv.api = api
		if end := sv.apply(t, applying{manifest: text}); end.writes != 0 || !end.plan.Empty() {
			t.Errorf("the last run by API %s made %d writes: %+v", api, end.writes, end.plan.Summary)
		}
	}
	count := map[any]int{}
	for _, r := range sv.Rows("work_item") {
		count[r["name"]]++
	}
	for i := range n {
		if name := fmt.Sprintf("Item %d", i); count[name] != 1 {
			t.Errorf("%s is there %d times", name, count[name])
		}
	}
	file := sv.open(t)
	defer func() { _ = file.Close() }() // nothing was changed
	for address, r := range file.Prior() {
		if address.Kind() == "work_item" && (r.PendingIntent != nil || r.Identifier == "" || !r.CreatedByUs) {
			t.Errorf("%s in the state: %+v", address, r)
		}
	}
}

func TestABatchThatGoesWrongMakesEveryItemOnce(t *testing.T) {
	t.Parallel()
	const grace, moment = provider.DefaultGrace, 2 * time.Second
	cut := sandboxtest.Break{Cut: true}
	refuse := func(rows ...int) func(*http.Request, int, any) string {
		var left atomic.Int32
		left.Store(int32(len(rows)))
		return func(_ *http.Request, i int, _ any) string {
			if slices.Contains(rows, i) && left.Add(-1) >= 0 {
				return "workflow_transition_denied"
			}
			return ""
		}
	}
	collide := func(times int) func(*http.Request, int, any) string {
		var left atomic.Int32
		left.Store(int32(2 * times))
		return func(_ *http.Request, _ int, row any) string {
			name, _ := row.(map[string]any)["name"].(string)
			if (name == "Item 7" || name == "Item 8") && left.Add(-1) >= 0 {
				return "conflict"
			}
			return ""
		}
	}
	tail := []int{}
	for i := 20; i < 50; i++ {
		tail = append(tail, i)
	}
	long := sandboxtest.Break{Stall: true}
	html := func(status int) sandboxtest.Break {
		return sandboxtest.Break{Status: status, Body: "<html>Gateway</html>"}
	}
	for name, tt := range map[string]struct {
		options   sandboxtest.Options
		fault     func(int) sandboxtest.Fault
		items     int // 0 = 50
		timeout   time.Duration
		sent      string // rows sent by the first run
		takes     time.Duration
		fails     int // failed rows of the first run
		fallbacks int
	}{
		"a batch that nothing disturbs makes every item":                         {items: 120, sent: "50 50 20"},
		"a batch that is cut before it is done is sent again in halves":          {fault: first(before(cut)), sent: "50 25 25", takes: grace},
		"a batch that is cut after it was done is found":                         {fault: first(after(cut)), sent: "50", takes: grace / 20},
		"a batch with half an answer is found":                                   {fault: first(after(sandboxtest.Break{Body: `{"results": [{"index": 0`})), sent: "50", takes: moment},
		"a batch that is done late is found":                                     {fault: first(sandboxtest.Fault{Late: time.Second}), sent: "50", takes: grace / 20},
		"a batch that is done after a look found nothing is found":               {fault: first(sandboxtest.Fault{Late: grace / 2}), sent: "50", takes: grace},
		"a batch that is done at the end of the grace period is found":           {fault: first(sandboxtest.Fault{Late: grace - time.Second}), sent: "50", takes: grace},
		"a batch that is done late behind a gateway is found":                    {fault: first(sandboxtest.Fault{Late: grace / 2, Before: html(504)}), sent: "50", takes: grace},
		"a batch that is done late after the client gave up is found":            {fault: first(sandboxtest.Fault{Late: grace, Before: long}), timeout: grace / 2, sent: "50", takes: grace + grace/2},
		"a batch with a 502 makes the next ones smaller":                         {fault: first(before(html(502))), items: 120, sent: "50 25 25 25 25 20", takes: moment},
		"a batch with a 504 makes the next ones smaller":                         {fault: first(before(html(504))), items: 120, sent: "50 25 25 25 25 20", takes: grace},
		"a batch with a 500 makes the next ones smaller":                         {fault: first(before(sandboxtest.Problem(500, "server_error", "server_error"))), items: 120, sent: "50 25 25 25 25 20", takes: moment},
		"a batch with a time-out makes the next ones smaller":                    {fault: first(before(long)), timeout: 10 * time.Second, items: 120, sent: "50 25 25 25 25 20", takes: grace + 10*time.Second},
		"a batch with a 503 is sent again later":                                 {fault: first(before(sandboxtest.Break{Status: 503, Header: http.Header{"Retry-After": {"2"}}})), sent: "50 50", takes: 2 * time.Second},
		"a batch that is cut twice is sent in smaller parts and single items":    {fault: every(2, before(cut)), sent: "50 25 12 12 12 12 and 2 alone", takes: 2 * grace},
		"a batch that was partly done is completed":                              {options: sandboxtest.Options{FailRow: refuse(tail...)}, fault: first(after(cut)), sent: "50 25 5", takes: grace},
		"a row that is refused fails alone":                                      {options: sandboxtest.Options{FailRow: refuse(7)}, sent: "50", fails: 1},
		"two rows that collide are sent again":                                   {options: sandboxtest.Options{FailRow: collide(1)}, sent: "50 2", takes: time.Second},
		"two rows that collide again and again fail":                             {options: sandboxtest.Options{FailRow: collide(3)}, sent: "50 2 2", takes: time.Second, fails: 2},
		"items are sent alone if the route answers as if an object were missing": {fault: first(before(sandboxtest.Problem(404, "not_found", "not_found"))), items: 120, sent: "50 and 120 alone", fallbacks: 1},
		"items are sent alone if the whole batch is refused":                     {fault: first(before(sandboxtest.Problem(400, "invalid_request", "invalid_request"))), sent: "50 and 50 alone"},
		"a batch that is too large is sent in halves":                            {options: sandboxtest.Options{BodyLimit: 3000}, sent: "50 25 25"},
		"items are sent alone if the price plan has no batches":                  {fault: first(before(sandboxtest.Problem(402, "payment_required", "payment_required"))), items: 120, sent: "50 and 120 alone", fallbacks: 1},
		"items are sent alone if the route does not exist":                       {options: sandboxtest.Options{HasOperation: sandboxtest.FirstOperations}, items: 120, sent: "50 and 120 alone", fallbacks: 1},
		"items are sent alone if the method does not exist":                      {fault: first(before(sandboxtest.Problem(405, "method_not_allowed", "method_not_allowed"))), items: 120, sent: "50 and 120 alone", fallbacks: 1},
		"items are sent alone if the batch is refused as managed elsewhere":      {fault: first(before(sandboxtest.Problem(409, "conflict", "states_managed_at_workspace"))), items: 60, sent: "50 and 60 alone", fallbacks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, resource.V2, tt.options)
				s.virtual = true
				n := max(tt.items, 0)
				if n == 0 {
					n = 50
				}
				text, seen, start := manyItems(n), &batches{fault: tt.fault}, time.Now()
				r := s.apply(t, applying{manifest: text, grace: grace, timeout: tt.timeout, retries: 3, fault: seen.on})
				if failed := r.failed(); len(failed) != tt.fails || len(r.fallbacks) != tt.fallbacks || len(r.warnings()) > 0 {
					t.Errorf("failed: %q, fallbacks: %v, warnings: %v", failed, r.fallbacks, r.warnings())
				}
				for _, step := range r.Steps {
					if step.Err != nil && (!slices.Contains([]int{15, 16}, step.Step.Position.Line) || !strings.Contains(step.Err.Error(), "The row was refused.")) {
						t.Errorf("%s: %v", step.Step.Position, step.Err)
					}
				}
				if took := time.Since(start).Round(time.Second); took != tt.takes || seen.sent() != tt.sent {
					t.Errorf("it took %s and sent %s; want %s and %s", took, seen.sent(), tt.takes, tt.sent)
				}
				s.settled(t, text, n, resource.V2, grace)
			})
		})
	}
}

func TestARunEndsAtAnAnswerThatIsNotDocumentedAndTheNextByV1DoublesNothing(t *testing.T) {
	t.Parallel()
	const id = `"id":"` + sandboxtest.WorkItemWeb1 + `"`
	for name, body := range map[string]string{
		"results": `{"succeeded":50,"failed":0}`,
		"rows":    `{"results":[{"index":0,"result":"created",` + id + `}],"succeeded":1,"failed":0}`,
		"[]":      `[]`,
		"results[0].id": `{"results":[` + strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := range 50 {
				if !yield(fmt.Sprintf(`{"index":%d,"result":"created"}`, i)) {
					return
				}
			}
		}), ",") + `],"succeeded":50,"failed":0}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, resource.V2, sandboxtest.Options{})
				s.virtual = true
				text, seen := manyItems(120), &batches{fault: first(after(sandboxtest.Break{Body: body}))}
				r := s.apply(t, applying{manifest: text, grace: provider.DefaultGrace, fault: seen.on})
				said := fmt.Sprint(r.Stopped, diag.HintOf(r.Stopped))
				for _, part := range []string{"bulk-create", strings.Trim(name, "[]"), "--api v1"} {
					if !strings.Contains(said, part) {
						t.Errorf("it does not say %q: %s", part, said)
					}
				}
				if seen.sent() != "50" {
					t.Errorf("sent: %s", seen.sent())
				}
				s.settled(t, text, 120, resource.V1, provider.DefaultGrace)
			})
		})
	}
}

// dyingInABatch returns a service on which a run was killed during its first batch, and the manifest of that run.
func dyingInABatch(t *testing.T, items int, fault sandboxtest.Fault) (*service, string) {
	t.Helper()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Unique: sandboxtest.UniqueNever})
	s.virtual = true
	text, seen := manyItems(items), &batches{fault: first(fault)}
	s.apply(t, applying{manifest: text, killed: true, grace: provider.DefaultGrace, fault: func(req *http.Request, r run) sandboxtest.Fault {
		f := seen.on(req, r)
		if len(seen.rows) == 1 {
			r.kill()
		}
		return f
	}})
	return s, text
}

func TestABatchOfARunThatDiedIsFoundByTheNext(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandboxtest.Fault{
		"a batch that was done is found":                 {},
		"a batch that was not done is sent again":        before(sandboxtest.Break{Cut: true}),
		"a batch that is done later is found":            {Late: 20 * time.Second},
		"a batch that is done far later is found":        {Late: provider.DefaultGrace - time.Second},
		"a batch that stalls and is done later is found": {Before: sandboxtest.Break{Stall: true}, Late: 40 * time.Second},
	} {
		for _, next := range []resource.API{resource.V2, resource.V1} {
			t.Run(name+", by "+next.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, text := dyingInABatch(t, 60, fault)
					s.settled(t, text, 60, next, provider.DefaultGrace)
				})
			})
		}
	}
}

func TestALookupThatBeganBeforeTheEndOfTheGracePeriodIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServiceOf(t, resource.V2, sandboxtest.Options{Unique: sandboxtest.UniqueNever, PerPage: 20})
		s.virtual = true
		for i := range 30 {
			s.otherUser(t, http.MethodPost, "projects/"+sandboxtest.ProjectWeb+"/work-items/", fmt.Sprintf(`{"name": "Other %d"}`, i))
		}
		text, seen, slow := manyItems(50), &batches{fault: first(sandboxtest.Fault{Late: 20 * time.Second})}, atomic.Bool{}
		s.apply(t, applying{manifest: text, grace: provider.DefaultGrace, timeout: 2 * time.Minute, retries: 3, fault: func(req *http.Request, r run) sandboxtest.Fault {
			if q := req.URL.Query(); q.Get("order_by") == "-created_at" && q.Get("cursor") != "" && slow.CompareAndSwap(false, true) {
				return sandboxtest.Fault{Delay: 58 * time.Second} // the first page was read before the batch was carried out
			}
			return seen.on(req, r)
		}})
		if !slow.Load() {
			t.Error("no look-up had a second page")
		}
		s.settled(t, text, 50, resource.V2, provider.DefaultGrace)
	})
}

func TestABatchOfARunThatDiedIsFoundEvenAfterARunThatSendsOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, text := dyingInABatch(t, 50, sandboxtest.Fault{Late: 40 * time.Second})
		s.api = resource.V1
		s.apply(t, applying{manifest: text, killed: true, grace: provider.DefaultGrace, dies: func(j executor.Journal, r run) executor.Journal {
			return &mortal{Journal: j, run: r, n: 1, moment: announced}
		}})
		s.settled(t, text, 50, resource.V1, provider.DefaultGrace)
	})
}

func TestItemsOfABatchThatIsRefusedAsAWholeAreNotMadeTwice(t *testing.T) {
	t.Parallel()
	refused := sandboxtest.Problem(400, "invalid_request", "invalid_request")
	for name, tt := range map[string]struct {
		fault  sandboxtest.Fault
		noLook bool // the lookups of the first run fail
	}{
		"items of a refused batch that was done are found":                                {fault: after(refused)},
		"items of a refused batch that was done are made once if no look-up succeeds":     {fault: after(refused), noLook: true},
		"items of a refused batch that was not done are made once if no look-up succeeds": {fault: before(refused), noLook: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, resource.V2, sandboxtest.Options{Unique: sandboxtest.UniqueNever})
				s.virtual = true
				text, seen := manyItems(50), &batches{fault: every(100, tt.fault)}
				s.apply(t, applying{manifest: text, fault: func(req *http.Request, r run) sandboxtest.Fault {
					if tt.noLook && req.URL.Query().Get("order_by") == "-created_at" {
						return before(sandboxtest.Break{Status: 502})
					}
					return seen.on(req, r)
				}})
				s.settled(t, text, 50, resource.V2, 0)
			})
		})
	}
}

func TestChangesAndDeletesAreSentAgainAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault func(int) sandboxtest.Fault
		sent  string
		fails int
	}{
		"a batch that is cut before it is done is sent again":    {fault: first(before(sandboxtest.Break{Cut: true})), sent: "50 50 10"},
		"a batch that is cut after it was done is sent again":    {fault: first(after(sandboxtest.Break{Cut: true})), sent: "50 50 10"},
		"a batch with a 502 after it was done is sent again":     {fault: first(after(sandboxtest.Break{Status: 502})), sent: "50 50 10"},
		"a batch that is too slow is sent again in smaller ones": {fault: every(3, before(sandboxtest.Break{Stall: true})), sent: "50 50 50 25 25 10"},
		"a batch with a 504 is sent again in smaller ones":       {fault: every(3, after(sandboxtest.Break{Status: 504})), sent: "50 50 50 25 25 10"},
		"a batch that is too slow in any size fails":             {fault: every(100, before(sandboxtest.Break{Stall: true})), sent: "50 50 50 25 25 25 25 25 25 10 10 10 5 5 5 5 5 5", fails: 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, resource.V2, sandboxtest.Options{})
				s.virtual = true
				s.apply(t, applying{manifest: manyItems(60)})
				changed := strings.ReplaceAll(manyItems(60), "}", ", priority: high}")
				seen := &batches{fault: tt.fault}
				if r := s.apply(t, applying{manifest: changed, retries: 2, workers: 1, timeout: 10 * time.Second, fault: seen.on}); len(r.failed())+len(r.warnings()) != tt.fails || seen.sent() != tt.sent {
					t.Errorf("changing: %q %v, sent %s", r.failed(), r.warnings(), seen.sent())
				}
				if tt.fails > 0 {
					return
				}
				s.settled(t, changed, 60, resource.V2, 0)
				s.api = resource.V2
				seen = &batches{fault: tt.fault}
				if r := s.apply(t, applying{manifest: header + "      - {key: i0, name: Item 0}\n", prune: true, retries: 2, workers: 1, timeout: 10 * time.Second, fault: seen.on}); len(r.failed()) > 0 || seen.sent() != strings.Replace(tt.sent, "10", "9", 1) {
					t.Errorf("deleting: %q, sent %s", r.failed(), seen.sent())
				}
				if left := len(s.Rows("work_item")); left != 2 {
					t.Errorf("%d items are left", left)
				}
			})
		})
	}
}

// labelled returns a manifest with new labels. API v2 accepts each name once.
const labelled = "version: 1\nworkspace: acme\nprojects:\n  - key: web\n    id: " + sandboxtest.ProjectWeb + "\n    identifier: WEB\n" +
	"    labels: [{key: a, name: A}, {key: b, name: B}, {key: c, name: C}]\n"

func TestARowWhoseNameIsTakenIsFinallyAdopted(t *testing.T) {
	t.Parallel()
	t.Run("a name that somebody else took is adopted by the next run", func(t *testing.T) {
		t.Parallel()
		s := newServiceOf(t, resource.V2, sandboxtest.Options{})
		var theirs atomic.Bool
		r := s.apply(t, applying{manifest: labelled, fault: func(req *http.Request, _ run) sandboxtest.Fault {
			if rowsOf(req) == 3 && !theirs.Swap(true) {
				s.otherUser(t, "POST", "projects/"+sandboxtest.ProjectWeb+"/labels/", `{"name": "B"}`)
			}
			return sandboxtest.Fault{}
		}})
		if failed := r.failed(); len(failed) != 1 || !strings.Contains(failed[0], "label/web/b") {
			t.Errorf("%q", failed)
		}
		if next := s.apply(t, applying{manifest: labelled}); len(next.failed()) > 0 || s.named("label", "A") != 1 || s.named("label", "B") != 1 || s.named("label", "C") != 1 {
			t.Errorf("%q %v", next.failed(), s.Rows("label"))
		}
	})
	t.Run("a name that the batch before took is adopted by the same run", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := newServiceOf(t, resource.V2, sandboxtest.Options{})
			s.virtual = true
			seen := &batches{fault: func(n int) sandboxtest.Fault { // the first one takes effect very late
				if n == 1 {
					return sandboxtest.Fault{Late: provider.DefaultGrace + time.Second}
				}
				return sandboxtest.Fault{Delay: 2 * time.Second}
			}}
			r := s.apply(t, applying{manifest: labelled, grace: provider.DefaultGrace, fault: seen.on})
			if len(r.failed()) > 0 || s.named("label", "A") != 1 || s.named("label", "B") != 1 || s.named("label", "C") != 1 {
				t.Errorf("%q %v", r.failed(), s.Rows("label"))
			}
			for _, step := range r.Steps {
				if step.Step.Action == planner.Create && !step.Outcome.CreatedByUs {
					t.Errorf("%s: made by somebody else", step.Step.Address)
				}
			}
		})
	})
}

// contained returns a manifest with n items in a new cycle and a new module.
func contained(n int) string {
	text := strings.ReplaceAll(manyItems(n), "}", ", cycle: c, module: m}")
	return strings.Replace(text, "    work_items:", "    cycles: [{key: c, name: C}]\n    modules: [{key: m, name: M}]\n    work_items:", 1)
}

func TestNewItemsAreAddedToTheirContainersEvenIfTheCreateDoesNotDoIt(t *testing.T) {
	t.Parallel()
	for ignored, alone := range map[bool]int{false: 0, true: 2} {
		t.Run(strconv.FormatBool(ignored), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{IgnoreMembership: ignored})
			seen := &batches{}
			r := s.apply(t, applying{manifest: contained(4), fault: seen.on})
			others := seen.alone - 2 // the cycle and the module
			if len(r.failed())+len(r.warnings()) > 0 || others != alone || len(s.Rows("cycle_issue")) != 4 || len(s.Rows("module_issue")) != 4 {
				t.Errorf("%q %v, %d writes besides batches, %d and %d members", r.failed(), r.warnings(), others, len(s.Rows("cycle_issue")), len(s.Rows("module_issue")))
			}
			s.settled(t, contained(4), 4, resource.V2, 0)
		})
	}
}

// TestAMemberThatACreateAddedCountsAsPlanforms kills runs before they check whether their items are in the
// containers. Containers with somebody else's items would not be deleted.
func TestAMemberThatACreateAddedCountsAsPlanforms(t *testing.T) {
	t.Parallel()
	const items = 120 // more than one request adds
	for name, tt := range map[string]struct {
		moment
		n int // index of the step that dies
	}{
		"a member counts as planform's if the answer is lost":                      {moment: never},
		"a member counts as planform's if the answer is not written down":          {answered, 2 + 1},
		"a member counts as planform's if a part of the answer is written down":    {recorded, 2 + 30},
		"a member counts as planform's if all items are written down":              {recorded, 2 + items},
		"a member counts as planform's if one of two member steps is written down": {recorded, 2 + items + 1},
		"a member counts as planform's if the member steps are only announced":     {answered, 2 + items + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, resource.V2, sandboxtest.Options{})
				s.virtual = true
				s.apply(t, applying{
					manifest: contained(items), killed: true, workers: 1,
					fault: func(req *http.Request, r run) sandboxtest.Fault {
						if tt.moment == never && rowsOf(req) == 50 {
							defer r.kill()
							return after(sandboxtest.Break{Cut: true})
						}
						return sandboxtest.Fault{}
					},
					dies: func(j executor.Journal, r run) executor.Journal {
						return &mortal{Journal: j, run: r, n: tt.n, moment: tt.moment}
					},
				})
				s.settled(t, contained(items), items, resource.V2, 0)
				s.api = resource.V2
				r := s.apply(t, applying{manifest: manyItems(items), prune: true})
				if len(r.failed()) > 0 || len(r.reasons()) > 0 || s.named("cycle", "C")+s.named("module", "M") > 0 {
					t.Errorf("%q %v", r.failed(), r.reasons())
				}
			})
		})
	}
}

// TestATextThatTheServiceRewritesIsNotDrift shows the texts of a batch only in a later list.
func TestATextThatTheServiceRewritesIsNotDrift(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	s.replying = func(_ *http.Request, row map[string]any) {
		if text, ok := row["description_html"].(string); ok {
			row["description_html"] = strings.ReplaceAll(text, "Number", "Nr.")
		}
	}
	text := strings.ReplaceAll(manyItems(4), "}", `, description: "Number one"}`)
	if r := s.apply(t, applying{manifest: text}); len(r.failed()) > 0 {
		t.Errorf("%q %v", r.failed(), r.warnings())
	}
	if n := s.unseen(t); n != 0 {
		t.Errorf("%d texts are unseen", n)
	}
	if r := s.apply(t, applying{manifest: text}); r.writes > 0 || !r.plan.Empty() || len(r.plan.Seen) > 0 {
		t.Errorf("%d writes, %+v, %d seen", r.writes, r.plan.Summary, len(r.plan.Seen))
	}
	s.replying = nil // as if somebody had changed them back
	if r := s.apply(t, applying{manifest: text}); r.writes > 0 {
		t.Errorf("the text that was sent is sent again: %d writes", r.writes)
	}
}

// unseen returns the number of objects whose texts were not read after they were sent.
func (sv *service) unseen(t *testing.T) (n int) {
	t.Helper()
	file := sv.open(t)
	defer func() { _ = file.Close() }() // nothing was changed
	for _, r := range file.Prior() {
		if r.SentUnseen("description") || r.SentUnseen("description_html") || r.SentUnseen("text") {
			n++
		}
	}
	return n
}

// TestATextThatSomebodyChangesAfterABatchIsDrift, because the answer to a batch shows no texts, so the first text that is read need not be
// the service's form of the sent text.
func TestATextThatSomebodyChangesAfterABatchIsDrift(t *testing.T) {
	t.Parallel()
	items := func(text string) string {
		return fmt.Sprintf(`projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, description: %[1]s}, {key: b, name: B, description: %[1]s,
			comments: [{key: k, text: %[1]s}, {key: l, text: %[1]s}]}]}]`, text)
	}
	first, second := items(`"One **bold** word"`), items(`"Two *slanted* words"`)
	killed := applying{killed: true, dies: func(j executor.Journal, r run) executor.Journal {
		return &mortal{Journal: j, run: r, n: 4, moment: recorded}
	}}
	for name, tt := range map[string]struct {
		before func(t *testing.T, s *service) // ends with the first manifest, or the second
		left   string
		unseen int // objects with texts that were not read
	}{
		"a change of a text that a run created is drift": {func(t *testing.T, s *service) { t.Helper(); s.apply(t, applying{manifest: first}) }, first, 2},
		"a change of a text that a run restored is drift": {func(t *testing.T, s *service) {
			t.Helper()
			s.apply(t, applying{manifest: first})
			s.apply(t, applying{manifest: first})
			s.scribble(t, "<p>people</p>")
			if r := s.apply(t, applying{manifest: first}); r.plan.Summary.Update != 4 {
				t.Errorf("restored: %+v", r.plan.Summary)
			}
		}, first, 2},
		"a change of a text that the manifest changed is drift": {func(t *testing.T, s *service) {
			t.Helper()
			s.apply(t, applying{manifest: first})
			s.apply(t, applying{manifest: second})
		}, second, 2},
		"a change of a text that a run which died created is drift": {func(t *testing.T, s *service) {
			t.Helper()
			dying := killed
			dying.manifest = first
			s.apply(t, dying)
		}, first, 4},
		"a change of a text that an older version remembers without a time is drift": {func(t *testing.T, s *service) {
			t.Helper()
			s.apply(t, applying{manifest: first})
			file := s.open(t)
			defer func() { _ = file.Close() }() // saved before
			for _, r := range file.Prior() {
				for _, field := range []string{"description", "text"} {
					if _, is := r.Values[field]; is {
						r.Values = maps.Clone(r.Values)
						r.Values[planner.ShownKey(field)] = "?"
						file.Put(r)
					}
				}
			}
			if err := file.Save(); err != nil {
				t.Fatal(err)
			}
		}, first, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{})
			tt.before(t, s)
			if n := s.unseen(t); n != tt.unseen {
				t.Errorf("%d texts are unseen, not %d", n, tt.unseen)
			}
			s.scribble(t, "<p>people again</p>")
			r := s.apply(t, applying{manifest: tt.left})
			if r.plan.Summary.Update != 4 || len(r.plan.Drift) != 4 || r.plan.Drift[0].Change.Origin != planner.FromDrift {
				t.Errorf("seen: %+v, %d fields drifted", r.plan.Summary, len(r.plan.Drift))
			}
			for i := range 2 {
				if r := s.apply(t, applying{manifest: tt.left}); r.writes > 0 || !r.plan.Empty() || r.plan.Summary.Unchanged != 5 {
					t.Errorf("run %d after it was restored: %d writes, %+v", i+1, r.writes, r.plan.Summary)
				}
			}
			s.scribble(t, "<p></p>")
			if r := s.apply(t, applying{manifest: tt.left}); len(r.plan.Drift) != 4 {
				t.Errorf("and once more: %+v, %d fields drifted", r.plan.Summary, len(r.plan.Drift))
			}
		})
	}
}

// TestATextThatIsNotReadAgainIsNotTakenAsApplied uses comments of so many items that reading them takes too many requests.
func TestATextThatIsNotReadAgainIsNotTakenAsApplied(t *testing.T) {
	t.Parallel()
	const many = 61
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	text := strings.ReplaceAll(manyItems(many), "}", `, comments: [{key: k, text: One}, {key: l, text: Two}]}`)
	s.apply(t, applying{manifest: text})
	for range 2 {
		s.scribble(t, "<p>people</p>")
		r := s.apply(t, applying{manifest: text})
		if n := r.plan.NotCompared; len(n) != 1 || n[0].What != "122 comments" || n[0].Hint == "" || r.writes > 0 || r.plan.Summary.Unchanged != many+1 {
			t.Errorf("not compared: %+v; %+v", n, r.plan.Summary)
		}
	}
	if r := s.apply(t, applying{manifest: text, all: true}); r.plan.Summary.Update != 2*many || len(r.plan.Drift) != 2*many {
		t.Errorf("all is read: %+v, %d fields drifted", r.plan.Summary, len(r.plan.Drift))
	}
	if r := s.apply(t, applying{manifest: text, all: true}); r.writes > 0 || !r.plan.Empty() {
		t.Errorf("and again: %d writes, %+v", r.writes, r.plan.Summary)
	}
}

// TestATextThatTheServiceAlwaysRewritesIsSentOnceMore, because only the
// answer to a single request distinguishes the service's form of a text from a change by people.
func TestATextThatTheServiceAlwaysRewritesIsSentOnceMore(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	s.replying = func(_ *http.Request, row map[string]any) {
		if text, ok := row["comment_html"].(string); ok {
			row["comment_html"] = strings.ReplaceAll(text, "Number", "Nr.")
		}
	}
	text := strings.ReplaceAll(manyItems(1), "}", `, comments: [{key: k, text: Number one}, {key: l, text: Number two}]}`)
	s.apply(t, applying{manifest: text})
	for i, want := range []int{2, 0, 0} {
		if r := s.apply(t, applying{manifest: text}); r.writes != want || len(r.plan.Drift) != want {
			t.Errorf("run %d: %d writes, %d fields drifted", i+2, r.writes, len(r.plan.Drift))
		}
	}
}

// TestAnUpdateThatFollowsACreateKnowsItsAnswer uses a service that drops a part of the text, and needs an update for the place.
func TestAnUpdateThatFollowsACreateKnowsItsAnswer(t *testing.T) {
	t.Parallel()
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, sort_order: 1234.5, description_html: '<p><a href="javascript:x">x</a> <b datetime="x">y</b></p><noscript>z</noscript>'}]}]`
			if r := s.apply(t, applying{manifest: text}); len(r.failed()) > 0 || !strings.Contains(fmt.Sprint(r.warnings()), "left <noscript>") {
				t.Errorf("%q %v", r.failed(), r.warnings())
			}
			if r := s.apply(t, applying{manifest: text}); r.writes > 0 || !r.plan.Empty() {
				t.Errorf("sent again: %d writes, %+v", r.writes, r.plan.Summary)
			}
		})
	}
}

// scribble gives all items and comments another text, like a person.
func (sv *service) scribble(t *testing.T, text string) {
	t.Helper()
	for _, row := range sv.Rows("work_item") {
		if row["name"] == "A" || row["name"] == "B" {
			sv.otherUser(t, "PATCH", fmt.Sprintf("projects/%v/work-items/%v/", row["project"], row["id"]), fmt.Sprintf(`{"description_html": %q}`, text))
		}
	}
	for _, row := range sv.Rows("comment") {
		sv.otherUser(t, "PATCH", fmt.Sprintf("projects/%v/work-items/%v/comments/%v/", row["project"], row["issue"], row["id"]), fmt.Sprintf(`{"comment_html": %q}`, text))
	}
}

func TestANewObjectIsSentWithoutNullInABatch(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	empty := strings.ReplaceAll(manyItems(3), "}", ", parent: null, start_date: null, target_date: null, labels: []}")
	if r := s.apply(t, applying{manifest: empty}); len(r.failed()) > 0 {
		t.Errorf("%q", r.failed())
	}
	s.settled(t, empty, 3, resource.V2, 0)
}

func TestAPageStaysWhereTheServiceHasNoPagesInV2(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{HasOperation: sandboxtest.FirstOperations})
	const page = "version: 1\nworkspace: acme\npages: [{key: p, name: P}]\n"
	for i, writes := range []int{1, 0, 0} {
		if r := s.apply(t, applying{manifest: page}); r.writes != writes || len(r.failed())+len(r.reasons()) > 0 {
			t.Errorf("run %d: %d writes, %q %v", i+1, r.writes, r.failed(), r.reasons())
		}
	}
}
