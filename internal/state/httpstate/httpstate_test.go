package httpstate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/httpstate"
	"github.com/planform/planform/internal/text/diag"
)

const (
	user     = "ci"
	password = "very-secret"
)

// server serves the protocol as GitLab does: a state is a version that nobody has written yet, and a lock has an ID.
type server struct {
	mu     sync.Mutex
	text   []byte
	serial uint64
	held   string // the ID of the lock
	info   []byte
	writes int
	cut    int // so many writes from now, the answer is lost
}

func (sr *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sr.mu.Lock()
	defer sr.mu.Unlock()
	if name, secret, _ := r.BasicAuth(); name != user || secret != password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var sent struct {
		ID     string
		Serial uint64 `json:"serial"`
	}
	_ = json.Unmarshal(body, &sent)
	switch locking := strings.HasSuffix(r.URL.Path, "/lock"); {
	case r.Method == "LOCK", locking && r.Method == http.MethodPost:
		if sr.held != "" {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(sr.info)
			return
		}
		sr.held, sr.info = sent.ID, body
	case r.Method == "UNLOCK", locking && r.Method == http.MethodDelete:
		if sr.held != sent.ID {
			w.WriteHeader(http.StatusConflict)
			return
		}
		sr.held = ""
	case r.Method == http.MethodGet:
		if sr.text == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(sr.text)
	case r.Method == http.MethodPost:
		if sr.held != "" && r.URL.Query().Get("ID") != sr.held {
			w.WriteHeader(http.StatusConflict)
			return
		}
		if sent.Serial <= sr.serial {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		sr.text, sr.serial = body, sent.Serial
		sr.writes++
		if sr.cut--; sr.cut == 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func start(t *testing.T, path string, other ...string) (*server, *httpstate.Document) {
	t.Helper()
	s := &server{}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return s, open(t, at.URL+path, other...)
}

func open(t *testing.T, address string, other ...string) *httpstate.Document {
	t.Helper()
	env := map[string]string{"TF_HTTP_USERNAME": user, "TF_HTTP_PASSWORD": password}
	for i := 0; i < len(other); i += 2 {
		env[other[i]] = other[i+1]
	}
	d, err := httpstate.Open(address, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestADocumentHasConditionalWrites(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"as GitLab serves it": "/api/v4/projects/1/terraform/state/web", "as Terraform asks for it": "/states/web"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, d := start(t, path)
			ctx := t.Context()
			if _, _, err := d.Get(ctx, ""); !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			first, err := d.Put(ctx, "", []byte("one\n"), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Put(ctx, "", []byte("two"), ""); !errors.Is(err, state.ErrChanged) {
				t.Errorf("it is there already: %v", err)
			}
			text, version, err := d.Get(ctx, "")
			if string(text) != "one\n" || version != first || err != nil {
				t.Error(string(text), version, err)
			}
			if _, err := d.Put(ctx, "", []byte("two"), first); err != nil {
				t.Error(err)
			}
			if _, err := d.Put(ctx, "", []byte("three"), first); !errors.Is(err, state.ErrChanged) {
				t.Errorf("it is another one by now: %v", err)
			}
			if _, err := d.Put(ctx, ".gone", []byte("one"), first); !errors.Is(err, state.ErrChanged) {
				t.Errorf("there is nothing to replace: %v", err)
			}
			for _, name := range []string{".journal/a/1", ".journal/a/2", ".lock"} {
				if _, err := d.Put(ctx, name, []byte("x"), ""); err != nil {
					t.Error(name, err)
				}
			}
			names, err := d.List(ctx, ".journal/")
			slices.Sort(names)
			if diff := cmp.Diff([]string{".journal/a/1", ".journal/a/2"}, names); diff != "" || err != nil {
				t.Error(diff, err)
			}
			for range 2 {
				if err := d.Remove(ctx, ".journal/a/1"); err != nil {
					t.Error(err)
				}
			}
			if s.held != "" {
				t.Error("the server's lock is held")
			}
		})
	}
}

func TestALostAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	for nth := 1; nth < 12; nth++ {
		s, d := start(t, "/states/web")
		s.cut = nth
		opts := state.Options{BaseURL: "https://api.plane.so", Workspace: "acme", Connect: func(context.Context, string) (state.Objects, error) { return d, nil }}
		f, err := state.Open(t.Context(), "https://example.com/states/web", opts)
		if err != nil {
			t.Fatal(nth, err)
		}
		if err := errors.Join(f.StartPlan(fmt.Sprint("sha256:", nth)), f.Close()); err != nil {
			t.Fatal(nth, err)
		}
		g, err := state.Open(t.Context(), "https://example.com/states/web", opts)
		if err != nil || g.Plan() == nil {
			t.Fatal(nth, err)
		}
		if err := g.Close(); err != nil {
			t.Error(nth, err)
		}
	}
}

func TestALockOfARunOfPlanformThatDiedIsTakenAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var id string
		dies := open(t, "http://127.0.0.1/states/web")
		httpstate.ServedBy(dies, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // it keeps the lock
			if r.Method == "LOCK" {
				var sent struct{ ID string }
				_ = json.NewDecoder(r.Body).Decode(&sent)
				id = sent.ID
			}
			w.WriteHeader(http.StatusInsufficientStorage)
		}))
		_, _ = dies.Put(t.Context(), "", []byte("one"), "")
		s := &server{held: id, info: []byte(`{"ID":"` + id + `"}`)} // some servers keep nothing but the ID
		d := open(t, "http://127.0.0.1/states/web")
		httpstate.ServedBy(d, s)
		if _, err := d.Put(t.Context(), "", []byte("one"), ""); err != nil {
			t.Error(err)
		}
		if s.held != "" {
			t.Error(s.held)
		}
	})
}

func TestADeadLockThatAnotherRunTookAwayFirstIsNoError(t *testing.T) {
	t.Parallel()
	const dead, other = "706c616e-5a9b-4a3c-8f63-0d0f2f0a9b11", "706c616e-5a9b-4a3c-8f63-0d0f2f0a9b12"
	for _, status := range []int{http.StatusConflict, http.StatusLocked} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{held: dead, info: []byte(`{"ID":"` + dead + `"}`)}
			d := open(t, "http://127.0.0.1/states/web")
			tries := 0
			httpstate.ServedBy(d, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == "UNLOCK" && s.held == dead: // the other run was faster
					s.held, s.info = other, []byte(`{"ID":"`+other+`"}`)
					w.WriteHeader(status)
					_, _ = w.Write(s.info)
					return
				case r.Method == "LOCK" && s.held == other:
					if tries++; tries == 3 {
						s.held = ""
					}
				}
				s.ServeHTTP(w, r)
			}))
			if _, err := d.Put(t.Context(), "", []byte("one"), ""); err != nil || tries != 3 || s.held != "" {
				t.Error(status, err, tries, s.held)
			}
		})
	}
}

func TestALockWhoseAnswerWasLostIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		d := open(t, "http://127.0.0.1/states/web")
		lost := false
		httpstate.ServedBy(d, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "LOCK" && !lost {
				lost = true
				s.ServeHTTP(httptest.NewRecorder(), r)
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			s.ServeHTTP(w, r)
		}))
		began := time.Now()
		if _, err := state.WithRetries(d).Put(t.Context(), "", []byte("one"), ""); err != nil || s.held != "" {
			t.Error(err, s.held)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Error(took)
		}
	})
}

func TestUnlockNamesTheHolderAlthoughAnAnswerIsLost(t *testing.T) {
	t.Parallel()
	const somebody = "7c0c1d9e-5a9b-4a3c-8f63-0d0f2f0a9b11"
	for _, held := range []string{"", somebody} {
		for _, method := range []string{"LOCK", "UNLOCK"} {
			synctest.Test(t, func(t *testing.T) {
				s := &server{held: held, info: []byte(`{"ID":"` + somebody + `","Who":"ci@runner-7"}`)}
				d := open(t, "http://127.0.0.1/states/web")
				lost := false
				httpstate.ServedBy(d, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == method && !lost {
						lost = true
						s.ServeHTTP(httptest.NewRecorder(), r)
						w.WriteHeader(http.StatusBadGateway)
						return
					}
					s.ServeHTTP(w, r)
				}))
				opts := state.Options{BaseURL: "https://api.plane.so", Workspace: "acme", Connect: func(context.Context, string) (state.Objects, error) { return d, nil }}
				h, ok, err := state.Unlock(t.Context(), "https://example.com/states/web", opts)
				if err != nil || ok != (held != "") || ok && h.User != "ci@runner-7" || s.held != "" {
					t.Errorf("%s lost, held by %q: %v %v %v, then %q", method, held, h, ok, err, s.held)
				}
			})
		}
	}
}

func TestALockOfSomebodyElseIsLeftAndItsHolderIsNamed(t *testing.T) {
	t.Parallel()
	const id = "7c0c1d9e-5a9b-4a3c-8f63-0d0f2f0a9b11"
	for name, tt := range map[string]struct{ info, want string }{
		"with all that Terraform says": {
			`{"ID":"` + id + `","Operation":"OperationTypeApply","Info":"","Who":"ci@runner-7","Version":"1","Created":"2026-01-02T03:04:05.123456789Z","Path":""}`,
			`ci@runner-7 ("OperationTypeApply") since 2026-01-02 03:04:05 UTC`,
		},
		"with a time of another form":     {`{"ID":"` + id + `","Who":"ci@runner-7","Created":"yesterday"}`, "is locked by ci@runner-7"},
		"with an ID only":                 {`{"ID":"` + id + `"}`, "an unknown holder"},
		"without a body":                  {"", "an unknown holder"},
		"with a page":                     {"<html>locked</html>", "an unknown holder"},
		"with signs that move the cursor": {`{"ID":"` + id + `","Who":"\u001b[2Jci\n\u202ex"}`, "is locked by [2Jci x"},
		"with the password":               {`{"ID":"` + id + `","Who":"` + password + `"}`, "is locked by [redacted]"},
		"with a name without end":         {`{"ID":"` + id + `","Who":"` + strings.Repeat("x", 10_000) + `"}`, "…"},
	} {
		for _, path := range []string{"/api/v4/projects/1/terraform/state/web", "/states/web"} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &server{held: id, info: []byte(tt.info)}
					d := open(t, "http://127.0.0.1"+path)
					httpstate.ServedBy(d, s)
					began := time.Now()
					_, err := d.Put(t.Context(), "", []byte("one"), "")
					if !errors.Is(err, state.ErrLocked) || !strings.HasSuffix(err.Error(), tt.want) || !wire.IsFinal(err) || len(err.Error()) > 400 {
						t.Error(err)
					}
					if took := time.Since(began); took > 5*time.Second || s.held != id {
						t.Error(took, s.held)
					}
					holder, ok, err := d.Unlock(t.Context())
					if strings.Contains(tt.info, id) && (!ok || err != nil || s.held != "") {
						t.Error(holder, ok, err, s.held)
					}
				})
			})
		}
	}
}

func TestAStateWhoseServerIsLockedByAnotherProgramIsWaitedForAsLongAsAsked(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, time.Second, 10 * time.Second, time.Minute} {
		for _, freed := range []bool{false, true} {
			t.Run(fmt.Sprint(timeout, freed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &server{held: "somebody", info: []byte(`{"ID":"somebody","Who":"ci@runner-7"}`)}
					d := open(t, "https://example.com/states/web")
					httpstate.ServedBy(d, s)
					if freed {
						time.AfterFunc(timeout/2, func() { s.mu.Lock(); s.held = ""; s.mu.Unlock() })
					}
					began, told := time.Now(), 0
					f, err := state.Open(t.Context(), "https://example.com/states/web", state.Options{
						BaseURL: "https://api.plane.so", Workspace: "acme", LockTimeout: timeout, Waiting: func(state.Holder) { told++ },
						Connect: func(context.Context, string) (state.Objects, error) { return d, nil },
					})
					if freed {
						if err != nil {
							t.Fatal(err)
						}
						if err := f.Close(); err != nil {
							t.Error(err)
						}
						return
					}
					if locked, ok := errors.AsType[*state.LockedError](err); !ok || locked.Holder.User != "ci@runner-7" || locked.Waited != timeout ||
						!strings.Contains(diag.HintOf(err), "planform state unlock") || told > 1 {
						t.Errorf("%v, told %d times", err, told)
					}
					if took := time.Since(began); took < timeout || took > timeout+5*time.Second {
						t.Errorf("it took %s", took)
					}
				})
			})
		}
	}
}

func TestAServerThatDoesNotTakeALockBackSaysSoAtTheNextWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		d := open(t, "https://example.com/states/web")
		httpstate.ServedBy(d, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "UNLOCK" {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			s.ServeHTTP(w, r)
		}))
		began := time.Now()
		if _, err := d.Put(t.Context(), "", []byte("one"), ""); err != nil {
			t.Fatal(err)
		}
		_, err := d.Put(t.Context(), ".lock", []byte("two"), "")
		if err == nil || !wire.IsFinal(err) || !strings.Contains(diag.HintOf(err), "TF_HTTP_UNLOCK_METHOD and TF_HTTP_UNLOCK_ADDRESS") || time.Since(began) > time.Second {
			t.Error(time.Since(began), err, diag.HintOf(err))
		}
	})
}

func TestUnlockOfAStateThatNobodyLockedLeavesItFree(t *testing.T) {
	t.Parallel()
	s, d := start(t, "/states/web")
	if holder, ok, err := d.Unlock(t.Context()); ok || err != nil || s.held != "" {
		t.Error(holder, ok, err, s.held)
	}
}

func TestAnAnswerThatIsNoStateIsExplained(t *testing.T) {
	t.Parallel()
	answers := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	// locking answers a lock, and there is no state yet.
	locking := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				status = http.StatusNotFound
			}
			answers(status, body)(w, r)
		}
	}
	posting := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodGet:
				w.WriteHeader(http.StatusNotFound)
			case http.MethodPost:
				w.WriteHeader(status)
			}
		}
	}
	const methods = "TF_HTTP_LOCK_METHOD and TF_HTTP_LOCK_ADDRESS"
	for name, tt := range map[string]struct {
		handler    http.HandlerFunc
		want, hint string
		final      bool
	}{
		"a page to sign in":                      {answers(200, "\n<!DOCTYPE html><html>"), "perhaps a login page", "check the address", true},
		"a page after a byte order mark":         {answers(200, "\ufeff<html>"), "that is no state", "check the address", true},
		"a text":                                 {answers(200, "not here"), "that is no state", "check the address", true},
		"half a document":                        {answers(200, `{"version":4,"planform":{"":{"ver`), "that is no state", "check the address", true},
		"a redirect to a page to sign in":        {answers(302, ""), "302 to LOCK", "login page", true},
		"a bad request with words":               {answers(400, "no such project"), "400 to LOCK: no such project", methods, true},
		"an error that has the password":         {answers(400, "you sent very-SECRET"), "you sent [redacted]", "", true},
		"an error that has the header":           {answers(400, "Basic Y2k6dmVyeS1zZWNyZXQ="), "Basic [redacted]", "", true},
		"an error without end":                   {answers(400, strings.Repeat("x", 1<<20)), "400 to LOCK: xxx", methods, true},
		"a lock with an unknown method":          {locking(405, ""), "405 to LOCK", methods, true},
		"a lock with a method nobody has":        {locking(501, "Unsupported method"), "501 to LOCK: Unsupported method", methods, true},
		"a lock at an address that is not there": {locking(404, ""), "404 to LOCK", methods, true},
		"a lock with a bad request":              {locking(400, ""), "400 to LOCK", methods, true},
		"a lock with a wrong precondition":       {locking(412, ""), "412 to LOCK", methods, true},
		"a lock without a permission":            {locking(403, ""), "does not accept the credential", "TF_HTTP_PASSWORD", true},
		"a lock of a server that is down":        {locking(503, ""), "503 to LOCK", "", false},
		"a state that is too large":              {posting(413), "413 to POST", "larger than the server accepts", true},
		"a write that meets another one":         {posting(409), "409 to POST", "", false},
		"a write that is locked meanwhile":       {posting(423), "is locked by an unknown holder", "planform state unlock", true},
		"a write with a wrong precondition":      {posting(412), "412 to POST", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := httptest.NewServer(tt.handler)
			t.Cleanup(at.Close)
			_, err := open(t, at.URL+"/states/web").Put(t.Context(), "", []byte("x"), "")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(diag.HintOf(err), tt.hint) || wire.IsFinal(err) != tt.final {
				t.Errorf("%v; %s", err, diag.HintOf(err))
			}
			if said := strings.ToLower(fmt.Sprint(err)); strings.Contains(said, "invalid character") || strings.Contains(said, password) || len(said) > 300 {
				t.Error(err)
			}
		})
	}
}

// raw answers each connection with bytes, and keeps it open.
func raw(t *testing.T, answer string, forEver string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(t.Context(), func() { _ = conn.Close() })
			go func() {
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				_, err := io.WriteString(conn, answer)
				for err == nil && forEver != "" {
					_, err = io.WriteString(conn, forEver)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestAnAnswerThatDoesNotEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ answer, forEver, want string }{
		"another protocol":           {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "", "101: this is no answer"},
		"a status that is none":      {"HTTP/1.1 099 What\r\n\r\n", "", "99: this is no answer"},
		"headers without end":        {"HTTP/1.1 200 OK\r\n", strings.Repeat("X-A: b\r\n", 100), "the server of the state"},
		"a lock without end":         {"HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 1000), "the answer is too large: more than 64 KiB"},
		"an error without end":       {"HTTP/1.1 500 Oops\r\n\r\n", strings.Repeat("x", 1000), "answers 500 to LOCK"},
		"interim answers in between": {"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "", "answers 500 to LOCK"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, raw(t, tt.answer, tt.forEver)+"/states/web").Put(t.Context(), "", []byte("x"), "")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Error(err)
			}
		})
	}
}

func TestAnErrorOfTheServerIsExplained(t *testing.T) {
	t.Parallel()
	s, d := start(t, "/states/web")
	s.text = []byte(`{"version":4,"serial":3,"resources":[{}]}`)
	if _, _, err := d.Get(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "of another program") {
		t.Error(err)
	}
	_, d = start(t, "/states/web", "TF_HTTP_PASSWORD", "wrong-one")
	if _, err := d.Put(t.Context(), "", []byte("x"), ""); err == nil || !strings.Contains(err.Error(), "does not accept the credential") ||
		strings.Contains(err.Error(), "wrong-one") {
		t.Error(err)
	}
}

func TestTheCredentialStaysWithItsHost(t *testing.T) {
	t.Parallel()
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(elsewhere.Close)
	here := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(here.Close)
	if _, _, err := open(t, here.URL+"/states/web").Get(t.Context(), ""); err == nil || asked > 0 {
		t.Error(asked, err)
	}
	for address, env := range map[string]string{
		"http://example.com/state":                  "",
		"https://ci:very-secret@example.com/s":      "",
		"https://example.com/state":                 "https://elsewhere.example.com/lock",
		"https://example.com/state#very-secret":     "",
		"https://example.com/state?sig=very-secret": "",
		"https://example.com/state?very-secret":     "",
		"https://example.com/state?":                "",
		"https://example.com/st%zzate?very-secret":  "",
		"https://example.com/states/web":            "https://example.com/lock?private_token=very-secret",
		"https://example.com/states/w":              "https://example.com/lock#very-secret",
		"https://example.com/states/e":              "https://ci:very-secret@example.com/lock",
		"https:///state":                            "",
	} {
		_, err := httpstate.Open(address, func(name string) string { return map[string]string{"TF_HTTP_LOCK_ADDRESS": env}[name] })
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// FuzzDocument reads any document, because a server can answer anything.
func FuzzDocument(f *testing.F) {
	f.Add(`{"version":4,"serial":3,"lineage":"a","planform":{"":{"version":1,"text":"one"},".lock":{"version":2,"text":"x"}}}`, `{"ID":"x","Who":"ci"}`)
	f.Add(`{"version":4,"serial":18446744073709551615,"planform":{}}`, `{"ID":7,"Who":"\u001b[2J","Created":"9999-99-99"}`)
	f.Add("<html>", "<html>")
	f.Add("", "")
	f.Add(`{"planform":{"a":null,"b":{"version":1.5}},"PLANFORM":{"c":{}}}`, `[]`)
	f.Fuzz(func(t *testing.T, text, lock string) {
		synctest.Test(t, func(t *testing.T) {
			held := true
			d := open(t, "https://example.com/states/web")
			httpstate.ServedBy(d, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.Method {
				case http.MethodGet:
					_, _ = io.WriteString(w, text)
				case http.MethodPost:
					body, _ := io.ReadAll(r.Body)
					text = string(body)
				case "LOCK":
					if held {
						w.WriteHeader(http.StatusLocked)
						_, _ = io.WriteString(w, lock)
					}
				}
			}))
			_, err := d.Put(t.Context(), "", []byte("one"), "")
			if locked, ok := errors.AsType[*state.LockedError](err); err != nil && ok {
				if said := locked.Error(); len(said) > 1000 || strings.ContainsFunc(said, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) {
					t.Errorf("%d bytes: %q", len(said), said)
				}
			}
			held = false
			names, err := d.List(t.Context(), "")
			if err != nil {
				if said := err.Error(); len(said) > 300 {
					t.Errorf("%d bytes: %s", len(said), said)
				}
				return
			}
			before := map[string]string{}
			for _, name := range names {
				text, version, err := d.Get(t.Context(), name)
				if before[name] = string(text); err != nil || version == "" {
					t.Errorf("%q is listed: %v", name, err)
				}
			}
			const name = ".journal/new/000001"
			if _, there := before[name]; there {
				return
			}
			if _, err := d.Put(t.Context(), name, []byte("two"), ""); err != nil {
				t.Fatal(err)
			}
			before[name] = "two"
			for name, want := range before {
				if text, _, err := d.Get(t.Context(), name); string(text) != strings.ToValidUTF8(want, "\ufffd") || err != nil {
					t.Errorf("%q: %q, want %q: %v", name, text, want, err)
				}
			}
		})
	})
}
