package apiclient

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/planform/planform/internal/plane/resource"
)

const (
	maxRefusals      = 20              // by the rate limit, for one request
	fewRetries       = 2               // after a 500, and after a 403 to a delete, which API v2 was seen to answer temporarily
	firstContact     = 3 * time.Second // how long a service that never answered is tried
	firstDelay       = 500 * time.Millisecond
	longestDelay     = 30 * time.Second
	notWorthTelling  = time.Second
	delayMultiplier  = 2
	delayRandomness  = 0.5
	longestAnnounced = 1 << 30 // in seconds; more is nonsense
)

// verdict is the decision after a failed attempt.
type verdict int8

const (
	giveUp  verdict = iota
	again           // after a pause that is reported
	quietly         // as soon as the limiter allows it
)

// send makes the call until it succeeds, fails for good, or has used up its attempts or time. The error's Effect covers all attempts.
func (c *Client) send(ctx context.Context, call *call) (*answer, error) {
	r := retries{c: c, call: call}
	for {
		a, err := c.sendWithSlash(ctx, call, r.timeLeft())
		if err == nil {
			a.attempts = r.attempts + 1
			if !call.op.Writes() {
				c.notify(Event{Type: Answered})
			}
			return a, nil
		}
		if refused := r.last; refused != nil && errors.Is(err.Err, errPause) {
			return nil, r.conclude(refused) // the service's answer says more than the missing retry
		}
		r.count(err)
		next, wait := r.judge(ctx, err)
		if next == giveUp {
			if err.unreachable() {
				c.stopUnreachable(err)
			}
			return nil, r.conclude(err)
		}
		if next == again {
			c.notify(Event{Type: Retrying, Wait: wait, Method: call.method, Path: call.path, Attempt: r.attempts, Err: err})
		}
		if stopped := r.pause(ctx, wait); stopped != nil {
			return nil, stopped
		}
	}
}

// retries holds the failed attempts of a call.
type retries struct {
	c        *Client
	call     *call
	attempts int
	effect   Effect    // the worst effect of all attempts
	since    time.Time // time of the first failure
	last     *Error

	refusals     int  // by the rate limit
	failures     int  // all other failures
	serverErrors int  // 500s among the failures
	doubted      bool // see [Error.Doubted]; reset by a lookup

	backoff *backoff.ExponentialBackOff
}

// conclude returns the final error of the call. An attempt whose effect is in doubt makes the effect unknown.
func (r *retries) conclude(err *Error) *Error {
	if r.doubted && err.Effect == NoEffect {
		err.Effect = UnknownEffect
	}
	return err
}

// timeLeft returns the longest wait before the next attempt.
func (r *retries) timeLeft() time.Duration {
	most := r.c.maxElapsed
	switch {
	case r.since.IsZero():
		return most
	case r.last.unreachable() && !r.c.limit.hasAnswered():
		most = min(most, firstContact)
	}
	return most - time.Since(r.since)
}

// count adds a failed attempt, and completes its error.
func (r *retries) count(err *Error) {
	r.attempts++
	if r.call.op.Writes() && err.Effect == UnknownEffect && !err.Finished() {
		r.c.open.Store(time.Now().UnixNano())
	}
	r.effect = max(r.effect, err.Effect)
	err.Effect, err.Attempts, err.Doubted = r.effect, r.attempts, r.doubted
	r.last = err
	// A server that asks for a long pause refuses all requests, and passes none on.
	if err.busy() && err.RetryAfter <= r.c.maxElapsed && r.call.op.Writes() && (!err.throttled() || r.call.op.Verb == resource.CreateMany) {
		r.doubted = true
	}
	if r.since.IsZero() {
		r.since = time.Now()
	}
	switch err.Status {
	case http.StatusTooManyRequests:
		r.refusals++
	case http.StatusInternalServerError:
		r.serverErrors++
		r.failures++
	default:
		r.failures++
	}
}

// judge decides whether to repeat the attempt that was counted last, and how long to wait before.
func (r *retries) judge(ctx context.Context, err *Error) (next verdict, wait time.Duration) {
	switch {
	case ctx.Err() != nil, errors.Is(err.Err, errPause):
		return giveUp, 0
	case err.Status == http.StatusTooManyRequests && r.refusals <= maxRefusals:
		return quietly, 0 // the limiter delays it
	case err.Status == http.StatusTooManyRequests, r.call.shrinkable && err.TooSlow(), !r.transient(err):
		return giveUp, 0
	}
	wait = max(r.delay(), err.RetryAfter)
	if r.failures > r.c.retries && !r.outage(err) && !err.migrating() || wait > r.timeLeft() {
		return giveUp, 0
	}
	return again, wait
}

// pause waits for the next attempt, and lets the caller check the effect of the last one. An error ends the call.
func (r *retries) pause(ctx context.Context, wait time.Duration) error {
	waiting, release := r.c.untilStopped(ctx)
	slept := sleep(waiting, wait)
	release()
	if !slept {
		stopped := r.c.failure(r.call, r.effect, contextError(waiting))
		stopped.Attempts = r.attempts
		return r.conclude(stopped)
	}
	if r.doubted && r.call.again != nil {
		r.doubted = false
		return r.call.again(ctx)
	}
	return nil
}

// outage reports whether a service that answered before cannot be reached now. It is tried again until the time is used up.
func (r *retries) outage(err *Error) bool { return err.unreachable() && r.c.limit.hasAnswered() }

// transient reports whether the same request may succeed later, and repeating it is harmless.
func (r *retries) transient(err *Error) bool {
	switch {
	case err.Status == 0:
		return r.outage(err) || !permanent(err.Err) && (err.Effect == NoEffect || r.repeatable())
	case !r.repeatable() && (r.effect != NoEffect || err.Status != http.StatusServiceUnavailable && !err.migrating()):
		return false
	case err.Status == http.StatusInternalServerError:
		return r.serverErrors <= fewRetries
	case err.Permission() && (r.call.method == http.MethodDelete || r.call.op.Verb == resource.DeleteMany):
		return r.failures <= fewRetries
	case err.Status < 300: // a success with an incomplete body, or an answer about another object
		_, wrongID := errors.AsType[wrongIDError](err.Err)
		return wrongID || errors.Is(err.Err, errBroken)
	default:
		return err.Transient()
	}
}

// repeatable reports whether sending the request a second time is harmless.
func (r *retries) repeatable() bool { return !r.call.op.Writes() || r.call.op.Idempotent() }

// delay returns the pause before the next attempt: exponential, with jitter.
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

// sleep waits. It returns false if the context ended first.
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

// retryAfter returns the pause that the service asks for, in seconds or as a date, without an upper limit. ok is false if there is no valid
// one.
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
	// The date is relative to the service's own clock, if it is given.
	if served, err := http.ParseTime(h.Get("Date")); err == nil {
		now = served
	}
	return max(0, date.Sub(now)), true
}
