package provider_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state/disk"
)

const hook = `{version: 1, webhooks: [{name: CI, url: "https://ci.example.com/plane", secret_file: keys/deep/ci.key}]}`

// secret returns the contents of the file of hook; there is false if there is no file.
func (sv *service) secret(t *testing.T) (text string, there bool) {
	t.Helper()
	name := filepath.Join(sv.dir, "keys", "deep", "ci.key")
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

func TestASecretIsWrittenToItsFileOnce(t *testing.T) {
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

func TestOnlyTheOwnerCanReadTheFileOfASecret(t *testing.T) {
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

func TestALostSecretIsReportedUntilItsFileExists(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*http.Request, run) sandboxtest.Fault{
		"a secret is reported if the run is killed before the answer": func(_ *http.Request, r run) sandboxtest.Fault {
			r.kill()
			return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
		},
		"a secret is reported if the answer is lost": func(*http.Request, run) sandboxtest.Fault {
			return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
		},
		"a secret is reported if the answer shows none":       nil,
		"a secret is reported if its file cannot be replaced": nil,
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
					if req.Method == http.MethodPost { // the folder disappears
						_ = os.RemoveAll(filepath.Join(s.dir, "keys"))
					}
				}
			}
			told := func(a applied) bool {
				for _, d := range append(a.warnings(), a.plan.Notices...) {
					if d.Code == "secret-missing" && strings.Contains(d.Hint, "--new-secrets") {
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

func TestASecretWithControlCharactersIsNotStored(t *testing.T) {
	t.Parallel()
	for name, sign := range map[string]string{
		"a line end": "\n", "a carriage return": "\r", "a tab": "\t", "a null": "\x00", "an escape": "\x1b[2J", "a line separator": "\u2028", "a next line": "\u0085",
		"a change of direction": "\u202e",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V2)
			s.replying = func(_ *http.Request, row map[string]any) {
				if row["secret_key"] != nil {
					row["secret_key"] = "x" + sign + "export PATH=/tmp"
				}
			}
			done := s.apply(t, applying{manifest: hook})
			if warnings := fmt.Sprint(done.warnings()); !strings.Contains(warnings, "secret") || strings.Contains(warnings, "PATH") || len(s.Rows("webhook")) != 1 {
				t.Error(warnings, done.failed())
			}
			if kept, err := os.ReadFile(filepath.Join(s.dir, "keys", "deep", "ci.key")); err != nil || len(kept) > 0 {
				t.Errorf("%q %v", kept, err)
			}
		})
	}
}

func TestNoFileIsWrittenForTheSecretOfAnObjectThatIsNotCreated(t *testing.T) {
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

func TestNoNewSecretIsRequestedIfTheFileExists(t *testing.T) {
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

// secretOfTheService returns the valid secret of the service.
func (sv *service) secretOfTheService() string {
	for _, row := range sv.Rows("webhook") {
		text, _ := row["secret"].(string)
		return text + "\n"
	}
	return ""
}

// withoutSecret returns a service with the webhook, whose file is gone.
func withoutSecret(t *testing.T) *service {
	t.Helper()
	s := newService(t, resource.V2)
	s.apply(t, applying{manifest: hook})
	if secret, _ := s.secret(t); secret != s.secretOfTheService() {
		t.Fatalf("the file has %q", secret)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "keys")); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestALostSecretIsReplacedOnRequest(t *testing.T) {
	t.Parallel()
	s := withoutSecret(t)
	former := s.secretOfTheService()
	silent := s.apply(t, applying{manifest: hook})
	if d := silent.plan.Notices; silent.writes > 0 || len(d) != 1 || d[0].Code != "secret-missing" || !strings.Contains(d[0].Hint, "--new-secrets gets a new secret") {
		t.Errorf("%d writes, %v", silent.writes, d)
	}
	changed := strings.Replace(hook, "/plane", "/other", 1)
	asked := s.apply(t, applying{manifest: changed, newSecrets: true})
	secret, _ := s.secret(t)
	if secret == former || secret != s.secretOfTheService() || asked.writes != 2 || asked.plan.Summary.Requests != 2 || len(asked.warnings())+len(asked.failed())+len(asked.plan.Notices) > 0 {
		t.Errorf("the file has %q, the service %q; %d writes, %v %v", secret, s.secretOfTheService(), asked.writes, asked.warnings(), asked.failed())
	}
	if c := asked.plan.Steps[1].Changes(); len(c) != 1 || *c[0].Before != "the present secret, which stops working" || *c[0].After != "a new one, in keys/deep/ci.key" {
		t.Errorf("%+v", c)
	}
	state, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
	if err != nil || strings.Contains(string(state), strings.TrimSpace(secret)) || strings.Contains(string(state), "secret_file") {
		t.Errorf("%v %s", err, state)
	}
	if again := s.apply(t, applying{manifest: changed, newSecrets: true}); !again.plan.Empty() || len(again.plan.Notices) > 0 {
		t.Errorf("again: %+v %v", again.plan.Summary, again.plan.Notices)
	}
}

// fullDisk is full after some files.
type fullDisk struct {
	disk.OS

	left int
}

func (fd *fullDisk) Create(path string) (disk.File, error) {
	if fd.left--; fd.left < 0 {
		return nil, &os.PathError{Op: "create", Path: path, Err: syscall.ENOSPC}
	}
	return fd.OS.Create(path) //nolint:wrapcheck // it stands for the disk
}

// TestNoFileHoldsAnInvalidSecret combines the request for a new secret with possible faults.
func TestNoFileHoldsAnInvalidSecret(t *testing.T) {
	t.Parallel()
	cut := sandboxtest.Break{Cut: true}
	for name, tt := range map[string]struct {
		fault   sandboxtest.Fault
		kill    bool
		space   int  // files before the disk is full; 0 = never full
		asked   bool // the service receives the request
		inDoubt bool // the next run says that the secret may have changed
	}{
		"no secret is kept if the run is killed before the request arrives":        {fault: sandboxtest.Fault{Before: cut}, kill: true, inDoubt: true},
		"no secret is kept if the run is killed after the request was carried out": {fault: sandboxtest.Fault{After: cut}, kill: true, asked: true, inDoubt: true},
		"no secret is kept if the request is lost":                                 {fault: sandboxtest.Fault{Before: cut}, inDoubt: true},
		"no secret is kept if the answer is lost":                                  {fault: sandboxtest.Fault{After: cut}, asked: true, inDoubt: true},
		"no secret is kept if half of the answer is lost":                          {fault: sandboxtest.Fault{Reword: func(body []byte) []byte { return body[:len(body)/2] }}, asked: true, inDoubt: true},
		"no secret is kept if the answer is a bad gateway":                         {fault: sandboxtest.Fault{After: sandboxtest.Break{Status: 502}}, asked: true, inDoubt: true},
		"no secret is kept if the request is refused":                              {fault: sandboxtest.Fault{Before: sandboxtest.Break{Status: 400}}},
		"no secret is kept if the request is forbidden":                            {fault: sandboxtest.Fault{Before: sandboxtest.Problem(http.StatusForbidden, "forbidden", "forbidden")}},
		"no secret is kept if the disk is full before the request":                 {space: -1},
		"no secret is kept if the disk is full after the answer":                   {space: 1, asked: true},
		"no secret is kept if the answer shows none":                               {fault: sandboxtest.Fault{Reword: func(body []byte) []byte { return bytes.ReplaceAll(body, []byte("secret_key"), []byte("other")) }}, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withoutSecret(t)
			former := s.secretOfTheService()
			if tt.space != 0 {
				s.disk = &fullDisk{left: tt.space}
			}
			sent := 0
			first := s.apply(t, applying{manifest: hook, newSecrets: true, killed: tt.kill, fault: func(req *http.Request, r run) sandboxtest.Fault {
				if req.Method != http.MethodPost {
					return sandboxtest.Fault{}
				}
				if sent++; tt.kill {
					r.kill()
				}
				return tt.fault
			}})
			if told := len(first.failed()) + len(first.warnings()); !tt.kill && told != 1 || sent > 1 || sent == 0 && tt.space >= 0 {
				t.Errorf("sent %d times; %v %v", sent, first.failed(), first.warnings())
			}
			if (s.secretOfTheService() != former) != tt.asked {
				t.Errorf("the service has another secret: %t", !tt.asked)
			}
			if s.disk = nil; s.kept(t) != "" {
				t.Errorf("the file has %q", s.kept(t))
			}
			for _, inDoubt := range []bool{tt.inDoubt, false} {
				silent := s.apply(t, applying{manifest: hook})
				d := silent.plan.Notices
				if silent.writes > 0 || silent.plan.Empty() == inDoubt || len(d) != 1 || d[0].Code != "secret-missing" || strings.Contains(d[0].Summary, "may have changed") != inDoubt {
					t.Errorf("then: %d writes, %+v, %v", silent.writes, silent.plan.Summary, d)
				}
			}
			asked := s.apply(t, applying{manifest: hook, newSecrets: true})
			if s.kept(t) == "" || s.kept(t) != s.secretOfTheService() || asked.writes != 1 || len(asked.failed())+len(asked.warnings()) > 0 {
				t.Errorf("the file has %q, the service %q; %d writes, %v %v", s.kept(t), s.secretOfTheService(), asked.writes, asked.failed(), asked.warnings())
			}
			if end := s.apply(t, applying{manifest: hook}); !end.plan.Empty() || len(end.plan.Notices) > 0 {
				t.Errorf("at last: %+v %v", end.plan.Summary, end.plan.Notices)
			}
		})
	}
}

// kept returns the contents of the file of hook, if it exists.
func (sv *service) kept(t *testing.T) string {
	t.Helper()
	text, _ := sv.secret(t)
	return text
}

func TestASecretThatMayHaveChangedIsMissingUntilANewOneIsRequested(t *testing.T) {
	t.Parallel()
	s := withoutSecret(t)
	s.apply(t, applying{manifest: hook, newSecrets: true, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method != http.MethodPost {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
	}})
	changed := strings.Replace(hook, "/plane", "/other", 1)
	for _, writes := range []int{1, 0} {
		a := s.apply(t, applying{manifest: changed})
		d := a.plan.Notices
		if a.writes != writes || len(a.failed()) > 0 || len(d) != 1 || strings.Contains(d[0].Summary, "may have changed") != (writes == 1) || !strings.Contains(d[0].Hint, "--new-secrets") {
			t.Errorf("%d writes, %v %v", a.writes, a.failed(), d)
		}
	}
	s.apply(t, applying{manifest: changed, newSecrets: true})
	if s.kept(t) == "" || s.kept(t) != s.secretOfTheService() {
		t.Errorf("the file has %q, the service %q", s.kept(t), s.secretOfTheService())
	}
	if end := s.apply(t, applying{manifest: changed}); !end.plan.Empty() || len(end.plan.Notices) > 0 {
		t.Errorf("at last: %+v %v", end.plan.Summary, end.plan.Notices)
	}
}
