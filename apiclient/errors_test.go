package apiclient_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
)

//nolint:gochecknoglobals // how flags of tests are made
var update = flag.Bool("update", false, "write the golden files anew")

// recorded is an answer of a real server, or one that might come from another program.
type recorded struct {
	About       string `json:"about"`
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Body        string `json:"body"`
}

func complaints(tb testing.TB) []recorded {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "complaints.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	var list []recorded
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			tb.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// failure makes one request that must fail.
func failure(tb testing.TB, c *apiclient.Client, op *resource.Operation) *apiclient.Error {
	tb.Helper()
	resp, err := c.Do(tb.Context(), request(op))
	var e *apiclient.Error
	if !errors.As(err, &e) {
		tb.Fatalf("no *Error but %T %v, response %v", err, err, resp)
	}
	return e
}

func TestErrorsCarryTheMessageOfTheService(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	for _, r := range complaints(t) {
		c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", r.ContentType)
			w.WriteHeader(r.Status)
			_, _ = io.WriteString(w, r.Body)
		}), func(cfg *apiclient.Config) { cfg.MaxElapsed = 1 })
		e := failure(t, c, documented(t, 1))
		fmt.Fprintf(&got, "# %s\n%s\n  %s", r.About, e, e.Effect)
		for _, q := range []struct {
			is   error
			name string
		}{
			{apiclient.ErrUnsupported, "route absent"},
			{apiclient.ErrNotFound, "not found"},
			{apiclient.ErrUnauthorized, "unauthorized"},
			{apiclient.ErrForbidden, "forbidden"},
			{apiclient.ErrConflict, "conflict"},
			{apiclient.ErrRateLimited, "rate limited"},
		} {
			if errors.Is(e, q.is) {
				got.WriteString(", " + q.name)
			}
		}
		if e.ExistingID != "" {
			got.WriteString(", existing " + e.ExistingID)
		}
		if len(e.Fields) > 0 {
			text, err := json.Marshal(e.Fields)
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(", fields " + string(text))
		}
		got.WriteString("\n")
		c.CloseIdle()
	}
	golden := filepath.Join("testdata", "complaints.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestARefusedBearerTokenIsExplained(t *testing.T) {
	t.Parallel()
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret || r.Header["X-Api-Key"] != nil {
			t.Errorf("headers %v", r.Header)
		}
		status(401, `{"detail":"Authentication credentials were not provided."}`)(w, r)
	}), func(cfg *apiclient.Config) { cfg.Credential = apiclient.Bearer(secret + "\n") })
	e := failure(t, c, documented(t, 18))
	if !e.Credential() || !strings.Contains(e.Error(), "some editions take only an API key") {
		t.Error(e)
	}
}

func TestARequestHasThePathHeadersAndBodyOfItsOperation(t *testing.T) {
	t.Parallel()
	for _, op := range resource.Operations() {
		var got *http.Request
		var body []byte
		c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			body, _ = io.ReadAll(r.Body)
			status(op.Success, `{"name":"x"}`)(w, r)
		}))
		req := request(op)
		for name, v := range req.Params {
			if resource.IsID(v) {
				req.Params[name] = strings.ToUpper(v)
			}
		}
		if _, err := c.Do(t.Context(), req); err != nil {
			t.Errorf("%s: %v", op, err)
			continue
		}
		path, err := c.Path(op, req.Params)
		if err != nil {
			t.Fatal(err)
		}
		if got.Method != op.Method || got.URL.Path != path || strings.Contains(path, "9BC9") ||
			strings.Contains(op.Path, "{workspace_slug}") && !strings.Contains(path, "/workspaces/acme/") {
			t.Errorf("%s: %s %s", op, got.Method, got.URL)
		}
		want := http.Header{"Accept": {"application/json"}, "User-Agent": {"planform/1.2.3"}, "X-Api-Key": {secret}, "Accept-Encoding": {"gzip"}}
		if op.Public() { // it needs no credential
			want.Del("X-Api-Key")
		}
		if req.Body != nil {
			want["Content-Type"] = []string{"application/json"}
			want["Content-Length"] = []string{strconv.Itoa(len(req.Body))}
		}
		if diff := cmp.Diff(want, got.Header); diff != "" {
			t.Errorf("%s: %s", op, diff)
		}
		if !bytes.Equal(body, req.Body) {
			t.Errorf("%s: body %s", op, body)
		}
	}
}

func TestAPathOfAnotherOperationIsRefused(t *testing.T) {
	t.Parallel()
	c := setup(t, status(200, `{}`))
	op := documented(t, 14)
	good, err := c.Path(op, params(op))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), apiclient.Request{Operation: op, Path: good}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"/", "x", good + "more/", strings.TrimSuffix(good, "/"), strings.Replace(good, projectID, "..", 1), strings.Replace(good, projectID, "", 1),
		strings.Replace(good, projectID, "a?b", 1), strings.Replace(good, projectID, "a#b", 1), "https://elsewhere.example" + good,
	} {
		if _, err := c.Do(t.Context(), apiclient.Request{Operation: op, Path: bad}); err == nil {
			t.Errorf("%q was sent", bad)
		}
	}
	if _, err := c.Do(t.Context(), apiclient.Request{Operation: op, Params: map[string]string{"project_id": ".."}}); err == nil {
		t.Error("a parameter of two dots was sent")
	}
	if _, err := c.Do(t.Context(), apiclient.Request{}); err == nil {
		t.Error("a request without an operation was sent")
	}
	if _, err := c.Do(t.Context(), apiclient.Request{Operation: op, Path: good, Params: params(op)}); err == nil {
		t.Error("a request with a path and parameters was sent")
	}
}

func TestAParameterStaysOneSegment(t *testing.T) {
	t.Parallel()
	op := documented(t, 13)
	var got string
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.RequestURI
		status(200, `{"name":"x"}`)(w, r)
	}))
	for value, want := range map[string]string{
		"ENG-1":          "/plane/api/v1/workspaces/acme/work-items/ENG-1/",
		"a/../b":         "/plane/api/v1/workspaces/acme/work-items/a%2F..%2Fb/",
		"a?x=1#y":        "/plane/api/v1/workspaces/acme/work-items/a%3Fx=1%23y/",
		"Größe-1 2%2F\"": "/plane/api/v1/workspaces/acme/work-items/Gr%C3%B6%C3%9Fe-1%202%252F%22/",
	} {
		if _, err := c.Do(t.Context(), apiclient.Request{Operation: op, Params: map[string]string{"identifier": value}}); err != nil || got != want {
			t.Errorf("%q: sent %q, want %q, error %v", value, got, want, err)
		}
	}
}

// everything that a client outputs is collected here.
type leaks struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (lk *leaks) Write(p []byte) (int, error) {
	lk.mu.Lock()
	defer lk.mu.Unlock()
	return lk.text.Write(p)
}

func TestTheCredentialIsShownNowhere(t *testing.T) {
	t.Parallel()
	var out leaks
	note := func(v any) {
		for _, format := range []string{"%v\n", "%+v\n", "%#v\n", "%s\n", "%q\n", "%x\n", "%d\n"} {
			_, _ = fmt.Fprintf(&out, format, v)
		}
		text, err := json.Marshal(v)
		_, _ = fmt.Fprintln(&out, string(text), err)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	}
	echo := func(code int, format string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			key := r.Header.Get("X-Api-Key") + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			for i := range headers {
				headers[i] = strings.ReplaceAll(headers[i], "KEY", key)
			}
			status(code, strings.ReplaceAll(format, "KEY", key), headers...)(w, r)
		}
	}
	handlers := []http.HandlerFunc{
		echo(400, `{"error":"you sent KEY"}`), echo(400, `{"KEY":["KEY is wrong"]}`), echo(500, `<title>KEY</title>`),
		echo(403, `X-API-Key: KEY`), echo(302, ``, "Location", "https://elsewhere.example/?key=KEY"), echo(302, ``, "Location", "/KEY"),
		echo(301, ``, "Location", "http://KEY:KEY@elsewhere.example/"), echo(200, `KEY`), echo(200, `{"KEY`), echo(200, `["KEY"]`), echo(303, ``, "Location", "KEY"),
		func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, "HTP/1.1 "+r.Header.Get("X-Api-Key")+"\r\n\r\n")
			_ = conn.Close()
		},
	}
	for _, credential := range []apiclient.Credential{apiclient.APIKey(secret), apiclient.Bearer(secret)} {
		note(credential)
		note(&credential)
		note(struct{ hidden apiclient.Credential }{credential})
		for _, h := range handlers {
			c := setup(t, h, func(cfg *apiclient.Config) {
				cfg.Credential = credential
				cfg.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
				cfg.Notify = func(e apiclient.Event) { note(e); note(e.Err) }
				note(*cfg)
			})
			_, _ = fmt.Fprintf(&out, "%v %+v %#v\n", c, c, c)
			for _, n := range []int{1, 18} {
				err := error(failure(t, c, documented(t, n)))
				for ; err != nil; err = errors.Unwrap(err) {
					note(err)
				}
				_, err = c.List(t.Context(), request(documented(t, 18)))
				note(err)
			}
		}
	}
	text := out.text.String()
	if i := strings.Index(text, secret); i >= 0 {
		t.Errorf("the secret is shown: …%s…", text[max(0, i-300):i+len(secret)])
	}
	if hex := fmt.Sprintf("%x", secret); strings.Contains(text, hex) {
		t.Error("the secret is shown in hexadecimal")
	}
	if !strings.Contains(text, "method=POST") {
		t.Error("nothing was logged")
	}
}

func TestTheLogHoldsWhatAnErrorReportNeeds(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	c := setup(t, status(500, `{}`, "X-Request-Id", "7f3a-"+secret, "Retry-After", "7"), func(cfg *apiclient.Config) {
		cfg.Credential, cfg.Retries = apiclient.APIKey(secret), -1
		cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	_, _ = c.List(t.Context(), request(documented(t, 18)))
	for _, want := range []string{"method=GET path=/api/v1/", "query=", "status=500", "request_id=7f3a-", "retry_after=7s"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), secret) {
		t.Error("the secret is shown")
	}
}

func TestInvalidConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*apiclient.Config)
		says   string
	}{
		{"a base URL is needed", func(c *apiclient.Config) { c.BaseURL = "" }, "PLANE_BASE_URL"},
		{"a base URL needs a scheme", func(c *apiclient.Config) { c.BaseURL = "plane.example.com" }, "has no scheme: write https://plane.example.com"},
		{"a base URL begins with http or https", func(c *apiclient.Config) { c.BaseURL = "ftp://plane.example.com" }, "https://"},
		{"a base URL needs a host", func(c *apiclient.Config) { c.BaseURL = "https:///x" }, "host"},
		{"a port without a host", func(c *apiclient.Config) { c.BaseURL = "https://:80" }, "host"},
		{"a base URL may not hold a user and a password", func(c *apiclient.Config) { c.BaseURL = "https://me:" + secret + "@plane.example.com" }, "user name or password"},
		{"a broken base URL does not show its password", func(c *apiclient.Config) { c.BaseURL = "https://me:" + secret + "@pl ane%zz" }, "is not valid"},
		{"a base URL may not have a query", func(c *apiclient.Config) { c.BaseURL = "https://plane.example.com/?a=b" }, "query"},
		{"a base URL may not have a fragment", func(c *apiclient.Config) { c.BaseURL = "https://plane.example.com/#a" }, "fragment"},
		{"the path of a base URL may not have dots", func(c *apiclient.Config) { c.BaseURL = "https://plane.example.com/a/../b" }, "\"..\""},
		{"http to another machine needs --insecure-http", func(c *apiclient.Config) { c.BaseURL = "http://plane.example.com" }, "--insecure-http"},
		{"http to a name that only looks local needs --insecure-http", func(c *apiclient.Config) { c.BaseURL = "http://localhost.example.com" }, "--insecure-http"},
		{"a workspace with a slash", func(c *apiclient.Config) { c.Workspace = "a/b" }, "slug"},
		{"a credential is needed", func(c *apiclient.Config) { c.Credential = apiclient.Credential{} }, "PLANE_API_KEY"},
		{"an empty key is no credential", func(c *apiclient.Config) { c.Credential = apiclient.APIKey("\n") }, "PLANE_API_KEY"},
		{"a key of two lines", func(c *apiclient.Config) { c.Credential = apiclient.APIKey(secret + "\n" + secret) }, "line break"},
		{"a key with a control character", func(c *apiclient.Config) { c.Credential = apiclient.APIKey(secret + "\x00") }, "control character"},
		{"a token with its scheme", func(c *apiclient.Config) { c.Credential = apiclient.Bearer("Bearer " + secret) }, "without the word Bearer"},
		{"a key that is not ASCII", func(c *apiclient.Config) { c.Credential = apiclient.APIKey("schlüssel" + secret) }, "ASCII"},
		{"a timeout may not be negative", func(c *apiclient.Config) { c.Timeout = -1 }, "negative"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := apiclient.Config{BaseURL: "https://plane.example.com", Workspace: "acme", Credential: apiclient.APIKey(secret)}
			test.change(&cfg)
			_, err := apiclient.New(cfg)
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want one with %q", err, test.says)
			}
		})
	}
}

func TestValidBaseURLsAreNormalized(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://plane.example.com":                "https://plane.example.com",
		"HTTPS://Plane.Example.com:8443//":         "https://plane.example.com:8443",
		"https://plane.example.com/plane/":         "https://plane.example.com/plane",
		"https://plane.example.com/api/v1":         "https://plane.example.com",
		"https://plane.example.com/plane/api/v1//": "https://plane.example.com/plane",
		"https://plane.example.com/a%2Fb/":         "https://plane.example.com/a%2Fb",
		"http://127.0.0.1:8000":                    "http://127.0.0.1:8000",
		"http://[::1]:8000/":                       "http://[::1]:8000",
		"http://localhost":                         "http://localhost",
	} {
		if c := client(t, given); c.BaseURL() != want || c.Workspace() != "acme" {
			t.Errorf("%s becomes %s", given, c.BaseURL())
		}
	}
	client(t, "http://plane.example.com", func(cfg *apiclient.Config) { cfg.InsecureHTTP = true })
}

func TestAfterTheContextEndedNothingIsSent(t *testing.T) {
	t.Parallel()
	c := setup(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was sent") }))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("second interrupt")
	cancel(cause)
	_, err := c.Do(ctx, request(documented(t, 1)))
	var e *apiclient.Error
	if !errors.As(err, &e) || e.Effect != apiclient.NoEffect || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}
