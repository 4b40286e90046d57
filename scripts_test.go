package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	sandboxtest.TempInMemory()
	testscript.Main(m, map[string]func(){"planform": func() { os.Exit(cli.Main(cli.System())) }})
}

// TestScripts runs the stories of testdata: one for each behaviour that a user sees.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GOGC", strconv.Itoa(sandboxtest.GCPercent))
			return os.CopyFS(filepath.Join(env.WorkDir, "examples"), sandboxtest.Examples("."))
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
