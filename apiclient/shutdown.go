package apiclient

import (
	"context"
	"errors"
)

// ErrStopped is the error of a request that was not sent because of [Client.Stop].
var ErrStopped = errors.New("no further request is made")

// Stop ends the client's work gracefully: no more requests are sent, not even those that wait for the quota or a retry; requests under way
// finish. It may be called several times. The client stops itself when the service cannot be reached.
func (c *Client) Stop() { c.stop(ErrStopped) }

// StopBecause is [Client.Stop] with a reason, which later requests return.
func (c *Client) StopBecause(reason error) { c.stop(&reasonError{reason}) }

// reasonError is the reason why a client was stopped.
type reasonError struct{ reason error }

func (rs *reasonError) Error() string { return ErrStopped.Error() + ", since " + rs.reason.Error() }

func (rs *reasonError) Unwrap() []error { return []error{ErrStopped, rs.reason} }

// Stopped returns a channel that is closed when the client is stopped.
func (c *Client) Stopped() <-chan struct{} { return c.running.Done() }

// stopUnreachable stops the client because the service cannot be reached: the next request would wait as long, and fail too.
func (c *Client) stopUnreachable(err *Error) { c.stop(&lostError{err.Err}) }

// lostError is the reason why a client stopped itself.
type lostError struct{ cause error }

func (lt *lostError) Error() string {
	return ErrStopped.Error() + ", since the service cannot be reached: " + lt.cause.Error()
}

func (lt *lostError) Unwrap() []error { return []error{ErrStopped, lt.cause} }

// untilStopped returns ctx, cancelled with [ErrStopped] when the client is stopped.
func (c *Client) untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() { cancel(context.Cause(c.running)) }
	if c.running.Err() != nil {
		stop() // AfterFunc would not do it at once
	}
	unlink := context.AfterFunc(c.running, stop)
	return ctx, func() {
		unlink()
		cancel(nil)
	}
}
