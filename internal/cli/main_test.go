package cli_test

import (
	"errors"
	"flag"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// memoryFile is the variable that names the file to which the program writes what memory it took: what a parent is told of a
// child's memory includes its own.
const memoryFile = "PLANFORM_TEST_MEMORY"

func TestMain(m *testing.M) {
	sandboxtest.TempInMemory()
	testscript.Main(tests{m}, map[string]func(){
		"planform": func() {
			code := cli.Main(cli.System())
			noteMemory()
			os.Exit(code)
		},
		"bare": func() { // what reading a manifest cannot be cheaper than: the YAML library alone
			text, err := os.ReadFile(os.Args[1])
			var root yaml.Node
			if err := errors.Join(err, yaml.Unmarshal(text, &root)); err != nil {
				panic(err)
			}
			noteMemory()
			runtime.KeepAlive(&root)
		},
	})
}

func noteMemory() {
	if file := os.Getenv(memoryFile); file != "" {
		status, _ := os.ReadFile("/proc/self/status")
		_ = os.WriteFile(file, status, 0o600)
	}
}

// tests runs many tests at once, since they mostly wait for processes.
type tests struct{ *testing.M }

func (te tests) Run() int {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(sandboxtest.GCPercent)
	if err := os.Setenv("GOGC", strconv.Itoa(sandboxtest.GCPercent)); err != nil { // for the processes that they start
		panic(err)
	}
	for _, end := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(end) { // as with nohup: the processes would ignore it too, and never end
			signal.Notify(make(chan os.Signal, 1), end)
		}
	}
	return te.M.Run()
}
