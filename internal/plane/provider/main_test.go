package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// TestMain runs many cases at once, because they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "24"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(sandboxtest.GCPercent)
	sandboxtest.TempInMemory()
	os.Exit(m.Run())
}

// service is a sandbox whose requests can be made to fail, with a folder for manifests and state.
type service struct {
	*sandboxtest.Server

	api     resource.API
	dir     string
	now     func() time.Time // nil = the real time
	today   func() time.Time // decides which cycles are over; nil = none
	file    []byte           // appended to files/design.pdf; nil = nothing
	virtual bool             // within a bubble, where there are no connections
	disk    disk.Disk        // for secrets; nil = the operating system's

	fault    func(*http.Request) sandboxtest.Fault // of the current run; nil = none
	always   func(*http.Request) sandboxtest.Fault // used if there is no other fault; nil = none
	replying func(*http.Request, map[string]any)   // changes a record in an answer; nil = no change

	loaded map[[2]string]*manifest.Manifest // by folder and text, if many runs read the same; nil = not cached
	seen   *sync.Map                        // answers to reads by URL, if nothing changes any more; nil = not cached
}

func newService(t *testing.T, api resource.API) *service {
	t.Helper()
	answers := sandbox.Observed
	if api == resource.Documented {
		answers = sandbox.Contract
	}
	return newServiceOf(t, api, sandboxtest.Options{Answers: answers})
}

func newServiceOf(t *testing.T, api resource.API, o sandboxtest.Options) *service {
	t.Helper()
	s := &service{api: api, dir: t.TempDir()}
	if api == resource.V2 {
		o.Edition = sandbox.Cloud
	}
	o.Fault = func(req *http.Request) sandboxtest.Fault {
		if s.fault == nil {
			if s.always != nil {
				return s.always(req)
			}
			return sandboxtest.Fault{}
		}
		return s.fault(req)
	}
	var err error
	if s.Server, err = sandboxtest.Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// client connects to a server that is closed when the returned function
// returns, so that no request is handled later.
func (sv *service) client(t *testing.T, config apiclient.Config) (*apiclient.Client, func()) {
	t.Helper()
	if sv.virtual {
		config.Transport = direct{sv}
		return sv.connect(t, config, "http://127.0.0.1"), func() {}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body) // otherwise the server would not notice that the client has gone
		if err != nil {
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if sv.replying == nil {
			sv.ServeHTTP(w, req)
			return
		}
		answer := httptest.NewRecorder()
		sv.ServeHTTP(answer, req)
		sv.reword(w, req, answer)
	}))
	client := sv.connect(t, config, server.URL)
	return client, func() {
		client.CloseIdle()
		server.Close()
	}
}

// reword passes an answer on with changed records.
func (sv *service) reword(w http.ResponseWriter, req *http.Request, answer *httptest.ResponseRecorder) {
	body := answer.Body.Bytes()
	var row map[string]any
	if json.Unmarshal(body, &row) == nil {
		sv.replying(req, row)
		results, _ := row["results"].([]any)
		data, _ := row["data"].([]any) // of API v2
		for _, e := range append(results, data...) {
			if inner, ok := e.(map[string]any); ok {
				sv.replying(req, inner)
			}
		}
		if changed, err := json.Marshal(row); err == nil {
			body = changed
		}
	}
	maps.Copy(w.Header(), answer.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}

func (sv *service) connect(t *testing.T, config apiclient.Config, url string) *apiclient.Client {
	t.Helper()
	config.BaseURL, config.Workspace, config.Credential = url, sandbox.Workspace, apiclient.APIKey(sandbox.Key)
	client, err := apiclient.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// direct passes requests to the service without a connection.
type direct struct{ s *service }

func (dr direct) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = req.Context().Err(); err == nil {
				err = syscall.ECONNRESET
			}
		}
	}()
	w := httptest.NewRecorder()
	incoming := req.Clone(req.Context())
	if incoming.RequestURI = req.URL.RequestURI(); incoming.Body == nil {
		incoming.Body = http.NoBody
	}
	if dr.s.seen == nil {
		dr.s.ServeHTTP(w, incoming)
		return w.Result(), nil
	}
	earlier, ok := dr.s.seen.Load(incoming.RequestURI)
	if !ok {
		dr.s.ServeHTTP(w, incoming)
		earlier, _ = dr.s.seen.LoadOrStore(incoming.RequestURI, w)
	}
	answer, _ := earlier.(*httptest.ResponseRecorder)
	again := httptest.NewRecorder()
	maps.Copy(again.Header(), answer.Header())
	again.WriteHeader(answer.Code)
	_, _ = again.Write(answer.Body.Bytes())
	return again.Result(), nil
}

// applying describes one run.
type applying struct {
	manifest   string
	timeout    time.Duration                                // 0 = a long time
	retries    int                                          // 0 = none
	fault      func(*http.Request, run) sandboxtest.Fault   // nil = none
	killed     bool                                         // the state is not saved
	dies       func(executor.Journal, run) executor.Journal // nil = the run does not die at a journal entry
	workers    int                                          // 0 = 4
	trust      bool                                         // the plan skips the refresh
	all        bool                                         // reads that take many requests are made too
	prune      bool
	newSecrets bool          // asks for new secrets of objects whose files are missing
	invite     bool          // people who are not in the workspace are invited
	changed    bool          // pruning also deletes objects that others changed or use
	grace      time.Duration // 0 = 20 ms
	file       func()        // called between plan and run; nil = none
}

// run is the effect of a fault on its run: kill ends it at once,
// stop after the running steps have finished.
type run struct{ kill, stop func() }

// applied is the result of a run.
type applied struct {
	executor.Result

	plan      *planner.Plan
	writes    int
	fallbacks diag.List
}

// apply acts like the command, from the manifest to the saved state.
func (sv *service) apply(t *testing.T, a applying) applied {
	t.Helper()
	if a.timeout == 0 {
		a.timeout = 20 * time.Second
	}
	if a.retries == 0 {
		a.retries = -1
	}
	if a.workers == 0 {
		a.workers = 4
	}
	if a.grace == 0 {
		a.grace = 20 * time.Millisecond
	}
	wanted := sv.load(t, a.manifest)
	file := sv.open(t)
	defer func() { _ = file.Close() }() // the next run reads what is on disk
	reader, gone := sv.client(t, apiclient.Config{Retries: -1})
	defer gone()
	grace := provider.Grace{Period: a.grace, GivenUp: provider.GivenUpBy(file.Snapshot().LastActivity(), a.timeout, a.grace)}
	if grace.GivenUp.After(time.Now()) {
		grace.GivenUp = time.Now()
	}
	read := func() (*planner.Plan, diag.List, error) {
		var now time.Time
		if sv.today != nil {
			now = sv.today()
		}
		return provider.Plan(t.Context(), reader, planner.Input{
			Now:   now,
			Owner: wanted.Owner, FormerOwners: file.Snapshot().Owners(), StateIsComplete: file.Snapshot().Knows(wanted.Owner),
			Workspace: sandbox.Workspace, API: sv.api, Desired: wanted.Objects, Prior: file.Prior(),
			Settings: planner.Settings{SkipRefresh: a.trust, RefreshAll: a.all, Prune: a.prune, DeleteChanged: a.changed, Invite: a.invite, NewSecrets: a.newSecrets},
		}, grace)
	}
	plan, findings, err := read()
	if errors.Is(err, apiclient.ErrForbidden) { // a late delete removed an object that was being read: it is gone in the next plan
		sv.Drain()
		plan, findings, err = read()
	}
	if err != nil || findings.HasErrors() {
		t.Fatalf("plan: %v %v", err, findings)
	}
	if file.ApplyChanges(append(plan.StateChanges, plan.Seen...)); len(plan.StateChanges)+len(plan.Seen) > 0 {
		if err := file.Save(); err != nil {
			t.Fatal(err)
		}
	}
	client, done := sv.client(t, apiclient.Config{Timeout: a.timeout, Retries: a.retries})
	defer done()
	before := sv.writes()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := make(chan struct{})
	r := run{kill: cancel, stop: sync.OnceFunc(func() {
		close(stop)
		client.Stop()
	})}
	journal := executor.Journal(file)
	if a.dies != nil {
		journal = a.dies(file, r)
	}
	if a.fault != nil {
		sv.fault = func(req *http.Request) sandboxtest.Fault { return a.fault(req, r) }
	}
	if a.file != nil {
		a.file()
	}
	service := provider.NewService(client, plan, file, grace)
	service.KeepSecretsOn(sv.disk)
	result := executor.Run(ctx, plan, service, journal, executor.Options{Parallelism: a.workers, Stop: stop})
	if err := service.Confirm(ctx, &result, journal); err != nil {
		t.Error(err)
	}
	done()
	sv.fault = nil
	if result.BoundAll() {
		file.Own(plan.Owner)
	}
	if !a.killed {
		if err := file.Save(); err != nil {
			t.Fatal(err)
		}
	}
	return applied{result, plan, sv.writes() - before, service.Fallbacks()}
}

func (sv *service) load(t *testing.T, text string) *manifest.Manifest {
	t.Helper()
	key := [2]string{sv.dir, text}
	if wanted := sv.loaded[key]; wanted != nil {
		return wanted
	}
	path := filepath.Join(sv.dir, "m.yaml")
	if !strings.HasPrefix(text, "version:") {
		text += "\n---\nversion: 1\n" // at the end, so that positions stay the same
	}
	if err := os.MkdirAll(filepath.Join(sv.dir, "files"), 0o750); err != nil {
		t.Fatal(err)
	}
	if name := filepath.Join(sv.dir, "files", "design.pdf"); sv.file != nil || !exists(name) {
		if err := os.WriteFile(name, append([]byte("%PDF"), sv.file...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wanted, findings := manifest.Load(t.Context(), []string{path}, manifest.Options{AllowEmpty: true})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	if sv.loaded != nil {
		sv.loaded[key] = wanted
	}
	return wanted
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func (sv *service) open(t *testing.T) *state.File {
	t.Helper()
	file, err := state.Open(t.Context(), filepath.Join(sv.dir, "state.json"), state.Options{BaseURL: "sandbox:", Workspace: sandbox.Workspace, Now: sv.now})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// writes counts the requests that were neither reads nor redirected.
func (sv *service) writes() int {
	n := 0
	for _, e := range sv.Log() {
		if e.Method != http.MethodGet && e.Status != http.StatusMovedPermanently {
			n++
		}
	}
	return n
}

// failed lists the steps of a run that did not succeed, without impossible steps.
func (a applied) failed() []string {
	var l []string
	for _, r := range a.Steps {
		if r.Status != executor.Done && r.Step.Action != planner.NotPossible {
			text := r.Step.Action.String() + " " + string(r.Step.Address)
			if r.Err != nil {
				text += ": " + r.Err.Error()
			}
			l = append(l, text)
		}
	}
	return l
}

// reasons returns why steps of the plan are not possible, by address.
func (a applied) reasons() map[resource.Address]string {
	m := map[resource.Address]string{}
	for _, s := range a.plan.Steps {
		if s.Action == planner.NotPossible {
			m[s.Address] = s.Reason()
		}
	}
	return m
}

// warnings returns the warnings of all steps.
func (a applied) warnings() diag.List {
	var l diag.List
	for _, r := range a.Steps {
		l.Add(r.Outcome.Warnings...)
	}
	return l
}
