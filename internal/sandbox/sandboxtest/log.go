package sandboxtest

import "sync"

// logBody is the size of the longest body that the log keeps.
const logBody = 4 << 10

// Entry is one request that the server received.
type Entry struct {
	Method string
	Path   string // as sent, with the prefix
	Query  string
	Status int // 0 while the request is handled, and if there was no answer
	// RequestBody is the body of the request, or nil if there was none, if it was not read, or if it has more than 4 KiB.
	RequestBody []byte
}

// requestLog is the log of requests.
type requestLog struct {
	mu      sync.Mutex
	entries []*Entry
}

// begin adds a request. Only finish may change the entry afterwards.
func (r *requestLog) begin(method, path, query string) *Entry {
	e := &Entry{Method: method, Path: path, Query: query}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	return e
}

func (r *requestLog) finish(e *Entry, status int, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Status = status
	if len(body) > 0 && len(body) <= logBody {
		e.RequestBody = body
	}
}

// Log returns the requests received since Open, in order of arrival.
func (s *Server) Log() []Entry {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	out := make([]Entry, 0, len(s.log.entries))
	for _, e := range s.log.entries {
		out = append(out, *e)
	}
	return out
}
