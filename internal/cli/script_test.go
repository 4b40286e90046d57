package cli_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
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

// tests runs several tests at once, since they mostly wait for processes, and more where the campaign is large.
type tests struct{ *testing.M }

func (m tests) Run() int {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(4*campaignLanes())); err != nil {
		panic(err)
	}
	debug.SetGCPercent(sandboxtest.GCPercent)
	return m.M.Run()
}

// TestScripts runs one script for each behaviour that a user sees.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GOGC", strconv.Itoa(sandboxtest.GCPercent))
			return os.CopyFS(filepath.Join(env.WorkDir, "examples"), examples())
		},
	})
}

// exits runs a command and wants one exit code: exits 64 planform apply --nonsense.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENTS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// examples are the repository's examples without what trying them out left behind.
func examples() fs.FS { return withoutState{os.DirFS("../../examples")} }

type withoutState struct{ fs.FS }

func (w withoutState) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(w.FS, name)
	kept := entries[:0]
	for _, e := range entries {
		if e.Name() != ".planform" {
			kept = append(kept, e)
		}
	}
	return kept, err
}
