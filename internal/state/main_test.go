package state

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// childEnv makes the test binary another process that works with a state.
const childEnv = "PLANFORM_STATE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role, ok := os.LookupEnv(childEnv); ok {
		children()[role](os.Args[1])
		return
	}
	debug.SetGCPercent(sandboxtest.GCPercent)
	sandboxtest.TempInMemory()
	goleak.VerifyTestMain(m)
}

// children returns the actions that a child process can do with a state file.
func children() map[string]func(path string) {
	return map[string]func(string){
		"hold": childHold,
		"fill": childFill,
	}
}

// childHold opens the state, announces a step, says so, and never ends by itself.
func childHold(path string) {
	opts := testOptions()
	opts.Command = "planform apply"
	f, err := Open(context.Background(), path, opts)
	if err != nil {
		tell(err)
		return
	}
	if err := f.Begin(context.Background(), []*planner.Step{create("work_item/web/held")}); err != nil {
		tell(err)
		return
	}
	tell("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
}

// tell sends words from a child process to its parent.
func tell(what ...any) { _, _ = fmt.Fprintln(os.Stdout, what...) }

// child starts the test binary in a role and returns what it says first.
func child(t *testing.T, role, path string) (*exec.Cmd, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, path)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the child said nothing: %v", err)
	}
	return cmd, said
}

type addr = resource.Address

func testOptions() Options {
	return Options{
		BaseURL: "https://api.plane.so", Workspace: "acme",
		Now: func() time.Time { return time.Date(2026, 11, 20, 20, 36, 10, 0, time.UTC) },
	}
}

// testTime is the time at which everything happens.
func testTime() time.Time { return testOptions().Now() }

func statePath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), ".planform", "x.state.json")
}

func open(t *testing.T, path string) *File {
	t.Helper()
	return openWith(t, path, testOptions())
}

func openWith(t *testing.T, path string, opts Options) *File {
	t.Helper()
	f, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// die ends a run as a kill would: nothing more is written, and the lock goes.
func die(t *testing.T, f *File) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.writer != nil {
		_ = f.writer.file.Close()
	}
	must(t, f.lock.(*lock).flock.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func step(address resource.Address, action planner.Action) *planner.Step {
	return &planner.Step{
		Address: address, Action: action, Operation: &resource.Operation{}, Write: &planner.Write{},
		Object: &resource.Object{Kind: &resource.Kind{}, Key: "name of " + address.Path()},
	}
}

func create(address resource.Address) *planner.Step { return step(address, planner.Create) }

func members(address resource.Address, action planner.Action) *planner.Step {
	return &planner.Step{Address: address, Action: action, Operation: &resource.Operation{}, Members: &planner.Members{}}
}

func intend(t *testing.T, f *File, steps ...*planner.Step) {
	t.Helper()
	must(t, f.Begin(t.Context(), steps))
}

func complete(t *testing.T, f *File, s *planner.Step, out executor.Outcome, err error) {
	t.Helper()
	must(t, f.Complete(s, out, err))
}

func readPrior(t *testing.T, path string) planner.Prior {
	t.Helper()
	s, err := Read(t.Context(), path, testOptions())
	must(t, err)
	return s.Prior()
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// folder is every file beside the state, with its text.
func folder(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range list {
		all[e.Name()] = readFile(t, filepath.Join(filepath.Dir(path), e.Name()))
	}
	return all
}

func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

// priorDiff compares what is known, whenever it was applied.
func priorDiff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.IgnoreFields(planner.Record{}, "AppliedAt"))
}

// against returns a check that a state is as wanted.
func against(t *testing.T, want planner.Prior) func(when string, got planner.Prior) {
	t.Helper()
	return func(when string, got planner.Prior) {
		t.Helper()
		if diff := priorDiff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
}

// withHint returns an error with its next step.
func withHint(err error) string { return err.Error() + ": " + diag.HintOf(err) }
