package httpstate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/httpstate"
	"github.com/planform/planform/internal/state"
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

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
		if s.held != "" {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(s.info)
			return
		}
		s.held, s.info = sent.ID, body
	case r.Method == "UNLOCK", locking && r.Method == http.MethodDelete:
		if s.held != sent.ID {
			w.WriteHeader(http.StatusConflict)
			return
		}
		s.held = ""
	case r.Method == http.MethodGet:
		if s.text == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(s.text)
	case r.Method == http.MethodPost:
		if s.held != "" && r.URL.Query().Get("ID") != s.held {
			w.WriteHeader(http.StatusConflict)
			return
		}
		if sent.Serial <= s.serial {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		s.text, s.serial = body, sent.Serial
		s.writes++
		if s.cut--; s.cut == 0 {
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

func TestADocumentKeepsItsConditions(t *testing.T) {
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

func TestALockOfTheServerThatStaysIsTakenAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{held: "somebody", info: []byte(`{"ID":"somebody"}`)}
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

func TestAServerSaysWhatIsWrong(t *testing.T) {
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
		"http://example.com/state":              "",
		"https://ci:very-secret@example.com/s":  "",
		"https://example.com/state":             "https://elsewhere.example.com/lock",
		"https://example.com/state#very-secret": "",
		"https:///state":                        "",
	} {
		_, err := httpstate.Open(address, func(name string) string { return map[string]string{"TF_HTTP_LOCK_ADDRESS": env}[name] })
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
