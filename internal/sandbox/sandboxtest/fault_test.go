package sandboxtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// over sends a request to a started server.
func over(t *testing.T, ctx context.Context, base, method, path, body string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp, string(b), err
}

func TestARequestFailsAsItsFaultSays(t *testing.T) {
	t.Parallel()
	half := sandboxtest.Break{Status: http.StatusCreated, Body: `{"half":`}
	gateway := sandboxtest.Break{Status: http.StatusBadGateway, Header: http.Header{"Retry-After": {"3"}}, Body: "<html>bad gateway</html>"}
	for _, tt := range []struct {
		name   string
		fault  sandboxtest.Fault
		status int // 0: no answer
		body   string
		made   int
	}{
		{"none", sandboxtest.Fault{}, http.StatusCreated, "", 1},
		{"cut before", sandboxtest.Fault{Before: sandboxtest.Break{Cut: true}}, 0, "", 0},
		{"cut after", sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}, 0, "", 1},
		{"status before", sandboxtest.Fault{Before: gateway}, http.StatusBadGateway, "<html>bad gateway</html>", 0},
		{"status after", sandboxtest.Fault{After: gateway}, http.StatusBadGateway, "<html>bad gateway</html>", 1},
		{"half a body", sandboxtest.Fault{After: half}, http.StatusCreated, `{"half":`, 1},
		{"delay", sandboxtest.Fault{Delay: time.Millisecond}, http.StatusCreated, "", 1},
		{"reworded", sandboxtest.Fault{Reword: func([]byte) []byte { return []byte("other") }}, http.StatusCreated, "other", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openTest(t, sandboxtest.Options{Prefix: "/plane", Fault: func(req *http.Request) sandboxtest.Fault {
				if req.Method == http.MethodPost {
					return tt.fault
				}
				return sandboxtest.Fault{}
			}})
			base, err := s.Start(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			resp, body, err := over(t, t.Context(), base, http.MethodPost, itemsPath, `{"name": "x"}`)
			switch {
			case tt.status == 0 && err == nil:
				t.Errorf("answered %d", resp.StatusCode)
			case tt.status != 0 && err != nil:
				t.Error(err)
			case tt.status != 0 && resp.StatusCode != tt.status:
				t.Errorf("status %d, want %d: %s", resp.StatusCode, tt.status, body)
			case tt.body != "" && body != tt.body:
				t.Errorf("body %q, want %q", body, tt.body)
			}
			if got := len(s.Rows("work_item")) - 1; got != tt.made {
				t.Errorf("%d items made, want %d", got, tt.made)
			}
			if got := len(s.Log()); got != 1 {
				t.Errorf("%d requests logged", got)
			}
		})
	}
}

func TestALateRequestIsHandledAfterItsClientIsGone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  sandboxtest.Fault
		closed bool
		status int // that the client sees; 0 = none
		made   int // in the end
	}{
		"a cut connection":   {fault: sandboxtest.Fault{Late: time.Hour}, made: 1},
		"a gateway gives up": {fault: sandboxtest.Fault{Late: time.Hour, Before: sandboxtest.Break{Status: http.StatusGatewayTimeout}}, status: http.StatusGatewayTimeout, made: 1},
		"after a delay":      {fault: sandboxtest.Fault{Late: time.Hour, Delay: time.Minute}, made: 1},
		"the server closes":  {fault: sandboxtest.Fault{Late: time.Hour}, closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "sandbox.db")
				s := openTest(t, sandboxtest.Options{Path: path, Fault: func(*http.Request) sandboxtest.Fault { return tt.fault }})
				ctx, gone := context.WithCancel(t.Context())
				req := httptest.NewRequestWithContext(ctx, http.MethodPost, itemsPath, strings.NewReader(`{"name": "x"}`))
				req.Header.Set("X-Api-Key", sandbox.Key)
				req.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				func() {
					defer func() {
						if p := recover(); (p == nil) != (tt.status != 0) {
							t.Errorf("cut: %v", p)
						}
					}()
					s.ServeHTTP(w, req)
				}()
				gone()
				if tt.status != 0 && w.Code != tt.status {
					t.Errorf("answered %d", w.Code)
				}
				time.Sleep(time.Hour - time.Second) //nolint:forbidigo // in a bubble it takes no time
				synctest.Wait()
				if n := len(s.Rows("work_item")) - 1; n != 0 {
					t.Errorf("%d items made too early", n)
				}
				if tt.closed {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					s = openTest(t, sandboxtest.Options{Path: path})
				}
				s.Drain()
				if n := len(s.Rows("work_item")) - 1; n != tt.made {
					t.Errorf("%d items made, want %d", n, tt.made)
				}
			})
		})
	}
}

func TestAStalledRequestEndsWithTheClientOrTheServer(t *testing.T) {
	t.Parallel()
	arrived, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	s := openTest(t, sandboxtest.Options{Fault: func(*http.Request) sandboxtest.Fault {
		arrived <- struct{}{}
		return sandboxtest.Fault{Before: sandboxtest.Break{Stall: true}}
	}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer func() { ended <- struct{}{} }()
		s.ServeHTTP(w, req)
	}))
	defer server.Close()
	base := server.URL
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() {
		_, _, err := over(t, ctx, base, http.MethodPost, itemsPath, `{"name": "x"}`)
		done <- err
	}()
	<-arrived
	cancel()
	<-ended
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("after giving up: %v", err)
	}
	go func() {
		_, _, err := over(t, t.Context(), base, http.MethodGet, "/api/v1/users/me/", "")
		done <- err
	}()
	<-arrived
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("a stalled request was answered")
	}
}
