package apiclient_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/text/diag"
)

// late is a timeout error.
type late struct{}

func (late) Error() string   { return "net/http: TLS handshake timeout" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

func TestEveryReasonForNoAnswerHasItsOwnWords(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	read := func(err error) error {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)}
	}
	cert := &x509.Certificate{
		DNSNames: []string{"plane.example.com"}, NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	const early = "the service closed the connection early"
	for name, tt := range map[string]struct {
		err      error
		what, do string
	}{
		"a host without an address is named": {
			dial(&net.DNSError{Name: "plane.example.com", Err: "no such host", IsNotFound: true}),
			"there is no host named plane.example.com", "check the spelling of the base URL, and whether this machine resolves names (DNS, VPN)",
		},
		"a name server that does not answer is blamed, not the name": {
			dial(&net.DNSError{Name: "plane.example.com", Err: "server misbehaving", IsTemporary: true}),
			"the name plane.example.com cannot be looked up: server misbehaving", "check this machine's network and name server",
		},
		"a refused connection means that nothing listens": {
			dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
			"connection refused: nothing listens there", "start the service, or check host and port of the base URL",
		},
		"an unreachable network is named": {
			dial(errors.New("network is unreachable")),
			"network is unreachable", "check this machine's network, firewall and VPN",
		},
		"a host that answers no packet gets the hint to --timeout": {
			dial(late{}),
			"no connection in time", "check the address, the network, firewall and proxy, or give it more time with --timeout",
		},
		"a proxy that refuses is blamed, not the service": {
			&net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("connection refused")},
			"the proxy cannot be reached: connection refused", "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY",
		},
		"a certificate of an unknown authority gets the hint to SSL_CERT_FILE": {
			x509.UnknownAuthorityError{Cert: cert},
			"the certificate is signed by a CA that this machine does not trust",
			"install the CA's certificate on this machine, or name its file in SSL_CERT_FILE (Linux)",
		},
		"a certificate for another host names both hosts": {
			x509.HostnameError{Certificate: cert, Host: "plane.example.org"},
			"the certificate is for another host name: certificate is valid for plane.example.com, not plane.example.org",
			"use a host name from the certificate, or get a certificate for this one",
		},
		"an expired certificate shows the days on which it is valid": {
			x509.CertificateInvalidError{Cert: cert, Reason: x509.Expired},
			"the certificate is not valid now, but from 2025-01-01 to 2026-01-01", "renew it, or set this machine's clock",
		},
		"a certificate that is not for servers is to be replaced": {
			x509.CertificateInvalidError{Cert: cert, Reason: x509.IncompatibleUsage},
			"the certificate is not valid: certificate specifies an incompatible key usage", "replace the service's certificate",
		},
		"a port that speaks plain http gets the hint to http":          {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "the port speaks plain http, not https", "begin the base URL with http:// (and give --insecure-http for another machine), or use the port of https"},
		"a TLS handshake that takes too long is no connection in time": {late{}, "no connection in time", "check the address, the network, firewall and proxy, or give it more time with --timeout"},
		"a failed handshake gets the hint to the TLS settings":         {errors.New("remote error: tls: handshake failure"), "the TLS handshake failed: handshake failure", "check the service's TLS settings and any proxy before it"},
		"a connection that is closed at once ended early":              {io.EOF, early, "check the service and any proxy before it"},
		"a connection that is reset ended early":                       {read(syscall.ECONNRESET), early, "check the service and any proxy before it"},
		"an idle connection that the server closed is lost":            {errors.New("http: server closed idle connection"), "the connection was lost: server closed idle connection", "check the service and any proxy before it"},
		"a malformed answer is not HTTP":                               {fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", errors.New("malformed HTTP response")), "the answer is not HTTP", "check host and port of the base URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := offline(t, func(*http.Request) (*http.Response, error) { return nil, tt.err })
				e := failure(t, c, documented(t, 1))
				broken, ok := errors.AsType[*apiclient.ConnectionError](e)
				if !ok || broken.Reason != tt.what || diag.HintOf(e) != tt.do {
					t.Errorf("%v\n%s", e, diag.HintOf(e))
				}
			})
		})
	}
}

func TestAConnectionThatEndsEarlyOnAPlainPortGetsTheHintOfHTTPS(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := client(t, "http://127.0.0.1:8080", func(cfg *apiclient.Config) {
			cfg.Transport = scripted(func(*http.Request) (*http.Response, error) { return nil, io.EOF })
		})
		if hint := diag.HintOf(failure(t, c, documented(t, 1))); !strings.Contains(hint, "https://") {
			t.Error(hint)
		}
	})
}
