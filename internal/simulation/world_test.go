package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/view"
)

// edge is a call out of the program: which run made it, what it is, and which of the calls of that name it is. IDs and other random
// parts are left out of its name, so that it is the same in each run of a scenario.
type edge struct {
	run  int
	call string
	nth  int
}

func (e edge) String() string { return fmt.Sprintf("%d: %s #%d", e.run, e.call, e.nth) }

// random are the parts of names that differ from run to run.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\.planform-[A-Z2-7]{8}|\d{8}-\d{6}-\d+-[0-9a-f]{4}`)

// what an edge leads to, which says what faults it may suffer.
type edgeKind int

const (
	edgeOfDisk edgeKind = iota
	edgeOfRead
	edgeOfWrite
	edgeOfStoreRead
	edgeOfStoreWrite
)

// fault is what goes wrong at an edge.
type fault struct {
	at  edge
	how string // a name in faultsOf
}

func (f fault) String() string { return f.at.String() + ": " + f.how }

// deceives reports whether the service says that it did nothing although it did.
func (f fault) deceives() bool {
	how := strings.TrimSuffix(f.how, stillSuffix)
	return how == "done, 429" || how == "done, 503"
}

// visit is an edge that a run came to.
type visit struct {
	edge
	kind    edgeKind
	crashes []string // the crashes behind it that leave something else than the edge before did
}

// errDead is what the calls of a process come to that is no more. It is final, so that nobody tries again.
var errDead = deadError{}

type deadError struct{}

func (deadError) Error() string { return "the process is no more" }
func (deadError) Final() bool   { return true }

// world is where the runs of a scenario take place, one after another.
type world struct {
	*testing.T

	scene  *scene
	undoes string
	disk   *simDisk
	store  *simStore
	server *sandboxtest.Server
	log    bytes.Buffer

	mu      sync.Mutex
	looking bool // visits are noted

	problems []string
	run      int               // the number of the present run
	still    map[string]string // by call: what befalls each further one in this run
	counts   map[string]int
	visits   []visit
	effects  int // on the service and the store
	left     map[string]bool
	faults   map[edge]string // that are still to come
	dead     bool
	kill     context.CancelFunc
	after    tree // that the crash leaves
}

// Errorf notes what went wrong.
func (w *world) Errorf(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// pass leads a call through the world.
func (w *world) pass(kind edgeKind, call string, do func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return errDead
	}
	e, how := w.come(call)
	switch how {
	case "no space":
		return errNoSpace
	case "refused":
		return errors.New("the store does not answer")
	}
	err := do()
	switch how {
	case "answer lost":
		err = errors.New("the store does not answer")
	case "":
	default:
		w.crash(how)
	}
	if kind == edgeOfStoreWrite && err == nil {
		w.effects++
	}
	w.see(e, kind)
	if w.dead {
		return errDead
	}
	return err
}

// come is the next edge of a name, and what happens there.
func (w *world) come(call string) (e edge, how string) {
	w.counts[call]++
	e = edge{w.run, call, w.counts[call]}
	if how = w.faults[e]; how == "" {
		return e, w.still[call]
	}
	delete(w.faults, e)
	fmt.Fprintf(&w.log, "  ! %s: %s\n", e, how)
	if first, lasts := strings.CutSuffix(how, stillSuffix); lasts {
		w.still[call] = strings.TrimPrefix(first, "done, ")
	}
	return e, how
}

// crash ends the process, if how is a way to do so.
func (w *world) crash(how string) {
	if _, ok := leftovers()[how]; ok {
		w.dead, w.after = true, w.disk.after(how)
		w.kill()
	}
}

// see notes an edge, with the crashes behind it that leave another world than those before.
func (w *world) see(e edge, kind edgeKind) {
	if !w.looking {
		return
	}
	v := visit{edge: e, kind: kind}
	for _, how := range slices.Sorted(maps.Keys(leftovers())) {
		if key := fmt.Sprint(w.run, w.effects, w.disk.after(how)); !w.left[key] {
			w.left[key] = true
			v.crashes = append(v.crashes, how)
		}
	}
	w.visits = append(w.visits, v)
}

// RoundTrip leads a request to the service.
func (w *world) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	kind := edgeOfWrite
	if req.Method == http.MethodGet {
		kind = edgeOfRead
	}
	w.mu.Lock()
	if w.dead {
		w.mu.Unlock()
		return nil, errDead
	}
	path := strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/api/v1/workspaces/"+sandbox.Workspace), "/api/v2/workspaces/"+sandbox.Workspace)
	e, how := w.come(req.Method + " " + random.ReplaceAllString(path, "*"))
	w.mu.Unlock()
	if deed, ok := deeds()[how]; ok { //nolint:contextcheck // people have nothing to do with the request
		deed(w)
		how = ""
	}

	incoming := req.Clone(context.WithValue(req.Context(), faultKey{}, how))
	if incoming.RequestURI = req.URL.RequestURI(); incoming.Body == nil {
		incoming.Body = http.NoBody
	}
	resp, err = answer(w.server, incoming)

	w.mu.Lock()
	defer w.mu.Unlock()
	if kind == edgeOfWrite {
		w.effects++
	}
	w.see(e, kind)
	w.crash(strings.TrimSuffix(how, lateSuffix))
	if w.dead {
		return nil, errDead
	}
	return resp, err
}

// lateSuffix is for a crash while a request is on its way, which arrives when the next run has begun.
const lateSuffix = ", and the request is late"

// stillSuffix is for what befalls a request and each further one of its name, until the run ends.
const stillSuffix = ", and so each time"

type faultKey struct{}

// answer lets the service answer a request without a connection.
func answer(to http.Handler, req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = req.Context().Err(); err == nil {
				err = errors.New("connection reset by peer")
			}
		}
	}()
	recorder := httptest.NewRecorder()
	to.ServeHTTP(recorder, req)
	return recorder.Result(), nil
}

// deeds are what people do before a request of planform's, beside what the manifests want. They act on what is there for certain.
func deeds() map[string]func(w *world) {
	on := func(method, path, body string) func(w *world) {
		return func(w *world) {
			for id, name := range w.server.Called() {
				path = strings.ReplaceAll(path, "{"+name+"}", id)
				body = strings.ReplaceAll(body, "{"+name+"}", id)
			}
			w.people(method, path, body)
		}
	}
	const items = "/projects/{project SHOP}/work-items/"
	return map[string]func(w *world){
		"people write an item":          on("POST", items, `{"name": "Of people, later"}`),
		"people comment on an item":     on("POST", items+"{work_item Root}/comments/", `{"comment_html": "<p>When?</p>"}`),
		"people date an item":           on("PATCH", items+"{work_item Root}/", `{"start_date": "2026-01-05"}`),
		"people plan an item of theirs": on("POST", "/projects/{project SHOP}/cycles/{cycle Weeks}/cycle-issues/", `{"issues": ["{work_item Of people 0}"]}`),
	}
}

// faultsOf are the faults of a kind of edge, besides crashes.
func faultsOf(kind edgeKind) []string {
	switch kind {
	case edgeOfDisk:
		return []string{"no space"}
	case edgeOfStoreRead:
		return []string{"refused"}
	case edgeOfStoreWrite:
		return []string{"refused", "answer lost"}
	case edgeOfRead:
		return []string{"cut", "429", "503", "500", "half an answer"}
	case edgeOfWrite:
	}
	return slices.Sorted(maps.Keys(requestFaults()))
}

// requestFaults is what can become of a request.
func requestFaults() map[string]sandboxtest.Fault {
	retry := http.Header{"Retry-After": {"1"}}
	breaks := map[string]sandboxtest.Break{
		"cut":            {Cut: true},
		"429":            {Status: 429, Header: retry},
		"503":            {Status: 503, Header: retry},
		"500":            {Status: 500, Body: `{"error":"Something went wrong"}`},
		"half an answer": {Body: `{"half":`},
	}
	all := map[string]sandboxtest.Fault{
		"late":                       {Late: 20 * time.Second},
		"late, and nothing answered": {Late: 50 * time.Second, Before: sandboxtest.Break{Stall: true}},
		"killed" + lateSuffix:        {Late: 20 * time.Second},
	}
	for name, b := range breaks {
		all[name] = sandboxtest.Fault{Before: b}
		all["done, "+name] = sandboxtest.Fault{After: b}
	}
	for _, name := range []string{"cut", "done, cut", "done, 429", "done, 503"} {
		all[name+stillSuffix] = all[name]
	}
	return all
}

// misfortune is what the world has in store for a request, for the sandbox.
func misfortune(req *http.Request) sandboxtest.Fault {
	how, _ := req.Context().Value(faultKey{}).(string)
	return requestFaults()[how]
}

// planform runs a command line and returns its exit code; -1 = it crashed.
func (w *world) planform(args ...string) int {
	w.Helper()
	if err := w.disk.load(); err != nil {
		w.Fatal(err)
	}
	time.Sleep(time.Second) //nolint:forbidigo // in a bubble it takes no time: nobody types faster
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	w.mu.Lock()
	w.run++
	w.dead, w.kill, w.counts, w.still = false, cancel, map[string]int{}, map[string]string{}
	fmt.Fprintf(&w.log, "%d: planform %s\n", w.run, strings.Join(args, " "))
	w.mu.Unlock()

	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "@", w.disk.root+string(filepath.Separator))
	}
	var out bytes.Buffer
	env := map[string]string{"PLANE_BASE_URL": "http://127.0.0.1", "PLANE_API_KEY": sandbox.Key, "NO_COLOR": "1"}
	process := cli.Process{
		Args: append([]string{"planform"}, args...), Streams: view.Streams{In: strings.NewReader(""), Out: &out, Err: &out},
		Getenv: func(name string) string { return env[name] }, Transport: w, Disk: w.disk,
		Store: func(string) (state.Objects, error) { return w.store, nil },
	}
	code := cli.Run(ctx, process)
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(out.String(), "planform has a bug") || strings.Contains(out.String(), sandbox.Key) {
		w.Errorf("run %d: %s", w.run, out.String())
	}
	if w.dead {
		code = -1
		if err := w.disk.become(w.after); err != nil {
			w.Fatal(err)
		}
	}
	w.log.WriteString(strings.ReplaceAll(out.String(), w.disk.root, ""))
	fmt.Fprintf(&w.log, "  = %d\n", code)
	return code
}

// people do something on the service, or with the files: nothing of that is an edge.
func (w *world) people(method, path, body string) {
	w.Helper()
	req := httptest.NewRequestWithContext(w.Context(), method, "/api/v1/workspaces/"+sandbox.Workspace+path, strings.NewReader(body))
	req.Header.Set("X-Api-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	w.server.ServeHTTP(recorder, req)
	if recorder.Code >= 300 {
		w.Fatalf("%s %s: %d %s", method, path, recorder.Code, recorder.Body)
	}
}

// write writes a file of the user's.
func (w *world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.disk.root, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// sizes are the edges by kind, for the report.
func sizes(visits []visit) string {
	n := map[edgeKind]int{}
	for _, v := range visits {
		n[v.kind]++
	}
	return fmt.Sprintf("%d edges (%d disk, %d reads, %d writes, %d store)", len(visits), n[edgeOfDisk], n[edgeOfRead], n[edgeOfWrite],
		n[edgeOfStoreRead]+n[edgeOfStoreWrite])
}
