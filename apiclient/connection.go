package apiclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/planform/planform/internal/http/wire"
)

// errBroken marks a failed connection or an incomplete answer.
var errBroken = errors.New("connection lost")

// ConnectionError is a failed connection or an incomplete answer, in plain words and without the credential.
type ConnectionError struct {
	Reason string
	Advice string // the next step

	address string // the base URL if no connection was made; "" = there was a connection
	cause   error
}

func (ce *ConnectionError) Error() string {
	if ce.address == "" {
		return ce.Reason
	}
	return "cannot connect to " + ce.address + ": " + ce.Reason
}

// Hint returns the next step.
func (ce *ConnectionError) Hint() string { return ce.Advice }

// Unwrap returns the error of the connection.
func (ce *ConnectionError) Unwrap() []error { return []error{errBroken, ce.cause} }

// transportError explains why no answer could be read. The error of the caller's context takes precedence over the error of the connection.
func (c *Client) transportError(ctx, limited context.Context, err error) error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	if limited.Err() != nil {
		return &ConnectionError{Reason: fmt.Sprintf("no answer within %s", c.timeout), Advice: wire.MoreTime, cause: ErrTimeout}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e := &ConnectionError{cause: c.clean(err)}
	reason, advice, connected := wire.Explain(c.base.Scheme, err)
	if !connected {
		e.address = c.base.Scheme + "://" + c.base.Host
	}
	e.Reason, e.Advice = c.clean(errors.New(reason)).Error(), advice
	return e
}

// clean redacts an error that may quote the secret.
func (c *Client) clean(err error) error {
	text := err.Error()
	hidden := c.credential.redact(text)
	if hidden == text {
		return err
	}
	return errors.New(wire.OneLine(hidden, maxTextRunes))
}

// neverDialled reports whether an error of another transport certainly comes from before a connection was made.
func neverDialled(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// permanent reports whether a retry of the connection would fail in the same way.
func permanent(err error) bool {
	if !errors.Is(err, errBroken) {
		return true // the transport's own refusal
	}
	dns, _ := errors.AsType[*net.DNSError](err)
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, _, invalid := wire.Certificate(err)
	return dns != nil && dns.IsNotFound || dns == nil && (verify || record || invalid || errors.Is(err, http.ErrSchemeMismatch))
}
