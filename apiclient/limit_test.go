package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/apiclient"
)

// rules describes a service's rate limit.
type rules struct {
	size    int
	window  time.Duration
	latency time.Duration
	silent  bool // no X-RateLimit-Remaining
	mute    bool // also no Retry-After
	fixed   bool // the window does not slide but restarts
	shared  bool // another client makes a request with each one
}

// quota is a service with the sliding window of the recordings.
type quota struct {
	rules

	mu      sync.Mutex
	counted []time.Time
	refused int
	late    []time.Duration // since start, of refused requests
	start   time.Time
	served  int
	arrived atomic.Int64
}

func (q *quota) RoundTrip(r *http.Request) (*http.Response, error) {
	half := q.latency / 2
	pass(half)
	resp := q.answer(r)
	pass(q.latency - half)
	if q.latency > 0 { // answers never arrive at the same moment, so that their order is fixed
		pass(time.Duration(q.arrived.Add(1)%1000) * time.Microsecond)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return resp, nil
}

func (q *quota) answer(*http.Request) *http.Response {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if q.start.IsZero() {
		q.start = now
	}
	if q.fixed {
		if len(q.counted) > 0 && now.Sub(q.counted[0]) >= q.window {
			q.counted = nil
		}
	} else {
		for len(q.counted) > 0 && now.Sub(q.counted[0]) >= q.window {
			q.counted = q.counted[1:]
		}
	}
	if len(q.counted) >= q.size {
		q.refused++
		q.late = append(q.late, now.Sub(q.start))
		wait := q.window - now.Sub(q.counted[0])
		resp := reply(http.StatusTooManyRequests, `{"error_code":5900,"error_message":"RATE_LIMIT_EXCEEDED"}`)
		if !q.mute {
			resp.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		}
		return resp
	}
	q.served++
	q.counted = append(q.counted, now)
	if q.shared && len(q.counted) < q.size {
		q.counted = append(q.counted, now)
	}
	resp := reply(http.StatusCreated, `{"id":"58ca3d9a-4cdc-4cec-a6bd-de60a03fa86f"}`)
	if !q.silent {
		resp.Header.Set("X-RateLimit-Remaining", strconv.Itoa(q.size-len(q.counted)))
		resp.Header.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(60*time.Second).Unix(), 10))
	}
	return resp
}

// use makes requests from several workers, and returns the elapsed time.
func use(t *testing.T, q http.RoundTripper, requests, workers int, change ...func(*apiclient.Config)) time.Duration {
	t.Helper()
	c := offline(t, q.RoundTrip, append(change, func(cfg *apiclient.Config) {
		if cfg.MaxElapsed == 0 {
			cfg.MaxElapsed = time.Hour
		}
	})...)
	op := documented(t, 1)
	start := time.Now()
	todo := make(chan int, requests)
	for i := range requests {
		todo <- i
	}
	close(todo)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range todo {
				if _, err := c.Do(context.Background(), request(op)); err != nil {
					t.Errorf("after %s: %v", time.Since(start), err)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

func TestTheQuotaIsUsedFully(t *testing.T) {
	t.Parallel()
	// The floor is the time that a client with full knowledge would need.
	tests := []struct {
		name       string
		quota      rules
		requests   int
		floor      float64 // seconds
		within     float64
		maxRefused int
	}{
		{"a shorter window costs a refusal each: 60 in 6 s", rules{size: 60, window: 6 * time.Second}, 180, 12, 1.25, 3},
		{"60 in 60 s", rules{size: 60, window: time.Minute}, 180, 120, 1.05, 2},
		{"60 in 60 s, ten windows", rules{size: 60, window: time.Minute}, 660, 600, 1.05, 2},
		{"300 in 60 s", rules{size: 300, window: time.Minute}, 900, 120, 1.05, 2},
		{"no headers but Retry-After: 60 in 60 s", rules{size: 60, window: time.Minute, silent: true}, 180, 120, 1.1, 18},
		{"no headers but Retry-After: 60 in 60 s, ten windows", rules{size: 60, window: time.Minute, silent: true}, 660, 600, 1.05, 22},
		{"refusals without any header, ten windows", rules{size: 60, window: time.Minute, mute: true, silent: true}, 660, 600, 1.05, 36},
		{"refusals without Retry-After", rules{size: 60, window: time.Minute, mute: true}, 180, 120, 1.1, 10},
		{"refusals without any header", rules{size: 60, window: time.Minute, mute: true, silent: true}, 180, 120, 1.1, 24},
		{"a window that starts anew", rules{size: 60, window: time.Minute, fixed: true}, 180, 120, 1.1, 4},
	}
	for _, test := range tests {
		for _, workers := range []int{1, 4, 16} {
			for _, latency := range []time.Duration{0, 10 * time.Millisecond, 80 * time.Millisecond} {
				name := fmt.Sprintf("%s, %d workers, %s", test.name, workers, latency)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						q := &quota{rules: test.quota}
						q.latency = latency
						took := use(t, q, test.requests, workers)
						// The duration of the requests themselves does not count.
						serial := latency.Seconds() * float64(min(test.requests, q.size)) / float64(workers)
						limit := test.floor*test.within + serial
						if seconds(took) > limit {
							t.Errorf("took %.2f s, more than %.2f s; refused at %v", seconds(took), limit, q.late)
						}
						if q.refused > test.maxRefused {
							t.Errorf("%d requests were refused: at %v", q.refused, q.late)
						}
						t.Logf("took %.2f s (floor %.0f s), %d refused", seconds(took), test.floor, q.refused)
					})
				})
			}
		}
	}
}

func TestTheQuotaIsSharedWithOtherPrograms(t *testing.T) {
	t.Parallel()
	// An earlier run took places at the given times before this run.
	before := func(q *quota, taken map[time.Duration]int) {
		now := time.Now()
		for _, ago := range []time.Duration{55 * time.Second, 50 * time.Second, 30 * time.Second, 5 * time.Second} {
			for range taken[ago] {
				q.counted = append(q.counted, now.Add(-ago))
			}
		}
	}
	tests := []struct {
		name       string
		taken      map[time.Duration]int
		requests   int
		most       float64 // seconds
		maxRefused int
	}{
		{"an earlier run took a third", map[time.Duration]int{50 * time.Second: 20}, 120, 72, 3},
		{"an earlier run took half", map[time.Duration]int{50 * time.Second: 30}, 120, 85, 6},
		{"an earlier run took all but one", map[time.Duration]int{30 * time.Second: 59}, 120, 92, 4},
		{"an earlier run took all", map[time.Duration]int{5 * time.Second: 60}, 60, 57, 6},
		{"earlier runs took some now and then", map[time.Duration]int{55 * time.Second: 5, 50 * time.Second: 5, 30 * time.Second: 20}, 180, 155, 8},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := &quota{rules: rules{size: 60, window: time.Minute, latency: 50 * time.Millisecond}}
				before(q, test.taken)
				took := use(t, q, test.requests, 4)
				if seconds(took) > test.most || q.refused > test.maxRefused {
					t.Errorf("took %.1f s (at most %.0f), %d refused (at most %d): at %v", seconds(took), test.most, q.refused, test.maxRefused, q.late)
				}
			})
		})
	}
	t.Run("an early refusal costs no more than a minute", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			q := &quota{rules: rules{size: 60, window: time.Minute, latency: 50 * time.Millisecond}}
			before(q, map[time.Duration]int{30 * time.Second: 58})
			if took := use(t, q, 240, 4); seconds(took) > 30+180+2 || q.refused > 4 {
				t.Errorf("took %.1f s, %d refused: at %v", seconds(took), q.refused, q.late)
			}
		})
	})
	for name, silent := range map[string]bool{"another client takes half": false, "another client takes half, without headers": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := &quota{rules: rules{size: 60, window: time.Minute, latency: 50 * time.Millisecond, silent: silent, shared: true}}
				took := use(t, q, 150, 4)
				if floor := 240.0; seconds(took) > 1.05*floor || q.refused > 10 {
					t.Errorf("took %.1f s, %d refused: at %v", seconds(took), q.refused, q.late)
				}
			})
		})
	}
}

func TestAfterARefusalOneRequestGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var at []time.Duration
		start := time.Now()
		service := func(*http.Request) (*http.Response, error) {
			mu.Lock()
			since := time.Since(start)
			at = append(at, since)
			mu.Unlock()
			pass(100 * time.Millisecond)
			if since < 7*time.Second {
				return reply(429, `{}`, "Retry-After", "7"), nil
			}
			return reply(201, `{"name":"x"}`, "X-RateLimit-Remaining", "50"), nil
		}
		use(t, scripted(service), 16, 16)
		first := 0
		for _, d := range at {
			switch {
			case d == 0:
				first++
			case d < 7*time.Second:
				t.Errorf("a request during the pause, at %s", d)
			}
		}
		if first > 4 {
			t.Errorf("%d requests before anything was known", first)
		}
		after := at[first:]
		if len(after) != 16 || after[0] != 7*time.Second+100*time.Millisecond || after[1] != after[0]+100*time.Millisecond {
			t.Errorf("after the pause: %v", after)
		}
	})
}

func TestInvalidQuotaHeadersAreIgnored(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		headers  []string
		most     time.Duration
		statuses []int // of the first answers; 201 after them
	}{
		{"a remaining quota of 0 in every answer hardly slows down", []string{"X-RateLimit-Remaining", "0"}, 15 * time.Second, nil},
		{"a negative remaining quota is ignored", []string{"X-RateLimit-Remaining", "-5"}, time.Second, nil},
		{"a remaining quota that is a word is ignored", []string{"X-RateLimit-Remaining", "plenty"}, time.Second, nil},
		{"a huge remaining quota is ignored", []string{"X-RateLimit-Remaining", "999999999999"}, time.Second, nil},
		{"answers without headers do not slow down", nil, time.Second, nil},
		{"one 429 without a reason hardly slows down", nil, 20 * time.Second, []int{429}},
		{"a Retry-After of 0 is a short pause", []string{"Retry-After", "0"}, 20 * time.Second, []int{429, 429, 429}},
		{"a negative Retry-After is a short pause", []string{"Retry-After", "-7"}, 40 * time.Second, []int{429, 429}},
		{"a Retry-After that is a word is a short pause", []string{"Retry-After", "soon"}, 20 * time.Second, []int{429}},
		{"a Retry-After beyond all measure is a short pause", []string{"Retry-After", "99999999999999999999"}, 20 * time.Second, []int{429}},
		{"Retry-After a date", []string{"Retry-After", "Sat, 01 Jan 2000 00:00:05 GMT", "Date", "Sat, 01 Jan 2000 00:00:00 GMT"}, 20 * time.Second, []int{429}},
		{"Retry-After a date of the past", []string{"Retry-After", "Fri, 31 Dec 1999 00:00:05 GMT"}, 20 * time.Second, []int{429}},
		{"Retry-After a date that the clock of the service has passed", []string{"Retry-After", "Sat, 01 Jan 2000 00:00:05 GMT", "Date", "Fri, 01 Jan 2100 00:00:00 GMT"}, 20 * time.Second, []int{429}},
		{"Retry-After a date that is none", []string{"Retry-After", "Sat, 31 Feb 2000 00:00:05 GMT"}, 20 * time.Second, []int{429}},
		{"Retry-After infinite", []string{"Retry-After", "Inf"}, 20 * time.Second, []int{429}},
		{"a Date of another century", []string{"Date", "Thu, 01 Jan 1970 00:00:00 GMT", "X-RateLimit-Reset", "-1"}, 20 * time.Second, []int{429}},
		{"Retry-After a fraction", []string{"Retry-After", "2.5"}, 20 * time.Second, []int{429}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				n := 0
				took := use(t, scripted(func(*http.Request) (*http.Response, error) {
					code := 201
					mu.Lock()
					if n < len(test.statuses) {
						code = test.statuses[n]
					}
					n++
					mu.Unlock()
					pass(time.Millisecond)
					return reply(code, `{"name":"x"}`, test.headers...), nil
				}), 100, 8)
				if took > test.most {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestATooLongPauseIsAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		headers []string
		asked   string
		again   string
	}{
		"a pause of ten minutes shows when it ends":                 {[]string{"Retry-After", "600"}, "10m0s", "00:11"},
		"a pause of an hour shows when it ends":                     {[]string{"Retry-After", "3600"}, "1h0m0s", "01:01"},
		"a pause of years shows the day on which it ends":           {[]string{"Retry-After", "99999999"}, "1157 days", "2003-03-03 09:47"},
		"a pause until a date shows how long it is":                 {[]string{"Retry-After", "Fri, 31 Dec 2100 00:00:00 GMT"}, "36889 days", "2100-12-31 00:01"},
		"a pause until a date counts from the clock of the service": {[]string{"Retry-After", "Sat, 01 Jan 2000 00:00:00 GMT", "Date", "Thu, 01 Jan 1970 00:00:00 GMT"}, "10957 days", "2029-12-31 00:01"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := 0
				c := offline(t, func(*http.Request) (*http.Response, error) {
					n++
					return reply(429, `{"error_code":5900,"error_message":"RATE_LIMIT_EXCEEDED"}`, tt.headers...), nil
				})
				start := time.Now()
				for range 3 {
					_, err := c.Do(t.Context(), request(documented(t, 1)))
					var e *apiclient.Error
					if !errors.As(err, &e) || !errors.Is(err, apiclient.ErrRateLimited) || e.Effect != apiclient.NoEffect || !strings.HasSuffix(err.Error(), "; the service asks to wait "+tt.asked+", longer than planform does (5m0s): run it again after "+tt.again+" UTC") {
						t.Errorf("error %v", err)
					}
				}
				if n != 1 || time.Since(start) != 0 {
					t.Errorf("%d requests in %s", n, time.Since(start))
				}
			})
		})
	}
}

func TestWaitingForTheQuotaEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		c := offline(t, func(*http.Request) (*http.Response, error) {
			return reply(429, `{"error_message":"RATE_LIMIT_EXCEEDED"}`, "Retry-After", "30"), nil
		}, func(cfg *apiclient.Config) {
			cfg.Notify = func(e apiclient.Event) {
				if e.Type == apiclient.Waiting {
					told = append(told, e.Wait)
				}
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.Do(ctx, request(documented(t, 1)))
		var e *apiclient.Error
		if !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) || e.Effect != apiclient.NoEffect {
			t.Errorf("error %v", err)
		}
		if time.Since(start) != 3*time.Second {
			t.Errorf("took %s", time.Since(start))
		}
		if len(told) != 1 || told[0] != 30*time.Second {
			t.Errorf("told %v", told)
		}
	})
}

func TestTheCapOnRequestsHolds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, until time.Duration // a period in which every request is refused
		least, most float64       // seconds
	}{
		"the cap holds if no request is refused": {0, 0, 119, 121},
		"the cap holds after refused requests":   {10 * time.Second, 40 * time.Second, 149, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var sent []time.Duration
				start := time.Now()
				took := use(t, scripted(func(*http.Request) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					now := time.Since(start)
					sent = append(sent, now)
					if now >= tt.from && now < tt.until {
						return reply(429, ``, "Retry-After", strconv.Itoa(int((tt.until-now).Seconds()+1))), nil
					}
					return reply(201, `{"name":"x"}`), nil
				}), 101, 16, func(cfg *apiclient.Config) { cfg.MaxPerMinute = 50 })
				if got := seconds(took); got < tt.least || got > tt.most {
					t.Errorf("101 requests at 50 a minute took %s", took)
				}
				for i := range sent {
					if i >= 50 && sent[i]-sent[i-50] < time.Minute-time.Microsecond {
						t.Fatalf("51 requests within %s", sent[i]-sent[i-50])
					}
				}
			})
		})
	}
}

func TestARateIsANumberAndAUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"50/m": 50, "10/s": 600, "3000/h": 50, " 1.5/s ": 90, "60/min": 60} {
		if got, err := apiclient.ParseRate(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "50", "/m", "50/", "50/x", "-1/m", "0/m", "NaN/m", "Inf/m", "1e9/s", "50/m/s"} {
		if got, err := apiclient.ParseRate(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// TestQuotaReturnsWhatTheClientHasLearned covers announced quotas, and one that is not announced.
func TestQuotaReturnsWhatTheClientHasLearned(t *testing.T) {
	t.Parallel()
	type told struct{ Free, PerMinute int }
	for name, test := range map[string]struct {
		quota rules
		ask   float64 // configured requests in a minute
		after int     // requests
		first told    // after their answers
		later told    // half a minute after a whole minute, after as many further requests
	}{
		"without headers there is no quota to tell":                 {quota: rules{size: 1000, silent: true}, after: 10},
		"a quota of the usual size is told after the first answers": {quota: rules{size: 60}, after: 10, first: told{50, 60}, later: told{50, 60}},
		"a small quota is told after a whole minute":                {quota: rules{size: 20}, after: 10, first: told{10, 60}, later: told{10, 20}},
		"a large quota is told after the first answers":             {quota: rules{size: 300}, after: 10, first: told{290, 300}, later: told{290, 300}},
		"a cap that the user sets is told instead of the quota":     {quota: rules{size: 300}, ask: 30, after: 2, first: told{0, 30}, later: told{0, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				test.quota.window = time.Minute
				q := &quota{rules: test.quota}
				c := offline(t, q.RoundTrip, func(cfg *apiclient.Config) { cfg.MaxPerMinute, cfg.MaxElapsed = test.ask, time.Hour })
				send := func() (now told) {
					for range test.after {
						if _, err := c.Do(t.Context(), request(documented(t, 1))); err != nil {
							t.Fatal(err)
						}
					}
					now.Free, now.PerMinute = c.Quota()
					return now
				}
				if got := send(); got != test.first {
					t.Errorf("at first %+v, want %+v", got, test.first)
				}
				pass(90 * time.Second)
				if got := send(); got != test.later {
					t.Errorf("later %+v, want %+v", got, test.later)
				}
			})
		})
	}
}
