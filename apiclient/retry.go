package apiclient

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/planform/planform/internal/resource"
)

const (
	maxRefusals      = 20              // by the rate limit, of one request
	maxServerErrors  = 2               // retries after a 500, which are rarely of use
	firstContact     = 3 * time.Second // for which a service that has never answered is tried
	firstDelay       = 500 * time.Millisecond
	longestDelay     = 30 * time.Second
	notWorthTelling  = time.Second
	delayMultiplier  = 2
	delayRandomness  = 0.5
	longestAnnounced = 1 << 30 // seconds; more is nonsense
)

// send makes the call until it succeeds, fails for good, or has used its attempts or time.
// The error's Effect covers all attempts.
func (c *Client) send(ctx context.Context, call *call) (*answer, error) {
	r := retries{c: c, call: call, toggled: c.learned.toggles(call.op)}
	for {
		a, err := c.attempt(ctx, call, r.toggled, r.left())
		if r.redirected && (err == nil || err.Status >= 400 || err.Status/100 == 2) {
			c.learned.setToggle(call.op, r.toggled)
		}
		if err == nil {
			a.attempts, a.redirected = r.attempts+1, r.redirected
			if !call.op.Writes() {
				c.notify(Event{Type: Answered})
			}
			return a, nil
		}
		if refused := r.last; refused != nil && errors.Is(err.Err, errPause) {
			return nil, r.concluded(refused) // the service's answer says more than the missing retry
		}
		wait, again := r.next(ctx, err)
		if !again {
			if err.unreachable() {
				c.lost(err)
			}
			return nil, r.concluded(err)
		}
		if wait >= 0 {
			c.notify(Event{Type: Retrying, Wait: wait, Method: call.method, Path: call.path, Attempt: r.attempts, Err: err})
		}
		waiting, release := c.untilStopped(ctx)
		slept := sleep(waiting, wait)
		release()
		if !slept {
			stopped := c.failure(call, r.effect, contextError(waiting))
			stopped.Attempts = r.attempts
			return nil, r.concluded(stopped)
		}
		if r.doubted && call.again != nil {
			r.doubted = false
			if err := call.again(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// retries are the failed attempts of a call so far.
type retries struct {
	c        *Client
	call     *call
	attempts int
	effect   Effect    // the worst of all attempts
	since    time.Time // the first failure
	last     *Error

	failures, refusals, serverErrors int
	toggled, redirected              bool
	doubted                          bool // see [Error.Doubted]; not what was looked up

	backoff *backoff.ExponentialBackOff
}

// concluded is the error of the call if none of its attempts is known to have had an effect: one that is in doubt may have had.
func (r *retries) concluded(err *Error) *Error {
	if r.doubted && err.Effect == NoEffect {
		err.Effect = UnknownEffect
	}
	return err
}

// left is the longest wait before the next attempt.
func (r *retries) left() time.Duration {
	most := r.c.maxElapsed
	switch {
	case r.since.IsZero():
		return most
	case r.last.unreachable() && !r.c.limit.hasAnswered():
		most = min(most, firstContact)
	}
	return most - time.Since(r.since)
}

// next decides whether there is another attempt, and how long to wait for it; a negative
// wait is none, and not reported. It completes the error.
func (r *retries) next(ctx context.Context, err *Error) (wait time.Duration, again bool) {
	r.attempts++
	r.effect = max(r.effect, err.Effect)
	err.Effect, err.Attempts, err.Doubted = r.effect, r.attempts, r.doubted
	r.last = err
	if err.busy() && !r.repeatable() && (!err.throttled() || r.call.op.Verb == resource.CreateMany) {
		r.doubted = true
	}
	if r.since.IsZero() {
		r.since = time.Now()
	}
	switch {
	case ctx.Err() != nil:
		return 0, false
	case errors.Is(err.Err, errToggleSlash):
		if r.redirected {
			err.Err = errors.New("redirected to and fro between the path with and without a slash at its end")
			return 0, false
		}
		r.redirected, r.toggled = true, !r.toggled
		return -1, true
	case errors.Is(err.Err, errPause):
		return 0, false
	case err.Status == http.StatusTooManyRequests:
		// The limiter holds the next attempt back.
		r.refusals++
		return -1, r.refusals <= maxRefusals
	case r.call.hurried && err.TooSlow(), !r.transient(err):
		return 0, false
	}
	r.failures++
	wait = max(r.delay(), err.RetryAfter)
	if r.failures > r.c.retries && !r.outage(err) && !err.migrating() || wait > r.left() {
		return 0, false
	}
	return wait, true
}

// outage reports whether a service that has answered before cannot be reached now. It is
// tried again until the time is used up.
func (r *retries) outage(err *Error) bool { return err.unreachable() && r.c.limit.hasAnswered() }

// transient reports whether the same request may succeed later and repeating it is harmless.
func (r *retries) transient(err *Error) bool {
	switch {
	case err.Status == 0:
		return r.outage(err) || !permanent(err.Err) && (err.Effect == NoEffect || r.repeatable())
	case !r.repeatable() && (r.effect != NoEffect || err.Status != http.StatusServiceUnavailable && !err.migrating()):
		return false
	case err.Status == http.StatusInternalServerError:
		r.serverErrors++
		return r.serverErrors <= maxServerErrors
	case err.Status < 300: // a success with an incomplete body, or another's
		_, wrongID := errors.AsType[wrongIDError](err.Err)
		return wrongID || errors.Is(err.Err, errBroken)
	default:
		return err.Transient()
	}
}

// repeatable reports whether sending the request a second time is harmless.
func (r *retries) repeatable() bool { return !r.call.op.Writes() || r.call.op.Idempotent() }

// delay is the pause before the next attempt: exponential, with jitter.
func (r *retries) delay() time.Duration {
	if r.backoff == nil {
		r.backoff = backoff.NewExponentialBackOff()
		r.backoff.InitialInterval = firstDelay
		r.backoff.MaxInterval = longestDelay
		r.backoff.Multiplier = delayMultiplier
		r.backoff.RandomizationFactor = delayRandomness
	}
	return r.backoff.NextBackOff()
}

// sleep waits; it reports false if the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter is the pause that the service asks for, in seconds or as a date, however long.
// ok is false where there is no valid one.
func retryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds < 0 || seconds != seconds || seconds > longestAnnounced {
			return 0, false
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	// Relative to the service's own clock, if it is given.
	if served, err := http.ParseTime(h.Get("Date")); err == nil {
		now = served
	}
	return max(0, date.Sub(now)), true
}
