package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/planform/planform/internal/http/wire"
)

func TestABodyHasALimit(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
	_ = w.Close()
	for name, tt := range map[string]struct {
		status int
		body   string
		header string // Content-Encoding
		most   int64
		want   int
		err    string
	}{
		"a body at its limit is whole":        {200, "12345", "", 5, 5, ""},
		"a byte more is an error":             {200, "123456", "", 5, 0, "the answer is too large: more than 5 bytes"},
		"a large limit is said in MiB":        {200, strings.Repeat("x", 1<<20+1), "", 1 << 20, 0, "the answer is too large: more than 1 MiB"},
		"a packed body is measured unpacked":  {200, packed.String(), "gzip", 64 << 10, 0, "the answer is too large: more than 64 KiB"},
		"an error is cut":                     {500, strings.Repeat("x", wire.MaxError+1), "", 5, wire.MaxError, ""},
		"an error may be longer than answers": {400, "123456", "", 5, 6, ""},
		"no body is none":                     {204, "", "", 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tt.header != "" {
					w.Header().Set("Content-Encoding", tt.header)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			transport := wire.New(wire.Dialer().DialContext)
			defer transport.CloseIdleConnections()
			resp, err := wire.Send(transport, req, tt.most)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if said := fmt.Sprint(err); tt.err == "" && (err != nil || len(text) != tt.want) || tt.err != "" && (said != tt.err || !errors.Is(err, wire.ErrTooLarge)) {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		})
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAStatusBelow200IsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []io.ReadCloser{nil, http.NoBody} {
		transport := transportFunc(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 101, Body: body}, nil })
		_, err := wire.Send(transport, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/", nil), 5) //nolint:bodyclose // there is none
		if none, ok := errors.AsType[*wire.NoAnswerError](err); !ok || none.Status != 101 {
			t.Error(body, err)
		}
	}
}

func TestABodyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := wire.Send(wire.New(wire.Dialer().DialContext), req, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	context.AfterFunc(t.Context(), cancel)
	go cancel()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("it was read to its end")
	}
}

func TestSecretsAreHiddenInEveryForm(t *testing.T) {
	t.Parallel()
	secrets := wire.Secrets{"very-secret-one", "", "abc", "TOKEN/with+signs=="}
	for text, want := range map[string]string{
		"you sent very-secret-one":               "you sent [redacted]",
		"you sent VERY-SECRET-ONE twice":         "you sent [redacted] twice",
		"very%2Dsecret%2Done":                    "[redacted]",
		"very-sec\nret-one":                      "[redacted]",
		"abc is too short to be hidden":          "abc is too short to be hidden",
		"token%2Fwith%2Bsigns%3D%3D and a tab\t": "[redacted] and a tab",
		strings.Repeat("long ", 1000):            strings.Repeat("long ", 39) + "long…",
	} {
		if got := secrets.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
