package apiclient_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/planform/planform/apiclient"
)

// forever writes a text until the client has enough of it.
func forever(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// compressed is a text as gzip.
func compressed(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestAnswersThatWouldFillTheMemoryOrNeverEnd: on reads and on writes, of success and of refusal.
func TestAnswersThatWouldFillTheMemoryOrNeverEnd(t *testing.T) {
	t.Parallel()
	const much = `{"id":"x","name":"` + "                                                                "
	small := compressed(t, `{"id":"x","name":"`+strings.Repeat(" ", 20<<20)+`"}`)
	for name, answer := range map[string]struct {
		handler http.HandlerFunc
		says    string
	}{
		"10 GB that are announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10737418240")
			forever(w, strings.Repeat(much, 1000))
		}, "too large"},
		"10 GB that are refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10737418240")
			w.WriteHeader(http.StatusBadRequest)
			forever(w, strings.Repeat(much, 1000))
		}, "400"},
		"much that is little when compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(small)
		}, "too large"},
		"a byte at a time, without end": {func(w http.ResponseWriter, r *http.Request) {
			flush := http.NewResponseController(w)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				if _, err := io.WriteString(w, " "); err != nil || flush.Flush() != nil {
					return
				}
				select {
				case <-tick.C:
				case <-r.Context().Done():
					return
				}
			}
		}, "no answer within"},
	} {
		for what, op := range map[string]int{"read": 13, "write": 1} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				c := setup(t, answer.handler, func(cfg *apiclient.Config) {
					if strings.HasPrefix(name, "a byte") {
						cfg.Timeout = 100 * time.Millisecond
					}
				})
				if e := failure(t, c, documented(t, op)); !strings.Contains(e.Error(), answer.says) || e.Attempts != 1 {
					t.Errorf("%d attempts: %v", e.Attempts, e)
				}
			})
		}
	}
}

// TestAReadIsNotRedirectedToAnotherHostEither: nothing goes there, least of all the credential.
func TestAReadIsNotRedirectedToAnotherHostEither(t *testing.T) {
	t.Parallel()
	elsewhere := inTurn(status(200, `[]`))
	other := listenHTTP(t, elsewhere)
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, number := range []int{13, 18} {
			op := documented(t, number)
			path, err := client(t, other).Path(op, params(op))
			if err != nil {
				t.Fatal(err)
			}
			c := setup(t, status(code, ``, "Location", other+path))
			_, err = c.Read(t.Context(), op, path, nil)
			if e, ok := errors.AsType[*apiclient.Error](err); !ok || e.Status != code || !strings.Contains(e.Error(), other) {
				t.Errorf("%d: %v", code, err)
			}
		}
	}
	if sent := elsewhere.requests(); len(sent) > 0 {
		t.Errorf("the other host got %q", sent)
	}
}
