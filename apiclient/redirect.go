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

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/wire"
)

// errToggleSlash says that the service expects the same request with, or without, a
// trailing slash in the path.
var errToggleSlash = errors.New("the service wants the other form of the path")

// attempt sends the call, and again with the slash of its path toggled if the service asks for that. Whatever it answers then
// tells which form it takes.
func (c *Client) attempt(ctx context.Context, call *call, maxWait time.Duration) (*answer, *Error) {
	toggled := c.learned.toggles(call.op)
	a, err := c.once(ctx, call, toggled, maxWait)
	if err == nil || !errors.Is(err.Err, errToggleSlash) {
		return a, err
	}
	call.redirected = true
	a, err = c.once(ctx, call, !toggled, maxWait)
	switch {
	case err != nil && errors.Is(err.Err, errToggleSlash):
		err.Err = errors.New("redirected to and fro between the path with and without a slash at its end")
	case err == nil || err.Status >= 400 || err.Status/100 == 2:
		c.learned.setToggle(call.op, !toggled)
	}
	return a, err
}

// judgeRedirect is the error of a 3xx answer: errToggleSlash, or why it is not followed. Quoted texts are redacted by hide.
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
		// A service behind a proxy may not know the beginning of its paths. Nothing is sent to
		// the path in the answer anyway, only to the known one with its slash toggled.
		return errToggleSlash
	default:
		return fmt.Errorf("redirected to %q, which is not the same path; is the base URL right?", shown)
	}
}

// address is host and port.
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

// toggleSlash adds the trailing slash, or takes it away.
func toggleSlash(path string) string {
	if p, ok := strings.CutSuffix(path, "/"); ok {
		return p
	}
	return path + "/"
}

// toggles reports whether the operation's paths need the other form, as far as known.
func (l *learned) toggles(op *resource.Operation) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slash[op]
}

// setToggle remembers which form of an operation's paths the service accepts.
func (l *learned) setToggle(op *resource.Operation, toggled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slash[op] = toggled
}
