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

// limiter holds requests back so that the service's quota is used fully and
// next to no request is refused. It is shared by all of a client's requests.
//
// What the service is known to do: it lets a number of requests through in any
// window of time; it says with each answer that counts how many are left
// (X-RateLimit-Remaining) and, when it refuses one with 429, in how many whole seconds the
// oldest counted request leaves the window (Retry-After). Neither the quota's size nor the window's
// length is announced, and X-RateLimit-Reset is not to be trusted. So the limiter
//
//   - knows free, how many requests may be sent now: what the last answer said,
//     less those under way that the answer may not have counted;
//   - keeps a log of the requests that counted, each of which frees a place when
//     it leaves the window;
//   - takes the window for 60 s until it knows better. When the quota is used up for the
//     first time, and the log says that the next place is a while off, it sends one
//     request that is probably refused. Retry-After then tells where the
//     window's end is, and so how long it is. That guess is taken for the
//     truth once the first answer after the pause shows as many places as it foretold;
//   - after a refusal holds everything back until Retry-After is over, then sends one request,
//     and the others as its answer allows.
//
// Other users of the same key, and earlier runs, only make it more careful: what
// answers say always wins over what the log says. A service that sends no such headers is not
// held back at all until it refuses something; from then on the log alone counts. Once
// it has refused nothing for two windows, requests beyond that go one at a time: each
// that is let through makes the log longer, and with it the next window's share.
type limiter struct {
	tell func(wait time.Duration)

	mu       sync.Mutex
	changed  chan struct{} // closed when those who wait should look again; nil while nobody waits
	inflight []*slot
	heard    bool // an answer has come
	known    bool // there is a quota
	announce bool // answers say how much of it is left
	free     int  // places left; below 0 while requests are under way

	log       []entry       // requests that counted, oldest first
	aged      int           // log[:aged] have left the window, or may have
	doubt     int           // how many of them may not have been in the last answer …
	doubtful  time.Time     // … and when they have certainly left
	window    time.Duration // how long a request counts
	confirmed bool          // that it does
	guess     time.Duration // from the last refusal; 0 = none
	trial     []entry       // the log at that refusal, to try the guess on
	oldest    time.Time     // when the oldest counted request was sent, if refusals do not tell when it leaves
	resumed   time.Time     // the end of the last pause
	largest   int           // highest number of places that an answer has shown

	blocked   time.Time // nothing is sent before
	probing   bool      // after a refusal, until an answer shows that it goes on
	width     int       // requests under way at a time while nothing tells whether there are places
	refusals  int       // in a row
	refusedAt time.Time
	told      time.Time // the end of the wait that was last told
}

// entry is a request that counted. The service counted it between the two times.
type entry struct{ sent, answered time.Time }

// slot is the permission to send one request.
type slot struct {
	l     *limiter
	sent  time.Time
	low   int // the least that an answer which came meanwhile said is left
	probe bool
	done  bool
}

const (
	usualWindow   = 60 * time.Second
	startWidth    = 4               // requests under way until the first answer
	nearEnough    = 2 * time.Second // a wait that is not worth a refused request
	unknown       = math.MaxInt
	maxLog        = 4_000
	maxBackoffLog = 6 // 2^6 s is the longest pause that the limiter makes up
	slack         = 250 * time.Millisecond
)

func newLimiter(tell func(time.Duration)) *limiter {
	return &limiter{tell: tell, window: usualWindow, width: 1}
}

// acquire waits for permission to send a request. It returns errPause and the
// pause if the service asked for one that lasts longer than maxWait, and the
// context's error if that ends first.
func (l *limiter) acquire(ctx context.Context, maxWait time.Duration) (*slot, time.Duration, error) {
	l.mu.Lock()
	for {
		now := time.Now()
		wait, ok := l.open(now)
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
		worth := wait >= notWorthTelling && wait < unknown && (l.blocked.After(now) || len(l.inflight) == 0) && l.tellWorthLocked(now, wait)
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

// wasHeard reports whether the service has ever answered.
func (l *limiter) wasHeard() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard
}

// try gives permission to send a request if there is no need to wait for it, else nil.
func (l *limiter) try() *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if _, ok := l.open(now); !ok {
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

// open reports whether a request may be sent now, and if not when to look again.
func (l *limiter) open(now time.Time) (wait time.Duration, ok bool) {
	if pause := l.blocked.Sub(now); pause > 0 {
		return pause, false
	}
	if !l.known {
		return unknown, l.heard || len(l.inflight) < startWidth
	}
	l.age(now)
	if l.probing {
		return unknown, len(l.inflight) < l.width
	}
	if l.free > 0 {
		return 0, true
	}
	if !l.announce && now.Sub(l.refusedAt) > 2*l.window {
		// It may have refused for a reason of the moment: go on, but one at a time.
		return unknown, len(l.inflight) == 0
	}
	next := time.Duration(unknown)
	if l.aged < len(l.log) {
		next = l.log[l.aged].answered.Add(l.window).Sub(now)
	}
	if len(l.inflight) > 0 && (l.announce || l.confirmed || len(l.inflight) >= l.width) {
		return next, false // an answer or the log will tell
	}
	if next < nearEnough || l.confirmed && next < unknown {
		return next, false
	}
	return 0, true // somebody has to find out
}

// age frees the places of requests that have certainly left the window.
func (l *limiter) age(now time.Time) {
	for l.aged < len(l.log) && now.Sub(l.log[l.aged].answered) >= l.window {
		l.aged++
		l.free++
	}
	// The usual window's worth is kept, to recognise it by.
	keep := max(usualWindow, l.window) + 5*time.Second
	drop := max(0, len(l.log)-maxLog)
	for drop < l.aged && now.Sub(l.log[drop].answered) > keep {
		drop++
	}
	if drop > 256 {
		l.log = append(l.log[:0], l.log[drop:]...)
		l.aged = max(0, l.aged-drop)
	}
}

func (l *limiter) grant(now time.Time) *slot {
	s := &slot{l: l, sent: now, low: unknown, probe: l.probing}
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
	l.heard = true
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
		l.countSilently(now, s)
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
		l.log = append(l.log, entry{sent: s.sent, answered: time.Now()})
	}
	l.wake()
}

// giveBack tells the limiter that the slot's request is not sent after all.
func (s *slot) giveBack() {
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
	l.known, l.announce, l.refusals = true, true, 0
	l.log = append(l.log, entry{sent: s.sent, answered: now})
	for _, other := range l.inflight {
		other.low = min(other.low, left)
	}
	l.largest = max(l.largest, left)
	left = min(left, s.low)
	if l.probing && s.probe {
		l.probing = false
		l.prove(s, left)
	} else if l.age(now); l.confirmed && len(l.inflight) == 0 && left > l.free+l.doubt+3+l.free/5 {
		l.confirmed = false // more places than the log accounts for: the window may be shorter
	}
	if !s.sent.Before(l.doubtful) {
		l.doubt = 0
	}
	// What may have left the window by now may be in the answer already.
	for l.aged < len(l.log) && now.Sub(l.log[l.aged].sent) >= l.window {
		l.doubtful = l.log[l.aged].answered.Add(l.window)
		l.aged++
		l.doubt++
	}
	l.free = left - len(l.inflight)
}

// countSilently takes in an answer of a service that has not said how many places are left.
func (l *limiter) countSilently(now time.Time, s *slot) {
	l.log = append(l.log, entry{sent: s.sent, answered: now})
	l.refusals = 0
	if l.probing && s.probe {
		l.probing = false
		l.deduce(s.sent)
	}
	if l.known && !l.confirmed {
		l.width++
	}
	if len(l.log) > 2*maxLog {
		l.age(now)
	}
}

// refuse takes in a 429.
func (l *limiter) refuse(now time.Time, s *slot, h http.Header) {
	again := s.sent.After(l.refusedAt) // not one of several that were refused at the same time
	l.known, l.probing, l.width, l.free = true, true, 1, 0
	for _, other := range l.inflight {
		other.low = 0
	}
	if again {
		l.refusals++
		l.refusedAt = now
	}
	wait, ok := retryAfter(h, now)
	switch {
	case ok:
		if again {
			l.learn(s.sent, wait)
		}
		// A pause that leads nowhere grows.
		wait = max(wait, time.Duration(min(l.refusals, maxRefusals))*time.Second/2)
	case (l.announce || l.confirmed) && l.aged < len(l.log) && l.log[l.aged].answered.Add(l.window).After(now) && l.refusals <= 1:
		wait = l.log[l.aged].answered.Add(l.window).Sub(now)
	default:
		wait = time.Second << min(max(l.refusals-1, 0), maxBackoffLog)
		if !l.announce && l.oldest.IsZero() && l.aged < len(l.log) {
			l.oldest, l.confirmed = l.log[l.aged].sent, false
		}
	}
	if until := now.Add(wait); until.After(l.blocked) {
		l.blocked, l.resumed = until, until
	}
}

// tellWorth reports whether a wait goes beyond the one that was told last.
func (l *limiter) tellWorth(wait time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tellWorthLocked(time.Now(), wait)
}

func (l *limiter) tellWorthLocked(now time.Time, wait time.Duration) bool {
	end := now.Add(wait)
	if end.Before(l.told.Add(notWorthTelling)) {
		return false
	}
	l.told = end
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
