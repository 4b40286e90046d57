package apiclient

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers is what an answer's headers say about the service, beside what it answers.
type Headers struct {
	Date      time.Time // the service's clock; zero = not said
	Remaining int       // requests that are left; -1 = not said
	Reset     time.Time // when there are more; zero = not said
}

func readHeaders(h http.Header) Headers {
	head := Headers{Remaining: -1}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		head.Date = date.UTC()
	}
	if n, ok := remaining(h); ok {
		head.Remaining = n
	}
	if at, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-RateLimit-Reset")), 10, 64); err == nil && at > 0 {
		head.Reset = time.Unix(at, 0).UTC()
	}
	return head
}
