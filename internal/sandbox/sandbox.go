package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Answers is the voice in which the server answers.
type Answers int

const (
	// Observed answers as the running server does.
	Observed Answers = iota
	// Contract answers as documented.
	Contract
)

// Edition is the set of routes that exist.
type Edition int

const (
	// Full has every route.
	Full Edition = iota
	// Community lacks initiatives, teamspaces, customers, pages, types and
	// estimates, as the community edition does.
	Community
)

// Options is what a server is opened with. The zero value is a full edition
// that answers as observed, without a limit, in a temporary file.
type Options struct {
	Path      string                    // database file, made if it is not there; "" is a temporary one, removed by Close
	Prefix    string                    // base path in front of /api/v1, e.g. "/plane"
	Workspace string                    // slug, default [Workspace]; another one holds nothing but its members
	Answers   Answers                   // default Observed
	Edition   Edition                   // default Full
	PerPage   int                       // most rows of a page; default 1000, as the community edition has it. The cloud edition has 100
	Unique    Uniqueness                // default UniqueAlways
	Rate      int                       // requests per Window and key, sliding; 0 is no limit
	Window    time.Duration             // default 60 s
	Now       func() time.Time          // default time.Now
	Fault     func(*http.Request) Fault // asked once for each request; may be nil
	Empty     bool                      // a new database has only the workspace and its members
}

// Server is an open sandbox.
type Server struct {
	opts    Options
	store   *store
	kinds   *kinds
	routes  *node
	limiter *limiter
	log     journal

	closing chan struct{}
	closed  sync.Once

	mu      sync.Mutex
	servers []*http.Server
	serving sync.WaitGroup
	late    sync.WaitGroup // requests that are handled although the client has gone
}

var _ http.Handler = (*Server)(nil)

// Open opens the database, or makes and seeds it. It fails if another process
// has it open.
func Open(opts Options) (*Server, error) {
	if opts.Window <= 0 {
		opts.Window = time.Minute
	}
	if opts.PerPage <= 0 {
		opts.PerPage = maxPerPage
	}
	if opts.Workspace == "" {
		opts.Workspace = Workspace
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Prefix = strings.TrimRight(opts.Prefix, "/"); opts.Prefix != "" && !strings.HasPrefix(opts.Prefix, "/") {
		return nil, fmt.Errorf("open the sandbox: prefix %q does not begin with a slash", opts.Prefix)
	}
	st, err := openStore(opts.Path)
	if err != nil {
		return nil, err
	}
	s := &Server{
		opts:    opts,
		store:   st,
		kinds:   newKinds(opts.Answers),
		limiter: newLimiter(opts.Rate, opts.Window),
		closing: make(chan struct{}),
	}
	s.routes = newRoutes(s.table(), opts.Edition)
	if err := st.update(func(t *tx) error { return s.seed(t) }); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the sandbox: %w", err), st.close())
	}
	return s, nil
}

// Close stops serving, ends stalled requests, forgets those that were to be
// handled late, and closes the database.
func (s *Server) Close() error {
	var err error
	s.closed.Do(func() {
		s.mu.Lock()
		close(s.closing) // from here on no request begins
		servers := slices.Clone(s.servers)
		s.mu.Unlock()
		for _, srv := range servers {
			err = errors.Join(err, srv.Close())
		}
		s.serving.Wait()
		s.late.Wait()
		err = errors.Join(err, s.store.close())
	})
	return err
}

// Start listens on a loopback address, "" being any free port of 127.0.0.1, and
// serves until Close. It returns the base URL, with the prefix.
func (s *Server) Start(ctx context.Context, listen string) (string, error) {
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	if err := loopback(listen); err != nil {
		return "", err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", listen)
	if err != nil {
		return "", fmt.Errorf("listen on %s: %w", listen, err)
	}
	srv := &http.Server{
		Handler:           http.HandlerFunc(s.serveLoopback),
		ReadHeaderTimeout: 30 * time.Second,
		ReadTimeout:       5 * time.Minute, // of a body that is announced and never comes
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	s.mu.Lock()
	s.servers = append(s.servers, srv)
	s.mu.Unlock()
	s.serving.Go(func() {
		_ = srv.Serve(l) // it ends with ErrServerClosed when Close is called
	})
	return "http://" + l.Addr().String() + s.opts.Prefix, nil
}

// loopback refuses an address that others could reach: there is a well-known
// key and no encryption.
func loopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("listen on %q: %w", listen, err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("listen on %q: the sandbox listens on loopback addresses only", listen)
}

// serveLoopback answers what was sent to this machine by name. A web page can make the name of its own server
// lead here, and the key is well known.
func (s *Server) serveLoopback(w http.ResponseWriter, req *http.Request) {
	host := req.Host
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), "80")
	}
	if loopback(host) != nil {
		http.Error(w, "the sandbox answers to localhost and loopback addresses only", http.StatusMisdirectedRequest)
		return
	}
	s.ServeHTTP(w, req)
}

// begin counts a request in, unless the server is being closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closing:
		return false
	default:
		s.serving.Add(1)
		return true
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !s.begin() {
		cut(w)
		return
	}
	defer s.serving.Done()
	entry := s.log.begin(req.Method, req.URL.Path, req.URL.RawQuery)
	var body []byte
	status := 0
	defer func() { s.log.finish(entry, status, body) }()

	arrived := s.arrive()
	var fault Fault
	if s.opts.Fault != nil {
		fault = s.opts.Fault(req)
	}
	if fault.hasty() {
		hold(req)
	}
	if !s.wait(req, fault.Delay) {
		cut(w)
		return
	}
	if fault.Late > 0 {
		s.later(req, fault.Late)
		fault.Before.Cut = fault.Before.Cut || fault.Before.none()
	}
	if !fault.Before.none() {
		status = s.play(fault.Before, w, req)
		return
	}
	var r reply
	var headers http.Header
	r, headers, body = s.answer(req, arrived)
	if !fault.After.none() {
		status = s.play(fault.After, w, req)
		return
	}
	status = r.status
	send(w, req, r, headers)
}

// answer is the checks that come before a credential is looked at, in the
// service's order, and then the route.
func (s *Server) answer(req *http.Request, arrived arrival) (r reply, headers http.Header, body []byte) {
	defer func() {
		if p := recover(); p != nil {
			s.report(fmt.Errorf("panic: %v", p))
			r = broken()
		}
	}()
	if len(req.RequestURI) > maxURL {
		return reply{http.StatusBadRequest, plainText("Invalid HTTP request received.")}, nil, nil
	}
	path, ok := strings.CutPrefix(req.URL.Path, s.opts.Prefix)
	if !ok {
		return refuse(http.StatusNotFound, "error", textNoPage), nil, nil
	}
	if req.Method == http.MethodOptions && req.Header.Get("Access-Control-Request-Method") != "" {
		return reply{status: http.StatusOK}, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, nil
	}
	rt, vars := s.routes.match(path)
	switch {
	case rt == nil && !strings.HasSuffix(path, "/"):
		rt, vars = s.routes.match(path + "/")
		if rt == nil {
			return page404(path), nil, nil
		}
		// The one documented route without trailing slash.
		if s.opts.Answers != Contract || rt.bare != req.Method {
			return reply{status: http.StatusMovedPermanently}, http.Header{"Location": {req.URL.EscapedPath() + "/" + queryOf(req)}, "Content-Type": {"text/html; charset=utf-8"}}, nil
		}
	case rt == nil:
		return page404(path), nil, nil
	}
	body, fits, err := readBody(req)
	if err != nil {
		return refuse(http.StatusBadRequest, "detail", "Invalid request body."), nil, nil
	}
	if !fits {
		return reply{http.StatusRequestEntityTooLarge, object("error", "REQUEST_BODY_TOO_LARGE",
			"detail", "The size of the request body exceeds the maximum allowed size.")}, nil, nil
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	c := &call{Server: s, req: req, route: rt, vars: vars, query: req.URL.Query(), now: s.opts.Now(), arrived: arrived}
	r, headers = c.handle()
	return r, headers, body
}

func queryOf(req *http.Request) string {
	if req.URL.RawQuery == "" {
		return ""
	}
	return "?" + req.URL.RawQuery
}

func page404(path string) reply {
	switch path {
	case "/":
		return reply{http.StatusOK, object("status", "OK")}
	case "/api/instances/":
		return reply{http.StatusOK, object("is_activated", false, "is_setup_done", false)}
	}
	return refuse(http.StatusNotFound, "error", textNoPage)
}

func send(w http.ResponseWriter, req *http.Request, r reply, headers http.Header) {
	h := w.Header()
	maps.Copy(h, headers)
	if r.body == nil {
		w.WriteHeader(r.status)
		return
	}
	if s, ok := r.body.(plainText); ok {
		h["Content-Type"] = []string{"text/plain; charset=utf-8"}
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, string(s))
		return
	}
	h["Content-Type"] = []string{"application/json"}
	body := appendJSON(make([]byte, 0, 1024), r.body)
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(r.status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that has gone is no matter of ours
	}
}

// report says on the log of the process what broke; the client is told 500.
func (s *Server) report(err error) {
	slog.Error("sandbox", "error", err)
}

// Rows is every row of a kind, in order of creation, with the fields that the
// API shows: "project", "state", "label", "cycle", "module", "member",
// "project_member", "work_item", "link", "comment", "activity", "cycle_issue",
// "module_issue", "relation", "work_item_type", "estimate", "estimate_point",
// "initiative", "initiative_label", "initiative_project",
// "initiative_label_link", "teamspace", "teamspace_project",
// "teamspace_member", "customer", "customer_request", "customer_property",
// "page". A kind that there is not has no rows.
func (s *Server) Rows(name string) []map[string]any {
	out := []map[string]any{}
	i := slices.IndexFunc(s.kinds.every(), func(k *kind) bool { return k.name == name })
	if i < 0 {
		return out
	}
	k := s.kinds.every()[i]
	err := s.store.view(func(t *tx) error {
		found := t.all(k, nil)
		slices.SortFunc(found, func(a, b stored) int {
			return strings.Compare(string(a.key[len(a.key)-8:]), string(b.key[len(b.key)-8:]))
		})
		for _, f := range found {
			out = append(out, f.row)
		}
		if k == s.kinds.activity {
			for _, item := range t.all(s.kinds.workItem, nil) {
				out = append(out, s.kinds.birth(item.row))
			}
			slices.SortStableFunc(out, func(a, b row) int { return strings.Compare(text(a, "created_at"), text(b, "created_at")) })
		}
		return nil
	})
	if err != nil {
		s.report(err)
	}
	return out
}
