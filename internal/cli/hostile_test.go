package cli_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// scriptedService gives the same answer to every request.
func scriptedService(t *testing.T, answer string) *service {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/users/me/") {
			_, _ = io.WriteString(w, `{"id":"`+sandboxtest.UserAda+`"}`)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return &service{url: server.URL, dir: t.TempDir()}
}

func TestARecordThatEchoesTheCredentialDoesNotShowIt(t *testing.T) {
	t.Parallel()
	const id = "58ca3d9a-4cdc-4cec-a6bd-de60a03fa86f"
	record := `{"id":"` + id + `","name":"key ` + sandbox.Key + `","` + sandbox.Key + `":["` + strings.ToUpper(sandbox.Key) + `"]}`
	for _, tt := range []struct {
		answer string
		args   []string
	}{
		{record, []string{"get", "work-item", "--workspace", "acme", "WEB-7"}},
		{record, []string{"get", "work-item", "--workspace", "acme", "--output", "json", "WEB-7"}},
		{"[" + record + "]", []string{"get", "initiative-labels", "--workspace", "acme"}},
		{"[" + record + "]", []string{"get", "initiative-labels", "--workspace", "acme", "--output", "json"}},
	} {
		r := scriptedService(t, tt.answer).must(t, tt.args...)
		if strings.Contains(strings.ToLower(r.out+r.err), sandbox.Key) || !strings.Contains(r.out, "[redacted]") {
			t.Errorf("%q shows\n%s%s", tt.args, r.out, r.err)
		}
	}
}

// A server's stray bytes, and with GODEBUG=http2debug=1 the credential, would go past the view.
func TestLogsOfTheStandardLibraryAreNotShown(t *testing.T) {
	t.Parallel()
	scriptedService(t, "[]").must(t, "get", "initiative-labels", "--workspace", "acme")
	if log.Writer() != io.Discard {
		t.Error("the logger of Go is active")
	}
}

func TestALinkOutOfTheFolderIsNotFollowedToKeepTheState(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(dir, outside string) (from, to string){
		"the folder of states is a link": func(dir, outside string) (string, string) { return filepath.Join(dir, ".planform"), outside },
		"the state is a link": func(dir, outside string) (string, string) {
			return filepath.Join(dir, ".planform", "host_acme.state.json"), filepath.Join(outside, "new")
		},
		"the folder of the history is a link": func(dir, outside string) (string, string) {
			return filepath.Join(dir, ".planform", "host_acme.state.json.history"), outside
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, outside := newService(t, sandboxtest.Options{}), t.TempDir()
			from, to := link(s.dir, outside)
			from = strings.Replace(from, "host", strings.ReplaceAll(strings.TrimPrefix(s.url, "http://"), ":", "-"), 1)
			if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, from); err != nil {
				return // this system has no links for everybody
			}
			file := s.write(t, "m.yaml", items(1))
			for _, args := range [][]string{{"plan", "-f", file}, {"apply", "-f", file}, {"export", "--to", s.dir, "--force", "--workspace", "acme"}, {"state", "list", "-f", file}} {
				if r := s.run(t, args...); r.code != 1 || !strings.Contains(r.err, "leads out of its folder") {
					t.Errorf("%s: exit %d\n%s", args[0], r.code, r.err)
				}
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("%v %v was written", left, err)
			}
		})
	}
}

func TestFilesThatOthersCanChangeAreNamed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // files have other permissions there
	}
	s := newService(t, sandboxtest.Options{})
	file, key, folder := s.write(t, "m.yaml", items(1)), s.write(t, "key", sandbox.Key), filepath.Join(s.dir, ".planform")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if r := s.must(t, "apply", "-f", file, "--api-key-file", key, "--dry-run"); strings.Contains(r.err, "other users") {
		t.Errorf("warns of nothing:\n%s", r.err)
	}
	for name, mode := range map[string]os.FileMode{key: 0o644, folder: 0o777} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	r := s.must(t, "apply", "-f", file, "--api-key-file", key, "--yes")
	for _, want := range []string{
		fmt.Sprintf("other users of this machine can read or change %s:", key), fmt.Sprintf("other users can change the state in %s:", folder),
	} {
		if !strings.Contains(r.err, want) {
			t.Errorf("does not say %q:\n%s", want, r.err)
		}
	}
	if r := s.run(t, "doctor", "-f", file); !strings.Contains(r.out, "other users can change the files in "+folder) {
		t.Errorf("the doctor does not say it:\n%s", r.out)
	}
}

func TestAnExportOfRecordsWithoutUsableIDsFails(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`""`, `12`, `null`, `{}`, `"../../../x"`, `"::error::"`} {
		s := scriptedService(t, `[{"id":`+id+`,"name":"A","identifier":"WEB"}]`)
		r := s.run(t, "export", "--to", filepath.Join(s.dir, "out"), "--workspace", "acme", "--api", "v1")
		if r.code != 1 || !strings.Contains(r.err, "is no UUID") {
			t.Errorf("%s: exit %d\n%s%s", id, r.code, r.out, r.err)
		}
	}
}
