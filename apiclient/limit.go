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

// limiter holds requests back so that the service's quota is used fully and next
// to none is refused. It is shared by all of a client's requests.
//
// The service lets a number of requests through in any 60 seconds. Each answer that
// counts says how many are left (X-RateLimit-Remaining), and a refusal in how many
// seconds the oldest counted one leaves the window (Retry-After). The number itself
// is not announced, and others may use the same key. So the limiter
//
//   - knows free: what the last answer said is left, less those under way;
//   - keeps a log of the requests that counted, each of which frees a place when it
//     leaves the window. What answers say wins over the log;
//   - sends one request more when nothing is free and the log promises nothing soon:
//     Retry-After then tells when the next place is free, whoever had it. It does
//     without where the last refusal came out as the log foretold;
//   - after a refusal holds everything back until Retry-After is over, then sends one
//     request, and the others as its answer allows.
//
// A service that says nothing of what is left is not held back until it refuses a
// request; from then on the log counts, and beyond it one request at a time.
type limiter struct {
	tell func(wait time.Duration)

	mu       sync.Mutex
	changed  chan struct{} // closed when those who wait should look again; nil while nobody waits
	inflight []*slot
	answered bool    // an answer has come
	known    bool    // there is a quota
	announce bool    // answers say how much of it is left
	free     int     // places left; below 0 while requests are under way
	log      []entry // requests that counted and whose places are still taken, oldest first
	trusted  bool    // the last refusal said what the log says

	blocked        time.Time // nothing is sent before
	probing        bool      // after a refusal, until an answer shows that it goes on
	refusals       int       // in a row
	refusedAt      time.Time
	announcedUntil time.Time // the end of the wait that was last told
}

// entry is a request that counted. The service counted it between the two times.
type entry struct{ sent, answered time.Time }

// slot is the permission to send one request.
type slot struct {
	l    *limiter
	sent time.Time
	low  int // the least that an answer which came meanwhile said is left
	done bool
}

const (
	window        = time.Minute     // how long a request counts
	startWidth    = 4               // requests under way until the first answer
	nearEnough    = 2 * time.Second // a wait that is not worth a refused request
	unknown       = math.MaxInt
	maxBackoffLog = 5 // 2^5 s is the longest pause that the limiter makes up
)

func newLimiter(tell func(time.Duration)) *limiter { return &limiter{tell: tell} }

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
			l.tell(wait)
		}
		if err := await(ctx, changed, wait); err != nil {
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

// try gives permission to send a request if there is no need to wait for it, else nil.
func (l *limiter) try() *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if _, ok := l.maySend(now); !ok {
		return nil
	}
	return l.grant(now)
}

// await returns after a time, or when something changed; with an error if the context ended first.
func await(ctx context.Context, changed <-chan struct{}, wait time.Duration) error {
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

// maySend reports whether a request may be sent now, and if not when to look again.
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
		return next, false // its answer or the log will tell
	case l.probing, !l.announce && now.Sub(l.refusedAt) > 2*window:
		return 0, true
	default: // somebody has to find out, unless the log knows
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

// answered tells the limiter of the slot's answer. It must be called before drop, once.
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
	case l.announce:
		if l.known { // the service does not count it: give the place back
			l.free++
		}
	default:
		l.log = append(l.log, entry{s.sent, now})
		l.refusals, l.probing = 0, false
	}
	l.wake()
}

// drop tells the limiter that the slot's request got no answer. The place stays
// taken until an answer to another says otherwise.
func (s *slot) drop() {
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.done {
		return
	}
	l.remove(s)
	if !l.announce {
		l.log = append(l.log, entry{s.sent, time.Now()})
	}
	l.wake()
}

// release tells the limiter that the slot's request is not sent after all.
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

// count takes in an answer that says how many places are left. Answers to
// requests that were under way at the same time come in any order; the least of
// what they say is what is left.
func (l *limiter) count(now time.Time, s *slot, left int) {
	for _, other := range l.inflight {
		other.low = min(other.low, left)
	}
	l.known, l.announce, l.refusals, l.probing = true, true, 0, false
	// What may have left the window by now may be in the answer already.
	for len(l.log) > 0 && now.Sub(l.log[0].sent) >= window {
		l.log = l.log[1:]
	}
	l.log = append(l.log, entry{s.sent, now})
	l.free = min(left, s.low) - len(l.inflight)
}

// refuse takes in a 429.
func (l *limiter) refuse(now time.Time, s *slot, h http.Header) {
	for _, other := range l.inflight {
		other.low = 0
	}
	l.known, l.probing, l.free = true, true, 0
	if s.sent.After(l.refusedAt) { // not one of several that were refused at the same time
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
	case says: // a pause that leads nowhere grows
		wait = max(wait, time.Duration(min(l.refusals, maxRefusals))*time.Second/2)
	default: // it may be for a reason of the moment; but when the log frees a place, that is there
		wait = time.Second << min(max(l.refusals-1, 0), maxBackoffLog)
		if next > 0 && next <= wait {
			wait, l.trusted = next, true
		}
	}
	if until := now.Add(wait); until.After(l.blocked) {
		l.blocked = until
	}
}

// announceWait reports whether a wait goes beyond the one that was told last.
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

// remaining reads how many requests the service says are left.
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
