package sandboxtest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// Fault is a failure of one request. The zero value is no failure.
type Fault struct {
	Delay  time.Duration // wait before anything else; ends early if the client is gone or the server closes
	Before Break         // happens instead of handling the request: nothing is done
	After  Break         // happens instead of the answer: the store has changed
	// Late delays the handling of a request until after its client is gone. The client sees Before, by default a cut; the
	// request is handled after Late, unless the server closes first.
	Late time.Duration
	// Reword changes the body of the answer, like a cache or a proxy that mixes up answers; nil = no change.
	Reword func(body []byte) []byte
}

// mayOutliveClient reports whether the client may be gone before the request is handled.
func (f *Fault) mayOutliveClient() bool { return f.Delay > 0 || f.Late > 0 || !f.Before.none() }

// Break is one kind of failure. The zero value is no failure.
type Break struct {
	Cut    bool        // close the connection without a byte of answer
	Status int         // answer with this status …
	Header http.Header // … with these headers …
	Body   string      // … and this body
	Stall  bool        // answer nothing until the client gives up or the server closes
}

func (b Break) none() bool {
	return !b.Cut && b.Status == 0 && b.Header == nil && b.Body == "" && !b.Stall
}

// serve applies the fault of a request and passes the request to the sandbox.
func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	entry := s.log.begin(req.Method, req.URL.Path, req.URL.RawQuery)
	status := 0
	seen := &recorder{}
	defer func() { s.log.finish(entry, status, seen.bytes) }()

	arrived := s.arrive(req)
	var fault Fault
	if s.options.Fault != nil {
		fault = s.options.Fault(req)
	}
	if fault.mayOutliveClient() {
		bufferBody(req)
	}
	if !s.wait(req, fault.Delay) {
		cut(w)
		return
	}
	if fault.Late > 0 {
		s.deliverLate(req, fault.Late)
		fault.Before.Cut = fault.Before.Cut || fault.Before.none()
	}
	if !fault.Before.none() {
		status = s.inject(fault.Before, w, req)
		return
	}
	seen.ReadCloser, arrived.Body = req.Body, seen
	if !fault.After.none() {
		s.next.ServeHTTP(httptest.NewRecorder(), arrived)
		status = s.inject(fault.After, w, req)
		return
	}
	if fault.Reword != nil {
		answer := httptest.NewRecorder()
		s.next.ServeHTTP(answer, arrived)
		status = answer.Code
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(status)
		_, _ = w.Write(fault.Reword(answer.Body.Bytes())) // a client that has gone is no matter of ours
		return
	}
	answer := &statusWriter{ResponseWriter: w}
	s.next.ServeHTTP(answer, arrived)
	status = answer.status
}

// recorder keeps the bytes that were read from a body.
type recorder struct {
	io.ReadCloser

	bytes []byte
}

func (rc *recorder) Read(p []byte) (int, error) {
	n, err := rc.ReadCloser.Read(p)
	if len(rc.bytes) <= logBody {
		rc.bytes = append(rc.bytes, p[:n]...)
	}
	return n, err
}

// statusWriter keeps the status of the answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

func (sw *statusWriter) WriteHeader(status int) {
	sw.status = status
	sw.ResponseWriter.WriteHeader(status)
}

// bufferBody reads the body in advance, because net/http notices that the client is gone only after the end of the body,
// and the body cannot be read after that.
func bufferBody(req *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(req.Body, maxBody+1)) // reading the rest of the body returns the error again
	req.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), req.Body))
}

// maxBody is larger than any body that the sandbox accepts.
const maxBody = 8 << 20

// deliverLate handles a request after its client is gone.
func (s *Server) deliverLate(req *http.Request, after time.Duration) {
	req = req.Clone(context.WithoutCancel(req.Context()))
	s.late.Go(func() {
		if s.wait(req, after) {
			s.next.ServeHTTP(httptest.NewRecorder(), s.arrive(req))
		}
	})
}

// wait sleeps for d. It returns false if the client is gone or the server closes before.
func (s *Server) wait(req *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-req.Context().Done():
	case <-s.closing:
	}
	return false
}

// inject makes a failure happen and returns the status that was sent, or 0.
func (s *Server) inject(b Break, w http.ResponseWriter, req *http.Request) int {
	switch {
	case b.Cut:
		cut(w)
		return 0
	case b.Stall:
		select {
		case <-req.Context().Done():
		case <-s.closing:
		}
		cut(w)
		return 0
	}
	maps.Copy(w.Header(), b.Header)
	if b.Header.Get("Content-Type") == "" {
		kind := "application/json"
		if strings.HasPrefix(strings.TrimSpace(b.Body), "<") {
			kind = "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
	}
	status := b.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.Body)) // a client that has gone is no matter of ours
	return status
}

// cut closes the connection: with a reset if the connection allows it, else by the panic that net/http reserves for this.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // makes close send a reset
	}
	_ = conn.Close()
}
