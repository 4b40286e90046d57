package apiclient

import (
	"context"
	"errors"
)

// ErrStopped is the error of a request that [Client.Stop] kept from being sent.
var ErrStopped = errors.New("no further request is made")

// Stop ends the client's work gently: no request is sent any more, not even one
// that waits for its turn or for another try; those under way finish. It may be
// called more than once. The client stops itself when the service cannot be reached.
func (c *Client) Stop() { c.stop(ErrStopped) }

// Stopped is closed when the client is stopped.
func (c *Client) Stopped() <-chan struct{} { return c.running.Done() }

// lost stops the client since the service cannot be reached: the next request
// would only wait as long for the same.
func (c *Client) lost(err *Error) { c.stop(&lostError{err.Err}) }

// lostError is why a client has stopped itself.
type lostError struct{ cause error }

func (e *lostError) Error() string {
	return ErrStopped.Error() + ", since the service cannot be reached: " + e.cause.Error()
}

func (e *lostError) Unwrap() []error { return []error{ErrStopped, e.cause} }

// untilStopped is ctx, cancelled with [ErrStopped] when the client is stopped.
func (c *Client) untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(c.running, func() { cancel(context.Cause(c.running)) })
	return ctx, func() {
		unlink()
		cancel(nil)
	}
}
