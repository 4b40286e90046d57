package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Answers is the response profile of the server.
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
	// Community lacks initiatives, teamspaces, customers, pages, types and estimates, as the community edition does.
	Community
	// Cloud has every route, and API v2.
	Cloud
)

// Versions returns the versions of the community edition that were recorded, the oldest first.
func Versions() []string { return []string{"1.3.1", "1.4.1"} }

// Options are the settings of a server. The zero value is a full edition that answers as observed, without a limit, in a temporary file.
type Options struct {
	Path      string   // database file, made if it does not exist; "" is a temporary one, removed by Close
	Workspace string   // slug; default: slug of the stored data, or [Workspace] for new data; any other slug holds only its members
	Answers   Answers  // default Observed
	Edition   Edition  // default Full
	Version   string   // whose answers the community edition gives: the last of [Versions] that begins so
	Rate      int      // requests per minute and key, sliding; 0 is no limit
	Empty     bool     // a new database has only the workspace and its members
	People    []string // e-mail addresses of further members of the workspace
	Welcoming bool     // an invitation is accepted at once
	Governed  bool     // in a new database the workspace manages states and work item types for its projects

	Quirks // for tests
}

// Quirks holds settings for tests: other ways in which a service may behave. Package sandboxtest sets them. The zero
// value is the behaviour of a real server.
type Quirks struct {
	Prefix           string                                             // base path in front of /api/v1, e.g. "/plane"
	PerPage          int                                                // rows of the largest page; default 1000, in the cloud edition 100
	Now              func() time.Time                                   // default time.Now
	FileLimit        int64                                              // bytes of an attachment, default 5 MiB
	Lag              time.Duration                                      // delay of deleting the contents of a deleted work item, as by the real server's queue
	RelationIDs      bool                                               // API v1 lists relations as the official SDK reads them: plain IDs
	ReplaceRelations bool                                               // in API v2 the relations in a request replace those of the same kind, as the reference can be read
	Unpaid           []string                                           // path words of API v2, such as releases, that the workspace's plan lacks: 402
	ArchiveOpen      bool                                               // API v2 archives work items in any state
	Strict           bool                                               // API v2 refuses unknown query parameters and body keys
	BodyLimit        int                                                // bytes of a body of API v2, default 5 MiB
	IgnoreMembership bool                                               // cycle_id and module_ids in the body of a work item have no effect
	HasOperation     func(method, path string) bool                     // whether API v2 has an operation, by the path of the reference; nil = all
	FailRow          func(req *http.Request, index int, row any) string // code with which a row of a batch is refused; "" = it is not
	Around           func(http.Handler) http.Handler                    // a middleware around the whole service; may be nil
}

// Server is an open sandbox.
type Server struct {
	opts     Options
	store    *store
	kinds    *kinds
	handler  http.Handler
	limiter  *limiter
	lastList listCache

	mu      sync.Mutex
	closed  bool
	servers []*http.Server
	serving sync.WaitGroup
}

var _ http.Handler = (*Server)(nil)

// Open opens the database, or makes and seeds it. It fails if another process has it open.
func Open(opts Options) (*Server, error) {
	if opts.PerPage <= 0 {
		opts.PerPage = maxPerPage
		if opts.Edition == Cloud {
			opts.PerPage = 100
		}
	}
	if opts.FileLimit <= 0 {
		opts.FileLimit = 5 << 20
	}
	given := opts.Version
	for _, version := range Versions() {
		if strings.HasPrefix(version, given) {
			opts.Version = version
		}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	st, err := openStore(opts.Path)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, store: st, kinds: newKinds(opts.Answers), limiter: newLimiter(opts.Rate)}
	s.handler = s.stripPrefix(s.mux())
	if opts.Around != nil {
		s.handler = opts.Around(s.handler)
	}
	if err := st.update(s.seed); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the sandbox: %w", err), st.close())
	}
	return s, nil
}

// Workspace returns the slug of the workspace.
func (s *Server) Workspace() string { return s.opts.Workspace }

// Close stops serving and closes the database.
func (s *Server) Close() error {
	s.mu.Lock()
	was, servers := s.closed, s.servers
	s.closed = true // no request begins after this
	s.mu.Unlock()
	if was {
		return nil
	}
	var err error
	for _, srv := range servers {
		err = errors.Join(err, srv.Close())
	}
	s.serving.Wait()
	return errors.Join(err, s.store.close())
}

// Start listens on a loopback address and serves until Close; "" means any free port of 127.0.0.1. It returns the base
// URL, with the prefix.
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
		ReadTimeout:       5 * time.Minute, // for a body that is announced and never sent
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

// loopback refuses an address that others could reach, because the key is well known and nothing is encrypted.
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

// serveLoopback answers requests whose host is this machine. A web page can make the name of its own server lead here,
// and the key is well known.
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

// countIn counts a request in, unless the server is being closed.
func (s *Server) countIn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.serving.Add(1)
	}
	return !s.closed
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !s.countIn() {
		panic(http.ErrAbortHandler) // cuts the connection
	}
	defer s.serving.Done()
	s.handler.ServeHTTP(w, req)
}

// stripPrefix removes the prefix from the path, before the routes.
func (s *Server) stripPrefix(routes http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				api := s.v1()
				if strings.HasPrefix(req.URL.Path, s.opts.Prefix+v2Root) {
					api = s.v2()
				}
				send(w, req, s.logFailure(api, fmt.Errorf("panic: %v", p)), nil)
			}
		}()
		if w.Header().Get("Date") == "" {
			w.Header().Set("Date", s.opts.Now().UTC().Format(http.TimeFormat))
		}
		below, ok := strings.CutPrefix(req.URL.Path, s.opts.Prefix)
		switch {
		case len(req.RequestURI) > maxURL:
			send(w, req, reply{http.StatusBadRequest, plainText("Invalid HTTP request received.")}, nil)
		case !ok:
			send(w, req, refuse(http.StatusNotFound, "error", textNoPage), nil)
		case below != path.Join(below, "/") && below != path.Join(below, "/")+"/":
			s.noRoute(w, req) // a ServeMux would redirect to a clean path
		default:
			inner := *req
			inner.URL = &url.URL{Path: below, RawQuery: req.URL.RawQuery}
			routes.ServeHTTP(w, &inner)
		}
	})
}

const htmlText = "text/html; charset=utf-8"

// send writes an answer.
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
	if _, ok := r.body.(problemBody); ok {
		h["Content-Type"] = []string{"application/problem+json"}
	}
	body := encode(r.body)
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(r.status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}

// logFailure logs an error of the server, and returns the answer to the client.
func (s *Server) logFailure(api *dialect, err error) reply {
	slog.Error("sandbox", "error", err)
	return api.refuse(&problem{status: http.StatusInternalServerError, detail: textBroken})
}

// Rows returns every stored row of a kind, in order of creation, for tests that need more than the API shows.
func (s *Server) Rows(kind string) []map[string]any {
	out := []map[string]any{}
	err := s.store.view(func(t *tx) error {
		for _, k := range s.kinds.all {
			if k.name != kind {
				continue
			}
			found := t.all(k, nil)
			slices.SortFunc(found, byNumber)
			for _, f := range found {
				out = append(out, f.row)
			}
		}
		return nil
	})
	must(err)
	return out
}
