package httpstate

import (
	"net/http"
	"net/http/httptest"
)

// ServedBy makes a handler answer, without a network.
func ServedBy(d *Document, h http.Handler) { d.transport = served{h} }

type served struct{ http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}
