package doctor

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/planform/planform/apiclient"
)

// late is an error that says that time ran out.
type late struct{}

func (late) Error() string   { return "i/o timeout" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

func TestEveryReasonForNoAnswerHasItsOwnWords(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	cert := &x509.Certificate{
		DNSNames: []string{"plane.example.com"}, NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	const https, http = "https://plane.example.com", "http://127.0.0.1:8080"
	for name, tt := range map[string]struct {
		base     string
		err      error
		what, do string
	}{
		"no such host": {
			https, dial(&net.DNSError{Name: "plane.example.com", Err: "no such host", IsNotFound: true}),
			"there is no host named plane.example.com", "check the spelling of the base URL, and whether this machine resolves names (DNS, VPN)",
		},
		"no name server": {
			https, dial(&net.DNSError{Name: "plane.example.com", Err: "server misbehaving", IsTemporary: true}),
			"the name plane.example.com cannot be looked up: server misbehaving", "check this machine's network and name server",
		},
		"refused": {
			https, dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
			"connection refused: nothing listens there", "start the service, or check host and port of the base URL",
		},
		"no way there": {
			https, dial(errors.New("network is unreachable")),
			"no connection: network is unreachable", "check this machine's network, firewall and VPN",
		},
		"no answer to the first packet": {
			https, dial(late{}),
			"no connection in time", "check the address, the network, firewall and proxy, or give it more time with --timeout",
		},
		"no answer": {
			https, fmt.Errorf("no answer within 1m0s: %w", apiclient.ErrTimeout),
			"no answer within 1m0s", "check the address, the network, firewall and proxy, or give it more time with --timeout",
		},
		"no proxy": {
			https, &net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("connection refused")},
			"the proxy cannot be reached: proxyconnect tcp: connection refused", "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY",
		},
		"unknown authority": {
			https,
			x509.UnknownAuthorityError{Cert: cert},
			"the certificate is signed by a CA that this machine does not trust",
			"install the CA's certificate on this machine, or name its file in SSL_CERT_FILE (Linux)",
		},
		"another name": {
			https,
			x509.HostnameError{Certificate: cert, Host: "plane.example.org"},
			"the certificate is for another host name: certificate is valid for plane.example.com, not plane.example.org",
			"use a host name from the certificate, or get a certificate for this one",
		},
		"expired": {
			https,
			x509.CertificateInvalidError{Cert: cert, Reason: x509.Expired},
			"the certificate is not valid now, but from 2025-01-01 to 2026-01-01", "renew it, or set this machine's clock",
		},
		"not for servers": {
			https,
			x509.CertificateInvalidError{Cert: cert, Reason: x509.IncompatibleUsage},
			"the certificate is not valid: certificate specifies an incompatible key usage", "replace the service's certificate",
		},
		"cut, https":      {https, io.EOF, "the service closed the connection without an answer", "check the service and what stands before it"},
		"cut, plain http": {http, io.EOF, "the service closed the connection without an answer", "if the port speaks https, begin the base URL with https://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if what, do := connection(tt.base, tt.err); what != tt.what || do != tt.do {
				t.Errorf("%s\n%s", what, do)
			}
		})
	}
}
