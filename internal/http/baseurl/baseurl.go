// Package baseurl defines the one form in which base URLs of services are used, stored and compared.
//
// It must not know the users of a URL, or judge whether one is safe to use.
package baseurl

import (
	"net"
	"net/url"
	"strings"
)

// Normalize returns an http or https address in its one form: scheme and host in lower case, without the default port of the scheme,
// without a slash at the end, and without /api/v1 or /api/v2, which the operations add themselves and people often copy. Parts that could
// be a credential (user, query, fragment) are dropped.
func Normalize(u *url.URL) *url.URL {
	n := &url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host)}
	switch port := u.Port(); {
	case port == "", n.Scheme == "https" && port == "443", n.Scheme == "http" && port == "80":
		n.Host = strings.TrimSuffix(strings.TrimSuffix(n.Host, port), ":")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(path, "/api/v1"), "/api/v2"), "/")
	n.Path, _ = url.PathUnescape(path) // it was escaped by the URL itself
	n.RawPath = path
	return n
}

// WithScheme returns the address that a text without a scheme probably means, such as https://plane.example.com for plane.example.com. "" =
// the text has a scheme, or contains more than an address.
func WithScheme(text string) string {
	u, err := url.Parse("https://" + strings.TrimSpace(text))
	if err != nil || strings.Contains(text, "://") || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	if Loopback(u.Hostname()) {
		u.Scheme = "http"
	}
	return Normalize(u).String()
}

// Loopback reports whether a host name belongs to this machine.
func Loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
