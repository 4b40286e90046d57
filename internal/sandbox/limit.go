package sandbox

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// limiter lets each key make a number of requests within a sliding window of a minute.
type limiter struct {
	rate int

	mu   sync.Mutex
	seen map[string][]time.Time // per key, oldest first, never more than rate
}

func newLimiter(rate int) *limiter { return &limiter{rate: rate, seen: map[string][]time.Time{}} }

// allow counts a request and sets its headers. If the key has no requests left, it counts nothing and returns the seconds
// until the next request is possible.
func (l *limiter) allow(key string, now time.Time, headers http.Header) (wait int, ok bool) {
	if l.rate <= 0 {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen[key]
	for len(seen) > 0 && now.Sub(seen[0]) >= time.Minute {
		seen = seen[1:]
	}
	if len(seen) >= l.rate {
		l.seen[key] = seen
		left := time.Minute - now.Sub(seen[0])
		return max(1, int(math.Ceil(left.Seconds()))), false
	}
	seen = append(seen, now)
	l.seen[key] = seen
	headers.Set("X-RateLimit-Remaining", strconv.Itoa(l.rate-len(seen)))
	// The service always says "a window from now", whatever the truth.
	headers.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(time.Minute).Unix(), 10))
	return 0, true
}
