package apiclient

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"
)

// limiter delays requests so that the service's quota is fully used and almost no request is refused. All requests of a client share it.
//
// The service accepts a number of requests in any 60 seconds. Each counted answer shows the remaining quota (X-RateLimit-Remaining), and a
// refusal the seconds until the oldest counted request leaves the window (Retry-After). The size of the quota is not announced, and other
// programs may use the same key. So the limiter
//
//   - takes the remainder from the last answer, less the requests under way;
//   - keeps a log of the client's own requests; each frees a place after a minute;
//   - sends one more request if no place is free and the log expects none soon, because its
//     Retry-After shows when a place of another program is free. It does not if the last
//     refusal matched the log;
//   - after a refusal waits for Retry-After, then sends one request, and the others
//     according to its answer.
//
// If a service does not announce the remainder, requests are not limited until it refuses one. After that the log decides.
type limiter struct {
	notify   func(wait time.Duration)
	interval time.Duration // between requests, for the configured limit; 0 = none

	mu        sync.Mutex
	changed   chan struct{} // closed when a request ends
	inflight  map[*slot]struct{}
	answered  bool      // an answer was received
	since     time.Time // time of the first answer
	known     bool      // the service has a quota
	announces bool      // answers show the remaining quota
	free      int       // places left; negative while requests are under way
	log       []entry   // counted requests that are still in the window, oldest first
	trusted   bool      // the last refusal matched the log

	capped         time.Time // the configured limit allows nothing before
	blocked        time.Time // the service allows nothing before
	probing        bool      // from a refusal until the next other answer
	refusals       int       // in a row
	refusedAt      time.Time
	announcedUntil time.Time // end of the wait that was reported last
}

// entry is a counted request. The service counted it between the two times.
type entry struct{ sent, answered time.Time }

// slot is the permission to send one request.
type slot struct {
	l    *limiter
	sent time.Time
	low  int // the smallest remainder in answers that came in the meantime
}

const (
	window       = time.Minute     // how long a request counts
	usualQuota   = 60              // requests a minute
	startWidth   = 4               // requests under way until the first answer
	nearEnough   = 2 * time.Second // waits shorter than this are not worth a refused request
	unknown      = math.MaxInt
	firstPause   = 2 * time.Second // after a refusal without a Retry-After; it doubles after each further one
	maxDoublings = 4
)

func newLimiter(perMinute float64, notify func(time.Duration)) *limiter {
	l := &limiter{notify: notify, changed: make(chan struct{}), inflight: map[*slot]struct{}{}}
	if perMinute > 0 {
		l.interval = time.Duration(min(float64(time.Minute)/perMinute, 1e18))
	}
	return l
}

// acquire waits for permission to send a request. It returns errPause and the pause if the service asked for a pause longer than maxWait,
// and the context's error if that ends first.
func (l *limiter) acquire(ctx context.Context, maxWait time.Duration) (*slot, time.Duration, error) {
	for {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		l.mu.Lock()
		now := time.Now()
		wait, ok := l.maySend(now)
		if ok {
			defer l.mu.Unlock()
			return l.grant(now), 0, nil
		}
		pause, changed := l.blocked.Sub(now), l.changed
		// While requests are under way, their answers may end the wait at any time.
		end, sure := now.Add(wait), pause > 0 || l.capped.After(now) || len(l.inflight) == 0
		tell := sure && wait >= notWorthTelling && wait < unknown && !end.Before(l.announcedUntil.Add(notWorthTelling)) &&
			pause <= max(0, maxWait)
		if tell {
			l.announcedUntil = end
		}
		l.mu.Unlock()
		if pause > max(0, maxWait) {
			return nil, pause, errPause
		}
		if tell {
			l.notify(wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// hasAnswered reports whether the service has ever answered.
func (l *limiter) hasAnswered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered
}

// quota returns the number of requests that may be sent now, and in a minute; 0 in a minute = no known limit. Until a whole minute shows
// how much the service leaves to this client, it is at least the usual limit.
func (l *limiter) quota() (free, perMinute int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known {
		now := time.Now()
		free = max(0, l.free)
		perMinute = free + len(l.inflight)
		for _, e := range l.log {
			if now.Sub(e.answered) < window {
				perMinute++
			}
		}
		if perMinute = max(1, perMinute); now.Sub(l.since) < window {
			perMinute = max(perMinute, usualQuota)
		}
	}
	if l.interval > 0 {
		if rate := max(1, int(time.Minute/l.interval)); perMinute == 0 || rate < perMinute {
			return 0, rate
		}
	}
	return free, perMinute
}

// maySend reports whether a request may be sent now, and if not, the wait before the next check.
func (l *limiter) maySend(now time.Time) (wait time.Duration, ok bool) {
	if pause := max(l.blocked.Sub(now), l.capped.Sub(now)); pause > 0 {
		return pause, false
	}
	if !l.known {
		return unknown, l.answered || len(l.inflight) < startWidth
	}
	for len(l.log) > 0 && now.Sub(l.log[0].answered) >= window {
		l.log = l.log[1:]
		l.free++
	}
	next := l.nextPlace(now)
	switch {
	case l.free > 0 && !l.probing:
		return 0, true
	case len(l.inflight) > 0:
		return next, false // wait for its answer, or for the log
	case l.probing, !l.announces && now.Sub(l.refusedAt) > 2*window:
		return 0, true
	default: // send one request to learn the remainder, unless the log is reliable
		return next, next > nearEnough && !l.trusted || next == unknown
	}
}

// nextPlace returns the time until the log frees a place.
func (l *limiter) nextPlace(now time.Time) time.Duration {
	if len(l.log) == 0 {
		return unknown
	}
	return max(0, l.log[0].answered.Add(window).Sub(now))
}

func (l *limiter) grant(now time.Time) *slot {
	s := &slot{l: l, sent: now, low: unknown}
	if l.known {
		l.free--
	}
	l.capped = now.Add(l.interval)
	l.inflight[s] = struct{}{}
	return s
}

// release takes the slot back, and wakes waiting callers once the limiter is unlocked.
func (l *limiter) release(s *slot) {
	delete(l.inflight, s)
	close(l.changed)
	l.changed = make(chan struct{})
}

// answered evaluates the answer to the slot's request; left is the remaining quota, or -1. It must be called once, before drop.
func (s *slot) answered(status, left int, h http.Header) {
	l, now := s.l, time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(s)
	if !l.answered {
		l.answered, l.since = true, now
	}
	if status == http.StatusTooManyRequests {
		l.refuse(now, s, h)
		return
	}
	if left < 0 && l.announces { // the service does not count this request
		l.free++
		return
	}
	l.refusals, l.probing = 0, false
	if left >= 0 {
		l.count(now, s, left)
	}
	l.log = append(l.log, entry{s.sent, now})
}

// drop ends a slot whose request got no answer. The place stays taken until another answer corrects it. After answered it does nothing.
func (s *slot) drop() {
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, pending := l.inflight[s]; !pending {
		return
	}
	l.release(s)
	if !l.announces {
		l.log = append(l.log, entry{s.sent, time.Now()})
	}
}

// count takes the remaining quota from an answer. Answers to concurrent requests come in any order; the smallest remainder counts.
func (l *limiter) count(now time.Time, s *slot, left int) {
	for other := range l.inflight {
		other.low = min(other.low, left)
	}
	l.known, l.announces = true, true
	// The answer may already include requests that have left the window.
	for len(l.log) > 0 && now.Sub(l.log[0].sent) >= window {
		l.log = l.log[1:]
	}
	l.free = min(left, s.low) - len(l.inflight)
}

// refuse evaluates a 429.
func (l *limiter) refuse(now time.Time, s *slot, h http.Header) {
	for other := range l.inflight {
		other.low = 0
	}
	l.known, l.probing, l.free = true, true, 0
	if s.sent.After(l.refusedAt) { // otherwise the refusal belongs to several simultaneous ones
		l.refusals++
		l.refusedAt = now
	}
	wait, says := retryAfter(h, now)
	next := l.nextPlace(now)
	if !says { // the refusal may be momentary; the log may have a free place sooner
		wait = min(firstPause<<min(max(l.refusals-1, 0), maxDoublings), next)
	}
	l.trusted = (wait - next).Abs() < nearEnough
	// After repeated refusals the pause grows.
	wait = max(wait, time.Duration(min(l.refusals, maxRefusals))*time.Second/2)
	if until := now.Add(wait); until.After(l.blocked) {
		l.blocked = until
	}
}
