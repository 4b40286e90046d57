package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	sandboxtest.TempInMemory()
	testscript.Main(tests{m}, map[string]func(){"planform": func() { os.Exit(cli.Main(cli.System())) }})
}

// tests runs many tests at once, since they mostly wait for processes.
type tests struct{ *testing.M }

func (m tests) Run() int {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(sandboxtest.GCPercent)
	if err := os.Setenv("GOGC", strconv.Itoa(sandboxtest.GCPercent)); err != nil { // for the processes that they start
		panic(err)
	}
	return m.M.Run()
}

// program returns the path of planform.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "planform")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// service is a sandbox that planform talks to over HTTP.
type service struct {
	*sandboxtest.Server

	url string
}

func newService(t *testing.T) *service {
	t.Helper()
	server, err := sandboxtest.Open(sandboxtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	url, err := server.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return &service{server, url}
}
