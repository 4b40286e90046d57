package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// MaxError is the size limit of an error's answer, in bytes.
const MaxError = 256 << 10

// ErrTooLarge is wrapped by the error of a body beyond its limit.
var ErrTooLarge = errors.New("the answer is too large")

// NoAnswerError is the error of a status below 200. After a protocol switch, which was not requested, the body would be the bare
// connection.
type NoAnswerError struct{ Status int }

func (na *NoAnswerError) Error() string { return "this is no answer: no other protocol was asked for" }

// DialFunc makes a connection.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// Dialer returns a dialer with the timeouts of a [New] transport.
func Dialer() *net.Dialer { return &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second} }

// New returns a transport like http.DefaultTransport, but with only HTTP/1 and more kept-alive connections to one host. Its timeouts apply
// to making a connection. The context of a request limits the wait for the answer.
func New(dial DialFunc) *http.Transport {
	// Over HTTP/2, net/http endlessly repeats requests declined with GOAWAY, and a few concurrent requests gain nothing from it.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		Protocols:              protocols,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxIdleConns:           128,
		MaxIdleConnsPerHost:    128,
		IdleConnTimeout:        30 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// Send sends a request and returns the answer. Its body ends with the request's context. Reading more than most bytes of a success fails
// with [ErrTooLarge]; the body of an error is cut at [MaxError].
func Send(transport http.RoundTripper, req *http.Request, most int64) (*http.Response, error) {
	resp, err := transport.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // explained by the caller
	case resp.StatusCode < 200:
		if resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, &NoAnswerError{resp.StatusCode}
	case resp.Body == nil:
		resp.Body = http.NoBody
	default:
		inner := resp.Body
		b := &body{inner, most, tooLarge(most), context.AfterFunc(req.Context(), func() { _ = inner.Close() })}
		if resp.StatusCode > 299 {
			b.left, b.over = MaxError, io.EOF
		}
		resp.Body = b
	}
	return resp, nil
}

func tooLarge(most int64) error {
	unit := "bytes"
	for _, larger := range []string{"KiB", "MiB"} {
		if most >= 1<<10 {
			most, unit = most>>10, larger
		}
	}
	return fmt.Errorf("%w: more than %d %s", ErrTooLarge, most, unit)
}

// Limited is a transport for a library that makes its own requests. It limits the size of answers as [Send] does; Most returns the limit of a
// request in bytes.
type Limited struct {
	http.RoundTripper

	Most func(*http.Request) int64
}

// RoundTrip implements [http.RoundTripper].
func (l Limited) RoundTrip(req *http.Request) (*http.Response, error) {
	return Send(l.RoundTripper, req, l.Most(req))
}

// body is the body of an answer, with a limit on its bytes. It is closed when its context ends.
type body struct {
	io.ReadCloser

	left   int64
	over   error // the error beyond the limit
	unbind func() bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return max(0, n+int(b.left)), b.over
	}
	return n, err //nolint:wrapcheck // a body's errors are passed on as they are
}

// Close closes the body.
func (b *body) Close() error {
	b.unbind()
	return b.ReadCloser.Close() //nolint:wrapcheck // a body's errors are passed on as they are
}
