// Package baseurl has the one form in which base URLs of services are used, stored
// and compared.
//
// It must not know the users of a URL, or judge whether one is safe to use.
package baseurl

import (
	"net/url"
	"strings"
)

// Normalize brings an http or https address into its one form: scheme and host
// in lower case, no port that is the scheme's own, no slash at the end, and no
// /api/v1, which the operations add themselves and people often copy.
// Parts that could be a credential (user, query, fragment) are dropped.
func Normalize(u *url.URL) *url.URL {
	n := &url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host)}
	switch port := u.Port(); {
	case port == "", n.Scheme == "https" && port == "443", n.Scheme == "http" && port == "80":
		n.Host = strings.TrimSuffix(strings.TrimSuffix(n.Host, port), ":")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/api/v1"), "/")
	n.Path, _ = url.PathUnescape(path) // it was escaped by the URL itself
	n.RawPath = path
	return n
}
