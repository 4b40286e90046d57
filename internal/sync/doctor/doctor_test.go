package doctor_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/sync/doctor"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

//nolint:gochecknoglobals // the flag package works with variables
var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "plane_api_s3cr3t0123456789abcdef"

// noon is the time on this machine's clock.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// place is a service that counts its requests.
type place struct {
	url      string
	requests atomic.Int64
}

// serve starts a service whose clock shows noon.
func serve(t *testing.T, start func(http.Handler) *httptest.Server, h http.Handler) *place {
	t.Helper()
	p := &place{}
	server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		w.Header().Set("Date", noon().Format(http.TimeFormat))
		h.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func plain(h http.Handler) *httptest.Server { return httptest.NewServer(h) }

// none is the workspace of a trial without one.
const none = "-"

// trial is one case of an examination.
type trial struct {
	options    sandboxtest.Options                       // of a sandbox
	handler    func(next http.Handler) http.Handler      // before the sandbox; nil = none
	start      func(http.Handler) *httptest.Server       // nil = plain http
	base       func(url string) string                   // the base URL; nil = the service's
	workspace  string                                    // "" = acme
	credential apiclient.Credential                      // zero = the sandbox's
	source     string                                    // "" = an API key
	v2, chosen bool                                      // API v2 may be used; and nothing else will do
	documented bool                                      // only the documented operations may be used
	manifest   string                                    // "" = none
	faulty     int                                       // errors in the manifest
	state      func(t *testing.T, path, base string)     // makes a state
	unseen     int64                                     // requests that no handler gets to see
	prepare    func(t *testing.T, s *sandboxtest.Server) // prepares the sandbox for the case
}

// examine looks, and gives the report and the number of requests that arrived.
func (tr trial) examine(t *testing.T) (report doctor.Report, requests int64, hide *strings.Replacer) {
	t.Helper()
	s, err := sandboxtest.Open(tr.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if tr.prepare != nil {
		tr.prepare(t, s)
	}
	var h http.Handler = s
	if tr.handler != nil {
		h = tr.handler(s)
	}
	if tr.start == nil {
		tr.start = plain
	}
	p := serve(t, tr.start, h)
	base, dir := p.url, t.TempDir()
	if tr.base != nil {
		base = tr.base(p.url)
	}
	in := doctor.Input{
		BaseURL: base, Workspace: sandbox.Workspace, Credential: "API key from PLANE_API_KEY", API: resource.V1,
		StatePath: filepath.Join(dir, "x.state.json"), Errors: tr.faulty,
	}
	switch tr.workspace {
	case "":
	case none:
		in.Workspace, in.StatePath = "", ""
	default:
		in.Workspace = tr.workspace
	}
	if tr.source != "" {
		in.Credential = tr.source
	}
	if in.APIChosen = tr.chosen; tr.v2 {
		in.API = resource.V2
	}
	if tr.documented {
		in.API = resource.Documented
	}
	if tr.credential.IsZero() {
		tr.credential = apiclient.APIKey(sandbox.Key)
	}
	client, err := apiclient.New(apiclient.Config{
		BaseURL: base, Workspace: in.Workspace, Credential: tr.credential, Retries: -1, MaxElapsed: time.Second, Timeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	in.Client, in.Redact = client, client.Redact
	if tr.manifest != "" {
		name := filepath.Join(dir, "m.yaml")
		if err := os.WriteFile(name, []byte("version: 1\nworkspace: acme\n"+tr.manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		m, findings := manifest.Load(t.Context(), []string{name}, manifest.Options{})
		if findings.HasErrors() != (tr.faulty > 0) {
			t.Fatal(findings)
		}
		in.Manifests, in.Desired = []string{name}, m.Objects
	}
	if tr.state != nil {
		tr.state(t, in.StatePath, base)
	}
	host := strings.TrimPrefix(strings.TrimPrefix(p.url, "https://"), "http://")
	return doctor.Examine(t.Context(), in), p.requests.Load(), strings.NewReplacer(host, "HOST", dir, "DIR")
}

// lines is a report as a text.
func lines(r doctor.Report) string {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%s %s: %s\n", c.Status, c.Name, c.Summary)
		if c.Hint != "" {
			fmt.Fprintf(&b, "    %s\n", c.Hint)
		}
	}
	fmt.Fprintf(&b, "offers %s\nlacks %s\nrequests %d, denied %t\n", strings.Join(r.Supported, " "), strings.Join(r.Unsupported, " "), r.Summary.Requests, r.Denied())
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// always answers everything alike.
func always(code int, kind, body string, headers ...string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		})
	}
}

// on answers paths with that end alike.
func on(end string, answer func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, end) {
				answer(next).ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// without has all operations but those whose path ends so.
func without(ends ...string) func(method, path string) bool {
	return func(_, path string) bool {
		return !slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) })
	}
}

func under(path string) func(string) string {
	return func(url string) string { return url + path }
}

const (
	page = "text/html; charset=utf-8"
	js   = "application/json"
)

// locked opens a state as planform apply does.
func locked(t *testing.T, path, base string) *state.File {
	t.Helper()
	f, err := state.Open(t.Context(), path, state.Options{BaseURL: base, Workspace: sandbox.Workspace, Command: "planform apply", Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func trials() map[string]trial {
	needs := `projects: [{identifier: WEB, work_items: [{name: A, type: Story}, {name: B, type: Story}]}]
customers: [{name: Globex, requests: [{title: X}]}]
`
	left := func(records ...planner.Record) func(t *testing.T, path, base string) {
		return func(t *testing.T, path, base string) {
			t.Helper()
			f := locked(t, path, base)
			for _, r := range records {
				f.Put(r)
			}
			if err := errors.Join(f.Save(), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return map[string]trial{
		"a state": {state: left(planner.Record{Address: "page/a", ID: sandboxtest.PageWelcome})},
		"a state of another service": {state: func(t *testing.T, path, _ string) {
			t.Helper()
			left(planner.Record{Address: "page/a", ID: sandboxtest.PageWelcome})(t, path, "https://plane.example.com")
		}},
		"a state that is broken": {state: func(t *testing.T, path, _ string) {
			t.Helper()
			if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"API v2":                                  {v2: true, options: sandboxtest.Options{Edition: sandbox.Cloud}},
		"API v2 that is not there":                {v2: true},
		"API v2 that is not there and chosen":     {v2: true, chosen: true},
		"API v2 with its first operations":        {v2: true, options: sandboxtest.Options{Edition: sandbox.Cloud, HasOperation: sandboxtest.FirstOperations}},
		"API v2 without some operations":          {v2: true, options: sandboxtest.Options{Edition: sandbox.Cloud, HasOperation: without("cycles/bulk-delete/", "labels/bulk-delete/", "initiatives/")}},
		"API v2 without a description":            {v2: true, options: sandboxtest.Options{Edition: sandbox.Cloud, HasOperation: without("schema/")}},
		"API v2 that describes something else":    {v2: true, options: sandboxtest.Options{Edition: sandbox.Cloud}, handler: on("/schema/", always(200, js, `{"paths":{"/pets/":{"get":{}}}}`))},
		"API v2 that fails":                       {v2: true, options: sandboxtest.Options{Edition: sandbox.Cloud}, handler: on("/v2/users/me/", always(502, js, `{}`))},
		"full edition":                            {},
		"full edition with documented answers":    {options: sandboxtest.Options{Answers: sandbox.Contract}},
		"documented operations":                   {options: sandboxtest.Options{Answers: sandbox.Contract}, documented: true},
		"documented operations of community":      {options: sandboxtest.Options{Edition: sandbox.Community}, documented: true},
		"community edition":                       {options: sandboxtest.Options{Edition: sandbox.Community}},
		"community edition and a manifest":        {options: sandboxtest.Options{Edition: sandbox.Community}, manifest: needs},
		"full edition and a manifest":             {manifest: needs},
		"a manifest with errors":                  {manifest: "pages: [{nme: X}]\n", faulty: 1},
		"empty workspace":                         {options: sandboxtest.Options{Empty: true}},
		"guest":                                   {credential: apiclient.APIKey(sandboxtest.KeyEve), manifest: "projects: [{identifier: WEB, work_items: [{name: A, labels: [bug]}]}]\n"},
		"wrong key":                               {credential: apiclient.APIKey(secret)},
		"token not taken":                         {options: sandboxtest.Options{Edition: sandbox.Community}, credential: apiclient.Bearer(secret), source: "access token from PLANE_ACCESS_TOKEN"},
		"unknown workspace":                       {workspace: "Acme"},
		"unknown workspace and a manifest":        {workspace: "Acme", manifest: "projects:\n  - {identifier: WEB, work_items: [{name: A, state: Todo}]}\ncustomers: [{name: Globex}]\n"},
		"unknown workspace of community":          {workspace: "nowhere", options: sandboxtest.Options{Edition: sandbox.Community}},
		"below a path":                            {options: sandboxtest.Options{Prefix: "/plane"}, base: under("/plane/")},
		"address of a page in the browser":        {base: under("/acme/projects"), options: sandboxtest.Options{Edition: sandbox.Community}, manifest: "customers: [{name: Globex}]\n"},
		"no workspace":                            {workspace: none},
		"web page":                                {handler: always(200, page, "<html><title>Log in</title></html>")},
		"web page below a path":                   {handler: always(404, page, "<html><title>Not here</title></html>"), base: under("/plane")},
		"not JSON":                                {handler: always(200, "text/plain", "hello")},
		"another service":                         {handler: always(404, js, `{"message":"no such thing"}`)},
		"another service that answers everything": {handler: always(200, js, `{}`)},
		"redirect to another host":                {handler: always(302, js, "", "Location", "https://login.example.com/")},
		"https wanted":                            {handler: always(400, "text/plain", "Client sent an HTTP request to an HTTPS server.")},
		"service down":                            {handler: always(502, page, "<html><title>Bad gateway</title></html>")},
		"rate limit used up":                      {handler: always(429, js, `{"error_code":5900,"error_message":"RATE_LIMIT_EXCEEDED"}`, "Retry-After", "57")},
		"rate limit used up on the way":           {options: sandboxtest.Options{Rate: 3, Now: noon}},
		"few requests left": {handler: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-RateLimit-Remaining", "8")
				next.ServeHTTP(w, r)
			})
		}},
		"usual limit":           {options: sandboxtest.Options{Rate: 60, Now: noon}},
		"limit that was raised": {options: sandboxtest.Options{Rate: 6000, Now: noon}},
		"one list is broken":    {handler: on("/cycles/", always(404, js, `{"error":"The requested resource does not exist."}`))},
		"a project that is not found": {handler: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := on("/projects/", always(200, js, `{"results":[{"id":"00000000-0000-4000-8000-00000000dead","identifier":"GONE"}]}`))
				if strings.Contains(r.URL.Path, "dead") {
					answer = always(404, js, `{"error":"The requested resource does not exist."}`)
				}
				answer(next).ServeHTTP(w, r)
			})
		}},
		"unknown authority":           {start: httptest.NewTLSServer, unseen: 1},
		"plain http instead of https": {base: func(url string) string { return strings.Replace(url, "http:", "https:", 1) }, unseen: 1},
		"https instead of plain http": {start: httptest.NewTLSServer, base: func(url string) string { return strings.Replace(url, "https:", "http:", 1) }, unseen: 1},
		"closed port":                 {base: func(string) string { return "http://127.0.0.1:1" }, unseen: 1},
	}
}

// byChance matches the parts of a report that differ from run to run.
var byChance = regexp.MustCompile(`(lineage )[0-9a-f-]+|(locked by )[^(]+|(process )\d+`)

// kinds matches the lines about the kinds that the edition has and lacks, and the number of requests.
var kinds = regexp.MustCompile(`(?m)^(ok edition: |offers |lacks |    if manifests have|warning permission: ).*|^(requests )\d\d`)

func TestReportsOfServicesCredentialsStatesAndManifests(t *testing.T) {
	t.Parallel()
	for name, tr := range trials() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, requests, hide := tr.examine(t)
			text := byChance.ReplaceAllString(hide.Replace(lines(report)), "$1$2$3…")
			if !strings.Contains(name, "edition") && !strings.Contains(name, "operations") {
				text = kinds.ReplaceAllString(text, "$1$2…") // they are seen well enough in the others
			}
			golden(t, name, text)
			if int64(report.Summary.Requests) != requests+tr.unseen {
				t.Errorf("the report says %d requests, and %d arrived", report.Summary.Requests, requests)
			}
		})
	}
}

func TestNothingIsSentWithoutACredentialOrToAWrongAddress(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]doctor.Input{
		"no credential": {Refused: errors.New("no credential is given"), RefusedHint: "set PLANE_API_KEY"},
		"wrong address": {Refused: errors.New("the base URL must not contain a query"), Credential: "API key from PLANE_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in.BaseURL, in.Workspace = "https://plane.example.com", "acme"
			golden(t, name, lines(doctor.Examine(t.Context(), in)))
		})
	}
}

// echo says the credential in every text that a report could quote.
func echo(code int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := r.Header.Get("X-Api-Key")
			switch {
			case code != http.StatusOK:
				always(code, js, `{"detail":"no `+key+`"}`)(next).ServeHTTP(w, r)
			case strings.HasSuffix(r.URL.Path, "/users/me/"):
				always(code, js, `{"id":"x","display_name":"`+key+`","email":"`+key+`@example.com"}`)(next).ServeHTTP(w, r)
			case strings.HasSuffix(r.URL.Path, "/projects/"):
				always(code, js, `[{"id":"x","identifier":"`+key+`"}]`)(next).ServeHTTP(w, r)
			default:
				always(http.StatusBadRequest, js, `{"detail":"no `+key+`"}`)(next).ServeHTTP(w, r)
			}
		})
	}
}

func TestTheCredentialIsInNoReport(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 400, 401, 403, 404, 409, 429, 500, 502} {
		report, _, _ := trial{credential: apiclient.APIKey(secret), handler: echo(code)}.examine(t)
		text := lines(report)
		if strings.Contains(text, secret) || strings.Contains(text, "s3cr3t") {
			t.Errorf("%d:\n%s", code, text)
		}
		if code == 200 && !strings.Contains(text, "[redacted]@example.com") {
			t.Errorf("nothing was to be hidden:\n%s", text)
		}
	}
}
