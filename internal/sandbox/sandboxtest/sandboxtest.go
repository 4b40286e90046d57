// Package sandboxtest is the sandbox for tests: with faults, a log of the requests, and uniqueness that can be relaxed.
//
// It wraps the sandbox and does not know its internals.
package sandboxtest

import (
	"net/http"
	"sync"
	"time"

	"github.com/planform/planform/internal/sandbox"
)

// GCPercent is the garbage collector's target in tests with many sandboxes. With the default, collection takes a fifth of the time.
const GCPercent = 400

// Options are the settings of a server: those of the sandbox, and its faults.
type Options struct {
	Path      string
	Prefix    string
	Workspace string
	Answers   sandbox.Answers
	Edition   sandbox.Edition
	Version   string // of the community edition; "" = the newest
	PerPage   int
	Rate      int
	Now       func() time.Time
	FileLimit int64
	Empty     bool
	Governed  bool
	Lag       time.Duration

	// Other behaviour of the service; see [sandbox.Quirks]. API v2 is strict.
	RelationIDs, ReplaceRelations bool
	BodyLimit                     int
	IgnoreMembership, ArchiveOpen bool
	Unpaid                        []string
	HasOperation                  func(method, path string) bool
	FailRow                       func(req *http.Request, index int, row any) string

	Unique Uniqueness                // default UniqueAlways
	Fault  func(*http.Request) Fault // asked once for each request; may be nil
}

// Uniqueness says when a record is refused because another one has its external ID, or a link because another one has its URL.
type Uniqueness int

const (
	// UniqueAlways refuses every duplicate.
	UniqueAlways Uniqueness = iota
	// UniqueInTurn does not notice an external ID that was stored after the request arrived. In the running server, several
	// simultaneous requests succeed in the same way.
	UniqueInTurn
	// UniqueNever refuses nothing.
	UniqueNever
)

// Server is an open sandbox.
type Server struct {
	*sandbox.Server

	options Options
	log     requestLog
	next    http.Handler // the sandbox without faults

	close   sync.Once
	closing chan struct{}
	late    sync.WaitGroup // requests whose handling outlives their client
}

// Open opens a sandbox.
func Open(o Options) (*Server, error) {
	s := &Server{options: o, closing: make(chan struct{})}
	inner, err := sandbox.Open(sandbox.Options{
		Path: o.Path, Workspace: o.Workspace, Answers: o.Answers, Edition: o.Edition, Version: o.Version, Rate: o.Rate, Empty: o.Empty, Governed: o.Governed,
		Quirks: sandbox.Quirks{
			Prefix: o.Prefix, PerPage: o.PerPage, Now: o.Now, FileLimit: o.FileLimit, Lag: o.Lag,
			Strict: true, RelationIDs: o.RelationIDs, ReplaceRelations: o.ReplaceRelations, BodyLimit: o.BodyLimit, IgnoreMembership: o.IgnoreMembership,
			HasOperation: o.HasOperation, FailRow: o.FailRow, ArchiveOpen: o.ArchiveOpen, Unpaid: o.Unpaid,
			Around: func(next http.Handler) http.Handler {
				s.next = next
				return http.HandlerFunc(s.serve)
			},
		},
	})
	if err != nil {
		return nil, err
	}
	s.Server = inner
	return s, nil
}

// Close ends stalled requests, drops late requests that were not handled yet, and closes the sandbox.
func (s *Server) Close() error {
	s.close.Do(func() { close(s.closing) })
	s.late.Wait()
	return s.Server.Close()
}

// Drain returns when every late request has been handled.
func (s *Server) Drain() { s.late.Wait() }

// arrive returns a copy of the request with the uniqueness of the options.
func (s *Server) arrive(req *http.Request) *http.Request {
	switch s.options.Unique {
	case UniqueInTurn:
		return s.Arrived(req)
	case UniqueNever:
		return sandbox.Unaware(req)
	case UniqueAlways:
	}
	return req.WithContext(req.Context())
}
