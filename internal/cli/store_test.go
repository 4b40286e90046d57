package cli_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// stateServer serves Terraform's HTTP state protocol. answer may answer in its place.
type stateServer struct {
	*httptest.Server

	mu     sync.Mutex
	text   []byte
	held   string
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func newStateServer(t *testing.T) *stateServer {
	t.Helper()
	s := &stateServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (sr *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sr.mu.Lock()
	defer sr.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if sr.answer != nil && sr.answer(w, r) {
		return
	}
	var sent struct{ ID string }
	_ = json.Unmarshal(body, &sent)
	method := r.Method
	if strings.HasSuffix(r.URL.Path, "/lock") { // where the server locks by other methods at an address of its own
		method = map[string]string{http.MethodPost: "LOCK", http.MethodPut: "LOCK", http.MethodDelete: "UNLOCK"}[method]
	}
	switch method {
	case "LOCK":
		if sr.held != "" {
			w.WriteHeader(http.StatusLocked)
			_, _ = io.WriteString(w, sr.held)
			return
		}
		sr.held = string(body)
	case "UNLOCK":
		sr.held = ""
	case http.MethodGet:
		if sr.text == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(sr.text)
	case http.MethodPost:
		sr.text = body
	}
}

// put puts objects into the document.
func (sr *stateServer) put(t *testing.T, objects map[string]string) {
	t.Helper()
	sr.mu.Lock()
	defer sr.mu.Unlock()
	var d map[string]any
	if err := json.Unmarshal(sr.text, &d); err != nil {
		t.Fatal(err)
	}
	for name, text := range objects {
		d["planform"].(map[string]any)[name] = map[string]any{"version": 1, "text": text} //nolint:forcetypeassert // planform wrote it
	}
	sr.text, _ = json.Marshal(d)
}

// runWith runs the program with further variables in its environment.
func (s *service) runWith(env map[string]string, args ...string) ran {
	all := map[string]string{"PLANE_BASE_URL": s.url, "PLANE_API_KEY": sandbox.Key, "NO_COLOR": "1"}
	maps.Copy(all, env)
	return runIn(all, args...)
}

func TestMigrateTakesRecordsOfRunsAndNothingElseOutOfAStore(t *testing.T) {
	t.Parallel()
	const record = ".history/20261126-101112-123-abcd.jsonl"
	for _, name := range []string{
		"../victim", "../.git/hooks/post-checkout", "../../victim", "x/../../victim", "victim", ".bashrc", "/victim", `..\victim`, "sub/20261126-101112-123-abcd.jsonl",
		"20261126-101112-123-abcd.jsonl/../../victim", "20261126-101112-123-abcd.jsonl.exe", "20261126-101112-123-ABCD.jsonl", "", "..", "a\x1b[2Jb", strings.Repeat("x", 5000),
	} {
		t.Run(diagName(name), func(t *testing.T) {
			t.Parallel()
			s, store := newService(t, sandboxtest.Options{}), newStateServer(t)
			file, address := s.write(t, "m.yaml", items(1)), store.URL+"/states/web"
			victim := s.write(t, "victim", "as it was")
			s.must(t, "apply", "--yes", "-f", file, "--state", address)
			store.put(t, map[string]string{".history/" + name: "#!/bin/sh\necho taken over\n"})
			to := filepath.Join(s.dir, "st.json")
			got := s.run(t, "state", "migrate", "-f", file, address, to)
			if got.code != 1 || !strings.Contains(got.err, "is not the record of a run") || strings.Contains(got.err, "\x1b") || len(got.err) > 600 {
				t.Errorf("exit %d\n%s", got.code, got.err)
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != "as it was" {
				t.Errorf("%s %v", text, err)
			}
			for _, path := range []string{to, to + ".history"} {
				if _, err := os.Stat(path); err == nil {
					t.Errorf("%s was written", path)
				}
			}
		})
	}
	t.Run("a record is taken along", func(t *testing.T) {
		t.Parallel()
		s, store := newService(t, sandboxtest.Options{}), newStateServer(t)
		file, address := s.write(t, "m.yaml", items(1)), store.URL+"/states/web"
		s.must(t, "apply", "--yes", "-f", file, "--state", address)
		store.put(t, map[string]string{record: "a record"})
		to := filepath.Join(s.dir, "st.json")
		if got := s.must(t, "state", "migrate", "-f", file, address, to); !strings.Contains(got.err, "2 runs") {
			t.Error(got.err)
		}
		if _, err := os.Stat(filepath.Join(to+".history", filepath.Base(record))); err != nil {
			t.Error(err)
		}
	})
}

func TestMigrateLeavesOutWhatAKilledRunHadNotFinished(t *testing.T) {
	t.Parallel()
	s, store := newService(t, sandboxtest.Options{}), newStateServer(t)
	file, from := s.write(t, "m.yaml", items(1)), filepath.Join(s.dir, "st.json")
	s.must(t, "apply", "--yes", "-f", file, "--state", from)
	if err := os.WriteFile(filepath.Join(from+".history", ".planform-ABCDEFGH.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.must(t, "state", "migrate", "-f", file, from, store.URL+"/states/web"); !strings.Contains(got.err, "1 run;") {
		t.Error(got.err)
	}
}

// diagName is a name for a case that a file system takes.
func diagName(name string) string { return strings.ToValidUTF8(name[:min(len(name), 60)], "") }

func TestAHistoryIsNotFollowedOutOfTheFolderOfANamedState(t *testing.T) {
	t.Parallel()
	s, outside := newService(t, sandboxtest.Options{}), t.TempDir()
	file, place := s.write(t, "m.yaml", items(1)), filepath.Join(s.dir, "st.json")
	if err := os.Symlink(outside, place+".history"); err != nil {
		t.Skip("this system has no links for everybody")
	}
	for _, args := range [][]string{{"apply", "--yes"}, {"history"}, {"undo", "last"}} {
		if got := s.run(t, append(args, "-f", file, "--state", place)...); got.code != 1 || !strings.Contains(got.err, "leads out of its folder") {
			t.Errorf("%s: exit %d\n%s", args[0], got.code, got.err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("%v %v was written", left, err)
	}
}

func TestAStateThatAServerHoldsLockedForSomebodyElseIsExitCode5(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path string
		env  map[string]string // address of the lock without the server's
	}{
		"a state is locked with the method LOCK":                               {path: "/states/web"},
		"a state at GitLab is locked at the address that GitLab has for locks": {path: "/api/v4/projects/1/terraform/state/web"},
		"a lock may have an address and a method of its own":                   {"/states/web", map[string]string{"TF_HTTP_LOCK_ADDRESS": "/lock", "TF_HTTP_LOCK_METHOD": "PUT", "TF_HTTP_UNLOCK_METHOD": "DELETE"}},
		"a lock may be taken with POST":                                        {"/s", map[string]string{"TF_HTTP_LOCK_ADDRESS": "/s/lock", "TF_HTTP_LOCK_METHOD": "POST", "TF_HTTP_UNLOCK_METHOD": "DELETE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, store := newService(t, sandboxtest.Options{}), newStateServer(t)
			if at := tt.env["TF_HTTP_LOCK_ADDRESS"]; at != "" {
				tt.env["TF_HTTP_LOCK_ADDRESS"] = store.URL + at
			}
			file, address := s.write(t, "m.yaml", items(1)), store.URL+tt.path
			store.held = `{"ID":"7c0c1d9e-5a9b-4a3c-8f63-0d0f2f0a9b11","Operation":"apply","Who":"ci@runner-7","Version":"1","Created":"2026-01-02T03:04:05Z","Path":""}`
			got := s.runWith(tt.env, "apply", "--yes", "-f", file, "--state", address, "--lock-timeout", "1s")
			for _, want := range []string{"is locked by ci@runner-7", `"apply"`, "since 2026-01-02 03:04:05 UTC", "not released within 1s", "planform state unlock"} {
				if got.code != 5 || !strings.Contains(got.err, want) {
					t.Errorf("exit %d, without %s:\n%s", got.code, want, got.err)
				}
			}
			if _, writes := s.sent(0); writes > 0 {
				t.Errorf("%d writes", writes)
			}
			if got := s.runWith(tt.env, "state", "unlock", "-f", file, "--state", address); got.code != 0 || !strings.Contains(got.err, "ci@runner-7") || store.held != "" {
				t.Error(got.err)
			}
			if got := s.runWith(tt.env, "apply", "--yes", "-f", file, "--state", address); got.code != 0 {
				t.Errorf("exit %d: %s", got.code, got.err)
			}
		})
	}
}

func TestAStateThatIsTooLargeForItsServerSaysSo(t *testing.T) {
	t.Parallel()
	s, store := newService(t, sandboxtest.Options{}), newStateServer(t)
	store.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
		return r.Method == http.MethodPost
	}
	got := s.run(t, "apply", "--yes", "-f", s.write(t, "m.yaml", items(1)), "--state", store.URL+"/states/web")
	if got.code != 1 || !strings.Contains(got.err, "413") || !strings.Contains(got.err, "larger than the server accepts") || strings.Contains(got.err, "folder") {
		t.Errorf("exit %d\n%s", got.code, got.err)
	}
}

func TestAServiceThatAsksForAnHourIsTakenAtItsWord(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]sandboxtest.Break{
		"a refusal in the service's words is believed": {Status: http.StatusTooManyRequests, Body: `{"error_code":5900,"error_message":"RATE_LIMIT_EXCEEDED"}`},
		"a refusal without words is believed":          {Status: http.StatusTooManyRequests},
		"a refusal in a proxy's words is believed":     {Status: http.StatusTooManyRequests, Body: "<html>Too many requests</html>"},
		"a pause for maintenance is believed":          {Status: http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses := true
			answer.Header = http.Header{"Retry-After": {"3600"}}
			s := newService(t, sandboxtest.Options{Fault: func(r *http.Request) sandboxtest.Fault {
				if refuses && r.Method == http.MethodPost {
					return sandboxtest.Fault{Before: answer}
				}
				return sandboxtest.Fault{}
			}})
			got := s.run(t, "apply", "--yes", "-f", s.write(t, "m.yaml", items(2)))
			for _, want := range []string{"2 failed", "the service asks to wait 1h0m0s", "run it again after", "could not create work_item/web/i0"} {
				if got.code != 3 || !strings.Contains(got.out+got.err, want) || strings.Contains(got.out+got.err, "not known") {
					t.Errorf("exit %d, without %q:\n%s%s", got.code, want, got.out, got.err)
				}
			}
			refuses = false
			if got := s.must(t, "apply", "--yes", "-f", filepath.Join(s.dir, "m.yaml")); !strings.Contains(got.out, "created") {
				t.Error(got.out, got.err)
			}
		})
	}
}
