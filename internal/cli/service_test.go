package cli_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/view"
)

// service is a sandbox that planform talks to over HTTP, with what its runs left behind.
type service struct {
	*sandboxtest.Server

	options sandboxtest.Options
	url     string
	dir     string // manifests and state
}

func newService(tb testing.TB, o sandboxtest.Options) *service {
	tb.Helper()
	server, err := sandboxtest.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = server.Close() })
	url, err := server.Start(tb.Context(), "")
	if err != nil {
		tb.Fatal(err)
	}
	return &service{Server: server, options: o, url: url, dir: tb.TempDir()}
}

// write puts a file into the service's folder and returns its path.
func (s *service) write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// ran is how one run of the program ended.
type ran struct {
	code     int
	out, err string
}

// run runs the program in this process, against the service.
func (s *service) run(tb testing.TB, args ...string) ran {
	tb.Helper()
	r := runAt(s.url, sandbox.Key, args...)
	if args[0] != "convert" && !r.saysWhy() { // which has a report of its own
		tb.Errorf("planform %s: exit 3 without a reason\n%s%s", strings.Join(args, " "), r.out, r.err)
	}
	return r
}

// runAt is run against any service.
func runAt(url, key string, args ...string) ran {
	return runIn(map[string]string{"PLANE_BASE_URL": url, "PLANE_API_KEY": key, "NO_COLOR": "1"}, args...)
}

// runIn runs the program with an environment.
func runIn(env map[string]string, args ...string) ran {
	var out, errs bytes.Buffer
	code := cli.Main(cli.Process{
		Args:    append([]string{"planform"}, args...),
		Streams: view.Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
		Getenv:  func(name string) string { return env[name] },
	})
	return ran{code, out.String(), errs.String()}
}

// must is run, which has to succeed.
func (s *service) must(tb testing.TB, args ...string) ran {
	tb.Helper()
	r := s.run(tb, args...)
	if r.code != 0 {
		tb.Fatalf("planform %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r
}

// sent counts the requests since the n-th by whether they write, without writes that were sent elsewhere.
func (s *service) sent(n int) (reads, writes int) {
	for _, e := range s.Log()[n:] {
		if e.Method == "GET" {
			reads++
		} else if e.Status != http.StatusMovedPermanently {
			writes++
		}
	}
	return reads, writes
}

// written lists the write requests since the n-th.
func (s *service) written(n int) string {
	var b strings.Builder
	for _, e := range s.Log()[n:] {
		if e.Method != "GET" {
			b.WriteString("\n" + e.Method + " " + e.Path + " " + string(e.RequestBody))
		}
	}
	return b.String()
}
