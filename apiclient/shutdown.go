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
func (c *Client) StopBecause(reason error) { c.stop(&stoppedError{cause: reason}) }

// stoppedError is the reason why a client was stopped.
type stoppedError struct {
	cause       error
	unreachable bool // the client stopped itself, because the service cannot be reached
}

func (sp *stoppedError) Error() string {
	text := ErrStopped.Error() + ", since "
	if sp.unreachable {
		text += "the service cannot be reached: "
	}
	return text + sp.cause.Error()
}

func (sp *stoppedError) Unwrap() []error { return []error{ErrStopped, sp.cause} }

// Stopped returns a channel that is closed when the client is stopped.
func (c *Client) Stopped() <-chan struct{} { return c.running.Done() }

// stopUnreachable stops the client because the service cannot be reached: the next request would wait as long, and fail too.
func (c *Client) stopUnreachable(err *Error) { c.stop(&stoppedError{err.Err, true}) }

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
