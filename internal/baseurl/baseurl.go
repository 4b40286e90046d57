// Package baseurl has the one form in which base URLs of services are used, stored
// and compared.
//
// It must not know the users of a URL, or judge whether one is safe to use.
package baseurl

import (
	"net"
	"net/url"
	"strings"
)

// Normalize brings an http or https address into its one form: scheme and host
// in lower case, no port that is the scheme's own, no slash at the end, and no
// /api/v1 or /api/v2, which the operations add themselves and people often copy.
// Parts that could be a credential (user, query, fragment) are dropped.
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

// WithScheme is the address that a text without a scheme is probably meant as, such as
// https://plane.example.com for plane.example.com; "" = it has one, or holds more than an address.
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

// Loopback reports whether a host name is this machine's own.
func Loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
