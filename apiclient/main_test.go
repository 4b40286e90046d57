package apiclient_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
)

// TestMain gives the garbage collector less to do: it took a fourth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	goleak.VerifyTestMain(m)
}

const (
	secret    = "plane_api_s3cr3t0123456789abcdef"
	projectID = "9bc9cae1-b034-451c-8022-d59b61045d73"
	itemID    = "58ca3d9a-4cdc-4cec-a6bd-de60a03fa86f"
)

// documented returns the contract's operation of that number.
func documented(tb testing.TB, number int) *resource.Operation {
	tb.Helper()
	for _, op := range resource.Operations() {
		if op.ContractRow == number {
			return op
		}
	}
	tb.Fatalf("no operation %d", number)
	return nil
}

// wider returns a read of the wider API.
func wider(tb testing.TB, path string) *resource.Operation {
	tb.Helper()
	for _, op := range resource.Operations() {
		if op.Method == http.MethodGet && strings.HasSuffix(op.Path, path) && !op.Documented() {
			return op
		}
	}
	tb.Fatalf("no operation GET %s", path)
	return nil
}

// params returns a value for every parameter.
func params(op *resource.Operation) map[string]string {
	values := map[string]string{}
	for _, name := range op.Params() {
		switch name {
		case "workspace_slug":
		case "identifier":
			values[name] = "ENG-1"
		case "project_id":
			values[name] = projectID
		default:
			values[name] = itemID
		}
	}
	return values
}

// request returns a call of the operation with a value for every parameter.
func request(op *resource.Operation) apiclient.Request {
	req := apiclient.Request{Operation: op, Params: params(op)}
	if op.Writes() && op.Method != http.MethodDelete {
		req.Body = []byte(`{"name":"Rebuild the checkout"}`)
	}
	return req
}

// setup starts a server below a path that is not the root, and its client. The
// handler sees paths without that root.
func setup(tb testing.TB, handler http.Handler, change ...func(*apiclient.Config)) *apiclient.Client {
	tb.Helper()
	mux := http.NewServeMux()
	mux.Handle("/plane/", http.StripPrefix("/plane", handler))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		tb.Errorf("request beside the base URL's path: %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusTeapot)
	})
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	return client(tb, server.URL+"/plane/", change...)
}

func client(tb testing.TB, base string, change ...func(*apiclient.Config)) *apiclient.Client {
	tb.Helper()
	cfg := apiclient.Config{
		BaseURL: base, Workspace: "acme", Credential: apiclient.APIKey(secret), Version: "1.2.3",
		Retries: -1,
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := apiclient.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.CloseIdle)
	return c
}

// answers sends one answer for each request in turn, and the last one for all further requests.
type answers struct {
	mu   sync.Mutex
	list []http.HandlerFunc
	seen []string // method, path and query, body
}

func inTurn(list ...http.HandlerFunc) *answers { return &answers{list: list} }

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	n := min(len(a.seen), len(a.list)-1)
	a.seen = append(a.seen, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	a.mu.Unlock()
	a.list[n](w, r)
}

func (a *answers) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.seen...)
}

// status sends a status, a body and headers given as name, value, ...
func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		kind := "application/json"
		if strings.HasPrefix(body, "<") {
			kind = "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// scripted is a service without a network, for tests with a fake clock.
type scripted func(*http.Request) (*http.Response, error)

func (sc scripted) RoundTrip(r *http.Request) (*http.Response, error) { return sc(r) }

func reply(code int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(bytes.NewBufferString(body))}
}

// offline returns a client of a scripted service.
func offline(tb testing.TB, service scripted, change ...func(*apiclient.Config)) *apiclient.Client {
	tb.Helper()
	return client(tb, "https://plane.example.com", append([]func(*apiclient.Config){func(cfg *apiclient.Config) {
		cfg.Transport = service
		cfg.Retries = 0
	}}, change...)...)
}

// pass advances the fake clock of a test.
func pass(d time.Duration) { <-time.After(d) }

// seconds returns a duration as a number, for messages.
func seconds(d time.Duration) float64 { return d.Seconds() }

// listenHTTP starts a server and returns its address.
func listenHTTP(tb testing.TB, handler http.Handler) string {
	tb.Helper()
	server := httptest.NewServer(handler)
	tb.Cleanup(server.Close)
	return server.URL
}

// containsPlain reports whether a text contains another, and no control characters for a terminal.
func containsPlain(text, part string) bool {
	return strings.Contains(text, part) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
