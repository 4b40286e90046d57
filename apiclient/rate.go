package apiclient

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseRate reads a cap such as "50/m", "10/s" or "3000/h". The result is in requests per minute.
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

// errPause is the error of a request that was not sent because the service asked for too long a pause.
var errPause = errors.New("the service asked for a pause that is longer than this program waits")

// waitForQuota waits until a request may be sent: for the configured cap, then for the
// service's quota.
func (c *Client) waitForQuota(ctx context.Context, call *call, maxWait time.Duration) (*slot, *Error) {
	if ctx.Err() != nil {
		return nil, c.failure(call, NoEffect, contextError(ctx))
	}
	if c.cap == nil && c.running.Err() == nil {
		if s := c.limit.try(); s != nil { // the usual case: no wait
			return s, nil
		}
	}
	ctx, release := c.untilStopped(ctx)
	defer release()
	if c.running.Err() != nil {
		return nil, c.failure(call, NoEffect, contextError(c.running)) //nolint:contextcheck // the client's own life ended, not the request's
	}
	for {
		if !c.waitForCap(ctx) {
			return nil, c.failure(call, NoEffect, contextError(ctx))
		}
		if s := c.limit.try(); s != nil {
			return s, nil
		}
		s, pause, err := c.limit.acquire(ctx, maxWait)
		if errors.Is(err, errPause) {
			e := c.failure(call, NoEffect, err)
			e.Status, e.RetryAfter = 429, pause
			return nil, e
		}
		if err != nil {
			return nil, c.failure(call, NoEffect, contextError(ctx))
		}
		if c.cap == nil {
			return s, nil
		}
		s.release() // the cap's reservation was for an earlier time: take a new one
	}
}

// waitForCap waits for the configured cap; it reports false if the context ended first.
func (c *Client) waitForCap(ctx context.Context) bool {
	if c.cap == nil {
		return true
	}
	reservation := c.cap.Reserve()
	delay := reservation.Delay()
	if delay >= notWorthTelling && c.limit.announceWait(delay) {
		c.notify(Event{Type: Waiting, Wait: delay})
	}
	if !sleep(ctx, delay) {
		reservation.Cancel()
		return false
	}
	return true
}
