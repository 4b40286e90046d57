package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/planform/planform/internal/text/diag"
)

const checkNetwork = "check the address, the network, firewall and proxy"

// MoreTime is the advice if there was no answer in time.
const MoreTime = checkNetwork + ", or give it more time with --timeout"

// Explain explains why there was no answer, and reports whether there was a connection.
func Explain(scheme string, err error) (reason, advice string, connected bool) {
	if reason, advice, ok := Certificate(err); ok {
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
			"begin the base URL with http:// (and give --insecure-http for another machine), or use the port of https", false
	case timeout != nil && timeout.Timeout():
		return "no connection in time", MoreTime, false
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

// Certificate explains an error of the service's certificate, if it is one.
func Certificate(err error) (reason, advice string, ok bool) {
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

// plain is an error with another text.
type plain struct {
	error

	text string
}

func (pl plain) Error() string { return pl.text }
func (pl plain) Unwrap() error { return pl.error }

// Failed explains why a request to a server got no usable answer, in plain words and without secrets; nil = it got one.
func (s Secrets) Failed(ctx context.Context, server, scheme string, err error) error {
	if err == nil {
		return nil
	}
	no, none := errors.AsType[*NoAnswerError](err)
	final := none || errors.Is(err, ErrTooLarge)
	hint := checkNetwork
	reason, advice, known := Certificate(err)
	switch {
	case known:
		hint = advice
	case ctx.Err() != nil:
		reason, err = "no answer in time", context.Cause(ctx)
	case none:
		reason = strconv.Itoa(no.Status) + ": " + no.Error()
	case final:
		reason = err.Error()
	default:
		reason, _, _ = Explain(scheme, err)
	}
	err = diag.WithHint(plain{err, server + ": " + s.Line(reason)}, hint)
	if final {
		err = Final(err)
	}
	return err
}

// Final marks an error that a repetition would not change; [IsFinal] reports it.
func Final(err error) error { return finalError{err} }

type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }
func (e finalError) Final() bool   { return true }

// IsFinal reports whether a repetition would fail in the same way.
func IsFinal(err error) bool {
	f, ok := errors.AsType[interface {
		error
		Final() bool
	}](err)
	return ok && f.Final()
}
