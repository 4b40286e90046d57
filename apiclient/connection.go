package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/planform/planform/internal/diag"
)

// errBroken marks a failed connection or an incomplete answer.
var errBroken = errors.New("connection lost")

// ConnectionError is a failed connection or an incomplete answer, in plain words and
// without the credential.
type ConnectionError struct {
	Reason string
	Advice string // the next step

	address string // the base URL, if no connection could be made; "" = there was one
	cause   error
}

func (e *ConnectionError) Error() string {
	if e.address == "" {
		return e.Reason
	}
	return "cannot connect to " + e.address + ": " + e.Reason
}

// Hint is the next step.
func (e *ConnectionError) Hint() string { return e.Advice }

// Unwrap returns the error of the connection.
func (e *ConnectionError) Unwrap() []error { return []error{errBroken, e.cause} }

// transportError explains why no answer could be read. The error of the caller's context
// takes precedence over that of the connection.
func (c *Client) transportError(ctx, limited context.Context, err error) error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	if limited.Err() != nil {
		return &ConnectionError{Reason: fmt.Sprintf("no answer within %s", c.timeout), Advice: moreTime, cause: ErrTimeout}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e := &ConnectionError{cause: c.clean(err)}
	reason, advice, connected := noAnswer(c.base.Scheme, err)
	if !connected {
		e.address = c.base.Scheme + "://" + c.base.Host
	}
	e.Reason, e.Advice = c.clean(errors.New(reason)).Error(), advice
	return e
}

const moreTime = "check the address, the network, firewall and proxy, or give it more time with --timeout"

// noAnswer explains why there was no answer, and reports whether there was a connection.
func noAnswer(scheme string, err error) (reason, advice string, connected bool) {
	if reason, advice, ok := certificate(err); ok {
		return reason, advice, false
	}
	closed := "check the service and any proxy before it"
	if scheme == "http" {
		closed = "if the port speaks https, begin the base URL with https://"
	}
	op, _ := errors.AsType[*net.OpError](err)
	dns, _ := errors.AsType[*net.DNSError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	timeout, _ := errors.AsType[net.Error](err)
	_, alert, tlsFailed := strings.Cut(err.Error(), "tls: ")
	switch {
	case op != nil && op.Op == "proxyconnect":
		return "the proxy cannot be reached: " + diag.PlainText(op.Err), "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY", false
	case dns != nil && dns.IsNotFound:
		return "there is no host named " + dns.Name, "check the spelling of the base URL, and whether this machine resolves names (DNS, VPN)",
			false
	case dns != nil:
		return "the name " + dns.Name + " cannot be looked up: " + dns.Err, "check this machine's network and name server", false
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens there", "start the service, or check host and port of the base URL", false
	case record, errors.Is(err, http.ErrSchemeMismatch):
		return "the port speaks plain http, not https",
			"begin the base URL with http:// (for another machine also give --insecure-http), or use the port that speaks https", false
	case timeout != nil && timeout.Timeout():
		return "no connection in time", moreTime, false
	case op != nil && op.Op == "dial":
		return diag.PlainText(op.Err), "check this machine's network, firewall and VPN", false
	case tlsFailed:
		return "the TLS handshake failed: " + alert, "check the service's TLS settings and any proxy before it", false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the service closed the connection early", closed, true
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "the answer is not HTTP", "check host and port of the base URL", true
	default:
		return "the connection was lost: " + diag.PlainText(err), closed, true
	}
}

// certificate explains an error of the service's certificate, if it is one.
func certificate(err error) (reason, advice string, ok bool) {
	var (
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &authority):
		return "the certificate is signed by a CA that this machine does not trust",
			"install the CA's certificate on this machine, or name its file in SSL_CERT_FILE (Linux)", true
	case errors.As(err, &hostname):
		return "the certificate is for another host name: " + strings.TrimPrefix(hostname.Error(), "x509: "),
			"use a host name from the certificate, or get a certificate for this one", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate is not valid now, but from %s to %s", invalid.Cert.NotBefore.Format(time.DateOnly),
				invalid.Cert.NotAfter.Format(time.DateOnly)),
			"renew it, or set this machine's clock", true
	case errors.As(err, &invalid):
		return "the certificate is not valid: " + strings.TrimPrefix(invalid.Error(), "x509: "), "replace the service's certificate", true
	default:
		return "", "", false
	}
}

// clean redacts an error that may quote the secret.
func (c *Client) clean(err error) error {
	text := err.Error()
	hidden := c.credential.redact(text)
	if hidden == text {
		return err
	}
	return errors.New(oneLine(hidden, maxTextRunes))
}

// neverDialled reports whether an error of a foreign transport certainly comes from before
// there was a connection.
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
	_, _, invalid := certificate(err)
	return dns != nil && dns.IsNotFound || dns == nil && (verify || record || invalid || errors.Is(err, http.ErrSchemeMismatch))
}
