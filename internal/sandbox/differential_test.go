package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	stdflag "flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sample"
)

// The sandbox is compared with a real server by playing the same random
// sequences of requests to both:
//
//	go test ./internal/sandbox -run AnswersAsTheReal -real http://127.0.0.1:8000
//
// The environment gives a workspace that holds nothing else, since its projects
// are deleted, and the API keys of four people:
//
//	PLANFORM_REAL_WORKSPACE  slug
//	PLANFORM_REAL_ADMIN      key of an admin of the workspace
//	PLANFORM_REAL_MEMBER     key of a member
//	PLANFORM_REAL_GUEST      key of a guest
//	PLANFORM_REAL_OUTSIDER   key of somebody who is not in the workspace
var (
	realURL       = stdflag.String("real", "", "base URL of a real server to compare the sandbox with")             //nolint:gochecknoglobals // a flag
	realSequences = stdflag.Int("real-sequences", 20, "sequences that are played to the real server")               //nolint:gochecknoglobals // a flag
	realSeed      = stdflag.Uint64("real-seed", 1, "seed of the first sequence; the next ones count on from there") //nolint:gochecknoglobals // a flag
)

// sequenceLength is the number of random requests of a sequence, without those
// that prepare it and those that read everything at its end.
const sequenceLength = 40

// operation is one request, in terms that every server understands: a name in
// braces, in the path or in a string of the body, stands for the ID that the
// server gave the record of that name.
type operation struct {
	as     person
	method string
	path   string // below the workspace, e.g. "projects/{project1}/labels/?fields=id"
	body   any    // nil is no body
	// makes is the name of the record that the answer shows. The records of a
	// list are called makes.NAME, e.g. "project1.Todo" for a state.
	makes string

	raw     string            // a body that is no JSON, or none that can be written otherwise
	headers map[string]string // more of them, or others; "" is none
}

func (op operation) String() string {
	s := fmt.Sprintf("%-8s %-6s %s", op.as, op.method, op.path)
	if op.body != nil {
		body, err := json.Marshal(op.body)
		if err != nil {
			body = []byte(err.Error())
		}
		s += " " + string(body)
	}
	if op.makes != "" {
		s += " -> " + op.makes
	}
	return s
}

// person is the owner of a request's credential.
type person string

const (
	admin    person = "admin"
	member   person = "member"
	guest    person = "guest"
	outsider person = "outsider"
	nobody   person = "nobody" // no credential
	impostor person = "impostor"
)

// contender is a server that sequences are played to.
type contender struct {
	version   string
	workspace string // base URL of the workspace, with a slash at its end
	keys      map[person]string
	do        func(*http.Request) (answered, error)
	settle    func(context.Context, operation) error // waits until what an operation has begun is done; may be nil

	ids   map[string]string // of the records by name
	names map[string]string // of the records by ID
}

// answered is an answer as it came.
type answered struct {
	status   int
	location string
	body     []byte
}

// sandboxContender is a new, empty community sandbox of a version.
func sandboxContender(t *testing.T, version string) *contender {
	t.Helper()
	s := openTest(t, Options{Edition: Community, Empty: true, Version: version})
	const stranger, strangerKey = "e9d4a97c-9abe-4276-b70b-dcc704abbd45", "plane_api_sandbox_stranger"
	err := s.store.update(func(t *tx) error {
		s.addUser(t, stranger, "Sam", "Stranger", "sam@example.com", strangerKey, 0)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &contender{
		version:   version,
		workspace: apiRoot + "workspaces/" + Workspace + "/",
		keys:      map[person]string{admin: Key, member: keyBob, guest: keyEve, outsider: strangerKey, impostor: "no-such-key"},
		do: func(req *http.Request) (answered, error) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			return answered{w.Code, w.Header().Get("Location"), w.Body.Bytes()}, nil
		},
	}
}

// realContender is the server that the flag and the environment name.
func realContender(t *testing.T) *contender {
	t.Helper()
	variable := func(name string) string {
		v := os.Getenv("PLANFORM_REAL_" + name)
		if v == "" {
			t.Fatalf("the environment has no PLANFORM_REAL_%s", name)
		}
		return v
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &contender{
		version:   realVersion(t, client),
		workspace: strings.TrimSuffix(*realURL, "/") + apiRoot + "workspaces/" + variable("WORKSPACE") + "/",
		keys: map[person]string{
			admin: variable("ADMIN"), member: variable("MEMBER"), guest: variable("GUEST"), outsider: variable("OUTSIDER"), impostor: "no-such-key",
		},
		do: func(req *http.Request) (answered, error) {
			resp, err := client.Do(req)
			if err != nil {
				return answered{}, err
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			return answered{resp.StatusCode, resp.Header.Get("Location"), body}, err
		},
	}
}

// realVersion returns what the real server says its version is.
func realVersion(t *testing.T, client *http.Client) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(*realURL, "/")+"/api/instances/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var about struct {
		Instance struct {
			Version string `json:"current_version"`
		} `json:"instance"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&about); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(about.Instance.Version, "v")
}

// recordedVersion returns the newest recorded version that is not newer than a version.
func recordedVersion(version string) string {
	known := slices.DeleteFunc(Versions()[1:], func(v string) bool { return v > version })
	return append(Versions()[:1:1], known...)[len(known)]
}

// reset forgets the records of the last sequence and gives the people and the
// workspace their names.
func (cn *contender) reset(ctx context.Context) error {
	cn.ids, cn.names = map[string]string{}, map[string]string{}
	for _, who := range []person{admin, member, guest, outsider} {
		me, err := cn.play(ctx, operation{as: who, method: http.MethodGet, path: "../../users/me/"})
		if err != nil {
			return err
		}
		profile, _ := me.body.(map[string]any)
		if me.status != http.StatusOK {
			return fmt.Errorf("the credential of the %s: %d %v", who, me.status, me.body)
		}
		cn.call(string(who), profile)
	}
	return nil
}

// clear deletes every project and every invitation.
func (cn *contender) clear(ctx context.Context) error {
	invited, err := cn.play(ctx, operation{as: admin, method: http.MethodGet, path: "invitations/"})
	if err != nil {
		return err
	}
	for _, invitation := range invited.results() {
		if _, err := cn.play(ctx, operation{as: admin, method: http.MethodDelete, path: "invitations/" + text(invitation, "id") + "/"}); err != nil {
			return err
		}
	}
	for _, who := range []person{admin, member} {
		found, err := cn.play(ctx, operation{as: who, method: http.MethodGet, path: "projects/"})
		if err != nil {
			return err
		}
		for _, project := range found.results() {
			if _, err := cn.play(ctx, operation{as: who, method: http.MethodDelete, path: "projects/" + text(project, "id") + "/"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// call remembers the ID of a record under a name. The first name stays.
func (cn *contender) call(name string, record map[string]any) {
	id := cmp.Or(text(record, "id"), text(record, "asset_id"))
	if !isUUID(id) || cn.ids[name] != "" || cn.names[id] != "" {
		return
	}
	cn.ids[name], cn.names[id] = id, name
}

// outcome is the answer of a server.
type outcome struct {
	status   int
	body     any
	location string // to which the answer leads
}

// results is the records of a list, in a page or bare.
func (o outcome) results() []map[string]any {
	list, _ := o.body.([]any)
	if page, ok := o.body.(map[string]any); ok {
		list, _ = page["results"].([]any)
	}
	var out []map[string]any
	for _, v := range list {
		if record, ok := v.(map[string]any); ok {
			out = append(out, record)
		}
	}
	return out
}

// play sends one request, with this server's IDs in the place of names.
func (cn *contender) play(ctx context.Context, op operation) (outcome, error) {
	var body io.Reader = http.NoBody
	switch {
	case op.raw != "":
		body = strings.NewReader(cn.withIDs(op.raw))
	case op.body != nil:
		b, err := json.Marshal(op.body)
		if err != nil {
			return outcome{}, err
		}
		body = strings.NewReader(cn.withIDs(string(b)))
	}
	url := cn.workspace + cn.withIDs(op.path)
	if rest, ok := strings.CutPrefix(op.path, "../../"); ok {
		url = cn.workspace[:strings.LastIndex(cn.workspace, "workspaces/")] + rest
	}
	req, err := http.NewRequestWithContext(ctx, op.method, url, body)
	if err != nil {
		return outcome{}, err
	}
	req.RequestURI = ""
	if body != http.NoBody {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range op.headers {
		if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
	}
	if key := cn.keys[op.as]; key != "" {
		req.Header.Set("X-Api-Key", key)
	}
	got, err := cn.do(req)
	if err != nil {
		return outcome{}, fmt.Errorf("%s: %w", op, err)
	}
	out := outcome{status: got.status, location: got.location}
	dec := json.NewDecoder(bytes.NewReader(got.body))
	dec.UseNumber()
	if err := dec.Decode(&out.body); err != nil {
		out.body = string(got.body)
	}
	if op.makes != "" && got.status < http.StatusMultipleChoices {
		record, _ := out.body.(map[string]any)
		cn.call(op.makes, record)
		for _, record := range out.results() {
			cn.call(op.makes+"."+text(record, "name"), record)
		}
	}
	return out, nil
}

// withIDs puts IDs in the place of names. A name that no record has, because it
// was not made, becomes an ID that no record has.
func (cn *contender) withIDs(s string) string {
	return reference.ReplaceAllStringFunc(s, func(name string) string {
		if id := cn.ids[strings.Trim(name, "{}")]; id != "" {
			return id
		}
		return unknownID
	})
}

// mismatch is a difference between two servers.
type mismatch struct {
	step int // the operation's place in the sequence
	op   operation
	at   string // place in the answer, e.g. "body.results[0].name"
	got  string // of the sandbox
	want string // of the other server
}

// signature is the same for mismatches that have one cause, as far as one can
// tell from outside.
func (ms *mismatch) signature() string {
	place, _, _ := strings.Cut(ms.op.path, "?")
	return digits.ReplaceAllString(ms.op.method+" "+place+" "+ms.at, "")
}

func (ms *mismatch) String() string {
	return fmt.Sprintf("%s\n\t%s: sandbox %s, other %s", ms.op, ms.at, ms.got, ms.want)
}

// duel plays sequences to a sandbox and another server.
type duel struct {
	sandbox func() *contender
	other   *contender
	// lenient says why a mismatch is left that follows the operations before
	// it, or "".
	lenient func(m *mismatch, before []operation) string
	left    map[string]int // reasons with the number of their mismatches
}

// play plays a sequence to both and returns the first mismatch, nil if there is
// none.
func (d *duel) play(ctx context.Context, sequence []operation) (*mismatch, error) {
	return d.playAll(ctx, slices.Concat(sequence, readBack(sequence)))
}

func (d *duel) playAll(ctx context.Context, operations []operation) (*mismatch, error) {
	sandbox, other := d.sandbox(), d.other
	for _, c := range []*contender{sandbox, other} {
		if err := c.reset(ctx); err != nil {
			return nil, err
		}
	}
	for i, op := range operations {
		got, err := sandbox.play(ctx, op)
		if err != nil {
			return nil, err
		}
		want, err := other.play(ctx, op)
		if err != nil {
			return nil, err
		}
		for _, m := range compareOutcomes(sandbox.normal(got), other.normal(want)) {
			m.step, m.op = i, op
			reason := d.lenient(m, operations[:i])
			if reason == "" {
				return m, other.clear(ctx)
			}
			d.left[reason]++
		}
	}
	return nil, other.clear(ctx)
}

// shrink leaves out of a sequence what the mismatch does not need: first runs
// of operations, then fields of bodies. It plays at most budget sequences.
func (d *duel) shrink(ctx context.Context, sequence []operation, found *mismatch, budget int) ([]operation, *mismatch, error) {
	play := d.play
	if found.step < len(sequence) {
		sequence = sequence[:found.step+1]
		play = d.playAll // what comes after the mismatch is of no interest
	}
	try := func(candidate []operation) error {
		if budget == 0 {
			return nil
		}
		budget--
		m, err := play(ctx, candidate)
		if m != nil && m.signature() == found.signature() {
			sequence, found = candidate, m
		}
		return err
	}
	for size := max(1, len(sequence)/2); size > 0; size /= 2 {
		for at := len(sequence) - size; at >= 0; at -= size {
			if err := try(slices.Delete(slices.Clone(sequence), at, min(at+size, len(sequence)))); err != nil {
				return nil, nil, err
			}
			at = min(at, len(sequence))
		}
	}
	for i := len(sequence) - 1; i >= 0; i-- {
		if sequence[i].as != admin {
			candidate := slices.Clone(sequence)
			candidate[i].as = admin
			if err := try(candidate); err != nil {
				return nil, nil, err
			}
		}
		body, _ := sequence[i].body.(fields)
		for _, name := range slices.Sorted(maps.Keys(body)) {
			candidate := slices.Clone(sequence)
			fewer := maps.Clone(candidate[i].body.(fields))
			delete(fewer, name)
			candidate[i].body = fewer
			if err := try(candidate); err != nil {
				return nil, nil, err
			}
		}
	}
	// With fewer people and fields, more of the operations may be superfluous.
	for i := len(sequence) - 1; i >= 0; i-- {
		if err := try(slices.Delete(slices.Clone(sequence), i, i+1)); err != nil {
			return nil, nil, err
		}
		i = min(i, len(sequence))
	}
	return sequence, found, nil
}

// run plays n generated sequences and reports each sort of mismatch once, with
// the shortest sequence that shows it.
func (d *duel) run(t *testing.T, seed uint64, n, budget int) {
	t.Helper()
	seen := map[string]bool{}
	for i := range n {
		sequence := generate(rand.New(rand.NewPCG(seed+uint64(i), 0)), sequenceLength)
		m, err := d.play(t.Context(), sequence)
		if err != nil {
			t.Fatal(err)
		}
		if m == nil || seen[m.signature()] {
			continue
		}
		seen[m.signature()] = true
		short, m, err := d.shrink(t.Context(), sequence, m, budget)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, op := range short {
			fmt.Fprintf(&b, "\t%s\n", op)
		}
		t.Errorf("seed %d: after\n%sthis is answered differently: %s", seed+uint64(i), &b, m)
	}
	for _, reason := range slices.Sorted(maps.Keys(d.left)) {
		t.Logf("left %d times: %s", d.left[reason], reason)
	}
}

func TestTheSandboxAnswersAsTheRealServerDoes(t *testing.T) {
	t.Parallel()
	if *realURL == "" {
		// Without a real server the same sequences are played to two
		// sandboxes: what differs there depends on chance or on a map.
		for _, version := range Versions() {
			d := &duel{sandbox: func() *contender { return sandboxContender(t, version) }, lenient: nothingIsLeft, left: map[string]int{}}
			d.other = sandboxContender(t, version)
			d.run(t, 1, 5, 100)
		}
		return
	}
	other := realContender(t)
	d := &duel{sandbox: func() *contender { return sandboxContender(t, recordedVersion(other.version)) }, other: other, lenient: whyLeft, left: map[string]int{}}
	t.Logf("the real server has version %s, and is compared with %s", other.version, recordedVersion(other.version))
	refuseForeignProjects(t, d.other)
	d.run(t, *realSeed, *realSequences, 60)
}

func TestTheRandomSequencesAskForNothingThatTheSandboxDoesNotServe(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		c := sandboxContender(t, Versions()[0])
		if err := c.reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		sequence := generate(rand.New(rand.NewPCG(seed, 0)), sequenceLength)
		for _, op := range slices.Concat(sequence, readBack(sequence)) {
			if got, err := c.play(t.Context(), op); err != nil || got.status == http.StatusNotImplemented {
				t.Fatalf("seed %d: %s: %d %v %v", seed, op, got.status, got.body, err)
			}
		}
	}
}

func nothingIsLeft(*mismatch, []operation) string { return "" }

// refuseForeignProjects ends the test if the workspace holds a project that no
// sequence made: they would be deleted.
func refuseForeignProjects(t *testing.T, c *contender) {
	t.Helper()
	if err := c.reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := c.play(t.Context(), operation{as: admin, method: http.MethodGet, path: "projects/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, project := range found.results() {
		if !strings.HasPrefix(text(project, "name"), "Differential ") {
			t.Fatalf("the workspace holds the project %q, which no test made; give the test a workspace of its own", text(project, "name"))
		}
	}
	if err := c.clear(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAPlantedDifferenceIsFoundAndShrunk(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]struct {
		falsify func(req *http.Request, status int, body []byte) (int, []byte)
		longest int
	}{
		"a status": {func(req *http.Request, status int, body []byte) (int, []byte) {
			if req.Method == http.MethodDelete && strings.Contains(req.URL.Path, "/labels/") && status == http.StatusNoContent {
				return http.StatusOK, body
			}
			return status, body
		}, 3},
		"a field that is read later": {func(req *http.Request, status int, body []byte) (int, []byte) {
			if req.Method == http.MethodGet {
				return status, bytes.ReplaceAll(body, []byte(`"status":"paused"`), []byte(`"status":"backlog"`))
			}
			return status, body
		}, 3},
		"a record that is missing in a list": {func(req *http.Request, status int, body []byte) (int, []byte) {
			if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/links/") {
				return status, bytes.ReplaceAll(body, []byte(`"total_count":1`), []byte(`"total_count":0`))
			}
			return status, body
		}, 3},
	} {
		if name != "a status" && !sample.Each() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			liar := sandboxContender(t, Versions()[0])
			honest := liar.do
			liar.do = func(req *http.Request) (answered, error) {
				got, err := honest(req)
				got.status, got.body = plant.falsify(req, got.status, got.body)
				return got, err
			}
			d := &duel{sandbox: func() *contender { return sandboxContender(t, Versions()[0]) }, other: liar, lenient: nothingIsLeft}
			for seed := range uint64(50) {
				sequence := generate(rand.New(rand.NewPCG(seed, 0)), sequenceLength)
				m, err := d.play(t.Context(), sequence)
				if err != nil {
					t.Fatal(err)
				}
				if m == nil {
					continue
				}
				short, m, err := d.shrink(t.Context(), sequence, m, 200)
				if err != nil {
					t.Fatal(err)
				}
				if len(short) > plant.longest {
					t.Errorf("seed %d: %d operations are left, want %d: %v\n%s", seed, len(short), plant.longest, short, m)
				}
				return
			}
			t.Error("no sequence found it")
		})
	}
}
