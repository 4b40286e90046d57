package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/planform/planform/internal/http/wire"
)

// errToggleSlash means that the service expects the same request with the other form of the path's trailing slash.
var errToggleSlash = errors.New("the service wants the other form of the path")

// sendWithSlash sends the call, and repeats it with the other form of the trailing slash if the service asks for it. The final answer shows
// which form the service takes.
func (c *Client) sendWithSlash(ctx context.Context, call *call, maxWait time.Duration) (*answer, *Error) {
	saved, _ := c.learned.slash.Load(call.op)
	toggled := saved == true
	a, err := c.sendOnce(ctx, call, toggled, maxWait)
	if err == nil || !errors.Is(err.Err, errToggleSlash) {
		return a, err
	}
	call.redirected = true
	a, err = c.sendOnce(ctx, call, !toggled, maxWait)
	switch {
	case err != nil && errors.Is(err.Err, errToggleSlash):
		err.Err = errors.New("redirected to and fro between the path with and without a slash at its end")
	case err == nil || err.Status >= 400 || err.Status/100 == 2:
		c.learned.slash.Store(call.op, !toggled)
	}
	return a, err
}

// judgeRedirect returns the error of a 3xx answer: errToggleSlash, or the reason why it is not followed. Quoted texts are redacted by hide.
func judgeRedirect(base, from *url.URL, status int, location string, hide func(string) string) error {
	if location == "" {
		return errors.New("redirected, but the answer does not say where to")
	}
	shown := wire.OneLine(hide(location), maxExcerpt)
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return fmt.Errorf("redirected to %q, which this program does not follow", shown)
	}
	to, err := from.Parse(location)
	if err != nil {
		return errors.New("redirected to something that is not an address")
	}
	to.User = nil
	shown = wire.OneLine(hide(to.Redacted()), maxExcerpt)
	toggled := toggleSlash(from.EscapedPath())
	switch {
	case !strings.EqualFold(to.Scheme, from.Scheme) || !strings.EqualFold(address(to), address(from)):
		return fmt.Errorf("redirected to %q, which is not the configured address; if it is right, make it the base URL", shown)
	case to.RawQuery != from.RawQuery && to.RawQuery != "":
		return fmt.Errorf("redirected to %q, which asks for something else", shown)
	case to.EscapedPath() == toggled, to.EscapedPath() == strings.TrimPrefix(toggled, base.EscapedPath()):
		// A service behind a proxy may not know the beginning of its paths. The path in the answer is never requested, only the known path
		// with its slash toggled.
		return errToggleSlash
	default:
		return fmt.Errorf("redirected to %q, which is not the same path; is the base URL right?", shown)
	}
}

// address returns host and port.
func address(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case strings.EqualFold(u.Scheme, "https"):
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// toggleSlash adds or removes the trailing slash.
func toggleSlash(path string) string {
	if p, ok := strings.CutSuffix(path, "/"); ok {
		return p
	}
	return path + "/"
}
