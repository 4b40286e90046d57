package apiclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/planform/planform/internal/http/baseurl"
	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/plane/resource"
)

// Transport carries requests.
type Transport = http.RoundTripper

// Config is the configuration of a [Client]. BaseURL, Workspace and Credential are required.
type Config struct {
	BaseURL    string // such as https://plane.example.com; may have a path
	Workspace  string // the workspace's slug
	Credential Credential
	Version    string // of the program, for the User-Agent header

	// InsecureHTTP allows the credential over plain http to another machine.
	InsecureHTTP bool
	// MaxPerMinute limits the requests, evenly spread; 0 = no limit. See [ParseRate].
	MaxPerMinute float64
	// Timeout limits one attempt, from connecting to the last byte of the body; 0 = 60 s.
	Timeout time.Duration
	// Retries is the number of retries after connection errors and 5xx; 0 = 5, negative = none. If a service has answered before and cannot
	// be reached now, retries go on until MaxElapsed; if it never answered, for 3 s.
	Retries int
	// MaxElapsed limits the time between a request's first failure and its last attempt, and each pause that the service may ask for; 0 = 5
	// min.
	MaxElapsed time.Duration
	// MaxListBytes limits the total size of all pages of a list; 0 = 256 MiB.
	MaxListBytes int64

	Transport Transport // replaces the client's own transport; nil = a tuned [http.Transport]
	// Log receives a debug line for each attempt: method, path, status, duration; never headers or bodies.
	Log *slog.Logger
	// Notify receives waits and retries. It must not block.
	Notify func(Event)
}

// DefaultMaxElapsed is the default of [Config.MaxElapsed].
const DefaultMaxElapsed = 5 * time.Minute

const (
	defaultTimeout      = 60 * time.Second
	defaultRetries      = 5
	defaultMaxListBytes = 256 << 20
)

// Client makes requests to one workspace of one service.
type Client struct {
	base       url.URL // no trailing slash
	workspace  string
	credential Credential
	header     http.Header // sent with every request, never changed
	timeout    time.Duration
	retries    int
	maxElapsed time.Duration

	maxListBytes int64

	log    *slog.Logger
	notify func(Event)

	transport http.RoundTripper
	traced    bool              // the transport calls the hooks of httptrace
	store     http.RoundTripper // for the file store, without a proxy
	near      nearness          // of the service
	limit     *limiter

	learned learned
	sent    atomic.Int64
	served  atomic.Int64           // see Served
	open    atomic.Int64           // see Unanswered
	user    atomic.Pointer[string] // the credential's user, once known

	running context.Context // done when the client is stopped
	stop    context.CancelCauseFunc
}

// learned holds knowledge about the service from earlier answers.
type learned struct {
	slash sync.Map // set of the operations whose paths need the other form of the trailing slash
	page  sync.Map // the largest page by operation, or by parameter for all lists
}

// New checks the configuration and returns a client. It makes no request.
func New(cfg Config) (*Client, error) {
	base, err := parseBase(cfg.BaseURL, cfg.InsecureHTTP)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(cfg.Workspace, "/?#%\\ \t\r\n") || cfg.Workspace == "." || cfg.Workspace == ".." {
		return nil, fmt.Errorf("workspace %q is not a slug; it is the part of the web address that follows the host", cfg.Workspace)
	}
	if err := cfg.Credential.Validate(); err != nil {
		return nil, err
	}
	if cfg.MaxPerMinute < 0 || cfg.Timeout < 0 || cfg.MaxElapsed < 0 {
		return nil, errors.New("rate, timeout and the time for retries must not be negative")
	}
	c := &Client{
		base: *base, workspace: cfg.Workspace, credential: cfg.Credential,
		timeout: cmp.Or(cfg.Timeout, defaultTimeout), retries: max(0, cmp.Or(cfg.Retries, defaultRetries)),
		maxElapsed: cmp.Or(cfg.MaxElapsed, DefaultMaxElapsed), maxListBytes: cmp.Or(cfg.MaxListBytes, defaultMaxListBytes),
		log: cfg.Log, notify: cfg.Notify, transport: cfg.Transport,
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.notify == nil {
		c.notify = func(Event) {}
	}
	c.near.observe(c.base.Hostname())
	if c.store = c.transport; c.transport == nil {
		c.connect()
	}
	_, c.traced = c.transport.(*http.Transport)
	c.running, c.stop = context.WithCancelCause(context.Background())
	c.limit = newLimiter(cfg.MaxPerMinute, func(wait time.Duration) { c.notify(Event{Type: Waiting, Wait: wait}) })
	c.header = http.Header{
		"Accept":     {"application/json"},
		"User-Agent": {"planform/" + wire.OneLine(cmp.Or(cfg.Version, "dev"), 100)},
	}
	return c, nil
}

// BaseURL returns the address for requests, without /api/v1 and without a slash at the end.
func (c *Client) BaseURL() string { return c.base.String() }

// Workspace returns the workspace's slug.
func (c *Client) Workspace() string { return c.workspace }

// Redact removes the credential from a text.
func (c *Client) Redact(text string) string { return c.credential.redact(text) }

// RedactRow removes the credential from every text of a row.
func (c *Client) RedactRow(row resource.Row) resource.Row {
	if row == nil {
		return nil
	}
	shown := make(resource.Row, len(row))
	for name, value := range row {
		shown[c.credential.redact(name)] = redactStrings(value, c.credential.redact)
	}
	return shown
}

// Name sets the name of the credential's user, for messages about refusals.
func (c *Client) Name(user string) { c.user.Store(&user) }

// userName returns the name of the credential's user for messages.
func (c *Client) userName() string {
	if name := c.user.Load(); name != nil && *name != "" {
		return *name
	}
	return "the credential's owner"
}

// Sent returns the number of requests sent so far, including every attempt.
func (c *Client) Sent() int { return int(c.sent.Load()) }

// Quota returns the number of requests that may be sent now, and in a minute; 0 in a minute = no known limit.
func (c *Client) Quota() (free, perMinute int) { return c.limit.quota() }

// Served returns the time of the latest answer by the service's clock; zero = unknown.
func (c *Client) Served() time.Time {
	if at := c.served.Load(); at > 0 {
		return time.Unix(at, 0).UTC()
	}
	return time.Time{}
}

// Unanswered returns the time at which the latest write ended without a conclusive answer, by this machine's clock. The service may still
// carry it out. Zero = none.
func (c *Client) Unanswered() time.Time {
	if at := c.open.Load(); at > 0 {
		return time.Unix(0, at).UTC()
	}
	return time.Time{}
}

// CloseIdle closes idle connections.
func (c *Client) CloseIdle() {
	for _, t := range []http.RoundTripper{c.transport, c.store} {
		if t, ok := t.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// parseBase parses the base URL, and refuses one that would send the credential to an unexpected place.
func parseBase(text string, insecure bool) (*url.URL, error) {
	if text == "" {
		return nil, errors.New("no base URL: set PLANE_BASE_URL or give --base-url")
	}
	if meant := baseurl.WithScheme(text); meant != "" {
		return nil, fmt.Errorf("the base URL has no scheme: write %s", meant)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		// The parser's error quotes the text, which may hold a password.
		return nil, errors.New("the base URL is not valid: it must look like https://plane.example.com")
	}
	switch {
	case u.User != nil:
		return nil, errors.New("the base URL must not contain a user name or password")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Hostname() == "", u.Opaque != "":
		return nil, fmt.Errorf("base URL %q must begin with https:// and a host name", text)
	case u.RawQuery != "" || u.ForceQuery:
		return nil, errors.New("the base URL must not contain a query (?...)")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, errors.New("the base URL must not contain a fragment (#...)")
	case strings.Contains(u.Path, "/../") || strings.HasSuffix(u.Path, "/.."):
		return nil, fmt.Errorf("base URL %q must not contain \"..\"", text)
	case u.Scheme == "http" && !insecure && !baseurl.Loopback(u.Hostname()):
		return nil, fmt.Errorf("base URL %q would send the credential unencrypted; use https, or give --insecure-http", text)
	}
	return baseurl.Normalize(u), nil
}

// connect creates the transports: one whose connections count the written bytes, and one for the file store.
func (c *Client) connect() {
	guarded := wire.Dialer()
	guarded.ControlContext = c.near.guard
	store := wire.New(guarded.DialContext)
	store.Proxy = nil
	c.transport, c.store = wire.New(countWrites(c.near.observeDials(address(&c.base), wire.Dialer().DialContext))), store
}
