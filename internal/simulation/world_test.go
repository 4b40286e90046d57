package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// edge is a call out of the program: whose run made it, and which, what it is, and which of the calls of that name it is. IDs and other
// random parts are left out of its name, so that it is the same in each run of a scenario.
type edge struct {
	user string
	run  int
	call string
	nth  int
}

func (e edge) String() string {
	return e.user + strconv.Itoa(e.run) + ": " + e.call + " #" + strconv.Itoa(e.nth)
}

// random are the parts of names that differ from run to run.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\.planform-[A-Z2-7]{8}|\d{8}-\d{6}-\d+-[0-9a-f]{4}`)

// withoutIDs leaves them out.
func withoutIDs(name string) string {
	if !strings.ContainsAny(name, "-") {
		return name // as most are
	}
	return random.ReplaceAllString(name, "*")
}

// edgeKind is the target of an edge, which decides which faults the edge may suffer.
type edgeKind int

const (
	edgeOfDisk edgeKind = iota
	edgeOfRead
	edgeOfWrite
	edgeOfStoreRead
	edgeOfStoreWrite
)

// fault is a failure at an edge.
type fault struct {
	at  edge
	how string // a name in faultsOf
}

func (fl fault) String() string { return fl.at.String() + ": " + fl.how }

// deceives reports whether the service says that it did nothing although it did.
func (fl fault) deceives() bool {
	how := strings.TrimSuffix(fl.how, stillSuffix)
	return how == "done, 429" || how == "done, 503"
}

// visit is an edge that a run came to.
type visit struct {
	edge
	kind    edgeKind
	crashes []string // the crashes after it that leave another world than the edge before
}

// errDead is the error of all calls of a dead process. It is final, so that no call is repeated.
var errDead = deadError{}

type deadError struct{}

func (deadError) Error() string { return "the process is no more" }
func (deadError) Final() bool   { return true }

// world is the environment of the runs of a scenario.
type world struct {
	*testing.T

	scene  *scene
	undoes string
	server *sandboxtest.Server
	store  *simStore
	us     *user // whose scene it is
	beside *user // who runs planform at the same time; nil = nobody
	others *user // who keep other.yaml

	mu       sync.Mutex
	log      bytes.Buffer
	looking  bool // visits are noted
	unaware  bool // people do not notice existing objects
	cases    bool // a plan that is made is a case of the oracle, if these are asked for
	problems []string
	visits   []visit
	effects  int // on the service and the store
	left     map[string]bool
	faults   map[edge]string // that are still to come
}

// Errorf notes what went wrong.
func (w *world) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// lateSuffix is for a crash while a request is on its way, which arrives when the next run has begun.
const lateSuffix = ", and the request is late"

// stillSuffix marks a fault that a request and all further requests of its name suffer, until the run ends.
const stillSuffix = ", and so each time"

// outOfReach is for a store that no call of a process gets to, while the service is there.
const outOfReach = "out of reach for two minutes"

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

// deeds returns actions of people before a request of planform. They act on objects that certainly exist, and change only
// objects and values that no manifest gives.
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
		return []string{"refused", outOfReach}
	case edgeOfStoreWrite:
		return []string{"refused", "answer lost", outOfReach}
	case edgeOfRead:
		return []string{"cut", "429", "503", "500", "half an answer"}
	case edgeOfWrite:
	}
	return slices.Sorted(maps.Keys(requestFaults()))
}

// requestFaults returns the faults of a request.
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
		"busy for a minute":          {Before: sandboxtest.Break{Status: 503, Header: http.Header{"Retry-After": {"60"}}}},
		"nothing answered":           {Before: sandboxtest.Break{Stall: true}},
		"done, nothing answered":     {After: sandboxtest.Break{Stall: true}},
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

// misfortune returns the fault that the world has chosen for a request.
func misfortune(req *http.Request) sandboxtest.Fault {
	how, _ := req.Context().Value(faultKey{}).(string)
	if how == "" {
		return sandboxtest.Fault{}
	}
	return requestFaults()[how]
}

// people do something on the service, or with the files: nothing of that is an edge.
func (w *world) people(method, path, body string) {
	w.Helper()
	req := httptest.NewRequestWithContext(w.Context(), method, "/api/v1/workspaces/"+sandbox.Workspace+path, strings.NewReader(body))
	req.Header.Set("X-Api-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	if w.unaware {
		req = sandbox.Unaware(req)
	}
	recorder := httptest.NewRecorder()
	w.server.ServeHTTP(recorder, req)
	if recorder.Code >= 300 {
		w.Fatalf("%s %s: %d %s", method, path, recorder.Code, recorder.Body)
	}
}

// write writes a file of the user's.
func (w *world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.us.disk.root, name), []byte(text), 0o600); err != nil {
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
