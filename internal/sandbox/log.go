package sandbox

import (
	"path"
	"slices"
	"strings"
	"sync"
)

const (
	logEntries = 300_000
	logBody    = 4 << 10
)

// Entry is one request that the server has seen.
type Entry struct {
	Method string
	Path   string // as sent, with the prefix
	Query  string
	Status int // 0 while it is under way, and if there was no answer
	// RequestBody is the body of the request, nil if there was none, if it
	// was not read, or if it has more than 4 KiB.
	RequestBody []byte
}

// journal is a ring of entries.
type journal struct {
	mu      sync.Mutex
	entries []*Entry
	next    int // place of the oldest entry once the ring is full
}

// begin enters a request; the entry is to be changed through finish only.
func (j *journal) begin(method, path, query string) *Entry {
	e := &Entry{Method: method, Path: path, Query: query}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) < logEntries {
		j.entries = append(j.entries, e)
		return e
	}
	j.entries[j.next] = e
	j.next = (j.next + 1) % logEntries
	return e
}

func (j *journal) finish(e *Entry, status int, body []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Status = status
	if len(body) > 0 && len(body) <= logBody {
		e.RequestBody = body
	}
}

// Log is the requests seen since Open, in the order in which they arrived; of
// very many, the latest 300,000.
func (s *Server) Log() []Entry {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	out := make([]Entry, 0, len(s.log.entries))
	for i := range s.log.entries {
		e := *s.log.entries[(s.log.next+i)%len(s.log.entries)]
		e.RequestBody = slices.Clone(e.RequestBody)
		out = append(out, e)
	}
	return out
}

// Count is the number of logged requests with this method, or any if method is
// "", whose path matches the pattern. In the pattern "*" stands for one
// segment, as in [path.Match]; it may leave the prefix out.
func (s *Server) Count(method, pathPattern string) int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	n := 0
	for _, e := range s.log.entries {
		if (method == "" || e.Method == method) && s.matches(pathPattern, e.Path) {
			n++
		}
	}
	return n
}

func (s *Server) matches(pattern, p string) bool {
	for _, p := range []string{p, strings.TrimPrefix(p, s.opts.Prefix)} {
		if ok, err := path.Match(pattern, p); err == nil && ok {
			return true
		}
	}
	return false
}
