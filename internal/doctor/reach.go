package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/resource"
)

// reach tells from what became of the first request whether the service's API
// was reached, and if not why, and what to do.
func reach(base string, err error) (what, do string, reached bool) {
	e, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case err == nil:
		return "", "", true
	case !ok:
		return err.Error(), "", false
	case e.Status == 0:
		what, do = connection(base, e.Err)
		return base + ": " + what, do, false
	case e.Status >= 500:
		return "the service fails: " + words(e), "try again later, or look at the service's own log", false
	case errors.Is(e, apiclient.ErrWebPage):
		what = base + " answers with a web page, not as the API"
		if e.Message != "" {
			what += ": " + words(e)
		}
		return what, elsewhere(base), false
	case e.Status == 400 && strings.Contains(e.Message, "HTTPS"):
		return base + " wants https: " + words(e), "begin the base URL with https://", false
	case e.Status >= 300 && e.Status < 400:
		return base + ": " + words(e), "", false // which says what to do
	case e.Status < 300, e.Op.Verb == resource.Self && !known(e):
		return base + " answers, but not as the API: " + words(e), elsewhere(base), false
	default:
		return "", "", true
	}
}

// known reports whether the API answers so where it is asked whom the credential belongs to.
func known(e *apiclient.Error) bool {
	return e.Credential() || e.Permission() || e.Unsupported() || errors.Is(e, apiclient.ErrRateLimited)
}

func pause(e *apiclient.Error) string {
	if e.RetryAfter <= 0 {
		return ""
	}
	return "; it asks to wait " + e.RetryAfter.Round(time.Second).String()
}

// elsewhere is the advice for a base URL at which something else is.
func elsewhere(base string) string {
	u, err := url.Parse(base)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return "planform expects the API at " + strings.TrimRight(base, "/") + "/api/v1: check the host, and if Plane is below a path there, add it to the base URL"
	}
	return "planform expects the API at " + strings.TrimRight(base, "/") + "/api/v1: leave " + strings.TrimRight(u.Path, "/") + " out of the base URL, unless Plane is below that path"
}

// NoAnswer says in plain words why there was no answer.
func NoAnswer(err error) string {
	what, _ := connection("", err)
	return what
}

// connection explains why there was no answer.
func connection(base string, err error) (what, do string) {
	if what, do, ok := certificate(err); ok {
		return what, do
	}
	var (
		dns    *net.DNSError
		record tls.RecordHeaderError
		dial   *net.OpError
	)
	errors.As(err, &dial)
	switch {
	case dial != nil && dial.Op == "proxyconnect":
		return "the proxy cannot be reached: " + err.Error(), "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host named " + dns.Name, "check the spelling of the base URL, and whether this machine resolves names (DNS, VPN)"
	case errors.As(err, &dns):
		return "the name " + dns.Name + " cannot be looked up: " + dns.Err, "check this machine's network and name server"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens there", "start the service, or check host and port of the base URL"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the port speaks plain http, not https", "begin the base URL with http:// (for another machine also give --insecure-http), or use the port that speaks https"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		do = "check the service and what stands before it"
		if strings.HasPrefix(base, "http:") {
			do = "if the port speaks https, begin the base URL with https://"
		}
		return "the service closed the connection without an answer", do
	case errors.Is(err, apiclient.ErrTimeout):
		return strings.TrimSuffix(err.Error(), ": "+apiclient.ErrTimeout.Error()), "check the address, the network, firewall and proxy, or give it more time with --timeout"
	case dial != nil && dial.Timeout():
		return "no connection in time", "check the address, the network, firewall and proxy, or give it more time with --timeout"
	case dial != nil && dial.Op == "dial":
		return "no connection: " + dial.Err.Error(), "check this machine's network, firewall and VPN"
	case strings.HasPrefix(base, "http:"):
		return "the connection ended without an answer: " + err.Error(), "if the port speaks https, begin the base URL with https://"
	default:
		return "the connection ended without an answer: " + err.Error(), "check the service and what stands before it"
	}
}

// certificate explains what is wrong with the service's certificate, if that it is.
func certificate(err error) (what, do string, ok bool) {
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
		return "the certificate is for another host name: " + strings.TrimPrefix(hostname.Error(), "x509: "), "use a host name from the certificate, or get a certificate for this one", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate is not valid now, but from %s to %s", invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly)),
			"renew it, or set this machine's clock", true
	case errors.As(err, &invalid):
		return "the certificate is not valid: " + strings.TrimPrefix(invalid.Error(), "x509: "), "replace the service's certificate", true
	default:
		return "", "", false
	}
}

// local reports whether a base URL names this machine.
func local(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
