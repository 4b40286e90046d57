package apiclient

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseRate parses a limit such as "50/m", "10/s" or "3000/h" into requests in a minute.
func ParseRate(text string) (perMinute float64, err error) {
	number, unit, ok := strings.Cut(strings.TrimSpace(text), "/")
	n, numErr := strconv.ParseFloat(number, 64)
	if !ok || numErr != nil || !(n > 0 && n <= 1e6) {
		return 0, fmt.Errorf("rate %q is not of the form 50/m (a number, then /s, /m or /h)", text)
	}
	switch unit {
	case "s", "sec", "second":
		return n * 60, nil
	case "m", "min", "minute":
		return n, nil
	case "h", "hour":
		return n / 60, nil
	default:
		return 0, fmt.Errorf("rate %q: the unit is s, m or h", text)
	}
}

// errPause is the error of a request that was not sent because the service asked for a pause that is too long.
var errPause = errors.New("it has to wait")

// waitForQuota waits until the configured limit and the service's quota allow a request.
func (c *Client) waitForQuota(ctx context.Context, call *call, maxWait time.Duration) (*slot, *Error) {
	ctx, release := c.untilStopped(ctx)
	defer release()
	s, pause, err := c.limit.acquire(ctx, maxWait)
	switch {
	case errors.Is(err, errPause):
		e := c.failure(call, NoEffect, err)
		e.Status, e.RetryAfter = 429, pause
		return nil, e
	case err != nil:
		return nil, c.failure(call, NoEffect, contextError(ctx))
	default:
		return s, nil
	}
}
