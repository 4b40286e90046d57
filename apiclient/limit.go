package apiclient

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// limiter holds requests back so that the service's quota is fully used and almost no
// request is refused. All requests of a client share it.
//
// The service accepts a number of requests in any 60 seconds. Each counted answer gives
// the rest of the quota (X-RateLimit-Remaining), and a refusal the seconds until the
// oldest counted request leaves the window (Retry-After). The quota itself is not
// announced, and other programs may use the same key. So the limiter
//
//   - computes free: the rest according to the last answer, less the requests under way;
//   - keeps a log of counted requests, each of which frees a place when it leaves the
//     window. Answers take precedence over the log;
//   - sends one more request when no place is free and the log expects none soon: its
//     Retry-After then gives the time of the next free place, also of another program. It
//     does not if the last refusal matched the log;
//   - after a refusal holds everything back until Retry-After is over, then sends one
//     request, and the others according to its answer.
//
// A service that does not announce the rest gets requests without limit until it refuses
// one; from then on the log decides, and beyond it one request goes at a time.
type limiter struct {
	notify func(wait time.Duration)

	mu        sync.Mutex
	changed   chan struct{} // closed to wake those who wait; nil while nobody waits
	inflight  []*slot
	answered  bool    // an answer has come
	known     bool    // there is a quota
	announces bool    // answers give the rest of the quota
	free      int     // places left; negative while requests are under way
	log       []entry // counted requests that are still in the window, oldest first
	trusted   bool    // the last refusal matched the log

	blocked        time.Time // nothing is sent before
	probing        bool      // after a refusal, until an answer comes that is none
	refusals       int       // in a row
	refusedAt      time.Time
	announcedUntil time.Time // the end of the wait reported last
}

// entry is a counted request. The service counted it between the two times.
type entry struct{ sent, answered time.Time }

// slot is the permission to send one request.
type slot struct {
	l    *limiter
	sent time.Time
	low  int // the least rest in answers that came meanwhile
	done bool
}

const (
	window        = time.Minute     // for which a request counts
	startWidth    = 4               // requests under way until the first answer
	nearEnough    = 2 * time.Second // a wait that is not worth a refused request
	unknown       = math.MaxInt
	maxBackoffLog = 5 // 2^5 s is the longest pause without a Retry-After
)

func newLimiter(notify func(time.Duration)) *limiter { return &limiter{notify: notify} }

// acquire waits for permission to send a request. It returns errPause and the
// pause if the service asked for one that lasts longer than maxWait, and the
// context's error if that ends first.
func (l *limiter) acquire(ctx context.Context, maxWait time.Duration) (*slot, time.Duration, error) {
	l.mu.Lock()
	for {
		now := time.Now()
		wait, ok := l.maySend(now)
		if ok {
			s := l.grant(now)
			l.mu.Unlock()
			return s, 0, nil
		}
		if pause := l.blocked.Sub(now); pause > max(0, maxWait) {
			l.mu.Unlock()
			return nil, pause, errPause
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		// While requests are under way their answers may end the wait at any time.
		worth := wait >= notWorthTelling && wait < unknown && (l.blocked.After(now) || len(l.inflight) == 0) && l.announceWaitLocked(now, wait)
		l.mu.Unlock()
		if worth {
			l.notify(wait)
		}
		if err := sleepUntil(ctx, changed, wait); err != nil {
			return nil, 0, err
		}
		l.mu.Lock()
	}
}

// hasAnswered reports whether the service has ever answered.
func (l *limiter) hasAnswered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answered
}

// try is acquire without waiting; nil = a wait is needed.
func (l *limiter) try() *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if _, ok := l.maySend(now); !ok {
		return nil
	}
	return l.grant(now)
}

// sleepUntil returns after a time or when changed is closed, with an error if the context ended first.
func sleepUntil(ctx context.Context, changed <-chan struct{}, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maySend reports whether a request may be sent now, and if not, the wait before the next check.
func (l *limiter) maySend(now time.Time) (wait time.Duration, ok bool) {
	if pause := l.blocked.Sub(now); pause > 0 {
		return pause, false
	}
	if !l.known {
		return unknown, l.answered || len(l.inflight) < startWidth
	}
	for len(l.log) > 0 && now.Sub(l.log[0].answered) >= window {
		l.log = l.log[1:]
		l.free++
	}
	if l.free > 0 && !l.probing {
		return 0, true
	}
	next := time.Duration(unknown)
	if len(l.log) > 0 {
		next = l.log[0].answered.Add(window).Sub(now)
	}
	switch {
	case len(l.inflight) > 0:
		return next, false // wait for its answer or the log
	case l.probing, !l.announces && now.Sub(l.refusedAt) > 2*window:
		return 0, true
	default: // send one request to learn the rest, unless the log is reliable
		return next, next > nearEnough && !l.trusted || next == unknown
	}
}

func (l *limiter) grant(now time.Time) *slot {
	s := &slot{l: l, sent: now, low: unknown}
	if l.known {
		l.free--
	}
	l.inflight = append(l.inflight, s)
	return s
}

// answered evaluates the answer to the slot's request. It must be called once, before drop.
func (s *slot) answered(status int, h http.Header) {
	l, now := s.l, time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(s)
	l.answered = true
	left, says := remaining(h)
	switch {
	case status == http.StatusTooManyRequests:
		l.refuse(now, s, h)
	case says:
		l.count(now, s, left)
	case l.announces:
		if l.known { // the service does not count this request
			l.free++
		}
	default:
		l.log = append(l.log, entry{s.sent, now})
		l.refusals, l.probing = 0, false
	}
	l.wake()
}

// drop ends a slot whose request got no answer. The place stays taken until the answer to
// another request says otherwise. After answered it does nothing.
func (s *slot) drop() {
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.done {
		return
	}
	l.remove(s)
	if !l.announces {
		l.log = append(l.log, entry{s.sent, time.Now()})
	}
	l.wake()
}

// release returns a slot whose request is not sent.
func (s *slot) release() {
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(s)
	if l.known {
		l.free++
	}
	l.wake()
}

func (l *limiter) remove(s *slot) {
	s.done = true
	for i, other := range l.inflight {
		if other == s {
			last := len(l.inflight) - 1
			l.inflight[i] = l.inflight[last]
			l.inflight[last] = nil
			l.inflight = l.inflight[:last]
			return
		}
	}
}

func (l *limiter) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// count evaluates an answer that gives the rest of the quota. Answers to concurrent
// requests come in any order; the least rest among them counts.
func (l *limiter) count(now time.Time, s *slot, left int) {
	for _, other := range l.inflight {
		other.low = min(other.low, left)
	}
	l.known, l.announces, l.refusals, l.probing = true, true, 0, false
	// The answer may already include requests that have left the window.
	for len(l.log) > 0 && now.Sub(l.log[0].sent) >= window {
		l.log = l.log[1:]
	}
	l.log = append(l.log, entry{s.sent, now})
	l.free = min(left, s.low) - len(l.inflight)
}

// refuse evaluates a 429.
func (l *limiter) refuse(now time.Time, s *slot, h http.Header) {
	for _, other := range l.inflight {
		other.low = 0
	}
	l.known, l.probing, l.free = true, true, 0
	if s.sent.After(l.refusedAt) { // else one of several refused at the same time
		l.refusals++
		l.refusedAt = now
	}
	wait, says := retryAfter(h, now)
	next := time.Duration(0)
	if len(l.log) > 0 {
		next = max(0, l.log[0].answered.Add(window).Sub(now))
	}
	l.trusted = says && next > 0 && (wait-next).Abs() < nearEnough
	switch {
	case says: // after repeated refusals the pause grows
		wait = max(wait, time.Duration(min(l.refusals, maxRefusals))*time.Second/2)
	default: // the refusal may be momentary; the log may have a free place sooner
		wait = time.Second << min(max(l.refusals-1, 0), maxBackoffLog)
		if next > 0 && next <= wait {
			wait, l.trusted = next, true
		}
	}
	if until := now.Add(wait); until.After(l.blocked) {
		l.blocked = until
	}
}

// announceWait reports whether a wait is longer than the one reported last.
func (l *limiter) announceWait(wait time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.announceWaitLocked(time.Now(), wait)
}

func (l *limiter) announceWaitLocked(now time.Time, wait time.Duration) bool {
	end := now.Add(wait)
	if end.Before(l.announcedUntil.Add(notWorthTelling)) {
		return false
	}
	l.announcedUntil = end
	return true
}

// remaining is the rest of the quota according to the service.
func remaining(h http.Header) (n int, ok bool) {
	const tooMany = 1 << 30
	values := h["X-Ratelimit-Remaining"]
	if len(values) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(values[0]))
	if err != nil || n < 0 {
		return 0, false
	}
	return min(n, tooMany), true
}
