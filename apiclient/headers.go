package apiclient

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers holds the answer's headers about the service itself.
type Headers struct {
	Date      time.Time // the service's clock; zero = unknown
	Remaining int       // requests left in the quota; -1 = unknown
	Reset     time.Time // when the quota is full again; zero = unknown
	RequestID string    // the name of the request in the service's own log; "" = unknown
}

func readHeaders(h http.Header) Headers {
	headers := Headers{Remaining: -1}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		headers.Date = date.UTC()
	}
	if n, err := strconv.Atoi(strings.TrimSpace(h.Get("X-RateLimit-Remaining"))); err == nil && n >= 0 {
		headers.Remaining = n
	}
	if at, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-RateLimit-Reset")), 10, 64); err == nil && at > 0 {
		headers.Reset = time.Unix(at, 0).UTC()
	}
	return headers
}
