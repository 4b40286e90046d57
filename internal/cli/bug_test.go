package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

func TestAPanicDoesNotExitWithPendingChanges(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	code := Main(Process{
		Args: []string{"planform", "doctor"}, Streams: view.Streams{Out: &errs, Err: &errs},
		Getenv: func(name string) string {
			if name == "PLANE_BASE_URL" {
				panic("boom")
			}
			return ""
		},
	})
	if code != exitFailed || !strings.HasPrefix(errs.String(), "error: planform has a bug: boom; please report it with this:\n    goroutine ") {
		t.Errorf("exit %d\n%s", code, &errs)
	}
}

func TestTheStackOfAStepThatPanickedIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	out := output{log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	step := &planner.Step{Address: "page/one"}
	logPanic(out, executor.Event{Type: executor.Ended, Step: step, Result: executor.StepResult{
		Step: step, Status: executor.Unknown, Err: &executor.PanicError{Value: "boom", Stack: []byte("goroutine 7")},
	}})
	for _, part := range []string{"level=DEBUG", "address=page/one", "panic=boom", `stack="goroutine 7"`} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log lacks %s: %s", part, &log)
		}
	}
}
