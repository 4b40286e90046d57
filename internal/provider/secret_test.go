package provider_test

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const hook = `{version: 1, webhooks: [{name: CI, url: "https://ci.example.com/plane", secret_file: keys/deep/ci.key}]}`

// secret is what is in the file of hook; there is false where there is no file.
func (s *service) secret(t *testing.T) (text string, there bool) {
	t.Helper()
	name := filepath.Join(s.dir, "keys", "deep", "ci.key")
	info, err := os.Stat(name)
	if err != nil {
		return "", false
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v", name, info.Mode())
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), true
}

func TestASecretComesIntoItsFileOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V2)
	made := s.apply(t, applying{manifest: hook})
	secret, _ := s.secret(t)
	if !strings.HasPrefix(secret, "plane_wh_") || len(made.failed())+len(made.warnings()) > 0 {
		t.Errorf("the file has %q; %v %v", secret, made.failed(), made.warnings())
	}
	for range 2 {
		if again := s.apply(t, applying{manifest: hook}); again.writes > 0 || len(again.plan.Notices) > 0 {
			t.Errorf("again: %d writes, %v", again.writes, again.plan.Notices)
		}
		if now, _ := s.secret(t); now != secret {
			t.Errorf("the secret became %q", now)
		}
		s.load(t, hook)
		if err := os.Remove(filepath.Join(s.dir, "state.json")); err != nil { // adopted without a state
			t.Fatal(err)
		}
	}
}

func TestAFileForASecretIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V2)
	folder := filepath.Join(s.dir, "keys", "deep")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "ci.key"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if made := s.apply(t, applying{manifest: hook}); len(made.failed()) > 0 {
		t.Error(made.failed())
	}
	if secret, _ := s.secret(t); secret == "" {
		t.Error("it has no secret")
	}
}

func TestASecretThatIsLostIsToldUntilItIsThere(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*http.Request, run) sandboxtest.Fault{
		"killed before the answer": func(_ *http.Request, r run) sandboxtest.Fault {
			r.kill()
			return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
		},
		"the answer is lost": func(*http.Request, run) sandboxtest.Fault {
			return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
		},
		"the answer shows no secret":  nil,
		"the file cannot be replaced": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V2)
			a := applying{manifest: hook}
			switch {
			case fault != nil:
				a.killed = strings.Contains(name, "killed")
				done := false
				a.fault = func(req *http.Request, r run) sandboxtest.Fault {
					if req.Method != http.MethodPost || done {
						return sandboxtest.Fault{}
					}
					done = true
					return fault(req, r)
				}
			case strings.Contains(name, "shows"):
				s.replying = func(_ *http.Request, row map[string]any) { delete(row, "secret_key") }
			default:
				s.replying = func(req *http.Request, _ map[string]any) {
					if req.Method == http.MethodPost { // somebody took the folder away
						_ = os.RemoveAll(filepath.Join(s.dir, "keys"))
					}
				}
			}
			told := func(a applied) bool {
				for _, d := range append(a.warnings(), a.plan.Notices...) {
					if d.Code == "secret-missing" && strings.Contains(d.Hint, "regenerate") {
						return true
					}
				}
				return false
			}
			if first := s.apply(t, a); !a.killed && !told(first) {
				t.Errorf("nothing was said: %v %v", first.failed(), first.warnings())
			}
			s.replying = nil
			for range 2 {
				again := s.apply(t, applying{manifest: hook})
				if !told(again) || len(again.failed()) > 0 || again.writes > 0 || len(s.Rows("webhook")) != 1 {
					t.Errorf("then: %v %v, %d writes, %d webhooks", again.plan.Notices, again.failed(), again.writes, len(s.Rows("webhook")))
				}
			}
			if err := os.MkdirAll(filepath.Join(s.dir, "keys", "deep"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.dir, "keys", "deep", "ci.key"), []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if done := s.apply(t, applying{manifest: hook}); told(done) || done.writes > 0 {
				t.Errorf("it is there: %v, %d writes", done.plan.Notices, done.writes)
			}
		})
	}
}

func TestWithoutTheObjectThereIsNoFileForItsSecret(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V2)
	refused := s.apply(t, applying{manifest: hook, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method != http.MethodPost {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: 400}}
	}})
	if _, there := s.secret(t); there || len(refused.failed()) != 1 {
		t.Errorf("a file: %t; %v", there, refused.failed())
	}
	if made := s.apply(t, applying{manifest: hook}); len(made.failed()) > 0 || made.plan.Summary.Create != 1 {
		t.Error(made.failed())
	}
}

func TestASecretThatComesWhereOneIsIsNotAskedFor(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V2)
	late := s.apply(t, applying{manifest: hook, file: func() {
		if err := os.MkdirAll(filepath.Join(s.dir, "keys", "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, "keys", "deep", "ci.key"), []byte("another"), 0o600); err != nil {
			t.Fatal(err)
		}
	}})
	if secret, _ := s.secret(t); secret != "another" || late.writes > 0 || len(late.failed()) != 1 {
		t.Errorf("the file has %q after %d writes: %v", secret, late.writes, late.failed())
	}
}
