package apiclient_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
)

// form is the service's form for an upload.
func form(url string) resource.Row {
	return resource.Row{"url": url + "/bucket?X-Amz-Signature=" + signature, "fields": map[string]any{"key": "a/b", "policy": "cG9saWN5", "x-amz-signature": signature}}
}

const signature = "5e9a7ab1c0ffee"

func TestAnUploadIsAFormWithoutTheCredential(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := setup(t, http.NotFoundHandler(), func(cfg *apiclient.Config) {
		cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Api-Key", "Authorization", "Cookie"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s came to the store", name)
			}
		}
		parts, err := r.MultipartReader()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for {
			part, err := parts.NextPart()
			if err != nil {
				break
			}
			data, _ := io.ReadAll(part)
			names = append(names, part.FormName()+"="+string(data))
		}
		if got := strings.Join(names, " "); got != "key=a/b policy=cG9saWN5 x-amz-signature="+signature+" file=content" {
			t.Error(got)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer store.Close()
	if err := c.Upload(t.Context(), form(store.URL), "a.txt", []byte("content")); err != nil {
		t.Error(err)
	}
	if text := log.String(); strings.Contains(text, signature) || !strings.Contains(text, "file store") {
		t.Error(text)
	}
}

func TestTheAnswersOfTheStoreAreNotTrusted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer   http.HandlerFunc
		requests int32 // with two retries
		want     string
	}{
		"a redirect is refused, and not tried again": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.com/?"+signature, http.StatusTemporaryRedirect)
		}, 1, "307: it redirects, which is refused"},
		"a refusal shows the code and the message of the store": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>Policy expired</Message><Sig>"+signature+"</Sig></Error>")
		}, 1, "403: AccessDenied: Policy expired"},
		"a refusal that repeats the form shows no secret of it": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "bad\x1b policy cG9saWN5 "+signature)
		}, 1, "400: bad policy [redacted] [redacted]"},
		"an address with its signature": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, r.URL.String())
		}, 1, "400"},
		"a page to sign in is no answer of a store": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, 1, "200: this is no answer of a store"},
		"a refusal without end is not read to the end": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			for range 10_000 {
				if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
					return
				}
			}
		}, 1, "403: xxx"},
		"a store that is busy": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 3, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				tt.answer(w, r)
			}))
			defer store.Close()
			c := setup(t, http.NotFoundHandler(), func(cfg *apiclient.Config) { cfg.Retries = 2 })
			err := c.Upload(t.Context(), form(store.URL), "a.txt", []byte("content"))
			refused, ok := errors.AsType[*apiclient.StoreError](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), signature) || len(err.Error()) > 1000 || requests.Load() != tt.requests || refused.Hint() == "" {
				t.Errorf("%d requests: %v", requests.Load(), err)
			}
		})
	}
}

// TestAStoreThatTakesTheConnectionOverEndsTheRequest, because a bare connection observes neither the context nor the time limit.
func TestAStoreThatTakesTheConnectionOverEndsTheRequest(t *testing.T) {
	t.Parallel()
	store := listenHTTP(t, takesOver(t))
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, store, http.StatusFound) }))
	op, _ := resource.MustLookup("attachment").Op(resource.Download, resource.V1)
	path, err := c.Path(op, params(op))
	if err != nil {
		t.Fatal(err)
	}
	_, fetched := c.Fetch(t.Context(), op, path, 7)
	for what, err := range map[string]error{"upload": c.Upload(t.Context(), form(store), "a.txt", []byte("content")), "download": fetched} {
		if refused, ok := errors.AsType[*apiclient.StoreError](err); !ok || refused.Status != 101 || !strings.Contains(err.Error(), "this is no answer of a store") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAStoreNearerThanTheServiceGetsNothing, because the service names it, and could otherwise reach addresses that only this machine can reach.
func TestAStoreNearerThanTheServiceGetsNothing(t *testing.T) {
	t.Parallel()
	canary := inTurn(status(200, ``))
	at := listenHTTP(t, canary)
	_, port, _ := strings.Cut(strings.TrimPrefix(at, "http://"), ":")
	for service, refused := range map[string]bool{
		"https://plane.example.com": true, "https://192.0.2.1": true, "https://10.0.0.5": true, "https://169.254.1.1": true,
		"https://127.0.0.1": false, "https://localhost": false, "https://[::1]": false,
	} {
		for _, store := range []string{at, "http://localhost:" + port} {
			before := len(canary.requests())
			err := client(t, service).Upload(t.Context(), form(store), "a.txt", []byte("content"))
			sent := len(canary.requests()) - before
			if failed, ok := errors.AsType[*apiclient.StoreError](err); !refused && (err != nil || sent != 1) ||
				refused && (!ok || sent != 0 || !strings.Contains(failed.Reason, "is on this machine, where the service itself is not")) {
				t.Errorf("%s names %s: %d requests, %v", service, store, sent, err)
			}
		}
	}
}

func TestAFormWithAnUnsafeAddressIsNotUsed(t *testing.T) {
	t.Parallel()
	c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
		cfg.Transport = scripted(func(*http.Request) (*http.Response, error) {
			t.Error("a request was sent")
			return nil, errors.New("none")
		})
	})
	for url, want := range map[string]string{
		"http://files.example.com": "unencrypted", "ftp://files.example.com": "no valid address", "file:///etc": "no valid address",
		"https://me:secret@files.example.com": "no valid address", "//files.example.com": "no valid address", ":": "no valid address",
	} {
		if err := c.Upload(t.Context(), form(url), "a.txt", []byte("content")); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), signature) {
			t.Errorf("%s: %v", url, err)
		}
	}
	bad := form("https://files.example.com")
	bad["fields"] = map[string]any{"key": []any{}}
	if err := c.Upload(t.Context(), bad, "a.txt", nil); err == nil {
		t.Error("a form with a list was used")
	}
}

func TestAFileIsFetchedFromTheAddressOfTheRedirect(t *testing.T) {
	t.Parallel()
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key")+r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" || r.URL.Query().Get("s") != signature {
			t.Errorf("%v %s", r.Header, r.URL)
		}
		_, _ = io.WriteString(w, "content")
	}))
	defer store.Close()
	to := store.URL + "/?s=" + signature
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }))
	op, _ := resource.MustLookup("attachment").Op(resource.Download, resource.V1)
	path, err := c.Path(op, params(op))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := c.Fetch(t.Context(), op, path, 7); err != nil || string(data) != "content" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := c.Fetch(t.Context(), op, path, 6); err == nil || !strings.Contains(err.Error(), "more than 6 bytes") || strings.Contains(err.Error(), signature) {
		t.Error(err)
	}
}

// FuzzStoreAnswer uploads to a store with arbitrary answers.
func FuzzStoreAnswer(f *testing.F) {
	for _, body := range []string{"", "<html>", "<Error><Code>AccessDenied</Code><Message>Policy expired</Message></Error>", "<Error><Code>\x1b[2J" + signature, "\xff\u202e", strings.Repeat("<a>", 5000)} {
		for _, status := range []int{100, 101, 200, 201, 204, 206, 301, 307, 304, 403, 404, 413, 429, 500, 503, 999, 0} {
			f.Add(status, "Location", "https://elsewhere.example.com/"+signature, body)
		}
	}
	f.Add(400, "", "", signature[:4]+"\x1f"+signature[4:])
	f.Add(503, "Retry-After", "99999999999", "")
	f.Add(429, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", "busy")
	f.Add(200, "Content-Encoding", "gzip", "\x1f\x8b")
	f.Fuzz(func(t *testing.T, status int, name, value, body string) {
		if status < 0 || status > 999 {
			status = 400
		}
		requests := 0
		c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
			cfg.MaxElapsed = 1
			cfg.Transport = scripted(func(r *http.Request) (*http.Response, error) {
				if requests++; r.URL.Host != "store.example.com" || r.Header.Get("X-Api-Key") != "" {
					t.Errorf("%s is asked, with %v", r.URL.Host, r.Header)
				}
				return reply(status, body, name, value), nil
			})
		})
		err := c.Upload(t.Context(), form("https://store.example.com"), "a.txt", []byte("content"))
		refused, ok := errors.AsType[*apiclient.StoreError](err)
		switch {
		case err == nil && status != 201 && status != 204 && (status != 200 || body != ""):
			t.Errorf("%d with %q is a success", status, body)
		case err != nil && (!ok || refused.Hint() == ""):
			t.Errorf("%v says not what to do", err)
		case err != nil && (strings.Contains(err.Error(), signature) || len(err.Error()) > 1000 ||
			strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e })):
			t.Errorf("%d bytes: %q", len(err.Error()), err)
		case requests > 10:
			t.Errorf("%d requests", requests)
		}
	})
}
